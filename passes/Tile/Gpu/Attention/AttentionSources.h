//===- AttentionSources.h - Queries, keys and values of kernels -*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONSOURCES_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONSOURCES_H

#include "passes/Tile/Gpu/Attention/AttentionLoop.h"
#include "passes/Tile/Gpu/Elements/ElementEmitter.h"

namespace gist {

/// Rows of `tensor`; `at` says where in it a column of a row is.
RowSource getRowSource(
    ElementEmitter &emitter, mlir::Value tensor, mlir::Type element,
    std::function<GpuBuilder::Values(mlir::Value row, mlir::Value column)> at);

/// Head `head` of `tensor`, tokens x heads x size, multiplied as `element`.
RowSource getHeadSource(ElementEmitter &emitter, mlir::Value tensor,
                        mlir::Value head, mlir::Type element);

/// The rows of `tensor`, rows x size.
RowSource getPoolSource(ElementEmitter &emitter, mlir::Value tensor,
                        mlir::Type element);

/// x <= y for token numbers, in 32 bits: those that are the same in all threads
/// can then be compared without the lanes of a wave.
mlir::Value isAtMost(GpuBuilder &b, mlir::Value x, mlir::Value y);

/// The smaller of two token numbers, in 32 bits on gfx942, whose rows then are
/// found in fewer instructions.
mlir::Value getSmaller(GpuBuilder &b, mlir::Value x, mlir::Value y);

/// Which part of the work a workgroup has.
struct BlockOrder {
  mlir::Value block, head;
  mlir::Value isThere; ///< false for workgroups past the last part
};

/// Workgroup `number` of those that share `blocks` blocks of `heads` heads. The
/// first block of all heads comes first, so that with the longest first the
/// last to run are short; but no more heads at a time than caches can hold the
/// keys and values of, `headBytes` each.
BlockOrder orderBlocks(GpuBuilder &b, mlir::Value number, mlir::Value blocks,
                       int64_t heads, mlir::Value headBytes);
/// Bytes of `rows` keys and values of a head.
mlir::Value getHeadBytes(GpuBuilder &b, mlir::Value key, mlir::Value value,
                         mlir::Value rows);

/// Writes numbers of the result of attention, `count` neighbours of a head, and
/// whatever the kernel computes from them.
class AttentionResult {
public:
  /// `output` is result `number` of the kernel, or leads to it.
  AttentionResult(ElementEmitter &emitter, mlir::Value output,
                  unsigned number = 0);
  ~AttentionResult();

  void store(mlir::Value token, mlir::Value head, mlir::Value column,
             mlir::Value numbers);

private:
  ElementEmitter &emitter;
  mlir::Value output;
  unsigned number;
  mlir::Value current; ///< the numbers being stored
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONSOURCES_H
