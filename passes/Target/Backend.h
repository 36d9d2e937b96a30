//===- Backend.h - From LLVM IR to machine code -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_BACKEND_H
#define GIST_PASSES_TARGET_BACKEND_H

#include "mlir/IR/Operation.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>
#include <vector>

namespace gist {

/// A module in LLVM's form, before machine code.
struct Backend {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;

  void optimize();
  /// The module as assembly or an object; errors are reported at `op`.
  mlir::FailureOr<std::vector<char>> emit(mlir::Operation *op,
                                          llvm::CodeGenFileType type);
};

/// Writes code to the file `path`, - for standard output: what
/// `emitAssembly` gives if `isAssembly`, else what `emitObject` gives.
mlir::LogicalResult
writeCode(mlir::Operation *op, llvm::StringRef path, bool isAssembly,
          llvm::function_ref<mlir::FailureOr<std::string>()> emitAssembly,
          llvm::function_ref<mlir::FailureOr<std::vector<char>>()> emitObject);

} // namespace gist

#endif // GIST_PASSES_TARGET_BACKEND_H
