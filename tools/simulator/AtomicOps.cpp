//===- AtomicOps.cpp - Atomics in memory and in LDS -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Atomics of global memory and of LDS. Workgroups run on several host threads,
// so those of global memory are atomic on the host as well. LDS belongs to one
// workgroup, whose waves run in turns on one thread.
//
// A flag kOrdered marks an atomic whose effect depends on the order of
// workgroups: the launch then runs them one after the other, so that results
// repeat.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Numeric.h"
#include "tools/simulator/VectorMemory.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

using namespace gist::sim;

/// Lane's data operand as a T; `word` counts in Ts.
template <typename T>
static T readData(const Wave &wave, const Operand &operand, unsigned lane,
                  unsigned word = 0) {
  unsigned reg = operand.reg + word * (sizeof(T) / 4);
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(wave.vector[reg][lane] |
                          uint64_t(wave.vector[reg + 1][lane]) << 32);
  else
    return static_cast<T>(wave.vector[reg][lane]);
}

/// 64-bit results take two registers.
template <typename T>
static void writeResult(Wave &wave, const Inst &inst, unsigned lane, T value) {
  wave.vector[inst.dst.reg][lane] = static_cast<uint32_t>(value);
  if constexpr (sizeof(T) == 8)
    wave.vector[inst.dst.reg + 1][lane] =
        static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32);
}

/// memory = f(memory, a, b), whatever other host threads do meanwhile.
template <typename T, typename Function>
static T update(uint8_t *pointer, Function function, T a, T b) {
  // The pointer is aligned: resolveLane has checked it.
  T *memory = reinterpret_cast<T *>(pointer);
  // Compare and exchange for all of them: the host has no atomic for most of
  // these functions.
  T old = __atomic_load_n(memory, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(memory, &old, function(old, a, b),
                                      /*weak=*/true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED))
    ;
  return old;
}

/// Lanes are done one after the other, lowest first. The hardware's order is
/// not documented.
template <typename T, typename Function>
static void runMemoryAtomic(Wave &wave, const Inst &inst) {
  bool returns = inst.dst.isVector();
  forEachLane(wave.exec(), [&](unsigned lane) {
    if (wave.state == WaveState::Failed)
      return;
    T a = readData<T>(wave, inst.src[1], lane);
    // cmpswap has two operands, in registers that follow each other.
    T b = inst.src[1].count > sizeof(T) / 4
              ? readData<T>(wave, inst.src[1], lane, 1)
              : T(0);
    LaneMemory memory =
        resolveLane(wave, inst, lane, sizeof(T), Access::Atomic);
    // An atomic outside of its buffer changes nothing and returns zero.
    if (!memory.pointer && !memory.outOfBuffer)
      return;
    T old = memory.pointer ? update<T>(memory.pointer, Function{}, a, b) : T(0);
    if (returns)
      writeResult(wave, inst, lane, old);
  });
}

/// No host atomics: other workgroups have other LDS.
template <typename T, typename Function>
static void runLdsAtomic(Wave &wave, const Inst &inst) {
  bool returns = inst.dst.isVector();
  // 16 bits are enough: LDS has 64 KiB.
  uint16_t addresses[kLanes];
  unsigned count = 0;
  forEachLane(wave.exec(), [&](unsigned lane) {
    if (wave.state == WaveState::Failed)
      return;
    T a = readData<T>(wave, inst.src[1], lane);
    T b = inst.src[2].isVector() ? readData<T>(wave, inst.src[2], lane) : T(0);
    uint64_t address = uint64_t(wave.vector[inst.src[0].reg][lane]) +
                       static_cast<uint32_t>(inst.imm);
    uint8_t *pointer = wave.lds(address, sizeof(T), lane, "updates");
    if (!pointer || !wave.checkAlignment(address, sizeof(T), lane) ||
        !noteLdsAccess(wave, LdsAccess::Atomic, address, sizeof(T), lane))
      return;
    T old;
    std::memcpy(&old, pointer, sizeof(T));
    T updated = Function{}(old, a, b);
    std::memcpy(pointer, &updated, sizeof(T));
    if (returns)
      writeResult(wave, inst, lane, old);
    addresses[count++] = static_cast<uint16_t>(address);
    wave.group->counters.ldsBytesRead += sizeof(T);
    wave.group->counters.ldsBytesWritten += sizeof(T);
  });
  // LDS accesses stay in flight until the wave waits for them.
  if (wave.group->config->checks && count)
    // checks.after() will number this operation; it is the next one.
    wave.group->shadow.issue(
        wave.index, /*isDma=*/false,
        wave.checks.issued[static_cast<size_t>(WaitKind::Lds)] + 1,
        LdsAccess::Atomic, addresses, count, sizeof(T));
}

//===----------------------------------------------------------------------===//
// Functions of (memory, data)
//===----------------------------------------------------------------------===//

static uint32_t addF32(uint32_t old, uint32_t data) {
  return bitsOf(asFloat(old) + asFloat(data));
}
static uint64_t addF64(uint64_t old, uint64_t data) {
  return bitsOf(asDouble(old) + asDouble(data));
}
/// Applies a function to both halves of a dword.
template <typename Combine>
static uint32_t onHalves(uint32_t a, uint32_t b, Combine combine) {
  return combine(static_cast<uint16_t>(a), static_cast<uint16_t>(b)) |
         uint32_t(combine(static_cast<uint16_t>(a >> 16),
                          static_cast<uint16_t>(b >> 16)))
             << 16;
}
/// The sum of two f16 is exact enough in f32 that rounding twice gives the same
/// bits as rounding once.
static uint32_t addPackedF16(uint32_t old, uint32_t data) {
  return onHalves(old, data, [](uint16_t a, uint16_t b) {
    return toF16Bits(fromF16(a) + fromF16(b));
  });
}
static uint32_t addPackedBf16(uint32_t old, uint32_t data) {
  return onHalves(old, data, [](uint16_t a, uint16_t b) {
    return toBf16Bits(fromBf16(a) + fromBf16(b));
  });
}

namespace {
/// All names are made of a few words, so that the table is built instead of
/// written.
class Table {
public:
  Table() {
    addInteger<uint32_t, int32_t>("", "u32", "i32", "b32");
    addInteger<uint64_t, int64_t>("_x2", "u64", "i64", "b64");
    // Sums of floats depend on the order in which they are added.
    constexpr uint32_t kFloat = kAtomic | kOrdered;
    addBoth<uint32_t>("add_f32", "add", "f32", kFloat,
                      [](uint32_t old, uint32_t data, uint32_t) {
                        return addF32(old, data);
                      });
    addBoth<uint64_t>("add_f64", "add", "f64", kFloat,
                      [](uint64_t old, uint64_t data, uint64_t) {
                        return addF64(old, data);
                      });
    addBoth<uint64_t>("min_f64", "min", "f64", kFloat,
                      [](uint64_t old, uint64_t data, uint64_t) {
                        return bitsOf(std::fmin(asDouble(old), asDouble(data)));
                      });
    addBoth<uint64_t>("max_f64", "max", "f64", kFloat,
                      [](uint64_t old, uint64_t data, uint64_t) {
                        return bitsOf(std::fmax(asDouble(old), asDouble(data)));
                      });
    addBoth<uint32_t>("pk_add_f16", "pk_add", "f16", kFloat,
                      [](uint32_t old, uint32_t data, uint32_t) {
                        return addPackedF16(old, data);
                      });
    addBoth<uint32_t>("pk_add_bf16", "pk_add", "bf16", kFloat,
                      [](uint32_t old, uint32_t data, uint32_t) {
                        return addPackedBf16(old, data);
                      });
    addLds<uint32_t>("min", "f32", [](uint32_t old, uint32_t data, uint32_t) {
      return bitsOf(std::fmin(asFloat(old), asFloat(data)));
    });
    addLds<uint32_t>("max", "f32", [](uint32_t old, uint32_t data, uint32_t) {
      return bitsOf(std::fmax(asFloat(old), asFloat(data)));
    });
  }
  OpTable get() const { return ops; }

private:
  /// The names are built here, so they are kept in a deque, whose elements do
  /// not move.
  void add(const std::string &name, Handler run, OpClass opClass,
           uint8_t numDst, uint32_t flags, uint8_t size) {
    names.push_back(name);
    ops.push_back(
        {names.back().c_str(), run, opClass, numDst, flags, {}, size});
  }
  template <typename T, typename Function>
  void addMemory(const std::string &name, uint32_t flags, Function) {
    Handler run = runMemoryAtomic<T, Function>;
    add("global_atomic_" + name, run, OpClass::Global, 1, flags, sizeof(T));
    add("flat_atomic_" + name, run, OpClass::Flat, 1, flags, sizeof(T));
    add("buffer_atomic_" + name, run, OpClass::Buffer, 1, flags, sizeof(T));
  }
  /// ds_add_u32 and ds_add_rtn_u32.
  template <typename T, typename Function>
  void addLds(const std::string &name, const std::string &type, Function) {
    Handler run = runLdsAtomic<T, Function>;
    add("ds_" + name + "_" + type, run, OpClass::Lds, 0, kAtomic, sizeof(T));
    add("ds_" + name + "_rtn_" + type, run, OpClass::Lds, 1, kAtomic,
        sizeof(T));
  }
  template <typename T, typename Function>
  void addBoth(const std::string &memoryName, const std::string &ldsName,
               const std::string &type, uint32_t flags, Function function) {
    addMemory<T>(memoryName, flags, function);
    addLds<T>(ldsName, type, function);
  }
  /// The names of memory and LDS forms differ: memory has signed and unsigned
  /// in the name (smin), LDS in the type (min_i32).
  template <typename U, typename I>
  void addInteger(const std::string &suffix, const std::string &u,
                  const std::string &i, const std::string &b) {
    auto memory = [&](const char *name, auto function,
                      uint32_t flags = kAtomic) {
      addMemory<U>(name + suffix, flags, function);
    };
    auto lds = [&](const char *name, const std::string &type, auto function) {
      addLds<U>(name, type, function);
    };
    auto plus = [](U old, U data, U) { return static_cast<U>(old + data); };
    auto minus = [](U old, U data, U) { return static_cast<U>(old - data); };
    auto reverse = [](U old, U data, U) { return static_cast<U>(data - old); };
    auto both = [](U old, U data, U) { return static_cast<U>(old & data); };
    auto either = [](U old, U data, U) { return static_cast<U>(old | data); };
    auto differ = [](U old, U data, U) { return static_cast<U>(old ^ data); };
    auto least = [](U old, U data, U) { return std::min(old, data); };
    auto most = [](U old, U data, U) { return std::max(old, data); };
    auto signedLeast = [](U old, U data, U) {
      return static_cast<U>(
          std::min(static_cast<I>(old), static_cast<I>(data)));
    };
    auto signedMost = [](U old, U data, U) {
      return static_cast<U>(
          std::max(static_cast<I>(old), static_cast<I>(data)));
    };
    // Counts up to the limit and wraps to zero, as the manual defines it.
    auto increment = [](U old, U limit, U) {
      return old >= limit ? U(0) : static_cast<U>(old + 1);
    };
    auto decrement = [](U old, U limit, U) {
      return old == 0 || old > limit ? limit : static_cast<U>(old - 1);
    };
    auto exchange = [](U, U data, U) { return data; };
    memory("add", plus);
    memory("sub", minus);
    memory("smin", signedLeast);
    memory("umin", least);
    memory("smax", signedMost);
    memory("umax", most);
    memory("and", both);
    memory("or", either);
    memory("xor", differ);
    memory("inc", increment, kAtomic | kOrdered);
    memory("dec", decrement, kAtomic | kOrdered);
    memory("swap", exchange, kAtomic | kOrdered);
    // Memory: the new value, then the one to compare with. LDS: reversed.
    memory(
        "cmpswap",
        [](U old, U data, U compare) { return old == compare ? data : old; },
        kAtomic | kOrdered);
    lds("cmpst", b,
        [](U old, U compare, U data) { return old == compare ? data : old; });
    lds("add", u, plus);
    lds("sub", u, minus);
    lds("rsub", u, reverse);
    lds("inc", u, increment);
    lds("dec", u, decrement);
    lds("min", i, signedLeast);
    lds("max", i, signedMost);
    lds("min", u, least);
    lds("max", u, most);
    lds("and", b, both);
    lds("or", b, either);
    lds("xor", b, differ);
    lds("mskor", b, [](U old, U mask, U data) {
      return static_cast<U>((old & ~mask) | data);
    });
    lds("wrxchg", b, exchange);
  }

  std::deque<std::string> names; ///< Addresses stay valid.
  std::vector<OpInfo> ops;
};
} // namespace

OpTable gist::sim::atomicOps() {
  static const Table kTable;
  return kTable.get();
}
