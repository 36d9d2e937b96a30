//===- AsmParse.h - Reads one line of disassembly ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's MCInst orders its operands as the backend likes, and the tables that
// name them are not exported. The assembly text is the documented, stable form
// of the same information, so the decoder reads that.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_ASMPARSE_H
#define GIST_TOOLS_SIMULATOR_ASMPARSE_H

#include "tools/simulator/Isa.h"

#include <string>
#include <string_view>
#include <vector>

namespace gist::sim {

struct ParsedLine {
  std::string mnemonic; ///< Without _e32, _e64, _dpp or _sdwa.
  bool isDpp = false, isSdwa = false;
  std::vector<std::string_view> operands;
  std::vector<std::string_view> modifiers;
};

/// Splits a line; the views point into `line`.
ParsedLine splitLine(std::string_view line);

/// False if the operand is unknown.
bool parseOperand(std::string_view text, ValueType type, Operand &operand);

/// Applies "clamp", "offset:16", "op_sel:[0,1]", ... False if unknown.
bool parseModifier(std::string_view text, Inst &inst);

/// Reads vmcnt(0), lgkmcnt(1), ... into the instruction.
bool parseWait(std::string_view text, Inst &inst);

/// The register, first bit and width of hwreg(HW_REG_MODE, 4, 2).
struct HwReg {
  std::string_view name;
  unsigned offset = 0, width = 32;
};
bool parseHwReg(std::string_view text, HwReg &reg);

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_ASMPARSE_H
