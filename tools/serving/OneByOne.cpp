//===- OneByOne.cpp - A pool of one sequence ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/OneByOne.h"

#include "runtime/session/Adapters.h"
#include "runtime/session/CheckTokens.h"
#include "runtime/session/Logprobs.h"
#include "runtime/session/Session.h"

#include <algorithm>

using namespace gist;
using namespace gist::serve;

/// Prompt tokens of a step: others wait for as long.
static constexpr int64_t kPromptPiece = 128;

namespace {
class OneByOne final : public Pool {
public:
  explicit OneByOne(std::unique_ptr<Session> session)
      : session(std::move(session)) {}

  Status add(PoolRequest wanted, SequenceId &id) override;
  bool remove(SequenceId id) override;
  Status step(std::vector<PoolEvent> &events) override;
  Status stateBytes(int64_t, uint64_t &bytes) const override {
    bytes = session->memoryUse().state;
    return {};
  }
  int64_t size() const override { return current == 0 ? 0 : 1; }
  PoolCounters counters() const override;
  int64_t capacity() const override { return session->capacity(); }
  int64_t chunk() const override { return kPromptPiece; }
  const Module &module() const override { return session->module(); }

private:
  size_t pieceSize() const;
  Status readPrompt(std::span<const int32_t> piece, PoolEvent &event);
  Status write(std::span<const int32_t> tokens, PoolEvent &event);

  std::unique_ptr<Session> session;
  PoolCounters counted;
  SequenceId last = 0, current = 0;
  PoolRequest request;
  Sampler sampler;
  size_t read = 0; ///< tokens of the prompt
  std::vector<int32_t> written;
  std::vector<float> adjusted; ///< kept for its memory
};
} // namespace

PoolCounters OneByOne::counters() const {
  PoolCounters result = counted;
  result.reading = current != 0 && written.empty() ? 1 : 0;
  result.writing = current != 0 && !written.empty() ? 1 : 0;
  result.stateLimit = session->memoryUse().state;
  result.stateBytes = current != 0 ? result.stateLimit : 0;
  return result;
}

Status OneByOne::add(PoolRequest wanted, SequenceId &id) {
  auto tokens = static_cast<int64_t>(wanted.tokens.size());
  if (tokens == 0 || wanted.maxTokens < 0 ||
      tokens > session->capacity() - wanted.maxTokens)
    return Status::error(Code::BadArgument,
                         "%zu tokens and %lld more do not fit a context of "
                         "%lld",
                         wanted.tokens.size(),
                         static_cast<long long>(wanted.maxTokens),
                         static_cast<long long>(session->capacity()));
  GIST_TRY(
      checkTokens(wanted.tokens, session->module().spec().model.vocabSize));
  Sampler chosen;
  GIST_TRY(Sampler::create(wanted.sampler, chosen));
  if (current != 0)
    return Status::error(Code::OutOfMemory, "there is room for one sequence");
  const ModelInfo &model = session->module().spec().model;
  GIST_TRY(checkAdapter(model, wanted.adapter));
  GIST_TRY(session->setAdapter(
      wanted.adapter == 0
          ? ""
          : adapterNames(model)[static_cast<size_t>(wanted.adapter) - 1]));
  chosen.see(wanted.tokens);
  sampler = std::move(chosen);
  request = std::move(wanted);
  read = 0;
  written.clear();
  current = id = ++last;
  ++counted.added;
  return {};
}

bool OneByOne::remove(SequenceId id) {
  if (id == 0 || id != current)
    return false;
  current = 0;
  ++counted.removed;
  return true;
}

/// How many tokens of the prompt the next step takes.
size_t OneByOne::pieceSize() const {
  // Where the module has blocks, a call does not cross their borders.
  int64_t limit = std::min(kPromptPiece,
                           session->tokensInBlock(static_cast<int64_t>(read)));
  return std::min(request.tokens.size() - read, static_cast<size_t>(limit));
}

/// A piece of the prompt after which more of it follows.
Status OneByOne::readPrompt(std::span<const int32_t> piece, PoolEvent &event) {
  if (request.promptLogprobs < 0)
    return session->feed(piece);
  return session->score(piece, [&](size_t i, std::span<const float> row) {
    event.prompt.push_back(
        getLogprobs(row, request.tokens[read + i + 1],
                    static_cast<size_t>(request.promptLogprobs)));
    return Status();
  });
}

/// Feeds tokens and draws the next. Probabilities and changes need the logits
/// here; without them the device may draw.
Status OneByOne::write(std::span<const int32_t> tokens, PoolEvent &event) {
  bool needsLogits = request.logprobs >= 0 || request.adjust;
  if (!needsLogits) {
    GIST_TRY(session->next(tokens, sampler, event.token));
  } else {
    GIST_TRY(session->feed(tokens));
    std::span<const float> logits = session->logits();
    if (request.adjust) {
      adjusted.assign(logits.begin(), logits.end());
      request.adjust(written, adjusted);
    }
    GIST_TRY(sampler.sample(request.adjust ? adjusted : logits, event.token));
    if (request.logprobs >= 0)
      event.logprobs = getLogprobs(logits, event.token,
                                   static_cast<size_t>(request.logprobs));
  }
  written.push_back(event.token);
  ++counted.writtenTokens;
  return {};
}

Status OneByOne::step(std::vector<PoolEvent> &events) {
  events.clear();
  if (current == 0)
    return {};
  ++counted.steps;
  PoolEvent event;
  event.id = current;
  Status status;
  if (!written.empty()) {
    int32_t token = written.back();
    status = write({&token, 1}, event);
  } else {
    size_t count = pieceSize(), left = request.tokens.size() - read;
    // The token after the last one of a prompt is not part of the prompt.
    if (count == left && left > 1 && request.promptLogprobs >= 0)
      --count;
    std::span piece = std::span(request.tokens).subspan(read, count);
    if (count < left)
      status = readPrompt(piece, event);
    else if (request.maxTokens > 0)
      status = write(piece, event);
    read += count;
    counted.promptTokens += count;
  }
  bool isRead = read == request.tokens.size();
  bool isEnd = event.token >= 0 &&
               std::find(request.stopTokens.begin(), request.stopTokens.end(),
                         event.token) != request.stopTokens.end();
  bool isFull = static_cast<int64_t>(written.size()) >= request.maxTokens;
  event.reason = isEnd ? FinishReason::EndToken : FinishReason::MaxTokens;
  event.finished = !status.ok() || isEnd || (isRead && isFull);
  event.status = std::move(status);
  if (event.finished) {
    current = 0;
    ++counted.finished;
  }
  // A piece of a prompt without probabilities gives no event.
  if (event.finished || event.token >= 0 || !event.prompt.empty())
    events.push_back(std::move(event));
  return {};
}

Status serve::createOneByOne(std::shared_ptr<const Module> module,
                             Device &device, const PoolOptions &options,
                             Communicator *ranks,
                             std::unique_ptr<Pool> &result) {
  SessionOptions chosen;
  chosen.context = options.context;
  chosen.trust = options.trust;
  chosen.ranks = ranks;
  std::unique_ptr<Session> session;
  GIST_TRY(Session::create(std::move(module), device, chosen, session));
  result = std::make_unique<OneByOne>(std::move(session));
  return {};
}
