//===- ValuConvertOps.cpp - Vector conversions ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions. Results out of range saturate, as the manual defines; C++ would
// leave them undefined.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Valu.h"

#include <algorithm>
#include <limits>

using namespace gist::sim;

/// Toward zero; out of range saturates, NaN is zero.
template <typename To, typename From> static To toInteger(From value) {
  if (std::isnan(value))
    return 0;
  value = std::trunc(value);
  // The limits are compared as floats: 2^31 - 1 rounds up to 2^31, which is out
  // of range too.
  if (value <= From(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (value >= From(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

/// [-1, 1] to 16 bits; NaN is 0.
static int16_t toSnorm(float value) {
  return static_cast<int16_t>(std::nearbyint(
      std::clamp(std::isnan(value) ? 0 : value, -1.0f, 1.0f) * 32767.0f));
}

static uint16_t toUnorm(float value) {
  return static_cast<uint16_t>(std::nearbyint(
      std::clamp(std::isnan(value) ? 0 : value, 0.0f, 1.0f) * 65535.0f));
}

template <typename T> static uint32_t pack(T low, T high) {
  return static_cast<uint16_t>(low) | uint32_t(static_cast<uint16_t>(high))
                                          << 16;
}

/// Two signed halves to two bytes.
static uint32_t saturateBytes(uint32_t halves) {
  auto one = [](int16_t value) {
    return static_cast<uint32_t>(std::clamp<int>(value, 0, 255));
  };
  return one(static_cast<int16_t>(halves)) |
         one(static_cast<int16_t>(halves >> 16)) << 8;
}

/// v_pack_b32_f16 moves bits; only its sign modifiers are arithmetic.
static uint32_t packF16(float low, float high) {
  return pack(toF16Bits(low), toF16Bits(high));
}

//===----------------------------------------------------------------------===//
// fp8 and bf8
//===----------------------------------------------------------------------===//

/// The mode bit for f16 overflow decides for fp8 as well.
static bool saturatesFp8(const Wave &wave) {
  return wave.mode >> 23 & 1; // FP16_OVFL.
}

/// Two f32 to two bytes of one half of the destination.
template <uint8_t (*Convert)(float, bool)>
static void runPackFp8(Wave &wave, const Inst &inst) {
  float bufferA[kLanes], bufferB[kLanes];
  const float *a = fetch<F32>(wave, inst, 0, nullptr, bufferA);
  const float *b = fetch<F32>(wave, inst, 1, nullptr, bufferB);
  // With three sources named, the destination's bit comes third.
  unsigned shift = inst.opSel & 0xc ? 16 : 0;
  bool saturate = saturatesFp8(wave);
  forEachLane(wave.exec(), [&](unsigned lane) {
    uint32_t halves =
        Convert(a[lane], saturate) | uint32_t(Convert(b[lane], saturate)) << 8;
    uint32_t &dst = wave.vector[inst.dst.reg][lane];
    dst = (dst & ~(0xffffu << shift)) | halves << shift;
  });
}

/// One f32, stochastically rounded, to one byte of the destination.
template <uint8_t (*Convert)(float, bool)>
static void runStochasticFp8(Wave &wave, const Inst &inst) {
  float bufferA[kLanes];
  uint32_t bufferB[kLanes];
  const float *values = fetch<F32>(wave, inst, 0, nullptr, bufferA);
  const uint32_t *random = fetch<U32>(wave, inst, 1, nullptr, bufferB);
  unsigned shift = 8 * (inst.opSel >> 2 & 3);
  bool saturate = saturatesFp8(wave);
  forEachLane(wave.exec(), [&](unsigned lane) {
    uint32_t bits = bitsOf(values[lane]);
    // Random bits are added below the bits that stay. The conversion then
    // rounds what is left.
    uint32_t mantissa = ((bits & 0x7fffff) + (random[lane] >> 12)) & 0x7fffff;
    float noisy = asFloat((bits & ~0x7fffffu) | mantissa);
    uint32_t &dst = wave.vector[inst.dst.reg][lane];
    dst = (dst & ~(0xffu << shift)) | uint32_t(Convert(noisy, saturate))
                                          << shift;
  });
}

/// One half of the source, two bytes, to two f32.
template <float (*Convert)(uint8_t)>
static void runUnpackFp8(Wave &wave, const Inst &inst) {
  uint32_t buffer[kLanes];
  const uint32_t *row = fetch<U32>(wave, inst, 0, nullptr, buffer);
  unsigned shift = inst.opSel & 1 ? 16 : 0;
  uint32_t low[kLanes], high[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t halves = row[lane] >> shift;
    low[lane] = bitsOf(Convert(static_cast<uint8_t>(halves)));
    high[lane] = bitsOf(Convert(static_cast<uint8_t>(halves >> 8)));
  }
  writeRow(wave, inst.dst.reg, low, wave.exec());
  writeRow(wave, inst.dst.reg + 1, high, wave.exec());
}

OpTable gist::sim::valuConvertOps() {
  static const OpInfo kOps[] = {
      // Between integers and floating point.
      valu<I32, F32>("v_cvt_i32_f32",
                     [](float a) { return toInteger<int32_t>(a); }),
      valu<F32, I32>("v_cvt_f32_i32",
                     [](int32_t a) { return static_cast<float>(a); }),
      valu<I32, F64>("v_cvt_i32_f64",
                     [](double a) { return toInteger<int32_t>(a); }),
      valu<F64, I32>("v_cvt_f64_i32",
                     [](int32_t a) { return static_cast<double>(a); }),
      valu<U32, F32>("v_cvt_u32_f32",
                     [](float a) { return toInteger<uint32_t>(a); }),
      valu<F32, U32>("v_cvt_f32_u32",
                     [](uint32_t a) { return static_cast<float>(a); }),
      valu<U32, F64>("v_cvt_u32_f64",
                     [](double a) { return toInteger<uint32_t>(a); }),
      valu<F64, U32>("v_cvt_f64_u32",
                     [](uint32_t a) { return static_cast<double>(a); }),
      valu<I16, F16>("v_cvt_i16_f16",
                     [](float a) { return toInteger<int16_t>(a); }),
      valu<F16, I16>("v_cvt_f16_i16",
                     [](int16_t a) { return static_cast<float>(a); }),
      valu<U16, F16>("v_cvt_u16_f16",
                     [](float a) { return toInteger<uint16_t>(a); }),
      valu<F16, U16>("v_cvt_f16_u16",
                     [](uint16_t a) { return static_cast<float>(a); }),
      valu<I32, F32>(
          "v_cvt_rpi_i32_f32",
          [](float a) { return toInteger<int32_t>(std::floor(a + 0.5f)); }),
      valu<I32, F32>("v_cvt_flr_i32_f32",
                     [](float a) { return toInteger<int32_t>(std::floor(a)); }),
      valu<F32, U32>("v_cvt_off_f32_i4",
                     [](uint32_t a) {
                       return static_cast<float>(int32_t(a << 28) >> 28) /
                              16.0f;
                     }),
      valu<F32, U32>("v_cvt_f32_ubyte0",
                     [](uint32_t a) { return static_cast<float>(a & 0xff); }),
      valu<F32, U32>(
          "v_cvt_f32_ubyte1",
          [](uint32_t a) { return static_cast<float>(a >> 8 & 0xff); }),
      valu<F32, U32>(
          "v_cvt_f32_ubyte2",
          [](uint32_t a) { return static_cast<float>(a >> 16 & 0xff); }),
      valu<F32, U32>(
          "v_cvt_f32_ubyte3",
          [](uint32_t a) { return static_cast<float>(a >> 24 & 0xff); }),
      valu<U32, F32, U32, U32>("v_cvt_pk_u8_f32",
                               [](float a, uint32_t b, uint32_t c) {
                                 return (c & ~(0xffu << (8 * (b & 3)))) |
                                        uint32_t(toInteger<uint8_t>(a))
                                            << (8 * (b & 3));
                               }),
      // Between floating-point formats.
      valu<F32, F64>("v_cvt_f32_f64",
                     [](double a) { return static_cast<float>(a); }),
      valu<F64, F32>("v_cvt_f64_f32",
                     [](float a) { return static_cast<double>(a); }),
      valu<F16, F32>("v_cvt_f16_f32", [](float a) { return a; }),
      valu<F32, F16>("v_cvt_f32_f16", [](float a) { return a; }),
      valu<U32, F32, F32>("v_cvt_pkrtz_f16_f32",
                          [](float a, float b) {
                            return pack(toF16BitsTowardZero(a),
                                        toF16BitsTowardZero(b));
                          }),
      valu<U32, F16, F16>("v_pack_b32_f16",
                          [](float a, float b) { return packF16(a, b); }),
      // Packing integers.
      valu<U32, U32, U32>("v_cvt_pk_u16_u32",
                          [](uint32_t a, uint32_t b) {
                            return pack(std::min(a, 0xffffu),
                                        std::min(b, 0xffffu));
                          }),
      valu<U32, I32, I32>("v_cvt_pk_i16_i32",
                          [](int32_t a, int32_t b) {
                            return pack(std::clamp(a, -32768, 32767),
                                        std::clamp(b, -32768, 32767));
                          }),
      valu<U32, F32, F32>(
          "v_cvt_pknorm_i16_f32",
          [](float a, float b) { return pack(toSnorm(a), toSnorm(b)); }),
      valu<U32, F32, F32>(
          "v_cvt_pknorm_u16_f32",
          [](float a, float b) { return pack(toUnorm(a), toUnorm(b)); }),
      valu<U32, F16, F16>(
          "v_cvt_pknorm_i16_f16",
          [](float a, float b) { return pack(toSnorm(a), toSnorm(b)); }),
      valu<U32, F16, F16>(
          "v_cvt_pknorm_u16_f16",
          [](float a, float b) { return pack(toUnorm(a), toUnorm(b)); }),
      valu<U32, U32>("v_sat_pk_u8_i16",
                     [](uint32_t a) { return saturateBytes(a); }),
      // fp8 and bf8.
      valu<F32, U32>(
          "v_cvt_f32_fp8",
          [](uint32_t a) { return fromFp8(static_cast<uint8_t>(a)); }),
      {"v_cvt_pk_f32_fp8", runUnpackFp8<fromFp8>, OpClass::Valu, 1, 0,
       valueTypes<U32>(), 0},
      {"v_cvt_pk_fp8_f32", runPackFp8<toFp8>, OpClass::Valu, 1,
       kD16 | kReadsDst, valueTypes<F32, F32>(), 0},
      {"v_cvt_sr_fp8_f32", runStochasticFp8<toFp8>, OpClass::Valu, 1,
       kD16 | kReadsDst, valueTypes<F32, U32>(), 0},
      valu<F32, U32>(
          "v_cvt_f32_bf8",
          [](uint32_t a) { return fromBf8(static_cast<uint8_t>(a)); }),
      {"v_cvt_pk_f32_bf8", runUnpackFp8<fromBf8>, OpClass::Valu, 1, 0,
       valueTypes<U32>(), 0},
      {"v_cvt_pk_bf8_f32", runPackFp8<toBf8>, OpClass::Valu, 1,
       kD16 | kReadsDst, valueTypes<F32, F32>(), 0},
      {"v_cvt_sr_bf8_f32", runStochasticFp8<toBf8>, OpClass::Valu, 1,
       kD16 | kReadsDst, valueTypes<F32, U32>(), 0},
  };
  return kOps;
}
