//===- Conversation.cpp - What a session has seen, token by token ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Conversation.h"

#include <algorithm>

using namespace gist;

void Conversation::note(std::span<const int32_t> tokens) {
  auto position = static_cast<size_t>(session.position());
  // What the session took is its position. Of the tokens that were drawn, the
  // last one may not have been fed.
  size_t count = std::min(tokens.size(), position - seen.size());
  seen.insert(seen.end(), tokens.begin(),
              tokens.begin() + static_cast<ptrdiff_t>(count));
}

Status Conversation::checkWhole() const {
  if (session.position() == static_cast<int64_t>(seen.size()))
    return {};
  return Status::error(Code::BadArgument,
                       "an earlier call was broken off; reset the session");
}

Status Conversation::feed(std::span<const int32_t> tokens) {
  GIST_TRY(end());
  GIST_TRY(checkWhole());
  // A failure in the middle leaves the tokens before it in the session.
  Status status = session.feed(tokens);
  note(tokens);
  return status;
}

Status Conversation::generate(const Tokenizer &tokenizer,
                              std::span<const int32_t> prompt,
                              const GenerateOptions &options,
                              const TokenSink &sink, GenerateResult &result) {
  GIST_TRY(end());
  GIST_TRY(checkWhole());
  GenerateOptions known = options;
  known.before.insert(known.before.end(), seen.begin(), seen.end());
  // Noted also when it fails: what was fed before stays in the session.
  Status status =
      generateTokens(session, tokenizer, prompt, known, sink, result);
  note(prompt);
  note(result.tokens);
  return status;
}

/// Brings the session to a prefix of `tokens`, the longest it can.
Status Conversation::keepCommonPrefix(std::span<const int32_t> tokens) {
  // The last token is always fed again: its logits are what is wanted.
  size_t limit = std::min(seen.size(), tokens.size() - 1);
  size_t same = 0;
  while (same < limit && seen[same] == tokens[same])
    ++same;
  if (static_cast<int64_t>(same) == session.position())
    return {};
  Status status = session.rewind(static_cast<int64_t>(same));
  // A cache of clusters cannot go back, so all of it is read again.
  if (status.code == Code::Unsupported) {
    same = 0;
    status = session.reset();
  }
  if (status.ok())
    seen.resize(same);
  return status;
}

Status Conversation::prepareAnswer(const Tokenizer &tokenizer,
                                   std::span<const ChatMessage> messages,
                                   std::vector<int32_t> &prompt) {
  GIST_TRY(end());
  std::vector<int32_t> tokens;
  GIST_TRY(encodeChat(tokenizer, messages, tokens));
  if (tokens.empty())
    return Status::error(Code::BadArgument, "the chat template wrote nothing");
  GIST_TRY(keepCommonPrefix(tokens));
  prompt.assign(tokens.begin() + static_cast<ptrdiff_t>(seen.size()),
                tokens.end());
  return {};
}

Status Conversation::answer(const Tokenizer &tokenizer,
                            std::span<const ChatMessage> messages,
                            const GenerateOptions &options,
                            const TokenSink &sink, GenerateResult &result) {
  std::vector<int32_t> prompt;
  GIST_TRY(prepareAnswer(tokenizer, messages, prompt));
  GenerateOptions ownText = options;
  ownText.startsText = true;
  return generate(tokenizer, prompt, ownText, sink, result);
}

Status Conversation::begin(const Tokenizer &tokenizer,
                           std::span<const int32_t> prompt,
                           const GenerateOptions &options) {
  GIST_TRY(end());
  GIST_TRY(checkWhole());
  GenerateOptions known = options;
  known.before.insert(known.before.end(), seen.begin(), seen.end());
  std::unique_ptr<TokenStream> stream;
  GIST_TRY(TokenStream::begin(session, tokenizer, prompt, known, stream));
  active = std::move(stream);
  streamPrompt.assign(prompt.begin(), prompt.end());
  streamStart = seen.size();
  return {};
}

Status Conversation::beginAnswer(const Tokenizer &tokenizer,
                                 std::span<const ChatMessage> messages,
                                 const GenerateOptions &options) {
  std::vector<int32_t> prompt;
  GIST_TRY(prepareAnswer(tokenizer, messages, prompt));
  GenerateOptions ownText = options;
  ownText.startsText = true;
  return begin(tokenizer, prompt, ownText);
}

void Conversation::noteStream() {
  // A stream with drafts goes back at its end.
  seen.resize(std::min(seen.size(), static_cast<size_t>(session.position())));
  size_t noted = seen.size() - streamStart;
  if (noted < streamPrompt.size()) {
    note(std::span(streamPrompt).subspan(noted));
    noted = seen.size() - streamStart;
  }
  if (noted >= streamPrompt.size())
    note(std::span(active->result().tokens)
             .subspan(noted - streamPrompt.size()));
}

Status Conversation::next(std::optional<TokenPiece> &piece) {
  piece.reset();
  if (!active || active->isFinished())
    return {};
  Status status = active->next(piece);
  noteStream();
  return status;
}

Status Conversation::end() {
  if (!active || active->isFinished())
    return {};
  Status status = active->cancel();
  noteStream();
  return status;
}

Status Conversation::score(std::span<const int32_t> tokens,
                           const Session::LogitsSink &sink) {
  GIST_TRY(end());
  GIST_TRY(checkWhole());
  Status status = session.score(tokens, sink);
  note(tokens);
  return status;
}

Status Conversation::nll(std::span<const int32_t> tokens,
                         std::span<const int32_t> targets,
                         const Session::LossSink &sink) {
  GIST_TRY(end());
  GIST_TRY(checkWhole());
  Status status = session.nll(tokens, targets, sink);
  note(tokens);
  return status;
}

Status Conversation::rewind(int64_t position) {
  GIST_TRY(end());
  GIST_TRY(checkWhole());
  GIST_TRY(session.rewind(position));
  seen.resize(static_cast<size_t>(session.position()));
  return {};
}

Status Conversation::takeOver(Conversation &other) {
  GIST_TRY(other.end());
  GIST_TRY(other.checkWhole());
  GIST_TRY(reset());
  GIST_TRY(session.takeState(other.session));
  seen = other.seen;
  return {};
}

Status Conversation::save(const std::string &path) {
  GIST_TRY(end());
  GIST_TRY(checkWhole());
  return session.saveState(path, seen);
}

Status Conversation::load(const std::string &path) {
  GIST_TRY(reset());
  return session.loadState(path, seen);
}

Status Conversation::setAdapter(std::string_view name) {
  GIST_TRY(reset());
  return session.setAdapter(name);
}

Status Conversation::reset() {
  // What could not be fed is forgotten now.
  (void)end();
  GIST_TRY(session.reset());
  seen.clear();
  return {};
}
