//===- SelectionRows.cpp - What a selection can look at -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/SelectionRows.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel/Kernels.h"

using namespace mlir;
using namespace gist;

/// True for keys or values that are read from a cache.
static bool readsCache(Value rows) {
  auto extract = rows.getDefiningOp<tensor::ExtractSliceOp>();
  return extract && getUpdatedArgument(extract.getSource());
}

static LogicalResult checkAttention(AttentionOp op, PlannedAttention layer) {
  if (op.getWindow() || op.getMask() || op.getOffsets())
    return op.emitOpError("has a window, a mask or offsets, which a plan of "
                          "selections does not support");
  if (!readsCache(op.getKey()))
    return success();
  if (layer.selection && layer.selection.getAgainst() == Against::All)
    return op.emitOpError("reads a KV cache, but a selection against all "
                          "tokens does not cover them: keys may be dropped "
                          "only where representatives cover all tokens");
  return op.emitOpError("reads a KV cache, but a selection needs the whole "
                        "sequence; use heads with a theta for caches");
}

FailureOr<SmallVector<AttentionOp>>
gist::findLayers(func::FuncOp function, ArrayRef<PlannedAttention> plan) {
  auto ops = llvm::to_vector(function.getOps<AttentionOp>());
  if (ops.empty())
    return ops;
  // Layers are counted by their attention, so that a plan for another model is
  // detected.
  if (ops.size() != plan.size())
    return function.emitOpError("has ")
           << ops.size() << " layers with attention, but the plan is for "
           << plan.size();
  for (auto [op, layer] : llvm::zip_equal(ops, plan))
    if ((layer.selection || layer.attend) && failed(checkAttention(op, layer)))
      return failure();
  return ops;
}

static bool isProduct(Operation *op) {
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op);
  return structured && linalg::isaContractionOpInterface(structured);
}

SetVector<Operation *> gist::findFirstProducts(Value value) {
  SetVector<Operation *> products;
  SetVector<Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i) { // Grows as it is walked.
    Operation *producer = seen[i].getDefiningOp();
    if (!producer)
      continue;
    if (isProduct(producer))
      products.insert(producer);
    else
      seen.insert(producer->operand_begin(), producer->operand_end());
  }
  return products;
}

/// The rows that queries are projected from. Null if there are several such
/// tensors.
static Value findProjectedRows(Value query) {
  // A set, because queries of several heads may be products of the same rows.
  SetVector<Value> rows;
  for (Operation *product : findFirstProducts(query))
    rows.insert(product->getOperand(0));
  return rows.size() == 1 ? rows.front() : Value();
}

Value gist::findResidualRows(Operation *attention, Value query) {
  Value projected = findProjectedRows(query);
  if (!projected)
    return {};
  // A residual connection: what goes into the norm is added to what comes out
  // of attention. Backwards from the norm's result, the nearest such value
  // counts.
  SetVector<Operation *> after;
  getForwardSlice(attention, &after);
  auto isAddedAgain = [&](Value value) {
    // Memory to write to may be shared by ops that have nothing in common.
    if (value.getDefiningOp<tensor::EmptyOp>() ||
        value.getDefiningOp<linalg::FillOp>())
      return false;
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
  return {};
}

/// The source of `rows` if they are the result of a rounding and nothing else.
static Value findUnrounded(Value rows) {
  auto generic = rows.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1 ||
      !llvm::hasSingleElement(generic.getBody()->without_terminator()) ||
      !isa<arith::TruncFOp>(generic.getBody()->front()))
    return rows;
  return generic.getDpsInputOperand(0)->get();
}

Value gist::findCallRows(Value rows) {
  if (readsCache(rows)) {
    auto cache = rows.getDefiningOp<tensor::ExtractSliceOp>().getSource();
    auto insert = cache.getDefiningOp<tensor::InsertSliceOp>();
    if (!insert)
      return {};
    rows = insert.getSource();
  }
  // The cache may hold f16.
  return findUnrounded(rows);
}

static Value findKeys(AttentionOp op) {
  Value keys = findCallRows(op.getKey());
  // Selections do not read parts of larger rows yet.
  return keys && isSlice(keys) ? Value() : keys;
}

Value gist::findSelectionRows(AttentionOp op, SelectOn on) {
  switch (on) {
  case SelectOn::Keys:
    return findKeys(op);
  case SelectOn::Normalised:
    return findProjectedRows(op.getQuery());
  case SelectOn::Residual:
    break;
  }
  return findResidualRows(op, op.getQuery());
}
