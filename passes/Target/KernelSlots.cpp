//===- KernelSlots.cpp - What kernels make of their slots -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Target/KernelSlots.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace gist;

/// Kernels see plain memory: contiguous, from the beginning, row-major.
Value gist::createMemRef(OpBuilder &builder, Location location,
                         const LLVMTypeConverter &types, MemRefType type,
                         Value pointer, ArrayRef<Value> sizes) {
  auto descriptor =
      MemRefDescriptor::poison(builder, location, types.convertType(type));
  descriptor.setAllocatedPtr(builder, location, pointer);
  descriptor.setAlignedPtr(builder, location, pointer);
  descriptor.setConstantOffset(builder, location, 0);
  // From the innermost dimension outwards, each stride is the product of the
  // sizes inside.
  Value stride =
      LLVM::ConstantOp::create(builder, location, builder.getI64IntegerAttr(1));
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    Value size = type.isDynamicDim(dim)
                     ? sizes[type.getDynamicDimIndex(dim)]
                     : LLVM::ConstantOp::create(
                           builder, location,
                           builder.getI64IntegerAttr(type.getDimSize(dim)))
                           .getResult();
    descriptor.setSize(builder, location, dim, size);
    descriptor.setStride(builder, location, dim, stride);
    stride = LLVM::MulOp::create(builder, location, stride, size);
  }
  return UnrealizedConversionCastOp::create(builder, location, type,
                                            Value(descriptor))
      .getResult(0);
}
