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
  CharBpe,   ///< Byte-pair merges on characters (tokenizer.json of Llama 2).
  ScoreBpe, ///< SentencePiece's BPE: of two neighbours that make a piece, those
            ///< with the best score are joined (tokenizer.model, GGUF).
  Unigram,  ///< SentencePiece's: the pieces with the best sum of scores.
};

/// True for models whose tokens are pieces of text with U+2581 for spaces.
inline bool hasPieces(TokenizerModel model) {
  return model >= TokenizerModel::CharBpe;
}

/// True for models that choose pieces by their scores.
inline bool hasScores(TokenizerModel model) {
  return model == TokenizerModel::ScoreBpe || model == TokenizerModel::Unigram;
}

/// How a text is cut into words before a byte-level model sees them. BERT and
/// Alphabet have rules of their own and use None.
enum class TokenizerSplit : uint8_t {
  None,
  Gpt2,   ///< GPT-2's expression.
  Llama3, ///< Llama 3's: case-insensitive contractions, three digits.
  Qwen2,  ///< Llama 3's with single digits.
};

enum class TokenizerNormalizer : uint8_t {
  None,
  Nfc,
  Bert,
  Spaces, ///< Spaces become U+2581, and one may be put in front.
};

/// The pre-tokenizer Metaspace, which does the same later: after added tokens
/// are found in the normalised text. A mark is put in front of a text that does
/// not begin with one.
enum class SpaceMarks : uint8_t {
  None,   ///< There is no such pre-tokenizer.
  Never,  ///< Spaces become marks, and none is put in front.
  First,  ///< One is put in front of what begins the whole text.
  Always, ///< And in front of what follows an added token.
};

/// What a decoder does with the space that was put in front.
enum class LeadingSpace : uint8_t {
  Keep,
  DropOne,          ///< A text's first character is dropped if it is a space.
  DropInFirstToken, ///< All marks of the first token are dropped.
};

/// The kinds of pieces of a model with scores.
enum class PieceKind : uint8_t {
  Normal,
  Unknown,
  Control,     ///< Never found in a text.
  UserDefined, ///< One token wherever it stands in a text.
  Unused,      ///< Found, and then taken apart again.
  Byte,        ///< <0xNN>: a byte of a character that has no piece.
};

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
                             ///< With `Spaces`, every text gets one.
  bool ignoreMerges = false; ///< A word in the vocabulary is taken whole.

  // WordPiece.
  bool cleanText = false;    ///< Drop control characters, plain spaces.
  bool splitChinese = false; ///< Chinese characters are words.
  bool stripAccents = false; ///< Decompose, then drop marks.
  bool lowercase = false;    ///< Lower-case letters.
  std::string wordPrefix;    ///< In front of pieces inside a word: "##".
  uint32_t maxWordChars = 0; ///< A longer word is unknown.

  // Pieces.
  bool byteFallback = false; ///< Bytes stand for a character without a piece.
  bool fuseUnknown = false;  ///< CharBpe: unknown neighbours are one token.
  bool removeExtraSpaces = false; ///< Spaces: at the ends, and repeated ones.
  bool prefixFirstOnly = false;   ///< Spaces: not in front of what follows an
                                  ///< added token.
  bool splitAtMarks = false;      ///< Words begin at marks.
  SpaceMarks spaceMarks = SpaceMarks::None;
  LeadingSpace leadingSpace = LeadingSpace::Keep;
  std::vector<float> scores;    ///< By id, for models with scores.
  std::vector<PieceKind> kinds; ///< The same.

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

  /// Makes room for ids below `count`. The model cannot produce new ones.
  void growVocab(size_t count);

  /// Reads and verifies such a section. On error `spec` is left as it was.
  static Status deserialize(Bytes bytes, TokenizerSpec &spec);

  /// The limits that files are held to.
  static constexpr uint32_t kMaxTokens = 1u << 21;
  static constexpr uint32_t kMaxTokenBytes = 0xFFFF;
  static constexpr uint32_t kMaxTemplateBytes = 1u << 20;
};

} // namespace gist

#endif // GIST_RUNTIME_TEXT_TOKENIZERSPEC_H
