//===- GraphMath.cpp - Elementwise ops, norms and results -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic of GraphBuilder: elementwise ops, sums, activations and norms.
// Everything computes in f32; weights of fewer bits are widened as they are
// read.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/GraphBuilder.h"

#include "dialect/GistOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <numbers>

using namespace gist;
using namespace mlir;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

static Value constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

//===----------------------------------------------------------------------===//
// Elementwise ops and sums
//===----------------------------------------------------------------------===//

RankedTensorType GraphBuilder::tensorType(ArrayRef<int64_t> shape) const {
  return RankedTensorType::get(shape, Float32Type::get(b.getContext()));
}

/// The only dynamic size is the number of tokens.
Value GraphBuilder::empty(RankedTensorType type) {
  SmallVector<Value> sizes(type.getNumDynamicDims(), numTokens);
  return tensor::EmptyOp::create(b, type, sizes);
}

Value GraphBuilder::zeros(RankedTensorType type) {
  return linalg::FillOp::create(b, constant(b, 0), empty(type)).getResult(0);
}

/// `values` widened to f32.
static SmallVector<Value> widened(ImplicitLocOpBuilder &b, ValueRange values) {
  SmallVector<Value> result;
  for (Value value : values) {
    auto type = dyn_cast<FloatType>(value.getType());
    result.push_back(type && type.getWidth() < 32
                         ? arith::ExtFOp::create(b, b.getF32Type(), value)
                         : value);
  }
  return result;
}

/// One generic op with the given body. `dims` of an operand say which loops
/// index it: {0, 1} a matrix, {0} a column, {1} a row.
Value GraphBuilder::elementwise(RankedTensorType type,
                                ArrayRef<Operand> operands, Body body,
                                Value init) {
  auto rank = static_cast<unsigned>(type.getRank());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Operand &operand : operands) {
    inputs.push_back(operand.value);
    maps.push_back(AffineMap::getMultiDimMapWithTargets(rank, operand.dims,
                                                        b.getContext()));
  }
  maps.push_back(b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  if (!init)
    init = empty(type);
  return linalg::GenericOp::create(
             b, TypeRange(type), inputs, init, maps, loops,
             [&](OpBuilder &nested, Location loc, ValueRange values) {
               ImplicitLocOpBuilder inner(loc, nested);
               linalg::YieldOp::create(
                   inner, body(inner, widened(inner, values.drop_back())));
             })
      .getResult(0);
}

/// One of the two loops stays and the other is summed over.
Value GraphBuilder::sum(unsigned kept, int64_t size, ArrayRef<Operand> operands,
                        Body body) {
  return sum(2, ArrayRef(kept), ArrayRef(size), operands, body);
}

Value GraphBuilder::sum(unsigned rank, ArrayRef<unsigned> kept,
                        ArrayRef<int64_t> sizes, ArrayRef<Operand> operands,
                        Body body) {
  return reduce(rank, kept, sizes, operands, body,
                [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                  return arith::AddFOp::create(b, v[0], v[1]);
                });
}

Value GraphBuilder::largestOfRows(Value heads) {
  return reduce(
      3, {0, 1}, typeOf(heads).getShape().drop_back(), {{heads, {0, 1, 2}}},
      [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        return math::AbsFOp::create(b, v[0]);
      },
      // A NaN is passed on.
      [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        return arith::MaximumFOp::create(b, v[0], v[1]);
      });
}

Value GraphBuilder::reduce(unsigned rank, ArrayRef<unsigned> kept,
                           ArrayRef<int64_t> sizes, ArrayRef<Operand> operands,
                           Body body, Body combine) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Operand &operand : operands) {
    inputs.push_back(operand.value);
    maps.push_back(AffineMap::getMultiDimMapWithTargets(rank, operand.dims,
                                                        b.getContext()));
  }
  maps.push_back(
      AffineMap::getMultiDimMapWithTargets(rank, kept, b.getContext()));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::reduction);
  for (unsigned loop : kept)
    loops[loop] = utils::IteratorType::parallel;
  // The results are f32 whatever the operands are.
  Value init = zeros(tensorType(sizes));
  return linalg::GenericOp::create(
             b, TypeRange(init.getType()), inputs, init, maps, loops,
             [&](OpBuilder &nested, Location loc, ValueRange values) {
               ImplicitLocOpBuilder inner(loc, nested);
               Value term = body(inner, widened(inner, values.drop_back()));
               linalg::YieldOp::create(inner,
                                       combine(inner, {term, values.back()}));
             })
      .getResult(0);
}

/// Widening happens as operands are read, so that only narrowing needs an op of
/// its own.
Value GraphBuilder::convert(Value x, Type element) {
  RankedTensorType type = typeOf(x);
  if (type.getElementType() == element)
    return x;
  bool narrows = element.getIntOrFloatBitWidth() < 32;
  SmallVector<unsigned, 3> dims;
  for (unsigned i = 0; i < type.getRank(); ++i)
    dims.push_back(i);
  return elementwise(type.clone(element), {{x, dims}},
                     [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                       if (narrows)
                         return arith::TruncFOp::create(b, element, v[0]);
                       return v[0];
                     });
}

Value GraphBuilder::addOperand(Value x, Operand y) {
  return elementwise(typeOf(x), {{x, {0, 1}}, std::move(y)},
                     [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                       return arith::AddFOp::create(b, v[0], v[1]);
                     });
}

Value GraphBuilder::add(Value x, Value y) { return addOperand(x, {y, {0, 1}}); }

Value GraphBuilder::multiply(Value x, Value y) {
  return elementwise(typeOf(x), {{x, {0, 1}}, {y, {0, 1}}},
                     [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                       return arith::MulFOp::create(b, v[0], v[1]);
                     });
}

Value GraphBuilder::scale(Value x, double factor) {
  return elementwise(typeOf(x), {{x, {0, 1}}},
                     [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                       return arith::MulFOp::create(b, v[0],
                                                    constant(b, factor));
                     });
}

/// x * Phi(x), exactly or by the usual formula with tanh.
static Value gelu(ImplicitLocOpBuilder &b, Value x, bool exact) {
  Value inner;
  if (exact) {
    Value scaled =
        arith::MulFOp::create(b, x, constant(b, 1 / std::numbers::sqrt2));
    inner = math::ErfOp::create(b, scaled);
  } else {
    // Gelu with tanh: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
    Value cube = arith::MulFOp::create(b, arith::MulFOp::create(b, x, x), x);
    Value sum = arith::AddFOp::create(
        b, x, arith::MulFOp::create(b, cube, constant(b, 0.044715)));
    inner = math::TanhOp::create(
        b, arith::MulFOp::create(b, sum,
                                 constant(b, std::sqrt(2 / std::numbers::pi))));
  }
  Value half = arith::MulFOp::create(b, x, constant(b, 0.5));
  return arith::MulFOp::create(b, half,
                               arith::AddFOp::create(b, inner, constant(b, 1)));
}

Value GraphBuilder::activation(Value x) {
  auto body = [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
    switch (config.activation) {
    case Activation::GeluErf:
      return gelu(b, v[0], /*exact=*/true);
    case Activation::GeluTanh:
      return gelu(b, v[0], /*exact=*/false);
    case Activation::Relu:
      // maximumf keeps a NaN, as PyTorch's relu does.
      return arith::MaximumFOp::create(b, v[0], constant(b, 0));
    case Activation::Silu: {
      Value exponential =
          math::ExpOp::create(b, arith::NegFOp::create(b, v[0]));
      return arith::DivFOp::create(
          b, v[0], arith::AddFOp::create(b, exponential, constant(b, 1)));
    }
    }
    llvm_unreachable("every activation is named above");
  };
  return elementwise(typeOf(x), {{x, {0, 1}}}, body);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// 1 / sqrt(sum / count + epsilon)
static Value inverseRoot(ImplicitLocOpBuilder &b, Value sum, int64_t count,
                         double epsilon) {
  Value mean =
      arith::DivFOp::create(b, sum, constant(b, static_cast<double>(count)));
  return math::RsqrtOp::create(
      b, arith::AddFOp::create(b, mean, constant(b, epsilon)));
}

/// x / root, times the scale, of x, the sum of its squares, and the scale.
static auto normalizeBy(int64_t count, double epsilon) {
  return [=](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
    Value root = inverseRoot(b, v[1], count, epsilon);
    return arith::MulFOp::create(b, arith::MulFOp::create(b, v[0], root), v[2]);
  };
}

Value GraphBuilder::normWeight(std::string_view name, int64_t size) {
  return weight(name, ".weight", {size},
                config.normsLessOne ? Stored::LessOne : Stored::AsIs)
      .value;
}

static Value square(ImplicitLocOpBuilder &b, ValueRange v) {
  return arith::MulFOp::create(b, v[0], v[0]);
}

/// x / sqrt(mean of squares + epsilon), times the weight.
Value GraphBuilder::rmsNorm(Value x, std::string_view name) {
  RankedTensorType type = typeOf(x);
  int64_t size = type.getDimSize(1);
  Value scale = normWeight(name, size);
  Value squares = sum(0, type.getDimSize(0), {{x, {0, 1}}}, square);
  return elementwise(type, {{x, {0, 1}}, {squares, {0}}, {scale, {1}}},
                     normalizeBy(size, config.normEpsilon));
}

Value GraphBuilder::headNorm(Value heads, std::string_view name) {
  RankedTensorType type = typeOf(heads);
  int64_t size = type.getDimSize(2);
  Value scale = normWeight(name, size);
  Value squares =
      sum(3, {0, 1}, type.getShape().drop_back(), {{heads, {0, 1, 2}}}, square);
  return elementwise(type,
                     {{heads, {0, 1, 2}}, {squares, {0, 1}}, {scale, {2}}},
                     normalizeBy(size, config.normEpsilon));
}

/// On heads, because what follows reads heads: kernels do not look through the
/// reshape of rows that they compute.
Value GraphBuilder::rowNorm(Value heads, std::string_view name) {
  RankedTensorType type = typeOf(heads);
  int64_t count = type.getDimSize(1), size = type.getDimSize(2);
  Value scale = normWeight(name, count * size);
  auto split =
      RankedTensorType::get({count, size}, typeOf(scale).getElementType());
  scale = tensor::ExpandShapeOp::create(b, split, scale,
                                        ArrayRef<ReassociationIndices>{{0, 1}});
  Value squares =
      sum(3, {0}, type.getShape().take_front(), {{heads, {0, 1, 2}}}, square);
  return elementwise(type,
                     {{heads, {0, 1, 2}}, {squares, {0}}, {scale, {1, 2}}},
                     normalizeBy(count * size, config.normEpsilon));
}

/// In two passes over a row, the mean first: one pass with squares of x would
/// lose digits where the mean is large.
Value GraphBuilder::layerNorm(Value x, std::string_view name) {
  RankedTensorType type = typeOf(x);
  int64_t rows = type.getDimSize(0), size = type.getDimSize(1);
  Value scale = weight(name, ".weight", {size}).value;
  Value shift = weight(name, ".bias", {size}).value;
  Value sums = sum(0, rows, {{x, {0, 1}}},
                   [](ImplicitLocOpBuilder &, ValueRange v) { return v[0]; });
  auto centred = [size](ImplicitLocOpBuilder &b, Value x, Value sum) -> Value {
    Value mean =
        arith::DivFOp::create(b, sum, constant(b, static_cast<double>(size)));
    return arith::SubFOp::create(b, x, mean);
  };
  Value squares = sum(0, rows, {{x, {0, 1}}, {sums, {0}}},
                      [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                        Value d = centred(b, v[0], v[1]);
                        return arith::MulFOp::create(b, d, d);
                      });
  return elementwise(
      type,
      {{x, {0, 1}}, {sums, {0}}, {squares, {0}}, {scale, {1}}, {shift, {1}}},
      [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        Value root = inverseRoot(b, v[2], size, config.normEpsilon);
        Value unit = arith::MulFOp::create(b, centred(b, v[0], v[1]), root);
        return arith::AddFOp::create(b, arith::MulFOp::create(b, unit, v[3]),
                                     v[4]);
      });
}

/// See the declaration for the formula; `factor` is the same for the whole
/// sequence.
Value GraphBuilder::dropToken(Value x, int64_t token, double trained) {
  auto isToken = [token](ImplicitLocOpBuilder &b, Value id) -> Value {
    Value wanted = arith::ConstantOp::create(
        b, b.getI32IntegerAttr(static_cast<int32_t>(token)));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, id, wanted);
  };
  // As the sum over a matrix of one row, so that one helper does.
  Value row = tensor::ExpandShapeOp::create(
      b, RankedTensorType::get({1, ShapedType::kDynamic}, b.getI32Type()),
      tokens, ArrayRef<ReassociationIndices>{{0, 1}},
      SmallVector<OpFoldResult>{b.getIndexAttr(1), numTokens});
  Value dropped =
      sum(0, 1, {{row, {0, 1}}},
          [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
            return arith::UIToFPOp::create(b, b.getF32Type(), isToken(b, v[0]));
          });
  Value count = arith::UIToFPOp::create(
      b, b.getF32Type(),
      arith::IndexCastOp::create(b, b.getI64Type(), numTokens));
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value share = arith::DivFOp::create(
      b, tensor::ExtractOp::create(b, dropped, zero), count);
  // A sequence of masks alone divides by zero. Its rows are all zero anyway:
  // the select below takes the constant.
  Value factor =
      arith::DivFOp::create(b, constant(b, 1 - trained),
                            arith::SubFOp::create(b, constant(b, 1), share));
  return elementwise(typeOf(x), {{x, {0, 1}}, {tokens, {0}}},
                     [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                       Value scaled = arith::MulFOp::create(b, v[0], factor);
                       return arith::SelectOp::create(b, isToken(b, v[1]),
                                                      constant(b, 0), scaled);
                     });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Only the last row is taken before the head, so that a prompt costs one row
/// of the largest product of the model.
Value GraphBuilder::rowsOfLogits(Value x) {
  if (options.logitsOfEveryToken)
    return x;
  OpFoldResult one = b.getIndexAttr(1);
  Value last =
      arith::SubIOp::create(b, numTokens, arith::ConstantIndexOp::create(b, 1));
  return tensor::ExtractSliceOp::create(
      b, x, {last, b.getIndexAttr(0)},
      {one, b.getIndexAttr(typeOf(x).getDimSize(1))}, {one, one});
}

/// A vector as a matrix of one row.
static Value asRow(ImplicitLocOpBuilder &b, Value vector) {
  int64_t size = typeOf(vector).getDimSize(0);
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get({1, size}, typeOf(vector).getElementType()),
      vector, ArrayRef<ReassociationIndices>{{0, 1}});
}

Value GraphBuilder::meanOfRows(Value x) {
  Value sums = sum(1, typeOf(x).getDimSize(1), {{x, {0, 1}}},
                   [](ImplicitLocOpBuilder &, ValueRange v) { return v[0]; });
  Value count = arith::UIToFPOp::create(
      b, b.getF32Type(),
      arith::IndexCastOp::create(b, b.getI64Type(), numTokens));
  Value mean = elementwise(typeOf(sums), {{sums, {0}}},
                           [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                             return arith::DivFOp::create(b, v[0], count);
                           });
  return asRow(b, mean);
}

Value GraphBuilder::toUnitLength(Value x) {
  Value squares = sum(0, typeOf(x).getDimSize(0), {{x, {0, 1}}},
                      [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                        return arith::MulFOp::create(b, v[0], v[0]);
                      });
  return elementwise(typeOf(x), {{x, {0, 1}}, {squares, {0}}},
                     [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                       // The bound keeps a vector of zeros from dividing by
                       // zero, as in PyTorch's normalize.
                       Value norm = arith::MaximumFOp::create(
                           b, math::SqrtOp::create(b, v[1]),
                           constant(b, 1e-12));
                       return arith::DivFOp::create(b, v[0], norm);
                     });
}

void GraphBuilder::finish(Value result) {
  SmallVector<Value> results{result};
  if (hasCache)
    results.append({keyCache.rows, valueCache.rows});
  if (keyCache.scales)
    results.append({keyCache.scales, valueCache.scales});
  func::ReturnOp::create(b, results);
  // The results are known only now.
  function.setType(b.getFunctionType(function.getArgumentTypes(),
                                     ValueRange(results).getTypes()));
}
