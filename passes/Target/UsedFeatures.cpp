//===- UsedFeatures.cpp - What machine code needs of a CPU ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Disassembles an object and finds what its instructions need. For aarch64
// LLVM's disassembler knows: it refuses an instruction without its feature. So
// features are taken away as long as all instructions can still be read. For
// x86-64 it reads everything, and a table says what each instruction needs.
//
//===----------------------------------------------------------------------===//

#include "passes/Target/UsedFeatures.h"
#include "passes/Target/X86Features.h"
#include "runtime/format/CpuFeatures.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
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
#include "llvm/Object/ObjectFile.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace gist;
using llvm::object::ObjectFile;

namespace {
/// LLVM's disassembler of one CPU.
class Reader {
public:
  Reader(const CpuTarget &target, const llvm::Target &backend)
      : triple(target.triple), registers(backend.createMCRegInfo(triple)),
        assembly(backend.createMCAsmInfo(*registers, triple, options)),
        instructions(backend.createMCInstrInfo()),
        subtarget(
            backend.createMCSubtargetInfo(triple, target.cpu, target.features)),
        context(triple, assembly.get(), registers.get(), subtarget.get()),
        disassembler(backend.createMCDisassembler(*subtarget, context)),
        // 1: Intel's spelling on x86-64; aarch64 has one.
        printer(backend.createMCInstPrinter(triple, triple.isX86() ? 1 : 0,
                                            *assembly, *instructions,
                                            *registers)) {}

  /// Reads the instruction at the beginning of `bytes`; its size, or 0.
  uint64_t read(ArrayRef<uint8_t> bytes, llvm::MCInst &inst) const {
    uint64_t size = 0;
    if (disassembler->getInstruction(inst, size, bytes, 0, llvm::nulls()) !=
        llvm::MCDisassembler::Success)
      return 0;
    return size;
  }

  llvm::Triple triple;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  llvm::MCContext context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

/// An instruction of each kind that the code has: LLVM's opcode and the bytes.
using Instructions = llvm::MapVector<unsigned, ArrayRef<uint8_t>>;
} // namespace

/// The first of each kind; what one needs, the others need too.
static LogicalResult readInstructions(const ObjectFile &file,
                                      const Reader &reader, Instructions &found,
                                      ReportError reportError) {
  for (const llvm::object::SectionRef &section : file.sections()) {
    if (!section.isText())
      continue;
    llvm::Expected<StringRef> content = section.getContents();
    if (!content) {
      reportError(llvm::toString(content.takeError()));
      return failure();
    }
    ArrayRef<uint8_t> rest = llvm::arrayRefFromStringRef(*content);
    while (!rest.empty()) {
      llvm::MCInst inst;
      uint64_t size = reader.read(rest, inst);
      if (size == 0) {
        reportError("the code has an instruction that LLVM cannot read: " +
                    llvm::toHex(rest.take_front(16)));
        return failure();
      }
      found.try_emplace(inst.getOpcode(), rest.take_front(size));
      rest = rest.drop_front(size);
    }
  }
  return success();
}

static StringRef architectureOf(const llvm::Triple &triple) {
  return triple.isAArch64() ? "aarch64" : "x86_64";
}

/// `names` in the order of the runtime's table, and an error for those that it
/// cannot check.
static FailureOr<std::vector<std::string>>
inOrder(const llvm::StringSet<> &names, const Reader &reader,
        ReportError reportError) {
  std::vector<std::string> result;
  StringRef architecture = architectureOf(reader.triple);
  for (std::string_view known : getKnownFeatures(architecture))
    if (names.contains(known))
      result.emplace_back(known);
  for (std::string_view hidden : getHiddenFeatures(architecture))
    if (names.contains(hidden)) {
      reportError("the code for " + reader.subtarget->getCPU() +
                  " has instructions of the feature '" + StringRef(hidden) +
                  "', which a program cannot ask Linux for; leave it out with "
                  "--features=-" +
                  StringRef(hidden));
      return failure();
    }
  return result;
}

/// True if `subtarget` has what all of `found` need. An instruction that reads
/// as another one without a feature needs that feature.
static bool canRead(const Reader &reader, const Instructions &found) {
  return llvm::all_of(found, [&](const auto &entry) {
    llvm::MCInst inst;
    return reader.read(entry.second, inst) != 0 &&
           inst.getOpcode() == entry.first;
  });
}

/// Takes away features as long as everything can be read. Features that only
/// imply others, such as names of CPUs, are removed like the others.
static llvm::StringSet<> reduceFeatures(Reader &reader,
                                        const Instructions &found) {
  llvm::MCSubtargetInfo &subtarget = *reader.subtarget;
  // The newest first: some instructions need one of two features, and then the
  // older one is to stay.
  std::vector<const char *> names, rest;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget.getEnabledProcessorFeatures()) {
    StringRef name(feature.Key);
    bool isNew = name.starts_with("sme") || name.starts_with("ssve");
    (isNew ? names : rest).push_back(feature.Key);
  }
  llvm::append_range(names, rest);
  for (const char *name : names) {
    llvm::FeatureBitset before = subtarget.getFeatureBits();
    // Takes those away too that include this one.
    subtarget.ApplyFeatureFlag((StringRef("-") + name).str());
    if (!canRead(reader, found))
      subtarget.setFeatureBits(before);
  }
  llvm::StringSet<> result;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget.getEnabledProcessorFeatures())
    result.insert(feature.Key);
  return result;
}

/// The name of an instruction in Intel's spelling. A condition is part of some
/// names, and printed apart; then it is the beginning of LLVM's own name.
static std::string nameOf(const Reader &reader, unsigned opcode) {
  llvm::MCInst inst;
  inst.setOpcode(opcode);
  const char *text = reader.printer->getMnemonic(inst).first;
  StringRef name = text ? StringRef(text).trim() : "";
  for (StringRef prefix : {"{vex}", "{vex3}", "{evex}"})
    if (name.consume_front(prefix))
      name = name.ltrim();
  // Some names come with the register that is their only one.
  name = name.take_until([](char c) { return c == '\t' || c == ' '; });
  static constexpr StringRef kWithCondition[] = {"cmp", "vcmp", "vpcmp",
                                                 "vpcom"};
  if (!llvm::is_contained(kWithCondition, name))
    return name.str();
  // VPCMPUBZ256rmi, but also CMP64rr.
  StringRef own = reader.instructions->getName(opcode).take_until(
      [](char c) { return c == 'Z' || c == 'Y' || c >= 'a'; });
  return own.rtrim("0123456789").lower();
}

static llvm::StringSet<> lookUpFeatures(const Reader &reader,
                                        const Instructions &found) {
  llvm::StringSet<> enabled, result;
  for (const llvm::SubtargetFeatureKV &feature :
       reader.subtarget->getEnabledProcessorFeatures())
    enabled.insert(feature.Key);
  for (const auto &[opcode, bytes] : found) {
    std::string name = nameOf(reader, opcode);
    std::optional<std::vector<StringRef>> needs = getX86Features(name, bytes);
    // Its needs are unknown, so all features that the code was compiled with.
    if (!needs)
      return enabled;
    for (StringRef feature : *needs) {
      // An older CPU reads tzcnt as bsf, and LLVM writes it in place of bsf
      // where both give the same.
      if (feature == "bmi" && name == "tzcnt" && !enabled.contains(feature))
        continue;
      result.insert(feature);
    }
  }
  return result;
}

FailureOr<std::vector<std::string>>
gist::getUsedFeatures(ArrayRef<char> object, const CpuTarget &target,
                      ReportError reportError) {
  std::string message;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(target.triple), message);
  if (!backend) {
    reportError(message);
    return failure();
  }
  llvm::Expected<std::unique_ptr<ObjectFile>> file =
      ObjectFile::createObjectFile(llvm::MemoryBufferRef(
          StringRef(object.data(), object.size()), "kernels"));
  if (!file) {
    reportError(llvm::toString(file.takeError()));
    return failure();
  }
  Reader reader(target, *backend);
  Instructions found;
  if (failed(readInstructions(**file, reader, found, reportError)))
    return failure();
  return inOrder(reader.triple.isAArch64() ? reduceFeatures(reader, found)
                                           : lookUpFeatures(reader, found),
                 reader, reportError);
}
