//===- PlanCost.cpp - Whether a plan of KV heads pays ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/PlanCost.h"

#include <algorithm>
#include <cmath>

using namespace gist;

static double estimateOnSm90(const ProductSize &size) {
  return estimateProduct(size, *getGpuInfo("sm_90"));
}

// Fitted to 14 times with and without a plan; those of a token to 7 more.
// test/unit/PlanCostTest.cpp says how far off they are. Numbers are f16, of
// which a microsecond reads 2.05 million.
const PlanRates gist::kSm90Rates = {.product = estimateOnSm90,
                                    .number = 1e-8,
                                    .lookedUp = 1.3,
                                    .cluster = 1.5,
                                    .layer = 22,
                                    .stream = 6e-6,
                                    .plannedLayer = 3,
                                    .compared = 1e-8,
                                    .step = 11,
                                    .plannedStep = 0.2,
                                    .weight = 1 / 2.05e6,
                                    .kept = 1 / 2.05e6,
                                    .lookedUpKept = 1.35,
                                    .clusterKept = 1.65,
                                    .longCall = 8192};

/// A call costs as much as `more` additional rows: it reads every weight, and
/// ends when the last core does.
template <int64_t more> static double estimateOnCpu(const ProductSize &size) {
  constexpr double kMultiplyAdd = 1.06e-5;
  return kMultiplyAdd *
         static_cast<double>((size.rows + more) * size.columns * size.depth);
}

// One core of a Neoverse-V1, SmolLM2 in 8 bits: what profiles of calls of 64
// and of 256 tokens say, and factors of a plan from four of its times. Clusters
// are fewer than a text could have, so that their factors are below one; those
// of rings are, because a head's rows lie side by side there.
const PlanRates gist::kFewCoresRates = {.product = estimateOnCpu<4>,
                                        .number = 4.35e-5,
                                        .lookedUp = 1,
                                        .cluster = 0.75,
                                        .layer = 20,
                                        .stream = 1e-2,
                                        .plannedLayer = 15,
                                        .compared = 2e-5,
                                        .step = 10,
                                        .plannedStep = 2,
                                        .weight = 3.5e-5,
                                        .kept = 2.8e-4,
                                        .lookedUpKept = 0.85,
                                        .clusterKept = 0.85,
                                        .longCall = kCpuCallTokens};

// The same in units of a multiply-add, from profiles of eight cores of a Xeon
// with AMX. All cores share the upkeep of a call's clusters.
const PlanRates gist::kManyCoresRates = {.product = estimateOnCpu<170>,
                                         .number = 5.8e-5,
                                         .lookedUp = 1.05,
                                         .cluster = 0.8,
                                         .layer = 300,
                                         .stream = 1e-2,
                                         .plannedLayer = 200,
                                         .compared = 1.2e-5,
                                         .step = 200,
                                         .plannedStep = 2,
                                         .weight = 3.5e-5,
                                         .kept = 2.8e-4,
                                         .lookedUpKept = 0.9,
                                         .clusterKept = 0.9,
                                         .longCall = kCpuCallTokens};

/// A plan may cost this little before a layer stays dense: .98 is promised, and
/// the rest is for what the model does not know.
static constexpr double kLeastSpeed = 0.98;

namespace {
/// What a query sees of the tokens before its block.
struct Seen {
  double exact = 0, clusters = 0;
};
} // namespace

/// Without knowledge of the text, the worst case: every token that leaves a
/// window is a cluster of its own while there is room.
static Seen countSeen(const HeadChoice &head, int64_t before, int64_t context) {
  auto past = static_cast<double>(before);
  auto window = static_cast<double>(head.window);
  switch (head.kind) {
  case HeadKind::Dense:
    return {past, 0};
  case HeadKind::Window:
    return {std::min(past, window + static_cast<double>(head.sinks)), 0};
  case HeadKind::Clusters:
  case HeadKind::Random:
    break;
  }
  return {std::min(past, window),
          std::min(std::max(past - window, 0.),
                   head.room * static_cast<double>(context))};
}

double PlanCost::estimateProducts(int64_t rows) const {
  double cost = 0;
  auto add = [&](int64_t columns, int64_t depth) {
    cost += rates.product({rows, columns, depth});
  };
  int64_t queries = size.heads * size.headSize;
  add(queries + 2 * size.kvHeads * size.headSize, size.hidden);
  add(size.hidden, queries);
  add((size.hasPairedFfn ? 2 : 1) * size.ffn, size.hidden);
  add(size.hidden, size.ffn);
  return cost;
}

double PlanCost::estimateCall(int64_t rows) const {
  return estimateProducts(rows) + rates.layer +
         rates.stream * static_cast<double>(rows * size.hidden);
}

/// Of a layer.
static double countWeights(const DecoderSize &size) {
  int64_t queries = size.heads * size.headSize;
  return static_cast<double>((2 * queries + 2 * size.kvHeads * size.headSize +
                              (size.hasPairedFfn ? 3 : 2) * size.ffn) *
                             size.hidden);
}

double PlanCost::estimateHead() const {
  return rates.weight * static_cast<double>(size.vocabulary * size.hidden);
}

double PlanCost::estimateDense(const PlanText &text, int64_t call) const {
  auto tokens = static_cast<double>(text.tokens);
  if (text.isDecode)
    return rates.step + rates.weight * countWeights(size) +
           rates.kept * 2 * tokens *
               static_cast<double>(size.kvHeads * size.headSize);
  double cost = rates.number * static_cast<double>(size.heads * size.headSize) *
                tokens * tokens / 2;
  for (int64_t before = 0; before < text.tokens; before += call)
    cost += estimateCall(std::min(call, text.tokens - before));
  return cost;
}

double PlanCost::estimatePlanned(size_t layer, const PlanText &text) const {
  auto headSize = static_cast<double>(size.headSize);
  if (text.isDecode) {
    int64_t before = text.tokens / plan.block * plan.block;
    double rows = 0;
    for (const HeadChoice &head : plan.layers[layer]) {
      Seen seen = countSeen(head, before, context);
      rows += rates.lookedUpKept * seen.exact +
              rates.clusterKept * seen.clusters +
              static_cast<double>(text.tokens - before);
    }
    return rates.step + rates.plannedStep * static_cast<double>(size.kvHeads) +
           rates.weight * countWeights(size) + rates.kept * 2 * rows * headSize;
  }
  auto group = static_cast<double>(size.heads / size.kvHeads);
  double cost = 0;
  for (int64_t before = 0; before < text.tokens; before += plan.block) {
    int64_t rows = std::min(plan.block, text.tokens - before);
    auto queries = static_cast<double>(rows);
    double keys = 0, compared = 0;
    for (const HeadChoice &head : plan.layers[layer]) {
      Seen seen = countSeen(head, before, context);
      // The first call has nothing to look up.
      keys += (before > 0 ? rates.lookedUp : 1) * (seen.exact + queries / 2) +
              rates.cluster * seen.clusters;
      if (head.kind != HeadKind::Window)
        compared += seen.clusters;
    }
    cost += estimateCall(rows) + rates.plannedLayer +
            rates.number * headSize * group * queries * keys +
            rates.compared * headSize * queries * compared;
  }
  return cost;
}

double PlanCost::estimateSpeed(const std::vector<bool> &dense,
                               const PlanText &text) const {
  double head = text.isDecode ? estimateHead() : 0;
  double without = estimateDense(text, rates.longCall);
  // Calls are blocks as soon as one layer has them.
  bool hasBlocks = std::find(dense.begin(), dense.end(), false) != dense.end();
  double inBlocks = hasBlocks ? estimateDense(text, plan.block) : without;
  double cost = head;
  for (size_t layer = 0; layer < dense.size(); ++layer)
    cost += dense[layer] ? inBlocks : estimatePlanned(layer, text);
  return (head + without * static_cast<double>(dense.size())) / cost;
}

std::vector<PlanText> PlanCost::getTexts() const {
  constexpr int64_t kShortest = 512;
  std::vector<PlanText> texts;
  for (int64_t tokens = kShortest;; tokens *= 2) {
    tokens = std::min(tokens, context);
    texts.push_back({tokens, /*isDecode=*/false});
    texts.push_back({tokens, /*isDecode=*/true});
    if (tokens == context)
      return texts;
  }
}

namespace {
/// Estimates of all texts, made once: a choice asks for them many times.
class Speeds {
public:
  Speeds(const PlanCost &cost, const Plan &plan,
         const std::vector<PlanText> &texts, double head, int64_t longCall) {
    for (const PlanText &text : texts) {
      OfText of{text.isDecode ? head : 0,
                cost.estimateDense(text, longCall),
                cost.estimateDense(text, plan.block),
                {}};
      for (size_t layer = 0; layer < plan.layers.size(); ++layer)
        of.planned.push_back(cost.estimatePlanned(layer, text));
      all.push_back(of);
    }
  }

  double get(size_t text, const std::vector<bool> &dense) const {
    const OfText &of = all[text];
    // Calls are blocks as soon as one layer has them.
    bool hasBlocks =
        std::find(dense.begin(), dense.end(), false) != dense.end();
    double cost = of.head;
    for (size_t layer = 0; layer < dense.size(); ++layer)
      cost += !dense[layer] ? of.planned[layer]
              : hasBlocks   ? of.inBlocks
                            : of.without;
    return (of.head + of.without * static_cast<double>(dense.size())) / cost;
  }
  double getPlanned(size_t text, size_t layer) const {
    return all[text].planned[layer];
  }
  size_t findSlowest(const std::vector<bool> &dense) const {
    size_t slowest = 0;
    for (size_t text = 1; text < all.size(); ++text)
      if (get(text, dense) < get(slowest, dense))
        slowest = text;
    return slowest;
  }
  /// The sum of logarithms: what all texts together gain.
  double getGain(const std::vector<bool> &dense) const {
    double gain = 0;
    for (size_t text = 0; text < all.size(); ++text)
      gain += std::log(get(text, dense));
    return gain;
  }

private:
  struct OfText {
    double head, without, inBlocks;
    std::vector<double> planned; ///< for each layer
  };
  std::vector<OfText> all;
};
} // namespace

PlanCost::Choice PlanCost::choose() const {
  std::vector<PlanText> texts = getTexts();
  Speeds speeds(*this, plan, texts, estimateHead(), rates.longCall);
  Choice choice{{}, texts.front(), 0};
  std::vector<bool> &dense = choice.dense;
  for (size_t layer = 0; layer < plan.layers.size(); ++layer)
    dense.push_back(plan.isDense(layer));
  size_t slowest = speeds.findSlowest(dense);
  choice.slowest = texts[slowest];
  choice.speed = speeds.get(slowest, dense);
  // No text may be slower: the layer that loses most there goes.
  for (; speeds.get(slowest, dense) < kLeastSpeed;
       slowest = speeds.findSlowest(dense)) {
    size_t worst = dense.size();
    for (size_t layer = 0; layer < dense.size(); ++layer)
      if (!dense[layer] &&
          (worst == dense.size() || speeds.getPlanned(slowest, layer) >
                                        speeds.getPlanned(slowest, worst)))
        worst = layer;
    dense[worst] = true;
  }
  // Nor does a layer stay that costs all texts together more than it saves.
  for (double gain = speeds.getGain(dense);;) {
    size_t best = dense.size();
    for (size_t layer = 0; layer < dense.size(); ++layer) {
      if (dense[layer])
        continue;
      dense[layer] = true;
      double without = speeds.getGain(dense);
      if (without > gain &&
          speeds.get(speeds.findSlowest(dense), dense) >= kLeastSpeed) {
        gain = without;
        best = layer;
      }
      dense[layer] = false;
    }
    if (best == dense.size())
      return choice;
    dense[best] = true;
  }
}

PlanCost::Choice
gist::chooseLayers(const DecoderSize &size, Plan plan, int64_t context,
                   llvm::ArrayRef<const PlanRates *> machines) {
  PlanCost::Choice slowest =
      PlanCost(size, plan, context, *machines.front()).choose();
  for (const PlanRates *rates : machines.drop_front())
    if (PlanCost::Choice other = PlanCost(size, plan, context, *rates).choose();
        other.speed < slowest.speed)
      slowest = other;
  // A layer less may cost another machine more than it saves there: all are
  // asked until none has a layer to leave.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (const PlanRates *rates : machines) {
      std::vector<bool> dense =
          PlanCost(size, plan, context, *rates).choose().dense;
      for (size_t layer = 0; layer < dense.size(); ++layer)
        if (dense[layer] && !plan.isDense(layer)) {
          plan.layers[layer].assign(plan.layers[layer].size(), HeadChoice());
          isChanged = true;
        }
    }
  }
  for (size_t layer = 0; layer < plan.layers.size(); ++layer)
    slowest.dense[layer] = plan.isDense(layer);
  return slowest;
}
