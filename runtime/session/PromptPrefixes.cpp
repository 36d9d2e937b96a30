//===- PromptPrefixes.cpp - What prompts begin with -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/PromptPrefixes.h"

#include "runtime/support/Hash.h"

using namespace gist;

/// Begin and end of the bulk, behind the tokens of a chunk's name.
static constexpr size_t kNumbersOfBulk = 2;

/// The part of the bulk among the first `count` tokens.
static RowRange bulkOf(const ReadPrompt &prompt, int64_t count) {
  return {std::min(prompt.bulk.begin, count), std::min(prompt.bulk.end, count)};
}

void PromptPrefixes::set(const StateLayout &newLayout, int64_t newChunk,
                         uint64_t newLimit) {
  layout = &newLayout;
  chunk = newChunk;
  limit = newLimit;
  tree.setChunk(chunk + static_cast<int64_t>(kNumbersOfBulk));
}

std::vector<int32_t> PromptPrefixes::namesOf(const ReadPrompt &prompt,
                                             size_t count) const {
  std::vector<int32_t> names;
  auto size = static_cast<size_t>(chunk);
  names.reserve(count * (size + kNumbersOfBulk));
  for (size_t i = 0; i < count; ++i) {
    const int32_t *tokens = prompt.tokens.data() + i * size;
    RowRange bulk = bulkOf(prompt, static_cast<int64_t>(i + 1) * chunk);
    names.insert(names.end(), tokens, tokens + size);
    names.insert(names.end(), {static_cast<int32_t>(bulk.begin),
                               static_cast<int32_t>(bulk.end)});
  }
  return names;
}

void PromptPrefixes::nameChunks(ReadPrompt &prompt) const {
  auto count = static_cast<size_t>(prompt.prompt() / chunk);
  size_t bytes =
      (static_cast<size_t>(chunk) + kNumbersOfBulk) * sizeof(int32_t);
  std::vector<int32_t> names = namesOf(prompt, count);
  Hasher hasher;
  for (size_t i = 0; i < count; ++i) {
    hasher.update(
        {reinterpret_cast<const uint8_t *>(names.data()) + i * bytes, bytes});
    prompt.chunks.push_back(hasher.finish());
  }
}

bool PromptPrefixes::share(const ReadPrompt &a, const ReadPrompt &b,
                           size_t number) const {
  if (number >= a.chunks.size() || number >= b.chunks.size() ||
      a.chunks[number] != b.chunks[number])
    return false;
  int64_t end = (static_cast<int64_t>(number) + 1) * chunk;
  // Where the bulk is the same up to here, it is up to every chunk before.
  RowRange ofA = bulkOf(a, end), ofB = bulkOf(b, end);
  return ofA.begin == ofB.begin && ofA.end == ofB.end &&
         std::equal(a.tokens.begin(), a.tokens.begin() + end, b.tokens.begin());
}

//===----------------------------------------------------------------------===//
// Keeping
//===----------------------------------------------------------------------===//

void PromptPrefixes::keep(const ReadPrompt &prompt, int64_t tokens,
                          uint64_t room) {
  room = std::min(room, limit);
  if (!layout->canPack() || limit == 0)
    return;
  auto size = static_cast<size_t>(chunk) + kNumbersOfBulk,
       whole = static_cast<size_t>(tokens / chunk);
  std::vector<int32_t> all = namesOf(prompt, whole);
  std::span<const int32_t> names(all);
  std::vector<PrefixTree::Node *> path = tree.find(names);
  for (size_t i = 0; i < whole; ++i) {
    if (i == path.size())
      path.push_back(tree.add(path, names.subspan(i * size, size)));
    // What is not by position is kept as a whole, after the last chunk.
    bool isKept = layout->isByPosition() || i + 1 == whole;
    if (!isKept || path[i]->state.size() != 0)
      continue;
    int64_t end = static_cast<int64_t>(i + 1) * chunk;
    int64_t begin = layout->isByPosition() ? end - chunk : 0;
    uint64_t bytes = 0;
    DeviceMemory packed;
    if (!prompt.state->packedBytes(begin, end, bytes).ok() || bytes > room ||
        !tree.shrinkTo(room - bytes, path.back()) ||
        !prompt.state->pack(begin, end, packed).ok())
      return;
    tree.keep(*path[i], std::move(packed));
  }
}

bool PromptPrefixes::isKeptHere(const ReadPrompt &prompt) const {
  auto last = static_cast<int64_t>(mostChunks(prompt)) * chunk;
  return !layout->isByPosition() && prompt.past > 0 &&
         (prompt.past == last || prompt.past == prompt.fork);
}

//===----------------------------------------------------------------------===//
// Taking over
//===----------------------------------------------------------------------===//

Status PromptPrefixes::takeOver(ReadPrompt &prompt,
                                std::span<const ReadPrompt *const> others) {
  if (!layout->canPack() || prompt.past % chunk != 0)
    return {};
  return layout->isByPosition() ? takeRows(prompt, others) : takeWhole(prompt);
}

std::vector<PrefixTree::Node *> PromptPrefixes::find(const ReadPrompt &prompt) {
  return tree.find(namesOf(prompt, mostChunks(prompt)));
}

/// Takes rows from a sequence that runs, or from what was kept.
Status PromptPrefixes::takeRows(ReadPrompt &prompt,
                                std::span<const ReadPrompt *const> others) {
  const ReadPrompt *best = nullptr;
  auto end = static_cast<size_t>(prompt.past / chunk);
  for (const ReadPrompt *other : others) {
    auto has = std::min(mostChunks(prompt),
                        static_cast<size_t>(other->read() / chunk));
    // Each hash covers all chunks before, so the longest match is the common
    // prefix.
    for (size_t last = has; last > end; --last)
      if (share(prompt, *other, last - 1)) {
        best = other;
        end = last;
      }
  }
  auto to = static_cast<int64_t>(end) * chunk;
  if (best)
    GIST_TRY(prompt.state->copyTokens(*best->state, prompt.past, to));
  prompt.past = to;
  std::vector<PrefixTree::Node *> path = find(prompt);
  for (size_t i = end; i < path.size() && path[i]->state.size() != 0; ++i) {
    int64_t begin = prompt.past;
    GIST_TRY(prompt.state->unpack(begin, begin + chunk, path[i]->state));
    prompt.past += chunk;
  }
  return {};
}

/// Takes all that there is after the longest prefix that was kept.
Status PromptPrefixes::takeWhole(ReadPrompt &prompt) {
  if (prompt.past != 0)
    return {};
  std::vector<PrefixTree::Node *> path = find(prompt);
  prompt.fork = static_cast<int64_t>(path.size()) * chunk;
  while (!path.empty() && path.back()->state.size() == 0)
    path.pop_back();
  if (path.empty())
    return {};
  auto end = static_cast<int64_t>(path.size()) * chunk;
  GIST_TRY(prompt.state->unpack(0, end, path.back()->state));
  prompt.past = end;
  return {};
}
