//===- RoundActivations.cpp - The pass -gist-round-activations ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistExpertOps.h"
#include "dialect/GistNames.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"

namespace gist {
#define GEN_PASS_DEF_ROUNDACTIVATIONSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Whether `op` multiplies rows, its first operand, with a weight, its second.
static bool isProduct(Operation *op) {
  if (auto product = dyn_cast<linalg::MatmulOp>(op))
    return isTransposedMatmul(product);
  return isa<ExpertMatmulOp>(op);
}

/// The type in which matrix instructions take the rows of `product`, or null if
/// it does not multiply rows of f32.
static Type getRoundedType(Operation *product) {
  if (!isProduct(product))
    return {};
  Value x = product->getOperand(0), w = product->getOperand(1);
  if (!getElementTypeOrSelf(x).isF32() ||
      !isa<FloatType>(getElementTypeOrSelf(w)))
    return {};
  MLIRContext *context = product->getContext();
  // Both sides of a matrix instruction have one type. Weights in bf16 decide
  // it; all others, those in blocks too, are multiplied as f16.
  if (getElementTypeOrSelf(w).isBF16())
    return BFloat16Type::get(context);
  return Float16Type::get(context);
}

/// True for products of so few rows that they are multiplied as they are.
static bool hasFewRows(Operation *product, int64_t few) {
  int64_t rows =
      cast<RankedTensorType>(product->getOperand(0).getType()).getDimSize(0);
  return !ShapedType::isDynamic(rows) && rows <= few;
}

/// The 16-bit tensor that `value` extends without other changes, or null.
static Value getExtended(Value value, Type element) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1 ||
      getElementTypeOrSelf(generic.getDpsInputs()[0]) != element ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  auto ops = generic.getBody()->without_terminator();
  bool extends =
      llvm::hasSingleElement(ops) && isa<arith::ExtFOp>(*ops.begin());
  return extends ? generic.getDpsInputs()[0] : Value();
}

/// The sizes of `value`, taken from its destination where possible: a
/// tensor.dim of `value` would count as a reader.
static SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Value value) {
  if (auto op = value.getDefiningOp<linalg::LinalgOp>())
    value = op.getDpsInits()[cast<OpResult>(value).getResultNumber()];
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getOutputs()[0];
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes();
  return tensor::getMixedSizes(builder, value.getLoc(), value);
}

/// `value` in another element type.
static Value convert(OpBuilder &builder, Value value, Type element) {
  Location location = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(builder, location,
                                        getSizes(builder, value), element);
  AffineMap same = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, location, type.clone(element), value, empty,
             ArrayRef<AffineMap>{same, same}, parallel,
             [&](OpBuilder &b, Location at, ValueRange numbers) {
               Value number =
                   arith::TruncFOp::create(b, at, element, numbers[0]);
               linalg::YieldOp::create(b, at, number);
             })
      .getResult(0);
}

namespace {
struct RoundActivationsPass final
    : gist::impl::RoundActivationsPassBase<RoundActivationsPass> {
  using RoundActivationsPassBase::RoundActivationsPassBase;

  /// The rows of `product` in 16 bits, or null where they stay as they are.
  Value getRounded(OpBuilder &builder, Value x, Type element) {
    if (Value extended = getExtended(x, element))
      return extended;
    // Any other reader of the rows needs all of their bits: they would be
    // stored twice.
    for (OpOperand &use : x.getUses()) {
      Operation *reader = use.getOwner();
      bool rounds = use.getOperandNumber() == 0 &&
                    getRoundedType(reader) == element &&
                    !hasFewRows(reader, fewRows);
      if (!rounds && !isa<tensor::DimOp>(reader))
        return {};
    }
    builder.setInsertionPointAfterValue(x);
    return convert(builder, x, element);
  }

  void runOnOperation() override {
    SmallVector<Operation *> products;
    getOperation()->walk([&](Operation *op) {
      if (isProduct(op))
        products.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    // Collected first, because products are replaced on the way. Rows that
    // several products read are decided once, by the first of them.
    DenseMap<Value, Value> rounded; // null: it stays as it is
    for (Operation *op : products) {
      Type element = getRoundedType(op);
      if (!element)
        continue;
      auto [known, isNew] = rounded.try_emplace(op->getOperand(0));
      if (isNew)
        known->second = getRounded(rewriter, op->getOperand(0), element);
      Value x = known->second;
      if (!x || getElementTypeOrSelf(x) != element)
        continue;
      auto product = dyn_cast<linalg::MatmulOp>(op);
      if (!product) {
        op->setOperand(0, x);
        continue;
      }
      // Its body has arguments of the types of its operands.
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<linalg::MatmulOp>(
          op, op->getResultTypes(), ValueRange{x, op->getOperand(1)},
          product.getDpsInits(),
          ArrayRef<NamedAttribute>{rewriter.getNamedAttr(
              "indexing_maps", product.getIndexingMapsAttr())});
    }
  }
};
} // namespace
