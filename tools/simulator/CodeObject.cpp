//===- CodeObject.cpp - Loads a code object -------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads a code object as the driver does: places the segments, applies
// relocations, decodes the code, and reads what descriptors and metadata say of
// each kernel. The file is not trusted; all offsets are checked.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/CodeObject.h"

#include "tools/simulator/Decoder.h"
#include "tools/simulator/Format.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace gist::sim;
// LLVM's reader checks the headers; the segments are checked here.
using Elf = llvm::object::ELFFile<llvm::object::ELF64LE>;

/// Consumes an llvm::Error into `error`; true if there was one.
static bool take(llvm::Error failure, std::string &error) {
  if (!failure)
    return false;
  error = llvm::toString(std::move(failure));
  return true;
}

template <typename T>
static bool take(llvm::Expected<T> &value, std::string &error) {
  return !value && take(value.takeError(), error);
}

/// Fills what the metadata note says about a kernel's arguments.
static void readKernelMetadata(llvm::msgpack::MapDocNode &node,
                               Kernel &kernel) {
  auto integer = [](llvm::msgpack::DocNode &value) -> uint32_t {
    // No size of a kernel needs more bits: such a file is damaged.
    bool isSize = value.getKind() == llvm::msgpack::Type::UInt &&
                  llvm::isUInt<32>(value.getUInt());
    return isSize ? static_cast<uint32_t>(value.getUInt()) : 0;
  };
  // The largest workgroup that the kernel was compiled for.
  if (uint32_t limit = integer(node[".max_flat_workgroup_size"]))
    kernel.maxWorkgroupSize = std::min(limit, kMaxWorkgroup);
  llvm::msgpack::DocNode &list = node[".args"];
  if (!list.isArray())
    return;
  for (llvm::msgpack::DocNode &entry : list.getArray()) {
    if (!entry.isMap())
      continue;
    llvm::msgpack::MapDocNode &map = entry.getMap();
    KernelArgument argument;
    argument.offset = integer(map[".offset"]);
    argument.size = integer(map[".size"]);
    if (map[".value_kind"].isString())
      argument.kind = map[".value_kind"].getString().str();
    kernel.arguments.push_back(std::move(argument));
  }
}

/// Finds the AMDGPU metadata note, or says why there is none.
static bool readMetadata(const Elf &elf, llvm::msgpack::Document &document,
                         std::string &error) {
  auto headers = elf.program_headers();
  if (take(headers, error))
    return false;
  for (const auto &header : *headers) {
    if (header.p_type != llvm::ELF::PT_NOTE)
      continue;
    llvm::Error failure = llvm::Error::success();
    for (const auto &note : elf.notes(header, failure))
      if (note.getName() == "AMDGPU" &&
          note.getType() == llvm::ELF::NT_AMDGPU_METADATA) {
        // Notes of AMDGPU are aligned to 4 bytes.
        llvm::StringRef blob = note.getDescAsStringRef(4);
        llvm::consumeError(std::move(failure));
        if (document.readFromBlob(blob, /*Multi=*/false) &&
            document.getRoot().isMap())
          return true;
        error = "the metadata note is damaged";
        return false;
      }
    if (take(std::move(failure), error))
      return false;
  }
  error = "the file has no AMDGPU metadata note";
  return false;
}

/// Applies the dynamic relocations; a linked code object has few kinds.
static bool relocate(const Elf &elf, uint8_t *image, uint64_t imageSize,
                     std::string &error) {
  auto sections = elf.sections();
  if (take(sections, error))
    return false;
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_RELA)
      continue;
    auto entries = elf.relas(section);
    if (take(entries, error))
      return false;
    for (const auto &entry : *entries) {
      // Addresses of the image are host addresses; see Memory.h.
      uint64_t value = reinterpret_cast<uintptr_t>(image) +
                       static_cast<uint64_t>(int64_t(entry.r_addend));
      uint32_t type = entry.getType(false);
      if (type == llvm::ELF::R_AMDGPU_ABS64) {
        auto table = elf.getSection(section.sh_link);
        if (take(table, error))
          return false;
        auto symbol = elf.getRelocationSymbol(entry, *table);
        if (take(symbol, error))
          return false;
        value += (*symbol)->st_value;
      } else if (type != llvm::ELF::R_AMDGPU_RELATIVE64) {
        error = format("relocation type %u is not supported", type);
        return false;
      }
      // Written without `r_offset + 8`, which can wrap.
      if (entry.r_offset > imageSize || imageSize - entry.r_offset < 8) {
        error = "a relocation lies outside the image";
        return false;
      }
      std::memcpy(image + entry.r_offset, &value, 8);
    }
  }
  return true;
}

/// Reads the 64-byte kernel descriptor at `address` of the image.
static void readDescriptor(const uint8_t *descriptor, Kernel &kernel) {
  llvm::amdhsa::kernel_descriptor_t kd;
  std::memcpy(&kd, descriptor, sizeof(kd));
  kernel.entry = reinterpret_cast<uintptr_t>(descriptor) +
                 static_cast<uint64_t>(kd.kernel_code_entry_byte_offset);
  kernel.ldsSize = kd.group_segment_fixed_size;
  kernel.scratchSize = kd.private_segment_fixed_size;
  kernel.kernargSize = kd.kernarg_size;
  kernel.rsrc1 = kd.compute_pgm_rsrc1;
  kernel.rsrc2 = kd.compute_pgm_rsrc2;
  kernel.rsrc3 = kd.compute_pgm_rsrc3;
  kernel.properties = kd.kernel_code_properties;
  kernel.preload = kd.kernarg_preload;
  // One file of up to 512, split at the offset; no instruction can name more
  // than 256 of either part.
  kernel.accumOffset = ((kd.compute_pgm_rsrc3 & 0x3f) + 1) * 4;
  // The field counts in blocks of eight registers and may round up beyond what
  // can be named.
  kernel.vectorRegisters =
      std::clamp(((kd.compute_pgm_rsrc1 & 0x3f) + 1) * 8, kernel.accumOffset,
                 kernel.accumOffset + 256);
}

/// True if a workgroup can see in which order others ran: an atomic whose
/// result is used, or one that does not commute exactly.
static bool hasOrderedAtomics(const Program &program) {
  return std::any_of(program.instructions.begin(), program.instructions.end(),
                     [](const Inst &inst) {
                       return inst.op->opClass != OpClass::Lds &&
                              inst.hasFlag(kAtomic) &&
                              (inst.sc0 || inst.hasFlag(kOrdered));
                     });
}

/// Kernels come from their descriptors; the metadata note only adds their
/// arguments.
std::unique_ptr<CodeObject> CodeObject::load(const void *bytes, uint64_t size,
                                             MemoryMap &memory,
                                             std::string &error) {
  auto elf =
      Elf::create(llvm::StringRef(static_cast<const char *>(bytes), size));
  if (take(elf, error))
    return nullptr;
  const auto &header = elf->getHeader();
  if (header.e_machine != llvm::ELF::EM_AMDGPU ||
      (header.e_flags & llvm::ELF::EF_AMDGPU_MACH) !=
          llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX942) {
    error = "not a code object for gfx942";
    return nullptr;
  }
  auto segments = elf->program_headers();
  if (take(segments, error))
    return nullptr;

  std::unique_ptr<CodeObject> object(new CodeObject(memory));
  constexpr uint64_t kPage = 4096;
  uint64_t extent = 0, codeStart = 0, codeSize = 0;
  for (const auto &segment : *segments)
    if (segment.p_type == llvm::ELF::PT_LOAD) {
      // 4 GiB is far more than any code object has, and keeps the sums below
      // from wrapping.
      if (segment.p_offset > size ||
          size - segment.p_offset < segment.p_filesz ||
          segment.p_filesz > segment.p_memsz ||
          segment.p_vaddr > (1ull << 32) || segment.p_memsz > (1ull << 32)) {
        error = "a segment lies outside the file";
        return nullptr;
      }
      // Memory behind the file's bytes is zero, as resize() leaves it.
      extent = std::max<uint64_t>(extent, segment.p_vaddr + segment.p_memsz);
    }
  // A page more, so that the base can be moved to a page boundary: code may
  // rely on the alignment of its addresses.
  object->image.resize(extent + kPage);
  uintptr_t start = reinterpret_cast<uintptr_t>(object->image.data());
  object->imageBase =
      object->image.data() + ((start + kPage - 1) / kPage * kPage - start);
  for (const auto &segment : *segments)
    if (segment.p_type == llvm::ELF::PT_LOAD) {
      std::memcpy(object->imageBase + segment.p_vaddr,
                  static_cast<const uint8_t *>(bytes) + segment.p_offset,
                  segment.p_filesz);
      // Code objects have one executable segment.
      if (segment.p_flags & llvm::ELF::PF_X) {
        codeStart = segment.p_vaddr;
        codeSize = segment.p_filesz;
      }
    }
  // Relocated before it is decoded: instructions may hold addresses.
  if (!relocate(*elf, object->imageBase, extent, error) ||
      !decode(object->imageBase + codeStart, codeSize, object->program, error))
    return nullptr;

  llvm::msgpack::Document document;
  if (!readMetadata(*elf, document, error))
    return nullptr;
  // Determined for the whole program, not for each kernel: functions are
  // shared.
  bool ordered = hasOrderedAtomics(object->program);
  auto sections = elf->sections();
  if (take(sections, error))
    return nullptr;
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_DYNSYM)
      continue;
    auto symbols = elf->symbols(&section);
    auto names = elf->getStringTableForSymtab(section);
    if (take(symbols, error) || take(names, error))
      return nullptr;
    for (const auto &symbol : *symbols) {
      auto name = symbol.getName(*names);
      if (take(name, error))
        return nullptr;
      // The symbol name.kd is the descriptor of kernel `name`. It has 64 bytes.
      if (!name->ends_with(".kd") || symbol.st_value > extent ||
          extent - symbol.st_value < 64)
        continue;
      Kernel &kernel = object->kernels.emplace_back();
      kernel.name = name->drop_back(3).str();
      // Stays valid: the object is on the heap and is not moved.
      kernel.program = &object->program;
      kernel.ordered = ordered;
      readDescriptor(object->imageBase + symbol.st_value, kernel);
    }
  }
  llvm::msgpack::DocNode &list = document.getRoot().getMap()["amdhsa.kernels"];
  if (list.isArray())
    for (llvm::msgpack::DocNode &node : list.getArray())
      if (node.isMap() && node.getMap()[".symbol"].isString())
        for (Kernel &kernel : object->kernels)
          if (node.getMap()[".symbol"].getString() == kernel.name + ".kd")
            readKernelMetadata(node.getMap(), kernel);
  // The kernel may read constants from the image.
  memory.add(object->imageBase, extent);
  return object;
}

CodeObject::~CodeObject() {
  if (imageBase)
    memory.remove(imageBase);
}

const Kernel *CodeObject::findKernel(const std::string &name) const {
  for (const Kernel &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}
