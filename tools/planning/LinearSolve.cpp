//===- LinearSolve.cpp - Which linear layers take how many bits -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/LinearSolve.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <map>
#include <optional>

using namespace gist;
using namespace gist::plan;

/// Logarithms of prices, nats a byte, to either side of all sensible ones.
static constexpr double kLowestPrice = -60, kHighestPrice = 20;

int64_t gist::plan::countBytes(const std::vector<LinearMenu> &menus,
                               const std::vector<size_t> &chosen) {
  int64_t bytes = 0;
  for (size_t i = 0; i < menus.size(); ++i)
    bytes += menus[i].options[chosen[i]].bytes;
  return bytes;
}

std::vector<size_t>
gist::plan::chooseAtPrice(const std::vector<LinearMenu> &menus, double price) {
  std::vector<size_t> chosen;
  for (const LinearMenu &menu : menus) {
    auto cost = [&](const LinearOption &option) {
      return menu.sensitivity * option.error +
             price * static_cast<double>(option.bytes);
    };
    auto best = std::min_element(
        menu.options.begin(), menu.options.end(),
        [&](const auto &a, const auto &b) { return cost(a) < cost(b); });
    chosen.push_back(static_cast<size_t>(best - menu.options.begin()));
  }
  return chosen;
}

/// Spends the rest of `bytes` greedily, one group at a time: no price chooses
/// an option that lies a little off the convex hull of its menu.
static void spendRest(const std::vector<LinearMenu> &menus, int64_t bytes,
                      std::vector<size_t> &chosen) {
  for (;;) {
    int64_t rest = bytes - countBytes(menus, chosen);
    double most = 0;
    size_t menu = 0, option = 0;
    for (size_t i = 0; i < menus.size(); ++i) {
      const LinearOption &now = menus[i].options[chosen[i]];
      for (size_t j = 0; j < menus[i].options.size(); ++j) {
        const LinearOption &other = menus[i].options[j];
        double gain = menus[i].sensitivity * (now.error - other.error);
        if (other.bytes - now.bytes <= rest && gain > most) {
          most = gain;
          menu = i;
          option = j;
        }
      }
    }
    if (most == 0)
      return;
    chosen[menu] = option;
  }
}

Status gist::plan::chooseWithin(const std::vector<LinearMenu> &menus,
                                int64_t bytes, std::vector<size_t> &chosen) {
  // A price of 0 takes the least error at any size, which is optimal if it
  // fits.
  std::vector<size_t> found = chooseAtPrice(menus, 0);
  if (countBytes(menus, found) <= bytes) {
    chosen = found;
    return {};
  }
  // The bytes fall with the price.
  double low = kLowestPrice, high = kHighestPrice;
  found = chooseAtPrice(menus, std::exp(high));
  if (countBytes(menus, found) > bytes)
    return Status::error(
        Code::BadArgument,
        "%" PRId64
        " bytes were asked for, but the smallest plan reads %" PRId64,
        bytes, countBytes(menus, found));
  // Halving the range of logarithms so often leaves no two doubles between.
  for (int step = 0; step < 80; ++step) {
    double middle = (low + high) / 2;
    std::vector<size_t> tried = chooseAtPrice(menus, std::exp(middle));
    bool fits = countBytes(menus, tried) <= bytes;
    (fits ? high : low) = middle;
    if (fits)
      found = std::move(tried);
  }
  spendRest(menus, bytes, found);
  chosen = std::move(found);
  return {};
}

double gist::plan::predictLoss(const std::vector<LinearMenu> &menus,
                               const std::vector<size_t> &chosen) {
  double loss = 0;
  for (size_t i = 0; i < menus.size(); ++i)
    loss += menus[i].sensitivity * menus[i].options[chosen[i]].error;
  return loss;
}

/// The logarithm of the highest price at which the predicted loss is `loss`.
static double findPrice(const std::vector<LinearMenu> &menus, double loss) {
  double low = kLowestPrice, high = kHighestPrice;
  for (int step = 0; step < 60; ++step) {
    double middle = (low + high) / 2;
    std::vector<size_t> tried = chooseAtPrice(menus, std::exp(middle));
    (predictLoss(menus, tried) <= loss ? low : high) = middle;
  }
  return low;
}

Status gist::plan::chooseForLoss(const std::vector<LinearMenu> &menus,
                                 double limit, int tries,
                                 const MeasureLoss &measure,
                                 std::vector<size_t> &chosen) {
  // Two choices that hold and do not hold, as far as they are known; what
  // rounding loses is far from the prediction, so steps begin wide.
  constexpr double kStep = 1.5, kNear = 0.0015;
  constexpr int kMostSteps = 64;
  // Dense everywhere, which loses nothing, until something smaller holds.
  std::vector<size_t> best(menus.size(), 0);
  std::optional<double> holds, fails;
  double price = findPrice(menus, limit);
  int64_t failing = 0;
  // Prices between two that were tried often choose what one of them chose.
  std::map<std::vector<size_t>, double> known;
  for (int step = 0; step < kMostSteps; ++step) {
    std::vector<size_t> tried = chooseAtPrice(menus, std::exp(price));
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
      holds = price;
      if (bytes < countBytes(menus, best))
        best = tried;
    } else {
      fails = price;
      failing = bytes;
    }
    if (holds && fails &&
        static_cast<double>(countBytes(menus, best) - failing) <=
            kNear * static_cast<double>(failing))
      break;
    price = holds && fails ? (*holds + *fails) / 2
            : holds        ? price + kStep
                           : price - kStep;
    if (price > kHighestPrice)
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
