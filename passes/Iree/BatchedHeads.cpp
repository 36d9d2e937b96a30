//===- BatchedHeads.cpp - Attention as products of batches ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Iree/BatchedHeads.h"
#include "dialect/DecomposeUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Kernel/Kernels.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// K x (G T) x N as K x G x T x N.
static Value splitRows(ValueBuilder &b, Value x, int64_t group,
                       OpFoldResult tokens) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<OpFoldResult> sizes = {getSize(b, x, 0), b.getIndexAttr(group),
                                     tokens, getSize(b, x, 2)};
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  return tensor::ExpandShapeOp::create(
      b, type.clone(shape), x, ArrayRef<ReassociationIndices>{{0}, {1, 2}, {3}},
      sizes);
}

/// K x G x T x N as K x (G T) x N.
static Value joinRows(ValueBuilder &b, Value x) {
  return tensor::CollapseShapeOp::create(
      b, x, ArrayRef<ReassociationIndices>{{0}, {1, 2}, {3}});
}

/// The softmax of each row of scores, and zeros where all are -infinity.
static Value createSoftmax(ValueBuilder &b, Value scores) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), scores);
  ArrayRef<OpFoldResult> rows = ArrayRef(sizes).drop_back();
  Value highest = createLoops(
      b, "kgts->kgt", scores, createFilled(b, rows, b.f32(-kInfinity)),
      [](ValueBuilder &b, ValueRange args) -> Value {
        return arith::MaximumFOp::create(b, args[0], args[1]);
      });
  Value powers = createLoops(
      b, "kgts,kgt->kgts", {scores, highest},
      createEmpty(b, sizes, b.getF32Type()),
      [](ValueBuilder &b, ValueRange args) -> Value {
        Value power = math::ExpOp::create(b, b.sub(args[0], args[1]));
        Value isHidden =
            b.compare(CmpFPredicate::OEQ, args[0], b.f32(-kInfinity));
        return b.select(isHidden, b.f32(0), power);
      });
  Value total =
      createLoops(b, "kgts->kgt", powers, createFilled(b, rows, b.f32(0)),
                  [](ValueBuilder &b, ValueRange args) -> Value {
                    return b.add(args[0], args[1]);
                  });
  return createLoops(b, "kgts,kgt->kgts", {powers, total},
                     createEmpty(b, sizes, b.getF32Type()),
                     [](ValueBuilder &b, ValueRange args) -> Value {
                       Value isNothing =
                           b.compare(CmpFPredicate::OEQ, args[1], b.f32(0));
                       Value share = b.div(args[0], args[1]);
                       return b.select(isNothing, b.f32(0), share);
                     });
}

Value gist::attendInBatches(ValueBuilder &b, Value query, Value keys,
                            Value values, function_ref<Value(Value)> mask) {
  auto type = cast<RankedTensorType>(query.getType());
  int64_t kvHeads = cast<RankedTensorType>(keys.getType()).getDimSize(0);
  int64_t group = type.getDimSize(1) / kvHeads, width = type.getDimSize(2);
  OpFoldResult tokens = getSize(b, query, 0);
  Type f32 = b.getF32Type();
  SmallVector<OpFoldResult> split = {tokens, b.getIndexAttr(kvHeads),
                                     b.getIndexAttr(group),
                                     b.getIndexAttr(width)};
  Value rows = tensor::ExpandShapeOp::create(
      b,
      RankedTensorType::get({type.getDimSize(0), kvHeads, group, width}, f32),
      convert(b, query, f32), ArrayRef<ReassociationIndices>{{0}, {1, 2}, {3}},
      split);
  rows = joinRows(b, transpose(b, rows, {1, 2, 0, 3}));
  Value scores = multiplyBatches(b, rows, keys, /*byRows=*/true);
  scores = mask(splitRows(b, scores, group, tokens));
  Value means = multiplyBatches(b, joinRows(b, createSoftmax(b, scores)),
                                values, /*byRows=*/false);
  means = transpose(b, splitRows(b, means, group, tokens), {2, 0, 1, 3});
  return convert(b, joinRows(b, means), type.getElementType());
}

SmallVector<Operation *>
gist::findOutsideKernels(Operation *root,
                         function_ref<bool(Operation *)> isWanted) {
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isKernel(op))
      return WalkResult::skip();
    if (isWanted(op))
      ops.push_back(op);
    return WalkResult::advance();
  });
  return ops;
}

LogicalResult gist::rewriteOnce(ArrayRef<Operation *> ops,
                                RewritePatternSet patterns) {
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  return applyOpPatternsGreedily(ops, std::move(patterns), config);
}
