//===- GpuDeviceTest.cpp - A model on the fake GPUs -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Generator.h"
#include "runtime/session/Session.h"
#include "test/unit/FakeDriver.h"
#include "test/unit/TinyModel.h"

#include <numeric>
#include <thread>

using namespace gist;
using namespace gist::test;

// FakeGpu.h says what the driver behind these tests does. Both kinds run the
// same tests.
namespace {
class GpuDevice : public ::testing::TestWithParam<std::string> {
protected:
  bool isHip() const { return GetParam() == "hip"; }

  void SetUp() override {
    // Target 1, behind the CPU's: a session must not take the first it finds.
    model.addGpu(isHip() ? "gfx942" : "sm_90", GetParam(),
                 isHip() ? CodeFormat::Hsaco : CodeFormat::Ptx, GIST_FAKE_CODE);
    Status status = driver.open(device);
    ASSERT_TRUE(status.ok()) << status.text;
    load();
  }
  /// Everything that was made must be given back, also after failures.
  void TearDown() override {
    device.reset();
    driver.expectNothingLeft();
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
  /// What making a session says.
  Status creating(SessionOptions options = {}) {
    std::unique_ptr<Session> session;
    return Session::create(module, *device, options, session);
  }
  std::string failure(const char *what) const {
    return std::string("the ") + (isHip() ? "HIP" : "CUDA") +
           " driver could not " + what + ": something is wrong (" +
           (isHip() ? "hipErrorFake)" : "CUDA_ERROR_FAKE)");
  }

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

  FakeDriver driver{GetParam()};
  TemporaryFolder folder;
  TinyModel model;
  std::unique_ptr<Device> device;
  std::shared_ptr<const Module> module;
};
} // namespace

// The same results as on the CPU, for all entries.
TEST_P(GpuDevice, PrefillDecodeScoreEmbed) {
  std::vector<int32_t> tokens = someTokens(39);
  std::span<const int32_t> all(tokens);
  for (int64_t chunk : {0, 1, 5, 13}) {
    auto session = create({.chunk = chunk, .statistics = true});
    ASSERT_TRUE(session);
    EXPECT_EQ(session->target().device, GetParam());
    ASSERT_TRUE(session->feed(all.first(30)).ok());
    for (size_t i = 30; i < all.size(); ++i) {
      ASSERT_TRUE(session->feed(all.subspan(i, 1)).ok());
      expectNear(session->logits(), model.logitsAfter(all.first(i + 1)));
    }
    ASSERT_EQ(session->statistics().size(), 1u);
    // The last call had P = 38, and the kernel adds 1000.
    EXPECT_EQ(session->statistics()[0].values[0], 1038);
    ASSERT_TRUE(session->reset().ok());
    size_t seen = 0;
    Status status =
        session->score(tokens, [&](size_t i, std::span<const float> logits) {
          ++seen;
          expectNear(logits, model.logitsAfter(all.first(i + 1)));
          return Status();
        });
    EXPECT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(seen, 39u);
    std::vector<float> embedding;
    ASSERT_TRUE(session->embed(all.first(11), embedding).ok());
    expectNear(embedding, model.embedding(all.first(11)));
  }
}

// A graph that is replayed with old arguments would repeat tokens.
TEST_P(GpuDevice, GeneratesWhatTheCpuGenerates) {
  Tokenizer tokenizer;
  ASSERT_TRUE(loadTokenizer(*module, tokenizer).ok());
  std::vector<int32_t> prompt = someTokens(6);
  std::unique_ptr<Device> cpu;
  ASSERT_TRUE(openDevice("cpu", {.threads = 1}, cpu).ok());
  std::vector<int32_t> texts[2];
  for (int i = 0; i < 2; ++i) {
    std::unique_ptr<Session> session;
    ASSERT_TRUE(
        Session::create(module, i == 0 ? *device : *cpu, {}, session).ok());
    GenerateResult result;
    ASSERT_TRUE(generate(*session, tokenizer, prompt, {.maxTokens = 20},
                         nullptr, result)
                    .ok());
    texts[i] = result.tokens;
  }
  EXPECT_EQ(texts[0].size(), 20u);
  EXPECT_EQ(texts[0], texts[1]);
}

// A call that repeats is a graph: commands without dependencies are its roots,
// and no order that the graph allows gives another result.
TEST_P(GpuDevice, GraphHasTheBranchesOfTheCommands) {
  std::vector<int32_t> tokens = someTokens(4);
  auto session = create();
  ASSERT_TRUE(session);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(session->reset().ok());
    ASSERT_TRUE(session->feed(tokens).ok());
    expectNear(session->logits(), model.logitsAfter(tokens));
  }
  // embed -> append -> mean -> head, and count, which only mean waits for.
  // The first call launches plainly, the second records, later ones replay.
  EXPECT_EQ(driver.count("launches"), 5);
  EXPECT_EQ(driver.count("nodes"), 5);
  EXPECT_EQ(driver.count("roots"), 2);
  EXPECT_EQ(driver.count("edges"), 4);
  EXPECT_EQ(driver.count("graph_launches"), 3);
  EXPECT_EQ(driver.count("kernels"), 20);
}

// Prompts of a few lengths that take turns are graphs as well.
TEST_P(GpuDevice, GraphsOfSeveralLengthsAreKept) {
  auto session = create();
  ASSERT_TRUE(session);
  // The longest first: memory that grows would move.
  for (int i = 0; i < 4; ++i)
    for (size_t count : {6, 4, 5}) {
      std::vector<int32_t> tokens = someTokens(count);
      ASSERT_TRUE(session->reset().ok());
      ASSERT_TRUE(session->feed(tokens).ok());
      expectNear(session->logits(), model.logitsAfter(tokens));
    }
  EXPECT_EQ(driver.count("launches"), 3 * 5);
  EXPECT_EQ(driver.count("graph_launches"), 3 * 3);
}

// More lengths than are kept: none comes again before it is forgotten.
TEST_P(GpuDevice, GraphsThatAreNotUsedGo) {
  auto session = create();
  ASSERT_TRUE(session);
  for (int i = 0; i < 3; ++i)
    // Ten lengths, where EntryBinding keeps eight. The longest comes first, so
    // that memory does not grow and move.
    for (size_t count = 12; count > 2; --count) {
      std::vector<int32_t> tokens = someTokens(count);
      ASSERT_TRUE(session->reset().ok());
      ASSERT_TRUE(session->feed(tokens).ok());
      expectNear(session->logits(), model.logitsAfter(tokens));
    }
  EXPECT_EQ(driver.count("graph_launches"), 0);
}

// Every piece of work takes the fake card a millisecond.
TEST_P(GpuDevice, LimitsAreMeasured) {
  DeviceLimits limits;
  ASSERT_TRUE(device->measureLimits(limits).ok());
  EXPECT_GT(limits.bytesPerSecond, 2e9); // a MiB or more each way
  EXPECT_NEAR(limits.launchSeconds, 1e-3, 1e-4);
  EXPECT_GT(limits.flopsPerSecond, 0);
}

// Numbers are in memory: the graph of the second decode step serves all later
// ones. Only the mean depends on P here, for the cache is left as it is.
TEST_P(GpuDevice, GraphSurvivesNumbers) {
  auto &commands = model.writer.spec.entries[1].commands;
  commands.erase(commands.begin() + 1); // append, whose place moves with P
  load();
  std::vector<int32_t> tokens = someTokens(5);
  auto session = create();
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->feed(tokens).ok());
  std::vector<float> expected = model.logitsAfter(tokens);
  for (int step = 0; step < 6; ++step) {
    ASSERT_TRUE(session->feed(std::span(tokens).first(1)).ok());
    std::vector<float> diluted = expected;
    // Rows behind the five are zero, and the mean counts P + 1 of them.
    for (float &logit : diluted)
      logit *= 5.0f / static_cast<float>(6 + step);
    expectNear(session->logits(), diluted);
  }
  EXPECT_EQ(driver.count("launches"), 5 + 4);
  EXPECT_EQ(driver.count("nodes"), 4);
  EXPECT_EQ(driver.count("graph_launches"), 5);
}

// A list is recorded by what it launches and not by P: one graph serves all
// steps with the same commands.
TEST_P(GpuDevice, GraphsFollowWhatIsLaunched) {
  ModuleSpec &spec = model.writer.spec;
  auto &commands = spec.entries[1].commands;
  commands.erase(commands.begin() + 1); // append, whose place moves with P
  // Of three steps one launches the command: where P is a multiple of 3.
  Expr past = Expr::symbol(1), three = Expr::constant(3);
  commands[1].grid[2] = spec.addExpr(
      Expr::constant(1) +
      Expr::binary(ExprOp::Mul, Expr::constant(-1),
                   ceilDiv(Expr::binary(ExprOp::Mod, past, three), three)));
  load();
  auto session = create({.statistics = true});
  ASSERT_TRUE(session);
  std::vector<int32_t> tokens = someTokens(6);
  ASSERT_TRUE(session->feed(tokens).ok());
  for (int64_t step = 6; step < 15; ++step) {
    ASSERT_TRUE(session->feed(std::span(tokens).first(1)).ok());
    // The kernel adds 1000 to P.
    EXPECT_EQ(session->statistics()[0].values[0], 1000 + step / 3 * 3);
  }
  // The prompt; then one of each kind is launched plainly, one is recorded.
  EXPECT_EQ(driver.count("launches"), 5 + 4 + 3);
  EXPECT_EQ(driver.count("nodes"), 4 + 3);
  EXPECT_EQ(driver.count("graph_launches"), 7);
}

// An address that changes is not in memory: such a list is launched as it is.
TEST_P(GpuDevice, GraphDoesNotSurviveAddresses) {
  std::vector<int32_t> tokens = someTokens(6);
  auto session = create();
  ASSERT_TRUE(session);
  for (size_t i = 0; i < tokens.size(); ++i)
    ASSERT_TRUE(session->feed(std::span(tokens).subspan(i, 1)).ok());
  expectNear(session->logits(), model.logitsAfter(tokens));
  EXPECT_EQ(driver.count("graph_launches"), 0);
  EXPECT_EQ(driver.count("launches"), 30);
}

// A grid with a zero launches nothing, but what comes after it must still wait
// for what was before it.
TEST_P(GpuDevice, CommandsThatDoNothing) {
  std::vector<float> row(TinyModel::kWidth);
  std::iota(row.begin(), row.end(), 1.0f);
  int64_t numbers[] = {TinyModel::kWidth, 1};
  DeviceMemory from, middle, to, table;
  for (DeviceMemory *memory : {&from, &middle, &to})
    ASSERT_TRUE(device->allocate(row.size() * 4, *memory).ok());
  ASSERT_TRUE(device->allocate(sizeof(numbers), table).ok());
  auto bytes = [](const auto &values) {
    return Bytes{reinterpret_cast<const uint8_t *>(std::data(values)),
                 std::size(values) * sizeof(values[0])};
  };
  ASSERT_TRUE(device->upload(from.address(), bytes(row)).ok());
  ASSERT_TRUE(device->upload(table.address(), bytes(numbers)).ok());
  std::unique_ptr<DeviceCode> code;
  ASSERT_TRUE(device->loadCode(module->spec(), 1, module->code(1), code).ok());

  // copy, nothing, mean after the nothing: so after the copy.
  constexpr uint32_t kAppend = 1, kMean = 2;
  std::vector<uint32_t> none, second = {1}, first = {0};
  CommandList list;
  list.code = code.get();
  uint64_t width = table.address(), one = width + 8;
  list.args = {from.address(),
               middle.address(),
               width,
               from.address(),
               to.address(),
               width,
               middle.address(),
               to.address(),
               one,
               width};
  list.commands = {{kAppend, {1, 1, 1}, 0, 3, &none},
                   {kAppend, {1, 0, 1}, 3, 3, &first},
                   {kMean, {1, 1, 1}, 6, 4, &second}};
  std::unique_ptr<Recording> recording;
  ASSERT_TRUE(device->record(list, recording).ok());
  EXPECT_EQ(driver.count("nodes"), 2);
  EXPECT_EQ(driver.count("edges"), 1);
  ASSERT_TRUE(device->replay(*recording).ok());
  std::vector<float> got(row.size());
  ASSERT_TRUE(device->download(to.address(), got.data(), got.size() * 4).ok());
  EXPECT_EQ(got, row);

  ASSERT_TRUE(device->clear(to.address(), to.size()).ok());
  ASSERT_TRUE(device->submit(list, nullptr).ok());
  EXPECT_EQ(driver.count("launches"), 2);
  ASSERT_TRUE(device->download(to.address(), got.data(), got.size() * 4).ok());
  EXPECT_EQ(got, row);

  // A list without any launch is an empty graph.
  for (BoundCommand &command : list.commands)
    command.grid = {0, 1, 1};
  ASSERT_TRUE(device->record(list, recording).ok());
  ASSERT_TRUE(device->replay(*recording).ok());
  EXPECT_EQ(driver.count("graph_launches"), 1);
}

// Fresh memory of the fake card is full of rubbish, so the device has to clear
// it.
TEST_P(GpuDevice, MemoryIsZeroAndCopiesKeepOrder) {
  DeviceMemory memory;
  ASSERT_TRUE(device->allocate(1000, memory).ok());
  std::vector<uint8_t> got(1000, 1), some = {1, 2, 3};
  ASSERT_TRUE(device->download(memory.address(), got.data(), 1000).ok());
  EXPECT_EQ(got, std::vector<uint8_t>(1000, 0));
  ASSERT_TRUE(device->upload(memory.address() + 5, {some.data(), 3}).ok());
  some = {9, 9, 9}; // the upload has taken what was there
  ASSERT_TRUE(device->clear(memory.address() + 7, 1).ok());
  ASSERT_TRUE(device->download(memory.address() + 4, got.data(), 5).ok());
  EXPECT_EQ(std::vector<uint8_t>(got.begin(), got.begin() + 5),
            (std::vector<uint8_t>{0, 1, 2, 0, 0}));
  EXPECT_TRUE(device->download(memory.address(), nullptr, 0).ok());
  EXPECT_TRUE(device->upload(memory.address(), {}).ok());
  EXPECT_TRUE(device->clear(memory.address(), 0).ok());
  // One byte too many, which the fake driver does not forgive.
  EXPECT_FALSE(device->upload(memory.address() + 998, {some.data(), 3}).ok());
}

// Weights are most of a model: two sessions must not hold two copies.
TEST_P(GpuDevice, WeightsAreSharedBySessions) {
  auto first = create();
  EXPECT_EQ(driver.count("upload_bytes"),
            TinyModel::kVocab * TinyModel::kWidth * 4);
  auto second = create();
  EXPECT_EQ(driver.count("uploads"), 1);
  EXPECT_EQ(first->memoryUse().weights, second->memoryUse().weights);
  std::vector<int32_t> tokens = someTokens(5);
  first.reset();
  ASSERT_TRUE(second->feed(tokens).ok());
  expectNear(second->logits(), model.logitsAfter(tokens));
  second.reset();
  // They are no longer in use: a new session uploads them again.
  long before = driver.count("upload_bytes");
  ASSERT_TRUE(create());
  EXPECT_EQ(driver.count("upload_bytes") - before,
            TinyModel::kVocab * TinyModel::kWidth * 4);
}

// The fake's clock ticks once per piece of work: an event and a kernel.
TEST_P(GpuDevice, TimesComeFromEvents) {
  Profile profile;
  auto session = create({.profile = &profile});
  ASSERT_TRUE(session);
  std::vector<int32_t> tokens = someTokens(4);
  ASSERT_TRUE(session->feed(tokens).ok());
  expectNear(session->logits(), model.logitsAfter(tokens));
  ASSERT_EQ(profile.totals().size(), 5u);
  for (const CommandTotal &total : profile.totals())
    EXPECT_EQ(total.nanoseconds, 2'000'000) << total.label;
}

// A context is current per thread; sessions may move between them.
TEST_P(GpuDevice, OtherThreads) {
  std::vector<int32_t> tokens = someTokens(9);
  std::unique_ptr<Session> session;
  std::thread([&] { session = create(); }).join();
  ASSERT_TRUE(session);
  std::thread([&] { EXPECT_TRUE(session->feed(tokens).ok()); }).join();
  expectNear(session->logits(), model.logitsAfter(tokens));
  std::thread([&] { session.reset(); }).join();
}

// The sentence says what was wanted and what there is.
TEST_P(GpuDevice, OutOfMemory) {
  driver.set("memory", 9500); // the weights are 9396 bytes
  EXPECT_EQ(creating().text,
            "cache: cannot allocate 1440 bytes on Fake card 0: 104 of its 9500 "
            "bytes are free");
  EXPECT_EQ(creating().code, Code::OutOfMemory);
  EXPECT_EQ(driver.count("allocations"), 0);
}

// TearDown looks whether a failure leaves anything behind.
TEST_P(GpuDevice, Failures) {
  std::vector<int32_t> tokens = someTokens(3);
  driver.set("fail_upload", 1);
  EXPECT_EQ(creating().text, "embeddings: " + failure("copy to the card"));
  driver.set("fail_upload", 0);
  driver.set("fail_load", 1);
  EXPECT_EQ(
      creating().text,
      (isHip() ? "target 'gfx942': " : "target 'sm_90': ") +
          failure("load the code") +
          (isHip() ? "" : ": line 7: no such instruction fatal: giving up"));
  driver.set("fail_load", 0);
  auto session = create();
  driver.set("fail_launch", 1);
  EXPECT_EQ(session->feed(tokens).text,
            "kernel 'embed' on a grid of 3 x 1 x 1: " + failure("launch"));
  driver.set("fail_launch", 0);
  ASSERT_TRUE(session->feed(tokens).ok());
  driver.set("fail_graph", 1);
  std::vector<float> embedding;
  // The first call of a kind is launched plainly; the second makes a graph.
  ASSERT_TRUE(session->embed(tokens, embedding).ok());
  EXPECT_EQ(session->embed(tokens, embedding).text,
            failure("make a graph ready"));
  driver.set("fail_graph", 0);
  EXPECT_TRUE(session->embed(tokens, embedding).ok());
  // A failed kernel is reported to the call that waits for it, and by all later
  // ones.
  driver.set("fail_run", 1);
  EXPECT_EQ(session->embed(tokens, embedding).text,
            failure("finish the work on the card"));
  driver.set("fail_run", 0);
  EXPECT_EQ(session->feed(tokens).code, Code::Device);
}

// Found when the session is made, not at the first launch.
TEST_P(GpuDevice, ModulesThatDoNotFit) {
  auto message = [&](auto change) {
    // Every case begins with the model that is right.
    TinyModel kept = model;
    change(model.writer.spec);
    load();
    model = kept;
    return creating().text;
  };
  EXPECT_EQ(message([](ModuleSpec &spec) {
              spec.kernels[2].code[1].symbol = "absent";
            }),
            std::string(isHip() ? "target 'gfx942': " : "target 'sm_90': ") +
                "kernel 'mean': " + failure("find the symbol 'absent'"));
  EXPECT_EQ(message([](ModuleSpec &spec) {
              spec.kernels[2].code[1].sharedMemory = 300000;
            }),
            std::string(isHip() ? "target 'gfx942': " : "target 'sm_90': ") +
                "kernel 'mean' needs 300000 bytes of shared memory, but a "
                "workgroup of Fake card 0 may have only " +
                (isHip() ? "65536" : "232448"));
  EXPECT_EQ(
      message([this](ModuleSpec &spec) {
        spec.targets[1].name = isHip() ? "gfx90a" : "sm_100";
      }),
      isHip() ? "the module has no code for this hip device, "
                "gfx942:sramecc+:xnack-; 'cpu' is code for cpu; 'gfx90a' "
                "is code for gfx90a, but this device is gfx942:sramecc+:xnack-"
              : "the module has no code for this cuda device, sm_90; "
                "'cpu' is code for cpu; 'sm_100' is code for sm_100, but this "
                "device is sm_90");
}

// More than 48 KiB of shared memory must be asked for from CUDA; HIP gives it.
TEST_P(GpuDevice, MuchSharedMemory) {
  // Exactly 48 KiB need no permission; 60000 bytes do.
  model.writer.spec.kernels[2].code[1].sharedMemory = 49152;
  model.writer.spec.kernels[3].code[1].sharedMemory = 60000;
  load();
  ASSERT_TRUE(create());
  EXPECT_EQ(driver.count("big_shared"), isHip() ? 0 : 1);
}

// Kernels that wait themselves overlap with the one before them: count comes
// before mean beside append, so mean waits for both to be over. HIP has no such
// edges, and without the mark every edge is a plain one.
TEST_P(GpuDevice, KernelsThatWaitOverlap) {
  std::vector<int32_t> tokens = someTokens(4);
  for (bool waits : {false, true}) {
    for (KernelSpec &kernel : model.writer.spec.kernels)
      kernel.code[1].waits = waits;
    load();
    auto session = create();
    ASSERT_TRUE(session);
    long before = driver.count("edges");
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(session->reset().ok());
      ASSERT_TRUE(session->feed(tokens).ok());
      expectNear(session->logits(), model.logitsAfter(tokens));
    }
    EXPECT_EQ(driver.count("edges") - before, 4);
    EXPECT_EQ(driver.count("overlaps"), waits && !isHip() ? 2 : 0);
  }
}

// An edge that the driver refuses is an error that names the kernel.
TEST_P(GpuDevice, EdgeThatFails) {
  if (isHip())
    GTEST_SKIP() << "HIP has no such edges";
  for (KernelSpec &kernel : model.writer.spec.kernels)
    kernel.code[1].waits = true;
  load();
  auto session = create();
  ASSERT_TRUE(session);
  std::vector<int32_t> tokens = someTokens(4);
  ASSERT_TRUE(session->feed(tokens).ok());
  ASSERT_TRUE(session->reset().ok());
  driver.set("fail_edge", 1);
  Status status = session->feed(tokens);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.text.find("add a launch to a graph"), std::string::npos)
      << status.text;
}

INSTANTIATE_TEST_SUITE_P(Kinds, GpuDevice, ::testing::Values("hip", "cuda"),
                         [](const auto &info) { return info.param; });
