//===- JsonTexts.h - Texts as JSON strings write them -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_JSONTEXTS_H
#define GIST_RUNTIME_GRAMMAR_JSONTEXTS_H

#include "runtime/grammar/Grammar.h"

#include <string_view>
#include <vector>

namespace gist {

/// One character of the ranges inside a JSON string: itself, or its escape
/// where JSON wants one.
Grammar::Id jsonChars(Grammar &grammar, const std::vector<CharRange> &ranges);

/// Any character inside a JSON string, also where it is escaped and need not
/// be. Two escapes that are one character together count as one.
Grammar::Id anyJsonChar(Grammar &grammar);

/// The inside of a JSON string that is none of `texts` and has no escapes.
Grammar::Id otherJsonText(Grammar &grammar,
                          const std::vector<std::string> &texts);

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_JSONTEXTS_H
