//===- StoredBlocks.h - Floats from blocks as files store them --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_STOREDBLOCKS_H
#define GIST_PASSES_TILE_CPU_STOREDBLOCKS_H

#include "passes/Tile/Cpu/TileBuilder.h"
#include "runtime/format/BlockFormats.h"

#include <array>
#include <optional>

namespace gist {

/// The blocks of a weight that float products read without a copy of it in f32:
/// 32 values of 4 or of 8 bits with one scale.
class StoredBlocks {
public:
  static constexpr int64_t kLength = 32;
  static constexpr int64_t kHalf = kLength / 2;

  /// What `weight` is dequantised from, if that is such blocks.
  static std::optional<StoredBlocks> find(mlir::Value weight);

  /// The values of a block of a row, as the definition of gist.dequantize gives
  /// them: two vectors of 16.
  std::array<mlir::Value, 2> read(TileBuilder &b, mlir::Value row,
                                  mlir::Value block) const;

  /// Its parts: a value is scale * byte + minimum. Null where the format has no
  /// minimum.
  mlir::Value readScale(TileBuilder &b, mlir::Value row,
                        mlir::Value block) const;
  mlir::Value readMinimum(TileBuilder &b, mlir::Value row,
                          mlir::Value block) const;
  /// What `readBytes` gives lies between -8 and 7 when this is taken away, or
  /// has 8 bits, where it is null.
  std::optional<int64_t> getMiddle() const;
  /// Two vectors of 16 bytes with a sign.
  std::array<mlir::Value, 2> readBytes(TileBuilder &b, mlir::Value row,
                                       mlir::Value block) const;

private:
  StoredBlocks(mlir::Value blocks, const FormatInfo &format)
      : blocks(blocks), format(&format) {}

  mlir::Value readHalf(TileBuilder &b, mlir::Value row, mlir::Value block,
                       int64_t offset) const;

  mlir::Value blocks; ///< i8 [row][block][byte]
  const FormatInfo *format;
};

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_STOREDBLOCKS_H
