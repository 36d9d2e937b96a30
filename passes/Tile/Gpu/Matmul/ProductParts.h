//===- ProductParts.h - Products whose k workgroups share -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of few tiles leaves most of a GPU idle. On gfx942 its k is then cut
// into parts, each of which is a workgroup's. The sums of a part go to scratch
// memory, and the workgroup that finishes last adds the parts up, in their
// order, and stores the tile: results do not depend on which workgroup that is.
//
// How many rows there are is known at the call. The launch has workgroups for
// all parts; where tiles alone fill the GPU the first part does all of k, and
// the others end at once. So memory for parts does not grow with rows.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_PRODUCTPARTS_H
#define GIST_PASSES_TILE_GPU_MATMUL_PRODUCTPARTS_H

#include "passes/Tile/Gpu/Core/HandIn.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"

#include <optional>

namespace gist {

/// A product and how it is cut.
struct ProductCut {
  int64_t rows; ///< -1 where that is not known
  int64_t columns, depth;
  int64_t tileRows, tileColumns, tileDepth, stages;

  int64_t countTiles(int64_t ofRows) const;
  int64_t countSteps() const;
  /// Workgroups of this cut that a compute unit runs at once.
  int64_t countOnUnit(const GpuInfo &gpu) const;
  /// The parts of k where they are shared; 1 where that would not pay.
  int64_t chooseParts(const GpuInfo &gpu) const;
  /// A model of the time that the product takes: cycles of a compute unit for a
  /// row, of 512 and of 2048 where rows are not known. `share` is the part of
  /// its time in which the matrix unit works in the main loop of one workgroup.
  /// It is based on what llvm-mca says of loops, not on measurements.
  double getCost(double share, const GpuInfo &gpu) const;
};

/// The cut for operands of these types; `tile` has the rows and columns of a
/// workgroup's tile.
ProductCut getProductCut(mlir::RankedTensorType x, mlir::RankedTensorType w,
                         llvm::ArrayRef<int64_t> tile, int64_t tileDepth,
                         int64_t stages);

/// The memory that parts of a product need; none where k is not shared.
mlir::FailureOr<KernelScratch> getProductScratch(mlir::func::FuncOp kernel);

/// How many parts of k the kernel of a product has memory for: 1 where it has
/// none. An error where the memory is not what the cut needs.
mlir::FailureOr<int64_t> getPartsOfKernel(mlir::func::FuncOp kernel,
                                          const ProductCut &cut,
                                          const GpuInfo &gpu);

/// The parts of one tile.
class ProductParts {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// For a kernel with memory for `parts` parts; `tile` is the index of the
  /// workgroup's tile, of `tiles`.
  ProductParts(GpuKernel &kernel, const ProductCut &cut, int64_t parts,
               Value tile, Value tiles);

  /// Whether this workgroup has any work.
  Value isThere() const { return hasWork; }
  /// The first step of its part of k, and how many there are.
  Value getFirstStep() const { return firstStep; }
  Value getNumSteps() const { return numSteps; }
  /// Calls `store` with the sums of all parts, in one workgroup. `free` is
  /// workgroup memory of 16-bit numbers that is not needed any more: a word of
  /// its own could cost a compute unit its second workgroup.
  void finish(Values sums, Value free,
              llvm::function_ref<void(Values sums)> store);

private:
  HandedIn getPlace(Value number);

  GpuBuilder &b;
  Value memory, control;
  int64_t parts;
  Value tile, part, isShared, hasWork, firstStep, numSteps;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_PRODUCTPARTS_H
