//===- Target.h - The machines that were asked for --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_TARGET_H
#define GIST_PASSES_DRIVER_TARGET_H

#include "dialect/GpuInfo.h"
#include "passes/Driver/Options.h"
#include "passes/Target/Info/TargetInfo.h"
#include "runtime/support/Status.h"

#include <string>
#include <vector>

namespace gist::compile {

/// A machine to compile for.
struct Target {
  /// As the user gives it: cpu, gfx942, sm_90; with several CPUs, the CPU's
  /// name.
  std::string name;
  CpuTarget cpu;                ///< of a CPU target, fully resolved
  const GpuInfo *gpu = nullptr; ///< of a GPU target, else null
};

/// The targets that `options` name, in order. Unknown names are errors here;
/// LLVM would go on without them.
Status findTargets(const Options &options, std::vector<Target> &targets);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_TARGET_H
