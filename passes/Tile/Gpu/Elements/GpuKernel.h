//===- GpuKernel.h - What a generator of kernels is given -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generator takes a kernel function on tensors that -gist-select-tile-config
// has given a tile, and writes the code of one thread at a builder whose
// function has the kernel's arguments as buffers. It returns the grid.
//
// A kind of kernel is a GpuKernelEntry in the file of its generator, and a line
// in GpuKernels.def.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ELEMENTS_GPUKERNEL_H
#define GIST_PASSES_TILE_GPU_ELEMENTS_GPUKERNEL_H

#include "dialect/GpuInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Scratch.h"
#include "passes/Tile/Gpu/Core/GpuBuilder.h"
#include "passes/Tile/Gpu/Elements/ElementEmitter.h"

namespace gist {

/// What a generator is given.
struct GpuKernel {
  mlir::func::FuncOp source; ///< on tensors
  GpuTileInterface tile;
  GpuBuilder &b; ///< at the end of the new function, on buffers
  ElementEmitter &emitter;

  /// The tile, of the family that the entry's `verify` asked for.
  template <typename Tile> Tile getTile() const {
    return mlir::cast<Tile>(tile);
  }
};

/// Workgroups along x, y, z as functions of the kernel's numbers (getSizeExpr);
/// sizes left out are one.
using GpuGrid = llvm::SmallVector<mlir::AffineExpr, 3>;

/// Choices that hold for all kernels of a module.
struct GpuChoices {
  bool smallGram = false; ///< cosines are computed in 8 bits
};

/// What is known of one kind of kernel on GPUs. The body of every kernel here
/// is what its kind says (verifyKernelBody).
struct GpuKernelEntry {
  /// How the kernel is cut; null, with a diagnostic, where the GPU cannot.
  GpuTileInterface (*choose)(mlir::func::FuncOp kernel, const GpuInfo &gpu,
                             const GpuChoices &choices);
  /// Writes the kernel.
  mlir::FailureOr<GpuGrid> (*emit)(GpuKernel &kernel);
  /// Whether the kernel can be cut as its tile says, chosen or written by hand;
  /// reports what is wrong. The tile is of a family that `emit` takes
  /// (expectTile) and obeys that family's verifier.
  mlir::LogicalResult (*verify)(mlir::func::FuncOp kernel, const GpuInfo &gpu);
  /// The memory that the kernel works in. Null for a kind that needs none.
  mlir::FailureOr<KernelScratch> (*scratch)(mlir::func::FuncOp kernel) =
      nullptr;
};

/// The function on buffers that is to take the place of `source`, before it and
/// with an empty body.
mlir::func::FuncOp createBufferFunction(mlir::OpBuilder &builder,
                                        mlir::func::FuncOp source);

/// Kernels on whole rows, and any kernel that no other generator takes.
mlir::FailureOr<GpuGrid> emitRows(GpuKernel &kernel);
/// The same, after ops that have no kernel are replaced by their definitions.
mlir::FailureOr<GpuGrid> emitDefinition(GpuKernel &kernel);
GpuRowsAttr selectRowsTile(mlir::func::FuncOp kernel, const GpuInfo &gpu);

/// Whether the GPU has a matrix instruction; reports at `op` if not.
mlir::LogicalResult verifyInstruction(mlir::Operation *op,
                                      Instruction instruction,
                                      const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ELEMENTS_GPUKERNEL_H
