//===- MatmulWgmma.cpp - Products in tiles, by instructions of four warps -===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sm_90a multiplies straight from workgroup memory, and asynchronously: the
// instructions of a step run while the next one is prepared.
//
//   for step:
//     wait for the copies of this step; barrier
//     start the copies of step + stages - 2
//     load step + 1 into registers             what cannot be copied as it is
//     start multiplying step
//     store the registers into the next stage
//     wait until step - 1 is multiplied
//
// After the barrier of a step nobody reads the stage of step - 2 any more,
// which is the one that is filled again.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Tile/Gpu/Matmul.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

namespace {
/// An accumulator of a warpgroup is 64 rows x `columns`. Its warps have 16 rows
/// each, laid out as in mma.sync's accumulators.
class WgmmaKernel {
public:
  WgmmaKernel(ElementEmitter &emitter, linalg::LinalgOp product,
              GpuTileAttr tile)
      : b(emitter.getBuilder()), grid(product, tile), depth(tile.getDepth()),
        stages(tile.getStages()),
        tileX(b, stages, tile.getWorkgroup()[0], depth, tile.getElement()),
        tileW(b, stages, tile.getWorkgroup()[1], depth, tile.getElement()),
        firstRow(grid.getRow(b)), firstColumn(grid.getColumn(b)),
        x(emitter, product.getDpsInputs()[0]),
        w(emitter, product.getDpsInputs()[1]),
        loaders{{b, x, tileX, firstRow}, {b, w, tileW, firstColumn}},
        steps(llvm::divideCeil(x.getDepth(), depth)),
        result(emitter, product, tile.getWorkgroup()[1]) {
    int64_t groupsOfRows = tile.getWaves()[0] / kWarps;
    int64_t groupsOfColumns = tile.getWaves()[1];
    Value group = b.div(b.thread(), kWarps * b.getGpu().waveSize);
    groupRow =
        b.mul(b.div(group, groupsOfColumns), tileX.getRows() / groupsOfRows);
    groupColumn =
        b.mul(b.rem(group, groupsOfColumns), tileW.getRows() / groupsOfColumns);
    partsOfRows = tileX.getRows() / groupsOfRows / kRows;
    partsOfColumns = tileW.getRows() / groupsOfColumns / kColumns;
    sumType = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(kNumbers, b.getF32Type()));
  }

  void generate() {
    start();
    Values sums(partsOfRows * partsOfColumns, makeZero());
    sums = b.loop(
        b.index(0), b.index(steps), 1, sums,
        [&](Value step, ValueRange sums) { return getStep(step, sums); });
    for (Value &sum : sums)
      sum = waitFor(sum);
    store(sums);
  }

private:
  static constexpr int64_t kWarps = 4, kRows = 64, kColumns = 128, kDepth = 16;
  /// Of an accumulator, in one lane.
  static constexpr int64_t kNumbers = kRows * kColumns / 128;

  bool isAnyAsync() const {
    return loaders[0].isAsync() || loaders[1].isAsync();
  }
  Value getStage(Value step) { return b.rem(step, stages); }

  void start() {
    for (int64_t step = 0; step + 2 < stages; ++step) {
      for (TileLoader &loader : loaders)
        if (loader.isAsync())
          loader.copy(b.index(step * depth), b.index(step));
      if (isAnyAsync())
        closeCopies(b);
    }
    for (TileLoader &loader : loaders)
      if (!loader.isAsync())
        loader.store(b.index(0), loader.fetch(b.index(0)), b.index(0));
  }

  Values getStep(Value step, ValueRange sums) {
    if (isAnyAsync())
      waitForCopies(b, stages - 3);
    // What threads have stored is to be seen by the matrix units.
    NVVM::FenceProxyOp::create(
        b,
        NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(b.getContext(),
                                   NVVM::SharedSpace::shared_cta));
    b.barrier();
    Value ahead = b.add(step, stages - 2);
    for (TileLoader &loader : loaders)
      if (loader.isAsync())
        loader.copy(b.mul(ahead, depth), getStage(ahead));
    if (isAnyAsync())
      closeCopies(b);
    // The last step loads itself again: something must be there to load.
    Value next = b.mul(b.min(b.add(step, 1), b.index(steps - 1)), depth);
    Values fetched[2];
    for (auto [loader, values] : llvm::zip_equal(loaders, fetched))
      if (!loader.isAsync())
        values = loader.fetch(next);
    Values newSums = multiply(getStage(step), sums);
    for (auto [loader, values] : llvm::zip_equal(loaders, fetched))
      if (!loader.isAsync())
        loader.store(next, values, getStage(b.add(step, 1)));
    NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
    return newSums;
  }

  Values multiply(Value stage, ValueRange sums) {
    Values newSums(sums);
    Value rowsX = getDescriptor(tileX, stage, groupRow);
    Value rowsW = getDescriptor(tileW, stage, groupColumn);
    NVVM::WgmmaFenceAlignedOp::create(b);
    for (int64_t k = 0; k < depth; k += kDepth)
      for (int64_t i = 0; i < partsOfRows; ++i)
        for (int64_t j = 0; j < partsOfColumns; ++j) {
          Value &sum = newSums[i * partsOfColumns + j];
          sum = multiply(advance(rowsX, i * kRows, k),
                         advance(rowsW, j * kColumns, k), sum);
        }
    NVVM::WgmmaGroupSyncAlignedOp::create(b);
    return newSums;
  }

  Value multiply(Value rowsX, Value rowsW, Value sum) {
    MLIRContext *context = b.getContext();
    auto type = tileX.getElement().isBF16() ? NVVM::WGMMATypes::bf16
                                            : NVVM::WGMMATypes::f16;
    return NVVM::WgmmaMmaAsyncOp::create(
        b, sumType, sum, rowsX, rowsW,
        NVVM::MMAShapeAttr::get(context, kRows, kColumns, kDepth), type, type,
        NVVM::WGMMATypes::f32, NVVM::WGMMAScaleOut::one,
        NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one, NVVM::MMALayout::row,
        NVVM::MMALayout::col, NVVM::MMAIntOverflowAttr());
  }

  /// How the matrix units find rows of a tile from `row` on: rows of 128 bytes
  /// whose chunks are exchanged as SharedTile does it, in groups of eight.
  Value getDescriptor(const SharedTile &tile, Value stage, Value row) {
    constexpr int64_t kSwizzle128 = int64_t(1) << 62;
    constexpr int64_t kGroupOfRows = int64_t(1024 / 16) << 32;
    constexpr int64_t kIgnored = int64_t(1) << 16;
    Value begin =
        memref::ExtractAlignedPointerAsIndexOp::create(b, tile.getBuffer());
    Value offset = b.mul(b.add(b.mul(stage, tile.getRows()), row), 128);
    Value address = b.createOrFold<arith::AndIOp>(
        b.div(b.add(begin, offset), 16), b.index(0x3fff));
    return b.createOrFold<arith::OrIOp>(
        arith::IndexCastUIOp::create(b, b.getI64Type(), address),
        arith::ConstantIntOp::create(b, b.getI64Type(),
                                     kSwizzle128 | kGroupOfRows | kIgnored));
  }

  /// A descriptor moved by rows and along k; addresses are in units of 16
  /// bytes.
  Value advance(Value descriptor, int64_t rows, int64_t k) {
    int64_t units = rows * 128 / 16 + k * 2 / 16;
    return b.createOrFold<arith::AddIOp>(
        descriptor, arith::ConstantIntOp::create(b, b.getI64Type(), units));
  }

  Value makeZero() {
    Value sum = LLVM::UndefOp::create(b, sumType);
    Value zero = b.f32(0);
    for (int64_t i = 0; i < kNumbers; ++i)
      sum = LLVM::InsertValueOp::create(b, sum, zero, i);
    return sum;
  }

  /// The sum when all that is added to it has been. It goes through the wait,
  /// so that nobody reads it earlier.
  Value waitFor(Value sum) {
    std::string constraints;
    SmallVector<Value> numbers;
    for (int64_t i = 0; i < kNumbers; ++i) {
      constraints += "=f,";
      numbers.push_back(LLVM::ExtractValueOp::create(b, sum, i));
    }
    for (int64_t i = 0; i < kNumbers; ++i)
      constraints += (i ? "," : "") + std::to_string(i);
    return LLVM::InlineAsmOp::create(
               b, sumType, numbers, "wgmma.wait_group.sync.aligned 0;",
               constraints, /*has_side_effects=*/true,
               /*is_align_stack=*/false, LLVM::TailCallKind::None,
               LLVM::AsmDialectAttr(), ArrayAttr())
        .getRes();
  }

  void store(ArrayRef<Value> sums) {
    Value warp = b.rem(b.wave(), kWarps), lane = b.lane();
    Value laneRow = b.add(b.mul(warp, 16), b.div(lane, 4));
    Value laneColumn = b.mul(b.rem(lane, 4), 2);
    for (int64_t i = 0; i < partsOfRows; ++i)
      for (int64_t half = 0; half < 2; ++half) {
        Value row = b.add(b.add(firstRow, groupRow),
                          b.add(laneRow, i * kRows + half * 8));
        result.ifRow(row, [&] {
          for (int64_t j = 0; j < partsOfColumns; ++j)
            for (int64_t k = 0; k < kColumns; k += 8) {
              Value column = b.add(b.add(firstColumn, groupColumn),
                                   b.add(laneColumn, j * kColumns + k));
              Values pair;
              for (int64_t number = 0; number < 2; ++number)
                pair.push_back(LLVM::ExtractValueOp::create(
                    b, sums[i * partsOfColumns + j],
                    k / 2 + half * 2 + number));
              result.store(row, column, b.concat(pair));
            }
        });
      }
  }

  GpuBuilder &b;
  MatmulGrid grid;
  int64_t depth, stages;
  SharedTile tileX, tileW;
  Value firstRow, firstColumn;
  Operand x, w;
  TileLoader loaders[2];
  int64_t steps;
  MatmulResult result;
  Value groupRow, groupColumn;
  int64_t partsOfRows, partsOfColumns;
  Type sumType;
};
} // namespace

LogicalResult gist::emitWgmmaMatmul(GpuKernel &kernel,
                                    linalg::LinalgOp product) {
  if (kernel.tile.getDepth() != 64 || kernel.tile.getStages() < 3)
    return product.emitOpError("expects steps of 64 and three stages or more "
                               "for wgmma, got ")
           << kernel.tile;
  WgmmaKernel(kernel.emitter, product, kernel.tile).generate();
  return success();
}
