//===- TokenizerModels.cpp - From words to token ids ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is fast about encoding: an index of texts, the longest match at a place,
// byte-pair merges with a heap, and WordPiece.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerModels.h"

#include "runtime/text/Unicode.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>
#include <string>

using namespace gist;

//===----------------------------------------------------------------------===//
// TextIndex, LongestMatch
//===----------------------------------------------------------------------===//

/// At most half of the slots are used, so a search soon meets an empty one. At
/// least one is empty, so that it ends.
void TextIndex::reset(size_t count) {
  slots.assign(std::bit_ceil(2 * count + 1), Slot());
}

/// The slot of a text, or the empty one where it would go.
size_t TextIndex::slotOf(std::string_view text) const {
  size_t mask = slots.size() - 1;
  size_t slot = std::hash<std::string_view>()(text) & mask;
  while (slots[slot].id != kMissing && slots[slot].text != text)
    slot = (slot + 1) & mask;
  return slot;
}

void TextIndex::insert(std::string_view text, uint32_t id) {
  Slot &slot = slots[slotOf(text)];
  // The first of equal texts stays: of added tokens, too, the first counts.
  if (slot.id == kMissing)
    slot = {text, id};
}

uint32_t TextIndex::find(std::string_view text) const {
  return slots.empty() ? kMissing : slots[slotOf(text)].id;
}

/// Only the lengths that occur for a first byte are tried. Added tokens nearly
/// all begin with `<` or `[`, so most places of a text cost one look.
void LongestMatch::build(
    const std::vector<std::pair<std::string_view, uint32_t>> &texts) {
  index.reset(texts.size());
  for (const auto &[text, value] : texts) {
    if (text.empty())
      continue;
    index.insert(text, value);
    // Empty texts were left out above: they would match everywhere.
    lengths[static_cast<uint8_t>(text[0])].push_back(
        static_cast<uint32_t>(text.size()));
  }
  for (std::vector<uint32_t> &list : lengths) {
    std::sort(list.begin(), list.end(), std::greater<>());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

//===----------------------------------------------------------------------===//
// BpeModel
//===----------------------------------------------------------------------===//

static uint64_t pairOf(uint32_t left, uint32_t right) {
  return static_cast<uint64_t>(left) << 32 | right;
}

/// Spreads a pair over all bits (the finaliser of SplitMix64).
static uint64_t mixBits(uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

/// The result of a merge is found by its text, because files name only the two
/// parts.
Status BpeModel::build(const TokenizerSpec &spec, const TextIndex &index) {
  vocab = &index;
  ignoreMerges = spec.ignoreMerges;
  unknown = spec.unknown;
  ofChars = spec.model == TokenizerModel::CharBpe;
  byteFallback = spec.byteFallback;
  fuseUnknown = spec.fuseUnknown;
  for (int byte = 0; byte < 256; ++byte) {
    char text[8] = {static_cast<char>(byte)};
    size_t size = 1;
    if (ofChars) // The reference looks for capital letters alone.
      size = static_cast<size_t>(
          std::snprintf(text, sizeof(text), "<0x%02X>", byte));
    byteIds[byte] = index.find({text, size});
  }

  // As in TextIndex: at most half full, and a power of two for the mask.
  merges.assign(std::bit_ceil(2 * spec.merges.size() + 1), Merge());
  size_t mask = merges.size() - 1;
  std::string joined;
  for (uint32_t rank = 0; rank < spec.merges.size(); ++rank) {
    auto [left, right] = spec.merges[rank];
    joined = spec.vocab[left];
    joined += spec.vocab[right];
    uint32_t result = index.find(joined);
    if (result == TextIndex::kMissing)
      return Status::error(Code::BadFile,
                           "tokenizer: merge %u joins tokens %u and %u to a "
                           "text that is not a token",
                           rank, left, right);
    uint64_t pair = pairOf(left, right);
    size_t slot = mixBits(pair) & mask;
    while (merges[slot].pair != ~0ull && merges[slot].pair != pair)
      slot = (slot + 1) & mask;
    // Of a pair listed twice the later rank counts, as in the reference.
    merges[slot] = {pair, rank, result};
  }
  return {};
}

const BpeModel::Merge *BpeModel::find(uint32_t left, uint32_t right) const {
  size_t mask = merges.size() - 1;
  uint64_t pair = pairOf(left, right);
  for (size_t slot = mixBits(pair) & mask;; slot = (slot + 1) & mask) {
    if (merges[slot].pair == pair)
      return &merges[slot];
    if (merges[slot].pair == ~0ull)
      return nullptr;
  }
}

/// Orders a heap so that the best rank, then the leftmost pair, is in front.
static bool isWorseMerge(const BpeModel::Workspace::Candidate &a,
                         const BpeModel::Workspace::Candidate &b) {
  return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
}

/// Adds the pair that begins at `position` to the heap if a merge joins it.
/// The candidate keeps the ids it saw. encode() knows by them whether a merge
/// has changed the symbols since.
void BpeModel::push(Workspace &workspace, int32_t position) const {
  const Workspace::Symbol &left = workspace.symbols[position];
  if (left.next < 0)
    return;
  const Workspace::Symbol &right = workspace.symbols[left.next];
  if (const Merge *merge = find(left.id, right.id)) {
    workspace.heap.push_back(
        {merge->rank, static_cast<uint32_t>(position), left.id, right.id});
    std::push_heap(workspace.heap.begin(), workspace.heap.end(), isWorseMerge);
  }
}

static void addSymbol(BpeModel::Workspace &workspace, uint32_t id) {
  auto position = static_cast<int32_t>(workspace.symbols.size());
  workspace.symbols.push_back({id, position - 1, position + 1});
}

void BpeModel::addBytes(std::string_view word, Workspace &workspace) const {
  for (char c : word) {
    uint32_t id = byteIds[static_cast<uint8_t>(c)];
    if (id != TextIndex::kMissing)
      addSymbol(workspace, id);
    else if (unknown != TokenizerSpec::kNone)
      addSymbol(workspace, static_cast<uint32_t>(unknown));
    // Else: the reference skips what it cannot say.
  }
}

/// A character that has no token is written as bytes if all of them have one,
/// else as unknown. The reference holds an unknown token back until the next
/// character with a token, past bytes between them.
void BpeModel::addChars(std::string_view word, Workspace &workspace) const {
  bool heldBack = false;
  auto release = [&] {
    if (heldBack)
      addSymbol(workspace, static_cast<uint32_t>(unknown));
    heldBack = false;
  };
  while (!word.empty()) {
    std::string_view character = word.substr(0, decodeUtf8(word).size);
    word.remove_prefix(character.size());
    if (uint32_t id = vocab->find(character); id != TextIndex::kMissing) {
      release();
      addSymbol(workspace, id);
      continue;
    }
    auto hasToken = [&](char c) {
      return byteIds[static_cast<uint8_t>(c)] != TextIndex::kMissing;
    };
    if (byteFallback &&
        std::all_of(character.begin(), character.end(), hasToken)) {
      for (char c : character)
        addSymbol(workspace, byteIds[static_cast<uint8_t>(c)]);
      continue;
    }
    if (unknown == TokenizerSpec::kNone)
      continue;
    if (!fuseUnknown)
      release();
    heldBack = true;
  }
  release();
}

void BpeModel::encode(std::string_view word, Workspace &workspace,
                      std::vector<int32_t> &ids) const {
  // Llama 3: a word in the vocabulary is taken whole, even if the merges would
  // not reach it.
  if (ignoreMerges) {
    if (uint32_t id = vocab->find(word); id != TextIndex::kMissing) {
      ids.push_back(static_cast<int32_t>(id));
      return;
    }
  }

  // A list of symbols in which a merge lets the left one grow over the right.
  // A candidate is stale when the symbols it saw are no longer there.
  constexpr uint32_t kGone = TextIndex::kMissing;
  auto &symbols = workspace.symbols;
  auto &heap = workspace.heap;
  symbols.clear();
  heap.clear();
  if (ofChars)
    addChars(word, workspace);
  else
    addBytes(word, workspace);
  if (symbols.empty())
    return;
  symbols.back().next = -1;
  for (int32_t i = 0; i < static_cast<int32_t>(symbols.size()); ++i)
    push(workspace, i);

  while (!heap.empty()) {
    Workspace::Candidate best = heap.front();
    std::pop_heap(heap.begin(), heap.end(), isWorseMerge);
    heap.pop_back();
    int32_t position = static_cast<int32_t>(best.position);
    Workspace::Symbol &left = symbols[position];
    // Stale: a merge has taken one of the two. What replaced it was pushed by
    // that merge.
    if (left.id != best.left || left.next < 0 ||
        symbols[left.next].id != best.right)
      continue;
    Workspace::Symbol &right = symbols[left.next];
    // The pair was found when it was pushed, so it is found again.
    left.id = find(best.left, best.right)->result;
    // A gone symbol never equals the id that a candidate saw.
    right.id = kGone;
    left.next = right.next;
    if (left.next >= 0)
      symbols[left.next].previous = position;
    push(workspace, position);
    if (left.previous >= 0)
      push(workspace, left.previous);
  }
  // Symbol 0 never goes: a merge lets the left one stay.
  for (int32_t i = 0; i >= 0; i = symbols[i].next)
    ids.push_back(static_cast<int32_t>(symbols[i].id));
}

//===----------------------------------------------------------------------===//
// WordPieceModel
//===----------------------------------------------------------------------===//

void WordPieceModel::build(const TokenizerSpec &tokenizer,
                           const TextIndex &index) {
  spec = &tokenizer;
  vocab = &index;
  for (const std::string &text : tokenizer.vocab)
    longest = std::max(longest, text.size());
}

/// The longest piece first, from the front. If some part of a word has no
/// piece, the whole word is one unknown token.
void WordPieceModel::encode(std::string_view word,
                            std::vector<int32_t> &ids) const {
  // Characters: bytes 80..BF continue one.
  size_t chars = std::count_if(word.begin(), word.end(), [](char c) {
    return (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  });
  size_t before = ids.size();
  // The reference gives up on long words at once, even if it had pieces for
  // them.
  bool known = chars <= spec->maxWordChars;
  std::string piece;
  for (size_t begin = 0; known && begin < word.size();) {
    piece = begin ? spec->wordPrefix : "";
    size_t prefix = piece.size();
    // No token is longer, so a longer piece cannot be found.
    piece += word.substr(begin, longest);
    uint32_t id = TextIndex::kMissing;
    for (; piece.size() > prefix; piece.pop_back()) {
      // A part of a character is never found: the vocabulary is valid UTF-8.
      id = vocab->find(piece);
      if (id != TextIndex::kMissing)
        break;
    }
    known = id != TextIndex::kMissing;
    if (known) {
      ids.push_back(static_cast<int32_t>(id));
      begin += piece.size() - prefix;
    }
  }
  if (!known) {
    // Pieces found before the gap do not count.
    ids.resize(before);
    ids.push_back(spec->unknown);
  }
}
