//===- GpuBuilder.h - Writes the code of one GPU thread ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels for GPUs are written on buffers, for one thread of a workgroup. What
// is here is the same for all targets: a target's own instructions are behind
// classes of their own.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_GPUBUILDER_H
#define GIST_PASSES_TILE_GPU_CORE_GPUBUILDER_H

#include "dialect/GistNames.h"
#include "dialect/GpuInfo.h"
#include "dialect/ValueBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace gist {

class GpuBuilder : public ValueBuilder {
public:
  using Combiner = llvm::function_ref<Value(Value, Value)>;
  using Kind = mlir::vector::CombiningKind;

  /// Writes at the end of the first block of `function`, which workgroups of
  /// `threads` threads of `gpu` execute.
  GpuBuilder(mlir::func::FuncOp function, const GpuInfo &gpu, int64_t threads);

  const GpuInfo &getGpu() const { return gpu; }
  int64_t getThreads() const { return threads; }
  /// See kWavesAttr.
  void setWavesPerSimd(int64_t waves) {
    entry->getParentOp()->setAttr(kWavesAttr, getI64IntegerAttr(waves));
  }

  /// `indices` of a row-major array as one number, and back.
  Value linearize(mlir::ValueRange indices, mlir::ValueRange sizes);
  Values delinearize(Value number, mlir::ValueRange sizes);

  /// A power of two, up to 2^20, that divides `index` by how it is computed.
  static int64_t getDivisor(Value index);

  //===--------------------------------------------------------------------===//
  // Thread and workgroup numbers
  //===--------------------------------------------------------------------===//

  Value thread();
  Value lane() { return rem(thread(), gpu.waveSize); }
  Value wave() { return div(thread(), gpu.waveSize); }
  Value block(unsigned dim);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// Workgroup memory, for the whole kernel.
  Value allocWorkgroup(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// The size of a buffer.
  Value size(Value buffer, int64_t dim);
  Values sizes(Value buffer);

  Value read(Value buffer, mlir::ValueRange indices);
  /// `width` neighbours along the last dimension, with the alignment that the
  /// indices imply. All of them are in bounds.
  Value read(Value buffer, mlir::ValueRange indices, int64_t width);
  /// Writes a scalar or a vector along the last dimension.
  void write(Value value, Value buffer, mlir::ValueRange indices);
  /// An integer of device memory as an index.
  Value readNumber(Value buffer, mlir::ValueRange indices);
  void barrier() { mlir::gpu::BarrierOp::create(*this); }

  //===--------------------------------------------------------------------===//
  // Vectors
  //===--------------------------------------------------------------------===//

  /// A vector of `lanes` copies, or the scalar itself for one lane.
  Value broadcast(Value scalar, int64_t lanes);
  /// Lanes [first, first + count) of a vector.
  Value slice(Value vector, int64_t first, int64_t count);
  Value extract(Value vector, int64_t lane);
  /// The vector of the lanes of `parts`, which are vectors or scalars.
  Value concat(mlir::ValueRange parts);
  Value shuffle(Value a, Value b, llvm::ArrayRef<int64_t> lanes);
  Value fma(Value a, Value b, Value c) {
    return mlir::math::FmaOp::create(*this, a, b, c);
  }

  //===--------------------------------------------------------------------===//
  // Reductions among threads. All threads of the wave or workgroup take part
  // and all get the result.
  //===--------------------------------------------------------------------===//

  /// `a` and `b` combined; scalars or vectors.
  Value combine(Kind kind, Value a, Value b) {
    return mlir::vector::makeArithReduction(*this, getLoc(), kind, a, b);
  }
  /// The lanes of a vector combined pairwise; a scalar as it is.
  Value reduceLanes(Value vector, Combiner combiner);
  /// `value`, a scalar of 32 bits, an i64 or f16/bf16, of the lane whose number
  /// differs by the bits of `mask`.
  Value exchange(Value value, int64_t mask);
  /// Over groups of `lanes` neighbouring lanes; the whole wave if zero.
  Value waveReduce(Value scalar, Combiner combiner, int64_t lanes = 0);
  Value waveReduce(Value scalar, Kind kind, int64_t lanes = 0);
  /// Over all waves, through workgroup memory, with a barrier before and after
  /// it is written.
  Value workgroupReduce(Value scalar, Combiner combiner);
  Value workgroupReduce(Value scalar, Kind kind);

private:
  const GpuInfo &gpu;
  int64_t threads;
  mlir::Block *entry;
  /// Made once, at the start of the function.
  Value threadId, blockIds[3];
  /// What workgroupReduce passes between waves, by type.
  llvm::DenseMap<mlir::Type, Value> exchangeMemory;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_GPUBUILDER_H
