//===- PlannedModule.h - The plan inside a module ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_PLANNEDMODULE_H
#define GIST_PASSES_PLAN_FILE_PLANNEDMODULE_H

#include "passes/Plan/File/Work.h"
#include "runtime/module/Module.h"

namespace gist {

/// The statistic that says how many clusters each head has.
inline constexpr const char *kClustersStatistic = "clusters";

/// What a module with a cache of clusters says about it.
struct PlannedModule {
  AttentionShape shape;
  int64_t block = 0;
  int64_t context = 0;       ///< tokens that the cache was laid out for
  uint64_t elementBytes = 0; ///< of a key's number
  std::vector<float> table;  ///< layers x KV heads x 8

  /// Bytes of a dense cache for as many tokens.
  uint64_t denseBytes() const;
  /// Of a module for calibration: whether a plan may choose what this head
  /// does. It cannot change a window of the model's own.
  bool isChosen(size_t head) const;
  int64_t countChosen() const;
};

/// True if the module has a cache of clusters.
bool isPlanned(const Module &module);

/// Reads it, or says what is missing.
Status readPlannedModule(const Module &module, PlannedModule &result);

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_PLANNEDMODULE_H
