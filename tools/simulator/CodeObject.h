//===- CodeObject.h - A loaded code object ----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A code object as it lies on the card: the segments of an ELF file at their
// virtual addresses, the decoded instructions, and for each kernel what its
// descriptor and the metadata note say.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_CODEOBJECT_H
#define GIST_TOOLS_SIMULATOR_CODEOBJECT_H

#include "tools/simulator/Isa.h"
#include "tools/simulator/Memory.h"

#include <memory>
#include <string>
#include <vector>

namespace gist::sim {

/// The decoded executable segment.
struct Program {
  uint64_t base = 0; ///< Address of the first byte.
  std::vector<Inst> instructions;
  std::vector<std::string> texts;     ///< Per instruction, as assembly.
  std::vector<uint32_t> indexOfDword; ///< Or kNoInstruction.

  static constexpr uint32_t kNoInstruction = ~0u;
  /// kNoInstruction for an address inside an instruction or outside of the
  /// code. Instructions begin at dwords.
  uint32_t indexAt(uint64_t address) const {
    uint64_t dword = (address - base) / 4;
    if (address < base || address % 4 || dword >= indexOfDword.size())
      return kNoInstruction;
    return indexOfDword[dword];
  }
};

/// One argument in the kernarg segment; offset and size in bytes.
struct KernelArgument {
  uint32_t offset = 0, size = 0;
  std::string
      kind; ///< The metadata's value_kind; "hidden_..." is ours to fill.
  bool isHidden() const { return kind.starts_with("hidden_"); }
};

/// Work-items of a workgroup that the hardware takes at most.
constexpr uint32_t kMaxWorkgroup = 1024;

/// What the 64-byte kernel descriptor says. Sizes are bytes, LDS of the
/// workgroup and scratch of one lane.
/// rsrc1 to rsrc3 and properties are the descriptor's words as they are; the
/// launch takes the bits it needs.
struct Kernel {
  std::string name;
  const Program *program = nullptr;
  uint64_t entry = 0;
  uint32_t ldsSize = 0, scratchSize = 0, kernargSize = 0;
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0, preload = 0;
  uint32_t maxWorkgroupSize = kMaxWorkgroup;
  uint32_t vectorRegisters = 0, accumOffset = 0;
  std::vector<KernelArgument> arguments;
  bool ordered = false; ///< Its result depends on the order of workgroups.
};

class CodeObject {
public:
  /// Copies `bytes` into memory that is added to `memory`, and decodes it.
  /// Null with `error` set if it is not a code object for gfx942.
  static std::unique_ptr<CodeObject>
  load(const void *bytes, uint64_t size, MemoryMap &memory, std::string &error);
  ~CodeObject();

  const Kernel *findKernel(const std::string &name) const;
  const std::vector<Kernel> &getKernels() const { return kernels; }

private:
  CodeObject(MemoryMap &memory) : memory(memory) {}
  MemoryMap &memory;
  std::vector<uint8_t> image; ///< Segments at their virtual addresses.
  uint8_t *imageBase = nullptr;
  Program program;
  std::vector<Kernel> kernels;
};

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_CODEOBJECT_H
