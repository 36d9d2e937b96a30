//===- Decoder.cpp - Machine code to decoded instructions -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the bytes of a code object into instructions, once, before anything is
// executed. LLVM disassembles, AsmParse reads the text, and here the operands
// are put into the places where handlers look for them.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Decoder.h"

#include "tools/simulator/AsmParse.h"
#include "tools/simulator/Format.h"
#include "tools/simulator/Wave.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <unordered_map>

using namespace gist::sim;

namespace {
/// LLVM's disassembler and printer for gfx942.
/// Made for each code object: contexts of LLVM are not for several threads.
class Disassembler {
public:
  Disassembler() {
    // These may be called more than once.
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    llvm::Triple triple("amdgcn-amd-amdhsa");
    std::string unused;
    const llvm::Target *target =
        llvm::TargetRegistry::lookupTarget(triple, unused);
    // isValid() then says no, and decode() gives the error.
    if (!target)
      return;
    registers.reset(target->createMCRegInfo(triple));
    asmInfo.reset(target->createMCAsmInfo(*registers, triple, options));
    instructions.reset(target->createMCInstrInfo());
    subtarget.reset(target->createMCSubtargetInfo(triple, "gfx942", ""));
    context = std::make_unique<llvm::MCContext>(
        triple, asmInfo.get(), registers.get(), subtarget.get());
    disassembler.reset(target->createMCDisassembler(*subtarget, *context));
    printer.reset(target->createMCInstPrinter(triple, 0, *asmInfo,
                                              *instructions, *registers));
  }

  bool isValid() const { return disassembler && printer; }

  /// The instruction's size in bytes, 0 if these bytes are not an instruction.
  uint64_t disassemble(llvm::ArrayRef<uint8_t> bytes, uint64_t address,
                       std::string &text) {
    llvm::MCInst inst;
    uint64_t size = 0;
    if (disassembler->getInstruction(inst, size, bytes, address,
                                     llvm::nulls()) !=
        llvm::MCDisassembler::Success)
      return 0;
    llvm::SmallString<128> buffer;
    llvm::raw_svector_ostream stream(buffer);
    printer->printInst(&inst, address, "", *subtarget, stream);
    text = buffer.str().trim().str();
    return size;
  }

private:
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asmInfo;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};
} // namespace

/// By plain mnemonic. The tables are small and the map is made once.
static const OpInfo *findOp(const std::string &name) {
  static const std::unordered_map<std::string, const OpInfo *> kTable = [] {
    std::unordered_map<std::string, const OpInfo *> table;
    for (OpTable ops :
         {scalarOps(), controlOps(), scalarMemoryOps(), valuBitOps(),
          valuIntOps(), valuFloatOps(), valuConvertOps(), valuCompareOps(),
          valuPackedOps(), laneOps(), matrixOps(), vectorMemoryOps(),
          atomicOps(), ldsOps()})
      for (const OpInfo &op : ops)
        table.emplace(op.name, &op);
    return table;
  }();
  auto it = kTable.find(name);
  return it == kTable.end() ? nullptr : it->second;
}

static void runNotImplemented(Wave &wave, const Inst &) {
  wave.fail(-1, "this instruction is not implemented");
}

/// Reserved for code that is data, or padding, and never runs.
static const OpInfo kNotImplemented = {
    "not implemented", runNotImplemented, OpClass::Salu, 0, 0, {}, 0};

/// Puts the operands of memory instructions, whose order in assembly differs,
/// into one order: address, data, scalar base or resource, scalar offset.
static void orderMemoryOperands(Inst &inst, const std::vector<Operand> &list) {
  size_t next = 0;
  auto take = [&]() { return next < list.size() ? list[next++] : Operand(); };
  bool isStore = inst.hasFlag(kStore), isAtomic = inst.hasFlag(kAtomic);
  // In assembly, buffers have their data first. The others have the address
  // first, behind a result.
  bool hasData = isStore || isAtomic;
  switch (inst.op->opClass) {
  case OpClass::Buffer:
    if (!inst.lds) {
      Operand data = take();
      if (hasData)
        inst.src[1] = data;
      // An atomic without sc0 returns nothing; its data register is read only.
      if (!isStore && (!isAtomic || inst.sc0))
        inst.dst = data;
    }
    // The text of the LDS form has no address if there is none.
    if (list.size() - next > 2)
      inst.src[0] = take();
    inst.src[2] = take();
    // A scalar offset, which only buffers have.
    inst.src[3] = take();
    break;
  case OpClass::Lds:
    if (inst.op->numDst)
      inst.dst = take();
    inst.src[0] = take();
    inst.src[1] = take();
    inst.src[2] = take();
    break;
  default:
    if (inst.op->numDst && (!isAtomic || inst.sc0))
      inst.dst = take();
    inst.src[0] = take();
    if (hasData)
      inst.src[1] = take();
    inst.src[2] = take();
    break;
  }
  inst.numSrc = 4;
}

/// These have their operands in an order of their own.
static bool isVectorMemory(OpClass opClass) {
  return opClass >= OpClass::Global && opClass <= OpClass::Lds;
}

/// Fills `inst` from the parsed text. False if something in it is unknown.
static bool buildInst(const ParsedLine &line, const OpInfo &op, Inst &inst) {
  inst.op = &op;
  inst.run = op.run;
  inst.sdwa = line.isSdwa;
  // The counters of s_waitcnt are printed without commas.
  if (op.opClass == OpClass::Wait && line.mnemonic == "s_waitcnt") {
    for (const auto &part : {line.operands, line.modifiers})
      for (std::string_view text : part)
        if (!parseWait(text, inst))
          return false;
    return true;
  }
  // Packed operations read the high half for the high result unless told not.
  if (line.mnemonic.starts_with("v_pk_") || line.mnemonic.starts_with("v_dot"))
    inst.opSelHi = 7;
  for (std::string_view text : line.modifiers)
    if (!parseModifier(text, inst))
      return false;

  bool isMemory = isVectorMemory(op.opClass);
  std::vector<Operand> operands;
  for (size_t i = 0; i < line.operands.size(); ++i) {
    std::string_view text = line.operands[i];
    HwReg reg;
    Operand operand;
    if (parseHwReg(text, reg)) {
      if (reg.name != "HW_REG_MODE")
        return false;
      inst.imm = static_cast<int32_t>(reg.offset);
      inst.imm2 = static_cast<int32_t>(reg.width);
      continue;
    }
    // The type of a destination does not matter: it is never a constant.
    size_t source = i < op.numDst ? 0 : i - op.numDst;
    // Messages to the host have no effect here. An instruction whose only
    // operand is a modifier has it in place 0.
    if (text.starts_with("sendmsg(") || (i == 0 && parseModifier(text, inst)))
      continue;
    // No operation has more sources. One that is read wrongly must not run.
    if (source > 3 || !parseOperand(text, op.types[source], operand))
      return false;
    operands.push_back(operand);
  }
  if (isMemory) {
    orderMemoryOperands(inst, operands);
    return true;
  }
  size_t next = 0;
  if (op.numDst > 0 && next < operands.size())
    inst.dst = operands[next++];
  if (op.numDst > 1 && next < operands.size())
    inst.sdst = operands[next++];
  for (; next < operands.size(); ++next)
    inst.src[inst.numSrc++] = operands[next];
  return true;
}

/// Highest v and a register named, to compare with what the kernel allocates.
static void noteRegisters(Inst &inst) {
  auto note = [&](const Operand &operand) {
    if (!operand.isVector())
      return;
    // AGPRs are numbered behind the VGPRs (kFirstAgpr).
    int last = operand.reg + operand.count - 1;
    if (last >= int(kFirstAgpr))
      inst.lastAgpr = std::max<int16_t>(
          inst.lastAgpr, static_cast<int16_t>(last - kFirstAgpr));
    else
      inst.lastVgpr =
          std::max<int16_t>(inst.lastVgpr, static_cast<int16_t>(last));
  };
  note(inst.dst);
  for (const Operand &operand : inst.src)
    note(operand);
}

/// Addresses in branches are relative, so the code may lie anywhere.
bool gist::sim::decode(const uint8_t *code, uint64_t size, Program &program,
                       std::string &error) {
  Disassembler disassembler;
  if (!disassembler.isValid()) {
    error = "this build of LLVM has no AMDGPU disassembler";
    return false;
  }
  program.base = reinterpret_cast<uintptr_t>(code);
  program.indexOfDword.assign(size / 4, Program::kNoInstruction);
  std::vector<int64_t> targets;
  // All of the segment is decoded, padding and data included. What cannot be
  // decoded moves on by a dword and only fails when it runs.
  for (uint64_t offset = 0; offset + 4 <= size;) {
    Inst inst;
    inst.offset = static_cast<uint32_t>(offset);
    std::string text;
    uint64_t length =
        disassembler.disassemble({code + offset, size - offset}, offset, text);
    ParsedLine line = splitLine(text);
    const OpInfo *op = length ? findOp(line.mnemonic) : nullptr;
    if (!op || !buildInst(line, *op, inst)) {
      // A half-built instruction is thrown away.
      inst = Inst();
      inst.offset = static_cast<uint32_t>(offset);
      inst.op = &kNotImplemented;
      inst.run = runNotImplemented;
      if (!length)
        text = "bytes that are not an instruction";
    }
    inst.size = static_cast<uint8_t>(length ? length : 4);
    noteRegisters(inst);
    program.indexOfDword[offset / 4] =
        static_cast<uint32_t>(program.instructions.size());
    // The jump distance is the last operand, in dwords from the next one.
    bool isBranch = inst.op->opClass == OpClass::Branch && inst.numSrc > 0 &&
                    inst.src[inst.numSrc - 1].kind == OperandKind::Constant;
    int64_t distance =
        isBranch ? int16_t(inst.src[inst.numSrc - 1].value) * int64_t(4) : 0;
    targets.push_back(isBranch ? int64_t(offset) + 4 + distance : -1);
    program.instructions.push_back(inst);
    program.texts.push_back(std::move(text));
    offset += inst.size;
  }
  // Targets are resolved last: a jump forward points to what was not yet
  // decoded.
  for (size_t i = 0; i < targets.size(); ++i)
    if (targets[i] >= 0)
      program.instructions[i].target =
          program.indexAt(program.base + static_cast<uint64_t>(targets[i]));
  return true;
}
