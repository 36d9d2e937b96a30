//===- MeasureRates.h - What parts of a model take here ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rates of the machine at hand (JobTime.h), from the times of a model's
// commands: as it is, and with all heads dense, windows and clusters in the
// cache of a plan.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_MEASURERATES_H
#define GIST_TOOLS_PLANNING_MEASURERATES_H

#include "tools/planning/JobTime.h"
#include "tools/planning/Probe.h"

namespace gist::plan {

/// Seconds that the model as it is takes.
struct JobSeconds {
  double prompt = 0, answer = 0;
  /// Parts of it that no plan of heads changes, and that no plan of depths
  /// does.
  double promptProducts = 0, answerWeights = 0;
};

struct MeasuredRates {
  PartRates rates;
  double token = 0; ///< seconds of a written token without its keys and values
};

/// Rates of `model`, by prompts of at most `tokens` and in about so many
/// seconds. `products` is multiply-adds of a token. `trial` has heads that do
/// as a plan says; null: heads are not asked. Both measure their commands
/// (run::ModelOptions::profile).
Status measureRates(run::Runner &model, Prober *trial, double products,
                    const AttentionShape &shape,
                    std::span<const int32_t> tokens, double seconds,
                    MeasuredRates &result);

/// What a job takes by these rates.
JobSeconds estimateJob(const MeasuredRates &measured, double products,
                       const AttentionShape &shape, const Job &job);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_MEASURERATES_H
