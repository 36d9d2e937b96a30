//===- DepthMenu.cpp - Which layers a prompt's bulk may leave out ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/DepthMenu.h"

#include "tools/running/Progress.h"

#include <algorithm>

using namespace gist;
using namespace gist::plan;

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static double widthOf(const DepthModel &model) {
  return static_cast<double>(
      model.getSession().module().spec().model.embeddingSize);
}

/// Multiply-adds of a layer for one token of the bulk, without attention.
static double productsOf(const DepthModel &model, size_t layer,
                         const DepthChoice &choice) {
  const LayerSizes &sizes = model.sizes(layer);
  // Of the bulk the last layer leaves nothing but keys and values in any case.
  bool isLast = model.hasBulk() && layer + 1 == model.countLayers();
  auto all = static_cast<double>(model.outputWeight(layer).cols());
  double width = widthOf(model), rest = sizes.queries + sizes.output;
  switch (choice.kind) {
  case LayerDepth::Thin:
    return sizes.keys +
           (isLast ? 0
                   : rest + sizes.neurons *
                                static_cast<double>(choice.neurons) / all);
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

static bool hasAttention(const DepthModel &model, size_t layer,
                         const DepthChoice &choice) {
  bool isLast = model.hasBulk() && layer + 1 == model.countLayers();
  return !isLast && choice.kind != LayerDepth::Linear &&
         choice.kind != LayerDepth::Tail;
}

double plan::countWork(const DepthModel &model, const DepthPlan &plan,
                       int64_t prompt) {
  auto workOf = [&](size_t layer, const DepthChoice &choice) {
    // Scores and values, for one token in the middle of a prompt. Without a
    // bulk every token sees all others.
    double attention = model.sizes(layer).output / widthOf(model) *
                       static_cast<double>(prompt) * (model.hasBulk() ? 1 : 2);
    return productsOf(model, layer, choice) +
           (hasAttention(model, layer, choice) ? attention : 0);
  };
  double whole = 0, bulk = 0;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    whole += workOf(i, {});
    bulk += workOf(i, plan.layers[i]);
  }
  double ends = plan.hasBulk ? static_cast<double>(plan.first + plan.last) /
                                   static_cast<double>(prompt)
                             : 0;
  return std::min(1.0, ends + (1 - ends) * bulk / whole);
}

double DepthMenu::timeOf(size_t layer, const DepthChoice &choice,
                         const JobTime &time) const {
  DepthPlan plan;
  return time.ofProducts(
      productsOf(model, layer, choice),
      std::max<int64_t>(time.job().prompt - plan.first - plan.last, 0));
}

bool DepthMenu::keepsHeads(size_t layer, const DepthChoice &choice) const {
  return hasAttention(model, layer, choice);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

DepthPlan DepthMenu::planOf(const Kind &kind) const {
  DepthPlan plan = model.none();
  size_t end = kind.isTail() ? plan.layers.size() : kind.layer + 1;
  for (size_t i = kind.layer; i < end; ++i)
    plan.layers[i] = kind.depth;
  return plan;
}

/// Tails first, from the end, then one kind after the other for all layers, the
/// kinds that lose least first: where the time ends early, something is known
/// of every layer.
void DepthMenu::collect(std::span<const int64_t> shares) {
  size_t count = model.countLayers();
  for (size_t i = count - 1; i > count / 2; --i)
    kinds.push_back({i, {LayerDepth::Tail, 0}, {}, {}});
  for (int64_t share : shares)
    for (size_t i = count - 1; i-- > 0;) {
      auto all = static_cast<int64_t>(model.outputWeight(i).cols());
      // Whole blocks of what kernels read at once.
      if (int64_t neurons = all / share / 64 * 64; neurons > 0)
        kinds.push_back({i, {LayerDepth::Thin, neurons}, {}, {}});
    }
  for (size_t i = count - 1; i-- > 0;)
    kinds.push_back({i, {LayerDepth::Linear, 0}, {}, {}});
}

/// Of what is allowed. Together maps make up for some of what they lose alone.
static constexpr double kHopeless = 2.5;

/// A layer that loses too much with more work loses too much with less.
bool DepthMenu::isHopeless(const Kind &kind) const {
  return std::ranges::any_of(kinds, [&](const Kind &other) {
    bool isLess = kind.isTail() ? other.isTail() && other.layer > kind.layer
                                : !other.isTail() && other.layer == kind.layer;
    return isLess && !other.spends.empty() && shareOf(other.spends) > kHopeless;
  });
}

double DepthMenu::shareOf(const Spends &spends) const {
  double share = 0;
  for (const auto &[kind, spent] : spends)
    share = std::max(share, spent / promise.allowance(kind));
  return share;
}

void DepthMenu::print() const {
  std::fprintf(stderr, "what each layer alone spends of what is allowed:\n");
  for (size_t i = 0; i < model.countLayers(); ++i) {
    std::string line;
    for (const Kind &kind : kinds)
      if (kind.layer == i && !kind.spends.empty()) {
        char text[64];
        std::snprintf(text, sizeof(text), "  %s %.2f",
                      printDepth(kind.depth).c_str(), shareOf(kind.spends));
        line += text;
      }
    std::fprintf(stderr, "%4zu%s\n", i, line.c_str());
  }
}

DepthMenu::Spends DepthMenu::spendsOf(const Measurement &measured) const {
  // Of all texts together, and with how far predictions moved: means of single
  // texts would choose the luckiest of a hundred kinds.
  std::map<TermKind, MeanLoss> together;
  for (size_t k = 0; k < terms.terms().size(); ++k)
    together[terms.terms()[k].kind].add(terms.meanLoss(measured, k));
  Spends spends;
  for (const auto &[kind, all] : together)
    spends[kind] = all.estimate();
  return spends;
}

Status DepthMenu::measure(const Promise &loosest,
                          std::span<const int64_t> shares, run::Limit &limit) {
  promise = loosest;
  collect(shares);
  std::vector<DepthPlan> plans;
  std::vector<MapSet> maps;
  for (const Kind &kind : kinds)
    plans.push_back(planOf(kind));
  GIST_TRY(fitter.fitAlone(plans, limit, maps));
  Attempt attempt(makeDense(pool.first().module()), /*isWhole=*/false);
  Progress bar("kinds of layers", kinds.size(), 0, &limit);
  for (size_t i = 0; i < kinds.size(); ++i, bar.advance()) {
    Kind &kind = kinds[i];
    kind.maps = std::move(maps[i]);
    if (isHopeless(kind))
      continue;
    Measurement measured;
    GIST_TRY(model.follow(plans[i], kind.maps));
    GIST_TRY(terms.measureTexts(pool, attempt, measured));
    if (shareOf(spendsOf(measured)) <= kHopeless)
      GIST_TRY(terms.askQuestions(pool, attempt, measured));
    kind.spends = spendsOf(measured);
  }
  print();
  return {};
}

std::vector<const DepthMenu::Kind *> DepthMenu::ofLayer(size_t layer) const {
  std::vector<const Kind *> result = {nullptr};
  for (const Kind &kind : kinds)
    if (!kind.isTail() && kind.layer == layer && !kind.spends.empty())
      result.push_back(&kind);
  return result;
}

std::vector<const DepthMenu::Kind *> DepthMenu::tails() const {
  std::vector<const Kind *> result = {nullptr};
  for (const Kind &kind : kinds)
    if (kind.isTail() && !kind.spends.empty())
      result.push_back(&kind);
  return result;
}
