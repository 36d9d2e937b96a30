//===- SlowLayers.h - Layers that a plan would slow down --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_SLOWLAYERS_H
#define GIST_PASSES_DRIVER_SLOWLAYERS_H

#include "passes/Cost/PlanCost.h"
#include "passes/Import/Files/ModelConfig.h"

namespace gist::compile {

/// Makes layers dense where the plan would make the model slower than without
/// it on one of the machines that are `target`; returns a sentence that says
/// which and why, or nothing.
std::string leaveSlowLayers(Plan &plan, const ModelConfig &config,
                            llvm::ArrayRef<const PlanRates *> machines,
                            const std::string &target);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_SLOWLAYERS_H
