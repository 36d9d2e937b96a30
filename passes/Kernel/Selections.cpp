//===- Selections.cpp - Kernels that are selections -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Selections.h"
#include "dialect/GistNames.h"
#include "dialect/GistOps.h"

using namespace mlir;
using namespace gist;

Operation *gist::findSelection(func::FuncOp kernel) {
  Operation *selection = nullptr;
  kernel.walk([&](Operation *op) {
    if (isa<GramSelectOp, CascadeUpdateOp>(op))
      selection = op;
  });
  return selection;
}

SelectionBuffers
gist::findSelectionBuffers(func::FuncOp kernel,
                           function_ref<Value(BlockArgument)> getBuffer) {
  SelectionBuffers found;
  auto end = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  unsigned first = kernel.getNumArguments() - end.getNumOperands();
  for (auto [i, value] : llvm::enumerate(end.getOperands())) {
    Value buffer = getBuffer(kernel.getArgument(first + i));
    auto result = dyn_cast<OpResult>(value);
    if (!result) {
      if (!kernel.getArgAttr(first + i, kControlArgAttr))
        found.scratch = buffer;
      continue;
    }
    Value *parts[] = {&found.ids, &found.count, &found.nearest, &found.weight};
    // Result 0 of a cascade is the selection itself, which is unpacked.
    Value *counts[] = {nullptr, &found.removed, &found.added};
    if (isa<UnpackSelectionOp>(result.getOwner()))
      *parts[result.getResultNumber()] = buffer;
    else if (isa<CascadeUpdateOp>(result.getOwner()))
      *counts[result.getResultNumber()] = buffer;
  }
  // By number: `getBuffer` may add arguments to the block.
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (kernel.getArgAttr(i, kControlArgAttr))
      found.control = getBuffer(kernel.getArgument(i));
  return found;
}
