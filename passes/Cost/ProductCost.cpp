//===- ProductCost.cpp - How long products take on a GPU ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/ProductCost.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace gist;

/// Bytes of a row in one step. Numbers of 8 bits are multiplied twice as fast
/// as those of 16, so that a step takes as long.
static constexpr int64_t kRowBytes = 128;
/// Stages below this wait for memory.
static constexpr int64_t kMinStages = 4, kMaxStages = 8;

/// Microseconds, fitted to 80 times on one H200 (mean error 7 %). What it takes
/// until the first workgroup runs; to begin and end a workgroup; for a step
/// beside its products, alone on a compute unit and where others run beside it;
/// for a number of the result in a step, and when it is stored; for a row of an
/// operand from the second level cache, where all compute units read.
static constexpr double kLaunch = 1, kWorkgroup = 2, kStep = 0.05,
                        kSharedStep = 0.045, kNumber = 22e-6, kStore = 12e-6,
                        kRow = 1.3e-3;
/// Not fitted, but by the rates of instructions: to scale a sum of a block, and
/// to convert it before. Of two groups of four warps one does so while the
/// other's products run.
static constexpr double kScale = 5e-6, kConvert = 8e-6;
/// How much faster products are on a card that is otherwise idle: its power is
/// limited.
static constexpr double kIdle = 0.35;

/// Rows of an instruction.
static constexpr int64_t kWgmmaRows = 64;

/// Warps are along the rows alone: four of them are one wgmma of 64 rows.
int64_t ProductTile::getWarps() const { return rows / 16; }

int64_t ProductTile::getMemory() const {
  return stages * (rows + columns) * kRowBytes;
}

/// Sums of a block that a workgroup has at once: of up to 128 columns.
static int64_t countPartSums(const ProductTile &tile) {
  constexpr int64_t kPart = 128;
  return tile.rows * std::min(tile.columns, kPart);
}

/// Workgroups that a compute unit runs at the same time.
static int64_t getResident(const ProductTile &tile, BlockSums sums,
                           const GpuInfo &gpu) {
  // What a workgroup takes beside its own, and registers beside sums. Those of
  // blocks are added to totals, part by part.
  constexpr int64_t kReserved = 1024, kRegisters = 65536, kOther = 72,
                    kOtherBeside = 56;
  int64_t threads = tile.getWarps() * gpu.waveSize;
  int64_t numbers = tile.rows * tile.columns / threads;
  int64_t registers =
      sums != BlockSums::None
          ? numbers + countPartSums(tile) / threads + kOtherBeside
          : numbers + kOther;
  return std::min((gpu.workgroupMemory + kReserved) /
                      (tile.getMemory() + kReserved),
                  kRegisters / (threads * registers));
}

double gist::estimateProduct(const ProductSize &size, const ProductTile &tile,
                             const GpuInfo &gpu) {
  int64_t steps = llvm::divideCeil(size.depth * size.bytes, kRowBytes);
  int64_t workgroups = llvm::divideCeil(size.rows, tile.rows) *
                       llvm::divideCeil(size.columns, tile.columns);
  // Below 1 some compute units are idle, and the card can run the others
  // faster.
  double share = static_cast<double>(workgroups) / gpu.computeUnits;
  double numbers = tile.rows * tile.columns;
  double products = kNumber * numbers * (1 - kIdle * (1 - std::min(share, 1.)));
  double each = size.sums == BlockSums::None       ? 0
                : size.sums == BlockSums::Integers ? kScale + kConvert
                                                   : kScale;
  double scaled = each * static_cast<double>(countPartSums(tile)) * kWgmmaRows /
                  static_cast<double>(tile.rows);
  auto estimateRound = [&](int64_t count) {
    double rows = tile.rows + tile.columns;
    // A step is bound by the latency of one workgroup, by the matrix unit that
    // `count` of them share, or by the second level cache.
    double step =
        std::max({kStep + products + scaled, count * (kSharedStep + products),
                  std::min<double>(count, share) * kRow * rows});
    return kWorkgroup + kStore * numbers * count + steps * step;
  };
  // The compute unit that has most, in rounds of those that it runs at once.
  int64_t most = llvm::divideCeil(workgroups, gpu.computeUnits);
  int64_t resident = std::max<int64_t>(getResident(tile, size.sums, gpu), 1);
  int64_t rest = most % resident;
  return kLaunch + most / resident * estimateRound(resident) +
         (rest ? estimateRound(rest) : 0);
}

llvm::SmallVector<ProductTile> gist::getProductTiles(const GpuInfo &gpu,
                                                     BlockSums sums) {
  constexpr int64_t kColumns = 32;
  llvm::SmallVector<ProductTile> tiles;
  // Four warps have registers for half as many columns as eight, where operands
  // go through registers too.
  for (auto [rows, most] : {std::pair<int64_t, int64_t>{64, 128}, {128, 256}})
    for (int64_t columns = kColumns; columns <= most; columns += kColumns) {
      // Parts of blocks are of multiples of 32 columns.
      if (sums != BlockSums::None && columns > 128 && columns % 64 != 0)
        continue;
      // As many stages as leave room for the same number of workgroups.
      ProductTile tile = {rows, columns, kMinStages};
      int64_t resident = getResident(tile, sums, gpu);
      for (int64_t stages = kMinStages; stages <= kMaxStages; ++stages) {
        ProductTile deeper = {rows, columns, stages};
        if (deeper.getMemory() <= gpu.workgroupMemory &&
            getResident(deeper, sums, gpu) == resident)
          tile = deeper;
      }
      tiles.push_back(tile);
    }
  return tiles;
}

/// The cheapest tile, where `countRows(rows, tile)` is the number of rows that
/// a tile multiplies for `rows` rows of the product.
static ProductTile
chooseTile(const ProductSize &size,
           llvm::function_ref<int64_t(int64_t, const ProductTile &)> countRows,
           const GpuInfo &gpu) {
  auto tiles = getProductTiles(gpu, size.sums);
  auto estimate = [&](int64_t rows, const ProductTile &tile) {
    return estimateProduct({countRows(rows, tile), size.columns, size.depth,
                            size.bytes, size.sums},
                           tile, gpu);
  };
  auto getCost = [&](const ProductTile &tile) {
    if (size.rows >= 0)
      return estimate(size.rows, tile);
    double cost = 0;
    // The number of rows is not known before a launch: a short and a long
    // prompt count the same, each by its time for a row.
    for (int64_t rows : {512, 2048})
      cost += estimate(rows, tile) / rows;
    return cost;
  };
  return *llvm::min_element(tiles,
                            [&](const ProductTile &a, const ProductTile &b) {
                              return getCost(a) < getCost(b);
                            });
}

ProductTile gist::chooseProductTile(const ProductSize &size,
                                    const GpuInfo &gpu) {
  return chooseTile(
      size, [](int64_t rows, const ProductTile &) { return rows; }, gpu);
}

ProductTile gist::chooseGroupedTile(const ProductSize &size,
                                    const ProductGroups &groups,
                                    const GpuInfo &gpu) {
  // A group's last tile is half full on average, and a group has at least one
  // tile. Groups are assumed to be of equal size.
  auto countRows = [&](int64_t rows, const ProductTile &tile) {
    int64_t each = llvm::divideCeil(rows * groups.slots, groups.groups);
    return groups.groups * std::max(tile.rows, each + tile.rows / 2);
  };
  return chooseTile(size, countRows, gpu);
}

double gist::estimateProduct(const ProductSize &size, const GpuInfo &gpu) {
  ProductSize unknown = {-1, size.columns, size.depth};
  return estimateProduct(size, chooseProductTile(unknown, gpu), gpu);
}
