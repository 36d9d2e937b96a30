//===- MatrixOps.cpp - MFMA -----------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D = A B + C on one wave. How a matrix lies in registers, for blocks of
// Dim x Dim with K products each and E elements per lane:
//
//   A   row lane % Dim; lanes / Dim number first the groups of E along K, then
//       the blocks
//   B   the same with columns for rows
//   C,D column lane % Dim; rows in groups of four: four registers hold four
//       neighbouring rows, the lanes / Dim the next groups, further registers
//       the groups after these, then the blocks
//
// (The groups of f64 have one row.) exec does not matter. Products are added in
// the order of k, each sum rounded to f32; the order and the inner precision of
// the hardware are not documented.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Numeric.h"
#include "tools/simulator/Wave.h"

using namespace gist::sim;

//===----------------------------------------------------------------------===//
// Elements: how many bytes, and what they are worth.
//===----------------------------------------------------------------------===//

namespace {
// Value is what products are summed in: float, double or int32_t.
struct Half {
  static constexpr unsigned kBytes = 2;
  using Value = float;
  static float convert(uint64_t bits) {
    return fromF16(static_cast<uint16_t>(bits));
  }
};
struct Brain {
  static constexpr unsigned kBytes = 2;
  using Value = float;
  static float convert(uint64_t bits) {
    return fromBf16(static_cast<uint16_t>(bits));
  }
};
/// 256 values are converted once: a matrix operation converts thousands.
template <float (*Convert)(uint8_t)> struct Eighth {
  static constexpr unsigned kBytes = 1;
  using Value = float;
  static float convert(uint64_t bits) {
    static const std::array<float, 256> kTable = [] {
      std::array<float, 256> table;
      for (unsigned i = 0; i < 256; ++i)
        table[i] = Convert(static_cast<uint8_t>(i));
      return table;
    }();
    return kTable[bits & 0xff];
  }
};
using Fp8 = Eighth<fromFp8>;
using Bf8 = Eighth<fromBf8>;
struct Single {
  static constexpr unsigned kBytes = 4;
  using Value = float;
  static float convert(uint64_t bits) {
    return asFloat(static_cast<uint32_t>(bits));
  }
};
struct Double {
  static constexpr unsigned kBytes = 8;
  using Value = double;
  static double convert(uint64_t bits) { return asDouble(bits); }
};
struct Byte {
  static constexpr unsigned kBytes = 1;
  using Value = int32_t;
  static int32_t convert(uint64_t bits) { return static_cast<int8_t>(bits); }
};
} // namespace

/// c + a * b. What is narrower than f32 has exact products.
static float multiplyAdd(float a, float b, float c, Single) {
  return std::fma(a, b, c);
}
static double multiplyAdd(double a, double b, double c, Double) {
  return std::fma(a, b, c);
}
template <typename E> static float multiplyAdd(float a, float b, float c, E) {
  return c + a * b;
}
/// Wraps around; unsigned, because signed overflow is undefined.
static int32_t multiplyAdd(int32_t a, int32_t b, int32_t c, Byte) {
  return static_cast<int32_t>(uint32_t(c) + uint32_t(a) * uint32_t(b));
}

//===----------------------------------------------------------------------===//
// Registers to matrices and back
//===----------------------------------------------------------------------===//

/// Reads A or B, transposed for A, as [block][k][row or column].
template <typename E, unsigned Dim, unsigned K, unsigned Blocks>
static void readFactor(const Wave &wave, const Operand &operand,
                       typename E::Value (&matrix)[Blocks][K][Dim]) {
  // Elements of a lane, and how many lanes with the same row share the K of a
  // block.
  constexpr unsigned kPerLane = Dim * K * Blocks / kLanes;
  constexpr unsigned kGroups = K / kPerLane;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned group = lane / Dim;
    for (unsigned e = 0; e < kPerLane; ++e) {
      unsigned byte = e * E::kBytes;
      unsigned reg = operand.reg + byte / 4;
      uint64_t bits = wave.vector[reg][lane] >> (8 * (byte % 4));
      if constexpr (E::kBytes == 8)
        bits |= uint64_t(wave.vector[reg + 1][lane]) << 32;
      matrix[group / kGroups][kPerLane * (group % kGroups) + e][lane % Dim] =
          E::convert(bits);
    }
  }
}

/// The row of block `block` that register `index` of D holds in `lane`.
template <unsigned Dim, bool IsDouble>
static void rowOf(unsigned index, unsigned lane, unsigned &block,
                  unsigned &row) {
  constexpr unsigned kLaneGroups = kLanes / Dim; // Lanes with the same column.
  if constexpr (Dim == 4) {
    block = lane / 4;
    row = index;
  } else if constexpr (IsDouble) {
    block = 0;
    row = index * kLaneGroups + lane / Dim;
  } else {
    // Registers that a block takes.
    constexpr unsigned kPerBlock = Dim * Dim / kLanes;
    block = index / kPerBlock;
    unsigned inBlock = index % kPerBlock;
    row = inBlock / 4 * 4 * kLaneGroups + lane / Dim * 4 + inBlock % 4;
  }
}

/// For the checks, which follow undefined values row by row.
unsigned gist::sim::matrixRow(const OpInfo &op, unsigned index, unsigned lane) {
  unsigned block = 0, row = 0;
  if (op.types[0] == ValueType::F64)
    rowOf<16, true>(index, lane, block, row);
  else if (op.matrixDim == 32)
    rowOf<32, false>(index, lane, block, row);
  else if (op.matrixDim == 16)
    rowOf<16, false>(index, lane, block, row);
  else
    rowOf<4, false>(index, lane, block, row);
  return row;
}

/// Works on whole matrices, because a lane holds pieces of several rows.
template <typename EA, typename EB, unsigned Dim, unsigned K, unsigned Blocks>
static void runMfma(Wave &wave, const Inst &inst) {
  using Value = typename EA::Value;
  constexpr bool kIsDouble = sizeof(Value) == 8;
  constexpr unsigned kResults = Dim * Dim * Blocks / kLanes;
  if (inst.blgp)
    return wave.fail(-1, "blgp is not implemented");

  // thread_local: these are too large for the stack of every call, and
  // workgroups run on several threads.
  alignas(64) static thread_local Value a[Blocks][K][Dim], b[Blocks][K][Dim];
  alignas(64) static thread_local Value d[Blocks][Dim][Dim];
  // A and B are copied out before D is written: registers may overlap.
  readFactor<EA, Dim, K, Blocks>(wave, inst.src[0], a);
  readFactor<EB, Dim, K, Blocks>(wave, inst.src[1], b);

  // C is registers laid out like D, or one constant for all elements.
  const Operand &addend = inst.src[2];
  for (unsigned index = 0; index < kResults; ++index)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned block = 0, row = 0;
      rowOf<Dim, kIsDouble>(index, lane, block, row);
      Value value;
      if constexpr (kIsDouble)
        value = asDouble(
            addend.isVector()
                ? wave.vector[addend.reg + 2 * index][lane] |
                      uint64_t(wave.vector[addend.reg + 2 * index + 1][lane])
                          << 32
                : addend.value);
      else
        value = std::bit_cast<Value>(addend.isVector()
                                         ? wave.vector[addend.reg + index][lane]
                                         : static_cast<uint32_t>(addend.value));
      d[block][row][lane % Dim] = value;
    }

  for (unsigned block = 0; block < Blocks; ++block) {
    // cbsz and abid: groups of 2^cbsz blocks share the A of one of them.
    unsigned from = (block >> inst.cbsz << inst.cbsz) + inst.abid;
    const auto &factor = a[inst.cbsz ? from % Blocks : block];
    for (unsigned k = 0; k < K; ++k)
      for (unsigned i = 0; i < Dim; ++i) {
        Value left = factor[k][i];
        for (unsigned j = 0; j < Dim; ++j)
          d[block][i][j] =
              multiplyAdd(left, b[block][k][j], d[block][i][j], EA());
      }
  }

  for (unsigned index = 0; index < kResults; ++index)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned block = 0, row = 0;
      rowOf<Dim, kIsDouble>(index, lane, block, row);
      Value value = d[block][row][lane % Dim];
      if constexpr (kIsDouble) {
        uint64_t bits = bitsOf(value);
        wave.vector[inst.dst.reg + 2 * index][lane] =
            static_cast<uint32_t>(bits);
        wave.vector[inst.dst.reg + 2 * index + 1][lane] =
            static_cast<uint32_t>(bits >> 32);
      } else {
        wave.vector[inst.dst.reg + index][lane] =
            std::bit_cast<uint32_t>(value);
      }
    }
  wave.group->counters.matrixPasses += inst.op->size;
}

template <typename EA, typename EB, unsigned Dim, unsigned K,
          unsigned Blocks = 1>
static constexpr OpInfo mfma(const char *name, uint8_t passes,
                             bool isXdl = true) {
  constexpr ValueType kType = std::is_same_v<typename EA::Value, double>
                                  ? ValueType::F64
                                  : ValueType::F32;
  return {name, runMfma<EA, EB, Dim, K, Blocks>, OpClass::Mfma, 1,
          0,    {kType, kType, kType, kType},    passes,        Dim,
          isXdl};
}

OpTable gist::sim::matrixOps() {
  static const OpInfo kOps[] = {
      mfma<Half, Half, 32, 8>("v_mfma_f32_32x32x8_f16", 8),
      mfma<Half, Half, 16, 16>("v_mfma_f32_16x16x16_f16", 4),
      mfma<Half, Half, 32, 4, 2>("v_mfma_f32_32x32x4_2b_f16", 16),
      mfma<Half, Half, 16, 4, 4>("v_mfma_f32_16x16x4_4b_f16", 8),
      mfma<Half, Half, 4, 4, 16>("v_mfma_f32_4x4x4_16b_f16", 2),
      mfma<Brain, Brain, 32, 8>("v_mfma_f32_32x32x8_bf16", 8),
      mfma<Brain, Brain, 16, 16>("v_mfma_f32_16x16x16_bf16", 4),
      mfma<Brain, Brain, 32, 4, 2>("v_mfma_f32_32x32x4_2b_bf16", 16),
      mfma<Brain, Brain, 16, 4, 4>("v_mfma_f32_16x16x4_4b_bf16", 8),
      mfma<Brain, Brain, 4, 4, 16>("v_mfma_f32_4x4x4_16b_bf16", 2),
      mfma<Fp8, Fp8, 32, 16>("v_mfma_f32_32x32x16_fp8_fp8", 8),
      mfma<Fp8, Bf8, 32, 16>("v_mfma_f32_32x32x16_fp8_bf8", 8),
      mfma<Bf8, Fp8, 32, 16>("v_mfma_f32_32x32x16_bf8_fp8", 8),
      mfma<Bf8, Bf8, 32, 16>("v_mfma_f32_32x32x16_bf8_bf8", 8),
      mfma<Fp8, Fp8, 16, 32>("v_mfma_f32_16x16x32_fp8_fp8", 4),
      mfma<Fp8, Bf8, 16, 32>("v_mfma_f32_16x16x32_fp8_bf8", 4),
      mfma<Bf8, Fp8, 16, 32>("v_mfma_f32_16x16x32_bf8_fp8", 4),
      mfma<Bf8, Bf8, 16, 32>("v_mfma_f32_16x16x32_bf8_bf8", 4),
      mfma<Byte, Byte, 32, 16>("v_mfma_i32_32x32x16_i8", 8),
      mfma<Byte, Byte, 16, 32>("v_mfma_i32_16x16x32_i8", 4),
      mfma<Byte, Byte, 32, 4, 2>("v_mfma_i32_32x32x4_2b_i8", 16),
      mfma<Byte, Byte, 16, 4, 4>("v_mfma_i32_16x16x4_4b_i8", 8),
      mfma<Byte, Byte, 4, 4, 16>("v_mfma_i32_4x4x4_16b_i8", 2),
      mfma<Single, Single, 32, 2>("v_mfma_f32_32x32x2_f32", 16, false),
      mfma<Single, Single, 16, 4>("v_mfma_f32_16x16x4_f32", 8, false),
      mfma<Single, Single, 32, 1, 2>("v_mfma_f32_32x32x1_2b_f32", 16, false),
      mfma<Single, Single, 16, 1, 4>("v_mfma_f32_16x16x1_4b_f32", 8, false),
      mfma<Single, Single, 4, 1, 16>("v_mfma_f32_4x4x1_16b_f32", 2, false),
      mfma<Double, Double, 16, 4>("v_mfma_f64_16x16x4_f64", 8, false),
  };
  return kOps;
}
