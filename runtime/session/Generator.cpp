//===- Generator.cpp - A prompt in, text out ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Generator.h"

#include "runtime/support/OutOfMemory.h"

#include <algorithm>

using namespace gist;

Status gist::loadTokenizer(const Module &module, Tokenizer &tokenizer) try {
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
GIST_CATCH_OUT_OF_MEMORY

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

std::vector<int32_t> gist::endTokensOf(const Module &module,
                                       const Tokenizer &tokenizer) {
  std::vector<int32_t> tokens;
  for (int64_t token : module.spec().model.stopTokens)
    tokens.push_back(static_cast<int32_t>(token));
  for (size_t i = 0; i < tokenizer.vocabSize(); ++i)
    if (tokenizer.isStop(static_cast<int32_t>(i)))
      tokens.push_back(static_cast<int32_t>(i));
  return tokens;
}

Status gist::checkGenerates(const Module &module) {
  auto hasEntry = [&](std::string_view name) {
    return std::ranges::any_of(
        module.spec().entries,
        [&](const EntrySpec &entry) { return entry.name == name; });
  };
  if (hasEntry(kEntryPrefill))
    return {};
  if (hasEntry(kEntryEmbed))
    return Status::error(Code::Unsupported,
                         "the module is an encoder, which cannot write text; "
                         "'embed' turns texts into vectors");
  return Status::error(Code::Unsupported,
                       "the module cannot write text, which needs an entry "
                       "'prefill'; 'info' lists the entries that it has, and "
                       "'call' runs one");
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

Status TokenStream::begin(Session &session, const Tokenizer &tokenizer,
                          std::span<const int32_t> prompt,
                          const GenerateOptions &options,
                          std::unique_ptr<TokenStream> &result) try {
  GIST_TRY(checkGenerates(session.module()));
  if (options.maxTokens < 0)
    return Status::error(Code::BadArgument,
                         "the number of tokens cannot be negative");
  std::unique_ptr<TokenStream> stream(
      new TokenStream(session, tokenizer, prompt, options));
  std::vector<int32_t> &ends = stream->options.sampler.endTokens;
  ends = options.stopTokens;
  if (!options.ignoreEnd)
    for (int32_t token : endTokensOf(session.module(), tokenizer))
      ends.push_back(token);
  GIST_TRY(stream->useGrammar());
  GIST_TRY(Sampler::create(stream->options.sampler, stream->sampler));
  stream->sampler.see(options.before);
  stream->sampler.see(prompt);
  if (options.drafter)
    GIST_TRY(DraftVerifier::create(session, options.drafter,
                                   stream->options.sampler, options.draftTokens,
                                   stream->verifier));
  stream->text = options.before;
  stream->text.insert(stream->text.end(), prompt.begin(), prompt.end());
  result = std::move(stream);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

/// The grammar for the tokens of this model.
Status TokenStream::useGrammar() {
  if (!options.grammar)
    return {};
  std::shared_ptr<const TokenTrie> trie = options.trie;
  if (!trie)
    trie = std::make_shared<const TokenTrie>(tokenizer);
  return TokenGrammar::create(*options.grammar, tokenizer, std::move(trie),
                              endTokensOf(session.module(), tokenizer),
                              !continuesText(), options.sampler.grammar);
}

bool TokenStream::continuesText() const {
  // A text also begins after special tokens alone.
  return !options.startsText &&
         (session.position() > 0 ||
          std::any_of(prompt.begin(), prompt.end(),
                      [&](int32_t id) { return !tokenizer.isSpecial(id); }));
}

/// Appends the next token to the result.
Status TokenStream::draw() {
  int64_t start = Profile::now();
  bool isFirst = drawn.tokens.empty();
  int32_t token = isFirst ? 0 : drawn.tokens.back();
  if (isFirst) {
    GIST_TRY(drawFirst(session, prompt, sampler, token));
    drawn.promptTokens = prompt.size();
    drawn.promptNanoseconds = Profile::now() - start;
  } else {
    if (ready.empty())
      GIST_TRY(drawMore());
    token = ready.back();
    ready.pop_back();
    ++drawn.decodedTokens;
    drawn.decodeNanoseconds += Profile::now() - start;
  }
  drawn.tokens.push_back(token);
  return {};
}

Status TokenStream::drawMore() {
  int32_t last = drawn.tokens.back();
  if (!verifier) {
    int32_t token = 0;
    GIST_TRY(session.next({&last, 1}, sampler, token));
    ready.push_back(token);
    return {};
  }
  text.push_back(last);
  // Tokens behind the last one that is wanted would be drawn in vain.
  size_t most =
      options.maxTokens == 0
          ? DraftGovernor::kMostRows
          : static_cast<size_t>(options.maxTokens) - drawn.tokens.size();
  GIST_TRY(verifier->next(text, most, sampler, ready));
  text.insert(text.end(), ready.begin(), ready.end() - 1);
  std::reverse(ready.begin(), ready.end());
  drawn.drafts = verifier->counts();
  return {};
}

/// The text that waited for more. Bytes of a character that was cut off become
/// text here, and may still complete a stop string.
std::string TokenStream::takeRest() {
  std::string rest;
  if (!stops.stopped())
    rest = stops.push(decoder.finish());
  if (!stops.stopped())
    rest += stops.finish();
  return rest;
}

bool TokenStream::hasEnoughTokens() const {
  return options.maxTokens != 0 &&
         static_cast<int64_t>(drawn.tokens.size()) >= options.maxTokens;
}

Status TokenStream::finish() {
  finished = true;
  drawn.reason = *reason;
  // What was read ahead is forgotten: without drafts it would not be there.
  int64_t fed =
      start + static_cast<int64_t>(prompt.size() + drawn.tokens.size()) - 1;
  if (verifier && !drawn.tokens.empty() && session.position() > fed)
    GIST_TRY(session.rewind(fed));
  bool isFed = !options.feedLast || drawn.tokens.empty() ||
               session.position() == session.capacity();
  return isFed ? Status() : session.feed({&drawn.tokens.back(), 1});
}

Status TokenStream::cancel() {
  if (finished)
    return {};
  if (!reason)
    reason = FinishReason::Cancelled;
  return finish();
}

Status TokenStream::next(std::optional<TokenPiece> &piece) try {
  piece.reset();
  if (finished)
    return {};
  // Asked only now: until here the receiver could cancel.
  if (!reason && hasEnoughTokens())
    reason = FinishReason::MaxTokens;
  else if (!reason && !drawn.tokens.empty() && ready.empty() &&
           session.position() == session.capacity())
    reason = FinishReason::ContextFull;
  if (!reason) {
    if (Status status = draw(); !status.ok()) {
      drawn.reason = FinishReason::Cancelled;
      finished = true;
      return status;
    }
    int32_t token = drawn.tokens.back();
    piece.emplace(TokenPiece{token, {}});
    const std::vector<int32_t> &ends = options.sampler.endTokens;
    if (std::find(ends.begin(), ends.end(), token) != ends.end()) {
      reason = FinishReason::EndToken; // It has no text of its own.
      return {};
    }
    piece->text = stops.push(decoder.push(token));
    drawn.text += piece->text;
    if (stops.stopped())
      reason = FinishReason::StopString;
    return {};
  }
  std::string rest = gaveRest ? std::string() : takeRest();
  gaveRest = true;
  if (rest.empty())
    return finish();
  drawn.text += rest;
  piece.emplace(TokenPiece{-1, std::move(rest)});
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

/// Hands the tokens of a stream to `sink`, which may be null, until one of the
/// two ends it.
static Status drain(TokenStream &stream, const TokenSink &sink) {
  while (true) {
    std::optional<TokenPiece> piece;
    GIST_TRY(stream.next(piece));
    if (!piece)
      return {};
    if (sink && !sink(piece->token, piece->text))
      return stream.cancel();
  }
}

Status gist::generateTokens(Session &session, const Tokenizer &tokenizer,
                            std::span<const int32_t> prompt,
                            const GenerateOptions &options,
                            const TokenSink &sink, GenerateResult &result) try {
  result = {};
  std::unique_ptr<TokenStream> stream;
  GIST_TRY(TokenStream::begin(session, tokenizer, prompt, options, stream));
  Status status = drain(*stream, sink);
  result = stream->result();
  return status;
}
GIST_CATCH_OUT_OF_MEMORY
