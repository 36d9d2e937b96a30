//===- ProgramOps.cpp - Kernel calls and planned memory -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of kernels and planned memory, in host functions after the graph stage.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistKernelAttrs.h"
#include "dialect/GistOps.h"
#include "dialect/GistRankOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace gist;

/// Here and not in verify(), because it looks up a symbol.
LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getKernelAttr());
  // Collectives, which the runtime executes, have no body and no gist.kernel.
  bool isCollective = kernel && kernel->hasAttr(kCollectiveAttr);
  if (!isCollective && (!kernel || !gist::getKernelAttr(kernel))) // (C1)
    return emitOpError("expects a kernel, got ") << getKernelAttr();

  ArrayRef<Type> arguments = kernel.getArgumentTypes();
  if (arguments.size() != getNumOperands()) // (C2)
    return emitOpError("expects ")
           << arguments.size() << " operands for " << getKernelAttr()
           << ", got " << getNumOperands();
  for (auto [index, expected, got] :
       llvm::enumerate(arguments, getOperandTypes()))
    // Equal, not compatible: a kernel is compiled for its types, and no cast
    // stands between a call and it.
    if (expected != got)
      return emitOpError("expects operand #")
             << index << " of " << getKernelAttr() << " to be " << expected
             << ", got " << got;

  // A kernel returns its destinations, which are its last arguments. The call's
  // results are theirs in the same order.
  auto outputs = static_cast<int64_t>(getOutputs().size());
  if ((!isCollective && gist::getKernelAttr(kernel).getOutputs() != outputs) ||
      kernel.getResultTypes() !=
          ArrayRef<Type>(SmallVector<Type>(getOutputs().getTypes()))) // (C3)
    return emitOpError("expects ")
           << getKernelAttr() << " to return its " << outputs
           << " destinations and to state their number in " << kKernelAttr;
  return success();
}

LogicalResult ArenaOp::verify() {
  AffineMap offset = getOffset();
  // Offsets are formulas of the tokens, the tokens before and the capacity
  // alone; the runtime evaluates them before a call.
  if (offset.getNumDims() != 0 || offset.getNumSymbols() != kNumSizeSymbols ||
      offset.getNumResults() != 1) // (C1)
    return emitOpError("expects one offset in ")
           << kNumSizeSymbols << " symbols, got " << getOffsetAttr();
  int64_t dynamic = cast<RankedTensorType>(getType()).getNumDynamicDims();
  if (static_cast<int64_t>(getSizes().size()) != dynamic) // (C2)
    return emitOpError("expects ") << dynamic << " sizes for " << getType()
                                   << ", got " << getSizes().size();
  return success();
}
