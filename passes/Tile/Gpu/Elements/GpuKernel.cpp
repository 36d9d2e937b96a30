//===- GpuKernel.cpp - What a generator of kernels is given ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Elements/GpuKernel.h"

using namespace mlir;
using namespace gist;

func::FuncOp gist::createBufferFunction(OpBuilder &builder,
                                        func::FuncOp source) {
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (BlockArgument argument : source.getArguments()) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    types.push_back(
        tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType())
               : argument.getType());
    locations.push_back(argument.getLoc());
  }
  builder.setInsertionPoint(source);
  auto function =
      func::FuncOp::create(builder, source.getLoc(), source.getName(),
                           builder.getFunctionType(types, {}),
                           llvm::to_vector(source->getDiscardableAttrs()));
  function.setVisibility(source.getVisibility());
  builder.createBlock(&function.getBody(), {}, types, locations);
  return function;
}

LogicalResult gist::verifyInstruction(Operation *op, Instruction instruction,
                                      const GpuInfo &gpu) {
  // All instructions of one vendor are in all of its GPUs that GpuInfo has.
  bool isNvidia = instruction == Instruction::Mma16x8x16 ||
                  instruction == Instruction::Wgmma64x128x16;
  if (isNvidia == (gpu.kind == GpuKind::Nvidia))
    return success();
  return op->emitOpError("multiplies by ")
         << stringifyInstruction(instruction) << ", which " << gpu.name
         << " does not have";
}
