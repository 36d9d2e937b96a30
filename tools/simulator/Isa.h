//===- Isa.h - A decoded instruction ----------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An instruction is decoded once, from LLVM's disassembly, into an Inst: what
// it does (an OpInfo of one of the tables in *Ops.cpp), its operands, and its
// modifiers. Everything that executes or checks works on this form only.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_ISA_H
#define GIST_TOOLS_SIMULATOR_ISA_H

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace gist::sim {

/// gfx942 has waves of 64 lanes and no others.
constexpr unsigned kLanes = 64;

/// Vector registers: v0..v255, then a0..a255.
constexpr unsigned kNumVector = 512;
constexpr unsigned kFirstAgpr = 256;

/// Scalar registers carry the numbers of the hardware's operand encoding.
enum ScalarReg : uint16_t {
  kVcc = 106,
  kTtmp0 = 108,
  kM0 = 124,
  kExec = 126,
  kScc = 253,
  kNumScalar = 256
};

/// None is an operand that is left out, such as `off`.
enum class OperandKind : uint8_t { None, Vector, Scalar, Constant };

struct Operand {
  OperandKind kind = OperandKind::None;
  uint8_t count = 0; ///< Registers, one dword each.
  uint16_t reg = 0;  ///< First register.
  bool neg = false, abs = false, sext = false;
  uint64_t value = 0; ///< A constant's bits, in the type the operation reads.

  bool isVector() const { return kind == OperandKind::Vector; }
  bool isScalar() const { return kind == OperandKind::Scalar; }
};

/// How an operation reads a constant operand.
/// "1.0" has other bits in each of the F types. B types take integers.
enum class ValueType : uint8_t { B32, F32, B64, F64, B16, F16 };

/// What the counters count and the checks distinguish.
enum class OpClass : uint8_t {
  Salu,
  Branch,
  Wait, ///< s_waitcnt, s_nop, s_sleep and other bookkeeping.
  Barrier,
  Valu,
  Trans, ///< Transcendental VALU: a hazard class of its own.
  Mfma,
  Smem,
  Global, ///< global_*
  Flat,
  Buffer,
  Scratch,
  Lds,
  kCount
};

/// What the checks have to know of an operation besides its operands.
enum OpFlag : uint32_t {
  kReadsDst = 1u << 0, ///< The destination is also a source.
  kReadsScc = 1u << 1,
  kWritesScc = 1u << 2,
  kReadsVcc = 1u << 3,  ///< Implicitly.
  kWritesVcc = 1u << 4, ///< Implicitly.
  kReadsExec = 1u << 5, ///< As data (saveexec).
  kWritesExec = 1u << 6,
  kReadsM0 = 1u << 7,
  kStore = 1u << 8,  ///< Memory: writes memory, returns nothing.
  kAtomic = 1u << 9, ///< Memory: returns a value only with sc0 (or _rtn).
  kLane = 1u << 10, ///< Moves data across lanes; exec does not mask its source.
  kD16 = 1u << 11,  ///< Writes one half of the destination register.
  kOrdered = 1u << 12, ///< Atomic whose result depends on the order.
  kSelect = 1u << 13,  ///< v_cndmask: one of two sources per lane.
  kCompare = 1u << 14, ///< Writes a lane mask to a scalar pair.
};

struct Inst;
class Wave;
/// Executes one instruction on a wave. Where checks are on, they have passed.
using Handler = void (*)(Wave &, const Inst &);

/// A row of a table: all instructions of one mnemonic share it.
struct OpInfo {
  const char *name;
  Handler run;
  OpClass opClass;
  uint8_t numDst;
  uint32_t flags = 0;
  /// Of the sources, for constants.
  std::array<ValueType, 4> types = {ValueType::B32, ValueType::B32,
                                    ValueType::B32, ValueType::B32};
  /// Memory: bytes per lane. Matrix: passes of four cycles.
  uint8_t size = 0;
  uint8_t matrixDim = 0;  ///< Rows, and columns, of a block.
  bool matrixXdl = false; ///< Runs on the XDL pipeline: other hazards.
  bool isDot = false;     ///< Likewise.
  bool isNop = false;     ///< Fills wait states.
};

/// Each table lists the operations of one class under their plain mnemonics.
using OpTable = std::span<const OpInfo>;
OpTable scalarOps();
OpTable controlOps();
OpTable scalarMemoryOps();
OpTable valuBitOps();
OpTable valuIntOps();
OpTable valuFloatOps();
OpTable valuConvertOps();
OpTable valuCompareOps();
OpTable valuPackedOps();
OpTable laneOps();
OpTable matrixOps();
OpTable vectorMemoryOps();
OpTable atomicOps();
OpTable ldsOps();

/// Where a lane takes its first source from; dppSource in Valu.cpp defines
/// each.
enum class Dpp : uint8_t {
  None,
  QuadPerm,
  RowShl,
  RowShr,
  RowRor,
  WaveShl,
  WaveRol,
  WaveShr,
  WaveRor,
  RowMirror,
  RowHalfMirror,
  RowBcast15,
  RowBcast31,
  RowNewBcast
};

/// SDWA: the part of a register that is read or written, and what becomes of
/// the rest of the destination.
enum class Sel : uint8_t { Dword, Byte0, Byte1, Byte2, Byte3, Word0, Word1 };
enum class Unused : uint8_t { Pad, Sext, Preserve };

/// Instructions are copied freely: everything they point to lives as long as
/// the program does.
struct Inst {
  Handler run = nullptr;
  const OpInfo *op = nullptr;
  Operand dst, sdst; ///< sdst: the second, scalar result (carry, compare).
  Operand src[4];
  uint8_t numSrc = 0;
  uint8_t size = 0;    ///< Bytes.
  uint32_t offset = 0; ///< From the start of the code.
  uint32_t target = 0; ///< Branches: index of the instruction jumped to.

  // Modifiers.
  bool clamp = false;
  int8_t omod = 0;   ///< Result scaled by 2^omod.
  uint8_t opSel = 0; ///< One bit per source; bit 3 is the destination.
  uint8_t opSelHi = 0;
  uint8_t negLo = 0, negHi = 0;
  uint8_t cbsz = 0, abid = 0, blgp = 0;
  Dpp dpp = Dpp::None;
  uint8_t dppArg = 0; ///< Shift, packed quad permutation or row lane.
  uint8_t rowMask = 0xf, bankMask = 0xf;
  bool boundCtrl = false;
  bool sdwa = false;
  Sel dstSel = Sel::Dword, srcSel[2] = {Sel::Dword, Sel::Dword};
  Unused dstUnused = Unused::Pad;
  int32_t imm = 0, imm2 = 0; ///< Memory offsets; SOPK/SOPP immediates.
  bool sc0 = false, lds = false, offen = false, idxen = false;
  int16_t lastVgpr = -1, lastAgpr = -1;         ///< Highest registers named.
  uint8_t vmcnt = 63, expcnt = 7, lgkmcnt = 15; ///< s_waitcnt.

  bool hasFlag(uint32_t flag) const { return op->flags & flag; }
};

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_ISA_H
