//===- GateCost.h - Whether gates of many tokens pay ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gate of many tokens costs its own computation (g, the residual, the levels)
// and saves what closed rows do not read of W. Which is more depends on the
// shape and on how many rows are open. test/unit/GateCostTest.cpp compares the
// model with what was measured.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_COST_GATECOST_H
#define GIST_PASSES_COST_GATECOST_H

#include "dialect/GpuInfo.h"

namespace gist {

/// y = W x, or M g for rows behind a closed gate.
struct GateSize {
  int64_t columns; ///< of y
  int64_t depth;   ///< of x
  int64_t rank;    ///< of g
};

/// Microseconds that `rows` rows take, of which the share `open` reads W.
double estimateGated(const GateSize &size, int64_t rows, double open,
                     const GpuInfo &gpu);
/// The same where all rows read W and there is no gate.
double estimateUngated(const GateSize &size, int64_t rows, const GpuInfo &gpu);

/// The share of open rows that a choice assumes: it is not known before a text.
inline constexpr double kLikelyOpen = 0.1;

/// The largest share of open rows, in hundredths, with which gates take no
/// longer than none; negative where they do with no row open. Calls of some
/// hundreds and of some thousands of rows count the same.
double findLargestOpen(const GateSize &size, const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_COST_GATECOST_H
