//===- ServingEngineTest.cpp - Jobs, turns, limits and ends ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/TinyModel.h"
#include "tools/serving/Engine.h"
#include "tools/serving/OneByOne.h"

#include "runtime/session/Generator.h"

#include "gtest/gtest.h"

#include <cmath>
#include <future>

using namespace gist;
using namespace gist::serve;
using namespace gist::test;
using namespace std::chrono_literals;

namespace {
/// Steps wait until a test lets them go, and say what they did.
class StepGate {
public:
  void open(int steps) {
    std::lock_guard lock(mutex);
    allowed += steps;
    changed.notify_all();
  }
  void openAll() { open(1 << 30); }
  void pass() {
    std::unique_lock lock(mutex);
    ++arrived;
    changed.notify_all();
    changed.wait(lock, [&] { return allowed > 0; });
    --allowed;
  }
  /// Until so many steps have begun since the beginning.
  void waitForSteps(int steps) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return arrived >= steps; });
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  int allowed = 0, arrived = 0;
};

/// A pool with room for some sequences, each of which writes the letters a, b,
/// c... It knows nothing of devices.
class LetterPool final : public Pool {
public:
  /// `admitted` gets the first tokens of prompts, in the order of admission.
  LetterPool(std::shared_ptr<const Module> source, size_t room, StepGate &gate,
             std::vector<int32_t> &admitted)
      : source(std::move(source)), room(room), gate(gate), admitted(admitted) {}

  Status add(PoolRequest request, SequenceId &id) override {
    if (request.maxTokens > 1000)
      return Status::error(Code::BadArgument, "too long");
    if (sequences.size() >= room)
      return Status::error(Code::OutOfMemory, "no room");
    id = ++last;
    admitted.push_back(request.tokens.front());
    sequences[id] = {std::move(request), 0};
    return {};
  }
  bool remove(SequenceId id) override {
    removed += static_cast<int>(sequences.count(id));
    return sequences.erase(id) == 1;
  }
  Status step(std::vector<PoolEvent> &events) override {
    gate.pass();
    events.clear();
    if (broken) {
      sequences.clear();
      return Status::error(Code::Device, "the device is on fire");
    }
    for (auto at = sequences.begin(); at != sequences.end();) {
      PoolEvent event;
      event.id = at->first;
      event.token = 'a' + at->second.second % 26;
      event.finished = ++at->second.second == at->second.first.maxTokens;
      at = event.finished ? sequences.erase(at) : std::next(at);
      events.push_back(std::move(event));
    }
    return {};
  }
  Status stateBytes(int64_t, uint64_t &bytes) const override {
    bytes = 1;
    return {};
  }
  int64_t size() const override {
    return static_cast<int64_t>(sequences.size());
  }
  PoolCounters counters() const override { return {}; }
  int64_t capacity() const override { return 2000; }
  int64_t chunk() const override { return 1; }
  const Module &module() const override { return *source; }

  std::atomic<int> removed = 0;
  std::atomic<bool> broken = false;

private:
  std::shared_ptr<const Module> source;
  size_t room;
  StepGate &gate;
  std::vector<int32_t> &admitted;
  SequenceId last = 0;
  std::map<SequenceId, std::pair<PoolRequest, int>> sequences;
};

class EngineTest : public testing::Test {
protected:
  void start(size_t room, size_t waiting = 100) {
    auto model = std::make_unique<Model>();
    model->name = "letters";
    ASSERT_TRUE(
        Module::open(TinyModel().write(folder.file("m.gist")), model->module)
            .ok());
    ASSERT_TRUE(loadTokenizer(*model->module, model->tokenizer).ok());
    auto made =
        std::make_unique<LetterPool>(model->module, room, gate, admitted);
    pool = made.get();
    model->pool = std::move(made);
    model->context = 2000;
    std::vector<std::unique_ptr<Model>> models;
    models.push_back(std::move(model));
    engine.emplace(std::move(models), Engine::Limits{waiting}, metrics);
  }
  /// Steps that a test did not let go would never end.
  void TearDown() override { gate.openAll(); }

  static Job job(int32_t prompt, int64_t tokens,
                 const std::string &client = "c") {
    Job result;
    result.client = client;
    result.request.tokens = {prompt};
    result.request.maxTokens = tokens;
    return result;
  }
  std::shared_ptr<Ticket> submit(Job wanted) {
    std::shared_ptr<Ticket> ticket;
    EXPECT_EQ(engine->submit(std::move(wanted), ticket), Admission::Accepted);
    return ticket;
  }
  /// All text of a job, and its last event.
  static Event finish(Ticket &ticket, std::string &text) {
    text.clear();
    Event event;
    do {
      event = {};
      if (!ticket.wait(event, 20s)) {
        ADD_FAILURE() << "no event came";
        break;
      }
      text += event.text;
    } while (!event.finished);
    return event;
  }

  TemporaryFolder folder;
  Metrics metrics;
  StepGate gate;
  std::vector<int32_t> admitted;
  LetterPool *pool = nullptr;
  std::optional<Engine> engine;
};
} // namespace

TEST_F(EngineTest, WritesText) {
  start(4);
  gate.openAll();
  std::string text;
  Event last = finish(*submit(job(1, 3)), text);
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(last.reason, FinishReason::MaxTokens);
  EXPECT_EQ(last.failure, Failure::None);
}

TEST_F(EngineTest, StopTextEndsTheSequence) {
  start(4);
  gate.openAll();
  Job wanted = job(1, 20);
  wanted.stops = {"cd"};
  std::string text;
  Event last = finish(*submit(wanted), text);
  EXPECT_EQ(text, "ab");
  EXPECT_EQ(last.reason, FinishReason::StopString);
  EXPECT_EQ(pool->removed, 1);
}

TEST_F(EngineTest, ClientsTakeTurnsForRoom) {
  start(1);
  std::vector<std::shared_ptr<Ticket>> tickets;
  tickets.push_back(submit(job(0, 2, "greedy")));
  // The first one runs; what comes now waits.
  gate.waitForSteps(1);
  for (int32_t i : {1, 2, 3})
    tickets.push_back(submit(job(i, 2, "greedy")));
  tickets.push_back(submit(job(10, 2, "other")));
  gate.openAll();
  std::string text;
  for (const auto &ticket : tickets)
    EXPECT_EQ(finish(*ticket, text).failure, Failure::None);
  engine.reset();
  EXPECT_EQ(admitted, (std::vector<int32_t>{0, 1, 10, 2, 3}));
}

TEST_F(EngineTest, RefusesMoreThanMayWait) {
  start(1, 2);
  auto running = submit(job(0, 2));
  gate.waitForSteps(1);
  auto first = submit(job(1, 2)), second = submit(job(2, 2));
  std::shared_ptr<Ticket> none;
  EXPECT_EQ(engine->submit(job(3, 2), none), Admission::Full);
  EXPECT_FALSE(none);
  EXPECT_GE(engine->retryAfter(), 1);
  EXPECT_LE(engine->retryAfter(), 60);
  gate.openAll();
  std::string text;
  finish(*second, text);
  // There is room again.
  finish(*submit(job(4, 2)), text);
  EXPECT_EQ(text, "ab");
}

TEST_F(EngineTest, CancelledJobsMakeRoom) {
  start(1);
  auto running = submit(job(0, 900)), waiting = submit(job(1, 900)),
       last = submit(job(2, 2));
  gate.waitForSteps(1);
  running->cancel();
  waiting->cancel();
  gate.openAll();
  std::string text;
  EXPECT_EQ(finish(*last, text).failure, Failure::None);
  EXPECT_EQ(text, "ab");
  // Of the two, one ran and was taken out.
  EXPECT_EQ(pool->removed, 1);
  engine.reset();
  EXPECT_EQ(admitted, (std::vector<int32_t>{0, 2}));
  EXPECT_NE(metrics.text().find("gist_cancelled_total 2\n"), std::string::npos);
}

TEST_F(EngineTest, TimeIsLimited) {
  start(1);
  Job late = job(1, 2);
  late.deadline = Clock::now();
  gate.openAll();
  std::string text;
  EXPECT_EQ(finish(*submit(late), text).failure, Failure::TimedOut);
}

TEST_F(EngineTest, WhatCannotRunIsRejected) {
  start(1);
  gate.openAll();
  std::string text;
  Event last = finish(*submit(job(1, 1001)), text);
  EXPECT_EQ(last.failure, Failure::Rejected);
  EXPECT_EQ(last.why, "too long");
  // What never fits is not waited for.
  engine.reset();
  start(0);
  EXPECT_EQ(finish(*submit(job(1, 2)), text).failure, Failure::Rejected);
}

TEST_F(EngineTest, DeviceErrorsEndWhatRuns) {
  start(1);
  auto running = submit(job(0, 5)), waiting = submit(job(1, 2));
  gate.waitForSteps(1);
  pool->broken = true;
  gate.open(1);
  std::string text;
  Event last = finish(*running, text);
  EXPECT_EQ(last.failure, Failure::Broken);
  EXPECT_EQ(last.why, "the device is on fire");
  // The next one is tried all the same.
  gate.waitForSteps(2);
  pool->broken = false;
  gate.openAll();
  EXPECT_EQ(finish(*waiting, text).failure, Failure::None);
}

TEST_F(EngineTest, DrainsAndStops) {
  start(1);
  auto running = submit(job(0, 3)), waiting = submit(job(1, 3));
  gate.waitForSteps(1);
  engine->drain();
  std::shared_ptr<Ticket> none;
  EXPECT_EQ(engine->submit(job(3, 2), none), Admission::Draining);
  gate.open(3);
  std::string text;
  EXPECT_EQ(finish(*running, text).failure, Failure::None);
  EXPECT_EQ(text, "abc");
  EXPECT_FALSE(engine->isIdle());
  engine->stopAll();
  gate.openAll();
  EXPECT_EQ(finish(*waiting, text).failure, Failure::Stopped);
  EXPECT_TRUE(engine->isIdle());
}

namespace {
class OneByOneTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(Module::open(tiny.write(folder.file("m.gist")), module).ok());
    ASSERT_TRUE(openDevice("cpu", {}, device).ok());
    PoolOptions options;
    options.context = 600;
    ASSERT_TRUE(createOneByOne(module, *device, options, nullptr, pool).ok());
  }
  /// Runs one sequence to its end.
  std::vector<PoolEvent> runAll(PoolRequest request) {
    SequenceId id = 0;
    EXPECT_TRUE(pool->add(std::move(request), id).ok());
    std::vector<PoolEvent> all, some;
    while (!pool->empty()) {
      EXPECT_TRUE(pool->step(some).ok());
      for (PoolEvent &event : some) {
        EXPECT_EQ(event.id, id);
        all.push_back(std::move(event));
      }
    }
    return all;
  }
  static PoolRequest request(size_t promptTokens, int64_t written) {
    PoolRequest result;
    for (size_t i = 0; i < promptTokens; ++i)
      result.tokens.push_back(static_cast<int32_t>(i * 7 % 251));
    result.maxTokens = written;
    return result;
  }

  TemporaryFolder folder;
  TinyModel tiny;
  std::shared_ptr<const Module> module;
  std::unique_ptr<Device> device;
  std::unique_ptr<Pool> pool;
};
} // namespace

TEST_F(OneByOneTest, WritesWhatASessionWrites) {
  for (size_t length : {1, 2, 128, 129, 300}) {
    SessionOptions options;
    options.context = 600;
    std::unique_ptr<Session> session;
    ASSERT_TRUE(Session::create(module, *device, options, session).ok());
    Sampler sampler;
    PoolRequest wanted = request(length, 5);
    std::vector<int32_t> expected(5);
    std::vector<int32_t> fed = wanted.tokens;
    for (int32_t &token : expected) {
      ASSERT_TRUE(session->next(fed, sampler, token).ok());
      fed = {token};
    }
    std::vector<int32_t> written;
    for (const PoolEvent &event : runAll(wanted))
      written.push_back(event.token);
    EXPECT_EQ(written, expected) << length;
  }
}

TEST_F(OneByOneTest, ProbabilitiesAreThoseOfTheModel) {
  PoolRequest wanted = request(200, 2);
  wanted.logprobs = 2;
  wanted.promptLogprobs = 0;
  std::vector<TokenLogprobs> found;
  std::vector<int32_t> text = wanted.tokens;
  for (PoolEvent &event : runAll(wanted)) {
    for (TokenLogprobs &one : event.prompt)
      found.push_back(std::move(one));
    if (event.token >= 0) {
      text.push_back(event.token);
      found.push_back(std::move(event.logprobs));
    }
  }
  // The first token has none.
  ASSERT_EQ(found.size() + 1, text.size());
  for (size_t i = 0; i < found.size(); i += 37) {
    std::vector<float> logits = tiny.logitsAfter(std::span(text).first(i + 1));
    double sum = 0;
    for (float logit : logits)
      sum += std::exp(static_cast<double>(logit));
    auto next = static_cast<size_t>(text[i + 1]);
    EXPECT_NEAR(found[i].logprob, logits[next] - std::log(sum), 1e-3) << i;
  }
  // Of a greedy answer the token itself is the most likely.
  ASSERT_EQ(found.back().top.size(), 2u);
  EXPECT_EQ(found.back().top[0].token, text.back());
  EXPECT_GE(found.back().top[0].logprob, found.back().top[1].logprob);
  EXPECT_TRUE(found.front().top.empty());
}

TEST_F(OneByOneTest, HasRoomForOne) {
  SequenceId first = 0, second = 0;
  ASSERT_TRUE(pool->add(request(3, 100), first).ok());
  EXPECT_EQ(pool->add(request(3, 1), second).code, Code::OutOfMemory);
  EXPECT_FALSE(pool->remove(second));
  EXPECT_TRUE(pool->remove(first));
  EXPECT_FALSE(pool->remove(first));
  ASSERT_TRUE(pool->add(request(3, 1), second).ok());
  EXPECT_NE(second, first);
}

TEST_F(OneByOneTest, RefusesWhatDoesNotFit) {
  SequenceId id = 0;
  EXPECT_EQ(pool->add(request(0, 1), id).code, Code::BadArgument);
  EXPECT_EQ(pool->add(request(600, 1), id).code, Code::BadArgument);
  EXPECT_EQ(pool->add(request(1, INT64_MAX), id).code, Code::BadArgument);
  PoolRequest odd = request(1, 1);
  odd.tokens = {261};
  EXPECT_EQ(pool->add(odd, id).code, Code::BadArgument);
  // Only the prompt, up to the last place.
  PoolRequest whole = request(600, 0);
  whole.promptLogprobs = 0;
  size_t count = 0;
  for (const PoolEvent &event : runAll(whole))
    count += event.prompt.size();
  EXPECT_EQ(count, 599u);
}

TEST_F(OneByOneTest, StopTokensEndAnAnswer) {
  PoolRequest wanted = request(5, 50);
  int32_t second = runAll(wanted)[1].token;
  wanted.stopTokens = {second};
  std::vector<PoolEvent> events = runAll(wanted);
  EXPECT_LE(events.size(), 2u);
  EXPECT_TRUE(events.back().finished);
  EXPECT_EQ(events.back().token, second);
  EXPECT_EQ(events.back().reason, FinishReason::EndToken);
}
