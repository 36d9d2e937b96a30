//===- ScalarOps.cpp - The scalar ALU -------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scalar operation is a function of its sources' bits. Whether SCC is set
// from the result, or by the function, is the Scc parameter.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Checked.h"
#include "tools/simulator/Wave.h"

#include <algorithm>

using namespace gist::sim;

namespace {
enum class Scc {
  Keep,
  NonZero, ///< Set if the result is not zero.
  Own,     ///< The function sets it through its last parameter.
};
} // namespace

/// Signed or unsigned, by what the operation computes with.
template <typename T> static T readSource(const Wave &wave, const Operand &op) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(wave.readScalar64(op));
  else
    return static_cast<T>(wave.readScalar32(op));
}

template <typename T> static constexpr ValueType scalarType() {
  return sizeof(T) == 8 ? ValueType::B64 : ValueType::B32;
}

/// D = f(S...), sizes by the types.
template <Scc Mode, typename D, typename... S, typename Function>
static constexpr OpInfo salu(const char *name, Function, uint32_t flags = 0) {
  // Function{} makes the lambda again: it captures nothing, so that the handler
  // is a plain pointer.
  Handler run = [](Wave &wave, const Inst &inst) {
    auto compute = [&]<size_t... I>(std::index_sequence<I...>) -> D {
      if constexpr (Mode == Scc::Own) {
        bool scc = wave.scc();
        D result = Function{}(readSource<S>(wave, inst.src[I])..., scc);
        wave.setScc(scc);
        return result;
      } else {
        return Function{}(readSource<S>(wave, inst.src[I])...);
      }
    };
    D result = compute(std::index_sequence_for<S...>{});
    if constexpr (Mode == Scc::NonZero)
      wave.setScc(result != 0);
    wave.writeScalar(inst.dst, static_cast<uint64_t>(result));
  };
  OpInfo info = {name, run, OpClass::Salu, 1, flags, {}, 0};
  if (Mode != Scc::Keep)
    info.flags |= kWritesScc;
  size_t i = 0;
  ((info.types[i++] = scalarType<S>()), ...);
  return info;
}

/// SCC = f(a, b).
template <typename T, typename Function>
static constexpr OpInfo saluCompare(const char *name, Function) {
  Handler run = [](Wave &wave, const Inst &inst) {
    wave.setScc(Function{}(readSource<T>(wave, inst.src[0]),
                           readSource<T>(wave, inst.src[1])));
  };
  constexpr ValueType kType = scalarType<T>();
  return {name, run, OpClass::Salu, 0, kWritesScc, {kType, kType}, 0};
}

/// SCC = f(bit b of a 64-bit a).
template <typename Function>
static constexpr OpInfo saluBitCompare64(const char *name, Function) {
  Handler run = [](Wave &wave, const Inst &inst) {
    uint32_t bit = wave.readScalar32(inst.src[1]) & 63;
    wave.setScc(Function{}(wave.readScalar64(inst.src[0]) >> bit & 1));
  };
  return {name, run, OpClass::Salu, 0, kWritesScc, {ValueType::B64}, 0};
}

/// SOPK: the destination is also the first source, the second an immediate.
template <typename T, typename Function>
static constexpr OpInfo saluCompareK(const char *name, Function) {
  Handler run = [](Wave &wave, const Inst &inst) {
    using Narrow = std::conditional_t<std::is_signed_v<T>, int16_t, uint16_t>;
    wave.setScc(
        Function{}(readSource<T>(wave, inst.src[0]),
                   static_cast<T>(static_cast<Narrow>(inst.src[1].value))));
  };
  return {name, run, OpClass::Salu, 0, kWritesScc, {}, 0};
}

/// D = exec; exec = f(S, exec); SCC = exec != 0. With wrexec, D = the new exec.
template <bool SavesOld, typename Function>
static constexpr OpInfo saveExec(const char *name, Function) {
  Handler run = [](Wave &wave, const Inst &inst) {
    uint64_t old = wave.exec();
    uint64_t updated = Function{}(wave.readScalar64(inst.src[0]), old);
    wave.writeScalar(inst.dst, SavesOld ? old : updated);
    wave.write64(kExec, updated);
    wave.setScc(updated != 0);
  };
  return {name,
          run,
          OpClass::Salu,
          1,
          kReadsExec | kWritesExec | kWritesScc,
          {ValueType::B64},
          0};
}

//===----------------------------------------------------------------------===//
// Bit functions
//===----------------------------------------------------------------------===//

template <typename T> static T reverse(T value) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i)
    result |= (value >> i & 1) << (8 * sizeof(T) - 1 - i);
  return result;
}

/// Index of the first one from the low end, or -1.
static int32_t firstOne(uint64_t value) {
  return value ? __builtin_ctzll(value) : -1;
}
/// From the top; -1 for 0, as the manual defines.
static int32_t leadingZeros(uint64_t value, int width) {
  return value ? __builtin_clzll(value) - (64 - width) : -1;
}
/// Bits equal to the sign below it, plus one; -1 if all are.
static int32_t leadingSigns(int64_t value, int width) {
  uint64_t folded = static_cast<uint64_t>(value < 0 ? ~value : value);
  return leadingZeros(folded, width);
}

/// Bits `offset` to `offset + width`, extended by the sign where T has one.
template <typename T> static T field(T value, uint32_t control) {
  constexpr unsigned kWidth = 8 * sizeof(T);
  using U = std::make_unsigned_t<T>;
  unsigned offset = control & (kWidth - 1);
  unsigned width = control >> 16 & 0x7f;
  if (width == 0)
    return 0;
  if (width >= kWidth || offset + width > kWidth)
    width = kWidth - offset;
  unsigned up = kWidth - offset - width;
  return static_cast<T>(static_cast<T>(static_cast<U>(value) << up) >>
                        (kWidth - width));
}

/// One bit per group of four.
static uint64_t quadMask(uint64_t value) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 16; ++i)
    result |= uint64_t((value >> (4 * i) & 0xf) != 0) << i;
  return result;
}
/// All four bits of a group if one of them is set.
static uint64_t wholeQuads(uint64_t value) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 64; i += 4)
    if (value >> i & 0xf)
      result |= uint64_t(0xf) << i;
  return result;
}

static uint64_t replicateBits(uint32_t value) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 32; ++i)
    result |= uint64_t(value >> i & 1 ? 3 : 0) << (2 * i);
  return result;
}

static int32_t addSigned(int32_t a, int32_t b, bool &scc) {
  int32_t result = 0;
  scc = gist::addOverflows(a, b, result);
  return result;
}
static int32_t subSigned(int32_t a, int32_t b, bool &scc) {
  int32_t result = 0;
  scc = gist::subOverflows(a, b, result);
  return result;
}

/// SCC is the carry out of 32 bits.
template <unsigned Shift>
static uint32_t shiftAdd(uint32_t a, uint32_t b, bool &scc) {
  uint64_t sum = (uint64_t(a) << Shift) + b;
  scc = sum >> 32;
  return static_cast<uint32_t>(sum);
}

/// Conditional moves read their destination, which they may keep.
template <bool Wide>
static void runConditionalMove(Wave &wave, const Inst &inst) {
  if (wave.scc())
    wave.writeScalar(inst.dst, Wide ? wave.readScalar64(inst.src[0])
                                    : wave.readScalar32(inst.src[0]));
}

template <bool Value> static void runBitSet32(Wave &wave, const Inst &inst) {
  uint32_t bit = 1u << (wave.readScalar32(inst.src[0]) & 31);
  uint32_t old = wave.scalar[inst.dst.reg];
  wave.writeScalar(inst.dst, Value ? old | bit : old & ~bit);
}
template <bool Value> static void runBitSet64(Wave &wave, const Inst &inst) {
  uint64_t bit = uint64_t(1) << (wave.readScalar32(inst.src[0]) & 63);
  uint64_t old = wave.read64(inst.dst.reg);
  wave.writeScalar(inst.dst, Value ? old | bit : old & ~bit);
}

static int32_t immediate16(const Inst &inst) {
  return static_cast<int16_t>(inst.src[0].value);
}
static void runMoveK(Wave &wave, const Inst &inst) {
  wave.writeScalar(inst.dst, static_cast<uint32_t>(immediate16(inst)));
}
static void runConditionalMoveK(Wave &wave, const Inst &inst) {
  if (wave.scc())
    runMoveK(wave, inst);
}
static void runAddK(Wave &wave, const Inst &inst) {
  bool scc = false;
  wave.writeScalar(
      inst.dst, static_cast<uint32_t>(
                    addSigned(static_cast<int32_t>(wave.scalar[inst.dst.reg]),
                              immediate16(inst), scc)));
  wave.setScc(scc);
}
static void runMulK(Wave &wave, const Inst &inst) {
  wave.writeScalar(inst.dst, wave.scalar[inst.dst.reg] *
                                 static_cast<uint32_t>(immediate16(inst)));
}

OpTable gist::sim::scalarOps() {
  static const OpInfo kOps[] = {
      // Moves.
      salu<Scc::Keep, uint32_t, uint32_t>("s_mov_b32", [](uint32_t a) { return a; }),
      salu<Scc::Keep, uint64_t, uint64_t>("s_mov_b64", [](uint64_t a) { return a; }),
      {"s_cmov_b32", runConditionalMove<false>, OpClass::Salu, 1, kReadsScc | kReadsDst, {}, 0},
      {"s_cmov_b64", runConditionalMove<true>, OpClass::Salu, 1, kReadsScc | kReadsDst, {ValueType::B64}, 0},
      salu<Scc::Keep, int32_t, int32_t>("s_sext_i32_i8", [](int32_t a) { return int32_t(int8_t(a)); }),
      salu<Scc::Keep, int32_t, int32_t>("s_sext_i32_i16", [](int32_t a) { return int32_t(int16_t(a)); }),
      {"s_movk_i32", runMoveK, OpClass::Salu, 1, 0, {}, 0},
      {"s_cmovk_i32", runConditionalMoveK, OpClass::Salu, 1, kReadsScc | kReadsDst, {}, 0},
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_cselect_b32", [](uint32_t a, uint32_t b, bool &scc) { return scc ? a : b; }, kReadsScc),
      salu<Scc::Own, uint64_t, uint64_t, uint64_t>("s_cselect_b64", [](uint64_t a, uint64_t b, bool &scc) { return scc ? a : b; }, kReadsScc),
      // Bits.
      salu<Scc::NonZero, uint32_t, uint32_t>("s_not_b32", [](uint32_t a) { return ~a; }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_and_b32", [](uint32_t a, uint32_t b) { return a & b; }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_or_b32", [](uint32_t a, uint32_t b) { return a | b; }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_xor_b32", [](uint32_t a, uint32_t b) { return a ^ b; }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_andn2_b32", [](uint32_t a, uint32_t b) { return a & ~b; }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_orn2_b32", [](uint32_t a, uint32_t b) { return a | ~b; }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_nand_b32", [](uint32_t a, uint32_t b) { return ~(a & b); }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_nor_b32", [](uint32_t a, uint32_t b) { return ~(a | b); }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_xnor_b32", [](uint32_t a, uint32_t b) { return ~(a ^ b); }),
      salu<Scc::Keep, uint32_t, uint32_t>("s_brev_b32", [](uint32_t a) { return reverse(a); }),
      salu<Scc::NonZero, int32_t, uint32_t>("s_bcnt1_i32_b32", [](uint32_t a) { return int32_t(__builtin_popcountll(a)); }),
      salu<Scc::NonZero, int32_t, uint32_t>("s_bcnt0_i32_b32", [](uint32_t a) { return 32 - int32_t(__builtin_popcountll(a)); }),
      salu<Scc::Keep, int32_t, uint32_t>("s_ff1_i32_b32", [](uint32_t a) { return firstOne(a); }),
      salu<Scc::Keep, int32_t, uint32_t>("s_ff0_i32_b32", [](uint32_t a) { return firstOne(uint32_t(~a)); }),
      salu<Scc::Keep, int32_t, uint32_t>("s_flbit_i32_b32", [](uint32_t a) { return leadingZeros(a, 32); }),
      salu<Scc::Keep, int32_t, int32_t>("s_flbit_i32", [](int32_t a) { return leadingSigns(a, 32); }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_lshl_b32", [](uint32_t a, uint32_t b) { return a << (b & 31); }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_lshr_b32", [](uint32_t a, uint32_t b) { return a >> (b & 31); }),
      salu<Scc::NonZero, int32_t, int32_t, uint32_t>("s_ashr_i32", [](int32_t a, uint32_t b) { return a >> (b & 31); }),
      salu<Scc::Keep, uint32_t, uint32_t, uint32_t>("s_bfm_b32", [](uint32_t a, uint32_t b) { return ((1u << (a & 31)) - 1) << (b & 31); }),
      salu<Scc::NonZero, uint32_t, uint32_t, uint32_t>("s_bfe_u32", [](uint32_t a, uint32_t b) { return field(a, b); }),
      salu<Scc::NonZero, int32_t, int32_t, uint32_t>("s_bfe_i32", [](int32_t a, uint32_t b) { return field(a, b); }),
      {"s_bitset0_b32", runBitSet32<false>, OpClass::Salu, 1, kReadsDst, {}, 0},
      {"s_bitset1_b32", runBitSet32<true>, OpClass::Salu, 1, kReadsDst, {}, 0},
      salu<Scc::NonZero, uint32_t, uint32_t>("s_wqm_b32", [](uint32_t a) { return static_cast<uint32_t>(wholeQuads(a)); }),
      salu<Scc::NonZero, uint32_t, uint32_t>("s_quadmask_b32", [](uint32_t a) { return static_cast<uint32_t>(quadMask(a)); }),
      salu<Scc::NonZero, uint64_t, uint64_t>("s_not_b64", [](uint64_t a) { return ~a; }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint64_t>("s_and_b64", [](uint64_t a, uint64_t b) { return a & b; }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint64_t>("s_or_b64", [](uint64_t a, uint64_t b) { return a | b; }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint64_t>("s_xor_b64", [](uint64_t a, uint64_t b) { return a ^ b; }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint64_t>("s_andn2_b64", [](uint64_t a, uint64_t b) { return a & ~b; }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint64_t>("s_orn2_b64", [](uint64_t a, uint64_t b) { return a | ~b; }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint64_t>("s_nand_b64", [](uint64_t a, uint64_t b) { return ~(a & b); }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint64_t>("s_nor_b64", [](uint64_t a, uint64_t b) { return ~(a | b); }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint64_t>("s_xnor_b64", [](uint64_t a, uint64_t b) { return ~(a ^ b); }),
      salu<Scc::Keep, uint64_t, uint64_t>("s_brev_b64", [](uint64_t a) { return reverse(a); }),
      salu<Scc::NonZero, int32_t, uint64_t>("s_bcnt1_i32_b64", [](uint64_t a) { return int32_t(__builtin_popcountll(a)); }),
      salu<Scc::NonZero, int32_t, uint64_t>("s_bcnt0_i32_b64", [](uint64_t a) { return 64 - int32_t(__builtin_popcountll(a)); }),
      salu<Scc::Keep, int32_t, uint64_t>("s_ff1_i32_b64", [](uint64_t a) { return firstOne(a); }),
      salu<Scc::Keep, int32_t, uint64_t>("s_ff0_i32_b64", [](uint64_t a) { return firstOne(~a); }),
      salu<Scc::Keep, int32_t, uint64_t>("s_flbit_i32_b64", [](uint64_t a) { return leadingZeros(a, 64); }),
      salu<Scc::Keep, int32_t, int64_t>("s_flbit_i32_i64", [](int64_t a) { return leadingSigns(a, 64); }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint32_t>("s_lshl_b64", [](uint64_t a, uint32_t b) { return a << (b & 63); }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint32_t>("s_lshr_b64", [](uint64_t a, uint32_t b) { return a >> (b & 63); }),
      salu<Scc::NonZero, int64_t, int64_t, uint32_t>("s_ashr_i64", [](int64_t a, uint32_t b) { return a >> (b & 63); }),
      salu<Scc::Keep, uint64_t, uint32_t, uint32_t>("s_bfm_b64", [](uint32_t a, uint32_t b) { return ((uint64_t(1) << (a & 63)) - 1) << (b & 63); }),
      salu<Scc::NonZero, uint64_t, uint64_t, uint32_t>("s_bfe_u64", [](uint64_t a, uint32_t b) { return field(a, b); }),
      salu<Scc::NonZero, int64_t, int64_t, uint32_t>("s_bfe_i64", [](int64_t a, uint32_t b) { return field(a, b); }),
      {"s_bitset0_b64", runBitSet64<false>, OpClass::Salu, 1, kReadsDst, {}, 0},
      {"s_bitset1_b64", runBitSet64<true>, OpClass::Salu, 1, kReadsDst, {}, 0},
      salu<Scc::NonZero, uint64_t, uint64_t>("s_wqm_b64", [](uint64_t a) { return wholeQuads(a); }),
      salu<Scc::NonZero, uint64_t, uint64_t>("s_quadmask_b64", [](uint64_t a) { return quadMask(a); }),
      salu<Scc::Keep, uint64_t, uint32_t>("s_bitreplicate_b64_b32", [](uint32_t a) { return replicateBits(a); }),
      salu<Scc::Keep, uint32_t, uint32_t, uint32_t>("s_pack_ll_b32_b16", [](uint32_t a, uint32_t b) { return (a & 0xffff) | b << 16; }),
      salu<Scc::Keep, uint32_t, uint32_t, uint32_t>("s_pack_lh_b32_b16", [](uint32_t a, uint32_t b) { return (a & 0xffff) | (b & 0xffff0000); }),
      salu<Scc::Keep, uint32_t, uint32_t, uint32_t>("s_pack_hh_b32_b16", [](uint32_t a, uint32_t b) { return a >> 16 | (b & 0xffff0000); }),
      // Arithmetic.
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_add_u32", [](uint32_t a, uint32_t b, bool &scc) { uint64_t sum = uint64_t(a) + b; scc = sum >> 32; return static_cast<uint32_t>(sum); }),
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_sub_u32", [](uint32_t a, uint32_t b, bool &scc) { scc = b > a; return a - b; }),
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_addc_u32", [](uint32_t a, uint32_t b, bool &scc) { uint64_t sum = uint64_t(a) + b + scc; scc = sum >> 32; return static_cast<uint32_t>(sum); }, kReadsScc),
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_subb_u32", [](uint32_t a, uint32_t b, bool &scc) { uint64_t subtrahend = uint64_t(b) + scc; scc = subtrahend > a; return static_cast<uint32_t>(a - subtrahend); }, kReadsScc),
      salu<Scc::Own, int32_t, int32_t, int32_t>("s_add_i32", [](int32_t a, int32_t b, bool &scc) { return addSigned(a, b, scc); }),
      salu<Scc::Own, int32_t, int32_t, int32_t>("s_sub_i32", [](int32_t a, int32_t b, bool &scc) { return subSigned(a, b, scc); }),
      {"s_addk_i32", runAddK, OpClass::Salu, 1, kReadsDst | kWritesScc, {}, 0},
      {"s_mulk_i32", runMulK, OpClass::Salu, 1, kReadsDst, {}, 0},
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_lshl1_add_u32", [](uint32_t a, uint32_t b, bool &scc) { return shiftAdd<1>(a, b, scc); }),
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_lshl2_add_u32", [](uint32_t a, uint32_t b, bool &scc) { return shiftAdd<2>(a, b, scc); }),
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_lshl3_add_u32", [](uint32_t a, uint32_t b, bool &scc) { return shiftAdd<3>(a, b, scc); }),
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_lshl4_add_u32", [](uint32_t a, uint32_t b, bool &scc) { return shiftAdd<4>(a, b, scc); }),
      salu<Scc::Keep, uint32_t, uint32_t, uint32_t>("s_mul_i32", [](uint32_t a, uint32_t b) { return a * b; }),
      salu<Scc::Keep, uint32_t, uint32_t, uint32_t>("s_mul_hi_u32", [](uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t(a) * b >> 32); }),
      salu<Scc::Keep, int32_t, int32_t, int32_t>("s_mul_hi_i32", [](int32_t a, int32_t b) { return static_cast<int32_t>(int64_t(a) * b >> 32); }),
      salu<Scc::NonZero, int32_t, int32_t>("s_abs_i32", [](int32_t a) { return static_cast<int32_t>(a < 0 ? 0u - uint32_t(a) : uint32_t(a)); }),
      salu<Scc::NonZero, int32_t, int32_t, int32_t>("s_absdiff_i32", [](int32_t a, int32_t b) { int32_t d = static_cast<int32_t>(uint32_t(a) - uint32_t(b)); return static_cast<int32_t>(d < 0 ? 0u - uint32_t(d) : uint32_t(d)); }),
      salu<Scc::Own, int32_t, int32_t, int32_t>("s_min_i32", [](int32_t a, int32_t b, bool &scc) { scc = a < b; return std::min(a, b); }),
      salu<Scc::Own, int32_t, int32_t, int32_t>("s_max_i32", [](int32_t a, int32_t b, bool &scc) { scc = a > b; return std::max(a, b); }),
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_min_u32", [](uint32_t a, uint32_t b, bool &scc) { scc = a < b; return std::min(a, b); }),
      salu<Scc::Own, uint32_t, uint32_t, uint32_t>("s_max_u32", [](uint32_t a, uint32_t b, bool &scc) { scc = a > b; return std::max(a, b); }),
      // Compares.
      saluCompare<int32_t>("s_cmp_eq_i32", [](int32_t a, int32_t b) { return a == b; }),
      saluCompareK<int32_t>("s_cmpk_eq_i32", [](int32_t a, int32_t b) { return a == b; }),
      saluCompare<int32_t>("s_cmp_lg_i32", [](int32_t a, int32_t b) { return a != b; }),
      saluCompareK<int32_t>("s_cmpk_lg_i32", [](int32_t a, int32_t b) { return a != b; }),
      saluCompare<int32_t>("s_cmp_gt_i32", [](int32_t a, int32_t b) { return a > b; }),
      saluCompareK<int32_t>("s_cmpk_gt_i32", [](int32_t a, int32_t b) { return a > b; }),
      saluCompare<int32_t>("s_cmp_ge_i32", [](int32_t a, int32_t b) { return a >= b; }),
      saluCompareK<int32_t>("s_cmpk_ge_i32", [](int32_t a, int32_t b) { return a >= b; }),
      saluCompare<int32_t>("s_cmp_lt_i32", [](int32_t a, int32_t b) { return a < b; }),
      saluCompareK<int32_t>("s_cmpk_lt_i32", [](int32_t a, int32_t b) { return a < b; }),
      saluCompare<int32_t>("s_cmp_le_i32", [](int32_t a, int32_t b) { return a <= b; }),
      saluCompareK<int32_t>("s_cmpk_le_i32", [](int32_t a, int32_t b) { return a <= b; }),
      saluCompare<uint32_t>("s_cmp_eq_u32", [](uint32_t a, uint32_t b) { return a == b; }),
      saluCompareK<uint32_t>("s_cmpk_eq_u32", [](uint32_t a, uint32_t b) { return a == b; }),
      saluCompare<uint32_t>("s_cmp_lg_u32", [](uint32_t a, uint32_t b) { return a != b; }),
      saluCompareK<uint32_t>("s_cmpk_lg_u32", [](uint32_t a, uint32_t b) { return a != b; }),
      saluCompare<uint32_t>("s_cmp_gt_u32", [](uint32_t a, uint32_t b) { return a > b; }),
      saluCompareK<uint32_t>("s_cmpk_gt_u32", [](uint32_t a, uint32_t b) { return a > b; }),
      saluCompare<uint32_t>("s_cmp_ge_u32", [](uint32_t a, uint32_t b) { return a >= b; }),
      saluCompareK<uint32_t>("s_cmpk_ge_u32", [](uint32_t a, uint32_t b) { return a >= b; }),
      saluCompare<uint32_t>("s_cmp_lt_u32", [](uint32_t a, uint32_t b) { return a < b; }),
      saluCompareK<uint32_t>("s_cmpk_lt_u32", [](uint32_t a, uint32_t b) { return a < b; }),
      saluCompare<uint32_t>("s_cmp_le_u32", [](uint32_t a, uint32_t b) { return a <= b; }),
      saluCompareK<uint32_t>("s_cmpk_le_u32", [](uint32_t a, uint32_t b) { return a <= b; }),
      saluCompare<uint64_t>("s_cmp_eq_u64", [](uint64_t a, uint64_t b) { return a == b; }),
      saluCompare<uint64_t>("s_cmp_lg_u64", [](uint64_t a, uint64_t b) { return a != b; }),
      saluCompare<uint32_t>("s_bitcmp0_b32", [](uint32_t a, uint32_t b) { return (a >> (b & 31) & 1) == 0; }),
      saluCompare<uint32_t>("s_bitcmp1_b32", [](uint32_t a, uint32_t b) { return (a >> (b & 31) & 1) != 0; }),
      saluBitCompare64("s_bitcmp0_b64",
                       [](bool bit) { return !bit; }),
      saluBitCompare64("s_bitcmp1_b64", [](bool bit) { return bit; }),
      // Exec.
      saveExec<true>("s_and_saveexec_b64", [](uint64_t s, uint64_t exec) { return s & exec; }),
      saveExec<true>("s_or_saveexec_b64", [](uint64_t s, uint64_t exec) { return s | exec; }),
      saveExec<true>("s_xor_saveexec_b64", [](uint64_t s, uint64_t exec) { return s ^ exec; }),
      saveExec<true>("s_andn2_saveexec_b64", [](uint64_t s, uint64_t exec) { return s & ~exec; }),
      saveExec<true>("s_orn2_saveexec_b64", [](uint64_t s, uint64_t exec) { return s | ~exec; }),
      saveExec<true>("s_nand_saveexec_b64", [](uint64_t s, uint64_t exec) { return ~(s & exec); }),
      saveExec<true>("s_nor_saveexec_b64", [](uint64_t s, uint64_t exec) { return ~(s | exec); }),
      saveExec<true>("s_xnor_saveexec_b64", [](uint64_t s, uint64_t exec) { return ~(s ^ exec); }),
      saveExec<true>("s_andn1_saveexec_b64", [](uint64_t s, uint64_t exec) { return ~s & exec; }),
      saveExec<true>("s_orn1_saveexec_b64", [](uint64_t s, uint64_t exec) { return ~s | exec; }),
      saveExec<false>("s_andn1_wrexec_b64", [](uint64_t s, uint64_t exec) { return ~s & exec; }),
      saveExec<false>("s_andn2_wrexec_b64", [](uint64_t s, uint64_t exec) { return s & ~exec; }),
  };
  return kOps;
}
