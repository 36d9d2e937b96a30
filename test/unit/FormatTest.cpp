//===- FormatTest.cpp - Each layout, walked -------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tables of runtime/format promise: bits that do not overlap and fill
// their blocks, rows that come back as they were written, texts that are read
// as they were printed. That stored blocks mean what ggml means by them is
// QuantTest's.
//
//===----------------------------------------------------------------------===//

#include "runtime/format/CpuFeatures.h"
#include "runtime/format/Devices.h"
#include "runtime/format/Half.h"
#include "runtime/format/HeadTable.h"
#include "runtime/format/PackedLayout.h"
#include "runtime/format/Theta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

using namespace gist;

namespace {

//===----------------------------------------------------------------------===//
// Theta
//===----------------------------------------------------------------------===//

// Host and devices compute theta apart and must get the same bits: a row within
// rounding of it is kept by both or by none.
TEST(Theta, IsOneMinusTheSquareRoundedTwice) {
  for (float tau : {0.3F, 0.1F, 0.7F, 0.999F, 1e-3F}) {
    // The square of an f32 is exact in f64, so each step rounds once.
    auto square = static_cast<float>(static_cast<double>(tau) * tau);
    auto expected = static_cast<float>(1.0 - static_cast<double>(square));
    EXPECT_EQ(thetaOfTau(tau), expected) << tau;
  }
  // 1 - 2^-26 is not an f32: it rounds to 1, which equal rows still reach.
  EXPECT_EQ(thetaOfTau(0x1p-13F), 1.0F);
}

// A tau that is 0, 1 or nonsense keeps every token instead of an arbitrary set.
TEST(Theta, NoCosineReachesThatOfATauOutside) {
  float infinity = std::numeric_limits<float>::infinity();
  for (float tau : {0.0F, -0.0F, -0.5F, 1.0F, 2.0F, infinity, -infinity,
                    std::numeric_limits<float>::quiet_NaN()})
    EXPECT_EQ(thetaOfTau(tau), infinity) << tau;
  EXPECT_LT(thetaOfTau(std::nextafter(1.0F, 0.0F)), 1e-6F);
}

//===----------------------------------------------------------------------===//
// The table of heads
//===----------------------------------------------------------------------===//

/// A row whose fields all differ, from each other and from those of other rows.
/// All are exact in f32, which tables are made of.
HeadPlace makePlace(int64_t row) {
  int64_t base = row * 100;
  return {.ringRow = base + 1,
          .ringRows = base + 2,
          .meanRow = base + 3,
          .unit = base + 4,
          .capacity = base + 5,
          .window = -base - 6,
          .sinks = base + 7,
          .theta = static_cast<double>(base) + 0.5};
}

// Kernels read columns by HeadField, the host by HeadPlace. A field in the
// wrong column would be read as another.
TEST(HeadTable, EveryFieldHasAColumn) {
  std::vector<float> table;
  for (int64_t row = 0; row < 3; ++row)
    appendPlace(makePlace(row), table);
  ASSERT_EQ(table.size(), 3u * kNumHeadFields);
  for (int64_t row = 0; row < 3; ++row) {
    EXPECT_EQ(readPlace(table, static_cast<size_t>(row)), makePlace(row));
    // What kernels load by name.
    auto get = [&](HeadField field) {
      return table[static_cast<size_t>(row * kNumHeadFields) +
                   static_cast<size_t>(field)];
    };
    HeadPlace place = makePlace(row);
    EXPECT_EQ(get(HeadField::RingRow), static_cast<float>(place.ringRow));
    EXPECT_EQ(get(HeadField::RingRows), static_cast<float>(place.ringRows));
    EXPECT_EQ(get(HeadField::MeanRow), static_cast<float>(place.meanRow));
    EXPECT_EQ(get(HeadField::Unit), static_cast<float>(place.unit));
    EXPECT_EQ(get(HeadField::Capacity), static_cast<float>(place.capacity));
    EXPECT_EQ(get(HeadField::Window), static_cast<float>(place.window));
    EXPECT_EQ(get(HeadField::Sinks), static_cast<float>(place.sinks));
    EXPECT_EQ(get(HeadField::Theta), static_cast<float>(place.theta));
  }
}

TEST(HeadTable, TheOrderIsThatOfModules) {
  // Modules that exist have their columns here.
  EXPECT_EQ(kNumHeadFields, 8);
  EXPECT_EQ(static_cast<int>(HeadField::RingRow), 0);
  EXPECT_EQ(static_cast<int>(HeadField::Capacity), 4);
  EXPECT_EQ(static_cast<int>(HeadField::Theta), 7);
}

TEST(HeadTable, ThetasFromTwoOnAreRandom) {
  EXPECT_GE(randomTheta(0), kFirstRandomTheta);
  EXPECT_EQ(randomTheta(0.25), 2.25);
  // Cosines are at most 1, and rounding adds little.
  EXPECT_LT(1.0001, kFirstRandomTheta);
}

//===----------------------------------------------------------------------===//
// Block formats
//===----------------------------------------------------------------------===//

/// Counts how often each bit of `bytes` is used.
/// A format whose fields overlap would still round-trip single values.
class BitCount {
public:
  explicit BitCount(size_t bytes) : counts(bytes * 8) {}

  void add(uint32_t byte, uint32_t shift, uint32_t bits) {
    // Readers take one byte for each field.
    ASSERT_LE(shift + bits, 8u);
    for (uint32_t i = 0; i < bits; ++i)
      ++counts.at(byte * 8 + shift + i);
  }
  void addPlane(const BitPlane &plane, uint32_t values) {
    for (uint32_t i = 0; i < values; ++i)
      add(plane.byteOf(i), plane.shiftOf(i), plane.bits);
  }
  void addBytes(uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
      add(first + i, 0, 8);
  }
  void expectEachOnce() const {
    for (size_t i = 0; i < counts.size(); ++i)
      EXPECT_EQ(counts[i], 1) << "bit " << i % 8 << " of byte " << i / 8;
  }

private:
  std::vector<int> counts;
};

std::vector<WeightFormat> getBlockFormats() {
  return {
#define GIST_BLOCK_FORMAT(Name) WeightFormat::Name,
#include "runtime/format/BlockFormats.def"
  };
}

// No bit is used twice and none is left over.
TEST(BlockFormats, FieldsFillTheirBlocks) {
  for (WeightFormat format : getBlockFormats()) {
    const FormatInfo &info = formatInfo(format);
    SCOPED_TRACE(info.name);
    BitCount count(info.blockBytes);
    uint32_t bits = 0;
    for (size_t p = 0; p < info.numPlanes(); ++p) {
      count.addPlane(info.planes[p], info.blockLength);
      // Planes follow each other from the lowest bit of a value on.
      EXPECT_EQ(info.planes[p].position, bits);
      bits += info.planes[p].bits;
    }
    EXPECT_EQ(info.bits, bits);
    count.addBytes(info.scale, 2);
    if (info.hasMinimum())
      count.addBytes(info.minimum, 2);
    for (uint32_t g = 0; g < info.blockLength / info.group; ++g) {
      if (info.groupScales == GroupScales::None)
        break;
      for (const BitField &field : groupScaleFields(info, g))
        count.add(field.byte, field.shift, field.bits);
      if (info.hasGroupMinima())
        for (const BitField &field : groupMinimumFields(info, g))
          count.add(field.byte, field.shift, field.bits);
    }
    count.expectEachOnce();
  }
}

// Names are in module files and attributes in MLIR: a format that is found by
// another's name would be read wrongly.
TEST(BlockFormats, NamesAndNumbersAreDistinct) {
  std::set<std::string> names, attributes;
  std::set<uint32_t> types;
  size_t numTypes = 0, number = 0;
  for (const FormatInfo &info : allFormats()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(attributes.insert(info.attribute).second) << info.attribute;
    if (info.ggmlType != FormatInfo::kNoGgmlType) {
      types.insert(info.ggmlType);
      ++numTypes;
    }
    auto format = static_cast<WeightFormat>(number++);
    WeightFormat found{};
    ASSERT_TRUE(formatOfName(info.name, found));
    EXPECT_EQ(found, format);
    ASSERT_TRUE(formatOfAttribute(info.attribute, found));
    EXPECT_EQ(found, format);
    EXPECT_EQ(&formatInfo(format), &info);
  }
  EXPECT_EQ(types.size(), numTypes);
  WeightFormat found = WeightFormat::Q6_K;
  // Files say Q4_1 and attributes q4_1.
  EXPECT_FALSE(formatOfName("q4_1", found));
  EXPECT_FALSE(formatOfAttribute("Q4_1", found));
  EXPECT_EQ(found, WeightFormat::Q6_K);
  // GIST_BLOCK_FORMAT lists those that have blocks.
  size_t numBlocks = 0;
  for (const FormatInfo &info : allFormats())
    numBlocks += info.isQuantized() ? 1 : 0;
  EXPECT_EQ(getBlockFormats().size(), numBlocks);
}

/// A u that the format can store, by any number.
uint8_t valueOf(const FormatInfo &info, uint32_t number) {
  number %= 1U << info.bits;
  return static_cast<uint8_t>(info.levels ? info.levels[number] + info.zero
                                          : static_cast<int>(number));
}

// Random values, so that a plane that takes bits of another one shows.
TEST(BlockFormats, ValuesComeBackAsTheyWereWritten) {
  std::mt19937 random(3);
  for (WeightFormat format : getBlockFormats()) {
    const FormatInfo &info = formatInfo(format);
    SCOPED_TRACE(info.name);
    std::vector<uint8_t> values(info.blockLength), back(info.blockLength);
    for (uint8_t &value : values)
      value = valueOf(info, static_cast<uint32_t>(random()));
    std::vector<uint8_t> block(info.blockBytes);
    writeValues(info, values.data(), block.data());
    readValues(info, block.data(), back.data());
    EXPECT_EQ(back, values);
  }
}

// Kernels load `neighbours` values at once, and shift them alike but where they
// share a byte.
TEST(BlockFormats, NeighboursShareBytesShiftsAndScales) {
  for (WeightFormat format : getBlockFormats()) {
    const FormatInfo &info = formatInfo(format);
    SCOPED_TRACE(info.name);
    uint32_t width = info.neighbours();
    ASSERT_EQ(info.blockLength % width, 0u);
    for (uint32_t first = 0; first < info.blockLength; first += width)
      for (uint32_t i = first; i < first + width; ++i) {
        ASSERT_EQ(i / info.group, first / info.group);
        for (size_t p = 0; p < info.numPlanes(); ++p) {
          const BitPlane &plane = info.planes[p];
          uint32_t bytes = plane.lanes == 1 ? 0 : i - first;
          uint32_t bits = plane.lanes == 1 ? (i - first) * plane.bits : 0;
          ASSERT_EQ(plane.byteOf(i), plane.byteOf(first) + bytes);
          ASSERT_EQ(plane.shiftOf(i), plane.shiftOf(first) + bits);
        }
      }
  }
}

/// Little endian, wherever the test runs.
void writeHalf(float value, uint8_t *bytes) {
  uint16_t half = floatToHalf(value);
  bytes[0] = static_cast<uint8_t>(half);
  bytes[1] = static_cast<uint8_t>(half >> 8);
}

void writeFields(int number, const GroupFields &fields, uint8_t *block) {
  for (const BitField &field : fields)
    block[field.byte] |= static_cast<uint8_t>(
        (number >> field.position & ((1 << field.bits) - 1)) << field.shift);
}

/// d = 0.5, m = 4, other scales for each group, other values side by side.
TEST(BlockFormats, BlocksStandForTheFormulasNumbers) {
  for (WeightFormat format : getBlockFormats()) {
    const FormatInfo &info = formatInfo(format);
    SCOPED_TRACE(info.name);
    uint32_t groups = info.blockLength / info.group;
    std::vector<uint8_t> block(info.blockBytes), values(info.blockLength);
    for (uint32_t i = 0; i < info.blockLength; ++i)
      values[i] = valueOf(info, i * 37 + i / 16);
    writeValues(info, values.data(), block.data());
    writeHalf(0.5F, &block[info.scale]);
    if (info.hasMinimum())
      writeHalf(4, &block[info.minimum]);
    // Signed bytes, or as many bits as there are, of which the top two are
    // often set.
    uint32_t scaleBits = 0;
    if (info.groupScales != GroupScales::None)
      for (const BitField &field : groupScaleFields(info, 0))
        scaleBits += field.bits;
    int mask = (1 << scaleBits) - 1;
    auto scaleOf = [&](uint32_t g) {
      return info.groupScales == GroupScales::Bytes
                 ? static_cast<int>(g) * 17 - 128
                 : (mask - static_cast<int>(5 * g)) & mask;
    };
    auto minimumOf = [&](uint32_t g) {
      return static_cast<int>(7 * g + 9) & mask;
    };
    for (uint32_t g = 0; g < groups; ++g) {
      if (info.groupScales == GroupScales::None)
        break;
      writeFields(scaleOf(g), groupScaleFields(info, g), block.data());
      if (info.hasGroupMinima())
        writeFields(minimumOf(g), groupMinimumFields(info, g), block.data());
    }
    std::vector<float> numbers(info.blockLength);
    dequantize(format, {block.data(), block.size()}, numbers.data());
    for (uint32_t i = 0; i < info.blockLength; ++i) {
      uint32_t g = i / info.group;
      double scale = 0.5, minimum = info.hasMinimum() ? 4 : 0;
      if (info.groupScales != GroupScales::None)
        scale *= scaleOf(g) - info.planeScales.zero;
      if (info.hasGroupMinima())
        minimum *= -minimumOf(g);
      // Exact: all are multiples of 0.5 that f32 holds.
      EXPECT_EQ(numbers[i], scale * (values[i] - info.zero) + minimum) << i;
    }
  }
}

//===----------------------------------------------------------------------===//
// Packed layouts
//===----------------------------------------------------------------------===//

// The same for packed blocks, with the numbers of columns and depths of all
// CPUs and the extremes.
TEST(PackedLayout, FieldsFillTheirBlocks) {
  for (WeightFormat format : getBlockFormats())
    for (auto [columns, depth] :
         {std::pair(8, 8), std::pair(16, 4), std::pair(4, 16), std::pair(1, 1)})
      for (bool isUnsigned : {false, true}) {
        PackedLayout layout = packedLayout(format, columns, depth, isUnsigned);
        SCOPED_TRACE(printStorage({format, layout}));
        EXPECT_EQ(layout.findFault(), "");
        BitCount count(static_cast<size_t>(layout.superblockBytes()));
        auto planes = layout.planes();
        std::set<int64_t> numbers;
        for (int64_t column = 0; column < columns; ++column) {
          for (int64_t i = 0; i < PackedLayout::kBlock; ++i)
            numbers.insert(layout.numberOf(column, i));
        }
        // Every number from 0 on.
        // numberOf is a permutation: two values at one place would overwrite
        // each other.
        auto all = static_cast<int64_t>(columns * PackedLayout::kBlock);
        ASSERT_EQ(static_cast<int64_t>(numbers.size()), all);
        EXPECT_EQ(*numbers.begin(), 0);
        EXPECT_EQ(*numbers.rbegin(), all - 1);
        count.addBytes(0, static_cast<uint32_t>(layout.sharedBytes()));
        for (int64_t block = 0; block < layout.sharingBlocks(); ++block) {
          auto first = static_cast<uint32_t>(layout.sharedBytes() +
                                             block * layout.blockBytes());
          auto width = static_cast<uint32_t>(layout.scaleBits / 8);
          for (int64_t column = 0; column < columns; ++column)
            for (int64_t g = 0; g < PackedLayout::kBlock / layout.group; ++g) {
              auto at =
                  first + static_cast<uint32_t>(layout.scaleOffset(column, g));
              count.addBytes(at, width);
              if (layout.hasMin)
                count.addBytes(at + static_cast<uint32_t>(layout.minOffset()),
                               width);
            }
          for (size_t p = 0; p < layout.numPlanes(); ++p) {
            BitPlane plane = planes[p];
            plane.offset += first;
            count.addPlane(plane, static_cast<uint32_t>(all));
          }
        }
        count.expectEachOnce();
      }
}

// The text is all that a module says of a weight's layout.
TEST(PackedLayout, TextsAreReadAsTheyWerePrinted) {
  for (const FormatInfo &info : allFormats()) {
    WeightFormat format{};
    ASSERT_TRUE(formatOfName(info.name, format));
    std::vector<WeightStorage> storages = {{format, std::nullopt}};
    if (info.isQuantized())
      for (bool isUnsigned : {false, true})
        storages.push_back({format, packedLayout(format, 16, 4, isUnsigned)});
    for (const WeightStorage &storage : storages) {
      std::string text = printStorage(storage);
      SCOPED_TRACE(text);
      WeightStorage found;
      ASSERT_TRUE(parseStorage(text, found));
      EXPECT_EQ(found, storage);
    }
  }
  EXPECT_EQ(printStorage({WeightFormat::Q4_1,
                          packedLayout(WeightFormat::Q4_1, 8, 8, true)}),
            "q4_1/8x8");
  EXPECT_EQ(printStorage({WeightFormat::Q8_0,
                          packedLayout(WeightFormat::Q8_0, 16, 4, true)}),
            "q8_0/16x4u");
}

// From damaged files: signs, rests, factors that overflow.
TEST(PackedLayout, OtherTextsAreRefused) {
  // "q4_1/8x8u" among them: levels of q4_1 are unsigned without a 'u'.
  WeightStorage storage{WeightFormat::Q2_1, std::nullopt};
  for (const char *text :
       {"", "q4_1/", "q4_1/8", "q4_1/8x", "q4_1/x8", "q4_1/8x8 ", "q4_1/8x8v",
        "q4_1/8x8u", "q4_1/0x8", "q4_1/-8x8", "q4_1/8x3", "q4_1/8x32", "Q4_1",
        "f16/8x8", "q7_0/8x8", "q4_1/8x8/8x8", "q8_0/99999999999999999999x8",
        "q8_0/4611686018427387904x8"})
    EXPECT_FALSE(parseStorage(text, storage)) << text;
  EXPECT_EQ(storage.format, WeightFormat::Q2_1);
}

// These are diagnostics of #gist.packing: they say what was found and what is
// expected.
TEST(PackedLayout, FaultsAreSentences) {
  PackedLayout layout = packedLayout(WeightFormat::Q4_1, 8, 8, false);
  auto fault = [&](int64_t PackedLayout::*field, int64_t value) {
    PackedLayout changed = layout;
    changed.*field = value;
    return changed.findFault();
  };
  EXPECT_EQ(fault(&PackedLayout::columns, 0),
            "expects columns > 0 and a depth that divides 16, got 0 and 8");
  EXPECT_EQ(fault(&PackedLayout::depth, 32),
            "expects columns > 0 and a depth that divides 16, got 8 and 32");
  EXPECT_EQ(fault(&PackedLayout::bits, 7), "expects 2 to 6 or 8 bits, got 7");
  EXPECT_EQ(fault(&PackedLayout::group, 8),
            "expects groups of 16 or 32, got 8");
  EXPECT_EQ(fault(&PackedLayout::scaleBits, 32),
            "expects scales of 8 or 16 bits, got 32");
}

//===----------------------------------------------------------------------===//
// Numbers and names
//===----------------------------------------------------------------------===//

TEST(Half, BfloatsAreTheNearest) {
  // A number between two of them, and both.
  EXPECT_EQ(floatToBfloat(1.0F), 0x3f80);
  EXPECT_EQ(floatToBfloat(1.0F + 0x1p-8F), 0x3f80); // halfway, to even
  EXPECT_EQ(floatToBfloat(1.0F + 0x1p-7F), 0x3f81);
  EXPECT_EQ(floatToBfloat(1.0F + 0x1p-7F + 0x1p-8F), 0x3f82); // to even
  EXPECT_EQ(floatToBfloat(1.0F + 0x1p-8F + 0x1p-23F), 0x3f81);
  EXPECT_EQ(floatToBfloat(-2.0F), 0xc000);
  // The largest f32 is nearer to 2^128 than to the largest bfloat.
  EXPECT_EQ(floatToBfloat(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBfloat(std::nanf("")))));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = bfloatToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      continue;
    ASSERT_EQ(floatToBfloat(value), bits);
  }
}

// Every byte is a number that rounds to itself, and what lies between two
// neighbours goes to the nearer one, half way to the even byte.
TEST(SmallFloat, RoundsToTheNearest) {
  for (auto [format, largest] : {std::pair{SmallFloat::E4M3, 448.0F},
                                 std::pair{SmallFloat::E4M3Fnuz, 240.0F}}) {
    EXPECT_EQ(smallToFloat(format == SmallFloat::E4M3 ? 0x7e : 0x7f, format),
              largest);
    EXPECT_EQ(floatToSmall(largest * 2, format), floatToSmall(largest, format));
    uint8_t last = floatToSmall(largest, format);
    for (int byte = 0; byte < last; ++byte) {
      float low = smallToFloat(static_cast<uint8_t>(byte), format);
      float high = smallToFloat(static_cast<uint8_t>(byte + 1), format);
      ASSERT_LT(low, high);
      ASSERT_EQ(floatToSmall(low, format), byte);
      ASSERT_EQ(floatToSmall(-high, format), 0x80 | (byte + 1));
      float half = (low + high) / 2;
      ASSERT_EQ(floatToSmall(half, format), byte % 2 ? byte + 1 : byte);
      ASSERT_EQ(floatToSmall(std::nextafter(half, 0.0F), format), byte);
      ASSERT_EQ(floatToSmall(std::nextafter(half, 1e9F), format), byte + 1);
    }
  }
}

TEST(SmallFloat, KnowsWhatIsNoNumber) {
  EXPECT_TRUE(std::isnan(smallToFloat(0x7f, SmallFloat::E4M3)));
  EXPECT_TRUE(std::isnan(smallToFloat(0xff, SmallFloat::E4M3)));
  EXPECT_TRUE(std::isnan(smallToFloat(0x80, SmallFloat::E4M3Fnuz)));
  for (SmallFloat format : {SmallFloat::E4M3, SmallFloat::E4M3Fnuz}) {
    EXPECT_TRUE(
        std::isnan(smallToFloat(floatToSmall(std::nanf(""), format), format)));
    EXPECT_EQ(parseSmallFloat(toString(format)), format);
  }
  // Of the two only the first has a zero below zero.
  EXPECT_EQ(floatToSmall(-1e-9F, SmallFloat::E4M3), 0x80);
  EXPECT_EQ(floatToSmall(-1e-9F, SmallFloat::E4M3Fnuz), 0);
  EXPECT_EQ(parseSmallFloat("i8"), std::nullopt);
}

// LLVM's names of features of one architecture may mean something else on
// another.
TEST(CpuFeatures, ArchitecturesAreNotMixed) {
  auto has = [](const char *architecture, std::string_view name) {
    auto known = getKnownFeatures(architecture);
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  EXPECT_TRUE(has("aarch64", "i8mm"));
  EXPECT_FALSE(has("x86_64", "i8mm"));
  EXPECT_TRUE(has("x86_64", "avx512vnni"));
  EXPECT_FALSE(has("aarch64", "avx512vnni"));
  // A name of both architectures, which each asks for in its own way.
  EXPECT_TRUE(has("aarch64", "aes"));
  EXPECT_TRUE(has("x86_64", "aes"));
  EXPECT_TRUE(getKnownFeatures("riscv64").empty());
  for (const char *architecture : {"aarch64", "x86_64"}) {
    auto known = getKnownFeatures(architecture);
    EXPECT_EQ(std::set(known.begin(), known.end()).size(), known.size());
  }
}

// gist-run compiles a model for its device by this name.
TEST(Devices, HaveTargets) {
  EXPECT_STREQ(targetOfDevice("cpu"), "cpu");
  EXPECT_STREQ(targetOfDevice("hip"), "gfx942");
  EXPECT_STREQ(targetOfDevice("cuda"), "sm_90");
  EXPECT_EQ(targetOfDevice("gfx942"), nullptr);
}

} // namespace
