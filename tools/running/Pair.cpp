//===- Pair.cpp - A module and the one it is compared with ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Pair.h"

#include "tools/running/CommandLine.h"

using namespace gist;
using namespace gist::run;

void run::addAgainstOptions(CLI::App &command, AgainstOptions &options) {
  addSetting(command, "--against", options.path, "MODULE",
             "Compare with this module: perplexity ratio, equal most "
             "likely tokens, KL divergence of this module from it, "
             "likelihood of right answers");
  addSetting(command, "--against-device", options.device, "KIND",
             "Where the other module runs, or without --against this "
             "one, for example to compare a GPU with the CPU; default: "
             "the same device");
}

Status run::openAgainst(const AgainstOptions &options,
                        const ModelOptions &model, const Runner &runner,
                        std::unique_ptr<Runner> &result) {
  if (options.path.empty())
    return {};
  auto other = std::make_unique<Runner>();
  ModelOptions otherModel = model;
  otherModel.path = options.path;
  if (!options.device.empty())
    otherModel.device = options.device;
  otherModel.trace.clear();
  otherModel.profile = false;
  otherModel.statistics = false;
  otherModel.afterCall = nullptr;
  GIST_TRY(other->openWithTokenizer(otherModel));
  // Losses are per token. With other tokens they could not be compared.
  if (other->tokenizer.spec().serialize() !=
      runner.tokenizer.spec().serialize())
    return Status::error(Code::BadArgument,
                         "the two modules have different tokenizers");
  result = std::move(other);
  return {};
}
