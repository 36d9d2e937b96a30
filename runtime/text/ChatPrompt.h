//===- ChatPrompt.h - The tokens of a conversation --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_CHATPROMPT_H
#define GIST_RUNTIME_TEXT_CHATPROMPT_H

#include "runtime/text/ChatTemplate.h"
#include "runtime/text/Tokenizer.h"

#include <span>
#include <vector>

namespace gist {

/// A conversation as the model wants it; with `addGenerationPrompt`, ready for
/// an answer. `tools` is ChatOptions::tools. What users typed cannot contain
/// special tokens; what the template wrote can. On error `tokens` is left as it
/// was.
Status encodeChat(const Tokenizer &tokenizer,
                  std::span<const ChatMessage> messages,
                  std::vector<int32_t> &tokens, bool addGenerationPrompt = true,
                  std::string_view tools = {});

} // namespace gist

#endif // GIST_RUNTIME_TEXT_CHATPROMPT_H
