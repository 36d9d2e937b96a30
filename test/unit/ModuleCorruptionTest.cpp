//===- ModuleCorruptionTest.cpp - Damaged modules never crash the reader --===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Format.h"
#include "runtime/module/Metadata.h"
#include "runtime/module/Module.h"
#include "runtime/session/Session.h"
#include "runtime/support/Hash.h"
#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace gist;
using namespace gist::test;

namespace {
/// A module's bytes at an address as a mapped file would have.
class AlignedCopy {
public:
  /// Whole pages, as aligned_alloc wants them, and one for an empty module too.
  explicit AlignedCopy(const std::string &content)
      : memory(static_cast<uint8_t *>(std::aligned_alloc(
            kPageAlignment,
            (content.size() / kPageAlignment + 1) * kPageAlignment))),
        size(content.size()) {
    std::memcpy(memory, content.data(), content.size());
  }
  ~AlignedCopy() { std::free(memory); }
  AlignedCopy(const AlignedCopy &) = delete;
  AlignedCopy &operator=(const AlignedCopy &) = delete;

  Bytes bytes() const { return {memory, size}; }

  uint8_t *memory;
  uint64_t size;
};

/// Makes all hashes right again, so that damage reaches what is behind them.
void seal(AlignedCopy &copy) {
  FileHeader header;
  std::memcpy(&header, copy.memory, sizeof(header));
  std::vector<SectionHeader> table(header.sectionCount);
  uint8_t *place = copy.memory + sizeof(header);
  std::memcpy(table.data(), place, table.size() * sizeof(SectionHeader));
  for (SectionHeader &section : table) {
    Bytes content;
    if (copy.bytes().slice(section.offset, section.size, "", content).ok())
      section.hash = hashBytes(content);
  }
  Bytes tableBytes{reinterpret_cast<const uint8_t *>(table.data()),
                   table.size() * sizeof(SectionHeader)};
  header.hash = 0;
  Hasher hasher;
  hasher.update({reinterpret_cast<const uint8_t *>(&header), sizeof(header)});
  hasher.update(tableBytes);
  header.hash = hasher.finish();
  std::memcpy(copy.memory, &header, sizeof(header));
  std::memcpy(place, tableBytes.data, tableBytes.size);
}

/// The random numbers are the same in every run.
class Corruption : public ::testing::Test {
protected:
  Corruption() {
    content = readFile(TinyModel().write(folder.file("m.gist")));
    FileHeader header;
    std::memcpy(&header, content.data(), sizeof(header));
    std::vector<SectionHeader> table(header.sectionCount);
    std::memcpy(table.data(), content.data() + sizeof(header),
                table.size() * sizeof(SectionHeader));
    for (const SectionHeader &section : table)
      if (section.kind == SectionKind::Metadata)
        metadata = section;
  }

  /// Changes one bit after the other. The module is refused when it is opened,
  /// or, in a weight, when weights are verified.
  void changeBits(uint64_t step) {
    AlignedCopy copy(content);
    std::shared_ptr<const Module> whole;
    ASSERT_TRUE(Module::fromBytes(copy.bytes(), ".", whole).ok());
    const uint8_t *weight = whole->weight(0).data;
    uint64_t weightBegin = static_cast<uint64_t>(weight - copy.memory);
    // Zeros behind a weight fill its section up.
    uint64_t weightEnd = weightBegin + whole->weight(0).size;
    uint64_t sectionEnd = (weightEnd + kWeightAlignment - 1) /
                          kWeightAlignment * kWeightAlignment;
    whole.reset();
    uint64_t changed = 0;
    for (uint64_t bit = 0; bit < 8 * copy.size;
         bit += bit < 8 * kHeaderBytes ? 1 : step) {
      uint64_t byte = bit / 8;
      if (byte >= weightEnd && byte < sectionEnd)
        continue;
      copy.memory[byte] ^= static_cast<uint8_t>(1 << bit % 8);
      std::shared_ptr<const Module> module;
      Status status = Module::fromBytes(copy.bytes(), ".", module);
      if (status.ok())
        status = module->verifyWeights();
      ASSERT_FALSE(status.ok()) << "byte " << byte << " bit " << bit % 8;
      ASSERT_FALSE(status.text.empty());
      copy.memory[byte] ^= static_cast<uint8_t>(1 << bit % 8);
      ++changed;
    }
    std::printf("%llu changed bits were refused\n",
                static_cast<unsigned long long>(changed));
  }

  /// The header and the table of sections are smaller.
  static constexpr uint64_t kHeaderBytes = 512;
  TemporaryFolder folder;
  std::string content;
  SectionHeader metadata;
  std::mt19937 random{1};
};
} // namespace

// The whole size is in the header, so that a copy that broke off is found at
// once.
TEST_F(Corruption, EveryTruncationIsRefused) {
  std::shared_ptr<const Module> module;
  for (size_t size = 0; size < content.size();
       size += 1 + random() % (size < 5000 ? 7 : 97)) {
    AlignedCopy copy(content.substr(0, size));
    ASSERT_FALSE(Module::fromBytes(copy.bytes(), ".", module).ok()) << size;
  }
}

// Without the weights, every byte of header, table and sections is covered by a
// hash; a flip is either found or in padding.
// Every bit of the header and the table, and some of the rest.
TEST_F(Corruption, EveryChangedBitIsRefused) { changeBits(101); }

// All bits and all lengths; test/run.sh --full runs these.
TEST_F(Corruption, DISABLED_AllBits) { changeBits(1); }
TEST_F(Corruption, DISABLED_AllLengths) {
  std::shared_ptr<const Module> module;
  for (size_t size = 0; size < content.size(); ++size) {
    AlignedCopy copy(content.substr(0, size));
    ASSERT_FALSE(Module::fromBytes(copy.bytes(), ".", module).ok()) << size;
  }
}

TEST_F(Corruption, FlippedBytesNeverCrash) {
  for (int i = 0; i < 3000; ++i) {
    AlignedCopy copy(content);
    for (unsigned flips = 1 + random() % 4; flips != 0; --flips)
      copy.memory[random() % copy.size] ^=
          static_cast<uint8_t>(1 + random() % 255);
    std::shared_ptr<const Module> module;
    Status status = Module::fromBytes(copy.bytes(), ".", module);
    if (!status.ok())
      EXPECT_FALSE(status.text.empty());
  }
}

// Behind the hashes: metadata with wild values either fails a check or makes a
// module whose session refuses or runs. Code stays as it is, since wrong code
// cannot be run safely; kernels only see buffers that were checked for their
// size, so launches are not part of this test.
TEST_F(Corruption, WildMetadataIsRefusedOrBinds) {
  std::unique_ptr<Device> device;
  ASSERT_TRUE(openDevice("cpu", {.threads = 1}, device).ok());
  int accepted = 0, bound = 0;
  for (int i = 0; i < 6000; ++i) {
    AlignedCopy copy(content);
    for (unsigned changes = 1 + random() % 3; changes != 0; --changes) {
      uint64_t at = metadata.offset + random() % metadata.size;
      // Bytes at which counts, signs and offsets turn over.
      static const uint8_t kEdges[] = {0, 1, 0x7f, 0x80, 0xff};
      copy.memory[at] = random() % 2 ? kEdges[random() % std::size(kEdges)]
                                     : static_cast<uint8_t>(random());
    }
    seal(copy);
    std::shared_ptr<const Module> module;
    Status status = Module::fromBytes(copy.bytes(), folder.path, module);
    if (!status.ok()) {
      ASSERT_FALSE(status.text.empty());
      continue;
    }
    ++accepted;
    SymbolValues symbols(module->spec());
    struct NoCode final : DeviceCode {
    } code;
    MemoryMap memory;
    // Made-up addresses: binding computes with them and reads nothing there.
    memory.buffers.assign(module->spec().buffers.size(), {4096, 4096});
    for (const EntrySpec &entry : module->spec().entries) {
      EntryBinding binding(*module, entry, code);
      status = binding.bind(symbols, memory);
      bound += status.ok();
    }
    std::unique_ptr<Session> session;
    status = Session::create(module, *device, {.trust = true}, session);
    if (!status.ok())
      ASSERT_FALSE(status.text.empty());
  }
  // The test is worth something only if some damage gets this far.
  EXPECT_GT(accepted, 500);
  EXPECT_GT(bound, 500);
}

// Small values make valid offsets more likely than random bytes do.
// FlatBuffers' verifier lets vectors begin where their elements are not
// aligned.
TEST_F(Corruption, MisalignedNumbersAreRefused) {
  int refused = 0;
  for (uint64_t at = 0; at + 4 <= metadata.size; at += 4)
    for (int32_t delta : {-12, -4, 4, 12, 20}) {
      AlignedCopy copy(content);
      uint8_t *place = copy.memory + metadata.offset + at;
      int32_t number;
      std::memcpy(&number, place, sizeof(number));
      // Offsets are small; others would make nothing that can be read.
      if (number < 4 || number > 4096)
        continue;
      number += delta;
      std::memcpy(place, &number, sizeof(number));
      seal(copy);
      std::shared_ptr<const Module> module;
      Status status = Module::fromBytes(copy.bytes(), folder.path, module);
      refused += status.text.find("numbers are not where") != std::string::npos;
    }
  EXPECT_GT(refused, 0);
}

TEST_F(Corruption, MetadataOfAnyBytesIsRefused) {
  for (int i = 0; i < 5000; ++i) {
    std::string bytes(random() % 400, '\0');
    for (char &byte : bytes)
      byte = static_cast<char>(random() % 4 ? random() % 16 : random());
    AlignedCopy copy(bytes);
    ModuleSpec spec;
    RankSpec ranks;
    Status status = decodeMetadata(copy.bytes(), spec, ranks);
    if (status.ok() && verifySpec(spec).ok())
      (void)verifyRanks(spec, ranks).ok();
  }
}
