//===- PlanCost.h - Whether a plan of KV heads pays on a GPU ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan saves keys that queries do not see. It costs calls of one block
// instead of the whole prompt, rows that are looked up, and the upkeep of
// clusters. Which is more depends on the model, the layer and the length of the
// text. test/unit/PlanCostTest.cpp compares the model with what was measured.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_COST_PLANCOST_H
#define GIST_PASSES_COST_PLANCOST_H

#include "dialect/GpuInfo.h"
#include "passes/Plan/File/Plan.h"

namespace gist {

/// What the time of a decoder depends on; rows are f16.
struct DecoderSize {
  int64_t layers, hidden, heads, kvHeads, headSize, ffn;
  int64_t vocabulary;
  bool hasPairedFfn; ///< gate and up, as Llama has them
};

/// A text that a plan is asked about: read at once, or one token after so many.
struct PlanText {
  int64_t tokens;
  bool isDecode;
};

/// Times of a text with a plan, in microseconds.
class PlanCost {
public:
  PlanCost(const DecoderSize &size, const Plan &plan, int64_t context,
           const GpuInfo &gpu)
      : size(size), plan(plan), context(context), gpu(gpu) {}

  /// Of one layer with the plan's heads, in calls of a block.
  double estimatePlanned(size_t layer, const PlanText &text) const;
  /// Of one that is dense, in calls of up to so many tokens.
  double estimateDense(const PlanText &text, int64_t call) const;
  /// The speed of the model without a plan is 1. `dense` has the layers whose
  /// heads the plan is not asked about; where it has all, there are no blocks.
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
  const GpuInfo &gpu;
};

} // namespace gist

#endif // GIST_PASSES_COST_PLANCOST_H
