//===- ExpertRows.cpp - Products with experts, row by row -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wave has one number of the result: its lanes go along a row of the weight
// that the row of the input names, neighbours side by side, and add up what
// they have found at the end. Neighbouring waves have neighbouring columns of
// one row. Without matrix instructions, and so for few tokens: of many, each
// would read the weight for itself.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Experts/Experts.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;

/// Threads of a workgroup, and numbers that a lane reads at once.
static constexpr int64_t kThreads = 256, kMostNumbers = 8;

GpuRowsAttr gist::selectExpertRowsTile(ExpertMatmulOp op, const GpuInfo &gpu) {
  int64_t waves = kThreads / gpu.waveSize;
  return GpuRowsAttr::get(op.getContext(), /*rows=*/1, waves,
                          /*columns=*/waves);
}

FailureOr<GpuGrid> gist::emitExpertRows(GpuKernel &kernel, ExpertMatmulOp op) {
  GpuBuilder &b = kernel.b;
  ElementEmitter &emitter = kernel.emitter;
  ExpertSizes sizes = op.getSizes();
  int64_t columns = kernel.getTile<GpuRowsAttr>().getColumns();
  int64_t numbers = kMostNumbers;
  while (sizes.depth % numbers != 0)
    numbers /= 2;

  Value token = b.div(b.block(1), sizes.slots);
  Value slot = b.rem(b.block(1), sizes.slots);
  Value column = b.add(b.mul(b.block(0), columns), b.wave());
  // Past the end the last column is read again, and not written.
  Value read = b.min(column, b.index(sizes.columns - 1));
  Value named = readExpert(emitter, op, token, slot);
  Value row = b.add(b.mul(named, sizes.columns), read);
  Value first = sizes.hasOwnRows ? b.mul(slot, sizes.depth) : b.index(0);

  int64_t step = b.getGpu().waveSize * numbers;
  Value start = b.mul(b.lane(), numbers);
  auto add = [&](Value k, Value sum) {
    Value x =
        emitter.elements(op.getInput(), {token, b.add(first, k)}, numbers);
    Value w = emitter.elements(op.getWeight(), {row, k}, numbers);
    for (int64_t i = 0; i < numbers; ++i)
      sum = b.fma(b.toF32(b.extract(x, i)), b.toF32(b.extract(w, i)), sum);
    return sum;
  };
  Value sum = b.loop(start, b.index(sizes.depth), step, b.f32(0),
                     [&](Value k, ValueRange carried) {
                       return Values{add(k, carried[0])};
                     })[0];
  sum = b.waveReduce(sum, vector::CombiningKind::ADD);
  Value isWriter =
      b.both(b.isEqual(b.lane(), 0), b.isLess(column, b.index(sizes.columns)));
  b.ifThen(isWriter, [&] {
    emitter.store(0, {token, b.add(b.mul(slot, sizes.columns), column)}, sum);
  });
  FailureOr<AffineExpr> tokens =
      getSizeExpr(kernel.source, emitter.getWrittenSizes(0).front());
  if (failed(tokens))
    return failure();
  return GpuGrid{
      b.getAffineConstantExpr(llvm::divideCeil(sizes.columns, columns)),
      *tokens * sizes.slots};
}
