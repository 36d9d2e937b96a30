//===- Rows.cpp - Kernels on whole rows, for GPUs -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two forms. A kernel that reduces along rows has teams of threads, one per
// row: a wave, or the waves of a workgroup. A team reduces together, then
// writes the row; a thread has the same columns in all of that, and what it
// read once stays in its registers. Other kernels have no rows to share: each
// thread writes a few neighbouring elements.
//
// The tile, #gist.gpu_rows, says which: it has `columns` for the second form.
// There several rows of part of the columns are a patch: neighbouring threads
// have neighbouring rows, so that a transposed tensor is read along its rows.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"
#include "passes/Tile/Gpu/Elements/RowReductions.h"
#include "passes/Tile/Gpu/Elements/RowTeam.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

/// The product of sizes, or kDynamic.
static int64_t getProduct(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product = ShapedType::isDynamic(size) || ShapedType::isDynamic(product)
                  ? ShapedType::kDynamic
                  : product * size;
  return product;
}

/// Numbers of a row that a thread quantises at once.
static constexpr int64_t kBlockWidth = 8;

/// Whether a row has one scale.
static bool hasWholeRowBlocks(QuantizeBlocksOp op) {
  return op.getScales().getType().getDimSize(1) == 1;
}

QuantizeBlocksOp gist::getWrittenBlocks(func::FuncOp kernel) {
  auto op = getWrittenTensor(kernel, 0).getDefiningOp<QuantizeBlocksOp>();
  if (!op || kernel.getNumResults() != 2 ||
      getWrittenTensor(kernel, 0) != op.getValues() ||
      getWrittenTensor(kernel, 1) != op.getScales())
    return {};
  if (hasWholeRowBlocks(op))
    return op;
  // The lanes that share a block are a power of two of them.
  constexpr int64_t kSmallestWave = 32;
  auto lanes = static_cast<int64_t>(op.getBlock()) / kBlockWidth;
  return llvm::isPowerOf2_64(lanes) && lanes <= kSmallestWave
             ? op
             : QuantizeBlocksOp();
}

/// What is reduced along the rows that a kernel writes.
static SmallVector<RowReduction> findReductions(func::FuncOp kernel) {
  if (QuantizeBlocksOp blocks = getWrittenBlocks(kernel))
    return getRowReductions(kernel, blocks.getInput());
  return getRowReductions(kernel);
}

namespace {
class RowsWriter {
public:
  explicit RowsWriter(GpuKernel &kernel)
      : source(kernel.source), tile(kernel.getTile<GpuRowsAttr>()), b(kernel.b),
        emitter(kernel.emitter), blocks(getWrittenBlocks(source)),
        reductions(findReductions(source)),
        rowRank(getRowRank(source, reductions)) {
    width = getRowWidth(getLastSize(), getElementBytes(emitter.getWritten(0)));
  }

  FailureOr<GpuGrid> write();

private:
  int64_t getLastSize();
  FailureOr<AffineExpr> getRows();
  FailureOr<GpuGrid> writeTeams(AffineExpr rows);
  FailureOr<GpuGrid> writeParts(AffineExpr rows);

  void reduceRow(const RowReduction &reduction);
  void writeRow(unsigned result);
  void writeBlocks();
  void writeWholeRow();
  void writeBlock(Value column, Value isInside);
  Value getNumbers(Value column);
  Value getLargest(Value numbers, Value isInside);
  void writeNumbers(Value column, Value numbers, Value largest, Value isInside);
  void writeScale(Value place, Value largest, Value isFirst);
  void writeAt(unsigned result, Value column, int64_t width, Value isInside);
  Values getColumnSizes(unsigned result);

  func::FuncOp source;
  GpuRowsAttr tile;
  GpuBuilder &b;
  ElementEmitter &emitter;
  QuantizeBlocksOp blocks;
  SmallVector<RowReduction> reductions;
  unsigned rowRank;
  int64_t width;

  std::optional<RowTeam> team;
  Values row; ///< leading indices of the elements of a team
};
} // namespace

/// The larger of two numbers, one of which may be NaN.
static auto makeLarger(GpuBuilder &b) {
  return [&b](Value x, Value y) -> Value {
    return arith::MaxNumFOp::create(b, x, y);
  };
}

int64_t RowsWriter::getLastSize() {
  auto type = cast<RankedTensorType>(emitter.getWritten(0).getType());
  if (type.getRank() > static_cast<int64_t>(rowRank))
    return type.getShape().back();
  // One number per row: what counts is along what it is reduced.
  return reductions.empty()
             ? 1
             : reductions.back()
                   .op.getStaticLoopRanges()[reductions.back().inner];
}

/// The number of rows, which all results have in common.
FailureOr<AffineExpr> RowsWriter::getRows() {
  AffineExpr rows = b.getAffineConstantExpr(1);
  SmallVector<OpFoldResult> sizes = emitter.getWrittenSizes(0);
  for (OpFoldResult size : ArrayRef(sizes).take_front(rowRank)) {
    FailureOr<AffineExpr> expr = getSizeExpr(source, size);
    if (failed(expr))
      return failure();
    rows = rows * *expr;
  }
  return rows;
}

/// The sizes of a result after those that number the rows.
Values RowsWriter::getColumnSizes(unsigned result) {
  Values sizes;
  for (OpFoldResult size :
       ArrayRef(emitter.getWrittenSizes(result)).drop_front(rowRank))
    sizes.push_back(emitter.number(size));
  return sizes;
}

/// Writes `width` elements of this thread's row from `column` on.
void RowsWriter::writeAt(unsigned result, Value column, int64_t width,
                         Value isInside) {
  Values indices = row;
  llvm::append_range(indices, b.delinearize(column, getColumnSizes(result)));
  Value tensor = emitter.getWritten(result);
  Value value = width == 1 ? emitter.element(tensor, indices)
                           : emitter.elements(tensor, indices, width);
  b.ifThen(isInside, [&] { emitter.store(result, indices, value); });
}

//===----------------------------------------------------------------------===//
// Teams
//===----------------------------------------------------------------------===//

/// Reduces this team's row and binds the result.
void RowsWriter::reduceRow(const RowReduction &reduction) {
  Value result = team->reduce(reduction, row, width);
  Values at(ArrayRef<Value>(row).take_front(reduction.rank));
  emitter.bind(reduction.op->getResult(0), [at, result](ValueRange indices,
                                                        int64_t width) {
    return width == 1 && ElementEmitter::areSame(indices, at) ? result
                                                              : Value();
  });
}

void RowsWriter::writeRow(unsigned result) {
  Values sizes = getColumnSizes(result);
  if (sizes.empty()) {
    // One number for the row: all threads have it, and the first one writes it.
    Value value = emitter.element(emitter.getWritten(result), row);
    b.ifThen(b.isEqual(team->getMember(), 0),
             [&] { emitter.store(result, row, value); });
    return;
  }
  Value size = b.index(1);
  for (Value next : sizes)
    size = b.mul(size, next);
  int64_t lanes = std::min(
      width,
      getRowWidth(
          getConstantIntValue(sizes.back()).value_or(ShapedType::kDynamic),
          getElementBytes(emitter.getWritten(result))));
  team->forColumns(size, lanes, {},
                   [&](Value column, Value isInside, ValueRange) -> Values {
                     writeAt(result, column, lanes, isInside);
                     return {};
                   });
}

/// `width` numbers of this team's row from `column` on, which are quantised.
Value RowsWriter::getNumbers(Value column) {
  return emitter.elements(blocks.getInput(), {row.front(), column}, width);
}

/// The largest of them by size. Where a row ends inside of a block, lanes
/// behind the end take part.
Value RowsWriter::getLargest(Value numbers, Value isInside) {
  Value largest =
      b.reduceLanes(math::AbsFOp::create(b, numbers), makeLarger(b));
  return b.select(isInside, largest, b.f32(0));
}

void RowsWriter::writeNumbers(Value column, Value numbers, Value largest,
                              Value isInside) {
  Type element = blocks.getValues().getType().getElementType();
  Value isZero = b.compare(arith::CmpFPredicate::OEQ, largest, b.f32(0));
  Value inverse = b.select(isZero, b.f32(0),
                           b.div(b.f32(gist::getLargest(element)), largest));
  Value scaled = b.mul(numbers, b.broadcast(inverse, width));
  Value small =
      element.isInteger()
          ? arith::FPToSIOp::create(b, b.vectorOf(width, element),
                                    math::RoundEvenOp::create(b, scaled))
          : b.convert(scaled, element);
  b.ifThen(isInside, [&] { emitter.store(0, {row.front(), column}, small); });
}

void RowsWriter::writeScale(Value place, Value largest, Value isFirst) {
  Type element = blocks.getValues().getType().getElementType();
  b.ifThen(isFirst, [&] {
    emitter.store(1, {row.front(), place},
                  b.div(largest, b.f32(gist::getLargest(element))));
  });
}

/// Quantises `width` numbers of this team's row from `column` on: the lanes of
/// a wave that have a block find its largest number together.
void RowsWriter::writeBlock(Value column, Value isInside) {
  auto block = static_cast<int64_t>(blocks.getBlock());
  Value numbers = getNumbers(column);
  Value largest =
      b.waveReduce(getLargest(numbers, isInside), makeLarger(b), block / width);
  writeNumbers(column, numbers, largest, isInside);
  writeScale(b.div(column, block), largest,
             b.both(isInside, b.isEqual(b.rem(column, block), 0)));
}

/// The same where the whole team has one scale.
void RowsWriter::writeWholeRow() {
  Value size = b.index(getLastSize());
  Value largest = team->forColumns(
      size, width, b.f32(0),
      [&](Value column, Value isInside, ValueRange carried) -> Values {
        return {makeLarger(b)(carried[0],
                              getLargest(getNumbers(column), isInside))};
      })[0];
  largest = team->combine(largest, makeLarger(b));
  team->forColumns(
      size, width, {}, [&](Value column, Value isInside, ValueRange) -> Values {
        writeNumbers(column, getNumbers(column), largest, isInside);
        return {};
      });
  writeScale(b.index(0), largest, b.isEqual(team->getMember(), 0));
}

void RowsWriter::writeBlocks() {
  if (hasWholeRowBlocks(blocks))
    return writeWholeRow();
  int64_t size = getLastSize();
  int64_t step = b.getThreads() / tile.getRows() * width;
  auto write = [&](Value column, Value isInside, ValueRange) -> Values {
    writeBlock(column, isInside);
    return {};
  };
  // Lanes of a block must all be there, so that a loop of a thread's own
  // columns will not do.
  if (size <= step * RowTeam::kMaxUnrolled) {
    team->forColumns(b.index(size), width, {}, write);
    return;
  }
  b.forEach(b.index(0), b.index(size), step, [&](Value first) {
    Value column = b.add(first, b.mul(team->getMember(), width));
    Value isInside = b.isLess(column, size);
    write(b.select(isInside, column, b.index(0)), isInside, {});
  });
}

FailureOr<GpuGrid> RowsWriter::writeTeams(AffineExpr rows) {
  int64_t teams = tile.getRows();
  int64_t teamThreads = b.getThreads() / teams;
  Value member = b.thread();
  Value number = b.block(0);
  if (teams > 1) {
    member = b.rem(b.thread(), teamThreads);
    number = b.add(b.mul(number, teams), b.div(b.thread(), teamThreads));
  }
  team.emplace(emitter, teamThreads, member);
  Values sizes;
  Value count = b.index(1);
  for (OpFoldResult size :
       ArrayRef(emitter.getWrittenSizes(0)).take_front(rowRank)) {
    sizes.push_back(emitter.number(size));
    count = b.mul(count, sizes.back());
  }
  // The last workgroup may have teams without a row. All threads of a team
  // agree, so reductions inside of the branch meet.
  Value isRow =
      teams == 1 ? arith::ConstantIntOp::create(b, b.getI1Type(), 1).getResult()
                 : b.isLess(number, count);
  b.ifThen(isRow, [&] {
    row = b.delinearize(number, sizes);
    for (const RowReduction &reduction : reductions)
      reduceRow(reduction);
    if (blocks)
      return writeBlocks();
    for (unsigned i = 0; i < source.getNumResults(); ++i)
      writeRow(i);
  });
  return GpuGrid{rows.ceilDiv(teams)};
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

FailureOr<GpuGrid> RowsWriter::writeParts(AffineExpr rows) {
  int64_t partRows = tile.getRows(), part = tile.getColumns();
  // Results may have different columns, and a part is one of the first's.
  // Choosing never gives parts to several; tiles can be written by hand.
  if (source.getNumResults() != 1)
    return source.emitError("has parts of columns and ")
           << source.getNumResults()
           << " results; expected one result, or a tile of whole rows";
  Values sizes = getColumnSizes(0);
  Value size = b.index(1);
  AffineExpr columns = b.getAffineConstantExpr(1);
  for (auto [value, folded] : llvm::zip_equal(
           sizes, ArrayRef(emitter.getWrittenSizes(0)).drop_front(rowRank))) {
    FailureOr<AffineExpr> expr = getSizeExpr(source, folded);
    if (failed(expr))
      return source.emitError(
          "has a grid whose size does not follow from its arguments");
    columns = columns * *expr;
    size = b.mul(size, value);
  }
  std::optional<int64_t> known = getConstantIntValue(size);
  bool isPatch = partRows > 1 && known != part;
  // Tiles can be written by hand.
  if (part % width)
    return source.emitError("has parts whose size is not a multiple of ")
           << width;

  Value count = b.index(1);
  if (rowRank)
    count = emitter.number(emitter.getWrittenSizes(0)[0]);
  int64_t step = b.getThreads() * width;
  for (int64_t first = 0; first < partRows * part; first += step) {
    Value i = b.add(b.mul(b.thread(), width), first);
    Value isInside = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    if (first + step > partRows * part)
      isInside = b.isLess(i, partRows * part);
    Value number = b.block(0), column = b.add(b.mul(b.block(1), part), i);
    if (isPatch) {
      Value piece = b.add(b.thread(), first / width);
      number = b.add(b.mul(number, partRows), b.rem(piece, partRows));
      column =
          b.add(b.mul(b.block(1), part), b.mul(b.div(piece, partRows), width));
      isInside = b.both(
          isInside, b.both(b.isLess(number, count), b.isLess(column, size)));
    } else if (partRows > 1) {
      number = b.add(b.mul(number, partRows), b.div(i, part));
      column = b.rem(i, part);
      isInside = b.both(isInside, b.isLess(number, count));
    } else if (known == part) {
      column = i;
    } else if (!known || *known % part) {
      isInside = b.both(isInside, b.isLess(column, size));
    }
    b.ifThen(isInside, [&] {
      row = rowRank ? Values{number} : Values{};
      writeAt(0, column, width,
              arith::ConstantIntOp::create(b, b.getI1Type(), 1));
    });
  }
  GpuGrid grid = {rows.ceilDiv(partRows)};
  if (known != part)
    grid.push_back(columns.ceilDiv(part));
  return grid;
}

FailureOr<GpuGrid> RowsWriter::write() {
  FailureOr<AffineExpr> rows = getRows();
  // A team has one row of every result.
  if (!haveSameRows(source, rowRank))
    return source.emitError("has results with different numbers of rows");
  if (failed(rows))
    return source.emitError(
        "has rows whose number does not follow from its arguments");
  return tile.hasWholeRows() ? writeTeams(*rows) : writeParts(*rows);
}

FailureOr<GpuGrid> gist::emitRows(GpuKernel &kernel) {
  return RowsWriter(kernel).write();
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Threads of a workgroup that shares nothing: several of them fit a compute
/// unit beside each other.
static constexpr int64_t kThreads = 256;
/// Waves that share a row, at most: with more, waiting for each other takes
/// longer than what a thread has of the row.
static constexpr int64_t kMaxWavesOfRow = 8;
/// Rows of a workgroup whose rows have one wave each, and so what there has to
/// be of them.
static constexpr int64_t kTeams = 4;
/// Vectors that a row of unknown length counts as: enough for all waves.
static constexpr int64_t kUnknownVectors = 1024;

/// Rows of a patch, so that a thread's neighbours read the rest of what memory
/// gives at once: 32 bytes of 16 bits each.
static constexpr int64_t kPatchRows = 16;

/// Whether the kernel only transposes a matrix of known size.
static bool isTranspose(Value written) {
  auto type = cast<RankedTensorType>(written.getType());
  auto op = written.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || type.getRank() != 2 ||
      !type.hasStaticShape() || op.getNumLoops() != 2)
    return false;
  auto maps = op.getIndexingMapsArray();
  return maps[0].isPermutation() && !maps[0].isIdentity() &&
         maps[1].isIdentity();
}

GpuRowsAttr gist::selectRowsTile(func::FuncOp kernel, const GpuInfo &gpu) {
  MLIRContext *context = kernel.getContext();
  SmallVector<RowReduction> reductions = findReductions(kernel);
  unsigned rowRank = getRowRank(kernel, reductions);
  auto written = cast<RankedTensorType>(getWrittenTensor(kernel, 0).getType());
  int64_t columns = getProduct(written.getShape().drop_front(rowRank));
  int64_t bytes = getElementBytes(getWrittenTensor(kernel, 0));

  if (reductions.empty() && kernel.getNumResults() == 1) {
    int64_t last = written.getRank() ? written.getShape().back() : 1;
    if (written.getRank() <= static_cast<int64_t>(rowRank))
      last = 1;
    int64_t part = kThreads * getRowWidth(last, bytes);
    if (isTranspose(getWrittenTensor(kernel, 0)) && columns > part / kPatchRows)
      return GpuRowsAttr::get(context, kPatchRows, kThreads / gpu.waveSize,
                              part / kPatchRows);
    // Short rows share a workgroup, so that its threads all have something to
    // do.
    if (!ShapedType::isDynamic(columns) && columns > 0 && columns <= part)
      return GpuRowsAttr::get(context, part / columns, kThreads / gpu.waveSize,
                              columns);
    return GpuRowsAttr::get(context, 1, kThreads / gpu.waveSize, part);
  }

  // A thread has at least two vectors of a row before another wave shares it.
  int64_t longest = columns;
  for (unsigned i = 1; i < kernel.getNumResults(); ++i) {
    auto type = cast<RankedTensorType>(getWrittenTensor(kernel, i).getType());
    if (type.getRank() < static_cast<int64_t>(rowRank))
      continue; // Refused where it is written.
    int64_t size = getProduct(type.getShape().drop_front(rowRank));
    longest = ShapedType::isDynamic(size) || ShapedType::isDynamic(longest)
                  ? ShapedType::kDynamic
                  : std::max(longest, size);
  }
  for (RowReduction &reduction : reductions) {
    int64_t size = reduction.op.getStaticLoopRanges()[reduction.inner];
    longest = ShapedType::isDynamic(size) || ShapedType::isDynamic(longest)
                  ? ShapedType::kDynamic
                  : std::max(longest, size);
  }
  int64_t rows = getProduct(written.getShape().take_front(rowRank));
  bool hasFewRows = !ShapedType::isDynamic(rows) && rows < kTeams;
  int64_t vectors = ShapedType::isDynamic(longest)
                        ? kUnknownVectors
                        : longest / getRowWidth(longest, bytes);
  int64_t perThread = hasFewRows ? 1 : 2;
  int64_t waves = 1;
  while (waves < kMaxWavesOfRow && waves * gpu.waveSize * perThread < vectors)
    waves *= 2;
  if (waves == 1 && !hasFewRows)
    return GpuRowsAttr::get(context, kTeams, kTeams, /*columns=*/0);
  return GpuRowsAttr::get(context, 1, waves, /*columns=*/0);
}
