//===- BatchClusterUpdates.h - Cluster updates in batches -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_BATCHCLUSTERUPDATES_H
#define GIST_PASSES_GRAPH_BATCHCLUSTERUPDATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist {

/// What else a target gains from, besides one launch for all tokens that leave
/// windows.
struct ClusterBatching {
  /// Attention reads the rows of its call where they were made, so that it does
  /// not wait until they are in the ring.
  bool readsOwnRows;
  /// The earlier layers absorb as soon as their attention is done, in parallel
  /// with the later layers, instead of at the start of the next call.
  bool spansCalls;
};

/// One launch lets tokens leave the windows of all layers, at the start of a
/// call, where heads of one layer are too few to keep a target busy:
///
///   %c2:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%c#0, …) …
///   %o = gist.cluster_attention %q, %heads, %past, %layer on(%c2#0, …) …
///   // becomes
///   %c1:5 = gist.cluster_absorb %heads, %past layers 0 to 30 into(%c#0, …) …
///   %c2:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%c1#0, …) …
///       absorbed …
///   %o = gist.cluster_attention %q, %heads, %past, %layer on(%c2#0, …) …
///
/// With `readsOwnRows` what is left of a layer's update, rows that go into the
/// ring, comes after its attention:
///
///   %o = gist.cluster_attention %q, %heads, %past, %layer on(%c1#0, …)
///       own(%k, %v : …) …
///   %c2:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%c1#0, …) …
///       absorbed …
///
/// With `spansCalls` the launch at the start of a call is for the later layers,
/// beside the earlier ones, and another one comes after the update of layer 14:
///
///   %c1:5 = gist.cluster_absorb %heads, %past layers 15 to 30 into(%c#0, …) …
///   %c4:5 = gist.cluster_absorb %heads, %next layers 0 to 15 into(%c3#0, …) …
///
/// Programs that share their state (kSharedStateAttr) must all do it in the
/// same calls.
///
/// Nothing changes where the updates of a function are not a chain over the
/// layers from its own cache on.
void batchClusterUpdates(mlir::func::FuncOp function, ClusterBatching batching);

} // namespace gist

#endif // GIST_PASSES_GRAPH_BATCHCLUSTERUPDATES_H
