//===- SplitRanks.cpp - The pass -gist-split-ranks ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A linear layer whose input was made by other linear layers, and by nothing
// else, is an *inner* one: the output projection of attention and the second
// half of a feed-forward block. The residual stream is never between two such
// layers, because it begins with embeddings. The input of an inner layer is
// shared out among the ranks. Then they gather it and compute some columns of
// the product each, which they gather as well: every number is computed as one
// rank alone would. Or the product becomes a part of a sum.
//
// A cache has the same heads in all functions, also in one whose plan leaves no
// attention. Maps of a plan that are not next to such a layer have their
// columns computed by all ranks and gathered.
//
// All ranks must make the same decisions, or they would deadlock. So every rank
// checks whether the others can have their parts too.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistNames.h"
#include "dialect/GistPlanOps.h"
#include "dialect/GistRankOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Unused.h"
#include "passes/Passes.h"
#include "passes/Plan/MadeWeights.h"
#include "passes/Plan/PlanInGraph.h"
#include "passes/Ranks/GivenTensors.h"
#include "passes/Ranks/SliceGraph.h"

namespace gist {
#define GEN_PASS_DEF_SPLITRANKSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// True for a linear layer: rows times the rows of a weight, added to nothing.
static bool isLinear(Operation *op) {
  auto product = dyn_cast<linalg::MatmulOp>(op);
  if (!product || !isTransposedMatmul(product) ||
      !getWeightOf(product.getDpsInputs()[1]))
    return false;
  auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.value(), m_AnyZeroFloat()) &&
         getElementTypeOrSelf(product->getResult(0)).isF32();
}

namespace {
/// What a value was made by.
enum Source : unsigned {
  kNothing = 0,    ///< weights, constants, caches
  kLinear = 1,     ///< linear layers that are not inner ones
  kOther = 1 << 1, ///< tokens, embeddings, inner layers
};

/// Finds the inner layers of a function.
class Sources {
public:
  explicit Sources(func::FuncOp function) {
    for (BlockArgument argument : getGivenTensors(function))
      known[argument] = kOther;
    for (Operation &op : function.front())
      visit(&op);
  }

  unsigned get(Value value) const { return known.lookup(value); }
  ArrayRef<linalg::MatmulOp> getInner() const { return inner; }

private:
  void visit(Operation *op) {
    unsigned sources = kNothing;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        sources |= get(operand);
    });
    if (isLinear(op)) {
      auto product = cast<linalg::MatmulOp>(op);
      bool isInner = get(product.getDpsInputs()[0]) == kLinear;
      if (isInner)
        inner.push_back(product);
      sources = isInner ? kOther : kLinear;
    }
    // Sizes do not depend on the content of tensors.
    for (Value result : op->getResults())
      known[result] = isa<IndexType>(result.getType()) ? kNothing : sources;
  }

  DenseMap<Value, unsigned> known;
  SmallVector<linalg::MatmulOp> inner;
};

/// An inner layer, and the attention that its input comes from, if any.
struct Layer {
  linalg::MatmulOp product;
  AttentionOp attention;
};

/// What ranks leave of caches, by the name of the argument.
using CacheShares = llvm::StringMap<GraphSlicer::Kept>;

/// Splits one function.
class Splitter {
public:
  Splitter(func::FuncOp function, Rank rank, bool useSums)
      : function(function), module(function->getParentOfType<ModuleOp>()),
        rank(rank), useSums(useSums), sources(function),
        slicer(module, /*build=*/true) {
    for (linalg::MatmulOp product : sources.getInner())
      layers.push_back({product, findAttention(product.getDpsInputs()[0])});
  }

  /// Whether all attention can be shared out. It is all or nothing, because
  /// layers share their caches.
  bool canSplitHeads() {
    return llvm::all_of(layers, [&](Layer layer) {
      return !layer.attention || canSplit(layer);
    });
  }

  /// The KV heads of the rank, of how many. None without attention.
  std::optional<std::pair<HeadShare, int64_t>> getHeads() {
    for (Layer layer : layers)
      if (layer.attention)
        return std::pair(*getHeadShare(layer.attention, rank),
                         countKeys(layer.attention));
    return std::nullopt;
  }

  /// Splits layers and logits, and adds what is left of caches to `caches`.
  LogicalResult run(bool splitHeads, CacheShares &caches) {
    for (Layer layer : layers)
      if (layer.attention ? splitHeads : canSplit(layer))
        if (failed(split(layer)))
          return failure();
    for (auto [number, part] : slicer.arguments())
      caches.try_emplace(nameOf(number), part);
    return splitLogits();
  }

  LogicalResult finish(const CacheShares &caches) {
    if (failed(returnCaches(caches)))
      return failure();
    eraseUnused(function.front());
    if (failed(splitMaps()))
      return failure();
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    function.setFunctionType(FunctionType::get(
        function.getContext(), function.front().getArgumentTypes(),
        end.getOperandTypes()));
    eraseUnused(function.front());
    return success();
  }

private:
  static int64_t countKeys(AttentionOp attention) {
    return attention.getKey().getType().getDimSize(1);
  }

  static std::optional<HeadShare> getHeadShare(AttentionOp attention,
                                               Rank rank) {
    return gist::getHeadShare(attention.getQuery().getType().getDimSize(1),
                              countKeys(attention), rank);
  }

  /// The attention that `input` is made of, before any linear layer.
  static AttentionOp findAttention(Value input) {
    SmallVector<Value> values = {input};
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!values.empty()) {
      Operation *op = values.pop_back_val().getDefiningOp();
      if (!op || isLinear(op) || !seen.insert(op).second)
        continue;
      if (auto attention = dyn_cast<AttentionOp>(op))
        return attention;
      llvm::append_range(values, op->getOperands());
    }
    return {};
  }

  /// The columns of a layer's input that a rank has; empty: none.
  Share getColumns(Layer layer, Rank rank) {
    Value input = layer.product.getDpsInputs()[0];
    int64_t columns = cast<RankedTensorType>(input.getType()).getDimSize(1);
    if (!layer.attention) {
      // A part of a sum reads whole blocks of the weight.
      Value weight = layer.product.getDpsInputs()[1];
      int64_t least = 1;
      if (auto read = weight.getDefiningOp<DequantizeOp>(); read && useSums)
        least =
            columns /
            cast<RankedTensorType>(read.getBlocks().getType()).getDimSize(1);
      return getShare(columns, chooseUnit(columns, least, rank.count), rank);
    }
    std::optional<HeadShare> heads = getHeadShare(layer.attention, rank);
    if (!heads)
      return {};
    int64_t size = layer.attention.getValue().getType().getDimSize(2);
    if (size * layer.attention.getQuery().getType().getDimSize(1) != columns)
      return {};
    return heads->queries * size;
  }

  /// Whether each rank can have its part of the layer.
  bool canSplit(Layer layer) {
    // A gather reads what a kernel has written, and a slice is a view of it.
    if (!useSums &&
        layer.product.getDpsInputs()[0].getDefiningOp<tensor::ExtractSliceOp>())
      return false;
    for (int64_t number = 0; number < rank.count; ++number) {
      GraphSlicer tried(module, /*build=*/false);
      Share columns = getColumns(layer, {number, rank.count});
      if (failed(tried.slice(layer.product.getDpsInputs()[0], 1, columns)) ||
          (useSums &&
           failed(tried.slice(layer.product.getDpsInputs()[1], 1, columns))))
        return false;
    }
    return true;
  }

  LogicalResult split(Layer layer) {
    return useSums ? splitSum(layer) : splitInTwo(layer);
  }

  /// Gathers the input of a layer, of which each rank has computed its part,
  /// and then the columns of its result.
  LogicalResult splitInTwo(Layer layer) {
    linalg::MatmulOp product = layer.product;
    Value input = product.getDpsInputs()[0];
    FailureOr<Value> part = slicer.slice(input, 1, getColumns(layer, rank));
    if (failed(part))
      return product.emitOpError(
          "cannot be split, although the check before allowed it");
    SmallVector<int64_t> columns;
    for (int64_t number = 0; number < rank.count; ++number)
      columns.push_back(getColumns(layer, {number, rank.count}).size());
    OpBuilder builder(product);
    Value all = AllGatherOp::create(builder, product.getLoc(), *part, columns);
    product.getDpsInputOperand(0)->set(all);
    FailureOr<Value> result = splitColumns(builder, product->getResult(0));
    if (failed(result))
      return failure();
    if (*result != product->getResult(0))
      product->getResult(0).replaceAllUsesWith(*result);
    return success();
  }

  /// `value` with its columns computed by all ranks and gathered; `value`
  /// itself where they cannot be.
  FailureOr<Value> splitColumns(OpBuilder &builder, Value value) {
    int64_t count = cast<RankedTensorType>(value.getType()).getDimSize(1);
    int64_t unit = chooseUnit(count, 1, rank.count);
    SmallVector<int64_t> columns;
    for (int64_t number = 0; number < rank.count; ++number) {
      Share share = getShare(count, unit, {number, rank.count});
      columns.push_back(share.size());
      if (failed(GraphSlicer(module, /*build=*/false).slice(value, 1, share)))
        return value;
    }
    FailureOr<Value> part = slicer.slice(value, 1, getShare(count, unit, rank));
    if (failed(part)) {
      emitError(value.getLoc(),
                "cannot be split, although the check before allowed it");
      return failure();
    }
    builder.setInsertionPointAfterValue(*part);
    return AllGatherOp::create(builder, value.getLoc(), *part, columns)
        .getResult();
  }

  /// Makes a layer's product a part of a sum.
  LogicalResult splitSum(Layer layer) {
    linalg::MatmulOp product = layer.product;
    Share columns = getColumns(layer, rank);
    SmallVector<Value> operands;
    for (Value operand : product.getDpsInputs()) {
      FailureOr<Value> part = slicer.slice(operand, 1, columns);
      if (failed(part))
        return product.emitOpError(
            "cannot be split, although the check before allowed it");
      operands.push_back(*part);
    }
    operands.push_back(product.getDpsInits()[0]);
    OpBuilder builder(product);
    Value part = clone(builder, product, product->getResultTypes(), operands)
                     ->getResult(0);
    Value sum =
        AllReduceOp::create(builder, product.getLoc(), part.getType(), part);
    product->getResult(0).replaceAllUsesWith(sum);
    return success();
  }

  /// Logits are columns of one wide product. Every rank computes some.
  LogicalResult splitLogits() {
    Operation *end = function.front().getTerminator();
    for (OpOperand &result : end->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(result.get().getType());
      if (!type || type.getRank() != 2 || type.isDynamicDim(1) ||
          !type.getElementType().isF32() ||
          sources.get(result.get()) != kLinear)
        continue;
      OpBuilder builder(end);
      FailureOr<Value> all = splitColumns(builder, result.get());
      if (failed(all))
        return failure();
      result.set(*all);
    }
    return success();
  }

  /// One without a name is the function's own.
  std::string nameOf(unsigned argument) {
    auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
    return name ? name.str()
                : (function.getName() + "#" + Twine(argument)).str();
  }

  /// Maps of a plan that are still whole: every rank computes some columns.
  LogicalResult splitMaps() {
    for (Operation &op : llvm::make_early_inc_range(function.front())) {
      if (!isLinear(&op) || !module.lookupSymbol<FittedWeightOp>(
                                getWeightOf(op.getOperand(1)).getName()))
        continue;
      // Of a product that caches have taken their part of, the number of rows
      // may be left.
      if (llvm::all_of(op.getUsers(), llvm::IsaPred<tensor::DimOp>))
        continue;
      OpBuilder builder(&op);
      FailureOr<Value> all = splitColumns(builder, op.getResult(0));
      if (failed(all))
        return failure();
      if (*all != op.getResult(0))
        op.getResult(0).replaceAllUsesWith(*all);
    }
    return success();
  }

  /// Caches have the rank's heads alone.
  LogicalResult returnCaches(const CacheShares &caches) {
    Operation *end = function.front().getTerminator();
    for (OpOperand &result : end->getOpOperands()) {
      BlockArgument argument = getUpdatedArgument(result.get());
      if (!argument)
        continue;
      auto kept = caches.find(nameOf(argument.getArgNumber()));
      if (kept == caches.end())
        continue;
      FailureOr<Value> part =
          slicer.slice(result.get(), kept->second.axis, kept->second.range);
      if (failed(part))
        return end->emitOpError("returns a cache that cannot be split");
      result.set(*part);
    }
    return success();
  }

  func::FuncOp function;
  ModuleOp module;
  Rank rank;
  bool useSums;
  Sources sources;
  GraphSlicer slicer;
  SmallVector<Layer> layers;
};
} // namespace

/// Leaves what a plan says of the KV heads `own`, of `count`.
static LogicalResult splitPlan(PlanOp plan, Share own, int64_t count) {
  WalkResult walk = plan.walk([](Operation *record) {
    if (!isa<PlanLinearOp, PlanDepthOp>(record))
      return WalkResult::advance();
    record->emitOpError("cannot be split: a plan for several ranks must not "
                        "have linear layers, and what it says of depths comes "
                        "before (-gist-reduce-depth)");
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  for (auto layer : plan.getBody().getOps<PlanLayerOp>()) {
    auto heads = llvm::to_vector(layer.getBody().getOps<PlanHeadOp>());
    if (static_cast<int64_t>(heads.size()) == count)
      for (auto [number, head] : llvm::enumerate(heads)) {
        auto n = static_cast<int64_t>(number);
        if (n < own.begin || n >= own.end)
          head.erase();
      }
    for (auto select : layer.getBody().getOps<PlanSelectOp>())
      if (static_cast<int64_t>(select.getTaus().size()) == count)
        select.setTaus(select.getTaus().slice(own.begin, own.size()));
  }
  return success();
}

namespace {
struct SplitRanksPass final : gist::impl::SplitRanksPassBase<SplitRanksPass> {
  using Base::Base;

  void runOnOperation() override {
    Rank own{rank, ranks};
    if (own.count < 1 || own.number < 0 || own.number >= own.count) {
      getOperation().emitError("has no rank ")
          << own.number << " of " << own.count << "; ranks are counted from 0";
      return signalPassFailure();
    }
    if (own.count == 1)
      return;
    std::vector<std::unique_ptr<Splitter>> splitters;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && function.getBody().hasOneBlock())
        splitters.push_back(std::make_unique<Splitter>(function, own, sums));
    // Functions share their caches too.
    bool splitHeads = llvm::all_of(
        splitters, [](auto &splitter) { return splitter->canSplitHeads(); });
    PlanOp plan = getPlan(getOperation());
    if (plan) {
      std::optional<std::pair<HeadShare, int64_t>> heads;
      for (auto &splitter : splitters)
        if (splitHeads && !heads)
          heads = splitter->getHeads();
      Share kept = heads ? heads->first.keys : Share();
      if (failed(splitPlan(plan, kept, heads ? heads->second : -1)))
        return signalPassFailure();
    }
    CacheShares caches;
    for (auto &splitter : splitters)
      if (failed(splitter->run(splitHeads, caches)))
        return signalPassFailure();
    for (auto &splitter : splitters)
      if (failed(splitter->finish(caches)))
        return signalPassFailure();
  }
};
} // namespace
