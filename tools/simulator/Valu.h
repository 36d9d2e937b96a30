//===- Valu.h - How vector operations read and write ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vector operation is a function of one lane's values. valu<D, S...>(f) makes
// a handler of it that does everything around: DPP and SDWA, modifiers, inline
// constants, halves, denormals, NaNs, exec. All 64 lanes are computed, the ones
// that exec hides are not written.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_VALU_H
#define GIST_TOOLS_SIMULATOR_VALU_H

#include "tools/simulator/Numeric.h"
#include "tools/simulator/Wave.h"

#include <tuple>
#include <type_traits>

namespace gist::sim {

// The types of operands: what a lane's function receives, and from how many
// registers.
struct U32 {
  using T = uint32_t;
  static constexpr ValueType kType = ValueType::B32;
};
struct I32 {
  using T = int32_t;
  static constexpr ValueType kType = ValueType::B32;
};
struct U64 {
  using T = uint64_t;
  static constexpr ValueType kType = ValueType::B64;
};
struct I64 {
  using T = int64_t;
  static constexpr ValueType kType = ValueType::B64;
};
struct U16 {
  using T = uint16_t;
  static constexpr ValueType kType = ValueType::B16;
};
struct I16 {
  using T = int16_t;
  static constexpr ValueType kType = ValueType::B16;
};
struct F32 {
  using T = float;
  static constexpr ValueType kType = ValueType::F32;
};
struct F64 {
  using T = double;
  static constexpr ValueType kType = ValueType::F64;
};
/// Held as a float, which is exact; results are rounded once.
struct F16 {
  using T = float;
  static constexpr ValueType kType = ValueType::F16;
};

template <typename S>
constexpr bool kIs64 = S::kType == ValueType::B64 || S::kType == ValueType::F64;
template <typename S>
constexpr bool kIs16 = S::kType == ValueType::B16 || S::kType == ValueType::F16;
template <typename S>
constexpr bool kIsFloat =
    S::kType == ValueType::F16 || S::kType == ValueType::F32 ||
    S::kType == ValueType::F64;

/// The lane each lane reads under DPP, and the lanes that are written.
struct DppMap {
  uint8_t source[kLanes];
  uint64_t invalid = 0; ///< Lanes whose source does not exist.
  uint64_t written = 0;
};
/// Lanes are written where exec, row_mask and bank_mask allow it, and where the
/// source exists or bound_ctrl makes it zero.
DppMap makeDppMap(const Inst &inst, uint64_t exec);

/// SDWA: a byte or half of a source, widened, and the place of the result in
/// the destination.
uint32_t selectSdwa(uint32_t value, Sel sel, bool sext);
uint32_t mergeSdwa(uint32_t old, uint32_t value, const Inst &inst);

/// The operand's low dword per lane, broadcast if it is a scalar.
inline const uint32_t *rawRow(const Wave &wave, const Operand &operand,
                              unsigned dword, uint32_t *buffer) {
  if (operand.isVector())
    return wave.vector[operand.reg + dword];
  uint32_t value = operand.isScalar()
                       ? wave.scalar[operand.reg + dword]
                       : static_cast<uint32_t>(operand.value >> (32 * dword));
  for (unsigned lane = 0; lane < kLanes; ++lane)
    buffer[lane] = value;
  return buffer;
}

/// Applies DPP (first source only).
inline const uint32_t *dppRow(const DppMap &map, const uint32_t *row,
                              uint32_t *buffer) {
  // `row` and `buffer` may be the same array.
  uint32_t copy[kLanes];
  std::memcpy(copy, row, sizeof(copy));
  for (unsigned lane = 0; lane < kLanes; ++lane)
    buffer[lane] = map.invalid >> lane & 1 ? 0 : copy[map.source[lane]];
  return buffer;
}

/// abs first, then neg: -|x| can be written, |-x| cannot.
template <typename T> T applySign(T value, const Operand &operand) {
  if (operand.abs)
    value = std::fabs(value);
  return operand.neg ? -value : value;
}

/// One source of the instruction, for all lanes.
template <typename S>
const typename S::T *fetch(Wave &wave, const Inst &inst, unsigned index,
                           const DppMap *map, typename S::T *buffer) {
  using T = typename S::T;
  const Operand &operand = inst.src[index];
  uint32_t low[kLanes], high[kLanes];
  // DPP applies to the first source alone.
  bool permuted = map && index == 0;
  const uint32_t *row = rawRow(wave, operand, 0, low);
  if (permuted)
    row = dppRow(*map, row, low);

  if constexpr (kIs64<S>) {
    const uint32_t *upper = rawRow(wave, operand, 1, high);
    if (permuted)
      upper = dppRow(*map, upper, high);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      buffer[lane] = std::bit_cast<T>(row[lane] | uint64_t(upper[lane]) << 32);
  } else {
    if (inst.sdwa && index < 2) {
      for (unsigned lane = 0; lane < kLanes; ++lane)
        low[lane] = selectSdwa(row[lane], inst.srcSel[index], operand.sext);
      row = low;
    }
    if constexpr (kIs16<S>) {
      unsigned shift = !inst.sdwa && inst.opSel >> index & 1 ? 16 : 0;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        uint16_t half = static_cast<uint16_t>(row[lane] >> shift);
        if constexpr (kIsFloat<S>)
          buffer[lane] = fromF16(half);
        else
          buffer[lane] = static_cast<T>(half);
      }
    } else {
      // The common case reads the registers in place, without a copy.
      bool plain = !operand.abs && !operand.neg;
      if constexpr (kIsFloat<S>)
        plain &= !wave.flushInput;
      // `low` dies with this function, so its contents move to the caller's
      // buffer. A row of registers lives on.
      if (plain)
        return reinterpret_cast<const T *>(
            row == low ? static_cast<const uint32_t *>(
                             std::memcpy(buffer, low, sizeof(low)))
                       : row);
      for (unsigned lane = 0; lane < kLanes; ++lane)
        buffer[lane] = std::bit_cast<T>(row[lane]);
    }
  }
  if constexpr (kIsFloat<S>) {
    if constexpr (std::is_same_v<S, F32>)
      if (wave.flushInput)
        for (unsigned lane = 0; lane < kLanes; ++lane)
          buffer[lane] = flushDenormal(buffer[lane]);
    if (operand.abs || operand.neg)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        buffer[lane] = applySign(buffer[lane], operand);
  } else if (operand.abs || operand.neg) {
    // v_cndmask_b32 moves bits but takes floating-point modifiers.
    constexpr T kSign = static_cast<T>(T(1) << (8 * sizeof(T) - 1));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (operand.abs)
        buffer[lane] &= static_cast<T>(~kSign);
      if (operand.neg)
        buffer[lane] ^= kSign;
    }
  }
  return buffer;
}

/// Writes 32-bit results to a vector register under a lane mask.
inline void writeRow(Wave &wave, unsigned reg, const uint32_t *values,
                     uint64_t mask) {
  uint32_t *row = wave.vector[reg];
  if (mask == ~uint64_t(0)) {
    std::memcpy(row, values, kLanes * sizeof(uint32_t));
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    row[lane] = mask >> lane & 1 ? values[lane] : row[lane];
}

/// NaN becomes zero under clamp: the comparison is written so that it fails for
/// NaN.
template <typename T> T clampToUnit(T value) {
  return !(value > 0) ? T(0) : value > 1 ? T(1) : value;
}

/// Writes the results of all lanes to the destination, in its type.
template <typename D, typename R>
void store(Wave &wave, const Inst &inst, R *results, uint64_t mask) {
  if constexpr (kIsFloat<D>) {
    if (inst.omod)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        results[lane] = static_cast<R>(std::ldexp(results[lane], inst.omod));
    if (inst.clamp)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        results[lane] = clampToUnit(results[lane]);
  } else if (inst.clamp) {
    return wave.fail(-1, "clamping of this result is not implemented");
  }
  uint32_t low[kLanes];
  if constexpr (kIs64<D>) {
    uint32_t high[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint64_t bits =
          std::bit_cast<uint64_t>(static_cast<typename D::T>(results[lane]));
      low[lane] = static_cast<uint32_t>(bits);
      high[lane] = static_cast<uint32_t>(bits >> 32);
    }
    writeRow(wave, inst.dst.reg, low, mask);
    writeRow(wave, inst.dst.reg + 1, high, mask);
    return;
  } else if constexpr (kIs16<D>) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if constexpr (kIsFloat<D>)
        low[lane] = toF16Bits(results[lane]);
      else
        low[lane] = static_cast<uint16_t>(results[lane]);
    }
    // Most 16-bit operations clear the other half; those with op_sel keep it.
    if (inst.hasFlag(kD16) && !inst.sdwa) {
      const uint32_t *old = wave.vector[inst.dst.reg];
      bool toHigh = inst.opSel & 8;
      for (unsigned lane = 0; lane < kLanes; ++lane)
        low[lane] = toHigh ? (old[lane] & 0xffff) | low[lane] << 16
                           : (old[lane] & 0xffff0000) | low[lane];
    }
  } else {
    if constexpr (std::is_same_v<D, F32>)
      if (wave.flushOutput)
        for (unsigned lane = 0; lane < kLanes; ++lane)
          results[lane] = flushDenormal(results[lane]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      low[lane] =
          std::bit_cast<uint32_t>(static_cast<typename D::T>(results[lane]));
  }
  if (inst.sdwa)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      low[lane] = mergeSdwa(wave.vector[inst.dst.reg][lane], low[lane], inst);
  writeRow(wave, inst.dst.reg, low, mask);
}

/// The NaN an operation returns: its first NaN operand made quiet, or the
/// canonical one. Hosts differ here, so it is not left to them.
template <typename R, typename... T> R quietNan(T... sources) {
  R result =
      std::bit_cast<R>(std::conditional_t<sizeof(R) == 8, uint64_t, uint32_t>(
          sizeof(R) == 8 ? 0x7ff8000000000000ull : 0x7fc00000u));
  bool found = false;
  auto consider = [&](auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      if (!found && std::isnan(value)) {
        found = true;
        // Adding to a NaN makes it quiet and keeps its payload.
        result = static_cast<R>(value + value);
      }
  };
  (consider(sources), ...);
  return result;
}

/// Executes `function` on every lane.
template <typename D, typename Function, typename... S, size_t... I>
void runValu(Wave &wave, const Inst &inst, Function function,
             std::tuple<S...> *, std::index_sequence<I...>) {
  DppMap map;
  const DppMap *permutation = nullptr;
  uint64_t mask = wave.exec();
  if (inst.dpp != Dpp::None) {
    map = makeDppMap(inst, mask);
    permutation = &map;
    mask = map.written;
  }
  std::tuple<typename S::T[kLanes]...> buffers;
  std::tuple<const typename S::T *...> sources = {
      fetch<S>(wave, inst, I, permutation, std::get<I>(buffers))...};
  using R = std::invoke_result_t<Function, typename S::T...>;
  R results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    results[lane] = function(std::get<I>(sources)[lane]...);
  // NaNs are rare, so the loop that finds them is kept free of work.
  if constexpr (kIsFloat<D>) {
    bool anyNan = false;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      anyNan |= std::isnan(results[lane]);
    if (anyNan)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        if (std::isnan(results[lane]))
          results[lane] = quietNan<R>(std::get<I>(sources)[lane]...);
  }
  store<D>(wave, inst, results, mask);
}

/// The types of the sources, for the decoder: a constant is stored in the type
/// in which the operation reads it.
template <typename... S> constexpr std::array<ValueType, 4> valueTypes() {
  std::array<ValueType, 4> types = {ValueType::B32, ValueType::B32,
                                    ValueType::B32, ValueType::B32};
  size_t i = 0;
  ((types[i++] = S::kType), ...);
  return types;
}

/// The table entry of a lane function from sources S to destination D.
template <typename D, typename... S, typename Function>
constexpr OpInfo valu(const char *name, Function, uint32_t flags = 0,
                      OpClass opClass = OpClass::Valu) {
  Handler run = [](Wave &wave, const Inst &inst) {
    runValu<D>(wave, inst, Function{}, static_cast<std::tuple<S...> *>(nullptr),
               std::index_sequence_for<S...>{});
  };
  return {name, run, opClass, 1, flags, valueTypes<S...>(), 0};
}

/// An operation whose destination is its last source (fmac).
template <typename D, typename... S, typename Function>
constexpr OpInfo valuAccumulate(const char *name, Function) {
  Handler run = [](Wave &wave, const Inst &inst) {
    // A copy in which the destination stands as the last source. Modifiers of
    // sources do not apply to it.
    Inst full = inst;
    full.src[sizeof...(S) - 1] = inst.dst;
    full.src[sizeof...(S) - 1].neg = full.src[sizeof...(S) - 1].abs = false;
    runValu<D>(wave, full, Function{}, static_cast<std::tuple<S...> *>(nullptr),
               std::index_sequence_for<S...>{});
  };
  return {name, run, OpClass::Valu, 1, kReadsDst, valueTypes<S...>(), 0};
}

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_VALU_H
