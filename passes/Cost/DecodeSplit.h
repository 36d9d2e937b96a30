//===- DecodeSplit.h - Which workgroup has which keys -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_COST_DECODESPLIT_H
#define GIST_PASSES_COST_DECODESPLIT_H

#include "dialect/GpuInfo.h"

namespace gist {

/// How the heads of attention of one query are cut into workgroups.
struct DecodeSplit {
  int64_t heads = 1;      ///< query heads of a workgroup
  int64_t workgroups = 1; ///< of a cluster
  int64_t parts = 1;      ///< clusters for the keys of a head
  int64_t keysOfPart = 1; ///< that each of these has at least
  /// And steps of each of its workgroups: a step is as many keys as a workgroup
  /// reads at once. Else the last parts would have no keys, and be waited for.
  int64_t stepsOfPart = 1;
};
DecodeSplit getDecodeSplit(int64_t numHeads, int64_t kvHeads,
                           const GpuInfo &gpu);

/// Threads of a workgroup that attends for one query: enough loads are on their
/// way to keep memory busy although there are few workgroups.
inline constexpr int64_t kDecodeThreads = 512;

/// Whether attention of one query takes the product that makes its query, key
/// and value: `depth` weights of `bits` for each of their columns. Every
/// cluster computes them for its heads, so that weights are read as often as
/// clusters share the keys. That pays where a lane has registers for all of its
/// weights, so that they are loaded before the row is written: it saves a
/// launch of 2 to 3 us.
bool takesProduct(int64_t numHeads, int64_t kvHeads, int64_t headSize,
                  int64_t valueSize, int64_t depth, int64_t bits,
                  const GpuInfo &gpu);

/// How the workgroups of a cluster share the product of their heads: `columns`
/// rows of W, `depth` numbers of each.
struct OutputSplit {
  int64_t rows;   ///< of a workgroup
  int64_t lanes;  ///< that share a row; none where threads are too few
  int64_t pieces; ///< of a row for a lane
};
OutputSplit getOutputSplit(const DecodeSplit &split, int64_t depth,
                           int64_t columns);

/// Whether attention of one query takes the product that reads its heads, with
/// weights of `bits`. Each cluster multiplies its heads, so that readers add up
/// as many rows. It pays where a lane has registers for its weights while it
/// attends, so that they are loaded before the heads are done.
bool takesOutput(int64_t numHeads, int64_t kvHeads, int64_t valueSize,
                 int64_t columns, int64_t bits, const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_COST_DECODESPLIT_H
