//===- AttentionLoop.cpp - Softmax over steps of keys -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionLoop.h"
#include "passes/Tile/Gpu/Attention/AttentionMma.h"
#include "passes/Tile/Gpu/Attention/AttentionWgmma.h"

#include <numbers>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using State = AttentionLoop::State;

std::unique_ptr<AttentionLoop> AttentionLoop::create(GpuBuilder &b,
                                                     GpuAttentionAttr tile,
                                                     const Shape &shape) {
  if (tile.getInstruction() == Instruction::Wgmma64x128x16)
    return std::make_unique<WgmmaAttention>(b, tile, shape);
  return std::make_unique<MmaAttention>(b, tile, shape);
}

AttentionLoop::AttentionLoop(GpuBuilder &b, GpuAttentionAttr tile,
                             const Shape &shape, int64_t width,
                             LaneLayout lanes)
    : b(b), element(tile.getElement()), rows(tile.getRows()),
      keys(tile.getKeys()), stages(tile.getStages()), width(width),
      factor(shape.scale * std::numbers::log2e), lanes(std::move(lanes)) {}

void AttentionLoop::distribute(int64_t count,
                               function_ref<void(Value, Value)> body) {
  Value isOne = arith::ConstantIntOp::create(b, 1, 1);
  for (int64_t first = 0; first < count; first += b.getThreads()) {
    Value item = b.add(b.thread(), first);
    bool isWhole = first + b.getThreads() <= count;
    body(item, isWhole ? isOne : b.isLess(item, count));
  }
}

Value AttentionLoop::fetchChunk(const RowSource &source, Value row,
                                Value column, int64_t columns, int64_t count) {
  if (columns != source.width)
    column = b.select(b.isLess(column, source.width), column, b.index(0));
  if (count == 0)
    count = 128 / element.getIntOrFloatBitWidth();
  return source.read(row, column, count);
}

Value AttentionLoop::finishChunk(const RowSource &source, Value fetched,
                                 Value column, int64_t columns) {
  Value numbers = b.convert(fetched, element);
  if (columns == source.width)
    return numbers;
  return b.select(b.isLess(column, source.width), numbers,
                  b.constant(numbers.getType(), 0));
}

Value AttentionLoop::emitPower(Value x) {
  return math::Exp2Op::create(b, x, arith::FastMathFlags::afn);
}

Value AttentionLoop::emitInverse(Value sum) {
  Value isNone = b.compare(arith::CmpFPredicate::OEQ, sum, b.f32(0));
  return b.select(isNone, b.f32(0), arith::DivFOp::create(b, b.f32(1), sum));
}

Value AttentionLoop::getLarger(Value x, Value y) {
  // Without nnan, gfx942 would first quiet signalling NaNs.
  auto flags = b.getGpu().kind == GpuKind::Nvidia ? arith::FastMathFlags::none
                                                  : arith::FastMathFlags::nnan;
  return arith::MaxNumFOp::create(b, x, y, flags);
}

Value AttentionLoop::emitBase(Value top) {
  // Nothing seen yet: any finite number will do in place of -infinity.
  Value isNone = b.compare(arith::CmpFPredicate::OEQ, top, b.f32(-kInfinity));
  return arith::MulFOp::create(b, b.select(isNone, b.f32(0), top),
                               b.f32(-factor));
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

State AttentionLoop::getStart() {
  return State(lanes.tiles, {Values(lanes.rows, b.f32(-kInfinity)),
                             Values(lanes.rows, b.f32(0)), makeOut()});
}

void AttentionLoop::rescale(RowTile &tile, ValueRange factors) {
  for (auto [out, factor] : llvm::zip_equal(tile.out, spread(factors)))
    out = arith::MulFOp::create(b, out, factor);
}

State AttentionLoop::merge(State state, State other) {
  auto add = [&](Values &numbers, ValueRange factors, ValueRange others,
                 ValueRange otherFactors) {
    for (auto [x, by, y, byOther] :
         llvm::zip_equal(numbers, factors, others, otherFactors))
      x = b.fma(y, byOther, arith::MulFOp::create(b, x, by));
  };
  for (auto [own, more] : llvm::zip_equal(state, other)) {
    Values factors, moreFactors;
    for (auto [top, moreTop] : llvm::zip_equal(own.tops, more.tops)) {
      Value highest = getLarger(top, moreTop), base = emitBase(highest);
      factors.push_back(emitPower(b.fma(top, b.f32(factor), base)));
      moreFactors.push_back(emitPower(b.fma(moreTop, b.f32(factor), base)));
      top = highest;
    }
    add(own.sums, factors, more.sums, moreFactors);
    Values ofOut = spread(factors), ofMore = spread(moreFactors);
    add(own.out, ofOut, more.out, ofMore);
  }
  return state;
}

void AttentionLoop::finish(State &state) {
  for (RowTile &tile : state) {
    Values inverses;
    for (Value sum : tile.sums) {
      for (int64_t mask : lanes.shuffles)
        sum = arith::AddFOp::create(b, sum, b.exchange(sum, mask));
      inverses.push_back(emitInverse(sum));
    }
    rescale(tile, inverses);
  }
}
