//===- Generator.h - A prompt in, text out ----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_GENERATOR_H
#define GIST_RUNTIME_SESSION_GENERATOR_H

#include "runtime/session/Sampler.h"
#include "runtime/session/Session.h"
#include "runtime/text/Tokenizer.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// The tokenizer that a module carries.
Status loadTokenizer(const Module &module, Tokenizer &tokenizer);

struct GenerateOptions {
  SamplerOptions sampler = {};
  int64_t maxTokens = 0; ///< 0: until the model ends or the context is full
  std::vector<std::string> stops = {}; ///< texts that end the answer
  bool ignoreEnd = false;              ///< go on after the model's end token
  bool showSpecial = false;            ///< special tokens appear as text
};

enum class FinishReason {
  EndToken,   ///< the model ended its text
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
  int64_t promptNanoseconds = 0, decodeNanoseconds = 0;
  /// Tokens that decodeNanoseconds covers: the first comes from the prompt.
  int64_t decodedTokens = 0;
};

/// Receives text as it becomes certain; false stops the generation.
using TextSink = std::function<bool(std::string_view piece)>;

/// Feeds `prompt` and continues it. Every token of the result but the last has
/// been fed to the session afterwards. `sink` may be null.
Status generate(Session &session, const Tokenizer &tokenizer,
                std::span<const int32_t> prompt, const GenerateOptions &options,
                const TextSink &sink, GenerateResult &result);

} // namespace gist

#endif // GIST_RUNTIME_SESSION_GENERATOR_H
