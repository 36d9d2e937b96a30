//===- Contract.cpp - What a plan must keep, measured ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Contract.h"

#include "tools/tasks/Sample.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

/// How many sequences of `length` a term is measured on, if the text has as
/// many: a single short one is too noisy, and long ones take time.
static size_t countSequences(size_t length, int64_t tokens) {
  constexpr size_t kMost = 8;
  return std::clamp<size_t>(static_cast<size_t>(tokens) / length, 1, kMost);
}

Status Contract::open(ProbePool &pool, const std::vector<std::string> &texts,
                      const std::vector<int64_t> &lengths) {
  paths = texts;
  for (size_t text = 0; text < texts.size(); ++text) {
    std::vector<int32_t> tokens;
    GIST_TRY(readTokens(pool.first(), texts[text], tokens));
    size_t before = list.size();
    for (int64_t length : lengths)
      for (TermKind kind : {TermKind::Perplexity, TermKind::Recall}) {
        auto count = static_cast<size_t>(length);
        bool isRecall = kind == TermKind::Recall;
        // A recall sequence is half as much text, twice.
        size_t taken = isRecall ? count / 2 : count;
        // Sequences do not overlap, so that each is an independent sample.
        size_t fit = std::min(tokens.size() / taken,
                              countSequences(count, tokensOfTerm));
        if (fit == 0)
          continue;
        list.push_back({text, length, kind});
        for (size_t i = 0; i < fit; ++i) {
          std::span<const int32_t> piece(tokens.data() + i * taken, taken);
          addWindow(isRecall
                        ? repeatHalf(tokens, i * taken, count)
                        : std::vector<int32_t>(piece.begin(), piece.end()));
        }
      }
    if (list.size() == before)
      return Status::error(
          Code::BadArgument,
          "%s: the text has %zu tokens, which is too few for any sequence",
          texts[text].c_str(), tokens.size());
  }
  return {};
}

/// A sequence of the last term. Nothing predicts the very first token, and
/// recall is about the second copy.
void Contract::addWindow(std::vector<int32_t> tokens) {
  // Losses of neighbouring tokens are correlated, means over long stretches
  // hardly.
  constexpr size_t kFewest = 32, kMostParts = 16;
  size_t first = list.back().kind == TermKind::Recall ? tokens.size() / 2 : 1;
  size_t counted = tokens.size() - first;
  Window window{list.size() - 1, std::move(tokens), {}, 0};
  window.parts = std::clamp<size_t>(counted / kFewest, 1, kMostParts);
  window.partOf.assign(first, -1);
  for (size_t i = 0; i < counted; ++i)
    window.partOf.push_back(static_cast<int>(i * window.parts / counted));
  windows.push_back(std::move(window));
}

/// The tokens of the right answers count, and each sample is a part.
Status Contract::addTasks(ProbePool &pool, const TaskTerms &options) {
  const Tokenizer &tokenizer = pool.first().model().tokenizer;
  std::span<const tasks::Task> all = tasks::allTasks();
  tasks::SampleOptions samples{options.seed, options.length};
  tasks::Filler filler;
  size_t total = options.samples * (options.isEach ? all.size() : 1);
  for (size_t i = 0; i < total; ++i) {
    // One task after the other, or all of them in turns.
    size_t task = options.isEach ? i / options.samples : i % all.size();
    size_t number = options.isEach ? i % options.samples : i / all.size();
    if (options.isEach ? number == 0 : i == 0) {
      list.push_back({taskNames.size(), options.length, TermKind::Tasks,
                      options.isEach ? 1 : std::min(total, all.size())});
      taskNames.emplace_back(options.isEach ? all[task].name : "all tasks");
    }
    tasks::Sample sample;
    GIST_TRY(tasks::makeSample(tokenizer, all[task], filler, samples, number,
                               sample));
    Window window{list.size() - 1, {}, {}, 1};
    for (const tasks::TurnTokens &turn : sample.parts)
      for (auto [part, counts] : {std::pair(&turn.text, false),
                                  {&turn.question, false},
                                  {&turn.target, true}}) {
        window.tokens.insert(window.tokens.end(), part->begin(), part->end());
        window.partOf.resize(window.tokens.size(), counts ? 0 : -1);
      }
    windows.push_back(std::move(window));
  }
  return {};
}

std::string Contract::title(const Term &term) const {
  return term.kind == TermKind::Tasks
             ? taskNames[term.text]
             : std::filesystem::path(paths[term.text]).filename().string();
}

size_t Contract::countTokens() const {
  size_t count = 0;
  for (const Window &window : windows)
    count += window.tokens.size();
  return count;
}

Status Contract::measureWindow(Prober &prober, const Plan &plan, size_t number,
                               WindowResult &result) const {
  const Window &window = windows[number];
  const Term &term = list[window.term];
  const AttentionShape &shape = prober.module().shape;
  std::string key;
  if (trials) {
    key = Trials::nameOf(plan, window.tokens, letterOf(term.kind));
    // The file is untrusted, so sizes are compared.
    if (trials->find(key, result) && result.losses.size() == window.parts &&
        result.clusters.size() == static_cast<size_t>(shape.heads()))
      return {};
    result = {};
  }
  ProbeRun run;
  int64_t end[] = {static_cast<int64_t>(window.tokens.size())};
  auto counts = [](int part) { return part >= 0; };
  auto first = std::ranges::find_if(window.partOf, counts);
  GIST_TRY(prober.run(plan, window.tokens, end, run,
                      static_cast<size_t>(first - window.partOf.begin())));
  result.losses.resize(window.parts);
  for (size_t t = 0; t < run.losses.size(); ++t)
    if (window.partOf[t] >= 0)
      result.losses[static_cast<size_t>(window.partOf[t])] +=
          static_cast<double>(run.losses[t]);
  // Heads that a plan cannot change do not count as its work.
  for (size_t head = 0; head < run.work.front().size(); ++head)
    if (prober.module().isChosen(head))
      result.work += countMultiplyAdds(run.work.front()[head], shape);
  result.clusters = run.clusters.front();
  return trials ? trials->add(key, result) : Status();
}

Status Contract::measure(ProbePool &pool, const Plan &plan,
                         Measurement &result) const {
  Measurement measured;
  GIST_TRY(measureTexts(pool, plan, measured));
  GIST_TRY(askQuestions(pool, plan, measured));
  result = std::move(measured);
  return {};
}

Status Contract::measureTexts(ProbePool &pool, const Plan &plan,
                              Measurement &result) const {
  Measurement measured;
  measured.terms.resize(list.size());
  measured.clusters.resize(
      static_cast<size_t>(pool.first().module().shape.heads()));
  GIST_TRY(addWindows(pool, plan, /*areQuestions=*/false, measured));
  result = std::move(measured);
  return {};
}

Status Contract::askQuestions(ProbePool &pool, const Plan &plan,
                              Measurement &result) const {
  return addWindows(pool, plan, /*areQuestions=*/true, result);
}

Status Contract::addWindows(ProbePool &pool, const Plan &plan,
                            bool areQuestions, Measurement &result) const {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < windows.size(); ++i)
    if ((list[windows[i].term].kind == TermKind::Tasks) == areQuestions)
      numbers.push_back(i);
  std::vector<WindowResult> runs(windows.size());
  GIST_TRY(pool.forEach(numbers.size(), [&](Prober &prober, size_t i) {
    GIST_TRY(measureWindow(prober, plan, numbers[i], runs[numbers[i]]));
    if (afterWindow)
      afterWindow();
    return Status();
  }));
  const AttentionShape &shape = pool.first().module().shape;
  Measurement measured = result;
  std::vector<double> predicted(list.size()), dense(list.size());
  for (size_t i : numbers) {
    const Window &window = windows[i];
    TermResult &sum = measured.terms[window.term];
    std::vector<double> counts(window.parts);
    for (int part : window.partOf)
      if (part >= 0)
        counts[static_cast<size_t>(part)] += 1;
    for (size_t part = 0; part < window.parts; ++part) {
      // Each sample of a task weighs the same, and so does each token of text.
      double weight =
          list[window.term].kind == TermKind::Tasks ? 1 / counts[part] : 1;
      sum.loss += weight * runs[i].losses[part];
      predicted[window.term] += weight * counts[part];
      sum.parts.push_back(runs[i].losses[part] / counts[part]);
    }
    sum.work += runs[i].work;
    dense[window.term] +=
        static_cast<double>(pool.first().module().countChosen()) *
        countMultiplyAdds(denseWork(static_cast<int64_t>(window.tokens.size())),
                          shape);
    for (size_t head = 0; head < measured.clusters.size(); ++head)
      // The most of all windows: this becomes the room of a head.
      measured.clusters[head] =
          std::max(measured.clusters[head], runs[i].clusters[head]);
  }
  for (size_t k = 0; k < list.size(); ++k) {
    if (predicted[k] == 0)
      continue;
    measured.terms[k].loss /= predicted[k];
    measured.terms[k].work /= dense[k];
    if (!std::isfinite(measured.terms[k].loss))
      return Status::error(Code::BadArgument,
                           "%s: the model's predictions are not finite numbers",
                           title(list[k]).c_str());
  }
  result = std::move(measured);
  return {};
}

Status Contract::measureDense(ProbePool &pool) {
  const PlannedModule &module = pool.first().module();
  Plan plan;
  plan.block = module.block;
  plan.layers.assign(
      static_cast<size_t>(module.shape.layers),
      std::vector<HeadChoice>(static_cast<size_t>(module.shape.kvHeads)));
  return measure(pool, plan, dense);
}

run::Mean Contract::differences(const Measurement &measured,
                                size_t term) const {
  const std::vector<double> &now = measured.terms[term].parts,
                            &before = dense.terms[term].parts;
  std::vector<std::vector<double>> groups(list[term].tasks);
  for (size_t i = 0; i < now.size(); ++i)
    groups[i % groups.size()].push_back(now[i] - before[i]);
  std::vector<run::Mean> means;
  for (const std::vector<double> &group : groups)
    means.push_back(run::meanOf(group));
  return run::stratify(means);
}

double Contract::bound(const Measurement &measured, size_t term,
                       double confidence) const {
  run::Mean mean = differences(measured, term);
  double lost = loss(measured, term);
  // A single part has no scatter.
  return mean.count < 2 ? lost : lost + mean.upper(confidence) - mean.value;
}

double Contract::boundOfOthers(const Measurement &measured, size_t term,
                               double confidence) const {
  double own = bound(measured, term, confidence);
  std::vector<double> losses;
  for (size_t k = 0; k < list.size(); ++k)
    if (list[k].kind == list[term].kind && list[k].tokens == list[term].tokens)
      losses.push_back(loss(measured, k));
  if (losses.size() < 2 || list[term].kind == TermKind::Tasks)
    return own;
  return std::max(own, run::meanOf(losses).upperOfNext(confidence));
}

double Contract::densePerplexity(size_t term) const {
  return std::exp(dense.terms[term].loss);
}
