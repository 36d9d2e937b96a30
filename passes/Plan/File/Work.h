//===- Work.h - How much work attention is ----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Counts what attention on a cache of clusters does, from the cache's own
// counts after every call: rows that queries see, and clusters that tokens
// leaving a window are compared with. Dense causal attention is the measure.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_WORK_H
#define GIST_PASSES_PLAN_FILE_WORK_H

#include <cstdint>
#include <span>
#include <vector>

namespace gist {

/// The attention of a decoder, all layers alike.
struct AttentionShape {
  int64_t layers = 0, kvHeads = 0, queryHeads = 0;
  int64_t keySize = 0, valueSize = 0; ///< numbers in a row

  int64_t heads() const { return layers * kvHeads; }
};

/// What one KV head of one layer did, in rows.
struct HeadWork {
  double keys = 0;     ///< that queries saw, summed over tokens
  double compared = 0; ///< clusters, summed over tokens that left the window
  double absorbed = 0; ///< tokens that clusters took in

  HeadWork &operator+=(const HeadWork &other);
};

/// Multiply-adds of scores, values and selection. Absorbing a token takes its
/// norm and two means besides the comparisons.
double countMultiplyAdds(const HeadWork &work, const AttentionShape &shape);

/// Rows that `tokens` tokens after `before` others see in dense attention.
double countDenseKeys(int64_t before, int64_t tokens);

/// The work of dense causal attention on a sequence, of one KV head.
HeadWork denseWork(int64_t tokens);

/// Adds up the work of the calls of a session.
class WorkMeter {
public:
  /// `table` is the plan's, layers x KV heads x 8.
  WorkMeter(const AttentionShape &shape, int64_t block,
            std::vector<float> table);

  /// One call. `clusters` says how many each head had in it.
  void add(int64_t before, int64_t tokens, std::span<const double> clusters);
  void reset();

  /// By layer, then KV head.
  const std::vector<HeadWork> &heads() const { return work; }
  /// Of all heads, as a share of what dense attention would have done.
  double relative() const;
  double multiplyAdds() const;
  double denseMultiplyAdds() const;

private:
  AttentionShape shape;
  int64_t block;
  std::vector<float> table;
  std::vector<HeadWork> work;
  double denseKeys = 0; ///< of one head
};

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_WORK_H
