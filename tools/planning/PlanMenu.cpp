//===- PlanMenu.cpp - All that a plan may be made of ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/PlanMenu.h"

using namespace gist;
using namespace gist::plan;

void PlanMenu::addVariant(const DepthMenu::Kind *tail, bool hasKinds,
                          const Places &ofHeads, const Contract &terms,
                          const JobTime &time) {
  MenuVariant variant;
  Depths of;
  of.tail = tail;
  size_t layers = countLayers();
  // All texts are taken to lose as much as those that kinds were measured with.
  auto spendsOf = [&](const DepthMenu::Kind *kind) {
    std::vector<double> spends;
    for (const Term &term : terms.terms())
      spends.push_back(kind && kind->spends.contains(term.kind)
                           ? kind->spends.at(term.kind)
                           : 0);
    return spends;
  };
  for (size_t i = 0; i < layers; ++i) {
    bool isInTail = tail && i >= tail->layer;
    of.layers.push_back(hasKinds && !isInTail && i + 1 < layers
                            ? depths->ofLayer(i)
                            : std::vector<const DepthMenu::Kind *>{nullptr});
    Place place;
    for (const DepthMenu::Kind *kind : of.layers.back()) {
      DepthChoice choice = kind       ? kind->depth
                           : isInTail ? tail->depth
                                      : DepthChoice();
      PlaceOption option{.work = depths ? depths->timeOf(i, choice, time) : 0,
                         .spends = spendsOf(kind)};
      bool hasAttention = !depths || depths->keepsHeads(i, choice);
      option.state = layerState(/*isPlanned=*/false, hasAttention);
      place.options.push_back(option);
      option.state = layerState(/*isPlanned=*/true, hasAttention);
      option.work += time.ofPlannedLayer();
      if (heads)
        place.options.push_back(std::move(option));
    }
    variant.places.push_back(std::move(place));
  }
  for (size_t i = 0; i < ofHeads.size(); ++i) {
    variant.places.push_back(ofHeads[i]);
    variant.places.back().around = heads->layerOf(i);
  }
  if (bits)
    std::ranges::copy(bits->makePlaces(terms.terms().size(), time),
                      std::back_inserter(variant.places));
  if (selections)
    variant.places = selections->places();
  if (tail)
    variant.spends = spendsOf(tail);
  variant.work = time.ofRest();
  // The ends of a prompt are calls of their own.
  if (hasKinds || tail)
    variant.work += time.ofEnds();
  menu.push_back(std::move(variant));
  depthsOf.push_back(std::move(of));
}

void PlanMenu::build(const Contract &terms, const JobTime &time) {
  menu.clear();
  depthsOf.clear();
  Places ofHeads = heads ? heads->makePlaces(terms, time) : Places();
  addVariant(nullptr, /*hasKinds=*/false, ofHeads, terms, time);
  if (depths)
    for (const DepthMenu::Kind *tail : depths->tails())
      addVariant(tail, /*hasKinds=*/true, ofHeads, terms, time);
}

TrialPlan PlanMenu::makePlan(const PlanChoice &choice) const {
  TrialPlan plan;
  if (selections) {
    plan.taus = selections->makePlan(choice.options);
    return plan;
  }
  const Depths &of = depthsOf[choice.variant];
  size_t layers = of.layers.size();
  plan.depths.layers.resize(depths ? layers : 0);
  auto use = [&](size_t layer, const DepthMenu::Kind &kind) {
    plan.depths.layers[layer] = kind.depth;
    plan.maps.insert(kind.maps.begin(), kind.maps.end());
  };
  for (size_t i = 0; i < layers; ++i) {
    // Each kind comes twice where there are heads, the second time with a plan.
    const DepthMenu::Kind *kind =
        of.layers[i][choice.options[i] / (heads ? 2 : 1)];
    if (of.tail && i >= of.tail->layer)
      use(i, *of.tail);
    else if (kind)
      use(i, *kind);
  }
  std::span<const size_t> others = std::span(choice.options).subspan(layers);
  if (bits) {
    size_t ofHeads = others.size() - bits->countPlaces();
    plan.linears = bits->makePlan(others.subspan(ofHeads));
    others = others.first(ofHeads);
  }
  if (heads)
    plan.heads = heads->makePlan(others);
  return plan;
}

Status PlanMenu::findHeads(const Plan &plan, PlanChoice &choice) const {
  std::vector<size_t> found;
  GIST_TRY(heads->findChoices(plan, found));
  choice = {0, std::vector<size_t>(countLayers())};
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i] > 0)
      choice.options[heads->layerOf(i)] = 1;
  choice.options.insert(choice.options.end(), found.begin(), found.end());
  choice.options.resize(menu.front().places.size());
  return {};
}

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

Status PlanTrier::make(const PlanChoice &choice, TrialPlan &plan) {
  plan = menu.makePlan(choice);
  if (!plan.depths.isNeeded() || !fitter)
    return {};
  if (plan.depths.layers == kept.depths) {
    plan.maps = kept.maps;
    return {};
  }
  if (plan.depths.layers != last.depths) {
    MapSet together = plan.maps;
    GIST_TRY(fitter->fitTogether(plan.depths, limit, together));
    last = {plan.depths.layers, std::move(together)};
  }
  plan.maps = last.maps;
  return {};
}

void PlanTrier::keep(const PlanChoice &choice) {
  if (menu.makePlan(choice).depths.layers == last.depths)
    kept = last;
}

Status PlanTrier::measure(const Contract &by, const PlanChoice &choice,
                          const PlanSearch::WantsQuestions &wanted,
                          Measurement &result) {
  TrialPlan plan;
  GIST_TRY(make(choice, plan));
  return measure(by, plan, wanted, result);
}

Status PlanTrier::measure(const Contract &by, const TrialPlan &plan,
                          const PlanSearch::WantsQuestions &wanted,
                          Measurement &result) {
  bool hasDepths = plan.depths.isNeeded();
  if (hasDepths)
    GIST_TRY(model->follow(plan.depths, plan.maps));
  GIST_TRY(menu.follow(plan.linears));
  Plan heads =
      plan.heads.layers.empty() ? makeDense(pool.first().module()) : plan.heads;
  Attempt attempt = plan.taus.empty() ? Attempt(heads, /*isWhole=*/!hasDepths)
                                      : Attempt(plan.taus);
  // What is kept is known by heads alone.
  if (plan.linears.isNeeded())
    attempt.name.clear();
  GIST_TRY(by.measureTexts(pool, attempt, result));
  return wanted(result) ? by.askQuestions(pool, attempt, result) : Status();
}
