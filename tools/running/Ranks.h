//===- Ranks.h - Models that several ranks run together ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rank 0 is the program that its user sees. The others open what it opens and
// do what its session does. They are processes where mpirun has started the
// program several times, and threads of this process otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_RANKS_H
#define GIST_TOOLS_RUNNING_RANKS_H

#include "runtime/module/Module.h"
#include "runtime/ranks/Communicator.h"

#include <memory>
#include <optional>
#include <string>

namespace gist::run {

/// What a rank opens a model with.
struct RankedModel {
  std::string path, device = "cpu", library;
  int deviceIndex = 0;
  unsigned threads = 0; ///< of each rank; 0: the cores are shared out
  int64_t context = 0, chunk = 0;
  bool trust = false;
  uint64_t hash = 0; ///< of the file that rank 0 has
};

/// First thing in main, once: where mpirun has started this process as another
/// rank than 0, does what rank 0 says and returns the exit status. None: this
/// is the program itself.
std::optional<int> followRank0(const char *tool);

/// Whether this thread is to print why the program fails. False if that was
/// printed already: the thread that learns of a rank's failure first prints it.
bool mayTellError();

/// Last thing in main: dismisses the other ranks. Returns the exit status; does
/// not return if ranks are missing, because MPI would wait for them.
int endRanks(int exitStatus);

/// Keeps the other ranks at one model. Outlives the session.
class RankLease {
public:
  ~RankLease();
  /// Has the other ranks open the model, where `module` is for several. Changes
  /// the device and threads of `model` to those of this rank.
  Status take(const Module &module, RankedModel &model);
  /// Whether all ranks are still there; the error names one that is not.
  Status check() const;
  /// The ranks, for SessionOptions; null: there is one.
  Communicator *ranks() const { return communicator; }

private:
  Communicator *communicator = nullptr;
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_RANKS_H
