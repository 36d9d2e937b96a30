//===- ClusterDecide.h - Which tokens found clusters ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A token founds a cluster if it is like no existing cluster and like no
// earlier token that founds one. A thread has a token and knows, in a word of
// bits for every 32 of them, which earlier tokens it is like. In rounds,
//
//   an open token that is like a founder joins;
//   one that is like no earlier open token founds;
//
// and the first open token always does one of both. Tokens that are unlike each
// other, however many, take one round.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERDECIDE_H
#define GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERDECIDE_H

#include "passes/Tile/Gpu/Cluster/ClusterCache.h"
#include "passes/Tile/Gpu/Cluster/ClusterScores.h"

namespace gist {

class ClusterDecide {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// What is known of tokens, in workgroup memory: products with the units of
  /// earlier ones, one over the norm of the key, the largest product with a
  /// unit and the cluster of that unit.
  struct Tokens {
    Value pairs, inverses, best, owners;
  };

  /// Takes its workgroup memory, so that the builder must be where the kernel
  /// begins. There are two threads for each of `tokens` tokens.
  ClusterDecide(GpuBuilder &b, ClusterScores &scores);

  /// Decides for `number` tokens from `first` on, with `count` clusters: writes
  /// to `owners` the cluster that each starts or joins, -1 for none, and
  /// returns the new number of clusters. All threads take part; callers need a
  /// barrier before the call and one before they read the owners.
  Value emit(const Tokens &known, const ClusterHead &head, Value first,
             Value number, Value count);

private:
  /// Writes which earlier tokens each is like.
  void findAlike(const Tokens &known, const ClusterHead &head, Value first);
  /// Whether `token`, whose key has this inverse norm, is like what it has
  /// this product with.
  Value isAlike(const ClusterHead &head, Value token, Value product,
                Value inverse);
  /// Sets the bits of `words` to what each thread's token says.
  void writeBits(Value words, Value isSet);
  Values readWords(Value words, Value first);

  GpuBuilder &b;
  ClusterScores &scores;
  int64_t tokens, words;
  Value alike;          ///< tokens x words
  Value open, founders; ///< words
  Value founderOf;      ///< the token of each new cluster
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERDECIDE_H
