//===- RaiseAttention.cpp - Attention in linalg becomes an op -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds softmax(scale * q k^T + mask) v as torch-mlir decomposes it, and as
// StableHLO is lowered to linalg. The search begins at the second product and
// goes back to the first.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "passes/Import/CausalMask.h"
#include "passes/Import/Torch/SizeValues.h"
#include "passes/Import/TraceViews.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace gist {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// True if the last two dimensions stay as they are: the others are heads.
static bool keepsRows(ArrayRef<ReassociationIndices> groups) {
  return groups.size() >= 2 && groups.back().size() == 1 &&
         groups[groups.size() - 2].size() == 1;
}

/// What `value` is a view of, where heads are counted in one dimension or more.
static Value lookThrough(Value value) {
  while (true) {
    if (auto op = value.getDefiningOp<tensor::CollapseShapeOp>();
        op && keepsRows(op.getReassociationIndices()))
      value = op.getSrc();
    else if (auto op = value.getDefiningOp<tensor::ExpandShapeOp>();
             op && keepsRows(op.getReassociationIndices()))
      value = op.getSrc();
    else
      return value;
  }
}

static bool isFilled(Value value, llvm::function_ref<bool(APFloat)> isRight) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  FloatAttr number;
  return fill && matchPattern(fill.value(), m_Constant(&number)) &&
         isRight(number.getValue());
}

static bool isZero(APFloat number) { return number.isZero(); }

static bool isMinusInfinity(APFloat number) {
  return number.isInfinity() && number.isNegative();
}

/// A product that does not accumulate.
static bool isPlain(linalg::BatchMatmulOp op) {
  // An op with maps of its own may transpose or broadcast its operands.
  return op && !op.hasUserDefinedMaps() && isFilled(op.getOutputs()[0], isZero);
}

/// The generic that computes `value` element by element; or null.
static linalg::GenericOp getElementwise(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return nullptr;
  return op;
}

/// What the body of `op` yields, as an op of one kind.
template <typename OpT> static OpT getYielded(linalg::GenericOp op) {
  return op.getBody()->getTerminator()->getOperand(0).getDefiningOp<OpT>();
}

/// The input that `scalar` is an element of, or null.
static OpOperand *getInput(linalg::GenericOp op, Value scalar) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (!argument || argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return nullptr;
  return op.getDpsInputOperand(argument.getArgNumber());
}

namespace {
/// A tensor that the body of a generic reads, and where in it.
struct Read {
  Value tensor;
  AffineMap map; ///< from the loops of the generic
};
} // namespace

/// What `scalar` is read from. Where a tensor was repeated before, it is the
/// tensor itself, as StableHLO broadcasts everything first.
static std::optional<Read> getRead(linalg::GenericOp op, Value scalar) {
  OpOperand *input = getInput(op, scalar);
  if (!input)
    return std::nullopt;
  Read read = {input->get(), op.getMatchingIndexingMap(input)};
  while (linalg::GenericOp repeat = getElementwise(read.tensor)) {
    if (repeat.getNumDpsInputs() != 1 ||
        repeat.getBody()->getTerminator()->getOperand(0) !=
            repeat.getBody()->getArgument(0))
      break;
    OpOperand *source = repeat.getDpsInputOperand(0);
    read.map = repeat.getMatchingIndexingMap(source).compose(read.map);
    read.tensor = source->get();
  }
  return read;
}

/// The input that `scalar` reads element by element, or null.
static Value getWholeInput(linalg::GenericOp op, Value scalar) {
  std::optional<Read> read = getRead(op, scalar);
  return read && read->map.isIdentity() ? read->tensor : nullptr;
}

/// True for (a, b, c) -> (a, b) and (a, b, c) -> (a, b, 0): a number for a row.
static bool isRowMap(AffineMap map) {
  unsigned rows = map.getNumDims() - 1;
  if (map.getNumResults() != rows && map.getNumResults() != rows + 1)
    return false;
  for (unsigned i = 0; i < rows; ++i)
    if (map.getResult(i) != getAffineDimExpr(i, map.getContext()))
      return false;
  return map.getNumResults() == rows ||
         map.getResult(rows) == getAffineConstantExpr(0, map.getContext());
}

/// The input that has a number for each row.
static Value getRowInput(linalg::GenericOp op, Value scalar) {
  std::optional<Read> read = getRead(op, scalar);
  return read && isRowMap(read->map) ? read->tensor : nullptr;
}

/// True if `value` is the reduction of the rows of `source` by one of OpTs.
template <typename... OpTs>
static bool isReductionOf(Value value, Value source,
                          llvm::function_ref<bool(APFloat)> isStart) {
  // A dimension of one element may be added to the result.
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>())
    if (expand.getResultType().getShape().back() == 1 &&
        expand.getSrcType().getRank() + 1 == expand.getResultType().getRank())
      value = expand.getSrc();
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumReductionLoops() != 1 ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction ||
      op.getDpsInputOperand(0)->get() != source ||
      !op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity())
    return false;
  unsigned number = cast<OpResult>(value).getResultNumber();
  // A maximum may come with its index, as the other result of one op.
  OpOperand *start = op.getDpsInitOperand(number);
  if (!isRowMap(op.getMatchingIndexingMap(start)) ||
      !isFilled(start->get(), isStart))
    return false;
  Operation *step =
      op.getBody()->getTerminator()->getOperand(number).getDefiningOp();
  if (!step || !isa<OpTs...>(step))
    return false;
  Value in = op.getBody()->getArgument(0);
  Value sum = op.getBody()->getArgument(1 + number);
  return (step->getOperand(0) == in && step->getOperand(1) == sum) ||
         (step->getOperand(0) == sum && step->getOperand(1) == in);
}

/// The number that all elements of a tensor are, also where it was repeated.
static std::optional<double> getOnlyNumber(Value tensor) {
  DenseFPElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<APFloat>().convertToDouble();
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    FloatAttr number;
    if (matchPattern(fill.value(), m_Constant(&number)))
      return number.getValueAsDouble();
    return std::nullopt;
  }
  linalg::GenericOp op = getElementwise(tensor);
  if (!op)
    return std::nullopt;
  Value yielded = op.getBody()->getTerminator()->getOperand(0);
  FloatAttr number;
  if (matchPattern(yielded, m_Constant(&number)))
    return number.getValueAsDouble();
  if (op.getNumDpsInputs() != 1 || yielded != op.getBody()->getArgument(0))
    return std::nullopt;
  return getOnlyNumber(op.getDpsInputOperand(0)->get());
}

/// A number that the body of `op` has as a constant, perhaps rounded, or reads
/// from a tensor of one number.
static std::optional<double> getNumber(linalg::GenericOp op, Value scalar) {
  if (auto round = scalar.getDefiningOp<arith::TruncFOp>())
    scalar = round.getIn();
  FloatAttr number;
  if (matchPattern(scalar, m_Constant(&number)))
    return number.getValueAsDouble();
  OpOperand *input = getInput(op, scalar);
  return input ? getOnlyNumber(input->get()) : std::nullopt;
}

/// What `rows` are, where they are the larger of it and -infinity.
static Value lookThroughStart(Value rows) {
  linalg::GenericOp op = getElementwise(rows);
  auto max = op ? getYielded<arith::MaximumFOp>(op) : nullptr;
  if (!max)
    return rows;
  for (auto [start, other] : {std::pair(max.getLhs(), max.getRhs()),
                              std::pair(max.getRhs(), max.getLhs())})
    if (std::optional<double> number = getNumber(op, start);
        number && std::isinf(*number) && *number < 0)
      if (Value input = getWholeInput(op, other))
        return input;
  return rows;
}

/// The input of the softmax along rows that `value` is, or null.
static Value findSoftmaxInput(Value value) {
  linalg::GenericOp quotient = getElementwise(value);
  auto div = quotient ? getYielded<arith::DivFOp>(quotient) : nullptr;
  if (!div)
    return nullptr;
  Value powers = getWholeInput(quotient, div.getLhs());
  Value sums = getRowInput(quotient, div.getRhs());
  linalg::GenericOp power = powers ? getElementwise(powers) : nullptr;
  auto exp = power ? getYielded<math::ExpOp>(power) : nullptr;
  if (!exp || !sums || !isReductionOf<arith::AddFOp>(sums, powers, isZero))
    return nullptr;
  Value shifted = getWholeInput(power, exp.getOperand());
  linalg::GenericOp shift = shifted ? getElementwise(shifted) : nullptr;
  auto sub = shift ? getYielded<arith::SubFOp>(shift) : nullptr;
  if (!sub)
    return nullptr;
  Value scores = getWholeInput(shift, sub.getLhs());
  Value largest = getRowInput(shift, sub.getRhs());
  if (!scores || !largest ||
      !isReductionOf<arith::MaximumFOp, arith::MaxNumFOp>(
          lookThroughStart(largest), scores, isMinusInfinity))
    return nullptr;
  return scores;
}

/// True if `rows` says of each row of `scores` whether all of it is -infinity.
static bool isAllHidden(Value rows, Value scores) {
  auto all = rows.getDefiningOp<linalg::GenericOp>();
  auto conjunction = all ? getYielded<arith::AndIOp>(all) : nullptr;
  if (!conjunction || all.getNumDpsInputs() != 1 ||
      all.getNumReductionLoops() != 1 ||
      !isRowMap(all.getMatchingIndexingMap(all.getDpsInitOperand(0))))
    return false;
  Value each = getWholeInput(all, conjunction.getLhs());
  if (!each)
    each = getWholeInput(all, conjunction.getRhs());
  auto fill = all.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  linalg::GenericOp test = each ? getElementwise(each) : nullptr;
  auto equal = test ? getYielded<arith::CmpFOp>(test) : nullptr;
  if (!fill || !matchPattern(fill.value(), m_One()) || !equal ||
      equal.getPredicate() != arith::CmpFPredicate::OEQ)
    return false;
  Value score = equal.getLhs();
  // The comparison may be in a wider type than the scores.
  if (auto wider = score.getDefiningOp<arith::ExtFOp>())
    score = wider.getIn();
  FloatAttr number;
  return getWholeInput(test, score) == scores &&
         matchPattern(equal.getRhs(), m_Constant(&number)) &&
         isMinusInfinity(number.getValue());
}

/// The same as findSoftmaxInput, also where rows without a visible key become
/// zero: what scaled_dot_product_attention does, and gist.attention.
static Value findScoresOfWeights(Value value) {
  linalg::GenericOp op = getElementwise(value);
  auto select = op ? getYielded<arith::SelectOp>(op) : nullptr;
  if (!select)
    return findSoftmaxInput(value);
  Value hidden = getRowInput(op, select.getCondition());
  Value softmax = getWholeInput(op, select.getFalseValue());
  std::optional<double> number = getNumber(op, select.getTrueValue());
  Value scores = softmax ? findSoftmaxInput(softmax) : nullptr;
  // The rows that become zero must be those without a visible key, of the same
  // scores. Anything else is not what gist.attention computes.
  if (!hidden || number != 0.0 || !scores || !isAllHidden(hidden, scores))
    return nullptr;
  return scores;
}

namespace {
/// Attention, as it is found going back from the softmax.
struct Scores {
  linalg::BatchMatmulOp product; ///< queries times keys
  double scale = 1;
  Value mask; ///< queries x keys; null: none
  /// For a mask of booleans: whether true keeps a score rather than drops it.
  bool keeps = false;
};
} // namespace

/// The input that has a number for each query and key, the same for all heads.
static Value getMaskInput(linalg::GenericOp op, Value scalar) {
  std::optional<Read> read = getRead(op, scalar);
  if (!read)
    return nullptr;
  AffineMap map = read->map;
  unsigned rank = map.getNumDims();
  if (map.getNumResults() != 2 || rank < 3 ||
      map.getResult(0) != getAffineDimExpr(rank - 2, map.getContext()) ||
      map.getResult(1) != getAffineDimExpr(rank - 1, map.getContext()))
    return nullptr;
  return read->tensor;
}

/// Takes one step back from masked scores; null: this is not a mask.
static Value stepOverMask(linalg::GenericOp op, Scores &found) {
  if (auto add = getYielded<arith::AddFOp>(op)) {
    for (auto [whole, mask] : {std::pair(add.getLhs(), add.getRhs()),
                               std::pair(add.getRhs(), add.getLhs())})
      if (Value input = getWholeInput(op, whole))
        if ((found.mask = getMaskInput(op, mask)))
          return input;
    return nullptr;
  }
  auto select = getYielded<arith::SelectOp>(op);
  if (!select || !(found.mask = getMaskInput(op, select.getCondition())))
    return nullptr;
  found.keeps = getWholeInput(op, select.getTrueValue()) != nullptr;
  Value kept = found.keeps ? select.getTrueValue() : select.getFalseValue();
  Value hidden = found.keeps ? select.getFalseValue() : select.getTrueValue();
  std::optional<double> number = getNumber(op, hidden);
  if (!number || !std::isinf(*number) || *number > 0)
    return nullptr;
  return getWholeInput(op, kept);
}

/// Takes one step back from scaled scores; null: this is not a scale.
static Value stepOverScale(linalg::GenericOp op, Scores &found) {
  if (auto mul = getYielded<arith::MulFOp>(op)) {
    for (auto [whole, factor] : {std::pair(mul.getLhs(), mul.getRhs()),
                                 std::pair(mul.getRhs(), mul.getLhs())})
      if (std::optional<double> number = getNumber(op, factor))
        if (Value input = getWholeInput(op, whole)) {
          found.scale *= *number;
          return input;
        }
    return nullptr;
  }
  auto div = getYielded<arith::DivFOp>(op);
  std::optional<double> number =
      div ? getNumber(op, div.getRhs()) : std::nullopt;
  if (!number)
    return nullptr;
  found.scale /= *number;
  return getWholeInput(op, div.getLhs());
}

/// Goes back from the softmax to the product of queries and keys.
static LogicalResult findScores(Value value, Scores &found) {
  while (true) {
    value = lookThrough(value);
    if (auto product = value.getDefiningOp<linalg::BatchMatmulOp>()) {
      found.product = product;
      return success(isPlain(product));
    }
    linalg::GenericOp op = getElementwise(value);
    if (!op)
      return failure();
    bool isScaled = found.scale != 1;
    Value before = stepOverScale(op, found);
    // Scores that are scaled after masking, or masked twice, do not match.
    if (!before && !isScaled && !found.mask)
      before = stepOverMask(op, found);
    if (!before)
      return failure();
    value = before;
  }
}

/// Scores to add, where `mask` says with booleans which are kept or dropped.
static Value createScores(OpBuilder &b, Location location, Value mask,
                          bool keeps) {
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(
        b, location, b.getF32FloatAttr(static_cast<float>(value)));
  };
  Value zero = number(0), hidden = number(-INFINITY);
  Value empty = tensor::EmptyOp::create(
      b, location, tensor::getMixedSizes(b, location, mask), b.getF32Type());
  AffineMap map = b.getMultiDimIdentityMap(2);
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, location, empty.getType(), mask, empty,
             ArrayRef<AffineMap>{map, map}, loops,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               Value chosen = arith::SelectOp::create(inner, at, arguments[0],
                                                      keeps ? zero : hidden,
                                                      keeps ? hidden : zero);
               linalg::YieldOp::create(inner, at, chosen);
             })
      .getResult(0);
}

/// True if the mask hides the keys after the query and nothing else. Queries
/// are the last of the keys where `causal`, so there must be as many.
static bool isCausal(const Scores &found) {
  SizeValues values;
  std::optional<Size> queries = values.getSize(found.mask, 0);
  if (!queries || queries != values.getSize(found.mask, 1))
    return false;
  switch (findMaskMeaning(found.mask)) {
  case MaskMeaning::Unknown:
    return false;
  case MaskMeaning::UpToQuery:
    return found.keeps;
  case MaskMeaning::AfterQuery:
    return !found.keeps;
  case MaskMeaning::CausalScores:
    return true;
  }
  return false;
}

namespace {
struct RaiseAttention final : OpRewritePattern<linalg::BatchMatmulOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(linalg::BatchMatmulOp op,
                                PatternRewriter &rewriter) const override {
    if (!isPlain(op))
      return rewriter.notifyMatchFailure(op, "the product accumulates");
    auto type = cast<RankedTensorType>(op.getResultTypes()[0]);
    if (!type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "the elements are not f32");
    Value softmax = findScoresOfWeights(lookThrough(op.getInputs()[0]));
    if (!softmax)
      return rewriter.notifyMatchFailure(op, "its left side is not a softmax");
    Scores found;
    if (failed(findScores(softmax, found)))
      return rewriter.notifyMatchFailure(op, "the scores are not a product");
    auto scores = cast<RankedTensorType>(found.product.getResultTypes()[0]);
    if (!scores.getElementType().isF32() ||
        scores.getDimSize(0) != type.getDimSize(0))
      return rewriter.notifyMatchFailure(op, "the products differ in heads");

    // Tokens, heads and width of what the products read.
    HeadSource q = findHeadSource(found.product.getInputs()[0], {1, 0, 2});
    HeadSource k = findHeadSource(found.product.getInputs()[1], {2, 0, 1});
    HeadSource v = findHeadSource(op.getInputs()[1], {1, 0, 2});
    // Queries are not repeated, and values not scaled: the op cannot express
    // it. Groups of keys and values are one number.
    if (q.group != 1)
      q = {found.product.getInputs()[0], 1, 0, 2};
    if (v.factor != 1 || k.group != v.group) {
      k = {found.product.getInputs()[1], 2, 0, 1};
      v = {op.getInputs()[1], 1, 0, 2};
    }
    auto scale = static_cast<float>(found.scale * q.factor * k.factor);
    if (!std::isfinite(scale) || scale <= 0)
      return rewriter.notifyMatchFailure(op, "the scale is not positive");

    Location location = op.getLoc();
    bool causal = found.mask && isCausal(found);
    Value mask = causal ? Value() : found.mask;
    if (mask && getElementTypeOrSelf(mask).isInteger(1))
      mask = createScores(rewriter, location, mask, found.keeps);
    Value result = AttentionOp::create(
        rewriter, location, createHeads(rewriter, location, q),
        createHeads(rewriter, location, k), createHeads(rewriter, location, v),
        mask, /*offsets=*/Value(), /*key_offsets=*/Value(), causal,
        rewriter.getF32FloatAttr(scale), /*window=*/IntegerAttr(),
        /*sinks=*/IntegerAttr());
    rewriter.replaceOp(op,
                       createTranspose(rewriter, location, result, {1, 0, 2}));
    return success();
  }
};

struct RaiseAttentionPass final
    : gist::impl::RaiseAttentionPassBase<RaiseAttentionPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseAttention>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
