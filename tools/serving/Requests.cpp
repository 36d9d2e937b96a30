//===- Requests.cpp - What clients ask for --------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Requests.h"

#include "runtime/grammar/JsonSchema.h"
#include "runtime/support/Json.h"

#include <charconv>
#include <cmath>

using namespace gist;
using namespace gist::serve;

static constexpr int64_t kMaxTokenCount = 1 << 30;

/// Token ids; which of them there are depends on the model.
static bool readTokens(const Json &list, std::vector<int32_t> &tokens) {
  for (const Json &item : list) {
    int64_t token = integerOf(item).value_or(-1);
    if (token < 0 || token > INT32_MAX)
      return false;
    tokens.push_back(static_cast<int32_t>(token));
  }
  return true;
}

/// Texts and tokens that end an answer: `stop` may have both.
static void readStops(Fields &fields, TextRequest &request) {
  const Json *value = fields.find("stop");
  bool isValid = true;
  auto add = [&](const Json &item) {
    if (item.is_string())
      request.stops.push_back(item.get<std::string>());
    else
      isValid = isValid && readTokens(Json::array({item}), request.stopTokens);
  };
  if (value && value->is_array()) {
    isValid = value->size() <= kMaxStops;
    for (size_t i = 0; isValid && i < value->size(); ++i)
      add((*value)[i]);
  } else if (value) {
    isValid = value->is_string();
    add(*value);
  }
  for (const std::string &stop : request.stops)
    isValid = isValid && !stop.empty() && stop.size() <= kMaxStopBytes;
  if (!isValid)
    fields.fail(ApiError::invalid(
        "stop", "'stop' is not a string or a list of at most " +
                    std::to_string(kMaxStops) + " strings of 1 to " +
                    std::to_string(kMaxStopBytes) + " bytes and tokens."));
  const Json *tokens = fields.find("stop_token_ids");
  if (tokens && (!tokens->is_array() || tokens->size() > kMaxStops ||
                 !readTokens(*tokens, request.stopTokens)))
    fields.fail(ApiError::invalid("stop_token_ids",
                                  "'stop_token_ids' is not a list of at most " +
                                      std::to_string(kMaxStops) + " tokens."));
}

/// An object with token ids as names and numbers from -100 to 100.
static void readBiases(Fields &fields, std::vector<LogitBias> &biases) {
  const Json *value = fields.find("logit_bias");
  if (!value)
    return;
  bool isValid = value->is_object() && value->size() <= kMaxBiases;
  for (auto at = value->begin(); isValid && at != value->end(); ++at) {
    LogitBias bias;
    const std::string &name = at.key();
    auto [end, error] =
        std::from_chars(name.data(), name.data() + name.size(), bias.token);
    isValid = error == std::errc() && end == name.data() + name.size() &&
              bias.token >= 0 && at->is_number() &&
              std::abs(at->get<double>()) <= 100;
    if (isValid)
      bias.bias = at->get<float>();
    biases.push_back(bias);
  }
  if (!isValid)
    fields.fail(ApiError::invalid(
        "logit_bias", "'logit_bias' is not an object of at most " +
                          std::to_string(kMaxBiases) +
                          " tokens with numbers from -100 to 100."));
}

/// What changes logits before a token is drawn.
static void readAdjustments(Fields &fields, SamplerOptions &sampler) {
  auto penalty = [&](const char *name) {
    return static_cast<float>(fields.number(name, -2, 2).value_or(0));
  };
  sampler.presencePenalty = penalty("presence_penalty");
  sampler.frequencyPenalty = penalty("frequency_penalty");
  // Of all tokens so far, as servers that have the field mean it.
  sampler.repeatPenalty = static_cast<float>(
      fields.number("repetition_penalty", 0.01, 10).value_or(1));
  sampler.repeatWindow = UINT32_MAX;
  readBiases(fields, sampler.biases);
  sampler.minTokens =
      fields.integer("min_tokens", 0, kMaxTokenCount).value_or(0);
}

static void readStreaming(Fields &fields, TextRequest &request) {
  request.stream = fields.boolean("stream").value_or(false);
  const Json *value = fields.find("stream_options");
  if (!value)
    return;
  if (!request.stream) {
    fields.fail(ApiError::invalid(
        "stream_options", "'stream_options' needs 'stream' to be true."));
    return;
  }
  Fields options(*value, "stream_options");
  request.includeUsage = options.boolean("include_usage").value_or(false);
  // Padding that hides the sizes of packets; streams here have none.
  options.refuse("include_obfuscation", "streams are not padded", false);
  fields.fail(options.finish());
}

/// The fields that chats and completions share.
static void readCommon(Fields &fields, TextRequest &request) {
  request.model = fields.text("model").value_or("");
  SamplerOptions &sampler = request.sampler;
  sampler.temperature =
      static_cast<float>(fields.number("temperature", 0, 2).value_or(1));
  sampler.topP = static_cast<float>(fields.number("top_p", 0, 1).value_or(1));
  // 0 is what some clients send for "the most likely token".
  if (sampler.topP == 0) {
    sampler.topP = 1;
    sampler.temperature = 0;
  }
  sampler.topK =
      static_cast<uint32_t>(fields.integer("top_k", 0, INT32_MAX).value_or(0));
  sampler.minP = static_cast<float>(fields.number("min_p", 0, 1).value_or(0));
  if (auto seed = fields.integer("seed", INT64_MIN, INT64_MAX))
    request.seed = static_cast<uint64_t>(*seed);
  readAdjustments(fields, sampler);
  readStops(fields, request);
  readStreaming(fields, request);
  request.answers = fields.integer("n", 1, kMaxAnswers).value_or(1);
  // Fields about the user, billing and what a server should keep.
  fields.ignore({"user", "metadata", "service_tier", "safety_identifier",
                 "prompt_cache_key", "prompt_cache_retention", "keep_alive",
                 "cache_prompt", "priority", "request_id"});
}

static ApiError refusedFormat(const Status &status) {
  return ApiError::invalid("response_format",
                           "'response_format': " + status.text + ".");
}

/// The schema of {"name": …, "schema": …}.
static ApiError readSchema(const Json &value, Grammar &grammar) {
  Fields fields(value, "response_format.json_schema");
  const Json *schema = fields.find("schema");
  // Names are for people, and answers are strict whether asked for or not.
  fields.ignore({"name", "description", "strict"});
  GIST_SERVE_TRY(fields.finish());
  if (!schema)
    return ApiError::invalid("response_format.json_schema",
                             "'response_format.json_schema' has no 'schema'.");
  Status status = readJsonSchema(*schema, grammar);
  return status.ok() ? ApiError() : refusedFormat(status);
}

/// What an answer is held to: text, any JSON object, JSON of a schema, or,
/// which the OpenAI API does not have, a grammar.
static void readFormat(Fields &fields, std::shared_ptr<const Grammar> &result) {
  const Json *value = fields.find("response_format");
  if (!value)
    return;
  Fields format(*value, "response_format");
  std::string type = format.text("type").value_or("");
  auto grammar = std::make_shared<Grammar>();
  if (type == "json_object") {
    *grammar = anyJsonObject();
  } else if (type == "json_schema") {
    const Json *schema = format.find("json_schema");
    format.fail(schema ? readSchema(*schema, *grammar)
                       : ApiError::invalid("response_format",
                                           "'response_format' has no "
                                           "'json_schema'."));
  } else if (type == "grammar") {
    std::string text = format.text("grammar").value_or("");
    if (Status status = parseGrammar(text, *grammar); !status.ok())
      format.fail(refusedFormat(status));
  } else if (type == "text") {
    grammar.reset();
  } else {
    format.fail(ApiError::invalid(
        "response_format.type",
        "'response_format.type' is not 'text', 'json_object', 'json_schema' or "
        "'grammar'."));
  }
  ApiError error = format.finish();
  if (error.ok())
    result = std::move(grammar);
  fields.fail(std::move(error));
}

/// The text of a message, which may come in parts.
static ApiError readContent(const Json &content, const std::string &where,
                            std::string &text) {
  if (content.is_string()) {
    text = content.get<std::string>();
    return {};
  }
  if (!content.is_array())
    return ApiError::invalid(
        where, "'" + where + "' is not a string or a list of parts.");
  for (size_t i = 0; i < content.size(); ++i) {
    std::string name = where + "[" + std::to_string(i) + "]";
    Fields part(content[i], name);
    std::string type = part.text("type").value_or("");
    if (!part.failed() && type != "text")
      return ApiError::unsupported(name, "'" + name + "' is of type '" + type +
                                             "'; models here read text alone.");
    auto piece = part.text("text");
    GIST_SERVE_TRY(part.finish());
    if (!piece)
      return ApiError::invalid(name, "'" + name + "' has no 'text'.");
    text += *piece;
  }
  return {};
}

static ApiError readMessage(const Json &value, const std::string &where,
                            ChatMessage &message) {
  Fields fields(value, where);
  message.role = fields.text("role").value_or("");
  const Json *content = fields.find("content");
  // Templates do not use the name.
  fields.ignore({"name"});
  const Json *calls = fields.find("tool_calls");
  bool hasCalls = calls && !calls->empty();
  fields.refuse("function_call", "'tool_calls' has its place");
  if (hasCalls && message.role != "assistant")
    fields.fail(ApiError::invalid(where + ".tool_calls",
                                  "'" + where +
                                      ".tool_calls' is of a message "
                                      "that is not the assistant's."));
  // Templates put results in the order of the messages.
  fields.ignore({"tool_call_id"});
  fields.refuse("refusal", "refusals are plain text here");
  fields.refuse("audio", "models here read text alone");
  fields.ignore({"annotations"}); // Of an answer that comes back.
  GIST_SERVE_TRY(fields.finish());
  if (hasCalls) {
    Json list;
    GIST_SERVE_TRY(readToolCalls(*calls, where + ".tool_calls", list));
    message.toolCalls = writeJson(list);
  }
  // The newer name of the same.
  if (message.role == "developer")
    message.role = "system";
  if (message.role != "system" && message.role != "user" &&
      message.role != "assistant" && message.role != "tool")
    return ApiError::invalid(where + ".role",
                             "'" + where +
                                 ".role' is not 'system', 'developer', 'user', "
                                 "'assistant' or 'tool'.");
  // A call alone needs no text.
  if (!content && hasCalls)
    return {};
  if (!content)
    return ApiError::invalid(where + ".content",
                             "'" + where + "' has no 'content'.");
  return readContent(*content, where + ".content", message.content);
}

static ApiError readMessages(Fields &fields,
                             std::vector<ChatMessage> &messages) {
  const Json *value = fields.find("messages");
  if (fields.failed())
    return {};
  if (!value || !value->is_array() || value->empty() ||
      value->size() > kMaxMessages)
    return ApiError::invalid("messages", "'messages' is not a list of 1 to " +
                                             std::to_string(kMaxMessages) +
                                             " messages.");
  messages.resize(value->size());
  for (size_t i = 0; i < messages.size(); ++i)
    GIST_SERVE_TRY(readMessage(
        (*value)[i], "messages[" + std::to_string(i) + "]", messages[i]));
  return {};
}

ApiError serve::readChat(const Json &body, ChatRequest &request) {
  Fields fields(body);
  readCommon(fields, request);
  fields.fail(readMessages(fields, request.messages));
  // Two names for one number; the newer one comes first.
  auto limit = fields.integer("max_completion_tokens", 1, kMaxTokenCount);
  auto older = fields.integer("max_tokens", 1, kMaxTokenCount);
  request.maxTokens = limit ? limit : older;
  bool wanted = fields.boolean("logprobs").value_or(false);
  auto top = fields.integer("top_logprobs", 0, kMaxTopLogprobs);
  if (top && !wanted)
    fields.fail(ApiError::invalid(
        "top_logprobs", "'top_logprobs' needs 'logprobs' to be true."));
  if (wanted)
    request.logprobs = static_cast<int32_t>(top.value_or(0));
  fields.fail(readTools(fields, request.tools));
  fields.refuse("functions", "'tools' has its place", Json::array());
  fields.refuse("function_call", "'tool_choice' has its place", "none");
  readFormat(fields, request.grammar);
  if (!request.tools.empty() && request.grammar)
    fields.fail(ApiError::unsupported(
        "response_format", "'response_format' is not supported with 'tools'."));
  fields.refuse("modalities", "answers are text alone", Json::array({"text"}));
  fields.refuse("audio", "answers are text alone");
  fields.refuse("web_search_options", "this server searches nothing");
  fields.refuse("store", "this server stores nothing", false);
  // They affect how an answer is computed, not the answer; or they ask for a
  // length, of models that were trained for such fields.
  fields.ignore(
      {"parallel_tool_calls", "prediction", "reasoning_effort", "verbosity"});
  request.ignored = fields.ignored();
  return fields.finish();
}

/// A text, tokens, or a list of either.
static ApiError readPrompts(Fields &fields, const char *name, size_t most,
                            std::vector<Prompt> &prompts) {
  const Json *value = fields.find(name);
  if (fields.failed())
    return {};
  bool isValid = value != nullptr;
  if (isValid && value->is_string()) {
    prompts.emplace_back(value->get<std::string>());
  } else if (isValid && value->is_array() && !value->empty() &&
             value->front().is_number()) {
    std::vector<int32_t> tokens;
    isValid = readTokens(*value, tokens);
    prompts.emplace_back(std::move(tokens));
  } else if (isValid && value->is_array() && !value->empty()) {
    if (value->size() > most)
      return ApiError::invalid(name, "'" + std::string(name) + "' has " +
                                         std::to_string(value->size()) +
                                         " texts; expected at most " +
                                         std::to_string(most) + ".");
    for (const Json &item : *value) {
      std::vector<int32_t> tokens;
      if (item.is_string())
        prompts.emplace_back(item.get<std::string>());
      else if (item.is_array() && !item.empty() && readTokens(item, tokens))
        prompts.emplace_back(std::move(tokens));
      else
        isValid = false;
    }
  } else {
    isValid = false;
  }
  if (isValid)
    return {};
  return ApiError::invalid(
      name, "'" + std::string(name) +
                "' is not a string, a list of tokens, or a list of these.");
}

ApiError serve::readCompletion(const Json &body, CompletionRequest &request) {
  Fields fields(body);
  readCommon(fields, request);
  fields.fail(readPrompts(fields, "prompt", kMaxPrompts, request.prompts));
  request.echo = fields.boolean("echo").value_or(false);
  request.maxTokens = fields.integer("max_tokens", 0, kMaxTokenCount);
  if (request.maxTokens == 0 && !request.echo)
    fields.fail(ApiError::invalid(
        "max_tokens", "'max_tokens' is 0, which needs 'echo' to be true."));
  // false is what clients of chats send.
  const Json *logprobs = fields.find("logprobs");
  if (logprobs && !(logprobs->is_boolean() && !logprobs->get<bool>()))
    request.logprobs = static_cast<int32_t>(
        fields.integer("logprobs", 0, kMaxTopLogprobs).value_or(-1));
  request.bestOf =
      fields.integer("best_of", 1, kMaxAnswers).value_or(request.answers);
  if (request.bestOf < request.answers)
    fields.fail(ApiError::invalid("best_of", "'best_of' is less than 'n'."));
  if (request.bestOf > request.answers && request.stream)
    fields.fail(ApiError::unsupported(
        "best_of", "'best_of' is not supported with 'stream': which answers "
                   "are best is known at their end."));
  auto prompts = static_cast<int64_t>(request.prompts.size());
  if (prompts * request.bestOf > kMaxAnswers)
    fields.fail(ApiError::invalid(
        request.bestOf > request.answers ? "best_of" : "n",
        "The request asks for " + std::to_string(prompts * request.bestOf) +
            " answers to " + std::to_string(prompts) +
            " prompts; expected at most " + std::to_string(kMaxAnswers) + "."));
  fields.refuse("suffix", "models here write what follows a text", "");
  request.ignored = fields.ignored();
  return fields.finish();
}

ApiError serve::readEmbedding(const Json &body, EmbeddingRequest &request) {
  Fields fields(body);
  request.model = fields.text("model").value_or("");
  fields.fail(readPrompts(fields, "input", kMaxEmbeddings, request.inputs));
  std::string format = fields.text("encoding_format").value_or("float");
  if (format != "float" && format != "base64")
    fields.fail(ApiError::invalid(
        "encoding_format", "'encoding_format' is not 'float' or 'base64'."));
  request.base64 = format == "base64";
  request.dimensions = fields.integer("dimensions", 1, kMaxTokenCount);
  fields.ignore({"user", "keep_alive"});
  request.ignored = fields.ignored();
  return fields.finish();
}

/// The text of a document: a string, or an object that has it.
static ApiError readDocument(const Json &value, const std::string &where,
                             std::string &text) {
  if (value.is_string()) {
    text = value.get<std::string>();
    return {};
  }
  Fields fields(value, where);
  auto found = fields.text("text");
  GIST_SERVE_TRY(fields.finish());
  if (!found)
    return ApiError::invalid(where, "'" + where + "' has no 'text'.");
  text = *found;
  return {};
}

ApiError serve::readRerank(const Json &body, RerankRequest &request) {
  Fields fields(body);
  request.model = fields.text("model").value_or("");
  request.query = fields.text("query").value_or("");
  if (request.query.empty())
    fields.fail(ApiError::invalid("query", "'query' is missing or empty."));
  const Json *list = fields.find("documents");
  if (!list || !list->is_array() || list->empty() ||
      list->size() > kMaxEmbeddings)
    fields.fail(ApiError::invalid(
        "documents", "'documents' is not a list of 1 to " +
                         std::to_string(kMaxEmbeddings) + " texts."));
  for (size_t i = 0; !fields.failed() && i < list->size(); ++i)
    fields.fail(readDocument((*list)[i], "documents[" + std::to_string(i) + "]",
                             request.documents.emplace_back()));
  request.best = fields.integer("top_n", 1, kMaxTokenCount);
  request.withDocuments = fields.boolean("return_documents").value_or(false);
  fields.refuse("max_chunks_per_doc", "documents are read whole");
  fields.refuse("max_tokens_per_doc", "documents are read whole");
  fields.ignore({"user", "keep_alive"});
  request.ignored = fields.ignored();
  return fields.finish();
}

ApiError serve::readTokenize(const Json &body, TokenizeRequest &request) {
  Fields fields(body);
  request.model = fields.text("model").value_or("");
  // Two servers have this path, with two names for the text. Special tokens
  // are added to a `prompt`, and not to a `content`.
  auto prompt = fields.text("prompt"), content = fields.text("content");
  bool isChat = fields.find("messages") != nullptr;
  if (!fields.failed() &&
      prompt.has_value() + content.has_value() + isChat != 1)
    fields.fail(ApiError::invalid("prompt",
                                  "The request does not have one of 'prompt', "
                                  "'content' and 'messages'."));
  request.input = prompt.value_or(content.value_or(""));
  if (isChat)
    fields.fail(readMessages(
        fields, request.input.emplace<std::vector<ChatMessage>>()));
  auto special = fields.boolean("add_special_tokens");
  auto older = fields.boolean("add_special");
  request.addSpecial = special.value_or(older.value_or(!content));
  request.addAnswer = fields.boolean("add_generation_prompt").value_or(true);
  request.withTexts = fields.boolean("return_token_strs").value_or(false);
  fields.refuse("with_pieces", "'return_token_strs' gives the texts of tokens",
                false);
  fields.ignore({"parse_special"}); // Names of special tokens are always read.
  request.ignored = fields.ignored();
  return fields.finish();
}

ApiError serve::readDetokenize(const Json &body, DetokenizeRequest &request) {
  Fields fields(body);
  request.model = fields.text("model").value_or("");
  const Json *tokens = fields.find("tokens");
  if (!tokens || !tokens->is_array() || !readTokens(*tokens, request.tokens))
    fields.fail(
        ApiError::invalid("tokens", "'tokens' is not a list of tokens."));
  request.ignored = fields.ignored();
  return fields.finish();
}
