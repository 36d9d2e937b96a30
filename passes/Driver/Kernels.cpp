//===- Kernels.cpp - Lowered kernels as text ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Kernels.h"

#include "mlir/Target/LLVMIR/Dialect/ArmNeon/ArmNeonToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gist;

/// Before LLVM's own optimisations, which is what --emit=llvm is for.
FailureOr<std::string> compile::printLlvm(ModuleOp lowered,
                                          const CpuTarget &target) {
  // Translations are interfaces that a context learns once; doing it again
  // changes nothing.
  registerBuiltinDialectTranslation(*lowered.getContext());
  registerLLVMDialectTranslation(*lowered.getContext());
  registerArmNeonDialectTranslation(*lowered.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(lowered, context, "gist");
  if (!module)
    return failure();
  // The LLVM dialect has no triple here, and readers such as llc need it.
  module->setTargetTriple(llvm::Triple(target.triple));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, /*AAW=*/nullptr);
  return text;
}
