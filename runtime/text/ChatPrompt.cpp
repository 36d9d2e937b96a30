//===- ChatPrompt.cpp - The tokens of a conversation ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chat template is text, and what a user typed goes into it as text. If a
// user types "<|im_end|>", the rendered prompt must not end the turn there. The
// messages are therefore marked before they are rendered, and the marked parts
// are encoded without special tokens afterwards.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatPrompt.h"

#include <algorithm>

using namespace gist;

/// Noncharacters of Unicode, which no text contains: the text between them is
/// what a user typed that looks like a special token.
static constexpr std::string_view kOpen = "\uFDD0";
static constexpr std::string_view kClose = "\uFDD1";

/// Marks every special token in a user's text.
/// The longest match counts, as it does in Tokenizer::encode.
static std::string markSpecial(const Tokenizer &tokenizer,
                               std::string_view content) {
  std::string marked;
  for (size_t at = 0; at < content.size();) {
    size_t length = 0;
    for (const AddedToken &token : tokenizer.spec().added)
      if (token.special &&
          content.compare(at, token.text.size(), token.text) == 0)
        length = std::max(length, token.text.size());
    if (length != 0)
      marked.append(kOpen).append(content, at, length).append(kClose);
    else
      marked += content[at];
    at += std::max<size_t>(length, 1);
  }
  return marked;
}

Status gist::encodeChat(const Tokenizer &tokenizer,
                        std::span<const ChatMessage> messages,
                        std::vector<int32_t> &tokens, bool addGenerationPrompt,
                        std::string_view tools) {
  const TokenizerSpec &spec = tokenizer.spec();
  if (spec.chatTemplate.empty())
    return Status::error(Code::NotFound, "the model has no chat template");
  ChatTemplate chatTemplate;
  GIST_TRY(
      ChatTemplate::parse(spec.chatTemplate, chatTemplate).in("chat template"));
  std::vector<ChatMessage> marked;
  marked.reserve(messages.size());
  for (const ChatMessage &message : messages)
    marked.push_back({message.role, markSpecial(tokenizer, message.content),
                      markSpecial(tokenizer, message.toolCalls)});
  ChatOptions options;
  options.addGenerationPrompt = addGenerationPrompt;
  options.bosToken = tokenizer.tokenText(spec.bos);
  options.eosToken = tokenizer.tokenText(spec.eos);
  options.tools = markSpecial(tokenizer, tools);
  std::string text;
  GIST_TRY(chatTemplate.render(marked, options, text).in("chat template"));

  // The template writes BOS itself where the model wants one.
  std::string_view rest = text;
  std::vector<int32_t> ids;
  while (true) {
    size_t open = rest.find(kOpen);
    // Only the first part begins the text.
    bool continues = rest.data() != text.data();
    tokenizer.encode(rest.substr(0, open), ids,
                     {.addSpecial = false,
                      .parseSpecial = true,
                      .continuesText = continues});
    if (open == std::string_view::npos)
      break;
    rest.remove_prefix(open + kOpen.size());
    size_t close = rest.find(kClose);
    continues = rest.data() != text.data() + kOpen.size();
    tokenizer.encode(rest.substr(0, close), ids,
                     {.addSpecial = false,
                      .parseSpecial = false,
                      .continuesText = continues});
    rest.remove_prefix(close == std::string_view::npos ? rest.size()
                                                       : close + kClose.size());
  }
  tokens = std::move(ids);
  return {};
}
