//===- GpuDisassembly.h - What is in a code object --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_GPUDISASSEMBLY_H
#define GIST_PASSES_TARGET_GPUDISASSEMBLY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace gist {

/// LLVM's description of gfx942's instructions.
struct GpuInstructionSet {
  GpuInstructionSet();

  const llvm::Target *target;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

struct GpuInstruction {
  uint64_t address;
  llvm::MCInst inst;
  std::string mnemonic; ///< without the suffix of its encoding
};

/// A kernel of a code object, and what its metadata say.
struct GpuKernelCode {
  std::string name;
  uint64_t vgprs = 0; ///< of a lane, accumulation registers included
  uint64_t agprs = 0;
  uint64_t sgprs = 0;
  uint64_t workgroupMemory = 0; ///< bytes, static
  uint64_t scratch = 0;         ///< bytes of a thread
  uint64_t vgprSpills = 0, sgprSpills = 0;
  uint64_t threads = 0; ///< of a workgroup
  std::vector<GpuInstruction> instructions;
};

/// The kernels of a code object for gfx942, in the order of its metadata.
llvm::Expected<std::vector<GpuKernelCode>>
readCodeObject(llvm::StringRef bytes, const GpuInstructionSet &isa);

} // namespace gist

#endif // GIST_PASSES_TARGET_GPUDISASSEMBLY_H
