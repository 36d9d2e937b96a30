//===- PackedWeights.h - Reads packed weights into vectors ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_PACKEDWEIGHTS_H
#define GIST_PASSES_TILE_CPU_PACKEDWEIGHTS_H

#include "dialect/Formats.h"
#include "dialect/GistOps.h"
#include "dialect/GistTileAttrs.h"
#include "passes/Tile/Cpu/TileBuilder.h"

namespace gist {

/// The columns of one group of a block: d, and m - zero * d, one per lane.
struct ColumnScales {
  mlir::Value scale;
  mlir::Value offset; ///< null where there is none
};

/// A weight in the form that #gist.packing describes, read group by group of
/// columns and block by block.
class PackedWeights {
public:
  PackedWeights(TileBuilder &b, QuantizedMatmulOp product,
                Instruction instruction);

  /// Whether products need the sums of rows as well.
  bool hasOffset() const { return packing.getHasMin() || packing.getZero(); }
  /// The indices of byte `byte` of a block.
  TileBuilder::Values getPlace(mlir::Value group, mlir::Value block,
                               int64_t byte);
  ColumnScales readScales(mlir::Value group, mlir::Value block, int64_t part);
  TileBuilder::Values readSteps(mlir::Value group, mlir::Value block,
                                int64_t lanes);

private:
  mlir::Value readHalves(mlir::ValueRange place);
  mlir::Value readNumbers(mlir::Value group, mlir::Value block, int64_t byte,
                          int64_t sharedByte);
  mlir::Value readBits(mlir::Value bytes, const BitPlane &plane, int64_t shift);
  /// What levels of these numbers stand for, as bytes.
  mlir::Value lookUp(mlir::Value numbers);
  /// Whether values are halves of bytes with signs, which are used where they
  /// are, as 16 times their value.
  bool areSignedHalves() const {
    return packing.getBits() == 4 && packing.getIsSigned() && !format.levels;
  }

  TileBuilder &b;
  const FormatInfo &format;
  Instruction instruction;
  PackingAttr packing;
  PackedLayout layout;
  mlir::Value weight;
  mlir::Type i8, f32;
  int64_t columns;
};

/// sum[i] += u[4i .. 4i+3] . x[4i .. 4i+3], u without a sign (x86 VNNI).
mlir::Value createVpdpbusd(TileBuilder &b, mlir::Value sum, mlir::Value u,
                           mlir::Value x);

/// What `lanes` groups of a row's values from `block` on add to every column.
/// Where weights have a zero point, an i32 that is added to the integers of the
/// group: their sum, times what stored weights are too large. Else an f32 that
/// the minima of columns multiply: their sum, times the scale of the block.
/// `addFours` gives a vector of bytes as sums of four.
mlir::Value
readRowSums(TileBuilder &b, PackingAttr packing, mlir::Value values,
            mlir::Value row, mlir::Value block, mlir::Value scale,
            int64_t lanes,
            llvm::function_ref<mlir::Value(mlir::Value bytes)> addFours);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_PACKEDWEIGHTS_H
