//===- Dequantize.h - Blocks whose bytes a loop carries ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ELEMENTS_DEQUANTIZE_H
#define GIST_PASSES_TILE_GPU_ELEMENTS_DEQUANTIZE_H

#include "passes/Tile/Gpu/Elements/ElementEmitter.h"

namespace gist {

/// As dequantize(), for bytes that were loaded a step before while the next
/// ones are in flight. Instructions of two numbers read two registers: what
/// is being loaded into the one beside a scale would be waited for. So scales
/// are in pairs of registers of their own.
mlir::Value dequantizeAhead(
    GpuBuilder &b, BlockFormat format, mlir::Value i, int64_t width,
    llvm::function_ref<mlir::Value(mlir::Value, int64_t)> readBytes);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ELEMENTS_DEQUANTIZE_H
