//===- AddObserveEntry.cpp - The pass -gist-add-observe-entry -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry that returns what linear layers read and give and what selections
// could look at, for gist-plan and gist-run eval --layers. It is a copy: the
// observed values would otherwise have to stay in memory in every call.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"
#include "passes/Plan/FindLinears.h"
#include "passes/Plan/SelectionRows.h"

namespace gist {
#define GEN_PASS_DEF_ADDOBSERVEENTRYPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// "0.qkv", for display; programs read the attribute.
static std::string getGroup(const LinearInput &input) {
  return input.layer < 0
             ? "head"
             : std::to_string(input.layer) + "." + linearGroupName(input.group);
}

/// Layer, group and weights: "0.qkv:blk.0.attn_q.weight+blk.0.attn_k.weight".
static std::string describe(LinearInput &input) {
  std::string name = getGroup(input);
  for (auto [i, linear] : llvm::enumerate(input.linears))
    name += (i ? "+" : ":") + linear.weight.getName().str();
  return name;
}

/// What a group of linear layers reads, or one of them gives.
/// The head of a model belongs to no layer: its layer is negative.
static ObservedAttr getObserved(MLIRContext *context, Observation kind,
                                const LinearInput &input,
                                ArrayRef<Linear> linears) {
  SmallVector<StringAttr> weights;
  for (Linear linear : linears)
    weights.push_back(linear.weight.getNameAttr());
  StringRef group = input.layer < 0 ? "head" : linearGroupName(input.group);
  return ObservedAttr::get(context, kind, input.layer, group, weights);
}

/// What `value` has the numbers of, in another shape perhaps.
static Value findSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
            op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The rows in a tensor of their own, times a factor.
static Value copyRows(OpBuilder &builder, Value rows, double factor) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(rows);
  Location loc = rows.getLoc();
  auto type = cast<RankedTensorType>(rows.getType());
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, rows),
      type.getElementType());
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, type, rows, init, maps, loops,
             [&](OpBuilder &b, Location at, ValueRange values) {
               auto number = [&](double value) {
                 return arith::ConstantOp::create(
                     b, at, b.getFloatAttr(type.getElementType(), value));
               };
               // A product with one, or no operation, would be folded, and the
               // rows would be those that they are a copy of.
               Value result =
                   factor == 1
                       ? arith::AddFOp::create(b, at, values[0], number(0))
                             .getResult()
                       : arith::MulFOp::create(b, at, values[0], number(factor))
                             .getResult();
               linalg::YieldOp::create(b, at, result);
             })
      .getResult(0);
}

/// What queries are multiplied with for attention that scales by 1/sqrt(D).
static double getQueryFactor(AttentionOp op) {
  double size = static_cast<double>(op.getQuery().getType().getShape().back()),
         factor = op.getEffectiveScale() * std::sqrt(size);
  constexpr double kRounding = 1e-6;
  return std::abs(factor - 1) < kRounding ? 1 : factor;
}

namespace {
struct AddObserveEntryPass final
    : gist::impl::AddObserveEntryPassBase<AddObserveEntryPass> {
  using Base::Base;

  void runOnOperation() override {
    auto source = getOperation().lookupSymbol<func::FuncOp>(from);
    if (!source || source.isExternal() || getOperation().lookupSymbol(to))
      return;
    if (failed(verifyStraightLine(source)))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(source);
    auto observe = cast<func::FuncOp>(builder.clone(*source));
    observe.setName(to);
    // In the copy, so that the values belong to it.
    // findLinears has reported the layer that it cannot name.
    FailureOr<SmallVector<LinearInput>> inputs = findLinears(observe);
    if (failed(inputs))
      return signalPassFailure();

    auto end = cast<func::ReturnOp>(observe.front().getTerminator());
    SmallVector<Value> results;
    SmallVector<DictionaryAttr> attributes;
    SmallVector<Value> sources; // of the results
    auto show = [&](Value value, const std::string &name, ObservedAttr what) {
      results.push_back(value);
      sources.push_back(findSource(value));
      attributes.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
           builder.getNamedAttr(kObservedAttr, what)}));
    };
    MLIRContext *context = &getContext();
    for (LinearInput &input : *inputs)
      show(input.rows, describe(input),
           getObserved(context, Observation::Input, input, input.linears));
    // The outputs of a head are logits, which have entries of their own.
    for (LinearInput &input : *inputs)
      for (Linear &linear : input.linears)
        if (input.layer >= 0)
          show(linear.product->getResult(0),
               getGroup(input) + "=" + linear.weight.getName().str(),
               getObserved(context, Observation::Product, input, linear));
    // What selections and heads look at; normalised rows are there already.
    for (auto [layer, op] : llvm::enumerate(observe.getOps<AttentionOp>())) {
      auto showRows = [&, layer = layer](Observation kind, Value rows,
                                         double factor = 1) {
        if (!rows)
          return;
        // A module writes each value once.
        if (factor != 1 || llvm::is_contained(sources, findSource(rows)))
          rows = copyRows(builder, rows, factor);
        show(rows,
             std::to_string(layer) + "@" + stringifyObservation(kind).str(),
             ObservedAttr::get(context, kind, static_cast<int64_t>(layer), "",
                               {}));
      };
      // Behind a norm, the residual stream is what linear layers read.
      if (Value rows = findSelectionRows(op, SelectOn::Residual);
          rows && !llvm::is_contained(results, rows))
        showRows(Observation::Residual, rows);
      showRows(Observation::Keys, findCallRows(op.getKey()));
      showRows(Observation::Values, findCallRows(op.getValue()));
      showRows(Observation::Queries, findCallRows(op.getQuery()),
               getQueryFactor(op));
    }
    // The other results are state. The first result, the logits, has entries of
    // its own.
    for (unsigned i = 1; i < end->getNumOperands(); ++i) {
      results.push_back(end->getOperand(i));
      attributes.push_back(observe.getResultAttrDict(i));
    }
    // getResultAttrDict gives null where a result has no attributes, and
    // setAllResultAttrs wants a dictionary for each.
    for (DictionaryAttr &attribute : attributes)
      if (!attribute)
        attribute = builder.getDictionaryAttr({});
    end->setOperands(results);
    observe.setFunctionType(builder.getFunctionType(
        observe.getArgumentTypes(), ValueRange(results).getTypes()));
    observe.setAllResultAttrs(attributes);
  }
};
} // namespace
