//===- Staging.h - Loads of the operands of a product -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product reads rows of numbers along k. They lie in memory in some float
// type, or as blocks that stand for numbers, or are computed. Reading them is
// cut in two, so that others can work while loads are in flight: fetch()
// writes the loads, finish() what makes numbers of a type of them.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_STAGING_H
#define GIST_PASSES_TILE_GPU_MATMUL_STAGING_H

#include "passes/Tile/Gpu/Core/Mma.h"
#include "passes/Tile/Gpu/Elements/ElementEmitter.h"

namespace gist {

/// One side of a product: rows of k numbers.
class Operand {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// `tensor` is rows x k, k static. One row of the tensor holds `perRow` rows
  /// of the operand side by side; with more than one, the tensor holds no
  /// blocks.
  Operand(ElementEmitter &emitter, Value tensor, int64_t perRow = 1);

  /// How many numbers a thread reads at once: 16 bytes of f16 or of 8 bits in
  /// memory, or a group of 32 that shares what it is scaled with.
  int64_t getPiece() const { return blocks ? 32 : isBytes() ? 16 : 8; }
  Value getTensor() const { return tensor; }
  int64_t getDepth() const { return depth; }
  Value getRows() const { return rows; }

  /// Loads what the numbers [k, k + getPiece()) of a row are made of; `k` is a
  /// multiple of that. With `checked`, k may be past the end: another part of
  /// the row is loaded then.
  Values fetch(Value row, Value k, bool checked);
  /// The fetched numbers as `element`; zeros past the end.
  Value finish(Value k, mlir::ValueRange fetched, bool checked,
               mlir::Type element);

  /// Whether chunks of 16 bytes can be copied as they are.
  bool isCopyable(mlir::Type element) const;
  bool isDequantized() const { return bool(blocks); }
  /// Says that loops carry what is fetched of blocks beside little else: scales
  /// are then kept as they were loaded until they are needed.
  void keepScales() { keepsScales = true; }
  bool hasKeptScales() const { return keepsScales; }
  /// Whether the numbers lie in memory as they are.
  bool isMemory() const { return memory && !blocks; }
  /// Where number k of a row lies in memory.
  std::pair<Value, Values> getPlace(Value row, Value k) const {
    return {memory->buffer, memory->at(getIndices(row, k))};
  }

private:
  bool isBytes() const {
    return mlir::getElementTypeOrSelf(tensor).getIntOrFloatBitWidth() == 8;
  }
  Value dequantizePiece(Value k,
                        llvm::function_ref<Value(Value, int64_t)> readBytes);
  Value clamp(Value k, int64_t width, bool checked);
  /// The indices of number k of a row in the tensor.
  Values getIndices(Value row, Value k) const;

  GpuBuilder &b;
  ElementEmitter &emitter;
  Value tensor, rows;
  int64_t depth, perRow;
  DequantizeOp blocks;
  std::optional<MemoryAccess> memory; ///< of the numbers or of their blocks
  bool keepsScales = false;
};

/// How the threads of a workgroup bring rows x depth of an operand into a tile.
class TileLoader {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;
  using RowMap = llvm::function_ref<Value(Value)>;

  /// Rows from `first` on. Rows past the end are zeros where rows are copied
  /// and else repeat the last one; their results are not stored.
  TileLoader(GpuBuilder &b, Operand &operand, const SharedTile &tile,
             Value first);
  /// For a row of the tile the row `getRow` of the operand; zeros where
  /// `isThere`, if given, is false.
  TileLoader(GpuBuilder &b, Operand &operand, const SharedTile &tile,
             RowMap getRow, RowMap isThere);

  Value getTensor() const { return operand.getTensor(); }
  /// Whether this target copies without going through registers.
  bool isAsync() const { return async; }
  /// Whether numbers come from blocks, which takes many instructions.
  bool isDequantized() const { return operand.isDequantized(); }

  /// Loads the part from `k` on into registers: as many values for every `k`,
  /// so that a loop can carry them.
  Values fetch(Value k);
  /// Writes such a part, converted, into a stage.
  void store(Value k, mlir::ValueRange fetched, Value stage);
  /// Starts copies of the part into a stage. `k` may be past the end.
  void copy(Value k, Value stage);

private:
  struct Piece {
    Value row;    ///< of the operand
    Value place;  ///< row in the tile
    Value column; ///< in the tile
    Value inside; ///< false for threads without work; null where all have
    Value there;  ///< false for a row of zeros; null where none is
  };

  Values fetchPiece(const Piece &piece, Value k);
  void storePiece(const Piece &piece, Value k, mlir::ValueRange fetched,
                  Value stage);

  GpuBuilder &b;
  Operand &operand;
  SharedTile tile;
  bool async, checked;
  llvm::SmallVector<Piece> pieces;
  llvm::SmallVector<mlir::Type> types; ///< of what is fetched of a piece
};

/// Keeps what has been written before what follows, also when registers are
/// scarce: loads are to be ahead of the multiplication that hides them, and
/// waits behind it.
void keepOrder(GpuBuilder &b);

/// Lets the compiler for gfx942 spread what stands before this in a block, from
/// the last keepOrder() on, among its `numMatrix` matrix instructions: vector
/// instructions where operands are converted, else `numReads` reads of
/// workgroup memory and then `numLoads` loads of global memory. What is read of
/// workgroup memory must stand before what is stored there.
void interleaveConversions(GpuBuilder &b, int64_t numMatrix);
void interleaveLoads(GpuBuilder &b, int64_t numMatrix, int64_t numReads,
                     int64_t numLoads);
/// The same for a step of attention, whose outputs are multiplied while weights
/// are made of scores.
void interleaveWeights(GpuBuilder &b, int64_t numScores, int64_t numOut,
                       int64_t numReads, int64_t numFirst);

/// Ends a group of copies; waits until at most `pending` groups are left.
void closeCopies(GpuBuilder &b);
void waitForCopies(GpuBuilder &b, int64_t pending);

/// Prefetches the cache line of an element, on sm_90.
inline constexpr int64_t kLineBits = 128 * 8;
void prefetchLine(GpuBuilder &b, mlir::Value buffer, mlir::ValueRange indices);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_STAGING_H
