//===- Tools.cpp - Functions that a model may ask for ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Tools.h"

#include "runtime/grammar/JsonSchema.h"

#include <algorithm>

using namespace gist;
using namespace gist::serve;

static constexpr std::string_view kCallOpen = "<tool_call>",
                                  kCallClose = "</tool_call>";
static constexpr std::string_view kSpace = " \t\r\n";
static constexpr size_t kMaxToolName = 64;

bool ToolSet::has(std::string_view name) const {
  return std::any_of(tools.begin(), tools.end(), [&](const Json &tool) {
    return tool["function"]["name"].get_ref<const std::string &>() == name;
  });
}

static bool isToolName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxToolName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

/// One tool, without what templates are not meant to show.
static ApiError readTool(const Json &value, const std::string &where,
                         Json &result) {
  Fields fields(value, where);
  std::string type = fields.text("type").value_or("");
  const Json *function = fields.find("function");
  GIST_SERVE_TRY(fields.finish());
  if (type != "function" || !function)
    return ApiError::unsupported(
        where, "'" + where + "' is not of type 'function' with a 'function'.");
  std::string inner = where + ".function";
  Fields parts(*function, inner);
  std::string name = parts.text("name").value_or("");
  auto description = parts.text("description");
  const Json *parameters = parts.find("parameters");
  // A call that is forced is always strict, and another one never.
  parts.ignore({"strict"});
  GIST_SERVE_TRY(parts.finish());
  if (!isToolName(name))
    return ApiError::invalid(inner + ".name",
                             "'" + inner + ".name' is not 1 to " +
                                 std::to_string(kMaxToolName) +
                                 " letters, digits, '_' and '-'.");
  if (parameters && !parameters->is_object())
    return ApiError::invalid(inner + ".parameters",
                             "'" + inner + ".parameters' is not an object.");
  Json kept = {{"name", name}};
  if (description)
    kept["description"] = *description;
  kept["parameters"] =
      parameters ? *parameters
                 : Json{{"type", "object"}, {"properties", Json::object()}};
  result = {{"type", "function"}, {"function", std::move(kept)}};
  return {};
}

/// "none", "auto", "required", or an object that names a function.
static ApiError readChoice(const Json &value, ToolSet &result) {
  const char *name = "tool_choice";
  if (value.is_object()) {
    Fields fields(value, name);
    std::string type = fields.text("type").value_or("");
    const Json *function = fields.find("function");
    GIST_SERVE_TRY(fields.finish());
    if (type == "function" && function) {
      Fields parts(*function, "tool_choice.function");
      result.only = parts.text("name").value_or("");
      GIST_SERVE_TRY(parts.finish());
      if (!result.has(result.only))
        return ApiError::invalid(name, "'tool_choice' names '" + result.only +
                                           "', which is not in 'tools'.");
      result.isForced = true;
      return {};
    }
  } else if (value == "required") {
    if (result.empty())
      return ApiError::invalid(name, "'tool_choice' needs 'tools'.");
    result.isForced = true;
    return {};
  } else if (value == "none") {
    result.tools.clear();
    return {};
  } else if (value == "auto") {
    return {};
  }
  return ApiError::invalid(name, "'tool_choice' is not 'none', 'auto', "
                                 "'required' or a function of 'tools'.");
}

ApiError serve::readTools(Fields &fields, ToolSet &result) {
  const Json *list = fields.find("tools");
  const Json *choice = fields.find("tool_choice");
  if (list && (!list->is_array() || list->size() > kMaxTools))
    return ApiError::invalid("tools", "'tools' is not a list of at most " +
                                          std::to_string(kMaxTools) +
                                          " tools.");
  for (size_t i = 0; list && i < list->size(); ++i) {
    Json tool;
    GIST_SERVE_TRY(
        readTool((*list)[i], "tools[" + std::to_string(i) + "]", tool));
    result.tools.push_back(std::move(tool));
  }
  return choice ? readChoice(*choice, result) : ApiError();
}

ApiError serve::readToolCalls(const Json &value, const std::string &where,
                              Json &result) {
  if (!value.is_array() || value.size() > kMaxTools)
    return ApiError::invalid(where, "'" + where + "' is not a list of calls.");
  result = Json::array();
  for (size_t i = 0; i < value.size(); ++i) {
    std::string name = where + "[" + std::to_string(i) + "]";
    Fields call(value[i], name);
    std::string id = call.text("id").value_or("");
    std::string type = call.text("type").value_or("function");
    const Json *function = call.find("function");
    call.ignore({"index"});
    GIST_SERVE_TRY(call.finish());
    if (type != "function" || !function)
      return ApiError::invalid(name,
                               "'" + name + "' is not a call of a function.");
    Fields parts(*function, name + ".function");
    std::string tool = parts.text("name").value_or("");
    std::string text = parts.text("arguments").value_or("{}");
    GIST_SERVE_TRY(parts.finish());
    // A text that is not JSON is what a model wrote: it stays a text.
    Json arguments = text;
    (void)parseJson(text, arguments);
    result.push_back(
        {{"id", id},
         {"type", "function"},
         {"function", {{"name", tool}, {"arguments", arguments}}}});
  }
  return {};
}

ApiError serve::checkToolTemplate(std::string_view chatTemplate) {
  if (chatTemplate.find(kCallOpen) != std::string_view::npos &&
      chatTemplate.find("tools") != std::string_view::npos)
    return {};
  return ApiError::unsupported(
      "tools", "The model's chat template has no tools in the form of "
               "<tool_call>; expected one of Qwen2.5 or a model like it.");
}

ApiError serve::makeToolGrammar(const ToolSet &tools, Grammar &result) {
  Grammar grammar;
  std::vector<Grammar::Id> calls;
  for (size_t i = 0; i < tools.tools.size(); ++i) {
    const Json &tool = tools.tools[i]["function"];
    const auto &name = tool["name"].get_ref<const std::string &>();
    if (!tools.only.empty() && name != tools.only)
      continue;
    // Arguments are an object, whether the schema says so or not.
    Json schema = tool["parameters"];
    if (!schema.contains("type"))
      schema["type"] = "object";
    Grammar::Id arguments = 0;
    if (Status status = addJsonSchema(schema, grammar, arguments); !status.ok())
      return ApiError::invalid(
          "tools", "'tools[" + std::to_string(i) +
                       "].function.parameters': " + status.text + ".");
    calls.push_back(grammar.sequence(
        {grammar.literal("{\"name\": \"" + name + "\", \"arguments\": "),
         arguments, grammar.literal("}")}));
  }
  grammar.root = grammar.addRule();
  grammar.setRule(
      grammar.root,
      grammar.sequence({grammar.literal(std::string(kCallOpen) + "\n"),
                        grammar.choice(std::move(calls)),
                        grammar.literal("\n" + std::string(kCallClose))}));
  result = std::move(grammar);
  return {};
}

//===----------------------------------------------------------------------===//
// ToolCallReader
//===----------------------------------------------------------------------===//

bool ToolCallReader::readCall(std::string_view body,
                              std::vector<ToolCall> &calls) const {
  Json call;
  if (!parseJson(body, call).ok() || !call.is_object() ||
      !call.contains("name") || !call["name"].is_string())
    return false;
  const auto &name = call["name"].get_ref<const std::string &>();
  Json arguments = call.value("arguments", Json::object());
  if (!tools.has(name) || !arguments.is_object())
    return false;
  calls.push_back({name, writeJson(arguments)});
  return true;
}

void ToolCallReader::give(std::string_view text, std::string &result) {
  if (isBehind)
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  isBehind = isBehind && text.empty();
  hasBegun = hasBegun || !text.empty();
  result += text;
}

/// How many bytes at the end of `text` may be the beginning of a call.
static size_t maybeOpens(std::string_view text) {
  size_t most = std::min(text.size(), kCallOpen.size() - 1);
  for (size_t length = most; length > 0; --length)
    if (text.ends_with(kCallOpen.substr(0, length)))
      return length;
  return 0;
}

bool ToolCallReader::mayBeBareCall() const {
  size_t first = held.find_first_not_of(kSpace);
  return !hasBegun && (first == std::string::npos || held[first] == '{');
}

std::string ToolCallReader::push(std::string_view text,
                                 std::vector<ToolCall> &calls) {
  std::string result;
  // What was held before has no end of a call in it.
  size_t from = held.size() - std::min(held.size(), kCallClose.size());
  held += text;
  while (true) {
    size_t at = held.find(isInside ? kCallClose : kCallOpen, from);
    from = 0;
    if (at == std::string::npos)
      break;
    std::string before = held.substr(0, at);
    held.erase(0, at + (isInside ? kCallClose : kCallOpen).size());
    if (!isInside) {
      give(before, result);
    } else if (readCall(before, calls)) {
      isBehind = hasBegun = true;
    } else {
      give(std::string(kCallOpen) + before + std::string(kCallClose), result);
    }
    isInside = !isInside;
  }
  if (isInside || mayBeBareCall())
    return result;
  size_t certain = held.size() - maybeOpens(held);
  give(std::string_view(held).substr(0, certain), result);
  held.erase(0, certain);
  return result;
}

std::string ToolCallReader::finish(std::vector<ToolCall> &calls) {
  std::string result;
  // A model may end its text in place of the call.
  if (!(isInside || mayBeBareCall()) || !readCall(held, calls))
    give((isInside ? std::string(kCallOpen) : std::string()) + held, result);
  held.clear();
  isInside = false;
  return result;
}
