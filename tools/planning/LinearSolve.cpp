//===- LinearSolve.cpp - Which linear layers take how many bits -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/LinearSolve.h"

#include "tools/planning/Solver.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <map>
#include <optional>

using namespace gist;
using namespace gist::plan;

int64_t gist::plan::countBytes(const std::vector<LinearMenu> &menus,
                               const std::vector<size_t> &chosen) {
  int64_t bytes = 0;
  for (size_t i = 0; i < menus.size(); ++i)
    bytes += menus[i].options[chosen[i]].bytes;
  return bytes;
}

double gist::plan::predictLoss(const std::vector<LinearMenu> &menus,
                               const std::vector<size_t> &chosen) {
  double loss = 0;
  for (size_t i = 0; i < menus.size(); ++i)
    loss += menus[i].sensitivity * menus[i].options[chosen[i]].error;
  return loss;
}

/// The options with the fewest bytes, of equals those that lose least.
static std::vector<size_t>
chooseSmallest(const std::vector<LinearMenu> &menus) {
  std::vector<size_t> chosen;
  for (const LinearMenu &menu : menus) {
    auto smallest =
        std::ranges::min_element(menu.options, {}, [](const auto &option) {
          return std::pair(option.bytes, option.error);
        });
    chosen.push_back(static_cast<size_t>(smallest - menu.options.begin()));
  }
  return chosen;
}

Status gist::plan::chooseWithin(const std::vector<LinearMenu> &menus,
                                int64_t bytes, std::vector<size_t> &chosen) {
  std::vector<size_t> smallest = chooseSmallest(menus);
  int64_t least = countBytes(menus, smallest);
  if (least > bytes)
    return Status::error(
        Code::BadArgument,
        "%" PRId64
        " bytes were asked for, but the smallest plan reads %" PRId64,
        bytes, least);
  // What is spent here is bytes, and the smallest options spend none.
  Places places(menus.size());
  for (size_t i = 0; i < menus.size(); ++i) {
    const LinearMenu &menu = menus[i];
    std::vector<PlaceOption> &options = places[i].options;
    for (const LinearOption &option : menu.options) {
      int64_t more = option.bytes - menu.options[smallest[i]].bytes;
      options.push_back({.work = menu.sensitivity * option.error,
                         .spends = {static_cast<double>(more)}});
    }
    std::swap(options.front(), options[smallest[i]]);
  }
  // Bytes are whole, so half of one is the same as none.
  chosen = chooseOptions(places,
                         {std::max(static_cast<double>(bytes - least), 0.5)});
  for (size_t i = 0; i < menus.size(); ++i)
    if (chosen[i] == 0 || chosen[i] == smallest[i])
      chosen[i] = smallest[i] - chosen[i];
  return {};
}

/// The fewest bytes that are predicted to lose at most `loss`.
static std::vector<size_t> chooseByLoss(const std::vector<LinearMenu> &menus,
                                        double loss) {
  Places places(menus.size());
  for (size_t i = 0; i < menus.size(); ++i)
    for (const LinearOption &option : menus[i].options)
      places[i].options.push_back(
          {.work = static_cast<double>(option.bytes),
           .spends = {menus[i].sensitivity * option.error}});
  return chooseOptions(places, {loss});
}

Status gist::plan::chooseForLoss(const std::vector<LinearMenu> &menus,
                                 double limit, int tries,
                                 const MeasureLoss &measure,
                                 std::vector<size_t> &chosen) {
  // Two predicted losses whose choices hold and do not hold, as far as they are
  // known; what rounding loses is far from the prediction, so steps begin wide.
  constexpr double kStep = 4, kNear = 0.0015, kFarthest = 1e6;
  constexpr int kMostSteps = 64;
  // Dense everywhere, which loses nothing, until something smaller holds.
  std::vector<size_t> best(menus.size(), 0);
  std::optional<double> holds, fails;
  double predicted = limit;
  int64_t failing = 0;
  // Predictions between two that were tried often choose what one of them
  // chose.
  std::map<std::vector<size_t>, double> known;
  for (int step = 0; step < kMostSteps; ++step) {
    std::vector<size_t> tried = chooseByLoss(menus, predicted);
    int64_t bytes = countBytes(menus, tried);
    // A measurement runs the model and a choice does not, so only new choices
    // count as tries.
    auto [place, isNew] = known.try_emplace(tried, 0);
    if (isNew && known.size() > static_cast<size_t>(tries))
      break;
    if (isNew)
      GIST_TRY(measure(tried, place->second));
    double loss = place->second;
    // NaN does not hold.
    if (loss <= limit) {
      holds = predicted;
      if (bytes < countBytes(menus, best))
        best = tried;
    } else {
      fails = predicted;
      failing = bytes;
    }
    if (holds && fails &&
        static_cast<double>(countBytes(menus, best) - failing) <=
            kNear * static_cast<double>(failing))
      break;
    predicted = holds && fails ? std::sqrt(*holds * *fails)
                : holds        ? predicted * kStep
                               : predicted / kStep;
    if (predicted > kFarthest * limit)
      break;
  }
  chosen = std::move(best);
  return {};
}

LinearPlan gist::plan::makePlan(const std::vector<LinearMenu> &menus,
                                const std::vector<size_t> &chosen,
                                const std::string &bases) {
  LinearPlan plan;
  plan.bases = bases;
  for (size_t i = 0; i < menus.size(); ++i) {
    const LinearChoice &choice = menus[i].options[chosen[i]].choice;
    if (menus[i].layer < 0) {
      plan.head = choice;
      continue;
    }
    auto layer = static_cast<size_t>(menus[i].layer);
    if (plan.layers.size() <= layer)
      plan.layers.resize(layer + 1);
    plan.layers[layer][static_cast<size_t>(menus[i].group)] = choice;
  }
  return plan;
}
