//===- PlanCost.cpp - Whether a plan of KV heads pays on a GPU ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/PlanCost.h"
#include "passes/Cost/ProductCost.h"

#include <algorithm>
#include <cmath>

using namespace gist;

// Microseconds, fitted to 14 times with and without a plan on one H200; those
// of a token to 7 more. test/unit/PlanCostTest.cpp says how far off they are.

/// Of attention: a number of a key for a query; how much longer that takes
/// where rows are looked up in rings, and where they are clusters.
static constexpr double kNumber = 1e-8, kLookedUp = 1.3, kCluster = 1.5;
/// Of a call's layer: launches and what is not a product, a number of the
/// residual stream there, and what a plan adds.
static constexpr double kLayer = 22, kStream = 6e-6, kPlannedLayer = 3;
/// Of upkeep: a number of a cluster that a leaving token is compared with.
static constexpr double kCompared = 1e-8;
/// Of a token's layer: launches, and what a plan adds for each KV head; bytes
/// of a microsecond, and how much longer rows take that are looked up in rings,
/// and where they are clusters.
static constexpr double kStep = 11, kPlannedStep = 0.2, kBytes = 4.1e6,
                        kLookedUpBytes = 1.35, kClusterBytes = 1.65;
/// Tokens of a call without a plan, at most.
static constexpr int64_t kLongCall = 8192;
/// A plan may cost this little before a layer stays dense: .98 is promised, and
/// the rest is for what the model does not know.
static constexpr double kLeastSpeed = 0.98;

namespace {
/// What a query sees of the tokens before its block.
struct Seen {
  double exact = 0, clusters = 0;
};
} // namespace

/// Nothing is known of the text: every token that leaves a window is a cluster
/// of its own while there is room.
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
    cost += estimateProduct({rows, columns, depth}, gpu);
  };
  int64_t queries = size.heads * size.headSize;
  add(queries + 2 * size.kvHeads * size.headSize, size.hidden);
  add(size.hidden, queries);
  add((size.hasPairedFfn ? 2 : 1) * size.ffn, size.hidden);
  add(size.hidden, size.ffn);
  return cost;
}

double PlanCost::estimateCall(int64_t rows) const {
  return estimateProducts(rows) + kLayer +
         kStream * static_cast<double>(rows * size.hidden);
}

/// Bytes of what a token's layer reads beside the cache.
static double countWeightBytes(const DecoderSize &size) {
  int64_t queries = size.heads * size.headSize;
  int64_t numbers = (2 * queries + 2 * size.kvHeads * size.headSize +
                     (size.hasPairedFfn ? 3 : 2) * size.ffn) *
                    size.hidden;
  return 2. * static_cast<double>(numbers);
}

double PlanCost::estimateHead() const {
  return 2. * static_cast<double>(size.vocabulary * size.hidden) / kBytes;
}

double PlanCost::estimateDense(const PlanText &text, int64_t call) const {
  auto tokens = static_cast<double>(text.tokens);
  if (text.isDecode)
    return kStep +
           (countWeightBytes(size) +
            4. * tokens * static_cast<double>(size.kvHeads * size.headSize)) /
               kBytes;
  double cost = kNumber * static_cast<double>(size.heads * size.headSize) *
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
      rows += kLookedUpBytes * seen.exact + kClusterBytes * seen.clusters +
              static_cast<double>(text.tokens - before);
    }
    return kStep + kPlannedStep * static_cast<double>(size.kvHeads) +
           (countWeightBytes(size) + 4 * rows * headSize) / kBytes;
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
      keys += (before > 0 ? kLookedUp : 1) * (seen.exact + queries / 2) +
              kCluster * seen.clusters;
      if (head.kind != HeadKind::Window)
        compared += seen.clusters;
    }
    cost += estimateCall(rows) + kPlannedLayer +
            kNumber * headSize * group * queries * keys +
            kCompared * headSize * queries * compared;
  }
  return cost;
}

double PlanCost::estimateSpeed(const std::vector<bool> &dense,
                               const PlanText &text) const {
  double head = text.isDecode ? estimateHead() : 0;
  double without = estimateDense(text, kLongCall);
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
         const std::vector<PlanText> &texts, double head) {
    for (const PlanText &text : texts) {
      OfText of{text.isDecode ? head : 0,
                cost.estimateDense(text, kLongCall),
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
  Speeds speeds(*this, plan, texts, estimateHead());
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
