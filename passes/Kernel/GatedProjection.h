//===- GatedProjection.h - When a gated projection is one launch *- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_GATEDPROJECTION_H
#define GIST_PASSES_KERNEL_GATEDPROJECTION_H

#include <cstdint>

namespace gist {

/// Tokens up to which a gated projection is one kernel in which every row of a
/// matrix is multiplied as it is read. More tokens are products like any
/// others.
/// The graph stage and the GPU's generator both go by it.
inline constexpr int64_t kGatedTokens = 8;

} // namespace gist

#endif // GIST_PASSES_KERNEL_GATEDPROJECTION_H
