//===- TraceViews.h - What a tensor is a view of ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_TRACEVIEWS_H
#define GIST_PASSES_IMPORT_TRACEVIEWS_H

#include "mlir/IR/Builders.h"

#include <optional>

namespace gist {

/// Where the heads of queries, keys or values come from.
struct HeadSource {
  mlir::Value source;
  /// Dimensions of `source` that are tokens, heads and width.
  int64_t tokens = 0, heads = 0, width = 0;
  int64_t group = 1; ///< query heads that read the same head
  double factor = 1; ///< what the source is multiplied with
};

/// Follows `value` back through transposes, reshapes, repetition of heads and
/// products with a constant. `dims` says which of its three dimensions are
/// tokens, heads and width. At worst the source is `value` itself.
HeadSource findHeadSource(mlir::Value value, llvm::ArrayRef<int64_t> dims);

/// The source as tokens x heads x width, transposed where it is not.
mlir::Value createHeads(mlir::OpBuilder &b, mlir::Location location,
                        const HeadSource &heads);

/// `value` with its dimensions in another order.
mlir::Value createTranspose(mlir::OpBuilder &b, mlir::Location location,
                            mlir::Value value, llvm::ArrayRef<int64_t> order);

} // namespace gist

#endif // GIST_PASSES_IMPORT_TRACEVIEWS_H
