//===- TargetInfo.cpp - The table of targets ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Target/Info/TargetInfo.h"
#include "dialect/Formats.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace mlir;
using namespace gist;

/// The best first, per architecture. Integer products: eight rows by four
/// columns fill 16 of 32 vector registers with accumulators (integers and f32),
/// which leaves room for operands; x86 with AVX-512 has eight rows. Weights are
/// packed eight columns wide all the same: with one row, two vectors of sums do
/// not wait for each other, and memory is read as one stream. x86 packs a
/// column per lane of 512 bits, with AVX2 too: a module for several CPUs has
/// its weights once. Fetching weights six blocks ahead made decode a sixth
/// faster on two cores of a Xeon. Float products: four by four vectors of
/// partial sums, or, on aarch64, of columns, which are turned for each
/// workgroup and therefore shared by many rows.
static const TargetInfo kTable[] = {
    {"aarch64-i8mm-bf16",
     "+i8mm,+dotprod,+bf16",
     4,
     Instruction::Smmla,
     8,
     8,
     false,
     {32, 192, 8, 4},
     {128, 48, 4, 16},
     Instruction::Bfmmla},
    {"aarch64-i8mm",
     "+i8mm,+dotprod",
     4,
     Instruction::Smmla,
     8,
     8,
     false,
     {32, 192, 8, 4},
     {128, 48, 4, 16}},
    {"aarch64-dotprod",
     "+dotprod",
     4,
     Instruction::Sdot,
     8,
     8,
     false,
     {32, 64, 4, 8},
     {128, 48, 4, 16}},
    {"aarch64",
     "+neon",
     4,
     Instruction::Widen,
     4,
     8,
     false,
     {32, 64, 2, 4},
     {128, 48, 4, 16}},
    {"x86_64-amx-bf16",
     "+amx-int8,+amx-bf16,+avx512bf16,+avx512vnni,+avx512vl,+avx512bw",
     16,
     Instruction::Vpdpbusd,
     16,
     4,
     true,
     {32, 64, 8, 16},
     {32, 64, 4, 4},
     Instruction::Fma,
     {64, 192, 16, 16},
     {64, 192, 1024},
     6},
    {"x86_64-amx",
     "+amx-int8,+avx512vnni,+avx512vl,+avx512bw",
     16,
     Instruction::Vpdpbusd,
     16,
     4,
     true,
     {32, 64, 8, 16},
     {32, 64, 4, 4},
     Instruction::Fma,
     {64, 192, 16, 16},
     {},
     6},
    {"x86_64-avx512vnni",
     "+avx512vnni,+avx512vl,+avx512bw",
     16,
     Instruction::Vpdpbusd,
     16,
     4,
     true,
     {32, 64, 8, 16},
     {32, 64, 4, 4},
     Instruction::Fma,
     {},
     {},
     6},
    {"x86_64-avxvnni",
     "+avxvnni",
     8,
     Instruction::Vpdpbusd,
     16,
     4,
     true,
     {32, 64, 4, 8},
     {32, 64, 2, 4}},
    {"x86_64-avx512",
     "+avx512f,+avx512bw",
     16,
     Instruction::Vpmaddubsw,
     16,
     4,
     true,
     {32, 64, 2, 16},
     {32, 64, 4, 4}},
    {"x86_64-avx2",
     "+avx2",
     8,
     Instruction::Vpmaddubsw,
     16,
     4,
     true,
     {32, 64, 2, 8},
     {32, 64, 2, 4}},
    {"x86_64",
     "+sse2",
     4,
     Instruction::Widen,
     4,
     4,
     true,
     {32, 64, 1, 4},
     {32, 64, 2, 4}},
};

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64Disassembler();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86Disassembler();
  });
}

FailureOr<CpuTarget> gist::resolveTarget(const CpuTarget &target,
                                         ReportError reportError) {
  initializeTargets();
  CpuTarget result = target;
  llvm::Triple host(llvm::sys::getDefaultTargetTriple());
  llvm::Triple triple =
      target.triple.empty() ? host : llvm::Triple(target.triple);
  if (!triple.isAArch64() && triple.getArch() != llvm::Triple::x86_64) {
    reportError("there is no CPU target '" + triple.str() +
                "'; expected aarch64 or x86_64");
    return failure();
  }
  result.triple = triple.str();
  bool isNative = target.cpu.empty() || target.cpu == "native";
  if (!isNative)
    return result;
  if (triple.getArch() != host.getArch()) {
    // Every x86-64 CPU of the last ten years has AVX2 and FMA.
    result.cpu = triple.isAArch64() ? "generic" : "x86-64-v3";
    return result;
  }
  // A virtual machine may hide features that its CPU's name promises.
  result.cpu = llvm::sys::getHostCPUName().str();
  llvm::SubtargetFeatures features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.AddFeature(feature.first(), feature.second);
  // The operating system does not list what this one implies.
  if (triple.isAArch64() && !llvm::is_contained(features.getFeatures(), "+sve"))
    features.AddFeature("sve", false);
  result.features = features.getString() +
                    (target.features.empty() ? "" : "," + target.features);
  return result;
}

FailureOr<TargetInfo> gist::getTargetInfo(const CpuTarget &target,
                                          ReportError reportError) {
  FailureOr<CpuTarget> resolved = resolveTarget(target, reportError);
  if (failed(resolved))
    return failure();
  llvm::Triple triple(resolved->triple);
  std::string message;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend) {
    reportError(message);
    return failure();
  }
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      backend->createMCSubtargetInfo(triple, resolved->cpu,
                                     resolved->features));
  if (!subtarget || !subtarget->isCPUStringValid(resolved->cpu)) {
    reportError("there is no CPU '" + resolved->cpu + "' for " +
                resolved->triple);
    return failure();
  }
  // LLVM would abort.
  if (triple.isX86() && !subtarget->checkFeatures("+64bit")) {
    reportError("'" + resolved->cpu + "' is a 32-bit CPU; expected one that " +
                "executes x86-64 code");
    return failure();
  }
  for (const TargetInfo &row : kTable) {
    if (llvm::StringRef(row.name).starts_with("aarch64") !=
            triple.isAArch64() ||
        !subtarget->checkFeatures(row.needs))
      continue;
    return row;
  }
  reportError("there is no table row for " + resolved->triple);
  return failure();
}

bool gist::hasFeature(const CpuTarget &target, llvm::StringRef feature) {
  initializeTargets();
  llvm::Triple triple(target.triple);
  std::string message;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return false;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      backend->createMCSubtargetInfo(triple, target.cpu, target.features));
  return subtarget && subtarget->checkFeatures("+" + feature.str());
}

size_t gist::getTableRow(const TargetInfo &info) {
  return llvm::find_if(kTable,
                       [&](const TargetInfo &row) {
                         return llvm::StringRef(row.name) == info.name;
                       }) -
         std::begin(kTable);
}

PackingAttr gist::getPacking(MLIRContext *context, BlockFormat format,
                             const TargetInfo &target) {
  return getPackingAttr(
      context, packedLayout(getWeightFormat(format), target.packColumns,
                            target.packDepth, target.packUnsigned));
}
