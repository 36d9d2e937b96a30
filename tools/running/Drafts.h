//===- Drafts.h - Which drafter an option names -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_DRAFTS_H
#define GIST_TOOLS_RUNNING_DRAFTS_H

#include "runtime/session/Drafter.h"
#include "tools/running/Options.h"

#include <memory>
#include <string>

namespace gist::run {

/// What --draft names besides files: look-up in the text so far.
inline constexpr const char *kDraftLookup = "lookup";

/// What --draft takes, for its help.
inline constexpr const char *kDraftForms =
    "'lookup' in the text so far; a module of a smaller model with the same "
    "tokenizer; or one of the same model with a plan, which 'gist-compile "
    "--plan FILE --weights MODULE' makes without the weights that MODULE has";

struct DraftOptions {
  std::string draft; ///< "lookup", or a file; empty: no drafts
  size_t tokens = 0; ///< GenerateOptions::draftTokens
};

/// Adds --draft and --draft-tokens.
void addDraftOptions(CLI::App &command, DraftOptions &options);

/// Opens what --draft names, for a model on `device` that holds `context`
/// tokens.
Status openDrafter(const std::string &draft, Device &device, bool trust,
                   const Module &target, int64_t context,
                   const Tokenizer &tokenizer,
                   std::shared_ptr<Drafter> &result);

/// Sets the drafter for a model that is open, which outlives it.
Status chooseDrafter(const DraftOptions &options, const Runner &runner,
                     bool trust, GenerateOptions &generate);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_DRAFTS_H
