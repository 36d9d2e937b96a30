//===- Generator.h - A prompt in, text out ----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_GENERATOR_H
#define GIST_RUNTIME_SESSION_GENERATOR_H

#include "runtime/session/DraftVerifier.h"
#include "runtime/session/Sampler.h"
#include "runtime/session/Session.h"
#include "runtime/text/Tokenizer.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// The tokenizer that a module carries.
Status loadTokenizer(const Module &module, Tokenizer &tokenizer);

/// The tokens that end a text, the model's and the tokenizer's.
std::vector<int32_t> endTokensOf(const Module &module,
                                 const Tokenizer &tokenizer);

struct GenerateOptions {
  /// `endTokens` are filled in: all that end the answer.
  SamplerOptions sampler = {};
  int64_t maxTokens = 0; ///< 0: until the model ends or the context is full
  std::vector<std::string> stops = {};  ///< texts that end the answer
  std::vector<int32_t> stopTokens = {}; ///< end the answer as its end does
  bool ignoreEnd = false;               ///< go on after the model's end token
  bool showSpecial = false;             ///< special tokens appear as text
  /// The answer is a text of its own, which does not continue the prompt: a
  /// space that the tokenizer puts in front of texts is left out.
  bool startsText = false;
  /// Feed the last token too, where the context has room: then the session has
  /// seen everything that was said. It costs one step.
  bool feedLast = false;
  /// What the session saw before the prompt, as far as a repeat penalty should
  /// know it.
  std::vector<int32_t> before = {};
  /// What is written must match this; null: anything. `trie` is of the
  /// tokenizer; null: it is made, which takes some hundredths of a second.
  std::shared_ptr<const Grammar> grammar = {};
  std::shared_ptr<const TokenTrie> trie = {};
  /// Guesses tokens, so that the answer comes faster; null: it does not. It
  /// may be one of earlier answers of the session.
  std::shared_ptr<Drafter> drafter = {};
  /// Tokens that it guesses each time; 0: as many as are worth it.
  size_t draftTokens = 0;
};

enum class FinishReason {
  EndToken,   ///< the model ended its text, or drew a stop token
  StopString, ///< one of GenerateOptions::stops appeared
  MaxTokens,
  ContextFull, ///< the policy for a full context: stop, and say so
  Cancelled,   ///< the receiver of the text said so
};
const char *toString(FinishReason reason);

struct GenerateResult {
  FinishReason reason = FinishReason::MaxTokens;
  std::string text;
  std::vector<int32_t> tokens; ///< an end token included
  size_t promptTokens = 0;     ///< those that were read before the first one
  int64_t promptNanoseconds = 0, decodeNanoseconds = 0;
  /// Tokens that decodeNanoseconds covers: the first comes from the prompt.
  int64_t decodedTokens = 0;
  DraftCounts drafts = {};
};

/// Receives text as it becomes certain; false stops the generation.
using TextSink = std::function<bool(std::string_view piece)>;

/// Receives every token with the text that it makes certain, which is empty
/// while a character or what may be a stop text is incomplete. The text that
/// was held back at the end comes with the token -1. False stops.
using TokenSink = std::function<bool(int32_t token, std::string_view text)>;

/// Fails for modules that do not write text, such as encoders.
Status checkGenerates(const Module &module);

/// A token, and the text that it makes certain.
struct TokenPiece {
  int32_t token = -1; ///< -1: text that was held back until the end
  std::string text;   ///< may be empty
};

/// An answer that is drawn token by token, on demand. Between two calls nothing
/// else may feed the session.
class TokenStream {
public:
  /// Draws nothing yet. A grammar in `options` is for the text that is drawn
  /// now. `session` and `tokenizer` outlive the result.
  static Status begin(Session &session, const Tokenizer &tokenizer,
                      std::span<const int32_t> prompt,
                      const GenerateOptions &options,
                      std::unique_ptr<TokenStream> &result);

  /// Draws the next token; the first call feeds the prompt. At the end `piece`
  /// is empty, and the session is as GenerateOptions::feedLast says.
  Status next(std::optional<TokenPiece> &piece);

  /// Ends the answer here, unless it has ended.
  Status cancel();

  bool isFinished() const { return finished; }
  /// What was drawn so far. The reason is valid when the stream is finished.
  const GenerateResult &result() const { return drawn; }

private:
  TokenStream(Session &session, const Tokenizer &tokenizer,
              std::span<const int32_t> prompt, const GenerateOptions &options)
      : session(session), tokenizer(tokenizer), options(options),
        prompt(prompt.begin(), prompt.end()),
        decoder(tokenizer, !options.showSpecial, continuesText()),
        stops(options.stops) {}

  Status useGrammar();
  /// Whether what is drawn goes on with a text, rather than beginning one.
  bool continuesText() const;

  Status draw();
  /// Draws tokens after the first into `ready`.
  Status drawMore();
  std::string takeRest();
  Status finish();
  bool hasEnoughTokens() const;

  Session &session;
  const Tokenizer &tokenizer;
  GenerateOptions options;
  std::vector<int32_t> prompt;
  int64_t start = session.position(); ///< before the prompt
  Sampler sampler;
  std::unique_ptr<DraftVerifier> verifier; ///< null: no drafts
  std::vector<int32_t> text;  ///< all that is known of it, for drafts
  std::vector<int32_t> ready; ///< drawn and not given, the next at the end
  StreamDecoder decoder;
  StopMatcher stops;
  GenerateResult drawn;
  std::optional<FinishReason> reason; ///< set when no token follows
  bool gaveRest = false, finished = false;
};

/// Feeds `prompt` and continues it; without a prompt, goes on after what was
/// fed last. Every token of the result but the last has been fed to the session
/// afterwards, and with GenerateOptions::feedLast the last one too. `sink` may
/// be null. On error `result` has the tokens that were drawn until then.
Status generate(Session &session, const Tokenizer &tokenizer,
                std::span<const int32_t> prompt, const GenerateOptions &options,
                const TextSink &sink, GenerateResult &result);

/// The same, with the tokens handed out too.
Status generateTokens(Session &session, const Tokenizer &tokenizer,
                      std::span<const int32_t> prompt,
                      const GenerateOptions &options, const TokenSink &sink,
                      GenerateResult &result);

} // namespace gist

#endif // GIST_RUNTIME_SESSION_GENERATOR_H
