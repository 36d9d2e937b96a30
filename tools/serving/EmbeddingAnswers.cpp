//===- EmbeddingAnswers.cpp - Texts to vectors ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Api.h"
#include "tools/serving/Responses.h"

using namespace gist;
using namespace gist::serve;

ApiError Api::embed(const Json &body, const Request &from, Response &response) {
  EmbeddingRequest request;
  GIST_SERVE_TRY(readEmbedding(body, request));
  reportIgnored(request.ignored, response);
  size_t index = 0;
  GIST_SERVE_TRY(findModel(request.model, index));
  const Model &model = *engine.models()[index];
  if (!model.embeds())
    return ApiError::unsupported("model",
                                 "The model '" + model.name +
                                     "' writes text and makes no embeddings.");
  int64_t size = model.module->spec().model.embeddingSize;
  if (request.dimensions && *request.dimensions != size)
    return ApiError::unsupported(
        "dimensions", "'dimensions' is " + std::to_string(*request.dimensions) +
                          "; embeddings of this model have " +
                          std::to_string(size) + ".");
  std::vector<Job> jobs(1);
  Job &job = jobs[0];
  job.model = index;
  job.client = clientOf(from);
  job.deadline = Connection::current()->deadline();
  Usage usage;
  for (const Prompt &input : request.inputs) {
    std::vector<int32_t> &tokens = job.texts.emplace_back();
    GIST_SERVE_TRY(encode(model, input, "input", tokens));
    if (tokens.size() > model.embedLimit) {
      ApiError error = ApiError::invalid(
          "input", "A text has " + std::to_string(tokens.size()) +
                       " tokens; the model takes at most " +
                       std::to_string(model.embedLimit) + ".");
      error.code = "context_length_exceeded";
      return error;
    }
    usage.promptTokens += tokens.size();
  }
  std::shared_ptr<Ticket> ticket;
  GIST_SERVE_TRY(submit(std::move(jobs), ticket));

  Json list = Json::array();
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    Event event;
    if (!waitForEvent(*ticket, event))
      return goneError();
    if (event.failure != Failure::None)
      return failureError(event);
    list.push_back(embeddingBody(i, event.embedding, request.base64));
  }
  Json result = {{"object", "list"},
                 {"data", std::move(list)},
                 {"model", model.name},
                 {"usage",
                  {{"prompt_tokens", usage.promptTokens},
                   {"total_tokens", usage.promptTokens}}}};
  response.setBody(writeJson(result) + "\n", "application/json");
  return {};
}
