//===- Gemv.cpp - Products of few rows ------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a few rows of x, reading W is all that takes time. Lanes share the rows
// of W that a wave has: `lanes` neighbours read one piece of a row each, so
// that a row is read in long runs, and keep a sum for every row of x. A lane
// has the loads of several rows of W, `steps` pieces of each, under way at
// once. At the end the sums of the lanes come together, and those of the waves
// that share a row.
//
// The tile is a #gist.gpu_gemv.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/Matmul.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

namespace {
class GemvKernel {
public:
  GemvKernel(ElementEmitter &emitter, linalg::LinalgOp product,
             GpuGemvAttr tile)
      : b(emitter.getBuilder()), x(emitter, product.getDpsInputs()[0]),
        w(emitter, product.getDpsInputs()[1]), rows(tile.getRows()),
        columns(tile.getColumns()), steps(tile.getSteps()), piece(w.getPiece()),
        lanes(tile.getLanes()), wavesOfK(tile.getWaves()[1]),
        result(emitter, product, columns) {
    // Rows of W whose sums a lane has; between them are those of the other
    // groups of lanes.
    apart = tile.getWaves()[0] * b.getGpu().waveSize / lanes;
    each = columns / apart;
    Value group = b.div(b.rem(b.thread(), apart * lanes), lanes);
    first = b.add(b.mul(b.block(0), columns), group);
    laneOfRow = b.rem(b.lane(), lanes);
    waveOfK = b.div(b.thread(), apart * lanes);
  }

  void generate() {
    int64_t stride = lanes * piece * wavesOfK * steps;
    Value start =
        b.add(b.mul(waveOfK, lanes * piece * steps), b.mul(laneOfRow, piece));
    Values sums(rows * each, b.f32(0));
    sums = b.loop(b.index(0), b.index(w.getDepth()), stride, sums,
                  [&](Value k, ValueRange sums) {
                    return getSteps(b.add(k, start), stride, sums);
                  });
    for (Value &sum : sums)
      sum = b.waveReduce(sum, vector::CombiningKind::ADD, lanes);
    store(wavesOfK > 1 ? combineWaves(sums) : sums);
  }

private:
  Value getColumn(int64_t i) { return b.add(first, i * apart); }

  /// Adds `steps` pieces of each row, from k on. All loads come first.
  Values getSteps(Value k, int64_t stride, ValueRange sums) {
    bool checked = w.getDepth() % stride != 0;
    Value lastW = b.sub(w.getRows(), 1), lastX = b.sub(x.getRows(), 1);
    SmallVector<Values> fetchedW, fetchedX;
    for (int64_t step = 0; step < steps; ++step) {
      Value at = b.add(k, step * lanes * piece);
      for (int64_t i = 0; i < each; ++i)
        fetchedW.push_back(w.fetch(b.min(getColumn(i), lastW), at, checked));
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < piece; i += x.getPiece())
          fetchedX.push_back(
              x.fetch(b.min(b.index(row), lastX), b.add(at, i), checked));
    }
    keepOrder(b);
    Values newSums(sums);
    const Values *nextW = fetchedW.begin(), *nextX = fetchedX.begin();
    for (int64_t step = 0; step < steps; ++step) {
      Value at = b.add(k, step * lanes * piece);
      Values numbersX;
      for (int64_t row = 0; row < rows; ++row)
        numbersX.push_back(finishX(at, nextX, checked));
      for (int64_t i = 0; i < each; ++i) {
        Value numbersW = w.finish(at, *nextW++, checked, b.getF32Type());
        for (int64_t row = 0; row < rows; ++row) {
          Value &sum = newSums[row * each + i];
          for (int64_t j = 0; j < piece; ++j)
            sum =
                b.fma(b.extract(numbersX[row], j), b.extract(numbersW, j), sum);
        }
      }
    }
    return newSums;
  }

  /// As many numbers of x as a piece of W has, from the next that were fetched.
  Value finishX(Value k, const Values *&next, bool checked) {
    Values parts;
    for (int64_t i = 0; i < piece; i += x.getPiece())
      parts.push_back(x.finish(b.add(k, i), *next++, checked, b.getF32Type()));
    return parts.size() == 1 ? parts.front() : b.concat(parts);
  }

  /// The sums over the waves that share k, for the first of them.
  Values combineWaves(ArrayRef<Value> sums) {
    int64_t count = apart * each;
    Value memory = b.allocWorkgroup({wavesOfK, rows, count}, b.getF32Type());
    auto getPlace = [&](Value wave, int64_t row, int64_t i) {
      Value group = b.div(b.rem(b.thread(), apart * lanes), lanes);
      return Values{wave, b.index(row), b.add(group, i * apart)};
    };
    b.ifThen(b.isEqual(laneOfRow, 0), [&] {
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < each; ++i)
          b.write(sums[row * each + i], memory, getPlace(waveOfK, row, i));
    });
    b.barrier();
    Values all;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < each; ++i) {
        Value sum = b.read(memory, getPlace(b.index(0), row, i));
        for (int64_t wave = 1; wave < wavesOfK; ++wave)
          sum = b.combine(vector::CombiningKind::ADD, sum,
                          b.read(memory, getPlace(b.index(wave), row, i)));
        all.push_back(sum);
      }
    return all;
  }

  void store(ArrayRef<Value> sums) {
    Value isWriter = b.both(b.isEqual(laneOfRow, 0), b.isEqual(waveOfK, 0));
    b.ifThen(isWriter, [&] {
      for (int64_t row = 0; row < rows; ++row)
        result.ifRow(b.index(row), [&] {
          for (int64_t i = 0; i < each; ++i)
            result.store(b.index(row), getColumn(i), sums[row * each + i]);
        });
    });
  }

  GpuBuilder &b;
  Operand x, w;
  int64_t rows, columns, steps, piece, lanes, wavesOfK;
  MatmulResult result;
  int64_t apart, each;
  Value first, laneOfRow, waveOfK;
};
} // namespace

LogicalResult gist::verifyGemv(linalg::LinalgOp product, GpuGemvAttr tile,
                               const GpuInfo &gpu) {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  if (type.isDynamicDim(0) || type.getDimSize(0) > tile.getRows())
    return product.emitOpError("expects at most as many rows as the tile, got ")
           << type;
  if (tile.getLanes() > gpu.waveSize)
    return product.emitOpError("expects at most ")
           << gpu.waveSize << " lanes on " << gpu.name << ", got " << tile;
  // Each group of lanes has whole rows of W, as many as the others.
  int64_t groups = tile.getWaves()[0] * gpu.waveSize / tile.getLanes();
  if (tile.getColumns() % groups != 0)
    return product.emitOpError("expects a multiple of ")
           << groups << " columns on " << gpu.name << ", got " << tile;
  return success();
}

FailureOr<GpuGrid> gist::emitGemv(GpuKernel &kernel, linalg::LinalgOp product) {
  auto tile = kernel.getTile<GpuGemvAttr>();
  GemvKernel(kernel.emitter, product, tile).generate();
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  return GpuGrid{getAffineConstantExpr(
      llvm::divideCeil(type.getDimSize(1), tile.getColumns()),
      kernel.source.getContext())};
}
