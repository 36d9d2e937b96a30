//===- TokenizerSplit.h - From text to words --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Normalisers and pre-tokenizers: what happens to a text before the tokenizer's
// model sees it. The expressions that models are published with are written
// out by hand, so that the runtime carries no regular-expression engine and
// every split takes linear time.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_TOKENIZERSPLIT_H
#define GIST_RUNTIME_TEXT_TOKENIZERSPLIT_H

#include "runtime/text/TokenizerSpec.h"

#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// Applies the spec's normaliser to valid UTF-8. Without `addPrefix` no space
/// is put in front.
std::string normalizeText(const TokenizerSpec &spec, std::string_view text,
                          bool addPrefix = true);

/// Appends the words of `text`, which is valid UTF-8 and outlives them. Joined
/// together they are the whole text.
void splitText(TokenizerSplit split, std::string_view text,
               std::vector<std::string_view> &words);

/// Appends the parts of `text` around its digits, and each digit.
void splitAtDigits(std::string_view text, std::vector<std::string_view> &parts);

/// Appends the parts of `text`, each of which begins at a mark for a space but
/// for the first.
void splitAtSpaceMarks(std::string_view text,
                       std::vector<std::string_view> &parts);

/// Appends BERT's words: white space separates and goes, punctuation stands
/// alone.
void splitBertWords(std::string_view text,
                    std::vector<std::string_view> &words);

} // namespace gist

#endif // GIST_RUNTIME_TEXT_TOKENIZERSPLIT_H
