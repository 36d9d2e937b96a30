//===- BlockFormats.cpp - How weights are stored --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/BlockFormats.h"

#include <bit>
#include <cassert>
#include <cstring>

using namespace gist;

/// For formats that no GGUF file has.
static constexpr uint32_t kNoGgmlType = UINT32_MAX;

/// In the order of WeightFormat.
static constexpr FormatInfo kFormats[] = {
    {"F32", 0, 1, 4},
    {"F16", 1, 1, 2},
    {"BF16", 30, 1, 2},
    {"Q8_0", 8, 32, 34},
    {"Q4_0", 2, 32, 18},
    {"Q4_1", 3, 32, 20},
    {"Q4_K", 12, 256, 144},
    {"Q6_K", 14, 256, 210},
    {"Q3_1", kNoGgmlType, 32, 16},
    {"Q2_1", kNoGgmlType, 32, 12},
};

const FormatInfo &gist::formatInfo(WeightFormat format) {
  return kFormats[static_cast<size_t>(format)];
}

bool gist::formatOfName(std::string_view name, WeightFormat &format) {
  for (size_t i = 0; i < std::size(kFormats); ++i)
    if (name == kFormats[i].name) {
      format = static_cast<WeightFormat>(i);
      return true;
    }
  return false;
}

/// The name of a ggml type that is not in the table above, for messages.
static const char *otherGgmlTypeName(uint32_t ggmlType) {
  switch (ggmlType) {
    // clang-format off
  case 6: return "Q5_0";     case 7: return "Q5_1";    case 9: return "Q8_1";
  case 10: return "Q2_K";    case 11: return "Q3_K";   case 13: return "Q5_K";
  case 15: return "Q8_K";    case 16: return "IQ2_XXS"; case 17: return "IQ2_XS";
  case 18: return "IQ3_XXS"; case 19: return "IQ1_S";  case 20: return "IQ4_NL";
  case 21: return "IQ3_S";   case 22: return "IQ2_S";  case 23: return "IQ4_XS";
  case 24: return "I8";      case 25: return "I16";    case 26: return "I32";
  case 27: return "I64";     case 28: return "F64";    case 29: return "IQ1_M";
  case 34: return "TQ1_0";   case 35: return "TQ2_0";  case 39: return "MXFP4";
  default: return "unknown";
    // clang-format on
  }
}

Status gist::formatOfGgmlType(uint32_t ggmlType, WeightFormat &format) {
  std::string known;
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    if (kFormats[i].ggmlType == kNoGgmlType)
      continue;
    if (kFormats[i].ggmlType == ggmlType) {
      format = static_cast<WeightFormat>(i);
      return {};
    }
    known += (i ? ", " : "") + std::string(kFormats[i].name);
  }
  return Status::error(Code::Unsupported,
                       "stored as ggml type %" PRIu32 " (%s); supported are %s",
                       ggmlType, otherGgmlTypeName(ggmlType), known.c_str());
}

Status gist::storedBytes(WeightFormat format, const std::vector<int64_t> &shape,
                         uint64_t &bytes) {
  const FormatInfo &info = formatInfo(format);
  // At most 210 bytes a block, so 2^54 elements leave room for the product.
  constexpr int64_t kMaxElements = int64_t(1) << 54;
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (dim < 1 || dim > kMaxElements / count)
      return Status::error(Code::BadFile, "shape %s is empty or too large",
                           shapeText(shape).c_str());
    count *= dim;
  }
  int64_t rowLength = shape.empty() ? 1 : shape.back();
  if (rowLength % info.blockLength != 0)
    return Status::error(Code::BadFile,
                         "rows of %" PRId64
                         " elements are not whole blocks of %" PRIu32 " (%s)",
                         rowLength, info.blockLength, info.name);
  bytes = static_cast<uint64_t>(count) / info.blockLength * info.blockBytes;
  return {};
}

float gist::halfToFloat(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00) // Infinity or NaN: the widest exponent stays widest.
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // As the bits of a float the value is 2^112 too small, subnormals included.
  float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

float gist::bfloatToFloat(uint16_t bfloat) {
  return std::bit_cast<float>(static_cast<uint32_t>(bfloat) << 16);
}

static float loadHalf(const uint8_t *bytes) {
  uint16_t half;
  std::memcpy(&half, bytes, sizeof(half));
  return halfToFloat(half);
}

static void dequantizeQ80(const uint8_t *block, float *out) {
  float scale = loadHalf(block);
  for (int i = 0; i < 32; ++i)
    out[i] = scale * static_cast<int8_t>(block[2 + i]);
}

static void dequantizeQ40(const uint8_t *block, float *out) {
  float scale = loadHalf(block);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * ((block[2 + i] & 15) - 8);
    out[i + 16] = scale * ((block[2 + i] >> 4) - 8);
  }
}

static void dequantizeQ41(const uint8_t *block, float *out) {
  float scale = loadHalf(block), minimum = loadHalf(block + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * (block[4 + i] & 15) + minimum;
    out[i + 16] = scale * (block[4 + i] >> 4) + minimum;
  }
}

/// Value i is pair i / 8 of byte i % 8; a third bit is bit i / 4 of byte i % 4
/// after those.
static void dequantizePlanes(const uint8_t *block, bool hasThird, float *out) {
  float scale = loadHalf(block), minimum = loadHalf(block + 2);
  const uint8_t *pairs = block + 4, *third = block + 12;
  for (int i = 0; i < 32; ++i) {
    int value = pairs[i % 8] >> (2 * (i / 8)) & 3;
    if (hasThird)
      value |= (third[i % 4] >> (i / 4) & 1) << 2;
    out[i] = scale * value + minimum;
  }
}

/// Eight groups of 32: a 6-bit scale and a 6-bit minimum each, packed in twelve
/// bytes, in units of the block's two halves.
static void dequantizeQ4K(const uint8_t *block, float *out) {
  float scaleUnit = loadHalf(block), minimumUnit = loadHalf(block + 2);
  const uint8_t *packed = block + 4, *quants = block + 16;
  for (int group = 0; group < 8; ++group) {
    int scale, minimum;
    if (group < 4) {
      scale = packed[group] & 63;
      minimum = packed[group + 4] & 63;
    } else {
      scale = (packed[group + 4] & 15) | (packed[group - 4] >> 6) << 4;
      minimum = (packed[group + 4] >> 4) | (packed[group] >> 6) << 4;
    }
    // Groups 2n and 2n+1 are the low and the high halves of the same bytes.
    const uint8_t *bytes = quants + group / 2 * 32;
    int shift = group % 2 * 4;
    for (int i = 0; i < 32; ++i)
      out[group * 32 + i] =
          scaleUnit * scale * (bytes[i] >> shift & 15) - minimumUnit * minimum;
  }
}

/// Sixteen groups of 16 with an 8-bit scale each. Low four bits first, then the
/// high two bits, each in two halves of 128 elements.
static void dequantizeQ6K(const uint8_t *block, float *out) {
  float scaleUnit = loadHalf(block + 208);
  for (int i = 0; i < 256; ++i) {
    int half = i / 128, quarter = i % 128 / 32, lane = i % 32;
    uint8_t lowByte = block[half * 64 + quarter % 2 * 32 + lane];
    uint8_t highByte = block[128 + half * 32 + lane];
    int low = lowByte >> quarter / 2 * 4 & 15;
    int high = highByte >> quarter * 2 & 3;
    auto scale = static_cast<float>(static_cast<int8_t>(block[192 + i / 16]));
    out[i] = scaleUnit * scale * ((low | high << 4) - 32);
  }
}

void gist::dequantize(WeightFormat format, Bytes blocks, float *out) {
  const FormatInfo &info = formatInfo(format);
  assert(blocks.size % info.blockBytes == 0 && "a block is cut off");
  if (format == WeightFormat::F32) {
    std::memcpy(out, blocks.data, blocks.size);
    return;
  }
  const uint8_t *end = blocks.data + blocks.size;
  for (const uint8_t *block = blocks.data; block != end;
       block += info.blockBytes, out += info.blockLength) {
    switch (format) {
    case WeightFormat::F32:
      break;
    case WeightFormat::F16:
      *out = loadHalf(block);
      break;
    case WeightFormat::BF16: {
      uint16_t bits;
      std::memcpy(&bits, block, sizeof(bits));
      *out = bfloatToFloat(bits);
      break;
    }
    case WeightFormat::Q8_0:
      dequantizeQ80(block, out);
      break;
    case WeightFormat::Q4_0:
      dequantizeQ40(block, out);
      break;
    case WeightFormat::Q4_1:
      dequantizeQ41(block, out);
      break;
    case WeightFormat::Q4_K:
      dequantizeQ4K(block, out);
      break;
    case WeightFormat::Q6_K:
      dequantizeQ6K(block, out);
      break;
    case WeightFormat::Q3_1:
    case WeightFormat::Q2_1:
      dequantizePlanes(block, format == WeightFormat::Q3_1, out);
      break;
    }
  }
}

std::string gist::shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "x" : "") + std::to_string(shape[i]);
  return text.empty() ? "scalar" : text;
}

std::string gist::inQuotes(std::string_view name) {
  std::string text = "'";
  for (char c : name.substr(0, 80))
    text += c >= ' ' && c <= '~' ? c : '?';
  return text + (name.size() > 80 ? "...'" : "'");
}
