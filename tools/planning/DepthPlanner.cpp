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
    // Together maps make up for some of what they lose alone.
    constexpr double kTooMuch = 2.5;
    return shareOf(other) > kTooMuch;
  });
}

double DepthPlanner::shareOf(const Choice &choice) const {
  double share = 0;
  for (size_t k = 0; k < choice.spends.size(); ++k)
    share = std::max(share, choice.spends[k] / limitOf(k));
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
                      printDepth(choice.depth).c_str(), shareOf(choice));
        line += text;
      }
    std::fprintf(stderr, "%4zu%s\n", i, line.c_str());
  }
}

Status DepthPlanner::measure(const DepthPlan &plan, const MapSet &maps,
                             Measurement &result) {
  GIST_TRY(model.follow(plan, maps));
  return terms.measureTexts(pool, tryDepths(false), result);
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
    Status status = measure(plans[i], choice.maps, measured);
    // Kinds that there was no time for are not offered.
    if (!status.ok() && limit.hasStopped())
      return {};
    GIST_TRY(std::move(status));
    for (size_t k = 0; k < terms.terms().size(); ++k) {
      run::Mean parts = terms.differences(measured, k);
      // A gain by chance is not taken for a gain.
      choice.spends.push_back(
          measured.terms[k].parts.empty()
              ? 0
              : std::max(terms.loss(measured, k), 0.1 * parts.error));
    }
  }
  return {};
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

Status DepthPlanner::tryPlan(const DepthPlan &plan, MapSet maps,
                             double &share) {
  double work = countWork(model, plan, options.prompt);
  GIST_TRY(fitter.fitTogether(plan, limit, maps));
  Measurement measured;
  GIST_TRY(measure(plan, maps, measured));
  share = 0;
  std::string worst;
  auto judge = [&](bool areQuestions) {
    for (size_t k = 0; k < terms.terms().size(); ++k) {
      if ((terms.terms()[k].kind == TermKind::Tasks) != areQuestions ||
          measured.terms[k].parts.empty())
        continue;
      double lost = terms.boundOfOthers(measured, k, options.confidence);
      if (lost / limitOf(k) > share) {
        share = lost / limitOf(k);
        worst = terms.title(terms.terms()[k]) + ", " +
                nameOf(terms.terms()[k].kind);
      }
    }
  };
  judge(/*areQuestions=*/false);
  if (share <= 1) {
    GIST_TRY(terms.askQuestions(pool, tryDepths(false), measured));
    judge(/*areQuestions=*/true);
  }
  std::fprintf(stderr, "work %.3f spends %.2f of what is allowed (%s)%s\n",
               work, share, worst.c_str(), share <= 1 ? "" : ": too much");
  if (share <= 1 && work < best.work)
    best = {plan, std::move(maps), std::move(measured), work};
  return {};
}

Status DepthPlanner::search() {
  size_t count = terms.terms().size();
  std::vector<double> budgets(count);
  // Maps that are fitted together lose less than the sum of what they lose
  // alone, and bounds are above what was measured.
  double low = 0, high = 0, factor = 1;
  std::vector<DepthPlan> tried;
  for (int i = 0; i < options.tries && !limit.isOver(); ++i) {
    for (size_t k = 0; k < count; ++k)
      budgets[k] = factor * limitOf(k);
    MapSet maps;
    DepthPlan plan = choose(budgets, maps);
    double share = 0;
    bool isKnown =
        std::any_of(tried.begin(), tried.end(), [&](const DepthPlan &other) {
          return other.layers == plan.layers;
        });
    if (plan.isNeeded() && !isKnown)
      GIST_TRY(tryPlan(plan, std::move(maps), share));
    else if (isKnown)
      share = plan.layers == best.plan.layers ? 0 : 2;
    tried.push_back(plan);
    (share <= 1 ? low : high) = factor;
    factor = high == 0  ? low * 2
             : low == 0 ? high / std::clamp(share, 1.6, 4.0)
                        : std::sqrt(low * high);
  }
  return {};
}

Status DepthPlanner::solve(FoundDepths &found) {
  best.plan = model.none();
  pool.stopAt(limit);
  GIST_TRY(model.followNone());
  GIST_TRY(terms.measureDense(pool, tryDepths(true)));
  collectChoices();
  Status status = measureAlone();
  printAlone();
  if (status.ok())
    status = search();
  if (!status.ok() && !limit.hasStopped())
    return status;
  found = std::move(best);
  return model.follow(found.plan, found.maps);
}
