//===- TokenAnswers.cpp - Texts to tokens and back ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No standard has these paths. The fields are those of two servers that do:
// clients of both find theirs.
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Api.h"
#include "tools/serving/Responses.h"

#include "runtime/text/ChatPrompt.h"

using namespace gist;
using namespace gist::serve;

ApiError Api::tokenize(const Json &body, const Request &, Response &response) {
  TokenizeRequest request;
  GIST_SERVE_TRY(readTokenize(body, request));
  reportIgnored(request.ignored, response);
  size_t index = 0;
  GIST_SERVE_TRY(findModel(request.model, index));
  const Model &model = *engine.models()[index];
  std::vector<int32_t> tokens;
  if (const auto *text = std::get_if<std::string>(&request.input)) {
    model.tokenizer.encode(*text, tokens, {.addSpecial = request.addSpecial});
  } else {
    Status status = encodeChat(
        model.tokenizer, std::get<std::vector<ChatMessage>>(request.input),
        tokens, request.addAnswer);
    if (!status.ok())
      return ApiError::invalid(
          "messages", "The model's chat template refused the messages: " +
                          status.text + ".");
  }
  Json result = {{"count", tokens.size()},
                 {"max_model_len", model.context},
                 {"tokens", tokens}};
  if (request.withTexts) {
    Json &texts = result["token_strs"] = Json::array();
    for (int32_t token : tokens)
      texts.push_back(tokenName(model.tokenizer, token));
  }
  response.setBody(writeJson(result) + "\n", "application/json");
  return {};
}

ApiError Api::detokenize(const Json &body, const Request &,
                         Response &response) {
  DetokenizeRequest request;
  GIST_SERVE_TRY(readDetokenize(body, request));
  reportIgnored(request.ignored, response);
  size_t index = 0;
  GIST_SERVE_TRY(findModel(request.model, index));
  const Model &model = *engine.models()[index];
  GIST_SERVE_TRY(checkVocabulary(model, request.tokens, "tokens"));
  std::string text =
      model.tokenizer.decode(request.tokens, /*skipSpecial=*/false);
  Json result = {{"prompt", text}, {"content", text}};
  response.setBody(writeJson(result) + "\n", "application/json");
  return {};
}
