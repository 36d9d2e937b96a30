//===- PanelMatmul.h - Float products of many rows --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_PANELMATMUL_H
#define GIST_PASSES_TILE_CPU_PANELMATMUL_H

#include "dialect/GistTileAttrs.h"
#include "passes/Tile/Cpu/TileBuilder.h"

namespace gist {

/// Vectors of columns that a panel is wide.
inline constexpr int64_t kPanelVectors = 4;

/// How much of the reduction with `weight` a panel holds: all, or an even part;
/// 0 where no part is both small enough and worth it.
int64_t getPanelDepth(mlir::Value weight, int64_t lanes);

/// True for a product whose lanes are columns: `registers` are as wide as a
/// panel.
bool hasPanels(CpuProductAttr tile);

/// `result` with x W^T added in the columns that fill panels. Both are
/// contiguous along the reduction, which is known.
mlir::Value emitPanelMatmul(TileBuilder &b, mlir::Value x, mlir::Value w,
                            CpuProductAttr tile, mlir::Value result);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_PANELMATMUL_H
