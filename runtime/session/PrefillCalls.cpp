//===- PrefillCalls.cpp - How many tokens a prefill call takes ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/PrefillCalls.h"

#include <algorithm>

using namespace gist;

Status gist::choosePrefillTokens(
    int64_t most, uint64_t free,
    const std::function<Status(int64_t tokens, uint64_t &bytes)> &bytesOf,
    int64_t &chosen) {
  for (chosen = most; chosen > kLeastPrefillTokens; chosen /= 2) {
    uint64_t bytes = 0;
    GIST_TRY(bytesOf(chosen, bytes));
    if (bytes <= free - free / 8)
      return {};
  }
  chosen = std::min(most, kLeastPrefillTokens);
  return {};
}

int64_t gist::evenPrefillTokens(int64_t count, int64_t chunk) {
  if (count <= chunk)
    return count;
  // Whole tiles of products: the largest have 128 rows.
  constexpr int64_t kTile = 128;
  int64_t calls = (count + chunk - 1) / chunk;
  int64_t even = (count + calls - 1) / calls;
  return std::min(chunk, (even + kTile - 1) / kTile * kTile);
}
