//===- MergeProjections.cpp - The pass -gist-merge-projections ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Graph/JoinWeights.h"
#include "passes/Graph/Readers.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/PackWeights.h"
#include "passes/Passes.h"

namespace gist {
#define GEN_PASS_DEF_MERGEPROJECTIONSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// The weight op of the product if nothing else reads it, else null. A weight
/// with two readers would be in the module twice, as itself and as a part of
/// the joined one.
static WeightOp getOwnWeight(linalg::MatmulOp product) {
  Operation *read = product.getDpsInputs()[1].getDefiningOp();
  if (auto dequantize = dyn_cast_or_null<DequantizeOp>(read))
    if (dequantize->hasOneUse())
      read = dequantize.getBlocks().getDefiningOp();
  auto weight = dyn_cast_or_null<WeightOp>(read);
  bool isPlain = weight && weight->hasOneUse() && !weight->hasAttr(kPartsAttr);
  return isPlain ? weight : WeightOp();
}

static BlockFormatAttr getFormat(linalg::MatmulOp product) {
  auto read = product.getDpsInputs()[1].getDefiningOp<DequantizeOp>();
  return read ? read.getFormatAttr() : BlockFormatAttr();
}

/// The fill that the product's sums start from, if that is with zero.
static linalg::FillOp getZeros(linalg::MatmulOp product) {
  auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.value(), m_AnyZeroFloat())
             ? fill
             : linalg::FillOp();
}

/// True if the result is cut into heads and read as nothing else, after a bias
/// or a factor maybe.
/// Such readers can read a slice of a wider result without a copy. Others would
/// have to be given one.
static bool isCut(Value result) {
  return llvm::all_of(result.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::ExpandShapeOp, tensor::ExtractSliceOp, tensor::DimOp>(user))
      return true;
    // A result of the model has no reader; it is not cut.
    return readsOwnElement(use) && !user->use_empty() &&
           isCut(user->getResult(0));
  });
}

/// The weights of `products` one below the other, as a product reads them.
/// Blocks are joined before they are dequantised: rows of blocks are whole.
static Value readJoined(RewriterBase &rewriter,
                        ArrayRef<linalg::MatmulOp> products) {
  linalg::MatmulOp first = products.front();
  WeightOp joined = joinWeights(rewriter, first.getLoc(),
                                llvm::map_to_vector(products, getOwnWeight));
  BlockFormatAttr format = getFormat(first);
  if (!format)
    return joined.getResult();
  int64_t rows = cast<RankedTensorType>(joined.getType()).getDimSize(0);
  return DequantizeOp::create(rewriter, first.getLoc(),
                              withRows(first.getDpsInputs()[1], rows),
                              joined.getResult(), format)
      .getResult();
}

/// Replaces `products`, all of the same rows, by slices of one.
static void merge(RewriterBase &rewriter,
                  SmallVector<linalg::MatmulOp> products) {
  linalg::MatmulOp first = products[0]; // Before everything that reads them.
  // Every function joins the same bytes.
  llvm::sort(products, [](linalg::MatmulOp a, linalg::MatmulOp b) {
    return getOwnWeight(a).getName() < getOwnWeight(b).getName();
  });
  Location location = first.getLoc();
  rewriter.setInsertionPoint(first);
  Value weight = readJoined(rewriter, products);
  linalg::FillOp zeros = getZeros(first);
  auto type = cast<RankedTensorType>(first->getResult(0).getType());
  // Not the size of a product: that one is replaced by a slice below, which
  // would then be sized by itself.
  OpFoldResult rows =
      tensor::getMixedSize(rewriter, location, zeros.getOutputs()[0], 0);
  OpFoldResult columns = rewriter.getIndexAttr(
      cast<RankedTensorType>(weight.getType()).getDimSize(0));
  Value empty = tensor::EmptyOp::create(
      rewriter, location, ArrayRef{rows, columns}, type.getElementType());
  Value filled =
      linalg::FillOp::create(rewriter, location, zeros.value(), empty)
          .getResult(0);
  Value product =
      linalg::MatmulOp::create(
          rewriter, location, TypeRange(filled.getType()),
          ValueRange{first.getDpsInputs()[0], weight}, ValueRange(filled),
          ArrayRef<NamedAttribute>{rewriter.getNamedAttr(
              "indexing_maps", first.getIndexingMapsAttr())})
          .getResult(0);

  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  int64_t column = 0;
  for (linalg::MatmulOp old : products) {
    auto part = cast<RankedTensorType>(old->getResult(0).getType());
    Value slice = tensor::ExtractSliceOp::create(
        rewriter, old.getLoc(), part, product,
        SmallVector<OpFoldResult>{zero, rewriter.getIndexAttr(column)},
        SmallVector<OpFoldResult>{rows,
                                  rewriter.getIndexAttr(part.getDimSize(1))},
        SmallVector<OpFoldResult>{one, one});
    rewriter.replaceOp(old, slice);
    column += part.getDimSize(1);
  }
}

/// The pairs of `products` that are as wide as each other and come together
/// element by element: a gate and what it lets through.
static SmallVector<SmallVector<linalg::MatmulOp>>
findGates(ArrayRef<linalg::MatmulOp> products) {
  SmallVector<SmallVector<linalg::MatmulOp>> gates;
  SmallVector<linalg::MatmulOp> rest(products);
  while (rest.size() > 1) {
    linalg::MatmulOp first = rest.front();
    rest.erase(rest.begin());
    auto *second = llvm::find_if(rest, [&](linalg::MatmulOp other) {
      return other.getResultTypes() == first.getResultTypes() &&
             !findMeeting(first->getResult(0), other->getResult(0)).empty();
    });
    if (second == rest.end())
      continue;
    gates.push_back({first, *second});
    rest.erase(second);
  }
  return gates;
}

namespace {
struct MergeProjectionsPass final
    : gist::impl::MergeProjectionsPassBase<MergeProjectionsPass> {
  void runOnOperation() override {
    // The rows, the types of weight and result, the format of the weight, and
    // the block.
    using Key = std::tuple<Value, Type, Type, Attribute, Block *>;
    llvm::MapVector<Key, SmallVector<linalg::MatmulOp>> cut, others;
    getOperation()->walk([&](linalg::MatmulOp op) {
      if (!isTransposedMatmul(op) || !getOwnWeight(op) || !getZeros(op))
        return;
      auto &groups = isCut(op->getResult(0)) ? cut : others;
      groups[{op.getDpsInputs()[0], getElementTypeOrSelf(op.getDpsInputs()[1]),
              getElementTypeOrSelf(op->getResult(0)), getFormat(op),
              op->getBlock()}]
          .push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (auto &[key, products] : cut)
      if (products.size() > 1)
        merge(rewriter, products);
    // Pairs only: halves of a product are what kernels know how to gate
    // (passes/Kernel/ColumnHalves.h).
    for (auto &[key, products] : others)
      for (SmallVector<linalg::MatmulOp> &gate : findGates(products))
        merge(rewriter, gate);
  }
};
} // namespace
