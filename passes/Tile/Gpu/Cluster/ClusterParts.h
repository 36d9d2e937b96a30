//===- ClusterParts.h - Attention in parts of its keys ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a plan some heads see all tokens and others a few. A call has few
// workgroups then that work long while most of the GPU waits for them. So the
// keys of a block of queries are cut into parts, more of them where more keys
// are seen. Each part is a workgroup's. What it has found goes to scratch
// memory, and whichever workgroup comes last puts the parts together, in their
// order: results do not depend on which workgroup that is.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERPARTS_H
#define GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERPARTS_H

#include "dialect/GistClusterOps.h"
#include "passes/Tile/Gpu/Attention/AttentionLoop.h"
#include "passes/Tile/Gpu/Core/HandIn.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"

namespace gist {

/// A range of the steps of another KeySteps.
class PartSteps final : public KeySteps {
public:
  /// The steps [begin, end) of `all`.
  PartSteps(GpuBuilder &b, KeySteps &all, Value begin, Value end);

  Value getCount(GpuBuilder &) override { return count; }
  Value getRow(GpuBuilder &b, Value step, Value slot) override {
    return all.getRow(b, b.add(begin, step), slot);
  }
  Value isThere(GpuBuilder &b, Value step, Value slot) override {
    return all.isThere(b, b.add(begin, step), slot);
  }
  bool isGathered() const override { return all.isGathered(); }
  Value isPlain(GpuBuilder &b, Value step) override {
    return all.isPlain(b, b.add(begin, step));
  }
  Value adjust(GpuBuilder &b, Value score, Value step, Value row,
               Value slot) override {
    return all.adjust(b, score, b.add(begin, step), row, slot);
  }
  bool hasBias() const override { return all.hasBias(); }
  Value getBias(GpuBuilder &b, Value step, Value slot, Value row) override {
    return all.getBias(b, b.add(begin, step), slot, row);
  }
  Value readBias(GpuBuilder &b, Value step, Value slot, Value row) override {
    return all.readBias(b, b.add(begin, step), slot, row);
  }
  Value finishBias(GpuBuilder &b, Value step, Value slot, Value read) override {
    return all.finishBias(b, b.add(begin, step), slot, read);
  }

private:
  KeySteps &all;
  Value begin, count;
};

/// The parts of one block of queries.
class ClusterParts {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// The parts of a kernel that has memory for them (getClusterScratch), else
  /// nullopt.
  static std::optional<ClusterParts> find(GpuKernel &kernel,
                                          ClusterAttentionOp op);

  /// How many workgroups a block of queries has.
  int64_t getMost() const { return most; }

  /// The block is number `item` and has `steps` steps of keys, and this is
  /// workgroup `part` of it. `mean` is how many steps a place for a workgroup
  /// on the GPU has on average.
  void begin(Value item, Value part, Value steps, Value mean);
  /// Whether the workgroup has any work.
  Value isThere() const { return hasWork; }
  /// The steps of this workgroup among all of the block.
  Value getFirst() const { return first; }
  Value getEnd() const { return end; }
  /// Calls `emit` with what all parts have found, in one workgroup.
  void finish(AttentionLoop &loop, const AttentionLoop::State &state,
              llvm::function_ref<void(AttentionLoop::State &state)> emit);

private:
  ClusterParts(GpuBuilder &b, Value memory, Value control);

  /// Where part `number` of the block leaves its state.
  HandedIn getPlace(Value number, mlir::TypeRange state);

  GpuBuilder &b;
  Value memory;  ///< parts x numbers of all blocks of queries
  Value control; ///< for each block, how many parts are done
  int64_t most;
  Value item, part, count, hasWork, first, end;
};

/// The memory for parts; none where a call has workgroups enough without them.
mlir::FailureOr<KernelScratch> getClusterScratch(mlir::func::FuncOp kernel);

/// Workgroups of attention that a GPU runs at once.
int64_t getAttentionPlaces(ClusterAttentionOp op, GpuAttentionAttr tile,
                           const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERPARTS_H
