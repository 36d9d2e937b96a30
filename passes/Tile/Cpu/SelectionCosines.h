//===- SelectionCosines.h - Cosines of a block of rows ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of rows against a list of candidates, four by four: products by
// vectors along the rows, the sums of four of them as one vector of cosines.
// Candidates are taken some at a time, so that they stay in the first cache
// while all rows of the block meet them.
//
// Where there are coefficients in a subspace, four by four pairs whose bound
// stays below a limit are passed over.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_SELECTIONCOSINES_H
#define GIST_PASSES_TILE_CPU_SELECTIONCOSINES_H

#include "dialect/GistOps.h"
#include "passes/Tile/Cpu/BufferBuilder.h"

#include <functional>

namespace gist {

/// Rows that a workgroup takes.
inline constexpr int64_t kSelectRows = 32;

class SelectionCosines {
public:
  using Value = mlir::Value;

  /// `inverses` gives one over the norm of a token, NaN for one without a
  /// direction; -infinity is the cosine of a pair with one.
  SelectionCosines(BufferBuilder &b, Value tokens, Value coefficients,
                   Value residuals, Similarity similarity, Value head,
                   std::function<Value(Value token)> inverse)
      : b(b), tokens(tokens), coefficients(coefficients), residuals(residuals),
        similarity(similarity), head(head), inverse(std::move(inverse)) {}

  /// The rows `first` to `first + count`, at most kSelectRows.
  struct Rows {
    Value first, count;
    /// May be null: whether row number `row` of the block needs anything.
    std::function<Value(Value row)> isActive = nullptr;
  };

  /// Candidates number `begin` to `end`.
  struct Candidates {
    Value begin, end;
    std::function<Value(Value number)> token;
  };

  /// Gets the cosines of row number `row` of the block with four candidates,
  /// -infinity past the last of them, and their ids as i32.
  using Visit = std::function<void(Value row, Value cosines, Value ids)>;

  /// Visits all pairs. With a `limit` those may be left out whose cosine is
  /// certainly below the row's, an f32.
  void emit(const Rows &rows, const Candidates &candidates, Visit visit,
            std::function<Value(Value row)> limit = nullptr);

  /// 1 / |x| of a token, NaN where it has no direction.
  Value emitInverseNorm(Value token);

private:
  struct Tile {
    mlir::SmallVector<Value> rows, candidates; ///< tokens
    mlir::SmallVector<Value> rowInverses;
    Value candidateInverses, ids, isThere;
  };

  void emitTile(const Rows &rows, const Candidates &candidates, Value row,
                Value number, const Visit &visit,
                const std::function<Value(Value row)> &limit);
  mlir::SmallVector<Value> emitDots(Value buffer, const Tile &tile);
  Value emitCosines(const Tile &tile, int64_t row, Value dots);
  Value mayReach(const Tile &tile, Value row,
                 const std::function<Value(Value row)> &limit);
  mlir::SmallVector<Value> locate(Value buffer, Value token, Value at);
  int64_t getWidth(Value buffer);

  BufferBuilder &b;
  Value tokens, coefficients, residuals;
  Similarity similarity;
  Value head;
  std::function<Value(Value token)> inverse;
};

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_SELECTIONCOSINES_H
