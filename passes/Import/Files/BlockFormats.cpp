//===- BlockFormats.cpp - How weights are stored --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/BlockFormats.h"

#include <cinttypes>

using namespace gist;

/// The name of a ggml type that is not in BlockFormats.def, for messages.
static const char *otherGgmlTypeName(uint32_t ggmlType) {
  switch (ggmlType) {
    // clang-format off
  case 9: return "Q8_1";     case 15: return "Q8_K";   case 16: return "IQ2_XXS";
  case 17: return "IQ2_XS";  case 18: return "IQ3_XXS"; case 19: return "IQ1_S";
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
  std::span<const FormatInfo> formats = allFormats();
  for (size_t i = 0; i < formats.size(); ++i) {
    if (formats[i].ggmlType == FormatInfo::kNoGgmlType)
      continue;
    if (formats[i].ggmlType == ggmlType) {
      format = static_cast<WeightFormat>(i);
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(formats[i].name);
  }
  return Status::error(Code::Unsupported,
                       "the ggml type %" PRIu32
                       " (%s) is not supported; supported are %s",
                       ggmlType, otherGgmlTypeName(ggmlType), known.c_str());
}

/// Rows are stored one after the other, each of whole blocks.
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

std::string gist::shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "x" : "") + std::to_string(shape[i]);
  return text.empty() ? "scalar" : text;
}

/// Names come from files: control characters and huge names must not reach a
/// terminal.
std::string gist::inQuotes(std::string_view name) {
  std::string text = "'";
  for (char c : name.substr(0, 80))
    text += c >= ' ' && c <= '~' ? c : '?';
  return text + (name.size() > 80 ? "...'" : "'");
}
