//===- HeadOutput.h - A product of heads, in parts --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The product that reads the heads of a token, o = a W^T, is a sum over heads.
// Cut into groups of heads, its parts are rows that can be computed apart:
//
//   y[t, g, n] = sum over k of a[t, g, k] W[n, g, k]
//
// with k over the numbers of all heads of group g.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_HEADOUTPUT_H
#define GIST_PASSES_KERNEL_HEADOUTPUT_H

#include "dialect/GistOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace gist {

/// Such a product of one token's heads.
struct HeadOutput {
  mlir::linalg::GenericOp product;
  mlir::Value weight; ///< columns x numbers of all heads, as it is stored
  int64_t groups;     ///< of heads
  int64_t depth;      ///< numbers of the heads of a group
  int64_t columns;
};

/// The one that alone reads what `attention` of one token gives.
std::optional<HeadOutput> findHeadOutput(AttentionOp attention);

/// Writes it: `heads` is 1 x heads x size and `weight` columns x numbers of all
/// heads. The result is 1 x groups x columns, in f32.
mlir::Value createHeadOutput(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value heads, mlir::Value weight,
                             int64_t groups);

} // namespace gist

#endif // GIST_PASSES_KERNEL_HEADOUTPUT_H
