//===- SelectionCounts.h - What changed between two selections --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_SELECTIONCOUNTS_H
#define GIST_PASSES_PLAN_FILE_SELECTIONCOUNTS_H

namespace gist {

/// How a set of representatives differs from that of the layer before; counts
/// of several texts add up.
struct SelectionCounts {
  double before = 0; ///< representatives of the layer before
  double removed = 0, added = 0;

  /// The share of the inherited set that changed; 0 without an inherited set.
  double turnover() const {
    return before > 0 ? (removed + added) / before : 0;
  }
  /// Size of the intersection over size of the union.
  double jaccard() const {
    return before + added > 0 ? (before - removed) / (before + added) : 1;
  }
};

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_SELECTIONCOUNTS_H
