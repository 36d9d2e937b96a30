//===- SplitStages.cpp - The pass -gist-split-stages ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op belongs to the stage of the last layer whose weights it depends on.
// Between two stages one value is alive: the residual stream. All graphs hand
// it on from stage to stage, one after the other, so that all have the same
// ops; each computes its own link of that chain, and no other.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistPlanOps.h"
#include "dialect/GistRankOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Unused.h"
#include "passes/Passes.h"
#include "passes/Plan/PlanInGraph.h"
#include "passes/Ranks/GivenTensors.h"
#include "passes/Ranks/Shares.h"
#include "llvm/ADT/SetVector.h"

namespace gist {
#define GEN_PASS_DEF_SPLITSTAGESPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// How many layers the weights of a module are of.
static int64_t countLayers(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](WeightOp weight) {
    if (weight.getLayer())
      count = std::max(count, static_cast<int64_t>(*weight.getLayer()) + 1);
  });
  return count;
}

namespace {
/// Can be computed on any stage: made of weights, sizes and constants.
constexpr int64_t kAnywhere = -1;

/// Leaves one stage of one function.
class StageSplitter {
public:
  StageSplitter(func::FuncOp function, int64_t layers, Rank own)
      : function(function), layers(layers), own(own) {}

  LogicalResult run() {
    assignStages();
    if (failed(findStreams()))
      return failure();
    Value last = receive();
    last = send(last);
    if (failed(returnResults(last)))
      return failure();
    detachCaches();
    eraseUnused(function.front());
    shrinkCaches();
    function.setFunctionType(FunctionType::get(
        function.getContext(), function.front().getArgumentTypes(),
        function.front().getTerminator()->getOperandTypes()));
    return success();
  }

private:
  int64_t stageOfLayer(int64_t layer) const {
    for (int64_t stage = 0;; ++stage)
      if (layer < getShare(layers, 1, {stage, own.count}).end)
        return stage;
  }

  int64_t stageOf(Value value) const {
    auto found = stages.find(value);
    return found == stages.end() ? kAnywhere : found->second;
  }

  int64_t stageOf(Operation *op) const {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return own.count - 1;
    int64_t stage = kAnywhere;
    for (Value result : op->getResults())
      stage = std::max(stage, stageOf(result));
    return stage;
  }

  bool isState(Value value) const {
    return getUpdatedArgument(value) != nullptr;
  }

  void assignStages() {
    for (BlockArgument argument : getGivenTensors(function)) {
      stages[argument] = 0;
      tokens = tokens ? tokens : argument;
    }
    for (Operation &op : function.front()) {
      int64_t stage = kAnywhere;
      op.walk([&](Operation *nested) {
        for (Value operand : nested->getOperands()) {
          stage = std::max(stage, stageOf(operand));
          if (std::optional<int64_t> layer = layerOf(operand))
            stage = std::max(stage, stageOfLayer(*layer));
        }
      });
      // Sizes do not depend on the content of tensors, and a weight is read
      // where it is used.
      for (Value result : op.getResults())
        if (!isa<IndexType>(result.getType()) && !layerOf(result))
          stages[result] = stage;
    }
  }

  /// The layer of a weight, also of one that is dequantised.
  static std::optional<int64_t> layerOf(Value value) {
    if (auto read = value.getDefiningOp<DequantizeOp>())
      value = read.getBlocks();
    auto weight = value.getDefiningOp<WeightOp>();
    if (!weight || !weight.getLayer())
      return std::nullopt;
    return static_cast<int64_t>(*weight.getLayer());
  }

  /// What is computed before stage `stage` and read by it or later.
  SmallVector<Value> findCrossing(int64_t stage) {
    SmallVector<Value> crossing;
    for (Operation &op : function.front())
      for (Value result : op.getResults()) {
        int64_t made = stageOf(result);
        if (made == kAnywhere || made >= stage || isState(result))
          continue;
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return stageOf(atTop(user)) >= stage;
            }))
          crossing.push_back(result);
      }
    return crossing;
  }

  Operation *atTop(Operation *op) {
    return function.front().findAncestorOpInBlock(*op);
  }

  /// Finds the one value between each two stages.
  LogicalResult findStreams() {
    streams.push_back(nullptr); // Nothing comes before the first stage.
    for (int64_t stage = 1; stage < own.count; ++stage) {
      llvm::SmallSetVector<Value, 4> handed;
      for (Value value : findCrossing(stage)) {
        // What can be computed again from what is handed on anyway, such as the
        // sum of squares of a norm, is the later stage's.
        bool isDerived = !handed.empty() &&
                         llvm::all_of(value.getDefiningOp()->getOperands(),
                                      [&](Value operand) {
                                        return stageOf(operand) == kAnywhere ||
                                               stageOf(operand) >= stage ||
                                               handed.contains(operand);
                                      });
        if (isDerived)
          for (Value result : value.getDefiningOp()->getResults())
            stages[result] = stage;
        else
          handed.insert(value);
      }
      auto type = handed.size() == 1
                      ? dyn_cast<RankedTensorType>(handed[0].getType())
                      : RankedTensorType();
      if (!type || type.getRank() != 2 || !type.getElementType().isF32() ||
          type.isDynamicDim(1) ||
          (streams.back() && streams.back().getType() != type))
        return function.emitOpError("cannot be cut into ")
               << own.count << " stages: " << handed.size()
               << " values are alive before stage " << stage
               << "; expected the same rows of f32 before all";
      streams.push_back(handed[0]);
    }
    return success();
  }

  /// Rows of the stream's shape. Their content does not matter, but they must
  /// be initialised: the tokens are.
  Value makeShape(ImplicitLocOpBuilder &b) {
    return spread(b, tokens, cast<RankedTensorType>(streams[1].getType()));
  }

  static Value handOn(ImplicitLocOpBuilder &b, Value value, int64_t from,
                      int64_t to) {
    return HandOnOp::create(b, value.getType(), value, from, to);
  }

  /// The links of the chain up to this stage. Null on the first.
  Value receive() {
    if (own.number == 0)
      return nullptr;
    Value stream = streams[own.number];
    Operation *first = nullptr;
    for (Operation &op : function.front())
      if (!first && llvm::is_contained(op.getOperands(), stream) &&
          stageOf(&op) >= own.number)
        first = &op;
    ImplicitLocOpBuilder b(stream.getLoc(), first);
    Value got = makeShape(b);
    for (int64_t stage = 1; stage <= own.number; ++stage)
      got = handOn(b, got, stage - 1, stage);
    stream.replaceUsesWithIf(got, [&](OpOperand &use) {
      return stageOf(atTop(use.getOwner())) >= own.number;
    });
    stages[got] = own.number;
    return got;
  }

  /// The links after this stage; the last value of the chain.
  Value send(Value last) {
    if (own.number + 1 == own.count)
      return last;
    Value stream = streams[own.number + 1];
    ImplicitLocOpBuilder b(stream.getLoc(), function.getContext());
    b.setInsertionPointAfterValue(stream);
    for (int64_t stage = own.number + 1; stage < own.count; ++stage)
      stream = handOn(b, stream, stage - 1, stage);
    return stream;
  }

  /// Logits go to the first stage. What stands for them elsewhere reads the
  /// chain, which would be dead otherwise.
  LogicalResult returnResults(Value last) {
    Operation *end = function.front().getTerminator();
    for (OpOperand &result : end->getOpOperands()) {
      if (isState(result.get()))
        continue;
      auto type = dyn_cast<RankedTensorType>(result.get().getType());
      if (!type || type.getRank() != 2 || !type.getElementType().isF32() ||
          type.isDynamicDim(1) ||
          (!type.isDynamicDim(0) && type.getDimSize(0) != 1))
        return end->emitOpError("returns something other than logits, which "
                                "stages cannot hand on: ")
               << result.get().getType();
      ImplicitLocOpBuilder b(end->getLoc(), end);
      Value all = result.get();
      if (own.number + 1 != own.count)
        all = spread(b, last, type);
      result.set(handOn(b, all, own.count - 1, 0));
    }
    return success();
  }

  /// Rows of type `type` that hold what `source` has first for each row.
  Value spread(ImplicitLocOpBuilder &b, Value source, RankedTensorType type) {
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1), rows = one;
    if (type.isDynamicDim(0))
      rows = tensor::DimOp::create(b, tokens, 0).getResult();
    auto from = cast<RankedTensorType>(source.getType());
    SmallVector<OpFoldResult> offsets(from.getRank(), zero),
        sizes(from.getRank(), one), steps(from.getRank(), one);
    sizes[0] = rows;
    auto columnType =
        RankedTensorType::get({type.getDimSize(0)}, from.getElementType());
    Value column = tensor::ExtractSliceOp::create(b, columnType, source,
                                                  offsets, sizes, steps);
    Value empty = tensor::EmptyOp::create(
        b, ArrayRef<OpFoldResult>{rows, b.getIndexAttr(type.getDimSize(1))},
        type.getElementType());
    AffineMap all = b.getMultiDimIdentityMap(2);
    AffineMap row = AffineMap::get(2, 0, b.getAffineDimExpr(0));
    SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b, TypeRange(type), column, empty, ArrayRef<AffineMap>{row, all},
               loops,
               [](OpBuilder &inner, Location location, ValueRange values) {
                 Value number = values[0];
                 if (number.getType().isInteger())
                   number = arith::SIToFPOp::create(
                       inner, location, values[1].getType(), number);
                 linalg::YieldOp::create(inner, location, number);
               })
        ->getResult(0);
  }

  /// Layers of other stages no longer write the caches.
  void detachCaches() {
    for (Operation &op : function.front())
      for (OpOperand &operand : op.getOpOperands()) {
        BlockArgument argument = getUpdatedArgument(operand.get());
        if (!argument || operand.get() == argument)
          continue;
        Value value = operand.get();
        if (op.hasTrait<OpTrait::IsTerminator>())
          while (stageOf(value) > own.number)
            value = value.getDefiningOp<tensor::InsertSliceOp>().getDest();
        if (stageOf(value) < own.number)
          value = argument;
        operand.set(value);
      }
  }

  /// Whether `op` reads or writes one layer of a cache.
  static bool isOfOneLayer(Operation *op) {
    auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
    return slice && getConstantIntValue(slice.getMixedOffsets()[0]) &&
           isConstantIntValue(slice.getMixedSizes()[0], 1);
  }

  /// Leaves the layers of a cache that this stage has.
  void shrinkCaches() {
    Share share = getShare(layers, 1, own);
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type || type.getRank() != 4 || type.getDimSize(0) != layers)
        continue;
      SmallVector<Operation *> slices;
      SmallVector<Value> chain = {argument};
      bool isPossible = true;
      for (size_t i = 0; i < chain.size(); ++i)
        for (Operation *user : chain[i].getUsers()) {
          if (user->hasTrait<OpTrait::IsTerminator>())
            continue;
          isPossible &= isOfOneLayer(user);
          slices.push_back(user);
          if (auto write = dyn_cast<tensor::InsertSliceOp>(user))
            chain.push_back(write.getResult());
        }
      if (!isPossible)
        continue;
      for (Operation *op : slices)
        moveLayer(op, share.begin);
      SmallVector<int64_t> shape(type.getShape());
      shape[0] = share.size();
      for (Value value : chain)
        value.setType(type.clone(shape));
    }
  }

  static void moveLayer(Operation *op, int64_t by) {
    auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
    SmallVector<int64_t> offsets(slice.getStaticOffsets());
    offsets[0] -= by;
    op->setAttr("static_offsets",
                DenseI64ArrayAttr::get(op->getContext(), offsets));
  }

  func::FuncOp function;
  int64_t layers;
  Rank own;
  DenseMap<Value, int64_t> stages;
  SmallVector<Value> streams; ///< what comes into each stage
  Value tokens;
};

struct SplitStagesPass final
    : gist::impl::SplitStagesPassBase<SplitStagesPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Rank own{stage, stages};
    if (own.count < 1 || own.number < 0 || own.number >= own.count) {
      module.emitError("has no stage ")
          << own.number << " of " << own.count << "; stages are counted from 0";
      return signalPassFailure();
    }
    if (own.count == 1)
      return;
    int64_t layers = countLayers(module);
    if (layers < own.count) {
      module.emitError("has ") << layers << (layers == 1 ? " layer" : " layers")
                               << ", too few for " << own.count << " stages";
      return signalPassFailure();
    }
    if (PlanOp plan = getPlan(module);
        plan && failed(splitPlan(plan, layers, own)))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && function.getBody().hasOneBlock() &&
          failed(StageSplitter(function, layers, own).run()))
        return signalPassFailure();
  }

  /// Leaves what a plan says of the layers of one stage.
  static LogicalResult splitPlan(PlanOp plan, int64_t layers, Rank own) {
    Share share = getShare(layers, 1, own);
    for (auto [number, layer] : llvm::enumerate(
             llvm::to_vector(plan.getBody().getOps<PlanLayerOp>()))) {
      if (!layer.getBody().getOps<PlanLinearOp>().empty() ||
          !layer.getBody().getOps<PlanDepthOp>().empty())
        return layer.emitOpError("cannot be split: a plan for several stages "
                                 "must not have linear layers or depths");
      auto n = static_cast<int64_t>(number);
      if (n < share.begin || n >= share.end)
        layer.erase();
    }
    return success();
  }
};
} // namespace
