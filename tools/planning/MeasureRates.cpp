//===- MeasureRates.cpp - What parts of a model take here -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/MeasureRates.h"

#include "passes/Plan/File/DepthPlan.h"

#include <algorithm>
#include <bit>

using namespace gist;
using namespace gist::plan;

namespace {
using Tokens = std::span<const int32_t>;

/// Where the time of some calls went, in seconds.
struct PartSeconds {
  double attention = 0, upkeep = 0, rest = 0;

  double all() const { return attention + upkeep + rest; }
};

/// A session that measures its commands. Parts of one run are measured side by
/// side: what else the machine does slows down all of them.
class Stopwatch {
public:
  explicit Stopwatch(run::Runner &runner) : runner(runner) {}

  /// The fastest of a few runs of a prompt.
  Status prompt(Tokens tokens, int times, PartSeconds &parts) {
    return fastest(times, parts, [&]() -> Status {
      GIST_TRY(runner.session->reset());
      runner.profile.clear();
      return runner.session->feed(tokens);
    });
  }
  /// The same of a token behind what the session has read.
  Status token(int32_t token, PartSeconds &parts) {
    constexpr int kTimes = 8;
    return fastest(kTimes, parts, [&] {
      runner.profile.clear();
      return runner.session->feed({&token, 1});
    });
  }

private:
  template <typename Body>
  Status fastest(int times, PartSeconds &parts, Body body) {
    for (int i = 0; i < times; ++i) {
      GIST_TRY(body());
      PartSeconds run = sum();
      if (i == 0 || run.all() < parts.all())
        parts = run;
    }
    return {};
  }
  PartSeconds sum() const {
    PartSeconds parts;
    for (const CommandTotal &total : runner.profile.totals()) {
      bool isAttention = total.label.find("attention") != std::string::npos,
           isUpkeep = total.label.starts_with("cluster");
      (isAttention ? parts.attention
       : isUpkeep ? parts.upkeep
                  : parts.rest) += static_cast<double>(total.nanoseconds) / 1e9;
    }
    return parts;
  }

  run::Runner &runner;
};

/// What all heads together do in a prompt of so many tokens.
HeadPart allHeads(const HeadPart &part, const AttentionShape &shape) {
  auto heads = static_cast<double>(shape.heads());
  HeadPart all = part;
  all.work = {heads * part.work.keys, heads * part.work.compared,
              heads * part.work.absorbed};
  all.rows *= heads;
  return all;
}

HeadPart denseHeads(int64_t tokens, const AttentionShape &shape) {
  return allHeads(
      {HeadKind::Dense, denseWork(tokens), static_cast<double>(tokens)}, shape);
}

double rowSize(const AttentionShape &shape) {
  return static_cast<double>(shape.keySize + shape.valueSize);
}
} // namespace

static double rate(double seconds, double count) {
  return count > 0 ? seconds / count : 0;
}

/// A prompt, a token behind it, and both ends of a prompt by themselves.
static Status measureModel(run::Runner &model, double products,
                           const AttentionShape &shape, Tokens tokens,
                           MeasuredRates &result) {
  Stopwatch watch(model);
  PartRates &rates = result.rates;
  auto count = static_cast<int64_t>(tokens.size());
  HeadPart heads = denseHeads(count, shape);
  PartSeconds prompt, token;
  GIST_TRY(watch.prompt(tokens, 2, prompt));
  GIST_TRY(watch.token(tokens.front(), token));
  rates.product = rate(prompt.rest, products * static_cast<double>(count));
  rates.dense = rate(prompt.attention, countMultiplyAdds(heads.work, shape));
  rates.denseKept = rate(token.attention, heads.rows * rowSize(shape));
  result.token = token.rest;
  rates.weight = rate(
      token.rest, static_cast<double>(run::weightBytesOfToken(*model.module)));
  // The ends beside the work of their tokens.
  DepthPlan usual;
  for (int64_t end : {usual.first, usual.last}) {
    PartSeconds taken;
    Tokens part = tokens.first(static_cast<size_t>(std::min(end, count)));
    GIST_TRY(watch.prompt(part, 3, taken));
    rates.ends +=
        std::max(0.0, taken.all() - rates.product * products *
                                        static_cast<double>(part.size()));
  }
  return {};
}

/// A plan in which all heads do the same.
static Plan planOf(const HeadChoice &head, const PlannedModule &module) {
  Plan plan = makeDense(module);
  for (std::vector<HeadChoice> &layer : plan.layers)
    std::ranges::fill(layer, head);
  return plan;
}

/// The same prompt with all heads dense, windows, and clusters. `restOfPrompt`
/// and `restOfToken` is what the model takes beside attention.
static Status measureHeads(Prober &trial, Tokens tokens, double restOfPrompt,
                           double restOfToken, PartRates &rates) {
  const PlannedModule &module = trial.module();
  const AttentionShape &shape = module.shape;
  Stopwatch watch(trial.model());
  auto count = static_cast<int64_t>(tokens.size());
  struct Run {
    HeadChoice head;
    double *scores, *kept;
  };
  int64_t block = module.block;
  const Run runs[] = {
      {{}, &rates.looked, &rates.lookedKept},
      {{.kind = HeadKind::Window, .window = block, .sinks = 4},
       &rates.ring,
       &rates.ringKept},
      {{.kind = HeadKind::Clusters, .window = block, .theta = 0.7, .room = 1},
       &rates.cluster,
       &rates.clusterKept}};
  for (const Run &run : runs) {
    Plan plan = planOf(run.head, module);
    ProbeRun probe;
    int64_t end[] = {count};
    // What heads do is counted in a run of its own, which is the first to read
    // with this plan.
    GIST_TRY(trial.run(plan, tokens, end, probe, tokens.size()));
    HeadWork work;
    double rows = 0;
    for (size_t i = 0; i < probe.work.front().size(); ++i) {
      work += probe.work.front()[i];
      rows += run.head.kind == HeadKind::Dense
                  ? static_cast<double>(count)
                  : static_cast<double>(run.head.window) +
                        probe.clusters.front()[i];
    }
    trial.model().session->readWhole(true);
    PartSeconds prompt, token;
    GIST_TRY(watch.prompt(tokens, 1, prompt));
    GIST_TRY(watch.token(tokens.front(), token));
    *run.scores =
        rate(prompt.attention, countMultiplyAdds({.keys = work.keys}, shape));
    *run.kept = rate(token.attention, rows * rowSize(shape));
    work.keys = 0;
    if (double joined = countMultiplyAdds(work, shape); joined > 0)
      rates.joined = rate(prompt.upkeep, joined);
    if (run.head.kind != HeadKind::Window)
      continue;
    auto layers = static_cast<double>(shape.layers);
    rates.planned =
        std::max(0.0, (prompt.all() - prompt.attention - restOfPrompt) /
                          (layers * static_cast<double>(count)));
    rates.plannedToken =
        std::max(0.0, (token.all() - token.attention - restOfToken) / layers);
  }
  return {};
}

Status plan::measureRates(run::Runner &model, Prober *trial, double products,
                          const AttentionShape &shape, Tokens tokens,
                          double seconds, MeasuredRates &result) {
  // One run brings the weights into memory and tells how long a prompt may be.
  constexpr size_t kShort = 256;
  Stopwatch watch(model);
  PartSeconds taken;
  Tokens first = tokens.first(std::min(kShort, tokens.size()));
  GIST_TRY(watch.prompt(first, 2, taken));
  double pace = taken.all() / static_cast<double>(first.size());
  // Two prompts, and three plans, each counted once and timed once.
  double runs = trial ? 8 : 2;
  auto fits = static_cast<size_t>(seconds / std::max(pace, 1e-9) / runs);
  size_t most = std::bit_floor(std::max(4 * kShort, fits));
  Tokens prompt = tokens.first(std::min(most, tokens.size()));
  if (prompt.size() < 16)
    return Status::error(Code::BadArgument,
                         "%zu tokens of text are too few to measure time with; "
                         "give a longer --text",
                         prompt.size());
  GIST_TRY(measureModel(model, products, shape, prompt, result));
  if (!trial)
    return {};
  PartRates &rates = result.rates;
  GIST_TRY(measureHeads(*trial, prompt,
                        rates.product * products *
                            static_cast<double>(prompt.size()),
                        result.token, rates));
  // A layer whose heads are all dense is compiled without a plan: where dense
  // heads are faster in a layer with one, that is not to be had.
  rates.looked = std::max(rates.looked, rates.dense);
  rates.lookedKept = std::max(rates.lookedKept, rates.denseKept);
  return {};
}

JobSeconds plan::estimateJob(const MeasuredRates &measured, double products,
                             const AttentionShape &shape, const Job &job) {
  JobTime time(job, shape, measured.rates);
  HeadPart dense = denseHeads(job.prompt, shape);
  JobSeconds result;
  result.promptProducts = time.ofProducts(products, job.prompt);
  result.prompt = result.promptProducts + time.ofPrompt(dense, false);
  result.answerWeights = measured.token * static_cast<double>(job.answer);
  result.answer = result.answerWeights + time.ofAnswer(dense, false);
  return result;
}
