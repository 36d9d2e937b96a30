//===- SelectionRows.cpp - What a selection can look at -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/SelectionRows.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Graph/KernelGroups.h"
#include "passes/Plan/Plan.h"

using namespace mlir;
using namespace gist;

Status gist::readSelectionPlan(ModuleOp module, const std::string &path,
                               SelectionPlan &plan) {
  if (path != kCalibrationPlan)
    return readSelectionPlan(path, plan);
  for (auto function : module.getOps<func::FuncOp>()) {
    auto ops = llvm::to_vector(function.getOps<AttentionOp>());
    if (ops.empty())
      continue;
    plan = makeCalibrationSelections(
        ops.size(), ops.front().getKey().getType().getDimSize(1));
    return {};
  }
  return Status::error(Code::Unsupported,
                       "the model has no attention to make a plan for");
}

/// True for keys that are read from a cache.
static bool readsCache(AttentionOp op) {
  auto extract = op.getKey().getDefiningOp<tensor::ExtractSliceOp>();
  return extract && getUpdatedArgument(extract.getSource());
}

static LogicalResult checkAttention(AttentionOp op,
                                    const SelectionLayer &layer) {
  if (op.getWindow() || op.getMask() || op.getOffsets())
    return op.emitOpError("has a window, a mask or offsets, which a plan of "
                          "selections does not know");
  if (!readsCache(op))
    return success();
  if (layer.selection && layer.selection->against == Against::All)
    return op.emitOpError("reads a KV cache, and a selection against all "
                          "tokens is no covering: only covering sets allow "
                          "dropping keys");
  return op.emitOpError("reads a KV cache, and a selection sees the whole "
                        "sequence; heads with a theta are for caches");
}

FailureOr<SmallVector<AttentionOp>>
gist::findLayers(func::FuncOp function, const SelectionPlan &plan) {
  auto ops = llvm::to_vector(function.getOps<AttentionOp>());
  if (ops.empty())
    return ops;
  if (ops.size() != plan.layers.size())
    return function.emitOpError("has ")
           << ops.size() << " layers with attention, the plan is for "
           << plan.layers.size();
  for (auto [op, layer] : llvm::zip_equal(ops, plan.layers))
    if ((layer.selection || layer.attend) && failed(checkAttention(op, layer)))
      return failure();
  return ops;
}

static bool isProduct(Operation *op) {
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op);
  return structured && linalg::isaContractionOpInterface(structured);
}

Value gist::findProjectedRows(AttentionOp op) {
  SetVector<Value> rows;
  SetVector<Value> seen;
  seen.insert(op.getQuery());
  for (size_t i = 0; i < seen.size(); ++i) { // Grows as it is walked.
    Operation *producer = seen[i].getDefiningOp();
    if (!producer)
      continue;
    if (isProduct(producer))
      rows.insert(producer->getOperand(0));
    else
      seen.insert(producer->operand_begin(), producer->operand_end());
  }
  if (rows.size() == 1)
    return rows.front();
  op.emitOpError("has queries that are not projected from one tensor of rows");
  return {};
}

Value gist::findResidualRows(AttentionOp op) {
  Value projected = findProjectedRows(op);
  if (!projected)
    return {};
  SetVector<Operation *> after;
  getForwardSlice(op.getOperation(), &after);
  auto isAddedAgain = [&](Value value) {
    return value.getType() == projected.getType() &&
           llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return after.contains(user); });
  };
  SetVector<Value> seen;
  seen.insert(projected);
  for (size_t i = 0; i < seen.size(); ++i) {
    if (isAddedAgain(seen[i]))
      return seen[i];
    Operation *producer = seen[i].getDefiningOp();
    if (producer && !isProduct(producer))
      seen.insert(producer->operand_begin(), producer->operand_end());
  }
  op.emitOpError(
      "has no residual stream: nothing that its queries are computed "
      "from is added to its result");
  return {};
}
