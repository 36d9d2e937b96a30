//===- ChatTemplate.cpp - Chat messages to a prompt -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplate.h"

#include "runtime/text/ChatTemplateEval.h"
#include "runtime/text/ChatTemplateSyntax.h"
#include "runtime/text/ChatTemplateValue.h"

#include <utility>

using namespace gist;
using chat::Value;

/// The tree keeps offsets into `source` for its errors, so both live together.
struct ChatTemplate::Impl {
  std::string source;
  chat::Block block;

  Status render(const Value &context, std::string &out) const {
    return chat::Interpreter(source, context).run(block, out);
  }
};

ChatTemplate::ChatTemplate() : impl(std::make_unique<Impl>()) {}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate &&) noexcept = default;
ChatTemplate &ChatTemplate::operator=(ChatTemplate &&) noexcept = default;

Status ChatTemplate::parse(std::string_view text, ChatTemplate &result) {
  ChatTemplate parsed;
  parsed.impl->source = chat::normalizeNewlines(text);
  std::string_view source = parsed.impl->source;
  std::vector<chat::Token> tokens;
  GIST_TRY(chat::lexTemplate(source, tokens));
  GIST_TRY(chat::parseTemplate(source, std::move(tokens), parsed.impl->block));
  result = std::move(parsed);
  return {};
}

Status ChatTemplate::render(std::span<const ChatMessage> messages,
                            const ChatOptions &options,
                            std::string &out) const {
  // The names are those that Hugging Face gives its templates. `tools` and
  // `documents` are none, not undefined: templates ask `if tools is not none`.
  chat::List list(messages.size());
  for (size_t i = 0; i < list.size(); ++i) {
    chat::Dict message = {{"role", Value::string(messages[i].role)},
                          {"content", Value::string(messages[i].content)}};
    if (!messages[i].toolCalls.empty())
      GIST_TRY(
          Value::fromJson(messages[i].toolCalls,
                          message.emplace_back("tool_calls", Value()).second)
              .in("tool calls"));
    GIST_TRY(Value::dict(std::move(message), list[i]));
  }
  Value conversation, context, tools = Value::none();
  if (!options.tools.empty())
    GIST_TRY(Value::fromJson(options.tools, tools).in("tools"));
  GIST_TRY(Value::list(std::move(list), conversation));
  GIST_TRY(Value::dict(
      {{"messages", std::move(conversation)},
       {"tools", std::move(tools)},
       {"documents", Value::none()},
       {"add_generation_prompt", Value::boolean(options.addGenerationPrompt)},
       {"bos_token", Value::string(options.bosToken)},
       {"eos_token", Value::string(options.eosToken)}},
      context));
  return impl->render(context, out);
}

Status ChatTemplate::render(std::string_view contextJson,
                            std::string &out) const {
  Value context;
  GIST_TRY(Value::fromJson(contextJson, context));
  if (!context.is(Value::Kind::Dict))
    return Status::error(Code::BadArgument, "the context is not a JSON object");
  return impl->render(context, out);
}
