//===- ResponsesApi.cpp - The Responses API as chats ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/ResponsesApi.h"

using namespace gist;
using namespace gist::serve;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Parts of a message's text have a name for each direction here, and one in
/// chats. Other parts are left for chats to refuse.
static Json translateContent(const Json &content) {
  Json result = content;
  if (result.is_array())
    for (Json &part : result)
      if (part.is_object() && part.contains("text") && part.contains("type") &&
          (part["type"] == "input_text" || part["type"] == "output_text"))
        part = {{"type", "text"}, {"text", Json(part["text"])}};
  return result;
}

/// Appends one item of `input` to the messages of a chat.
static ApiError translateItem(const Json &item, const std::string &where,
                              TranslatedRequest &result) {
  Fields fields(item, where);
  std::string type = fields.text("type").value_or("message");
  fields.ignore({"id", "status", "phase"});
  const Json null;
  auto copy = [&](const char *name) {
    const Json *value = fields.find(name);
    return value ? *value : null;
  };
  Json &messages = result.chat["messages"];
  if (type == "message") {
    messages.push_back({{"role", copy("role")},
                        {"content", translateContent(copy("content"))}});
  } else if (type == "function_call_output") {
    messages.push_back({{"role", "tool"},
                        {"tool_call_id", copy("call_id")},
                        {"content", translateContent(copy("output"))}});
  } else if (type == "function_call") {
    // A text and calls are one message of a chat.
    if (messages.empty() || messages.back()["role"] != "assistant")
      messages.push_back({{"role", "assistant"}});
    messages.back()["tool_calls"].push_back(
        {{"id", copy("call_id")},
         {"type", "function"},
         {"function",
          {{"name", copy("name")}, {"arguments", copy("arguments")}}}});
  } else if (!fields.failed()) {
    return ApiError::unsupported(
        where, "'" + where + "' is of type '" + type +
                   "'; expected 'message', 'function_call' or "
                   "'function_call_output'.");
  }
  result.names.emplace_back(
      "messages[" + std::to_string(messages.size() - 1) + "]", where);
  return fields.finish();
}

static ApiError translateInput(Fields &fields, TranslatedRequest &result) {
  Json &messages = result.chat["messages"] = Json::array();
  if (auto instructions = fields.text("instructions")) {
    messages.push_back({{"role", "system"}, {"content", *instructions}});
    result.names.emplace_back("messages[0]", "instructions");
  }
  const Json *input = fields.find("input");
  if (!input || !(input->is_string() || input->is_array()) || input->empty())
    return ApiError::invalid("input",
                             "'input' is not a text or a list of items.");
  if (input->is_string())
    messages.push_back({{"role", "user"}, {"content", *input}});
  for (size_t i = 0; input->is_array() && i < input->size(); ++i)
    GIST_SERVE_TRY(
        translateItem((*input)[i], "input[" + std::to_string(i) + "]", result));
  return {};
}

/// `function` and what belongs to it: {"type": "function", …} of chats has the
/// fields of a function in an object of their own.
static Json nestFunction(const Json &flat) {
  Json function = flat;
  function.erase("type");
  return {{"type", "function"}, {"function", std::move(function)}};
}

static bool isFunction(const Json &value) {
  return value.is_object() && value.contains("type") &&
         value["type"] == "function";
}

static ApiError translateTools(Fields &fields, Json &chat) {
  const Json *choice = fields.find("tool_choice");
  if (choice)
    chat["tool_choice"] = isFunction(*choice) ? nestFunction(*choice) : *choice;
  const Json *tools = fields.find("tools");
  if (!tools)
    return {};
  chat["tools"] = *tools;
  for (size_t i = 0; tools->is_array() && i < tools->size(); ++i) {
    std::string where = "tools[" + std::to_string(i) + "]";
    if (!isFunction((*tools)[i]))
      return ApiError::unsupported(
          where, "'" + where +
                     "' is not of type 'function': this server has "
                     "no tools of its own.");
    chat["tools"][i] = nestFunction((*tools)[i]);
  }
  return {};
}

/// `text.format` is the `response_format` of chats.
static ApiError translateFormat(Fields &fields, Json &chat) {
  const Json *value = fields.find("text");
  if (!value)
    return {};
  Fields text(*value, "text");
  const Json *format = text.find("format");
  text.ignore({"verbosity"});
  GIST_SERVE_TRY(text.finish());
  if (!format)
    return {};
  chat["response_format"] = *format;
  if (format->is_object() && format->contains("type") &&
      (*format)["type"] == "json_schema") {
    Json schema = *format;
    schema.erase("type");
    chat["response_format"] = {{"type", "json_schema"},
                               {"json_schema", std::move(schema)}};
  }
  return {};
}

ApiError serve::translateRequest(const Json &body, TranslatedRequest &result) {
  Fields fields(body);
  Json &chat = result.chat;
  for (const char *name : {"model",
                           "temperature",
                           "top_p",
                           "stream",
                           "stream_options",
                           "user",
                           "metadata",
                           "service_tier",
                           "safety_identifier",
                           "prompt_cache_key",
                           "prompt_cache_retention",
                           "parallel_tool_calls",
                           "store",
                           "top_k",
                           "min_p",
                           "seed",
                           "stop",
                           "stop_token_ids",
                           "presence_penalty",
                           "frequency_penalty",
                           "repetition_penalty",
                           "logit_bias",
                           "min_tokens",
                           "keep_alive"})
    if (const Json *value = fields.find(name))
      chat[name] = *value;
  if (const Json *limit = fields.find("max_output_tokens"))
    chat["max_completion_tokens"] = *limit;
  fields.refuse("previous_response_id",
                "this server keeps no answers; send the conversation as "
                "'input'");
  fields.refuse("conversation", "this server keeps no conversations");
  fields.refuse("prompt", "this server keeps no prompts");
  fields.refuse("background", "this server keeps no answers", false);
  fields.refuse("truncation", "a conversation that is too long is refused",
                "disabled");
  fields.refuse("top_logprobs", "'/v1/chat/completions' gives probabilities",
                0);
  // Of tools that a server has, and of models that were trained for them.
  fields.ignore({"include", "max_tool_calls", "reasoning"});
  result.ignored = fields.ignored();
  fields.fail(translateInput(fields, result));
  fields.fail(translateTools(fields, chat));
  fields.fail(translateFormat(fields, chat));
  result.names.insert(result.names.end(),
                      {{"messages", "input"},
                       {"max_completion_tokens", "max_output_tokens"},
                       {"response_format.json_schema", "text.format"},
                       {"response_format", "text.format"},
                       {".function", ""}});
  return fields.finish();
}

ApiError serve::translateError(const TranslatedRequest &request,
                               ApiError error) {
  for (std::string *text : {&error.param, &error.message})
    for (const auto &[name, theirs] : request.names)
      for (size_t at = 0; (at = text->find(name, at)) != std::string::npos;
           at += theirs.size())
        text->replace(at, name.size(), theirs);
  return error;
}

//===----------------------------------------------------------------------===//
// ResponseEvents
//===----------------------------------------------------------------------===//

ResponseEvents::ResponseEvents(const Json &body, const AnswerHead &head) {
  response = {{"id", makeId("resp_")},
              {"object", "response"},
              {"created_at", head.created},
              {"status", "in_progress"},
              {"model", head.model},
              {"output", Json::array()},
              {"error", nullptr},
              {"incomplete_details", nullptr},
              {"parallel_tool_calls", true},
              {"tool_choice", "auto"},
              {"tools", Json::array()},
              {"temperature", 1},
              {"top_p", 1},
              {"text", {{"format", {{"type", "text"}}}}},
              {"instructions", nullptr},
              {"max_output_tokens", nullptr},
              {"metadata", Json::object()},
              {"previous_response_id", nullptr},
              {"truncation", "disabled"},
              {"store", false},
              {"usage", nullptr}};
  for (const char *name :
       {"parallel_tool_calls", "tool_choice", "tools", "temperature", "top_p",
        "text", "instructions", "max_output_tokens", "metadata"})
    if (body.contains(name) && !body[name].is_null())
      response[name] = body[name];
}

std::string ResponseEvents::event(const char *type, Json fields) {
  Json data = {{"type", type}, {"sequence_number", eventCount++}};
  data.update(fields);
  return "event: " + std::string(type) + "\n" + streamEvent(data);
}

std::string ResponseEvents::responseEvent(const char *type) {
  return event(type, {{"response", response}});
}

Json ResponseEvents::place(bool ofText) const {
  const Json &output = response["output"];
  Json result = {{"item_id", output.back()["id"]},
                 {"output_index", output.size() - 1}};
  if (ofText)
    result["content_index"] = 0;
  return result;
}

std::string ResponseEvents::addItem(Json item) {
  Json &output = response["output"];
  output.push_back(std::move(item));
  return event("response.output_item.added",
               {{"output_index", output.size() - 1}, {"item", output.back()}});
}

std::string ResponseEvents::addText(const std::string &text) {
  std::string events;
  Json &output = response["output"];
  if (!isWriting) {
    events = addItem({{"id", makeId("msg_")},
                      {"type", "message"},
                      {"status", "in_progress"},
                      {"role", "assistant"},
                      {"content", Json::array()}});
    Json part = {{"type", "output_text"},
                 {"text", ""},
                 {"annotations", Json::array()},
                 {"logprobs", Json::array()}};
    output.back()["content"].push_back(part);
    Json fields = place(/*ofText=*/true);
    fields["part"] = std::move(part);
    events += event("response.content_part.added", std::move(fields));
    isWriting = true;
  }
  output.back()["content"][0]["text"].get_ref<std::string &>() += text;
  Json fields = place(/*ofText=*/true);
  fields["delta"] = text;
  fields["logprobs"] = Json::array();
  return events + event("response.output_text.delta", std::move(fields));
}

std::string ResponseEvents::endMessage(const char *status) {
  if (!isWriting)
    return {};
  isWriting = false;
  Json &item = response["output"].back();
  item["status"] = status;
  const Json &part = item["content"][0];
  Json fields = place(/*ofText=*/true);
  fields["text"] = part["text"];
  fields["logprobs"] = Json::array();
  std::string events = event("response.output_text.done", std::move(fields));
  fields = place(/*ofText=*/true);
  fields["part"] = part;
  events += event("response.content_part.done", std::move(fields));
  return events + event("response.output_item.done",
                        {{"output_index", response["output"].size() - 1},
                         {"item", item}});
}

std::string ResponseEvents::addCall(const Json &call) {
  const Json &function = call["function"];
  std::string events = endMessage("completed");
  events += addItem({{"id", makeId("fc_")},
                     {"type", "function_call"},
                     {"status", "in_progress"},
                     {"call_id", call["id"]},
                     {"name", function["name"]},
                     {"arguments", ""}});
  Json &item = response["output"].back();
  item["status"] = "completed";
  item["arguments"] = function["arguments"];
  Json fields = place(/*ofText=*/false);
  fields["delta"] = item["arguments"];
  events += event("response.function_call_arguments.delta", std::move(fields));
  fields = place(/*ofText=*/false);
  fields["name"] = item["name"];
  fields["arguments"] = item["arguments"];
  events += event("response.function_call_arguments.done", std::move(fields));
  return events + event("response.output_item.done",
                        {{"output_index", response["output"].size() - 1},
                         {"item", item}});
}

std::string ResponseEvents::add(const Json &choice) {
  std::string events;
  if (eventCount == 0)
    events = responseEvent("response.created") +
             responseEvent("response.in_progress");
  isTooLong = choice["finish_reason"] == "length";
  const Json &message =
      choice.contains("delta") ? choice["delta"] : choice["message"];
  if (message.contains("content") && message["content"].is_string() &&
      message["content"] != "")
    events += addText(message["content"].get_ref<const std::string &>());
  if (message.contains("tool_calls"))
    for (const Json &call : message["tool_calls"])
      events += addCall(call);
  return events;
}

std::string ResponseEvents::finish(const Usage &usage) {
  std::string events;
  const char *status = isTooLong ? "incomplete" : "completed";
  // An answer without any text is a message too.
  if (response["output"].empty())
    events = addText("");
  events += endMessage(status);
  response["status"] = status;
  if (isTooLong)
    response["incomplete_details"] = {{"reason", "max_output_tokens"}};
  // What was kept of a prompt is not counted by request.
  response["usage"] = {
      {"input_tokens", usage.promptTokens},
      {"input_tokens_details",
       {{"cached_tokens", 0}, {"cache_write_tokens", 0}}},
      {"output_tokens", usage.writtenTokens},
      {"output_tokens_details", {{"reasoning_tokens", 0}}},
      {"total_tokens", usage.promptTokens + usage.writtenTokens}};
  return events + responseEvent(isTooLong ? "response.incomplete"
                                          : "response.completed");
}

std::string ResponseEvents::fail(const ApiError &error) {
  response["status"] = "failed";
  response["error"] = {{"code", "server_error"}, {"message", error.message}};
  return responseEvent("response.failed");
}
