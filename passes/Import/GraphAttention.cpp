//===- GraphAttention.cpp - Rotary positions and attention ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads, rotary positions and attention of GraphBuilder.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/GraphBuilder.h"

#include "dialect/GistOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace gist;
using namespace mlir;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

Value GraphBuilder::columns(Value x, int64_t first, int64_t count) {
  OpFoldResult one = b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(
      b, x, {b.getIndexAttr(0), b.getIndexAttr(first)},
      {numTokens, b.getIndexAttr(count)}, {one, one});
}

/// The reshape does not move anything: a head's elements lie together in a row.
Value GraphBuilder::heads(Value x, int64_t count) {
  return splitRows(x, count, config.headSize);
}

Value GraphBuilder::headsOfPart(Value x, int64_t count, int64_t part,
                                int64_t parts) {
  int64_t size = config.headSize;
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(
      b, splitRows(x, count, parts * size),
      {zero, zero, b.getIndexAttr(part * size)},
      {numTokens, b.getIndexAttr(count), b.getIndexAttr(size)},
      {one, one, one});
}

Value GraphBuilder::splitRows(Value x, int64_t count, int64_t size) {
  RankedTensorType type = tensorType({ShapedType::kDynamic, count, size});
  if (typeOf(x).getDimSize(1) != count * size) {
    fail(Status::error(Code::BadFile,
                       "a row of %" PRId64
                       " elements cannot be split into %" PRId64
                       " heads of %" PRId64,
                       typeOf(x).getDimSize(1), count, size));
    // A tensor of the right type, so that building can go on; the error is
    // kept.
    return empty(type);
  }
  return tensor::ExpandShapeOp::create(
      b, type, x, ArrayRef<ReassociationIndices>{{0}, {1, 2}},
      SmallVector<OpFoldResult>{numTokens, b.getIndexAttr(count),
                                b.getIndexAttr(size)});
}

/// The rows of a table of `function` for the positions of this call. The table
/// is a weight, so that no target needs the function at large angles.
Value GraphBuilder::rotaryTable(const std::string &name,
                                const std::vector<float> &frequencies,
                                double (*function)(double)) {
  auto numPairs = static_cast<int64_t>(frequencies.size());
  constexpr int64_t kMaxElements = int64_t(1) << 28; // 1 GiB
  // Divided, because the product can overflow for a size that a file made up.
  if (config.capacity > kMaxElements / numPairs) {
    fail(Status::error(Code::BadArgument,
                       "the rotary table of %" PRId64
                       " positions is too large; ask for a shorter context",
                       config.capacity));
    return empty(tensorType({ShapedType::kDynamic, numPairs}));
  }
  // Both functions of a decoder, and all layers, share the table.
  if (!weights.entries.contains(name)) {
    std::vector<float> values;
    values.reserve(config.capacity * numPairs);
    for (int64_t position = 0; position < config.capacity; ++position)
      for (float frequency : frequencies) // The angle is an f32.
        values.push_back(static_cast<float>(
            function(static_cast<float>(position) * frequency)));
    weights.entries[name] = madeWeight({config.capacity, numPairs}, values);
  }
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(
      b, emitWeight(name), {past ? OpFoldResult(past) : zero, zero},
      {numTokens, b.getIndexAttr(numPairs)}, {one, one});
}

Value GraphBuilder::rotary(Value x) {
  // Made once for all layers that turn by the same angles.
  // Values of this function: the second function of a model has its own
  // builder.
  bool isWindow =
      !config.windowFrequencies.empty() && config.hasWindow(currentLayer);
  Value &cos = cosines[isWindow], &sin = sines[isWindow];
  if (!cos) {
    const std::vector<float> &frequencies =
        isWindow ? config.windowFrequencies : config.rotaryFrequencies;
    std::string prefix = isWindow ? "rotary.window." : "rotary.";
    cos = rotaryTable(prefix + "cos", frequencies, std::cos);
    sin = rotaryTable(prefix + "sin", frequencies, std::sin);
  }
  RankedTensorType type = typeOf(x);
  int64_t numPairs = config.rotarySize / 2;
  bool halves = config.rotaryPairs == RotaryPairs::Halves;
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes{numTokens, b.getIndexAttr(type.getDimSize(1)),
                                  b.getIndexAttr(numPairs)};
  // Pairs are i and i + half, or 2i and 2i + 1: a slice with stride 1 or 2.
  SmallVector<OpFoldResult> strides{one, one, b.getIndexAttr(halves ? 1 : 2)};
  SmallVector<OpFoldResult> firstAt{zero, zero, zero};
  SmallVector<OpFoldResult> secondAt{zero, zero,
                                     b.getIndexAttr(halves ? numPairs : 1)};
  Value first = tensor::ExtractSliceOp::create(b, x, firstAt, sizes, strides);
  Value second = tensor::ExtractSliceOp::create(b, x, secondAt, sizes, strides);

  // (first, second) turned by the angle of position and pair.
  SmallVector<Operand> operands{
      {first, {0, 1, 2}}, {second, {0, 1, 2}}, {cos, {0, 2}}, {sin, {0, 2}}};
  Value turnedFirst = elementwise(
      typeOf(first), operands,
      [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        return arith::SubFOp::create(b, arith::MulFOp::create(b, v[0], v[2]),
                                     arith::MulFOp::create(b, v[1], v[3]));
      });
  Value turnedSecond = elementwise(
      typeOf(first), operands,
      [](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        return arith::AddFOp::create(b, arith::MulFOp::create(b, v[1], v[2]),
                                     arith::MulFOp::create(b, v[0], v[3]));
      });
  // Into x: what does not rotate stays.
  Value result =
      tensor::InsertSliceOp::create(b, turnedFirst, x, firstAt, sizes, strides);
  return tensor::InsertSliceOp::create(b, turnedSecond, result, secondAt, sizes,
                                       strides);
}

Value GraphBuilder::attention(Value q, Value k, Value v) {
  if (hasCache) {
    if (keyCache.scales)
      balanceKeys(q, k);
    k = updateCache(keyCache, k);
    v = updateCache(valueCache, v);
    // Queries are rounded like keys: products of two types do not exist.
    // Integers are read as f32.
    q = convert(q, typeOf(k).getElementType());
  }
  // A window that holds the whole context hides nothing, and attention without
  // one can have plans.
  IntegerAttr window;
  if (config.hasWindow(currentLayer) && config.slidingWindow < config.capacity)
    window = b.getI64IntegerAttr(config.slidingWindow);
  // Without a scale the op's default holds: 1 / sqrt of the head size.
  FloatAttr scale;
  if (config.attentionScale != 0)
    scale = b.getF32FloatAttr(static_cast<float>(config.attentionScale));
  Value result = AttentionOp::create(
      b, q, k, v, /*mask=*/Value(), /*offsets=*/Value(),
      /*key_offsets=*/Value(), /*causal=*/architecture.isDecoder,
      /*scale=*/scale, /*window=*/window, /*sinks=*/IntegerAttr());
  result = tensor::CollapseShapeOp::create(
      b, result, ArrayRef<ReassociationIndices>{{0}, {1, 2}});
  return convert(result, b.getF32Type());
}
