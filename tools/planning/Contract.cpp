//===- Contract.cpp - What a plan must keep, measured ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Contract.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

using namespace gist;
using namespace gist::plan;

/// How many sequences of `length` a term is measured on, where the text has as
/// many: a short one alone says little, and long ones cost.
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
      for (bool isRecall : {false, true}) {
        auto count = static_cast<size_t>(length);
        // A recall sequence is half as much text, twice.
        size_t taken = isRecall ? count / 2 : count;
        // Sequences do not overlap, so that each says something of its own.
        size_t fit = std::min(tokens.size() / taken,
                              countSequences(count, tokensOfTerm));
        if (fit == 0)
          continue;
        list.push_back({text, length, isRecall});
        for (size_t i = 0; i < fit; ++i) {
          std::span<const int32_t> piece(tokens.data() + i * taken, taken);
          windows.push_back(
              {list.size() - 1,
               isRecall ? repeatHalf(tokens, i * taken, count)
                        : std::vector<int32_t>(piece.begin(), piece.end())});
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

size_t Contract::countTokens() const {
  size_t count = 0;
  for (const Window &window : windows)
    count += window.tokens.size();
  return count;
}

/// The first token of a sequence whose prediction counts: nothing predicts the
/// very first, and recall is about the second copy.
static size_t firstCounted(const Term &term, size_t tokens) {
  return term.isRecall ? tokens / 2 : 1;
}

Status Contract::measureWindow(Prober &prober, const Plan &plan, size_t number,
                               WindowResult &result) const {
  const Window &window = windows[number];
  const Term &term = list[window.term];
  const AttentionShape &shape = prober.module().shape;
  std::string key;
  if (trials) {
    key = Trials::nameOf(plan, window.tokens, term.isRecall);
    // A file of people may say anything.
    if (trials->find(key, result) &&
        result.clusters.size() == static_cast<size_t>(shape.heads()))
      return {};
    result = {};
  }
  ProbeRun run;
  int64_t end[] = {term.tokens};
  GIST_TRY(prober.run(plan, window.tokens, end, run));
  for (size_t t = firstCounted(term, window.tokens.size());
       t < run.losses.size(); ++t)
    result.loss += static_cast<double>(run.losses[t]);
  for (const HeadWork &head : run.work.front())
    result.work += countMultiplyAdds(head, shape);
  result.clusters = run.clusters.front();
  return trials ? trials->add(key, result) : Status();
}

Status Contract::measure(ProbePool &pool, const Plan &plan,
                         Measurement &result) const {
  std::vector<WindowResult> runs(windows.size());
  GIST_TRY(pool.forEach(windows.size(), [&](Prober &prober, size_t i) {
    GIST_TRY(measureWindow(prober, plan, i, runs[i]));
    if (afterWindow)
      afterWindow();
    return Status();
  }));
  const AttentionShape &shape = pool.first().module().shape;
  Measurement measured;
  measured.terms.resize(list.size());
  measured.clusters.resize(static_cast<size_t>(shape.heads()));
  std::vector<double> predicted(list.size()), dense(list.size());
  for (size_t i = 0; i < windows.size(); ++i) {
    const Term &term = list[windows[i].term];
    TermResult &sum = measured.terms[windows[i].term];
    sum.loss += runs[i].loss;
    sum.work += runs[i].work;
    size_t tokens = windows[i].tokens.size();
    predicted[windows[i].term] +=
        static_cast<double>(tokens - firstCounted(term, tokens));
    dense[windows[i].term] += static_cast<double>(shape.heads()) *
                              countMultiplyAdds(denseWork(term.tokens), shape);
    for (size_t head = 0; head < measured.clusters.size(); ++head)
      // The most of all windows: this becomes the room of a head.
      measured.clusters[head] =
          std::max(measured.clusters[head], runs[i].clusters[head]);
  }
  for (size_t k = 0; k < list.size(); ++k) {
    measured.terms[k].loss /= predicted[k];
    measured.terms[k].work /= dense[k];
    if (!std::isfinite(measured.terms[k].loss))
      return Status::error(Code::BadArgument,
                           "%s: the model's predictions are not finite numbers",
                           paths[list[k].text].c_str());
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

/// In nats, as losses are: a quality is a ratio of perplexities. Recall may
/// lose five times as much.
double Contract::allowance(const Term &term, double quality) {
  return std::log(term.isRecall ? recallQuality(quality) : quality);
}

double Contract::densePerplexity(size_t term) const {
  return std::exp(dense.terms[term].loss);
}
