//===- Pipelines.h - The stages, one function and one name each -*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PIPELINES_H
#define GIST_PASSES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace gist {

/// Lowers tensors and gist ops to the LLVM dialect through their executable
/// definition: slow, plain and for tests. `-gist-reference`.
void buildReferencePipeline(mlir::OpPassManager &pm);

/// Brings a graph of another exporter, in linalg as torch-mlir writes it, into
/// the form of imported graphs: weights, tokens first, attention and linear
/// layers that plans know. `-gist-raise`.
void buildRaiseStage(mlir::OpPassManager &pm);

/// Does what the `gist.plan` of a module says, and changes nothing without one.
/// `-gist-plan`.
void buildPlanStage(mlir::OpPassManager &pm);

/// How a graph is prepared for a CPU, as options of a pipeline.
struct GraphPipelineOptions : mlir::PassPipelineOptions<GraphPipelineOptions> {
  Option<bool> gates{
      *this, "gates", llvm::cl::init(true),
      llvm::cl::desc("write gated projections as products that rows ask for; "
                     "GPUs have kernels for them instead")};
  Option<bool> sampling{
      *this, "sampling",
      llvm::cl::desc(
          "draw the next token on the device; on CPUs the host draws it")};
  Option<bool> matrix{
      *this, "matrix",
      llvm::cl::desc("prepare products for the matrix instructions of GPUs: "
                     "fewer and wider ones, of rows in 16 bits")};
  Option<bool> int8{
      *this, "int8",
      llvm::cl::desc("multiply in 8 bits: block-quantised weights on CPUs, "
                     "with matrix instructions of GPUs all")};
  Option<std::string> numbers{
      *this, "numbers",
      llvm::cl::desc("what GPUs multiply then: int8, int8-rows or fp8"),
      llvm::cl::init("int8")};
  Option<std::string> triple{
      *this, "triple",
      llvm::cl::desc("LLVM triple of the target; this machine when empty")};
  Option<std::string> cpu{*this, "cpu",
                          llvm::cl::desc("LLVM name of the CPU, or native")};
  Option<std::string> features{
      *this, "features", llvm::cl::desc("LLVM features on top of the CPU's")};
};

/// Simplifies an imported graph and chooses its number formats; it stays on
/// tensors. `-gist-graph`.
void buildGraphStage(mlir::OpPassManager &pm,
                     const GraphPipelineOptions &options);

/// Cuts a graph into kernels and calls of them. `-gist-kernels`.
void buildKernelStage(mlir::OpPassManager &pm);

/// Gives everything the calls write a place in memory, and what their kernels
/// work in. `-gist-memory`.
void buildMemoryStage(mlir::OpPassManager &pm);

/// The CPU that kernels are made for, as options of a pipeline. Without them it
/// is the module's target, or this machine.
struct CpuPipelineOptions : mlir::PassPipelineOptions<CpuPipelineOptions> {
  Option<std::string> triple{
      *this, "triple",
      llvm::cl::desc("LLVM triple of the target; this machine when empty")};
  Option<std::string> cpu{*this, "cpu",
                          llvm::cl::desc("LLVM name of the CPU, or native")};
  Option<std::string> features{
      *this, "features", llvm::cl::desc("LLVM features on top of the CPU's")};
};

/// Kernels on tensors become loops over vectors on buffers; what calls them is
/// left out. `-gist-tile`.
void buildTileStage(mlir::OpPassManager &pm, const CpuPipelineOptions &options);

/// Kernels on buffers become functions of the LLVM dialect with the signature
/// that the runtime calls. `-gist-cpu`.
void buildCpuStage(mlir::OpPassManager &pm);

/// The same with the contents of slots as plain arguments, for other runtimes.
void buildFlatCpuStage(mlir::OpPassManager &pm);

/// Where text for IREE finds the code of kernels, as options of a pipeline.
struct IreePipelineOptions : mlir::PassPipelineOptions<IreePipelineOptions> {
  Option<std::string> object{
      *this, "object",
      llvm::cl::desc("file with the code of kernels, as IREE's compiler is to "
                     "find it")};
};

/// A graph, or calls of kernels, as text for IREE's compiler. Kernels without a
/// grid become linalg. `-gist-iree`.
void buildIreeStage(mlir::OpPassManager &pm,
                    const IreePipelineOptions &options);

/// The GPU that kernels are made for, as options of a pipeline.
struct GpuPipelineOptions : mlir::PassPipelineOptions<GpuPipelineOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("gfx942 or sm_90; when empty, the module's target")};
  Option<std::string> gram{
      *this, "gram",
      llvm::cl::desc(
          "precision in which selections compare rows: exact, or fp8 where the "
          "GPU multiplies f8E4M3FNUZ")};
};

/// Chooses how kernels are cut; products become steps of a workgroup on tiles.
/// What calls kernels is left out. `-gist-gpu-products`.
void buildGpuProductStage(mlir::OpPassManager &pm,
                          const GpuPipelineOptions &options);

/// Kernels on tensors become code of one GPU thread on buffers; what calls them
/// is left out. `-gist-gpu-tile`.
void buildGpuTileStage(mlir::OpPassManager &pm,
                       const GpuPipelineOptions &options);

/// Kernels on buffers become functions of the LLVM dialect that a GPU's runtime
/// launches. `-gist-gpu`.
void buildGpuStage(mlir::OpPassManager &pm, const GpuPipelineOptions &options);

/// Registers every stage under its name for `gist-opt`.
void registerPipelines();

/// The names of the stages, in the order in which they run; empty before they
/// are registered.
llvm::ArrayRef<llvm::StringRef> getStageNames();

} // namespace gist

#endif // GIST_PASSES_PIPELINES_H
