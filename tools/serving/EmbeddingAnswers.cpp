//===- EmbeddingAnswers.cpp - Texts to vectors, and in order --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Api.h"
#include "tools/serving/Responses.h"

#include <algorithm>
#include <numeric>

using namespace gist;
using namespace gist::serve;

ApiError Api::makeEmbeddingJob(const std::string &name, const Request &from,
                               Job &job) const {
  GIST_SERVE_TRY(findModel(name, job.model));
  const Model &model = *engine.models()[job.model];
  if (!model.embeds())
    return ApiError::unsupported("model",
                                 "The model '" + model.name +
                                     "' writes text and makes no embeddings.");
  job.request.adapter = model.adapterOf(name);
  job.client = clientOf(from);
  job.deadline = Connection::current()->deadline();
  return {};
}

ApiError Api::addText(const Prompt &text, const char *param, Job &job) const {
  const Model &model = *engine.models()[job.model];
  std::vector<int32_t> &tokens = job.texts.emplace_back();
  GIST_SERVE_TRY(encode(model, text, param, tokens));
  if (tokens.size() <= model.embedLimit)
    return {};
  ApiError error =
      ApiError::invalid(param, "A text has " + std::to_string(tokens.size()) +
                                   " tokens; the model takes at most " +
                                   std::to_string(model.embedLimit) + ".");
  error.code = "context_length_exceeded";
  return error;
}

ApiError Api::embedTexts(Job job,
                         std::vector<std::vector<float>> &vectors) const {
  vectors.resize(job.texts.size());
  std::vector<Job> jobs;
  jobs.push_back(std::move(job));
  std::shared_ptr<Ticket> ticket;
  GIST_SERVE_TRY(submit(std::move(jobs), ticket));
  for (std::vector<float> &vector : vectors) {
    Event event;
    if (!waitForEvent(*ticket, event))
      return goneError();
    if (event.failure != Failure::None)
      return failureError(event);
    vector = std::move(event.embedding);
  }
  return {};
}

/// Texts are read, and nothing is written.
static Json readUsage(const Job &job) {
  size_t count = 0;
  for (const std::vector<int32_t> &tokens : job.texts)
    count += tokens.size();
  return {{"prompt_tokens", count}, {"total_tokens", count}};
}

ApiError Api::embed(const Json &body, const Request &from, Response &response) {
  EmbeddingRequest request;
  GIST_SERVE_TRY(readEmbedding(body, request));
  reportIgnored(request.ignored, response);
  Job job;
  GIST_SERVE_TRY(makeEmbeddingJob(request.model, from, job));
  const Model &model = *engine.models()[job.model];
  int64_t size = model.module->spec().model.embeddingSize;
  if (request.dimensions && *request.dimensions != size)
    return ApiError::unsupported(
        "dimensions", "'dimensions' is " + std::to_string(*request.dimensions) +
                          "; embeddings of this model have " +
                          std::to_string(size) + ".");
  for (const Prompt &input : request.inputs)
    GIST_SERVE_TRY(addText(input, "input", job));
  Json usage = readUsage(job);
  std::vector<std::vector<float>> vectors;
  GIST_SERVE_TRY(embedTexts(std::move(job), vectors));
  Json list = Json::array();
  for (size_t i = 0; i < vectors.size(); ++i)
    list.push_back(embeddingBody(i, vectors[i], request.base64));
  Json result = {{"object", "list"},
                 {"data", std::move(list)},
                 {"model", nameOf(request.model, model)},
                 {"usage", std::move(usage)}};
  response.setBody(writeJson(result) + "\n", "application/json");
  return {};
}

ApiError Api::rerank(const Json &body, const Request &from,
                     Response &response) {
  RerankRequest request;
  GIST_SERVE_TRY(readRerank(body, request));
  reportIgnored(request.ignored, response);
  Job job;
  GIST_SERVE_TRY(makeEmbeddingJob(request.model, from, job));
  const Model &model = *engine.models()[job.model];
  GIST_SERVE_TRY(addText(request.query, "query", job));
  for (const std::string &document : request.documents)
    GIST_SERVE_TRY(addText(document, "documents", job));
  Json usage = readUsage(job);
  std::vector<std::vector<float>> vectors;
  GIST_SERVE_TRY(embedTexts(std::move(job), vectors));
  // Vectors have length 1, so that the product is the cosine. The best come
  // first; of equal ones the first.
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < request.documents.size(); ++i)
    order.emplace_back(-std::inner_product(vectors[0].begin(), vectors[0].end(),
                                           vectors[i + 1].begin(), 0.0),
                       i);
  std::sort(order.begin(), order.end());
  if (request.best && static_cast<size_t>(*request.best) < order.size())
    order.resize(static_cast<size_t>(*request.best));
  Json results = Json::array();
  for (auto [score, index] : order) {
    Json &result = results.emplace_back(
        Json{{"index", index}, {"relevance_score", -score}});
    if (request.withDocuments)
      result["document"] = {{"text", request.documents[index]}};
  }
  Json result = {{"id", makeId("rerank-")},
                 {"object", "list"},
                 {"model", nameOf(request.model, model)},
                 {"results", std::move(results)},
                 {"usage", std::move(usage)}};
  response.setBody(writeJson(result) + "\n", "application/json");
  return {};
}
