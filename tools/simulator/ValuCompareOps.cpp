//===- ValuCompareOps.cpp - Vector compares -------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// v_cmp_* and v_cmpx_*: a bit for each lane, in a scalar pair. Lanes that exec
// hides give 0.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Valu.h"

#include <deque>
#include <string>
#include <vector>

using namespace gist::sim;

/// The relations, numbered as in the encodings of v_cmp_*: bit 0 is less, bit
/// 1 equal, bit 2 greater; for floating point bit 3 inverts, so that NaN makes
/// the inverted relations true.
enum Relation : unsigned { Less = 1, Equal = 2, Greater = 4, Invert = 8 };

/// Three comparisons decide all relations. With a NaN none holds.
template <unsigned Bits, typename T> static bool compare(T a, T b) {
  bool result = ((Bits & Less) && a < b) || ((Bits & Equal) && a == b) ||
                ((Bits & Greater) && a > b);
  return result != bool(Bits & Invert);
}

/// Writes the mask; v_cmpx also writes exec.
template <bool WritesExec>
static void writeMask(Wave &wave, const Inst &inst, uint64_t mask) {
  wave.writeScalar(inst.dst, mask);
  if constexpr (WritesExec)
    wave.write64(kExec, mask);
}

template <typename S, unsigned Bits, bool WritesExec>
static void runCompare(Wave &wave, const Inst &inst) {
  using T = typename S::T;
  T bufferA[kLanes], bufferB[kLanes];
  const T *a = fetch<S>(wave, inst, 0, nullptr, bufferA);
  const T *b = fetch<S>(wave, inst, 1, nullptr, bufferB);
  // All lanes are compared; exec takes its part at the end.
  uint64_t mask = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    mask |= uint64_t(compare<Bits>(a[lane], b[lane])) << lane;
  writeMask<WritesExec>(wave, inst, mask & wave.exec());
}

/// The bit of the class mask that `value` belongs to. Denormals of f16 are
/// normal as floats, so its least normal is passed in.
template <typename T>
static unsigned classOf(T value, bool isSignaling, T leastNormal) {
  if (std::isnan(value))
    return isSignaling ? 0 : 1;
  bool negative = std::signbit(value);
  if (std::isinf(value))
    return negative ? 2 : 9;
  if (value == 0)
    return negative ? 5 : 6;
  if (std::fabs(value) < leastNormal)
    return negative ? 4 : 7;
  return negative ? 3 : 8;
}

/// A NaN is signaling if the first bit of its fraction is 0.
static unsigned classOf(F32, float value) {
  return classOf(value, !(bitsOf(value) & 0x00400000), 0x1p-126f);
}
static unsigned classOf(F64, double value) {
  return classOf(value, !(bitsOf(value) & 0x0008000000000000), 0x1p-1022);
}
static unsigned classOf(F16, float value) {
  // The widening to float has made every NaN quiet.
  return classOf(value, false, 0x1p-14f);
}

/// The second operand is a set of classes; bit n asks for class n.
template <typename S, bool WritesExec>
static void runClass(Wave &wave, const Inst &inst) {
  using T = typename S::T;
  T buffer[kLanes];
  uint32_t classes[kLanes];
  const T *values = fetch<S>(wave, inst, 0, nullptr, buffer);
  const uint32_t *wanted = fetch<U32>(wave, inst, 1, nullptr, classes);
  uint64_t mask = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    mask |= uint64_t(wanted[lane] >> classOf(S(), values[lane]) & 1) << lane;
  writeMask<WritesExec>(wave, inst, mask & wave.exec());
}

namespace {
/// Builds the 200 names once.
class Table {
public:
  Table() {
    addFloats<F16>("f16");
    addFloats<F32>("f32");
    addFloats<F64>("f64");
    addIntegers<I16>("i16");
    addIntegers<U16>("u16");
    addIntegers<I32>("i32");
    addIntegers<U32>("u32");
    addIntegers<I64>("i64");
    addIntegers<U64>("u64");
  }
  OpTable get() const { return ops; }

private:
  void add(const std::string &name, Handler run, bool writesExec,
           std::array<ValueType, 4> types) {
    // The assembly text of v_cmpx names its destination too, so both have one.
    uint32_t flags = kCompare | (writesExec ? kWritesExec : 0);
    names.push_back((writesExec ? "v_cmpx_" : "v_cmp_") + name);
    ops.push_back(
        {names.back().c_str(), run, OpClass::Valu, 1, flags, types, 0});
  }
  template <typename S, unsigned Bits>
  void addRelation(const std::string &name) {
    add(name, runCompare<S, Bits, false>, false, valueTypes<S, S>());
    add(name, runCompare<S, Bits, true>, true, valueTypes<S, S>());
  }
  template <typename S> void addFloats(const std::string &type) {
    addRelation<S, 0>("f_" + type);
    addRelation<S, Less>("lt_" + type);
    addRelation<S, Equal>("eq_" + type);
    addRelation<S, Less | Equal>("le_" + type);
    addRelation<S, Greater>("gt_" + type);
    addRelation<S, Less | Greater>("lg_" + type);
    addRelation<S, Greater | Equal>("ge_" + type);
    addRelation<S, Less | Equal | Greater>("o_" + type);
    addRelation<S, Invert | Less | Equal | Greater>("u_" + type);
    addRelation<S, Invert | Greater | Equal>("nge_" + type);
    addRelation<S, Invert | Less | Greater>("nlg_" + type);
    addRelation<S, Invert | Greater>("ngt_" + type);
    addRelation<S, Invert | Less | Equal>("nle_" + type);
    addRelation<S, Invert | Equal>("neq_" + type);
    addRelation<S, Invert | Less>("nlt_" + type);
    addRelation<S, Invert>("tru_" + type);
    add("class_" + type, runClass<S, false>, false, valueTypes<S, U32>());
    add("class_" + type, runClass<S, true>, true, valueTypes<S, U32>());
  }
  template <typename S> void addIntegers(const std::string &type) {
    addRelation<S, 0>("f_" + type);
    addRelation<S, Less>("lt_" + type);
    addRelation<S, Equal>("eq_" + type);
    addRelation<S, Less | Equal>("le_" + type);
    addRelation<S, Greater>("gt_" + type);
    addRelation<S, Less | Greater>("ne_" + type);
    addRelation<S, Greater | Equal>("ge_" + type);
    addRelation<S, Less | Equal | Greater>("t_" + type);
  }

  std::deque<std::string> names; ///< Addresses stay valid.
  std::vector<OpInfo> ops;
};
} // namespace

OpTable gist::sim::valuCompareOps() {
  static const Table kTable;
  return kTable.get();
}
