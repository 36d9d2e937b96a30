//===- FloatBuilder.h - Writes arithmetic on f32 and their bits -*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_FLOATBUILDER_H
#define GIST_PASSES_TARGET_FLOATBUILDER_H

#include "dialect/ValueBuilder.h"

namespace gist {

/// Constants and conversions are f32 and i32 in the shape of one type, a scalar
/// or vector.
class FloatBuilder : public ValueBuilder {
public:
  FloatBuilder(mlir::Location location, mlir::OpBuilder &builder,
               mlir::Type like)
      : ValueBuilder(location, builder), like(like) {}

  mlir::Type withElement(mlir::Type element) {
    auto shaped = mlir::dyn_cast<mlir::ShapedType>(like);
    return shaped ? shaped.clone(element) : element;
  }
  mlir::Type getFloats() { return withElement(getF32Type()); }
  mlir::Type getWords() { return withElement(getI32Type()); }

  Value number(double value) { return constant(getFloats(), value); }
  Value word(uint32_t bits) {
    return constant(getWords(), static_cast<int32_t>(bits));
  }
  Value toFloat(Value bits) {
    return mlir::arith::BitcastOp::create(*this, getFloats(), bits);
  }
  Value toBits(Value number) {
    return mlir::arith::BitcastOp::create(*this, getWords(), number);
  }

  template <typename Op> Value op(Value lhs, Value rhs) {
    return Op::create(*this, lhs, rhs);
  }
  template <typename Op> Value op(Value lhs, uint32_t bits) {
    return Op::create(*this, lhs, word(bits));
  }

private:
  mlir::Type like;
};

} // namespace gist

#endif // GIST_PASSES_TARGET_FLOATBUILDER_H
