//===- NameLayers.cpp - Which layer a weight belongs to -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gist {
#define GEN_PASS_DEF_NAMELAYERSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// The weight of a linear layer; null: `op` is something else.
static WeightOp getLinearWeight(Operation *op) {
  auto product = dyn_cast<linalg::LinalgOp>(op);
  if (!product || !isTransposedMatmul(product))
    return {};
  return product.getDpsInputOperand(1)->get().getDefiningOp<WeightOp>();
}

/// The linear layers that queries, keys and values are projected with.
static void findProjections(AttentionOp attention,
                            SetVector<Operation *> &found) {
  SetVector<Operation *> seen;
  auto add = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      seen.insert(op);
  };
  for (Value value :
       {attention.getQuery(), attention.getKey(), attention.getValue()})
    add(value);
  for (size_t i = 0; i < seen.size(); ++i) { // Grows as it is walked.
    Operation *op = seen[i];
    if (getLinearWeight(op)) {
      found.insert(op);
      continue;
    }
    if (isa<AttentionOp>(op))
      continue;
    for (Value operand : op->getOperands())
      add(operand);
  }
}

/// True if what `op` gives is added to another tensor of its size later.
static bool isAdded(Operation *op) {
  SetVector<Operation *> seen;
  seen.insert(op);
  for (size_t i = 0; i < seen.size(); ++i)
    for (Operation *user : seen[i]->getUsers()) {
      if (getLinearWeight(user))
        continue;
      auto generic = dyn_cast<linalg::GenericOp>(user);
      size_t whole = 0;
      if (generic && generic.getNumReductionLoops() == 0)
        for (OpOperand *input : generic.getDpsInputOperands())
          whole += generic.getMatchingIndexingMap(input).isIdentity() &&
                   !input->get().getDefiningOp<WeightOp>();
      if (whole > 1)
        return true;
      seen.insert(user);
    }
  return false;
}

namespace {
struct NameLayersPass final : gist::impl::NameLayersPassBase<NameLayersPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
      return;
    auto attentions = llvm::to_vector(function.getOps<AttentionOp>());
    if (attentions.empty())
      return;
    SmallVector<SetVector<Operation *>> projections(attentions.size());
    SetVector<Operation *> known;
    for (auto [number, attention] : llvm::enumerate(attentions)) {
      findProjections(attention, projections[number]);
      known.insert(projections[number].begin(), projections[number].end());
    }
    // What is after an attention belongs to it, up to the next one.
    SmallVector<SmallVector<Operation *>> rest(attentions.size());
    for (Operation &op : function.front()) {
      if (!getLinearWeight(&op) || known.contains(&op))
        continue;
      auto next = llvm::find_if(attentions, [&](AttentionOp attention) {
        return op.isBeforeInBlock(attention);
      });
      if (next != attentions.begin())
        rest[next - attentions.begin() - 1].push_back(&op);
    }
    if (!dropHeads(rest))
      return;
    SmallVector<std::pair<WeightOp, int64_t>> layers;
    DenseMap<Operation *, int64_t> layerOf;
    for (size_t i = 0; i < attentions.size(); ++i)
      for (auto *list : {&rest[i]}) {
        SmallVector<Operation *> all(projections[i].begin(),
                                     projections[i].end());
        llvm::append_range(all, *list);
        for (Operation *op : all) {
          WeightOp weight = getLinearWeight(op);
          auto layer = static_cast<int64_t>(i);
          // One weight in two layers belongs to neither.
          if (layerOf.try_emplace(weight, layer).first->second != layer)
            return;
          layers.emplace_back(weight, layer);
        }
      }
    Builder b(&getContext());
    for (auto [weight, layer] : layers)
      weight.setLayerAttr(b.getI64IntegerAttr(layer));
  }

private:
  /// Takes heads out of the last list; false where layers are not alike.
  static bool dropHeads(SmallVectorImpl<SmallVector<Operation *>> &rest) {
    SmallVector<Operation *> &last = rest.back();
    if (rest.size() == 1) {
      while (!last.empty() && !isAdded(last.back()))
        last.pop_back();
      return true;
    }
    size_t count = rest.front().size();
    for (const auto &list : ArrayRef(rest).drop_back())
      if (list.size() != count)
        return false;
    if (last.size() < count)
      return false;
    last.truncate(count);
    return true;
  }
};
} // namespace
