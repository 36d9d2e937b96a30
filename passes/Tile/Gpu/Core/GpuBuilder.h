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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gist {

class GpuBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;
  using LoopBody = llvm::function_ref<Values(Value iv, mlir::ValueRange)>;
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

  //===--------------------------------------------------------------------===//
  // Numbers. Arithmetic on indices is folded where it can be; it is signed
  // but for division, whose operands are not negative.
  //===--------------------------------------------------------------------===//

  Value index(int64_t value);
  Value i32(int64_t value);
  /// A constant of a scalar or vector type.
  Value constant(mlir::Type type, double value);
  Value f32(double value) { return constant(getF32Type(), value); }

  Value add(Value a, Value b);
  Value add(Value a, int64_t b) { return add(a, index(b)); }
  Value sub(Value a, Value b);
  Value sub(Value a, int64_t b) { return sub(a, index(b)); }
  Value mul(Value a, Value b);
  Value mul(Value a, int64_t b) { return mul(a, index(b)); }
  Value div(Value a, Value b);
  Value div(Value a, int64_t b) { return div(a, index(b)); }
  Value rem(Value a, Value b);
  Value rem(Value a, int64_t b) { return rem(a, index(b)); }
  Value ceilDiv(Value a, int64_t b) { return div(add(a, b - 1), b); }
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);
  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b);
  Value isLess(Value a, Value b);
  Value isLess(Value a, int64_t b) { return isLess(a, index(b)); }
  Value isEqual(Value a, int64_t b);
  Value both(Value a, Value b);
  Value negate(Value condition);
  Value select(Value condition, Value a, Value b);
  /// An index as an i32, and back; both are signed.
  Value toI32(Value index);
  Value toIndex(Value number);

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
  // Vectors and types of numbers
  //===--------------------------------------------------------------------===//

  mlir::VectorType vectorOf(int64_t lanes, mlir::Type element) {
    return mlir::VectorType::get(lanes, element);
  }
  /// A vector of `lanes` copies, or the scalar itself for one lane.
  Value broadcast(Value scalar, int64_t lanes);
  /// Lanes [first, first + count) of a vector.
  Value slice(Value vector, int64_t first, int64_t count);
  Value extract(Value vector, int64_t lane);
  /// The vector of the lanes of `parts`, which are vectors or scalars.
  Value concat(mlir::ValueRange parts);
  Value shuffle(Value a, Value b, llvm::ArrayRef<int64_t> lanes);
  /// A float scalar or vector as floats of `element`: extended, or rounded to
  /// nearest even.
  Value convert(Value value, mlir::Type element);
  Value toF32(Value value) { return convert(value, getF32Type()); }
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

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//

  /// for (iv = lower; iv < upper; iv += step) carried = body(iv, carried).
  Values loop(Value lower, Value upper, Value step, mlir::ValueRange carried,
              LoopBody body);
  Values loop(Value lower, Value upper, int64_t step, mlir::ValueRange carried,
              LoopBody body) {
    return loop(lower, upper, index(step), carried, body);
  }
  /// A loop that carries nothing.
  void forEach(Value lower, Value upper, Value step,
               llvm::function_ref<void(Value)> body);
  /// Nothing is written where the condition is known to be false, and no
  /// branch where it is known to be true; the same for ifElse.
  void ifThen(Value condition, llvm::function_ref<void()> body);
  Value ifElse(Value condition, llvm::function_ref<Value()> thenBody,
               llvm::function_ref<Value()> elseBody);

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
