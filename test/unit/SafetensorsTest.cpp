//===- SafetensorsTest.cpp - Good and lying safetensors files -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/Safetensors.h"
#include "runtime/support/TextBytes.h"

#include "gtest/gtest.h"

#include <random>

using namespace gist;

namespace {

/// The data counts up from 0, so that an offset shows in the first byte.
std::vector<uint8_t> makeFile(std::string_view header, size_t dataSize) {
  std::vector<uint8_t> bytes(8);
  uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, sizeof(length));
  bytes.insert(bytes.end(), header.begin(), header.end());
  for (size_t i = 0; i < dataSize; ++i)
    bytes.push_back(static_cast<uint8_t>(i));
  return bytes;
}

std::string errorOf(std::string_view header, size_t dataSize) {
  std::vector<uint8_t> bytes = makeFile(header, dataSize);
  SafetensorsFile file;
  Status status = readSafetensors({bytes.data(), bytes.size()}, file);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(file.tensors.empty());
  return status.text;
}

constexpr std::string_view kGood =
    R"({"__metadata__":{"format":"pt"},)"
    R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},)"
    R"("ids":{"dtype":"I64","shape":[1],"data_offsets":[32,40]},)"
    R"("scalar":{"dtype":"F16","shape":[],"data_offsets":[40,42]}})";

// Types that are not weights are skipped with a reason, and are not an error.
TEST(SafetensorsTest, ReadsTensors) {
  std::vector<uint8_t> bytes = makeFile(kGood, 42);
  SafetensorsFile file;
  Status status = readSafetensors({bytes.data(), bytes.size()}, file);
  ASSERT_TRUE(status.ok()) << status.text;
  ASSERT_EQ(file.tensors.size(), 3u);
  const StoredTensor &b = file.tensors.at("b");
  EXPECT_EQ(b.format, WeightFormat::BF16);
  EXPECT_EQ(b.shape, (std::vector<int64_t>{4}));
  EXPECT_EQ(b.content.size, 8u);
  EXPECT_EQ(b.content.data[0], 24); // The data counts up from 0.
  EXPECT_EQ(b.fileOffset, 8 + kGood.size() + 24);
  EXPECT_EQ(file.tensors.at("a").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(file.tensors.at("scalar").shape.empty());
  EXPECT_EQ(
      file.skipped.at("ids"),
      "element type 'I64' is not supported; supported are F32, F16 and BF16");
}

// A length in the first eight bytes may say anything.
TEST(SafetensorsTest, RefusesBadHeaders) {
  EXPECT_EQ(errorOf("", 0), "the header is not a JSON object");
  EXPECT_EQ(errorOf("[1]", 0), "the header is not a JSON object");
  EXPECT_EQ(errorOf("{\"a\":", 0), "the header is not a JSON object");
  EXPECT_EQ(errorOf("{\"a\":7}", 0), "tensor 'a': the header has no dtype");

  std::vector<uint8_t> bytes(8, 0xff);
  SafetensorsFile file;
  EXPECT_EQ(readSafetensors({bytes.data(), 8}, file).text,
            "not a safetensors file: its header has 18446744073709551615 "
            "bytes; at most 100000000 are allowed");
  std::memset(bytes.data() + 2, 0, 6);
  EXPECT_EQ(readSafetensors({bytes.data(), 8}, file).text,
            "header: 65535 bytes at offset 8 do not fit in 8");
  EXPECT_EQ(readSafetensors({bytes.data(), 3}, file).text,
            "header length: 8 bytes at offset 0 do not fit in 3");
}

// Offsets and shapes that contradict each other or the file.
TEST(SafetensorsTest, RefusesLyingEntries) {
  auto entry = [](const char *shape, const char *offsets) {
    return errorOf(std::string(R"({"w":{"dtype":"F32","shape":)") + shape +
                       R"(,"data_offsets":)" + offsets + "}}",
                   32);
  };
  EXPECT_EQ(entry("[8]", "[0,16]"),
            "tensor 'w': it has 16 bytes, but 8 of F32 takes 32");
  EXPECT_EQ(entry("[8]", "[16,48]"),
            "tensor 'w': content: 32 bytes at offset 16 do not fit in 32");
  EXPECT_EQ(entry("[8]", "[32,0]"),
            "tensor 'w': the header has no valid data_offsets");
  EXPECT_EQ(entry("[8]", "[0,32,64]"),
            "tensor 'w': the header has no valid data_offsets");
  EXPECT_EQ(entry("[-8]", "[0,32]"),
            "tensor 'w': the header has no valid shape");
  EXPECT_EQ(entry("[8.0]", "[0,32]"),
            "tensor 'w': the header has no valid shape");
  EXPECT_EQ(entry("8", "[0,32]"), "tensor 'w': the header has no valid shape");
  EXPECT_EQ(entry("[4611686018427387904,4611686018427387904]", "[0,0]"),
            "tensor 'w': shape 4611686018427387904x4611686018427387904 is "
            "empty or too large");
}

// JSON parsers silently take the last of two equal names.
TEST(SafetensorsTest, RefusesDuplicatesAndOverlaps) {
  EXPECT_EQ(errorOf(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                    R"("w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                    8),
            "the header: 'w' appears twice");
  EXPECT_EQ(errorOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                    R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                    8),
            "tensors 'a' and 'b' overlap");
}

// A million brackets must cost neither a stack nor a tree.
TEST(SafetensorsTest, DeepNestingIsDropped) {
  std::string deep = R"({"w":)" + std::string(1'000'000, '[') +
                     std::string(1'000'000, ']') + "}";
  EXPECT_EQ(errorOf(deep, 0), "tensor 'w': the header has no dtype");
}

// An index must not lead out of its folder.
TEST(SafetensorsTest, IndexNamesPlainFilesOnly) {
  auto read = [](std::string_view text) {
    std::map<std::string, std::string> files;
    Status status = readSafetensorsIndex(bytesOf(text), files);
    return status.ok() ? files["w"] : status.text;
  };
  EXPECT_EQ(read(R"({"metadata":{},"weight_map":{"w":"m-1.safetensors"}})"),
            "m-1.safetensors");
  EXPECT_EQ(read(R"({"weight_map":{"w":"../../etc/passwd"}})"),
            "tensor 'w': '../../etc/passwd' is not a file name");
  EXPECT_EQ(read(R"({"weight_map":{"w":"a/b"}})"),
            "tensor 'w': 'a/b' is not a file name");
  EXPECT_EQ(read(R"({"weight_map":{"w":3}})"),
            "tensor 'w': the file is not a name");
  EXPECT_EQ(read(R"({})"), "the index has no weight_map");
}

/// Whatever the bytes say, the reader ends with a Status, and what it accepted
/// lies within the file. Run under the address sanitizer this is a fuzz test.
TEST(SafetensorsTest, CorruptBytesNeverCrash) {
  const std::vector<uint8_t> original = makeFile(kGood, 42);
  std::mt19937 random(2);
  int refused = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<uint8_t> bytes = original;
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      // Mostly digits and brackets: they get past the parser.
      static constexpr std::string_view kAlphabet = "0123456789[]{}\",:-.eF";
      bytes[random() % bytes.size()] =
          random() % 4
              ? static_cast<uint8_t>(kAlphabet[random() % kAlphabet.size()])
              : static_cast<uint8_t>(random());
    }
    if (random() % 8 == 0)
      bytes.resize(random() % bytes.size());
    // So that the sanitizer sees reads behind the end.
    bytes.shrink_to_fit();
    SafetensorsFile file;
    if (!readSafetensors({bytes.data(), bytes.size()}, file).ok()) {
      ++refused;
      continue;
    }
    for (const auto &[name, tensor] : file.tensors) {
      ASSERT_LE(tensor.fileOffset + tensor.content.size, bytes.size());
      std::vector<float> values(tensor.numElements());
      dequantize(tensor.format, tensor.content, values.data());
    }
  }
  EXPECT_GT(refused, kRounds / 10);
  EXPECT_LT(refused, kRounds);
}

} // namespace
