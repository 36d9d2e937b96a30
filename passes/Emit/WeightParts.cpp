//===- WeightParts.cpp - What the bytes of a weight are made of -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A weight of a program is a stored one, or several below one another, and
// perhaps in the order that kernels read it in.
//
//===----------------------------------------------------------------------===//

#include "passes/Emit/WeightParts.h"
#include "dialect/GistIntegerOps.h"
#include "passes/Kernel/PackWeights.h"
#include "runtime/format/BlockFormats.h"
#include "runtime/support/Status.h"

#include <array>
#include <bit>
#include <cmath>

using namespace mlir;
using namespace gist;

uint64_t gist::getNumBytes(RankedTensorType type) {
  return type.getNumElements() * (type.getElementTypeBitWidth() / 8);
}

FailureOr<std::vector<const Weight *>> gist::findParts(WeightOp op,
                                                       WeightMaker &weights) {
  SmallVector<StringRef> names;
  if (auto parts = op->getAttrOfType<ArrayAttr>(kPartsAttr))
    llvm::append_range(names, parts.getAsValueRange<StringAttr>());
  else
    names.push_back(op.getName());
  std::vector<const Weight *> found;
  for (StringRef name : names) {
    const Weight *part = nullptr;
    Status status = weights.find(op->getParentOfType<ModuleOp>(), name, part);
    if (!status.ok())
      return op.emitOpError(status.text);
    found.push_back(part);
  }
  return found;
}

/// The scale of a row, and what its numbers are multiplied with before they are
/// rounded; `most` is the largest number of their type.
static std::pair<float, float> getRowScale(ArrayRef<float> row, float most) {
  float largest = 0;
  for (float number : row)
    largest = std::max(largest, std::abs(number));
  // Of a row that is this close to zero the inverse would be infinite.
  float inverse = most / largest;
  return std::isfinite(inverse) ? std::pair(largest / most, inverse)
                                : std::pair(0.0f, 0.0f);
}

/// Appends what a weight in 8 bits of type `number` has of `weight`: its
/// values, or the scales of its rows.
static Status appendByRow(const Weight &weight, Type number, bool isScales,
                          std::vector<uint8_t> &bytes) {
  auto most = static_cast<float>(getLargest(number));
  std::optional<SmallFloat> format = getSmallFloat(number);
  int64_t columns = weight.shape[1];
  uint64_t rowBytes = weight.content.size / weight.shape[0];
  std::vector<float> row(columns);
  for (int64_t i = 0; i < weight.shape[0]; ++i) {
    dequantize(weight.format, {weight.content.data + i * rowBytes, rowBytes},
               row.data());
    if (!llvm::all_of(row, [](float number) { return std::isfinite(number); }))
      return Status::error(Code::BadFile,
                           "a weight has a number that is not finite in row "
                           "%lld; expected finite numbers for products in 8 "
                           "bits: compile without --compute=int8 or fp8",
                           static_cast<long long>(i));
    auto [scale, inverse] = getRowScale(row, most);
    if (isScales) {
      auto text = std::bit_cast<std::array<uint8_t, sizeof(float)>>(scale);
      bytes.insert(bytes.end(), text.begin(), text.end());
      continue;
    }
    for (float number : row)
      bytes.push_back(format ? floatToSmall(number * inverse, *format)
                             : static_cast<uint8_t>(static_cast<int8_t>(
                                   std::nearbyint(number * inverse))));
  }
  return {};
}

std::optional<SmallFloat> gist::getSmallFloat(Type number) {
  if (isa<Float8E4M3FNType>(number))
    return SmallFloat::E4M3;
  if (isa<Float8E4M3FNUZType>(number))
    return SmallFloat::E4M3Fnuz;
  return std::nullopt;
}

/// Called while the file is written, so that only one packed weight is in
/// memory at a time.
WeightProducer gist::makeProducer(WeightOp op,
                                  std::vector<const Weight *> parts) {
  auto packing = op->getAttrOfType<PackingAttr>(kPackingAttr);
  auto stored = op->getAttrOfType<BlockFormatAttr>(kFormatAttr);
  auto byRow = op->getAttrOfType<TypeAttr>(kByRowAttr);
  bool isScales = cast<RankedTensorType>(op.getType()).getRank() == 1;
  BlockFormat format = stored ? stored.getValue() : BlockFormat();
  return [=, parts = std::move(parts)](const ByteSink &sink) {
    std::vector<uint8_t> bytes;
    int64_t rows = 0;
    for (const Weight *part : parts) {
      if (byRow)
        GIST_TRY(appendByRow(*part, byRow.getValue(), isScales, bytes));
      else
        bytes.insert(bytes.end(), part->content.data,
                     part->content.data + part->content.size);
      rows += part->shape[0];
    }
    if (packing)
      bytes = packWeight(format, packing, bytes, rows, parts[0]->shape[1]);
    return sink({bytes.data(), bytes.size()});
  };
}
