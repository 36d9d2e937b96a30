//===- PromptSpeed.cpp - What a plan saves of a prompt's time -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/PromptSpeed.h"

#include "passes/Plan/File/PlanJson.h"

#include <chrono>
#include <cmath>

using namespace gist;
using namespace gist::plan;

int64_t plan::breakEven(int64_t shorter, const PromptTimes &shorterTimes,
                        int64_t longer, const PromptTimes &longerTimes) {
  double gain = longerTimes.dense - longerTimes.planned,
         smallerGain = shorterTimes.dense - shorterTimes.planned;
  double gainOfToken =
      (gain - smallerGain) / static_cast<double>(longer - shorter);
  if (!(gainOfToken > 0))
    return gain > 0 && smallerGain > 0 ? 0 : kMaxPlanTokens;
  double length = static_cast<double>(longer) - gain / gainOfToken;
  return static_cast<int64_t>(
      std::clamp(std::ceil(length), 0.0, static_cast<double>(kMaxPlanTokens)));
}

/// The less of what was measured and one more run.
static Status timePrompt(Session &session, std::span<const int32_t> prompt,
                         double &least) {
  GIST_TRY(session.reset());
  auto before = std::chrono::steady_clock::now();
  GIST_TRY(session.feed(prompt));
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - before;
  least = least > 0 ? std::min(least, taken.count()) : taken.count();
  return {};
}

Status plan::measurePromptSpeed(const run::ModelOptions &dense,
                                const run::ModelOptions &planned,
                                std::span<const int32_t> prompt,
                                const DepthPlan &plan, PromptSpeed &speed) {
  run::Runner whole, less;
  GIST_TRY(whole.open(dense));
  GIST_TRY(less.open(planned));
  auto longer = static_cast<int64_t>(prompt.size());
  int64_t ends = plan.first + plan.last, shorter = (longer + ends) / 2;
  if (longer - shorter < 1)
    return Status::error(Code::BadArgument,
                         "a prompt of %lld tokens has no bulk between the "
                         "first %lld and the last %lld; give a longer --prompt",
                         static_cast<long long>(longer),
                         static_cast<long long>(plan.first),
                         static_cast<long long>(plan.last));
  PromptTimes ofShorter;
  constexpr int kTurns = 3;
  for (int i = 0; i < kTurns; ++i)
    for (auto [length, times] :
         {std::pair(longer, &speed.times), std::pair(shorter, &ofShorter)}) {
      std::span<const int32_t> part = prompt.first(static_cast<size_t>(length));
      GIST_TRY(timePrompt(*whole.session, part, times->dense));
      GIST_TRY(timePrompt(*less.session, part, times->planned));
    }
  // Times scatter, and next to the length where both are equal nothing is
  // gained.
  constexpr double kMargin = 1.1;
  auto length =
      static_cast<double>(breakEven(shorter, ofShorter, longer, speed.times));
  speed.least = std::clamp<int64_t>(
      static_cast<int64_t>(kMargin * length) - ends, 1, kMaxPlanTokens);
  return {};
}
