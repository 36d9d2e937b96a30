//===- SlowLayers.h - Layers that a plan would slow down --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_SLOWLAYERS_H
#define GIST_PASSES_DRIVER_SLOWLAYERS_H

#include "dialect/GpuInfo.h"
#include "passes/Import/Files/ModelConfig.h"
#include "passes/Plan/File/Plan.h"

namespace gist::compile {

/// Makes layers dense where the plan would make the model slower than without
/// it; returns a sentence that says which and why, or nothing.
std::string leaveSlowLayers(Plan &plan, const ModelConfig &config,
                            const GpuInfo &gpu);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_SLOWLAYERS_H
