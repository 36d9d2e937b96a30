//===- BatchClusterUpdates.cpp - Cluster updates in batches ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/BatchClusterUpdates.h"
#include "dialect/GistClusterOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "passes/Plan/PlanInGraph.h"

using namespace mlir;
using namespace gist;

/// The layers of the plan that have clusters or windows, in their order; those
/// that are dense are not in the cache. All layers where the module does not
/// define the table.
static SmallVector<int64_t> findLayers(ClusterUpdateOp update) {
  int64_t count = update.getHeads().getType().getDimSize(0);
  auto weight = update.getHeads().getDefiningOp<WeightOp>();
  auto table = dyn_cast_or_null<HeadTableOp>(
      weight ? SymbolTable::lookupSymbolIn(update->getParentOfType<ModuleOp>(),
                                           weight.getName())
             : nullptr);
  if (!table)
    return llvm::to_vector(llvm::seq(count));
  SmallVector<int64_t> layers;
  Plan plan = getHeads(table.getBody().front(), table.getBlock());
  for (size_t layer = 0; layer < plan.layers.size(); ++layer)
    if (!plan.isDense(layer))
      layers.push_back(static_cast<int64_t>(layer));
  return layers;
}

static int64_t getLayer(ClusterUpdateOp update) {
  return getConstantIntValue(update.getLayer()).value_or(-1);
}

/// The updates of `function` where they are a chain: of one layer after the
/// other, with the same table, each on the cache that the one before it left,
/// the first on the function's own. Otherwise nothing.
static SmallVector<ClusterUpdateOp> findChain(func::FuncOp function) {
  SmallVector<ClusterUpdateOp> chain;
  SmallVector<int64_t> layers;
  for (auto update : function.getOps<ClusterUpdateOp>()) {
    if (chain.empty())
      layers = findLayers(update);
    if (update.getAbsorbed() || chain.size() >= layers.size() ||
        getLayer(update) != layers[chain.size()])
      return {};
    if (chain.empty()) {
      if (!llvm::all_of(update.getDpsInits(), llvm::IsaPred<BlockArgument>))
        return {};
    } else if (!llvm::equal(update.getDpsInits(), chain.back()->getResults()) ||
               update.getHeads() != chain.front().getHeads() ||
               update.getPast() != chain.front().getPast() ||
               update.getBlock() != chain.front().getBlock()) {
      return {};
    }
    chain.push_back(update);
  }
  // An absorb works on all layers from one number to another. A chain that
  // ends early would leave layers that nothing absorbs.
  return chain.size() == layers.size() ? chain : SmallVector<ClusterUpdateOp>();
}

/// The attention that reads the results of `update`, if it is one op and
/// nothing reads them before it.
static ClusterAttentionOp findAttention(ClusterUpdateOp update) {
  ClusterAttentionOp found;
  for (Operation *user : update->getUsers())
    if (auto attention = dyn_cast<ClusterAttentionOp>(user)) {
      if (found && found != attention)
        return {};
      found = attention;
    }
  // With a window, attention treats rows of the call and earlier rows alike.
  if (!found || !found.getOwn().empty() || found.getWindow() ||
      found->getBlock() != update->getBlock() ||
      found.getPast() != update.getPast() ||
      found.getLayer() != update.getLayer() ||
      found.getHeads() != update.getHeads() ||
      found.getBlock() != update.getBlock() ||
      found.getKeys() != update.getNewKeys() ||
      found.getValues() != update.getNewValues() ||
      found.getWeights() != update.getNewWeights() ||
      found.getCounts() != update.getNewCounts())
    return {};
  // The update moves behind attention. An op between them that reads the
  // updated cache would then read it before it is written.
  for (Operation *user : update->getUsers())
    if (user != found && user->getBlock() == found->getBlock() &&
        user->isBeforeInBlock(found))
      return {};
  return found;
}

/// Lets attention read the rows of its call where they are made, and the update
/// come after it.
static void readOwnRows(ClusterUpdateOp update, ClusterAttentionOp attention) {
  attention.getKeysMutable().assign(update.getKeys());
  attention.getValuesMutable().assign(update.getValues());
  attention.getWeightsMutable().assign(update.getWeights());
  attention.getCountsMutable().assign(update.getCounts());
  attention.getOwnMutable().assign({update.getKey(), update.getValue()});
  update->moveAfter(attention);
}

/// Absorbs the tokens that leave windows before position `past`, in layers
/// `begin` to `end`; returns the new cache.
static ClusterAbsorbOp absorb(OpBuilder &builder, ClusterUpdateOp first,
                              Value past, ValueRange state, int64_t begin,
                              int64_t end) {
  return ClusterAbsorbOp::create(
      builder, first.getLoc(), state.getTypes(), first.getHeads(), past,
      state[0], state[1], state[2], state[3], state[4],
      builder.getI64IntegerAttr(begin), builder.getI64IntegerAttr(end),
      first.getBlockAttr());
}

void gist::batchClusterUpdates(func::FuncOp function,
                               ClusterBatching batching) {
  SmallVector<ClusterUpdateOp> chain = findChain(function);
  if (chain.empty())
    return;
  ClusterUpdateOp first = chain.front();
  // An absorb takes the tokens out instead, so updates must not do it again.
  for (ClusterUpdateOp update : chain) {
    update.setAbsorbed(true);
    ClusterAttentionOp attention;
    if (batching.readsOwnRows && (attention = findAttention(update)))
      readOwnRows(update, attention);
  }
  int64_t layers = first.getHeads().getType().getDimSize(0);
  // With `spansCalls` the call before has absorbed the first half already.
  size_t count = batching.spansCalls ? chain.size() / 2 : 0;
  int64_t half = count == 0 ? 0 : getLayer(chain[count]);
  OpBuilder builder(first);
  // Before everything that reads the cache.
  Operation *reader = first;
  for (Value state : first.getDpsInits())
    for (Operation *user : state.getUsers())
      if (user->isBeforeInBlock(reader))
        reader = user;
  builder.setInsertionPoint(reader);
  SmallVector<Value> state = first.getDpsInits();
  // Collected before the absorb is created: it reads the state as well, and
  // must not read its own results.
  SmallVector<OpOperand *> readers;
  for (Value part : state)
    for (OpOperand &use : part.getUses())
      readers.push_back(&use);
  auto later = absorb(builder, first, first.getPast(), state, half, layers);
  for (OpOperand *use : readers)
    use->set(later->getResult(llvm::find(state, use->get()) - state.begin()));
  if (half == 0)
    return;

  ClusterUpdateOp last = chain[count - 1];
  builder.setInsertionPointAfter(last);
  // The next call begins after the tokens of this one.
  Value tokens =
      tensor::DimOp::create(builder, last.getLoc(), last.getKey(), int64_t{0});
  Value next =
      arith::AddIOp::create(builder, last.getLoc(), last.getPast(), tokens);
  readers.clear();
  for (Value result : last->getResults())
    for (OpOperand &use : result.getUses())
      readers.push_back(&use);
  auto earlier = absorb(builder, first, next, last->getResults(), 0, half);
  for (OpOperand *use : readers)
    use->set(earlier->getResult(cast<OpResult>(use->get()).getResultNumber()));
}
