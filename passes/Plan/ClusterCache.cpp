//===- ClusterCache.cpp - The pass -gist-cluster-cache --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistClusterOps.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Unused.h"
#include "passes/Passes.h"
#include "passes/Plan/PlanInGraph.h"

namespace gist {
#define GEN_PASS_DEF_CLUSTERCACHEPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
/// Attention that reads a KV cache, and the rows that its layer writes there.
/// The graph has insert_slice of the rows at (layer, past) into the cache, and
/// attention reads an extract_slice of the result.
struct CachedAttention {
  AttentionOp op;
  Value key, value; ///< rows of this call, tokens x KV heads x size
  BlockArgument keyCache, valueCache;
  // Tokens of the sequence before this call.
  Value past;
  int64_t layer;
};

/// Gives one function its new cache. Layers whose heads are all dense keep
/// their attention and their part of the model's cache.
class Rewrite {
public:
  Rewrite(func::FuncOp function, PlanOp written, const Plan &plan)
      : function(function), written(written), plan(plan),
        b(function.getContext()) {}

  /// Does nothing to a function without attention.
  LogicalResult run() {
    for (auto attention : function.getOps<AttentionOp>())
      if (failed(find(attention)))
        return failure();
    if (found.empty())
      return success();
    if (failed(verifyLayers()))
      return failure();
    // The plan saves nothing: the model keeps its cache.
    if (plan.isDense())
      return success();
    // Everything that can fail comes before the first change.
    if (failed(layOut()))
      return failure();
    addState();
    for (const CachedAttention &attention : found)
      if (!plan.isDense(attention.layer))
        replace(attention);
    replaceResults();
    dropRows();
    return success();
  }

private:
  LogicalResult find(AttentionOp op);
  FailureOr<tensor::InsertSliceOp> findRows(AttentionOp op, Value all);
  LogicalResult verifyLayers();
  /// Says where each head's rows and clusters lie, and defines the table of it.
  LogicalResult layOut();
  LogicalResult defineTable(int64_t capacity);
  void addState();
  void replace(const CachedAttention &attention);
  void replaceResults();
  /// Leaves the layers that do not read them out of the caches of the model.
  void dropRows();
  bool keepsCaches() const {
    return llvm::any_of(found, [&](const CachedAttention &attention) {
      return plan.isDense(attention.layer);
    });
  }

  func::FuncOp function;
  PlanOp written;
  const Plan &plan; ///< the contents of `written`
  OpBuilder b;
  SmallVector<CachedAttention> found;
  CacheLayout layout;
  /// The table of heads, as a value of this function.
  Value heads;
  // The five tensors of the cache as the last update left them.
  SmallVector<Value> state;
};
} // namespace

/// The rows that this call writes into the cache that `all` is a view of.
FailureOr<tensor::InsertSliceOp> Rewrite::findRows(AttentionOp op, Value all) {
  auto extract = all.getDefiningOp<tensor::ExtractSliceOp>();
  auto insert = extract
                    ? extract.getSource().getDefiningOp<tensor::InsertSliceOp>()
                    : tensor::InsertSliceOp();
  if (!insert || !getUpdatedArgument(insert) ||
      insert.getDestType().getRank() != 4 ||
      // layers x capacity x KV heads x size: the layer is a constant, the
      // position depends on the call.
      !getConstantIntValue(insert.getMixedOffsets()[0]) ||
      !isa<Value>(insert.getMixedOffsets()[1]))
    return op.emitOpError(
        "does not read a KV cache; a plan of KV heads needs one");
  return insert;
}

LogicalResult Rewrite::find(AttentionOp op) {
  if (!op.getCausal() || op.getSinks() || op.getMask() || op.getOffsets())
    return op.emitOpError("expects causal attention without sinks, a mask or "
                          "offsets where a plan has heads");
  FailureOr<tensor::InsertSliceOp> key = findRows(op, op.getKey());
  if (failed(key))
    return failure();
  FailureOr<tensor::InsertSliceOp> value = findRows(op, op.getValue());
  if (failed(value))
    return failure();
  int64_t layer = *getConstantIntValue(key->getMixedOffsets()[0]);
  int64_t kvHeads = op.getKey().getType().getDimSize(1);
  if (layer >= static_cast<int64_t>(plan.layers.size()) ||
      kvHeads != static_cast<int64_t>(plan.layers.front().size()))
    return op.emitOpError("is layer ")
           << layer << " with " << kvHeads << " KV heads, but the plan is for "
           << plan.layers.size() << " layers with "
           << plan.layers.front().size();
  found.push_back({op, key->getSource(), value->getSource(),
                   getUpdatedArgument(*key), getUpdatedArgument(*value),
                   cast<Value>(key->getMixedOffsets()[1]), layer});
  return success();
}

LogicalResult Rewrite::verifyLayers() {
  // All layers share one pair of caches, so the first attention gives the sizes
  // of all.
  auto cache = cast<RankedTensorType>(found.front().keyCache.getType());
  if (cache.getDimSize(0) != static_cast<int64_t>(plan.layers.size()))
    return function.emitError("has ")
           << cache.getDimSize(0) << " layers, but the plan is for "
           << plan.layers.size();
  return success();
}

LogicalResult Rewrite::layOut() {
  auto cache = cast<RankedTensorType>(found.front().keyCache.getType());
  Status status = layOutCache(plan, cache.getDimSize(1), layout);
  if (!status.ok())
    return function.emitError(status.text);
  return defineTable(cache.getDimSize(1));
}

/// Defines the weight that functions read their heads from.
/// Functions share the cache, so they share the table: the first one defines
/// it, and the others only compare.
LogicalResult Rewrite::defineTable(int64_t capacity) {
  auto module = function->getParentOfType<ModuleOp>();
  if (Operation *known =
          SymbolTable::lookupSymbolIn(module, kPlanHeadsWeight)) {
    auto table = dyn_cast<HeadTableOp>(known);
    if (table && table.getCapacity() == capacity)
      return success();
    return function.emitError("has a cache of ")
           << capacity << " tokens, and '" << kPlanHeadsWeight
           << "' is defined for another number";
  }
  b.setInsertionPointToEnd(module.getBody());
  auto table = HeadTableOp::create(b, written.getLoc(), kPlanHeadsWeight,
                                   capacity, plan.block);
  Block &body = table.getBody().emplaceBlock();
  for (auto layer : written.getOps<PlanLayerOp>()) {
    b.setInsertionPointToEnd(&body);
    auto copy = PlanLayerOp::create(b, layer.getLoc());
    b.setInsertionPointToEnd(&copy.getBody().emplaceBlock());
    // Copies: the plan is dropped, and the table is computed when the module
    // is written.
    for (auto head : layer.getOps<PlanHeadOp>())
      b.clone(*head);
  }
  return success();
}

void Rewrite::addState() {
  auto keys = cast<RankedTensorType>(found.front().keyCache.getType());
  auto values = cast<RankedTensorType>(found.front().valueCache.getType());
  int64_t layers = keys.getDimSize(0), kvHeads = keys.getDimSize(2);
  Type element = keys.getElementType();
  auto rows = [&](int64_t count, RankedTensorType like) {
    return RankedTensorType::get({count, like.getDimSize(3)}, element);
  };
  struct Part {
    const char *name;
    RankedTensorType type;
  };
  // In the order of gist.cluster_update's destinations.
  Part parts[] = {
      {"k_rows", rows(layout.rows, keys)},
      {"v_rows", rows(layout.rows, values)},
      {"units", rows(layout.units, keys)},
      {"weights", RankedTensorType::get({layout.units}, b.getF32Type())},
      {"clusters", RankedTensorType::get({layers, kvHeads}, b.getI32Type())}};
  for (const Part &part : parts) {
    unsigned number = function.getNumArguments();
    NamedAttrList attributes;
    attributes.set(kNameAttr, b.getStringAttr(part.name));
    // A session starts without clusters; their number is a statistic.
    if (StringRef(part.name) == "clusters") {
      attributes.set(kZeroOnResetAttr, b.getUnitAttr());
      attributes.set(kStatisticAttr, b.getUnitAttr());
    }
    // At the end, so that arguments before keep their places.
    (void)function.insertArgument(number, part.type,
                                  attributes.getDictionary(b.getContext()),
                                  function.getLoc());
    state.push_back(function.getArgument(number));
  }
  b.setInsertionPointToStart(&function.getBody().front());
  auto table =
      RankedTensorType::get({layers, kvHeads, kNumHeadFields}, b.getF32Type());
  heads = WeightOp::create(b, function.getLoc(), table, kPlanHeadsWeight);
}

void Rewrite::replace(const CachedAttention &attention) {
  AttentionOp op = attention.op;
  Location location = op.getLoc();
  b.setInsertionPoint(op);
  Value layer = arith::ConstantIndexOp::create(b, location, attention.layer);
  SmallVector<Type> types(ValueRange(state).getTypes());
  auto update = ClusterUpdateOp::create(
      b, location, types, attention.key, attention.value, heads, attention.past,
      layer, state[0], state[1], state[2], state[3], state[4], plan.block);
  // The next layer's update goes on from this one's: one chain over the layers.
  state.assign(update->result_begin(), update->result_end());
  // Without state[2]: the units only tell which cluster a token joins.
  Value result = ClusterAttentionOp::create(
      b, location, op.getQuery().getType(), op.getQuery(), heads,
      attention.past, layer, state[0], state[1], state[3], state[4],
      /*own=*/ValueRange(), b.getI64IntegerAttr(plan.block), op.getScaleAttr(),
      op.getWindowAttr());
  op.replaceAllUsesWith(result);
  op.erase();
}

void Rewrite::replaceResults() {
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  BlockArgument old[] = {found.front().keyCache, found.front().valueCache};
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  for (auto [number, result] : llvm::enumerate(end.getOperands())) {
    // The old caches stay results only if a layer still reads them.
    if (!keepsCaches() && llvm::is_contained(old, getUpdatedArgument(result)))
      continue;
    results.push_back(result);
    attributes.push_back(function.getResultAttrDict(number));
  }
  results.append(state);
  attributes.resize(results.size(), b.getDictionaryAttr({}));
  end->setOperands(results);
  function.setFunctionType(b.getFunctionType(function.getArgumentTypes(),
                                             ValueRange(results).getTypes()));
  function.setAllResultAttrs(attributes);
}

/// The op that writes into `cache` next, or null.
static tensor::InsertSliceOp findWrite(Value cache) {
  for (Operation *user : cache.getUsers())
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      return insert;
  return {};
}

/// Gives `cache`, and what is written into it layer after layer, its new type.
/// Layers that are kept get new numbers; writes of the others go.
static void renumber(Value cache, RankedTensorType type,
                     const llvm::DenseMap<int64_t, int64_t> &kept) {
  auto change = [&](auto op) {
    SmallVector<int64_t> offsets(op.getStaticOffsets());
    offsets.front() = kept.at(offsets.front());
    op.setStaticOffsets(offsets);
  };
  while (cache) {
    tensor::InsertSliceOp write = findWrite(cache);
    while (write && !kept.contains(write.getStaticOffsets().front())) {
      write.getResult().replaceAllUsesWith(cache);
      write.erase();
      write = findWrite(cache);
    }
    cache.setType(type);
    for (Operation *user : cache.getUsers())
      if (auto read = dyn_cast<tensor::ExtractSliceOp>(user))
        change(read);
    if (write)
      change(write);
    cache = write ? write.getResult() : Value();
  }
}

void Rewrite::dropRows() {
  // What fills and reads the old cache is left over, the last of it first.
  eraseUnused(function.front());
  BlockArgument caches[] = {found.front().valueCache, found.front().keyCache};
  llvm::DenseMap<int64_t, int64_t> kept;
  for (const CachedAttention &attention : found)
    if (plan.isDense(attention.layer))
      kept.try_emplace(attention.layer, kept.size());
  for (BlockArgument cache : caches) {
    // Erasing an argument renumbers the others, so each is looked up by value.
    if (kept.empty()) {
      (void)function.eraseArgument(cache.getArgNumber());
      continue;
    }
    auto type = cast<RankedTensorType>(cache.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = static_cast<int64_t>(kept.size());
    renumber(cache, type.clone(shape), kept);
  }
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  function.setFunctionType(b.getFunctionType(
      function.getBody().front().getArgumentTypes(), end->getOperandTypes()));
}

/// The layer of the KV cache that `op` reads, if it reads one.
static std::optional<int64_t> findLayer(AttentionOp op) {
  auto extract = op.getKey().getDefiningOp<tensor::ExtractSliceOp>();
  if (!extract || extract.getSourceType().getRank() != 4)
    return std::nullopt;
  return getConstantIntValue(extract.getMixedOffsets()[0]);
}

/// Heads with a window of the model's own keep that window: a plan cannot
/// change them. One token less, because the model's window includes the query,
/// and the plan's counts tokens before the block.
static LogicalResult keepWindows(func::FuncOp function, PlanOp plan) {
  auto layers = llvm::to_vector(plan.getOps<PlanLayerOp>());
  for (auto op : function.getOps<AttentionOp>()) {
    std::optional<int64_t> layer = findLayer(op);
    if (!op.getWindow() || !layer ||
        *layer >= static_cast<int64_t>(layers.size()))
      continue;
    int64_t kept = *op.getWindow() - 1;
    for (auto head : layers[*layer].getOps<PlanHeadOp>()) {
      std::optional<int64_t> window = head.getWindow(), sinks = head.getSinks();
      if (window && (*window != kept || sinks.value_or(-1) != 0))
        return op.emitOpError("sees a window of ")
               << *op.getWindow() << " tokens in layer " << *layer
               << "; expected \"dense\" for its heads in the plan";
      Builder b(op.getContext());
      head.setWindowAttr(b.getI64IntegerAttr(kept));
      head.setSinksAttr(b.getI64IntegerAttr(0));
    }
  }
  return success();
}

namespace {
struct ClusterCachePass final
    : gist::impl::ClusterCachePassBase<ClusterCachePass> {
  using Base::Base;

  void runOnOperation() override {
    PlanOp plan = getPlan(getOperation());
    if (!plan || !plan.getBlock())
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(keepWindows(function, plan)))
        return signalPassFailure();
    Plan choices = getHeads(plan.getBody().front(), *plan.getBlock());
    if (choices.layers.empty() || choices.layers.front().empty())
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(kKernelAttr) &&
          (failed(verifyStraightLine(function)) ||
           failed(Rewrite(function, plan, choices).run())))
        return signalPassFailure();
    dropPart<PlanHeadOp>(plan);
  }
};
} // namespace
