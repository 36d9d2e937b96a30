//===- AssignPacking.cpp - The pass -gist-assign-packing ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CPU kernels read weights in an order of their own (PackingAttr). It is chosen
// here, once for each weight, and the module stores the packed bytes. Look-ups
// in a tied embedding then have to find single rows in the packed form.
//
//===----------------------------------------------------------------------===//

#include "dialect/Formats.h"
#include "dialect/GistExpertOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Kernel/PackWeights.h"
#include "passes/Passes.h"
#include "passes/Target/Info/ModuleTarget.h"

namespace gist {
#define GEN_PASS_DEF_ASSIGNPACKINGPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

//===----------------------------------------------------------------------===//
// Rows of a packed weight
//===----------------------------------------------------------------------===//

namespace {
/// Reads single numbers of a packed weight, in the body of a loop.
/// The layout is that of PackingAttr (dialect/GistAttrs.td) and of packWeight:
/// a change there has to be made here too.
class PackedReader {
public:
  PackedReader(ImplicitLocOpBuilder &b, Value packed, PackingAttr packing,
               const FormatInfo &format, Value row, Value column)
      : b(b), packed(packed), packing(packing), format(format),
        layout(getPackedLayout(packing)),
        tile(divide(row, packing.getColumns())),
        inTile(remainder(row, packing.getColumns())),
        block(divide(column, PackingAttr::kBlock)),
        inBlock(remainder(column, PackingAttr::kBlock)) {}

  /// d * (u - zero) + m
  /// u is the stored level of the value, d and m the scale and minimum of its
  /// group.
  Value read() {
    Value result = arith::MulFOp::create(b, readScale(0, 0), readValue());
    if (!packing.getHasMin())
      return result;
    Value minimum = readScale(layout.minOffset(), layout.sharedBytes() / 2);
    return arith::AddFOp::create(b, result, minimum);
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value divide(Value a, int64_t by) {
    return arith::DivUIOp::create(b, a, constant(by));
  }
  Value remainder(Value a, int64_t by) {
    return arith::RemUIOp::create(b, a, constant(by));
  }
  /// a * by + c
  Value scaled(Value a, int64_t by, Value c) {
    return arith::AddIOp::create(b, arith::MulIOp::create(b, a, constant(by)),
                                 c);
  }
  /// Byte `at` of the block.
  Value readByte(Value at) {
    Value sharing = constant(layout.sharingBlocks());
    Value inside = scaled(arith::RemUIOp::create(b, block, sharing),
                          layout.blockBytes(), constant(layout.sharedBytes()));
    return readSharedByte(arith::AddIOp::create(b, inside, at));
  }
  /// Byte `at` of the blocks that share scales with this one.
  Value readSharedByte(Value at) {
    Value superblock = divide(block, layout.sharingBlocks());
    return tensor::ExtractOp::create(b, packed,
                                     ValueRange{tile, superblock, at});
  }

  /// The number of this row and group among those that start at `first`, times
  /// the one among those at `shared` where blocks share some.
  Value readScale(int64_t first, int64_t shared) {
    // Numbers of a group lie together, one for each column of the tile.
    Value group = divide(inBlock, packing.getGroup());
    Value number = scaled(group, packing.getColumns(), inTile);
    if (layout.sharingBlocks() == 1)
      return readHalf(scaled(number, 2, constant(first)),
                      [&](Value at) { return readByte(at); });
    Value factor = arith::SIToFPOp::create(
        b, b.getF32Type(),
        readByte(arith::AddIOp::create(b, number, constant(first))));
    Value half = readHalf(scaled(inTile, 2, constant(shared)),
                          [&](Value at) { return readSharedByte(at); });
    return arith::MulFOp::create(b, half, factor);
  }

  /// Byte by byte, because a tensor of bytes has no wider loads.
  Value readHalf(Value at, function_ref<Value(Value at)> read) {
    Type word = b.getI16Type();
    Value low = arith::ExtUIOp::create(b, word, read(at));
    Value high = arith::ExtUIOp::create(
        b, word, read(arith::AddIOp::create(b, at, constant(1))));
    Value eight = arith::ConstantIntOp::create(b, word, 8);
    Value bits =
        arith::OrIOp::create(b, low, arith::ShLIOp::create(b, high, eight));
    Value half = arith::BitcastOp::create(b, b.getF16Type(), bits);
    return arith::ExtFOp::create(b, b.getF32Type(), half);
  }

  Value readValue() {
    int64_t depth = packing.getDepth(), width = packing.getColumns() * depth;
    // `depth` neighbouring values of a row lie together, then those of the next
    // row.
    Value lane = scaled(inTile, depth, remainder(inBlock, depth));
    Value number = scaled(divide(inBlock, depth), width, lane);
    auto planes = layout.planes();
    Value level = readBits(number, planes[0]);
    if (layout.numPlanes() == 2)
      level = arith::OrIOp::create(b, level, readBits(number, planes[1]));
    if (format.levels) { // Less the zero point already.
      ValueBuilder builder(b.getLoc(), b);
      return arith::SIToFPOp::create(b, b.getF32Type(),
                                     createLevel(builder, format, level));
    }
    if (packing.getIsSigned()) {
      Value unused = i32(32 - packing.getBits());
      level = arith::ShRSIOp::create(b, arith::ShLIOp::create(b, level, unused),
                                     unused);
    }
    Value value = arith::SubIOp::create(b, level, i32(packing.getZero()));
    return arith::SIToFPOp::create(b, b.getF32Type(), value);
  }

  /// The bits of value `number` in a plane, at their place in the value.
  Value readBits(Value number, const BitPlane &plane) {
    Value first = scaled(divide(number, plane.run()), plane.lanes,
                         constant(plane.offset));
    Value byte = readByte(
        arith::AddIOp::create(b, first, remainder(number, plane.lanes)));
    Value part = remainder(divide(number, plane.lanes), plane.perByte());
    Value shift = arith::IndexCastOp::create(
        b, b.getI32Type(),
        arith::MulIOp::create(b, part, constant(plane.bits)));
    Value moved = arith::ShRUIOp::create(
        b, arith::ExtUIOp::create(b, b.getI32Type(), byte), shift);
    Value bits = arith::AndIOp::create(b, moved, i32(plane.mask()));
    return arith::ShLIOp::create(b, bits, i32(plane.position));
  }

  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  }

  ImplicitLocOpBuilder &b;
  Value packed;
  PackingAttr packing;
  const FormatInfo &format;
  PackedLayout layout;
  // Where the number lies: a tile of rows, the row in it, a block of the row
  // and the number in that.
  Value tile, inTile, block, inBlock;
};
} // namespace

/// The gather of whole rows of `weight` that `op` dequantises, or null.
/// The checks are strict because a gather of parts of rows, or one with other
/// readers, must stay as it is.
static linalg::GenericOp getGather(DequantizeOp op, WeightOp weight) {
  auto gather = op.getBlocks().getDefiningOp<linalg::GenericOp>();
  if (!gather || gather.getNumDpsInputs() != 1 || gather.getNumLoops() != 3 ||
      gather.getNumParallelLoops() != 3 || !gather->hasOneUse())
    return {};
  auto extract = gather.getBody()
                     ->getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<tensor::ExtractOp>();
  if (!extract || extract.getTensor() != weight.getResult())
    return {};
  auto isLoop = [&](Value index, uint64_t loop) {
    auto op = index.getDefiningOp<linalg::IndexOp>();
    return op && op.getDim() == loop;
  };
  auto row = extract.getIndices()[0].getDefiningOp<arith::IndexCastOp>();
  AffineMap ids = gather.getMatchingIndexingMap(gather.getDpsInputOperand(0));
  bool isRows =
      row && row.getIn() == gather.getBody()->getArgument(0) &&
      ids == AffineMap::get(3, 0, getAffineDimExpr(0, gather.getContext())) &&
      isLoop(extract.getIndices()[1], 1) && isLoop(extract.getIndices()[2], 2);
  return isRows ? gather : linalg::GenericOp();
}

/// Lets `op`, rows of a weight by their numbers, read the packed weight.
/// The same numbers as before: only where the bytes lie has changed.
static void readPackedRows(RewriterBase &rewriter, DequantizeOp op,
                           linalg::GenericOp gather, WeightOp packed) {
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto packing = packed->getAttrOfType<PackingAttr>(kPackingAttr);
  Value ids = gather.getDpsInputOperand(0)->get();
  RankedTensorType type = op.getType();
  Value init = tensor::EmptyOp::create(
      b,
      SmallVector<OpFoldResult>{tensor::getMixedSize(b, b.getLoc(), ids, 0),
                                b.getIndexAttr(type.getDimSize(1))},
      type.getElementType());
  AffineMap row = AffineMap::get(2, 0, b.getAffineDimExpr(0));
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  auto rows = linalg::GenericOp::create(
      b, type, ids, init, {row, b.getMultiDimIdentityMap(2)}, loops,
      [&](OpBuilder &nested, Location location, ValueRange values) {
        ImplicitLocOpBuilder inner(location, nested);
        Value number =
            arith::IndexCastOp::create(inner, inner.getIndexType(), values[0]);
        Value column = linalg::IndexOp::create(inner, 1);
        PackedReader reader(inner, packed, packing,
                            getFormatInfo(op.getFormat()), number, column);
        linalg::YieldOp::create(inner, reader.read());
      });
  rewriter.replaceOp(op, rows);
  rewriter.eraseOp(gather);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct AssignPackingPass final
    : gist::impl::AssignPackingPassBase<AssignPackingPass> {
  using Base::Base;

  /// Gives `op` a packed weight of its own, which lookups then read too: a
  /// tied embedding is there once. The stored one stays if other readers
  /// need it, and is dropped otherwise.
  template <typename OpTy>
  void pack(OpTy op, WeightOp weight, int64_t depth, PackingAttr packing) {
    IRRewriter rewriter(op);
    auto stored = cast<RankedTensorType>(weight.getResult().getType());
    auto type = RankedTensorType::get(
        packing.getPackedShape(stored.getDimSize(0), depth),
        stored.getElementType());
    rewriter.setInsertionPointAfter(weight);
    auto packed = WeightOp::create(rewriter, weight.getLoc(), type,
                                   weight.getNameAttr(), weight.getLayerAttr());
    // The type no longer says how the file stores the weight; Emit needs both
    // to pack its bytes.
    packed->setAttr(kFormatAttr, op.getFormatAttr());
    packed->setAttr(kPackingAttr, packing);
    if (Attribute parts = weight->getAttr(kPartsAttr))
      packed->setAttr(kPartsAttr, parts);
    rewriter.modifyOpInPlace(op, [&] {
      op.getWeightMutable().assign(packed.getResult());
      op.setPackedAttr(packing);
    });
    readRows(rewriter, weight, packed);
    if (weight->use_empty())
      rewriter.eraseOp(weight);
  }

  static void readRows(RewriterBase &rewriter, WeightOp weight,
                       WeightOp packed) {
    // Collected first: the rewriting changes the list of users.
    SmallVector<std::pair<DequantizeOp, linalg::GenericOp>> lookups;
    for (Operation *user : weight->getUsers())
      if (auto gather = user->getParentOfType<linalg::GenericOp>();
          gather && gather->hasOneUse())
        if (auto op = dyn_cast<DequantizeOp>(*gather->user_begin());
            op && getGather(op, weight) == gather)
          lookups.emplace_back(op, gather);
    // The packed weight is read where the stored one was.
    for (auto [op, gather] : lookups)
      readPackedRows(rewriter, op, gather, packed);
  }

  void runOnOperation() override {
    FailureOr<TargetInfo> target = getCpuTargetInfo(getOperation());
    if (failed(target))
      return signalPassFailure();
    SmallVector<QuantizedMatmulOp> products;
    SmallVector<QuantizedExpertMatmulOp> experts;
    getOperation()->walk([&](Operation *op) {
      if (auto product = dyn_cast<QuantizedMatmulOp>(op);
          product && !product.getPackedAttr())
        products.push_back(product);
      if (auto product = dyn_cast<QuantizedExpertMatmulOp>(op);
          product && !product.getPackedAttr())
        experts.push_back(product);
    });
    // Products of a function share one packed weight after CSE, because a
    // weight op is its name, its type and these attributes.
    for (QuantizedMatmulOp op : products)
      if (auto weight = op.getWeight().getDefiningOp<WeightOp>())
        pack(op, weight, op.getValues().getType().getDimSize(1),
             getPacking(&getContext(), op.getFormat(), *target));
    for (QuantizedExpertMatmulOp op : experts) {
      auto weight = op.getWeight().getDefiningOp<WeightOp>();
      PackingAttr packing = getPacking(&getContext(), op.getFormat(), *target);
      // A tile of rows of two experts would be read for both. Such a product
      // runs by its definition.
      if (weight && op.getSizes().columns % packing.getColumns() == 0)
        pack(op, weight, op.getSizes().depth, packing);
    }
  }
};
} // namespace
