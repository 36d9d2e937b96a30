//===- gist-pool-test.cpp - Sequences together and alone, for Python ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   gist-pool-test [--hip LIBRARY | --cuda] MODULE CHUNK SEED
//
// Makes requests up, runs each in a pool of its own, and then all of them in
// mixes: they join when there is room, some leave before their end, prompts
// begin alike. Every token must be that of the request alone and, where SEED is
// even and they are asked for, the bits of probabilities too. Greedy tokens are
// compared with a session as well, also those of a pool that runs one alone as
// a session does. Where a plan lets the bulk of prompts walk through fewer
// layers, half of the prompts have one, and `reduced` counts the answers that a
// session gives otherwise. Prints what happened as numbers with names, or says
// what differs and fails.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Pool.h"
#include "runtime/session/PrefillCalls.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <span>

using namespace gist;

namespace {
/// What a sequence gave: tokens and how likely they were.
struct Answer {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs, prompt;

  void take(const PoolEvent &event) {
    if (event.token >= 0) {
      tokens.push_back(event.token);
      logprobs.push_back(event.logprobs.logprob);
    }
    for (const TokenLogprobs &each : event.prompt)
      prompt.push_back(each.logprob);
  }
  /// Whether this is how `whole` begins, to the bit.
  bool begins(const Answer &whole) const {
    auto isPrefix = [](const auto &part, const auto &all) {
      return part.size() <= all.size() &&
             std::memcmp(part.data(), all.data(),
                         part.size() * sizeof(part[0])) == 0;
    };
    return isPrefix(tokens, whole.tokens) &&
           isPrefix(logprobs, whole.logprobs) && isPrefix(prompt, whole.prompt);
  }
  bool operator==(const Answer &other) const {
    return begins(other) && other.begins(*this);
  }
};

class Tester {
public:
  Tester(std::shared_ptr<const Module> module, Device &device, int64_t chunk,
         uint32_t seed)
      : module(std::move(module)), device(device), chunk(chunk),
        seedIsEven(seed % 2 == 0), random(seed) {}

  Status run() {
    // Short, so that the tiny models' contexts hold several chunks.
    std::unique_ptr<Pool> pool;
    GIST_TRY(makePool(1, 0, pool));
    context = pool->capacity();
    uint64_t state = 0;
    GIST_TRY(pool->stateBytes(context, state));
    PromptBulk bulk;
    GIST_TRY(PromptBulk::create(module->spec().model, bulk));
    makeRequests(bulk.first ? 2 * (*bulk.first + *bulk.last + bulk.least) : 40);
    for (const PoolRequest &request : requests)
      GIST_TRY(runAlone(*pool, request, alone.emplace_back()));
    GIST_TRY(compareWithSession());
    for (int mix = 0; mix < 4; ++mix)
      GIST_TRY(runMix(2 + mix, mix % 2 == 0 ? 3 : 0));
    uint64_t launchesOfOne = 0, launchesOfFour = 0;
    GIST_TRY(countLaunches(1, launchesOfOne));
    GIST_TRY(countLaunches(4, launchesOfFour));
    std::printf("requests %zu compared %d left %d prefix %" PRIu64
                " session %d of %d fast %d reduced %d state %" PRIu64
                " launches %" PRIu64 " of four %" PRIu64 "\n",
                requests.size(), compared, left, prefixTokens, likeSession,
                greedy, fastLikeSession, reduced, state, launchesOfOne,
                launchesOfFour);
    return {};
  }

private:
  int64_t pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(
                       random() % static_cast<uint64_t>(most - least + 1));
  }

  Status makePool(int64_t sequences, int64_t prefixes,
                  std::unique_ptr<Pool> &pool, bool fastAlone = false) {
    PoolOptions options;
    options.sequences = sequences;
    options.prefixes = prefixes;
    options.chunk = chunk;
    options.fastAlone = fastAlone;
    options.trust = true; // Another machine may have compiled it.
    return Pool::create(module, device, options, pool);
  }

  /// Prompts begin alike in pairs; some are one token, some many chunks.
  void makeRequests(int64_t mostTokens) {
    int64_t vocab = module->spec().model.vocabSize;
    int64_t longest = std::max<int64_t>(context - 12, 1);
    std::vector<int32_t> common;
    for (int64_t i = 0; i < longest; ++i)
      common.push_back(static_cast<int32_t>(pick(0, vocab - 1)));
    for (int i = 0; i < 10; ++i) {
      PoolRequest request;
      int64_t count = i == 0 ? 1 : pick(1, std::min(longest, mostTokens));
      request.tokens.assign(common.begin(), common.begin() + count);
      // The rest is its own.
      for (int64_t k = pick(0, count - 1); i % 2 == 0 && k < count; ++k)
        request.tokens[static_cast<size_t>(k)] =
            static_cast<int32_t>(pick(0, vocab - 1));
      request.maxTokens = pick(1, 12);
      // Without them tokens are drawn where the logits are.
      request.logprobs = seedIsEven ? 1 : -1;
      request.promptLogprobs = seedIsEven && i % 5 == 3 ? 0 : -1;
      if (i % 3 == 2)
        request.sampler = {.temperature = 0.8F,
                           .topK = 5,
                           .seed = static_cast<uint64_t>(i),
                           .repeatPenalty = seedIsEven ? 1.1F : 1.0F};
      requests.push_back(std::move(request));
    }
  }

  Status runAlone(Pool &pool, const PoolRequest &request, Answer &answer) {
    SequenceId id = 0;
    GIST_TRY(pool.add(request, id));
    std::vector<PoolEvent> events;
    while (!pool.empty()) {
      GIST_TRY(pool.step(events));
      for (const PoolEvent &event : events) {
        GIST_TRY(event.status);
        answer.take(event);
      }
    }
    if (answer.tokens.size() != static_cast<size_t>(request.maxTokens))
      return Status::error(Code::Unsupported, "%zu tokens came of %" PRId64,
                           answer.tokens.size(), request.maxTokens);
    return {};
  }

  /// Of a step in which so many sequences write.
  Status countLaunches(int sequences, uint64_t &launches) {
    std::unique_ptr<Pool> pool;
    GIST_TRY(makePool(sequences, 0, pool));
    for (int i = 0; i < sequences; ++i) {
      PoolRequest request;
      request.tokens = {i};
      request.maxTokens = 8;
      SequenceId id = 0;
      GIST_TRY(pool->add(std::move(request), id));
    }
    std::vector<PoolEvent> events;
    while (pool->counters().writing < sequences)
      GIST_TRY(pool->step(events));
    uint64_t before = pool->counters().launches;
    GIST_TRY(pool->step(events));
    launches = pool->counters().launches - before;
    return {};
  }

  /// Greedy tokens, behind a prompt that all layers read or that the plan is
  /// followed for.
  static Status write(Session &session, const PoolRequest &request,
                      bool readsWhole, std::vector<int32_t> &written) {
    GIST_TRY(session.reset());
    session.readWhole(readsWhole);
    Sampler sampler;
    GIST_TRY(Sampler::create({}, sampler));
    std::vector<int32_t> tokens = request.tokens;
    for (int64_t k = 0; k < request.maxTokens; ++k) {
      int32_t token = 0;
      GIST_TRY(session.next(tokens, sampler, token));
      written.push_back(token);
      tokens = {token};
    }
    return {};
  }

  Status compareWithSession() {
    std::unique_ptr<Session> session;
    GIST_TRY(Session::create(module, device, {.chunk = chunk, .trust = true},
                             session));
    std::unique_ptr<Pool> fast;
    GIST_TRY(makePool(1, 0, fast, /*fastAlone=*/true));
    for (size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].sampler.temperature != 0)
        continue;
      bool needsAll = requests[i].promptLogprobs >= 0;
      std::vector<int32_t> written, whole;
      GIST_TRY(write(*session, requests[i], needsAll, written));
      GIST_TRY(write(*session, requests[i], true, whole));
      reduced += written != whole;
      ++greedy;
      likeSession += written == alone[i].tokens;
      Answer answer;
      GIST_TRY(runAlone(*fast, requests[i], answer));
      fastLikeSession += written == answer.tokens;
    }
    return {};
  }

  Status runMix(int64_t sequences, int64_t prefixes) {
    std::unique_ptr<Pool> pool;
    GIST_TRY(makePool(sequences, prefixes, pool));
    struct Running {
      size_t request = 0;
      Answer answer;
      int64_t steps = -1; ///< until it leaves; -1: it stays
    };
    std::map<SequenceId, Running> running;
    int toAdd = 24;
    std::vector<PoolEvent> events;
    while (toAdd > 0 || !pool->empty()) {
      while (toAdd > 0 && pick(0, 2) != 0) {
        Running next;
        next.request = static_cast<size_t>(
            pick(0, static_cast<int64_t>(requests.size()) - 1));
        next.steps = pick(0, 4) == 0 ? pick(1, 6) : -1;
        SequenceId id = 0;
        Status status = pool->add(requests[next.request], id);
        if (status.code == Code::OutOfMemory)
          break; // No room now.
        GIST_TRY(std::move(status));
        running[id] = std::move(next);
        --toAdd;
      }
      GIST_TRY(pool->step(events));
      for (const PoolEvent &event : events) {
        Running &one = running[event.id];
        GIST_TRY(event.status);
        one.answer.take(event);
        const Answer &expected = alone[one.request];
        bool isRight = event.finished ? one.answer == expected
                                      : one.answer.begins(expected);
        if (!isRight)
          return Status::error(
              Code::Unsupported,
              "request %zu (prompt of %zu tokens): token %zu is %" PRId32
              " with %a, but alone %" PRId32 " with %a",
              one.request, requests[one.request].tokens.size(),
              one.answer.tokens.size(), one.answer.tokens.back(),
              static_cast<double>(one.answer.logprobs.back()),
              expected.tokens[one.answer.tokens.size() - 1],
              static_cast<double>(
                  expected.logprobs[one.answer.tokens.size() - 1]));
        compared += event.finished;
      }
      for (auto &[id, one] : running)
        if (one.steps-- == 0)
          left += pool->remove(id);
    }
    prefixTokens += pool->counters().prefixTokens;
    return {};
  }

  std::shared_ptr<const Module> module;
  Device &device;
  int64_t chunk, context = 0;
  bool seedIsEven;
  std::mt19937 random;
  std::vector<PoolRequest> requests;
  std::vector<Answer> alone;
  int compared = 0, left = 0, greedy = 0, likeSession = 0, fastLikeSession = 0;
  int reduced = 0;
  uint64_t prefixTokens = 0;
};
} // namespace

static Status run(std::span<char *> arguments) {
  std::string name = "cpu";
  DeviceOptions options{.threads = 2};
  if (arguments.size() == 5) {
    name = "hip";
    options.library = arguments[1];
  } else if (arguments.size() == 4) {
    name = "cuda";
  }
  std::unique_ptr<Device> device;
  GIST_TRY(openDevice(name, options, device));
  arguments = arguments.last(3);
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(arguments[0], module));
  return Tester(module, *device, std::strtol(arguments[1], nullptr, 10),
                static_cast<uint32_t>(std::strtoul(arguments[2], nullptr, 10)))
      .run();
}

int main(int argc, char **argv) {
  bool isUsed = argc == 4 ||
                (argc == 5 && std::strcmp(argv[1], "--cuda") == 0) ||
                (argc == 6 && std::strcmp(argv[1], "--hip") == 0);
  if (!isUsed) {
    std::fputs(
        "usage: gist-pool-test [--hip LIBRARY | --cuda] MODULE CHUNK SEED\n",
        stderr);
    return 2;
  }
  Status status = run({argv + 1, static_cast<size_t>(argc - 1)});
  if (status.ok())
    return 0;
  std::fprintf(stderr, "gist-pool-test: error: %s\n", status.text.c_str());
  return 1;
}
