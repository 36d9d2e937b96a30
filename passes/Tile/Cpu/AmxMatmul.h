//===- AmxMatmul.h - 8-bit products by tiles of AMX -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_AMXMATMUL_H
#define GIST_PASSES_TILE_CPU_AMXMATMUL_H

#include "dialect/GistOps.h"
#include "dialect/GistTileAttrs.h"
#include "passes/Tile/Cpu/TileBuilder.h"

namespace gist {

/// The product `op` written into `result`, by tdpbsud. The weight is packed 16
/// columns wide and four deep, without signs.
mlir::Value emitAmxMatmul(TileBuilder &b, QuantizedMatmulOp op,
                          CpuProductAttr tile, mlir::Value result);

/// Whether weights are packed as tdpbsud takes them.
bool isPackedForAmx(PackingAttr packing);

/// Bytes of scratch that a product of `depth` takes which is cut this way.
int64_t getAmxScratch(PackingAttr packing, int64_t depth, int64_t rows);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_AMXMATMUL_H
