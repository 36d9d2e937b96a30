//===- Responses.h - What clients get ---------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The objects of the OpenAI API.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_RESPONSES_H
#define GIST_TOOLS_SERVING_RESPONSES_H

#include "tools/serving/ApiError.h"
#include "tools/serving/Json.h"
#include "tools/serving/Models.h"
#include "tools/serving/Tools.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gist::serve {

/// {"error": {...}}
Json errorBody(const ApiError &error);

/// A name that is never the same twice, also not after a restart.
std::string makeId(const char *prefix);

struct Usage {
  size_t promptTokens = 0, writtenTokens = 0;
};
Json usageBody(const Usage &usage);

/// What all parts of one answer have in common.
struct AnswerHead {
  bool isChat = false;
  std::string id, model;
  int64_t created = 0;

  /// With a new id.
  static AnswerHead make(bool isChat, const std::string &model);
  /// The fields in front of all others.
  Json fields(bool isChunk) const;
};

/// A call of a tool; `index` counts those of an answer.
Json toolCallBody(const ToolCall &call, size_t index, bool isChunk);

/// The name of a reason for clients: "stop" or "length".
const char *finishText(FinishReason reason);

/// A token as text. One that is not UTF-8 by itself is written
/// `bytes:\xe2\x80`, so that different tokens stay different.
std::string tokenName(const Tokenizer &tokenizer, int32_t token);

/// A token and its probability for chats.
Json chatLogprob(const Tokenizer &tokenizer, int32_t token,
                 const TokenLogprobs &logprobs);

/// Tokens and their probabilities for completions, which are four lists.
class CompletionLogprobs {
public:
  explicit CompletionLogprobs(const Tokenizer &tokenizer)
      : tokenizer(tokenizer) {}

  /// `logprobs` is null for the first token of a prompt, which the model does
  /// not predict. `text` is what the token adds to the text.
  void add(int32_t token, const TokenLogprobs *logprobs, std::string_view text);
  /// What was added since the last call.
  Json take();

private:
  const Tokenizer &tokenizer;
  Json tokens = Json::array(), values = Json::array(), top = Json::array(),
       offsets = Json::array();
  size_t offset = 0; ///< in characters
};

/// What answers call the model: as the request did, with its adapter.
inline const std::string &nameOf(const std::string &asked, const Model &model) {
  return asked.empty() ? model.name : asked;
}

Json modelBody(const Model &model, const std::string &name);
Json modelsBody(const std::vector<std::unique_ptr<Model>> &models);

/// Numbers, or their bytes in base64.
Json embeddingBody(size_t index, const std::vector<float> &vector, bool base64);

/// One event of a stream.
std::string streamEvent(const Json &data);
constexpr const char *kStreamEnd = "data: [DONE]\n\n";
/// Keeps the connection alive; clients ignore it.
constexpr const char *kStreamComment = ": still here\n\n";

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_RESPONSES_H
