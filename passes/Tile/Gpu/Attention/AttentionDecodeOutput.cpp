//===- AttentionDecodeOutput.cpp - The product of heads -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionDecodeOutput.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;

/// Numbers that a lane reads at once.
static constexpr int64_t kPiece = 8;

DecodeOutput::DecodeOutput(ElementEmitter &emitter, const HeadOutput &output,
                           const DecodeSplit &decode, Value group, Value rank,
                           unsigned result)
    : emitter(emitter), b(emitter.getBuilder()),
      split(getOutputSplit(decode, output.depth, output.columns)),
      depth(output.depth), columns(output.columns), result(result),
      group(group), w(emitter, output.weight) {
  heads = b.allocWorkgroup({depth}, b.getF32Type());
  first = b.mul(rank, split.rows);
  Value number = b.div(b.thread(), split.lanes);
  lane = b.rem(b.thread(), split.lanes);
  row = b.add(first, number);
  isThere = b.both(b.isLess(number, split.rows), b.isLess(row, columns));
  // Past the end the last row is read again: loads need no branch.
  row = b.min(b.add(first, b.min(number, b.index(split.rows - 1))),
              b.index(columns - 1));
}

bool DecodeOutput::hasAllPieces() const {
  return split.pieces * split.lanes * kPiece == depth;
}

Value DecodeOutput::getPlace(int64_t i) {
  Value place = b.mul(b.add(lane, i * split.lanes), kPiece);
  return hasAllPieces() ? place : b.min(place, b.index(depth - kPiece));
}

void DecodeOutput::prefetch() {
  if (!w.isMemory())
    return;
  int64_t bits = getElementTypeOrSelf(w.getTensor()).getIntOrFloatBitWidth();
  int64_t line = kLineBits / bits, lines = llvm::divideCeil(depth, line);
  b.forEach(b.thread(), b.index(split.rows * lines), b.index(b.getThreads()),
            [&](Value item) {
              Value of =
                  b.min(b.add(first, b.div(item, lines)), b.index(columns - 1));
              Value at = b.min(b.mul(b.rem(item, lines), line),
                               b.index(depth - kPiece));
              auto [buffer, place] =
                  w.getPlace(of, b.add(b.mul(group, depth), at));
              prefetchLine(b, buffer, place);
            });
}

void DecodeOutput::fetch() {
  for (int64_t i = 0; i < split.pieces; ++i)
    fetched.push_back(w.fetch(row, b.add(b.mul(group, depth), getPlace(i)),
                              /*checked=*/false));
}

void DecodeOutput::compute() {
  Value sum = b.f32(0);
  for (int64_t i = 0; i < split.pieces; ++i) {
    Value place = getPlace(i);
    Value numbersW =
        w.finish(place, fetched[i], /*checked=*/false, b.getF32Type());
    Value numbersX = b.read(heads, place, kPiece);
    // A sum for each piece: they do not wait for each other.
    Value own = b.f32(0);
    for (int64_t j = 0; j < kPiece; ++j)
      own = b.fma(b.extract(numbersX, j), b.extract(numbersW, j), own);
    if (!hasAllPieces())
      own =
          b.select(b.isLess(b.mul(b.add(lane, i * split.lanes), kPiece), depth),
                   own, b.f32(0));
    sum = arith::AddFOp::create(b, sum, own);
  }
  sum = b.waveReduce(sum, GpuBuilder::Kind::ADD, split.lanes);
  b.ifThen(b.both(isThere, b.isEqual(lane, 0)),
           [&] { emitter.store(result, {b.index(0), group, row}, sum); });
}
