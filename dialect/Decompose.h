//===- Decompose.h - Executable definitions of the ops ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_DECOMPOSE_H
#define GIST_DIALECT_DECOMPOSE_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace gist {

/// Patterns that turn each op into linalg, tensor, scf, arith and math. One
/// function per source file, and one for all of them.
void populateDecomposePatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeSelectionPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeProjectionPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeQuantPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeClusterPatterns(mlir::RewritePatternSet &patterns);

} // namespace gist

#endif // GIST_DIALECT_DECOMPOSE_H
