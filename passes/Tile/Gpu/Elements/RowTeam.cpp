//===- RowTeam.cpp - Threads that share a row -----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Elements/RowTeam.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

int64_t gist::getRowWidth(int64_t size, int64_t bytes) {
  if (ShapedType::isDynamic(size) || size == 0)
    return 1;
  // Sixteen bytes, the widest access. The lowest set bit of the size is the
  // largest power of two that divides it.
  int64_t most = bytes >= 4 ? 4 : 8;
  return std::min(most, size & -size);
}

int64_t gist::getElementBytes(Value tensor) {
  Type type = getElementTypeOrSelf(tensor);
  return type.isIndex() ? 8 : std::max(type.getIntOrFloatBitWidth() / 8, 1u);
}

Values RowTeam::forColumns(Value size, int64_t width, ValueRange carried,
                           ColumnBody body) {
  Value always = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  int64_t stride = threads * width;
  std::optional<int64_t> known = getConstantIntValue(size);
  if (!known || *known > stride * kMaxUnrolled)
    return b.loop(b.mul(member, width), size, stride, carried,
                  [&](Value column, ValueRange carried) {
                    return body(column, always, carried);
                  });
  Values values(carried);
  for (int64_t first = 0; first < *known; first += stride) {
    auto &[column, isInside] = columns[{b.getBlock(), *known, width, first}];
    if (!column) {
      column = b.add(b.mul(member, width), first);
      isInside = always;
      if (first + stride > *known) {
        isInside = b.isLess(column, *known);
        // Column 0 stands in where there is none, so that no branch is needed.
        column = b.select(isInside, column, b.index(0));
      }
    }
    values = body(column, isInside, values);
  }
  return values;
}

Value RowTeam::combine(Value own, GpuBuilder::Combiner combiner) {
  // A team is one wave or the whole workgroup (#gist.gpu_rows, C2).
  return threads > b.getGpu().waveSize ? b.workgroupReduce(own, combiner)
                                       : b.waveReduce(own, combiner);
}

Value RowTeam::reduce(const RowReduction &reduction, ValueRange row,
                      int64_t width) {
  linalg::LinalgOp op = reduction.op;
  Value tensor = op->getResult(0);
  Type element = getElementTypeOrSelf(tensor);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  Values at(row.take_front(reduction.rank)), loops(op.getNumLoops());
  for (auto [expr, i] : llvm::zip_equal(map.getResults(), at))
    loops[cast<AffineDimExpr>(expr).getPosition()] = i;
  // Reduction loops that every thread runs in full.
  SmallVector<unsigned> outer;
  for (unsigned i = 0; i < loops.size(); ++i)
    if (!loops[i] && i != reduction.inner)
      outer.push_back(i);

  auto combine = [&](Value lhs, Value rhs) -> Value {
    IRMapping mapping;
    mapping.map(reduction.combiner->getOperands(), ValueRange{lhs, rhs});
    return b.clone(*reduction.combiner, mapping)->getResult(0);
  };
  Value size = emitter.getLoopSize(op, reduction.inner);
  int64_t lanes = std::min(
      width,
      getRowWidth(getConstantIntValue(size).value_or(ShapedType::kDynamic),
                  getElementBytes(emitter.getWritten(0))));
  Value start =
      b.broadcast(arith::ConstantOp::create(
                      b, *arith::getNeutralElement(reduction.combiner)),
                  lanes);
  std::function<Values(unsigned, ValueRange)> reduce =
      [&](unsigned depth, ValueRange carried) -> Values {
    if (depth < outer.size())
      return b.loop(b.index(0), emitter.getLoopSize(op, outer[depth]), 1,
                    carried, [&](Value iv, ValueRange carried) {
                      loops[outer[depth]] = iv;
                      return reduce(depth + 1, carried);
                    });
    return forColumns(
        size, lanes, carried,
        [&](Value column, Value isInside, ValueRange carried) -> Values {
          loops[reduction.inner] = column;
          std::optional<unsigned> inner;
          if (lanes > 1)
            inner = reduction.inner;
          Value next = emitter.iterate(op, loops, inner, lanes, carried)[0];
          return {b.select(isInside, next, carried[0])};
        });
  };
  Value sum =
      this->combine(b.reduceLanes(reduce(0, start)[0], combine), combine);
  // The destination counts once, so it is added at the end.
  Value init = emitter.element(op.getDpsInits()[0], at);
  Value result = combine(init, sum);
  assert(result.getType() == element && "a reduction to another type");
  (void)element;
  return result;
}
