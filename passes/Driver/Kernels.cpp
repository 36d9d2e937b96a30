//===- Kernels.cpp - The kernels of a program alone -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Kernels.h"

#include "passes/Kernel/Kernels.h"
#include "passes/Target/Info/ModuleTarget.h"

#include "mlir/Target/LLVMIR/Dialect/ArmNeon/ArmNeonToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gist;

/// The host functions stay behind: Tile and Target work on kernels alone.
OwningOpRef<ModuleOp> compile::copyKernels(ModuleOp program) {
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(program.getLoc());
  if (Attribute target = program->getAttr(kTargetAttr))
    (*kernels)->setAttr(kTargetAttr, target);
  OpBuilder builder = OpBuilder::atBlockEnd(kernels->getBody());
  for (auto function : program.getOps<func::FuncOp>())
    if (isKernel(function))
      builder.clone(*function);
  return kernels;
}

/// Before LLVM's own optimisations, which is what --emit=llvm is for.
FailureOr<std::string> compile::printLlvm(ModuleOp lowered,
                                          const CpuTarget &target) {
  registerBuiltinDialectTranslation(*lowered.getContext());
  registerLLVMDialectTranslation(*lowered.getContext());
  registerArmNeonDialectTranslation(*lowered.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(lowered, context, "gist");
  if (!module)
    return failure();
  module->setTargetTriple(llvm::Triple(target.triple));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, /*AAW=*/nullptr);
  return text;
}
