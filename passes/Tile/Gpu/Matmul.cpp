//===- Matmul.cpp - Products in tiles, by instructions of a wave ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup goes along k in steps of the tile's depth, with parts of x and W
// in `stages` buffers of workgroup memory. While a step is multiplied, the next
// ones are on their way:
//
//   for step:
//     wait for the copies of this step; barrier
//     start the copies of step + stages - 1
//     store step + 1 from registers            what cannot be copied as it is
//     load step + 2 into registers
//     multiply step
//
// (sm_90: load step + 1, multiply, store.)
//
// One barrier is enough: a stage is overwritten in the step after the one that
// read it at the earliest, and a barrier is between them. What is loaded into
// registers has a whole step to arrive.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul.h"
#include "mlir/IR/Matchers.h"
#include "passes/Tile/Kernels.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

//===----------------------------------------------------------------------===//
// MatmulGrid
//===----------------------------------------------------------------------===//

MatmulGrid::MatmulGrid(linalg::LinalgOp product, GpuTileAttr tile)
    : rows(tile.getWorkgroup()[0]), columns(tile.getWorkgroup()[1]) {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  tilesOfColumns = llvm::divideCeil(type.getDimSize(1), columns);
  perRow = std::min(tilesOfColumns & -tilesOfColumns, kColumnsOfTiles);
}

Value MatmulGrid::getRow(GpuBuilder &b) const {
  return b.mul(b.div(b.block(0), perRow), rows);
}

Value MatmulGrid::getColumn(GpuBuilder &b) const {
  Value inside = b.rem(b.block(0), perRow);
  return b.mul(b.add(b.mul(b.block(1), perRow), inside), columns);
}

//===----------------------------------------------------------------------===//
// MatmulResult
//===----------------------------------------------------------------------===//

MatmulResult::MatmulResult(ElementEmitter &emitter, linalg::LinalgOp op,
                           int64_t tile)
    : emitter(emitter), b(emitter.getBuilder()), product(op->getResult(0)),
      rows(emitter.size(product, 0)),
      columns(cast<RankedTensorType>(product.getType()).getDimSize(1)),
      checked(columns % tile != 0),
      numResults(op->getParentOfType<func::FuncOp>().getNumResults()) {}

void MatmulResult::ifRow(Value row, function_ref<void()> body) {
  b.ifThen(b.isLess(row, rows), body);
}

void MatmulResult::store(Value row, Value column, Value numbers) {
  auto type = dyn_cast<VectorType>(numbers.getType());
  int64_t width = type ? type.getNumElements() : 1;
  if (checked && columns % width != 0) {
    for (int64_t i = 0; i < width; ++i)
      store(row, b.add(column, i), b.extract(numbers, i));
    return;
  }
  if (checked)
    b.ifThen(b.isLess(column, columns), [&] { storeAt(row, column, numbers); });
  else
    storeAt(row, column, numbers);
}

void MatmulResult::storeAt(Value row, Value column, Value numbers) {
  auto type = dyn_cast<VectorType>(numbers.getType());
  int64_t width = type ? type.getNumElements() : 1;
  emitter.bind(product, [&](ValueRange indices, int64_t asked) {
    if (asked == width && ElementEmitter::areSame(indices, {row, column}))
      return numbers;
    for (int64_t i = 0; asked == 1 && i < width; ++i)
      if (ElementEmitter::areSame(indices, {row, b.add(column, i)}))
        return b.extract(numbers, i);
    return Value();
  });
  Values place{row, column};
  for (unsigned i = 0; i < numResults; ++i) {
    Value written = emitter.getWritten(i);
    emitter.store(i, place,
                  width == 1 ? emitter.element(written, place)
                             : emitter.elements(written, place, width));
  }
  emitter.unbind(product);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
class MatmulKernel {
public:
  MatmulKernel(ElementEmitter &emitter, linalg::LinalgOp product,
               GpuTileAttr tile)
      : b(emitter.getBuilder()), mma(tile), grid(product, tile),
        depth(tile.getDepth()), stages(tile.getStages()),
        tileX(b, stages, tile.getWorkgroup()[0], depth, tile.getElement()),
        tileW(b, stages, tile.getWorkgroup()[1], depth, tile.getElement()),
        firstRow(grid.getRow(b)), firstColumn(grid.getColumn(b)),
        x(emitter, product.getDpsInputs()[0]),
        w(emitter, product.getDpsInputs()[1]),
        loaders{{b, x, tileX, firstRow}, {b, w, tileW, firstColumn}},
        steps(llvm::divideCeil(x.getDepth(), depth)),
        result(emitter, product, tile.getWorkgroup()[1]) {
    int64_t wavesOfRows = tile.getWaves()[0],
            wavesOfColumns = tile.getWaves()[1];
    waveRow =
        b.mul(b.div(b.wave(), wavesOfColumns), tileX.getRows() / wavesOfRows);
    waveColumn = b.mul(b.rem(b.wave(), wavesOfColumns),
                       tileW.getRows() / wavesOfColumns);
    fragmentsOfRows = tileX.getRows() / wavesOfRows / mma.rows();
    fragmentsOfColumns = tileW.getRows() / wavesOfColumns / mma.columns();
  }

  void generate() {
    Values carried = start();
    numFetched = carried.size();
    carried.append(fragmentsOfRows * fragmentsOfColumns,
                   mma.makeAccumulator(b));
    carried = b.loop(b.index(0), b.index(steps), 1, carried,
                     [&](Value step, ValueRange carried) {
                       return getStep(step, carried.take_front(numFetched),
                                      carried.drop_front(numFetched));
                     });
    store(ArrayRef(carried).drop_front(numFetched));
  }

private:
  bool isAnyAsync() const {
    return loaders[0].isAsync() || loaders[1].isAsync();
  }
  Value getStage(Value step) { return b.rem(step, stages); }

  /// k of a step; of the last one for those past it, as something must be
  /// there to load.
  Value getDepth(Value step) {
    return b.mul(b.min(step, b.index(steps - 1)), depth);
  }

  /// Brings the steps on their way that are before the first is multiplied;
  /// returns what is in registers of the second.
  Values start() {
    for (int64_t step = 0; step + 1 < stages; ++step) {
      for (TileLoader &loader : loaders)
        if (loader.isAsync())
          loader.copy(b.index(step * depth), b.index(step));
      if (isAnyAsync())
        closeCopies(b);
    }
    for (TileLoader &loader : loaders)
      if (!loader.isAsync())
        loader.store(b.index(0), loader.fetch(b.index(0)), b.index(0));
    return isTwoAhead() ? fetch(b.index(1)) : Values();
  }

  /// What goes through registers of a step.
  Values fetch(Value step) {
    Values fetched;
    for (TileLoader &loader : loaders)
      if (!loader.isAsync())
        llvm::append_range(fetched, loader.fetch(getDepth(step)));
    return fetched;
  }

  Values getStep(Value step, ValueRange fetched, ValueRange sums) {
    if (isAnyAsync())
      waitForCopies(b, stages - 2);
    b.barrier();
    Value ahead = b.add(step, stages - 1);
    for (TileLoader &loader : loaders)
      if (loader.isAsync())
        loader.copy(b.mul(ahead, depth), getStage(ahead));
    if (isAnyAsync())
      closeCopies(b);
    Value next = b.add(step, 1);
    Values carried, newSums;
    if (isTwoAhead()) {
      store(next, fetched);
      keepOrder(b); // A wait for loads is not to include the next ones.
      carried = fetch(b.add(step, 2));
      keepOrder(b);
      newSums = multiply(getStage(step), sums);
    } else {
      Values values = fetch(next);
      newSums = multiply(getStage(step), sums);
      store(next, values);
    }
    llvm::append_range(carried, newSums);
    return carried;
  }

  /// Loads of a step further give gfx942 a whole step for them to arrive. For
  /// sm_90, LLVM would undo it: it turns a loaded value that a loop carries
  /// into a load where the value is used.
  bool isTwoAhead() const { return b.getGpu().kind == GpuKind::Amd; }

  /// Stores what was fetched of a step.
  void store(Value step, ValueRange fetched) {
    for (TileLoader &loader : loaders) {
      if (loader.isAsync())
        continue;
      size_t count = loader.getNumFetched();
      loader.store(getDepth(step), fetched.take_front(count), getStage(step));
      fetched = fetched.drop_front(count);
    }
  }

  Values multiply(Value stage, ValueRange sums) {
    Values newSums(sums);
    for (int64_t k = 0; k < depth; k += mma.depth()) {
      Values fragmentsX, fragmentsW;
      for (int64_t i = 0; i < fragmentsOfRows; ++i)
        fragmentsX.push_back(mma.loadA(b, tileX, b.lane(), stage,
                                       b.add(waveRow, i * mma.rows()),
                                       b.index(k)));
      for (int64_t j = 0; j < fragmentsOfColumns; ++j)
        fragmentsW.push_back(mma.loadB(b, tileW, b.lane(), stage,
                                       b.add(waveColumn, j * mma.columns()),
                                       b.index(k)));
      for (int64_t i = 0; i < fragmentsOfRows; ++i)
        for (int64_t j = 0; j < fragmentsOfColumns; ++j) {
          Value &sum = newSums[i * fragmentsOfColumns + j];
          sum = mma.multiply(b, fragmentsX[i], fragmentsW[j], sum);
        }
    }
    return newSums;
  }

  void store(ArrayRef<Value> sums) {
    int64_t run = mma.getRun(), laneRows = mma.getLaneRows();
    int64_t count = mma.getAccumulatorType().getNumElements();
    Value lane = b.lane();
    for (int64_t i = 0; i < fragmentsOfRows; ++i)
      for (int64_t laneRow = 0; laneRow < laneRows; ++laneRow) {
        Value row =
            b.add(b.add(firstRow, waveRow),
                  b.add(mma.getRow(b, lane, laneRow * run), i * mma.rows()));
        result.ifRow(row, [&] {
          for (int64_t j = 0; j < fragmentsOfColumns; ++j)
            for (int64_t k = laneRow * run; k < count; k += run * laneRows) {
              Value column =
                  b.add(b.add(firstColumn, waveColumn),
                        b.add(mma.getColumn(b, lane, k), j * mma.columns()));
              result.store(row, column,
                           b.slice(sums[i * fragmentsOfColumns + j], k, run));
            }
        });
      }
  }

  GpuBuilder &b;
  Mma mma;
  MatmulGrid grid;
  int64_t depth, stages;
  SharedTile tileX, tileW;
  Value firstRow, firstColumn;
  Operand x, w;
  TileLoader loaders[2];
  int64_t steps;
  MatmulResult result;
  Value waveRow, waveColumn;
  int64_t fragmentsOfRows, fragmentsOfColumns;
  size_t numFetched = 0;
};
} // namespace

LogicalResult gist::emitWaveMatmul(GpuKernel &kernel,
                                   linalg::LinalgOp product) {
  MatmulKernel(kernel.emitter, product, kernel.tile).generate();
  return success();
}

linalg::LinalgOp gist::getGpuMatmul(func::FuncOp kernel) {
  auto product = dyn_cast_or_null<linalg::LinalgOp>(getAnchor(kernel));
  if (!product || !isTransposedMatmul(product))
    return {};
  auto start = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  auto weight = cast<RankedTensorType>(product.getDpsInputs()[1].getType());
  bool isFromZero = start && matchPattern(start.value(), m_AnyZeroFloat());
  bool isFloat = llvm::all_of(product.getDpsInputs(), [](Value operand) {
    return isa<FloatType>(getElementTypeOrSelf(operand));
  });
  return isFromZero && isFloat && weight.hasStaticShape() ? product
                                                          : linalg::LinalgOp();
}

FailureOr<GpuGrid> gist::emitMatmul(GpuKernel &kernel,
                                    linalg::LinalgOp product) {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  FailureOr<AffineExpr> rows =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0)[0]);
  if (failed(rows))
    return product.emitOpError("has rows that the kernel's arguments do not "
                               "give");
  MLIRContext *context = kernel.source.getContext();
  if (kernel.tile.getInstruction() == Instruction::Fma) {
    if (failed(emitGemv(kernel, product)))
      return failure();
    return GpuGrid{getAffineConstantExpr(
        llvm::divideCeil(type.getDimSize(1), kernel.tile.getWorkgroup()[1]),
        context)};
  }
  bool isWgmma = kernel.tile.getInstruction() == Instruction::Wgmma64x128x16;
  if (failed(isWgmma ? emitWgmmaMatmul(kernel, product)
                     : emitWaveMatmul(kernel, product)))
    return failure();
  MatmulGrid grid(product, kernel.tile);
  return GpuGrid{rows->ceilDiv(kernel.tile.getWorkgroup()[0]) *
                     grid.getPerRow(),
                 getAffineConstantExpr(grid.getAlongY(), context)};
}
