//===- Wgmma.h - Matrix instructions of four warps --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sm_90a multiplies straight from workgroup memory, and asynchronously:
//
//   fence; multiply ...; commit     started
//   wait(n)                         at most n groups are still running
//   sum = finish(sum)               none is; the sum may be read
//
// An accumulator has kRows rows of f32. Warp w of the four has its rows from 16
// w on; what a lane holds of those is laid out as in mma.sync: number i is in
// row lane / 4 + i / 2 % 2 * 8 and column i / 4 * 8 + lane % 4 * 2 + i % 2.
//
// It is one value, a sum of some columns, or the values of its numbers. The
// latter may be multiplied from registers, and other work on registers may go
// on beside it: registers that are in flight are handed through fence() and
// wait(), so that what comes before and after them in the code stays there.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_WGMMA_H
#define GIST_PASSES_TILE_GPU_CORE_WGMMA_H

#include "passes/Tile/Gpu/Core/GpuBuilder.h"
#include "passes/Tile/Gpu/Core/Mma.h"

namespace gist {

class Wgmma {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  static constexpr int64_t kWarps = 4, kRows = 64, kColumns = 128, kDepth = 16;
  /// Bytes of k that an instruction multiplies: kDepth of 16 bits.
  static constexpr int64_t kDepthBytes = 32;
  /// Threads that have an accumulator.
  static constexpr int64_t kThreads = 128;
  /// Numbers in one lane of a sum of kColumns.
  static constexpr int64_t kNumbers = kRows * kColumns / kThreads;
  /// Columns that an accumulator can have.
  static constexpr int64_t kMaxColumns = 256;
  /// The length of a tile's rows: one swizzle of 128 bytes, or 64 numbers of 16
  /// bits.
  static constexpr int64_t kTileBytes = 128, kTileDepth = 64;

  /// `element` is f16, bf16, f8E4M3FN or i8, whose sums are i32. Sums have
  /// `columns`, a multiple of 8 up to kMaxColumns; those of integers, one
  /// of 32.
  Wgmma(GpuBuilder &b, mlir::Type element, int64_t columns = kColumns);

  /// Numbers of a sum in one lane.
  int64_t getNumbers() const { return kRows * sumColumns / kThreads; }
  /// Numbers of k that an instruction multiplies.
  int64_t getDepth() const {
    return kDepthBytes * 8 / element.getIntOrFloatBitWidth();
  }

  /// A sum of `number` zeros; without a type, of those that multiply() gives.
  Value makeZero(mlir::Type number = {});
  /// The sum of these numbers of this lane, and the other way round.
  Value makeSum(mlir::ValueRange numbers);
  Value getNumber(Value sum, int64_t i);

  /// How the matrix units find rows of a tile from `row` on: rows of 128 bytes
  /// whose chunks are exchanged as SharedTile does it, in groups of eight.
  /// `next` is how many stages further those columns lie that follow a tile's,
  /// which only a transposed tile asks for.
  Value getDescriptor(const SharedTile &tile, Value stage, Value row,
                      int64_t next = 0);
  /// A descriptor moved by rows and along k.
  Value advance(Value descriptor, int64_t rows, int64_t k);

  /// What threads have stored is seen by the matrix units behind a barrier.
  void publishStores();
  void fence();
  /// sum + rows columns^T; without `sum`, the product alone.
  Value multiply(Value rows, Value columns, Value sum);
  void commit();
  void wait(int64_t pending);
  /// The sum when all that is added to it has been. It goes through the wait,
  /// so that it cannot be read earlier.
  Value finish(Value sum);

  /// The numbers of acc + rows columns^T; without `acc`, of the product alone.
  /// `rows` is a descriptor, or four registers of getLeft(). Transposed columns
  /// have k along the rows of their tile.
  Values multiply(mlir::ValueRange acc, int64_t numColumns,
                  mlir::ValueRange rows, Value columns, bool isTransposed);
  /// Numbers of an accumulator as rows of a product, in which its columns are
  /// k: four registers for kDepth of them.
  Values getLeft(mlir::ValueRange acc);
  /// What has been written to registers is seen by the products that follow.
  Values fence(mlir::ValueRange registers);
  /// Registers when at most `pending` groups of products are left. `note` is a
  /// comment in the text of the instruction.
  Values wait(mlir::ValueRange registers, int64_t pending,
              llvm::StringRef note = "");
  /// The row, one of two, and the first column of this lane in the rows of its
  /// four warps.
  Value getRow(int64_t half);
  Value getColumn();

private:
  Values pass(llvm::StringRef text, mlir::ValueRange registers);
  Values assemble(llvm::StringRef text, llvm::StringRef constraints,
                  mlir::TypeRange results, mlir::ValueRange operands);

  GpuBuilder &b;
  mlir::Type element;
  int64_t sumColumns;
  mlir::Type number; ///< of a sum
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_WGMMA_H
