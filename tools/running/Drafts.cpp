//===- Drafts.cpp - Which drafter an option names -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Drafts.h"
#include "tools/running/CommandLine.h"
#include "tools/running/ModuleCache.h"

using namespace gist;
using namespace gist::run;

void run::addDraftOptions(CLI::App &command, DraftOptions &options) {
  addSetting(
      command, "--draft", options.draft, "lookup|MODULE",
      (std::string("Guess tokens, so that the same text comes faster: ") +
       kDraftForms)
          .c_str());
  addSetting(command, "--draft-tokens", options.tokens, "N",
             "Tokens that are guessed each time, at most 15; 0: as many "
             "as are worth it");
}

Status run::openDrafter(const std::string &draft, Device &device, bool trust,
                        const Module &target, int64_t context,
                        const Tokenizer &tokenizer,
                        std::shared_ptr<Drafter> &result) {
  if (draft == kDraftLookup) {
    result = makeLookupDrafter();
    return {};
  }
  std::string path = draft;
  GIST_TRY(compileOnce(device.info().kind, path));
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(path, module));
  std::unique_ptr<Drafter> drafter;
  GIST_TRY(makeModuleDrafter(std::move(module), device, trust, target, context,
                             tokenizer, drafter)
               .in(draft));
  result = std::move(drafter);
  return {};
}

Status run::chooseDrafter(const DraftOptions &options, const Runner &runner,
                          bool trust, GenerateOptions &generate) {
  generate.draftTokens = options.tokens;
  if (options.draft.empty())
    return {};
  return openDrafter(options.draft, *runner.device, trust, *runner.module,
                     runner.session->capacity(), runner.tokenizer,
                     generate.drafter);
}
