//===- TokenizerImport.h - Tokenizers of other programs ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler reads a model's tokenizer with these at import. What a file asks
// for and Gist does not do is refused by name, never approximated.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_TOKENIZERIMPORT_H
#define GIST_RUNTIME_TEXT_TOKENIZERIMPORT_H

#include "runtime/support/Status.h"
#include "runtime/text/SentencePiece.h"
#include "runtime/text/TokenizerSpec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// The contents of a Hugging Face folder's files; empty where there is none.
/// The vocabulary is taken from the first of tokenizer.json, vocab.json with
/// merges.txt (GPT-2, OPT), tokenizer.model (SentencePiece), and vocab.txt
/// (BERT; ESM-2 if the tokenizer's class in tokenizer_config.json says so).
struct HuggingFaceTokenizer {
  std::string_view tokenizerJson;
  std::string_view vocabJson;
  std::string_view mergesTxt;
  std::string_view vocabTxt;
  std::string_view configJson;     ///< tokenizer_config.json
  std::string_view specialMapJson; ///< special_tokens_map.json
  std::string_view generationJson; ///< generation_config.json
  std::string_view chatTemplate;   ///< chat_template.jinja
  std::string_view sentencePiece;  ///< tokenizer.model
};

/// On error `spec` is left as it was.
Status importTokenizer(const HuggingFaceTokenizer &files, TokenizerSpec &spec);

/// The values of a GGUF file's `tokenizer.*` keys.
struct GgufTokenizer {
  std::string model; ///< tokenizer.ggml.model: "gpt2", "bert" or "llama".
  std::string pre;   ///< tokenizer.ggml.pre: "smollm", "llama-bpe", …
  std::vector<std::string> tokens;
  std::vector<std::string> merges;
  std::vector<int32_t> tokenTypes; ///< May be empty.
  std::vector<float> scores;       ///< Of "llama" alone.
  std::optional<uint32_t> bos, eos, unknown, pad, mask;
  std::optional<uint32_t> separator; ///< seperator_token_id, spelt so there.
  std::optional<uint32_t> endOfTurn; ///< eot_token_id
  std::optional<bool> addBos, addEos, addSpacePrefix, removeExtraSpaces;
  std::string chatTemplate;
};

/// On error `spec` is left as it was.
Status importTokenizer(const GgufTokenizer &gguf, TokenizerSpec &spec);

namespace detail {

/// A vocabulary in the form files have it: byte-level texts still in their
/// printable stand-ins.
struct RawVocab {
  std::vector<std::string> tokens; ///< By id; empty for holes.
  std::vector<std::pair<std::string, std::string>> merges;
};

/// Turns stand-ins into bytes and merges into ids; spec.added is complete.
Status setByteVocab(const RawVocab &raw, TokenizerSpec &spec);

/// Checks pieces and makes them the spec's vocabulary; spec.model is set.
/// Control pieces and the unknown one become added tokens.
Status setPieces(RawPieces pieces, TokenizerSpec &spec);

/// A file of SentencePiece, but for what other files of its folder say.
Status readSentencePieceSpec(std::string_view file, TokenizerSpec &spec);

/// Adds to spec.stop the added tokens that end a turn in the chat formats in
/// use (<|im_end|>, <|eot_id|>, …): files often name only one of them.
void addKnownStops(TokenizerSpec &spec);

} // namespace detail
} // namespace gist

#endif // GIST_RUNTIME_TEXT_TOKENIZERIMPORT_H
