//===- ExpertTiles.cpp - Products with experts, rows gathered -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch. T tokens name S experts each: T x S rows, of which row r belongs
// to token r / S. The workgroups that come first write a list of the rows of
// each expert, one expert after the other (SharedSteps.h). Then every workgroup
// has a tile of one expert's product: it gathers its rows by the list, and
// stores them where they belong. Tiles of the same columns are neighbours, so
// that they read the same rows of a weight at about the same time; an expert
// that nobody named has no tile.
//
// There are workgroups for as many tiles as experts can need. Each expert's
// last tile may have fewer rows; workgroups past the last tile end at once.
//
// The list is scratch memory and not an op of its own, so that the product
// depends on each row alone, and rows of several sequences may share a call
// (decision 016).
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/ProductCost.h"
#include "passes/Tile/Gpu/Core/Compact.h"
#include "passes/Tile/Gpu/Core/SharedSteps.h"
#include "passes/Tile/Gpu/Core/Wgmma.h"
#include "passes/Tile/Gpu/Experts/Experts.h"
#include "passes/Tile/Gpu/Matmul/MatmulLoop.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

using Values = GpuBuilder::Values;

//===----------------------------------------------------------------------===//
// How it is cut
//===----------------------------------------------------------------------===//

GpuProductAttr gist::selectExpertTilesTile(ExpertMatmulOp op,
                                           const GpuInfo &gpu) {
  MLIRContext *context = op.getContext();
  Type element = Float16Type::get(context);
  for (Value operand : {Value(op.getInput()), Value(op.getWeight())})
    if (getElementTypeOrSelf(operand).isBF16())
      element = BFloat16Type::get(context);
  ExpertSizes sizes = op.getSizes();
  if (gpu.kind == GpuKind::Nvidia) {
    ProductTile tile = chooseGroupedTile(
        {op.getInput().getType().getDimSize(0), sizes.columns, sizes.depth},
        {sizes.experts, sizes.slots}, gpu);
    return GpuProductAttr::get(context, tile.rows, tile.columns,
                               Wgmma::kTileDepth, {tile.getWarps(), 1},
                               tile.stages, Instruction::Wgmma64x128x16,
                               element);
  }
  // Rows of an expert are fewer than those of a call: no larger tile.
  return GpuProductAttr::get(context, /*rows=*/128, /*columns=*/128,
                             /*depth=*/32, /*waves=*/{2, 2}, /*stages=*/2,
                             Instruction::Mfma32x32x8, element);
}

FailureOr<KernelScratch> gist::getExpertTilesScratch(func::FuncOp kernel,
                                                     ExpertMatmulOp op) {
  FailureOr<SmallVector<AffineExpr>> sizes =
      getSizeExprs(kernel, op.getExperts());
  if (failed(sizes))
    return failure();
  MLIRContext *context = kernel.getContext();
  Type word = IntegerType::get(context, 32);
  KernelScratch scratch;
  // Rows by experts, and where those of each begin.
  scratch.tensors.push_back({{(*sizes)[0] * (*sizes)[1]}, word});
  scratch.tensors.push_back(
      {{getAffineConstantExpr(op.getSizes().experts, context)}, word});
  scratch.controlWords = kStepWords;
  return scratch;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
class ExpertTiles {
public:
  ExpertTiles(GpuKernel &kernel, ExpertMatmulOp op)
      : kernel(kernel), b(kernel.b), emitter(kernel.emitter), op(op),
        sizes(op.getSizes()), tile(kernel.getTile<GpuProductAttr>()),
        loop(b, tile),
        rows(b.mul(emitter.size(op.getExperts(), 0), sizes.slots)),
        x(emitter, op.getInput(), sizes.hasOwnRows ? sizes.slots : 1),
        w(emitter, op.getWeight()),
        result(emitter, op, tile.getColumns(), sizes.slots), compact(b),
        order(b.allocWorkgroup({tile.getRows()}, b.getI32Type())),
        found(b.allocWorkgroup({kNumFound}, b.getI32Type())) {}

  LogicalResult emit() {
    if (failed(readArguments()))
      return failure();
    SharedSteps steps(b, control, b.mul(number, kStepWords));
    steps.begin();
    steps.run(sizes.experts, [&](Value expert) { listRows(expert); });
    steps.wait();
    findTile();
    b.ifThen(isThere, [&] {
      findRows();
      multiply();
    });
    return success();
  }

private:
  /// What the thread that finds the tile says to the others.
  enum Found : int64_t { kExpert, kInside, kBegin, kCount, kNumFound };

  LogicalResult readArguments() {
    auto target = cast<func::FuncOp>(b.getBlock()->getParentOp());
    func::FuncOp source = kernel.source;
    KernelAttr attr = getKernelAttr(source);
    int64_t count = source.getNumArguments(), first = count - attr.getOutputs();
    // The result, the list, where experts begin, control; the number of the
    // call is the last input.
    if (attr.getScratch() != 3 || attr.getOutputs() != 4 || first < 1 ||
        !source.getArgument(first - 1).getType().isIndex() ||
        !source.getArgAttr(count - 1, kControlArgAttr))
      return op.emitOpError("has no scratch memory");
    number = target.getArgument(first - 1);
    list = target.getArgument(count - 3);
    begins = target.getArgument(count - 2);
    control = target.getArgument(count - 1);
    return success();
  }

  Value toWord(Value number) {
    return arith::IndexCastOp::create(b, b.getI32Type(), number);
  }

  /// The expert of a row; one that names nothing has the nearest there is.
  Value getExpert(Value row) {
    Value named = emitter.element(
        op.getExperts(), {b.div(row, sizes.slots), b.rem(row, sizes.slots)});
    named = arith::IndexCastOp::create(b, b.getIndexType(), named);
    return b.min(b.max(named, b.index(0)), b.index(sizes.experts - 1));
  }

  /// Writes the rows of an expert, in order.
  void listRows(Value expert) {
    Value begin = compact.run(
        b.index(0), rows, b.index(0),
        [&](Value row) { return b.isLess(getExpert(row), expert); },
        [](Value, Value, Value) {});
    compact.run(
        b.index(0), rows, begin,
        [&](Value row) {
          return b.compare(CmpIPredicate::eq, getExpert(row), expert);
        },
        [&](Value row, Value holds, Value place) {
          b.ifThen(holds, [&] { b.write(toWord(row), list, place); });
        });
    b.ifThen(b.isEqual(b.thread(), 0),
             [&] { b.write(toWord(begin), begins, expert); });
  }

  int64_t getTilesOfColumns() const {
    return llvm::divideCeil(sizes.columns, tile.getColumns());
  }

  /// Which tile of which expert this workgroup has. A thread looks at an
  /// expert.
  void findTile() {
    Value workgroup = b.block(0), last = b.index(sizes.experts - 1);
    auto look = [&](Value first, ValueRange carried) {
      Value expert = b.add(first, b.thread());
      Value near = b.min(expert, last);
      Value next = b.readNumber(begins, b.min(b.add(near, 1), last));
      Value begin = b.readNumber(begins, near);
      Value end = b.select(b.isLess(near, last), next, rows);
      Value count = b.select(b.isLess(expert, sizes.experts), b.sub(end, begin),
                             b.index(0));
      Value tiles =
          b.mul(b.ceilDiv(count, tile.getRows()), getTilesOfColumns());
      auto [before, total] = compact.scan(tiles);
      Value inside = b.sub(workgroup, b.add(carried[0], before));
      Value isHere = b.both(b.compare(CmpIPredicate::sge, inside, b.index(0)),
                            b.isLess(inside, tiles));
      b.ifThen(isHere, [&] {
        for (auto [place, value] : {std::pair<Found, Value>{kExpert, expert},
                                    {kInside, inside},
                                    {kBegin, begin},
                                    {kCount, count}})
          b.write(toWord(value), found, b.index(place));
      });
      return Values{b.add(carried[0], total)};
    };
    Value tiles = b.loop(b.index(0), b.index(sizes.experts), b.getThreads(),
                         b.index(0), look)[0];
    b.barrier();
    isThere = b.isLess(workgroup, tiles);
  }

  /// Reads the rows of this tile; past the last one, the number of rows.
  void findRows() {
    auto get = [&](Found place) { return b.readNumber(found, b.index(place)); };
    expert = get(kExpert);
    Value count = get(kCount), inside = get(kInside);
    Value tiles = b.ceilDiv(count, tile.getRows());
    Value first = b.mul(b.rem(inside, tiles), tile.getRows());
    firstColumn = b.mul(b.div(inside, tiles), tile.getColumns());
    Value begin = b.add(get(kBegin), first), left = b.sub(count, first);
    b.forEach(b.thread(), b.index(tile.getRows()), b.index(b.getThreads()),
              [&](Value place) {
                Value near = b.add(begin, b.min(place, b.sub(left, 1)));
                Value row = b.select(b.isLess(place, left),
                                     b.readNumber(list, near), rows);
                b.write(toWord(row), order, place);
              });
    b.barrier();
  }

  void multiply() {
    auto getRow = [&](Value place) { return b.readNumber(order, place); };
    auto isRow = [&](Value place) { return b.isLess(getRow(place), rows); };
    // Places without a row read nothing, and what they give is not stored.
    auto getNearRow = [&](Value place) {
      Value row = b.min(getRow(place), b.sub(rows, 1));
      return sizes.hasOwnRows ? row : b.div(row, sizes.slots);
    };
    TileLoader loadX(b, x, loop.getTileX(), getNearRow, isRow);
    // Columns past an expert's last are those of the next, and not stored.
    TileLoader loadW(b, w, loop.getTileW(),
                     b.add(b.mul(expert, sizes.columns), firstColumn));
    Values sums = loop.add(loadX, loadW, loop.makeSums());
    loop.store(result, sums, getRow, firstColumn);
  }

  GpuKernel &kernel;
  GpuBuilder &b;
  ElementEmitter &emitter;
  ExpertMatmulOp op;
  ExpertSizes sizes;
  GpuProductAttr tile;
  MatmulLoop loop;
  Value rows; ///< of all tokens
  Operand x, w;
  MatmulResult result;
  Compact compact;
  Value order;                         ///< workgroup memory: rows of this tile
  Value found;                         ///< workgroup memory: see Found
  Value number, list, begins, control; ///< arguments
  Value isThere, expert, firstColumn;
};
} // namespace

FailureOr<GpuGrid> gist::emitExpertTiles(GpuKernel &kernel, ExpertMatmulOp op) {
  FailureOr<AffineExpr> tokens =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0).front());
  if (failed(tokens))
    return op.emitOpError(
        "has rows whose number does not follow from the kernel's arguments");
  if (failed(ExpertTiles(kernel, op).emit()))
    return failure();
  ExpertSizes sizes = op.getSizes();
  auto tile = kernel.getTile<GpuProductAttr>();
  // Every expert may end within a tile.
  AffineExpr tiles =
      (*tokens * sizes.slots).ceilDiv(tile.getRows()) + (sizes.experts - 1);
  return GpuGrid{tiles * llvm::divideCeil(sizes.columns, tile.getColumns())};
}
