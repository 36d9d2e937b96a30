//===- GraphCache.cpp - Keys and values that calls keep -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The KV cache of GraphBuilder: rows of this call go in, all rows up to now
// come out. In 8 bits a row is integers with a scale.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/GraphBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <cstring>

using namespace gist;
using namespace mlir;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

static Value constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(
      b, b.getF32FloatAttr(static_cast<float>(value)));
}

Value GraphBuilder::insertRows(Value cache, Value rows) {
  RankedTensorType type = typeOf(cache);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      strides(type.getRank(), b.getIndexAttr(1)),
      sizes = {b.getIndexAttr(1), numTokens};
  offsets[0] = b.getIndexAttr(currentLayer);
  offsets[1] = past;
  for (int64_t size : type.getShape().drop_front(2))
    sizes.push_back(b.getIndexAttr(size));
  return tensor::InsertSliceOp::create(b, rows, cache, offsets, sizes, strides);
}

Value GraphBuilder::extractRows(Value cache) {
  RankedTensorType type = typeOf(cache);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      strides(type.getRank(), b.getIndexAttr(1)),
      sizes = {b.getIndexAttr(1), total};
  SmallVector<int64_t> shape(type.getShape().drop_front());
  shape[0] = ShapedType::kDynamic;
  offsets[0] = b.getIndexAttr(currentLayer);
  for (int64_t size : type.getShape().drop_front(2))
    sizes.push_back(b.getIndexAttr(size));
  return tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), cache, offsets,
      sizes, strides);
}

/// With a = max |x| over a row,
///
///   scale   = a / 127
///   numbers = round(x * (127 / a)), ties to even
///
/// and both zero where a < 2^-100, whose inverse need not be finite. Where a is
/// infinite or NaN the numbers are zero and the scale is not finite, so that
/// the row reads as NaN.
GraphBuilder::Cache GraphBuilder::quantizeRows(Value rows) {
  constexpr double kLevels = 127, kLeast = 0x1p-100;
  RankedTensorType type = typeOf(rows);
  RankedTensorType perRow = tensorType(type.getShape().drop_back());
  Value largest = largestOfRows(rows);
  using arith::CmpFPredicate;
  Value inverses = elementwise(
      perRow, {{largest, {0, 1}}},
      [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        Value isUsable = arith::AndIOp::create(
            b,
            arith::CmpFOp::create(b, CmpFPredicate::OGE, v[0],
                                  constant(b, kLeast)),
            arith::CmpFOp::create(b, CmpFPredicate::OLT, v[0],
                                  constant(b, HUGE_VAL)));
        return arith::SelectOp::create(
            b, isUsable, arith::DivFOp::create(b, constant(b, kLevels), v[0]),
            constant(b, 0));
      });
  Cache result;
  result.rows = elementwise(
      type.clone(b.getI8Type()), {{rows, {0, 1, 2}}, {inverses, {0, 1}}},
      [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        // Converting what is not finite has no meaning, so it is not chosen
        // after the conversion but before.
        Value isUsable =
            arith::CmpFOp::create(b, CmpFPredicate::OGT, v[1], constant(b, 0));
        Value level = arith::SelectOp::create(
            b, isUsable, arith::MulFOp::create(b, v[0], v[1]), constant(b, 0));
        return arith::FPToSIOp::create(b, b.getI8Type(),
                                       math::RoundEvenOp::create(b, level));
      });
  result.scales =
      elementwise(perRow, {{largest, {0, 1}}},
                  [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                    Value isSmall = arith::CmpFOp::create(
                        b, CmpFPredicate::OLT, v[0], constant(b, kLeast));
                    return arith::SelectOp::create(
                        b, isSmall, constant(b, 0),
                        arith::DivFOp::create(b, v[0], constant(b, kLevels)));
                  });
  return result;
}

Value GraphBuilder::expandRows(const Cache &quantized) {
  RankedTensorType type = typeOf(quantized.rows).clone(b.getF32Type());
  return elementwise(
      type, {{quantized.rows, {0, 1, 2}}, {quantized.scales, {0, 1}}},
      [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        return arith::MulFOp::create(
            b, arith::SIToFPOp::create(b, b.getF32Type(), v[0]), v[1]);
      },
      // As many rows as there are by now, not as a call has tokens.
      tensor::EmptyOp::create(b, type, ValueRange{total}));
}

/// Puts these tokens' rows after the `past` ones of this layer and returns all
/// that the layer has now.
/// The cache is layers x capacity x heads x size. Rows are stored in the
/// cache's type, so attention reads what later calls will read.
Value GraphBuilder::updateCache(Cache &cache, Value rows) {
  if (!cache.scales) {
    cache.rows = insertRows(cache.rows,
                            convert(rows, typeOf(cache.rows).getElementType()));
    return extractRows(cache.rows);
  }
  Cache quantized = quantizeRows(rows);
  cache.rows = insertRows(cache.rows, quantized.rows);
  cache.scales = insertRows(cache.scales, quantized.scales);
  return expandRows({extractRows(cache.rows), extractRows(cache.scales)});
}

/// How large the bias of keys is in each pair that rotary positions turn, in
/// units of its median in the head, and at least 1. A pair has one number, so
/// that dividing by it and turning may change places.
static std::vector<float> getPairMagnitudes(const ModelConfig &config,
                                            const std::vector<float> &bias) {
  auto size = static_cast<size_t>(config.headSize),
       turned = static_cast<size_t>(config.rotarySize);
  std::vector<float> result(bias.size());
  for (size_t head = 0; head < bias.size(); head += size) {
    float *own = &result[head];
    for (size_t i = 0; i < size; ++i) {
      size_t other = i;
      if (i < turned)
        other = config.rotaryPairs == RotaryPairs::Halves
                    ? (i + turned / 2) % turned
                    : i ^ 1;
      own[i] = std::max(std::abs(bias[head + i]), std::abs(bias[head + other]));
    }
    std::vector<float> sorted(own, own + size);
    llvm::sort(sorted);
    float median = std::max(sorted[size / 2], 1.0F);
    for (size_t i = 0; i < size; ++i)
      own[i] = std::max(own[i] / median, 1.0F);
  }
  return result;
}

/// Biases make some numbers of all keys a hundred times as large as the others,
/// which one scale for a row would round away. Keys are divided by what the
/// bias says of them, and queries multiplied with it: no score changes.
void GraphBuilder::balanceKeys(Value &q, Value &k) {
  std::string name;
  const StoredTensor *stored = find(".self_attn.k_proj", ".bias", name);
  int64_t size = config.headSize, kvHeads = config.numKvHeads;
  if (!stored || options.randomWeights ||
      stored->shape != std::vector<int64_t>{kvHeads * size})
    return;
  Weight expanded = expandedWeight(*stored);
  std::vector<float> bias(kvHeads * size);
  std::memcpy(bias.data(), expanded.content.data, bias.size() * sizeof(float));
  std::vector<float> magnitudes = getPairMagnitudes(config, bias);
  int64_t group = config.numHeads / kvHeads;
  std::vector<float> ofKeys, ofQueries;
  for (int64_t head = 0; head < kvHeads * group; ++head)
    for (int64_t i = 0; i < size; ++i)
      ofQueries.push_back(magnitudes[head / group * size + i]);
  for (float magnitude : magnitudes)
    ofKeys.push_back(1 / magnitude);
  auto multiply = [&](Value rows, const char *which, int64_t heads,
                      const std::vector<float> &factors) {
    std::string name =
        "cache." + std::to_string(currentLayer) + "." + std::string(which);
    if (!weights.entries.contains(name))
      weights.entries[name] = madeWeight({heads, size}, factors);
    Value table = emitWeight(name, b.getI64IntegerAttr(currentLayer));
    return elementwise(typeOf(rows), {{rows, {0, 1, 2}}, {table, {1, 2}}},
                       [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
                         return arith::MulFOp::create(b, v[0], v[1]);
                       });
  };
  q = multiply(q, "queries", kvHeads * group, ofQueries);
  k = multiply(k, "keys", kvHeads, ofKeys);
}
