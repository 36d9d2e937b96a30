//===- Unicode.cpp - UTF-8, character classes, normal forms ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// UTF-8, character classes and normal forms. The tables are generated from the
// reference tokenizers (unicode/generate.py), so that classes and case are
// those that models were trained with, not those of another version of Unicode.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Unicode.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

using namespace gist;

namespace {
/// Every `step`-th code point from `first` to `last` has its lower case
/// `difference` further on. Runs are sorted and do not overlap.
struct LowerRun {
  uint32_t first;
  uint32_t last;
  uint32_t step;
  int32_t difference;
};

/// One step of a canonical decomposition; the first part may decompose further.
/// Sorted by `codePoint`.
struct Decomposition {
  uint32_t codePoint;
  uint32_t first;
  uint32_t second; ///< 0 where the decomposition is one character.
  /// 1 where NFC puts the pair together again.
  uint32_t composes;
};
} // namespace

#include "runtime/text/UnicodeTables.inc"

//===----------------------------------------------------------------------===//
// UTF-8
//===----------------------------------------------------------------------===//

Utf8Char gist::decodeUtf8(std::string_view text) {
  if (text.empty())
    return {};
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t lead = byte(0);
  if (lead < 0x80)
    return {lead, 1, true};

  // The second byte's range excludes overlong forms, surrogates and what lies
  // beyond U+10FFFF; later bytes are 80..BF.
  uint32_t length;
  uint8_t low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    low = lead == 0xE0 ? 0xA0 : low;
    high = lead == 0xED ? 0x9F : high;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    low = lead == 0xF0 ? 0x90 : low;
    high = lead == 0xF4 ? 0x8F : high;
  } else {
    return {kReplacementChar, 1, false};
  }

  // The lead byte of n bytes holds 7 - n bits of the character.
  uint32_t codePoint = lead & (0x7F >> length);
  for (uint32_t i = 1; i < length; ++i) {
    if (i == text.size() || byte(i) < low || byte(i) > high)
      // The bytes that fit so far are one ill-formed part (Unicode's "maximal
      // subpart"). They become one U+FFFD together.
      return {kReplacementChar, i, false};
    codePoint = codePoint << 6 | (byte(i) & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return {codePoint, length, true};
}

void gist::appendUtf8(std::string &text, uint32_t codePoint) {
  auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
  auto putRest = [&](int shift) { put(0x80 | (codePoint >> shift & 0x3F)); };
  if (codePoint < 0x80) {
    put(codePoint);
  } else if (codePoint < 0x800) {
    put(0xC0 | codePoint >> 6);
    putRest(0);
  } else if (codePoint < 0x10000) {
    put(0xE0 | codePoint >> 12);
    putRest(6);
    putRest(0);
  } else {
    put(0xF0 | codePoint >> 18);
    putRest(12);
    putRest(6);
    putRest(0);
  }
}

/// The text is not empty. In text that is not UTF-8 the result is still a place
/// in it.
size_t gist::lastUtf8Char(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80)
    --begin;
  return begin;
}

bool gist::isUtf8(std::string_view text) {
  while (!text.empty()) {
    Utf8Char next = decodeUtf8(text);
    if (!next.valid)
      return false;
    text.remove_prefix(next.size);
  }
  return true;
}

std::string gist::replaceInvalidUtf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    Utf8Char next = decodeUtf8(text);
    if (next.valid)
      result += text.substr(0, next.size);
    else
      appendUtf8(result, kReplacementChar);
    text.remove_prefix(next.size);
  }
  return result;
}

/// The bytes at the end that begin a character which is not yet whole: 0 to 3.
size_t gist::incompleteUtf8Tail(std::string_view text) {
  for (size_t size = 1; size <= std::min<size_t>(3, text.size()); ++size) {
    std::string_view tail = text.substr(text.size() - size);
    uint8_t lead = static_cast<uint8_t>(tail[0]);
    if (lead < 0x80)
      return 0;
    if (lead < 0xC0)
      continue;
    // A tail that is one ill-formed part to its end could still be completed,
    // unless its lead byte can begin nothing.
    Utf8Char next = decodeUtf8(tail);
    bool canBegin = lead >= 0xC2 && lead <= 0xF4;
    return !next.valid && next.size == size && canBegin ? size : 0;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Classes and case
//===----------------------------------------------------------------------===//

/// The low byte of the run that holds `codePoint`; runs are sorted by their
/// first code point and cover everything.
/// A run is first code point << 8 | value.
static uint8_t findRun(const uint32_t *begin, const uint32_t *end,
                       uint32_t codePoint) {
  // The largest entry that can begin at or before `codePoint`, and one on.
  const uint32_t *after = std::upper_bound(begin, end, codePoint << 8 | 0xFF);
  return static_cast<uint8_t>(after[-1]);
}

/// Latin-1 and the scripts after it, looked up at once.
static constexpr uint32_t kDirectSize = 0x800;

static std::array<uint8_t, kDirectSize> buildDirect() {
  std::array<uint8_t, kDirectSize> table{};
  for (uint32_t c = 0; c < kDirectSize; ++c)
    table[c] = findRun(std::begin(kClassRuns), std::end(kClassRuns), c);
  return table;
}

uint8_t gist::charClass(uint32_t codePoint) {
  // Built on first use, once for all threads: C++ guards the initialisation.
  static const std::array<uint8_t, kDirectSize> direct = buildDirect();
  if (codePoint < kDirectSize)
    return direct[codePoint];
  return findRun(std::begin(kClassRuns), std::end(kClassRuns), codePoint);
}

void gist::appendLower(std::string &text, uint32_t codePoint) {
  if (codePoint == 0x130) { // The only letter with two.
    text += "i\u0307";
    return;
  }
  const LowerRun *run = std::lower_bound(
      std::begin(kLowerRuns), std::end(kLowerRuns), codePoint,
      [](const LowerRun &entry, uint32_t value) { return entry.last < value; });
  if (run != std::end(kLowerRuns) && codePoint >= run->first &&
      (codePoint - run->first) % run->step == 0)
    codePoint += static_cast<uint32_t>(run->difference);
  appendUtf8(text, codePoint);
}

//===----------------------------------------------------------------------===//
// Normal forms
//===----------------------------------------------------------------------===//

// Hangul syllables are composed by arithmetic (The Unicode Standard, 3.12).
// T counts from one before the first final consonant, so that 0 means none.
static constexpr uint32_t kHangulS = 0xAC00, kHangulL = 0x1100,
                          kHangulV = 0x1161, kHangulT = 0x11A7;
static constexpr uint32_t kHangulLCount = 19, kHangulVCount = 21,
                          kHangulTCount = 28;
static constexpr uint32_t kHangulSCount =
    kHangulLCount * kHangulVCount * kHangulTCount;

static void decompose(uint32_t codePoint, std::u32string &out) {
  // Code points below the range wrap to large numbers and fail the test.
  if (uint32_t s = codePoint - kHangulS; s < kHangulSCount) {
    out.push_back(kHangulL + s / (kHangulVCount * kHangulTCount));
    out.push_back(kHangulV + s / kHangulTCount % kHangulVCount);
    if (s % kHangulTCount)
      out.push_back(kHangulT + s % kHangulTCount);
    return;
  }
  const Decomposition *entry = std::lower_bound(
      std::begin(kDecompositions), std::end(kDecompositions), codePoint,
      [](const Decomposition &entry, uint32_t value) {
        return entry.codePoint < value;
      });
  if (entry == std::end(kDecompositions) || entry->codePoint != codePoint) {
    out.push_back(codePoint);
    return;
  }
  decompose(entry->first, out); // Three deep at most, by the table.
  if (entry->second)
    out.push_back(entry->second); // Never decomposes further.
}

/// 0 for starters. There are no marks below U+0300.
static uint8_t combiningClass(uint32_t codePoint) {
  if (codePoint < 0x300)
    return 0;
  return findRun(std::begin(kCombiningRuns), std::end(kCombiningRuns),
                 codePoint);
}

/// Decomposed and in canonical order.
static std::u32string decomposeAll(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  while (!text.empty()) {
    Utf8Char next = decodeUtf8(text);
    text.remove_prefix(next.size);
    decompose(next.codePoint, result);
  }
  // Marks are sorted by class and, within one, stay in their order.
  std::vector<std::pair<uint64_t, char32_t>> marks;
  for (size_t i = 0; i < result.size();) {
    marks.clear();
    for (size_t j = i; j < result.size(); ++j) {
      uint64_t order = combiningClass(result[j]);
      if (order == 0)
        break;
      // The index in the low bits makes the sort keep the order of marks of one
      // class. There are fewer than 2^56 characters.
      marks.emplace_back(order << 56 | j, result[j]);
    }
    std::sort(marks.begin(), marks.end());
    for (const auto &[key, mark] : marks)
      result[i++] = mark;
    i += marks.empty();
  }
  return result;
}

static uint64_t pairKey(uint32_t first, uint32_t second) {
  return static_cast<uint64_t>(first) << 32 | second;
}

/// The character that NFC puts in the place of two, or 0.
static uint32_t compose(uint32_t first, uint32_t second) {
  uint32_t l = first - kHangulL, v = second - kHangulV;
  if (l < kHangulLCount && v < kHangulVCount)
    return kHangulS + (l * kHangulVCount + v) * kHangulTCount;
  uint32_t s = first - kHangulS, t = second - kHangulT;
  if (s < kHangulSCount && s % kHangulTCount == 0 && t > 0 && t < kHangulTCount)
    return first + t;

  using Entry = std::pair<uint64_t, uint32_t>;
  static const std::vector<Entry> pairs = [] {
    std::vector<Entry> entries;
    for (const Decomposition &d : kDecompositions)
      if (d.composes)
        entries.emplace_back(pairKey(d.first, d.second), d.codePoint);
    std::sort(entries.begin(), entries.end());
    return entries;
  }();
  uint64_t key = pairKey(first, second);
  auto it = std::lower_bound(pairs.begin(), pairs.end(), Entry{key, 0});
  return it != pairs.end() && it->first == key ? it->second : 0;
}

static std::string encodeAll(const std::u32string &codePoints) {
  std::string result;
  result.reserve(codePoints.size());
  for (char32_t c : codePoints)
    appendUtf8(result, c);
  return result;
}

/// Most texts are ASCII, which all normal forms leave as it is.
static bool isAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

std::string gist::toNfd(std::string_view text) {
  if (isAscii(text))
    return std::string(text);
  return encodeAll(decomposeAll(text));
}

std::string gist::toNfc(std::string_view text) {
  if (isAscii(text))
    return std::string(text);
  std::u32string input = decomposeAll(text);
  std::u32string output;
  size_t starter = std::u32string::npos; // Where the last starter is in output.
  uint8_t lastClass = 0; // Of the last character kept after the starter.
  for (char32_t c : input) {
    uint8_t order = combiningClass(c);
    // A character composes with the last starter if nothing stands between, or
    // only marks of a lower class: an equal class blocks it.
    bool adjacent = starter != std::u32string::npos &&
                    (starter + 1 == output.size() || lastClass < order);
    uint32_t composed = adjacent ? compose(output[starter], c) : 0;
    if (composed) {
      // lastClass stays: the mark is gone, so what stood before it still
      // counts.
      output[starter] = composed;
      continue;
    }
    if (order == 0)
      starter = output.size();
    lastClass = order;
    output += c;
  }
  return encodeAll(output);
}
