//===- SelectionMenu.cpp - Which keys of an encoder may be one ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/SelectionMenu.h"

#include "tools/running/Progress.h"

#include <algorithm>

using namespace gist;
using namespace gist::plan;

/// Of attention: the mean of all texts.
static double workOf(const Measurement &measured) {
  double sum = 0;
  for (const TermResult &term : measured.terms)
    sum += term.work;
  return sum / static_cast<double>(measured.terms.size());
}

Status SelectionMenu::measure(ProbePool &pool, const Contract &terms,
                              const run::Limit &limit) {
  size_t heads = options.size();
  double dense = 1 / static_cast<double>(heads);
  for (Place &place : options)
    place.options = {
        {.work = dense, .spends = std::vector<double>(terms.terms().size())}};
  tausThere.assign(heads, {0});
  Progress bar("measurements", heads * taus.size(), 0, &limit);
  for (double tau : taus)
    for (size_t head = 0; head < heads; ++head, bar.advance()) {
      std::vector<double> alone(heads);
      alone[head] = tau;
      Measurement measured;
      GIST_TRY(terms.measureTexts(pool, Attempt(std::move(alone)), measured));
      PlaceOption option{.work = workOf(measured) - 1 + dense};
      if (option.work >= dense)
        continue;
      // Displacements of an embedding that heads cause are taken to be
      // orthogonal, so that 1 - cosine adds up.
      for (size_t k = 0; k < terms.terms().size(); ++k)
        option.spends.push_back(terms.loss(measured, k));
      options[head].options.push_back(std::move(option));
      tausThere[head].push_back(tau);
    }
  return {};
}

std::vector<double>
SelectionMenu::makePlan(std::span<const size_t> choices) const {
  std::vector<double> result;
  for (size_t i = 0; i < choices.size(); ++i)
    result.push_back(tausThere[i][choices[i]]);
  return result;
}

SelectionPlan plan::makeSelections(std::span<const double> taus, size_t heads) {
  SelectionPlan plan = makeCalibrationSelections(taus.size() / heads, heads);
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    std::span<const double> part = taus.subspan(i * heads, heads);
    // A layer without any stays as it is.
    if (std::ranges::all_of(part, [](double tau) { return tau == 0; }))
      plan.layers[i] = {};
    else
      plan.layers[i].selection->taus.assign(part.begin(), part.end());
  }
  return plan;
}
