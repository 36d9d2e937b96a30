//===- DepthPlanner.cpp - Searches which layers a prompt needs ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/DepthPlanner.h"

#include "tools/planning/Certificate.h"
#include "tools/running/Progress.h"

#include <algorithm>
#include <cmath>

using namespace gist;
using namespace gist::plan;

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Multiply-adds of a layer for one token of the bulk.
static double workOf(const DepthModel &model, size_t layer,
                     const DepthChoice &choice, double attention) {
  const LayerSizes &sizes = model.sizes(layer);
  auto width = static_cast<double>(
      model.getSession().module().spec().model.embeddingSize);
  // The last layer leaves nothing but keys and values in any case.
  bool isLast = layer + 1 == model.countLayers();
  double rest = sizes.queries + sizes.output + attention;
  auto all = static_cast<double>(model.outputWeight(layer).cols());
  switch (choice.kind) {
  case LayerDepth::Thin:
    if (!isLast)
      return sizes.keys + rest +
             sizes.neurons * static_cast<double>(choice.neurons) / all;
    break;
  case LayerDepth::Linear:
    return sizes.keys + (isLast ? 0 : width * width);
  case LayerDepth::Tail:
    return sizes.keys;
  case LayerDepth::Full:
  case LayerDepth::Any:
    break;
  }
  return sizes.keys + (isLast ? 0 : rest + sizes.neurons);
}

/// Of scores and values, for one token in the middle of a prompt.
static double attentionOf(const DepthModel &model, size_t layer,
                          int64_t prompt) {
  auto width = static_cast<double>(
      model.getSession().module().spec().model.embeddingSize);
  return model.sizes(layer).queries / width * static_cast<double>(prompt);
}

double plan::countWork(const DepthModel &model, const DepthPlan &plan,
                       int64_t prompt) {
  double whole = 0, bulk = 0;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    double attention = attentionOf(model, i, prompt);
    whole += workOf(model, i, {}, attention);
    bulk += workOf(model, i, plan.layers[i], attention);
  }
  double ends =
      static_cast<double>(plan.first + plan.last) / static_cast<double>(prompt);
  return std::min(1.0, ends + (1 - ends) * bulk / whole);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

Attempt plan::tryDepths(bool isWhole) {
  // The name is for results that are kept, which those of depths are not.
  return {"", [isWhole](Prober &prober, std::span<const int32_t> tokens,
                        size_t firstCounted, ProbeRun &result) {
            Session &session = *prober.model().session;
            session.readWhole(isWhole);
            GIST_TRY(session.reset());
            return prober.predict(tokens, firstCounted, result.losses);
          }};
}

DepthPlan DepthPlanner::planOf(const Choice &choice) const {
  DepthPlan plan = model.none();
  bool isTail = choice.depth.kind == LayerDepth::Tail;
  size_t end = isTail ? plan.layers.size() : choice.layer + 1;
  for (size_t i = choice.layer; i < end; ++i)
    plan.layers[i] = choice.depth;
  return plan;
}

/// Tails first, from the end; of a layer the kinds that lose least first.
void DepthPlanner::collectChoices() {
  size_t count = model.countLayers();
  for (size_t i = count - 1; i > count / 2; --i)
    choices.push_back({i, {LayerDepth::Tail, 0}, {}, {}});
  for (size_t i = 0; i + 1 < count; ++i) {
    auto all = static_cast<int64_t>(model.outputWeight(i).cols());
    for (int64_t share : options.shares)
      // Whole blocks of what kernels read at once.
      if (int64_t neurons = all / share / 64 * 64; neurons > 0)
        choices.push_back({i, {LayerDepth::Thin, neurons}, {}, {}});
    choices.push_back({i, {LayerDepth::Linear, 0}, {}, {}});
  }
}

/// Of what is allowed. Together maps make up for some of what they lose alone.
static constexpr double kHopeless = 2.5;

/// A layer that loses too much with more work loses too much with less.
bool DepthPlanner::isHopeless(const Choice &choice) const {
  return std::any_of(choices.begin(), choices.end(), [&](const Choice &other) {
    bool isTail = choice.depth.kind == LayerDepth::Tail;
    bool isLess = isTail ? other.depth.kind == LayerDepth::Tail &&
                               other.layer > choice.layer
                         : other.depth.kind != LayerDepth::Tail &&
                               other.layer == choice.layer;
    if (!isLess || other.spends.empty())
      return false;
    return shareOf(other.spends) > kHopeless;
  });
}

double DepthPlanner::shareOf(const std::vector<double> &spends) const {
  double share = 0;
  for (size_t k = 0; k < spends.size(); ++k)
    share = std::max(share, spends[k] / limitOf(k));
  return share;
}

void DepthPlanner::printAlone() const {
  std::fprintf(stderr, "what each layer alone spends of what is allowed:\n");
  for (size_t i = 0; i < model.countLayers(); ++i) {
    std::string line;
    for (const Choice &choice : choices)
      if (choice.layer == i && !choice.spends.empty()) {
        char text[64];
        std::snprintf(text, sizeof(text), "  %s %.2f",
                      printDepth(choice.depth).c_str(), shareOf(choice.spends));
        line += text;
      }
    std::fprintf(stderr, "%4zu%s\n", i, line.c_str());
  }
}

Status DepthPlanner::measure(const Contract &by, const DepthPlan &plan,
                             const MapSet &maps, const IsKept &isKept,
                             Measurement &result) {
  GIST_TRY(model.follow(plan, maps));
  GIST_TRY(by.measureTexts(pool, tryDepths(false), result));
  return isKept(result) ? by.askQuestions(pool, tryDepths(false), result)
                        : Status();
}

Status DepthPlanner::measureAlone() {
  std::vector<DepthPlan> plans;
  std::vector<MapSet> maps;
  for (const Choice &choice : choices)
    plans.push_back(planOf(choice));
  GIST_TRY(fitter.fitAlone(plans, limit, maps));
  Progress bar("kinds of layers", choices.size(), 0, &limit);
  for (size_t i = 0; i < choices.size(); ++i, bar.advance()) {
    Choice &choice = choices[i];
    choice.maps = std::move(maps[i]);
    if (isHopeless(choice))
      continue;
    Measurement measured;
    auto isKept = [&](const Measurement &texts) {
      return shareOf(spendsOf(texts)) <= kHopeless;
    };
    GIST_TRY(measure(kinds, plans[i], choice.maps, isKept, measured));
    choice.spends = spendsOf(measured);
  }
  return {};
}

std::vector<double> DepthPlanner::spendsOf(const Measurement &measured) const {
  // There may be no questions for single kinds.
  std::vector<double> spends(terms.terms().size());
  for (size_t k = 0; k < kinds.terms().size(); ++k)
    if (!measured.terms[k].parts.empty())
      // A gain by chance is not taken for a gain.
      spends[k] = std::max(kinds.loss(measured, k),
                           0.1 * kinds.differences(measured, k).error);
  return spends;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

DepthPlan DepthPlanner::choose(const std::vector<double> &budgets,
                               MapSet &maps) const {
  size_t count = model.countLayers(), terms = budgets.size();
  DepthPlan cheapest = model.none();
  double least = countWork(model, cheapest, options.prompt);
  // Each tail, and none.
  for (size_t tail = 0; tail <= choices.size(); ++tail) {
    std::vector<double> left = budgets;
    size_t end = count - 1;
    const Choice *from = tail < choices.size() ? &choices[tail] : nullptr;
    if (from) {
      if (from->depth.kind != LayerDepth::Tail || from->spends.empty())
        continue;
      end = from->layer;
      for (size_t k = 0; k < terms; ++k)
        left[k] -= from->spends[k];
    }
    if (std::any_of(left.begin(), left.end(),
                    [](double budget) { return budget <= 0; }))
      continue;
    std::vector<std::vector<HeadOption>> options(end);
    std::vector<std::vector<const Choice *>> offered(end);
    for (size_t i = 0; i < end; ++i) {
      options[i] = {
          {workOf(model, i, {}, attentionOf(model, i, this->options.prompt)),
           std::vector<double>(terms)}};
      offered[i] = {nullptr};
    }
    for (const Choice &choice : choices)
      if (choice.depth.kind != LayerDepth::Tail && choice.layer < end &&
          !choice.spends.empty()) {
        options[choice.layer].push_back(
            {workOf(model, choice.layer, choice.depth,
                    attentionOf(model, choice.layer, this->options.prompt)),
             choice.spends});
        offered[choice.layer].push_back(&choice);
      }
    std::vector<size_t> chosen = chooseOptions(options, left);
    DepthPlan plan = model.none();
    MapSet own = from ? from->maps : MapSet();
    if (from)
      plan = planOf(*from);
    for (size_t i = 0; i < end; ++i)
      if (const Choice *choice = offered[i][chosen[i]]) {
        plan.layers[i] = choice->depth;
        own.insert(choice->maps.begin(), choice->maps.end());
      }
    if (double work = countWork(model, plan, this->options.prompt);
        work < least) {
      least = work;
      cheapest = std::move(plan);
      maps = std::move(own);
    }
  }
  return cheapest;
}

void DepthPlanner::judge(const Measurement &measured, Shares &shares) const {
  shares.terms.assign(terms.terms().size(), 0);
  for (size_t k = 0; k < shares.terms.size(); ++k) {
    if (measured.terms[k].parts.empty())
      continue;
    shares.terms[k] =
        terms.boundOfOthers(measured, k, options.confidence) / limitOf(k);
    if (shares.terms[k] > shares.terms[shares.worst])
      shares.worst = k;
  }
}

Status DepthPlanner::tryPlan(const DepthPlan &plan, MapSet maps,
                             Shares &shares) {
  double work = countWork(model, plan, options.prompt);
  GIST_TRY(fitter.fitTogether(plan, limit, maps));
  Measurement measured;
  auto isOfTextsKept = [&](const Measurement &texts) {
    judge(texts, shares);
    return shares.largest() <= 1;
  };
  GIST_TRY(measure(terms, plan, maps, isOfTextsKept, measured));
  judge(measured, shares);
  const Term &worst = terms.terms()[shares.worst];
  bool isKept = shares.largest() <= 1;
  std::fprintf(stderr, "work %.3f spends %.2f of what is allowed (%s, %s)%s\n",
               work, shares.largest(), terms.title(worst).c_str(),
               nameOf(worst.kind), isKept ? "" : ": too much");
  if (isKept && work < best.work)
    best = {plan, std::move(maps), std::move(measured), work};
  return {};
}

std::vector<double> DepthPlanner::addSpends(const DepthPlan &plan) const {
  std::vector<double> sums(terms.terms().size());
  for (const Choice &choice : choices) {
    const auto &[layer, depth, maps, spends] = choice;
    // A tail is measured from its first layer on.
    bool isInside = depth.kind == LayerDepth::Tail && layer > 0 &&
                    plan.layers[layer - 1].kind == LayerDepth::Tail;
    if (plan.layers[layer] == depth && !isInside)
      for (size_t k = 0; k < spends.size(); ++k)
        sums[k] += spends[k];
  }
  return sums;
}

Status DepthPlanner::search() {
  std::vector<double> budgets;
  for (size_t k = 0; k < terms.terms().size(); ++k)
    budgets.push_back(limitOf(k));
  // Maps that are fitted together lose less than the sum of what they lose
  // alone, and bounds are above what was measured.
  std::vector<DepthPlan> tried;
  for (int i = 0; i < options.tries && !limit.isOver(); ++i) {
    MapSet maps;
    DepthPlan plan = choose(budgets, maps);
    bool isKnown = std::ranges::any_of(tried, [&](const DepthPlan &other) {
      return other.layers == plan.layers;
    });
    Shares shares;
    if (plan.isNeeded() && !isKnown)
      GIST_TRY(tryPlan(plan, std::move(maps), shares));
    shares.terms.resize(budgets.size());
    bool isKept = shares.largest() <= 1;
    // Nothing is known of plans in between.
    if (isKnown && plan.layers != best.plan.layers)
      isKept = false;
    std::vector<double> sums = addSpends(plan);
    tried.push_back(std::move(plan));
    for (size_t k = 0; k < budgets.size(); ++k)
      if (double share = shares.terms[k]; share > 1)
        budgets[k] =
            std::min(budgets[k], sums[k]) / std::clamp(share, 1.2, 3.0);
      else if (isKept)
        budgets[k] *= std::clamp(1 / std::max(share, 0.1), 1.1, 1.6);
      else if (isKnown)
        budgets[k] /= 1.2;
  }
  return {};
}

Status DepthPlanner::measureKinds(const Promise &loosest) {
  promise = loosest;
  pool.stopAt(limit);
  GIST_TRY(model.followNone());
  GIST_TRY(kinds.measureDense(pool, tryDepths(true)));
  GIST_TRY(terms.measureDense(pool, tryDepths(true)));
  collectChoices();
  Status status = measureAlone();
  printAlone();
  // Kinds that there was no time for are not offered.
  return limit.hasStopped() ? Status() : status;
}

Status DepthPlanner::solve(const Promise &promise, FoundDepths &found) {
  this->promise = promise;
  best = {model.none(), {}, {}};
  Status status = search();
  if (!status.ok() && !limit.hasStopped())
    return status;
  found = std::move(best);
  return {};
}
