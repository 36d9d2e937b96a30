//===- RowByRow.cpp - Which calls treat every row alike -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a kernel from its arguments to its results and keeps, for each value,
// how it depends on the rows of the call. A value that no rule covers counts as
// depending on all rows, and the kernel is then of one sequence: that is always
// correct, only slower.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/RowByRow.h"
#include "dialect/GistExpertOps.h"
#include "dialect/GistIntegerOps.h"
#include "dialect/GistKernelAttrs.h"
#include "dialect/GistLaunchNames.h"
#include "dialect/GistRankOps.h"
#include "dialect/GistTargetAttrs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Sizes.h"
#include "runtime/module/ModuleSpec.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gist;

namespace {
/// How a value depends on the rows of a call.
enum class Rows {
  None,   ///< Not at all: weights, constants.
  Each,   ///< Row t of it on row t: a tensor whose first dimension is rows.
  Number, ///< It is the number of rows.
  Other,  ///< In another way.
};

class Walk {
public:
  /// `arguments` has one element for each argument of the kernel.
  bool run(func::FuncOp kernel, ArrayRef<Rows> arguments) {
    for (auto [argument, rows] :
         llvm::zip_equal(kernel.getArguments(), arguments))
      known[argument] = rows;
    for (Operation &op : kernel.front().without_terminator()) {
      Rows result = visit(&op);
      for (Value value : op.getResults())
        known[value] = result;
    }
    return llvm::none_of(
        kernel.front().getTerminator()->getOperands(),
        [&](Value result) { return get(result) == Rows::Other; });
  }

private:
  Rows get(Value value) const {
    auto found = known.find(value);
    return found == known.end() ? Rows::Other : found->second;
  }
  bool areNone(ValueRange values) const {
    return llvm::all_of(values,
                        [&](Value value) { return get(value) == Rows::None; });
  }

  Rows visit(Operation *op) {
    return llvm::TypeSwitch<Operation *, Rows>(op)
        .Case([&](linalg::LinalgOp loops) { return visitLoops(loops); })
        .Case([&](tensor::DimOp dim) {
          if (get(dim.getSource()) == Rows::Each)
            return dim.getConstantIndex() == 0 ? Rows::Number : Rows::None;
          return get(dim.getSource());
        })
        .Case([&](tensor::EmptyOp empty) { return visitEmpty(empty); })
        .Case([&](tensor::CastOp cast) { return get(cast.getSource()); })
        .Case([&](tensor::ExpandShapeOp expand) {
          return visitReshape(expand.getSrc(),
                              expand.getReassociationIndices());
        })
        .Case([&](tensor::CollapseShapeOp collapse) {
          return visitReshape(collapse.getSrc(),
                              collapse.getReassociationIndices());
        })
        .Case([&](tensor::ExtractSliceOp slice) {
          return takesAllRows(slice, get(slice.getSource()))
                     ? get(slice.getSource())
                     : Rows::Other;
        })
        .Case([&](tensor::InsertSliceOp slice) {
          Rows rows = get(slice.getDest());
          return get(slice.getSource()) == rows && takesAllRows(slice, rows)
                     ? rows
                     : Rows::Other;
        })
        // The weight is the same for all rows; everything else is one for each.
        .Case([&](QuantizedMatmulOp product) {
          return visitProduct(product, {product.getWeight()});
        })
        .Case([&](GuardedMatmulOp product) {
          return visitProduct(product, {product.getWeight()});
        })
        .Case<ExpertMatmulOp, QuantizedExpertMatmulOp>([&](auto product) {
          return visitProduct(product, {product.getWeight()});
        })
        .Case([&](GatedProjectionOp product) {
          // All but the first are weights.
          return visitProduct(product, product->getOperands().drop_front());
        })
        .Case([&](ScaledMatmulOp product) {
          return visitProduct(product, {product.getWeight()});
        })
        .Case<QuantizeRowsOp, QuantizeBlocksOp>(
            [&](auto rows) { return get(rows.getInput()); })
        .Default([&](Operation *other) {
          return areNone(other->getOperands()) && isPure(other) &&
                         other->getNumRegions() == 0
                     ? Rows::None
                     : Rows::Other;
        });
  }

  Rows visitProduct(Operation *op, ValueRange weights) {
    if (!areNone(weights))
      return Rows::Other;
    Rows rows = Rows::None;
    for (Value operand : op->getOperands()) {
      if (llvm::is_contained(weights, operand))
        continue;
      Rows own = get(operand);
      if (own == Rows::Other || own == Rows::Number)
        return Rows::Other;
      if (own == Rows::Each)
        rows = Rows::Each;
    }
    return rows;
  }

  Rows visitEmpty(tensor::EmptyOp empty) {
    SmallVector<OpFoldResult> sizes = empty.getMixedSizes();
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      auto value = dyn_cast<Value>(size);
      if (value && (dim != 0 || get(value) != Rows::Number))
        return Rows::Other;
    }
    bool hasRows = !sizes.empty() && isa<Value>(sizes[0]);
    return hasRows ? Rows::Each : Rows::None;
  }

  /// Rows stay rows where the first dimension stays by itself.
  Rows visitReshape(Value source, ArrayRef<ReassociationIndices> groups) {
    Rows rows = get(source);
    if (rows == Rows::Each && (groups.empty() || groups[0].size() != 1))
      return Rows::Other;
    return rows;
  }

  /// Whether a slice of something is of constants alone or has every row.
  bool takesAllRows(OffsetSizeAndStrideOpInterface slice, Rows rows) const {
    if (rows != Rows::None && rows != Rows::Each)
      return false;
    for (auto [dim, offset, size, stride] :
         llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(),
                         slice.getMixedStrides())) {
      bool isConstant = getConstantIntValue(offset) &&
                        getConstantIntValue(size) &&
                        getConstantIntValue(stride);
      if (dim != 0 || rows == Rows::None) {
        if (!isConstant)
          return false;
        continue;
      }
      auto count = dyn_cast<Value>(size);
      if (!isConstantIntValue(offset, 0) || !isConstantIntValue(stride, 1) ||
          !count || get(count) != Rows::Number)
        return false;
    }
    return true;
  }

  /// Loops in which one dimension, in parallel, is the row of all that has
  /// rows.
  Rows visitLoops(linalg::LinalgOp op) {
    std::optional<unsigned> row;
    for (OpOperand &operand : op->getOpOperands()) {
      Rows rows = get(operand.get());
      if (rows == Rows::None)
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (rows != Rows::Each || map.getNumResults() == 0)
        return Rows::Other;
      auto dim = dyn_cast<AffineDimExpr>(map.getResult(0));
      if (!dim || (row && *row != dim.getPosition()))
        return Rows::Other;
      row = dim.getPosition();
    }
    if (!row)
      return bodyIsAlike(op, row) ? Rows::None : Rows::Other;
    if (op.getIteratorTypesArray()[*row] != utils::IteratorType::parallel)
      return Rows::Other;
    // It must not choose anything but the row.
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      unsigned first = get(operand.get()) == Rows::Each ? 1 : 0;
      for (AffineExpr expr : map.getResults().drop_front(first))
        if (expr.isFunctionOfDim(*row))
          return Rows::Other;
    }
    return bodyIsAlike(op, row) ? Rows::Each : Rows::Other;
  }

  /// Whether the body does the same for every row: it does not ask which one it
  /// is, and looks only at what is the same for all besides its elements.
  bool bodyIsAlike(linalg::LinalgOp op, std::optional<unsigned> row) const {
    return !op->walk([&](Operation *inner) {
                if (inner == op.getOperation())
                  return WalkResult::advance();
                auto index = dyn_cast<linalg::IndexOp>(inner);
                if (index && row && index.getDim() == *row)
                  return WalkResult::interrupt();
                for (Value operand : inner->getOperands())
                  if (!op->isAncestor(
                          operand.getParentBlock()->getParentOp()) &&
                      get(operand) != Rows::None)
                    return WalkResult::interrupt();
                return WalkResult::advance();
              }).wasInterrupted();
  }

  DenseMap<Value, Rows> known;
};
} // namespace

bool gist::hasRows(Value tensor) {
  SmallVector<AffineExpr> shape = getSymbolicShape(tensor);
  // Symbol 0 is the tokens of the call (Sizes.h).
  if (shape.empty() || shape[0] != getAffineSymbolExpr(0, tensor.getContext()))
    return false;
  return llvm::all_of(ArrayRef(shape).drop_front(),
                      llvm::IsaPred<AffineConstantExpr>);
}

bool gist::isRowByRow(DispatchOp call) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getKernelAttr());
  if (!kernel || kernel.isExternal() || !kernel.getBody().hasOneBlock())
    return false;
  // Scratch memory belongs to the call, whatever its size depends on.
  int64_t firstScratch = static_cast<int64_t>(call->getNumOperands()) -
                         getKernelAttr(kernel).getScratch();
  SmallVector<Rows> arguments;
  for (auto [number, operand] : llvm::enumerate(call->getOperands())) {
    if (static_cast<int64_t>(number) >= firstScratch) {
      arguments.push_back(Rows::None);
      continue;
    }
    if (isa<IndexType>(operand.getType())) {
      AffineExpr value = getSymbolicValue(operand);
      bool isNumber =
          value && value == getAffineSymbolExpr(0, call.getContext());
      arguments.push_back(isNumber ? Rows::Number
                          : isa_and_nonnull<AffineConstantExpr>(value)
                              ? Rows::None
                              : Rows::Other);
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      arguments.push_back(Rows::Other);
    else if (hasRows(operand))
      arguments.push_back(Rows::Each);
    else
      arguments.push_back(type.hasStaticShape() ? Rows::None : Rows::Other);
  }
  // An argument that is not read may still make the call depend on its
  // sequence.
  if (llvm::is_contained(arguments, Rows::Other))
    return false;
  // One that only one token can call has no rows.
  if (!llvm::is_contained(arguments, Rows::Each) && !call.getInputs().empty())
    return false;
  return Walk().run(kernel, arguments);
}

void gist::markSharedLaunches(ModuleOp calls) {
  if (!calls->getAttrOfType<GpuTargetAttr>(kTargetAttr) ||
      llvm::any_of(*calls.getBody(),
                   [](Operation &op) { return op.hasAttr(kCollectiveAttr); }))
    return;
  for (auto entry : calls.getOps<func::FuncOp>()) {
    if (isKernel(entry) || entry.isExternal())
      continue;
    bool isScore = entry.getName() == kEntryScore;
    DispatchOp last;
    auto mark = [&](DispatchOp call) {
      if (auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
              call, call.getKernelAttr());
          kernel && isKernel(kernel))
        kernel->setAttr(kByTableAttr, UnitAttr::get(calls.getContext()));
    };
    for (auto call : entry.getOps<DispatchOp>()) {
      last = call;
      if (isScore && !isRowByRow(call))
        mark(call);
    }
    if (last && entry.getName() == kEntryPrefill)
      mark(last);
  }
}
