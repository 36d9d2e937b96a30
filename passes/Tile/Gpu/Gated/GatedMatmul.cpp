//===- GatedMatmul.cpp - Gated projections of many tokens -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that adds products up, each of only those rows whose token is at
// certain levels (passes/Graph/OutlineGated.cpp). Rows are taken
// in the order of their levels, the highest first: all tiles but those where a
// level ends have rows of one level and leave out what these do not need. Every
// workgroup finds its rows by counting levels; nobody has to write a list.
//
// That is how instructions of a wave do it; those of four warps have tiles of
// one level each (GatedWgmma.cpp).
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Core/Compact.h"
#include "passes/Tile/Gpu/Core/Wgmma.h"
#include "passes/Tile/Gpu/Gated/GatedChain.h"
#include "passes/Tile/Gpu/Matmul/MatmulLoop.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

static LogicalResult verifyChain(func::FuncOp kernel) {
  if (readGatedChain(kernel))
    return success();
  return kernel.emitOpError("is a kernel of kind gated_products and needs "
                            "products of masked rows, at least two, each of "
                            "which starts from the one before");
}

/// Whether the kernel can be cut as its tile says.
static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  if (failed(verifyChain(kernel)) || failed(expectTile<GpuProductAttr>(kernel)))
    return failure();
  return verifyInstruction(
      kernel, cast<GpuProductAttr>(kernel->getAttr(kTileAttr)).getInstruction(),
      gpu);
}

/// Rows and columns of a tile: those at which a matrix is read from memory
/// rarely enough, while sums still fit the registers.
static constexpr int64_t kTileRows = 128, kTileColumns = 128;

GpuProductAttr gist::selectGatedProductsTile(func::FuncOp kernel,
                                             const GpuInfo &gpu) {
  MLIRContext *context = kernel.getContext();
  Type element = Float16Type::get(context);
  for (const GatedLink &link : readGatedChain(kernel)->links)
    for (Value operand : {link.rows, link.matrix})
      if (getElementTypeOrSelf(operand).isBF16())
        element = BFloat16Type::get(context);
  // Two workgroups fit a compute unit: while one reads W for its rows, the
  // other multiplies rows that need none.
  if (gpu.kind == GpuKind::Nvidia)
    return GpuProductAttr::get(
        context, kTileRows, /*columns=*/96, Wgmma::kTileDepth, /*waves=*/{8, 1},
        /*stages=*/4, Instruction::Wgmma64x128x16, element);
  return GpuProductAttr::get(context, kTileRows, kTileColumns, /*depth=*/32,
                             /*waves=*/{2, 2}, /*stages=*/2,
                             Instruction::Mfma32x32x8, element);
}

namespace {
class GatedProducts {
public:
  GatedProducts(GpuKernel &kernel, const GatedChain &chain)
      : b(kernel.b), emitter(kernel.emitter), chain(chain),
        last(chain.links.back().product),
        grid(last, kernel.getTile<GpuProductAttr>().getShape()),
        loop(b, kernel.getTile<GpuProductAttr>()), first(grid.getRow(b)),
        firstColumn(grid.getColumn(b)), count(loop.getTileX().getRows()),
        tokens(emitter.size(last->getResult(0), 0)),
        result(emitter, last, kernel.getTile<GpuProductAttr>().getColumns()),
        order(b.allocWorkgroup({count}, b.getI32Type())) {}

  void emit() {
    findRows();
    Values sums = loop.makeSums();
    for (const GatedLink &link : chain.links)
      sums = addIfAny(link, sums);
    loop.store(
        result, sums, [&](Value place) { return getRow(place); }, firstColumn);
  }

private:
  /// The row at a place of this tile; past the end, the number of tokens.
  Value getRow(Value place) { return b.readNumber(order, place); }

  void findRows() {
    // Places that no row takes keep the number of tokens, which ifRow() of the
    // result leaves out.
    forPlaces([&](Value place) { writeRow(tokens, place); });
    b.barrier();
    Compact compact(b);
    Value start = b.index(0);
    int64_t highest = chain.links.back().highest;
    bounds.resize(highest + 1);
    for (int64_t level = highest; level >= 0; --level) {
      auto isLevel = [&](Value t) {
        Value own = emitter.element(chain.levels, t);
        return b.compare(arith::CmpIPredicate::eq, own,
                         b.constant(own.getType(), level));
      };
      auto take = [&](Value t, Value holds, Value position) {
        Value place = b.sub(position, first);
        Value isHere =
            b.both(b.compare(arith::CmpIPredicate::sge, position, first),
                   b.isLess(place, count));
        b.ifThen(b.both(holds, isHere), [&] { writeRow(t, place); });
      };
      Value end = compact.run(b.index(0), tokens, start, isLevel, take);
      bounds[level] = {start, end};
      start = end;
    }
    b.barrier();
  }

  /// Where the rows of a product are in the order: the highest come first.
  std::pair<Value, Value> getPlaces(const GatedLink &link) {
    return {bounds[link.highest].first, bounds[link.lowest].second};
  }

  void writeRow(Value row, Value place) {
    b.write(arith::IndexCastOp::create(b, b.getI32Type(), row), order, place);
  }
  void forPlaces(function_ref<void(Value)> body) {
    b.forEach(b.thread(), b.index(count), b.index(b.getThreads()), body);
  }

  Values add(const GatedLink &link, ValueRange sums) {
    Operand x(emitter, link.rows), w(emitter, link.matrix);
    auto getNearRow = [&](Value place) {
      return b.min(getRow(place), b.sub(tokens, 1));
    };
    auto counts = [&](Value place) {
      auto [begin, end] = getPlaces(link);
      Value position = b.add(first, place);
      return b.both(b.compare(arith::CmpIPredicate::sge, position, begin),
                    b.isLess(position, end));
    };
    // Rows of other levels in this tile become zeros and add nothing.
    TileLoader loadX(b, x, loop.getTileX(), getNearRow, counts);
    TileLoader loadW(b, w, loop.getTileW(), firstColumn);
    Values newSums = loop.add(loadX, loadW, sums);
    loop.finish(loadX, loadW);
    return newSums;
  }

  Values addIfAny(const GatedLink &link, ValueRange sums) {
    auto [begin, end] = getPlaces(link);
    // This is the same for all threads of a workgroup, so that barriers may
    // stand inside of the branch.
    Value isAny = b.both(b.isLess(b.max(begin, first), end),
                         b.isLess(begin, b.add(first, count)));
    auto branch = scf::IfOp::create(b, sums.getTypes(), isAny,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, add(link, sums));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, sums);
    return branch.getResults();
  }

  GpuBuilder &b;
  ElementEmitter &emitter;
  const GatedChain &chain;
  linalg::LinalgOp last;
  MatmulGrid grid;
  MatmulLoop loop;
  Value first, firstColumn; ///< of this tile, in the order of the levels
  int64_t count;            ///< rows of a tile
  Value tokens;
  MatmulResult result;
  Value order; ///< workgroup memory: rows of this tile
  SmallVector<std::pair<Value, Value>> bounds; ///< of the levels in the order
};
} // namespace

FailureOr<GpuGrid> gist::emitGatedProducts(GpuKernel &kernel) {
  if (kernel.getTile<GpuProductAttr>().getInstruction() ==
      Instruction::Wgmma64x128x16)
    return emitGatedWgmma(kernel);
  std::optional<GatedChain> chain = readGatedChain(kernel.source);
  linalg::LinalgOp last = chain->links.back().product;
  FailureOr<AffineExpr> rows =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0)[0]);
  if (failed(rows))
    return last.emitOpError(
        "has rows whose number does not follow from the kernel's arguments");
  GatedProducts(kernel, *chain).emit();
  auto tile = kernel.getTile<GpuProductAttr>();
  MatmulGrid grid(last, tile.getShape());
  return GpuGrid{
      rows->ceilDiv(tile.getRows()) * grid.getPerRow(),
      getAffineConstantExpr(grid.getAlongY(), kernel.source.getContext())};
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuGatedProductsKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuGatedProductsKernel = {
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      return succeeded(verifyChain(kernel))
                 ? selectGatedProductsTile(kernel, gpu)
                 : GpuProductAttr();
    },
    .emit = emitGatedProducts,
    .verify = verifyTile,
};
