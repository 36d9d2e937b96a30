//===- PrefillCalls.cpp - How many tokens a prefill call takes ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/PrefillCalls.h"
#include "runtime/module/Properties.h"

#include <algorithm>
#include <charconv>

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

Status PromptBulk::create(const ModelInfo &model, PromptBulk &bulk) {
  auto found = model.properties.find(kBulkProperty);
  if (found == model.properties.end()) {
    bulk = {};
    return {};
  }
  // Sums of these stay small.
  constexpr int64_t kMostTokens = int64_t{1} << 24;
  const std::string &text = found->second;
  const char *at = text.data(), *end = at + text.size();
  int64_t numbers[3] = {};
  bool isRight = true;
  for (int64_t &value : numbers) {
    // One blank before each but the first.
    if (&value != numbers && at != end && *at == ' ')
      ++at;
    auto [next, error] = std::from_chars(at, end, value);
    isRight &= error == std::errc() && value >= 0 && value <= kMostTokens;
    at = next;
  }
  if (!isRight || at != end)
    return Status::error(Code::BadFile,
                         "the property '%s' is '%s'; expected three numbers of "
                         "tokens",
                         kBulkProperty, text.c_str());
  bulk.first = numbers[0];
  bulk.last = numbers[1];
  bulk.least = numbers[2];
  return {};
}

PromptBulk::Range PromptBulk::find(size_t count, int64_t past) const {
  if (!first)
    return {0, count};
  auto begin = static_cast<size_t>(std::max<int64_t>(0, *first - past));
  // The last token's logits are asked for.
  auto behind = static_cast<size_t>(std::max<int64_t>(*last, 1));
  if (count < begin + behind + static_cast<size_t>(least))
    return {count, count};
  return {begin, count - behind};
}
