//===- AttentionDecodeOutput.h - The product of heads -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The product that reads the heads of one token, where attention has taken it.
// The workgroups of a cluster share the rows of W, some lanes a row each: its
// numbers are read while the cluster attends. What comes out is the cluster's
// part of the product, a row that readers add up with those of the others.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODEOUTPUT_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODEOUTPUT_H

#include "passes/Cost/DecodeSplit.h"
#include "passes/Kernel/HeadOutput.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

namespace gist {

class DecodeOutput {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// `group` of the heads is this cluster's, `rank` this workgroup's in it; the
  /// parts are result `result` of the kernel.
  DecodeOutput(ElementEmitter &emitter, const HeadOutput &output,
               const DecodeSplit &split, Value group, Value rank,
               unsigned result);

  /// Asks for the cache lines of weights.
  void prefetch();
  /// Reads them.
  void fetch();
  /// Workgroup memory for the numbers of the heads, in f32.
  Value getHeads() const { return heads; }
  /// Multiplies these, which all threads see, and writes the result.
  void compute();

private:
  /// This lane's piece number `i`, among the numbers of the group.
  Value getPlace(int64_t i);
  bool hasAllPieces() const;

  ElementEmitter &emitter;
  GpuBuilder &b;
  OutputSplit split;
  int64_t depth, columns;
  unsigned result;
  Value group;
  Operand w;
  Value heads;
  Value first;   ///< row of W of this workgroup
  Value row;     ///< of this lane
  Value isThere; ///< whether it has one
  Value lane;    ///< among those that share it
  llvm::SmallVector<Values> fetched;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODEOUTPUT_H
