//===- AsmParse.cpp - Reads one line of disassembly -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads assembly text as LLVM's printer for gfx942 writes it. A form that is
// not known gives false; the instruction then fails by name if it is executed,
// and does not compute something else.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/AsmParse.h"

#include "tools/simulator/Numeric.h"
#include "tools/simulator/Wave.h"

#include <cstdlib>

using namespace gist::sim;

/// Removes `prefix` if it is there, and says whether it was.
static bool consumeFront(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

static bool consumeBack(std::string_view &text, std::string_view suffix) {
  if (!text.ends_with(suffix))
    return false;
  text.remove_suffix(suffix.size());
  return true;
}

/// Decimal or hexadecimal; all of the text.
static bool parseInteger(std::string_view text, int64_t &value) {
  std::string copy(text);
  char *end = nullptr;
  // Literals such as 0xffffffffffffffff do not fit a signed conversion.
  value = copy.starts_with("-")
              ? std::strtoll(copy.c_str(), &end, 0)
              : static_cast<int64_t>(std::strtoull(copy.c_str(), &end, 0));
  return !copy.empty() && *end == '\0';
}

/// "v_add_f32_e64 v0, |v1|, s2 clamp" is mnemonic, operands between commas, and
/// modifiers behind the last one.
ParsedLine gist::sim::splitLine(std::string_view line) {
  ParsedLine parsed;
  size_t end = line.find_first_of(" \t");
  std::string_view name = line.substr(0, end);
  // Encodings of one operation differ in their suffix only. What matters of
  // them shows in the operands and modifiers.
  parsed.isDpp = consumeBack(name, "_dpp");
  parsed.isSdwa = consumeBack(name, "_sdwa");
  if (!consumeBack(name, "_e32"))
    consumeBack(name, "_e64");
  // A copy: tables of operations are looked up by it.
  parsed.mnemonic = std::string(name);
  if (end == std::string_view::npos)
    return parsed;

  // A token that does not follow a comma, other than the first, is a modifier.
  size_t start = std::string_view::npos;
  int depth = 0;
  bool afterComma = true;
  auto finish = [&](size_t at) {
    if (start == std::string_view::npos)
      return;
    (afterComma ? parsed.operands : parsed.modifiers)
        .push_back(line.substr(start, at - start));
    start = std::string_view::npos;
    afterComma = false;
  };
  for (size_t i = end; i < line.size(); ++i) {
    char c = line[i];
    if (depth == 0 && (c == ' ' || c == '\t')) {
      finish(i);
    } else if (depth == 0 && c == ',') {
      finish(i);
      afterComma = true;
    } else {
      if (start == std::string_view::npos)
        start = i;
      // Commas inside brackets belong to the token: s[0:1], op_sel:[0,1].
      depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    }
  }
  finish(line.size());
  return parsed;
}

/// Names and numbers of the operand encoding; see ScalarReg.
static bool parseNamedRegister(std::string_view text, Operand &operand) {
  struct Name {
    const char *name;
    uint16_t reg;
    uint8_t count;
  };
  // The printer writes some registers by name and never by number.
  static constexpr Name kNames[] = {{"vcc", kVcc, 2},
                                    {"vcc_lo", kVcc, 1},
                                    {"vcc_hi", kVcc + 1, 1},
                                    {"exec", kExec, 2},
                                    {"exec_lo", kExec, 1},
                                    {"exec_hi", kExec + 1, 1},
                                    {"m0", kM0, 1},
                                    {"scc", kScc, 1},
                                    {"src_scc", kScc, 1},
                                    {"flat_scratch", 102, 2},
                                    {"flat_scratch_lo", 102, 1},
                                    {"flat_scratch_hi", 103, 1},
                                    {"xnack_mask", 104, 2},
                                    {"xnack_mask_lo", 104, 1},
                                    {"xnack_mask_hi", 105, 1}};
  for (const Name &name : kNames)
    if (text == name.name) {
      operand.kind = OperandKind::Scalar;
      operand.reg = name.reg;
      operand.count = name.count;
      return true;
    }
  return false;
}

/// s5, s[4:5], v0, a[0:3], ttmp2. A range gives the first register and the
/// count.
static bool parseNumberedRegister(std::string_view text, Operand &operand) {
  unsigned base = 0;
  operand.kind = OperandKind::Scalar;
  if (consumeFront(text, "ttmp")) {
    base = kTtmp0;
  } else if (consumeFront(text, "v")) {
    operand.kind = OperandKind::Vector;
  } else if (consumeFront(text, "a")) {
    operand.kind = OperandKind::Vector;
    base = kFirstAgpr;
  } else if (!consumeFront(text, "s")) {
    return false;
  }
  int64_t first = 0, last = 0;
  if (consumeFront(text, "[")) {
    size_t colon = text.find(':');
    if (!consumeBack(text, "]") || colon == std::string_view::npos ||
        !parseInteger(text.substr(0, colon), first) ||
        !parseInteger(text.substr(colon + 1), last))
      return false;
  } else {
    if (text.empty() || text[0] < '0' || text[0] > '9' ||
        !parseInteger(text, first))
      return false;
    last = first;
  }
  // Not checked against the register file: LLVM prints what it has decoded.
  operand.reg = static_cast<uint16_t>(base + first);
  operand.count = static_cast<uint8_t>(last - first + 1);
  return true;
}

/// A floating-point inline constant in the operand's type; 1/(2 pi) is printed
/// rounded and has bits of its own.
/// The printer writes 0.15915494 for all three types.
static uint64_t floatConstant(double value, ValueType type) {
  // No other inline constant lies near, and literals are printed in
  // hexadecimal.
  bool isInverseTwoPi = value > 0.159 && value < 0.1592;
  switch (type) {
  case ValueType::B16:
  case ValueType::F16:
    return isInverseTwoPi ? 0x3118 : toF16Bits(value);
  case ValueType::B32:
  case ValueType::F32:
    return isInverseTwoPi ? 0x3e22f983 : bitsOf(static_cast<float>(value));
  case ValueType::B64:
  case ValueType::F64:
    return isInverseTwoPi ? 0x3fc45f306dc9c882 : bitsOf(value);
  }
  return 0;
}

/// `type` is how the operation reads this source: 1.0 has other bits in an f16
/// operation than in an f64 one.
static bool parseConstant(std::string_view text, ValueType type,
                          Operand &operand) {
  operand.kind = OperandKind::Constant;
  int64_t integer = 0;
  if (parseInteger(text, integer)) {
    bool isLiteral = text.find('x') != std::string_view::npos;
    operand.value = static_cast<uint64_t>(integer);
    // A literal is 32 bits wide: the high half of an f64, and zero-extended to
    // a 64-bit integer, as LLVM has it when it chooses one.
    if (type == ValueType::F64 && isLiteral && integer >> 32 == 0)
      operand.value <<= 32;
    return true;
  }
  std::string copy(text);
  char *end = nullptr;
  double real = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end)
    return false;
  operand.value = floatConstant(real, type);
  return true;
}

/// -v0, |v0|, neg(v0), sext(v0), registers and constants. "off" is an address
/// that is left out.
bool gist::sim::parseOperand(std::string_view text, ValueType type,
                             Operand &operand) {
  if (text == "off")
    return true; // Stays of kind None.
  // A minus before a digit belongs to the number; before a register it is a
  // modifier.
  if (text.size() > 1 && text[0] == '-' && (text[1] < '0' || text[1] > '9')) {
    operand.neg = true;
    text.remove_prefix(1);
  } else if (text.starts_with("neg(") && consumeBack(text, ")")) {
    operand.neg = true;
    text.remove_prefix(4);
  }
  if (text.size() > 1 && text.front() == '|' && text.back() == '|') {
    operand.abs = true;
    text = text.substr(1, text.size() - 2);
  }
  if (text.starts_with("sext(") && consumeBack(text, ")")) {
    operand.sext = true;
    text.remove_prefix(5);
  }
  // The apertures of flat addresses are operands like constants.
  if (type == ValueType::B64 &&
      (text == "src_shared_base" || text == "src_private_base")) {
    operand.kind = OperandKind::Constant;
    operand.value =
        text == "src_shared_base" ? kSharedAperture : kPrivateAperture;
    return true;
  }
  return parseNamedRegister(text, operand) ||
         parseNumberedRegister(text, operand) ||
         parseConstant(text, type, operand);
}

/// A counter that is not named keeps its largest value, which waits for
/// nothing.
bool gist::sim::parseWait(std::string_view text, Inst &inst) {
  int64_t value = 0;
  // Each text is one counter; the others are left alone.
  auto counter = [&](std::string_view name, uint8_t &out) {
    std::string_view rest = text;
    if (!consumeFront(rest, name) || !consumeBack(rest, ")") ||
        !parseInteger(rest, value))
      return false;
    out = static_cast<uint8_t>(value);
    return true;
  };
  return counter("vmcnt(", inst.vmcnt) || counter("expcnt(", inst.expcnt) ||
         counter("lgkmcnt(", inst.lgkmcnt);
}

/// hwreg(NAME) is the whole register.
bool gist::sim::parseHwReg(std::string_view text, HwReg &reg) {
  if (!consumeFront(text, "hwreg(") || !consumeBack(text, ")"))
    return false;
  size_t comma = text.find(',');
  reg.name = text.substr(0, comma);
  if (comma == std::string_view::npos)
    return true;
  text.remove_prefix(comma + 1);
  comma = text.find(',');
  int64_t offset = 0, width = 0;
  if (comma == std::string_view::npos ||
      !parseInteger(text.substr(0, comma), offset) ||
      !parseInteger(text.substr(comma + 1), width))
    return false;
  reg.offset = static_cast<unsigned>(offset);
  reg.width = static_cast<unsigned>(width);
  return true;
}

/// [1,0,1] as bits, first element lowest.
/// `step` is the width of an element: 2 for quad_perm, whose elements are lanes
/// 0 to 3.
static bool parseBits(std::string_view text, uint8_t &bits, unsigned step = 1) {
  bits = 0;
  unsigned position = 0;
  for (char c : text)
    if (c >= '0' && c <= '3') {
      bits |= static_cast<uint8_t>((c - '0') << position);
      position += step;
    }
  return position > 0;
}

static bool parseSel(std::string_view text, Sel &sel) {
  static constexpr const char *kNames[] = {
      "DWORD", "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1"};
  for (unsigned i = 0; i < 7; ++i)
    if (text == kNames[i]) {
      sel = static_cast<Sel>(i);
      return true;
    }
  return false;
}

/// bound_ctrl and the masks are modifiers of their own.
static bool parseDpp(std::string_view name, std::string_view value,
                     Inst &inst) {
  if (name == "quad_perm") {
    inst.dpp = Dpp::QuadPerm;
    return parseBits(value, inst.dppArg, 2);
  }
  struct Name {
    const char *name;
    Dpp dpp;
  };
  static constexpr Name kNames[] = {{"row_shl", Dpp::RowShl},
                                    {"row_shr", Dpp::RowShr},
                                    {"row_ror", Dpp::RowRor},
                                    {"wave_shl", Dpp::WaveShl},
                                    {"wave_rol", Dpp::WaveRol},
                                    {"wave_shr", Dpp::WaveShr},
                                    {"wave_ror", Dpp::WaveRor},
                                    {"row_mirror", Dpp::RowMirror},
                                    {"row_half_mirror", Dpp::RowHalfMirror},
                                    {"row_newbcast", Dpp::RowNewBcast}};
  int64_t number = 0;
  if (!value.empty() && !parseInteger(value, number))
    return false;
  if (name == "row_bcast" && (number == 15 || number == 31)) {
    inst.dpp = number == 15 ? Dpp::RowBcast15 : Dpp::RowBcast31;
    return true;
  }
  for (const Name &entry : kNames)
    if (name == entry.name) {
      inst.dpp = entry.dpp;
      inst.dppArg = static_cast<uint8_t>(number);
      return true;
    }
  return false;
}

/// ds_swizzle's offset is printed as a macro; back to its 16 bits.
static bool parseSwizzle(std::string_view text, int32_t &bits) {
  if (!consumeFront(text, "swizzle(") || !consumeBack(text, ")"))
    return false;
  // The names are LLVM's; the hardware knows only the 16 bits.
  std::vector<int64_t> numbers;
  size_t comma = text.find(',');
  std::string_view kind = text.substr(0, comma);
  std::string_view rest = text.substr(comma + 1);
  if (kind == "BITMASK_PERM") {
    // Five characters, bit 4 first: 0, 1, p(reserve), i(nvert).
    uint32_t andMask = 0, orMask = 0, xorMask = 0;
    for (char c : rest) {
      if (c == '"')
        continue;
      andMask = andMask << 1 | (c == 'p' || c == 'i');
      orMask = orMask << 1 | (c == '1');
      xorMask = xorMask << 1 | (c == 'i');
    }
    bits = static_cast<int32_t>(xorMask << 10 | orMask << 5 | andMask);
    return true;
  }
  while (!rest.empty()) {
    comma = rest.find(',');
    if (!parseInteger(rest.substr(0, comma), numbers.emplace_back()))
      return false;
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  // The bits are those of the manual's offset field: bit 15 selects the quad
  // permutation; otherwise and, or, xor masks of five bits each.
  if (kind == "QUAD_PERM" && numbers.size() == 4)
    bits = static_cast<int32_t>(0x8000 | numbers[0] | numbers[1] << 2 |
                                numbers[2] << 4 | numbers[3] << 6);
  else if (kind == "SWAP" && numbers.size() == 1)
    bits = static_cast<int32_t>(numbers[0] << 10 | 0x1f);
  else if (kind == "REVERSE" && numbers.size() == 1)
    bits = static_cast<int32_t>((numbers[0] - 1) << 10 | 0x1f);
  else if (kind == "BROADCAST" && numbers.size() == 2)
    bits = static_cast<int32_t>(numbers[1] << 5 | (0x1f & ~(numbers[0] - 1)));
  else
    return false;
  return true;
}

/// Every modifier must be known: one that is passed over could change the
/// result.
bool gist::sim::parseModifier(std::string_view text, Inst &inst) {
  size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  std::string_view value =
      colon == std::string_view::npos ? "" : text.substr(colon + 1);
  int64_t number = 0;

  // Cache policy and other hints that change no value.
  if (name == "sc1" || name == "nt" || name == "glc" || name == "slc")
    return true;
  if (name == "sc0")
    return inst.sc0 = true;
  if (name == "lds")
    return inst.lds = true;
  if (name == "offen")
    return inst.offen = true;
  if (name == "idxen")
    return inst.idxen = true;
  if (name == "clamp")
    return inst.clamp = true;
  if (name == "op_sel")
    return parseBits(value, inst.opSel);
  if (name == "op_sel_hi")
    return parseBits(value, inst.opSelHi);
  if (name == "neg_lo")
    return parseBits(value, inst.negLo);
  if (name == "neg_hi")
    return parseBits(value, inst.negHi);
  if (name == "dst_sel")
    return parseSel(value, inst.dstSel);
  if (name == "src0_sel")
    return parseSel(value, inst.srcSel[0]);
  if (name == "src1_sel")
    return parseSel(value, inst.srcSel[1]);
  if (name == "dst_unused") {
    inst.dstUnused = value == "UNUSED_PRESERVE" ? Unused::Preserve
                     : value == "UNUSED_SEXT"   ? Unused::Sext
                                                : Unused::Pad;
    return true;
  }
  if (value.starts_with("swizzle("))
    return parseSwizzle(value, inst.imm);
  if (parseDpp(name, value, inst))
    return true;
  if (!parseInteger(value, number))
    return false;
  struct Field {
    const char *name;
    uint8_t Inst::*member;
  };
  static constexpr Field kFields[] = {{"row_mask", &Inst::rowMask},
                                      {"bank_mask", &Inst::bankMask},
                                      {"cbsz", &Inst::cbsz},
                                      {"abid", &Inst::abid},
                                      {"blgp", &Inst::blgp}};
  for (const Field &field : kFields)
    if (name == field.name) {
      inst.*field.member = static_cast<uint8_t>(number);
      return true;
    }
  // LLVM prints bound_ctrl:1 or :0 by version, and only where the bit is set.
  if (name == "bound_ctrl")
    return inst.boundCtrl = true;
  if (name == "offset" || name == "offset0") {
    inst.imm = static_cast<int32_t>(number);
    return true;
  }
  if (name == "offset1") {
    inst.imm2 = static_cast<int32_t>(number);
    return true;
  }
  // mul:2, mul:4 and div:2 as a power of two.
  if (name == "mul" || name == "div") {
    inst.omod = name == "div" ? -1 : number == 2 ? 1 : 2;
    return true;
  }
  return false;
}
