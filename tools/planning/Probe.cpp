//===- Probe.cpp - A model with a plan, on a text -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Probe.h"

#include "tools/running/Embedding.h"
#include "tools/running/Observer.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>
#include <thread>

using namespace gist;
using namespace gist::plan;

Status Prober::open(const run::ModelOptions &given, bool hasHeads) {
  run::ModelOptions options = given;
  options.statistics = true;
  options.afterCall = [this](const Session &session, int64_t before,
                             int64_t tokens) {
    afterCall(session, before, tokens);
  };
  GIST_TRY(runner.openWithTokenizer(options));
  if (!hasHeads && isEncoder(*runner.session)) {
    size_t most = 0;
    GIST_TRY(run::findEmbedLimit(*runner.session, most));
    planned.context = static_cast<int64_t>(most);
    return findTaus(options.path);
  }
  if (hasHeads)
    GIST_TRY(readPlannedModule(*runner.module, planned).in(options.path));
  if (!runner.session->hasEntry(kEntryNll))
    return Status::error(Code::BadArgument,
                         "%s: the module has no entry '%s': compile the model "
                         "without --logits=last",
                         options.path.c_str(), kEntryNll);
  planned.context = runner.session->capacity();
  return {};
}

bool plan::isEncoder(const Session &session) {
  return session.hasEntry(kEntryEmbed) && !session.hasEntry(kEntryNll);
}

Status Prober::findTaus(const std::string &path) {
  const std::vector<WeightSpec> &weights = runner.module->spec().weights;
  while (true) {
    std::string name = "plan." + std::to_string(tauWeights.size()) + ".taus";
    auto found = std::ranges::find(weights, name, &WeightSpec::name);
    if (found == weights.end())
      break;
    if (found->shape.size() != 1 || found->size % sizeof(float) != 0)
      return Status::error(Code::BadFile, "%s: '%s' is not a list of taus",
                           path.c_str(), name.c_str());
    tausOfLayer = found->size / sizeof(float);
    tauWeights.push_back(name);
  }
  return countTaus() > 0
             ? Status()
             : Status::error(Code::BadArgument,
                             "%s: the module has no taus to choose: compile "
                             "the model with gist-compile --plan=calibration",
                             path.c_str());
}

void Prober::afterCall(const Session &session, int64_t before, int64_t tokens) {
  for (const StatisticValue &value : session.statistics()) {
    if (value.name != kClustersStatistic || !meter)
      continue;
    meter->add(before, tokens, value.values);
    while (current.work.size() < checkpoints.size() &&
           before + tokens >= checkpoints[current.work.size()]) {
      current.work.push_back(meter->heads());
      current.clusters.push_back(value.values);
    }
  }
}

Status Prober::begin(const Plan &plan, std::vector<float> &table) {
  // Only the table changes from plan to plan, so that a model is loaded once
  // for a whole search.
  GIST_TRY(fitPlan(plan, planned.table, planned.context, table));
  GIST_TRY(runner.session->setWeight(
      kPlanHeadsWeight, {reinterpret_cast<const uint8_t *>(table.data()),
                         table.size() * sizeof(float)}));
  return runner.session->reset();
}

Status Prober::observe(const Plan &plan, std::span<const int32_t> tokens,
                       const Watch &watch) {
  std::vector<float> table;
  GIST_TRY(begin(plan, table));
  meter.reset();
  run::Observer observer(runner);
  for (size_t past = 0; past < tokens.size();) {
    size_t count = std::min(observer.callTokens(past, tokens.size()),
                            tokens.size() - past);
    run::Observer::Shown shown;
    GIST_TRY(observer.call(tokens.subspan(past, count), past, shown));
    watch(shown, past, count);
    past += count;
    if (limit && limit->isOver())
      return Status::error(Code::Io, "stopped by its limit");
  }
  return {};
}

Status Prober::run(const Plan &plan, std::span<const int32_t> tokens,
                   std::span<const int64_t> wanted, ProbeRun &result,
                   size_t firstCounted) {
  std::vector<float> table;
  GIST_TRY(begin(plan, table));
  meter.emplace(planned.shape, planned.block, std::move(table));
  checkpoints = wanted;
  current = {};
  GIST_TRY(predict(tokens, firstCounted, current.losses));
  if (current.work.size() != wanted.size())
    return Status::error(Code::BadFile, "the module does not say how many "
                                        "clusters its cache has");
  result = std::move(current);
  return {};
}

Status Prober::predict(std::span<const int32_t> tokens, size_t firstCounted,
                       std::vector<float> &losses) {
  losses.assign(tokens.size(), 0);
  // What follows the last token is not asked.
  std::vector<int32_t> targets(tokens.begin() + 1, tokens.end());
  targets.push_back(tokens.front());
  // The first counted token is predicted by the token before it.
  size_t begin = std::min(firstCounted, tokens.size()) - 1;
  if (begin > 0)
    GIST_TRY(runner.session->feed(tokens.first(begin)));
  GIST_TRY(runner.session->nll(
      tokens.subspan(begin), std::span(targets).subspan(begin),
      [&](size_t first, std::span<const float> found) {
        for (size_t i = 0; i < found.size(); ++i)
          if (begin + first + i + 1 < losses.size())
            losses[begin + first + i + 1] = found[i];
        // After every call, so that a limit does not wait for long sequences.
        return limit && limit->isOver()
                   ? Status::error(Code::Io, "stopped by its limit")
                   : Status();
      }));
  return {};
}

/// A representative is compared with those before it, and another token with
/// at most all of them; dense attention has two products of tokens x tokens.
static double selectionWork(double kept, double tokens) {
  double compared = kept * (kept - 1) / 2 + (tokens - kept) * kept;
  return (2 * tokens * kept + compared) / (2 * tokens * tokens);
}

Status Prober::embed(std::span<const double> taus,
                     std::span<const int32_t> tokens, ProbeRun &result) {
  for (size_t layer = 0; layer < tauWeights.size(); ++layer) {
    auto part = taus.subspan(layer * tausOfLayer, tausOfLayer);
    std::vector<float> values(part.begin(), part.end());
    GIST_TRY(runner.session->setWeight(
        tauWeights[layer], {reinterpret_cast<const uint8_t *>(values.data()),
                            values.size() * sizeof(float)}));
  }
  GIST_TRY(runner.session->embed(tokens, result.embedding));
  std::vector<double> kept;
  for (const StatisticValue &value : runner.session->statistics())
    if (value.name == "representatives")
      kept = value.values;
  if (kept.size() != taus.size())
    return Status::error(Code::BadFile, "the module does not say how many "
                                        "representatives its heads have");
  for (size_t i = 0; i < taus.size(); ++i)
    result.attention +=
        (taus[i] == 0
             ? 1
             : selectionWork(kept[i], static_cast<double>(tokens.size()))) /
        static_cast<double>(taus.size());
  return limit && limit->isOver()
             ? Status::error(Code::Io, "stopped by its limit")
             : Status();
}

Status ProbePool::open(const run::ModelOptions &options, unsigned sessions,
                       bool hasHeads) {
  for (unsigned i = 0; i < sessions; ++i) {
    probers.push_back(std::make_unique<Prober>());
    GIST_TRY(probers.back()->open(options, hasHeads));
  }
  return {};
}

Status ProbePool::forEach(
    size_t count,
    const std::function<Status(Prober &prober, size_t job)> &job) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::vector<Status> states(count);
  auto work = [&](Prober &prober) {
    // Jobs are taken one by one: sequences differ much in length. Each state is
    // written by one thread alone.
    for (size_t i = next++; i < count && !failed; i = next++) {
      states[i] = job(prober, i);
      if (!states[i].ok())
        failed = true;
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(probers.size(), count); ++i)
    threads.emplace_back(work, std::ref(*probers[i]));
  work(*probers.front());
  for (std::thread &thread : threads)
    thread.join();
  // The first job that failed gives the error, not the first in time.
  for (Status &state : states)
    GIST_TRY(std::move(state));
  return {};
}

Plan plan::makeDense(const PlannedModule &module) {
  Plan plan;
  plan.block = module.block;
  plan.layers.assign(
      static_cast<size_t>(module.shape.layers),
      std::vector<HeadChoice>(static_cast<size_t>(module.shape.kvHeads)));
  return plan;
}

Status plan::readTokens(Prober &prober, const std::string &path,
                        std::vector<int32_t> &tokens) {
  std::string text;
  GIST_TRY(run::readText(path, text));
  const Tokenizer &tokenizer = prober.model().tokenizer;
  tokens.assign(tokenizer.spec().prefix.begin(), tokenizer.spec().prefix.end());
  std::vector<int32_t> ids;
  // What looks like a special token in a text stays text.
  tokenizer.encode(text, ids, {.addSpecial = false, .parseSpecial = false});
  if (ids.empty())
    return Status::error(Code::BadArgument, "%s: the text is empty",
                         path.c_str());
  tokens.insert(tokens.end(), ids.begin(), ids.end());
  return {};
}

std::vector<int32_t> plan::repeatHalf(std::span<const int32_t> tokens,
                                      size_t begin, size_t count) {
  std::span<const int32_t> half = tokens.subspan(begin, count / 2);
  std::vector<int32_t> sequence(half.begin(), half.end());
  sequence.insert(sequence.end(), half.begin(), half.end());
  return sequence;
}
