//===- RaiseLinears.cpp - Linear layers as the graph passes know them -----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "dialect/GistPlanOps.h"
#include "passes/Kernel/Linears.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace gist {
#define GEN_PASS_DEF_RAISELINEARSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Reads the right side as outputs x inputs from now on.
static void readTransposed(linalg::MatmulOp op, Value weight) {
  OpBuilder b(op);
  op.setIndexingMapsAttr(
      b.getAffineMapArrayAttr(getTransposedMaps(b.getContext())));
  op.getInputsMutable()[1].set(weight);
}

/// The numbers of a constant weight in f32.
static ArrayRef<float> getNumbers(ConstantWeightOp op) {
  ArrayRef<char> bytes;
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValues()))
    bytes = dense.isSplat() ? ArrayRef<char>() : dense.getRawData();
  else if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValues()))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      bytes = blob->getData();
  auto count = static_cast<size_t>(op.getValues().getNumElements());
  if (bytes.size() != count * sizeof(float) ||
      reinterpret_cast<uintptr_t>(bytes.data()) % alignof(float) != 0)
    return {};
  return {reinterpret_cast<const float *>(bytes.data()), count};
}

namespace {
struct RaiseLinearsPass final
    : gist::impl::RaiseLinearsPassBase<RaiseLinearsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::MatmulOp> products;
    getOperation().walk([&](linalg::MatmulOp op) {
      if (!op.hasUserDefinedMaps())
        products.push_back(op);
    });
    getOperation().walk(
        [&](WeightOp op) { readers[op.getName()].push_back(op); });
    for (linalg::MatmulOp op : products) {
      Value right = op.getInputs()[1];
      auto transpose = right.getDefiningOp<linalg::TransposeOp>();
      if (transpose && transpose.getInput().getDefiningOp<WeightOp>() &&
          transpose.getPermutation() == ArrayRef<int64_t>{1, 0}) {
        readTransposed(op, transpose.getInput());
        if (transpose->use_empty())
          transpose.erase();
      } else if (auto weight = right.getDefiningOp<WeightOp>()) {
        turn(op, weight);
      }
    }
  }

private:
  /// Stores a weight of inputs x outputs the other way.
  void turn(linalg::MatmulOp op, WeightOp weight) {
    auto stored = dyn_cast_or_null<ConstantWeightOp>(
        SymbolTable::lookupSymbolIn(getOperation(), weight.getName()));
    if (!stored || !weight->hasOneUse() ||
        readers[weight.getName()].size() != 1)
      return;
    ArrayRef<float> numbers = getNumbers(stored);
    if (numbers.empty())
      return;
    auto type = cast<RankedTensorType>(weight.getType());
    int64_t inputs = type.getDimSize(0), outputs = type.getDimSize(1);
    std::vector<float> turned(numbers.size());
    for (int64_t i = 0; i < inputs; ++i)
      for (int64_t j = 0; j < outputs; ++j)
        turned[j * inputs + i] = numbers[i * outputs + j];
    auto turnedType =
        RankedTensorType::get({outputs, inputs}, type.getElementType());
    stored.setValuesAttr(
        DenseElementsAttr::get(turnedType, ArrayRef<float>(turned)));
    weight.getResult().setType(turnedType);
    readTransposed(op, weight);
  }

  llvm::StringMap<SmallVector<WeightOp>> readers;
};
} // namespace
