//===- GateLinears.cpp - The pass -gist-gate-linears ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Plan/FindLinears.h"
#include "passes/Plan/MadeWeights.h"
#include "passes/Plan/PlanPasses.h"

namespace gist {
#define GEN_PASS_DEF_GATELINEARSPASS
#include "passes/Plan/PlanPasses.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// The f32 numbers of a weight that is stored in `format`.
static Value createNumbers(ImplicitLocOpBuilder &b, const MadeWeight &what,
                           int64_t rows, int64_t columns) {
  WeightOp weight = createMadeWeight(b, what, rows, columns);
  if (!formatInfo(what.format).isQuantized())
    return weight;
  return DequantizeOp::create(b, weight.getResult(),
                              getBlockFormat(what.format));
}

namespace {
/// Changes the linear layers of one function that read the same rows.
class Rewrite {
public:
  Rewrite(LinearInput &input, const LinearChoice &choice,
          const LinearBases &bases)
      : input(input), choice(choice), bases(bases),
        b(input.linears.front().product.getLoc(),
          input.linears.front().product) {}

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

  int64_t getRows(Linear &linear) {
    return cast<RankedTensorType>(linear.product->getResult(0).getType())
        .getDimSize(1);
  }
  /// A weight made for `linear`, rows x columns.
  Value make(MadeKind kind, Linear &linear, WeightFormat format, int64_t rows,
             int64_t columns) {
    MadeWeight what{kind,        linear.weight.getName().str(),
                    format,      input.layer,
                    input.group, choice.k,
                    choice};
    return createNumbers(b, what, rows, columns);
  }
  Value makeRounded(Linear &linear) {
    return make(MadeKind::Rounded, linear, choice.format(), getRows(linear),
                input.getSize());
  }
  /// rows times the transpose of `weight`, added to zero or to `onto`.
  Value multiply(Value rows, Value weight, Value onto = {});

  LinearInput &input;
  const LinearChoice &choice;
  const LinearBases &bases;
  ImplicitLocOpBuilder b;
};
} // namespace

LogicalResult Rewrite::verify() {
  Operation *op = input.linears.front().product;
  int64_t d = input.getSize();
  if (choice.bits != 0 && d % formatInfo(choice.format()).blockLength != 0)
    return op->emitOpError("has rows of ")
           << d << " numbers, which are not whole blocks";
  if (choice.k == 0)
    return success();
  if (choice.k > d)
    return op->emitOpError("has rows of ")
           << d << " numbers, and the plan asks for a subspace of " << choice.k;
  std::vector<float> rows;
  Status status = bases.basis(input.layer, input.group, choice.k, d, rows);
  if (!status.ok())
    return op->emitOpError(status.text);
  return success();
}

Value Rewrite::multiply(Value rows, Value weight, Value onto) {
  auto type = cast<RankedTensorType>(rows.getType());
  int64_t columns = cast<RankedTensorType>(weight.getType()).getDimSize(0);
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(b, b.getLoc(), rows, 0), b.getIndexAttr(columns)};
  auto result =
      RankedTensorType::get({type.getDimSize(0), columns}, b.getF32Type());
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  Value empty = tensor::EmptyOp::create(b, sizes, b.getF32Type());
  Value init = linalg::FillOp::create(b, zero, empty).getResult(0);
  AffineExpr m, n, k;
  bindDims(b.getContext(), m, n, k);
  SmallVector<AffineMap> maps = AffineMap::inferFromExprList(
      ArrayRef<ArrayRef<AffineExpr>>{{m, k}, {n, k}, {m, n}}, b.getContext());
  Value product =
      linalg::MatmulOp::create(
          b, TypeRange(result), ValueRange{rows, weight}, ValueRange(init),
          ArrayRef<NamedAttribute>{
              b.getNamedAttr("indexing_maps", b.getAffineMapArrayAttr(maps))})
          .getResult(0);
  if (!onto)
    return product;
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

/// W x = rounded W x + ((W - rounded W) V) g, up to what V does not see.
void Rewrite::round() {
  int64_t d = input.getSize(), k = choice.k;
  Value inside;
  if (k > 0)
    inside =
        multiply(input.rows, make(MadeKind::Transposed, input.linears.front(),
                                  subspaceFormat(d), k, d));
  for (Linear &linear : input.linears) {
    b.setInsertionPoint(linear.product);
    Value corrected;
    if (k > 0)
      corrected = multiply(inside, make(MadeKind::Correction, linear,
                                        subspaceFormat(k), getRows(linear), k));
    Value result = multiply(input.rows, makeRounded(linear), corrected);
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
  for (auto [linear, output] :
       llvm::zip_equal(input.linears, gated.getOutputs())) {
    linear.product->getResult(0).replaceAllUsesWith(output);
    linear.product->erase();
  }
}

namespace {
struct GateLinearsPass final
    : gist::impl::GateLinearsPassBase<GateLinearsPass> {
  using Base::Base;

  void runOnOperation() override {
    LinearPlan choices;
    LinearBases bases;
    Status status = readLinearPlan(plan, choices);
    if (status.ok())
      status = LinearBases::open(choices.bases, bases);
    if (!status.ok()) {
      getOperation().emitError(status.text);
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(kKernelAttr) &&
          failed(rewrite(function, choices, bases)))
        return signalPassFailure();
  }

  static LogicalResult rewrite(func::FuncOp function, const LinearPlan &plan,
                               const LinearBases &bases) {
    FailureOr<SmallVector<LinearInput>> inputs = findLinears(function);
    if (failed(inputs))
      return failure();
    auto layers = static_cast<int64_t>(plan.layers.size());
    for (LinearInput &input : *inputs) {
      if (input.layer >= layers)
        return function.emitError("has a layer ")
               << input.layer << ", the plan is for " << layers;
      const LinearChoice &choice =
          input.layer < 0
              ? plan.head
              : plan.layers[input.layer][static_cast<size_t>(input.group)];
      if (!choice.isDense() && failed(Rewrite(input, choice, bases).run()))
        return failure();
    }
    return success();
  }
};
} // namespace
