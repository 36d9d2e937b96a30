//===- SlowLayers.cpp - Layers that a plan would slow down ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/SlowLayers.h"

#include "llvm/Support/FormatVariadic.h"

using namespace gist;

/// "0-3, 7" of the layers that are marked.
static std::string printLayers(const std::vector<bool> &marked) {
  std::string text;
  for (size_t first = 0; first < marked.size(); ++first) {
    if (!marked[first])
      continue;
    size_t last = first;
    while (last + 1 < marked.size() && marked[last + 1])
      ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last > first)
      text += "-" + std::to_string(last);
    first = last;
  }
  return text;
}

std::string
gist::compile::leaveSlowLayers(Plan &plan, const ModelConfig &config,
                               llvm::ArrayRef<const PlanRates *> machines,
                               const std::string &target) {
  // Costs were measured on models whose layers are all alike and dense. The
  // plan stage reports a plan that is for another model.
  if (machines.empty() || config.slidingWindow != 0 || config.numExperts != 0 ||
      plan.layers.size() != static_cast<size_t>(config.numLayers) ||
      plan.layers.front().size() != static_cast<size_t>(config.numKvHeads))
    return {};
  DecoderSize size = {config.numLayers, config.hiddenSize,
                      config.numHeads,  config.numKvHeads,
                      config.headSize,  config.ffnSize,
                      config.vocabSize, config.activation == Activation::Silu};
  PlanCost::Choice choice = chooseLayers(size, plan, config.capacity, machines);
  std::vector<bool> left(plan.layers.size());
  for (size_t layer = 0; layer < left.size(); ++layer) {
    left[layer] = choice.dense[layer] && !plan.isDense(layer);
    if (left[layer])
      plan.layers[layer].assign(plan.layers[layer].size(), HeadChoice());
  }
  std::string numbers = printLayers(left);
  if (numbers.empty())
    return {};
  return llvm::formatv(
      "layers {0} stay dense on {1}, where the plan would cost time: in all "
      "layers, {2} {3} tokens would run at {4:F2} of the speed without one; "
      "--follow-plan follows it there too, for a smaller cache",
      numbers, target,
      choice.slowest.isDecode ? "a token after" : "a prompt of",
      choice.slowest.tokens, choice.speed);
}
