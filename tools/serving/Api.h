//===- Api.h - The paths of the server --------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_API_H
#define GIST_TOOLS_SERVING_API_H

#include "tools/serving/ApiError.h"
#include "tools/serving/Engine.h"
#include "tools/serving/HttpServer.h"
#include "tools/serving/Json.h"
#include "tools/serving/Keys.h"
#include "tools/serving/Requests.h"

#include <span>
#include <string>
#include <vector>

namespace gist::serve {

struct ApiOptions {
  Keys keys;
  bool log = false; ///< a line on standard error for every answer
};

/// Answers requests with an engine. Handlers run on the threads of connections,
/// many at a time.
class Api {
public:
  /// All of them outlive this.
  Api(Engine &engine, Metrics &metrics, HttpServer &server,
      const ApiOptions &options);

private:
  using Request = HttpRequest;
  using Response = HttpResponse;
  /// Answers a body; an error is what the client gets instead.
  using Answering = ApiError (Api::*)(const Json &body, const Request &request,
                                      Response &response);

  void answer(const Request &request, const ApiError &fault,
              Response &response);
  ApiError answerPost(const Request &request, Response &response);
  bool answerGet(const Request &request, Response &response);
  ApiError checkKey(const Request &request) const;
  ApiError readBody(const Request &request, Json &body) const;
  void setError(Response &response, const ApiError &error) const;
  void log(const Request &request, const Response &response) const;
  /// The client for fair queueing: its key, or its address.
  std::string clientOf(const Request &request) const;

  ApiError findModel(const std::string &name, size_t &index) const;
  /// The same of a model that writes text.
  ApiError findWriter(const std::string &name, size_t &index) const;
  /// Fails where a model does not have one of these tokens.
  static ApiError checkVocabulary(const Model &model,
                                  std::span<const int32_t> tokens,
                                  const char *param);
  ApiError encode(const Model &model, const Prompt &prompt, const char *param,
                  std::vector<int32_t> &tokens) const;
  /// A job for an answer to `tokens`, which belong to `model`.
  ApiError makeJob(const TextRequest &request, size_t model,
                   std::vector<int32_t> tokens, const char *param,
                   int64_t defaultTokens, const std::string &client,
                   Job &job) const;
  ApiError submit(std::vector<Job> jobs, std::shared_ptr<Ticket> &ticket) const;

  /// An empty job of a model that makes embeddings.
  ApiError makeEmbeddingJob(const std::string &model, const Request &request,
                            Job &job) const;
  /// Adds a text, which a field `param` of the request has.
  ApiError addText(const Prompt &text, const char *param, Job &job) const;
  /// The vectors of all texts of a job.
  ApiError embedTexts(Job job, std::vector<std::vector<float>> &vectors) const;

  /// Answers a chat; `responseBody` is that of a request for a response, and
  /// null for a chat's own answer.
  ApiError answerChat(ChatRequest request, const Json *responseBody,
                      const Request &from, Response &response);

  ApiError chat(const Json &body, const Request &request, Response &response);
  ApiError respond(const Json &body, const Request &request,
                   Response &response);
  ApiError complete(const Json &body, const Request &request,
                    Response &response);
  ApiError embed(const Json &body, const Request &request, Response &response);
  ApiError rerank(const Json &body, const Request &request, Response &response);
  ApiError tokenize(const Json &body, const Request &request,
                    Response &response);
  ApiError detokenize(const Json &body, const Request &request,
                      Response &response);

  Engine &engine;
  Metrics &metrics;
  HttpServer &server;
  const ApiOptions &options;
};

/// Lists fields of a request that changed nothing, in a header.
void reportIgnored(const std::vector<std::string> &names,
                   HttpResponse &response);

/// Waits for the next event of jobs whose client may go away meanwhile; false
/// when it did, and the jobs are cancelled then.
bool waitForEvent(Ticket &ticket, Event &event);

/// The error for a client that has disconnected; not counted as a fault of the
/// server.
ApiError goneError();

/// What a client is told about a job that failed.
ApiError failureError(const Event &event);

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_API_H
