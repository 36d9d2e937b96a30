//===- FewRows.cpp - Products of up to 16 rows by matrix instructions -----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With 16 rows of x, reading W is still all that takes time, but a lane that
// multiplies each number of W with all of them would take longer than that.
// Here a wave has a few columns of the result and a part of k. No other wave
// reads its part of W, so it does not go through workgroup memory: a lane loads
// 16 bytes of a row, and those of all lanes are fragments of a matrix
// instruction, k in an order of its own, which x has too. At the end the waves
// add up what they have.
//
// As with one row (Gemv.cpp), a workgroup of sm_90 reads or asks for W before
// it waits for the kernels that write x, and it reduces the rows of a norm
// itself.
//
// The tile is a #gist.gpu_gemv with `matrix`.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/FewRows.h"
#include "dialect/GistLaunchNames.h"
#include "passes/Tile/Gpu/Core/GridOrder.h"
#include "passes/Tile/Gpu/Core/RowFragments.h"
#include "passes/Tile/Gpu/Elements/RowTeam.h"
#include "passes/Tile/Gpu/Matmul/Matmul.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

/// Numbers of a row that a lane reads at once to reduce it.
static constexpr int64_t kReducedWidth = 8;

std::optional<int64_t> gist::getMaxRows(linalg::LinalgOp product) {
  auto type = cast<RankedTensorType>(product.getDpsInputs()[0].getType());
  auto kernel = product->getParentOfType<func::FuncOp>();
  auto most = kernel->getAttrOfType<IntegerAttr>(kMaxTokensAttr);
  if (!most || !type.isDynamicDim(0))
    return std::nullopt;
  return most.getInt();
}

static Mma getMma(linalg::LinalgOp product, const GpuInfo &gpu) {
  Type element = Float16Type::get(product.getContext());
  for (Value operand : product.getDpsInputs())
    if (getElementTypeOrSelf(operand).isBF16())
      element = BFloat16Type::get(product.getContext());
  return Mma(gpu.kind == GpuKind::Nvidia ? Instruction::Mma16x8x16
                                         : Instruction::Mfma16x16x16,
             element);
}

namespace {
class FewRowsKernel {
public:
  FewRowsKernel(ElementEmitter &emitter, linalg::LinalgOp product,
                GpuGemvAttr tile)
      : b(emitter.getBuilder()), emitter(emitter), product(product),
        x(emitter, product.getDpsInputs()[0]),
        w(emitter, product.getDpsInputs()[1]), mma(getMma(product, b.getGpu())),
        lanes(b, mma), element(mma.getFragmentType().getElementType()),
        result(emitter, product, tile.getColumns()), piece(w.getPiece()),
        steps(tile.getSteps()), waves(tile.getWaves()[1]),
        fragments(tile.getColumns() / mma.columns()),
        stride(lanes.getLanesOfRow() * piece * steps * waves),
        checked(w.getDepth() % stride != 0), lane(b.lane()), wave(b.wave()),
        firstColumn(b.mul(b.block(0), tile.getColumns())) {
    isWeight = b.getGpu().kind == GpuKind::Nvidia && isConstant(w.getTensor());
    // Rows past the end repeat the last one; their results are not stored.
    Value last = b.sub(x.getRows(), 1);
    for (int64_t i = 0; i < lanes.getChunks(); ++i)
      rowsOfX.push_back(b.min(lanes.getRow(i), last));
    for (int64_t j = 0; j < fragments; ++j)
      for (int64_t i = 0; i < lanes.getChunks(); ++i)
        rowsOfW.push_back(getRowOfW(
            b.add(b.add(firstColumn, lanes.getRow(i)), j * mma.columns())));
  }

  void generate() {
    Value start =
        b.add(b.mul(wave, stride / waves), b.mul(lanes.getPlace(), piece));
    Values sums(fragments, mma.makeAccumulator(b));
    if (stride >= w.getDepth()) {
      SmallVector<Values> early;
      if (isWeight) {
        prefetchShortWeights(emitter, product->getParentOfType<func::FuncOp>());
        early = fetchW(start);
      }
      waitForGrids(b);
      reduceRows();
      sums = addSteps(start, sums, early);
    } else {
      if (isWeight && w.isMemory())
        prefetch(start);
      waitForGrids(b);
      reduceRows();
      sums = b.loop(b.index(0), b.index(w.getDepth()), stride, sums,
                    [&](Value k, ValueRange sums) {
                      return addSteps(b.add(k, start), sums, {});
                    });
      letGridsStart(b);
    }
    store(sums);
  }

private:
  /// Past the end the last row of W is read again, and the result is dropped.
  Value getRowOfW(Value column) {
    int64_t columns = *getConstantIntValue(w.getRows());
    Value there = b.min(column, b.index(columns - 1));
    return isPaired(product) ? getPairedRow(b, there, columns) : there;
  }

  /// Where the step after `k` begins.
  Value getNext(Value k, int64_t step) {
    return b.add(k, step * lanes.getLanesOfRow() * piece);
  }

  void prefetch(Value k) {
    Value last = b.index(std::max<int64_t>(w.getDepth() - piece, 0));
    for (int64_t step = 0; step < steps; ++step)
      for (Value row : rowsOfW) {
        auto [buffer, place] = w.getPlace(row, b.min(getNext(k, step), last));
        prefetchLine(b, buffer, place);
      }
  }

  SmallVector<Values> fetchW(Value k) {
    SmallVector<Values> fetched;
    for (int64_t step = 0; step < steps; ++step)
      for (Value row : rowsOfW)
        fetched.push_back(w.fetch(row, getNext(k, step), checked));
    return fetched;
  }

  /// Computes what x needs of each row as a whole. A wave reduces every
  /// `waves`th row; lanes then find theirs in workgroup memory.
  void reduceRows() {
    SmallVector<RowReduction> reductions =
        getRowReductions(product->getParentOfType<func::FuncOp>());
    llvm::erase_if(reductions, [&](const RowReduction &reduction) {
      return reduction.op == product || reduction.rank != 1;
    });
    RowTeam team(emitter, b.getGpu().waveSize, lane);
    Value last = b.sub(x.getRows(), 1);
    for (const RowReduction &reduction : reductions) {
      Value tensor = reduction.op->getResult(0);
      Value memory =
          b.allocWorkgroup({kMatrixRows}, getElementTypeOrSelf(tensor));
      for (int64_t i = 0; i < kMatrixRows; i += waves) {
        Value row = b.add(wave, i);
        Value number = team.reduce(reduction, b.min(row, last), kReducedWidth);
        b.ifThen(b.isEqual(lane, 0), [&] { b.write(number, memory, {row}); });
      }
      b.barrier();
      emitter.bind(tensor, [=, this](ValueRange indices, int64_t width) {
        return width == 1 ? b.read(memory, indices.front()) : Value();
      });
    }
  }

  /// Adds the products of `steps` pieces of k. All loads come first; what was
  /// read of W before is `early`.
  Values addSteps(Value k, ValueRange sums, ArrayRef<Values> early) {
    SmallVector<Values> fetchedW(early), fetchedX;
    if (early.empty())
      fetchedW = fetchW(k);
    for (int64_t step = 0; step < steps; ++step)
      for (Value row : rowsOfX)
        for (int64_t i = 0; i < piece; i += x.getPiece())
          fetchedX.push_back(x.fetch(row, b.add(getNext(k, step), i), checked));
    keepOrder(b);
    Values newSums(sums);
    const Values *nextW = fetchedW.begin(), *nextX = fetchedX.begin();
    for (int64_t step = 0; step < steps; ++step) {
      Value at = getNext(k, step);
      Values ofX, ofW;
      for (size_t i = 0; i < rowsOfX.size(); ++i)
        ofX.push_back(finishX(at, nextX));
      for (size_t i = 0; i < rowsOfW.size(); ++i)
        ofW.push_back(w.finish(at, *nextW++, checked, element));
      multiply(ofX, ofW, newSums);
    }
    return newSums;
  }

  /// As many numbers of x as a piece of W has.
  Value finishX(Value k, const Values *&next) {
    Values parts;
    for (int64_t i = 0; i < piece; i += x.getPiece())
      parts.push_back(x.finish(b.add(k, i), *next++, checked, element));
    return parts.size() == 1 ? parts.front() : b.concat(parts);
  }

  /// Pieces are several chunks where they are blocks.
  void multiply(const Values &ofX, const Values &ofW, Values &sums) {
    int64_t chunk = mma.getFragmentType().getNumElements();
    for (int64_t i = 0; i < piece; i += chunk) {
      auto getChunks = [&](ArrayRef<Value> pieces) {
        return llvm::map_to_vector(
            pieces, [&](Value whole) { return b.slice(whole, i, chunk); });
      };
      Values a = lanes.makeA(getChunks(ofX));
      for (int64_t j = 0; j < fragments; ++j) {
        ArrayRef<Value> rows =
            ArrayRef(ofW).slice(j * lanes.getChunks(), lanes.getChunks());
        Values bs = lanes.makeB(getChunks(rows));
        for (auto [left, right] : llvm::zip_equal(a, bs))
          sums[j] = mma.multiply(b, left, right, sums[j]);
      }
    }
  }

  /// Neighbours of a row that a lane has are stored together, those of each
  /// place by another wave.
  void store(ArrayRef<Value> sums) {
    int64_t run = mma.getRun();
    int64_t runs = mma.getAccumulatorType().getNumElements() / run;
    int64_t waveSize = b.getGpu().waveSize;
    Value memory;
    auto getPlace = [&](Value ofWave, int64_t number) {
      return Values{ofWave, b.index(number), b.mul(lane, run)};
    };
    if (waves > 1) {
      memory = b.allocWorkgroup({waves, fragments * runs, waveSize * run},
                                b.getF32Type());
      for (int64_t i = 0; i < fragments * runs; ++i)
        b.write(b.slice(sums[i / runs], i % runs * run, run), memory,
                getPlace(wave, i));
      b.barrier();
    }
    for (int64_t i = 0; i < fragments * runs; ++i) {
      auto storeRun = [&](Value numbers) {
        int64_t first = i % runs * run;
        Value row = mma.getRow(b, lane, first);
        Value column = b.add(b.add(firstColumn, mma.getColumn(b, lane, first)),
                             i / runs * mma.columns());
        result.ifRow(row, [&] { result.store(row, column, numbers); });
      };
      if (waves == 1) {
        storeRun(b.slice(sums[i / runs], i % runs * run, run));
        continue;
      }
      b.ifThen(b.isEqual(wave, i % waves), [&] {
        Value sum = b.read(memory, getPlace(b.index(0), i), run);
        for (int64_t other = 1; other < waves; ++other)
          sum = b.add(sum, b.read(memory, getPlace(b.index(other), i), run));
        storeRun(sum);
      });
    }
  }

  GpuBuilder &b;
  ElementEmitter &emitter;
  linalg::LinalgOp product;
  Operand x, w;
  Mma mma;
  RowFragments lanes;
  Type element; ///< that is multiplied
  MatmulResult result;
  int64_t piece, steps, waves;
  int64_t fragments; ///< of columns
  int64_t stride;    ///< of k, by all waves in one go
  bool checked;      ///< k may be past the end
  Value lane, wave, firstColumn;
  bool isWeight; ///< W can be read before the kernels that write x are over
  Values rowsOfX, rowsOfW;
};
} // namespace

LogicalResult gist::verifyFewRows(linalg::LinalgOp product, GpuGemvAttr tile,
                                  const GpuInfo &gpu) {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  int64_t rows = type.isDynamicDim(0)
                     ? getMaxRows(product).value_or(ShapedType::kDynamic)
                     : type.getDimSize(0);
  if (tile.getRows() != kMatrixRows)
    return product.emitOpError("expects ")
           << kMatrixRows << " rows for matrix instructions, got " << tile;
  if (ShapedType::isDynamic(rows) || rows > kMatrixRows)
    return product.emitOpError("expects at most as many rows as the tile, got ")
           << type << "; a kernel can say so by gist.max_tokens";
  Mma mma = getMma(product, gpu);
  // As RowFragments has them.
  int64_t lanes = mma.getLaneRows() * mma.waveSize() / mma.rows();
  if (tile.getLanes() != lanes || tile.getWaves()[0] != 1)
    return product.emitOpError("expects ")
           << lanes
           << " lanes for a row of W and waves that share the reduction on "
           << gpu.name << ", got " << tile;
  if (tile.getColumns() % mma.columns() != 0)
    return product.emitOpError("expects a multiple of ")
           << mma.columns() << " columns on " << gpu.name << ", got " << tile;
  return verifyLaneProducts(product, tile, tile.getColumns() / mma.columns());
}

FailureOr<GpuGrid> gist::emitFewRows(GpuKernel &kernel,
                                     linalg::LinalgOp product) {
  auto tile = kernel.getTile<GpuGemvAttr>();
  FewRowsKernel(kernel.emitter, product, tile).generate();
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  return GpuGrid{getAffineConstantExpr(
      llvm::divideCeil(type.getDimSize(1), tile.getColumns()),
      kernel.source.getContext())};
}
