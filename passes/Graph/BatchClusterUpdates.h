//===- BatchClusterUpdates.h - Upkeep of clusters, off the way --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_BATCHCLUSTERUPDATES_H
#define GIST_PASSES_GRAPH_BATCHCLUSTERUPDATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist {

/// For GPUs: nothing waits for tokens that leave windows. One launch lets them
/// leave in the later layers, at the start of a call, beside the earlier
/// layers; another one in the earlier layers, as soon as their attention is
/// done, beside the later ones: what the next call would do first. What is left
/// of a layer's update, rows that go into the ring, comes after its attention,
/// which reads the rows of the call where they were made.
///
///   %c2:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%c#0, …) …
///   %o = gist.cluster_attention %q, %heads, %past, %layer on(%c2#0, …) …
///   // becomes
///   %c1:5 = gist.cluster_absorb %heads, %past layers 15 to 30 into(%c#0, …) …
///   %o = gist.cluster_attention %q, %heads, %past, %layer on(%c1#0, …)
///       own(%k, %v : …) …
///   %c2:5 = gist.cluster_update %k, %v, %heads, %past, %layer into(%c1#0, …) …
///       absorbed …
///   // and after the update of layer 14
///   %c4:5 = gist.cluster_absorb %heads, %next layers 0 to 15 into(%c3#0, …) …
///
/// Where programs for several targets share the state (kSharedStateAttr) all
/// layers let tokens leave at the start of a call, as they do without this.
///
/// Nothing changes where the updates of a function are not a chain over the
/// layers from its own cache on.
void batchClusterUpdates(mlir::func::FuncOp function, bool isShared);

} // namespace gist

#endif // GIST_PASSES_GRAPH_BATCHCLUSTERUPDATES_H
