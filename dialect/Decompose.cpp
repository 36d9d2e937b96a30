//===- Decompose.cpp - Executable definitions of all ops ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"

/// All definitions together, for -gist-decompose and the reference pipeline.
void gist::populateDecomposePatterns(mlir::RewritePatternSet &patterns) {
  populateDecomposeSelectionPatterns(patterns);
  populateDecomposeAttentionPatterns(patterns);
  populateDecomposeProjectionPatterns(patterns);
  populateDecomposeQuantPatterns(patterns);
  populateDecomposeClusterPatterns(patterns);
  populateDecomposeExpertPatterns(patterns);
  populateDecomposeSamplingPatterns(patterns);
}
