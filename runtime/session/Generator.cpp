//===- Generator.cpp - A prompt in, text out ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Generator.h"

#include <algorithm>

using namespace gist;

Status gist::loadTokenizer(const Module &module, Tokenizer &tokenizer) {
  if (module.tokenizer().size == 0)
    return Status::error(Code::NotFound, "the module has no tokenizer");
  TokenizerSpec spec;
  GIST_TRY(TokenizerSpec::deserialize(module.tokenizer(), spec)
               .in("tokenizer section"));
  // A larger vocabulary in the model is padding; a larger one here would give
  // ids that the model has no row for.
  auto modelSize = static_cast<uint64_t>(module.spec().model.vocabSize);
  if (spec.vocab.size() > modelSize)
    return Status::error(
        Code::BadFile,
        "the tokenizer has %zu tokens, but the model has %" PRIu64,
        spec.vocab.size(), modelSize);
  return Tokenizer::create(std::move(spec), tokenizer);
}

const char *gist::toString(FinishReason reason) {
  switch (reason) {
  case FinishReason::EndToken:
    return "end token";
  case FinishReason::StopString:
    return "stop string";
  case FinishReason::MaxTokens:
    return "token limit";
  case FinishReason::ContextFull:
    return "context full";
  case FinishReason::Cancelled:
    return "cancelled";
  }
  return "";
}

namespace {
/// Turns tokens into text, looks for stop strings, and hands the rest on.
class TextOutput {
public:
  TextOutput(const Tokenizer &tokenizer, const GenerateOptions &options,
             const TokenSink &sink, std::string &text)
      : decoder(tokenizer, !options.showSpecial), stops(options.stops),
        sink(sink), text(text) {}

  void push(int32_t token) { give(token, stops.push(decoder.push(token))); }

  /// A token that ends the text and has none of its own.
  void pushEnd(int32_t token) { give(token, {}); }

  void finish() {
    // Bytes of a character that was cut off become text here, and may still
    // complete a stop string.
    std::string rest;
    if (!stops.stopped())
      rest = stops.push(decoder.finish());
    if (!stops.stopped())
      rest += stops.finish();
    if (!rest.empty())
      give(-1, rest);
  }

  bool stopped() const { return stops.stopped(); }
  bool cancelled() const { return refused; }

private:
  /// Also called with empty text: whoever wants tokens gets every one.
  void give(int32_t token, const std::string &piece) {
    if (refused)
      return;
    text += piece;
    refused = sink && !sink(token, piece);
  }

  StreamDecoder decoder;
  StopMatcher stops;
  const TokenSink &sink;
  std::string &text;
  bool refused = false;
};
} // namespace

static bool isEnd(const Session &session, const Tokenizer &tokenizer,
                  int32_t token) {
  const std::vector<int64_t> &stops = session.module().spec().model.stopTokens;
  return tokenizer.isStop(token) ||
         std::find(stops.begin(), stops.end(), token) != stops.end();
}

Status gist::checkGenerates(const Session &session) {
  if (session.hasEntry(kEntryPrefill) || !session.hasEntry(kEntryEmbed))
    return {};
  return Status::error(Code::Unsupported,
                       "the module is an encoder, which cannot write text; "
                       "'embed' turns texts into vectors");
}

/// Draws the first token: after the prompt, or after what was fed last.
static Status drawFirst(Session &session, std::span<const int32_t> prompt,
                        Sampler &sampler, int32_t &token) {
  // feed() has left logits, so nothing has to run again.
  if (prompt.empty() && !session.logits().empty())
    return sampler.sample(session.logits(), token);
  return session.next(prompt, sampler, token);
}

Status gist::generate(Session &session, const Tokenizer &tokenizer,
                      std::span<const int32_t> prompt,
                      const GenerateOptions &options, const TextSink &sink,
                      GenerateResult &result) {
  TokenSink textOnly;
  if (sink)
    textOnly = [&](int32_t, std::string_view text) {
      return text.empty() || sink(text);
    };
  return generateTokens(session, tokenizer, prompt, options, textOnly, result);
}

Status gist::generateTokens(Session &session, const Tokenizer &tokenizer,
                            std::span<const int32_t> prompt,
                            const GenerateOptions &options,
                            const TokenSink &sink, GenerateResult &result) {
  result = {};
  GIST_TRY(checkGenerates(session));
  Sampler sampler;
  GIST_TRY(Sampler::create(options.sampler, sampler));
  sampler.see(options.before);
  if (options.maxTokens < 0)
    return Status::error(Code::BadArgument,
                         "the number of tokens cannot be negative");
  int64_t start = Profile::now();
  int32_t token = 0;
  GIST_TRY(drawFirst(session, prompt, sampler, token));
  result.promptTokens = prompt.size();
  int64_t decodeStart = Profile::now();
  result.promptNanoseconds = decodeStart - start;

  TextOutput output(tokenizer, options, sink, result.text);
  while (true) {
    result.tokens.push_back(token);
    if (!options.ignoreEnd && isEnd(session, tokenizer, token)) {
      output.pushEnd(token);
      result.reason = FinishReason::EndToken;
      break;
    }
    output.push(token);
    if (output.stopped()) {
      result.reason = FinishReason::StopString;
      break;
    }
    if (output.cancelled()) {
      result.reason = FinishReason::Cancelled;
      break;
    }
    if (options.maxTokens != 0 &&
        static_cast<int64_t>(result.tokens.size()) >= options.maxTokens) {
      result.reason = FinishReason::MaxTokens;
      break;
    }
    // The token just drawn has no place any more.
    if (session.position() == session.capacity()) {
      result.reason = FinishReason::ContextFull;
      break;
    }
    GIST_TRY(session.next({&token, 1}, sampler, token));
    ++result.decodedTokens;
  }
  // Text that was held back in case a stop string would come.
  output.finish();
  result.decodeNanoseconds = Profile::now() - decodeStart;
  if (options.feedLast && session.position() < session.capacity())
    GIST_TRY(session.feed({&token, 1}));
  return {};
}
