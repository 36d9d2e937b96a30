//===- GramTile.h - Cosines of gathered rows --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every selection spends its time on: a tile of dot products between rows
// of one matrix, both sides gathered by id, in the matrix instruction that the
// tile attribute names.
//
// f16 and bf16 rows are multiplied as they are, which is exact, and scaled by
// both inverse norms afterwards. An f32 row is normalised first and split into
// two f16 numbers, high + low = 2^6 x / |x|, which hold 22 bits of it; three
// products give the cosine to about 2^-20. The power of two keeps the low
// halves out of the denormal numbers.
//
// With `element = f8E4M3FNUZ` rows of any type are rounded to 8 bits first,
// scaled by a power of two to a norm of about 2^6 to 2^7: no number overflows
// (240), and what is rounded as a denormal number is below 2^-13 of the norm.
// What follows is exact: scales are the inverse norms of the rounded rows, so
// that equal rows have the cosine 1. Rounding turns a row by an angle of at
// most asin(2^-4) = 0.063, about 0.026 for rows of random numbers; a pair
// whose angle is further than twice that from the threshold's is decided right.
//
// A tile may be computed in parts: steps of the depth by several workgroups,
// whose sums are added in memory.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_SELECT_GRAMTILE_H
#define GIST_PASSES_TILE_GPU_SELECT_GRAMTILE_H

#include "passes/Tile/Gpu/Core/GpuBuilder.h"
#include "passes/Tile/Gpu/Core/Mma.h"
#include "passes/Tile/Gpu/Core/Wgmma.h"

#include <optional>

namespace gist {

class GramTile {
public:
  /// Rows are those of `tokens`, T x d, or of head `head` of T x heads x d.
  GramTile(GpuBuilder &b, GpuSelectionAttr tile, mlir::Value tokens,
           mlir::Value head);

  int64_t getRows() const { return sides[0].extent; }
  int64_t getColumns() const { return sides[1].extent; }

  /// One of the two lists of rows of a tile, in workgroup memory.
  struct Side {
    int64_t extent;
    SharedTile tile, low; ///< `low` where f32 is split
    /// Token ids, and inverse norms: NaN where there is no token or it has no
    /// direction.
    mlir::Value ids, scales;
    mlir::Value nextIds; ///< for startNext(); null unless canStart()
  };
  /// Rows, then columns. Their ids and scales are written before compute().
  const Side &getSide(unsigned number) const { return sides[number]; }

  /// Whether rows are rounded; scales are then the inverse norms of what that
  /// makes of them.
  bool isRounded() const { return form == Form::Rounded; }
  /// The power of two by which a row is multiplied before it is rounded, from
  /// its inverse norm; NaN if that is NaN.
  mlir::Value getPower(mlir::Value scale);
  /// Numbers as f32, after being multiplied by `power` and rounded.
  mlir::Value round(mlir::Value numbers, mlir::Value power);

  /// Steps along the depth.
  int64_t getSteps() const { return steps; }
  /// Writes the code that multiplies in steps [begin, end), at least one: all
  /// threads take part, and ids and scales have been written before a barrier.
  /// Leaves workgroup memory free.
  void compute(mlir::Value begin, mlir::Value end);
  /// Whether the first copies of a tile can run while the one before it is
  /// reduced.
  bool canStart() const { return isWgmma(); }
  /// Starts them for the tile of `nextIds`.
  void startNext(mlir::Value begin, mlir::Value end);
  /// The rest of compute(), once that tile's ids are `ids`.
  void computeStarted(mlir::Value begin, mlir::Value end);

  /// Words of memory for the sums of a tile.
  int64_t getSumWords() const { return sides[0].extent * sides[1].extent; }
  /// Stores the sums of this thread at `place` of a buffer of i32; adds those
  /// of [first, last] such places, which are getSumWords() apart from `place`
  /// on, where `condition` holds. All threads take part.
  void storeSums(mlir::Value buffer, mlir::Value place);
  void addSums(mlir::Value condition, mlir::Value buffer, mlir::Value place,
               mlir::Value first, mlir::Value last);

  /// How many sums a lane has.
  int64_t getNumSums() const {
    return rowFragments * columnFragments * getNumNumbers();
  }
  /// The sums of this thread, to carry them through a loop.
  GpuBuilder::Values getSums() const { return accumulators; }
  void setSums(mlir::ValueRange sums) {
    accumulators.assign(sums.begin(), sums.end());
  }
  void clearSums() {
    accumulators.assign(rowFragments * columnFragments, makeZero());
  }

  /// Whether getSumPlace() knows where sums are.
  bool canFindSums() const { return isWgmma() && hasRowGroups(); }
  /// Where the sum of a row and a column of the tile lies among those stored.
  mlir::Value getSumPlace(mlir::Value row, mlir::Value column);

  /// Lets this wave act as wave `number` of the tile in everything here but the
  /// products; as itself if null.
  void standFor(mlir::Value number) { standIn = number; }
  /// Waves of a tile along its columns, and sets of rows that waves share; the
  /// rows of a set are neighbours, the sets in the order of their numbers.
  int64_t getColumnWaves() const { return waves[1]; }
  int64_t getRowGroups() const {
    return isWgmma() ? waves[0] * Wgmma::kWarps : waves[0];
  }
  bool hasRowGroups() const { return !isWgmma() || rowFragments == 1; }
  /// The wave of a group of rows in column `column` of waves.
  mlir::Value getWaveOf(mlir::Value group, mlir::Value column);
  /// Whether scales are needed to multiply.
  bool multipliesScaled() const { return form != Form::Exact; }

  /// A column of one fragment as this lane holds it.
  struct Column {
    mlir::Value local; ///< its number in the tile
    int64_t fixed;     ///< the part of it that is the same for all lanes,
                       ///< within this wave's columns
    unsigned fragment; ///< along the columns
    llvm::SmallVector<unsigned> elements; ///< of the accumulator, one per row
  };
  /// The columns of this lane, each with one element per lane row.
  llvm::SmallVector<Column> getLaneColumns();
  /// Fragments along the rows, and rows of this lane in each.
  unsigned getRowFragments() const { return rowFragments; }
  unsigned getLaneRows() const { return isWgmma() ? 2 : mma->getLaneRows(); }
  /// Number of row `row` of this lane in fragment `fragment`, in the tile.
  mlir::Value getLaneRow(unsigned fragment, unsigned row);
  /// The first column of this wave in the tile, and how many it has.
  mlir::Value getWaveColumn();
  int64_t getWaveColumns() const { return sides[1].extent / waves[1]; }
  /// What of a column's number differs between the lanes that share a row.
  mlir::Value getLaneColumn();
  llvm::SmallVector<int64_t> getRowShuffles() const;

  /// The cosine of an element, from the scales of its row and column.
  mlir::Value getCosine(unsigned rowFragment, const Column &column,
                        unsigned laneRow, mlir::Value rowScale,
                        mlir::Value columnScale);

private:
  /// What one thread moves of a side: chunks of 16 bytes of the tile.
  struct Piece {
    mlir::Value id, row, column;
    mlir::Value scale;  ///< what a row is multiplied by, unless it is exact
    mlir::Value isMine; ///< null if every thread has one
  };
  llvm::SmallVector<Piece> getPieces(const Side &side, mlir::Value ids);
  void findPieces();
  void startCopies(mlir::Value begin, mlir::Value count);
  void computeSteps(mlir::Value begin, mlir::Value count);
  GpuBuilder::Values getIndices(mlir::Value id, mlir::Value column);
  mlir::Value load(const Piece &piece, mlir::Value step);
  void store(const Side &side, const Piece &piece, mlir::Value chunk,
             mlir::Value stage);
  mlir::Value copy(const Side &side, const Piece &piece, mlir::Value step,
                   mlir::Value stage);
  GpuBuilder::Values multiply(mlir::Value stage, mlir::ValueRange sums);
  GpuBuilder::Values multiplyByWarps(mlir::Value stage, mlir::ValueRange sums);
  void copyAll(mlir::Value begin, mlir::Value count, mlir::Value number);
  void computeThroughRegisters(mlir::Value begin, mlir::Value count);
  void computeAsynchronously(mlir::Value begin, mlir::Value count);
  void computeByWarps(mlir::Value begin, mlir::Value count);

  bool isWgmma() const { return wgmma.has_value(); }
  /// Rows and columns of a fragment, as one wave or four warps have it.
  int64_t getFragmentRows() const;
  int64_t getFragmentColumns() const;
  /// Numbers of a fragment in a lane.
  int64_t getNumNumbers() const;
  mlir::Value getNumber(mlir::Value sums, int64_t i);
  mlir::Value makeZero();
  mlir::Value makeSums(mlir::ValueRange numbers);
  mlir::Value getThread();
  mlir::Value getWave() { return standIn ? standIn : b.wave(); }
  /// The first row of this wave, or of its four warps, in the tile.
  mlir::Value getFirstRow();

  GpuBuilder &b;
  std::optional<Mma> mma;     ///< an instruction of a wave,
  std::optional<Wgmma> wgmma; ///< or of four warps
  mlir::Value tokens, head;
  int64_t depth, stages, size, steps;
  llvm::SmallVector<int64_t, 2> waves;
  unsigned rowFragments, columnFragments;
  /// What is multiplied: rows as they are, two halves of f32, 8 bits.
  enum class Form { Exact, Split, Rounded };
  Form form;
  bool isAsynchronous;
  Side sides[2];
  llvm::SmallVector<Piece> pieces[2];
  GpuBuilder::Values accumulators;
  mlir::Value standIn; ///< the wave that this one stands for
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_SELECT_GRAMTILE_H
