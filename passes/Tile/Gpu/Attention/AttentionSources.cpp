//===- AttentionSources.cpp - Queries, keys and values of kernels ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionSources.h"

using namespace mlir;
using namespace gist;

RowSource gist::getRowSource(
    ElementEmitter &emitter, Value tensor, Type element,
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
    // Otherwise the source can be read, but not copied.
    if (ShapedType::isDynamic(stride) || stride % chunk != 0)
      return source;
  source.place = [access = *memory, at](Value row, Value column) {
    return std::make_pair(access.buffer, access.at(at(row, column)));
  };
  return source;
}

RowSource gist::getHeadSource(ElementEmitter &emitter, Value tensor, Value head,
                              Type element) {
  return getRowSource(emitter, tensor, element,
                      [head](Value row, Value column) {
                        return SmallVector<Value>{row, head, column};
                      });
}

RowSource gist::getPoolSource(ElementEmitter &emitter, Value tensor,
                              Type element) {
  return getRowSource(emitter, tensor, element, [](Value row, Value column) {
    return SmallVector<Value>{row, column};
  });
}

Value gist::isAtMost(GpuBuilder &b, Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sle, b.toI32(x),
                               b.toI32(y));
}

Value gist::getSmaller(GpuBuilder &b, Value x, Value y) {
  if (b.getGpu().kind != GpuKind::Amd)
    return b.min(x, y);
  return arith::IndexCastUIOp::create(
      b, b.getIndexType(), arith::MinSIOp::create(b, b.toI32(x), b.toI32(y)));
}

BlockOrder gist::orderBlocks(GpuBuilder &b, Value number, Value blocks,
                             int64_t heads, Value headBytes) {
  constexpr int64_t kCacheBytes = 32 << 20;
  // In 32 bits: division of more is long.
  auto wide = [&](Value x) -> Value {
    return arith::IndexCastUIOp::create(b, b.getIndexType(), x);
  };
  auto divide = [&](Value x, Value y) -> Value {
    return arith::DivUIOp::create(b, x, y);
  };
  auto subtract = [&](Value x, Value y, Value z) -> Value {
    return arith::SubIOp::create(b, x, arith::MulIOp::create(b, y, z));
  };
  Value isThere = b.isLess(number, b.mul(blocks, heads));
  Value one = b.i32(1);
  auto atLeastOne = [&](Value x) -> Value {
    return arith::MaxUIOp::create(b, x, one);
  };
  Value together = arith::MinUIOp::create(
      b, b.i32(heads),
      atLeastOne(divide(b.i32(kCacheBytes), atLeastOne(b.toI32(headBytes)))));
  Value perSection =
      atLeastOne(arith::MulIOp::create(b, together, b.toI32(blocks)));
  Value all = b.toI32(number);
  Value section = divide(all, perSection);
  Value inside = subtract(all, section, perSection);
  Value firstHead = arith::MulIOp::create(b, section, together);
  // The last section may have fewer heads.
  Value here = atLeastOne(arith::MinUIOp::create(
      b, together, arith::SubIOp::create(b, b.i32(heads), firstHead)));
  Value block = divide(inside, here);
  Value head =
      arith::AddIOp::create(b, firstHead, subtract(inside, block, here));
  return {wide(block), wide(head), isThere};
}

Value gist::getHeadBytes(GpuBuilder &b, Value key, Value value, Value rows) {
  auto bytes = [](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return type.getDimSize(2) * type.getElementTypeBitWidth() / 8;
  };
  return b.mul(rows, bytes(key) + bytes(value));
}

AttentionResult::AttentionResult(ElementEmitter &emitter, Value output,
                                 unsigned number)
    : emitter(emitter), output(output), number(number) {
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
  Value written = emitter.getWritten(number);
  auto type = cast<RankedTensorType>(output.getType());
  SmallVector<Value> indices = {token, head, column};
  // Elementwise ops may follow on heads side by side.
  if (cast<RankedTensorType>(written.getType()).getRank() == 2)
    indices = {token, b.add(b.mul(head, type.getDimSize(2)), column)};
  auto vector = dyn_cast<VectorType>(numbers.getType());
  emitter.store(
      number, indices,
      vector ? emitter.elements(written, indices, vector.getNumElements())
             : emitter.element(written, indices));
}
