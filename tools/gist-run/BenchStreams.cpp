//===- BenchStreams.cpp - gist-run bench --streams ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What users of a shared machine get: tokens per second of all streams
// together, and how long one waits from token to token while others come with
// their prompts.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/BenchStreams.h"

#include "runtime/session/Pool.h"
#include "tools/running/ModuleCache.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <map>
#include <random>

using namespace gist;
using namespace gist::run;

namespace {
struct Row {
  int64_t streams = 0;
  /// Tokens that were written, by the time from the first request to the last
  /// token: prompts are in it.
  double tokensPerSecond = 0;
  /// The same while all streams write and none reads a prompt.
  double steadyTokensPerSecond = 0;
  /// Milliseconds from one token of a stream to its next.
  double median = 0, late = 0, latest = 0;
  /// Milliseconds of a step that is one whole chunk of a prompt.
  double chunk = 0;
  uint64_t stateBytes = 0;
};

double seconds(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e9;
}

/// The value that `share` of the others do not exceed.
double quantile(std::vector<double> &values, double share) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  auto at = static_cast<size_t>(share * static_cast<double>(values.size() - 1));
  return values[at];
}

class StreamTest {
public:
  StreamTest(Pool &pool, const StreamOptions &options, int64_t streams)
      : pool(pool), options(options) {
    row.streams = streams;
  }

  Status run(Row &result) {
    // Brings weights into memory, and says what a chunk takes.
    for (int i = 0; i < 2; ++i)
      GIST_TRY(timeChunk());
    int64_t toStart = row.streams * options.rounds;
    int64_t begin = Profile::now();
    uint64_t written = pool.counters().writtenTokens;
    double steady = 0;
    uint64_t steadyTokens = 0;
    std::vector<PoolEvent> events;
    while (toStart > 0 || !pool.empty()) {
      for (; toStart > 0 && pool.size() < row.streams; --toStart)
        GIST_TRY(start());
      PoolCounters before = pool.counters();
      int64_t now = Profile::now();
      GIST_TRY(pool.step(events));
      int64_t end = Profile::now();
      if (before.reading == 0 && before.writing == row.streams) {
        steady += seconds(end - now);
        steadyTokens += events.size();
      }
      for (const PoolEvent &event : events)
        GIST_TRY(note(event, end));
    }
    double taken = seconds(Profile::now() - begin);
    row.tokensPerSecond =
        static_cast<double>(pool.counters().writtenTokens - written) / taken;
    if (steady > 0)
      row.steadyTokensPerSecond = static_cast<double>(steadyTokens) / steady;
    row.median = quantile(waits, 0.5);
    row.late = quantile(waits, 0.99);
    row.latest = quantile(waits, 1);
    GIST_TRY(pool.stateBytes(options.prompt + options.answer, row.stateBytes));
    result = row;
    return {};
  }

private:
  std::vector<int32_t> someTokens(int64_t count) {
    auto vocab = static_cast<uint32_t>(
        std::max<int64_t>(pool.module().spec().model.vocabSize, 1));
    std::vector<int32_t> tokens(static_cast<size_t>(count));
    for (int32_t &token : tokens)
      token = static_cast<int32_t>(random() % vocab);
    return tokens;
  }

  Status timeChunk() {
    PoolRequest request;
    request.tokens = someTokens(std::min(pool.chunk(), pool.capacity() - 1));
    SequenceId id = 0;
    GIST_TRY(pool.add(std::move(request), id));
    std::vector<PoolEvent> events;
    int64_t begin = Profile::now();
    GIST_TRY(pool.step(events));
    row.chunk = seconds(Profile::now() - begin) * 1e3;
    pool.remove(id);
    return {};
  }

  Status start() {
    PoolRequest request;
    request.tokens = someTokens(options.prompt);
    request.maxTokens = options.answer;
    SequenceId id = 0;
    return pool.add(std::move(request), id);
  }

  Status note(const PoolEvent &event, int64_t time) {
    if (!event.status.ok())
      return event.status;
    if (event.token < 0)
      return {};
    auto [place, isFirst] = lastToken.try_emplace(event.id, time);
    if (!isFirst)
      waits.push_back(seconds(time - place->second) * 1e3);
    place->second = time;
    return {};
  }

  Pool &pool;
  const StreamOptions &options;
  Row row;
  std::mt19937 random{1}; // NOLINT(bugprone-random-generator-seed)
  std::map<SequenceId, int64_t> lastToken;
  std::vector<double> waits; ///< milliseconds
};
} // namespace

static void printText(const Module &module, const Device &device,
                      const StreamOptions &options, int64_t chunk,
                      const std::vector<Row> &rows) {
  const ModelInfo &model = module.spec().model;
  DeviceInfo info = device.info();
  std::printf(
      "%s on %s, %u threads: prompts of %lld tokens in chunks of %lld, "
      "answers of %lld\n\n",
      model.name.empty() ? model.architecture.c_str() : model.name.c_str(),
      info.kind.c_str(), info.parallelism,
      static_cast<long long>(options.prompt), static_cast<long long>(chunk),
      static_cast<long long>(options.answer));
  std::printf(
      "| streams | tokens/s | all writing | P50 ms | P99 ms | most ms | "
      "chunk ms | state each |\n"
      "| ------: | -------: | ----------: | -----: | -----: | ------: | "
      "-------: | ---------: |\n");
  for (const Row &row : rows)
    std::printf("| %7lld | %8.1f | %11.1f | %6.1f | %6.1f | %7.1f | %8.1f | "
                "%10s |\n",
                static_cast<long long>(row.streams), row.tokensPerSecond,
                row.steadyTokensPerSecond, row.median, row.late, row.latest,
                row.chunk, sizeText(row.stateBytes).c_str());
}

static void printJson(const Module &module, const Device &device,
                      const StreamOptions &options, int64_t chunk,
                      const std::vector<Row> &rows) {
  nlohmann::json tests = nlohmann::json::array();
  for (const Row &row : rows)
    tests.push_back({{"streams", row.streams},
                     {"tokens_per_second", row.tokensPerSecond},
                     {"steady_tokens_per_second", row.steadyTokensPerSecond},
                     {"p50_ms", row.median},
                     {"p99_ms", row.late},
                     {"most_ms", row.latest},
                     {"chunk_ms", row.chunk},
                     {"state_bytes", row.stateBytes}});
  nlohmann::json json = {{"model", module.spec().model.name},
                         {"device", device.info().kind},
                         {"device_name", device.info().name},
                         {"threads", device.info().parallelism},
                         {"prompt", options.prompt},
                         {"answer", options.answer},
                         {"chunk", chunk},
                         {"tests", tests}};
  // A model's name may not be UTF-8; the bytes are replaced, because dump would
  // throw.
  std::printf("%s\n",
              json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                  .c_str());
}

Status run::benchStreams(ModelOptions model, const StreamOptions &options) {
  GIST_TRY(compileOnce(model.device, model.path));
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(model.path, module));
  if (model.verify)
    GIST_TRY(module->verifyWeights().in(model.path));
  std::unique_ptr<Device> device;
  GIST_TRY(run::openDevice(model, device));
  PoolOptions pooled;
  pooled.trust = model.trust;
  pooled.context =
      model.context != 0 ? model.context : options.prompt + options.answer;
  pooled.chunk = model.chunk;
  pooled.prefixes = 0;
  pooled.fastAlone = options.fastAlone;
  pooled.sequences =
      *std::max_element(options.streams.begin(), options.streams.end());
  Profile profile;
  profile.keepEvents(!model.trace.empty());
  if (model.profile || !model.trace.empty())
    pooled.profile = &profile;
  // One pool for all tests: weights are made or brought to a card once.
  std::unique_ptr<Pool> pool;
  GIST_TRY(Pool::create(module, *device, pooled, pool).in(model.path));
  std::vector<Row> rows;
  for (int64_t streams : options.streams)
    GIST_TRY(StreamTest(*pool, options, streams)
                 .run(rows.emplace_back())
                 .in(std::to_string(streams) + " streams"));
  (options.format == "json" ? printJson : printText)(*module, *device, options,
                                                     pool->chunk(), rows);
  return finishProfile(model, *device, profile);
}
