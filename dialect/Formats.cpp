//===- Formats.cpp - Attributes and the layouts they name -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/Formats.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistOps.h"

#include <limits>

using namespace mlir;
using namespace gist;

/// The dialect's enumeration has only formats of blocks; the runtime's has
/// plain numbers too. The switch fails to compile when one is missing.
WeightFormat gist::getWeightFormat(BlockFormat format) {
  switch (format) {
#define GIST_BLOCK_FORMAT(Name)                                                \
  case BlockFormat::Name:                                                      \
    return WeightFormat::Name;
#include "runtime/format/BlockFormats.def"
  }
  llvm_unreachable("all formats are listed");
}

BlockFormat gist::getBlockFormat(WeightFormat format) {
  switch (format) {
#define GIST_BLOCK_FORMAT(Name)                                                \
  case WeightFormat::Name:                                                     \
    return BlockFormat::Name;
#include "runtime/format/BlockFormats.def"
  default:
    llvm_unreachable("a format without blocks");
  }
}

const FormatInfo &gist::getFormatInfo(BlockFormat format) {
  return formatInfo(getWeightFormat(format));
}

BlockLayout gist::getBlockLayout(BlockFormat format) {
  const FormatInfo &info = getFormatInfo(format);
  return {info.blockBytes, info.blockLength};
}

/// The table as four words, of which bits 2 and 3 of the number choose one: no
/// memory is read, so that kernels of all targets can do it in registers.
Value gist::createLevel(ValueBuilder &b, const FormatInfo &format,
                        Value number) {
  assert(format.levels && format.bits == 4 && "not a table of sixteen");
  Type type = number.getType();
  auto constant = [&](uint32_t value) -> Value {
    auto number = b.getI32IntegerAttr(static_cast<int32_t>(value));
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(
          b, DenseElementsAttr::get(vector, Attribute(number)));
    return arith::ConstantOp::create(b, number);
  };
  auto word = [&](uint32_t first) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 4; ++i)
      bits |=
          static_cast<uint32_t>(static_cast<uint8_t>(format.levels[first + i]))
          << 8 * i;
    return constant(bits);
  };
  auto choose = [&](uint32_t bit, Value ifSet, Value otherwise) -> Value {
    Value masked = arith::AndIOp::create(b, number, constant(bit));
    return arith::SelectOp::create(
        b, b.compare(arith::CmpIPredicate::ne, masked, constant(0)), ifSet,
        otherwise);
  };
  Value chosen =
      choose(8, choose(4, word(12), word(8)), choose(4, word(4), word(0)));
  // The wanted byte goes to the top, and comes down with its sign.
  Value place = arith::AndIOp::create(b, number, constant(3));
  Value shift = arith::ShLIOp::create(
      b, arith::SubIOp::create(b, constant(3), place), constant(3));
  return arith::ShRSIOp::create(b, arith::ShLIOp::create(b, chosen, shift),
                                constant(24));
}

//===----------------------------------------------------------------------===//
// #gist.packing
//===----------------------------------------------------------------------===//

// The runtime's layout and the attribute describe the same bytes.
static_assert(PackingAttr::kBlock == PackedLayout::kBlock);

/// The runtime defines what the bytes mean; this only copies the numbers.
PackedLayout gist::getPackedLayout(PackingAttr packing) {
  return {.columns = packing.getColumns(),
          .depth = packing.getDepth(),
          .bits = packing.getBits(),
          .group = packing.getGroup(),
          .scaleBits = packing.getScaleBits(),
          .zero = packing.getZero(),
          .isSigned = packing.getIsSigned(),
          .hasMin = packing.getHasMin()};
}

PackingAttr gist::getPackingAttr(MLIRContext *context,
                                 const PackedLayout &layout) {
  return PackingAttr::get(context, layout.columns, layout.depth, layout.bits,
                          layout.group, layout.scaleBits, layout.zero,
                          layout.isSigned, layout.hasMin);
}

int64_t PackingAttr::getMinOffset() const {
  return getPackedLayout(*this).minOffset();
}

int64_t PackingAttr::getValueOffset() const {
  return getPackedLayout(*this).valueOffset();
}

int64_t PackingAttr::getBlockBytes() const {
  return getPackedLayout(*this).blockBytes();
}

SmallVector<int64_t, 3> PackingAttr::getPackedShape(int64_t rows,
                                                    int64_t values) const {
  return llvm::to_vector<3>(getPackedLayout(*this).packedShape(rows, values));
}

/// PackedLayout knows what is possible; the attribute only passes its sentence
/// on.
LogicalResult PackingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t columns, int64_t depth, int64_t bits,
                                  int64_t group, int64_t scaleBits,
                                  int64_t zero, bool isSigned, bool hasMin) {
  PackedLayout layout{columns,   depth, bits,     group,
                      scaleBits, zero,  isSigned, hasMin};
  if (std::string fault = layout.findFault(); !fault.empty())
    return emitError() << fault;
  return success();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// theta = 1 - tau^2, rounded after each step as thetaOfTau does on the host.
/// No cosine reaches that of a tau outside of (0, 1).
Value gist::createTheta(ValueBuilder &b, Value tau) {
  using arith::CmpFPredicate;
  Value isInside = b.allOf({b.compare(CmpFPredicate::OGT, tau, b.f32(0)),
                            b.compare(CmpFPredicate::OLT, tau, b.f32(1))});
  Value square = arith::MulFOp::create(b, tau, tau);
  Value theta = arith::SubFOp::create(b, b.f32(1), square);
  return arith::SelectOp::create(b, isInside, theta,
                                 b.f32(std::numeric_limits<float>::infinity()));
}
