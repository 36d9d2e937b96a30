//===- ClusterAbsorb.h - Tokens that leave many layers ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What takes longest when a block of tokens leaves its window is comparing all
// of them with all clusters that there are. That does not depend on the order
// of the tokens, so several workgroups of a head share it, some tokens each.
// Whichever is done last then goes through the tokens in their order, and
// compares them only with clusters that are new. None waits for another.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERABSORB_H
#define GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERABSORB_H

#include "passes/Tile/Gpu/Cluster/ClusterCache.h"

namespace gist {

/// The workgroups that share the tokens of a head.
class AbsorbParts {
public:
  using Value = mlir::Value;

  /// Of a kernel that has memory for parts (getAbsorbScratch); nothing where it
  /// has none.
  static mlir::FailureOr<std::optional<AbsorbParts>> find(GpuKernel &kernel,
                                                          ClusterAbsorbOp op);

  /// How many there are at most, and which this workgroup is.
  int64_t getMost() const { return most; }
  Value getPart() const { return part; }

  /// What is known of token `number` of those that leave: the largest product,
  /// and the cluster that has it.
  void keep(Value number, Value best, Value owner);
  Value getBest(Value number);
  Value getOwner(Value number);

  /// Whether all of `active` parts have kept what they found. All threads ask.
  Value isLast(Value active);

private:
  AbsorbParts(GpuBuilder &b, int64_t most, int64_t heads, Value bests,
              Value owners, Value control);

  GpuBuilder &b;
  int64_t most;
  Value bests, owners; ///< heads of all layers x tokens
  Value control;       ///< a word for each of these heads
  Value slot;          ///< a word of workgroup memory
  Value part, item;
};

/// What the kernel asks for to share tokens; nothing where the GPU is full
/// without that.
mlir::FailureOr<KernelScratch> getAbsorbScratch(mlir::func::FuncOp kernel);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERABSORB_H
