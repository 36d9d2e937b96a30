//===- TileBuilder.h - Writes loops over vectors ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are written on tensors, with vectors read from and written into them
// and loops that carry what they change; bufferisation makes them in place.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_TILEBUILDER_H
#define GIST_PASSES_TILE_CPU_TILEBUILDER_H

#include "dialect/ValueBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace gist {

class TileBuilder : public ValueBuilder {
public:
  using ValueBuilder::ValueBuilder;

  /// Indices as affine functions, in which later passes see bounds.
  using ValueBuilder::mul;
  Value add(Value a, Value b);
  Value add(Value a, int64_t b);
  Value mul(Value a, int64_t b);
  Value roundDown(Value a, int64_t multiple);
  Value ceilDiv(Value a, int64_t by);
  Value floorDiv(Value a, int64_t by);
  Value size(Value tensor, int64_t dim);

  /// A vector of `lanes` copies of a constant of type `element`.
  Value splat(int64_t lanes, mlir::Type element, double value) {
    return constant(vectorOf(lanes, element), value);
  }
  Value broadcast(Value scalar, int64_t lanes);

  /// The vector at `indices`, along the last dimension; all of it is in bounds.
  Value read(Value tensor, mlir::ValueRange indices, mlir::VectorType type);
  /// The f32 vector of `lanes` numbers at `indices` of a tensor of
  /// floats or signed integers.
  Value readF32(Value tensor, mlir::ValueRange indices, int64_t lanes);
  Value readScalar(Value tensor, mlir::ValueRange indices);
  /// `tensor` with `vector` at `indices`, rounded to its element type;
  /// `isInside` says that all of it is in bounds.
  Value write(Value vector, Value tensor, mlir::ValueRange indices,
              bool isInside = true);
  Value writeScalar(Value scalar, Value tensor, mlir::ValueRange indices);

  Value empty(llvm::ArrayRef<int64_t> shape, mlir::Type element);

  /// What `emit` makes of `result` where `condition` holds: a loop of one round
  /// or none. Which buffer a tensor of an `scf.if` gets differs from run to
  /// run.
  Value when(Value condition, Value result,
             llvm::function_ref<Value(Value result)> emit);
  /// What one of two makes of `result`.
  Value choose(Value condition, Value result,
               llvm::function_ref<Value(Value result)> whenTrue,
               llvm::function_ref<Value(Value result)> otherwise);

  Value fma(Value a, Value b, Value c);
  Value shuffle(Value a, Value b, llvm::ArrayRef<int64_t> mask);
  Value bitcast(Value vector, mlir::Type element);
  /// Lanes [first, first + count).
  Value slice(Value vector, int64_t first, int64_t count);
  /// Rows and columns of a square exchanged.
  Values transpose(Values rows);
  /// From four vectors of four lanes or a multiple, the vector of their sums.
  Value sumsOfFour(llvm::ArrayRef<Value> vectors);
};

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_TILEBUILDER_H
