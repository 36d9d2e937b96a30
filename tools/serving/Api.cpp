//===- Api.cpp - The paths of the server ----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Api.h"
#include "tools/serving/Assets.h"
#include "tools/serving/Responses.h"

#include "runtime/text/ChatPrompt.h"

#include <algorithm>
#include <cstdio>

using namespace gist;
using namespace gist::serve;

static constexpr const char *kJson = "application/json";
static constexpr const char *kChatPath = "/v1/chat/completions";
static constexpr const char *kCompletionPath = "/v1/completions";
static constexpr const char *kEmbeddingPath = "/v1/embeddings";
static constexpr const char *kResponsesPath = "/v1/responses";
static constexpr const char *kRerankPath = "/v1/rerank";
static constexpr const char *kTokenizePath = "/tokenize";
static constexpr const char *kDetokenizePath = "/detokenize";
static constexpr std::string_view kModelPath = "/v1/models/";

static ApiError stoppingError() {
  return {503, "server_error", "stopping", {}, "The server is stopping.", 10};
}

/// Which method a path has; null: there is no such path.
static const char *methodOf(const std::string &path) {
  static constexpr std::pair<std::string_view, const char *> kPaths[] = {
      {"/", "GET"},
      {"/health", "GET"},
      {"/metrics", "GET"},
      {"/openapi.json", "GET"},
      {"/v1/models", "GET"},
      {kChatPath, "POST"},
      {kCompletionPath, "POST"},
      {kEmbeddingPath, "POST"},
      {kResponsesPath, "POST"},
      {kRerankPath, "POST"},
      {kTokenizePath, "POST"},
      {kDetokenizePath, "POST"}};
  for (const auto &[known, method] : kPaths)
    if (path == known)
      return method;
  return path.starts_with(kModelPath) ? "GET" : nullptr;
}

/// The path as a label of metrics: unknown paths share one label, so that
/// clients cannot create labels.
static std::string_view metricPath(const std::string &path) {
  if (path.starts_with(kModelPath))
    return "/v1/models/{model}";
  return methodOf(path) ? std::string_view(path) : "other";
}

Api::Api(Engine &engine, Metrics &metrics, HttpServer &server,
         const ApiOptions &options)
    : engine(engine), metrics(metrics), server(server), options(options) {
  server.setHandler(
      [this](const Request &request, const ApiError &fault,
             Response &response) { answer(request, fault, response); },
      [this](const Request &request, const Response &response) {
        log(request, response);
      });
}

void Api::answer(const Request &request, const ApiError &fault,
                 Response &response) {
  try {
    ApiError error = fault;
    if (error.ok() && !answerGet(request, response))
      error = answerPost(request, response);
    if (!error.ok())
      setError(response, error);
  } catch (const std::exception &) {
    // Nothing of ours throws; what is left is memory that ran out.
    response = {};
    setError(response, ApiError::internal("The server is out of memory."));
  }
}

void Api::log(const Request &request, const Response &response) const {
  metrics.countRequest(metricPath(request.path), response.status);
  metrics.set(Metrics::Level::Connections,
              static_cast<double>(server.connections()));
  if (options.log)
    std::fprintf(stderr, "gist-serve: %s %s %s: %d\n",
                 request.clientHost.c_str(), request.method.c_str(),
                 std::string(metricPath(request.path)).c_str(),
                 response.status);
}

void Api::setError(Response &response, const ApiError &error) const {
  response.status = error.status;
  if (error.retryAfter > 0)
    response.setHeader("Retry-After", std::to_string(error.retryAfter));
  if (error.status == 401)
    response.setHeader("WWW-Authenticate", "Bearer");
  response.setBody(writeJson(errorBody(error)) + "\n", kJson);
}

ApiError Api::checkKey(const Request &request) const {
  if (options.keys.empty() ||
      options.keys.find(request.header("Authorization")))
    return {};
  return {401,
          "invalid_request_error",
          "invalid_api_key",
          {},
          "The request has no API key that this server knows; expected a "
          "header 'Authorization: Bearer KEY'."};
}

std::string Api::clientOf(const Request &request) const {
  if (!options.keys.empty())
    if (auto key = options.keys.find(request.header("Authorization")))
      return std::to_string(*key);
  return request.clientHost;
}

/// Answers every request except a POST to a known path; true if it did.
bool Api::answerGet(const Request &request, Response &response) {
  const std::string &path = request.path;
  const char *method = methodOf(path);
  if (!method) {
    setError(response, {404,
                        "invalid_request_error",
                        "not_found",
                        {},
                        "There is no path '" + path + "' here."});
    return true;
  }
  bool isHead = request.method == "HEAD" && std::string_view(method) == "GET";
  if (request.method != method && !isHead) {
    response.setHeader("Allow", method);
    setError(response, {405,
                        "invalid_request_error",
                        "method_not_allowed",
                        {},
                        "'" + path + "' takes " + method + " alone."});
    return true;
  }
  if (std::string_view(method) == "POST")
    return false;
  // The page and the API's description are public, and health checks have no
  // key.
  if (path == "/") {
    // The page loads nothing from other hosts, so the policy forbids it.
    response.setHeader("Content-Security-Policy",
                       "default-src 'none'; style-src 'unsafe-inline'; "
                       "script-src 'unsafe-inline'; connect-src 'self'; "
                       "base-uri 'none'; form-action 'none'; "
                       "frame-ancestors 'none'");
    response.setBody(std::string(chatPage()), "text/html; charset=utf-8");
  } else if (path == "/openapi.json") {
    response.setBody(std::string(openApi()), kJson);
  } else if (path == "/health") {
    bool isDraining = engine.isDraining();
    response.status = isDraining ? 503 : 200;
    response.setBody(
        writeJson({{"status", isDraining ? "draining" : "ok"}}) + "\n", kJson);
  } else if (ApiError error = checkKey(request); !error.ok()) {
    setError(response, error);
  } else if (path == "/metrics") {
    response.setBody(metrics.text(), "text/plain; version=0.0.4");
  } else if (path == "/v1/models") {
    response.setBody(writeJson(modelsBody(engine.models())) + "\n", kJson);
  } else {
    size_t index = 0;
    std::string name = path.substr(kModelPath.size());
    if (ApiError found = findModel(name, index); !found.ok() || name.empty())
      setError(response, found.ok() ? ApiError{404, "invalid_request_error",
                                               "model_not_found", "model",
                                               "A model has a name."}
                                    : found);
    else
      response.setBody(
          writeJson(modelBody(*engine.models()[index], name)) + "\n", kJson);
  }
  return true;
}

ApiError Api::readBody(const Request &request, Json &body) const {
  std::string type = request.header("Content-Type");
  type = type.substr(0, type.find(';'));
  // Pages of other sites can make a browser send other types without asking.
  if (type != kJson)
    return {415,
            "invalid_request_error",
            "unsupported_media_type",
            {},
            "The body is of type '" + type + "'; expected '" + kJson + "'."};
  // A small compressed body may expand to a large one.
  if (request.find("Content-Encoding"))
    return {415,
            "invalid_request_error",
            "unsupported_media_type",
            {},
            "The body is compressed, which this server does not read."};
  std::string text;
  switch (Connection::current()->readBody(text)) {
  case Connection::Read::Whole:
    return parseJson(text, body);
  case Connection::Read::Incomplete:
    break;
  case Connection::Read::Malformed:
    return ApiError::invalid({}, "The body is not in chunks of HTTP/1.1.");
  case Connection::Read::TooLarge:
    return {413,
            "invalid_request_error",
            "body_too_large",
            {},
            "The body has more than " + std::to_string(server.bodyLimit()) +
                " bytes."};
  }
  return {408,
          "invalid_request_error",
          "incomplete_body",
          {},
          "The body did not come whole, or not in time."};
}

ApiError Api::answerPost(const Request &request, Response &response) {
  GIST_SERVE_TRY(checkKey(request));
  if (engine.isDraining())
    return stoppingError();
  Json body;
  GIST_SERVE_TRY(readBody(request, body));
  Answering answering = request.path == kChatPath         ? &Api::chat
                        : request.path == kCompletionPath ? &Api::complete
                        : request.path == kResponsesPath  ? &Api::respond
                        : request.path == kRerankPath     ? &Api::rerank
                        : request.path == kTokenizePath   ? &Api::tokenize
                        : request.path == kDetokenizePath ? &Api::detokenize
                                                          : &Api::embed;
  return (this->*answering)(body, request, response);
}

ApiError Api::findModel(const std::string &name, size_t &index) const {
  const auto &models = engine.models();
  for (size_t i = 0; i < models.size(); ++i)
    if (models[i]->name == name || name.empty() ||
        models[i]->adapterOf(name) != 0) {
      index = i;
      return {};
    }
  return {404, "invalid_request_error", "model_not_found", "model",
          "There is no model '" + name + "' here; '/v1/models' lists them."};
}

ApiError Api::checkVocabulary(const Model &model,
                              std::span<const int32_t> tokens,
                              const char *param) {
  int64_t size = model.module->spec().model.vocabSize;
  for (int32_t token : tokens)
    if (token < 0 || token >= size)
      return ApiError::invalid(param, "Token " + std::to_string(token) +
                                          " is outside a vocabulary of " +
                                          std::to_string(size) + ".");
  return {};
}

ApiError Api::encode(const Model &model, const Prompt &prompt,
                     const char *param, std::vector<int32_t> &tokens) const {
  if (const auto *text = std::get_if<std::string>(&prompt)) {
    // Clients that know the names of special tokens may use them here, as in
    // gist-run; chats may not.
    model.tokenizer.encode(*text, tokens);
  } else {
    tokens = std::get<std::vector<int32_t>>(prompt);
    GIST_SERVE_TRY(checkVocabulary(model, tokens, param));
  }
  if (tokens.empty())
    return ApiError::invalid(param, "'" + std::string(param) + "' is empty.");
  return {};
}

ApiError Api::submit(std::vector<Job> jobs,
                     std::shared_ptr<Ticket> &ticket) const {
  switch (engine.submit(std::move(jobs), ticket)) {
  case Admission::Accepted:
    break;
  case Admission::Draining:
    return stoppingError();
  case Admission::Full:
    return {429,
            "rate_limit_error",
            "queue_full",
            {},
            "Too many requests are waiting.",
            engine.retryAfter()};
  }
  return {};
}

void serve::reportIgnored(const std::vector<std::string> &names,
                          HttpResponse &response) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  if (!list.empty())
    response.setHeader("X-Gist-Ignored", std::move(list));
}

bool serve::waitForEvent(Ticket &ticket, Event &event) {
  // Checked before every event: events may come without a pause for minutes.
  do {
    if (Connection::current()->isGone()) {
      ticket.cancel();
      return false;
    }
  } while (!ticket.wait(event, std::chrono::milliseconds(100)));
  return true;
}

ApiError serve::goneError() {
  return {408,
          "invalid_request_error",
          "client_closed",
          {},
          "The client closed its side before the answer was complete."};
}

ApiError serve::failureError(const Event &event) {
  switch (event.failure) {
  case Failure::None:
    break;
  case Failure::Rejected:
    return ApiError::invalid(
        {}, "The request cannot be computed: " + event.why + ".");
  case Failure::TimedOut:
    return {504,
            "server_error",
            "timeout",
            {},
            "The answer took longer than this server allows."};
  case Failure::Stopped:
    return stoppingError();
  case Failure::Broken:
    return ApiError::internal("The model could not be run: " + event.why + ".");
  }
  return {};
}
