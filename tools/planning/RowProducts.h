//===- RowProducts.h - Sums of products over many rows ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_ROWPRODUCTS_H
#define GIST_TOOLS_PLANNING_ROWPRODUCTS_H

#include "tools/planning/LinearMoments.h"

namespace gist::plan {

/// Adds x^T y to `sums`: what both have in a row is multiplied, and rows are
/// summed up.
struct RowProduct {
  const Matrix *x, *y;
  Matrix *sums;
  bool isLower = false; ///< x is y, and the lower triangle is enough
};

/// Does all of them, on all cores, in the best instructions that the CPU has:
/// Eigen has those that it is compiled for. Several may have the same sums.
void addProducts(std::span<const RowProduct> products);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_ROWPRODUCTS_H
