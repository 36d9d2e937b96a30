//===- Formats.h - Attributes and the layouts they name ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect's names for layouts that runtime/format defines, and the numbers
// that ops compute as those layouts say.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_FORMATS_H
#define GIST_DIALECT_FORMATS_H

#include "dialect/GistDialect.h"
#include "dialect/ValueBuilder.h"
#include "runtime/format/PackedLayout.h"

namespace gist {

WeightFormat getWeightFormat(BlockFormat format);
/// `format` must have blocks.
BlockFormat getBlockFormat(WeightFormat format);
const FormatInfo &getFormatInfo(BlockFormat format);

PackedLayout getPackedLayout(PackingAttr packing);
PackingAttr getPackingAttr(mlir::MLIRContext *context,
                           const PackedLayout &layout);

/// The level with this number, an i32 or a vector of them, of the sixteen of a
/// format, as i32.
mlir::Value createLevel(ValueBuilder &b, const FormatInfo &format,
                        mlir::Value number);

/// thetaOfTau for an f32 that is known when the code runs.
mlir::Value createTheta(ValueBuilder &b, mlir::Value tau);

} // namespace gist

#endif // GIST_DIALECT_FORMATS_H
