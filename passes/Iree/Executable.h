//===- Executable.h - Calls of our kernels in IREE's programs ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IREE_EXECUTABLE_H
#define GIST_PASSES_IREE_EXECUTABLE_H

#include "dialect/GistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <map>
#include <string>

namespace gist {

/// Replaces calls of kernels by dispatches that IREE knows.
class KernelCalls {
public:
  /// `object` is the file with the kernels' code, as the text names it.
  KernelCalls(mlir::ModuleOp module, std::string object)
      : module(module), symbols(module), object(std::move(object)) {}

  /// An error, at the call, where the kernel has no code for IREE.
  mlir::LogicalResult replace(DispatchOp call);

private:
  /// Calls on a CPU go through an export of one executable, a function that
  /// IREE compiles and that calls the kernel.
  void replaceOnCpu(DispatchOp call, mlir::func::FuncOp kernel);
  /// Calls on a GPU name the kernel in the code object.
  void replaceOnGpu(DispatchOp call, mlir::func::FuncOp kernel,
                    llvm::StringRef gpu);

  /// The export for calls of `kernel` whose outputs are new or given, as
  /// `isNew` tells for each.
  std::string getExport(mlir::func::FuncOp kernel, llvm::ArrayRef<bool> isNew);
  void addExport(mlir::func::FuncOp kernel, llvm::StringRef name,
                 llvm::ArrayRef<bool> isNew);
  void openExecutable();

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  std::string object;
  mlir::Operation *executable = nullptr;
  mlir::ModuleOp code; ///< inside of the executable
  std::map<std::string, std::string> exports;
};

} // namespace gist

#endif // GIST_PASSES_IREE_EXECUTABLE_H
