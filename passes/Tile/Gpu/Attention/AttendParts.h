//===- AttendParts.h - What attention on representatives shares -*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENDPARTS_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENDPARTS_H

#include "passes/Tile/Gpu/Attention/AttentionSources.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"

namespace gist {

/// The parts of a selection, for one KV head.
class Selection {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  Selection(ElementEmitter &emitter, AttendOp op, Value kvHead);

  Value getCount() { return read(parts.getCount(), head); }
  Value getId(Value i) { return read(parts.getIds(), at(i)); }
  Value getNearest(Value token) { return read(parts.getNearest(), at(token)); }
  /// For `count` tokens from `first` on, as i32.
  Value getNearest(Value first, int64_t count) {
    return emitter.elements(parts.getNearest(), at(first), count);
  }
  /// An i32.
  Value getWeight(Value i) { return emitter.element(parts.getWeight(), at(i)); }

  /// Neighbours of 16 bytes.
  static constexpr int64_t kSome = 4;
  /// `kSome` elements of `nearest`, or of an i32 tensor of the same layout,
  /// from `first` on; -1 from `end` on.
  Value readNearest(Value first, Value end) {
    return readSome(parts.getNearest(), first, end);
  }
  Value readSome(Value tensor, Value first, Value end);

  /// How many ids, which ascend, are less than `end`. By each wave for itself;
  /// all of its lanes take part.
  Value countIdsBefore(Value end);

  /// Calls `body` with numbers [begin, end) of what is nearest: the index and
  /// the number, an i32. The threads of a workgroup share them,
  /// `atOnce` for each; several are loaded before the first is looked at.
  using Body = llvm::function_ref<void(Value index, Value number)>;
  void forEachNearest(Value begin, Value end, int64_t atOnce, Body body) {
    forEach(parts.getNearest(), begin, end, atOnce, body);
  }

private:
  void forEach(Value tensor, Value begin, Value end, int64_t atOnce, Body body);
  Values at(Value i);
  Value read(Value tensor, mlir::ValueRange indices);

  ElementEmitter &emitter;
  GpuBuilder &b;
  PackSelectionOp parts;
  Values head;
};

/// A bit for each lane of the wave, in 64.
mlir::Value ballot(GpuBuilder &b, mlir::Value condition);

/// What is added to the score of a cluster of `count` members, an i32, divided
/// by the scale; -infinity for none.
mlir::Value getLogCount(GpuBuilder &b, mlir::Value count, double scale);

/// The two kernels; their operands have been verified.
void emitAttendCopy(GpuKernel &kernel, AttendOp op);
mlir::LogicalResult emitAttendKeys(GpuKernel &kernel, AttendOp op);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENDPARTS_H
