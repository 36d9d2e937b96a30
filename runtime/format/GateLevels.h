//===- GateLevels.h - What gates of linear layers decide --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_GATELEVELS_H
#define GIST_RUNTIME_FORMAT_GATELEVELS_H

#include <cstddef>

namespace gist {

/// The level of a row at a gate is how many of its thresholds the row's
/// |residual| / |x| passes. A NaN passes all, and x = 0 none. Rows of level 0
/// read the subspace alone; those of the top level the weight as it is; a gate
/// with two thresholds has a level between them, which adds what a weight of
/// few bits makes of the residual.
inline constexpr size_t kMaxGateThresholds = 2;

/// Levels in the statistic "gates", which counts rows of each layer, group of
/// linear layers and level, in this order. A gate with one threshold counts
/// nothing at the last.
inline constexpr size_t kNumGateLevels = kMaxGateThresholds + 1;

/// The level of rows that read nothing but the subspace.
inline constexpr size_t kClosedGate = 0;

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_GATELEVELS_H
