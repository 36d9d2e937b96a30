//===- JsonNumbers.cpp - Numbers of a range, as JSON writes them ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonNumbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace gist;

namespace {
/// A number that is not negative, digit by digit.
struct Decimal {
  uint64_t whole = 0;
  std::string fraction = {}; ///< digits, without zeros at the end
  bool isExclusive = false;
};

/// Makes texts of digits between two others.
class Digits {
public:
  Digits(Grammar &grammar, std::string least, std::string most)
      : grammar(grammar), least(std::move(least)), most(std::move(most)) {}

  /// As many digits as both have.
  Grammar::Id whole() { return wholeFrom(0, true, true); }

  /// What follows a point: at most `room` digits, zeros at the end left out.
  struct Fraction {
    bool hasLeast = false, hasMost = false;
    bool excludesLeast = false, excludesMost = false;
    size_t room = 0;
  };
  Grammar::Id fraction(const Fraction &wanted) {
    chosen = wanted;
    std::optional<Grammar::Id> more =
        moreFrom(0, wanted.hasLeast, wanted.hasMost);
    std::vector<Grammar::Id> ways;
    if (mayEnd(0, wanted.hasLeast, wanted.hasMost))
      ways.push_back(grammar.literal(""));
    if (more)
      ways.push_back(grammar.sequence({grammar.literal("."), *more}));
    return grammar.choice(std::move(ways));
  }

private:
  Grammar::Id range(char first, char last) {
    return grammar.chars(
        {{static_cast<uint8_t>(first), static_cast<uint8_t>(last)}});
  }
  static char digitAt(const std::string &digits, size_t at) {
    return at < digits.size() ? digits[at] : '0';
  }

  Grammar::Id wholeFrom(size_t at, bool isLow, bool isHigh);
  bool mayEnd(size_t at, bool isLow, bool isHigh) const;
  std::optional<Grammar::Id> restFrom(size_t at, bool isLow, bool isHigh);
  std::optional<Grammar::Id> moreFrom(size_t at, bool isLow, bool isHigh);

  Grammar &grammar;
  std::string least, most;
  Fraction chosen;
};
} // namespace

/// The ways to choose a digit from `first` to `last`: as the least number where
/// `isLow`, as the greatest where `isHigh`, or between. `add` gets the digits
/// of a way and whether those behind them are bounded below and above.
template <typename Add>
static void splitDigit(char first, char last, bool isLow, bool isHigh,
                       const Add &add) {
  if (isLow && isHigh && first == last) {
    add(first, first, true, true);
    return;
  }
  if (isLow)
    add(first, first, true, false);
  if (isHigh)
    add(last, last, false, true);
  add(isLow ? static_cast<char>(first + 1) : first,
      isHigh ? static_cast<char>(last - 1) : last, false, false);
}

/// The digits from `at` on; those before are the least ones where `isLow`, and
/// the greatest where `isHigh`.
Grammar::Id Digits::wholeFrom(size_t at, bool isLow, bool isHigh) {
  auto left = static_cast<uint32_t>(least.size() - at);
  if (left == 0)
    return grammar.literal("");
  if (!isLow && !isHigh)
    return grammar.repeat(range('0', '9'), left, left);
  char first = isLow ? least[at] : '0', last = isHigh ? most[at] : '9';
  std::vector<Grammar::Id> ways;
  auto add = [&](char from, char to, bool low, bool high) {
    if (from <= to)
      ways.push_back(
          grammar.sequence({range(from, to), wholeFrom(at + 1, low, high)}));
  };
  splitDigit(first, last, isLow, isHigh, add);
  return grammar.choice(std::move(ways));
}

bool Digits::mayEnd(size_t at, bool isLow, bool isHigh) const {
  bool reachesLeast = !isLow || (at >= least.size() && !chosen.excludesLeast);
  bool staysBelow = !isHigh || at < most.size() || !chosen.excludesMost;
  return reachesLeast && staysBelow;
}

std::optional<Grammar::Id> Digits::restFrom(size_t at, bool isLow,
                                            bool isHigh) {
  std::optional<Grammar::Id> more = moreFrom(at, isLow, isHigh);
  if (!mayEnd(at, isLow, isHigh))
    return more;
  return more ? grammar.optional(*more) : grammar.literal("");
}

/// At least one digit more.
std::optional<Grammar::Id> Digits::moreFrom(size_t at, bool isLow,
                                            bool isHigh) {
  if (at >= chosen.room)
    return std::nullopt;
  if (!isLow && !isHigh)
    return grammar.repeat(range('0', '9'), 1,
                          static_cast<uint32_t>(chosen.room - at));
  char first = isLow ? digitAt(least, at) : '0';
  char last = isHigh ? digitAt(most, at) : '9';
  std::vector<Grammar::Id> ways;
  auto add = [&](char from, char to, bool low, bool high) {
    if (from > to)
      return;
    if (auto rest = restFrom(at + 1, low, high))
      ways.push_back(grammar.sequence({range(from, to), *rest}));
  };
  splitDigit(first, last, isLow, isHigh, add);
  if (ways.empty())
    return std::nullopt;
  return grammar.choice(std::move(ways));
}

/// Whole numbers from `least` to `most`.
static Grammar::Id wholes(Grammar &grammar, uint64_t least, uint64_t most) {
  std::vector<Grammar::Id> ways;
  uint64_t first = 0, next = 10; // of so many digits
  for (int digits = 1; digits <= kMaxDigits; ++digits) {
    uint64_t low = std::max(least, first), high = std::min(most, next - 1);
    if (low <= high)
      ways.push_back(
          Digits(grammar, std::to_string(low), std::to_string(high)).whole());
    first = next;
    next *= 10;
  }
  return grammar.choice(std::move(ways));
}

static size_t digitsOf(uint64_t whole) { return std::to_string(whole).size(); }

/// Room for digits behind the point of a number.
static size_t roomBehind(uint64_t whole) {
  return static_cast<size_t>(kMaxDigits) - digitsOf(whole);
}

/// Numbers between two that are not negative.
static Grammar::Id between(Grammar &grammar, const Decimal &least,
                           const Decimal &most) {
  Digits digits(grammar, least.fraction, most.fraction);
  Digits::Fraction wanted{.excludesLeast = least.isExclusive,
                          .excludesMost = most.isExclusive};
  auto one = [&](uint64_t whole, bool isLeast, bool isMost) {
    wanted.hasLeast = isLeast;
    wanted.hasMost = isMost;
    wanted.room = roomBehind(whole);
    return grammar.sequence(
        {grammar.literal(std::to_string(whole)), digits.fraction(wanted)});
  };
  if (least.whole == most.whole)
    return one(least.whole, true, true);
  std::vector<Grammar::Id> ways = {one(least.whole, true, false),
                                   one(most.whole, false, true)};
  if (least.whole + 1 < most.whole) {
    wanted.hasLeast = wanted.hasMost = false;
    wanted.room = roomBehind(most.whole - 1);
    ways.push_back(
        grammar.sequence({wholes(grammar, least.whole + 1, most.whole - 1),
                          digits.fraction(wanted)}));
  }
  return grammar.choice(std::move(ways));
}

/// Whole numbers between two that are not negative; empty: there are none.
static std::optional<Grammar::Id>
wholesBetween(Grammar &grammar, const Decimal &least, const Decimal &most) {
  uint64_t low = least.whole, high = most.whole;
  if (!least.fraction.empty() || least.isExclusive)
    ++low;
  if (most.fraction.empty() && most.isExclusive) {
    if (high == 0)
      return std::nullopt;
    --high;
  }
  if (low > high)
    return std::nullopt;
  return wholes(grammar, low, high);
}

static Status readDecimal(double value, Decimal &result) {
  char text[512];
  std::to_chars_result end = std::to_chars(
      text, text + sizeof text, std::fabs(value), std::chars_format::fixed);
  std::string_view digits(text, static_cast<size_t>(end.ptr - text));
  size_t point = digits.find('.');
  std::string_view whole = digits.substr(0, point);
  if (point != std::string_view::npos)
    result.fraction = digits.substr(point + 1);
  while (result.fraction.ends_with('0'))
    result.fraction.pop_back();
  if (end.ec != std::errc() ||
      whole.size() + result.fraction.size() > kMaxDigits)
    return Status::error(Code::Unsupported,
                         "the bound %g of a number has more than %d digits",
                         value, kMaxDigits);
  std::from_chars(whole.data(), whole.data() + whole.size(), result.whole);
  return {};
}

/// The end of a range that has none, or one too far away to matter: as far as
/// digits go. Of numbers with a fraction there are fewer before the point.
static Decimal farAway(bool isInteger, const Decimal *other) {
  size_t digits = kMaxDigits;
  if (!isInteger)
    digits = std::clamp<size_t>(other ? digitsOf(other->whole) + 1 : 0, 9,
                                kMaxDigits);
  Decimal result;
  for (size_t i = 0; i < digits; ++i)
    result.whole = result.whole * 10 + 9;
  return result;
}

/// Any number, with or without a fraction and an exponent.
static Grammar::Id anyNumber(Grammar &grammar) {
  Grammar::Id digit = grammar.chars({{'0', '9'}});
  Grammar::Id whole = grammar.choice(
      {grammar.literal("0"),
       grammar.sequence({grammar.chars({{'1', '9'}}),
                         grammar.repeat(digit, 0, kMaxDigits - 1)})});
  return grammar.sequence(
      {grammar.optional(grammar.literal("-")), whole,
       grammar.optional(grammar.sequence(
           {grammar.literal("."), grammar.repeat(digit, 1, kMaxDigits)})),
       grammar.optional(grammar.sequence(
           {grammar.chars({{'e', 'e'}, {'E', 'E'}}),
            grammar.optional(grammar.chars({{'+', '+'}, {'-', '-'}})),
            // So that it is finite as a double.
            grammar.repeat(digit, 1, 2)}))});
}

Status gist::numbersOf(Grammar &grammar, const NumberRange &range,
                       Grammar::Id &result) {
  if (!range.least && !range.most && !range.isInteger) {
    result = anyNumber(grammar);
    return {};
  }
  constexpr double kFar = 1e15;
  std::optional<NumberBound> least = range.least, most = range.most;
  if (least && least->value <= -kFar)
    least.reset();
  if (most && most->value >= kFar)
    most.reset();
  auto nothing = [&] {
    return Status::error(
        Code::BadArgument, "no number is between the bounds %g and %g",
        least ? least->value : -kFar, most ? most->value : kFar);
  };
  if (least && most && least->value > most->value)
    return nothing();
  Decimal low, high;
  if (least) {
    GIST_TRY(readDecimal(least->value, low));
    low.isExclusive = least->isExclusive;
  }
  if (most) {
    GIST_TRY(readDecimal(most->value, high));
    high.isExclusive = most->isExclusive;
  }
  std::vector<Grammar::Id> ways;
  auto add = [&](bool isNegative, const Decimal &from, const Decimal &to) {
    std::optional<Grammar::Id> magnitude;
    if (range.isInteger)
      magnitude = wholesBetween(grammar, from, to);
    else
      magnitude = between(grammar, from, to);
    if (!magnitude)
      return;
    ways.push_back(isNegative
                       ? grammar.sequence({grammar.literal("-"), *magnitude})
                       : *magnitude);
  };
  // From 0 up; 0 itself is there unless the range leaves it out.
  if (!most || most->value >= 0) {
    bool startsAbove = least && least->value >= 0;
    Decimal from = startsAbove ? low : Decimal{};
    add(false, from, most ? high : farAway(range.isInteger, &from));
  }
  // Below 0, by magnitudes: the ends change places. 0 has no sign.
  if (!least || least->value < 0) {
    bool endsBelow = most && most->value < 0;
    Decimal from = endsBelow ? high : Decimal{.isExclusive = true};
    add(true, from, least ? low : farAway(range.isInteger, &from));
  }
  if (ways.empty())
    return nothing();
  result = grammar.choice(std::move(ways));
  return {};
}
