//===- Trials.h - What was measured so far ----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search measures plans for minutes or hours. What each sequence gave is kept
// in a file beside the result, so that a search which was stopped goes on where
// it ended: it asks for the same plans again, and they are known.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_TRIALS_H
#define GIST_TOOLS_PLANNING_TRIALS_H

#include "runtime/support/Status.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace gist::plan {

/// What one sequence gave with one plan.
struct WindowResult {
  std::vector<double> losses;   ///< sums of -log p, of each part that counts
  double work = 0;              ///< multiply-adds of attention
  std::vector<double> clusters; ///< at its end, by layer and KV head
};

/// Several threads may ask and add.
class Trials {
public:
  /// Takes what an earlier run left in the file, if it was of the same
  /// `module`: anything that changes with what is measured.
  Status open(const std::string &path, const std::string &module);

  /// The name of a sequence with a plan, which has this text. `kind` says which
  /// of its tokens count.
  static std::string nameOf(const std::string &plan,
                            std::span<const int32_t> tokens, char kind);
  bool find(const std::string &name, WindowResult &result) const;
  /// Writes the file now and then.
  Status add(const std::string &name, const WindowResult &result);

  Status write();
  /// Removes the file after a search that is complete.
  void remove();

  size_t size() const { return results.size(); }
  const std::string &path() const { return file; }

private:
  Status writeLocked();

  std::string file, identity;
  std::map<std::string, WindowResult> results;
  std::chrono::steady_clock::time_point written =
      std::chrono::steady_clock::now();
  mutable std::mutex mutex;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_TRIALS_H
