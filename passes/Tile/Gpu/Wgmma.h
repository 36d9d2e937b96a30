//===- Wgmma.h - Matrix instructions of four warps --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On sm_90a four warps multiply 64 rows x 16 by 16 x columns, asynchronously:
//
//   acc[m, n] += sum_k a[m, k] * b[n, k]
//
// B lies in workgroup memory, A there or in registers. Registers that are on
// their way are handed through fence() and wait(), so that what comes before
// and after them in the code stays there.
//
// A lane's numbers of an accumulator are pairs of neighbours, from two rows in
// turn: number i is in row i / 2 % 2 of them, in columns i / 4 * 8 + i % 2 from
// getColumn() on.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_WGMMA_H
#define GIST_PASSES_TILE_GPU_WGMMA_H

#include "passes/Tile/Gpu/GpuBuilder.h"
#include "passes/Tile/Gpu/Mma.h"

namespace gist {

class Wgmma {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  static constexpr int64_t kRows = 64, kDepth = 16, kThreads = 128;
  /// Columns of a tile that matrix units can read: 128 bytes.
  static constexpr int64_t kTileColumns = 64;
  static constexpr int64_t kMaxColumns = 256;

  /// `element` is f16 or bf16.
  Wgmma(GpuBuilder &b, mlir::Type element) : b(b), element(element) {}

  /// Rows from `row` on, a multiple of eight, of a tile of kTileColumns. `next`
  /// is how many tiles further those columns lie that follow a tile's, which
  /// only a transposed B asks for.
  Value getDescriptor(const SharedTile &tile, Value stage, Value row,
                      int64_t next = 0);
  /// The descriptor of what lies `bytes` further.
  Value advance(Value descriptor, int64_t bytes);

  /// acc + a b^T; without `acc`, a b^T alone. `a` is a descriptor, or the four
  /// registers of getLeft(). A transposed B has k along its rows.
  Values multiply(mlir::ValueRange acc, int64_t columns, mlir::ValueRange a,
                  Value b, bool isTransposed);
  /// Pairs of numbers of an accumulator, of which the columns are now k: four
  /// for each kDepth columns.
  Values getLeft(mlir::ValueRange acc);

  /// Ends a group of products.
  void commit();
  /// What has been written to registers is seen by the products that follow.
  Values fence(mlir::ValueRange registers);
  /// Registers when at most `pending` groups of products are left.
  Values wait(mlir::ValueRange registers, int64_t pending);
  /// What threads have written to workgroup memory is seen by the products
  /// that follow a barrier.
  void fenceMemory();

  /// Of this lane, in the 64 rows of its four warps.
  Value getRow(int64_t half);
  Value getColumn();

private:
  Values pass(llvm::StringRef text, mlir::ValueRange registers);
  Values assemble(llvm::StringRef text, llvm::StringRef constraints,
                  mlir::TypeRange results, mlir::ValueRange operands);

  GpuBuilder &b;
  mlir::Type element;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_WGMMA_H
