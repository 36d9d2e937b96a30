//===- RowReductions.cpp - What is reduced along rows ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Elements/RowReductions.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Tile/Gpu/Elements/ElementEmitter.h"

#include <set>

using namespace mlir;
using namespace gist;

namespace {
/// Finds at which indices tensors of a kernel want the results of its
/// reductions. An index is the number of a dimension of those tensors or, for
/// any other, kOther.
class Demands {
public:
  using Indices = std::vector<int>;
  static constexpr int kOther = -1;

  /// For all elements of `tensor`, in whose dimensions indices then are.
  void add(Value tensor) {
    Indices indices;
    for (int i = 0; i < cast<RankedTensorType>(tensor.getType()).getRank(); ++i)
      indices.push_back(i);
    visit(tensor, indices);
  }

  /// Whether all that is wanted of `op` is its element of a row.
  bool isWantedPerRow(Operation *op) const {
    auto found = wanted.find(op);
    return found != wanted.end() && found->second;
  }

private:
  void visit(Value tensor, Indices indices);
  void visitStructured(linalg::LinalgOp op, Value tensor,
                       const Indices &indices);
  void visitAll(Operation *op);

  // A tensor can be wanted at several indices, and is followed for each once.
  std::set<std::pair<void *, Indices>> visited;
  DenseMap<Operation *, bool> wanted;
};
} // namespace

/// Nothing is known about which elements `op` reads.
void Demands::visitAll(Operation *op) {
  op->walk([&](Operation *inside) {
    for (Value operand : inside->getOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
        visit(operand, Indices(type.getRank(), kOther));
  });
}

void Demands::visitStructured(linalg::LinalgOp op, Value tensor,
                              const Indices &indices) {
  Indices loops(op.getNumLoops(), kOther);
  AffineMap map = op.getMatchingIndexingMap(
      op.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber()));
  for (auto [expr, i] : llvm::zip_equal(map.getResults(), indices))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = i;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    Indices at;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      at.push_back(dim ? loops[dim.getPosition()] : kOther);
    }
    visit(operand.get(), at);
  }
  // The body may read any element by indices that it computes.
  op.getBlock()->walk([&](tensor::ExtractOp extract) {
    visit(extract.getTensor(), Indices(extract.getIndices().size(), kOther));
  });

  if (op.getNumReductionLoops() == 0)
    return;
  bool isRow = true;
  for (auto [i, index] : llvm::enumerate(indices))
    isRow &= index == static_cast<int>(i);
  auto [entry, isNew] = wanted.try_emplace(op, isRow);
  // One demand for another row is enough to refuse.
  entry->second &= isRow;
}

void Demands::visit(Value tensor, Indices indices) {
  if (isa<BlockArgument>(tensor) ||
      !visited.insert({tensor.getAsOpaquePointer(), indices}).second)
    return;
  Operation *op = tensor.getDefiningOp();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return visitStructured(structured, tensor, indices);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return visit(cast.getSource(), indices);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    Indices at;
    for (auto [dim, offset, stride] :
         llvm::enumerate(insert.getMixedOffsets(), insert.getMixedStrides())) {
      bool isSame =
          isConstantIntValue(offset, 0) && isConstantIntValue(stride, 1);
      if (!dropped.test(dim))
        at.push_back(isSame ? indices[dim] : kOther);
    }
    visit(insert.getSource(), at);
    return visit(insert.getDest(), indices);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    Indices at;
    unsigned next = 0;
    for (auto [dim, offset, stride] :
         llvm::enumerate(slice.getMixedOffsets(), slice.getMixedStrides())) {
      int i = dropped.test(dim) ? kOther : indices[next++];
      bool isSame =
          isConstantIntValue(offset, 0) && isConstantIntValue(stride, 1);
      at.push_back(isSame ? i : kOther);
    }
    return visit(slice.getSource(), at);
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    Indices at;
    for (const ReassociationIndices &group : expand.getReassociationIndices())
      at.push_back(group.size() == 1 ? indices[group.front()] : kOther);
    return visit(expand.getSrc(), at);
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    Indices at;
    auto groups = collapse.getReassociationIndices();
    for (auto [group, i] : llvm::zip_equal(groups, indices))
      at.insert(at.end(), group.size(), group.size() == 1 ? i : kOther);
    return visit(collapse.getSrc(), at);
  }
  visitAll(op);
}

/// The loop of a reduction that runs along neighbours in an input, if one does.
static std::optional<unsigned> getInnerLoop(linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() == 0)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
    if (dim && op.getIteratorTypesArray()[dim.getPosition()] ==
                   utils::IteratorType::reduction)
      return dim.getPosition();
  }
  return std::nullopt;
}

static SmallVector<RowReduction> getWanted(func::FuncOp kernel,
                                           const Demands &demands) {
  SmallVector<RowReduction> reductions;
  for (auto op : kernel.getBody().front().getOps<linalg::LinalgOp>()) {
    if (op->getNumResults() != 1 || !demands.isWantedPerRow(op))
      continue;
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    std::optional<unsigned> inner = getInnerLoop(op);
    SmallVector<Operation *> combiners;
    // Threads start from the neutral element, which the combiner must have.
    bool isReduction =
        matchReduction(op.getRegionOutputArgs(), 0, combiners) != nullptr &&
        combiners.size() == 1 &&
        arith::getNeutralElement(combiners.front()).has_value();
    if (inner && isReduction && map.isProjectedPermutation())
      reductions.push_back(
          {op, combiners.front(), *inner, map.getNumResults()});
  }
  return reductions;
}

SmallVector<RowReduction> gist::getRowReductions(func::FuncOp kernel) {
  Demands demands;
  for (unsigned number = 0; number < kernel.getNumResults(); ++number)
    demands.add(getWrittenTensor(kernel, number));
  return getWanted(kernel, demands);
}

SmallVector<RowReduction> gist::getRowReductions(func::FuncOp kernel,
                                                 Value rows) {
  Demands demands;
  demands.add(rows);
  return getWanted(kernel, demands);
}

unsigned gist::getRowRank(func::FuncOp kernel,
                          ArrayRef<RowReduction> reductions) {
  unsigned rank = 0;
  for (const RowReduction &reduction : reductions)
    rank = std::max(rank, reduction.rank);
  if (!reductions.empty())
    return rank;
  // Without reductions any dimension works; this takes the first.
  auto type = cast<RankedTensorType>(getWrittenTensor(kernel, 0).getType());
  return type.getRank() > 1 ? 1 : 0;
}

namespace {
/// A size: a constant, a number of the kernel, or a size of a tensor.
struct Size {
  int64_t constant = ShapedType::kDynamic;
  Value value;
  int64_t dim = 0;

  bool operator==(const Size &other) const {
    return constant == other.constant && value == other.value &&
           dim == other.dim;
  }
};
} // namespace

/// What decides the size of a dimension, found by walking towards arguments.
static Size getOrigin(Value tensor, int64_t dim) {
  int64_t constant = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(constant))
    return {constant, {}, 0};
  Operation *op = tensor.getDefiningOp();
  auto getGroup = [&](ArrayRef<ReassociationIndices> groups, bool isInside) {
    for (auto [i, group] : llvm::enumerate(groups))
      if (group.size() == 1 &&
          dim == (isInside ? group[0] : static_cast<int64_t>(i)))
        return isInside ? static_cast<int64_t>(i) : group[0];
    return int64_t(-1);
  };
  if (auto structured = dyn_cast_or_null<linalg::LinalgOp>(op)) {
    OpOperand *init =
        structured.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber());
    AffineExpr loop = structured.getMatchingIndexingMap(init).getResult(dim);
    for (OpOperand *input : structured.getDpsInputOperands()) {
      AffineMap map = structured.getMatchingIndexingMap(input);
      for (auto [i, expr] : llvm::enumerate(map.getResults()))
        if (expr == loop)
          return getOrigin(input->get(), static_cast<int64_t>(i));
    }
    return getOrigin(init->get(), dim);
  }
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return getOrigin(cast.getSource(), dim);
  if (auto blocks = dyn_cast_or_null<DequantizeOp>(op))
    return getOrigin(blocks.getBlocks(), dim);
  if (auto blocks = dyn_cast_or_null<QuantizeBlocksOp>(op))
    return getOrigin(blocks.getInput(), dim);
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return {ShapedType::kDynamic, empty.getDynamicSize(dim), -1};
  if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    return getOrigin(insert.getDest(), dim);
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op);
      slice && slice.getDroppedDims().none())
    return {ShapedType::kDynamic, cast<Value>(slice.getMixedSizes()[dim]), -1};
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op))
    if (int64_t from = getGroup(collapse.getReassociationIndices(), false);
        from >= 0)
      return getOrigin(collapse.getSrc(), from);
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    if (int64_t from = getGroup(expand.getReassociationIndices(), true);
        from >= 0)
      return getOrigin(expand.getSrc(), from);
  return {ShapedType::kDynamic, tensor, dim};
}

bool gist::haveSameRows(func::FuncOp kernel, unsigned rowRank) {
  Value first = getWrittenTensor(kernel, 0);
  for (unsigned i = 1; i < kernel.getNumResults(); ++i) {
    Value other = getWrittenTensor(kernel, i);
    if (cast<RankedTensorType>(other.getType()).getRank() < rowRank)
      return false;
    for (unsigned dim = 0; dim < rowRank; ++dim)
      if (!(getOrigin(first, dim) == getOrigin(other, dim)))
        return false;
  }
  return true;
}
