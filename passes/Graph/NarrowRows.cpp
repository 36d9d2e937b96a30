//===- NarrowRows.cpp - The pass -gist-narrow-rows ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A prompt asks for the logits of its last token. Of the last layer only keys
// and values of the other tokens are read again, so its queries, attention,
// output projection and feed-forward block have one row. The pass moves the
// slice of that row up from the head to where all rows are needed.
//
// Ops are visited from the last to the first. An op whose readers all want one
// row is computed for that row. One that others read whole is sliced, or
// computed once more for the row where that costs little.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistLaunchNames.h"
#include "dialect/GistOps.h"
#include "dialect/GistRankOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Sizes.h"
#include "passes/Kernel/Unused.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace gist {
#define GEN_PASS_DEF_NARROWROWSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Products, attention and what ranks exchange: worth narrowing, and not worth
/// repeating.
static bool isCostly(Operation *op) {
  if (isa_and_nonnull<AttentionOp, AllGatherOp, AllReduceOp>(op))
    return true;
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op);
  return structured && linalg::isaContractionOpInterface(structured);
}

static bool isRowsWhole(OffsetSizeAndStrideOpInterface slice,
                        RankedTensorType source, RankedTensorType result) {
  return source.getRank() == result.getRank() &&
         isConstantIntValue(slice.getMixedOffsets()[0], 0) &&
         isConstantIntValue(slice.getMixedStrides()[0], 1);
}

namespace {
class RowNarrower {
public:
  explicit RowNarrower(tensor::ExtractSliceOp seed)
      : seed(seed), row(seed.getMixedOffsets()[0]), b(seed.getLoc(), seed) {}

  /// Returns whether a product or attention has one row now.
  bool run() {
    if (!isSeed())
      return false;
    find();
    if (llvm::none_of(replaced, isCostly))
      return false;
    build();
    seed.replaceAllUsesWith(narrow(seed.getSource()));
    return true;
  }

private:
  /// Whether the slice is one row of as many as the call has tokens.
  bool isSeed() {
    RankedTensorType source = seed.getSourceType();
    return source.getRank() == 2 && source.isDynamicDim(0) &&
           seed.getType().getRank() == 2 && seed.getType().getDimSize(0) == 1 &&
           seed.getType().getDimSize(1) == source.getDimSize(1) &&
           seed.getSource().getDefiningOp() && isa<Value>(row) &&
           hasAllTokens(seed.getSource());
  }

  /// Whether the first dimension of `tensor` is the tokens of the call.
  bool hasAllTokens(Value tensor) {
    SmallVector<AffineExpr> shape = getSymbolicShape(tensor);
    return !shape.empty() && shape[0] == getTokens();
  }
  AffineExpr getTokens() { return getAffineSymbolExpr(0, seed.getContext()); }
  bool isLastRow() {
    AffineExpr at = getSymbolicValue(cast<Value>(row));
    return at && at == getTokens() - 1;
  }

  /// The operands of which a row of the result needs the same row; nothing
  /// where it needs something else.
  std::optional<SmallVector<OpOperand *>> getRowOperands(Operation *op) {
    using Operands = std::optional<SmallVector<OpOperand *>>;
    if (op->getNumResults() != 1)
      return std::nullopt;
    return llvm::TypeSwitch<Operation *, Operands>(op)
        .Case([&](linalg::LinalgOp loops) { return getRowOperands(loops); })
        .Case([](tensor::EmptyOp) -> Operands {
          return SmallVector<OpOperand *>();
        })
        .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
            [](auto reshape) -> Operands {
              if (reshape.getReassociationIndices()[0].size() != 1)
                return std::nullopt;
              return SmallVector<OpOperand *>{&reshape.getSrcMutable()};
            })
        .Case([&](tensor::ExtractSliceOp slice) -> Operands {
          if (!isRowsWhole(slice, slice.getSourceType(), slice.getType()) ||
              !hasAllTokens(slice.getSource()))
            return std::nullopt;
          return SmallVector<OpOperand *>{&slice.getSourceMutable()};
        })
        .Case([&](tensor::InsertSliceOp slice) -> Operands {
          if (!isRowsWhole(slice, slice.getType(), slice.getSourceType()) ||
              !hasAllTokens(slice.getSource()))
            return std::nullopt;
          return SmallVector<OpOperand *>{&slice.getSourceMutable(),
                                          &slice.getDestMutable()};
        })
        // All ranks have the same op, and narrow it alike.
        .Case<AllGatherOp, AllReduceOp>([](auto exchange) -> Operands {
          return SmallVector<OpOperand *>{&exchange->getOpOperand(0)};
        })
        .Case([&](AttentionOp attention) -> Operands {
          // A single query with several keys stands for the last token.
          bool isPlain = !attention.getMask() && !attention.getOffsets();
          if (!isPlain || (attention.getCausal() && !isLastRow()))
            return std::nullopt;
          return SmallVector<OpOperand *>{&attention.getQueryMutable()};
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  static std::optional<SmallVector<OpOperand *>>
  getRowOperands(linalg::LinalgOp op) {
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (result.getNumResults() == 0)
      return std::nullopt;
    auto dim = dyn_cast<AffineDimExpr>(result.getResult(0));
    if (!dim || op.getIteratorTypesArray()[dim.getPosition()] !=
                    utils::IteratorType::parallel)
      return std::nullopt;
    SmallVector<OpOperand *> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      bool hasRows = map.getNumResults() != 0 && map.getResult(0) == dim;
      if (hasRows)
        operands.push_back(&operand);
      for (AffineExpr expr : map.getResults().drop_front(hasRows))
        if (expr.isFunctionOfDim(dim.getPosition()))
          return std::nullopt;
    }
    // A body that reads its row index differs from row to row.
    bool asks = false;
    op->walk([&](linalg::IndexOp index) {
      asks |= index.getDim() == dim.getPosition();
    });
    if (asks)
      return std::nullopt;
    return operands;
  }

  /// Finds the ops that get one row, from the last to the first.
  void find() {
    wanted.insert(seed.getSource());
    Operation *op = seed->getPrevNode();
    for (; op; op = op->getPrevNode()) {
      if (op->getNumResults() != 1 || !wanted.contains(op->getResult(0)))
        continue;
      std::optional<SmallVector<OpOperand *>> rows = getRowOperands(op);
      if (!rows)
        continue;
      bool isOnlyRow = llvm::all_of(op->getUsers(), [&](Operation *user) {
        return user == seed || replaced.contains(user);
      });
      // An op on the result of a product is fused with it and written for all
      // rows: it is sliced, not repeated.
      bool isCheap = !isCostly(op) && llvm::none_of(*rows, [](OpOperand *rows) {
        return isCostly(rows->get().getDefiningOp());
      });
      if (!isOnlyRow && !isCheap)
        continue;
      if (isOnlyRow)
        replaced.insert(op);
      narrowed.push_back({op, *rows});
      for (OpOperand *operand : *rows)
        wanted.insert(operand->get());
    }
  }

  /// The row of `value`, computed or sliced.
  Value narrow(Value value) {
    if (Value known = map.lookupOrNull(value))
      return known;
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> sizes, ones(type.getRank(), b.getIndexAttr(1));
    for (int64_t size : type.getShape())
      sizes.push_back(b.getIndexAttr(size));
    offsets[0] = row;
    sizes[0] = b.getIndexAttr(1);
    Value slice = tensor::ExtractSliceOp::create(b, getRowType(value), value,
                                                 offsets, sizes, ones);
    map.map(value, slice);
    return slice;
  }

  static RankedTensorType getRowType(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = 1;
    return type.clone(shape);
  }

  void build() {
    for (auto &[op, rows] : llvm::reverse(narrowed)) {
      SmallVector<Value> operands(op->getOperands());
      for (OpOperand *operand : rows)
        operands[operand->getOperandNumber()] = narrow(operand->get());
      map.map(op->getResult(0), rebuild(op, operands));
    }
  }

  Value rebuild(Operation *op, ValueRange operands) {
    RankedTensorType type = getRowType(op->getResult(0));
    OpFoldResult one = b.getIndexAttr(1);
    if (isa<tensor::EmptyOp>(op))
      return tensor::EmptyOp::create(b, type, ValueRange());
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      SmallVector<OpFoldResult> shape = expand.getMixedOutputShape();
      shape[0] = one;
      return tensor::ExpandShapeOp::create(
          b, type, operands[0], expand.getReassociationIndices(), shape);
    }
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      return tensor::CollapseShapeOp::create(
          b, type, operands[0], collapse.getReassociationIndices());
    if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op)) {
      SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
      sizes[0] = one;
      if (isa<tensor::InsertSliceOp>(op))
        return tensor::InsertSliceOp::create(b, operands[0], operands[1],
                                             slice.getMixedOffsets(), sizes,
                                             slice.getMixedStrides());
      return tensor::ExtractSliceOp::create(b, type, operands[0],
                                            slice.getMixedOffsets(), sizes,
                                            slice.getMixedStrides());
    }
    return clone(b, op, type, operands)->getResult(0);
  }

  tensor::ExtractSliceOp seed;
  OpFoldResult row;
  ImplicitLocOpBuilder b; ///< before the seed, where all operands are known
  llvm::DenseSet<Value> wanted;
  llvm::DenseSet<Operation *> replaced; ///< nothing reads their other rows
  SmallVector<std::pair<Operation *, SmallVector<OpOperand *>>> narrowed;
  IRMapping map;
};

struct NarrowRowsPass final : gist::impl::NarrowRowsPassBase<NarrowRowsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // Products of a few rows read their weights once, however many rows they
    // have.
    if (function.isExternal() || isKernel(function) ||
        function->hasAttr(kMaxTokensAttr) || !function.getBody().hasOneBlock())
      return;
    for (auto slice :
         llvm::to_vector(function.getOps<tensor::ExtractSliceOp>())) {
      if (!RowNarrower(slice).run())
        continue;
      eraseUnused(function.front());
      // A function has one head, and slices above it may be gone.
      return;
    }
  }
};
} // namespace
