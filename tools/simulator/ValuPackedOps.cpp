//===- ValuPackedOps.cpp - Packed, mixed and dot-product operations -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations on two values in one or two registers (v_pk_*), mixed precision
// (v_fma_mix_*) and dot products.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Valu.h"

#include <algorithm>

using namespace gist::sim;

/// Bits of one source in one lane, both dwords where it has two.
static uint64_t rawBits(const Wave &wave, const Operand &operand,
                        unsigned lane) {
  if (operand.isVector()) {
    uint64_t bits = wave.vector[operand.reg][lane];
    if (operand.count > 1)
      bits |= uint64_t(wave.vector[operand.reg + 1][lane]) << 32;
    return bits;
  }
  if (operand.isScalar())
    return operand.count > 1 ? wave.read64(operand.reg)
                             : wave.scalar[operand.reg];
  return operand.value;
}

namespace {
/// The rows of one packed source: the low and, for pairs, the high dword.
struct PackedRows {
  const uint32_t *dwords[2];
  uint32_t buffers[2][kLanes];

  PackedRows(const Wave &wave, const Operand &operand, bool isPair) {
    dwords[0] = rawRow(wave, operand, 0, buffers[0]);
    // 16-bit pairs share one dword.
    dwords[1] = isPair ? rawRow(wave, operand, 1, buffers[1]) : dwords[0];
  }
};
} // namespace

/// Half `part` (0 low result, 1 high result) of source `index`: op_sel chooses
/// which half it comes from, neg_lo and neg_hi its sign.
template <typename S>
static typename S::T packedSource(const Wave &wave, const Inst &inst,
                                  const PackedRows &rows, unsigned index,
                                  unsigned part, unsigned lane) {
  bool fromHigh = (part ? inst.opSelHi : inst.opSel) >> index & 1;
  bool negate = (part ? inst.negHi : inst.negLo) >> index & 1;
  if constexpr (std::is_same_v<S, F32>) {
    float value = asFloat(rows.dwords[fromHigh][lane]);
    if (wave.flushInput)
      value = flushDenormal(value);
    return negate ? -value : value;
  } else {
    uint16_t bits =
        static_cast<uint16_t>(rows.dwords[0][lane] >> (fromHigh ? 16 : 0));
    if constexpr (std::is_same_v<S, F16>) {
      float value = fromF16(bits);
      return negate ? -value : value;
    } else {
      return static_cast<typename S::T>(bits);
    }
  }
}

/// One of the two results: 16 bits, or a dword of a pair.
/// Integer functions return 64 bits, so that clamp sees the exact value.
template <typename S, typename R>
/// Integer functions return 64 bits, so that clamp sees the exact value.
static uint32_t packedResult(const Wave &wave, const Inst &inst, R value) {
  if constexpr (kIsFloat<S>) {
    if (inst.clamp)
      value = clampToUnit(value);
    if constexpr (std::is_same_v<S, F32>)
      return bitsOf(wave.flushOutput ? flushDenormal(value) : value);
    else
      return toF16Bits(value);
  } else {
    using T = typename S::T;
    if (inst.clamp)
      return static_cast<uint16_t>(std::clamp<int64_t>(
          value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    return static_cast<uint16_t>(value);
  }
}

/// A packed operation: `function` on the low halves, then on the high ones.
template <typename S, size_t Sources, typename Function>
static constexpr OpInfo packed(const char *name, Function,
                               bool accumulates = false) {
  Handler run = [](Wave &wave, const Inst &original) {
    Inst inst = original;
    if (inst.numSrc < Sources) // v_pk_fmac: the destination is the addend.
      inst.src[Sources - 1] = inst.dst;
    // The high half of an inline constant differs between documents.
    if constexpr (std::is_same_v<S, F32>)
      for (unsigned i = 0; i < Sources; ++i)
        if (inst.src[i].kind == OperandKind::Constant &&
            ((inst.opSelHi | inst.opSel) >> i & 1) && inst.src[i].value)
          return wave.fail(-1, "the high half of a constant is not defined");
    auto execute = [&]<size_t... J>(std::index_sequence<J...>) {
      const PackedRows rows[] = {
          PackedRows(wave, inst.src[J], std::is_same_v<S, F32>)...};
      forEachLane(wave.exec(), [&](unsigned lane) {
        // Both halves are computed before the destination is written: it may be
        // a source.
        uint32_t results[2];
        for (unsigned part = 0; part < 2; ++part) {
          auto get = [&](unsigned index) {
            return packedSource<S>(wave, inst, rows[index], index, part, lane);
          };
          auto compute = [&]<size_t... I>(std::index_sequence<I...>) {
            auto result = Function{}(get(I)...);
            if constexpr (kIsFloat<S>)
              if (std::isnan(result))
                result = quietNan<decltype(result)>(get(I)...);
            return result;
          };
          results[part] = packedResult<S>(
              wave, inst, compute(std::make_index_sequence<Sources>{}));
        }
        if constexpr (std::is_same_v<S, F32>) {
          wave.vector[inst.dst.reg][lane] = results[0];
          wave.vector[inst.dst.reg + 1][lane] = results[1];
        } else {
          wave.vector[inst.dst.reg][lane] = results[0] | results[1] << 16;
        }
      });
    };
    execute(std::make_index_sequence<Sources>{});
  };
  return {name,
          run,
          OpClass::Valu,
          1,
          accumulates ? uint32_t(kReadsDst) : 0,
          {S::kType, S::kType, S::kType, S::kType},
          0};
}

/// Both dwords are read first: the destination may be a source.
static void runPackedMove(Wave &wave, const Inst &inst) {
  forEachLane(wave.exec(), [&](unsigned lane) {
    auto pick = [&](unsigned index) {
      return static_cast<uint32_t>(rawBits(wave, inst.src[index], lane) >>
                                   (inst.opSel >> index & 1 ? 32 : 0));
    };
    uint32_t low = pick(0), high = pick(1);
    wave.vector[inst.dst.reg][lane] = low;
    wave.vector[inst.dst.reg + 1][lane] = high;
  });
}

/// v_fma_mix: op_sel_hi says which sources are f16, op_sel in which half.
enum class MixTo { F32, LowF16, HighF16 };
template <MixTo To> static void runFmaMix(Wave &wave, const Inst &inst) {
  forEachLane(wave.exec(), [&](unsigned lane) {
    float values[3];
    for (unsigned i = 0; i < 3; ++i) {
      uint32_t bits = static_cast<uint32_t>(rawBits(wave, inst.src[i], lane));
      if (inst.opSelHi >> i & 1)
        values[i] = fromF16(
            static_cast<uint16_t>(bits >> (inst.opSel >> i & 1 ? 16 : 0)));
      else
        values[i] =
            wave.flushInput ? flushDenormal(asFloat(bits)) : asFloat(bits);
      values[i] = applySign(values[i], inst.src[i]);
    }
    float result = std::fma(values[0], values[1], values[2]);
    if (std::isnan(result))
      result = quietNan<float>(values[0], values[1], values[2]);
    if (inst.clamp)
      result = clampToUnit(result);
    uint32_t &dst = wave.vector[inst.dst.reg][lane];
    if constexpr (To == MixTo::F32)
      dst = bitsOf(wave.flushOutput ? flushDenormal(result) : result);
    else if constexpr (To == MixTo::LowF16)
      dst = (dst & 0xffff0000) | toF16Bits(result);
    else
      dst = (dst & 0xffff) | uint32_t(toF16Bits(result)) << 16;
  });
}

/// Dot products of Width-bit elements. Floating point adds one product after
/// the other to the addend, each rounded to f32, as the manual writes it.
template <unsigned Width, typename Element, typename Sum>
static Sum dot(uint32_t a, uint32_t b, Sum sum) {
  for (unsigned i = 0; i < 32; i += Width) {
    // The element at the top of the word, so that shifting back down extends
    // its sign.
    uint32_t x = a >> i << (32 - Width), y = b >> i << (32 - Width);
    if constexpr (std::is_same_v<Sum, float>)
      sum += Element{}(static_cast<uint16_t>(x >> 16)) *
             Element{}(static_cast<uint16_t>(y >> 16));
    else // Wraps around.
      sum = static_cast<Sum>(uint32_t(sum) +
                             uint32_t(Element(x) >> (32 - Width)) *
                                 uint32_t(Element(y) >> (32 - Width)));
  }
  return sum;
}
namespace {
struct HalfElement {
  float operator()(uint16_t bits) const { return fromF16(bits); }
};
} // namespace

/// In double, so that the sum is not rounded to f32 on its way to f16.
static double fmaF16(float a, float b, float c) {
  return std::fma(double(a), double(b), double(c));
}
/// As minNum of ValuFloatOps.cpp, without signaling NaNs: widening has made all
/// of them quiet.
static float minF16(float a, float b) {
  return std::isnan(a)   ? b
         : std::isnan(b) ? a
         : a == b        ? (std::signbit(a) ? a : b)
                         : std::min(a, b);
}
static float maxF16(float a, float b) {
  return std::isnan(a)   ? b
         : std::isnan(b) ? a
         : a == b        ? (std::signbit(a) ? b : a)
                         : std::max(a, b);
}

/// Dot products have distances of their own (Hazards.cpp).
static constexpr OpInfo markDot(OpInfo info) {
  info.isDot = true;
  return info;
}

OpTable gist::sim::valuPackedOps() {
  static const OpInfo kOps[] = {
      // Halves.
      packed<F16, 2>("v_pk_add_f16", [](float a, float b) { return a + b; }),
      packed<F16, 2>("v_pk_mul_f16", [](float a, float b) { return a * b; }),
      packed<F16, 2>("v_pk_min_f16",
                     [](float a, float b) { return minF16(a, b); }),
      packed<F16, 2>("v_pk_max_f16",
                     [](float a, float b) { return maxF16(a, b); }),
      packed<F16, 3>("v_pk_fma_f16",
                     [](float a, float b, float c) { return fmaF16(a, b, c); }),
      packed<F16, 3>(
          "v_pk_fmac_f16",
          [](float a, float b, float c) { return fmaF16(a, b, c); }, true),
      packed<I16, 2>("v_pk_add_i16",
                     [](int16_t a, int16_t b) { return int64_t(a) + b; }),
      packed<I16, 2>("v_pk_sub_i16",
                     [](int16_t a, int16_t b) { return int64_t(a) - b; }),
      packed<I16, 2>(
          "v_pk_min_i16",
          [](int16_t a, int16_t b) { return int64_t(std::min(a, b)); }),
      packed<I16, 2>(
          "v_pk_max_i16",
          [](int16_t a, int16_t b) { return int64_t(std::max(a, b)); }),
      packed<I16, 3>(
          "v_pk_mad_i16",
          [](int16_t a, int16_t b, int16_t c) { return int64_t(a) * b + c; }),
      packed<U16, 2>("v_pk_add_u16",
                     [](uint16_t a, uint16_t b) { return int64_t(a) + b; }),
      packed<U16, 2>("v_pk_sub_u16",
                     [](uint16_t a, uint16_t b) { return int64_t(a) - b; }),
      packed<U16, 2>(
          "v_pk_min_u16",
          [](uint16_t a, uint16_t b) { return int64_t(std::min(a, b)); }),
      packed<U16, 2>(
          "v_pk_max_u16",
          [](uint16_t a, uint16_t b) { return int64_t(std::max(a, b)); }),
      packed<U16, 3>("v_pk_mad_u16",
                     [](uint16_t a, uint16_t b, uint16_t c) {
                       return int64_t(a) * b + c;
                     }),
      packed<U16, 2>("v_pk_mul_lo_u16",
                     [](uint16_t a, uint16_t b) { return int64_t(a) * b; }),
      packed<U16, 2>(
          "v_pk_lshlrev_b16",
          [](uint16_t a, uint16_t b) { return int64_t(b) << (a & 15); }),
      packed<U16, 2>(
          "v_pk_lshrrev_b16",
          [](uint16_t a, uint16_t b) { return int64_t(b >> (a & 15)); }),
      packed<I16, 2>(
          "v_pk_ashrrev_i16",
          [](int16_t a, int16_t b) { return int64_t(b >> (a & 15)); }),
      // Pairs of f32.
      packed<F32, 2>("v_pk_add_f32", [](float a, float b) { return a + b; }),
      packed<F32, 2>("v_pk_mul_f32", [](float a, float b) { return a * b; }),
      packed<F32, 3>("v_pk_fma_f32", [](float a, float b,
                                        float c) { return std::fma(a, b, c); }),
      {"v_pk_mov_b32",
       runPackedMove,
       OpClass::Valu,
       1,
       0,
       {ValueType::B64, ValueType::B64, ValueType::B64, ValueType::B64},
       0},
      // Mixed precision.
      {"v_fma_mix_f32", runFmaMix<MixTo::F32>, OpClass::Valu, 1, 0,
       valueTypes<F32, F32, F32>(), 0},
      {"v_fma_mixlo_f16", runFmaMix<MixTo::LowF16>, OpClass::Valu, 1,
       kD16 | kReadsDst, valueTypes<F32, F32, F32>(), 0},
      {"v_fma_mixhi_f16", runFmaMix<MixTo::HighF16>, OpClass::Valu, 1,
       kD16 | kReadsDst, valueTypes<F32, F32, F32>(), 0},
      // Dot products.
      markDot(valu<F32, U32, U32, F32>("v_dot2_f32_f16",
                                       [](uint32_t a, uint32_t b, float c) {
                                         return dot<16, HalfElement>(a, b, c);
                                       })),
      markDot(valu<I32, U32, U32, I32>("v_dot2_i32_i16",
                                       [](uint32_t a, uint32_t b, int32_t c) {
                                         return dot<16, int32_t>(a, b, c);
                                       })),
      markDot(valu<U32, U32, U32, U32>("v_dot2_u32_u16",
                                       [](uint32_t a, uint32_t b, uint32_t c) {
                                         return dot<16, uint32_t>(a, b, c);
                                       })),
      markDot(valu<I32, U32, U32, I32>("v_dot4_i32_i8",
                                       [](uint32_t a, uint32_t b, int32_t c) {
                                         return dot<8, int32_t>(a, b, c);
                                       })),
      markDot(valu<U32, U32, U32, U32>("v_dot4_u32_u8",
                                       [](uint32_t a, uint32_t b, uint32_t c) {
                                         return dot<8, uint32_t>(a, b, c);
                                       })),
      markDot(valu<I32, U32, U32, I32>("v_dot8_i32_i4",
                                       [](uint32_t a, uint32_t b, int32_t c) {
                                         return dot<4, int32_t>(a, b, c);
                                       })),
      markDot(valu<U32, U32, U32, U32>("v_dot8_u32_u4",
                                       [](uint32_t a, uint32_t b, uint32_t c) {
                                         return dot<4, uint32_t>(a, b, c);
                                       })),
      markDot(valuAccumulate<F32, U32, U32, F32>(
          "v_dot2c_f32_f16",
          [](uint32_t a, uint32_t b,
             float c) { return dot<16, HalfElement>(a, b, c); })),
      markDot(valuAccumulate<I32, U32, U32, I32>(
          "v_dot2c_i32_i16",
          [](uint32_t a, uint32_t b,
             int32_t c) { return dot<16, int32_t>(a, b, c); })),
      markDot(valuAccumulate<I32, U32, U32, I32>(
          "v_dot4c_i32_i8",
          [](uint32_t a, uint32_t b,
             int32_t c) { return dot<8, int32_t>(a, b, c); })),
      markDot(valuAccumulate<I32, U32, U32, I32>(
          "v_dot8c_i32_i4",
          [](uint32_t a, uint32_t b,
             int32_t c) { return dot<4, int32_t>(a, b, c); })),
  };
  return kOps;
}
