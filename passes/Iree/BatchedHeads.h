//===- BatchedHeads.h - Attention as products of batches --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention in the words that compilers for linalg have good code for: products
// of batches. A batch is a KV head, and its rows are the tokens of all query
// heads of its group: T x (K G) x D becomes K x (G T) x D.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IREE_BATCHEDHEADS_H
#define GIST_PASSES_IREE_BATCHEDHEADS_H

#include "dialect/ValueBuilder.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"

namespace gist {

/// What `query`, T x (K G) x D, sees of `keys` and `values`, both K x S x D in
/// f32. `mask` gets the products of K x G x T x S, and gives the scores:
/// scaled, and -infinity where a query does not see a key.
mlir::Value attendInBatches(ValueBuilder &b, mlir::Value query,
                            mlir::Value keys, mlir::Value values,
                            llvm::function_ref<mlir::Value(mlir::Value)> mask);

/// Whether attention can be batches: not ragged, with heads of known number and
/// size.
template <typename OpTy> bool canBatch(OpTy op) {
  mlir::RankedTensorType keys = op.getKey().getType();
  return !op.getOffsets() && !op.getQuery().getType().isDynamicDim(1) &&
         !keys.isDynamicDim(1) && !keys.isDynamicDim(2);
}

/// The ops that `isWanted` names, but for those in kernels, which have code
/// already.
llvm::SmallVector<mlir::Operation *>
findOutsideKernels(mlir::Operation *root,
                   llvm::function_ref<bool(mlir::Operation *)> isWanted);
/// Applies `patterns` to these ops, and not to what they become.
llvm::LogicalResult rewriteOnce(llvm::ArrayRef<mlir::Operation *> ops,
                                mlir::RewritePatternSet patterns);

/// Attention on a cache of clusters, and on representatives: patterns of
/// -gist-batch-attention.
void populateBatchClusterAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateBatchAttendPatterns(mlir::RewritePatternSet &patterns);

} // namespace gist

#endif // GIST_PASSES_IREE_BATCHEDHEADS_H
