//===- Experts.cpp - Products with experts on CPUs ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup has some columns of one expert. It goes through the numbers that
// tokens name, copies the rows that name its expert side by side, and whenever
// it has a tile of them multiplies that as any product; what is left at the end
// is multiplied row by row. Of a single token, a workgroup has one of the
// experts that it names, and there is nothing to look for.
//
// Rows are written where data says: no slice of a tensor describes that, so the
// destination is a buffer.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/Experts.h"
#include "dialect/GistExpertOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel/Linears.h"
#include "passes/Tile/Cpu/BufferBuilder.h"
#include "passes/Tile/Cpu/PanelMatmul.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;
using Values = TileBuilder::Values;

/// Rows that are multiplied at once. More would use a part of the weight more
/// often, and leave more rows for the end.
static constexpr int64_t kRows = 8;

static ExpertSizes getSizes(Operation *op) {
  if (auto product = dyn_cast<ExpertMatmulOp>(op))
    return product.getSizes();
  return cast<QuantizedExpertMatmulOp>(op).getSizes();
}

bool gist::isOneToken(Operation *experts) {
  return cast<RankedTensorType>(experts->getResult(0).getType())
             .getDimSize(0) == 1;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Columns that cannot be taken apart.
static int64_t getUnit(Operation *op) {
  auto product = dyn_cast<QuantizedExpertMatmulOp>(op);
  return product && product.getPackedAttr()
             ? product.getPackedAttr().getColumns()
             : 1;
}

CpuProductAttr gist::chooseExpertTile(Operation *experts,
                                      const TargetInfo &target,
                                      const MatmulShape &shape,
                                      Instruction instruction) {
  bool isFloat = isa<ExpertMatmulOp>(experts);
  int64_t size = getSizes(experts).columns, unit = getUnit(experts);
  int64_t limit = !isFloat && isOneToken(experts) ? target.columnsOfOneRow
                                                  : shape.workgroupColumns;
  // Columns end where an expert does, so that each workgroup has all of its.
  int64_t columns = unit;
  for (int64_t tile = unit; tile <= std::max(unit, limit); tile += unit)
    if (size % tile == 0)
      columns = tile;
  return CpuProductAttr::get(experts->getContext(), kRows, columns,
                             {shape.registerRows, shape.registerColumns},
                             target.lanes, instruction);
}

LogicalResult gist::verifyExpertTile(Operation *experts, CpuProductAttr tile) {
  int64_t size = getSizes(experts).columns, unit = getUnit(experts);
  if (size % tile.getColumns() == 0 && tile.getColumns() % unit == 0 &&
      tile.getInstruction() != Instruction::Tdpbsud && !hasPanels(tile))
    return success();
  return experts->emitOpError("expects a tile that divides the ")
         << size << " columns of an expert into multiples of " << unit
         << ", without panels or tdpbsud, got " << tile;
}

//===----------------------------------------------------------------------===//
// The code of a workgroup
//===----------------------------------------------------------------------===//

namespace {
/// A tensor of rows that the product reads, and where rows are gathered.
struct Source {
  Value rows;   ///< the buffer of all of them
  Value tile;   ///< scratch for a tile of them
  int64_t size; ///< numbers of a row
};

class Experts {
public:
  Experts(BufferBuilder &b, Operation *op, CpuProductAttr tile, Value output)
      : b(b), op(op), tile(tile), sizes(getSizes(op)), output(output) {
    if (auto product = dyn_cast<ExpertMatmulOp>(op)) {
      experts = b.toBuffer(product.getExperts());
      addSource(product.getInput(), sizes.depth);
      return;
    }
    auto product = cast<QuantizedExpertMatmulOp>(op);
    experts = b.toBuffer(product.getExperts());
    addSource(product.getValues(), sizes.depth);
    addSource(product.getScales(), sizes.depth / PackingAttr::kBlock);
  }

  /// Columns from `column` on, of the expert that the token's `slot` names.
  void emitOne(Value column, Value slot);
  /// Columns from `column` on, of `expert`.
  void emitMany(Value column, Value expert);

private:
  void addSource(Value rows, int64_t size) {
    sources.push_back({b.toBuffer(rows), Value(), size});
  }
  void allocate(int64_t rows) {
    for (Source &source : sources)
      source.tile =
          b.scratch({rows, source.size},
                    cast<MemRefType>(source.rows.getType()).getElementType());
  }
  void copy(Value from, ValueRange fromAt, Value to, ValueRange toAt,
            int64_t count);
  void gather(Value token, Value slot, Value row);
  /// Rows [first, first + count) of the tiles.
  Value multiply(Value column, Value expert, Value first, int64_t count);
  Value getWeight(Value weight, Value row, int64_t count);
  void scatter(Value product, Value row, Value token, Value slot, Value column);

  BufferBuilder &b;
  Operation *op;
  CpuProductAttr tile;
  ExpertSizes sizes;
  Value experts, output;
  SmallVector<Source> sources;
};
} // namespace

/// Copies `count` numbers along the last dimension.
void Experts::copy(Value from, ValueRange fromAt, Value to, ValueRange toAt,
                   int64_t count) {
  Type element = cast<MemRefType>(from.getType()).getElementType();
  // Sizes of heads and layers are multiples of it.
  int64_t width = 32;
  while (count % width != 0)
    width /= 2;
  b.forEach(b.index(0), b.index(count), width, [&](Value at) {
    auto shift = [&](ValueRange indices) {
      Values shifted(indices);
      shifted.back() = b.add(shifted.back(), at);
      return shifted;
    };
    Value numbers = vector::LoadOp::create(b, b.vectorOf(width, element), from,
                                           shift(fromAt));
    vector::StoreOp::create(b, numbers, to, shift(toAt));
  });
}

/// Copies the row that `token` has for `slot` to row `row` of the tiles.
void Experts::gather(Value token, Value slot, Value row) {
  for (const Source &source : sources) {
    Value first = sizes.hasOwnRows ? b.mul(slot, source.size) : b.index(0);
    copy(source.rows, {token, first}, source.tile, {row, b.index(0)},
         source.size);
  }
}

/// `count` rows of a weight from `row` on.
Value Experts::getWeight(Value weight, Value row, int64_t count) {
  auto type = cast<RankedTensorType>(weight.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> counts;
  for (int64_t size : type.getShape())
    counts.push_back(b.getIndexAttr(size));
  offsets[0] = row;
  counts[0] = b.getIndexAttr(count);
  return tensor::ExtractSliceOp::create(b, weight, offsets, counts, strides);
}

Value Experts::multiply(Value column, Value expert, Value first,
                        int64_t count) {
  Values rows;
  for (const Source &source : sources)
    rows.push_back(tensor::ExtractSliceOp::create(
        b, b.toTensor(source.tile),
        SmallVector<OpFoldResult>{first, b.getIndexAttr(0)},
        SmallVector<OpFoldResult>{b.getIndexAttr(count),
                                  b.getIndexAttr(source.size)},
        SmallVector<OpFoldResult>(2, b.getIndexAttr(1))));
  int64_t columns = tile.getColumns();
  Value firstRow = b.add(b.mul(expert, sizes.columns), column);
  auto type = RankedTensorType::get({count, columns}, b.getF32Type());
  if (auto product = dyn_cast<QuantizedExpertMatmulOp>(op)) {
    int64_t unit = getUnit(op);
    Value weight = getWeight(product.getWeight(),
                             arith::DivUIOp::create(b, firstRow, b.index(unit)),
                             columns / unit);
    return QuantizedMatmulOp::create(
        b, type, rows[0], rows[1], weight, product.getFormatAttr(),
        product.getPackedAttr(), /*columns=*/Value(), /*guard=*/Value());
  }
  Value stored = cast<ExpertMatmulOp>(op).getWeight();
  auto blocks = stored.getDefiningOp<DequantizeOp>();
  Value weight =
      getWeight(blocks ? blocks.getBlocks() : stored, firstRow, columns);
  if (blocks)
    weight = DequantizeOp::create(b, weight, blocks.getFormatAttr());
  return createLinear(b, rows[0], weight);
}

/// Writes row `row` of a product where the token has its part of the slot.
void Experts::scatter(Value product, Value row, Value token, Value slot,
                      Value column) {
  Value first = b.add(b.mul(slot, sizes.columns), column);
  copy(product, {row, b.index(0)}, output, {token, first}, tile.getColumns());
}

void Experts::emitOne(Value column, Value slot) {
  Value zero = b.index(0);
  Value expert = b.loadIndex(experts, {zero, slot});
  // Unsigned, so that negative numbers are out of range too.
  Value isThere = b.compare(CmpIPredicate::ult, expert, b.index(sizes.experts));
  b.ifThen(isThere, [&] {
    allocate(1);
    gather(zero, slot, zero);
    Value product = b.toBuffer(multiply(column, expert, zero, 1));
    scatter(product, zero, zero, slot, column);
  });
}

void Experts::emitMany(Value column, Value expert) {
  int64_t limit = tile.getRows();
  allocate(limit);
  // The token of each row of a tile.
  Value tokens = b.scratch({limit}, b.getIndexType());
  Value slots = b.scratch({limit}, b.getIndexType());
  Value zero = b.index(0), one = b.index(1);
  auto write = [&](Value product, Value row, Value number) {
    scatter(product, row, b.load(tokens, number), b.load(slots, number),
            column);
  };
  auto look = [&](Value token, Value slot, Value count) -> Value {
    Value named = b.loadIndex(experts, {token, slot});
    Value isOwn = b.compare(CmpIPredicate::eq, named, expert);
    b.ifThen(isOwn, [&] {
      b.store(token, tokens, count);
      b.store(slot, slots, count);
      gather(token, slot, count);
    });
    Value next = b.select(isOwn, b.add(count, one), count);
    Value isFull = b.compare(CmpIPredicate::eq, next, b.index(limit));
    b.ifThen(isFull, [&] {
      Value product = b.toBuffer(multiply(column, expert, zero, limit));
      b.forEach(zero, b.index(limit), 1,
                [&](Value row) { write(product, row, row); });
    });
    return b.select(isFull, zero, next);
  };
  Value count =
      b.loop(zero, memref::DimOp::create(b, experts, 0), 1, zero,
             [&](Value token, ValueRange outer) {
               return b.loop(zero, b.index(sizes.slots), 1, outer[0],
                             [&](Value slot, ValueRange carried) {
                               return Values{look(token, slot, carried[0])};
                             });
             })[0];
  // A float product of one row adds in another order than one of several, and
  // the result of a row must not depend on how many others name its expert: so
  // rows are taken two at a time, and the last pair may have an unused row.
  int64_t atOnce = isa<ExpertMatmulOp>(op) ? 2 : 1;
  static_assert(kRows % 2 == 0, "the row past the last one is inside the tile");
  b.forEach(zero, count, atOnce, [&](Value row) {
    Value product = b.toBuffer(multiply(column, expert, row, atOnce));
    for (int64_t i = 0; i < atOnce; ++i) {
      Value number = b.add(row, b.index(i));
      b.ifThen(b.compare(CmpIPredicate::ult, number, count),
               [&] { write(product, b.index(i), number); });
    }
  });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

FailureOr<scf::ForallOp> gist::distributeExperts(RewriterBase &rewriter,
                                                 Operation *experts,
                                                 CpuProductAttr tile) {
  auto kernel = experts->getParentOfType<func::FuncOp>();
  auto end = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  if (end.getNumOperands() != 1 || end.getOperand(0) != experts->getResult(0))
    return experts->emitOpError(
        "is not the only op whose results its kernel returns");
  rewriter.setInsertionPoint(end);
  BufferBuilder b(experts->getLoc(), rewriter);
  BufferArguments arguments(kernel);
  Value output = arguments.get(getDestination(kernel, 0));
  Experts emitter(b, experts, tile, output);
  ExpertSizes sizes = getSizes(experts);
  bool isOne = isOneToken(experts);
  auto forall = scf::ForallOp::create(
      b, SmallVector<OpFoldResult>(2, b.getIndexAttr(0)),
      {b.getIndexAttr(sizes.columns),
       b.getIndexAttr(isOne ? sizes.slots : sizes.experts)},
      {b.getIndexAttr(tile.getColumns()), b.getIndexAttr(1)}, ValueRange(),
      std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    if (isOne)
      emitter.emitOne(forall.getInductionVar(0), forall.getInductionVar(1));
    else
      emitter.emitMany(forall.getInductionVar(0), forall.getInductionVar(1));
  }
  rewriter.modifyOpInPlace(end, [&] { end->setOperands({}); });
  rewriter.eraseOp(experts);
  arguments.finish(rewriter);
  return forall;
}
