//===- JoinWeights.cpp - Several weights as one ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/JoinWeights.h"
#include "passes/Kernel/PackWeights.h"

using namespace mlir;
using namespace gist;

RankedTensorType gist::withRows(Value value, int64_t rows) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = rows;
  return type.clone(shape);
}

WeightOp gist::joinWeights(OpBuilder &builder, Location location,
                           ArrayRef<WeightOp> weights) {
  SmallVector<Attribute> parts;
  std::string name;
  int64_t rows = 0;
  for (WeightOp weight : weights) {
    parts.push_back(weight.getNameAttr());
    name += (name.empty() ? "" : "+") + weight.getName().str();
    rows += cast<RankedTensorType>(weight.getType()).getDimSize(0);
  }
  WeightOp first = weights.front();
  auto joined =
      WeightOp::create(builder, location, withRows(first.getResult(), rows),
                       builder.getStringAttr(name), first.getLayerAttr());
  joined->setAttr(kPartsAttr, builder.getArrayAttr(parts));
  return joined;
}
