//===- OutlineGated.cpp - Gated projections as kernels --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A few tokens: one kernel (passes/Tile/Gpu/Gated/Gated.h).
//
// Many tokens: g and the residual are products like any others, the levels
// work on rows; they become kernels as the rest of the graph does. A kernel for
// each projection then is
//
//   s0 = g' M^T                g' = g where the level says so, else 0
//   s1 = s0 + x' W^T           x' likewise
//   y  = s1 + bias
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/OutlineGated.h"
#include "dialect/Decompose.h"
#include "dialect/DecomposeUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Graph/KernelBuilder.h"
#include "passes/Kernel/GatedProjection.h"
#include "passes/Plan/MadeWeights.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gist;

/// Erases `op`, whose results have no uses, and the ops that only `op` used.
/// The dequantised blocks would otherwise stay and become kernels of their own.
static void eraseWithBlocks(GatedProjectionOp op) {
  llvm::SmallSetVector<Operation *, 4> blocks;
  for (Value low : op.getLow())
    if (auto dequantize = low.getDefiningOp<DequantizeOp>())
      blocks.insert(dequantize);
  op->erase();
  for (Operation *dequantize : blocks)
    if (dequantize->use_empty())
      dequantize->erase();
}

/// The kernel for few tokens is made for its sizes, so they must be known.
static bool hasFewTokens(GatedProjectionOp op) {
  auto isStatic = [](Type type) {
    return cast<RankedTensorType>(type).hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), isStatic) &&
         op.getBasis().getType().getDimSize(1) > 0 &&
         op.getInput().getType().getDimSize(0) <= kGatedTokens;
}

//===----------------------------------------------------------------------===//
// A few tokens
//===----------------------------------------------------------------------===//

static void outlineFew(GatedProjectionOp op, KernelTable &table) {
  ValueBuilder host(op.getLoc(), op);
  KernelBuilder kernel(op.getLoc());
  SmallVector<Value> operands = kernel.addInputs(op->getOperands());
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  Operation *copy = kernel.b.clone(*op, mapping);
  for (Type type : op->getResultTypes())
    kernel.addOutput(tensor::EmptyOp::create(host, cast<RankedTensorType>(type),
                                             ValueRange()));
  DispatchOp call =
      kernel.call(host, table, KernelKind::GatedProjection,
                  op->getName().stripDialect(), copy->getResults());
  op->replaceAllUsesWith(call.getResults());
  eraseWithBlocks(op);
}

//===----------------------------------------------------------------------===//
// Many tokens
//===----------------------------------------------------------------------===//

namespace {
/// What g, the residual and the levels are made of stays in the host function:
/// -gist-form-kernels groups it later, as it does the rest of the graph.
class ManyOutliner {
public:
  ManyOutliner(GatedProjectionOp op, KernelTable &table)
      : op(op), table(table), host(op.getLoc(), op) {}

  void run() {
    Value x = op.getInput(), basis = op.getBasis();
    tokens = getSize(host, x, 0);
    OpFoldResult depth = getSize(host, basis, 0),
                 rank = getSize(host, basis, 1);
    // Products read rows of both sides.
    Value transposed = createTransposedBasis(host, basis);
    g = round(createProduct(host, "td,kd->tk", x, transposed, {tokens, rank}),
              {tokens, rank});
    Value inside = createProduct(host, "tk,dk->td", g, basis, {tokens, depth});
    auto subtract = [&](ValueBuilder &b, ValueRange args) -> Value {
      Value rest = b.sub(b.toF32(args[1]), args[0]);
      return b.convert(rest, getElementTypeOrSelf(x));
    };
    residual = createLoops(
        host, "td,td->td", {inside, x},
        createEmpty(host, {tokens, depth}, getElementTypeOrSelf(x)), subtract);
    level = createGateLevels(host, op, residual);
    SmallVector<Value> results;
    for (unsigned i = 0; i < op.getWeights().size(); ++i)
      results.push_back(project(i));
    results.push_back(level);
    op->replaceAllUsesWith(results);
    eraseWithBlocks(op);
  }

private:
  /// A product in the type that the next one multiplies.
  Value round(Value product, Sizes sizes) {
    Type element = getElementTypeOrSelf(op.getInput());
    if (element.isF32())
      return product;
    auto convert = [&](ValueBuilder &b, ValueRange args) {
      return b.convert(args[0], element);
    };
    return createLoops(host, "tk->tk", product,
                       createEmpty(host, sizes, element), convert);
  }

  Value project(unsigned number) {
    KernelBuilder kernel(op.getLoc());
    ValueBuilder &b = kernel.b;
    Type element = cast<RankedTensorType>(op.getOutputs()[number].getType())
                       .getElementType();
    bool isGraded = !op.getLow().empty();
    int64_t top = isGraded ? 2 : 1;
    Value image = kernel.addInput(g), levels = kernel.addInput(level);
    Value rest = isGraded ? kernel.addInput(residual) : Value();
    Value x = kernel.addInput(op.getInput());
    Value images = kernel.addInput(op.getImages()[number]);
    Value low = isGraded ? kernel.addInput(op.getLow()[number]) : Value();
    Value weight = kernel.addInput(op.getWeights()[number]);
    Value bias = op.getBiases().empty()
                     ? Value()
                     : kernel.addInput(op.getBiases()[number]);
    Value output = kernel.addOutput(createEmpty(
        host, {tokens, getSize(host, op.getWeights()[number], 0)}, element));

    Value sum = createFilled(b, {getSize(b, output, 0), getSize(b, output, 1)},
                             b.f32(0));
    // Below the top level the image counts; at the top the weight itself.
    auto isBelow = arith::CmpIPredicate::slt, isAt = arith::CmpIPredicate::eq;
    sum = addProduct(b, mask(b, image, levels, isBelow, top), images, sum);
    if (isGraded)
      sum = addProduct(b, mask(b, rest, levels, isAt, 1), low, sum);
    sum = addProduct(b, mask(b, x, levels, isAt, top), weight, sum);
    SmallVector<Value> inputs = {sum};
    if (bias)
      inputs.push_back(bias);
    auto finish = [&](ValueBuilder &b, ValueRange args) -> Value {
      Value value = args[0];
      if (bias)
        value = b.add(value, b.toF32(args[1]));
      return b.convert(value, element);
    };
    Value result =
        createLoops(b, bias ? "tm,m->tm" : "tm->tm", inputs, output, finish);
    return kernel
        .call(host, table, KernelKind::GatedProducts, "gated_product", result)
        .getResult(0);
  }

  /// sum + rows times matrix^T, accumulated in f32. The sum is the destination,
  /// so that the three products of a kernel share one accumulator.
  static Value addProduct(ValueBuilder &b, Value rows, Value matrix,
                          Value sum) {
    auto multiply = [](ValueBuilder &b, ValueRange args) -> Value {
      Value product = b.mul(b.toF32(args[0]), b.toF32(args[1]));
      return b.add(args[2], product);
    };
    return createLoops(b, "td,md->tm", {rows, matrix}, sum, multiply);
  }

  /// The rows whose level is, or is below, `bound`, and zeros for the others.
  /// Zeros and not fewer rows: rows of one tile can be of different levels.
  static Value mask(ValueBuilder &b, Value rows, Value levels,
                    arith::CmpIPredicate predicate, int64_t bound) {
    Type element = getElementTypeOrSelf(rows);
    auto choose = [&](ValueBuilder &b, ValueRange args) -> Value {
      Value constant = arith::ConstantOp::create(b, b.getI8IntegerAttr(bound));
      Value isWanted = b.compare(predicate, args[0], constant);
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
      return b.select(isWanted, args[1], zero);
    };
    return createLoops(
        b, "t,td->td", {levels, rows},
        createEmpty(b, {getSize(b, rows, 0), getSize(b, rows, 1)}, element),
        choose);
  }

  GatedProjectionOp op;
  KernelTable &table;
  ValueBuilder host;
  OpFoldResult tokens;
  Value g, residual, level;
};
} // namespace

void gist::outlineGatedProjections(func::FuncOp function, KernelTable &table) {
  SmallVector<GatedProjectionOp> few, many;
  for (auto op : function.getOps<GatedProjectionOp>())
    (hasFewTokens(op) ? few : many).push_back(op);
  // Two lists first: outlining erases the op that the range stands on.
  for (GatedProjectionOp op : many)
    ManyOutliner(op, table).run();
  for (GatedProjectionOp op : few)
    outlineFew(op, table);
}
