//===- Decompose.h - Executable definitions of the ops ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_DECOMPOSE_H
#define GIST_DIALECT_DECOMPOSE_H

#include "dialect/DecomposeUtils.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace gist {
class CascadeUpdateOp;
class GatedProjectionOp;
class GramSelectOp;

/// Patterns that turn each op into linalg, tensor, scf, arith and math. One
/// function per source file, and one for all of them.
void populateDecomposePatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeSelectionPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeProjectionPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeQuantPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeClusterPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeExpertPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeSamplingPatterns(mlir::RewritePatternSet &patterns);

/// What takes the place of the results of an op that selects; not for `rule
/// inherit`. The one step that visits tokens in order is left to `run`.
llvm::SmallVector<mlir::Value> createSelection(ValueBuilder &b, GramSelectOp op,
                                               RunInOrder run);
llvm::SmallVector<mlir::Value>
createSelection(ValueBuilder &b, CascadeUpdateOp op, RunInOrder run);

/// The levels of the tokens of `op`, given what the subspace leaves of them.
mlir::Value createGateLevels(ValueBuilder &b, GatedProjectionOp op,
                             mlir::Value residual);

/// What a gate compares for one token: |residual| / |x| of the sums of their
/// squares, and 0 where x is 0. Where a norm leaves the range of f32 it is NaN.
mlir::Value createGateRatio(ValueBuilder &b, mlir::Value residual,
                            mlir::Value input, mlir::Value isNonZero);
/// The level of a token with this ratio, as an integer of `type`;
/// runtime/format/GateLevels.h says what levels mean.
mlir::Value createGateLevel(ValueBuilder &b, GatedProjectionOp op,
                            mlir::Value ratio, mlir::Type type);

} // namespace gist

#endif // GIST_DIALECT_DECOMPOSE_H
