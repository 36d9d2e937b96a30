//===- KernelBuilder.h - Kernels that are written, not cut out --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_KERNELBUILDER_H
#define GIST_PASSES_GRAPH_KERNELBUILDER_H

#include "dialect/ValueBuilder.h"
#include "passes/Graph/OutlineKernel.h"

namespace gist {

/// Builds one kernel and the operands of its call.
class KernelBuilder {
public:
  using Value = mlir::Value;

  explicit KernelBuilder(mlir::Location loc);

  /// `value` inside of the kernel: what is free is repeated there, and numbers
  /// of blocks are made as they are read; the rest are arguments.
  Value addInput(Value value);
  llvm::SmallVector<Value> addInputs(mlir::ValueRange values);
  /// `value` is a destination of the call. All inputs have to be added before
  /// the first output: arguments of a kernel end with its destinations.
  Value addOutput(Value value);

  /// Ends the kernel and calls it; `name` is for display.
  DispatchOp call(mlir::OpBuilder &host, KernelTable &table, KernelKind kind,
                  llvm::StringRef name, mlir::ValueRange results);

  /// The kernel, and a builder at the end of its body. Both may be used until
  /// call(), after which the kernel may be erased: an equal one was there.
  mlir::func::FuncOp function;
  ValueBuilder b;

private:
  Value addArgument(Value value);

  llvm::SmallVector<Value> inputs, outputs;
};

} // namespace gist

#endif // GIST_PASSES_GRAPH_KERNELBUILDER_H
