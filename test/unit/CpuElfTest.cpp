//===- CpuElfTest.cpp - A shared object, checked before it is mapped ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuElf.h"

#include "runtime/device/CpuCode.h"
#include "runtime/module/Module.h"
#include "runtime/support/TextBytes.h"
#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

using namespace gist;
using namespace gist::test;

namespace {
/// The code of the tiny model, and the parts of it that the linker reads.
class CpuElf : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(Module::open(model.write(folder.file("m.gist")), module).ok());
    Bytes bytes = module->code(0);
    code.assign(bytes.text());
    std::memcpy(&header, code.data(), sizeof(header));
    for (int i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr &segment = segments.emplace_back();
      std::memcpy(&segment, code.data() + placeOf(i), sizeof(segment));
    }
  }
  size_t placeOf(int segment) const {
    return header.e_phoff + static_cast<size_t>(segment) * sizeof(Elf64_Phdr);
  }
  /// What is said of the code after a change of one segment of a kind.
  std::string after(uint32_t kind,
                    const std::function<void(Elf64_Phdr &)> &change) {
    std::string changed = code;
    for (int i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr segment = segments[static_cast<size_t>(i)];
      if (segment.p_type != kind)
        continue;
      change(segment);
      std::memcpy(changed.data() + placeOf(i), &segment, sizeof(segment));
      return check(changed);
    }
    return "there is no such segment";
  }
  /// The same for entries of the dynamic section.
  std::string afterDynamic(int64_t tag,
                           const std::function<void(Elf64_Dyn &)> &change) {
    std::string changed = code;
    for (const Elf64_Phdr &segment : segments)
      for (uint64_t at = 0;
           segment.p_type == PT_DYNAMIC && at < segment.p_filesz;
           at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        char *place = changed.data() + segment.p_offset + at;
        std::memcpy(&entry, place, sizeof(entry));
        if (entry.d_tag != tag)
          continue;
        change(entry);
        std::memcpy(place, &entry, sizeof(entry));
        return check(changed);
      }
    return "there is no such entry";
  }
  static std::string check(const std::string &content) {
    std::set<std::string> functions;
    return checkCpuElf({reinterpret_cast<const uint8_t *>(content.data()),
                        content.size()},
                       functions)
        .text;
  }
  /// Gives changed code to the loader in a process of its own. True if it
  /// ended as it should, whatever the loader said.
  bool survives(const std::string &content) const {
    pid_t child = ::fork();
    if (child == 0) {
      std::unique_ptr<CpuCode> loaded;
      (void)CpuCode::load(module->spec(), 0, bytesOf(content), loaded).ok();
      ::_exit(0);
    }
    int result = 0;
    return ::waitpid(child, &result, 0) == child && WIFEXITED(result) &&
           WEXITSTATUS(result) == 0;
  }

  TemporaryFolder folder;
  TinyModel model;
  std::shared_ptr<const Module> module;
  std::string code;
  Elf64_Ehdr header;
  std::vector<Elf64_Phdr> segments;
};
} // namespace

TEST_F(CpuElf, ListsItsFunctions) {
  std::set<std::string> functions;
  Status status = checkCpuElf(module->code(0), functions);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_TRUE(functions.contains("tiny_embed"));
  EXPECT_FALSE(functions.contains("memcpy"));
}

TEST_F(CpuElf, SegmentsAreChecked) {
  EXPECT_NE(after(PT_LOAD, [&](Elf64_Phdr &s) { s.p_filesz = code.size() + 1; })
                .find("do not fit in"),
            std::string::npos);
  EXPECT_NE(after(PT_LOAD, [](Elf64_Phdr &s) { s.p_offset = UINT64_MAX - 8; })
                .find("do not fit in"),
            std::string::npos);
  EXPECT_EQ(after(PT_LOAD, [](Elf64_Phdr &s) { s.p_memsz = 1ull << 40; }),
            "the code is damaged: a segment has a wrong size");
  EXPECT_EQ(after(PT_LOAD, [](Elf64_Phdr &s) { s.p_vaddr = 1ull << 60; }),
            "the code is damaged: a segment has a wrong size");
  EXPECT_EQ(
      after(PT_LOAD, [](Elf64_Phdr &s) { s.p_flags = PF_R | PF_W | PF_X; }),
      "the code is damaged: a segment can be written and executed");
  EXPECT_EQ(after(PT_LOAD, [](Elf64_Phdr &s) { s.p_align = 3; }),
            "the code is damaged: a segment is not aligned");
  EXPECT_EQ(after(PT_LOAD, [](Elf64_Phdr &s) { s.p_memsz = 1 << 29; }),
            "the code is damaged: segments overlap");
  EXPECT_EQ(after(PT_GNU_STACK, [](Elf64_Phdr &s) { s.p_flags |= PF_X; }),
            "the code is damaged: it asks for an executable stack");
  EXPECT_EQ(after(PT_GNU_STACK, [](Elf64_Phdr &s) { s.p_type = PT_TLS; }),
            "the code has a segment of kind 7, which modules do not need");
  EXPECT_EQ(
      after(PT_DYNAMIC, [](Elf64_Phdr &s) { s.p_type = PT_NULL; }),
      "the code is damaged: it does not have exactly one dynamic section");
}

// Code that runs on loading, and libraries that come with it.
TEST_F(CpuElf, NothingRunsOnLoading) {
  for (int64_t tag : {DT_INIT, DT_FINI, DT_INIT_ARRAY, DT_FINI_ARRAY,
                      DT_PREINIT_ARRAY, DT_NEEDED, DT_TEXTREL, DT_RPATH})
    EXPECT_EQ(afterDynamic(DT_SYMENT, [&](Elf64_Dyn &e) { e.d_tag = tag; }),
              "the code has a dynamic entry of kind " + std::to_string(tag) +
                  ", which modules do not need");
}

TEST_F(CpuElf, TablesAreChecked) {
  EXPECT_EQ(afterDynamic(DT_STRSZ, [](Elf64_Dyn &e) { e.d_un.d_val = 0; }),
            "the code is damaged: its names do not end");
  EXPECT_EQ(
      afterDynamic(DT_STRTAB, [](Elf64_Dyn &e) { e.d_un.d_ptr = 1ull << 40; }),
      "the code is damaged: its names");
  EXPECT_EQ(
      afterDynamic(DT_SYMTAB, [](Elf64_Dyn &e) { e.d_un.d_ptr = 1ull << 50; }),
      "the code is damaged: its symbols");
  EXPECT_EQ(afterDynamic(DT_GNU_HASH,
                         [](Elf64_Dyn &e) { e.d_un.d_ptr = UINT64_MAX; }),
            "the code is damaged: its hash table");
  EXPECT_EQ(afterDynamic(DT_SYMENT, [](Elf64_Dyn &e) { e.d_un.d_val = 1; }),
            "the code is damaged: a symbol's size");
}

// Each bit of what the linker reads, one after the other: the headers, the
// dynamic section and the tables before the first instruction. Without the
// check most of the file's first bytes end the process.
TEST_F(CpuElf, NoChangedBitCrashesTheLoader) {
  uint64_t end = code.size();
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
      end = std::min(end, segment.p_offset);
  std::vector<std::pair<uint64_t, uint64_t>> parts = {{0, end}};
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_DYNAMIC)
      parts.emplace_back(segment.p_offset, segment.p_offset + segment.p_filesz);
  unsigned refused = 0, loaded = 0;
  for (auto [begin, last] : parts)
    for (uint64_t bit = 8 * begin; bit < 8 * last; ++bit) {
      std::string changed = code;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
      // The linker is asked only for what the check lets through.
      if (!check(changed).empty()) {
        ++refused;
        continue;
      }
      ASSERT_TRUE(survives(changed))
          << "byte " << bit / 8 << " bit " << bit % 8;
      ++loaded;
    }
  std::printf("%u changed bits were refused, %u were loaded\n", refused,
              loaded);
  EXPECT_GT(refused, 500u);
  EXPECT_GT(loaded, 50u);
}
