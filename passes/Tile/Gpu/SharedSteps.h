//===- SharedSteps.h - Steps that workgroups share --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work of one launch in steps, each cut into items. Workgroups draw items by
// tickets, those of the first step first, and wait for a step only when all of
// its items are drawn: whoever has one of them is running. So this ends
// whatever number of workgroups the device runs at once.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_SHAREDSTEPS_H
#define GIST_PASSES_TILE_GPU_SHAREDSTEPS_H

#include "passes/Tile/Gpu/GpuAtomics.h"

namespace gist {

/// Words of control of a launch, zero at its start.
inline constexpr int64_t kStepWords = 64;

class SharedSteps {
public:
  using Value = mlir::Value;

  /// Uses kStepWords words of `control` from `first` on.
  SharedSteps(GpuBuilder &b, Value control, Value first);

  /// Draws the first ticket.
  void begin();
  /// Runs items of a step of `items` until all are drawn. Threads meet before
  /// and after an item.
  void run(Value items, llvm::function_ref<void(Value item)> body);
  void run(int64_t items, llvm::function_ref<void(Value item)> body) {
    run(b.index(items), body);
  }
  /// Waits until all items of the steps so far are done, and what they have
  /// written is seen.
  void wait();

private:
  void draw(bool isDone);

  GpuBuilder &b;
  Value control, ticketWord, doneWord;
  Value slot;  ///< workgroup memory: the ticket of this workgroup
  Value total; ///< items of the steps so far
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_SHAREDSTEPS_H
