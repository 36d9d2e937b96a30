//===- CompileCpu.cpp - Kernels as machine code for a CPU -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels for CPUs: LLVM IR, optimised, as assembly or as a shared object that
// the runtime opens.
//
//===----------------------------------------------------------------------===//

#include "passes/Target/CompileCpu.h"
#include "mlir/Target/LLVMIR/Dialect/ArmNeon/ArmNeonToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/Target/Backend.h"
#include "passes/Target/LinkObject.h"
#include "passes/Target/MemoryFunctions.h"
#include "passes/Target/UsedFeatures.h"
#include "llvm/MC/TargetRegistry.h"

using namespace mlir;
using namespace gist;

/// Some AMD CPUs let SSE read memory that is not aligned.
static constexpr const char *kNoUnaligned = "-sse-unaligned-mem";

static LogicalResult createMachine(ModuleOp module, const CpuTarget &target,
                                   Backend &backend) {
  auto report = [&](const llvm::Twine &message) { module.emitError(message); };
  FailureOr<CpuTarget> resolved = resolveTarget(target, report);
  if (failed(resolved))
    return failure();
  llvm::Triple triple(resolved->triple);
  std::string message;
  const llvm::Target *found =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!found)
    return module.emitError(message);
  // Not an instruction that a runtime could check for, but a mode that the
  // operating system may or may not have set.
  if (triple.isX86())
    resolved->features +=
        (resolved->features.empty() ? "" : ",") + std::string(kNoUnaligned);
  llvm::TargetOptions options;
  // Products and sums may be one instruction; nothing else is relaxed.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  // Position-independent, because the runtime maps the object anywhere.
  backend.machine.reset(found->createTargetMachine(
      triple, resolved->cpu, resolved->features, options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!backend.machine)
    return module.emitError("there is no code generator for ")
           << resolved->triple;
  return success();
}

static void setMachine(llvm::Function &function,
                       const llvm::TargetMachine &machine) {
  function.addFnAttr("target-cpu", machine.getTargetCPU());
  function.addFnAttr("target-features", machine.getTargetFeatureString());
}

/// Translates to LLVM IR and optimises.
static LogicalResult translate(ModuleOp module, Backend &backend) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerArmNeonDialectTranslation(*module.getContext());
  backend.module = translateModuleToLLVMIR(module, backend.context, "gist");
  if (!backend.module)
    return module.emitError("cannot be translated to LLVM IR");
  backend.module->setTargetTriple(backend.machine->getTargetTriple());
  backend.module->setDataLayout(backend.machine->createDataLayout());
  for (llvm::Function &function : *backend.module) {
    if (function.isDeclaration())
      continue;
    // Vectors as wide as the kernels were written for.
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
    setMachine(function, *backend.machine);
    // Kernels have no exceptions, so no unwind tables are needed.
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }

  backend.optimize();
  return success();
}

static FailureOr<std::vector<char>>
emitCode(ModuleOp module, const CpuTarget &target, llvm::CodeGenFileType type) {
  Backend backend;
  if (failed(createMachine(module, target, backend)) ||
      failed(translate(module, backend)))
    return failure();
  return backend.emit(module, type);
}

FailureOr<std::string> gist::emitCpuAssembly(ModuleOp lowered,
                                             const CpuTarget &target) {
  FailureOr<std::vector<char>> text =
      emitCode(lowered, target, llvm::CodeGenFileType::AssemblyFile);
  if (failed(text))
    return failure();
  return std::string(text->begin(), text->end());
}

FailureOr<CpuObject> gist::emitCpuObject(ModuleOp lowered,
                                         const CpuTarget &target) {
  FailureOr<std::vector<char>> object =
      emitCode(lowered, target, llvm::CodeGenFileType::ObjectFile);
  if (failed(object))
    return failure();
  auto report = [&](const llvm::Twine &message) { lowered.emitError(message); };
  // Read from the object and not from the target: a module then runs on every
  // CPU that has the features its code uses.
  FailureOr<std::vector<std::string>> features =
      getUsedFeatures(*object, target, report);
  if (failed(features))
    return failure();
  // The runtime has a loader for shared objects, not for object files.
  FailureOr<std::vector<char>> linked = linkSharedObject(*object, report);
  if (failed(linked))
    return failure();
  return CpuObject{std::move(*linked), std::move(*features)};
}

FailureOr<std::vector<char>> gist::emitCpuRelocatable(ModuleOp lowered,
                                                      const CpuTarget &target) {
  CpuTarget reserved = target;
  if (llvm::Triple(target.triple).isAArch64())
    reserved.features +=
        (reserved.features.empty() ? "" : ",") + std::string("+reserve-x18");
  Backend backend;
  if (failed(createMachine(lowered, reserved, backend)) ||
      failed(translate(lowered, backend)))
    return failure();
  addMemoryFunctions(*backend.module);
  for (llvm::Function &function : *backend.module)
    if (!function.isDeclaration())
      setMachine(function, *backend.machine);
  for (llvm::Function &function : *backend.module)
    if (!function.isDeclaration() && !function.hasLocalLinkage())
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  return backend.emit(lowered, llvm::CodeGenFileType::ObjectFile);
}
