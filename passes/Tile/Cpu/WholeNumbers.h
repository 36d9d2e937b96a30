//===- WholeNumbers.h - Rows as whole numbers of 24 bits --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_WHOLENUMBERS_H
#define GIST_PASSES_TILE_CPU_WHOLENUMBERS_H

#include "passes/Tile/Cpu/StoredBlocks.h"

namespace gist {

/// 32 numbers of a row as whole numbers, which products with blocks of a weight
/// multiply in integers. With a = max |x| over the 32 and M = 126 * 2^16,
///
///   x[i] is about (a / M) * X[i],  X[i] = round(x[i] * M / a)
///   X[i] = 2^16 * first[i] + 2^8 * second[i] + third[i], bytes with a sign
///
/// Off by at most a / 2^24: less than what a sum of 32 loses in f32. Sums of
/// products of bytes are exact.
struct WholeBlock {
  static constexpr int64_t kParts = 3;
  using Halves = std::array<TileBuilder::Values, 2>;

  mlir::Value scale;  ///< a / M; a NaN where x has a NaN or an infinity
  mlir::Value factor; ///< M / a; 0 there, and where x is next to nothing
  mlir::Value total;  ///< four numbers whose sum is that of x

  static WholeBlock read(TileBuilder &b, mlir::Value x, mlir::Value row,
                         mlir::Value block);
  /// The first, second and third bytes of each half. Not a part of `read`:
  /// nothing waits for a quotient where factors are made before.
  static Halves readParts(TileBuilder &b, mlir::Value x, mlir::Value row,
                          mlir::Value block, mlir::Value factor);
};

/// The only row of x as whole numbers.
class WholeNumbers {
public:
  WholeNumbers(TileBuilder &b, mlir::Value x, int64_t depth);

  /// Makes them, once for all columns of the weight.
  void emit();
  /// For each of `count` rows of the weight from `row` on, four numbers whose
  /// sum is the product with it. Rows at once share what is read of x.
  TileBuilder::Values emitProducts(const StoredBlocks &blocks, mlir::Value row,
                                   int64_t count);

private:
  /// Adds what a block gives: products to the first of `sums`, minima to the
  /// second, so that neither waits for the other.
  TileBuilder::Values emitStep(const StoredBlocks &blocks, mlir::Value row,
                               mlir::Value block, TileBuilder::Values sums);

  TileBuilder &b;
  mlir::Value x;
  int64_t depth;
  mlir::Value bytes;  ///< i8 [3][depth]
  mlir::Value scales; ///< f32 [block]: a / M
  mlir::Value totals; ///< f32 [block][4], whose sum is that of x
};

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_WHOLENUMBERS_H
