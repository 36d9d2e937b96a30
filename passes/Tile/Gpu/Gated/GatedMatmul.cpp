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
//===----------------------------------------------------------------------===//

#include "mlir/IR/Matchers.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Core/Compact.h"
#include "passes/Tile/Gpu/Gated/Gated.h"
#include "passes/Tile/Gpu/Matmul/MatmulLoop.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

namespace {
/// One of the products.
struct Link {
  linalg::LinalgOp product;
  Value rows, matrix;              ///< what it multiplies; of the rows, all
  int64_t lowest = 0, highest = 0; ///< levels of the rows that count
};

struct Chain {
  SmallVector<Link> links;
  Value levels; ///< the tensor
};
} // namespace

/// Sees through the op that keeps the rows of a level, or of those below it.
static bool readMask(Link &link, Value &levels) {
  auto mask = link.rows.getDefiningOp<linalg::GenericOp>();
  if (!mask || mask.getNumDpsInputs() != 2 ||
      mask.getNumLoops() != mask.getNumParallelLoops())
    return false;
  auto keys = dyn_cast<RankedTensorType>(mask.getInputs()[0].getType());
  auto yield = cast<linalg::YieldOp>(mask.getBody()->getTerminator());
  auto select = yield.getValues()[0].getDefiningOp<arith::SelectOp>();
  auto compare =
      select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : nullptr;
  APInt level;
  if (!keys || keys.getRank() != 1 || !compare ||
      (compare.getPredicate() != arith::CmpIPredicate::eq &&
       compare.getPredicate() != arith::CmpIPredicate::slt) ||
      compare.getLhs() != mask.getBody()->getArgument(0) ||
      !matchPattern(compare.getRhs(), m_ConstantInt(&level)) ||
      select.getTrueValue() != mask.getBody()->getArgument(1) ||
      !matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
    return false;
  levels = mask.getInputs()[0];
  link.rows = mask.getInputs()[1];
  bool isOne = compare.getPredicate() == arith::CmpIPredicate::eq;
  link.lowest = isOne ? level.getSExtValue() : 0;
  link.highest = level.getSExtValue() - (isOne ? 0 : 1);
  return true;
}

static std::optional<Chain> readChain(func::FuncOp kernel) {
  Chain chain;
  for (auto op : kernel.getOps<linalg::LinalgOp>()) {
    if (!isTransposedMatmul(op))
      continue;
    Link link = {op, op.getDpsInputs()[0], op.getDpsInputs()[1]};
    Value start = op.getDpsInits()[0];
    if (!readMask(link, chain.levels) ||
        (!chain.links.empty() &&
         start != chain.links.back().product->getResult(0)))
      return std::nullopt;
    chain.links.push_back(link);
  }
  if (chain.links.size() < 2)
    return std::nullopt;
  return chain;
}

static LogicalResult verifyChain(func::FuncOp kernel) {
  if (readChain(kernel))
    return success();
  return kernel.emitOpError("is a kernel of kind gated_products and needs "
                            "products of masked rows, at least two, each of "
                            "which starts from the one before");
}

/// Whether the kernel can be cut as its tile says. Which rows are multiplied
/// is decided row by row, so that only instructions of a wave do.
static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  if (failed(verifyChain(kernel)) || failed(expectTile<GpuProductAttr>(kernel)))
    return failure();
  Instruction instruction =
      cast<GpuProductAttr>(kernel->getAttr(kTileAttr)).getInstruction();
  if (instruction == Instruction::Wgmma64x128x16)
    return kernel.emitOpError("expects a matrix instruction of one wave, got ")
           << stringifyInstruction(instruction);
  return verifyInstruction(kernel, instruction, gpu);
}

/// Rows and columns of a tile: those at which a matrix is read from memory
/// rarely enough, while sums still fit the registers.
static constexpr int64_t kTileRows = 128, kTileColumns = 128;

GpuProductAttr gist::selectGatedProductsTile(func::FuncOp kernel,
                                             const GpuInfo &gpu) {
  MLIRContext *context = kernel.getContext();
  Type element = Float16Type::get(context);
  for (const Link &link : readChain(kernel)->links)
    for (Value operand : {link.rows, link.matrix})
      if (getElementTypeOrSelf(operand).isBF16())
        element = BFloat16Type::get(context);
  if (gpu.kind == GpuKind::Nvidia)
    return GpuProductAttr::get(context, kTileRows, kTileColumns, /*depth=*/64,
                               /*waves=*/{2, 4}, /*stages=*/3,
                               Instruction::Mma16x8x16, element);
  return GpuProductAttr::get(context, kTileRows, kTileColumns, /*depth=*/32,
                             /*waves=*/{2, 2}, /*stages=*/2,
                             Instruction::Mfma32x32x8, element);
}

namespace {
class GatedProducts {
public:
  GatedProducts(GpuKernel &kernel, const Chain &chain)
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
    for (const Link &link : chain.links)
      sums = addIfAny(link, sums);
    loop.store(
        result, sums, [&](Value place) { return getRow(place); }, firstColumn);
  }

private:
  /// The row at a place of this tile; past the end, the number of tokens.
  Value getRow(Value place) { return b.readNumber(order, place); }

  void findRows() {
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
  std::pair<Value, Value> getPlaces(const Link &link) {
    return {bounds[link.highest].first, bounds[link.lowest].second};
  }

  void writeRow(Value row, Value place) {
    b.write(arith::IndexCastOp::create(b, b.getI32Type(), row), order, place);
  }
  void forPlaces(function_ref<void(Value)> body) {
    b.forEach(b.thread(), b.index(count), b.index(b.getThreads()), body);
  }

  Values add(const Link &link, ValueRange sums) {
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
    TileLoader loadX(b, x, loop.getTileX(), getNearRow, counts);
    TileLoader loadW(b, w, loop.getTileW(), firstColumn);
    Values newSums = loop.add(loadX, loadW, sums);
    loop.finish(loadX, loadW);
    return newSums;
  }

  Values addIfAny(const Link &link, ValueRange sums) {
    auto [begin, end] = getPlaces(link);
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
  const Chain &chain;
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
  std::optional<Chain> chain = readChain(kernel.source);
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
