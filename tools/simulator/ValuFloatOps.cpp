//===- ValuFloatOps.cpp - Vector floating-point operations ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built without contraction of a * b + c: an fma here is written as one.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Valu.h"

#include <limits>

using namespace gist::sim;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// The first bit of the fraction says quiet. std::isnan does not tell.
static bool isSignaling(float value) {
  return std::isnan(value) && !(bitsOf(value) & 0x00400000);
}
static bool isSignaling(double value) {
  return std::isnan(value) && !(bitsOf(value) & 0x0008000000000000);
}

/// IEEE mode: a signaling NaN wins, a quiet one loses; -0 is less than +0.
template <typename T> static T minNum(T a, T b) {
  if (isSignaling(a) || isSignaling(b))
    return std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a))
    return b;
  if (std::isnan(b))
    return a;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <typename T> static T maxNum(T a, T b) {
  if (isSignaling(a) || isSignaling(b))
    return std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a))
    return b;
  if (std::isnan(b))
    return a;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

/// The manual's definition: NaNs are as in min3.
template <typename T> static T median(T a, T b, T c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c))
    return minNum(minNum(a, b), c);
  T most = maxNum(maxNum(a, b), c);
  if (most == a)
    return maxNum(b, c);
  return most == b ? maxNum(a, c) : maxNum(a, b);
}

//===----------------------------------------------------------------------===//
// Transcendentals. The hardware promises one unit in the last place; here they
// are rounded from double. f32 variants know no denormals.
//===----------------------------------------------------------------------===//

/// Denormals are flushed on both sides, whatever MODE says.
template <typename Function> static float trans(float x, Function function) {
  return flushDenormal(static_cast<float>(function(double(flushDenormal(x)))));
}

/// sin and cos take revolutions and give up beyond 256 of them.
template <typename Function>
static float revolve(float x, float beyond, Function function) {
  if (std::fabs(x) > 256.0f)
    return beyond;
  constexpr double kTwoPi = 6.283185307179586476925;
  // The argument is reduced exactly in double before it is multiplied.
  return static_cast<float>(
      function((double(x) - std::rint(double(x))) * kTwoPi));
}

/// x - floor(x), in [0, 1).
template <typename T> static T fraction(T x) {
  // Stays below one even where x - floor(x) rounds up to it.
  T result = x - std::floor(x);
  T below = std::nextafter(T(1), T(0));
  return std::isinf(x)    ? std::numeric_limits<T>::quiet_NaN()
         : result > below ? below
                          : result;
}

/// Of the form in which the mantissa is in [0.5, 1); 0 for zero and what is not
/// finite.
template <typename T> static int exponentOf(T x) {
  int exponent = 0;
  if (std::isfinite(x))
    std::frexp(x, &exponent);
  return exponent;
}

template <typename T> static T mantissaOf(T x) {
  int exponent = 0;
  return std::isfinite(x) ? std::frexp(x, &exponent) : x;
}

//===----------------------------------------------------------------------===//
// Division. The manual's pseudocode for these three does not divide correctly
// at the ends of the range; the scalings here are the ones under which LLVM's
// sequence of them is correctly rounded.
//===----------------------------------------------------------------------===//

template <typename T> struct DivisionLimits;
template <> struct DivisionLimits<float> {
  static constexpr int kScale = 64, kNearMax = 96, kTiny = 23, kBias = 127;
};
template <> struct DivisionLimits<double> {
  static constexpr int kScale = 128, kNearMax = 768, kTiny = 53, kBias = 1023;
};

/// Denormals and zero have exponent 0; what is not finite has the largest.
template <typename T> static int biasedExponent(T x) {
  if (!std::isfinite(x))
    return 2 * DivisionLimits<T>::kBias + 1;
  return std::fpclassify(x) == FP_NORMAL
             ? std::ilogb(x) + DivisionLimits<T>::kBias
             : 0;
}

template <typename T> static bool isDenormal(T x) {
  return std::fpclassify(x) == FP_SUBNORMAL;
}

/// `value` is the denominator or the numerator, as it stands beside them.
template <typename T>
static T divScale(T value, T denominator, T numerator, bool &scaled) {
  using L = DivisionLimits<T>;
  scaled = false;
  if (numerator == 0 || denominator == 0)
    return std::numeric_limits<T>::quiet_NaN();
  bool isDenominator = value == denominator;
  bool inverseIsTiny = isDenormal(T(1) / denominator);
  bool quotientIsTiny = isDenormal(T(numerator / denominator));
  if (biasedExponent(numerator) - biasedExponent(denominator) >= L::kNearMax) {
    scaled = true;
    return isDenominator ? std::ldexp(value, L::kScale) : value;
  }
  if (isDenormal(denominator))
    return std::ldexp(value, L::kScale);
  if (inverseIsTiny && quotientIsTiny) {
    scaled = true;
    return isDenominator ? std::ldexp(value, -L::kScale) : value;
  }
  if (inverseIsTiny)
    return std::ldexp(value, -L::kScale);
  if (quotientIsTiny) {
    scaled = true;
    return value == numerator ? std::ldexp(value, L::kScale) : value;
  }
  if (biasedExponent(numerator) <= L::kTiny)
    return std::ldexp(value, L::kScale);
  return value;
}

template <typename S> static void runDivScale(Wave &wave, const Inst &inst) {
  using T = typename S::T;
  T buffers[3][kLanes], results[kLanes];
  const T *values = fetch<S>(wave, inst, 0, nullptr, buffers[0]);
  const T *denominators = fetch<S>(wave, inst, 1, nullptr, buffers[1]);
  const T *numerators = fetch<S>(wave, inst, 2, nullptr, buffers[2]);
  uint64_t flags = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    bool scaled = false;
    results[lane] =
        divScale(values[lane], denominators[lane], numerators[lane], scaled);
    flags |= uint64_t(scaled) << lane;
  }
  uint64_t mask = wave.exec();
  store<S>(wave, inst, results, mask);
  wave.writeScalar(inst.sdst, flags & mask);
}

/// fma(a, b, c) * 2^scale with one rounding: the sum is rounded to odd in
/// double, which a later rounding to float cannot tell from the exact one.
static float scaledFma(float a, float b, float c, int scale) {
  double product = double(a) * b, addend = c;
  double sum = product + addend;
  // Two-sum: `error` is what the addition lost, exactly. It needs that nothing
  // is contracted or reordered.
  double virtualAddend = sum - product;
  double error = (product - (sum - virtualAddend)) + (addend - virtualAddend);
  if (error != 0 && std::isfinite(sum)) {
    uint64_t bits = bitsOf(sum);
    // The last bit becomes 1 where something was lost, which is rounding to
    // odd.
    if ((error > 0) != (sum > 0))
      --bits; // It was rounded away from zero.
    sum = asDouble(bits | 1);
  }
  return static_cast<float>(std::ldexp(sum, scale));
}
static double scaledFma(double a, double b, double c, int scale) {
  return std::ldexp(std::fma(a, b, c), scale);
}

template <typename S> static void runDivFmas(Wave &wave, const Inst &inst) {
  using T = typename S::T;
  using L = DivisionLimits<T>;
  T buffers[3][kLanes], results[kLanes];
  const T *a = fetch<S>(wave, inst, 0, nullptr, buffers[0]);
  const T *b = fetch<S>(wave, inst, 1, nullptr, buffers[1]);
  const T *c = fetch<S>(wave, inst, 2, nullptr, buffers[2]);
  uint64_t scaled = wave.vcc();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    // A scaled quotient is far from one: it says which way.
    int scale = biasedExponent(c[lane]) > L::kBias ? L::kScale : -L::kScale;
    results[lane] = scaled >> lane & 1
                        ? scaledFma(a[lane], b[lane], c[lane], scale)
                        : std::fma(a[lane], b[lane], c[lane]);
    if (std::isnan(results[lane]))
      results[lane] = quietNan<T>(a[lane], b[lane], c[lane]);
  }
  store<S>(wave, inst, results, wave.exec());
}

/// The special cases of numerator / denominator around the quotient.
template <typename T>
static T divFixup(T quotient, T denominator, T numerator) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  T sign = std::signbit(denominator) != std::signbit(numerator) ? T(-1) : T(1);
  if (std::isnan(numerator))
    return numerator;
  if (std::isnan(denominator))
    return denominator;
  if ((denominator == 0 && numerator == 0) ||
      (std::isinf(denominator) && std::isinf(numerator)))
    return std::numeric_limits<T>::quiet_NaN();
  if (denominator == 0 || std::isinf(numerator))
    return sign * kInf;
  if (std::isinf(denominator) || numerator == 0)
    return sign * T(0);
  // The quotient is a NaN only where the scaling gave up on it.
  return std::copysign(quotient, sign);
}

OpTable gist::sim::valuFloatOps() {
  static const OpInfo kOps[] = {
      // Sums and products.
      valu<F32, F32, F32>("v_add_f32", [](float a, float b) { return a + b; }),
      valu<F32, F32, F32>("v_sub_f32", [](float a, float b) { return a - b; }),
      valu<F32, F32, F32>("v_subrev_f32", [](float a, float b) { return b - a; }),
      valu<F32, F32, F32>("v_mul_f32", [](float a, float b) { return a * b; }),
      valu<F16, F16, F16>("v_add_f16", [](float a, float b) { return a + b; }),
      valu<F16, F16, F16>("v_sub_f16", [](float a, float b) { return a - b; }),
      valu<F16, F16, F16>("v_subrev_f16", [](float a, float b) { return b - a; }),
      valu<F16, F16, F16>("v_mul_f16", [](float a, float b) { return a * b; }),
      valu<F64, F64, F64>("v_add_f64", [](double a, double b) { return a + b; }),
      valu<F64, F64, F64>("v_mul_f64", [](double a, double b) { return a * b; }),
      valu<F32, F32, F32>("v_mul_legacy_f32", [](float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }),
      valu<F32, F32, F32, F32>("v_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); }),
      valu<F64, F64, F64, F64>("v_fma_f64", [](double a, double b, double c) { return std::fma(a, b, c); }),
      valu<F16, F16, F16, F16>("v_fma_f16", [](float a, float b, float c) { return std::fma(double(a), double(b), double(c)); }, kD16 | kReadsDst),
      valu<F16, F16, F16, F16>("v_fma_legacy_f16", [](float a, float b, float c) { return std::fma(double(a), double(b), double(c)); }),
      valuAccumulate<F32, F32, F32, F32>("v_fmac_f32", [](float a, float b, float c) { return std::fma(a, b, c); }),
      valuAccumulate<F64, F64, F64, F64>("v_fmac_f64", [](double a, double b, double c) { return std::fma(a, b, c); }),
      valu<F32, F32, F32, F32>("v_fmamk_f32", [](float a, float b, float c) { return std::fma(a, b, c); }),
      valu<F32, F32, F32, F32>("v_fmaak_f32", [](float a, float b, float c) { return std::fma(a, b, c); }),
      // Order.
      valu<F32, F32, F32>("v_min_f32", [](float a, float b) { return minNum(a, b); }),
      valu<F32, F32, F32>("v_max_f32", [](float a, float b) { return maxNum(a, b); }),
      valu<F64, F64, F64>("v_min_f64", [](double a, double b) { return minNum(a, b); }),
      valu<F64, F64, F64>("v_max_f64", [](double a, double b) { return maxNum(a, b); }),
      valu<F16, F16, F16>("v_min_f16", [](float a, float b) { return minNum(a, b); }),
      valu<F16, F16, F16>("v_max_f16", [](float a, float b) { return maxNum(a, b); }),
      valu<F32, F32, F32, F32>("v_min3_f32", [](float a, float b, float c) { return minNum(minNum(a, b), c); }),
      valu<F32, F32, F32, F32>("v_max3_f32", [](float a, float b, float c) { return maxNum(maxNum(a, b), c); }),
      valu<F32, F32, F32, F32>("v_med3_f32", [](float a, float b, float c) { return median(a, b, c); }),
      valu<F16, F16, F16, F16>("v_min3_f16", [](float a, float b, float c) { return minNum(minNum(a, b), c); }, kD16 | kReadsDst),
      valu<F16, F16, F16, F16>("v_max3_f16", [](float a, float b, float c) { return maxNum(maxNum(a, b), c); }, kD16 | kReadsDst),
      valu<F16, F16, F16, F16>("v_med3_f16", [](float a, float b, float c) { return median(a, b, c); }, kD16 | kReadsDst),
      // Rounding and parts.
      valu<F32, F32>("v_trunc_f32", [](float a) { return std::trunc(a); }),
      valu<F32, F32>("v_ceil_f32", [](float a) { return std::ceil(a); }),
      valu<F32, F32>("v_floor_f32", [](float a) { return std::floor(a); }),
      valu<F32, F32>("v_rndne_f32", [](float a) { return std::nearbyint(a); }),
      valu<F32, F32>("v_fract_f32", [](float a) { return fraction(a); }),
      valu<F32, F32>("v_frexp_mant_f32", [](float a) { return mantissaOf(a); }),
      valu<F64, F64>("v_trunc_f64", [](double a) { return std::trunc(a); }),
      valu<F64, F64>("v_ceil_f64", [](double a) { return std::ceil(a); }),
      valu<F64, F64>("v_floor_f64", [](double a) { return std::floor(a); }),
      valu<F64, F64>("v_rndne_f64", [](double a) { return std::nearbyint(a); }),
      valu<F64, F64>("v_fract_f64", [](double a) { return fraction(a); }),
      valu<F64, F64>("v_frexp_mant_f64", [](double a) { return mantissaOf(a); }),
      valu<F16, F16>("v_trunc_f16", [](float a) { return std::trunc(a); }),
      valu<F16, F16>("v_ceil_f16", [](float a) { return std::ceil(a); }),
      valu<F16, F16>("v_floor_f16", [](float a) { return std::floor(a); }),
      valu<F16, F16>("v_rndne_f16", [](float a) { return std::nearbyint(a); }),
      valu<F16, F16>("v_fract_f16", [](float a) { return fraction(a); }),
      valu<F16, F16>("v_frexp_mant_f16", [](float a) { return mantissaOf(a); }),
      valu<I32, F32>("v_frexp_exp_i32_f32", [](float a) { return exponentOf(a); }),
      valu<I32, F64>("v_frexp_exp_i32_f64", [](double a) { return exponentOf(a); }),
      valu<I16, F16>("v_frexp_exp_i16_f16", [](float a) { return static_cast<int16_t>(exponentOf(a)); }),
      valu<F32, F32, I32>("v_ldexp_f32", [](float a, int32_t b) { return std::ldexp(a, b); }),
      valu<F64, F64, I32>("v_ldexp_f64", [](double a, int32_t b) { return std::ldexp(a, b); }),
      valu<F16, F16, I16>("v_ldexp_f16", [](float a, int16_t b) { return std::ldexp(double(a), b); }),
      // Transcendentals.
      valu<F32, F32>("v_exp_f32", [](float a) { return trans(a, [](double x) { return std::exp2(x); }); }, 0, OpClass::Trans),
      valu<F16, F16>("v_exp_f16", [](float a) { return std::exp2(double(a)); }, 0, OpClass::Trans),
      valu<F32, F32>("v_log_f32", [](float a) { return trans(a, [](double x) { return std::log2(x); }); }, 0, OpClass::Trans),
      valu<F16, F16>("v_log_f16", [](float a) { return std::log2(double(a)); }, 0, OpClass::Trans),
      valu<F32, F32>("v_rcp_f32", [](float a) { return trans(a, [](double x) { return 1.0 / x; }); }, 0, OpClass::Trans),
      valu<F16, F16>("v_rcp_f16", [](float a) { return 1.0 / double(a); }, 0, OpClass::Trans),
      valu<F32, F32>("v_rcp_iflag_f32", [](float a) { return trans(a, [](double x) { return 1.0 / x; }); }, 0, OpClass::Trans),
      valu<F32, F32>("v_rsq_f32", [](float a) { return trans(a, [](double x) { return 1.0 / std::sqrt(x); }); }, 0, OpClass::Trans),
      valu<F16, F16>("v_rsq_f16", [](float a) { return 1.0 / std::sqrt(double(a)); }, 0, OpClass::Trans),
      valu<F32, F32>("v_sqrt_f32", [](float a) { return trans(a, [](double x) { return std::sqrt(x); }); }, 0, OpClass::Trans),
      valu<F16, F16>("v_sqrt_f16", [](float a) { return std::sqrt(double(a)); }, 0, OpClass::Trans),
      valu<F64, F64>("v_rcp_f64", [](double a) { return 1.0 / a; }, 0, OpClass::Trans),
      valu<F64, F64>("v_rsq_f64", [](double a) { return 1.0 / std::sqrt(a); }, 0, OpClass::Trans),
      valu<F64, F64>("v_sqrt_f64", [](double a) { return std::sqrt(a); }, 0, OpClass::Trans),
      valu<F32, F32>("v_sin_f32", [](float a) { return revolve(a, 0.0f, [](double x) { return std::sin(x); }); }, 0, OpClass::Trans),
      valu<F16, F16>("v_sin_f16", [](float a) { return revolve(a, 0.0f, [](double x) { return std::sin(x); }); }, 0, OpClass::Trans),
      valu<F32, F32>("v_cos_f32", [](float a) { return revolve(a, 1.0f, [](double x) { return std::cos(x); }); }, 0, OpClass::Trans),
      valu<F16, F16>("v_cos_f16", [](float a) { return revolve(a, 1.0f, [](double x) { return std::cos(x); }); }, 0, OpClass::Trans),
      // Division.
      {"v_div_scale_f32", runDivScale<F32>, OpClass::Valu, 2, kCompare, valueTypes<F32, F32, F32>(), 0},
      {"v_div_fmas_f32", runDivFmas<F32>, OpClass::Valu, 1, kReadsVcc, valueTypes<F32, F32, F32>(), 0},
      valu<F32, F32, F32, F32>("v_div_fixup_f32", [](float a, float b, float c) { return divFixup(a, b, c); }),
      {"v_div_scale_f64", runDivScale<F64>, OpClass::Valu, 2, kCompare, valueTypes<F64, F64, F64>(), 0},
      {"v_div_fmas_f64", runDivFmas<F64>, OpClass::Valu, 1, kReadsVcc, valueTypes<F64, F64, F64>(), 0},
      valu<F64, F64, F64, F64>("v_div_fixup_f64", [](double a, double b, double c) { return divFixup(a, b, c); }),
      valu<F16, F16, F16, F16>("v_div_fixup_f16", [](float a, float b, float c) { return divFixup(a, b, c); }, kD16 | kReadsDst),
  };
  return kOps;
}
