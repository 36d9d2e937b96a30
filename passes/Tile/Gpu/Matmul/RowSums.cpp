//===- RowSums.cpp - Rows of a matrix times a few vectors -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/RowSums.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

/// As many lanes for a row as have something to read.
int64_t RowSums::getLanes(GpuBuilder &b, Operand &matrix) {
  uint64_t pieces = llvm::divideCeil(matrix.getDepth(), matrix.getPiece());
  return std::min<int64_t>(b.getGpu().waveSize, llvm::bit_floor(pieces));
}

int64_t RowSums::chooseEach(GpuBuilder &b, Operand &matrix, int64_t rows,
                            int64_t limit) {
  int64_t apart = b.getThreads() / getLanes(b, matrix);
  return std::clamp<int64_t>(llvm::divideCeil(rows, apart), 1, limit);
}

RowSums::RowSums(GpuBuilder &b, Operand &matrix, int64_t vectors, int64_t each,
                 int64_t steps)
    : b(b), matrix(matrix), vectors(vectors), each(each), steps(steps),
      piece(matrix.getPiece()), lanes(getLanes(b, matrix)),
      apart(b.getThreads() / lanes),
      checked(matrix.getDepth() % (lanes * piece * steps) != 0),
      group(b.div(b.thread(), lanes)), laneOfRow(b.rem(b.thread(), lanes)),
      begin(b.mul(laneOfRow, piece)) {}

Values RowSums::fetch(Value first, Value k) {
  // Rows past the end read the last one; callers do not use their sums.
  Value last = b.sub(matrix.getRows(), 1);
  Values fetched;
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t i = 0; i < each; ++i)
      llvm::append_range(
          fetched,
          matrix.fetch(b.min(b.add(first, getPlace(i)), last),
                       b.add(b.add(k, begin), step * lanes * piece), checked));
  return fetched;
}

Values RowSums::add(Value k, ValueRange fetched, ValueRange sums,
                    Vector vector) {
  Values newSums(sums);
  size_t parts = fetched.size() / (steps * each);
  for (int64_t step = 0; step < steps; ++step) {
    Value at = b.add(b.add(k, begin), step * lanes * piece);
    Values numbers;
    for (int64_t v = 0; v < vectors; ++v)
      numbers.push_back(vector(v, at));
    for (int64_t i = 0; i < each; ++i) {
      Value row =
          matrix.finish(at, fetched.take_front(parts), checked, b.getF32Type());
      fetched = fetched.drop_front(parts);
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = newSums[v * each + i];
        for (int64_t j = 0; j < piece; ++j)
          sum = b.fma(b.extract(numbers[v], j), b.extract(row, j), sum);
      }
    }
  }
  return newSums;
}

Values RowSums::getSums(Value first, Vector vector, Values fetched) {
  Values sums(vectors * each, b.f32(0));
  int64_t stride = lanes * piece * steps;
  auto step = [&](Value k, ValueRange sums) {
    Values loaded = fetch(first, k);
    keepOrder(b); // All loads come first.
    return add(k, loaded, sums, vector);
  };
  Value zero = b.index(0), end = b.index(matrix.getDepth());
  if (!fetched.empty()) {
    sums = add(zero, fetched, sums, vector);
    // What was fetched before is the first step; the loop goes on behind it.
    zero = b.index(stride);
  }
  if (fetched.empty() || stride < matrix.getDepth())
    sums = stride < matrix.getDepth() ? b.loop(zero, end, stride, sums, step)
                                      : step(zero, sums);
  for (Value &sum : sums)
    sum = b.waveReduce(sum, vector::CombiningKind::ADD, lanes);
  return sums;
}
