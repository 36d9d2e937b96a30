//===- HeadErrors.h - What heads would give with less to see ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How far the result of every KV head moves with every candidate, from the
// queries, keys and values of one pass of the model as it is. All candidates of
// all heads take less time than a few more passes would, but what the model's
// predictions lose by such a move is not known from it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_HEADERRORS_H
#define GIST_TOOLS_PLANNING_HEADERRORS_H

#include "passes/Plan/File/Plan.h"
#include "passes/Plan/File/PlannedModule.h"
#include "tools/running/Observer.h"

#include <map>
#include <span>

namespace gist::plan {

/// One KV head with one candidate, on one sequence.
struct HeadError {
  /// Between checkpoints: the sum over tokens of |o' - o|^2, with o what the
  /// query heads of the KV head give and o' what they give with the candidate.
  std::vector<double> moved;
  double size = 0;              ///< the sum of |o|^2
  std::vector<double> clusters; ///< after each block of tokens
};

/// The attention of one sequence, gathered call by call.
class HeadErrors {
public:
  /// One query of so many is looked at.
  HeadErrors(const PlannedModule &module, size_t tokens, size_t stride);

  /// The rows that a call of the entry `observe` showed.
  void add(const run::Observer::Shown &shown, size_t past, size_t count);
  /// False: the module does not show what a layer's attention reads.
  bool isComplete() const;

  /// By head, and then candidate: windows and clusters. `heads` are those that
  /// a plan may choose for; the others have no candidates.
  using Found = std::vector<std::vector<HeadError>>;
  Found measure(std::span<const size_t> heads,
                std::span<const HeadChoice> candidates,
                std::span<const int64_t> checkpoints) const;

private:
  struct Layer {
    std::vector<float> queries, keys, values; ///< a row for each token
  };
  class Head;

  const PlannedModule &module;
  size_t tokens, stride, added = 0;
  std::vector<Layer> layers;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_HEADERRORS_H
