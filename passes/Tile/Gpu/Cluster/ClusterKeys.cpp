//===- ClusterKeys.cpp - What heads see of a cache of clusters ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Cluster/ClusterKeys.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Tile/Gpu/Attention/AttentionSources.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using arith::CmpIPredicate;

ClusterUpdateOp gist::findUpdate(ClusterAttentionOp op) {
  return findRoot<ClusterUpdateOp>(op->getParentOfType<func::FuncOp>());
}

unsigned gist::getResultNumber(ClusterAttentionOp op) {
  ClusterUpdateOp update = findUpdate(op);
  auto end = cast<func::ReturnOp>(op->getBlock()->getTerminator());
  unsigned number = 0;
  while (update && end.getOperand(number).getDefiningOp() == update)
    ++number;
  return number;
}

ClusterHead::ClusterHead(ElementEmitter &emitter, Value heads, Value layer,
                         Value head) {
  GpuBuilder &b = emitter.getBuilder();
  auto number = [&](HeadField field) -> Value {
    return emitter.element(heads,
                           {layer, head, b.index(static_cast<int64_t>(field))});
  };
  auto integer = [&](HeadField field) -> Value {
    Value word = arith::FPToSIOp::create(b, b.getI32Type(), number(field));
    return b.toIndex(word);
  };
#define GIST_HEAD_INTEGER(Field, member) member = integer(HeadField::Field);
#define GIST_HEAD_NUMBER(Field, member) member = number(HeadField::Field);
#include "runtime/format/HeadTable.def"
}

Value ClusterHead::getFirstExact(GpuBuilder &b, Value x) const {
  Value zero = b.index(0);
  Value hasWindow = b.compare(CmpIPredicate::sge, window, zero);
  return b.select(hasWindow, b.max(b.sub(x, window), zero), zero);
}

Value ClusterHead::getPlace(GpuBuilder &b, Value t) const {
  // Division of 64 bits is a long program.
  Value place = arith::RemUIOp::create(b, b.toI32(t), b.toI32(ringRows));
  return b.toIndex(place);
}

Value ClusterHead::getRow(GpuBuilder &b, Value place, Value n) const {
  // n is less than the ring has rows, so one subtraction is enough.
  Value at = b.add(place, n);
  Value isInside = b.isLess(at, ringRows);
  return b.add(ringRow, b.select(isInside, at, b.sub(at, ringRows)));
}

KnownKeys::KnownKeys(ElementEmitter &emitter, ClusterAttentionOp op,
                     Value kvHead)
    : head(emitter, op.getHeads(), emitter.number(op.getLayer()), kvHead) {
  GpuBuilder &b = emitter.getBuilder();
  Value past = emitter.number(op.getPast());
  // The window stays where it was when the block began, as the op defines.
  Value started = b.sub(past, b.rem(past, op.getBlock()));
  first = head.getFirstExact(b, started);
  exact = b.sub(past, first);
  place = head.getPlace(b, first);
}

SeenKeys::SeenKeys(ElementEmitter &emitter, ClusterAttentionOp op, Value kvHead,
                   const KnownKeys &known)
    : emitter(emitter), op(op), head(known.head), exact(known.exact),
      place(known.place) {
  GpuBuilder &b = emitter.getBuilder();
  Value layer = emitter.number(op.getLayer());
  clusters = b.toIndex(emitter.element(op.getCounts(), {layer, kvHead}));
  before = b.add(clusters, exact);
}

std::array<RowRange, 2> SeenKeys::getExact(GpuBuilder &b) const {
  Value count = b.min(exact, b.sub(head.ringRows, place));
  return {RowRange{b.add(head.ringRow, place), count},
          RowRange{head.ringRow, b.sub(exact, count)}};
}

Value SeenKeys::getRow(GpuBuilder &b, Value n) const {
  return b.select(isCluster(b, n), b.add(head.meanRow, n),
                  head.getRow(b, place, b.sub(n, clusters)));
}

Value SeenKeys::readCount(GpuBuilder &b, Value n) const {
  // A cache has one weight at least.
  Value at = b.select(isCluster(b, n), b.add(head.unit, n), b.index(0));
  return emitter.element(op.getWeights(), {at});
}

Value SeenKeys::finishCount(GpuBuilder &b, Value n, Value count) const {
  // GPUs have instructions for logarithms to base 2.
  Value log = math::Log2Op::create(b, count, arith::FastMathFlags::afn);
  return b.select(isCluster(b, n), log, b.f32(0));
}

Value SeenKeys::getLogCount(GpuBuilder &b, Value n, Value least) const {
  return b.ifElse(
      isAtMost(b, b.add(least, 1), clusters),
      [&] { return finishCount(b, n, readCount(b, n)); },
      [&]() -> Value { return b.f32(0); });
}
