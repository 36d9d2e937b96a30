//===- TokenizerJson.h - The parts of tokenizer.json ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the two sources that read Hugging Face files, and by nothing else.
// The helpers ask before they take, so that the JSON library never throws.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_TOKENIZERJSON_H
#define GIST_RUNTIME_TEXT_TOKENIZERJSON_H

#include "runtime/support/Json.h"
#include "runtime/support/Status.h"
#include "runtime/text/TokenizerImport.h"
#include "runtime/text/TokenizerSpec.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace gist::detail {

using nlohmann::json;

/// The member of an object; a null value if there is none.
const json &member(const json &object, const char *key);

/// The value if it has the type, else nothing or `missing`.
std::string textOf(const json &value);
bool flagOf(const json &value, bool missing = false);

/// An id. They are bounded by the limit on tokens, so that a lying file cannot
/// ask for a huge table.
Status idOf(const json &value, const char *what, uint32_t &id);

/// The member `type` of a part of tokenizer.json.
std::string typeOf(const json &object);

/// A vocabulary: an object from text to id.
Status readVocab(const json &object, std::vector<std::string> &tokens);

/// Appends a list of added tokens to the spec's.
Status readAddedTokens(const json &list, TokenizerSpec &spec);

/// The merges of a BPE model.
Status readMerges(const json &list, RawVocab &raw);

/// Reads the normalizer of pieces: [Prepend] Replace. `isOne` says whether it
/// is one.
Status readSpaceNormalizer(const json &object, TokenizerSpec &spec,
                           bool &isOne);

/// Fills the spec from a BPE model of characters: everything but the normalizer
/// and what is around a text.
Status readPieceBpe(const json &root, TokenizerSpec &spec);

/// The id of a token, added or of the vocabulary, or kNone.
int32_t findToken(const TokenizerSpec &spec, const std::string &text);

/// Fills the spec from tokenizer.json, but for the special ids.
Status readTokenizerJson(std::string_view text, TokenizerSpec &spec);

} // namespace gist::detail

#endif // GIST_RUNTIME_TEXT_TOKENIZERJSON_H
