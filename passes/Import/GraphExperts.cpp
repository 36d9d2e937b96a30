//===- GraphExperts.cpp - Mixtures of experts -----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixtures of experts of GraphBuilder. Routing is plain linalg: an expert's
// place is the number of experts before it, so that every token has distinct,
// valid experts, whatever its logits are.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/GraphBuilder.h"

#include "dialect/GistExpertOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace gist;
using namespace mlir;
using arith::CmpFPredicate;

static Value constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

/// A logit that can be compared with all others.
static Value ordered(ImplicitLocOpBuilder &b, Value logit) {
  Value isNan = arith::CmpFOp::create(b, CmpFPredicate::UNO, logit, logit);
  return arith::SelectOp::create(
      b, isNan, constant(b, -std::numeric_limits<double>::infinity()), logit);
}

GraphBuilder::Routes GraphBuilder::route(Value logits) {
  int64_t rows = cast<RankedTensorType>(logits.getType()).getDimSize(0);
  int64_t count = config.expertsOfToken;
  // Loops are tokens, an expert and another one.
  Value places = sum(
      3, {0, 1}, {rows, config.numExperts},
      {{logits, {0, 1}}, {logits, {0, 2}}},
      [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        Value own = ordered(b, v[0]), other = ordered(b, v[1]);
        Value isLess = arith::CmpFOp::create(b, CmpFPredicate::OGT, other, own);
        Value isEqual =
            arith::CmpFOp::create(b, CmpFPredicate::OEQ, other, own);
        Value isEarlier = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                                linalg::IndexOp::create(b, 2),
                                                linalg::IndexOp::create(b, 1));
        Value isBefore = arith::OrIOp::create(
            b, isLess, arith::AndIOp::create(b, isEqual, isEarlier));
        return arith::UIToFPOp::create(b, b.getF32Type(), isBefore);
      });
  auto toFloat = [](ImplicitLocOpBuilder &b, Value index) -> Value {
    return arith::UIToFPOp::create(
        b, b.getF32Type(),
        arith::IndexCastOp::create(b, b.getI32Type(), index));
  };
  // Loops are tokens, a place and an expert: the number of the one that has it.
  Value numbers =
      sum(3, {0, 1}, {rows, count}, {{places, {0, 2}}},
          [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
            Value place = toFloat(b, linalg::IndexOp::create(b, 1));
            Value expert = toFloat(b, linalg::IndexOp::create(b, 2));
            Value isIts =
                arith::CmpFOp::create(b, CmpFPredicate::OEQ, v[0], place);
            return arith::SelectOp::create(b, isIts, expert, constant(b, 0));
          });
  Routes routes;
  routes.experts = elementwise(
      RankedTensorType::get({rows, count}, b.getI32Type()), {{numbers, {0, 1}}},
      [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        return arith::FPToSIOp::create(b, b.getI32Type(), v[0]);
      });

  // Softmax of the experts that a token has, or of all.
  auto logitOf = [&](int64_t place) {
    return sum(0, rows, {{logits, {0, 1}}, {places, {0, 1}}},
               [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                 Value wanted = constant(b, static_cast<double>(place));
                 Value isIts =
                     arith::CmpFOp::create(b, CmpFPredicate::OEQ, v[1], wanted);
                 return arith::SelectOp::create(b, isIts, v[0], constant(b, 0));
               });
  };
  auto power = [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
    return math::ExpOp::create(b, arith::SubFOp::create(b, v[0], v[1]));
  };
  Value largest = logitOf(0);
  SmallVector<Value> powers;
  for (int64_t place = 0; place < count; ++place)
    powers.push_back(elementwise(
        tensorType(rows), {{logitOf(place), {0}}, {largest, {0}}}, power));
  Value total;
  if (config.normalizedExperts) {
    total = powers[0];
    for (Value each : ArrayRef(powers).drop_front())
      total = elementwise(tensorType(rows), {{total, {0}}, {each, {0}}},
                          [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                            return arith::AddFOp::create(b, v[0], v[1]);
                          });
  } else {
    total = sum(0, rows, {{logits, {0, 1}}, {largest, {0}}}, power);
  }
  for (Value each : powers)
    routes.shares.push_back(
        elementwise(tensorType(rows), {{each, {0}}, {total, {0}}},
                    [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                      return arith::DivFOp::create(b, v[0], v[1]);
                    }));
  return routes;
}

/// GGUF files have one tensor of all experts. Folders have one for each, which
/// the module joins as it is written.
GraphBuilder::LoadedWeight GraphBuilder::expertWeight(std::string_view module,
                                                      int64_t outputs,
                                                      int64_t inputs) {
  if (source.isGguf || options.randomWeights)
    return weight(module, ".weight", {config.numExperts, outputs, inputs},
                  Stored::Stacked);
  size_t mark = module.find('#');
  SmallVector<Attribute> parts;
  std::optional<WeightFormat> format;
  auto fallback = [&]() -> LoadedWeight {
    return {tensor::EmptyOp::create(
                b, ArrayRef<int64_t>{config.numExperts * outputs, inputs},
                b.getF32Type()),
            WeightFormat::F32};
  };
  for (int64_t expert = 0; expert < config.numExperts; ++expert) {
    std::string part(module);
    part.replace(mark, 1, std::to_string(expert));
    NamedWeight loaded =
        loadWeight(part, ".weight", {outputs, inputs}, Stored::AsIs);
    if (!loaded.format)
      return fallback();
    if (format && *format != *loaded.format) {
      fail(Status::error(Code::Unsupported,
                         "tensor %s is stored as %s and those of other experts "
                         "as %s; expected one format",
                         inQuotes(loaded.name).c_str(),
                         formatInfo(*loaded.format).name,
                         formatInfo(*format).name));
      return fallback();
    }
    format = loaded.format;
    parts.push_back(b.getStringAttr(loaded.name));
  }
  // As the parts are called, with the mark for their number.
  std::string name = fullName(module, ".weight");
  b.setLoc(NameLoc::get(b.getStringAttr(name)));
  Type element = *format == WeightFormat::F16    ? Type(b.getF16Type())
                 : *format == WeightFormat::BF16 ? Type(b.getBF16Type())
                                                 : Type(b.getF32Type());
  auto joined = WeightOp::create(
      b, RankedTensorType::get({config.numExperts * outputs, inputs}, element),
      b.getStringAttr(name), b.getI64IntegerAttr(currentLayer));
  joined->setAttr(kPartsAttr, b.getArrayAttr(parts));
  return {joined, *format};
}

Value GraphBuilder::expertLinear(Value x, std::string_view name, int64_t inputs,
                                 int64_t outputs, const Routes &routes) {
  auto type = cast<RankedTensorType>(x.getType());
  auto [matrices, format] = expertWeight(name, outputs, inputs);
  return ExpertMatmulOp::create(
      b, tensorType({type.getDimSize(0), config.expertsOfToken * outputs}), x,
      numbers(matrices, format), routes.experts);
}

Value GraphBuilder::addShares(Value parts, const Routes &routes) {
  int64_t count = config.expertsOfToken;
  int64_t size = cast<RankedTensorType>(parts.getType()).getDimSize(1) / count;
  Value total;
  for (auto [place, share] : llvm::enumerate(routes.shares)) {
    Value part = columns(parts, static_cast<int64_t>(place) * size, size);
    auto type = cast<RankedTensorType>(part.getType());
    if (!total) {
      total = elementwise(type, {{part, {0, 1}}, {share, {0}}},
                          [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                            return arith::MulFOp::create(b, v[0], v[1]);
                          });
      continue;
    }
    total = elementwise(type, {{part, {0, 1}}, {share, {0}}, {total, {0, 1}}},
                        [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                          return arith::AddFOp::create(
                              b, v[2], arith::MulFOp::create(b, v[0], v[1]));
                        });
  }
  return total;
}

Value GraphBuilder::gateRows(Value x, Value h, std::string_view name) {
  auto type = cast<RankedTensorType>(h.getType());
  int64_t size = type.getDimSize(1);
  // GGUF files have it as a vector.
  Value gate;
  if (source.isGguf) {
    gate = weight(name, ".weight", {size}).value;
  } else {
    gate = weight(name, ".weight", {1, size}).value;
    gate = tensor::CollapseShapeOp::create(
        b, gate, ArrayRef<ReassociationIndices>{{0, 1}});
  }
  Value logits = sum(0, type.getDimSize(0), {{h, {0, 1}}, {gate, {1}}},
                     [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                       return arith::MulFOp::create(b, v[0], v[1]);
                     });
  return elementwise(
      cast<RankedTensorType>(x.getType()), {{x, {0, 1}}, {logits, {0}}},
      [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        Value power = math::ExpOp::create(b, arith::NegFOp::create(b, v[1]));
        return arith::DivFOp::create(
            b, v[0], arith::AddFOp::create(b, power, constant(b, 1)));
      });
}
