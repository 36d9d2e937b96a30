//===- GivenTensors.cpp - What a function is given, beside state ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Ranks/GivenTensors.h"
#include "passes/Kernel/Kernels.h"

using namespace mlir;

SmallVector<BlockArgument> gist::getGivenTensors(func::FuncOp function) {
  llvm::SmallPtrSet<Value, 4> states;
  for (Value result : function.front().getTerminator()->getOperands())
    if (BlockArgument argument = getUpdatedArgument(result))
      states.insert(argument);
  return llvm::filter_to_vector(
      function.getArguments(), [&](BlockArgument argument) {
        return isa<RankedTensorType>(argument.getType()) &&
               !states.contains(argument);
      });
}
