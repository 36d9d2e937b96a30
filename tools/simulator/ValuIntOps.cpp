//===- ValuIntOps.cpp - Vector integer operations -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer arithmetic, with carries, saturation and wide products.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Checked.h"
#include "tools/simulator/Valu.h"

#include <algorithm>
#include <limits>

using namespace gist::sim;

//===----------------------------------------------------------------------===//
// Saturation and carries
//===----------------------------------------------------------------------===//

/// An operation whose result saturates under clamp.
template <typename D, typename... S, typename Plain, typename Saturating>
static constexpr OpInfo saturable(const char *name, Plain, Saturating) {
  Handler run = [](Wave &wave, const Inst &inst) {
    auto *types = static_cast<std::tuple<S...> *>(nullptr);
    auto indices = std::index_sequence_for<S...>{};
    if (!inst.clamp)
      return runValu<D>(wave, inst, Plain{}, types, indices);
    // runValu refuses clamp for integers, so the saturating function does it
    // and the flag is taken away.
    Inst unclamped = inst;
    unclamped.clamp = false;
    runValu<D>(wave, unclamped, Saturating{}, types, indices);
  };
  return {name, run, OpClass::Valu, 1, 0, valueTypes<S...>(), 0};
}

/// Sums of 32-bit numbers are exact in 64 bits, so one clamp is enough.
template <typename T> static T saturate(int64_t value) {
  return static_cast<T>(std::clamp<int64_t>(
      value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// Add and subtract with a carry out and, with CarryIn, a carry in. The
/// function returns the exact sum; bits above 31 are the carry or borrow.
/// 64-bit arithmetic on 32-bit operands: a borrow shows as all ones above.
template <bool CarryIn, typename Function>
/// 64-bit arithmetic on 32-bit operands: a borrow shows as all ones above.
static constexpr OpInfo carry(const char *name, Function) {
  Handler run = [](Wave &wave, const Inst &inst) {
    uint64_t mask = wave.exec();
    DppMap map;
    if (inst.dpp != Dpp::None) {
      map = makeDppMap(inst, mask);
      mask = map.written;
    }
    const DppMap *permutation = inst.dpp != Dpp::None ? &map : nullptr;
    uint32_t bufferA[kLanes], bufferB[kLanes], sums[kLanes];
    const uint32_t *a = fetch<U32>(wave, inst, 0, permutation, bufferA);
    const uint32_t *b = fetch<U32>(wave, inst, 1, permutation, bufferB);
    uint64_t carryIn = CarryIn ? wave.readScalar64(inst.src[2]) : 0;
    uint64_t carryOut = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint64_t sum = Function{}(a[lane], b[lane], carryIn >> lane & 1);
      sums[lane] = static_cast<uint32_t>(sum);
      carryOut |= uint64_t(sum >> 32 != 0) << lane;
      if (inst.clamp && sum >> 32)
        // A borrow makes the 64-bit difference negative: it saturates to zero,
        // a carry to all ones.
        sums[lane] = sum >> 63 ? 0 : ~0u;
    }
    writeRow(wave, inst.dst.reg, sums, mask);
    // Lanes that are not written give carry 0.
    wave.writeScalar(inst.sdst, carryOut & mask);
  };
  return {name,
          run,
          OpClass::Valu,
          2,
          kCompare,
          {ValueType::B32, ValueType::B32, ValueType::B64, ValueType::B32},
          0};
}

/// 32 x 32 + 64 bits with a carry out.
template <typename Narrow, typename Wide>
static void runMad64(Wave &wave, const Inst &inst) {
  using N = typename Narrow::T;
  using W = typename Wide::T;
  N bufferA[kLanes], bufferB[kLanes];
  W bufferC[kLanes], results[kLanes];
  const N *a = fetch<Narrow>(wave, inst, 0, nullptr, bufferA);
  const N *b = fetch<Narrow>(wave, inst, 1, nullptr, bufferB);
  const W *c = fetch<Wide>(wave, inst, 2, nullptr, bufferC);
  uint64_t overflow = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    overflow |= uint64_t(gist::addOverflows(W(a[lane]) * W(b[lane]), c[lane],
                                            results[lane]))
                << lane;
  uint64_t mask = wave.exec();
  store<Wide>(wave, inst, results, mask);
  wave.writeScalar(inst.sdst, overflow & mask);
}

//===----------------------------------------------------------------------===//
// Lane functions
//===----------------------------------------------------------------------===//

template <typename T> static T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

static uint32_t sumOfByteDifferences(uint32_t a, uint32_t b, uint32_t sum) {
  for (unsigned i = 0; i < 32; i += 8) {
    // Bytes are unsigned; only their difference has a sign.
    int difference = int(a >> i & 0xff) - int(b >> i & 0xff);
    sum += static_cast<uint32_t>(difference < 0 ? -difference : difference);
  }
  return sum;
}

/// The 24-bit products read the low 24 bits with their sign.
static int32_t signed24(int32_t value) { return value << 8 >> 8; }

/// Bit 0 of each byte of `round` says whether that byte rounds up.
static uint32_t averageBytes(uint32_t a, uint32_t b, uint32_t round) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 32; i += 8)
    result |= (((a >> i & 0xff) + (b >> i & 0xff) + (round >> i & 1)) >> 1)
              << i;
  return result;
}

OpTable gist::sim::valuIntOps() {
  static const OpInfo kOps[] = {
      // Sums.
      saturable<U32, U32, U32>(
          "v_add_u32", [](uint32_t a, uint32_t b) { return a + b; },
          [](uint32_t a, uint32_t b) {
            return saturate<uint32_t>(int64_t(a) + b);
          }),
      saturable<U32, U32, U32>(
          "v_sub_u32", [](uint32_t a, uint32_t b) { return a - b; },
          [](uint32_t a, uint32_t b) {
            return saturate<uint32_t>(int64_t(a) - b);
          }),
      saturable<U32, U32, U32>(
          "v_subrev_u32", [](uint32_t a, uint32_t b) { return b - a; },
          [](uint32_t a, uint32_t b) {
            return saturate<uint32_t>(int64_t(b) - a);
          }),
      saturable<U16, U16, U16>(
          "v_add_u16",
          [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a + b); },
          [](uint16_t a, uint16_t b) {
            return saturate<uint16_t>(int64_t(a) + b);
          }),
      saturable<U16, U16, U16>(
          "v_sub_u16",
          [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a - b); },
          [](uint16_t a, uint16_t b) {
            return saturate<uint16_t>(int64_t(a) - b);
          }),
      saturable<U16, U16, U16>(
          "v_subrev_u16",
          [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(b - a); },
          [](uint16_t a, uint16_t b) {
            return saturate<uint16_t>(int64_t(b) - a);
          }),
      saturable<I32, I32, I32>(
          "v_add_i32",
          [](int32_t a, int32_t b) {
            return static_cast<int32_t>(uint32_t(a) + uint32_t(b));
          },
          [](int32_t a, int32_t b) {
            return saturate<int32_t>(int64_t(a) + b);
          }),
      saturable<I16, I16, I16>(
          "v_add_i16",
          [](int16_t a, int16_t b) { return static_cast<int16_t>(a + b); },
          [](int16_t a, int16_t b) {
            return saturate<int16_t>(int64_t(a) + b);
          }),
      saturable<I32, I32, I32>(
          "v_sub_i32",
          [](int32_t a, int32_t b) {
            return static_cast<int32_t>(uint32_t(a) - uint32_t(b));
          },
          [](int32_t a, int32_t b) {
            return saturate<int32_t>(int64_t(a) - b);
          }),
      saturable<I16, I16, I16>(
          "v_sub_i16",
          [](int16_t a, int16_t b) { return static_cast<int16_t>(a - b); },
          [](int16_t a, int16_t b) {
            return saturate<int16_t>(int64_t(a) - b);
          }),
      valu<U32, U32, U32, U32>(
          "v_add3_u32",
          [](uint32_t a, uint32_t b, uint32_t c) { return a + b + c; }),
      valu<U32, U32, U32, U32>(
          "v_xad_u32",
          [](uint32_t a, uint32_t b, uint32_t c) { return (a ^ b) + c; }),
      carry<false>("v_add_co_u32",
                   [](uint64_t a, uint64_t b, uint64_t) { return a + b; }),
      carry<false>("v_sub_co_u32",
                   [](uint64_t a, uint64_t b, uint64_t) { return a - b; }),
      carry<false>("v_subrev_co_u32",
                   [](uint64_t a, uint64_t b, uint64_t) { return b - a; }),
      carry<true>("v_addc_co_u32",
                  [](uint64_t a, uint64_t b, uint64_t carryIn) {
                    return a + b + carryIn;
                  }),
      carry<true>("v_subb_co_u32",
                  [](uint64_t a, uint64_t b, uint64_t carryIn) {
                    return a - b - carryIn;
                  }),
      carry<true>("v_subbrev_co_u32",
                  [](uint64_t a, uint64_t b, uint64_t carryIn) {
                    return b - a - carryIn;
                  }),
      valu<U32, U32, U32, U32>("v_sad_u8",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return sumOfByteDifferences(a, b, c);
                               }),
      valu<U32, U32, U32, U32>("v_sad_u32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return (a > b ? a - b : b - a) + c;
                               }),
      valu<U32, U32, U32, U32>("v_lerp_u8",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return averageBytes(a, b, c);
                               }),
      // Products.
      valu<U32, U32, U32>("v_mul_lo_u32",
                          [](uint32_t a, uint32_t b) { return a * b; }),
      valu<U32, U32, U32>("v_mul_hi_u32",
                          [](uint32_t a, uint32_t b) {
                            return static_cast<uint32_t>(uint64_t(a) * b >> 32);
                          }),
      valu<I32, I32, I32>("v_mul_hi_i32",
                          [](int32_t a, int32_t b) {
                            return static_cast<int32_t>(int64_t(a) * b >> 32);
                          }),
      valu<U32, U32, U32>("v_mul_u32_u24",
                          [](uint32_t a, uint32_t b) {
                            return (a & 0xffffff) * (b & 0xffffff);
                          }),
      valu<U32, U32, U32>("v_mul_hi_u32_u24",
                          [](uint32_t a, uint32_t b) {
                            return static_cast<uint32_t>(
                                uint64_t(a & 0xffffff) * (b & 0xffffff) >> 32);
                          }),
      valu<I32, I32, I32>("v_mul_i32_i24",
                          [](int32_t a, int32_t b) {
                            return static_cast<int32_t>(int64_t(signed24(a)) *
                                                        signed24(b));
                          }),
      valu<I32, I32, I32>("v_mul_hi_i32_i24",
                          [](int32_t a, int32_t b) {
                            return static_cast<int32_t>(
                                int64_t(signed24(a)) * signed24(b) >> 32);
                          }),
      valu<U32, U32, U32, U32>("v_mad_u32_u24",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return (a & 0xffffff) * (b & 0xffffff) + c;
                               }),
      valu<U32, I32, I32, U32>("v_mad_i32_i24",
                               [](int32_t a, int32_t b, uint32_t c) {
                                 return static_cast<uint32_t>(
                                            int64_t(signed24(a)) *
                                            signed24(b)) +
                                        c;
                               }),
      valu<U32, U16, U16, U32>("v_mad_u32_u16",
                               [](uint16_t a, uint16_t b, uint32_t c) {
                                 return uint32_t(a) * b + c;
                               }),
      valu<U32, I16, I16, U32>("v_mad_i32_i16",
                               [](int16_t a, int16_t b, uint32_t c) {
                                 return static_cast<uint32_t>(a * b) + c;
                               }),
      valu<U16, U16, U16>("v_mul_lo_u16",
                          [](uint16_t a, uint16_t b) {
                            return static_cast<uint16_t>(uint32_t(a) * b);
                          }),
      valu<U16, U16, U16, U16>(
          "v_mad_u16",
          [](uint16_t a, uint16_t b,
             uint16_t c) { return static_cast<uint16_t>(uint32_t(a) * b + c); },
          kD16 | kReadsDst),
      valu<U16, U16, U16, U16>(
          // The low 16 bits of a product do not depend on signs.
          "v_mad_i16",
          [](uint16_t a, uint16_t b,
             uint16_t c) { return static_cast<uint16_t>(uint32_t(a) * b + c); },
          kD16 | kReadsDst),
      valu<U16, U16, U16, U16>("v_mad_legacy_u16",
                               [](uint16_t a, uint16_t b, uint16_t c) {
                                 return static_cast<uint16_t>(uint32_t(a) * b +
                                                              c);
                               }),
      valu<U16, U16, U16, U16>("v_mad_legacy_i16",
                               [](uint16_t a, uint16_t b, uint16_t c) {
                                 return static_cast<uint16_t>(uint32_t(a) * b +
                                                              c);
                               }),
      {"v_mad_u64_u32", runMad64<U32, U64>, OpClass::Valu, 2, kCompare,
       valueTypes<U32, U32, U64>(), 0},
      {"v_mad_i64_i32", runMad64<I32, I64>, OpClass::Valu, 2, kCompare,
       valueTypes<I32, I32, I64>(), 0},
      // Order.
      valu<I32, I32, I32>("v_min_i32",
                          [](int32_t a, int32_t b) { return std::min(a, b); }),
      valu<I32, I32, I32>("v_max_i32",
                          [](int32_t a, int32_t b) { return std::max(a, b); }),
      valu<I32, I32, I32, I32>(
          "v_min3_i32",
          [](int32_t a, int32_t b, int32_t c) { return std::min({a, b, c}); }),
      valu<I32, I32, I32, I32>(
          "v_max3_i32",
          [](int32_t a, int32_t b, int32_t c) { return std::max({a, b, c}); }),
      valu<I32, I32, I32, I32>(
          "v_med3_i32",
          [](int32_t a, int32_t b, int32_t c) { return median(a, b, c); }),
      valu<U32, U32, U32>(
          "v_min_u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }),
      valu<U32, U32, U32>(
          "v_max_u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }),
      valu<U32, U32, U32, U32>("v_min3_u32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return std::min({a, b, c});
                               }),
      valu<U32, U32, U32, U32>("v_max3_u32",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return std::max({a, b, c});
                               }),
      valu<U32, U32, U32, U32>(
          "v_med3_u32",
          [](uint32_t a, uint32_t b, uint32_t c) { return median(a, b, c); }),
      valu<I16, I16, I16>("v_min_i16",
                          [](int16_t a, int16_t b) { return std::min(a, b); }),
      valu<I16, I16, I16>("v_max_i16",
                          [](int16_t a, int16_t b) { return std::max(a, b); }),
      valu<I16, I16, I16, I16>(
          "v_min3_i16",
          [](int16_t a, int16_t b, int16_t c) { return std::min({a, b, c}); },
          kD16 | kReadsDst),
      valu<I16, I16, I16, I16>(
          "v_max3_i16",
          [](int16_t a, int16_t b, int16_t c) { return std::max({a, b, c}); },
          kD16 | kReadsDst),
      valu<I16, I16, I16, I16>(
          "v_med3_i16",
          [](int16_t a, int16_t b, int16_t c) { return median(a, b, c); },
          kD16 | kReadsDst),
      valu<U16, U16, U16>(
          "v_min_u16", [](uint16_t a, uint16_t b) { return std::min(a, b); }),
      valu<U16, U16, U16>(
          "v_max_u16", [](uint16_t a, uint16_t b) { return std::max(a, b); }),
      valu<U16, U16, U16, U16>(
          "v_min3_u16",
          [](uint16_t a, uint16_t b,
             uint16_t c) { return std::min({a, b, c}); },
          kD16 | kReadsDst),
      valu<U16, U16, U16, U16>(
          "v_max3_u16",
          [](uint16_t a, uint16_t b,
             uint16_t c) { return std::max({a, b, c}); },
          kD16 | kReadsDst),
      valu<U16, U16, U16, U16>(
          "v_med3_u16",
          [](uint16_t a, uint16_t b, uint16_t c) { return median(a, b, c); },
          kD16 | kReadsDst),
  };
  return kOps;
}
