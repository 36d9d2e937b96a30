//===- ValuBitOps.cpp - Vector moves, bits and shifts ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves, bits, fields and shifts. In v_*rev_* the first operand is the distance
// and the second the value.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Valu.h"

#include <utility>

using namespace gist::sim;

/// Both registers are written, under exec.
static void runSwap(Wave &wave, const Inst &inst) {
  forEachLane(wave.exec(), [&](unsigned lane) {
    std::swap(wave.vector[inst.dst.reg][lane],
              wave.vector[inst.src[0].reg][lane]);
  });
}

/// Written apart from valu<>: the condition is a mask of lanes in a scalar
/// pair, one bit for each lane.
static void runCndmask(Wave &wave, const Inst &inst) {
  uint64_t mask = wave.exec();
  DppMap map;
  const DppMap *permutation = nullptr;
  if (inst.dpp != Dpp::None) {
    map = makeDppMap(inst, mask);
    permutation = &map;
    mask = map.written;
  }
  uint32_t bufferA[kLanes], bufferB[kLanes], results[kLanes];
  const uint32_t *a = fetch<U32>(wave, inst, 0, permutation, bufferA);
  const uint32_t *b = fetch<U32>(wave, inst, 1, permutation, bufferB);
  uint64_t condition = wave.readScalar64(inst.src[2]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    results[lane] = condition >> lane & 1 ? b[lane] : a[lane];
  // Where the condition is 1 the second source is taken.
  store<U32>(wave, inst, results, mask);
}

static uint32_t reverseBits(uint32_t value) {
  uint32_t result = 0;
  for (int i = 0; i < 32; ++i)
    result |= (value >> i & 1) << (31 - i);
  return result;
}

/// A width of 32 counts as 0: the hardware reads five bits.
/// The scalar s_bfe reads seven bits of width and is another function
/// (ScalarOps.cpp).
static uint32_t extractUnsigned(uint32_t value, uint32_t offset,
                                uint32_t width) {
  offset &= 31;
  width &= 31;
  return value >> offset & ((1u << width) - 1);
}

/// As extractUnsigned, extended by the field's highest bit.
static int32_t extractSigned(int32_t value, uint32_t offset, uint32_t width) {
  offset &= 31;
  width &= 31;
  if (width == 0)
    return 0;
  // Bits beyond 31 do not exist: the field then ends at the sign bit.
  if (offset + width > 31)
    return value >> offset;
  return static_cast<int32_t>(static_cast<uint32_t>(value)
                              << (32 - offset - width)) >>
         (32 - width);
}

/// Selectors 0 to 7 name a byte, 8 to 11 a sign, 12 is 0, from 13 on 0xff.
static uint32_t permuteByte(uint64_t data, uint32_t selector) {
  if (selector >= 13)
    return 0xff;
  if (selector == 12)
    return 0;
  if (selector >= 8) // The sign of bytes 1, 3, 5, 7.
    return data >> (16 * (selector - 8) + 15) & 1 ? 0xff : 0;
  return data >> (8 * selector) & 0xff;
}

/// The second operand has the low bytes.
static uint32_t permute(uint32_t high, uint32_t low, uint32_t selectors) {
  uint64_t data = uint64_t(high) << 32 | low;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i)
    result |= permuteByte(data, selectors >> (8 * i) & 0xff) << (8 * i);
  return result;
}

OpTable gist::sim::valuBitOps() {
  static const OpInfo kOps[] = {
      // Moves and bits.
      {"v_nop", [](Wave &, const Inst &) {}, OpClass::Valu, 0, 0, {}, 0},
      valu<U32, U32>("v_mov_b32", [](uint32_t a) { return a; }),
      valu<U64, U64>("v_mov_b64", [](uint64_t a) { return a; }),
      {"v_swap_b32", runSwap, OpClass::Valu, 1, kReadsDst, {}, 0},
      {"v_cndmask_b32",
       runCndmask,
       OpClass::Valu,
       1,
       kSelect,
       {ValueType::F32, ValueType::F32, ValueType::B64, ValueType::B32},
       0},
      valu<U32, U32>("v_not_b32", [](uint32_t a) { return ~a; }),
      valu<U32, U32>("v_bfrev_b32", [](uint32_t a) { return reverseBits(a); }),
      valu<U32, U32>(
          "v_ffbh_u32",
          [](uint32_t a) { return a ? uint32_t(__builtin_clz(a)) : ~0u; }),
      valu<U32, U32>(
          "v_ffbl_b32",
          [](uint32_t a) { return a ? uint32_t(__builtin_ctz(a)) : ~0u; }),
      valu<U32, I32>("v_ffbh_i32",
                     [](int32_t a) {
                       return a == 0 || a == -1
                                  ? ~0u
                                  : uint32_t(__builtin_clrsb(a)) + 1;
                     }),
      valu<U32, U32, U32>("v_and_b32",
                          [](uint32_t a, uint32_t b) { return a & b; }),
      valu<U32, U32, U32>("v_or_b32",
                          [](uint32_t a, uint32_t b) { return a | b; }),
      valu<U32, U32, U32>("v_xor_b32",
                          [](uint32_t a, uint32_t b) { return a ^ b; }),
      valu<U32, U32, U32>("v_xnor_b32",
                          [](uint32_t a, uint32_t b) { return ~(a ^ b); }),
      valu<U32, U32, U32, U32>(
          "v_and_or_b32",
          [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; }),
      valu<U32, U32, U32, U32>(
          "v_or3_b32",
          [](uint32_t a, uint32_t b, uint32_t c) { return a | b | c; }),
      valu<U32, U32, U32, U32>("v_bfi_b32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return (a & b) | (~a & c);
                               }),
      valu<U32, U32, U32, U32>("v_bfe_u32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return extractUnsigned(a, b, c);
                               }),
      valu<I32, I32, U32, U32>("v_bfe_i32",
                               [](int32_t a, uint32_t b, uint32_t c) {
                                 return extractSigned(a, b, c);
                               }),
      valu<U32, U32, U32>("v_bfm_b32",
                          [](uint32_t a, uint32_t b) {
                            return ((1u << (a & 31)) - 1) << (b & 31);
                          }),
      valu<U32, U32, U32, U32>("v_alignbit_b32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return static_cast<uint32_t>(
                                     (uint64_t(a) << 32 | b) >> (c & 31));
                               }),
      valu<U32, U32, U32, U32>("v_alignbyte_b32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return static_cast<uint32_t>(
                                     (uint64_t(a) << 32 | b) >> (8 * (c & 3)));
                               }),
      valu<U32, U32, U32, U32>(
          "v_perm_b32",
          [](uint32_t a, uint32_t b, uint32_t c) { return permute(a, b, c); }),
      valu<U32, U32, U32>("v_bcnt_u32_b32",
                          [](uint32_t a, uint32_t b) {
                            return uint32_t(__builtin_popcount(a)) + b;
                          }),
      // Shifts.
      valu<U32, U32, U32>("v_lshlrev_b32",
                          [](uint32_t a, uint32_t b) { return b << (a & 31); }),
      valu<U32, U32, U32>("v_lshrrev_b32",
                          [](uint32_t a, uint32_t b) { return b >> (a & 31); }),
      valu<I32, U32, I32>("v_ashrrev_i32",
                          [](uint32_t a, int32_t b) { return b >> (a & 31); }),
      valu<U64, U32, U64>("v_lshlrev_b64",
                          [](uint32_t a, uint64_t b) { return b << (a & 63); }),
      valu<U64, U32, U64>("v_lshrrev_b64",
                          [](uint32_t a, uint64_t b) { return b >> (a & 63); }),
      valu<I64, U32, I64>("v_ashrrev_i64",
                          [](uint32_t a, int64_t b) { return b >> (a & 63); }),
      valu<U16, U16, U16>("v_lshlrev_b16",
                          [](uint16_t a, uint16_t b) {
                            return static_cast<uint16_t>(b << (a & 15));
                          }),
      valu<U16, U16, U16>("v_lshrrev_b16",
                          [](uint16_t a, uint16_t b) {
                            return static_cast<uint16_t>(b >> (a & 15));
                          }),
      valu<I16, U16, I16>("v_ashrrev_i16",
                          [](uint16_t a, int16_t b) {
                            return static_cast<int16_t>(b >> (a & 15));
                          }),
      valu<U32, U32, U32, U32>("v_lshl_add_u32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return (a << (b & 31)) + c;
                               }),
      // The distance has three bits.
      valu<U64, U64, U32, U64>("v_lshl_add_u64",
                               [](uint64_t a, uint32_t b, uint64_t c) {
                                 return (a << (b & 7)) + c;
                               }),
      valu<U32, U32, U32, U32>("v_add_lshl_u32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return (a + b) << (c & 31);
                               }),
      valu<U32, U32, U32, U32>(
          "v_lshl_or_b32",
          [](uint32_t a, uint32_t b, uint32_t c) { return a << (b & 31) | c; }),
  };
  return kOps;
}
