//===- JsonNumbers.h - Numbers of a range, as JSON writes them --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_JSONNUMBERS_H
#define GIST_RUNTIME_GRAMMAR_JSONNUMBERS_H

#include "runtime/grammar/Grammar.h"

#include <optional>

namespace gist {

/// One end of a range.
struct NumberBound {
  double value = 0;
  bool isExclusive = false;
};

struct NumberRange {
  std::optional<NumberBound> least, most;
  bool isInteger = false;
};

/// Numbers have so many digits at most where they have bounds: then a double
/// tells them apart, and a number that is in the range as text is in it as a
/// double.
constexpr int kMaxDigits = 15;

/// Numbers of a range, as JSON writes them. Fails for bounds of more than
/// kMaxDigits digits before or after the point, and where nothing is between
/// them.
Status numbersOf(Grammar &grammar, const NumberRange &range,
                 Grammar::Id &result);

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_JSONNUMBERS_H
