//===- TextAnswers.cpp - Chats and completions ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Api.h"
#include "tools/serving/Responses.h"
#include "tools/serving/ResponsesApi.h"

#include "runtime/text/ChatPrompt.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace gist;
using namespace gist::serve;

/// How long a stream is silent at most: proxies close connections that are.
static constexpr std::chrono::seconds kSilence{10};
/// The default number of tokens of completions, as in the OpenAI API.
static constexpr int64_t kCompletionTokens = 16;

ApiError Api::makeJob(const TextRequest &request, size_t index,
                      std::vector<int32_t> tokens, const char *param,
                      int64_t defaultTokens, const std::string &client,
                      Job &job) const {
  const Model &model = *engine.models()[index];
  auto count = static_cast<int64_t>(tokens.size());
  int64_t wanted = request.maxTokens.value_or(defaultTokens);
  // An answer ends where the context does; there must be room to begin it.
  int64_t room = model.context - count;
  if (room < std::min<int64_t>(wanted, 1)) {
    ApiError error = ApiError::invalid(
        param, "The prompt has " + std::to_string(count) +
                   " tokens, which leaves no room for an answer in a "
                   "context of " +
                   std::to_string(model.context) + ".");
    error.code = "context_length_exceeded";
    return error;
  }
  job.model = index;
  job.client = client;
  job.deadline = Connection::current()->deadline();
  job.continuesText =
      std::any_of(tokens.begin(), tokens.end(), [&](int32_t token) {
        return !model.tokenizer.isSpecial(token);
      });
  std::vector<int32_t> biased;
  for (const LogitBias &bias : request.sampler.biases)
    biased.push_back(bias.token);
  GIST_SERVE_TRY(checkVocabulary(model, biased, "logit_bias"));
  GIST_SERVE_TRY(checkVocabulary(model, request.stopTokens, "stop"));
  job.stops = request.stops;
  job.request.stopTokens = request.stopTokens;
  job.request.tokens = std::move(tokens);
  job.request.maxTokens = std::min(wanted, room);
  job.request.adapter = model.adapterOf(request.model);
  job.request.sampler = request.sampler;
  job.request.sampler.seed =
      request.seed
          ? *request.seed
          : (uint64_t{std::random_device()()} << 32) ^ std::random_device()();
  job.request.logprobs = request.logprobs;
  return {};
}

/// Holds the answer of a job to what the request asks for in the field `name`.
static ApiError useGrammar(const TextRequest &request, const char *name,
                           const Model &model, Job &job) {
  if (!request.grammar)
    return {};
  Status status = TokenGrammar::create(
      *request.grammar, model.tokenizer, model.trie, model.endTokens,
      /*startsText=*/!job.continuesText, job.request.sampler.grammar);
  return status.ok() ? ApiError()
                     : ApiError::invalid(name, "'" + std::string(name) +
                                                   "': " + status.text + ".");
}

/// Copies the last job, so that there are `count` of it. Each draws by a seed
/// of its own; the first is as if it were alone.
static void repeatJob(size_t count, std::vector<Job> &jobs) {
  for (size_t i = 1; i < count; ++i) {
    Job job = jobs.back();
    ++job.request.sampler.seed;
    jobs.push_back(std::move(job));
  }
}

namespace {
/// One answer as it grows: how its parts look, whole or in pieces.
class Growing {
public:
  Growing(const Model &model, bool isChat, bool wantsLogprobs)
      : model(model), isChat(isChat), wantsLogprobs(wantsLogprobs),
        lists(model.tokenizer) {}

  /// Calls of these tools are told from the text.
  void useTools(std::shared_ptr<const ToolSet> tools) {
    toolSet = std::move(tools);
    reader.emplace(*toolSet);
  }

  /// The prompt is part of the answer; its probabilities come with events.
  void echo(const std::string &text, const std::vector<int32_t> &tokens,
            bool withLogprobs) {
    pending = text;
    if (!withLogprobs)
      return;
    promptTokens = tokens;
    addPromptToken(nullptr);
  }

  void take(const Event &event) {
    for (const TokenLogprobs &logprobs : event.prompt)
      if (nextPrompt < promptTokens.size())
        addPromptToken(&logprobs);
    pending += reader ? reader->push(event.text, calls) : event.text;
    if (event.token >= 0) {
      ++written;
      logprobSum += static_cast<double>(event.logprobs.logprob);
    }
    // The token that ends an answer is not part of it.
    if (event.token >= 0 && !event.isEnd && wantsLogprobs) {
      if (isChat)
        chatLogprobs.push_back(
            chatLogprob(model.tokenizer, event.token, event.logprobs));
      else
        lists.add(event.token, &event.logprobs, event.text);
      hasLogprobs = true;
    }
    if (!event.finished)
      return;
    if (reader)
      pending += reader->finish(calls);
    reason = finishText(event.reason);
    if (given + calls.size() > 0 && event.reason == FinishReason::EndToken)
      reason = "tool_calls";
  }

  /// Whether there is something to send.
  bool hasNews() const {
    return !pending.empty() || hasLogprobs || !calls.empty();
  }

  /// What came since the last call, as the field `choices`.
  Json choice(size_t index, bool isChunk, bool isLast) {
    Json result = {{"index", index}};
    if (!isChat)
      result["text"] = std::move(pending);
    else if (!isChunk)
      result["message"] = wholeMessage();
    else
      result["delta"] = delta();
    pending.clear();
    calls.clear();
    result["logprobs"] = nullptr;
    if (wantsLogprobs && isChat && (hasLogprobs || !isChunk))
      result["logprobs"] = {{"content", std::move(chatLogprobs)},
                            {"refusal", nullptr}};
    else if (wantsLogprobs && !isChat && (hasLogprobs || !isChunk))
      result["logprobs"] = lists.take();
    chatLogprobs = Json::array();
    hasLogprobs = false;
    result["finish_reason"] = isLast ? Json(reason) : Json(nullptr);
    return result;
  }

  size_t writtenTokens() const { return written; }
  /// How likely the answer is, by token; of events with probabilities.
  double meanLogprob() const {
    return logprobSum / static_cast<double>(std::max<size_t>(written, 1));
  }

private:
  Json callList(bool isChunk) {
    Json list = Json::array();
    for (const ToolCall &call : calls)
      list.push_back(toolCallBody(call, given++, isChunk));
    return list;
  }
  Json wholeMessage() {
    Json message = {{"role", "assistant"},
                    {"content", std::move(pending)},
                    {"refusal", nullptr}};
    if (calls.empty())
      return message;
    // Nothing but calls: no text, rather than an empty one.
    if (message["content"] == "")
      message["content"] = nullptr;
    message["tool_calls"] = callList(/*isChunk=*/false);
    return message;
  }
  Json delta() {
    Json parts = Json::object();
    if (!pending.empty())
      parts["content"] = std::move(pending);
    if (!calls.empty())
      parts["tool_calls"] = callList(/*isChunk=*/true);
    return parts;
  }
  void addPromptToken(const TokenLogprobs *logprobs) {
    int32_t token = promptTokens[nextPrompt++];
    lists.add(token, logprobs,
              model.tokenizer.decode({&token, 1}, /*skipSpecial=*/true));
    hasLogprobs = true;
  }

  const Model &model;
  bool isChat, wantsLogprobs, hasLogprobs = false;
  std::string pending; ///< not sent yet
  std::shared_ptr<const ToolSet> toolSet;
  std::optional<ToolCallReader> reader; ///< none: there are no tools
  std::vector<ToolCall> calls;          ///< not sent yet
  size_t given = 0;                     ///< calls that were
  Json chatLogprobs = Json::array();
  CompletionLogprobs lists;
  std::vector<int32_t> promptTokens;
  size_t nextPrompt = 0, written = 0;
  double logprobSum = 0;
  const char *reason = "length";
};

/// Answers that are sent as they are written. When they end for any reason,
/// their jobs are cancelled.
struct Stream {
  std::shared_ptr<Ticket> ticket;
  AnswerHead head;
  std::vector<Growing> answers;
  Usage usage;
  bool includeUsage = false;
  std::optional<ResponseEvents> events = {}; ///< in place of a chat's parts
  size_t begun = 0, finished = 0;            ///< answers
  Clock::time_point lastSent = Clock::now();

  ~Stream() { ticket->cancel(); }

  /// One part of an answer.
  std::string part(Json choice) {
    if (events)
      return events->add(choice);
    Json body = head.fields(/*isChunk=*/true);
    body["choices"].push_back(std::move(choice));
    // With usage at the end, all parts have the field.
    if (includeUsage)
      body["usage"] = nullptr;
    return streamEvent(body);
  }

  /// The text of the next events, and whether they are the last.
  bool next(std::string &text);
  /// What comes after all answers.
  std::string end();
  std::string fail(const ApiError &error);
};
} // namespace

std::string Stream::end() {
  std::string text;
  for (const Growing &answer : answers)
    usage.writtenTokens += answer.writtenTokens();
  if (events)
    return events->finish(usage);
  if (includeUsage) {
    Json body = head.fields(/*isChunk=*/true);
    body["usage"] = usageBody(usage);
    text += streamEvent(body);
  }
  return text + kStreamEnd;
}

std::string Stream::fail(const ApiError &error) {
  return events ? events->fail(error)
                : streamEvent(errorBody(error)) + kStreamEnd;
}

bool Stream::next(std::string &text) {
  for (; begun < answers.size(); ++begun)
    if (head.isChat)
      text += part({{"index", begun},
                    {"delta", {{"role", "assistant"}, {"content", ""}}},
                    {"logprobs", nullptr},
                    {"finish_reason", nullptr}});
  Event event;
  if (!ticket->wait(event, std::chrono::milliseconds(100))) {
    if (Clock::now() - lastSent > kSilence)
      text += kStreamComment;
    return false;
  }
  if (event.failure != Failure::None) {
    text += fail(failureError(event));
    return true;
  }
  Growing &answer = answers[event.job];
  answer.take(event);
  if (answer.hasNews())
    text += part(answer.choice(event.job, /*isChunk=*/true, /*isLast=*/false));
  if (!event.finished)
    return false;
  text += part(answer.choice(event.job, /*isChunk=*/true, /*isLast=*/true));
  if (++finished < answers.size())
    return false;
  text += end();
  return true;
}

/// Sends an answer as it is written. When the client is gone the server forgets
/// the response and thereby the stream.
static void sendStream(std::shared_ptr<Stream> stream, HttpResponse &response) {
  response.setHeader("Cache-Control", "no-store");
  response.type = "text/event-stream";
  response.next = [stream = std::move(stream)](std::string &text) {
    bool isLast = stream->next(text);
    if (!text.empty())
      stream->lastSent = Clock::now();
    return isLast;
  };
}

/// Waits until all answers are complete.
static ApiError collect(Ticket &ticket, std::vector<Growing> &answers) {
  for (size_t left = answers.size(); left > 0;) {
    Event event;
    // The client has disconnected, so the answer is not read.
    if (!waitForEvent(ticket, event))
      return goneError();
    if (event.failure != Failure::None) {
      // Where one failed, the others are not waited for.
      ticket.cancel();
      return failureError(event);
    }
    answers[event.job].take(event);
    left -= event.finished ? 1 : 0;
  }
  return {};
}

/// The body of answers that are complete: of each prompt, which has `written`
/// of them, the `wanted` that are most likely by token.
static std::string wholeBody(const AnswerHead &head, Usage usage,
                             std::vector<Growing> &answers, size_t written,
                             size_t wanted) {
  Json result = head.fields(/*isChunk=*/false);
  Json &choices = result["choices"];
  for (size_t first = 0; first < answers.size(); first += written) {
    std::vector<size_t> order(written);
    std::iota(order.begin(), order.end(), first);
    // Of equal ones the first, as they were written.
    if (wanted < written)
      std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::pair(-answers[a].meanLogprob(), a) <
               std::pair(-answers[b].meanLogprob(), b);
      });
    for (size_t i = 0; i < wanted; ++i)
      choices.push_back(answers[order[i]].choice(choices.size(), false, true));
  }
  for (const Growing &answer : answers)
    usage.writtenTokens += answer.writtenTokens();
  result["usage"] = usageBody(usage);
  return writeJson(result) + "\n";
}

ApiError Api::findWriter(const std::string &name, size_t &index) const {
  GIST_SERVE_TRY(findModel(name, index));
  const Model &model = *engine.models()[index];
  if (!model.writes())
    return ApiError::unsupported("model", "The model '" + model.name +
                                              "' makes embeddings and does "
                                              "not write text.");
  return {};
}

static ApiError checkStreams(const TextRequest &request,
                             const HttpRequest &from) {
  if (request.stream && from.isOld)
    return ApiError::unsupported("stream", "Streams need HTTP/1.1.");
  return {};
}

ApiError Api::chat(const Json &body, const Request &from, Response &response) {
  ChatRequest request;
  GIST_SERVE_TRY(readChat(body, request));
  return answerChat(std::move(request), nullptr, from, response);
}

ApiError Api::respond(const Json &body, const Request &from,
                      Response &response) {
  TranslatedRequest translated;
  GIST_SERVE_TRY(translateRequest(body, translated));
  ChatRequest request;
  ApiError error = readChat(translated.chat, request);
  request.ignored.insert(request.ignored.end(), translated.ignored.begin(),
                         translated.ignored.end());
  if (error.ok())
    error = answerChat(std::move(request), &body, from, response);
  return translateError(translated, std::move(error));
}

ApiError Api::answerChat(ChatRequest request, const Json *responseBody,
                         const Request &from, Response &response) {
  GIST_SERVE_TRY(checkStreams(request, from));
  size_t index = 0;
  GIST_SERVE_TRY(findWriter(request.model, index));
  const Model &model = *engine.models()[index];
  std::string tools;
  if (!request.tools.empty()) {
    GIST_SERVE_TRY(checkToolTemplate(model.tokenizer.spec().chatTemplate));
    tools = writeJson(request.tools.tools);
  }
  if (request.tools.isForced) {
    auto grammar = std::make_shared<Grammar>();
    GIST_SERVE_TRY(makeToolGrammar(request.tools, *grammar));
    request.grammar = std::move(grammar);
  }
  std::vector<int32_t> tokens;
  if (Status status = encodeChat(model.tokenizer, request.messages, tokens,
                                 /*addGenerationPrompt=*/true, tools);
      !status.ok())
    return ApiError::invalid(
        "messages",
        "The model's chat template refused the messages: " + status.text + ".");
  std::vector<Job> jobs(1);
  Usage usage;
  usage.promptTokens = tokens.size();
  GIST_SERVE_TRY(makeJob(request, index, std::move(tokens), "messages",
                         INT32_MAX, clientOf(from), jobs[0]));
  // An answer does not go on with the text of the prompt.
  jobs[0].continuesText = false;
  GIST_SERVE_TRY(
      useGrammar(request, request.tools.isForced ? "tools" : "response_format",
                 model, jobs[0]));
  repeatJob(static_cast<size_t>(request.answers), jobs);
  Growing answer(model, /*isChat=*/true, request.logprobs >= 0);
  if (!request.tools.empty())
    answer.useTools(std::make_shared<const ToolSet>(std::move(request.tools)));
  std::vector<Growing> answers(jobs.size(), answer);
  std::shared_ptr<Ticket> ticket;
  GIST_SERVE_TRY(submit(std::move(jobs), ticket));

  AnswerHead head =
      AnswerHead::make(/*isChat=*/true, nameOf(request.model, model));
  std::optional<ResponseEvents> events;
  if (responseBody)
    events.emplace(*responseBody, head);
  reportIgnored(request.ignored, response);
  if (request.stream) {
    sendStream(std::make_shared<Stream>(ticket, head, std::move(answers), usage,
                                        request.includeUsage,
                                        std::move(events)),
               response);
    return {};
  }
  GIST_SERVE_TRY(collect(*ticket, answers));
  if (events) {
    usage.writtenTokens = answers[0].writtenTokens();
    events->add(answers[0].choice(0, /*isChunk=*/false, /*isLast=*/true));
    events->finish(usage);
    response.setBody(writeJson(events->whole()) + "\n", "application/json");
    return {};
  }
  response.setBody(wholeBody(head, usage, answers, 1, 1), "application/json");
  return {};
}

ApiError Api::complete(const Json &body, const Request &from,
                       Response &response) {
  CompletionRequest request;
  GIST_SERVE_TRY(readCompletion(body, request));
  GIST_SERVE_TRY(checkStreams(request, from));
  size_t index = 0;
  GIST_SERVE_TRY(findWriter(request.model, index));
  const Model &model = *engine.models()[index];
  bool wantsLogprobs = request.logprobs >= 0;
  if (request.echo && wantsLogprobs && !model.scores)
    return ApiError::unsupported(
        "echo", "The model '" + model.name +
                    "' gives no probabilities of prompts: it was compiled "
                    "with 'gist-compile --logits=last'.");
  std::vector<Job> jobs;
  std::vector<Growing> answers;
  Usage usage;
  auto written = static_cast<size_t>(request.bestOf);
  auto wanted = static_cast<size_t>(request.answers);
  for (const Prompt &prompt : request.prompts) {
    std::vector<int32_t> tokens;
    GIST_SERVE_TRY(encode(model, prompt, "prompt", tokens));
    usage.promptTokens += tokens.size();
    Growing answer(model, /*isChat=*/false, wantsLogprobs);
    if (request.echo) {
      const auto *text = std::get_if<std::string>(&prompt);
      answer.echo(text ? *text : model.tokenizer.decode(tokens), tokens,
                  wantsLogprobs);
    }
    for (size_t i = 0; i < written; ++i)
      answers.push_back(answer);
    Job &job = jobs.emplace_back();
    GIST_SERVE_TRY(makeJob(request, index, std::move(tokens), "prompt",
                           kCompletionTokens, clientOf(from), job));
    if (request.echo)
      job.request.promptLogprobs = request.logprobs;
    // The best answers are the most likely.
    if (wanted < written)
      job.request.logprobs = std::max(request.logprobs, 0);
    repeatJob(written, jobs);
  }
  std::shared_ptr<Ticket> ticket;
  GIST_SERVE_TRY(submit(std::move(jobs), ticket));

  AnswerHead head =
      AnswerHead::make(/*isChat=*/false, nameOf(request.model, model));
  reportIgnored(request.ignored, response);
  if (request.stream) {
    sendStream(std::make_shared<Stream>(ticket, head, std::move(answers), usage,
                                        request.includeUsage),
               response);
    return {};
  }
  GIST_SERVE_TRY(collect(*ticket, answers));
  response.setBody(wholeBody(head, usage, answers, written, wanted),
                   "application/json");
  return {};
}
