//===- ClusterKeys.h - What heads see of a cache of clusters ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERKEYS_H
#define GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERKEYS_H

#include "passes/Tile/Gpu/Cluster/ClusterCache.h"

#include <array>

namespace gist {

/// The update by which the kernel of `op` puts the call's own tokens into the
/// ring, or null.
ClusterUpdateOp findUpdate(ClusterAttentionOp op);

/// The number of the kernel's result that attention gives: the cache may come
/// before it.
unsigned getResultNumber(ClusterAttentionOp op);

/// Attention of many queries; ClusterAttention.cpp has that of one.
mlir::FailureOr<GpuGrid> emitClusterQueries(GpuKernel &kernel,
                                            ClusterAttentionOp op);

/// Neighbouring rows of the pools.
struct RowRange {
  mlir::Value first, count;
};

/// What follows for one KV head from the tokens before the call and the table.
struct KnownKeys {
  using Value = mlir::Value;

  KnownKeys(ElementEmitter &emitter, ClusterAttentionOp op, Value kvHead);

  /// Keys that the head sees at most: each token that has left may have founded
  /// a cluster, as long as there was room.
  Value getMost(GpuBuilder &b) const {
    return b.add(exact, b.min(head.capacity, first));
  }

  ClusterHead head;
  Value first; ///< token that is exact
  Value place; ///< of it in the ring
  Value exact; ///< tokens that are
};

/// The keys of one KV head: clusters, then tokens up to the last of the call.
class SeenKeys {
public:
  using Value = mlir::Value;

  SeenKeys(ElementEmitter &emitter, ClusterAttentionOp op, Value kvHead)
      : SeenKeys(emitter, op, kvHead, KnownKeys(emitter, op, kvHead)) {}
  SeenKeys(ElementEmitter &emitter, ClusterAttentionOp op, Value kvHead,
           const KnownKeys &known);

  /// Keys before the call's own: query i sees those, and i + 1 more.
  Value getBefore() const { return before; }
  /// How many of these are clusters, and the row of the first.
  Value getClusters() const { return clusters; }
  Value getFirstMean() const { return head.meanRow; }
  /// The others, in two pieces: up to the end of the ring, and from its start
  /// on.
  std::array<RowRange, 2> getExact(GpuBuilder &b) const;
  /// Where key `n` lies.
  Value getRow(GpuBuilder &b, Value n) const;
  Value isCluster(GpuBuilder &b, Value n) const {
    return b.isLess(n, clusters);
  }
  /// How many tokens key `n` stands for if it is a cluster, else undefined.
  Value readCount(GpuBuilder &b, Value n) const;
  /// The logarithm of that to base 2, or zero.
  Value finishCount(GpuBuilder &b, Value n, Value count) const;
  /// Both at once. Where no key from `least`, the same in all threads, on is a
  /// cluster nothing is read.
  Value getLogCount(GpuBuilder &b, Value n, Value least) const;

private:
  ElementEmitter &emitter;
  // Getters of ops are not const.
  mutable ClusterAttentionOp op;
  ClusterHead head;
  Value clusters, exact, before;
  Value place; ///< in the ring, of the first exact token
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERKEYS_H
