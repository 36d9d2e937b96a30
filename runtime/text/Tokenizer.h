//===- Tokenizer.h - Text to token ids and back -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Tokenizer is built from a TokenizerSpec and then only read: threads may
// share one. Its ids are those of the library `tokenizers` for the same files.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_TOKENIZER_H
#define GIST_RUNTIME_TEXT_TOKENIZER_H

#include "runtime/support/Status.h"
#include "runtime/text/TokenizerSpec.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

struct EncodeOptions {
  /// Put the tokens before and after the text that the model was trained with
  /// (BOS, CLS … SEP).
  bool addSpecial = true;
  /// Let the text of a special token stand for it. Without this, nothing a
  /// user types can end a turn of a chat.
  bool parseSpecial = true;
  /// The text goes on after other text, so no space is put in front of it.
  bool continuesText = false;
};

class Tokenizer {
public:
  Tokenizer();
  ~Tokenizer();
  Tokenizer(Tokenizer &&) noexcept;
  Tokenizer &operator=(Tokenizer &&) noexcept;

  /// Verifies `spec` and builds its tables. On error `tokenizer` is left as it
  /// was.
  static Status create(TokenizerSpec spec, Tokenizer &tokenizer);

  const TokenizerSpec &spec() const;
  size_t vocabSize() const { return spec().vocab.size(); }

  /// Appends the ids of `text`. What is not UTF-8 counts as U+FFFD.
  void encode(std::string_view text, std::vector<int32_t> &ids,
              EncodeOptions options = {}) const;

  /// The text of `ids`, valid UTF-8. Byte-level models give back exactly the
  /// text that was encoded; WordPiece puts spaces where the reference does;
  /// SentencePiece drops the space that it had put in front.
  std::string decode(std::span<const int32_t> ids,
                     bool skipSpecial = true) const;

  /// The bytes of one token, not always UTF-8; empty for an unknown id. Pieces
  /// have spaces, not marks.
  std::string_view tokenText(int32_t id) const;

  bool isSpecial(int32_t id) const;
  /// True if `id` stands for one byte of a character that has no piece.
  bool isByte(int32_t id) const;
  /// True if `id` ends a generated text.
  bool isStop(int32_t id) const;
  /// The id of a token's text, added tokens first; kNone if there is none.
  int32_t findToken(std::string_view text) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Turns ids into text one by one. What it gives out is valid UTF-8: the bytes
/// of a character wait until all of them have come.
class StreamDecoder {
public:
  /// `tokenizer` outlives this. A text that continues another keeps the space
  /// in front of it.
  explicit StreamDecoder(const Tokenizer &tokenizer, bool skipSpecial = true,
                         bool continuesText = false)
      : tokenizer(&tokenizer), skipSpecial(skipSpecial),
        continuesText(continuesText), first(!continuesText) {}

  /// The text that is complete after this token.
  std::string push(int32_t id);
  /// What is left, bytes of an unfinished character replaced by U+FFFD.
  std::string finish();

private:
  std::string pushPiece(int32_t id);
  std::string takeBytes(bool all);
  std::string dropSpace(std::string text, bool isMark);

  const Tokenizer *tokenizer;
  bool skipSpecial;
  bool continuesText;
  bool first; ///< Nothing has come yet that counts as the text's beginning.
  std::string pending;
};

} // namespace gist

#endif // GIST_RUNTIME_TEXT_TOKENIZER_H
