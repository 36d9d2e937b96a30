//===- Mma.h - Matrix instructions of GPUs ----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wave multiplies fragments, A of rows() x depth() and B of columns() x
// depth(), into an accumulator of rows() x columns():
//
//   acc[m, n] += sum_k a[m, k] * b[n, k]
//
// The order of k inside a fragment is the instruction's own; A and B agree on
// it. A lane holds its part of a fragment as a vector of 16 bytes and its part
// of an accumulator as a vector of f32.
//
// What differs between gfx942 and sm_90 stays in here. On gfx942 the operands
// are exchanged (a b^T = (b a^T)^T), so that on both a lane's numbers lie along
// rows of the accumulator. A row can then be stored in vectors, and what has
// been accumulated can be multiplied again as an A without moving between
// lanes, which is what attention does.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_MMA_H
#define GIST_PASSES_TILE_GPU_CORE_MMA_H

#include "dialect/GistOps.h"
#include "dialect/GistTileAttrs.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gist {

/// Tiles of rows x columns in workgroup memory, one per stage.
///
/// The 16-byte chunks of a row are exchanged by an exclusive or with the row's
/// number: eight neighbouring rows keep the same chunk in different banks, so
/// that reading down a column of chunks is free of conflicts, without padding.
class SharedTile {
public:
  SharedTile() = default;

  /// Allocates at the insertion point, which must be where a kernel begins.
  SharedTile(mlir::ImplicitLocOpBuilder &b, int64_t stages, int64_t rows,
             int64_t columns, mlir::Type element);
  /// The tiles of a buffer that was allocated so.
  explicit SharedTile(mlir::Value buffer) : buffer(buffer) {}

  mlir::Value getBuffer() const { return buffer; }
  mlir::MemRefType getType() const;
  int64_t getRows() const { return getType().getDimSize(1); }
  int64_t getColumns() const { return getType().getDimSize(2); }
  mlir::Type getElement() const { return getType().getElementType(); }
  /// Elements of 16 bytes.
  int64_t getChunk() const;

  /// Where column `column` of row `row` lies in the buffer's last dimension.
  /// Rows that are equal modulo 8 give the same. The rest of its chunk follows.
  mlir::Value getPlace(mlir::ImplicitLocOpBuilder &b, mlir::Value row,
                       mlir::Value column) const;

  /// `type` numbers of a row, inside of one chunk.
  mlir::Value load(mlir::ImplicitLocOpBuilder &b, mlir::VectorType type,
                   mlir::Value stage, mlir::Value row,
                   mlir::Value column) const;
  void store(mlir::ImplicitLocOpBuilder &b, mlir::Value vector,
             mlir::Value stage, mlir::Value row, mlir::Value column) const;

private:
  mlir::Value buffer;
};

/// A matrix instruction of one wave.
class Mma {
public:
  /// `instruction` must be one of those that a wave executes alone.
  Mma(Instruction instruction, mlir::Type element);

  int64_t rows() const { return shape.rows; }
  int64_t columns() const { return shape.columns; }
  /// 16 for 32x32x8 and 16x8x16, 32 for 16x16x16 and 32x32x16; i8: twice that.
  int64_t depth() const { return shape.depth; }
  int64_t waveSize() const { return isNvidia() ? 32 : 64; }
  /// Instructions that one multiply() is.
  /// The second half of a fragment is the second half of k on gfx942, and the
  /// other eight columns of B on sm_90.
  int64_t getInstructions() const { return 2; }

  mlir::VectorType getFragmentType() const;
  mlir::VectorType getAccumulatorType() const;
  /// An accumulator of zeros: of f32, or for i8 of i32.
  mlir::Value makeAccumulator(mlir::ImplicitLocOpBuilder &b) const;

  /// The fragment at rows [row, row + rows()) and [k, k + depth()) of a tile
  /// whose columns are k. `row` and `k` are multiples of a fragment's.
  mlir::Value loadA(mlir::ImplicitLocOpBuilder &b, const SharedTile &tile,
                    mlir::Value lane, mlir::Value stage, mlir::Value row,
                    mlir::Value k) const;
  /// The same for B; the tile's rows are the product's columns.
  mlir::Value loadB(mlir::ImplicitLocOpBuilder &b, const SharedTile &tile,
                    mlir::Value lane, mlir::Value stage, mlir::Value column,
                    mlir::Value k) const;

  /// A tile for a B that is given with k along its rows, as attention's values
  /// are: `depth` values of k times `columns`. sm_90 transposes while loading;
  /// for gfx942 the tile is stored transposed.
  SharedTile makeTransposedTile(mlir::ImplicitLocOpBuilder &b, int64_t stages,
                                int64_t depth, int64_t columns) const;
  bool storesTransposed() const { return !isNvidia(); }
  /// Stores four neighbouring k, from `k` on, of the columns of a chunk, or of
  /// some of it, that begin at `column`; one vector for each k.
  void storeTransposed(mlir::ImplicitLocOpBuilder &b, const SharedTile &tile,
                       mlir::ArrayRef<mlir::Value> chunks, mlir::Value stage,
                       mlir::Value k, mlir::Value column) const;
  /// A fragment of such a tile, its k in the order of getFragments().
  mlir::Value loadTransposedB(mlir::ImplicitLocOpBuilder &b,
                              const SharedTile &tile, mlir::Value lane,
                              mlir::Value stage, mlir::Value column,
                              mlir::Value k) const;

  /// Neighbouring accumulators, of which the columns are now k, as fragments
  /// of A, each of depth() columns. Numbers may have been rounded before.
  llvm::SmallVector<mlir::Value>
  getFragments(mlir::ImplicitLocOpBuilder &b,
               mlir::ArrayRef<mlir::Value> accumulators) const;

  /// acc + a b^T.
  mlir::Value multiply(mlir::ImplicitLocOpBuilder &b, mlir::Value a,
                       mlir::Value fragmentB, mlir::Value acc) const;

  /// Row and column of number `i` of a lane's accumulator.
  mlir::Value getRow(mlir::ImplicitLocOpBuilder &b, mlir::Value lane,
                     int64_t i) const;
  mlir::Value getColumn(mlir::ImplicitLocOpBuilder &b, mlir::Value lane,
                        int64_t i) const;
  /// Numbers from a multiple of this on are neighbours in a row.
  int64_t getRun() const { return isNvidia() ? 2 : 4; }
  /// Numbers of a lane's accumulator that lie in different rows: number i lies
  /// in row (i / getRun()) % getLaneRows() of them.
  int64_t getLaneRows() const { return isNvidia() ? 2 : 1; }
  /// Lanes that share a row differ in these bits of the lane's number: the
  /// steps of a reduction by gpu.shuffle xor.
  llvm::SmallVector<int64_t> getRowShuffles() const;

private:
  bool isNvidia() const { return instruction == Instruction::Mma16x8x16; }

  Instruction instruction;
  mlir::Type element;
  MatrixShape shape;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_MMA_H
