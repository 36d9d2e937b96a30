//===- Requests.h - What clients ask for ------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bodies of requests, read and checked. A field that would change the answer in
// a way that this server cannot is refused, as is one that it does not know:
// an answer that silently means something else is worse than none.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_REQUESTS_H
#define GIST_TOOLS_SERVING_REQUESTS_H

#include "tools/serving/Json.h"
#include "tools/serving/Tools.h"

#include "runtime/grammar/Grammar.h"
#include "runtime/session/Sampler.h"
#include "runtime/text/ChatTemplate.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gist::serve {

// What one request may ask for.
constexpr int64_t kMaxTopLogprobs = 20;
constexpr size_t kMaxStops = 16, kMaxStopBytes = 1024;
constexpr size_t kMaxBiases = 1024;
constexpr int64_t kMaxAnswers = 128; ///< of all prompts together
constexpr size_t kMaxPrompts = 128, kMaxMessages = 4096;
constexpr size_t kMaxEmbeddings = 2048;

/// A text, or tokens that a client made of one.
using Prompt = std::variant<std::string, std::vector<int32_t>>;

/// What chats and completions have in common.
struct TextRequest {
  std::string model; ///< empty: the first one
  SamplerOptions sampler = {};
  std::optional<uint64_t> seed;
  std::optional<int64_t> maxTokens;
  /// Answers to each prompt.
  int64_t answers = 1;
  std::vector<std::string> stops;
  std::vector<int32_t> stopTokens;
  /// How many of the most likely tokens are wanted beside each; -1: no
  /// probabilities.
  int32_t logprobs = -1;
  bool stream = false, includeUsage = false;
  /// What the answer must match; null: anything.
  std::shared_ptr<const Grammar> grammar;
  std::vector<std::string> ignored; ///< fields that change nothing
};

struct ChatRequest : TextRequest {
  std::vector<ChatMessage> messages;
  ToolSet tools;
};

struct CompletionRequest : TextRequest {
  std::vector<Prompt> prompts;
  /// Answers that are written to each prompt; the `answers` best are given.
  int64_t bestOf = 1;
  bool echo = false; ///< the prompt is part of the answer
};

struct EmbeddingRequest {
  std::string model;
  std::vector<Prompt> inputs;
  bool base64 = false; ///< numbers as bytes of little-endian f32
  std::optional<int64_t> dimensions;
  std::vector<std::string> ignored;
};

/// Texts to be put in order by what they have to do with another.
struct RerankRequest {
  std::string model, query;
  std::vector<std::string> documents;
  std::optional<int64_t> best; ///< how many are wanted; none: all
  bool withDocuments = false;  ///< the texts are wanted too
  std::vector<std::string> ignored;
};

/// A text, or the messages of a chat.
struct TokenizeRequest {
  std::string model;
  std::variant<std::string, std::vector<ChatMessage>> input;
  bool addSpecial = true; ///< tokens that begin and end a text
  bool addAnswer = true;  ///< of a chat: the beginning of the answer
  bool withTexts = false; ///< the text of every token is wanted too
  std::vector<std::string> ignored;
};

struct DetokenizeRequest {
  std::string model;
  std::vector<int32_t> tokens;
  std::vector<std::string> ignored;
};

// On error `request` has no meaning.
ApiError readChat(const Json &body, ChatRequest &request);
ApiError readCompletion(const Json &body, CompletionRequest &request);
ApiError readEmbedding(const Json &body, EmbeddingRequest &request);
ApiError readRerank(const Json &body, RerankRequest &request);
ApiError readTokenize(const Json &body, TokenizeRequest &request);
ApiError readDetokenize(const Json &body, DetokenizeRequest &request);

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_REQUESTS_H
