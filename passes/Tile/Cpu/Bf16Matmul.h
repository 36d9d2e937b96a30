//===- Bf16Matmul.h - Float products by tiles of AMX ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_BF16MATMUL_H
#define GIST_PASSES_TILE_CPU_BF16MATMUL_H

#include "dialect/GistCpuTileAttrs.h"
#include "passes/Tile/Cpu/TileBuilder.h"

namespace gist {

/// `result` plus x w^T, by tdpbf16ps. The weight is f16 or bf16, its rows are a
/// multiple of 32, and the depth of the tile divides the reduction.
mlir::Value emitBf16Matmul(TileBuilder &b, mlir::Value x, mlir::Value w,
                           CpuBf16ProductAttr tile, mlir::Value result);

/// Bytes of scratch that a product takes which is cut this way.
int64_t getBf16Scratch(CpuBf16ProductAttr tile);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_BF16MATMUL_H
