//===- SinkTransposes.h - Transposes move behind what follows ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_TORCH_SINKTRANSPOSES_H
#define GIST_PASSES_IMPORT_TORCH_SINKTRANSPOSES_H

#include "mlir/IR/PatternMatch.h"

namespace gist {

/// Frameworks bring heads before tokens and then rotate them. Moved behind the
/// rotation, that transpose meets attention, which wants tokens first, and
/// goes.
void populateSinkTransposesPatterns(mlir::RewritePatternSet &patterns);

} // namespace gist

#endif // GIST_PASSES_IMPORT_TORCH_SINKTRANSPOSES_H
