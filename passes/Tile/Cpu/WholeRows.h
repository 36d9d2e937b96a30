//===- WholeRows.h - Float products of many rows in integers ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_WHOLEROWS_H
#define GIST_PASSES_TILE_CPU_WHOLEROWS_H

#include "dialect/GistCpuTileAttrs.h"
#include "passes/Tile/Cpu/TileBuilder.h"

namespace gist {

/// Bytes of stack of a product of `rows` rows that computes `columns` columns
/// at once.
int64_t getWholeRowsScratch(int64_t rows, int64_t columns);

/// The products of all rows of `x` with a weight in stored blocks, whose rows
/// are a multiple of the columns in `tile`'s registers, added to `result`.
mlir::Value emitWholeRows(TileBuilder &b, mlir::Value x, mlir::Value w,
                          CpuProductAttr tile, mlir::Value result);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_WHOLEROWS_H
