//===- TokenizerPieces.cpp - SentencePiece's models -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// BPE and unigram by scores. Ties, roundings and the treatment of unknown,
// unused and user-defined pieces are SentencePiece's:
// test/integration/sentencepiece_test.py compares the ids.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerPieces.h"

#include "runtime/text/Unicode.h"

#include <algorithm>
#include <cfloat>

using namespace gist;

//===----------------------------------------------------------------------===//
// Texts of pieces
//===----------------------------------------------------------------------===//

/// The value of a hexadecimal digit, or -1.
static int digitOf(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return -1;
}

int gist::byteOfPiece(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>')
    return -1;
  int high = digitOf(text[3]), low = digitOf(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

std::string gist::printable(std::string_view text) {
  // The text is for an error message: a hostile file must not fill the screen
  // or send control codes to it.
  constexpr size_t kMaxBytes = 64;
  std::string result = replaceInvalidUtf8(text.substr(0, kMaxBytes));
  for (char &c : result)
    if (static_cast<uint8_t>(c) < ' ' || c == 0x7F)
      c = '?';
  return text.size() > kMaxBytes ? result + "..." : result;
}

std::string gist::markSpaces(std::string_view text) {
  std::string result;
  result.reserve(text.size() + kSpaceMark.size());
  for (char c : text)
    if (c == ' ')
      result += kSpaceMark;
    else
      result += c;
  return result;
}

std::string gist::unmarkSpaces(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    bool mark = text.substr(at).starts_with(kSpaceMark);
    result += mark ? ' ' : text[at];
    at += mark ? kSpaceMark.size() : 1;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// PieceModel
//===----------------------------------------------------------------------===//

void PieceModel::build(const TokenizerSpec &tokenizer) {
  spec = &tokenizer;
  byteIds.fill(TokenizerSpec::kNone);
  pieces.reset(spec->vocab.size());
  // The bounds that SentencePiece begins with; the highest is never negative.
  lowest = FLT_MAX;
  // FLT_MIN is the least positive number, not the lowest one. SentencePiece has
  // it so, and ids depend on it.
  highest = FLT_MIN;
  std::vector<std::pair<std::string_view, uint32_t>> defined, every;
  for (uint32_t id = 0; id < spec->vocab.size(); ++id) {
    const std::string &text = spec->vocab[id];
    PieceKind kind = spec->kinds[id];
    if (kind == PieceKind::Byte)
      byteIds[byteOfPiece(text)] = static_cast<int32_t>(id);
    if (kind == PieceKind::Normal) {
      lowest = std::min(lowest, spec->scores[id]);
      highest = std::max(highest, spec->scores[id]);
    }
    if (text.empty() || kind == PieceKind::Byte || kind == PieceKind::Control ||
        kind == PieceKind::Unknown)
      continue;
    pieces.insert(text, id);
    longest = std::max(longest, text.size());
    if (kind == PieceKind::UserDefined)
      defined.emplace_back(text, id);
    if (kind != PieceKind::Unused)
      every.emplace_back(text, id);
  }
  userDefined.build(defined);
  if (spec->model == TokenizerModel::Unigram)
    all.build(every);
}

void PieceModel::encode(std::string_view text, Workspace &workspace,
                        std::vector<int32_t> &ids) const {
  if (text.empty())
    return;
  Output output{ids};
  if (spec->model == TokenizerModel::Unigram)
    encodeUnigram(text, workspace, output);
  else
    encodeBpe(text, workspace, output);
}

/// An unknown piece becomes its bytes where the model has them.
void PieceModel::append(std::string_view piece, int32_t id,
                        Output &output) const {
  bool isUnknown = id == spec->unknown;
  if (!isUnknown)
    output.ids.push_back(id);
  else if (spec->byteFallback)
    for (char c : piece)
      output.ids.push_back(byteIds[static_cast<uint8_t>(c)]);
  else if (!output.wasUnknown)
    output.ids.push_back(id);
  output.wasUnknown = isUnknown;
}

//===----------------------------------------------------------------------===//
// BPE
//===----------------------------------------------------------------------===//

/// Orders a heap so that the best score, then the leftmost pair, is in front.
static bool isWorsePiece(const PieceModel::Workspace::Candidate &a,
                         const PieceModel::Workspace::Candidate &b) {
  return a.score != b.score ? a.score < b.score : a.left > b.left;
}

/// Adds the pair that begins with symbol `left` if together they are a piece.
void PieceModel::push(std::string_view text, Workspace &workspace,
                      int32_t left) const {
  if (left < 0 || workspace.symbols[left].next < 0)
    return;
  const Workspace::Symbol &a = workspace.symbols[left];
  const Workspace::Symbol &b = workspace.symbols[a.next];
  size_t size = a.size + b.size;
  // The lookup costs as many steps as the text is long.
  if (a.frozen || b.frozen || size > longest)
    return;
  std::string_view piece = text.substr(a.begin, size);
  uint32_t id = pieces.find(piece);
  if (id == TextIndex::kMissing)
    return;
  workspace.heap.push_back({spec->scores[id], left, size});
  std::push_heap(workspace.heap.begin(), workspace.heap.end(), isWorsePiece);
  if (spec->kinds[id] == PieceKind::Unused)
    // How the piece was put together is known only here; take() needs it.
    workspace.unusedParts[piece] = a.size;
}

/// Appends a symbol. An unused piece is taken apart as it was put together; the
/// stack is one of our own, because parts can be nested as deep as a piece is
/// long.
void PieceModel::take(std::string_view piece, Workspace &workspace,
                      Output &output) const {
  auto &stack = workspace.stack;
  stack.assign(1, piece);
  while (!stack.empty()) {
    std::string_view top = stack.back();
    stack.pop_back();
    uint32_t found = pieces.find(top);
    int32_t id = found == TextIndex::kMissing ? spec->unknown
                                              : static_cast<int32_t>(found);
    if (found != TextIndex::kMissing &&
        spec->kinds[found] == PieceKind::Unused) {
      auto part = workspace.unusedParts.find(top);
      if (part != workspace.unusedParts.end()) {
        // The right part first: the stack gives the left one back before it.
        stack.push_back(top.substr(part->second));
        stack.push_back(top.substr(0, part->second));
        continue;
      }
    }
    append(top, id, output);
  }
}

void PieceModel::encodeBpe(std::string_view text, Workspace &workspace,
                           Output &output) const {
  auto &symbols = workspace.symbols;
  auto &heap = workspace.heap;
  symbols.clear();
  heap.clear();
  workspace.unusedParts.clear();
  for (size_t at = 0; at < text.size();) {
    size_t size =
        userDefined.match(text.substr(at), [](uint32_t) { return true; });
    bool frozen = size != 0;
    if (!frozen)
      size = decodeUtf8(text.substr(at)).size;
    auto place = static_cast<int32_t>(symbols.size());
    symbols.push_back({at, size, place - 1, place + 1, frozen});
    at += size;
  }
  symbols.back().next = -1;
  for (int32_t i = 0; i < static_cast<int32_t>(symbols.size()); ++i)
    push(text, workspace, i);

  while (!heap.empty()) {
    Workspace::Candidate best = heap.front();
    std::pop_heap(heap.begin(), heap.end(), isWorsePiece);
    heap.pop_back();
    Workspace::Symbol &left = symbols[best.left];
    // The sizes are enough to know a stale candidate: a symbol only grows, and
    // one that was swallowed has the size 0.
    if (left.size == 0 || left.next < 0 ||
        left.size + symbols[left.next].size != best.size)
      continue; // One of the two has been joined to another since.
    Workspace::Symbol &right = symbols[left.next];
    left.size = best.size;
    right.size = 0;
    left.next = right.next;
    if (left.next >= 0)
      symbols[left.next].previous = best.left;
    push(text, workspace, left.previous);
    push(text, workspace, best.left);
  }
  for (int32_t i = 0; i >= 0; i = symbols[i].next)
    take(text.substr(symbols[i].begin, symbols[i].size), workspace, output);
}

//===----------------------------------------------------------------------===//
// Unigram
//===----------------------------------------------------------------------===//

void PieceModel::encodeUnigram(std::string_view text, Workspace &workspace,
                               Output &output) const {
  // A character without a piece costs more than any piece.
  constexpr float kUnknownPenalty = 10;
  const float unknownScore = lowest - kUnknownPenalty;
  auto &paths = workspace.paths;
  paths.assign(text.size() + 1, {});
  // In float, as SentencePiece sums: near ties depend on it.
  auto offer = [&](size_t begin, size_t end, int32_t id, float score) {
    float sum = score + paths[begin].score;
    if (paths[end].begin >= 0 && !(sum > paths[end].score))
      return;
    paths[end] = {sum, id, static_cast<int64_t>(begin)};
  };
  for (size_t begin = 0; begin < text.size();) {
    std::string_view rest = text.substr(begin);
    size_t charSize = decodeUtf8(rest).size;
    bool hasChar = false;
    all.match(rest, [&](uint32_t id) {
      size_t size = spec->vocab[id].size();
      // What the user defined wins over everything within it.
      bool defined = spec->kinds[id] == PieceKind::UserDefined;
      if (defined)
        offer(begin, begin + size, static_cast<int32_t>(id),
              static_cast<float>(static_cast<float>(size) * highest - 0.1));
      else
        offer(begin, begin + size, static_cast<int32_t>(id), spec->scores[id]);
      hasChar |= size == charSize;
      return false; // Every length is offered.
    });
    if (!hasChar)
      offer(begin, begin + charSize, spec->unknown, unknownScore);
    begin += charSize;
  }

  // From the end to the front, and then in order.
  auto &stack = workspace.stack;
  stack.clear();
  std::vector<int32_t> ids;
  for (size_t end = text.size(); end > 0;) {
    const Workspace::Path &path = paths[end];
    auto begin = static_cast<size_t>(path.begin);
    stack.push_back(text.substr(begin, end - begin));
    ids.push_back(path.id);
    end = begin;
  }
  for (size_t i = ids.size(); i-- > 0;)
    append(stack[i], ids[i], output);
}
