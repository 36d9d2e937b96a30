//===- WriteCpuCode.cpp - The pass -gist-write-cpu-code -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Target/CompileCpu.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

namespace gist {
#define GEN_PASS_DEF_WRITECPUCODEPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
struct WriteCpuCodePass final
    : gist::impl::WriteCpuCodePassBase<WriteCpuCodePass> {
  using Base::Base;

  LogicalResult write() {
    CpuTarget target{triple, cpu, features};
    std::vector<char> bytes;
    if (assembly) {
      FailureOr<std::string> text = emitCpuAssembly(getOperation(), target);
      if (failed(text))
        return failure();
      bytes.assign(text->begin(), text->end());
    } else {
      FailureOr<std::vector<char>> object =
          emitCpuObject(getOperation(), target);
      if (failed(object))
        return failure();
      bytes = std::move(*object);
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
