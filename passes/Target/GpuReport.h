//===- GpuReport.h - What the kernels of a GPU take -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_GPUREPORT_H
#define GIST_PASSES_TARGET_GPUREPORT_H

#include "passes/Target/GpuLoops.h"
#include "llvm/Support/JSON.h"

namespace gist {

/// A kernel of a code object with its main loops.
struct KernelReport {
  GpuKernelCode code;
  std::vector<MainLoop> loops;
  /// Waves that a SIMD can hold at once, by registers and workgroup memory.
  double wavesPerSimd;
};

/// Looks at every kernel of a code object for gfx942.
llvm::Expected<std::vector<KernelReport>>
inspectCodeObject(llvm::StringRef bytes);

/// A table of the kernels and one of their main loops.
std::string printReport(llvm::ArrayRef<KernelReport> kernels);

/// The same for programs.
llvm::json::Value toJson(llvm::ArrayRef<KernelReport> kernels);

} // namespace gist

#endif // GIST_PASSES_TARGET_GPUREPORT_H
