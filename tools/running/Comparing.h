//===- Comparing.h - Random arrays, and how far two are apart ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_COMPARING_H
#define GIST_TOOLS_RUNNING_COMPARING_H

#include "runtime/module/ModuleSpec.h"

#include <cstdint>
#include <random>
#include <vector>

namespace gist::run {

/// Largest error of a row that rounding explains.
inline constexpr double kToleranceF16 = 2e-3, kToleranceBf16 = 1e-2;

/// Floats between -1 and 1, integers from 0 to below `bound`.
std::vector<uint8_t> randomArray(ElementType type, size_t count, int64_t bound,
                                 std::mt19937 &random);

/// For every row |got - expected| / |expected|, lengths of vectors of `width`
/// elements. Infinite where something is not finite on one side alone, or
/// integers differ.
std::vector<double> rowErrors(ElementType type, size_t width,
                              const std::vector<uint8_t> &got,
                              const std::vector<uint8_t> &expected);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_COMPARING_H
