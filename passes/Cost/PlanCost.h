//===- PlanCost.h - Whether a plan of KV heads pays -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan saves keys that queries do not see. It costs calls of one block
// instead of the whole prompt, rows that are looked up, and the upkeep of
// clusters. Which is more depends on the model, the layer and the length of the
// text, and on what each of these takes on a machine: PlanRates.
// test/unit/PlanCostTest.cpp compares the model with what was measured.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_COST_PLANCOST_H
#define GIST_PASSES_COST_PLANCOST_H

#include "passes/Cost/ProductCost.h"
#include "passes/Plan/File/Plan.h"

#include "llvm/ADT/ArrayRef.h"

namespace gist {

/// What the time of a decoder depends on.
struct DecoderSize {
  int64_t layers, hidden, heads, kvHeads, headSize, ffn;
  int64_t vocabulary;
  bool hasPairedFfn; ///< gate and up, as Llama has them
};

/// What parts of a decoder take on one kind of machine, in microseconds. Only
/// their ratios matter.
struct PlanRates {
  /// A product of a prompt, with its overhead.
  double (*product)(const ProductSize &size);
  /// Attention: one number of a key for a query; the factors if rows are looked
  /// up in rings, and if they are clusters.
  double number, lookedUp, cluster;
  /// One layer of a call: launches and other fixed costs, one number of the
  /// residual stream, and what a plan adds.
  double layer, stream, plannedLayer;
  /// Upkeep: one number of a cluster that a leaving token is compared with.
  double compared;
  /// One layer of a token: launches, and what a plan adds for each KV head.
  double step, plannedStep;
  /// Decode: one number of a weight, one of a key or value, and the factors if
  /// rows are looked up, and if they are clusters.
  double weight, kept, lookedUpKept, clusterKept;
  /// Tokens of a call without a plan, at most.
  int64_t longCall;
};

/// f16 on one H200.
extern const PlanRates kSm90Rates;
/// Products in 8 bits on few cores and on many, where those of few rows keep
/// most cores waiting. Both count, because a module may run on either.
extern const PlanRates kFewCoresRates, kManyCoresRates;

/// Tokens of a prompt that a call on a CPU takes where there is no plan: it is
/// as fast with fewer of them, and needs less scratch memory.
inline constexpr int64_t kCpuCallTokens = 256;

/// A text that a plan is estimated for: read at once, or one token of decode
/// after `tokens` tokens.
struct PlanText {
  int64_t tokens;
  bool isDecode;
};

/// Times of a text with a plan, in microseconds.
class PlanCost {
public:
  PlanCost(const DecoderSize &size, const Plan &plan, int64_t context,
           const PlanRates &rates)
      : size(size), plan(plan), context(context), rates(rates) {}

  /// The time of one layer with the plan's heads, in calls of a block.
  double estimatePlanned(size_t layer, const PlanText &text) const;
  /// The time of a dense layer, in calls of up to `call` tokens.
  double estimateDense(const PlanText &text, int64_t call) const;
  /// The speed of the model without a plan is 1. `dense` has the layers whose
  /// heads the plan is not asked about; if it has all layers, there are no
  /// blocks.
  double estimateSpeed(const std::vector<bool> &dense,
                       const PlanText &text) const;

  /// Which layers stay dense, so that no text is slower than without a plan,
  /// and the slowest text if the plan were followed everywhere.
  struct Choice {
    std::vector<bool> dense;
    PlanText slowest;
    double speed; ///< of that text
  };
  Choice choose() const;

private:
  double estimateProducts(int64_t rows) const;
  double estimateCall(int64_t rows) const;
  double estimateHead() const; ///< of the vocabulary, for one token
  std::vector<PlanText> getTexts() const;

  const DecoderSize &size;
  const Plan &plan;
  int64_t context;
  const PlanRates &rates;
};

/// The same for a module that may run on any of these machines.
PlanCost::Choice chooseLayers(const DecoderSize &size, Plan plan,
                              int64_t context,
                              llvm::ArrayRef<const PlanRates *> machines);

} // namespace gist

#endif // GIST_PASSES_COST_PLANCOST_H
