//===- AttentionDecodeProduct.cpp - A product in attention ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionDecodeProduct.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Tile/Gpu/Core/ClusterMemory.h"
#include "passes/Tile/Gpu/Core/GridOrder.h"
#include "passes/Tile/Gpu/Matmul/FewRows.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;

/// Numbers that a lane reads at once.
static constexpr int64_t kPiece = 8;

DecodeProduct::DecodeProduct(ElementEmitter &emitter, linalg::LinalgOp product,
                             ArrayRef<Columns> columns, int64_t workgroups,
                             Value rank)
    : emitter(emitter), b(emitter.getBuilder()), product(product),
      columns(columns), workgroups(workgroups), numColumns(0), rank(rank),
      split(splitRowFactor(product.getDpsInputs()[0])),
      x(emitter, split ? split->rest : product.getDpsInputs()[0]),
      w(emitter, product.getDpsInputs()[1]) {
  for (const Columns &run : columns)
    numColumns += run.count;
  int64_t waves = b.getThreads() / b.getGpu().waveSize;
  each = llvm::divideCeil(numColumns, waves * workgroups);
  steps = llvm::divideCeil(w.getDepth(), b.getGpu().waveSize * kPiece);
}

Value DecodeProduct::getNumber(int64_t i) {
  int64_t waves = b.getThreads() / b.getGpu().waveSize;
  return b.add(b.add(b.mul(rank, waves), b.wave()), i * waves * workgroups);
}

Value DecodeProduct::isThere(int64_t i) {
  return b.isLess(getNumber(i), numColumns);
}

Value DecodeProduct::getColumn(int64_t i) {
  // Past the end the last column is read again: loads need no branch.
  Value number = b.min(getNumber(i), b.index(numColumns - 1));
  Value column = b.add(columns.front().first, number);
  int64_t before = columns.front().count;
  for (const Columns &run : ArrayRef(columns).drop_front()) {
    column = b.select(b.isLess(number, before), column,
                      b.add(run.first, b.sub(number, before)));
    before += run.count;
  }
  return column;
}

void DecodeProduct::keepGivenRows() {
  // A token's row of a table: sines and cosines.
  auto kernel = product->getParentOfType<func::FuncOp>();
  for (auto slice : kernel.getOps<tensor::ExtractSliceOp>()) {
    RankedTensorType type = slice.getType();
    if (type.getRank() != 2 || !type.hasStaticShape() ||
        type.getDimSize(0) != 1 || type.getDimSize(1) > b.getThreads() ||
        !type.getElementType().isF32() || !isConstant(slice.getResult()))
      continue;
    Value row = b.allocWorkgroup({type.getDimSize(1)}, type.getElementType());
    b.ifThen(b.isLess(b.thread(), type.getDimSize(1)), [&] {
      b.write(emitter.element(slice.getResult(), {b.index(0), b.thread()}), row,
              b.thread());
    });
    emitter.bind(slice.getResult(), [this, row](ValueRange at, int64_t width) {
      return width == 1 ? b.read(row, at[1]) : b.read(row, at[1], width);
    });
  }
}

void DecodeProduct::fetch() {
  prefetchShortWeights(emitter, product->getParentOfType<func::FuncOp>());
  keepGivenRows();
  bool checked = w.getDepth() % (b.getGpu().waveSize * kPiece) != 0;
  for (int64_t i = 0; i < each; ++i) {
    Value row = getColumn(i);
    for (int64_t step = 0; step < steps; ++step)
      fetched.push_back(w.fetch(
          row, b.mul(b.add(b.lane(), step * b.getGpu().waveSize), kPiece),
          checked));
  }
}

void DecodeProduct::compute() {
  int64_t waveSize = b.getGpu().waveSize;
  bool checked = w.getDepth() % (waveSize * kPiece) != 0;
  auto getPlace = [&](int64_t step) {
    return b.mul(b.add(b.lane(), step * waveSize), kPiece);
  };
  RowTeam team(emitter, waveSize, b.lane());
  if (!split)
    reduceRowsBefore(emitter, product, /*rows=*/1, team);
  SmallVector<Values> fetchedX;
  for (int64_t step = 0; step < steps; ++step)
    fetchedX.push_back(x.fetch(b.index(0), getPlace(step), checked));
  if (split)
    reduceRowsBefore(emitter, product, /*rows=*/1, team);
  keepOrder(b);
  Values numbersX;
  for (int64_t step = 0; step < steps; ++step)
    numbersX.push_back(
        x.finish(getPlace(step), fetchedX[step], checked, b.getF32Type()));

  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  Value memory = b.allocWorkgroup({type.getDimSize(1)}, b.getF32Type());
  Values sums;
  for (int64_t i = 0; i < each; ++i) {
    Value sum = b.f32(0);
    for (int64_t step = 0; step < steps; ++step) {
      Value numbersW = w.finish(getPlace(step), fetched[i * steps + step],
                                checked, b.getF32Type());
      for (int64_t j = 0; j < kPiece; ++j)
        sum = b.fma(b.extract(numbersX[step], j), b.extract(numbersW, j), sum);
    }
    sums.push_back(sum);
  }
  for (Value &sum : sums) {
    sum = b.waveReduce(sum, vector::CombiningKind::ADD);
    if (split)
      sum = arith::MulFOp::create(b, sum,
                                  emitter.element(split->factor, b.index(0)));
  }
  // Workgroup memory can be written remotely only after its workgroup has
  // started.
  NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
  // A lane writes for each workgroup.
  for (auto [i, sum] : llvm::enumerate(sums))
    b.ifThen(b.both(b.isLess(b.lane(), workgroups), isThere(i)),
             [&] { writeRemote(b, sum, memory, getColumn(i), b.lane()); });
  NVVM::ClusterArriveOp::create(b, b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
  emitter.bind(product->getResult(0), [this, memory](ValueRange at,
                                                     int64_t width) {
    return width == 1 ? b.read(memory, at[1]) : b.read(memory, at[1], width);
  });
}
