//===- InlineKernels.cpp - The pass -gist-inline-kernels ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"

namespace gist {
#define GEN_PASS_DEF_INLINEKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Puts what `kernel` computes in the place of a call of it.
static void inlineCall(DispatchOp call, func::FuncOp kernel) {
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(kernel.getArguments(), call->getOperands());
  Block &body = kernel.getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (auto [old, result] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    old.replaceAllUsesWith(mapping.lookupOrDefault(result));
  call.erase();
}

namespace {
struct InlineKernelsPass final
    : gist::impl::InlineKernelsPassBase<InlineKernelsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<DispatchOp> calls;
    getOperation().walk([&](DispatchOp call) { calls.push_back(call); });
    for (DispatchOp call : calls) {
      auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
      if (!kernel->hasAttr(kGridAttr))
        inlineCall(call, kernel);
    }
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (isKernel(kernel) && !kernel->hasAttr(kGridAttr))
        kernel.erase();
  }
};
} // namespace
