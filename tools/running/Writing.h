//===- Writing.h - Two models along a text that one writes ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_WRITING_H
#define GIST_TOOLS_RUNNING_WRITING_H

#include "tools/running/Evaluation.h"

namespace gist::run {

struct WritingOptions {
  size_t tokens = 2000; ///< to write
  size_t parts = 8;     ///< of equal length, each with its own figures
  SamplerOptions sampler = {};
};

/// What a model wrote, and how far the reference is from it along the way.
struct Written {
  std::vector<int32_t> tokens;
  std::vector<Comparison> parts;
};

/// `model` goes on after `prompt` as if alone, and does not stop at its end
/// token; `reference` reads the same tokens. `afterToken` may be null.
Status compareWriting(Runner &model, Runner &reference,
                      std::span<const int32_t> prompt,
                      const WritingOptions &options,
                      const std::function<void()> &afterToken, Written &result);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_WRITING_H
