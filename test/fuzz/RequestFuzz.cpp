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
