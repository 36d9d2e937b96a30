//===- PoolTest.cpp - Many sequences of one model at once -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Pool.h"
#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

using namespace gist;
using namespace gist::test;

namespace {
/// A pool of the tiny model: a step has at most 7 rows (its score entry), so 3
/// sequences leave chunks of up to 4 tokens.
class PoolTest : public ::testing::Test {
protected:
  void open(PoolOptions options) {
    model.write(folder.file("tiny.gist"));
    ASSERT_TRUE(Module::open(folder.file("tiny.gist"), module).ok());
    ASSERT_TRUE(openDevice("cpu", {.threads = 2}, device).ok());
    Status status = Pool::create(module, *device, options, pool);
    ASSERT_TRUE(status.ok()) << status.text;
  }
  void open() { open({.sequences = 3, .chunk = 4}); }

  SequenceId add(std::vector<int32_t> tokens, int64_t maxTokens) {
    PoolRequest request;
    request.tokens = std::move(tokens);
    request.maxTokens = maxTokens;
    SequenceId id = 0;
    Status status = pool->add(std::move(request), id);
    EXPECT_TRUE(status.ok()) << status.text;
    return id;
  }
  std::vector<PoolEvent> step() {
    std::vector<PoolEvent> events;
    Status status = pool->step(events);
    EXPECT_TRUE(status.ok()) << status.text;
    return events;
  }
  /// What the sequences write until all are over.
  std::map<SequenceId, std::vector<int32_t>> finish() {
    std::map<SequenceId, std::vector<int32_t>> written;
    while (!pool->empty())
      for (const PoolEvent &event : step())
        if (event.token >= 0)
          written[event.id].push_back(event.token);
    return written;
  }
  /// What the model must write, from its definition.
  std::vector<int32_t> expected(std::vector<int32_t> tokens, int64_t count) {
    std::vector<int32_t> written;
    for (int64_t i = 0; i < count; ++i) {
      std::vector<float> logits = model.logitsAfter(tokens);
      auto best = std::max_element(logits.begin(), logits.end());
      written.push_back(static_cast<int32_t>(best - logits.begin()));
      tokens.push_back(written.back());
    }
    return written;
  }

  TemporaryFolder folder;
  TinyModel model;
  std::shared_ptr<const Module> module;
  std::unique_ptr<Device> device;
  std::unique_ptr<Pool> pool;
};
} // namespace

TEST_F(PoolTest, SequencesJoinBetweenSteps) {
  open();
  SequenceId first = add({5, 6, 7, 8, 9, 10}, 9);
  step();
  SequenceId second = add({200}, 4);
  step();
  step();
  SequenceId third = add({30, 31, 32, 33, 34, 35, 36, 37, 38}, 6);
  auto written = finish();
  // Six tokens are read in two steps, so the first step had no token yet, and
  // the second and third had one each.
  std::vector<int32_t> whole = expected({5, 6, 7, 8, 9, 10}, 9);
  EXPECT_EQ(written[first],
            std::vector<int32_t>(whole.begin() + 2, whole.end()));
  whole = expected({200}, 4);
  EXPECT_EQ(written[second],
            std::vector<int32_t>(whole.begin() + 2, whole.end()));
  EXPECT_EQ(written[third], expected({30, 31, 32, 33, 34, 35, 36, 37, 38}, 6));
  PoolCounters counters = pool->counters();
  EXPECT_EQ(counters.promptTokens, 6u + 1 + 9);
  EXPECT_EQ(counters.writtenTokens, 9u + 4 + 6);
  EXPECT_EQ(counters.finished, 3u);
}

// A sequence that writes gets a token in every step, however long the prompts
// of others are, and prompts take turns.
TEST_F(PoolTest, PromptsAreReadInTurns) {
  open();
  SequenceId writer = add({1}, 12);
  step();
  std::vector<int32_t> prompt(12, 3);
  SequenceId a = add(prompt, 1);
  prompt[0] = 4; // Or it would be taken over from the other.
  SequenceId b = add(prompt, 1);
  std::vector<SequenceId> ends;
  uint64_t read = pool->counters().promptTokens;
  for (int i = 0; i < 6; ++i) {
    std::vector<PoolEvent> events = step();
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events[0].id, writer);
    uint64_t now = pool->counters().promptTokens;
    EXPECT_EQ(now - read, 4u);
    read = now;
    for (const PoolEvent &event : events)
      if (event.finished)
        ends.push_back(event.id);
  }
  // Three chunks each, one after the other: the fifth and the sixth step.
  EXPECT_EQ(ends, (std::vector<SequenceId>{a, b}));
}

TEST_F(PoolTest, MemoryIsReservedForAll) {
  // 36 bytes for each token of state, in steps of 64 tokens.
  constexpr uint64_t kEach = 64 * 4 * TinyModel::kWidth;
  open({.context = 640, .sequences = 3, .memory = 3 * kEach - 1, .chunk = 4});
  uint64_t bytes = 0;
  ASSERT_TRUE(pool->stateBytes(40, bytes).ok());
  EXPECT_EQ(bytes, kEach);
  add({1, 2}, 30);
  SequenceId second = add({3, 4}, 30);
  PoolRequest request;
  request.tokens = {5, 6};
  request.maxTokens = 30;
  SequenceId id = 0;
  Status status = pool->add(request, id);
  EXPECT_EQ(status.code, Code::OutOfMemory);
  EXPECT_EQ(status.text, "there is no room now: 4608 bytes of 6911 are taken, "
                         "and the sequence needs 2304");
  EXPECT_TRUE(pool->remove(second));
  EXPECT_FALSE(pool->remove(second));
  EXPECT_TRUE(pool->add(request, id).ok());
  request.maxTokens = 300;
  EXPECT_EQ(pool->add(request, id).code, Code::BadArgument); // It never fits.
  request.maxTokens = 639;
  status = pool->add(request, id);
  EXPECT_EQ(status.code, Code::BadArgument);
  EXPECT_EQ(status.text, "a prompt of 2 tokens and an answer of up to 639 do "
                         "not fit a context of 640");
  EXPECT_EQ(pool->counters().stateBytes, 2 * kEach);
}

TEST_F(PoolTest, NoMoreSequencesThanTheLimit) {
  open({.sequences = 1, .chunk = 4});
  add({1}, 2);
  PoolRequest request;
  request.tokens = {1};
  SequenceId id = 0;
  EXPECT_EQ(pool->add(request, id).code, Code::OutOfMemory);
  finish();
  EXPECT_TRUE(pool->add(request, id).ok());
}

// Whole chunks that another sequence has, or had, are not computed again.
TEST_F(PoolTest, PrefixesAreTakenOver) {
  open();
  std::vector<int32_t> prompt = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  add(prompt, 2);
  finish();
  EXPECT_EQ(pool->counters().kept, 2);
  EXPECT_EQ(pool->counters().prefixTokens, 0u);
  std::vector<int32_t> other = prompt;
  other.back() = 77; // Behind the second chunk.
  SequenceId id = add(other, 3);
  EXPECT_EQ(finish()[id], expected(other, 3));
  EXPECT_EQ(pool->counters().prefixTokens, 8u);
  EXPECT_EQ(pool->counters().promptTokens, 10u + 2);
  // At least one token stays to be computed, though all eight are there.
  other.resize(8);
  id = add(other, 2);
  EXPECT_EQ(finish()[id], expected(other, 2));
  EXPECT_EQ(pool->counters().prefixTokens, 8u + 4);
}

// Prompts that begin alike and come at once are computed once as well.
TEST_F(PoolTest, PrefixesAreSharedWhileTheyAreRead) {
  open();
  std::vector<int32_t> a = {9, 8, 7, 6, 5, 4, 3, 2, 100}, b = a, c = a;
  b.back() = 101;
  c.back() = 102;
  std::vector<SequenceId> ids = {add(a, 2), add(b, 2), add(c, 2)};
  auto written = finish();
  EXPECT_EQ(written[ids[0]], expected(a, 2));
  EXPECT_EQ(written[ids[1]], expected(b, 2));
  EXPECT_EQ(written[ids[2]], expected(c, 2));
  EXPECT_EQ(pool->counters().promptTokens, 9u + 1 + 1);
  EXPECT_EQ(pool->counters().prefixTokens, 16u);
}

TEST_F(PoolTest, KeptStatesGiveWay) {
  constexpr uint64_t kEach = 64 * 4 * TinyModel::kWidth;
  open({.context = 640, .sequences = 3, .memory = 2 * kEach, .chunk = 4});
  add({1, 2, 3, 4, 5}, 1);
  finish();
  EXPECT_EQ(pool->counters().kept, 1);
  add({6}, 30);
  add({7}, 30);
  EXPECT_EQ(pool->counters().kept, 0);
  EXPECT_EQ(pool->counters().stateBytes, 2 * kEach);
}

// What many prompts leave is bounded, and the last used stays.
TEST_F(PoolTest, PrefixesAreBounded) {
  open({.context = 64, .sequences = 3, .chunk = 4, .prefixes = 1});
  uint64_t limit = 0;
  ASSERT_TRUE(pool->stateBytes(64, limit).ok());
  const std::vector<int32_t> often = {1, 2, 3, 4, 5};
  add(often, 1);
  finish();
  for (int32_t i = 0; i < 100; ++i) {
    add({100 + i, 2, 3, 4, 5, 6, 7, 8, 9}, 1);
    add(often, 1);
    finish();
    EXPECT_LE(pool->counters().stateBytes, limit);
    EXPECT_GE(pool->counters().kept, 2);
  }
  EXPECT_EQ(pool->counters().prefixTokens, 100u * 4);
  // The first of the others is forgotten, the last is not.
  add({100, 2, 3, 4, 5, 6, 7, 8, 9}, 1);
  finish();
  EXPECT_EQ(pool->counters().prefixTokens, 100u * 4);
  add({199, 2, 3, 4, 5, 6, 7, 8, 9}, 1);
  finish();
  EXPECT_EQ(pool->counters().prefixTokens, 100u * 4 + 8);
}

// A state that cannot go back is kept as a whole: after the last chunk of a
// prompt, and where prompts part.
TEST_F(PoolTest, PrefixesOfPlans) {
  ModuleSpec &spec = model.writer.spec;
  for (BufferSpec &buffer : spec.buffers)
    if (buffer.name == "cache") {
      buffer.zeroOnReset = true;
      buffer.size = spec.addConstant(256 * 4 * TinyModel::kWidth);
      buffer.shape[0] = spec.addConstant(256);
    }
  open({.context = 128, .sequences = 3, .memory = 1 << 20, .chunk = 4});
  std::vector<int32_t> a = {9, 8, 7, 6, 5, 4, 3, 2, 10, 11, 12, 13, 14};
  std::vector<int32_t> b = a, c = a, longer = a;
  std::fill(b.begin() + 8, b.end(), 20);
  std::fill(c.begin() + 8, c.end(), 30);
  longer.insert(longer.end(), {15, 16, 17});
  auto write = [&](const std::vector<int32_t> &prompt) {
    uint64_t before = pool->counters().prefixTokens;
    SequenceId id = add(prompt, 5);
    EXPECT_EQ(finish()[id], expected(prompt, 5));
    return pool->counters().prefixTokens - before;
  };
  EXPECT_EQ(write(a), 0u);
  EXPECT_EQ(write(longer), 12u); // A second turn.
  EXPECT_EQ(write(b), 0u);       // It begins alike, but no state is there;
  EXPECT_EQ(write(c), 8u);       // now one is.
  EXPECT_EQ(write(b), 12u);
}

TEST_F(PoolTest, Logprobs) {
  open();
  PoolRequest request;
  request.tokens = {40, 41, 42, 43, 44, 45};
  request.maxTokens = 1;
  request.logprobs = 2;
  request.promptLogprobs = 0;
  SequenceId id = 0;
  ASSERT_TRUE(pool->add(request, id).ok());
  add({3, 4, 5}, 5); // A neighbour, whose rows are in the same steps.
  std::vector<TokenLogprobs> prompt;
  TokenLogprobs last;
  for (bool isOver = false; !isOver;)
    for (const PoolEvent &event : step()) {
      if (event.id != id)
        continue;
      prompt.insert(prompt.end(), event.prompt.begin(), event.prompt.end());
      last = event.logprobs;
      isOver = event.finished;
    }
  auto logprobsAfter = [&](size_t count) {
    std::vector<float> logits =
        model.logitsAfter(std::span(request.tokens).first(count));
    double sum = 0;
    for (float logit : logits)
      sum += std::exp(static_cast<double>(logit));
    std::vector<double> result;
    for (float logit : logits)
      result.push_back(static_cast<double>(logit) - std::log(sum));
    return result;
  };
  ASSERT_EQ(prompt.size(), 5u);
  for (size_t i = 0; i < prompt.size(); ++i)
    EXPECT_NEAR(
        prompt[i].logprob,
        logprobsAfter(i + 1)[static_cast<size_t>(request.tokens[i + 1])], 1e-4);
  std::vector<double> all = logprobsAfter(6);
  auto best = std::max_element(all.begin(), all.end());
  ASSERT_EQ(last.top.size(), 2u);
  EXPECT_EQ(last.top[0].token, best - all.begin());
  EXPECT_NEAR(last.logprob, *best, 1e-4);
  std::sort(all.rbegin(), all.rend());
  EXPECT_NEAR(last.top[1].logprob, all[1], 1e-4);
}

TEST_F(PoolTest, SequencesEnd) {
  open();
  std::vector<int32_t> whole = expected({20, 21}, 4);
  PoolRequest request;
  request.tokens = {20, 21};
  request.maxTokens = 4;
  request.stopTokens = {whole[1]};
  SequenceId id = 0;
  ASSERT_TRUE(pool->add(request, id).ok());
  step();
  std::vector<PoolEvent> events = step();
  // Perhaps the first token is the same one, and then it has ended already.
  if (whole[0] != whole[1]) {
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].token, whole[1]);
    EXPECT_TRUE(events[0].finished);
    EXPECT_EQ(events[0].reason, FinishReason::EndToken);
  }
  // A prompt alone.
  request.maxTokens = 0;
  ASSERT_TRUE(pool->add(request, id).ok());
  events = step();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].token, -1);
  EXPECT_TRUE(events[0].finished);
  EXPECT_TRUE(pool->empty());
}

TEST_F(PoolTest, LogitsCanBeAdjusted) {
  open();
  std::vector<int32_t> whole = expected({20, 21}, 1);
  PoolRequest request;
  request.tokens = {20, 21};
  request.maxTokens = 2;
  size_t seen = 0;
  request.adjust = [&](std::span<const int32_t> written,
                       std::span<float> logits) {
    seen += written.size();
    for (float &logit : logits)
      logit = -INFINITY;
    if (written.empty())
      logits[17] = 1;
  };
  SequenceId id = 0;
  ASSERT_TRUE(pool->add(request, id).ok());
  std::vector<PoolEvent> events = step();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].token, 17);
  // Nothing can be chosen: that ends this sequence and no other.
  events = step();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(events[0].finished);
  EXPECT_FALSE(events[0].status.ok());
  EXPECT_EQ(seen, 1u);
}

namespace {
/// Guesses what the model writes, and every third token wrong.
class Oracle final : public Drafter {
public:
  explicit Oracle(const TinyModel &model, bool free = false)
      : model(model), free(free) {}
  Status begin(const SamplerOptions &) override { return {}; }
  bool isFree() const override { return free; }
  Status draft(std::span<const int32_t> text, size_t most,
               Draft &result) override {
    result = {};
    std::vector<int32_t> tokens(text.begin(), text.end());
    while (result.tokens.size() < most) {
      std::vector<float> logits = model.logitsAfter(tokens);
      auto best = std::max_element(logits.begin(), logits.end());
      auto token = static_cast<int32_t>(best - logits.begin());
      tokens.push_back(token);
      result.tokens.push_back(tokens.size() % 3 == 0 ? token ^ 1 : token);
    }
    return {};
  }

private:
  const TinyModel &model;
  bool free;
};
} // namespace

// Where guesses take no time each sequence has its own, and no text changes:
// not where others write, read a prompt, or draw at random.
TEST_F(PoolTest, DraftsOfSeveralSequences) {
  for (BufferSpec &buffer : model.writer.spec.buffers)
    buffer.zeroOnReset = false;
  std::vector<std::vector<int32_t>> prompts = {{5, 6, 7}, {200}, {30, 31}};
  std::map<size_t, std::vector<int32_t>> random;
  for (size_t count : {0, 1, 3, 15}) {
    PoolOptions options{.sequences = 4, .chunk = 3};
    if (count != 0)
      options.drafter = std::make_shared<Oracle>(model, /*free=*/true);
    options.draftTokens = count;
    pool.reset();
    open(options);
    std::vector<SequenceId> ids;
    for (size_t i = 0; i < 3; ++i) {
      PoolRequest request;
      request.tokens = prompts[i];
      request.maxTokens = 20;
      request.sampler.temperature = i == 2 ? 1.0f : 0.0f;
      request.sampler.seed = 5;
      SequenceId id = 0;
      ASSERT_TRUE(pool->add(request, id).ok());
      ids.push_back(id);
    }
    std::map<SequenceId, std::vector<int32_t>> written;
    bool isFirst = true;
    while (!pool->empty()) {
      SequenceId before = 0;
      for (const PoolEvent &event : step()) {
        EXPECT_GE(event.id, before); // In the order they were added.
        before = event.id;
        written[event.id].push_back(event.token);
      }
      if (std::exchange(isFirst, false))
        ids.push_back(add({1, 2, 3, 4, 5, 6}, 3));
    }
    EXPECT_EQ(written[ids[0]], expected(prompts[0], 20));
    EXPECT_EQ(written[ids[1]], expected(prompts[1], 20));
    EXPECT_EQ(written[ids[3]], expected({1, 2, 3, 4, 5, 6}, 3));
    random[count] = written[ids[2]];
    EXPECT_EQ(random[count], random[0]); // Look-up draws as without guesses.
    PoolCounters counters = pool->counters();
    EXPECT_EQ(counters.writtenTokens, 63u);
    // The sequence that draws at random takes a step for a token.
    EXPECT_EQ(counters.acceptedTokens > 5, count != 0);
  }
}

// Guesses change no text, whether a sequence is alone all the time or not.
TEST_F(PoolTest, Drafts) {
  for (BufferSpec &buffer : model.writer.spec.buffers)
    buffer.zeroOnReset = false;
  for (size_t count : {0, 1, 3, 15}) {
    PoolOptions options{.sequences = 3, .chunk = 4};
    options.drafter = std::make_shared<Oracle>(model);
    options.draftTokens = count;
    pool.reset(); // Before the device that it is on.
    open(options);
    SequenceId first = add({5, 6, 7, 8, 9, 10}, 20);
    EXPECT_EQ(finish()[first], expected({5, 6, 7, 8, 9, 10}, 20));
    PoolCounters counters = pool->counters();
    EXPECT_EQ(counters.writtenTokens, 20u);
    if (count != 0) {
      EXPECT_GT(counters.acceptedTokens, 0u);
      EXPECT_GT(counters.draftedTokens, counters.acceptedTokens);
      EXPECT_LT(counters.steps, 21u);
    }
    // Another comes while the first writes, and ends before it.
    std::map<SequenceId, std::vector<int32_t>> written;
    auto note = [&](const std::vector<PoolEvent> &events) {
      for (const PoolEvent &event : events)
        written[event.id].push_back(event.token);
    };
    SequenceId second = add({200}, 25);
    note(step());
    note(step());
    SequenceId third = add({30, 31, 32}, 4);
    while (!pool->empty())
      note(step());
    EXPECT_EQ(written[second], expected({200}, 25));
    EXPECT_EQ(written[third], expected({30, 31, 32}, 4));
  }
  // A stop token in the middle of guesses ends the text there.
  PoolOptions options{.sequences = 3, .chunk = 4};
  options.drafter = std::make_shared<Oracle>(model);
  options.draftTokens = 3;
  pool.reset();
  open(options);
  std::vector<int32_t> whole = expected({40}, 9);
  PoolRequest request;
  request.tokens = {40};
  request.maxTokens = 9;
  request.stopTokens = {whole[4]};
  SequenceId id = 0;
  ASSERT_TRUE(pool->add(request, id).ok());
  auto end = std::find(whole.begin(), whole.end(), whole[4]) + 1;
  EXPECT_EQ(finish()[id], std::vector<int32_t>(whole.begin(), end));
}

TEST_F(PoolTest, DraftsNeedAStateThatGoesBack) {
  ASSERT_TRUE(openDevice("cpu", {.threads = 1}, device).ok());
  for (BufferSpec &buffer : model.writer.spec.buffers)
    buffer.zeroOnReset = buffer.kind == BufferKind::State;
  model.write(folder.file("plan.gist"));
  ASSERT_TRUE(Module::open(folder.file("plan.gist"), module).ok());
  PoolOptions options;
  options.drafter = makeLookupDrafter();
  Status status = Pool::create(module, *device, options, pool);
  EXPECT_EQ(status.code, Code::BadArgument);
  EXPECT_NE(status.text.find("rows by position"), std::string::npos)
      << status.text;
}

TEST_F(PoolTest, RefusesRequests) {
  open();
  SequenceId id = 0;
  EXPECT_EQ(pool->add({}, id).text, "no tokens were given");
  EXPECT_EQ(pool->add({.tokens = {261}}, id).text,
            "token 261 is outside a vocabulary of 261");
  EXPECT_EQ(pool->add({.tokens = {1}, .maxTokens = -1}, id).text,
            "-1 tokens cannot be written");
  EXPECT_FALSE(
      pool->add({.tokens = {1}, .sampler = {.temperature = -1}}, id).ok());
  EXPECT_EQ(pool->counters().added, 0u);
}

TEST_F(PoolTest, RefusesModules) {
  auto refusal = [&](const char *name) {
    model.write(folder.file(name));
    std::shared_ptr<const Module> changed;
    Status status = Module::open(folder.file(name), changed);
    EXPECT_TRUE(status.ok()) << status.text;
    EXPECT_TRUE(openDevice("cpu", {.threads = 1}, device).ok());
    return Pool::create(changed, *device, {.sequences = 3}, pool).text;
  };
  EntrySpec &score = model.writer.spec.entries[2];
  score.commands[1].byRows = true; // It writes the cache.
  EXPECT_EQ(refusal("state.gist"),
            "entry 'score' command 1: is by rows, but depends on more than the "
            "number of tokens");
  for (CommandSpec &command : score.commands)
    command.byRows = false;
  EXPECT_EQ(refusal("apart.gist"),
            "entry 'score' command 3: makes logits, but belongs to one "
            "sequence or is waited for by such a command");
  score.name = "other";
  EXPECT_EQ(refusal("none.gist"),
            "many sequences at once need a model that writes text and the "
            "logits of every token; the module has no entry 'score' "
            "(gist-compile --logits=all)");
}
