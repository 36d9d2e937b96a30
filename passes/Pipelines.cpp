//===- Pipelines.cpp - The spine: which passes run, in which order --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Target/Info/ModuleTarget.h"

namespace gist {
#define GEN_PASS_DEF_CONVERTGPUMODULESPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Writes the CPU that `options` name on the module; this machine where neither
/// they nor the module say.
template <typename Options>
static void addCpuTarget(OpPassManager &pm, const Options &options) {
  SetTargetPassOptions target;
  target.triple = options.triple;
  target.cpu = options.cpu;
  target.features = options.features;
  pm.addPass(createSetTargetPass(target));
}

/// The same for a GPU; a module may say it itself.
static void addGpuTarget(OpPassManager &pm, const GpuPipelineOptions &options) {
  if (options.target.empty() && options.gram.empty())
    return;
  SetTargetPassOptions target;
  target.target = options.target;
  target.gram = options.gram;
  pm.addPass(createSetTargetPass(target));
}

/// Tensors become buffers, also at function boundaries, with identity layouts.
static void addBufferization(OpPassManager &pm) {
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
}

void gist::buildReferencePipeline(OpPassManager &pm) {
  pm.addPass(createDecomposePass());
  pm.addPass(createCanonicalizerPass());

  // To buffers. Functions take and return memrefs with identity layout; what
  // they return belongs to the caller. No CSE before: two tensors that start
  // alike would share one buffer and be copied apart again.
  pm.addPass(createConvertElementwiseToLinalgPass());
  addBufferization(pm);
  bufferization::buildBufferDeallocationPipeline(
      pm, bufferization::BufferDeallocationPipelineOptions());
  pm.addPass(createConvertBufferizationToMemRefPass());

  // To loops, then to branches.
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());

  // To the LLVM dialect. bf16 and floats of 8 bits are converted by integer
  // arithmetic: not every compiler's support library has functions for the one,
  // and LLVM has no type for the others.
  pm.addPass(createExpandFloatsPass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

/// Every stage ends with the check of what it promises.
static void addCheck(OpPassManager &pm, StringRef stage) {
  CheckStagePassOptions check;
  check.stage = stage.str();
  pm.addPass(createCheckStagePass(check));
}

void gist::buildRaiseStage(OpPassManager &pm) {
  addCheck(pm, "import"); // One block for each function, and no buffers.
  pm.addPass(createRaiseWeightsPass());
  pm.addNestedPass<func::FuncOp>(createRaiseSizesPass());
  pm.addPass(createCanonicalizerPass()); // Sizes that became numbers.
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createRaiseViewsPass());
  pm.addNestedPass<func::FuncOp>(createDropUnitDimsPass());
  pm.addPass(createCanonicalizerPass()); // Views that cancel each other.
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createRaiseAttentionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createRaiseLinearsPass());
  pm.addNestedPass<func::FuncOp>(createNameLayersPass());
  pm.addNestedPass<func::FuncOp>(createStoreBooleansPass());
  // A kernel cannot call a library for powers.
  math::MathExpandOpsPassOptions powers;
  powers.opMnemonics = {"fpowi", "powf"};
  pm.addPass(math::createMathExpandOpsPass(powers));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  addCheck(pm, "import"); // What the graph stage takes.
}

void gist::buildPlanStage(OpPassManager &pm) {
  pm.addPass(createGateLinearsPass());
  pm.addPass(createClusterCachePass());
  pm.addPass(createInsertSelectionsPass());
  pm.addPass(createAttendOnRepresentativesPass());
  pm.addPass(createReduceDepthPass()); // Caches are what they will be.
  addCheck(pm, "import");              // A graph with less work is a graph.
}

/// The passes of the graph stage.
static void addGraphPasses(OpPassManager &pm,
                           const GraphPipelineOptions &options) {
  pm.addPass(createAddReadEntryPass()); // It needs no samples.
  if (options.sampling)
    pm.addPass(createAddSamplingPass()); // The decode entry is a copy.
  pm.addPass(createAddDecodeEntryPass());
  pm.addPass(createAddNllEntryPass());
  pm.addNestedPass<func::FuncOp>(createNarrowRowsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // All of them for CPUs, those of many tokens that do not pay for GPUs.
  if (options.gates || options.matrix) {
    pm.addPass(createLowerGatesPass());
    pm.addPass(createCSEPass());
  }
  if (options.matrix) {
    pm.addPass(createRoundActivationsPass());
    pm.addPass(createMergeProjectionsPass());
    pm.addPass(createCanonicalizerPass()); // Sizes of slices are one number.
    pm.addPass(createCSEPass());
  }
  if (!options.int8)
    return;
  pm.addPass(createQuantizeActivationsPass({options.numbers}));
  pm.addPass(createCSEPass()); // Products of one input share its rows.
  if (options.matrix)
    return; // What follows is for CPUs.
  pm.addPass(createMergeProductsPass());
  addCpuTarget(pm, options);
  pm.addPass(createAssignPackingPass());
  pm.addPass(createCSEPass());
}

void gist::buildGraphStage(OpPassManager &pm,
                           const GraphPipelineOptions &options) {
  addCheck(pm, "import"); // Graphs come from files of people too.
  addGraphPasses(pm, options);
  addCheck(pm, "graph");
}

void gist::buildKernelStage(OpPassManager &pm) {
  pm.addPass(createFormKernelsPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSymbolDCEPass()); // Kernels without a call.
  addCheck(pm, "kernels");
}

void gist::buildMemoryStage(OpPassManager &pm) {
  pm.addPass(createSetTargetPass()); // This machine where the module has none.
  pm.addPass(createAddScratchPass());
  pm.addPass(createPlanMemoryPass());
  addCheck(pm, "memory");
}

/// Gives kernels memory to work in while their calls are there, which say how
/// many share it, and then leaves out what calls them.
static void addKernelsAlone(OpPassManager &pm) {
  pm.addPass(createAddScratchPass());
  pm.addPass(createKeepKernelsPass());
}

void gist::buildTileStage(OpPassManager &pm,
                          const CpuPipelineOptions &options) {
  addCpuTarget(pm, options);
  addKernelsAlone(pm);
  pm.addPass(createSelectTileConfigPass());
  pm.addPass(createTileAndDistributePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createVectorizeTilesPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());

  addBufferization(pm);
  pm.addPass(createCanonicalizerPass()); // Loops stop carrying buffers.
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createPlaceBuffersPass());
  addCheck(pm, "tiles");
}

/// The passes of the CPU stage. What is flat is not for our runtime.
static void addCpuPasses(OpPassManager &pm, bool flat) {
  LowerToCPUPassOptions signature;
  signature.flat = flat;
  pm.addNestedPass<func::FuncOp>(createLowerToCPUPass(signature));
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addNestedPass<func::FuncOp>(createLowerVectorsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCSEPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.armNeon = true;
  vectors.amx = true;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createExpandFloatsPass());
  // A CPU without bf16 conversions would call a library for them.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void gist::buildCpuStage(OpPassManager &pm) {
  addCpuPasses(pm, /*flat=*/false);
  addCheck(pm, "cpu");
}

void gist::buildFlatCpuStage(OpPassManager &pm) {
  addCpuPasses(pm, /*flat=*/true);
}

void gist::buildIreeStage(OpPassManager &pm,
                          const IreePipelineOptions &options) {
  ExportToIreePassOptions exported;
  exported.object = options.object;
  // Calls need memory to work in, as on any device; graphs have none.
  pm.addPass(createSetTargetPass());
  pm.addPass(createAddScratchPass());
  pm.addPass(createInlineKernelsPass());
  pm.addPass(createBatchSelectionsPass());
  // While the plan is there, which says how many keys there can be.
  pm.addPass(createBatchAttentionPass());
  pm.addPass(createExportToIreePass(exported));
  pm.addPass(createDecomposePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void gist::buildGpuProductStage(OpPassManager &pm,
                                const GpuPipelineOptions &options) {
  addGpuTarget(pm, options);
  addKernelsAlone(pm);
  pm.addPass(createSelectTileConfigPass());
  pm.addPass(createGpuTileProductsPass());
}

void gist::buildGpuTileStage(OpPassManager &pm,
                             const GpuPipelineOptions &options) {
  // Does nothing where it has been run before.
  buildGpuProductStage(pm, options);
  pm.addPass(createGpuKernelsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  addCheck(pm, "gpu-tiles");
}

/// The conversions of a kernel's own instructions to the LLVM dialect.
static void addConversions(OpPassManager &pm, const GpuInfo &gpu) {
  if (gpu.kind == GpuKind::Nvidia) {
    pm.addPass(createConvertNVGPUToNVVMPass());
    pm.addPass(createConvertGpuOpsToNVVMOps());
    // Matrix instructions of four warps have no intrinsic, only text.
    pm.addPass(createConvertNVVMToLLVMPass());
  } else {
    ConvertAMDGPUToROCDLPassOptions matrix;
    matrix.chipset = gpu.name;
    pm.addPass(createConvertAMDGPUToROCDLPass(matrix));
    ConvertGpuOpsToROCDLOpsOptions rest;
    rest.chipset = gpu.name;
    pm.addPass(createConvertGpuOpsToROCDLOps(rest));
  }
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

namespace {
/// Which passes run is known when the module is, so they are a pipeline of
/// their own.
struct ConvertGpuModulesPass final
    : gist::impl::ConvertGpuModulesPassBase<ConvertGpuModulesPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    for (const GpuInfo &gpu : getGpuTable()) {
      OpPassManager pm(gpu::GPUModuleOp::getOperationName());
      addConversions(pm, gpu);
      pm.getDependentDialects(registry);
    }
  }

  void runOnOperation() override {
    const GpuInfo *gpu = getGpuTarget(getOperation());
    if (!gpu)
      return signalPassFailure();
    OpPassManager pm(gpu::GPUModuleOp::getOperationName());
    addConversions(pm, *gpu);
    for (auto device : getOperation().getOps<gpu::GPUModuleOp>())
      if (failed(runPipeline(pm, device)))
        return signalPassFailure();
  }
};
} // namespace

void gist::buildGpuStage(OpPassManager &pm, const GpuPipelineOptions &options) {
  addGpuTarget(pm, options);
  pm.addPass(createLowerToGPUPass());
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
  device.addPass(createLoopInvariantCodeMotionPass());
  device.addPass(createConvertVectorToSCFPass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createCSEPass());
  device.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertGpuModulesPass());
  addCheck(pm, "gpu");
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static SmallVectorImpl<StringRef> &stageNames() {
  static SmallVector<StringRef> names;
  return names;
}

/// `name` and `description` are literals.
template <typename Options = EmptyPipelineOptions, typename Build>
static void registerStage(StringRef name, StringRef description, Build build) {
  PassPipelineRegistration<Options>(name, description, build);
  stageNames().push_back(name);
}

ArrayRef<StringRef> gist::getStageNames() { return stageNames(); }

void gist::registerPipelines() {
  registerStage("gist-raise", "make a graph of torch-mlir one of ours",
                buildRaiseStage);
  registerStage("gist-plan", "do what the module's plan says", buildPlanStage);
  registerStage<GraphPipelineOptions>(
      "gist-graph", "simplify a graph and choose what it computes in",
      buildGraphStage);
  registerStage("gist-kernels", "cut a graph into kernels and calls of them",
                buildKernelStage);
  registerStage("gist-memory", "give what kernels write a place in memory",
                buildMemoryStage);
  registerStage<CpuPipelineOptions>(
      "gist-tile", "kernels on tensors become loops over vectors on buffers",
      buildTileStage);
  registerStage("gist-cpu",
                "kernels on buffers become functions the runtime can call",
                buildCpuStage);
  registerStage<GpuPipelineOptions>(
      "gist-gpu-products",
      "choose how kernels are cut; products become steps on tiles",
      buildGpuProductStage);
  registerStage<GpuPipelineOptions>(
      "gist-gpu-tile",
      "kernels on tensors become code of one GPU thread on buffers",
      buildGpuTileStage);
  registerStage<GpuPipelineOptions>(
      "gist-gpu", "kernels on buffers become functions a GPU can run",
      buildGpuStage);
  registerStage<IreePipelineOptions>(
      "gist-iree", "a graph, or calls of kernels, as text for IREE's compiler",
      buildIreeStage);
  registerStage(
      "gist-reference",
      "lower to the LLVM dialect through the executable definition of the ops",
      buildReferencePipeline);
}
