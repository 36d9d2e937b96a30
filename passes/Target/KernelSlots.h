//===- KernelSlots.h - What kernels make of their slots ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_KERNELSLOTS_H
#define GIST_PASSES_TARGET_KERNELSLOTS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace gist {

/// A contiguous buffer at `pointer`; `sizes` are its dynamic sizes, as words.
mlir::Value createMemRef(mlir::OpBuilder &builder, mlir::Location location,
                         const mlir::LLVMTypeConverter &types,
                         mlir::MemRefType type, mlir::Value pointer,
                         llvm::ArrayRef<mlir::Value> sizes);

} // namespace gist

#endif // GIST_PASSES_TARGET_KERNELSLOTS_H
