//===- GistIntegerOps.h - Products of 8-bit numbers -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTINTEGEROPS_H
#define GIST_DIALECT_GISTINTEGEROPS_H

#include "dialect/GistOps.h"

namespace gist {

/// On a `gist.weight` that is made of a stored one: the type of the numbers of
/// 8 bits that it is in. The weight is those numbers or, of rank 1, the scales
/// of its rows. With a = max |w| over a row and m the largest number of the
/// type, the scale is a / m and a value round(w * (m / a)); zeros for a row of
/// zeros.
inline constexpr llvm::StringLiteral kByRowAttr = "gist.by_row";

/// Whether `type` is a type that numbers of 8 bits may have: i8, f8E4M3FN or
/// f8E4M3FNUZ.
bool isSmallNumber(mlir::Type type);
/// The largest number of such a type: 127, 448 or 240.
double getLargest(mlir::Type type);

} // namespace gist

#define GET_OP_CLASSES
#include "dialect/GistIntegerOps.h.inc"

#endif // GIST_DIALECT_GISTINTEGEROPS_H
