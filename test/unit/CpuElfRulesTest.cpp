//===- CpuElfRulesTest.cpp - Each rule for shared objects, broken ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers do not write most of what the linker would believe, so a shared
// object is made by hand: with relocations of both tables, a note and all kinds
// of segments that modules may have.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuElf.h"
#include "runtime/support/TextBytes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <functional>
#include <vector>

using namespace gist;

namespace {
#if defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
constexpr uint32_t kRelative = R_AARCH64_RELATIVE, kGlobal = R_AARCH64_GLOB_DAT,
                   kJumpSlot = R_AARCH64_JUMP_SLOT, kCopy = R_AARCH64_COPY;
#else
constexpr int kMachine = EM_X86_64;
constexpr uint32_t kRelative = R_X86_64_RELATIVE, kGlobal = R_X86_64_GLOB_DAT,
                   kJumpSlot = R_X86_64_JUMP_SLOT, kCopy = R_X86_64_COPY;
#endif

// Where things are, in the file and in memory alike. What is before kData can
// be executed, the rest can be written.
constexpr uint64_t kSymbols = 0x300, kNames = 0x400, kRelocations = 0x480,
                   kJumps = 0x500, kNote = 0x540, kCode = 0x580, kHash = 0x600,
                   kData = 0x1000, kDynamic = kData, kTable = 0x1200,
                   kEnd = 0x1280;

/// A shared object, in parts.
struct Image {
  Elf64_Ehdr header = {};
  std::vector<Elf64_Phdr> segments = {};
  std::vector<Elf64_Dyn> dynamic = {};
  std::vector<uint32_t> hash = {}; ///< four counts, filter, buckets, chains
  std::vector<Elf64_Sym> symbols = {};
  std::string names = {};
  std::vector<Elf64_Rela> relocations = {}, jumps = {};
  std::vector<uint32_t> note = {};

  Image();
  Elf64_Phdr &segment(uint32_t kind) {
    for (Elf64_Phdr &one : segments)
      if (one.p_type == kind)
        return one;
    std::abort();
  }
  uint64_t &entry(int64_t tag) {
    for (Elf64_Dyn &one : dynamic)
      if (one.d_tag == tag)
        return one.d_un.d_val;
    std::abort();
  }
  std::string bytes() const;
};

Elf64_Phdr makeSegment(uint32_t kind, uint32_t flags, uint64_t begin,
                       uint64_t size, uint64_t alignment) {
  return {kind, flags, begin, begin, begin, size, size, alignment};
}

Image::Image() {
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = kMachine;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);

  names = std::string("\0memcpy\0kernel\0table\0", 21);
  auto symbol = [&](uint32_t name, int type, bool isThere, uint64_t value) {
    uint16_t section = isThere ? 1 : static_cast<uint16_t>(SHN_UNDEF);
    symbols.push_back(
        {name, static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type)), 0,
         section, value, 8});
  };
  symbols.push_back({});
  symbol(1, STT_NOTYPE, false, 0);
  symbol(8, STT_FUNC, true, kCode);
  symbol(15, STT_OBJECT, true, kTable);
  // One chain from the first symbol on.
  hash = {1, 1, 1, 6, 0, 0, 1, 2, 4, 7};

  relocations = {{kTable, ELF64_R_INFO(0, kRelative), kCode},
                 {kTable + 8, ELF64_R_INFO(3, kGlobal), 0}};
  jumps = {{kTable + 16, ELF64_R_INFO(1, kJumpSlot), 0}};
  note = {4, 4, 1, 0x00554e47, 0};

  auto sizeOf = [](const auto &table) {
    return table.size() * sizeof(table[0]);
  };
  for (auto [tag, value] : std::initializer_list<std::pair<int64_t, uint64_t>>{
           {DT_SYMTAB, kSymbols},
           {DT_SYMENT, sizeof(Elf64_Sym)},
           {DT_STRTAB, kNames},
           {DT_STRSZ, names.size()},
           {DT_GNU_HASH, kHash},
           {DT_RELA, kRelocations},
           {DT_RELASZ, sizeOf(relocations)},
           {DT_RELAENT, sizeof(Elf64_Rela)},
           {DT_RELACOUNT, 1},
           {DT_JMPREL, kJumps},
           {DT_PLTRELSZ, sizeOf(jumps)},
           {DT_PLTREL, DT_RELA},
           {DT_PLTGOT, kTable},
           {DT_FLAGS, DF_BIND_NOW},
           {DT_FLAGS_1, DF_1_NOW},
           {DT_NULL, 0}}) {
    Elf64_Dyn entry = {};
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    dynamic.push_back(entry);
  }
  segments = {
      makeSegment(PT_PHDR, PF_R, sizeof(header), 0x200, 8),
      makeSegment(PT_LOAD, PF_R | PF_X, 0, kData, 0x1000),
      makeSegment(PT_LOAD, PF_R | PF_W, kData, kEnd - kData, 0x1000),
      makeSegment(PT_DYNAMIC, PF_R | PF_W, kDynamic, sizeOf(dynamic), 8),
      makeSegment(PT_GNU_RELRO, PF_R, kDynamic, sizeOf(dynamic), 1),
      makeSegment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0),
      makeSegment(PT_NOTE, PF_R, kNote, sizeOf(note), 4),
  };
  header.e_phnum = static_cast<uint16_t>(segments.size());
}

std::string Image::bytes() const {
  std::string all(kEnd, '\0');
  auto put = [&](uint64_t at, const void *data, size_t size) {
    std::memcpy(all.data() + at, data, size);
  };
  auto putAll = [&](uint64_t at, const auto &table) {
    put(at, table.data(), table.size() * sizeof(table[0]));
  };
  put(0, &header, sizeof(header));
  putAll(sizeof(header), segments);
  putAll(kSymbols, symbols);
  putAll(kNames, names);
  putAll(kRelocations, relocations);
  putAll(kJumps, jumps);
  putAll(kNote, note);
  putAll(kHash, hash);
  putAll(kDynamic, dynamic);
  return all;
}

Status checkImage(const Image &image, std::set<std::string> &functions) {
  std::string bytes = image.bytes();
  return checkCpuElf(bytesOf(bytes), functions);
}

struct Broken {
  const char *name;
  std::function<void(Image &)> change;
  const char *message; ///< a part of it
};

class ElfRules : public ::testing::TestWithParam<Broken> {};
} // namespace

TEST(ElfByHand, IsTaken) {
  std::set<std::string> functions;
  Status status = checkImage(Image(), functions);
  EXPECT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(functions, std::set<std::string>{"kernel"});
}

TEST_P(ElfRules, Refuses) {
  Image image;
  GetParam().change(image);
  std::set<std::string> functions;
  Status status = checkImage(image, functions);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.text.find(GetParam().message), std::string::npos)
      << status.text;
}

static const Broken kRules[] = {
    {"Magic", [](Image &i) { i.header.e_ident[0] = 'E'; },
     "code is not a 64-bit shared object"},
    {"Program", [](Image &i) { i.header.e_type = ET_EXEC; },
     "code is not a 64-bit shared object"},
    {"Machine", [](Image &i) { i.header.e_machine = EM_S390; },
     "the code is for ELF machine 22, but this process is "},
    {"NoSegments", [](Image &i) { i.header.e_phnum = 0; },
     "the code is damaged: its table of segments"},
    {"ManySegments", [](Image &i) { i.header.e_phnum = 33; },
     "the code is damaged: its table of segments"},
    {"SegmentsBeyond", [](Image &i) { i.header.e_phoff = UINT64_MAX - 7; },
     "table of segments"},
    {"NotReadable", [](Image &i) { i.segments[2].p_flags = PF_W; },
     "a segment cannot be read"},
    {"Overlap", [](Image &i) { i.segments[1].p_memsz = kData + 1; },
     "segments overlap"},
    {"OtherOffset", [](Image &i) { i.segments[2].p_vaddr += 8; },
     "a segment is not aligned"},
    {"DynamicOutside",
     [](Image &i) { i.segment(PT_DYNAMIC).p_vaddr = 1 << 20; },
     "its dynamic section"},
    {"DynamicThatIsWritten", [](Image &i) { i.segments[2].p_flags = PF_R; },
     "its dynamic section"},
    {"DynamicTwice", [](Image &i) { i.segments[4] = i.segment(PT_DYNAMIC); },
     "it does not have exactly one dynamic section"},
    {"OnceInCode", [](Image &i) { i.segment(PT_GNU_RELRO).p_vaddr = kCode; },
     "its RELRO segment is not writable"},
    {"TableOutside", [](Image &i) { i.segment(PT_PHDR).p_vaddr = 1 << 20; },
     "a table is outside of all segments"},
    {"NoteOutside", [](Image &i) { i.segment(PT_NOTE).p_vaddr = 1 << 20; },
     "the code is damaged: a note"},
    {"NoteAlignment", [](Image &i) { i.segment(PT_NOTE).p_align = 16; },
     "a note is not aligned"},
    {"NoteBeyond", [](Image &i) { i.note[1] = UINT32_MAX; }, "a note"},
    {"NoteCutOff", [](Image &i) { i.segment(PT_NOTE).p_memsz = 24; }, "a note"},
    {"RelocationSize", [](Image &i) { i.entry(DT_RELAENT) = 16; },
     "a relocation's size"},
    {"RelocationKind", [](Image &i) { i.entry(DT_PLTREL) = DT_REL; },
     "the kind of relocations"},
    {"Flags", [](Image &i) { i.entry(DT_FLAGS) = DF_STATIC_TLS; },
     "it has load flags that modules do not use"},
    {"MoreFlags", [](Image &i) { i.entry(DT_FLAGS_1) = DF_1_INITFIRST; },
     "it has load flags that modules do not use"},
    {"TableInCode", [](Image &i) { i.entry(DT_PLTGOT) = kCode; },
     "its table of addresses"},
    {"EntryTwice",
     [](Image &i) { i.dynamic[13].d_tag = i.dynamic[14].d_tag = DT_SYMBOLIC; },
     "a dynamic entry appears twice"},
    {"NoEnd",
     [](Image &i) { i.segment(PT_DYNAMIC).p_memsz -= sizeof(Elf64_Dyn); },
     "the dynamic section"},
    {"NamesWithoutEnd", [](Image &i) { --i.entry(DT_STRSZ); },
     "its names do not end"},
    {"NoBuckets", [](Image &i) { i.hash[0] = 0; }, "its hash table"},
    {"OddFilter", [](Image &i) { i.hash[2] = 3; }, "its hash table"},
    {"Shift", [](Image &i) { i.hash[3] = 32; }, "its hash table"},
    {"FirstSymbol", [](Image &i) { i.hash[1] = 0; }, "its hash table"},
    {"BucketBefore", [](Image &i) { i.hash[1] = 2; }, "its hash table"},
    {"ManyBuckets", [](Image &i) { i.hash[0] = UINT32_MAX; }, "its hash table"},
    {"ChainBeyond", [](Image &i) { i.hash[6] = 1 << 20; }, "its hash table"},
    {"ChainsForEver",
     [](Image &i) {
       // 64 lists that share 200 symbols.
       i.hash = {64, 1, 1, 6, 0, 0};
       i.hash.resize(i.hash.size() + 64, 1);
       i.hash.resize(i.hash.size() + 199, 2);
       i.hash.push_back(1);
     },
     "its hash table has a loop"},
    {"SymbolsOutside",
     [](Image &i) { i.entry(DT_SYMTAB) = kEnd - sizeof(Elf64_Sym); },
     "its symbols"},
    {"NoName", [](Image &i) { i.symbols[2].st_name = 21; },
     "a symbol has no name"},
    {"OtherFunction", [](Image &i) { i.symbols[2].st_shndx = SHN_UNDEF; },
     "the code needs 'kernel', which the runtime does not provide"},
    {"CalledOnLoading",
     [](Image &i) {
       i.symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
     },
     "a symbol is neither code nor data"},
    {"SymbolOutside", [](Image &i) { i.symbols[3].st_value = kEnd; },
     "a symbol is outside of all segments"},
    {"RelocationsOutside", [](Image &i) { i.entry(DT_RELA) = kEnd; },
     "its relocations"},
    {"PartOfARelocation", [](Image &i) { --i.entry(DT_RELASZ); },
     "its relocations"},
    {"ManyRelative", [](Image &i) { i.entry(DT_RELACOUNT) = 3; },
     "its relocations"},
    {"NotRelative", [](Image &i) { i.entry(DT_RELACOUNT) = 2; },
     "the code is damaged: a relocation"},
    {"OtherRelocation",
     [](Image &i) { i.relocations[1].r_info = ELF64_R_INFO(3, kCopy); },
     "the code is damaged: a relocation"},
    {"RelocationOfCode", [](Image &i) { i.relocations[0].r_offset = kCode; },
     "the code is damaged: a relocation"},
    {"RelocationOfNobody",
     [](Image &i) { i.relocations[1].r_info = ELF64_R_INFO(4, kGlobal); },
     "the code is damaged: a relocation"},
    {"OtherJump",
     [](Image &i) { i.jumps[0].r_info = ELF64_R_INFO(1, kGlobal); },
     "the code is damaged: a relocation"},
};

INSTANTIATE_TEST_SUITE_P(Rules, ElfRules, ::testing::ValuesIn(kRules),
                         [](const auto &info) { return info.param.name; });
