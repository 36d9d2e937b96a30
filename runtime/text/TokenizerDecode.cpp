//===- TokenizerDecode.cpp - Token ids to text ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoding goes through StreamDecoder, whether the text comes token by token or
// as a whole, so that both give the same text.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerPieces.h"
#include "runtime/text/Unicode.h"

#include <utility>

using namespace gist;

/// The clean-up of the reference's WordPiece decoder, token by token.
/// The rules work on one token with its space, as the reference does, so that a
/// stream and a whole text are cleaned alike.
static std::string cleanUp(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> rules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto &[from, to] : rules)
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

std::string StreamDecoder::push(int32_t id) {
  // `first` stays: the CLS in front must not put a space before the text.
  if (skipSpecial && tokenizer->isSpecial(id))
    return {};
  std::string_view text = tokenizer->tokenText(id);
  const TokenizerSpec &spec = tokenizer->spec();
  switch (spec.model) {
  case TokenizerModel::ByteBpe:
    break;
  case TokenizerModel::CharBpe:
  case TokenizerModel::ScoreBpe:
  case TokenizerModel::Unigram:
    return pushPiece(id);
  case TokenizerModel::WordPiece: {
    std::string piece;
    if (first)
      piece = text;
    else if (!spec.wordPrefix.empty() && text.starts_with(spec.wordPrefix))
      piece = text.substr(spec.wordPrefix.size());
    else
      piece = " " + std::string(text);
    first = false;
    return replaceInvalidUtf8(cleanUp(std::move(piece)));
  }
  // Letters of an alphabet are joined with spaces, as the reference does.
  case TokenizerModel::Alphabet:
    // The space goes through `pending`, so that it stays behind bytes that
    // wait.
    pending += first ? "" : " ";
    first = false;
    break;
  }
  pending += text;
  // A character may be spread over several tokens. Its bytes wait until it is
  // whole.
  size_t complete = pending.size() - incompleteUtf8Tail(pending);
  std::string result =
      replaceInvalidUtf8(std::string_view(pending).substr(0, complete));
  pending.erase(0, complete);
  return result;
}

/// What the bytes so far say. A character waits for its last byte, unless `all`
/// says that none comes. What is not UTF-8 gives U+FFFD for each byte, as
/// SentencePiece does.
std::string StreamDecoder::takeBytes(bool all) {
  std::string result;
  std::string_view rest = pending;
  while (!rest.empty()) {
    Utf8Char next = decodeUtf8(rest);
    if (!next.valid && !all && incompleteUtf8Tail(rest) == rest.size())
      break;
    if (next.valid)
      result += rest.substr(0, next.size);
    else
      appendUtf8(result, kReplacementChar);
    rest.remove_prefix(next.valid ? next.size : 1);
  }
  pending.erase(0, pending.size() - rest.size());
  return result;
}

/// Drops the space that encoding puts in front of a text. `isMark` says that a
/// space at the front is one of a piece.
std::string StreamDecoder::dropSpace(std::string text, bool isMark) {
  const TokenizerSpec &spec = tokenizer->spec();
  if (!first || text.empty() || spec.leadingSpace != LeadingSpace::DropOne)
    return text;
  // SentencePiece drops marks alone, `tokenizers` any space.
  // A space that bytes spell out is the text's own for SentencePiece.
  bool drops = text.starts_with(' ') && (isMark || !hasScores(spec.model));
  if (drops)
    text.erase(0, 1);
  // Where encoding removes all spaces in front, decoding does, too.
  first = drops && text.empty() && spec.removeExtraSpaces;
  return text;
}

std::string StreamDecoder::pushPiece(int32_t id) {
  std::string_view text = tokenizer->tokenText(id);
  const TokenizerSpec &spec = tokenizer->spec();
  if (tokenizer->isByte(id)) {
    pending += text;
    return dropSpace(takeBytes(/*all=*/false), /*isMark=*/false);
  }
  // Bytes and the pieces around them make no characters together.
  std::string result = takeBytes(/*all=*/true);
  bool isMark =
      result.empty() && !text.empty() && spec.vocab[id].starts_with(kSpaceMark);
  result += replaceInvalidUtf8(text);
  if (first && spec.leadingSpace == LeadingSpace::DropInFirstToken) {
    std::erase(result, ' ');
    first = false;
  }
  return dropSpace(std::move(result), isMark);
}

std::string StreamDecoder::finish() {
  bool pieces = hasPieces(tokenizer->spec().model);
  std::string result = pieces ? dropSpace(takeBytes(/*all=*/true), false)
                              : replaceInvalidUtf8(pending);
  pending.clear();
  // The decoder can be used for another text.
  first = !continuesText;
  return result;
}

std::string Tokenizer::decode(std::span<const int32_t> ids,
                              bool skipSpecial) const {
  StreamDecoder decoder(*this, skipSpecial);
  std::string result;
  for (int32_t id : ids)
    result += decoder.push(id);
  return result + decoder.finish();
}
