//===- Shares.h - Which rank has which part of a model ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_RANKS_SHARES_H
#define GIST_PASSES_RANKS_SHARES_H

#include <cstdint>
#include <optional>

namespace gist {

/// Heads, rows or columns from `begin` to before `end`.
struct Share {
  int64_t begin = 0, end = 0;

  int64_t size() const { return end - begin; }
  Share operator*(int64_t factor) const {
    return {begin * factor, end * factor};
  }
  bool operator==(const Share &) const = default;
};

/// One of several ranks.
struct Rank {
  int64_t number = 0, count = 1;
};

/// The share of a rank in `count` things that are handed out in whole units.
/// Shares differ by one unit at most. Empty where there are too few.
Share getShare(int64_t count, int64_t unit, Rank rank);

/// The unit for `count` columns of which `least` belong together: the largest
/// that gives all ranks about the same, because wide products are faster.
int64_t chooseUnit(int64_t count, int64_t least, int64_t ranks);

/// The query heads of a rank, and the KV heads that they look at.
struct HeadShare {
  Share queries, keys;
};

/// A rank has whole KV heads with all their queries or, where there are more
/// ranks than KV heads, some of the queries of one. None where a rank would
/// have no query.
std::optional<HeadShare> getHeadShare(int64_t queries, int64_t keys, Rank rank);

} // namespace gist

#endif // GIST_PASSES_RANKS_SHARES_H
