//===- Conversation.h - What a session has seen, token by token -*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_CONVERSATION_H
#define GIST_RUNTIME_SESSION_CONVERSATION_H

#include "runtime/session/Generator.h"
#include "runtime/text/ChatPrompt.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace gist {

/// Remembers the tokens of a session, so that a conversation that grew is read
/// from where it is new. Nothing else may feed or rewind the session.
class Conversation {
public:
  /// `session` outlives this and has seen nothing yet.
  explicit Conversation(Session &session) : session(session) {}

  Status feed(std::span<const int32_t> tokens);

  /// Continues `prompt`, as generateTokens() does.
  Status generate(const Tokenizer &tokenizer, std::span<const int32_t> prompt,
                  const GenerateOptions &options, const TokenSink &sink,
                  GenerateResult &result);

  /// Answers the last of `messages`, the whole conversation so far. What the
  /// session has seen of it is not read again; what it has seen beyond that is
  /// forgotten.
  Status answer(const Tokenizer &tokenizer,
                std::span<const ChatMessage> messages,
                const GenerateOptions &options, const TokenSink &sink,
                GenerateResult &result);

  /// The same, token by token: next() draws them. Every other function ends the
  /// stream first, as end() does.
  Status begin(const Tokenizer &tokenizer, std::span<const int32_t> prompt,
               const GenerateOptions &options);
  Status beginAnswer(const Tokenizer &tokenizer,
                     std::span<const ChatMessage> messages,
                     const GenerateOptions &options);
  /// Empty when the stream has ended, or none was begun.
  Status next(std::optional<TokenPiece> &piece);
  Status end();
  /// The stream that was begun last, also after its end; null: none was.
  std::shared_ptr<const TokenStream> stream() const { return active; }

  /// Session::score and Session::nll.
  Status score(std::span<const int32_t> tokens,
               const Session::LogitsSink &sink);
  Status nll(std::span<const int32_t> tokens, std::span<const int32_t> targets,
             const Session::LossSink &sink);

  /// Takes over what a conversation in a session of the same module and
  /// capacity has seen.
  Status takeOver(Conversation &other);
  /// Session::saveState and Session::loadState.
  Status save(const std::string &path);
  Status load(const std::string &path);

  Status reset();
  /// The same, and goes on with an adapter of the module, or with none (the
  /// empty name).
  Status setAdapter(std::string_view name);
  /// Forgets the tokens from `position` on.
  Status rewind(int64_t position);

  /// What the session has seen.
  std::span<const int32_t> tokens() const { return seen; }

private:
  /// What of a conversation must be fed, after what the session keeps of it.
  Status prepareAnswer(const Tokenizer &tokenizer,
                       std::span<const ChatMessage> messages,
                       std::vector<int32_t> &prompt);
  /// Notes what the stream has fed until now.
  void noteStream();
  /// Fails when an exception left the session with tokens that are not in
  /// `seen`.
  Status checkWhole() const;
  Status keepCommonPrefix(std::span<const int32_t> tokens);
  /// Notes tokens that were given to the session, as many as it took.
  void note(std::span<const int32_t> tokens);

  Session &session;
  std::vector<int32_t> seen;
  std::shared_ptr<TokenStream> active;
  std::vector<int32_t> streamPrompt;
  size_t streamStart = 0; ///< tokens that were seen before the stream
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_CONVERSATION_H
