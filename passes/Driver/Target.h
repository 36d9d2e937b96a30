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
  /// As the user says it: cpu, gfx942, sm_90; of several CPUs that of the CPU.
  std::string name;
  CpuTarget cpu;                ///< with nothing left open; where it is a CPU
  const GpuInfo *gpu = nullptr; ///< where it is a GPU
};

/// The targets that `options` name, in order. Unknown names are errors here;
/// LLVM would go on without them.
Status findTargets(const Options &options, std::vector<Target> &targets);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_TARGET_H
