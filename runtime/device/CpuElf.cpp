//===- CpuElf.cpp - A shared object, checked before it is mapped ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuElf.h"

#include <algorithm>
#include <bit>
#include <elf.h>
#include <map>
#include <vector>

using namespace gist;

namespace {

#if defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
constexpr uint32_t kRelative = R_AARCH64_RELATIVE, kGlobal = R_AARCH64_GLOB_DAT,
                   kJumpSlot = R_AARCH64_JUMP_SLOT, kWord = R_AARCH64_ABS64;
#else
constexpr int kMachine = EM_X86_64;
constexpr uint32_t kRelative = R_X86_64_RELATIVE, kGlobal = R_X86_64_GLOB_DAT,
                   kJumpSlot = R_X86_64_JUMP_SLOT, kWord = R_X86_64_64;
#endif

/// A module's code has five or six; bounds what a lying header can ask for.
constexpr uint16_t kMaxSegments = 32;
/// Code and tables of the largest models are a few megabytes.
constexpr uint64_t kMaxImage = uint64_t{1} << 30;
/// The largest page of the machines that modules run on is 64 KiB.
constexpr uint64_t kMaxSegmentAlignment = uint64_t{1} << 21;

/// Functions that kernels may take from this process (runtime/README.md).
bool isProvided(std::string_view name) {
  return name == "memcpy" || name == "memset" || name == "memmove";
}

Status damaged(const char *what) {
  return Status::error(Code::BadFile, "the code is damaged: %s", what);
}

class ElfCheck {
public:
  ElfCheck(Bytes code, std::set<std::string> &functions)
      : code(code), functions(functions) {}

  Status run() {
    GIST_TRY(checkHeader());
    GIST_TRY(checkSegments());
    GIST_TRY(readDynamic());
    GIST_TRY(countSymbols());
    GIST_TRY(checkSymbols());
    GIST_TRY(checkRelocations(DT_RELA, DT_RELASZ));
    return checkRelocations(DT_JMPREL, DT_PLTRELSZ);
  }

private:
  Status checkHeader();
  Status checkSegments();
  Status checkLoad(const Elf64_Phdr &segment);
  Status checkNotes(const Elf64_Phdr &segment) const;
  Status readDynamic();
  Status checkDynamic(const Elf64_Dyn &entry);
  Status countSymbols();
  Status checkSymbols();
  Status checkRelocations(int64_t table, int64_t size) const;

  /// The segment that has `size` bytes at an address of the image, or null.
  const Elf64_Phdr *find(uint64_t address, uint64_t size) const {
    for (const Elf64_Phdr &load : loads)
      if (address >= load.p_vaddr && size <= load.p_memsz &&
          address - load.p_vaddr <= load.p_memsz - size)
        return &load;
    return nullptr;
  }
  /// The bytes of the file that lie at an address of the image.
  Status bytesAt(uint64_t address, uint64_t size, const char *what,
                 Bytes &out) const {
    const Elf64_Phdr *load = find(address, size);
    if (!load)
      return damaged(what);
    Bytes content;
    GIST_TRY(code.slice(load->p_offset, load->p_filesz, "segment", content));
    return content.slice(address - load->p_vaddr, size, what, out);
  }
  uint64_t value(int64_t tag) const {
    auto at = dynamic.find(tag);
    return at == dynamic.end() ? 0 : at->second;
  }

  Bytes code;
  std::set<std::string> &functions;
  Elf64_Ehdr header = {};
  std::vector<Elf64_Phdr> loads;
  std::vector<Elf64_Phdr> dynamicSegments;
  std::map<int64_t, uint64_t> dynamic;
  Bytes strings, symbols;
  uint64_t symbolCount = 0;
};

} // namespace

Status ElfCheck::checkHeader() {
  GIST_TRY(code.read(0, "ELF header", header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN)
    return Status::error(Code::BadFile, "code is not a 64-bit shared object");
  if (header.e_machine != kMachine)
    return Status::error(
        Code::Unsupported,
        "the code is for ELF machine %d, but this process is %d",
        header.e_machine, kMachine);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      header.e_phnum > kMaxSegments)
    return damaged("its table of segments");
  return {};
}

Status ElfCheck::checkLoad(const Elf64_Phdr &segment) {
  Bytes content;
  GIST_TRY(code.slice(segment.p_offset, segment.p_filesz, "segment", content));
  if (segment.p_memsz == 0 || segment.p_memsz < segment.p_filesz ||
      segment.p_memsz > kMaxImage || segment.p_vaddr > kMaxImage)
    return damaged("a segment has a wrong size");
  if (!std::has_single_bit(segment.p_align) ||
      segment.p_align > kMaxSegmentAlignment ||
      segment.p_offset % segment.p_align != segment.p_vaddr % segment.p_align)
    return damaged("a segment is not aligned");
  // The linker reads tables in any of them.
  if (!(segment.p_flags & PF_R))
    return damaged("a segment cannot be read");
  if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X))
    return damaged("a segment can be written and executed");
  // Pages belong to one segment; the linker maps them in this order.
  uint64_t begin = segment.p_vaddr / segment.p_align * segment.p_align;
  if (!loads.empty() && begin < loads.back().p_vaddr + loads.back().p_memsz)
    return damaged("segments overlap");
  loads.push_back(segment);
  return {};
}

/// The linker walks through notes without checking their end.
Status ElfCheck::checkNotes(const Elf64_Phdr &segment) const {
  Bytes notes;
  GIST_TRY(bytesAt(segment.p_vaddr, segment.p_memsz, "a note", notes));
  if (segment.p_align != 4 && segment.p_align != 8)
    return damaged("a note is not aligned");
  auto pad = [&](uint64_t size) {
    return (size + segment.p_align - 1) / segment.p_align * segment.p_align;
  };
  for (Cursor cursor(notes); cursor.left() != 0;) {
    Elf64_Nhdr note;
    Bytes skipped;
    GIST_TRY(cursor.read("a note", note));
    // Sizes have 32 bits, so that their sum does not wrap.
    GIST_TRY(
        cursor.take(pad(uint64_t{note.n_namesz}) + pad(uint64_t{note.n_descsz}),
                    "a note", skipped));
  }
  return {};
}

Status ElfCheck::checkSegments() {
  std::vector<Elf64_Phdr> all(header.e_phnum);
  Bytes table;
  GIST_TRY(code.slice(header.e_phoff, all.size() * sizeof(Elf64_Phdr),
                      "table of segments", table));
  std::memcpy(all.data(), table.data, table.size);
  for (const Elf64_Phdr &segment : all)
    if (segment.p_type == PT_LOAD)
      GIST_TRY(checkLoad(segment));
  for (const Elf64_Phdr &segment : all) {
    const Elf64_Phdr *load = find(segment.p_vaddr, segment.p_memsz);
    switch (segment.p_type) {
    case PT_NULL:
    case PT_LOAD:
      break;
    case PT_DYNAMIC:
      // The linker writes into it if its flags say that it is writable.
      if (!load || ((segment.p_flags & ~load->p_flags) & PF_W))
        return damaged("its dynamic section");
      dynamicSegments.push_back(segment);
      break;
    case PT_GNU_RELRO:
      if (!load || !(load->p_flags & PF_W))
        return damaged("its RELRO segment is not writable");
      break;
    case PT_GNU_STACK:
      // The linker would give every thread of this process such a stack.
      if (segment.p_flags & PF_X)
        return damaged("it asks for an executable stack");
      break;
    case PT_NOTE:
    case PT_GNU_PROPERTY:
      GIST_TRY(checkNotes(segment));
      break;
    case PT_PHDR:
    case PT_GNU_EH_FRAME:
      if (!load)
        return damaged("a table is outside of all segments");
      break;
    default:
      return Status::error(Code::BadFile,
                           "the code has a segment of kind %" PRIu32
                           ", which modules do not need",
                           segment.p_type);
    }
  }
  return {};
}

/// Only what the tables of a module's code need. Functions that run on loading
/// (DT_INIT and its like) and other libraries (DT_NEEDED) are not among it.
Status ElfCheck::checkDynamic(const Elf64_Dyn &entry) {
  switch (entry.d_tag) {
  case DT_SYMENT:
    return entry.d_un.d_val == sizeof(Elf64_Sym) ? Status()
                                                 : damaged("a symbol's size");
  case DT_RELAENT:
    return entry.d_un.d_val == sizeof(Elf64_Rela)
               ? Status()
               : damaged("a relocation's size");
  case DT_PLTREL:
    return entry.d_un.d_val == DT_RELA ? Status()
                                       : damaged("the kind of relocations");
  case DT_FLAGS:
    return (entry.d_un.d_val & ~uint64_t{DF_BIND_NOW | DF_SYMBOLIC}) == 0
               ? Status()
               : damaged("it has load flags that modules do not use");
  case DT_FLAGS_1:
    return (entry.d_un.d_val & ~uint64_t{DF_1_NOW}) == 0
               ? Status()
               : damaged("it has load flags that modules do not use");
  case DT_PLTGOT: {
    const Elf64_Phdr *load = find(entry.d_un.d_ptr, 3 * sizeof(uint64_t));
    return load && (load->p_flags & PF_W) ? Status()
                                          : damaged("its table of addresses");
  }
  case DT_GNU_HASH:
  case DT_STRTAB:
  case DT_STRSZ:
  case DT_SYMTAB:
  case DT_RELA:
  case DT_RELASZ:
  case DT_RELACOUNT:
  case DT_JMPREL:
  case DT_PLTRELSZ:
  case DT_BIND_NOW:
  case DT_SYMBOLIC:
    return {};
  default:
    return Status::error(Code::BadFile,
                         "the code has a dynamic entry of kind %" PRId64
                         ", which modules do not need",
                         static_cast<int64_t>(entry.d_tag));
  }
}

Status ElfCheck::readDynamic() {
  if (dynamicSegments.size() != 1)
    return damaged("it does not have exactly one dynamic section");
  Bytes bytes;
  GIST_TRY(bytesAt(dynamicSegments[0].p_vaddr, dynamicSegments[0].p_memsz,
                   "the dynamic section", bytes));
  Cursor cursor(bytes);
  while (true) {
    Elf64_Dyn entry;
    // The terminating entry must exist: the linker relies on it alone.
    GIST_TRY(cursor.read("the dynamic section", entry));
    if (entry.d_tag == DT_NULL)
      break;
    GIST_TRY(checkDynamic(entry));
    if (!dynamic.emplace(entry.d_tag, entry.d_un.d_val).second)
      return damaged("a dynamic entry appears twice");
  }
  GIST_TRY(bytesAt(value(DT_STRTAB), value(DT_STRSZ), "its names", strings));
  if (strings.size == 0 || strings.data[strings.size - 1] != 0)
    return damaged("its names do not end");
  return {};
}

/// Only the hash table gives the number of symbols. It has a filter, a list of
/// chains and the chains; a chain's last word is odd.
Status ElfCheck::countSymbols() {
  struct {
    uint32_t buckets, first, filterWords, shift;
  } hash = {};
  Bytes bytes, words;
  GIST_TRY(bytesAt(value(DT_GNU_HASH), sizeof(hash), "its hash table", bytes));
  std::memcpy(&hash, bytes.data, sizeof(hash));
  if (hash.buckets == 0 || !std::has_single_bit(hash.filterWords) ||
      hash.shift >= 32 || hash.first == 0)
    return damaged("its hash table");
  // 32-bit counts: these sums are far from the end of 64 bits.
  uint64_t chains = sizeof(hash) + uint64_t{8} * hash.filterWords +
                    uint64_t{4} * hash.buckets;
  GIST_TRY(bytesAt(value(DT_GNU_HASH), chains, "its hash table", words));
  uint64_t steps = 0;
  symbolCount = hash.first;
  for (uint32_t i = 0; i < hash.buckets; ++i) {
    uint32_t at = 0;
    std::memcpy(&at, words.data + chains - uint64_t{4} * (hash.buckets - i),
                sizeof(at));
    if (at == 0)
      continue;
    if (at < hash.first)
      return damaged("its hash table");
    for (uint32_t word = 0; !(word & 1); ++at) {
      // Each symbol is in one chain, so there are at most as many steps as
      // words.
      if (++steps > code.size)
        return damaged("its hash table has a loop");
      Bytes next;
      GIST_TRY(
          bytesAt(value(DT_GNU_HASH) + chains + uint64_t{4} * (at - hash.first),
                  sizeof(word), "its hash table", next));
      std::memcpy(&word, next.data, sizeof(word));
    }
    symbolCount = std::max<uint64_t>(symbolCount, at);
  }
  return bytesAt(value(DT_SYMTAB), symbolCount * sizeof(Elf64_Sym),
                 "its symbols", symbols);
}

Status ElfCheck::checkSymbols() {
  // The first is empty by definition.
  for (uint64_t i = 1; i < symbolCount; ++i) {
    Elf64_Sym symbol;
    GIST_TRY(symbols.read(i * sizeof(symbol), "its symbols", symbol));
    if (symbol.st_name >= strings.size)
      return damaged("a symbol has no name");
    // Names end: the last byte of all is zero.
    const char *name =
        reinterpret_cast<const char *>(strings.data) + symbol.st_name;
    if (symbol.st_shndx == SHN_UNDEF) {
      if (!isProvided(name))
        return Status::error(Code::BadFile,
                             "the code needs '%s', which the runtime does not "
                             "provide",
                             name);
      continue;
    }
    unsigned type = ELF64_ST_TYPE(symbol.st_info);
    // A function of the other kind (STT_GNU_IFUNC) is called on loading.
    if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE)
      return damaged("a symbol is neither code nor data");
    const Elf64_Phdr *load = find(symbol.st_value, 1);
    if (!load)
      return damaged("a symbol is outside of all segments");
    if (type == STT_FUNC && (load->p_flags & PF_X))
      functions.insert(name);
  }
  return {};
}

Status ElfCheck::checkRelocations(int64_t table, int64_t size) const {
  if (value(size) == 0)
    return {};
  Bytes bytes;
  GIST_TRY(bytesAt(value(table), value(size), "its relocations", bytes));
  if (bytes.size % sizeof(Elf64_Rela) != 0)
    return damaged("its relocations");
  uint64_t count = bytes.size / sizeof(Elf64_Rela);
  // The linker takes the first ones as relative without checking their type.
  uint64_t relative = table == DT_RELA ? value(DT_RELACOUNT) : 0;
  if (relative > count)
    return damaged("its relocations");
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Rela relocation;
    GIST_TRY(bytes.read(i * sizeof(relocation), "its relocations", relocation));
    auto type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
    bool isRelative = type == kRelative;
    bool isKnown = table == DT_JMPREL ? type == kJumpSlot
                                      : isRelative || type == kGlobal ||
                                            type == kJumpSlot || type == kWord;
    const Elf64_Phdr *load = find(relocation.r_offset, sizeof(uint64_t));
    if (!isKnown || (i < relative && !isRelative) || !load ||
        !(load->p_flags & PF_W) ||
        ELF64_R_SYM(relocation.r_info) >= symbolCount)
      return damaged("a relocation");
  }
  return {};
}

Status gist::checkCpuElf(Bytes code, std::set<std::string> &functions) {
  return ElfCheck(code, functions).run();
}
