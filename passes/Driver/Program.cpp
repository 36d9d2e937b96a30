//===- Program.cpp - A model compiled for one target ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One target's program: the graph cut into kernels, the kernels lowered, and
// the code.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Program.h"

#include "dialect/GistIntegerOps.h"
#include "passes/Driver/Kernels.h"
#include "passes/Driver/Module.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/Target/CompileCpu.h"
#include "passes/Target/CompileGpu.h"
#include "runtime/format/Devices.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace gist;
using namespace gist::compile;

/// Every stage is timed, and dumped if asked for.
Status Stages::run(const std::string &name, ModuleOp module,
                   llvm::function_ref<void(OpPassManager &)> build) {
  // A pass manager for each stage: a stage reads nothing but its module.
  progress.begin(name);
  PassManager pm(module.getContext());
  build(pm);
  pm.enableVerifier(verifiesPasses);
  if (failed(pm.run(module)) || (!verifiesPasses && failed(verify(module))))
    return diagnostics.takeError(name);
  return dump.pass(name, module, diagnostics);
}

Status Program::formKernels() {
  GIST_TRY(run("graph", *calls, [&](OpPassManager &pm) {
    // The target is set once for all stages, and is part of every dump.
    SetTargetPassOptions machine;
    machine.target = target.gpu ? target.name : targetOfDevice(kCpuDevice);
    machine.triple = target.cpu.triple;
    machine.cpu = target.cpu.cpu;
    machine.features = target.cpu.features;
    if (target.gpu)
      machine.gram = options.gram == compile::Gram::Fp8 ? "fp8" : "exact";
    pm.addPass(createSetTargetPass(machine));
    GraphPipelineOptions graph;
    // GPU kernels expand quantised weights to 16 bits as they read them, so
    // activations stay floats there unless asked for.
    // Where weights are not quantised, nothing becomes int8 on CPUs in spite of
    // this.
    graph.int8 =
        target.gpu ? isSmall(options.compute) : options.compute != Compute::F32;
    if (target.gpu && graph.int8)
      graph.numbers = getName(options.compute);
    // CPUs lower gates to products; GPUs have kernels for them.
    graph.gates = !target.gpu;
    // Matrix instructions want rows of 16 bits, and few wide products.
    graph.matrix = target.gpu != nullptr;
    // On a CPU the host can read the logits where they are.
    // So can the host code of another runtime.
    graph.sampling = target.gpu != nullptr && options.emit != Emit::Iree;
    buildGraphStage(pm, graph);
  }));
  WalkResult found = calls->walk([](Operation *op) {
    return isa<QuantizedMatmulOp, ScaledMatmulOp>(op) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
  });
  if (found.wasInterrupted())
    small = target.gpu ? getName(options.compute) : "int8";
  if (isSmall(options.compute) && !small)
    return Status::error(
        Code::BadArgument,
        "%s: --compute=%s needs %s; no product of this model reads one",
        options.model.c_str(), getName(options.compute),
        target.gpu ? "weights with rows of a multiple of 32 numbers, which "
                     "products alone read"
                   : "block-quantised weights");
  return run("kernels", *calls, buildKernelStage);
}

Status Program::lowerKernels() {
  // A copy, because the calls keep the kernels' signatures on tensors until
  // memory is planned.
  kernels = calls->clone();
  lowered = *kernels;
  if (target.gpu) {
    // The target is not among the options: formKernels has written it on the
    // module.
    GpuPipelineOptions gpu;
    GIST_TRY(run("products", *kernels,
                 [&](OpPassManager &pm) { buildGpuProductStage(pm, gpu); }));
    GIST_TRY(run("tiles", *kernels,
                 [&](OpPassManager &pm) { buildGpuTileStage(pm, gpu); }));
    return run("gpu", *kernels,
               [&](OpPassManager &pm) { buildGpuStage(pm, gpu); });
  }
  CpuPipelineOptions cpu;
  GIST_TRY(run("tiles", *kernels,
               [&](OpPassManager &pm) { buildTileStage(pm, cpu); }));
  return run("cpu", *kernels, buildCpuStage);
}

/// For --emit: nothing is linked, and memory is not planned.
Status Program::printCode(bool asLlvm, std::string &text) {
  stages.progress.begin(prefix + "code");
  FailureOr<std::string> printed;
  if (target.gpu)
    printed = asLlvm ? printGpuLlvm(*kernels, *target.gpu)
                     : emitGpuAssembly(*kernels, *target.gpu);
  else
    printed = asLlvm ? printLlvm(*kernels, target.cpu)
                     : emitCpuAssembly(*kernels, target.cpu);
  if (failed(printed))
    return stages.diagnostics.takeError("code");
  text = std::move(*printed);
  return {};
}

Status Program::generateCode() {
  stages.progress.begin(prefix + "code");
  if (target.gpu) {
    FailureOr<std::vector<char>> bytes = emitGpuCode(*kernels, *target.gpu);
    if (failed(bytes))
      return stages.diagnostics.takeError("code");
    code.assign(bytes->begin(), bytes->end());
  } else {
    FailureOr<CpuObject> object = emitCpuObject(*kernels, target.cpu);
    if (failed(object))
      return stages.diagnostics.takeError("code");
    code.assign(object->bytes.begin(), object->bytes.end());
    features = std::move(object->features);
  }
  // On the calls, which have their kernels on tensors still. What scratch they
  // need is asked here again, with the same answer as for the kernels.
  return run("memory", *calls, buildMemoryStage);
}

/// Copies to `to` the attributes that say how `from`, the same kernel after
/// lowering, is launched.
static void copyLaunch(Operation *from, Operation *to) {
  for (StringRef name : {kGridAttr, kWorkgroupAttr, kSharedMemoryAttr})
    if (Attribute value = from->getAttr(name))
      to->setAttr(name, value);
}

/// The default stack size of IREE's threads, and the part of it that IREE's own
/// code needs.
static constexpr int64_t kStackOfIree = 128 << 10, kFramesOfIree = 8 << 10;

/// The most that a kernel keeps on the stack, after -gist-place-buffers.
static int64_t getMostScratch(ModuleOp kernels) {
  int64_t most = 0;
  for (auto kernel : kernels.getOps<func::FuncOp>()) {
    int64_t bytes = 0;
    kernel.walk([&](memref::AllocaOp buffer) {
      bytes += buffer.getType().getNumElements() *
               llvm::divideCeil(buffer.getType().getElementTypeBitWidth(), 8);
    });
    most = std::max(most, bytes);
  }
  return most;
}

Status Program::prepareExport() {
  if (target.gpu) {
    GIST_TRY(lowerKernels());
    stages.progress.begin(prefix + "code");
    FailureOr<std::vector<char>> bytes = emitGpuCode(*kernels, *target.gpu);
    if (failed(bytes))
      return stages.diagnostics.takeError("code");
    code.assign(bytes->begin(), bytes->end());
  } else {
    kernels = calls->clone();
    GIST_TRY(run("tiles", *kernels, [&](OpPassManager &pm) {
      buildTileStage(pm, CpuPipelineOptions());
    }));
    if (int64_t bytes = getMostScratch(*kernels) + kFramesOfIree;
        bytes > kStackOfIree)
      stages.progress.warn(
          "a kernel needs " + std::to_string(bytes) +
          " bytes of stack, and the threads of IREE's device local-task have " +
          std::to_string(kStackOfIree) +
          ": run the program with --task_worker_stack_size=" +
          std::to_string(llvm::alignTo(bytes, 1 << 20)));
    GIST_TRY(run("cpu", *kernels, buildFlatCpuStage));
    stages.progress.begin(prefix + "code");
    FailureOr<std::vector<char>> bytes =
        emitCpuRelocatable(*kernels, target.cpu);
    if (failed(bytes))
      return stages.diagnostics.takeError("code");
    code.assign(bytes->begin(), bytes->end());
  }
  GIST_TRY(run("memory", *calls,
               [](OpPassManager &pm) { pm.addPass(createAddScratchPass()); }));
  Operation *lowered =
      target.gpu ? getGpuModule(*kernels)->getOperation() : *kernels;
  for (auto kernel : calls->getOps<func::FuncOp>())
    if (Operation *code =
            SymbolTable::lookupSymbolIn(lowered, kernel.getName());
        code && isKernel(kernel))
      copyLaunch(code, kernel);
  return {};
}

std::string Program::describeKernels() {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (auto function : calls->getOps<func::FuncOp>()) {
    if (isKernel(function)) {
      function->print(out);
      continue;
    }
    // How often a kernel is called decides what memory it works in.
    for (auto call : function.getOps<DispatchOp>())
      out << call.getKernel() << ' ';
    out << '\n';
  }
  return text;
}

Status Program::shareCode(const Program &other) {
  code = other.code;
  features = other.features;
  lowered = other.lowered;
  return run("memory", *calls, buildMemoryStage);
}

/// The result is valid as long as this program.
TargetProgram Program::describe() {
  Operation *table = lowered;
  if (target.gpu)
    // Kernels of a GPU are in a module of their own inside.
    table = *getGpuModule(lowered);
  TargetSpec spec = describeTarget(target, features);
  if (rank)
    spec.name += ".rank" + std::to_string(*rank);
  return {spec, code, *calls, table, rank.value_or(0)};
}
