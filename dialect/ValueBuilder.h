//===- ValueBuilder.h - Writes arithmetic and control flow ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the definitions of ops and the kernels of all targets are written with.
// Where values live, in tensors, buffers or the registers of a thread, is left
// to the builders that derive from this one.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_VALUEBUILDER_H
#define GIST_DIALECT_VALUEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gist {

class ValueBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;
  using LoopBody = llvm::function_ref<Values(Value iv, mlir::ValueRange)>;
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  //===--------------------------------------------------------------------===//
  // Constants
  //===--------------------------------------------------------------------===//

  /// A constant of a scalar or vector type.
  Value constant(mlir::Type type, double value);
  Value index(int64_t value);
  Value i32(int64_t value) { return constant(getI32Type(), value); }
  Value f32(double value) { return constant(getF32Type(), value); }
  Value boolean(bool value) { return constant(getI1Type(), value); }

  //===--------------------------------------------------------------------===//
  // Arithmetic on numbers of one type, scalars or vectors. On integers it is
  // folded where it can be; they are signed but for division, whose operands
  // are not negative.
  //===--------------------------------------------------------------------===//

  Value add(Value a, Value b);
  Value add(Value a, int64_t b) { return add(a, index(b)); }
  Value sub(Value a, Value b);
  Value sub(Value a, int64_t b) { return sub(a, index(b)); }
  Value mul(Value a, Value b);
  Value mul(Value a, int64_t b) { return mul(a, index(b)); }
  Value div(Value a, Value b);
  Value div(Value a, int64_t b) { return div(a, index(b)); }
  /// Integers only, as are all down to max.
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
  Value either(Value a, Value b);
  /// True if there are none.
  Value allOf(mlir::ValueRange conditions);
  Value negate(Value condition);
  Value select(Value condition, Value a, Value b);

  //===--------------------------------------------------------------------===//
  // Types of numbers
  //===--------------------------------------------------------------------===//

  /// An index as an i32, and back; both are signed.
  Value toI32(Value index);
  Value toIndex(Value number);
  /// A float scalar or vector as floats of `element`: extended, or rounded to
  /// nearest even.
  Value convert(Value value, mlir::Type element);
  /// A signed integer too, which is rounded beyond 2^24.
  Value toF32(Value value);
  mlir::VectorType vectorOf(int64_t lanes, mlir::Type element) {
    return mlir::VectorType::get(lanes, element);
  }

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
  void forEach(Value lower, Value upper, int64_t step,
               llvm::function_ref<void(Value)> body) {
    forEach(lower, upper, index(step), body);
  }
  /// while (condition(carried)) carried = body(carried).
  Values loopWhile(mlir::ValueRange carried,
                   llvm::function_ref<Value(mlir::ValueRange)> condition,
                   llvm::function_ref<Values(mlir::ValueRange)> body);
  /// Runs `body` until it gives false.
  void repeatWhile(llvm::function_ref<Value()> body);
  /// Nothing is written where the condition is known to be false, and no
  /// branch where it is known to be true; the same for ifElse.
  void ifThen(Value condition, llvm::function_ref<void()> body);
  Values ifElse(Value condition, llvm::function_ref<Values()> thenBody,
                llvm::function_ref<Values()> elseBody);
  Value ifElse(Value condition, llvm::function_ref<Value()> thenBody,
               llvm::function_ref<Value()> elseBody);

protected:
  /// What sums, differences and products of integers may assume.
  mlir::arith::IntegerOverflowFlags overflow =
      mlir::arith::IntegerOverflowFlags::none;
};

} // namespace gist

#endif // GIST_DIALECT_VALUEBUILDER_H
