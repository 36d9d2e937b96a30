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
static size_t countWindows(size_t length) {
  constexpr size_t kTokens = 4096, kMost = 8;
  return std::clamp<size_t>(kTokens / length, 1, kMost);
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
        size_t taken = isRecall ? count / 2 : count;
        size_t fit = std::min(tokens.size() / taken, countWindows(count));
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

Status Contract::measure(ProbePool &pool, const Plan &plan,
                         Measurement &result) const {
  std::vector<ProbeRun> runs(windows.size());
  GIST_TRY(pool.forEach(windows.size(), [&](Prober &prober, size_t i) {
    int64_t end[] = {list[windows[i].term].tokens};
    return prober.run(plan, windows[i].tokens, end, runs[i]);
  }));
  const AttentionShape &shape = pool.first().module().shape;
  Measurement measured;
  measured.terms.resize(list.size());
  measured.clusters.resize(static_cast<size_t>(shape.heads()));
  std::vector<double> predicted(list.size()), dense(list.size());
  for (size_t i = 0; i < windows.size(); ++i) {
    const Term &term = list[windows[i].term];
    TermResult &sum = measured.terms[windows[i].term];
    // Nothing predicts the first token.
    size_t first = term.isRecall ? windows[i].tokens.size() / 2 : 1;
    for (size_t t = first; t < runs[i].losses.size(); ++t)
      sum.loss += static_cast<double>(runs[i].losses[t]);
    predicted[windows[i].term] +=
        static_cast<double>(runs[i].losses.size() - first);
    for (const HeadWork &head : runs[i].work.front())
      sum.work += countMultiplyAdds(head, shape);
    dense[windows[i].term] += static_cast<double>(shape.heads()) *
                              countMultiplyAdds(denseWork(term.tokens), shape);
    for (size_t head = 0; head < measured.clusters.size(); ++head)
      measured.clusters[head] =
          std::max(measured.clusters[head], runs[i].clusters.front()[head]);
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

double Contract::allowance(const Term &term, double quality) {
  return std::log(term.isRecall ? 1 + 5 * (quality - 1) : quality);
}

double Contract::densePerplexity(size_t term) const {
  return std::exp(dense.terms[term].loss);
}
