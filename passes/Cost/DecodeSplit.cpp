//===- DecodeSplit.cpp - Which workgroup has which keys -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/DecodeSplit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace gist;

/// Query heads that a lane can hold the outputs of.
static constexpr int64_t kMaxHeads = 8;
/// Clusters that share the keys of one head at most; on gfx942 workgroups,
/// which have a part each.
static constexpr int64_t kMaxParts = 8, kMaxPartsOnAmd = 32;
/// Keys that a workgroup has at least where they are in parts: putting parts
/// together takes as long as reading these. A workgroup that is a part by
/// itself has fewer. On gfx942 a workgroup reads 256 keys of heads of 64 at
/// once, so that loads overlap.
static constexpr int64_t kKeysOfWorkgroup = 128, kKeysAlone = 64,
                         kKeysOnAmd = 512;
/// Steps that a workgroup of a large cluster has at least where keys are in
/// parts: a second one takes less time than putting one more part together.
static constexpr int64_t kStepsOfLarge = 2;

namespace {
/// Workgroups of a cluster, and how many such clusters an H200 runs at once
/// with one workgroup on a compute unit. A cluster that has to wait takes the
/// time of a second round.
struct SideBySide {
  int64_t workgroups, clusters;
};
} // namespace

/// The most that any sm_90 runs, and the least. Compute units are in groups of
/// 16 and some more, and some are missing: 30 clusters of four fit, which is as
/// many compute units as 15 of eight use, but 66 of two fit.
static constexpr SideBySide kLarge = {8, 15}, kSmall = {2, 66},
                            kAlone = {1, 132};
/// With at least this many heads, one large cluster for each fills the card.
static constexpr int64_t kHeadsThatFill = 12;

/// What shares keys by workgroup memory is faster than what does so by global
/// memory. So clusters are large where several of them have work for a head, or
/// where one of each head fills the card, as those of two do for many heads.
/// Else parts meet in global memory anyway: each is one workgroup's, unless
/// that makes more of them than are read at once.
static const SideBySide &chooseClusters(int64_t heads) {
  int64_t large = kLarge.clusters / heads;
  if (large > 1 || (large == 1 && heads >= kHeadsThatFill))
    return kLarge;
  bool isAlone =
      kSmall.clusters / heads > 1 && kAlone.clusters / heads <= kMaxParts;
  return isAlone ? kAlone : kSmall;
}

/// Of `group` query heads that share a KV head, those that a workgroup has.
static int64_t getHeadsAtOnce(int64_t group) {
  int64_t heads = std::min(group, kMaxHeads);
  while (group % heads != 0)
    --heads;
  return heads;
}

DecodeSplit gist::getDecodeSplit(int64_t numHeads, int64_t kvHeads,
                                 const GpuInfo &gpu) {
  DecodeSplit split;
  split.heads = getHeadsAtOnce(numHeads / kvHeads);
  int64_t least = numHeads / split.heads;
  if (gpu.kind != GpuKind::Nvidia) {
    // One workgroup for a compute unit, of eight waves, keeps memory busy.
    split.parts =
        std::clamp<int64_t>(gpu.computeUnits / least, 1, kMaxPartsOnAmd);
    split.keysOfPart = kKeysOnAmd;
    return split;
  }
  const SideBySide &choice = chooseClusters(least);
  split.workgroups = choice.workgroups;
  split.keysOfPart = choice.workgroups == 1
                         ? kKeysAlone
                         : kKeysOfWorkgroup * choice.workgroups;
  split.parts = std::clamp<int64_t>(choice.clusters / least, 1, kMaxParts);
  if (&choice == &kLarge)
    split.stepsOfPart = kStepsOfLarge;
  return split;
}

/// Numbers of a row that a lane reads at once.
static constexpr int64_t kPiece = 8;

bool gist::takesProduct(int64_t numHeads, int64_t kvHeads, int64_t headSize,
                        int64_t valueSize, int64_t depth, int64_t bits,
                        const GpuInfo &gpu) {
  // 32 bits of weights that a lane has registers for.
  constexpr int64_t kMostWords = 48;
  DecodeSplit split = getDecodeSplit(numHeads, kvHeads, gpu);
  // Columns are handed over in a cluster.
  if (split.workgroups == 1)
    return false;
  int64_t columns = (split.heads + 1) * headSize + valueSize;
  int64_t waves = split.workgroups * kDecodeThreads / gpu.waveSize;
  int64_t pieces = llvm::divideCeil(columns, waves) *
                   llvm::divideCeil(depth, gpu.waveSize * kPiece);
  return pieces * kPiece * bits / 32 <= kMostWords;
}

OutputSplit gist::getOutputSplit(const DecodeSplit &split, int64_t depth,
                                 int64_t columns) {
  OutputSplit output;
  output.rows = llvm::divideCeil(columns, split.workgroups);
  // No more than have a piece of it, and no more than a wave has on any GPU.
  int64_t most = std::min<int64_t>(llvm::PowerOf2Ceil(depth / kPiece), 32);
  output.lanes = std::min<int64_t>(
      llvm::bit_floor<uint64_t>(kDecodeThreads / output.rows), most);
  output.pieces =
      output.lanes ? llvm::divideCeil(depth, output.lanes * kPiece) : 0;
  return output;
}

bool gist::takesOutput(int64_t numHeads, int64_t kvHeads, int64_t valueSize,
                       int64_t columns, int64_t bits, const GpuInfo &gpu) {
  // Of both: beside the keys of a step, and when a row is added up from parts.
  constexpr int64_t kMostWords = 24, kMostRows = 4;
  DecodeSplit split = getDecodeSplit(numHeads, kvHeads, gpu);
  // Heads are handed over in a cluster.
  if (split.workgroups == 1 || numHeads / split.heads > kMostRows)
    return false;
  OutputSplit output = getOutputSplit(split, split.heads * valueSize, columns);
  return output.lanes > 0 && output.pieces * kPiece * bits / 32 <= kMostWords;
}
