//===- InsertSelections.cpp - The pass -gist-insert-selections ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"
#include "passes/Plan/FindLinears.h"
#include "passes/Plan/MadeWeights.h"
#include "passes/Plan/SelectionRows.h"

namespace gist {
#define GEN_PASS_DEF_INSERTSELECTIONSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
/// Gives one function its selections.
class Rewrite {
public:
  Rewrite(func::FuncOp function, PlanOp plan, ArrayRef<PlannedAttention> layers)
      : function(function), plan(plan), layers(layers),
        b(function.getLoc(), function.getContext()) {}

  LogicalResult run() {
    FailureOr<SmallVector<AttentionOp>> found = findLayers(function, layers);
    if (failed(found))
      return failure();
    for (auto [number, op] : llvm::enumerate(*found))
      if (layers[number].selection &&
          failed(insert(op, number, layers[number].selection)))
        return failure();
    if (!selections.empty())
      keepStatistics(found->size());
    return success();
  }

private:
  /// A selection, and what it changed against the one before.
  struct Inserted {
    int64_t layer;
    Value selection, removed, added;
  };

  LogicalResult insert(AttentionOp op, int64_t layer, PlanSelectOp choice);
  Value findRows(AttentionOp op, SelectOn on);
  /// Rows in a subspace, and the norms of what is outside of it.
  struct Subspace {
    Value coefficients, residuals;
  };
  LogicalResult insertSubspace(AttentionOp op, int64_t layer, Value rows,
                               int64_t k, Subspace &subspace);
  void countChanges(Inserted &now, Value before);
  void keepStatistics(int64_t layers);
  void trace(int64_t layer, Value rows, Value selection);

  func::FuncOp function;
  PlanOp plan;
  ArrayRef<PlannedAttention> layers;
  ImplicitLocOpBuilder b;
  // In the order of layers: the next one may inherit from the last.
  SmallVector<Inserted> selections;
};
} // namespace

Value Rewrite::findRows(AttentionOp op, SelectOn on) {
  if (Value rows = findSelectionRows(op, on))
    return rows;
  // Says what is missing: the rows themselves, or something they depend on.
  if (on == SelectOn::Keys)
    op.emitOpError("has keys that are part of larger rows, which selections "
                   "on keys do not read yet");
  else if (!findSelectionRows(op, SelectOn::Normalised))
    op.emitOpError(
        "has queries that are not projected from one tensor of rows");
  else
    op.emitOpError(
        "has no residual stream: nothing that its queries are computed "
        "from is added to its result");
  return {};
}

/// g = V^T x and rho = |x - V g|. V is orthonormal, so rho^2 = |x|^2 - |g|^2:
/// half the work of the residual itself. The difference is off by the rounding
/// of both sums, relative to |x|^2, which is added: a bound may be too large.
LogicalResult Rewrite::insertSubspace(AttentionOp op, int64_t layer, Value rows,
                                      int64_t k, Subspace &subspace) {
  auto type = cast<RankedTensorType>(rows.getType());
  int64_t d = type.getDimSize(1);
  if (k > d)
    return op.emitOpError("is layer ")
           << layer << ": k is " << k << ", but the rows have " << d
           << " numbers";
  Value v = createBasisWeight(b, ("plan." + Twine(layer) + ".basis").str(),
                              layer, basisName(layer, LinearGroup::Qkv),
                              plan.getBases().value_or(""), k, d);
  subspace.coefficients = createLinear(b, rows, v);
  AffineExpr t, i;
  bindDims(b.getContext(), t, i);
  SmallVector<AffineMap> maps = {b.getMultiDimIdentityMap(2),
                                 AffineMap::get(2, 0, t)};
  SmallVector<utils::IteratorType> loops = {utils::IteratorType::parallel,
                                            utils::IteratorType::reduction};
  auto norms = RankedTensorType::get({type.getDimSize(0)}, b.getF32Type());
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(b, b.getLoc(), rows, 0)};
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  auto sumSquares = [&](Value of) -> Value {
    Value empty = tensor::EmptyOp::create(b, sizes, b.getF32Type());
    Value init = linalg::FillOp::create(b, zero, empty).getResult(0);
    return linalg::GenericOp::create(
               b, norms, of, init, maps, loops,
               [](OpBuilder &nested, Location at, ValueRange values) {
                 ImplicitLocOpBuilder inner(at, nested);
                 Value square =
                     arith::MulFOp::create(inner, values[0], values[0]);
                 linalg::YieldOp::create(
                     inner, arith::AddFOp::create(inner, values[1], square)
                                .getResult());
               })
        .getResult(0);
  };
  Value whole = sumSquares(rows), inside = sumSquares(subspace.coefficients);
  // Sums of d products, each half a unit off; those of g are of such sums.
  // 2^-24 is the relative error of one rounding to f32.
  auto slack = static_cast<float>(static_cast<double>(2 * d) * 0x1p-24);
  Value empty = tensor::EmptyOp::create(b, sizes, b.getF32Type());
  SmallVector<AffineMap> same(3, b.getMultiDimIdentityMap(1));
  subspace.residuals =
      linalg::GenericOp::create(
          b, norms, ValueRange{whole, inside}, empty, same,
          ArrayRef(utils::IteratorType::parallel),
          [&](OpBuilder &nested, Location at, ValueRange values) {
            ImplicitLocOpBuilder inner(at, nested);
            Value none = arith::ConstantOp::create(inner, b.getF32FloatAttr(0));
            Value part =
                arith::ConstantOp::create(inner, b.getF32FloatAttr(slack));
            Value left = arith::MaximumFOp::create(
                inner, arith::SubFOp::create(inner, values[0], values[1]),
                none);
            Value more = arith::MulFOp::create(inner, values[0], part);
            Value square = arith::AddFOp::create(inner, left, more);
            linalg::YieldOp::create(
                inner, math::SqrtOp::create(inner, square).getResult());
          })
          .getResult(0);
  return success();
}

LogicalResult Rewrite::insert(AttentionOp op, int64_t layer,
                              PlanSelectOp choice) {
  // One tau is for all heads.
  int64_t kvHeads = op.getKey().getType().getDimSize(1);
  auto numTaus = static_cast<int64_t>(choice.getTaus().size());
  if (numTaus > 1 && numTaus != kvHeads)
    return op.emitOpError("is layer ")
           << layer << " with " << kvHeads << " KV heads, but the plan has "
           << numTaus << " taus";
  Value rows = findRows(op, choice.getOn());
  if (!rows)
    return failure();
  // A rule derives a selection from the one before.
  if (choice.getRule() && selections.empty())
    return op.emitOpError("is layer ")
           << layer << ", but no layer before it has a selection to inherit";
  // Right before the attention, which is where -gist-attend-on-representatives
  // looks for it.
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  Value taus;
  FloatAttr tau;
  if (numTaus == 1) {
    tau = b.getF32FloatAttr(static_cast<float>(choice.getTaus().front()));
  } else {
    std::vector<float> numbers(choice.getTaus().begin(),
                               choice.getTaus().end());
    taus = createConstantWeight(b, ("plan." + Twine(layer) + ".taus").str(),
                                layer, numbers);
  }

  Subspace subspace;
  if (choice.getK() &&
      failed(insertSubspace(op, layer, rows, *choice.getK(), subspace)))
    return failure();

  Inserted made = {layer, {}, {}, {}};
  if (choice.getRule()) {
    Value before = selections.back().selection;
    SelectionType expected =
        SelectionType::forTokens(cast<RankedTensorType>(rows.getType()));
    if (before.getType() != expected)
      return op.emitOpError("is layer ")
             << layer << ", whose selection has the type " << expected
             << " and cannot continue one of type " << before.getType();
    // The published rule also compares with later tokens (dialect/README.md).
    bool isCausal = op.getCausal() && *choice.getRule() != CascadeRule::Paper;
    auto update = CascadeUpdateOp::create(
        b, rows, before, tau, taus, *choice.getRule(), choice.getSimilarity(),
        isCausal, subspace.coefficients, subspace.residuals,
        /*offsets=*/Value());
    made.selection = update.getSelection();
    made.removed = update.getRemoved();
    made.added = update.getAdded();
  } else {
    made.selection = GramSelectOp::create(
        b, rows, tau, taus, choice.getAgainst(), choice.getSimilarity(),
        op.getCausal(), subspace.coefficients, subspace.residuals,
        /*offsets=*/Value());
    if (!selections.empty() &&
        selections.back().selection.getType() == made.selection.getType())
      // An update counts for itself; a fresh selection does not know the one
      // before. Only selections of one shape can be compared.
      countChanges(made, selections.back().selection);
  }
  made.selection.getDefiningOp()->setAttr(kLayerAttr,
                                          b.getI64IntegerAttr(layer));
  selections.push_back(made);
  // One that is passed on has been returned.
  if (plan.getTrace() && choice.getRule() != CascadeRule::Inherit)
    trace(layer, rows, made.selection);
  return success();
}

/// Counts representatives that only one of two selections has: a token is one
/// where it is its own nearest.
void Rewrite::countChanges(Inserted &now, Value before) {
  auto type = cast<SelectionType>(before.getType());
  Value older = UnpackSelectionOp::create(b, before).getNearest();
  Value newer = UnpackSelectionOp::create(b, now.selection).getNearest();
  bool hasHeads = type.getHeads().has_value();
  unsigned rank = hasHeads ? 2 : 1;
  AffineMap part = b.getMultiDimIdentityMap(rank);
  AffineMap count =
      AffineMap::get(rank, 0,
                     hasHeads ? ArrayRef<AffineExpr>{b.getAffineDimExpr(0)}
                              : ArrayRef<AffineExpr>{},
                     b.getContext());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.back() = utils::IteratorType::reduction;
  auto counts = RankedTensorType::get(type.getCountShape(), b.getI32Type());
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  auto countIn = [&](Value set, Value without) -> Value {
    Value empty = tensor::EmptyOp::create(b, counts.getShape(), b.getI32Type());
    Value init = linalg::FillOp::create(b, zero, empty).getResult(0);
    return linalg::GenericOp::create(
               b, counts, ValueRange{set, without}, init,
               ArrayRef<AffineMap>{part, part, count}, loops,
               [&](OpBuilder &nested, Location location, ValueRange values) {
                 ImplicitLocOpBuilder inner(location, nested);
                 Value token = arith::IndexCastOp::create(
                     inner, inner.getI32Type(),
                     linalg::IndexOp::create(inner, rank - 1));
                 auto isIn = [&](Value nearest, arith::CmpIPredicate how) {
                   return arith::CmpIOp::create(inner, how, nearest, token);
                 };
                 Value isOnlyHere = arith::AndIOp::create(
                     inner, isIn(values[0], arith::CmpIPredicate::eq),
                     isIn(values[1], arith::CmpIPredicate::ne));
                 Value one = arith::ExtUIOp::create(inner, inner.getI32Type(),
                                                    isOnlyHere);
                 linalg::YieldOp::create(
                     inner,
                     arith::AddIOp::create(inner, values[2], one).getResult());
               })
        .getResult(0);
  };
  now.removed = countIn(older, newer);
  now.added = countIn(newer, older);
}

/// Writes the counts of every layer into state, as statistics.
void Rewrite::keepStatistics(int64_t layers) {
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  b.setInsertionPoint(end);
  b.setLoc(function.getLoc());
  int64_t heads = 1;
  for (const Inserted &each : selections)
    heads = std::max(
        heads,
        cast<SelectionType>(each.selection.getType()).getHeads().value_or(1));
  // As wide as the layer with the most heads. The others leave zeros.
  auto type = RankedTensorType::get({layers, heads}, b.getI32Type());
  SmallVector<Value> results(end.getOperands());
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < results.size(); ++i)
    attributes.push_back(function.getResultAttrDict(i));
  // Tools find the three statistics by these names.
  auto keep = [&](StringRef name, function_ref<Value(const Inserted &)> get) {
    unsigned number = function.getNumArguments();
    (void)function.insertArgument(
        number, type,
        b.getDictionaryAttr({b.getNamedAttr(kNameAttr, b.getStringAttr(name)),
                             b.getNamedAttr(kZeroOnResetAttr, b.getUnitAttr()),
                             b.getNamedAttr(kStatisticAttr, b.getUnitAttr())}),
        function.getLoc());
    Value state = function.getArgument(number);
    OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
    for (const Inserted &each : selections) {
      Value count = get(each);
      if (!count)
        continue;
      auto counts = cast<RankedTensorType>(count.getType());
      int64_t size = counts.getRank() == 1 ? counts.getDimSize(0) : 1;
      state = tensor::InsertSliceOp::create(
          b, count, state,
          SmallVector<OpFoldResult>{b.getIndexAttr(each.layer), zero},
          SmallVector<OpFoldResult>{one, b.getIndexAttr(size)},
          SmallVector<OpFoldResult>{one, one});
    }
    results.push_back(state);
    attributes.push_back(b.getDictionaryAttr({}));
  };
  keep("representatives", [&](const Inserted &each) -> Value {
    return UnpackSelectionOp::create(b, each.selection).getCount();
  });
  keep("removed", [](const Inserted &each) { return each.removed; });
  keep("added", [](const Inserted &each) { return each.added; });
  end->setOperands(results);
  function.setFunctionType(b.getFunctionType(function.getArgumentTypes(),
                                             ValueRange(results).getTypes()));
  function.setAllResultAttrs(attributes);
}

/// Makes the function return the rows of a selection and its result.
void Rewrite::trace(int64_t layer, Value rows, Value selection) {
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  SmallVector<Value> results(end.getOperands());
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < results.size(); ++i)
    attributes.push_back(function.getResultAttrDict(i));
  auto add = [&](Value value, StringRef what) {
    // An entry that observes a model may show the rows already.
    if (llvm::is_contained(results, value))
      return;
    results.push_back(value);
    std::string name = ("selection." + Twine(layer) + "." + what).str();
    attributes.push_back(b.getDictionaryAttr(
        {b.getNamedAttr(kNameAttr, b.getStringAttr(name))}));
  };
  // For tests, which select from the same rows by the definition.
  add(rows, "rows");
  add(UnpackSelectionOp::create(b, selection).getNearest(), "nearest");
  end->setOperands(results);
  function.setFunctionType(b.getFunctionType(function.getArgumentTypes(),
                                             ValueRange(results).getTypes()));
  function.setAllResultAttrs(attributes);
}

namespace {
struct InsertSelectionsPass final
    : gist::impl::InsertSelectionsPassBase<InsertSelectionsPass> {
  using Base::Base;

  void runOnOperation() override {
    PlanOp plan = getPlan(getOperation());
    if (!plan)
      return;
    SmallVector<PlannedAttention> choices = getAttentions(plan);
    if (llvm::none_of(choices, [](auto &layer) { return layer.selection; }))
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(kKernelAttr) &&
          (failed(verifyStraightLine(function)) ||
           failed(Rewrite(function, plan, choices).run())))
        return signalPassFailure();
    dropPart<PlanSelectOp>(plan);
  }
};
} // namespace
