//===- Pair.h - A module and the one it is compared with --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_PAIR_H
#define GIST_TOOLS_RUNNING_PAIR_H

#include "tools/running/Options.h"

namespace gist::run {

/// What a module is compared with: another one, or itself on another device.
struct AgainstOptions {
  std::string path;   ///< empty: with nothing
  std::string device; ///< empty: the same
};

/// Adds --against and --against-device.
void addAgainstOptions(CLI::App &command, AgainstOptions &options);

/// Opens the other module as `model` says, with the tokens of `runner`;
/// `result` stays null where nothing is compared. What observes a run is for
/// `runner` alone.
Status openAgainst(const AgainstOptions &options, const ModelOptions &model,
                   const Runner &runner, std::unique_ptr<Runner> &result);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_PAIR_H
