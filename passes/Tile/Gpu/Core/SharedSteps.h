//===- SharedSteps.h - Steps that workgroups share --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work of one launch in steps, each cut into items. Workgroups draw items by
// tickets, those of the first step first, and wait for a step only when all of
// its items are drawn: a workgroup that has drawn an item is running. So this
// terminates whatever number of workgroups the device runs at once.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_SHAREDSTEPS_H
#define GIST_PASSES_TILE_GPU_CORE_SHAREDSTEPS_H

#include "passes/Tile/Gpu/Core/GpuAtomics.h"

namespace gist {

/// Words of control of a launch.
inline constexpr int64_t kStepWords = 64;

class SharedSteps {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// Uses kStepWords words of `control` from `first` on.
  SharedSteps(GpuBuilder &b, Value control, Value first);

  /// Draws the first ticket.
  void begin();
  /// Runs items of a step of `items` until all are drawn. Threads meet before
  /// and after an item.
  void run(int64_t items, llvm::function_ref<void(Value item)> body) {
    run(b.index(items), body);
  }
  void run(Value items, llvm::function_ref<void(Value item)> body) {
    run(
        items, {}, [](Value) { return Values(); },
        [&](Value item, mlir::ValueRange) { body(item); });
  }
  /// The item of the next step that this workgroup has drawn; there may be
  /// fewer.
  Value getNext() { return b.sub(b.readNumber(slot, b.index(0)), total); }
  /// The same where something is loaded as soon as an item is drawn: `loaded`
  /// is what load(getNext()) has given. There may be no such item.
  void run(Value items, Values loaded,
           llvm::function_ref<Values(Value item)> load,
           llvm::function_ref<void(Value item, mlir::ValueRange loaded)> body);
  /// Waits until all items of the steps so far are done, and what they have
  /// written is seen.
  void wait();

private:
  /// The next ticket, in thread 0.
  Value draw();

  GpuBuilder &b;
  Value control, ticketWord, doneWord;
  Value slot;  ///< workgroup memory: the ticket of this workgroup
  Value total; ///< items of the steps so far
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_SHAREDSTEPS_H
