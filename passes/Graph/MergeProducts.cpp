//===- MergeProducts.cpp - The pass -gist-merge-products ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of the same rows become one: queries, keys and values, or gate and
// up. One larger product shares the reading of the rows and has fewer launches.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Graph/JoinWeights.h"
#include "passes/Kernel/PackWeights.h"
#include "passes/Passes.h"

namespace gist {
#define GEN_PASS_DEF_MERGEPRODUCTSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// The weight of `op` if nothing else reads it and it is as stored, else null.
/// A weight that others read as well would be stored twice.
static WeightOp getOwnWeight(QuantizedMatmulOp op) {
  auto weight = op.getWeight().getDefiningOp<WeightOp>();
  bool isPlain = weight && weight->hasOneUse() && !op.getPackedAttr() &&
                 !weight->hasAttr(kPartsAttr);
  return isPlain ? weight : WeightOp();
}

/// Replaces `products`, all of the same rows, by slices of one.
static void merge(RewriterBase &rewriter,
                  SmallVector<QuantizedMatmulOp> products) {
  QuantizedMatmulOp first = products[0]; // Before everything that reads them.
  // prefill, decode and score then name the same joined weight, which the
  // module stores once.
  llvm::sort(products, [](QuantizedMatmulOp a, QuantizedMatmulOp b) {
    return getOwnWeight(a).getName() < getOwnWeight(b).getName();
  });
  rewriter.setInsertionPoint(first);
  WeightOp weight = joinWeights(rewriter, products[0].getLoc(),
                                llvm::map_to_vector(products, getOwnWeight));
  int64_t columns = cast<RankedTensorType>(weight.getType()).getDimSize(0);
  RankedTensorType type = first.getType();
  auto product = QuantizedMatmulOp::create(
      rewriter, first.getLoc(),
      RankedTensorType::get({type.getDimSize(0), columns},
                            type.getElementType()),
      first.getValues(), first.getScales(), weight.getResult(),
      first.getFormatAttr(), PackingAttr(), Value(), first.getGuard());

  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  OpFoldResult rows =
      tensor::getMixedSize(rewriter, first.getLoc(), product.getResult(), 0);
  int64_t column = 0;
  for (QuantizedMatmulOp old : products) {
    WeightOp part = getOwnWeight(old);
    int64_t count = old.getType().getDimSize(1);
    Value slice = tensor::ExtractSliceOp::create(
        rewriter, old.getLoc(), old.getType(), product.getResult(),
        SmallVector<OpFoldResult>{zero, rewriter.getIndexAttr(column)},
        SmallVector<OpFoldResult>{rows, rewriter.getIndexAttr(count)},
        SmallVector<OpFoldResult>{one, one});
    rewriter.replaceOp(old, slice);
    // No other op reads it: getOwnWeight has checked that.
    rewriter.eraseOp(part);
    column += count;
  }
}

namespace {
struct MergeProductsPass final
    : gist::impl::MergeProductsPassBase<MergeProductsPass> {
  void runOnOperation() override {
    // Products can be merged if they read the same rows, under the same guard,
    // with weights of one format.
    using Key = std::tuple<Value, Value, Value, Block *, BlockFormat>;
    llvm::MapVector<Key, SmallVector<QuantizedMatmulOp>> groups;
    getOperation()->walk([&](QuantizedMatmulOp op) {
      // A product of some columns only, or of a weight that others read too, is
      // left alone.
      if (getOwnWeight(op) && !op.getColumns())
        groups[{op.getValues(), op.getScales(), op.getGuard(), op->getBlock(),
                op.getFormat()}]
            .push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (auto &[key, products] : groups)
      if (products.size() > 1)
        merge(rewriter, products);
  }
};
} // namespace
