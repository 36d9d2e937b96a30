//===- GateCost.cpp - Whether gates of many tokens pay --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/GateCost.h"
#include "passes/Cost/ProductCost.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace gist;

/// How rows of one level are multiplied
/// (passes/Tile/Gpu/Gated/GatedMatmul.cpp).
static constexpr ProductTile kGathered = {128, 96, 4};
/// Microseconds: a launch that waits for the one before; bytes that a
/// microsecond reads in kernels on rows; what each round of workgroups takes to
/// find its rows.
static constexpr double kLaunch = 2, kBytes = 2.5e6, kFind = 4;

double gist::estimateUngated(const GateSize &size, int64_t rows,
                             const GpuInfo &gpu) {
  return estimateProduct({rows, size.columns, size.depth}, gpu);
}

double gist::estimateGated(const GateSize &size, int64_t rows, double open,
                           const GpuInfo &gpu) {
  double numbers = static_cast<double>(rows) * size.depth;
  // The levels read the residual and x, two bytes each.
  double cost = estimateProduct({rows, size.rank, size.depth}, gpu) +
                estimateProduct({rows, size.depth, size.rank}, gpu) + kLaunch +
                4 * numbers / kBytes;
  int64_t openRows = std::llround(open * static_cast<double>(rows));
  int64_t workgroups = 0;
  auto add = [&](int64_t count, int64_t depth) {
    if (count == 0)
      return;
    ProductSize part = {count, size.columns, depth};
    cost += estimateProduct(part, kGathered, gpu);
    workgroups += llvm::divideCeil(count, kGathered.rows) *
                  llvm::divideCeil(size.columns, kGathered.columns);
  };
  add(openRows, size.depth);
  add(rows - openRows, size.rank);
  // Two workgroups share a compute unit.
  return cost + kFind * llvm::divideCeil(workgroups, 2 * gpu.computeUnits);
}

double gist::findLargestOpen(const GateSize &size, const GpuInfo &gpu) {
  constexpr int64_t kRows[] = {512, 2048};
  double most = 0;
  for (int64_t rows : kRows)
    most += estimateUngated(size, rows, gpu) / rows;
  double found = -1;
  for (int64_t percent = 0; percent <= 100; ++percent) {
    double open = percent / 100., cost = 0;
    for (int64_t rows : kRows)
      cost += estimateGated(size, rows, open, gpu) / rows;
    if (cost > most)
      break;
    found = open;
  }
  return found;
}
