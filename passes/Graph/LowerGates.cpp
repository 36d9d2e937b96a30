//===- LowerGates.cpp - The pass -gist-lower-gates ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On CPUs a gated projection is made of products and loops that other passes
// know. Guards let a product skip the rows that do not need it; without guards
// all rows are computed and those that are not wanted become zero.
//
// GPUs have kernels of gates. Where a plan may be left out in part, gates of
// many tokens stay if a model of costs says that they pay; otherwise the layer
// reads its weight for all rows, as it does without a gate.
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistKernelAttrs.h"
#include "dialect/GistOps.h"
#include "dialect/GistPlanAttrs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "passes/Cost/GateCost.h"
#include "passes/Kernel/Linears.h"
#include "passes/Passes.h"
#include "passes/Plan/MadeWeights.h"
#include "passes/Target/Info/ModuleTarget.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>

namespace gist {
#define GEN_PASS_DEF_LOWERGATESPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
/// Writes one gated projection as products of rows with weights.
class Lowering {
public:
  Lowering(RewriterBase &rewriter, GatedProjectionOp op, bool hasGuards)
      : b(op.getLoc(), rewriter), op(op), hasGuards(hasGuards),
        top(op.getLow().empty() ? 1 : 2) {}

  SmallVector<Value> run();
  /// Without the gate: every row reads the weight, and has the highest level.
  SmallVector<Value> runOpen();

private:
  // All of these give tensors of f32; the caller asked that of the op's types.
  /// The product for rows of level `low` to `high`, zeros for the others.
  Value multiplyWhere(Value rows, Value weight, int64_t low, int64_t high);
  Value getLevel(Value residual);
  /// A byte for each row: 1 where its level is from `low` to `high`.
  Value getGuard(int64_t low, int64_t high);
  Value add(Value a, Value b);
  Value addBias(Value rows, Value bias);

  ValueBuilder b;
  GatedProjectionOp op;
  bool hasGuards;
  /// Graded gates have a level between: weights in fewer bits.
  int64_t top; ///< the level of rows that read the weight as it is
  Value level;
  // By the first and the last level that they let through.
  std::map<std::pair<int64_t, int64_t>, Value> guards;
};
} // namespace

Value Lowering::getGuard(int64_t low, int64_t high) {
  // The same guard serves all projections of an op.
  Value &guard = guards[{low, high}];
  if (guard)
    return guard;
  guard = createLoops(
      b, "t->t", level, createEmpty(b, getSize(b, level, 0), b.getI8Type()),
      [&](ValueBuilder &b, ValueRange args) -> Value {
        auto bound = [&](arith::CmpIPredicate predicate, int64_t value) {
          Value constant =
              arith::ConstantIntOp::create(b, b.getI8Type(), value);
          return b.compare(predicate, args[0], constant);
        };
        Value isIn = b.both(bound(arith::CmpIPredicate::sge, low),
                            bound(arith::CmpIPredicate::sle, high));
        return arith::ExtUIOp::create(b, b.getI8Type(), isIn);
      });
  return guard;
}

Value Lowering::multiplyWhere(Value rows, Value weight, int64_t low,
                              int64_t high) {
  if (hasGuards)
    return GuardedMatmulOp::create(b, rows, weight, getGuard(low, high));
  Value product = createLinear(b, rows, weight);
  return createLoops(
      b, "tn,t->tn", {product, getGuard(low, high)},
      createEmpty(b, {getSize(b, product, 0), getSize(b, product, 1)},
                  b.getF32Type()),
      [](ValueBuilder &b, ValueRange args) -> Value {
        Value isOpen =
            b.compare(arith::CmpIPredicate::ne, args[1],
                      arith::ConstantIntOp::create(b, b.getI8Type(), 0));
        return b.select(isOpen, args[0], b.f32(0));
      });
}

/// How many thresholds |residual| / |x| passes; a NaN passes all of them, x = 0
/// passes none.
Value Lowering::getLevel(Value residual) {
  Value within = createSquares(b, residual),
        all = createSquares(b, op.getInput());
  // The largest |x| tells whether x = 0: squares may underflow. The maximum
  // keeps a NaN, so such a row is not taken for zero.
  Value largest =
      createLoops(b, "td->t", op.getInput(),
                  createFilled(b, getSize(b, residual, 0), b.f32(0)),
                  [](ValueBuilder &b, ValueRange args) -> Value {
                    return arith::MaximumFOp::create(
                        b, math::AbsFOp::create(b, b.toF32(args[0])), args[1]);
                  });
  return createLoops(b, "t,t,t->t", {within, all, largest},
                     createEmpty(b, getSize(b, residual, 0), b.getI8Type()),
                     [&](ValueBuilder &b, ValueRange args) -> Value {
                       Value isNonZero = b.compare(arith::CmpFPredicate::UNE,
                                                   args[2], b.f32(0));
                       Value ratio =
                           createGateRatio(b, args[0], args[1], isNonZero);
                       return createGateLevel(b, op, ratio, b.getI8Type());
                     });
}

Value Lowering::add(Value a, Value c) {
  return createLoops(
      b, "tn,tn->tn", {a, c},
      createEmpty(b, {getSize(b, a, 0), getSize(b, a, 1)}, b.getF32Type()),
      [](ValueBuilder &b, ValueRange args) -> Value {
        return b.add(args[0], args[1]);
      });
}

Value Lowering::addBias(Value rows, Value bias) {
  return createLoops(b, "tn,n->tn", {rows, bias},
                     createEmpty(b, {getSize(b, rows, 0), getSize(b, rows, 1)},
                                 b.getF32Type()),
                     [](ValueBuilder &b, ValueRange args) -> Value {
                       return b.add(args[0], b.toF32(args[1]));
                     });
}

SmallVector<Value> Lowering::run() {
  Value x = op.getInput();
  // g: the part of x inside of the basis. The residual is what the basis
  // misses.
  Value g = createLinear(b, x, createTransposedBasis(b, op.getBasis()));
  Value inside = createLinear(b, g, op.getBasis());
  Value residual = createLoops(
      b, "td,td->td", {inside, x},
      createEmpty(b, {getSize(b, x, 0), getSize(b, x, 1)}, b.getF32Type()),
      [](ValueBuilder &b, ValueRange args) -> Value {
        return b.sub(args[1], args[0]);
      });
  level = getLevel(residual);

  SmallVector<Value> results;
  // Levels: 0 the image alone, 1 with the rounded weight where there is one,
  // `top` the weight itself.
  for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
    // M g + W (x - V g) is W x: where the weight is read, nothing else is.
    Value y = multiplyWhere(g, op.getImages()[i], 0, top - 1);
    if (!op.getLow().empty())
      y = add(multiplyWhere(residual, op.getLow()[i], 1, 1), y);
    y = add(multiplyWhere(x, weight, top, top), y);
    if (!op.getBiases().empty())
      y = addBias(y, op.getBiases()[i]);
    results.push_back(y);
  }
  results.push_back(level);
  return results;
}

SmallVector<Value> Lowering::runOpen() {
  Value x = op.getInput();
  SmallVector<Value> results;
  for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
    Value y = createLinear(b, x, weight);
    results.push_back(op.getBiases().empty() ? y
                                             : addBias(y, op.getBiases()[i]));
  }
  results.push_back(
      createFilled(b, getSize(b, x, 0),
                   arith::ConstantIntOp::create(b, b.getI8Type(), top)));
  return results;
}

/// Whether a gate of many tokens keeps its kernels; emits a remark either way.
static bool isWorthwhile(GatedProjectionOp op, const GpuInfo &gpu) {
  int64_t columns = 0;
  for (Value output : op.getOutputs())
    columns += cast<RankedTensorType>(output.getType()).getDimSize(1);
  RankedTensorType basis = op.getBasis().getType();
  GateSize size = {columns, basis.getDimSize(0), basis.getDimSize(1)};
  double open = findLargestOpen(size, gpu);
  bool isKept = open >= kLikelyOpen;
  auto options = remark::RemarkOpts::name(isKept ? "Gathered" : "NotGated")
                     .category("gist-lower-gates");
  std::string layer = llvm::formatv("a gated layer of {0} to {1}, k = {2}",
                                    size.depth, size.columns, size.rank);
  std::string limit = "in no case";
  if (open >= 0)
    limit = llvm::formatv("while at most {0:P0} of the rows are open", open);
  if (isKept)
    remark::passed(op.getLoc(), options)
        << layer + ": rows of many tokens are gathered by level, which pays " +
               limit;
  else
    remark::missed(op.getLoc(), options)
        << layer + ": no gate for many tokens; it would pay " + limit +
               llvm::formatv(", and {0:P0} are expected", kLikelyOpen).str();
  return isKept;
}

namespace {
struct LowerGatesPass final : gist::impl::LowerGatesPassBase<LowerGatesPass> {
  using Base::Base;

  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<GpuTargetAttr>(kTargetAttr);
    const GpuInfo *gpu = target ? getGpuInfo(target.getName()) : nullptr;
    // Costs were measured on one kind of card alone.
    if (gpu && (gpu->kind != GpuKind::Nvidia ||
                !getOperation()->hasAttr(kFastPlanAttr)))
      return;
    SmallVector<GatedProjectionOp> gates;
    getOperation()->walk([&](GatedProjectionOp op) {
      // A few tokens have a kernel of their own, which pays.
      if (gpu && !op.getInput().getType().isDynamicDim(0))
        return;
      // The products that follow work on f32 rows. Other types are left as they
      // are.
      bool isF32 =
          op.getInput().getType().getElementType().isF32() &&
          llvm::all_of(op.getOutputs().getTypes(), [](Type type) {
            return cast<RankedTensorType>(type).getElementType().isF32();
          });
      // Ops inside of a kernel stay as they are.
      if (isF32 && !op->getParentOfType<func::FuncOp>()->hasAttr(kKernelAttr))
        gates.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (GatedProjectionOp op : gates) {
      if (gpu && isWorthwhile(op, *gpu))
        continue;
      rewriter.setInsertionPoint(op);
      Lowering lowering(rewriter, op, guards);
      rewriter.replaceOp(op, gpu ? lowering.runOpen() : lowering.run());
    }
  }
};
} // namespace
