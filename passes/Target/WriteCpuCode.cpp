//===- WriteCpuCode.cpp - The pass -gist-write-cpu-code -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -gist-write-cpu-code: for gist-opt and tests, which have no driver that
// writes a file.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Target/Backend.h"
#include "passes/Target/CompileCpu.h"
#include "passes/Target/Info/ModuleTarget.h"

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
    FailureOr<CpuTarget> target = getCpuTarget(getOperation());
    if (failed(target))
      return failure();
    return writeCode(
        getOperation(), output, assembly,
        [&] { return emitCpuAssembly(getOperation(), *target); },
        [&]() -> FailureOr<std::vector<char>> {
          FailureOr<CpuObject> object = emitCpuObject(getOperation(), *target);
          if (failed(object))
            return failure();
          return std::move(object->bytes);
        });
  }

  void runOnOperation() override {
    if (failed(write()))
      signalPassFailure();
  }
};
} // namespace
