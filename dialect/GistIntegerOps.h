//===- GistIntegerOps.h - Products of 8-bit integers ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTINTEGEROPS_H
#define GIST_DIALECT_GISTINTEGEROPS_H

#include "dialect/GistOps.h"

namespace gist {

/// On a `gist.weight` that is made of a stored one: which part of it in 8 bits,
/// "values" or the "scales" of its rows. With a = max |w| over a row, the scale
/// is a / 127 and a value round(w * (127 / a)); zeros for a row of zeros.
inline constexpr llvm::StringLiteral kByRowAttr = "gist.by_row";
inline constexpr llvm::StringLiteral kByRowValues = "values",
                                     kByRowScales = "scales";

} // namespace gist

#define GET_OP_CLASSES
#include "dialect/GistIntegerOps.h.inc"

#endif // GIST_DIALECT_GISTINTEGEROPS_H
