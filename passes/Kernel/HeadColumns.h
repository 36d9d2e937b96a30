//===- HeadColumns.h - Heads that are columns of a product ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_HEADCOLUMNS_H
#define GIST_PASSES_KERNEL_HEADCOLUMNS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace gist {

/// Head h of a token is computed from `size` columns of the token's row of a
/// product, from column `first` + h * `size` on, and from nothing else that is
/// computed: a weight, an argument of the function.
struct HeadColumns {
  mlir::linalg::MatmulOp product;
  int64_t first;
  int64_t size;
};

/// Where `heads`, 1 x heads x size, is computed in such a way: queries or keys
/// with their rotary embedding. A kernel that has some of the heads then needs
/// only these columns of the product.
std::optional<HeadColumns> findHeadColumns(mlir::Value heads);

} // namespace gist

#endif // GIST_PASSES_KERNEL_HEADCOLUMNS_H
