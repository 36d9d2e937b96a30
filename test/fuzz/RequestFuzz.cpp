//===- RequestFuzz.cpp - Any bytes as a request to gist-serve -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Requests.h"
#include "tools/serving/Responses.h"
#include "tools/serving/ResponsesApi.h"

using namespace gist::serve;

/// What is refused is refused in words that can be sent.
static void check(const ApiError &error) {
  if (error.ok())
    return;
  if (error.status != 400 || error.message.empty() ||
      writeJson(errorBody(error)).size() > (size_t{1} << 14))
    __builtin_trap();
}

/// An answer that comes in pieces has the text and the calls of a whole one,
/// and its calls are of tools that there are.
static void checkToolCalls(const ToolSet &tools, std::string_view answer) {
  std::string texts[2];
  std::vector<ToolCall> calls[2];
  for (size_t i : {0, 1}) {
    ToolCallReader reader(tools);
    size_t size = i == 0 ? answer.size() : 1 + answer.size() % 5;
    for (size_t at = 0; at < answer.size(); at += size)
      texts[i] += reader.push(answer.substr(at, size), calls[i]);
    texts[i] += reader.finish(calls[i]);
  }
  if (texts[0] != texts[1] || calls[0].size() != calls[1].size())
    __builtin_trap();
  for (size_t i = 0; i < calls[0].size(); ++i) {
    Json arguments;
    const ToolCall &call = calls[0][i];
    if (call.name != calls[1][i].name ||
        call.arguments != calls[1][i].arguments || !tools.has(call.name) ||
        !parseJson(call.arguments, arguments).ok() || !arguments.is_object())
      __builtin_trap();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Json body;
  ApiError error =
      parseJson({reinterpret_cast<const char *>(data), size}, body);
  check(error);
  if (!error.ok())
    return 0;
  ChatRequest chat;
  error = readChat(body, chat);
  check(error);
  gist::Grammar grammar;
  if (error.ok() && chat.tools.isForced)
    check(makeToolGrammar(chat.tools, grammar));
  if (error.ok() && !chat.tools.empty())
    for (const gist::ChatMessage &message : chat.messages)
      checkToolCalls(chat.tools, message.content);
  CompletionRequest completion;
  check(readCompletion(body, completion));
  EmbeddingRequest embedding;
  check(readEmbedding(body, embedding));
  RerankRequest rerank;
  check(readRerank(body, rerank));
  TranslatedRequest translated;
  error = translateRequest(body, translated);
  check(error);
  if (error.ok()) {
    ChatRequest translatedChat;
    check(
        translateError(translated, readChat(translated.chat, translatedChat)));
    ResponseEvents events(body, {});
    (void)writeJson(events.whole());
  }
  TokenizeRequest tokenize;
  check(readTokenize(body, tokenize));
  DetokenizeRequest detokenize;
  check(readDetokenize(body, detokenize));
  return 0;
}
