//===- BitPlane.h - Where bits of many small numbers lie --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_BITPLANE_H
#define GIST_RUNTIME_FORMAT_BITPLANE_H

#include <cstdint>

namespace gist {

/// Bits `position` and up of small numbers, in bytes that `8 / bits` of them
/// share. Runs of `lanes` bytes follow each other; the first `lanes` numbers of
/// a run have the lowest bits of its bytes, the next `lanes` those above, and
/// so on:
///
///     byte(i)  = offset + i / (lanes * 8 / bits) * lanes + i % lanes
///     shift(i) = bits * (i / lanes % (8 / bits))
///
/// So one load and one shift give the bits of `lanes` neighbours. With one lane
/// the bits of a byte are those of neighbours instead.
struct BitPlane {
  uint32_t offset = 0;   ///< of the first byte
  uint32_t lanes = 0;    ///< bytes of a run; 0: there is no plane
  uint32_t bits = 0;     ///< 1, 2, 4 or 8
  uint32_t position = 0; ///< of the lowest of these bits in the number

  constexpr uint32_t perByte() const { return 8 / bits; }
  /// Numbers of a run.
  constexpr uint32_t run() const { return lanes * perByte(); }
  constexpr uint32_t mask() const { return (1U << bits) - 1; }
  /// Values whose bits one load gives.
  constexpr uint32_t neighbours() const {
    return lanes == 1 ? perByte() : lanes;
  }
  constexpr uint32_t byteOf(uint32_t i) const {
    return offset + i / run() * lanes + i % lanes;
  }
  constexpr uint32_t shiftOf(uint32_t i) const {
    return bits * (i / lanes % perByte());
  }
};

/// Bits of one number: `bits` of them in byte `byte` from `shift` on, which are
/// those of the number from `position` on.
struct BitField {
  uint32_t byte = 0, shift = 0, bits = 0, position = 0;
};

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_BITPLANE_H
