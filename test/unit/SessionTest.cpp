//===- SessionTest.cpp - A model runs, whole and in pieces ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"

#include "runtime/device/CpuFeatures.h"
#include "test/unit/TinyModel.h"

#include "nlohmann/json.hpp"
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

using namespace gist;
using namespace gist::test;

namespace {
/// With 1, 2 and 4 threads: kernels are the same, their split is not.
class SessionTest : public ::testing::TestWithParam<unsigned> {
protected:
  void SetUp() override {
    Status status =
        openDevice("cpu", DeviceOptions{.threads = GetParam()}, device);
    ASSERT_TRUE(status.ok()) << status.text;
    load();
  }

  void load() {
    Status status = Module::open(model.write(folder.file("m.gist")), module);
    ASSERT_TRUE(status.ok()) << status.text;
  }

  std::unique_ptr<Session> create(SessionOptions options = {}) {
    std::unique_ptr<Session> session;
    Status status = Session::create(module, *device, options, session);
    EXPECT_TRUE(status.ok()) << status.text;
    return session;
  }

  /// Tokens that do not repeat within a text, the same in each run.
  static std::vector<int32_t> someTokens(size_t count) {
    std::vector<int32_t> tokens(count);
    for (size_t i = 0; i < count; ++i)
      tokens[i] = static_cast<int32_t>(i * 37 % TinyModel::kVocab);
    return tokens;
  }

  static void expectNear(std::span<const float> got,
                         const std::vector<float> &expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], 1e-5f) << "at " << i;
  }

  TemporaryFolder folder;
  TinyModel model;
  std::unique_ptr<Device> device;
  std::shared_ptr<const Module> module;
};
} // namespace

// The result must not depend on how a prompt is cut.
TEST_P(SessionTest, PrefillInChunksOfAnySize) {
  std::vector<int32_t> tokens = someTokens(39);
  for (int64_t chunk : {0, 1, 5, 13, 24, 1000}) {
    auto session = create({.chunk = chunk});
    ASSERT_TRUE(session);
    ASSERT_TRUE(session->feed(tokens).ok());
    EXPECT_EQ(session->position(), 39);
    expectNear(session->logits(), model.logitsAfter(tokens));
  }
}

TEST_P(SessionTest, OtherWeightsInOneSession) {
  // The embeddings of a model with another seed take the place of this one's,
  // in one of two sessions that share the module; then they change back.
  TinyModel other(11);
  const WeightSpec &weight = module->spec().weights.front();
  std::string mine(reinterpret_cast<const char *>(module->weight(0).data),
                   module->weight(0).size);
  std::shared_ptr<const Module> otherModule;
  ASSERT_TRUE(
      Module::open(other.write(folder.file("o.gist")), otherModule).ok());
  std::vector<int32_t> tokens = someTokens(20);
  auto changed = create(), untouched = create();
  for (auto &session : {changed.get(), untouched.get()})
    ASSERT_TRUE(session->feed(tokens).ok());
  for (int i = 0; i < 2; ++i) { // The second time the memory is there already.
    ASSERT_TRUE(changed->setWeight(weight.name, otherModule->weight(0)).ok());
    ASSERT_TRUE(changed->reset().ok());
    ASSERT_TRUE(changed->feed(tokens).ok());
    expectNear(changed->logits(), other.logitsAfter(tokens));
    ASSERT_TRUE(untouched->reset().ok());
    ASSERT_TRUE(untouched->feed(tokens).ok());
    expectNear(untouched->logits(), model.logitsAfter(tokens));
    ASSERT_TRUE(changed->setWeight(weight.name, module->weight(0)).ok());
    ASSERT_TRUE(changed->reset().ok());
    ASSERT_TRUE(changed->feed(tokens).ok());
    expectNear(changed->logits(), model.logitsAfter(tokens));
  }
  EXPECT_EQ(std::memcmp(module->weight(0).data, mine.data(), mine.size()), 0);
  Bytes half = {module->weight(0).data, module->weight(0).size / 2};
  EXPECT_FALSE(changed->setWeight(weight.name, half).ok());
  Status status = changed->setWeight("no such weight", half);
  EXPECT_EQ(status.text, "the module has no weight 'no such weight'");
}

TEST_P(SessionTest, StateOfAnother) {
  // What the other read stands for what this one did not.
  std::vector<int32_t> tokens = someTokens(20), others(7, 3);
  std::span<const int32_t> all = tokens;
  auto first = create(), second = create();
  ASSERT_TRUE(first->feed(all.first(12)).ok());
  // Something else, which must be gone afterwards.
  ASSERT_TRUE(second->feed(others).ok());
  ASSERT_TRUE(second->takeState(*first).ok());
  EXPECT_EQ(second->position(), 12);
  ASSERT_TRUE(second->feed(all.subspan(12)).ok());
  expectNear(second->logits(), model.logitsAfter(tokens));
  auto smaller = create({.context = 16});
  ASSERT_TRUE(smaller);
  // Its buffers are smaller than what would be copied.
  EXPECT_EQ(smaller->takeState(*first).text,
            "a session takes state only from a session of the same module and "
            "capacity");
}

// Meters of gist-run rely on it: before and tokens of each call.
TEST_P(SessionTest, CallsAreTold) {
  std::vector<std::pair<int64_t, int64_t>> calls;
  SessionOptions options{.chunk = 8};
  options.afterCall = [&](const Session &, int64_t before, int64_t tokens) {
    calls.emplace_back(before, tokens);
  };
  auto session = create(options);
  ASSERT_TRUE(session->feed(someTokens(19)).ok());
  ASSERT_TRUE(session->feed(someTokens(1)).ok());
  std::vector<std::pair<int64_t, int64_t>> expected = {
      {0, 8}, {8, 8}, {16, 3}, {19, 1}};
  EXPECT_EQ(calls, expected);
}

// The cache of prefill is what decode reads, and reset empties it.
TEST_P(SessionTest, DecodeAfterPrefill) {
  std::vector<int32_t> tokens = someTokens(30);
  auto session = create();
  ASSERT_TRUE(session);
  std::span<const int32_t> all(tokens);
  ASSERT_TRUE(session->feed(all.first(10)).ok());
  for (size_t i = 10; i < tokens.size(); ++i) {
    ASSERT_TRUE(session->feed(all.subspan(i, 1)).ok());
    expectNear(session->logits(), model.logitsAfter(all.first(i + 1)));
  }
  ASSERT_TRUE(session->reset().ok());
  EXPECT_EQ(session->position(), 0);
  EXPECT_TRUE(session->logits().empty());
  ASSERT_TRUE(session->feed(all.subspan(3, 7)).ok());
  expectNear(session->logits(), model.logitsAfter(all.subspan(3, 7)));
}

// 25 tokens in calls of seven.
TEST_P(SessionTest, ScoreGivesEveryPosition) {
  std::vector<int32_t> tokens = someTokens(25);
  auto session = create();
  ASSERT_TRUE(session);
  size_t next = 0;
  Status status = session->score(tokens, [&](size_t index,
                                             std::span<const float> logits) {
    EXPECT_EQ(index, next++);
    expectNear(logits, model.logitsAfter(std::span(tokens).first(index + 1)));
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(next, tokens.size());
  EXPECT_EQ(session->position(), 25);
}

// Modules of --logits=last have no such entry; decode gives the same, more
// slowly.
TEST_P(SessionTest, ScoreWithoutItsEntryIsTheSame) {
  auto &entries = model.writer.spec.entries;
  // The third entry of TinyModel is score.
  entries.erase(entries.begin() + 2);
  load();
  std::vector<int32_t> tokens = someTokens(9);
  auto session = create();
  ASSERT_TRUE(session);
  size_t seen = 0;
  Status status = session->score(tokens, [&](size_t index,
                                             std::span<const float> logits) {
    ++seen;
    expectNear(logits, model.logitsAfter(std::span(tokens).first(index + 1)));
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(seen, tokens.size());
}

// The state of a conversation is not touched.
TEST_P(SessionTest, Embedding) {
  std::vector<int32_t> tokens = someTokens(11);
  auto session = create();
  ASSERT_TRUE(session);
  std::vector<float> result;
  ASSERT_TRUE(session->embed(tokens, result).ok());
  expectNear(result, model.embedding(tokens));
  EXPECT_EQ(session->position(), 0);
}

// gist-run call: everything a user can get wrong has a sentence.
TEST_P(SessionTest, CallByName) {
  auto session = create();
  ASSERT_TRUE(session);
  std::vector<int32_t> tokens = {5, 6, 250};
  Bytes bytes{reinterpret_cast<const uint8_t *>(tokens.data()), 12};
  std::map<std::string, std::vector<uint8_t>> outputs;
  Status status = session->call("prefill", {{"T", 3}, {"P", 0}},
                                {{"tokens", bytes}}, outputs);
  ASSERT_TRUE(status.ok()) << status.text;
  ASSERT_EQ(outputs["logits"].size(), TinyModel::kVocab * sizeof(float));
  expectNear({reinterpret_cast<const float *>(outputs["logits"].data()),
              static_cast<size_t>(TinyModel::kVocab)},
             model.logitsAfter(tokens));

  auto message = [&](std::string_view entry,
                     const std::map<std::string, int64_t> &symbols,
                     const std::map<std::string, Bytes> &inputs) {
    Status failed = session->call(entry, symbols, inputs, outputs);
    EXPECT_FALSE(failed.ok());
    return failed.text;
  };
  EXPECT_EQ(message("train", {}, {}),
            "the module has no entry 'train'; it has: prefill, decode, score, "
            "embed, read");
  EXPECT_EQ(message("prefill", {{"Q", 1}}, {}), "the module has no symbol 'Q'");
  EXPECT_EQ(
      message("prefill", {{"T", 25}}, {}),
      "T = 25 is outside the range 1 to 24 that the module was compiled for");
  EXPECT_EQ(message("decode", {{"T", 2}}, {}),
            "entry 'decode' takes at most 1 tokens; 2 were given");
  EXPECT_EQ(message("prefill", {{"T", 2}}, {}), "input 'tokens' is missing");
  EXPECT_EQ(message("prefill", {{"T", 2}}, {{"tokens", bytes}}),
            "input 'tokens' has 12 bytes, but the entry takes 8");
  EXPECT_EQ(message("prefill", {{"C", 7}}, {{"tokens", bytes}}),
            "the capacity cannot be set: it is chosen when a session is made");
}

// Without the device's sampler the logits are downloaded and the host draws.
TEST_P(SessionTest, NextFromLogitsOnTheHost) {
  std::unique_ptr<Session> session = create();
  std::vector<int32_t> tokens = someTokens(30); // More than one call.
  Sampler greedy;
  ASSERT_TRUE(Sampler::create({}, greedy).ok());
  int32_t token = -1;
  Status status = session->next(tokens, greedy, token);
  ASSERT_TRUE(status.ok()) << status.text;
  std::vector<float> logits = model.logitsAfter(tokens);
  EXPECT_EQ(token,
            std::max_element(logits.begin(), logits.end()) - logits.begin());
  EXPECT_EQ(session->logits().size(), logits.size());
  EXPECT_EQ(session->position(), 30);
}

// The fake sampler returns the random number, so it shows that each call gets
// fresh settings, as the host's sampler would draw them.
TEST_P(SessionTest, NextFromTheDevice) {
  model.addSampling();
  load();
  std::unique_ptr<Session> session = create();
  Sampler sampler, same;
  SamplerOptions options{.temperature = 1.0f, .seed = 3};
  ASSERT_TRUE(Sampler::create(options, sampler).ok());
  ASSERT_TRUE(Sampler::create(options, same).ok());
  std::vector<int32_t> tokens = someTokens(30);
  for (int i = 0; i < 5; ++i) { // The first in chunks, then one by one.
    int32_t token = -1;
    Status status = session->next(tokens, sampler, token);
    ASSERT_TRUE(status.ok()) << status.text;
    int64_t random = same.next().numbers[SampleSettings::Random];
    EXPECT_EQ(token, random % TinyModel::kVocab);
    EXPECT_TRUE(session->logits().empty());
    tokens = {token};
  }
  // Logits are computed if they are asked for.
  ASSERT_TRUE(session->reset().ok());
  tokens = someTokens(5);
  ASSERT_TRUE(session->feed(tokens).ok());
  expectNear(session->logits(), model.logitsAfter(tokens));
}

// A module may be damaged or from a newer compiler: types are asked before
// bytes are copied.
TEST_P(SessionTest, NextRefusesOtherTypesAndSizes) {
  auto message = [&](auto change) {
    TinyModel other;
    other.addSampling();
    change(other.writer.spec);
    Status status = Module::open(other.write(folder.file("n.gist")), module);
    EXPECT_TRUE(status.ok()) << status.text;
    Sampler greedy;
    EXPECT_TRUE(Sampler::create({}, greedy).ok());
    int32_t token = 0;
    return create()->next(someTokens(3), greedy, token).text;
  };
  auto find = [](ModuleSpec &spec, std::string_view name) -> BufferSpec & {
    for (BufferSpec &buffer : spec.buffers)
      if (buffer.name == name)
        return buffer;
    return spec.buffers.front();
  };
  EXPECT_EQ(message([&](ModuleSpec &spec) {
              find(spec, "sampling").type = ElementType::F32;
              find(spec, "sampling").size = spec.addConstant(20);
            }),
            "input 'sampling' has 20 bytes of f32; expected 40 of i64");
  EXPECT_EQ(message([&](ModuleSpec &spec) {
              find(spec, "next").type = ElementType::F32;
            }),
            "output 'next' is f32; expected i32");
  EXPECT_EQ(message([&](ModuleSpec &spec) {
              ExprId two = spec.addConstant(2);
              find(spec, "next").shape = {two};
              find(spec, "next").size = spec.addConstant(8);
            }),
            "the entry returned 8 bytes for one token; expected 4");
}

// A call that fails half way would leave a cache in an unknown state.
TEST_P(SessionTest, FullContextIsRefusedBeforeAnythingRuns) {
  auto session = create();
  ASSERT_TRUE(session);
  ASSERT_EQ(session->capacity(), TinyModel::kContext);
  ASSERT_TRUE(session->feed(someTokens(35)).ok());
  Status status = session->feed(someTokens(6));
  EXPECT_EQ(status.text, "the context is full: it holds 40 tokens, 35 are "
                         "taken and 6 more were given");
  EXPECT_EQ(session->position(), 35);
  EXPECT_TRUE(session->feed(someTokens(5)).ok());
  EXPECT_FALSE(session->feed(someTokens(1)).ok());

  auto larger = create({.context = 100});
  ASSERT_TRUE(larger);
  EXPECT_TRUE(larger->feed(someTokens(100)).ok());
  // The cache and the word of the statistic.
  EXPECT_EQ(larger->memoryUse().state, 100u * TinyModel::kWidth * 4 + 4);
}

// Token ids index tables on the device, where nothing checks them.
TEST_P(SessionTest, RefusesBadArguments) {
  auto session = create();
  ASSERT_TRUE(session);
  std::vector<int32_t> outside = {3, TinyModel::kVocab};
  EXPECT_EQ(session->feed(outside).text,
            "token 261 is outside a vocabulary of 261");
  EXPECT_EQ(session->feed({}).text, "no tokens were given");
  std::unique_ptr<Session> none;
  EXPECT_EQ(
      Session::create(module, *device, {.context = 5000}, none).text,
      "a context of 5000 tokens is outside the range 1 to 4096 that the module "
      "was compiled for");
  EXPECT_EQ(Session::create(module, *device, {.chunk = -1}, none).text,
            "context and chunk sizes cannot be negative");
  EXPECT_FALSE(none);
}

// Code for another machine would crash or give wrong results.
TEST_P(SessionTest, RefusesCodeForOthers) {
  auto message = [&](auto change) {
    TinyModel other;
    change(other.writer.spec);
    std::shared_ptr<const Module> changed;
    EXPECT_TRUE(
        Module::open(other.write(folder.file("other.gist")), changed).ok());
    std::unique_ptr<Session> session;
    Status status = Session::create(changed, *device, {}, session);
    EXPECT_EQ(status.ok(), session != nullptr);
    return status.text;
  };
  EXPECT_NE(message([](ModuleSpec &spec) {
              spec.targets[0].features = {"quantum"};
            }).find("does not have: quantum"),
            std::string::npos);
  EXPECT_NE(message([](ModuleSpec &spec) {
              spec.targets[0].triple = "riscv64-linux-gnu";
            }).find("'cpu' is code for riscv64-linux-gnu, but this device is "),
            std::string::npos);
  EXPECT_EQ(message([](ModuleSpec &spec) {
              spec.targets[0].device = "hip";
              spec.targets[0].format = CodeFormat::Hsaco;
            }),
            "the module has no code for this cpu device, " +
                std::string(hostArchitecture()) + "; 'cpu' is code for hip");
  EXPECT_EQ(message([](ModuleSpec &spec) {
              spec.kernels[2].code[0].symbol = "absent";
            }),
            "kernel 'mean': the code has no symbol 'absent'");
  EXPECT_EQ(message([](ModuleSpec &spec) {
              spec.buffers[2].size = spec.buffers[1].size;
            }),
            "state 'cache' has a size that changes with a call");
}

// A plan whose ranges leave the arena or a buffer is found when it is bound.
TEST_P(SessionTest, RangesAreChecked) {
  auto message = [&](auto change) {
    TinyModel other;
    change(other.writer.spec);
    EXPECT_TRUE(
        Module::open(other.write(folder.file("other.gist")), module).ok());
    auto session = create();
    return session ? session->feed(someTokens(4)).text : std::string();
  };
  // 4 rows of 9 floats; the arena is twice that.
  EXPECT_EQ(message([](ModuleSpec &spec) {
              spec.buffers[4].offset = spec.addConstant(145);
            }),
            "entry 'prefill' command 3: means: 144 bytes at offset 145 do not "
            "fit in 288");
  EXPECT_EQ(message([](ModuleSpec &spec) {
              // One byte behind the 40 rows of the cache.
              spec.entries[0].commands[1].args[1].value =
                  spec.addConstant(40 * 36 + 1);
            }),
            "entry 'prefill' command 1: cache: 0 bytes at offset 1441 do not "
            "fit in 1440");
  EXPECT_EQ(message([](ModuleSpec &spec) {
              spec.entries[0].commands[0].grid[0] =
                  spec.addExpr(Expr::symbol(1) - Expr::symbol(0));
            }),
            "entry 'prefill' command 0: grid is -4, which is negative");
  EXPECT_EQ(message([](ModuleSpec &spec) {
              spec.buffers[5].shape.push_back(spec.addConstant(2));
            }),
            "logits: the shape has 2088 bytes, but the buffer has 1044");
}

// Of the last call: P was 7.
TEST_P(SessionTest, StatisticsComeFromTheDevice) {
  auto session = create({.statistics = true});
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->feed(someTokens(7)).ok());
  ASSERT_TRUE(session->feed(someTokens(1)).ok());
  ASSERT_EQ(session->statistics().size(), 1u);
  EXPECT_EQ(session->statistics()[0].name, "past");
  // The kernel adds 1000 to P.
  EXPECT_EQ(session->statistics()[0].values, std::vector<double>{1007});
}

// Every command that ran is there once per call, in order. The first call only
// leaves state, by the entry `read`; the second one makes logits.
TEST_P(SessionTest, ProfileAndTrace) {
  Profile profile;
  profile.keepEvents(true);
  auto session = create({.profile = &profile});
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->feed(someTokens(30)).ok()); // chunks of 24 and 6
  profile.addSpan("sample", {Profile::now(), Profile::now()});
  expectNear(session->logits(), model.logitsAfter(someTokens(30)));
  const CommandTotal *head = nullptr;
  for (const CommandTotal &total : profile.totals())
    if (total.label == "head")
      head = &total;
  ASSERT_TRUE(head);
  EXPECT_EQ(head->calls, 1u);
  EXPECT_EQ(head->flops, 6.0 * 2 * TinyModel::kVocab * TinyModel::kWidth);
  EXPECT_GT(head->nanoseconds, 0);
  ASSERT_TRUE(profile.writeTrace(folder.file("trace.json")).ok());
  auto json = nlohmann::json::parse(readFile(folder.file("trace.json")),
                                    nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  // Two names of tracks, a call of three commands, one of five, one span.
  EXPECT_EQ(json["traceEvents"].size(), 11u);
  double last = 0;
  for (const auto &event : json["traceEvents"])
    // Track 2 has the commands.
    if (event["ph"] == "X" && event["tid"] == 2) {
      EXPECT_GE(event["ts"].get<double>(), last);
      last = event["ts"].get<double>();
    }
}

// A list that is bound to the same addresses again may be replayed. The place
// in the cache moves with P, so a recording for another P may not.
TEST_P(SessionTest, BindingRepeatsOnlyWhatChanged) {
  auto session = create();
  ASSERT_TRUE(session);
  struct NoCode final : DeviceCode {
  } code;
  SymbolValues symbols(module->spec());
  MemoryMap memory;
  memory.buffers.assign(module->spec().buffers.size(), {4096, 1u << 20});
  memory.arena = {8192, 1u << 20};
  EntryBinding binding(*module, module->spec().entries[1], code);
  ASSERT_TRUE(binding.bind(symbols, memory).ok());
  EXPECT_FALSE(binding.findRecording());
  ASSERT_TRUE(binding.bind(symbols, memory).ok());
  EXPECT_TRUE(binding.findRecording());
  ASSERT_TRUE(symbols.set(1, 3).ok());
  ASSERT_TRUE(binding.bind(symbols, memory).ok());
  EXPECT_FALSE(binding.findRecording());
  // append's second argument: row 3 of the cache.
  EXPECT_EQ(binding.list().args[5], 4096u + 3 * TinyModel::kWidth * 4);
  // What was bound before the last time is known too.
  ASSERT_TRUE(symbols.set(1, 0).ok());
  ASSERT_TRUE(binding.bind(symbols, memory).ok());
  EXPECT_TRUE(binding.findRecording());
  EXPECT_EQ(binding.list().args[5], 4096u);
  // Memory has moved: what was recorded has the old addresses.
  ++memory.generation;
  ASSERT_TRUE(binding.bind(symbols, memory).ok());
  EXPECT_FALSE(binding.findRecording());
}

// Two modules in one process have code with the same symbols. The loader knows
// libraries by path: each must get its own.
TEST_P(SessionTest, TwoModulesAtOnce) {
  TinyModel other(7, /*scaled=*/true);
  std::shared_ptr<const Module> otherModule;
  ASSERT_TRUE(
      Module::open(other.write(folder.file("other.gist")), otherModule).ok());
  auto session = create();
  std::unique_ptr<Session> otherSession;
  ASSERT_TRUE(Session::create(otherModule, *device, {}, otherSession).ok());
  std::vector<int32_t> tokens = someTokens(5);
  ASSERT_TRUE(session->feed(tokens).ok());
  ASSERT_TRUE(otherSession->feed(tokens).ok());
  std::vector<float> expected = model.logitsAfter(tokens);
  expectNear(session->logits(), expected);
  for (float &logit : expected)
    logit *= 2;
  expectNear(otherSession->logits(), expected);
}

// A module is shared by threads; a session and its device are not. The preset
// `tsan` runs this under the thread sanitizer.
TEST_P(SessionTest, TwoThreadsGiveWhatOneGives) {
  std::vector<int32_t> tokens = someTokens(30);
  auto run = [&](std::vector<float> &logits) {
    std::unique_ptr<Device> own;
    std::unique_ptr<Session> session;
    for (int i = 0; i < 20; ++i) {
      if (!openDevice("cpu", {.threads = GetParam()}, own).ok() ||
          !Session::create(module, *own, {}, session).ok() ||
          !session->feed(tokens).ok())
        return;
      logits.assign(session->logits().begin(), session->logits().end());
      session.reset();
    }
  };
  std::vector<float> alone, together[2];
  run(alone);
  ASSERT_EQ(alone.size(), static_cast<size_t>(TinyModel::kVocab));
  std::thread other([&] { run(together[1]); });
  run(together[0]);
  other.join();
  EXPECT_EQ(together[0], alone);
  EXPECT_EQ(together[1], alone);
}

INSTANTIATE_TEST_SUITE_P(Threads, SessionTest, ::testing::Values(1u, 2u, 4u));

// The message lists what there is.
TEST(Devices, Names) {
  std::unique_ptr<Device> device;
  EXPECT_EQ(openDevice("tpu", {}, device).text,
            "there is no device 'tpu'; expected cpu, hip or cuda");
  EXPECT_EQ(openDevice("cpu", {.threads = 5000}, device).text,
            "5000 threads were asked for; at most 1024 are allowed");
  ASSERT_TRUE(openDevice("cpu", {.threads = 3}, device).ok());
  EXPECT_EQ(device->info().parallelism, 3u);
  DeviceMemory memory;
  Status status = device->allocate(uint64_t{1} << 60, memory);
  EXPECT_EQ(status.code, Code::OutOfMemory);
}
