//===- PromptPrefixes.cpp - What prompts begin with -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/PromptPrefixes.h"

#include "runtime/support/Hash.h"

using namespace gist;

/// The part of the bulk among the first `count` tokens.
static RowRange bulkOf(const ReadPrompt &prompt, int64_t count) {
  return {std::min(prompt.bulk.begin, count), std::min(prompt.bulk.end, count)};
}

Status PromptPrefixes::open(const StateLayout &newLayout, Device &device,
                            int64_t newChunk, int64_t most, uint64_t newLimit) {
  layout = &newLayout;
  chunk = newChunk;
  limit = newLimit;
  return store.open(newLayout, device, chunk, most);
}

std::vector<int32_t> PromptPrefixes::nameOf(const ReadPrompt &prompt,
                                            size_t number) const {
  auto size = static_cast<size_t>(chunk);
  auto begin = prompt.tokens.begin() + static_cast<int64_t>(number * size);
  RowRange bulk = bulkOf(prompt, static_cast<int64_t>(number + 1) * chunk);
  std::vector<int32_t> name(begin, begin + chunk);
  name.insert(name.end(), {static_cast<int32_t>(bulk.begin),
                           static_cast<int32_t>(bulk.end), prompt.adapter});
  return name;
}

void PromptPrefixes::nameChunks(ReadPrompt &prompt) const {
  auto count = static_cast<size_t>(prompt.prompt() / chunk);
  Hasher hasher;
  for (size_t i = 0; i < count; ++i) {
    std::vector<int32_t> name = nameOf(prompt, i);
    hasher.update({reinterpret_cast<const uint8_t *>(name.data()),
                   name.size() * sizeof(int32_t)});
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
  return a.adapter == b.adapter && ofA.begin == ofB.begin &&
         ofA.end == ofB.end &&
         std::equal(a.tokens.begin(), a.tokens.begin() + end, b.tokens.begin());
}

void PromptPrefixes::findPath(ReadPrompt &prompt, size_t count) {
  if (prompt.generation != tree.generation())
    prompt.path.clear();
  prompt.generation = tree.generation();
  for (size_t i = prompt.path.size(); i < count; ++i) {
    PrefixTree::Node &parent = i == 0 ? tree.root() : *prompt.path.back();
    PrefixTree::Node *node =
        tree.find(parent, prompt.chunks[i], nameOf(prompt, i));
    if (!node)
      return;
    prompt.path.push_back(node);
  }
}

//===----------------------------------------------------------------------===//
// Keeping
//===----------------------------------------------------------------------===//

/// Keeps a chunk whose node is the last of the path. False: there is no room.
bool PromptPrefixes::keepChunk(ReadPrompt &prompt, size_t number,
                               uint64_t room) {
  PrefixTree::Node &node = *prompt.path[number];
  int64_t end = static_cast<int64_t>(number + 1) * chunk;
  int64_t begin = layout->isByPosition() ? end - chunk : 0;
  // A sequence that shows what it has takes no more memory for it.
  bool isFree = store.canShowFrom(*prompt.state, begin);
  uint64_t bytes = 0;
  if (!isFree && (!prompt.state->packedBytes(begin, end, bytes).ok() ||
                  bytes > room || !tree.shrinkTo(room - bytes, &node)))
    return false;
  KeptState *before =
      number == 0 ? nullptr : prompt.path[number - 1]->state().get();
  std::shared_ptr<KeptState> kept;
  if (!store.keep(*prompt.state, begin, end, before, kept).ok())
    return false;
  tree.keep(node, std::move(kept));
  return true;
}

void PromptPrefixes::keep(ReadPrompt &prompt, int64_t tokens, uint64_t room) {
  room = std::min(room, limit);
  if (!layout->canPack() || (limit == 0 && !shares()))
    return;
  auto whole = static_cast<size_t>(tokens / chunk);
  findPath(prompt, whole);
  // From here on the path is what was used last: room is made of other nodes.
  prompt.path.resize(std::min(prompt.path.size(), whole));
  if (!prompt.path.empty())
    tree.use(*prompt.path.back());
  for (auto i = static_cast<size_t>(prompt.state->shownTokens() / chunk);
       i < whole; ++i) {
    if (i == prompt.path.size()) {
      PrefixTree::Node &parent = i == 0 ? tree.root() : *prompt.path.back();
      PrefixTree::Node *node =
          tree.add(parent, prompt.chunks[i], nameOf(prompt, i));
      if (!node)
        break;
      prompt.path.push_back(node);
    }
    // What is not by position is kept as a whole, after the last chunk.
    bool isKept = layout->isByPosition() || i + 1 == whole;
    if (!isKept)
      continue;
    // What another sequence has computed meanwhile is the same to the bit.
    const std::shared_ptr<KeptState> &there = prompt.path[i]->state();
    bool shows =
        store.canShowFrom(*prompt.state, static_cast<int64_t>(i) * chunk);
    if (there ? shows && !store.take(*prompt.state, {&there, 1}).ok()
              : !keepChunk(prompt, i, room))
      break;
  }
  prompt.generation = tree.generation();
}

bool PromptPrefixes::isKeptHere(const ReadPrompt &prompt) const {
  if (shares())
    return prompt.past > 0 && prompt.past % chunk == 0 &&
           prompt.past <= prompt.prompt();
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

std::vector<std::shared_ptr<KeptState>>
PromptPrefixes::known(ReadPrompt &prompt) {
  std::vector<std::shared_ptr<KeptState>> states;
  findPath(prompt, mostChunks(prompt));
  size_t most = std::min(mostChunks(prompt), prompt.path.size());
  for (auto i = static_cast<size_t>(prompt.past / chunk);
       i < most && prompt.path[i]->state(); ++i)
    states.push_back(prompt.path[i]->state());
  return states;
}

/// Copies rows of the sequence that has most of the prompt.
Status PromptPrefixes::copyRows(ReadPrompt &prompt,
                                std::span<const ReadPrompt *const> others) {
  const ReadPrompt *best = nullptr;
  auto end = static_cast<size_t>(prompt.past / chunk);
  for (const ReadPrompt *other : others) {
    auto has = std::min(mostChunks(prompt),
                        static_cast<size_t>(other->read() / chunk));
    // A hash covers all chunks before, so those that are equal come first.
    size_t last = end;
    while (last < has && prompt.chunks[last] == other->chunks[last])
      ++last;
    if (last > end && share(prompt, *other, last - 1)) {
      best = other;
      end = last;
    }
  }
  auto to = static_cast<int64_t>(end) * chunk;
  if (best)
    GIST_TRY(prompt.state->copyTokens(*best->state, prompt.past, to));
  prompt.past = to;
  return {};
}

/// Takes rows from a sequence that runs, or from what was kept.
Status PromptPrefixes::takeRows(ReadPrompt &prompt,
                                std::span<const ReadPrompt *const> others) {
  if (!shares())
    GIST_TRY(copyRows(prompt, others));
  std::vector<std::shared_ptr<KeptState>> states = known(prompt);
  if (states.empty())
    return {};
  GIST_TRY(store.take(*prompt.state, states));
  prompt.past += static_cast<int64_t>(states.size()) * chunk;
  auto end = static_cast<size_t>(prompt.past / chunk);
  tree.use(*prompt.path[end - 1]);
  return {};
}

/// Takes all that there is after the longest prefix that was kept.
Status PromptPrefixes::takeWhole(ReadPrompt &prompt) {
  if (prompt.past != 0)
    return {};
  findPath(prompt, mostChunks(prompt));
  size_t count = std::min(mostChunks(prompt), prompt.path.size());
  prompt.fork = static_cast<int64_t>(count) * chunk;
  while (count != 0 && !prompt.path[count - 1]->state())
    --count;
  if (count == 0)
    return {};
  PrefixTree::Node &node = *prompt.path[count - 1];
  GIST_TRY(store.take(*prompt.state, {&node.state(), 1}));
  prompt.past = static_cast<int64_t>(count) * chunk;
  tree.use(node);
  return {};
}
