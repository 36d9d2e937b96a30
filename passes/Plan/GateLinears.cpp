//===- GateLinears.cpp - The pass -gist-gate-linears ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"
#include "passes/Plan/FindLinears.h"
#include "passes/Plan/MadeWeights.h"
#include "passes/Plan/PlanInGraph.h"
#include "runtime/format/GateLevels.h"

namespace gist {
#define GEN_PASS_DEF_GATELINEARSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// The f32 numbers of a weight that is stored in `format`.
static Value createNumbers(ImplicitLocOpBuilder &b, const MadeWeight &what,
                           StringRef bases, int64_t rows, int64_t columns) {
  WeightOp weight = createMadeWeight(b, what, bases, rows, columns);
  if (!formatInfo(what.format).isQuantized())
    return weight;
  return DequantizeOp::create(b, weight.getResult(),
                              getBlockFormat(what.format));
}

namespace {
/// Changes the linear layers of one function that read the same rows.
class Rewrite {
public:
  Rewrite(LinearInput &input, const LinearChoice &choice, StringRef bases)
      : input(input), choice(choice), bases(bases),
        b(input.linears.front().product.getLoc(),
          input.linears.front().product) {}

  /// The gate's level of each row. Null where weights are only rounded.
  Value level;

  LogicalResult run() {
    if (failed(verify()))
      return failure();
    if (choice.isGated())
      gate();
    else
      round();
    return success();
  }

private:
  LogicalResult verify();
  void round();
  void gate();

  /// Outputs of a layer, which are the rows of its weight.
  int64_t getRows(Linear &linear) {
    return cast<RankedTensorType>(linear.product->getResult(0).getType())
        .getDimSize(1);
  }
  /// A weight made for `linear`, rows x columns.
  Value make(MadeKind kind, Linear &linear, WeightFormat format, int64_t rows,
             int64_t columns) {
    MadeWeight what = describe(kind, linear);
    what.format = format;
    return createNumbers(b, what, bases, rows, columns);
  }
  // All fields are set, whatever the kind: createMadeWeight reads those that
  // the kind needs.
  MadeWeight describe(MadeKind kind, Linear &linear) {
    MadeWeight what;
    what.kind = kind;
    what.from = linear.weight.getName().str();
    what.layer = input.layer;
    what.bits = choice.bits;
    what.isCompensated = choice.isCompensated;
    what.exactRows = choice.exactRows;
    what.exactBits = choice.exactBits;
    what.basis = basisName(input.layer, input.group);
    what.k = choice.k;
    return what;
  }
  /// Without the rows that stay exact, which are a weight of their own.
  Value makeRounded(Linear &linear) {
    return make(MadeKind::Rounded, linear, choice.format(),
                getRows(linear) - choice.exactRows, input.getSize());
  }
  Value makeExact(Linear &linear);
  Value joinColumns(Value left, Value right);
  /// rows times the transpose of `weight`, added to zero or to `onto`.
  Value multiply(Value rows, Value weight, Value onto = {});

  LinearInput &input;
  const LinearChoice &choice;
  StringRef bases; ///< the file's path
  ImplicitLocOpBuilder b;
};
} // namespace

LogicalResult Rewrite::verify() {
  Operation *op = input.linears.front().product;
  int64_t d = input.getSize();
  for (Linear &linear : input.linears)
    if (choice.exactRows > 0 && choice.exactRows >= getRows(linear))
      return op->emitOpError("has ")
             << getRows(linear) << " outputs, but the plan keeps the first "
             << choice.exactRows;
  if (choice.bits != 0 && d % formatInfo(choice.format()).blockLength != 0)
    return op->emitOpError("has rows of ")
           << d << " numbers, which are not whole blocks";
  // WeightMaker::checkFiles checks that the file has a basis of k directions.
  if (choice.k == 0)
    return success();
  if (choice.k > d)
    return op->emitOpError("has rows of ")
           << d << " numbers, but the plan asks for a subspace of " << choice.k;
  return success();
}

Value Rewrite::multiply(Value rows, Value weight, Value onto) {
  Value product = createLinear(b, rows, weight);
  if (!onto)
    return product;
  auto result = cast<RankedTensorType>(product.getType());
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(b, b.getLoc(), rows, 0),
      b.getIndexAttr(result.getDimSize(1))};
  // An addition of its own, and not a product that starts from `onto`: products
  // that accumulate are not quantised (QuantizeActivations.cpp).
  Value sum = tensor::EmptyOp::create(b, sizes, b.getF32Type());
  SmallVector<AffineMap> identity(3, b.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, TypeRange(result), ValueRange{product, onto}, ValueRange(sum),
             identity, loops,
             [](OpBuilder &builder, Location at, ValueRange args) {
               Value total =
                   arith::AddFOp::create(builder, at, args[0], args[1]);
               linalg::YieldOp::create(builder, at, total);
             })
      .getResult(0);
}

/// The outputs of the exact rows and of the others, side by side.
Value Rewrite::joinColumns(Value left, Value right) {
  int64_t first = cast<RankedTensorType>(left.getType()).getDimSize(1);
  int64_t second = cast<RankedTensorType>(right.getType()).getDimSize(1);
  OpFoldResult rows = tensor::getMixedSize(b, b.getLoc(), left, 0);
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes = {rows, b.getIndexAttr(first + second)};
  SmallVector<OpFoldResult> begin = {zero, zero}, strides = {one, one};
  SmallVector<OpFoldResult> middle = {zero, b.getIndexAttr(first)};
  Value all = tensor::EmptyOp::create(b, sizes, b.getF32Type());
  sizes[1] = b.getIndexAttr(first);
  all = tensor::InsertSliceOp::create(b, left, all, begin, sizes, strides);
  sizes[1] = b.getIndexAttr(second);
  return tensor::InsertSliceOp::create(b, right, all, middle, sizes, strides);
}

/// The first rows of a weight, stored as in the model or in 8 bits.
Value Rewrite::makeExact(Linear &linear) {
  if (choice.exactBits != 0)
    return make(MadeKind::Exact, linear, WeightFormat::Q8_0, choice.exactRows,
                input.getSize());
  auto stored = cast<RankedTensorType>(linear.weight.getType());
  SmallVector<int64_t> shape(stored.getShape());
  shape[0] = choice.exactRows;
  WeightOp weight =
      createMadeWeight(b, describe(MadeKind::Exact, linear), bases,
                       RankedTensorType::get(shape, stored.getElementType()));
  auto dequantize =
      linear.product.getDpsInputOperand(1)->get().getDefiningOp<DequantizeOp>();
  if (!dequantize)
    return weight;
  return DequantizeOp::create(b, weight.getResult(),
                              dequantize.getFormatAttr());
}

/// W x = rounded W x + ((W - rounded W) V) g, up to what V does not see.
void Rewrite::round() {
  int64_t d = input.getSize(), k = choice.k;
  Value inside;
  if (k > 0)
    inside =
        multiply(input.rows, make(MadeKind::Transposed, input.linears.front(),
                                  subspaceFormat(d), k, d));
  for (Linear &linear : input.linears) {
    // What was made before stands in front of the first product, so it
    // dominates the others.
    b.setInsertionPoint(linear.product);
    Value corrected;
    if (k > 0)
      corrected = multiply(inside, make(MadeKind::Correction, linear,
                                        subspaceFormat(k), getRows(linear), k));
    Value result = multiply(input.rows, makeRounded(linear), corrected);
    if (choice.exactRows > 0)
      result = joinColumns(multiply(input.rows, makeExact(linear)), result);
    linear.product->getResult(0).replaceAllUsesWith(result);
    linear.product->erase();
  }
}

void Rewrite::gate() {
  int64_t d = input.getSize(), k = choice.k;
  Value basis =
      make(MadeKind::Basis, input.linears.front(), subspaceFormat(k), d, k);
  SmallVector<Value> weights, images, low;
  for (Linear &linear : input.linears) {
    weights.push_back(linear.product.getDpsInputOperand(1)->get());
    images.push_back(
        make(MadeKind::Image, linear, subspaceFormat(k), getRows(linear), k));
    if (choice.bits != 0)
      // What rows of the middle level read.
      low.push_back(makeRounded(linear));
  }
  // All weights are there before the first product.
  for (Value weight : weights)
    for (Operation *op :
         {getWeightOf(weight).getOperation(), weight.getDefiningOp()})
      if (op->getBlock() == b.getInsertionBlock() &&
          !op->isBeforeInBlock(input.linears.front().product))
        op->moveBefore(input.linears.front().product);
  FloatAttr epsilon = b.getF32FloatAttr(static_cast<float>(*choice.epsilon));
  FloatAttr epsilonLow;
  if (choice.bits != 0)
    epsilonLow = b.getF32FloatAttr(static_cast<float>(choice.epsilonLow));
  b.setInsertionPoint(input.linears.front().product);
  auto gated =
      GatedProjectionOp::create(b, input.rows, basis, weights, images,
                                ValueRange(), low, epsilon, epsilonLow);
  level = gated.getLevel();
  for (auto [linear, output] :
       llvm::zip_equal(input.linears, gated.getOutputs())) {
    linear.product->getResult(0).replaceAllUsesWith(output);
    linear.product->erase();
  }
}

//===----------------------------------------------------------------------===//
// How many rows took which level
//===----------------------------------------------------------------------===//

// Level 0 skips the weight, the highest reads it as it is.
static constexpr int64_t kNumLevels = kNumGateLevels;

namespace {
/// The state in which a function counts the levels of its gates.
/// Layers x groups x levels, in i32, for gist-run's statistics.
class GateCounts {
public:
  GateCounts(func::FuncOp function, int64_t layers)
      : function(function), b(function.getLoc(), function.getContext()),
        type(RankedTensorType::get(
            {layers, static_cast<int64_t>(kNumLinearGroups), kNumLevels},
            b.getI32Type())) {}

  /// Adds the levels of a gate.
  void count(Value level, int64_t layer, LinearGroup group) {
    b.setInsertionPointAfterValue(level);
    if (!counts)
      addArgument();
    SmallVector<OpFoldResult> offsets = {
        b.getIndexAttr(layer), b.getIndexAttr(static_cast<int64_t>(group)),
        b.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1), b.getIndexAttr(1),
                                       b.getIndexAttr(kNumLevels)};
    SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
    auto row = RankedTensorType::get({kNumLevels}, b.getI32Type());
    // Counts go on over calls, until a session is reset.
    Value before =
        tensor::ExtractSliceOp::create(b, row, counts, offsets, sizes, strides);
    Value sum = add(level, before, row);
    counts =
        tensor::InsertSliceOp::create(b, sum, counts, offsets, sizes, strides);
  }

  /// Makes the function return its counts if it has a gate.
  void finish() {
    if (!counts)
      return;
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    SmallVector<DictionaryAttr> attributes;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      attributes.push_back(function.getResultAttrDict(i));
    attributes.push_back(b.getDictionaryAttr({}));
    end->insertOperands(end->getNumOperands(), counts);
    function.setFunctionType(
        b.getFunctionType(function.getArgumentTypes(), end->getOperandTypes()));
    function.setAllResultAttrs(attributes);
  }

private:
  void addArgument() {
    unsigned number = function.getNumArguments();
    (void)function.insertArgument(
        number, type,
        b.getDictionaryAttr(
            {b.getNamedAttr(kNameAttr, b.getStringAttr("gates")),
             b.getNamedAttr(kZeroOnResetAttr, b.getUnitAttr()),
             b.getNamedAttr(kStatisticAttr, b.getUnitAttr())}),
        function.getLoc());
    counts = function.getArgument(number);
  }

  /// before[j] + how many rows have level j.
  Value add(Value level, Value before, RankedTensorType row) {
    AffineExpr j, t;
    bindDims(b.getContext(), j, t);
    SmallVector<AffineMap> maps = {AffineMap::get(2, 0, t),
                                   AffineMap::get(2, 0, j)};
    SmallVector<utils::IteratorType> loops = {utils::IteratorType::parallel,
                                              utils::IteratorType::reduction};
    // This op must not overwrite the state.
    Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
    Value empty = tensor::EmptyOp::create(b, row.getShape(), b.getI32Type());
    Value zeros = linalg::FillOp::create(b, zero, empty).getResult(0);
    Value found =
        linalg::GenericOp::create(
            b, TypeRange(row), ValueRange(level), ValueRange(zeros), maps,
            loops,
            [](OpBuilder &builder, Location at, ValueRange args) {
              Value number = linalg::IndexOp::create(builder, at, 0);
              Value wanted = arith::IndexCastOp::create(
                  builder, at, builder.getI8Type(), number);
              Value is = arith::CmpIOp::create(
                  builder, at, arith::CmpIPredicate::eq, args[0], wanted);
              Value one =
                  arith::ExtUIOp::create(builder, at, builder.getI32Type(), is);
              Value sum = arith::AddIOp::create(builder, at, args[1], one);
              linalg::YieldOp::create(builder, at, sum);
            })
            .getResult(0);
    Value target = tensor::EmptyOp::create(b, row.getShape(), b.getI32Type());
    SmallVector<AffineMap> same(3, b.getMultiDimIdentityMap(1));
    return linalg::GenericOp::create(
               b, TypeRange(row), ValueRange{found, before}, ValueRange(target),
               same, ArrayRef(utils::IteratorType::parallel),
               [](OpBuilder &builder, Location at, ValueRange args) {
                 Value sum =
                     arith::AddIOp::create(builder, at, args[0], args[1]);
                 linalg::YieldOp::create(builder, at, sum);
               })
        .getResult(0);
  }

  func::FuncOp function;
  ImplicitLocOpBuilder b;
  RankedTensorType type;
  // The state after the last gate; null before the first.
  Value counts;
};

struct GateLinearsPass final
    : gist::impl::GateLinearsPassBase<GateLinearsPass> {
  using Base::Base;

  void runOnOperation() override {
    PlanOp plan = getPlan(getOperation());
    if (!plan)
      return;
    LinearPlan choices = getLinears(plan);
    if (!choices.isNeeded())
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(kKernelAttr) &&
          (failed(verifyStraightLine(function)) ||
           failed(rewrite(function, choices))))
        return signalPassFailure();
    dropPart<PlanLinearOp>(plan);
  }

  static LogicalResult rewrite(func::FuncOp function, const LinearPlan &plan) {
    FailureOr<SmallVector<LinearInput>> inputs = findLinears(function);
    if (failed(inputs))
      return failure();
    auto layers = static_cast<int64_t>(plan.layers.size());
    GateCounts counts(function, layers);
    // The highest layer. A plan for more layers is one for another model.
    int64_t last = -1;
    for (LinearInput &input : *inputs) {
      if (input.layer >= layers)
        return function.emitError("has a layer ")
               << input.layer << ", but the plan is for " << layers;
      last = std::max(last, input.layer);
      const LinearChoice &choice =
          input.layer < 0
              ? plan.head
              : plan.layers[input.layer][static_cast<size_t>(input.group)];
      if (choice.isDense())
        continue;
      Rewrite rewrite(input, choice, plan.bases);
      if (failed(rewrite.run()))
        return failure();
      // A head has no gate (PlanLinearOp's C4), so that the layer is a number.
      if (rewrite.level)
        counts.count(rewrite.level, input.layer, input.group);
    }
    if (last + 1 != layers)
      return function.emitError("has ")
             << last + 1 << " layers, but the plan is for " << layers;
    counts.finish();
    return success();
  }
};
} // namespace
