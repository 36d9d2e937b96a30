//===- ScratchSizes.h - Memory that kernels work in -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some kernels get memory besides their operands: words of control, which are
// zero when a kernel starts, and scratch memory. The graph stage reserves it,
// and the generators of GPU kernels use it. Both take the sizes from here.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_SCRATCHSIZES_H
#define GIST_PASSES_KERNEL_SCRATCHSIZES_H

#include "dialect/GistOps.h"

namespace gist {

//===--- Steps that workgroups share --------------------------------------===//

/// Words of control of a launch.
inline constexpr int64_t kStepWords = 64;

//===--- Selections -------------------------------------------------------===//

/// Columns that a covering compares with at once, one bit each.
inline constexpr int64_t kMaxColumns = 4096;
inline constexpr int64_t kBitWords = kMaxColumns / 32;
/// Words of control of a head.
inline constexpr int64_t kControlWords = 320;
/// Arrays of one word per token.
inline constexpr int64_t kSelectArrays = 15;

/// A selection over T tokens takes factor * (T + kScratchRoom) words of scratch
/// for one head, and can use kSplitWords more for sums.
inline constexpr int64_t kScratchRoom = 68;
inline constexpr int64_t kSplitWords = int64_t(1) << 23;
constexpr int64_t getScratchFactor(bool hasBits) {
  return kSelectArrays + (hasBits ? kBitWords : 0);
}
/// True for a selection that keeps bits of which columns cover which rows.
bool hasCoveringBits(mlir::Operation *selection);

//===--- Gated projections ------------------------------------------------===//

/// Tokens up to which a gated projection is one launch in which every row of a
/// matrix is multiplied as it is read.
inline constexpr int64_t kGatedTokens = 8;
/// Parts of g that are added up, at most; and items of the residual.
inline constexpr int64_t kGatedParts = 32, kGatedItems = 512;
/// What an item of the residual has of a token's norms.
inline constexpr int64_t kGatedNorms = 3;
/// The length of a row of the residual is a multiple of this, so that a piece
/// of a block format fits.
inline constexpr int64_t kGatedRowUnit = 32;
/// Words of scratch, f32, that a call needs on any GPU.
int64_t getGatedScratch(GatedProjectionOp op);

//===--- Sampling ---------------------------------------------------------===//

/// Threads of a row, the neighbouring tokens that a thread reads at once, and
/// how often it does so before it waits.
inline constexpr int64_t kSampleThreads = 1024, kSampleWidth = 4,
                         kSampleReads = 2;
/// How many tokens there is memory for: no thread has to ask whether it has a
/// token.
int64_t getKeptTokens(int64_t tokens);

} // namespace gist

#endif // GIST_PASSES_KERNEL_SCRATCHSIZES_H
