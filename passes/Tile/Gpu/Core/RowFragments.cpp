//===- RowFragments.cpp - Fragments straight from memory ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/RowFragments.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

RowFragments::RowFragments(GpuBuilder &b, const Mma &mma)
    : b(b), rows(mma.rows()), chunks(mma.getLaneRows()),
      lanesOfRow(chunks * mma.waveSize() / mma.rows()) {
  assert(mma.rows() == 16 && mma.columns() == 16 && "another instruction");
}

Value RowFragments::getRow(int64_t i) {
  // Rows that are eight apart belong to the same lanes on sm_90; on gfx942
  // lanes go down the rows first.
  return chunks == 1 ? b.rem(b.lane(), rows)
                     : b.add(b.div(b.lane(), lanesOfRow), i * rows / chunks);
}

Value RowFragments::getPlace() {
  return chunks == 1 ? b.div(b.lane(), rows) : b.rem(b.lane(), lanesOfRow);
}

/// `width` neighbours of each chunk in turn, until a fragment is full.
Values RowFragments::alternate(ArrayRef<Value> ofLane, int64_t width) {
  if (ofLane.size() == 1)
    return {ofLane[0]};
  int64_t whole = cast<VectorType>(ofLane[0].getType()).getNumElements();
  int64_t ofChunk = whole / chunks;
  Values fragments;
  for (int64_t first = 0; first < whole; first += ofChunk) {
    SmallVector<int64_t> numbers;
    for (int64_t i = first; i < first + ofChunk; i += width)
      for (int64_t chunk = 0; chunk < chunks; ++chunk)
        for (int64_t j = 0; j < width; ++j)
          numbers.push_back(chunk * whole + i + j);
    fragments.push_back(b.shuffle(ofLane[0], ofLane[1], numbers));
  }
  return fragments;
}

Values RowFragments::makeA(ArrayRef<Value> ofLane) {
  // A register is a pair along k: that of one row, of the other, and so on.
  return alternate(ofLane, 2);
}

Values RowFragments::makeB(ArrayRef<Value> ofLane) {
  // A half of the fragment is one instruction's B, two pairs of one row.
  return alternate(ofLane, 4);
}
