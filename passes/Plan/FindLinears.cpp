//===- FindLinears.cpp - The linear layers of a graph ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/FindLinears.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Plan/MadeWeights.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace gist;

int64_t LinearInput::getSize() const {
  return cast<RankedTensorType>(rows.getType()).getDimSize(1);
}

FailureOr<SmallVector<LinearInput>> gist::findLinears(func::FuncOp function) {
  // By layer and rows: products of the same rows are one group, such as
  // queries, keys and values.
  using Key = std::pair<int64_t, Value>;
  llvm::MapVector<Key, LinearInput> found;
  function.walk([&](linalg::LinalgOp op) {
    if (!isTransposedMatmul(op))
      return;
    WeightOp weight = getWeightOf(op.getDpsInputOperand(1)->get());
    if (!weight)
      return;
    auto layer = static_cast<int64_t>(weight.getLayer().value_or(-1));
    Value rows = op.getDpsInputOperand(0)->get();
    LinearInput &input = found[{layer, rows}];
    input.layer = layer;
    input.rows = rows;
    input.linears.push_back({op, weight});
  });

  // A product with a weight that belongs to no layer is a head.
  SmallVector<LinearInput> result, heads;
  // Not llvm::DenseMap, which reserves two keys: a file can contain any layer
  // number.
  llvm::MapVector<int64_t, SmallVector<LinearInput>,
                  std::map<int64_t, unsigned>>
      layers;
  for (auto &[key, input] : found)
    (input.layer < 0 ? heads : layers[input.layer]).push_back(input);
  static constexpr LinearGroup kFour[] = {
      LinearGroup::Qkv, LinearGroup::O, LinearGroup::GateUp, LinearGroup::Down};
  // Where attention and the rest of the layer read the same rows.
  static constexpr LinearGroup kThree[] = {LinearGroup::Qkv, LinearGroup::O,
                                           LinearGroup::Down};
  for (auto &[layer, inputs] : layers) {
    if (inputs.size() != 3 && inputs.size() != 4)
      return function.emitError("layer ")
             << layer << " has linear layers of " << inputs.size()
             << " kinds of rows; expected 3 or 4";
    // In program order, which is the order in which a layer computes.
    for (auto [number, input] : llvm::enumerate(inputs)) {
      input.group = inputs.size() == 3 ? kThree[number] : kFour[number];
      result.push_back(std::move(input));
    }
  }
  llvm::append_range(result, heads);
  return result;
}
