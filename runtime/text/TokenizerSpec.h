//===- TokenizerSpec.h - A tokenizer as data --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One neutral description of a tokenizer, whatever file it came from. The
// compiler makes one at import and writes it into the module; the runtime reads
// it back and builds a Tokenizer from it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_TOKENIZERSPEC_H
#define GIST_RUNTIME_TEXT_TOKENIZERSPEC_H

#include "runtime/support/Bytes.h"
#include "runtime/support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gist {

/// How the words of a text become tokens.
enum class TokenizerModel : uint8_t {
  ByteBpe,   ///< Byte-pair merges on UTF-8 bytes (GPT-2, Llama 3, SmolLM2).
  WordPiece, ///< Greedy longest pieces of words (BERT).
  Alphabet,  ///< Greedy longest entries of a small vocabulary (ESM-2).
};

/// How a text is cut into words before a byte-level model sees them. BERT and
/// Alphabet have rules of their own and use None.
enum class TokenizerSplit : uint8_t {
  None,
  Gpt2,   ///< GPT-2's expression.
  Llama3, ///< Llama 3's: case-insensitive contractions, three digits.
  Qwen2,  ///< Llama 3's with single digits.
};

enum class TokenizerNormalizer : uint8_t { None, Nfc, Bert };

/// Text that is one token wherever it stands.
struct AddedToken {
  std::string text;
  uint32_t id = 0;
  bool special = false;    ///< Control token; left out of decoded text.
  bool singleWord = false; ///< Only between non-word characters.
  bool stripLeft = false;  ///< Takes the white space before it along.
  bool stripRight = false;
  bool normalized = false; ///< Looked for in the normalised text.
};

struct TokenizerMerge {
  uint32_t left = 0;
  uint32_t right = 0;
};

struct TokenizerSpec {
  static constexpr int32_t kNone = -1;

  TokenizerModel model = TokenizerModel::ByteBpe;
  TokenizerSplit split = TokenizerSplit::Gpt2;
  TokenizerNormalizer normalizer = TokenizerNormalizer::None;

  // Byte-level models.
  bool splitDigits = false;  ///< Every digit is a word, before `split`.
  bool prefixSpace = false;  ///< A word gets a space in front if it has none.
  bool ignoreMerges = false; ///< A word in the vocabulary is taken whole.

  // WordPiece.
  bool cleanText = false;    ///< Drop control characters, plain spaces.
  bool splitChinese = false; ///< Chinese characters are words.
  bool stripAccents = false; ///< Decompose, then drop marks.
  bool lowercase = false;    ///< Lower-case letters.
  std::string wordPrefix;    ///< In front of pieces inside a word: "##".
  uint32_t maxWordChars = 0; ///< A longer word is unknown.

  /// The text of each id. Byte-level models: the bytes themselves, not their
  /// printable stand-ins. Empty for an id that the model cannot produce (an
  /// added token, or a hole).
  std::vector<std::string> vocab;
  /// In order of priority. Two tokens join to the one with their joint text.
  std::vector<TokenizerMerge> merges;
  std::vector<AddedToken> added;

  // Ids, or kNone. BERT calls begin and end CLS and SEP. A byte-level model
  // without `unknown` skips bytes that have no token.
  int32_t bos = kNone;
  int32_t eos = kNone;
  int32_t unknown = kNone;
  int32_t pad = kNone;
  int32_t mask = kNone;

  std::vector<uint32_t> prefix; ///< Put before an encoded text on request,
  std::vector<uint32_t> suffix; ///< and after it.
  std::vector<uint32_t> stop;   ///< Ids that end a generated text.

  std::string chatTemplate; ///< Jinja; empty if the model has none.

  /// Checks what every user of a spec relies on: ids in range, no empty added
  /// token, sizes within bounds.
  Status verify() const;

  /// The tokenizer section of a module. Equal specs give equal bytes.
  std::string serialize() const;

  /// Reads and verifies such a section. On error `spec` is left as it was.
  static Status deserialize(Bytes bytes, TokenizerSpec &spec);

  /// The limits that files are held to.
  static constexpr uint32_t kMaxTokens = 1u << 21;
  static constexpr uint32_t kMaxTokenBytes = 0xFFFF;
  static constexpr uint32_t kMaxTemplateBytes = 1u << 20;
};

} // namespace gist

#endif // GIST_RUNTIME_TEXT_TOKENIZERSPEC_H
