//===- Shares.cpp - Which rank has which part of a model ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Ranks/Shares.h"

#include <algorithm>

using namespace gist;

/// The part `number` of `count` things in `parts` parts.
static Share getPart(int64_t count, int64_t number, int64_t parts) {
  return {count * number / parts, count * (number + 1) / parts};
}

Share gist::getShare(int64_t count, int64_t unit, Rank rank) {
  // What is left over is a smaller unit at the end.
  Share units = getPart((count + unit - 1) / unit, rank.number, rank.count);
  return {std::min(units.begin * unit, count),
          std::min(units.end * unit, count)};
}

int64_t gist::chooseUnit(int64_t count, int64_t least, int64_t ranks) {
  for (int64_t unit = 256; unit > least; unit /= 2) {
    if (unit % least != 0 || count % unit != 0)
      continue;
    // One unit more or less must not matter.
    int64_t units = count / unit;
    if (units % ranks == 0 || units >= 8 * ranks)
      return unit;
  }
  return least;
}

std::optional<HeadShare> gist::getHeadShare(int64_t queries, int64_t keys,
                                            Rank rank) {
  int64_t group = queries / keys;
  if (rank.count <= keys) {
    Share own = getPart(keys, rank.number, rank.count);
    return HeadShare{own * group, own};
  }
  // Find the KV head that this rank shares with others.
  int64_t head = 0;
  Share owners = getPart(rank.count, head, keys);
  while (rank.number >= owners.end)
    owners = getPart(rank.count, ++head, keys);
  if (owners.size() > group)
    return std::nullopt;
  Share part = getPart(group, rank.number - owners.begin, owners.size());
  int64_t first = head * group;
  return HeadShare{{first + part.begin, first + part.end}, {head, head + 1}};
}
