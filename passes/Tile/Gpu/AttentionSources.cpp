//===- AttentionSources.cpp - Queries, keys and values of kernels ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/AttentionSources.h"

using namespace mlir;
using namespace gist;

/// Rows of `tensor`; `at` says where in it a column of a row is.
static RowSource
getSource(ElementEmitter &emitter, Value tensor, Type element,
          std::function<SmallVector<Value>(Value row, Value column)> at) {
  auto type = cast<RankedTensorType>(tensor.getType());
  RowSource source;
  source.width = type.getShape().back();
  source.read = [&emitter, tensor, at](Value row, Value column, int64_t count) {
    return emitter.elements(tensor, at(row, column), count);
  };
  std::optional<MemoryAccess> memory = emitter.asMemory(tensor);
  if (!memory || !memory->isContiguous() || type.getElementType() != element)
    return source;
  // Whole chunks of 16 bytes: rows and heads start at multiples of them.
  int64_t chunk = 128 / element.getIntOrFloatBitWidth();
  for (int64_t stride : ArrayRef<int64_t>(memory->strides).drop_back())
    if (ShapedType::isDynamic(stride) || stride % chunk != 0)
      return source;
  source.place = [access = *memory, at](Value row, Value column) {
    return std::make_pair(access.buffer, access.at(at(row, column)));
  };
  return source;
}

RowSource gist::getHeadSource(ElementEmitter &emitter, Value tensor, Value head,
                              Type element) {
  return getSource(emitter, tensor, element, [head](Value row, Value column) {
    return SmallVector<Value>{row, head, column};
  });
}

RowSource gist::getPoolSource(ElementEmitter &emitter, Value tensor,
                              Type element) {
  return getSource(emitter, tensor, element, [](Value row, Value column) {
    return SmallVector<Value>{row, column};
  });
}

Value gist::isAtMost(GpuBuilder &b, Value x, Value y) {
  auto narrow = [&](Value number) -> Value {
    return arith::IndexCastOp::create(b, b.getI32Type(), number);
  };
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sle, narrow(x),
                               narrow(y));
}

AttentionResult::AttentionResult(ElementEmitter &emitter, Value output)
    : emitter(emitter), output(output) {
  emitter.bind(output, [this](ValueRange, int64_t width) -> Value {
    GpuBuilder &b = this->emitter.getBuilder();
    auto type = dyn_cast<VectorType>(current.getType());
    bool isWhole = type ? type.getNumElements() == width : width == 1;
    return isWhole ? b.convert(current,
                               cast<RankedTensorType>(this->output.getType())
                                   .getElementType())
                   : Value();
  });
}

AttentionResult::~AttentionResult() { emitter.unbind(output); }

void AttentionResult::store(Value token, Value head, Value column,
                            Value numbers) {
  GpuBuilder &b = emitter.getBuilder();
  current = numbers;
  Value written = emitter.getWritten(0);
  auto type = cast<RankedTensorType>(output.getType());
  SmallVector<Value> indices = {token, head, column};
  // Elementwise ops may follow on heads side by side.
  if (cast<RankedTensorType>(written.getType()).getRank() == 2)
    indices = {token, b.add(b.mul(head, type.getDimSize(2)), column)};
  auto vector = dyn_cast<VectorType>(numbers.getType());
  emitter.store(
      0, indices,
      vector ? emitter.elements(written, indices, vector.getNumElements())
             : emitter.element(written, indices));
}
