//===- WriteGpuCode.cpp - The pass -gist-write-gpu-code -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Target/CompileGpu.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

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
    const GpuInfo *gpu = getGpuInfo(target);
    if (!gpu)
      return getOperation().emitError("unknown GPU: ") << target;
    std::vector<char> bytes;
    if (assembly) {
      FailureOr<std::string> text = emitGpuAssembly(getOperation(), *gpu);
      if (failed(text))
        return failure();
      bytes.assign(text->begin(), text->end());
    } else {
      FailureOr<std::vector<char>> code = emitGpuCode(getOperation(), *gpu);
      if (failed(code))
        return failure();
      bytes = std::move(*code);
    }
    std::error_code error;
    llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_None);
    if (error)
      return getOperation().emitError("cannot open ")
             << output << ": " << error.message();
    file.os().write(bytes.data(), bytes.size());
    file.keep();
    return success();
  }

  void runOnOperation() override {
    if (failed(write()))
      signalPassFailure();
  }
};
} // namespace
