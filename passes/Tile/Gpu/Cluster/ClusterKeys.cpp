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

ClusterHead gist::readHead(ElementEmitter &emitter, Value heads, Value layer,
                           Value head) {
  GpuBuilder &b = emitter.getBuilder();
  return ClusterHead(b, b.getI32Type(), [&](Value column) {
    return emitter.element(heads, {layer, head, column});
  });
}

KnownKeys::KnownKeys(ElementEmitter &emitter, ClusterAttentionOp op,
                     Value kvHead)
    : head(readHead(emitter, op.getHeads(), emitter.number(op.getLayer()),
                    kvHead)) {
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
