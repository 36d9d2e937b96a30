//===- ChatTemplateFuzz.cpp - Any bytes as a chat template ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplate.h"

using namespace gist;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ChatTemplate chat;
  if (!ChatTemplate::parse({reinterpret_cast<const char *>(data), size}, chat)
           .ok())
    return 0;
  const ChatMessage messages[] = {{"system", "Be brief."},
                                  {"user", "  What is\n\t2 + 2? \xff"},
                                  {"assistant", ""},
                                  {"user", "Grüße, 世界"}};
  ChatOptions options;
  options.bosToken = "<s>";
  options.eosToken = "</s>";
  std::string text;
  (void)chat.render(messages, options, text).ok();
  return 0;
}
