//===- OutlineKernel.h - A group of ops as a function -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_OUTLINEKERNEL_H
#define GIST_PASSES_GRAPH_OUTLINEKERNEL_H

#include "dialect/GistOps.h"
#include "passes/Graph/KernelGroups.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace gist {

/// Makes `function` a kernel of this kind whose last `outputs` arguments are
/// destinations.
void markKernel(mlir::func::FuncOp function, KernelKind kind, int64_t outputs);

/// Kernels of a module. Equal ones are kept once: weights, layers and positions
/// are arguments, so that the layers of a model share their kernels.
class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module) : symbols(module) {}

  /// Replaces the ops of the group by a call of a kernel that computes them.
  mlir::LogicalResult outline(const KernelGroup &group);

  /// Calls `kernel`, which has just been made, or one like it.
  /// The table owns `kernel` from then on, and erases it where an equal one
  /// exists. `kind` is for display: it starts the kernel's name.
  DispatchOp call(mlir::OpBuilder &builder, mlir::func::FuncOp kernel,
                  llvm::StringRef kind, mlir::ValueRange inputs,
                  mlir::ValueRange outputs);

private:
  mlir::func::FuncOp intern(mlir::func::FuncOp kernel, llvm::StringRef kind);

  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::func::FuncOp> kernels; ///< by their text
  llvm::StringMap<unsigned> numbers;           ///< of a kind
};

} // namespace gist

#endif // GIST_PASSES_GRAPH_OUTLINEKERNEL_H
