//===- HandIn.h - Parts that the last workgroup puts together ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Workgroups that share one result leave what their threads have in registers
// in global memory, and count themselves. The one that counts last reads all of
// it. No workgroup waits for another, so this terminates however many the
// device runs at once; and the one that reads orders its reads after all
// writes, also where workgroups run on dies with caches of their own.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_HANDIN_H
#define GIST_PASSES_TILE_GPU_CORE_HANDIN_H

#include "passes/Tile/Gpu/Core/GpuBuilder.h"

namespace gist {

/// Where the numbers of a workgroup's threads lie: `first` is the place of the
/// first of them in row `row` of `memory`, which is of f32.
struct HandedIn {
  mlir::Value memory, row, first;
};

/// How many f32 a thread has in a state of these types, scalars and vectors.
int64_t countNumbers(mlir::TypeRange types);

/// Writes and reads what this thread has. Neighbouring threads have
/// neighbouring numbers.
void writeState(GpuBuilder &b, const HandedIn &place, mlir::ValueRange state);
GpuBuilder::Values readState(GpuBuilder &b, const HandedIn &place,
                             mlir::TypeRange types);

/// Counts this workgroup in word `word` of `control`, after all that it has
/// written: whether it is the last of `count`. What the others have written is
/// seen then. All threads take part and agree. They do so through a word of
/// workgroup memory: the first two numbers of `free`, which holds 16-bit
/// numbers that are no longer used, if given, since a new word may not fit.
mlir::Value isLastToArrive(GpuBuilder &b, mlir::Value control, mlir::Value word,
                           mlir::Value count, mlir::Value free = {});

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_HANDIN_H
