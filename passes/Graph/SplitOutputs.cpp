//===- SplitOutputs.cpp - Products of heads in parts ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/SplitOutputs.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Cost/DecodeSplit.h"
#include "passes/Graph/Readers.h"
#include "passes/Kernel/HeadOutput.h"

using namespace mlir;
using namespace gist;

namespace {
/// The product of the heads of one token, and the sum of that and the residual
/// stream.
struct Output {
  linalg::MatmulOp product;
  linalg::GenericOp sum;
  Value residual;
};
} // namespace

/// True for a body that gives the sum of its two inputs.
static bool isSum(linalg::GenericOp op) {
  Block *body = op.getBody();
  auto sum =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  return sum && llvm::hasSingleElement(body->without_terminator()) &&
         op.getNumDpsInputs() == 2 && sum.getLhs() != sum.getRhs() &&
         llvm::all_of(sum->getOperands(), [&](Value operand) {
           auto argument = dyn_cast<BlockArgument>(operand);
           return argument && argument.getArgNumber() < 2;
         });
}

/// True if the sum is read element by element, so that a reader can compute it.
static bool isReadByElements(linalg::GenericOp sum) {
  return llvm::all_of(sum->getUses(), [&](OpOperand &use) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    return reader && reader->getBlock() == sum->getBlock() &&
           reader.isDpsInput(&use) &&
           reader.getMatchingIndexingMap(&use).isIdentity();
  });
}

static std::optional<Output> findOutput(AttentionOp attention,
                                        const GpuInfo &gpu) {
  RankedTensorType query = attention.getQuery().getType(),
                   value = attention.getValue().getType();
  // Only heads of such sizes have a kernel that takes a product.
  constexpr int64_t kChunk = 8;
  if (query.getDimSize(0) != 1 || attention.getOffsets() ||
      !query.hasStaticShape() || value.isDynamicDim(1) ||
      value.isDynamicDim(2) || query.getDimSize(2) % kChunk != 0 ||
      value.getDimSize(2) % kChunk != 0 || !attention->hasOneUse())
    return std::nullopt;
  auto row = dyn_cast<tensor::CollapseShapeOp>(*attention->user_begin());
  if (!row || row.getResultType().getRank() != 2 ||
      row.getResultType().getDimSize(0) != 1 || !row->hasOneUse())
    return std::nullopt;
  OpOperand &use = *row->use_begin();
  auto product = dyn_cast<linalg::MatmulOp>(use.getOwner());
  if (!product || !isFewRows(use) || !product->hasOneUse() ||
      !product.getInputs()[1].getDefiningOp<WeightOp>())
    return std::nullopt;
  auto weight = cast<RankedTensorType>(product.getInputs()[1].getType());
  if (!takesOutput(query.getDimSize(1), value.getDimSize(1),
                   value.getDimSize(2), weight.getDimSize(0),
                   weight.getElementTypeBitWidth(), gpu))
    return std::nullopt;
  OpOperand &added = *product->use_begin();
  auto sum = dyn_cast<linalg::GenericOp>(added.getOwner());
  if (!sum || !isSum(sum) ||
      !llvm::all_of(sum.getDpsInputOperands(),
                    [](OpOperand *each) { return readsOwnElement(*each); }) ||
      !getElementTypeOrSelf(sum.getResult(0)).isF32() || !isReadByElements(sum))
    return std::nullopt;
  return Output{product, sum, sum.getDpsInputs()[1 - added.getOperandNumber()]};
}

/// The sum of the residual stream and of all parts, one after the other.
static linalg::GenericOp createSum(OpBuilder &builder, const Output &output,
                                   Value parts) {
  linalg::GenericOp sum = output.sum;
  int64_t groups = cast<RankedTensorType>(parts.getType()).getDimSize(1);
  AffineExpr t, n;
  bindDims(builder.getContext(), t, n);
  SmallVector<Value> inputs{output.residual};
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(2)};
  for (int64_t group = 0; group < groups; ++group) {
    inputs.push_back(parts);
    maps.push_back(AffineMap::get(2, 0,
                                  {t, builder.getAffineConstantExpr(group), n},
                                  builder.getContext()));
  }
  maps.push_back(builder.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      builder, sum.getLoc(), sum.getResultTypes(), inputs, sum.getDpsInits(),
      maps, loops, [&](OpBuilder &b, Location loc, ValueRange given) {
        Value all = given[0];
        for (Value part : given.slice(1, groups))
          all = arith::AddFOp::create(b, loc, all, part);
        linalg::YieldOp::create(b, loc, all);
      });
}

/// A use of `sum` by the epilogue of another product, which can add up the
/// parts as well, or null.
static OpOperand *findAddend(linalg::GenericOp sum) {
  for (OpOperand &use : sum->getUses()) {
    auto reader = cast<linalg::GenericOp>(use.getOwner());
    if (llvm::any_of(reader.getDpsInputs(), [](Value input) {
          return input.getDefiningOp<linalg::MatmulOp>() && input.hasOneUse();
        }))
      return &use;
  }
  return nullptr;
}

void gist::splitOutputs(func::FuncOp function, const GpuInfo &gpu) {
  SmallVector<AttentionOp> attentions;
  function.walk([&](AttentionOp op) { attentions.push_back(op); });
  IRRewriter rewriter(function.getContext());
  for (AttentionOp attention : attentions) {
    // Not before: the layer before it has replaced the inputs of this one.
    std::optional<Output> found = findOutput(attention, gpu);
    if (!found)
      continue;
    Output &output = *found;
    rewriter.setInsertionPoint(output.product);
    int64_t numHeads = attention.getQuery().getType().getDimSize(1),
            kvHeads = attention.getValue().getType().getDimSize(1);
    Value parts = createHeadOutput(
        rewriter, output.product.getLoc(), attention.getOutput(),
        output.product.getInputs()[1],
        numHeads / getDecodeSplit(numHeads, kvHeads, gpu).heads);
    rewriter.setInsertionPoint(output.sum);
    linalg::GenericOp sum = createSum(rewriter, output, parts);
    rewriter.replaceAllUsesWith(output.sum.getResult(0), sum.getResult(0));
    while (OpOperand *use = findAddend(sum)) {
      Operation *reader = use->getOwner();
      rewriter.setInsertionPoint(reader);
      // A copy with one reader, which fusion leaves dead.
      auto own = cast<linalg::GenericOp>(rewriter.clone(*sum));
      rewriter.modifyOpInPlace(reader, [&] { use->set(own.getResult(0)); });
      FailureOr<linalg::ElementwiseOpFusionResult> fused =
          linalg::fuseElementwiseOps(rewriter, use);
      assert(succeeded(fused) && "isReadByElements() has checked that");
      rewriter.replaceOp(reader, fused->fusedOp->getResults());
      rewriter.eraseOp(own);
    }
    if (sum->use_empty())
      rewriter.eraseOp(sum);
    Operation *row = output.product.getInputs()[0].getDefiningOp();
    rewriter.eraseOp(output.sum);
    rewriter.eraseOp(output.product);
    rewriter.eraseOp(row);
  }
}
