//===- RandomWeightsTest.cpp - Weights made when a module is loaded -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/RandomWeights.h"

#include "runtime/module/Module.h"
#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

using namespace gist;
using namespace gist::test;

/// All pieces together; each must begin where the one before ended.
static std::vector<uint8_t> make(const WeightSpec &weight) {
  std::vector<uint8_t> bytes;
  Status status = makeRandomWeight(weight, [&](uint64_t offset, Bytes piece) {
    EXPECT_EQ(offset, bytes.size());
    bytes.insert(bytes.end(), piece.data, piece.data + piece.size);
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.text;
  return bytes;
}

/// The numbers of a weight in double precision.
/// Decoded by hand, because the weights are made with the functions of Half.h.
static std::vector<double> numbersOf(const WeightSpec &weight) {
  std::vector<uint8_t> bytes = make(weight);
  EXPECT_EQ(bytes.size(), weight.size);
  uint64_t width = weight.format == "f32" ? 4 : 2;
  std::vector<double> numbers;
  for (uint64_t at = 0; at < bytes.size(); at += width) {
    uint32_t bits = 0;
    for (uint64_t i = 0; i < width; ++i)
      bits |= static_cast<uint32_t>(bytes[at + i]) << (8 * i);
    if (weight.format != "f16") {
      numbers.push_back(std::bit_cast<float>(width == 4 ? bits : bits << 16));
      continue;
    }
    int exponent = static_cast<int>(bits >> 10 & 31);
    int fraction = static_cast<int>(bits & 1023);
    EXPECT_NE(exponent, 31);
    double size = exponent == 0 ? std::ldexp(fraction, -24)
                                : std::ldexp(1024 + fraction, exponent - 25);
    numbers.push_back(bits & 0x8000 ? -size : size);
  }
  return numbers;
}

namespace {
class RandomWeights : public ::testing::TestWithParam<const char *> {};
} // namespace

// An even spread has these bounds, this mean and this variance, within what
// chance allows (six standard deviations) and what the format rounds.
TEST_P(RandomWeights, AreSpreadAsAsked) {
  std::string format = GetParam();
  uint64_t width = format == "f32" ? 4 : 2;
  // Half a unit in the last place of bf16 or f16; f32 is finer.
  double precision = format == "bf16" ? 1.0 / 256 : 1.0 / 2048;
  for (auto [mean, spread] :
       {std::pair(0.0F, 0.02F), std::pair(1.0F, 0.1F), std::pair(-300.0F, 7.0F),
        std::pair(0.5F, 0.0F), std::pair(0.0F, 3e-6F)}) {
    int64_t count = 40001;
    std::vector<double> numbers = numbersOf({.name = "w",
                                             .format = format,
                                             .shape = {count},
                                             .size = width * 40001,
                                             .random = {{mean, spread}}});
    ASSERT_EQ(numbers.size(), 40001u);
    // 2^-25 is half of the smallest f16.
    double slack = (std::abs(mean) + spread) * precision + 0x1p-25;
    double sum = 0, squares = 0;
    for (double number : numbers) {
      EXPECT_LE(std::abs(number - mean), spread + slack);
      sum += number - mean;
      squares += (number - mean) * (number - mean);
    }
    // That of an even spread over [-s, s].
    double deviation = spread / std::sqrt(3.0), n = double(count);
    EXPECT_NEAR(sum / n, 0, 6 * deviation / std::sqrt(n) + slack);
    EXPECT_NEAR(std::sqrt(squares / n), deviation,
                6 * deviation / std::sqrt(n) + slack);
  }
}

// A weight made of others has their numbers, in their order.
TEST_P(RandomWeights, PartsAreWhatTheyAreAlone) {
  std::string format = GetParam();
  uint64_t width = format == "f32" ? 4 : 2;
  auto weight = [&](const char *name, int64_t rows) {
    return WeightSpec{.name = name,
                      .format = format,
                      .shape = {rows, 7},
                      .size = width * 7 * static_cast<uint64_t>(rows),
                      .random = {{0.0F, 1.0F}}};
  };
  std::vector<uint8_t> expected = make(weight("k", 3));
  std::vector<uint8_t> below = make(weight("q", 5));
  expected.insert(expected.end(), below.begin(), below.end());
  EXPECT_EQ(make(weight("k[3]+q[5]", 8)), expected);
  // Names whose rows are not those of the weight are not taken apart.
  for (const char *name : {"k[3]+q[4]", "k[3]+q[5", "k[3]+q", "k[-3]+q[11]"})
    EXPECT_NE(make(weight(name, 8)), expected) << name;
}

INSTANTIATE_TEST_SUITE_P(Formats, RandomWeights,
                         ::testing::Values("f32", "f16", "bf16"));

// Sessions, machines and numbers of threads must give the same model.
TEST(RandomWeight, DependsOnItsNameAlone) {
  WeightSpec weight{.name = "a",
                    .format = "f16",
                    .shape = {9000000},
                    .size = 18000000, // more than a piece
                    .random = {{0, 1}}};
  std::vector<uint8_t> first = make(weight);
  EXPECT_EQ(make(weight), first);
  // Nothing repeats from piece to piece.
  auto half = first.begin() + (1 << 24);
  EXPECT_FALSE(std::equal(half, half + 1000, first.begin()));
  weight.name = "b";
  EXPECT_NE(make(weight), first);
}

// A device that is full must not be fed gigabytes more.
TEST(RandomWeight, StopsWhenTheSinkFails) {
  WeightSpec weight{.name = "a",
                    .format = "f32",
                    .shape = {9000000},
                    .size = 36000000,
                    .random = {{0, 1}}};
  int calls = 0;
  Status status = makeRandomWeight(weight, [&](uint64_t, Bytes) {
    ++calls;
    return Status::error(Code::Device, "full");
  });
  EXPECT_EQ(status.text, "full");
  EXPECT_EQ(calls, 1);
}

// The file does not grow, and says what a runtime must know to load it.
TEST(RandomWeight, IsNotInTheFile) {
  TemporaryFolder folder;
  TinyModel model;
  size_t before = readFile(model.write(folder.file("plain.gist"))).size();
  for (const char *name : {"one", "two"})
    model.writer.addRandomWeight(name, "f16", {1 << 20}, 2 << 20, {0, 1});
  std::string path = model.write(folder.file("random.gist"));
  // The numbers would take 4 MiB; metadata grows by less than a page.
  EXPECT_LT(readFile(path).size(), before + 4096);
  std::shared_ptr<const Module> module;
  Status status = Module::open(path, module);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(module->weight(1).size, 0u);
  EXPECT_TRUE(module->verifyWeights().ok());
}
