//===- WriteGpuCode.cpp - The pass -gist-write-gpu-code -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -gist-write-gpu-code: for gist-opt and tests, which have no driver that
// writes a file.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Target/Backend.h"
#include "passes/Target/CompileGpu.h"
#include "passes/Target/Info/ModuleTarget.h"

namespace gist {
#define GEN_PASS_DEF_WRITEGPUCODEPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
struct WriteGpuCodePass final
    : gist::impl::WriteGpuCodePassBase<WriteGpuCodePass> {
  using Base::Base;

  LogicalResult write() {
    const GpuInfo *gpu = getGpuTarget(getOperation());
    if (!gpu)
      return failure();
    return writeCode(
        getOperation(), output, assembly,
        [&] { return emitGpuAssembly(getOperation(), *gpu); },
        [&] { return emitGpuCode(getOperation(), *gpu); });
  }

  void runOnOperation() override {
    if (failed(write()))
      signalPassFailure();
  }
};
} // namespace
