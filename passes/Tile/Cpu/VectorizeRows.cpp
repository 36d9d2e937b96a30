//===- VectorizeRows.cpp - Structured ops as loops over vectors -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise ops and reductions along the last loop. The last loop runs over
// vectors, then over what is left one by one; a reduction keeps partial results
// in the lanes of a vector until its end. What does not fit stays a structured
// op and becomes scalar loops.
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Tile/Cpu/LowerTiles.h"
#include "passes/Tile/Cpu/TileBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

/// Vectors of one statement; more hide the latency of the arithmetic.
static constexpr int64_t kUnroll = 4;

namespace {
class RowLoops {
public:
  RowLoops(TileBuilder &b, linalg::LinalgOp op, int64_t lanes)
      : b(b), op(op), lanes(lanes), last(op.getNumLoops() - 1),
        isReduction(op.getIteratorTypesArray().back() ==
                    utils::IteratorType::reduction) {}

  /// Why the op cannot be vectorised, or nothing.
  std::optional<StringRef> refuse();
  Values emit();

private:
  Values emitNest(unsigned loop, Values indices, ValueRange carried);
  Values emitLastLoop(const Values &indices, ValueRange carried);
  Values emitElementwise(Values indices, Value lower, Value upper,
                         int64_t width, ValueRange carried);
  Values emitReduction(Values indices, Value lower, Value upper, int64_t width,
                       ValueRange scalars);
  Values emitBody(const Values &indices, Value at, int64_t width,
                  ValueRange outputs);
  Value readOperand(OpOperand &operand, const Values &indices, Value at,
                    int64_t width);
  Values getIndices(AffineMap map, const Values &indices, Value at);

  TileBuilder &b;
  linalg::LinalgOp op;
  int64_t lanes;
  unsigned last;
  bool isReduction;
  Value upper;
  SmallVector<vector::CombiningKind> kinds; ///< of a reduction's outputs
  SmallVector<TypedAttr> neutral;
};
} // namespace

/// True if `map` walks memory with the last loop, or does not depend on it.
static bool isContiguous(AffineMap map, unsigned last) {
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    if (!result.isFunctionOfDim(last))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || i + 1 != map.getNumResults())
      return false;
  }
  return true;
}

static std::optional<vector::CombiningKind> getKind(Operation *combiner) {
  using Kind = vector::CombiningKind;
  return llvm::TypeSwitch<Operation *, std::optional<Kind>>(combiner)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Kind::ADD; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Kind::MUL; })
      .Case<arith::MaximumFOp>([](auto) { return Kind::MAXIMUMF; })
      .Case<arith::MaxNumFOp>([](auto) { return Kind::MAXNUMF; })
      .Case<arith::MinimumFOp>([](auto) { return Kind::MINIMUMF; })
      .Case<arith::MinNumFOp>([](auto) { return Kind::MINNUMF; })
      .Default([](auto) { return std::nullopt; });
}

/// True if neighbours along the last dimension of `value`, read or written, are
/// neighbours in memory.
static bool isDense(Value value) {
  auto hasUnitStride = [](auto slice) {
    return isConstantIntValue(slice.getMixedStrides().back(), 1);
  };
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    return hasUnitStride(slice);
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(user);
    return !insert || insert.getSource() != value || hasUnitStride(insert);
  });
}

std::optional<StringRef> RowLoops::refuse() {
  if (op.getNumReductionLoops() > (isReduction ? 1u : 0u))
    return "reduces along more than the last loop";
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        !isContiguous(map, last))
      return "does not walk memory with its last loop";
    if (!isDense(operand.get()))
      return "reads with a stride";
  }
  if (!llvm::all_of(op->getResults(), isDense))
    return "writes with a stride";
  for (Operation &inner : op.getBlock()->without_terminator())
    if (!isa<linalg::IndexOp>(inner) &&
        !inner.hasTrait<OpTrait::ConstantLike>() &&
        !OpTrait::hasElementwiseMappableTraits(&inner))
      return "has a body that is not elementwise";
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(i));
    // Elementwise, each step of the last loop writes another element; in a
    // reduction all write the same one.
    if (map.isFunctionOfDim(last) == isReduction)
      return "writes one element many times";
    if (!isReduction)
      continue;
    SmallVector<Operation *> combiners;
    Value reduced = matchReduction(op.getRegionOutputArgs(), i, combiners);
    if (!reduced || combiners.size() != 1 || !getKind(combiners[0]))
      return "has a reduction of an unknown kind";
    kinds.push_back(*getKind(combiners[0]));
    neutral.push_back(*arith::getNeutralElement(combiners[0]));
  }
  return std::nullopt;
}

Values RowLoops::getIndices(AffineMap map, const Values &indices, Value at) {
  Values result;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    result.push_back(!dim                        ? b.index(0)
                     : dim.getPosition() == last ? at
                                                 : indices[dim.getPosition()]);
  }
  return result;
}

/// What the body sees of an operand: a vector of `width`.
Value RowLoops::readOperand(OpOperand &operand, const Values &indices, Value at,
                            int64_t width) {
  Value value = operand.get();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return b.broadcast(value, width);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Values where = getIndices(map, indices, at);
  if (!map.isFunctionOfDim(last))
    return b.broadcast(b.readScalar(value, where), width);
  return b.read(value, where, b.vectorOf(width, type.getElementType()));
}

/// The values that the body yields for the lanes [at, at + width).
Values RowLoops::emitBody(const Values &indices, Value at, int64_t width,
                          ValueRange outputs) {
  IRMapping mapping;
  auto vectorize = [&](Value value) -> Value {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    return b.broadcast(value, width); // Captured from outside.
  };
  Block *block = op.getBlock();
  for (OpOperand *operand : op.getDpsInputOperands())
    mapping.map(op.getMatchingBlockArgument(operand),
                readOperand(*operand, indices, at, width));
  for (auto [argument, output] :
       llvm::zip_equal(op.getRegionOutputArgs(), outputs))
    mapping.map(argument, output);
  for (Operation &inner : block->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      bool isLast = index.getDim() == last;
      Value base = b.broadcast(isLast ? at : indices[index.getDim()], width);
      if (isLast)
        base = arith::AddIOp::create(
            b, base,
            vector::StepOp::create(b, b.vectorOf(width, b.getIndexType())));
      mapping.map(index.getResult(), base);
      continue;
    }
    if (inner.hasTrait<OpTrait::ConstantLike>()) {
      Value scalar = b.clone(inner)->getResult(0);
      mapping.map(inner.getResult(0), b.broadcast(scalar, width));
      continue;
    }
    OperationState state(b.getLoc(), inner.getName());
    for (Value operand : inner.getOperands())
      state.operands.push_back(vectorize(operand));
    for (Type type : inner.getResultTypes())
      state.types.push_back(b.vectorOf(width, type));
    state.attributes = llvm::to_vector(inner.getDiscardableAttrs());
    state.propertiesAttr = inner.getPropertiesAsAttribute();
    Operation *copy = b.create(state);
    mapping.map(inner.getResults(), copy->getResults());
  }
  Values results;
  for (Value value : block->getTerminator()->getOperands())
    results.push_back(vectorize(value));
  return results;
}

Values RowLoops::emitElementwise(Values indices, Value lower, Value upper,
                                 int64_t width, ValueRange carried) {
  return b.loop(lower, upper, width, carried, [&](Value at, ValueRange inner) {
    Values outputs, result(inner);
    for (auto [i, tensor] : llvm::enumerate(inner)) {
      OpOperand *init = op.getDpsInitOperand(i);
      Value argument = op.getMatchingBlockArgument(init);
      AffineMap map = op.getMatchingIndexingMap(init);
      Type element = getElementTypeOrSelf(tensor.getType());
      // Most ops overwrite their destination without looking at it.
      outputs.push_back(argument.use_empty()
                            ? b.splat(width, element, 0)
                            : b.read(tensor, getIndices(map, indices, at),
                                     b.vectorOf(width, element)));
    }
    Values yielded = emitBody(indices, at, width, outputs);
    for (auto [i, value] : llvm::enumerate(yielded)) {
      AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(i));
      result[i] = b.write(value, result[i], getIndices(map, indices, at));
    }
    return result;
  });
}

/// Reduces [lower, upper) into `scalars`.
Values RowLoops::emitReduction(Values indices, Value lower, Value upper,
                               int64_t width, ValueRange scalars) {
  Values partial;
  // The initial value is added once, by the reduction at the end; lanes start
  // from what changes nothing.
  for (TypedAttr value : neutral)
    partial.push_back(b.broadcast(arith::ConstantOp::create(b, value), width));
  partial =
      b.loop(lower, upper, width, partial, [&](Value at, ValueRange inner) {
        return emitBody(indices, at, width, inner);
      });
  Values results;
  for (auto [value, scalar, kind] : llvm::zip_equal(partial, scalars, kinds))
    results.push_back(vector::ReductionOp::create(
        b, kind, value, scalar, arith::FastMathFlags::reassoc));
  return results;
}

Values RowLoops::emitLastLoop(const Values &indices, ValueRange carried) {
  int64_t width = lanes * kUnroll;
  std::optional<int64_t> known = getConstantIntValue(upper);
  // A narrower vector is taken only where it leaves no rest of scalars.
  while (known && width > lanes && *known % width != 0 &&
         *known % (width / 2) == 0)
    width /= 2;
  Value zero = b.index(0), whole = b.roundDown(upper, width);
  bool hasRest = !known || *known % width != 0;
  if (!isReduction) {
    Values result = emitElementwise(indices, zero, whole, width, carried);
    return hasRest ? emitElementwise(indices, whole, upper, 1, result) : result;
  }
  Values scalars, where, result(carried);
  SmallVector<Values> places;
  for (auto [i, tensor] : llvm::enumerate(carried)) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(i));
    places.push_back(getIndices(map, indices, zero));
    scalars.push_back(b.readScalar(tensor, places.back()));
  }
  scalars = emitReduction(indices, zero, whole, width, scalars);
  if (hasRest)
    scalars = emitReduction(indices, whole, upper, 1, scalars);
  for (auto [i, scalar] : llvm::enumerate(scalars))
    result[i] = b.writeScalar(scalar, result[i], places[i]);
  return result;
}

Values RowLoops::emitNest(unsigned loop, Values indices, ValueRange carried) {
  if (loop == last)
    return emitLastLoop(indices, carried);
  auto [tensor, dim] = [&] {
    Value value;
    unsigned where = 0;
    (void)op.mapIterationSpaceDimToOperandDim(loop, value, where);
    return std::pair(value, where);
  }();
  return b.loop(b.index(0), b.size(tensor, dim), 1, carried,
                [&](Value iv, ValueRange inner) {
                  Values next = indices;
                  next.push_back(iv);
                  return emitNest(loop + 1, next, inner);
                });
}

Values RowLoops::emit() {
  Value tensor;
  unsigned dim = 0;
  (void)op.mapIterationSpaceDimToOperandDim(last, tensor, dim);
  upper = b.size(tensor, dim);
  return emitNest(0, {}, op.getDpsInits());
}

LogicalResult gist::lowerRowwise(RewriterBase &rewriter, linalg::LinalgOp op) {
  if (op.getNumLoops() == 0)
    return rewriter.notifyMatchFailure(op, "has no loops");
  TileBuilder builder(op.getLoc(), rewriter);
  RowLoops loops(builder, op, getKernelTile(op).getLanes());
  if (std::optional<StringRef> reason = loops.refuse())
    return rewriter.notifyMatchFailure(op, *reason);
  rewriter.replaceOp(op, loops.emit());
  return success();
}
