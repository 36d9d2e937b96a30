//===- ChatTemplate.h - Chat messages to a prompt ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models carry the format of their conversations as a Jinja template. This is
// an interpreter for the part of Jinja that such templates use, with the
// settings of the library `transformers` (trim_blocks, lstrip_blocks). A
// template comes out of a file, so steps, depth and output are bounded, and
// nothing outside the given context can be reached.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_CHATTEMPLATE_H
#define GIST_RUNTIME_TEXT_CHATTEMPLATE_H

#include "runtime/support/Status.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gist {

struct ChatMessage {
  std::string role; ///< "system", "user", "assistant" or "tool".
  std::string content;
  /// Functions that the assistant asked for, as a list in JSON; empty: none.
  std::string toolCalls = {};
};

struct ChatOptions {
  /// End with the beginning of the assistant's answer.
  bool addGenerationPrompt = true;
  std::string bosToken; ///< The text of the model's BOS token, if it has one.
  std::string eosToken;
  /// Functions that the assistant may ask for, as a list in JSON; empty: none.
  std::string tools = {};
};

class ChatTemplate {
public:
  ChatTemplate();
  ~ChatTemplate();
  ChatTemplate(ChatTemplate &&) noexcept;
  ChatTemplate &operator=(ChatTemplate &&) noexcept;

  /// Parses a template. On error `result` is left as it was; the text names
  /// line and column.
  static Status parse(std::string_view text, ChatTemplate &result);

  /// The prompt for a conversation. On error `out` is left as it was.
  Status render(std::span<const ChatMessage> messages,
                const ChatOptions &options, std::string &out) const;

  /// The same with any variables: a JSON object.
  Status render(std::string_view contextJson, std::string &out) const;

  // Limits of a template.
  static constexpr size_t kMaxSteps = 1 << 21;
  static constexpr size_t kMaxOutput = 1 << 24;
  static constexpr int kMaxDepth = 100;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace gist

#endif // GIST_RUNTIME_TEXT_CHATTEMPLATE_H
