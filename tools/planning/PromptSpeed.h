//===- PromptSpeed.h - What a plan saves of a prompt's time -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan of depths saves work of the bulk of a prompt and reads both ends in
// calls of their own, which cost a fixed time. So it pays from some length on,
// which depends on model and machine.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_PROMPTSPEED_H
#define GIST_TOOLS_PLANNING_PROMPTSPEED_H

#include "passes/Plan/File/DepthPlan.h"
#include "tools/running/Options.h"

namespace gist::plan {

struct PromptTimes {
  double dense = 0, planned = 0; ///< seconds
};

struct PromptSpeed {
  PromptTimes times; ///< of the prompt as asked for
  int64_t least = 0; ///< as in DepthPlan

  double ratio() const { return times.dense / times.planned; }
};

/// The length of a prompt at which lines through two lengths' times meet.
/// Beyond every length that a plan may have where they do not.
int64_t breakEven(int64_t shorter, const PromptTimes &shorterTimes,
                  int64_t longer, const PromptTimes &longerTimes);

/// Reads a prompt, and one with half of its bulk, with two modules in turns.
/// The planned one follows the plan at every length.
Status measurePromptSpeed(const run::ModelOptions &dense,
                          const run::ModelOptions &planned,
                          std::span<const int32_t> prompt,
                          const DepthPlan &plan, PromptSpeed &speed);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_PROMPTSPEED_H
