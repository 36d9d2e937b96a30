//===- GgufTest.cpp - Good, truncated and lying GGUF files ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/Gguf.h"
#include "runtime/support/MappedFile.h"

#include "gtest/gtest.h"

#include <random>

using namespace gist;

namespace {

/// Writes a GGUF file value by value, so that a test can lie in any of them.
/// Types of values are GGUF's numbers (4 is u32, 8 a string, 9 an array),
/// types of tensors ggml's (0 is F32, 2 Q4_0, 3 Q4_1).
struct Writer {
  std::vector<uint8_t> bytes;

  template <typename T> Writer &add(T value) {
    const auto *data = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), data, data + sizeof(T));
    return *this;
  }
  Writer &text(std::string_view value) {
    add<uint64_t>(value.size());
    bytes.insert(bytes.end(), value.begin(), value.end());
    return *this;
  }
  /// "GGUF" as a little-endian word, and version 3.
  Writer &header(uint64_t tensors, uint64_t values) {
    return add<uint32_t>(0x46554747).add<uint32_t>(3).add(tensors).add(values);
  }
  Writer &tensor(std::string_view name, const std::vector<uint64_t> &dims,
                 uint32_t type, uint64_t offset) {
    text(name).add<uint32_t>(static_cast<uint32_t>(dims.size()));
    for (uint64_t dim : dims)
      add(dim);
    return add(type).add(offset);
  }
  /// Pads to the data and adds `count` bytes of it.
  Writer &data(size_t count) {
    bytes.resize((bytes.size() + 31) / 32 * 32 + count, 1);
    return *this;
  }
  Status read(GgufFile &file) const {
    return readGguf({bytes.data(), bytes.size()}, file);
  }
  std::string error() const {
    GgufFile file;
    Status status = read(file);
    EXPECT_FALSE(status.ok());
    // A file that is refused leaves nothing that could be used by mistake.
    EXPECT_TRUE(file.tensors.empty() && file.metadata.empty());
    return status.text;
  }
};

/// A copy, so that a test can damage it.
std::vector<uint8_t> blocksFile() {
  std::unique_ptr<MappedFile> mapped;
  EXPECT_TRUE(
      MappedFile::open(GIST_SOURCE_DIR "/test/models/blocks.gguf", mapped)
          .ok());
  Bytes bytes = mapped->bytes();
  return {bytes.data, bytes.data + bytes.size};
}

// blocks.gguf was written by the gguf package, with one value of each type.
TEST(GgufTest, ReadsEveryTypeOfValue) {
  std::vector<uint8_t> bytes = blocksFile();
  GgufFile file;
  Status status = readGguf({bytes.data(), bytes.size()}, file);
  ASSERT_TRUE(status.ok()) << status.text;
  auto value = [&](const char *key) {
    return file.metadata.at(std::string("test.") + key);
  };
  EXPECT_EQ(value("uint8").integer(), 200);
  EXPECT_EQ(value("int8").integer(), -100);
  EXPECT_EQ(value("uint16").integer(), 60000);
  EXPECT_EQ(value("int16").integer(), -30000);
  EXPECT_EQ(value("uint32").integer(), 4000000000);
  EXPECT_EQ(value("int32").integer(), -2000000000);
  EXPECT_EQ(value("int64").integer(), -(1LL << 62));
  EXPECT_EQ(value("uint64").integer(), std::nullopt); // 2^63 + 1
  EXPECT_EQ(value("float32").number(), 0.5);
  EXPECT_EQ(value("float64").number(), 0.1);
  EXPECT_EQ(value("int8").number(), -100.0);
  EXPECT_EQ(value("float32").integer(), std::nullopt);
  EXPECT_EQ(value("bool").integer(), 1);
  EXPECT_EQ(value("string").string(), "gr\xc3\xb6\xc3\x9f"
                                      "e");
  EXPECT_EQ(value("int8").string(), std::nullopt);
  EXPECT_EQ(value("strings").strings(),
            (std::vector<std::string_view>{"a", "", "ccc"}));
  EXPECT_EQ(value("strings").integers(), std::nullopt);
  EXPECT_EQ(value("integers").integers(), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(value("floats").numbers(), (std::vector<double>{0.25, -1.5}));
  EXPECT_EQ(value("integers").strings(), std::nullopt);
}

// The file has the innermost dimension first; a swap would transpose every
// weight.
TEST(GgufTest, ReadsTensorsOutermostDimensionFirst) {
  GgufFile file;
  Status status = Writer()
                      .header(2, 0)
                      .tensor("a", {64, 3}, 3, 0) // Q4_1
                      .tensor("b", {5}, 0, 128)   // F32
                      .data(128 + 20)
                      .read(file);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(file.tensors.at("a").shape, (std::vector<int64_t>{3, 64}));
  // Three rows of two blocks; b begins at the next multiple of 32.
  EXPECT_EQ(file.tensors.at("a").content.size, 3u * 2 * 20);
  EXPECT_EQ(file.tensors.at("b").fileOffset,
            file.tensors.at("a").fileOffset + 128);
}

// Old versions and the other byte order are named, because people have such
// files.
TEST(GgufTest, RefusesWhatIsNoGguf) {
  EXPECT_EQ(Writer().add<uint16_t>(1).error(),
            "file header: 4 bytes at offset 0 do not fit in 2");
  EXPECT_EQ(Writer().text("hello").error(), "not a GGUF file");
  EXPECT_EQ(Writer().add<uint32_t>(0x46554747).add<uint32_t>(1).error(),
            "GGUF version 1; supported are 2 and 3");
  EXPECT_EQ(
      Writer().add<uint32_t>(0x46554747).add<uint32_t>(0x03000000).error(),
      "the GGUF file is big-endian");
}

// A reader that trusts a count would ask for 2^60 entries.
TEST(GgufTest, RefusesLyingCountsWithoutAllocating) {
  EXPECT_EQ(Writer().header(uint64_t(1) << 60, 0).error(),
            "tensor name: 8 bytes at offset 24 do not fit in 24");
  EXPECT_EQ(Writer()
                .header(0, 1)
                .text("k")
                .add<uint32_t>(9)
                .add<uint32_t>(10)
                .add<uint64_t>(UINT64_MAX / 4)
                .error(),
            "key 'k': 4611686018427387903 elements do not fit in the file");
  EXPECT_EQ(Writer()
                .header(0, 1)
                .text("k")
                .add<uint32_t>(8)
                .add<uint64_t>(UINT64_MAX)
                .error(),
            "key 'k': string: 18446744073709551615 bytes at offset 45 do not "
            "fit in 45");
  EXPECT_EQ(Writer().header(0, 1).text("k").add<uint32_t>(13).error(),
            "key 'k': 13 is not a known type of values");
}

// A recursion without bound would overflow the stack.
TEST(GgufTest, RefusesArraysNestedTooDeeply) {
  Writer writer;
  writer.header(0, 1).text("k").add<uint32_t>(9);
  for (int i = 0; i < 100000; ++i)
    writer.add<uint32_t>(9).add<uint64_t>(1);
  EXPECT_EQ(writer.error(), "key 'k': arrays are nested too deeply");
}

// Offsets that wrap, rows that are not whole blocks, sizes whose product
// overflows.
TEST(GgufTest, RefusesLyingTensors) {
  auto one = [](const std::vector<uint64_t> &dims, uint32_t type,
                uint64_t offset) {
    return Writer()
        .header(1, 0)
        .tensor("w", dims, type, offset)
        .data(256)
        .error();
  };
  EXPECT_EQ(one({64, 2}, 0, 0),
            "tensor 'w': content: 512 bytes at offset 0 do not fit in 256");
  EXPECT_EQ(one({8}, 0, UINT64_MAX - 31),
            "tensor 'w': content: 32 bytes at offset 18446744073709551584 do "
            "not fit in 256");
  EXPECT_EQ(one({8}, 0, 4), "tensor 'w': offset 4 is not aligned to 32");
  EXPECT_EQ(
      one({48}, 2, 0),
      "tensor 'w': rows of 48 elements are not whole blocks of 32 (Q4_0)");
  EXPECT_EQ(one({1, 1, 1, 1, 1}, 0, 0),
            "tensor 'w': it has 5 dimensions; at most 4 are allowed");
  EXPECT_EQ(one({uint64_t(1) << 63, 2}, 0, 0),
            "tensor 'w': shape 2x-9223372036854775808 is empty or too large");
  EXPECT_EQ(one({32}, 16, 0).substr(0, 57),
            "tensor 'w': the ggml type 16 (IQ2_XXS) is not supported; ");
}

// Two tensors of one name: which one counts would be chance.
TEST(GgufTest, RefusesDuplicatesAndOverlaps) {
  EXPECT_EQ(Writer()
                .header(2, 0)
                .tensor("w", {8}, 0, 0)
                .tensor("w", {8}, 0, 32)
                .data(64)
                .error(),
            "tensor 'w' appears twice");
  EXPECT_EQ(Writer()
                .header(2, 0)
                .tensor("a", {16}, 0, 0)
                .tensor("b", {8}, 0, 32)
                .data(96)
                .error(),
            "tensors 'a' and 'b' overlap");
  EXPECT_EQ(Writer()
                .header(0, 2)
                .text("k")
                .add<uint32_t>(0)
                .add<uint8_t>(1)
                .text("k")
                .add<uint32_t>(0)
                .add<uint8_t>(2)
                .error(),
            "key 'k' appears twice");
}

// Zero would divide, and three would not align.
TEST(GgufTest, RefusesAnAlignmentThatIsNone) {
  for (uint32_t alignment : {0u, 3u, 1u << 31})
    EXPECT_EQ(Writer()
                  .header(0, 1)
                  .text("general.alignment")
                  .add<uint32_t>(4)
                  .add(alignment)
                  .error(),
              "general.alignment is not a power of two up to 2^20");
}

// Downloads that broke off.
TEST(GgufTest, EveryTruncationIsRefused) {
  std::vector<uint8_t> bytes = blocksFile();
  for (size_t size = 0; size < bytes.size();
       size += size < 2000 ? 1 : 997) { // The table is at the front.
    std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + size);
    GgufFile file;
    EXPECT_FALSE(readGguf({cut.data(), cut.size()}, file).ok()) << size;
  }
}

/// Whatever the bytes say, the reader ends with a Status, and what it accepted
/// lies within the file. Run under the address sanitizer this is a fuzz test.
TEST(GgufTest, CorruptBytesNeverCrash) {
  const std::vector<uint8_t> original = blocksFile();
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    // Headers and tables only: 2000 bytes of 37 thousand.
    std::vector<uint8_t> bytes = original;
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits)
      bytes[random() % 2000] = static_cast<uint8_t>(random());
    GgufFile file;
    if (!readGguf({bytes.data(), bytes.size()}, file).ok()) {
      ++refused;
      continue;
    }
    for (const auto &[name, tensor] : file.tensors) {
      ASSERT_GE(tensor.content.data, bytes.data());
      ASSERT_LE(tensor.content.data + tensor.content.size,
                bytes.data() + bytes.size());
      // Reads all of the content: a wrong size shows under the sanitizer.
      std::vector<float> values(tensor.numElements());
      dequantize(tensor.format, tensor.content, values.data());
    }
    for (const auto &[key, value] : file.metadata) {
      (void)value.integer();
      (void)value.numbers();
      (void)value.strings();
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 20000);
}

} // namespace
