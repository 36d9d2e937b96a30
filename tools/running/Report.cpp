//===- Report.cpp - What generate and chat tell about a run ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Report.h"

#include <algorithm>

using namespace gist;
using namespace gist::run;

void run::printStatistics(const Runner &runner, size_t promptTokens,
                          const GenerateResult &result) {
  auto rate = [](double tokens, int64_t nanoseconds) {
    return nanoseconds > 0 ? tokens / (static_cast<double>(nanoseconds) / 1e9)
                           : 0.0;
  };
  auto milliseconds = [](int64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e6;
  };
  std::fprintf(stderr, "load:     %10.1f ms\n", runner.loadSeconds * 1e3);
  std::fprintf(
      stderr, "prompt:   %10.1f ms, %6zu tokens, %9.2f tokens/s\n",
      milliseconds(result.promptNanoseconds), promptTokens,
      rate(static_cast<double>(promptTokens), result.promptNanoseconds));
  std::fprintf(stderr, "decode:   %10.1f ms, %6lld tokens, %9.2f tokens/s\n",
               milliseconds(result.decodeNanoseconds),
               static_cast<long long>(result.decodedTokens),
               rate(static_cast<double>(result.decodedTokens),
                    result.decodeNanoseconds));
  std::fprintf(stderr, "finish:   %s after %zu tokens\n",
               toString(result.reason), result.tokens.size());
  MemoryUse use = runner.session->memoryUse();
  std::fprintf(stderr,
               "memory:   weights %s, state %s for %lld tokens, scratch %s, "
               "input and output %s, peak resident %s\n",
               sizeText(use.weights).c_str(), sizeText(use.state).c_str(),
               static_cast<long long>(runner.session->capacity()),
               sizeText(use.arena).c_str(), sizeText(use.io).c_str(),
               sizeText(peakMemory()).c_str());
}

/// Noncharacters of Unicode, which no text contains: the text between them is
/// what a user typed that looks like a special token.
static constexpr std::string_view kOpen = "\uFDD0";
static constexpr std::string_view kClose = "\uFDD1";

/// Marks every special token in a user's text.
static std::string markSpecial(const Tokenizer &tokenizer,
                               const std::string &content) {
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

Status run::encodeChat(const Tokenizer &tokenizer,
                       const std::vector<ChatMessage> &messages,
                       std::vector<int32_t> &tokens) {
  const TokenizerSpec &spec = tokenizer.spec();
  if (spec.chatTemplate.empty())
    return Status::error(Code::NotFound, "the model has no chat template");
  ChatTemplate chatTemplate;
  GIST_TRY(
      ChatTemplate::parse(spec.chatTemplate, chatTemplate).in("chat template"));
  std::vector<ChatMessage> marked;
  marked.reserve(messages.size());
  for (const ChatMessage &message : messages)
    marked.push_back({message.role, markSpecial(tokenizer, message.content)});
  ChatOptions options;
  options.bosToken = tokenizer.tokenText(spec.bos);
  options.eosToken = tokenizer.tokenText(spec.eos);
  std::string text;
  GIST_TRY(chatTemplate.render(marked, options, text).in("chat template"));

  // The template writes BOS itself where the model wants one.
  std::string_view rest = text;
  std::vector<int32_t> ids;
  while (true) {
    size_t open = rest.find(kOpen);
    tokenizer.encode(rest.substr(0, open), ids,
                     {.addSpecial = false, .parseSpecial = true});
    if (open == std::string_view::npos)
      break;
    rest.remove_prefix(open + kOpen.size());
    size_t close = rest.find(kClose);
    tokenizer.encode(rest.substr(0, close), ids,
                     {.addSpecial = false, .parseSpecial = false});
    rest.remove_prefix(close == std::string_view::npos ? rest.size()
                                                       : close + kClose.size());
  }
  tokens = std::move(ids);
  return {};
}
