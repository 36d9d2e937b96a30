//===- CompileGpu.cpp - Kernels as code for a GPU -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels for GPUs: a code object for AMD, PTX for NVIDIA, whose driver
// assembles it for the card it finds.
//
//===----------------------------------------------------------------------===//

#include "passes/Target/CompileGpu.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/Target/Backend.h"
#include "passes/Target/LinkObject.h"
#include "passes/Tile/Gpu/Core/GpuBuilder.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace gist;

/// Bulk copies into workgroup memory need this; drivers provide it.
static constexpr uint64_t kSharedMemoryAlignment = 1024;

FailureOr<gpu::GPUModuleOp> gist::getGpuModule(ModuleOp module) {
  auto found = module.getOps<gpu::GPUModuleOp>();
  if (!llvm::hasSingleElement(found))
    return module.emitError("expected one gpu.module; run -gist-gpu first");
  return *found.begin();
}

/// True if `kernels` have instructions that only this very generation has.
/// Inline assembly is not looked into: kernels that multiply there still commit
/// their products by an op (Wgmma::commit()).
static bool isArchitectureSpecific(gpu::GPUModuleOp kernels) {
  return kernels
      .walk([](Operation *op) {
        return op->getName().getStringRef().starts_with("nvvm.wgmma")
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static LogicalResult createMachine(gpu::GPUModuleOp kernels, const GpuInfo &gpu,
                                   Backend &backend) {
  // Other code may have initialised only the host's code generator.
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::Triple triple(gpu.triple);
  std::string message;
  const llvm::Target *found =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!found)
    return kernels.emitError(message);
  std::string chip = gpu.name;
  if (gpu.kind == GpuKind::Nvidia && isArchitectureSpecific(kernels))
    // sm_90a: wgmma is not part of the PTX that later generations promise to
    // run.
    chip += "a";
  llvm::TargetOptions options;
  // Products and sums may be one instruction; nothing else is relaxed.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  // Assembly is for people; its comments list the resources of a kernel.
  options.MCOptions.AsmVerbose = gpu.kind == GpuKind::Amd;
  backend.machine.reset(found->createTargetMachine(
      triple, chip, gpu.features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  if (!backend.machine)
    return kernels.emitError("there is no code generator for ") << gpu.triple;
  return success();
}

/// Dynamic workgroup memory, whose size a launch gives, is an external
/// declaration. A size of zero marks it in the IR.
static void declareSharedMemory(llvm::GlobalVariable &global) {
  global.setInitializer(nullptr);
  global.setLinkage(llvm::GlobalValue::ExternalLinkage);
  global.setAlignment(llvm::Align(kSharedMemoryAlignment));
}

/// Works on a copy: the caller's module stays as it was.
static LogicalResult translate(gpu::GPUModuleOp kernels, const GpuInfo &gpu,
                               Backend &backend) {
  MLIRContext &context = *kernels.getContext();
  registerBuiltinDialectTranslation(context);
  registerGPUDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  registerNVVMDialectTranslation(context);
  registerROCDLDialectTranslation(context);
  llvm::DataLayout layout = backend.machine->createDataLayout();
  // Alignments depend on it, so it must be known from the start.
  OwningOpRef<gpu::GPUModuleOp> copy = kernels.clone();
  (*copy)->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                   StringAttr::get(&context, layout.getStringRepresentation()));
  backend.module = translateModuleToLLVMIR(*copy, backend.context, "gist");
  if (!backend.module)
    return kernels.emitError("cannot be translated to LLVM IR");
  llvm::Module &module = *backend.module;
  module.setTargetTriple(backend.machine->getTargetTriple());
  if (gpu.kind == GpuKind::Amd)
    // Code object version 5, which HIP 6 and the simulator load.
    module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                         500);
  for (llvm::GlobalVariable &global : module.globals())
    if (layout.getTypeAllocSize(global.getValueType()) == 0)
      declareSharedMemory(global);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", backend.machine->getTargetCPU());
    function.addFnAttr("target-features",
                       backend.machine->getTargetFeatureString());
    if (gpu.kind == GpuKind::Amd) {
      // The runtime launches whole workgroups only, so there are no remainders.
      function.addFnAttr("uniform-work-group-size", "true");
      // Kernels take their slots and nothing else.
      function.addFnAttr("amdgpu-implicitarg-num-bytes", "0");
      Operation *kernel = copy->lookupSymbol(function.getName());
      if (auto waves = kernel->getAttrOfType<IntegerAttr>(kWavesAttr)) {
        std::string count = std::to_string(waves.getInt());
        // The register allocator then aims at exactly this occupancy, which the
        // kernel asks for.
        function.addFnAttr("amdgpu-waves-per-eu", count + "," + count);
      }
    }
  }
  return success();
}

static FailureOr<std::vector<char>> emit(ModuleOp lowered, const GpuInfo &gpu,
                                         llvm::CodeGenFileType type) {
  FailureOr<gpu::GPUModuleOp> kernels = getGpuModule(lowered);
  Backend backend;
  if (failed(kernels) || failed(createMachine(*kernels, gpu, backend)) ||
      failed(translate(*kernels, gpu, backend)))
    return failure();
  backend.optimize();
  return backend.emit(*kernels, type);
}

/// Not optimised: it shows what our own lowering made.
FailureOr<std::string> gist::printGpuLlvm(ModuleOp lowered,
                                          const GpuInfo &gpu) {
  FailureOr<gpu::GPUModuleOp> kernels = getGpuModule(lowered);
  Backend backend;
  if (failed(kernels) || failed(createMachine(*kernels, gpu, backend)) ||
      failed(translate(*kernels, gpu, backend)))
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  backend.module->print(stream, /*AAW=*/nullptr);
  return text;
}

FailureOr<std::string> gist::emitGpuAssembly(ModuleOp lowered,
                                             const GpuInfo &gpu) {
  FailureOr<std::vector<char>> text =
      emit(lowered, gpu, llvm::CodeGenFileType::AssemblyFile);
  if (failed(text))
    return failure();
  return std::string(text->begin(), text->end());
}

/// An object file is linked to a code object, which is what HIP loads.
FailureOr<std::vector<char>> gist::emitGpuCode(ModuleOp lowered,
                                               const GpuInfo &gpu) {
  // NVIDIA's driver assembles.
  if (gpu.kind == GpuKind::Nvidia)
    return emit(lowered, gpu, llvm::CodeGenFileType::AssemblyFile);
  FailureOr<std::vector<char>> object =
      emit(lowered, gpu, llvm::CodeGenFileType::ObjectFile);
  if (failed(object))
    return failure();
  return linkCodeObject(
      *object, [&](const llvm::Twine &message) { lowered.emitError(message); });
}
