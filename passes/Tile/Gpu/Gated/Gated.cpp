//===- Gated.cpp - Gated projections of a few tokens ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch. Every workgroup has some rows of every W and M; the work on V,
// which all need, is cut into items that workgroups draw (SharedSteps.h):
//
//   g            sums over some rows of V, for some of its columns
//   (loads of the rows of M are on their way from here on)
//   wait; every workgroup adds up what it needs of g: all
//   residual     x - V g for some rows of V, and its share of the norms
//   M g          in workgroup memory
//   wait; every workgroup adds up the norms and so knows the levels
//   W x          instead, only if the level of a token asks for it
//
// V comes from memory once and from the cache the second time. All sums have a
// fixed order, so that workgroups agree on the levels and results repeat.
//
// The tile is a #gist.gpu_gated.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Gated/Gated.h"
#include "dialect/Decompose.h"
#include "passes/Kernel/GatedProjection.h"
#include "passes/Tile/Gpu/Core/SharedSteps.h"
#include "passes/Tile/Gpu/Matmul/RowSums.h"

#include <vector>

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

/// Lanes that share the parts of a number of g, at most.
static constexpr int64_t kPartLanes = 4;
/// What an item of the residual has of a token's norms: the squares of the
/// residual and of x, and whether x has an element that is not zero.
/// The last is no sum of squares because the square of a small x may be zero.
enum Norm : int64_t { kResidual, kInput, kNonZero, kNumNorms };
/// Parts of g that are added up, at most; and items of the residual.
static constexpr int64_t kMaxParts = 32, kMaxItems = 512;
/// The length of a row of the residual is a multiple of this, so that a piece
/// of a block format fits.
static constexpr int64_t kRowUnit = 32;

static int64_t getTokens(GatedProjectionOp op) {
  return op.getInput().getType().getDimSize(0);
}

GatedProjectionOp gist::getGatedProjection(func::FuncOp kernel) {
  for (auto op : kernel.getOps<GatedProjectionOp>()) {
    int64_t tokens = getTokens(op);
    if (!ShapedType::isDynamic(tokens) && tokens <= kGatedTokens)
      return op;
  }
  return {};
}

/// Words of scratch, f32, that a call needs on any GPU.
static int64_t getScratchWords(GatedProjectionOp op) {
  RankedTensorType basis = op.getBasis().getType();
  // Rows of x and, where a product needs them, of the residual.
  int64_t rows = op.getLow().empty() ? 1 : 2;
  // The sum of what getPartPlace() to getNormPlace() address, which must agree.
  // The largest numbers of parts and items make it independent of the tile.
  return getTokens(op) * (kMaxParts * basis.getDimSize(1) +
                          rows * llvm::alignTo(basis.getDimSize(0), kRowUnit) +
                          kMaxItems * kNumNorms);
}

namespace {
/// What a workgroup has of one of the projections.
struct Projection {
  Operand weight, image;
  std::optional<Operand> low;
  Value bias;    ///< a tensor of the kernel, or null
  Value output;  ///< the buffer of the result
  int64_t count; ///< rows of a workgroup
  int64_t place; ///< of the first of them among all of the workgroup
  Value first;   ///< number of the first
};

class GatedKernel {
public:
  GatedKernel(GpuKernel &kernel, GatedProjectionOp op)
      : kernel(kernel), b(kernel.b), emitter(kernel.emitter), op(op),
        target(cast<func::FuncOp>(b.getBlock()->getParentOp())),
        tokens(getTokens(op)), basis(emitter, op.getBasis()),
        depth(op.getBasis().getType().getDimSize(0)),
        rank(op.getBasis().getType().getDimSize(1)),
        paddedDepth(llvm::alignTo(depth, kRowUnit)),
        isGraded(!op.getLow().empty()) {}

  FailureOr<GpuGrid> emit() {
    if (failed(readArguments()))
      return failure();
    planItems();
    SharedSteps steps(b, control, b.mul(number, kStepWords));
    askForBasis();
    steps.begin();
    steps.run(partsOfRows * partsOfColumns, [&](Value i) { addToImage(i); });
    loadImages();
    RowSums rows(b, basis, tokens, residualEach, 1);
    auto load = [&](Value item) { return loadBasis(rows, item); };
    Values loaded = load(steps.getNext());
    steps.wait();
    collectImage();
    steps.run(b.index(residualItems), loaded, load,
              [&](Value item, ValueRange loaded) {
                computeResidual(rows, item, loaded);
              });
    multiplyImages();
    steps.wait();
    decideLevels();
    multiplyRows();
    b.barrier();
    storeResults();
    return GpuGrid{getAffineConstantExpr(workgroups, b.getContext())};
  }

private:
  LogicalResult readArguments();
  void planItems();

  // Places in the scratch memory.
  Value getPartPlace(Value part, Value token, Value column) {
    Value row = b.add(b.mul(part, tokens), token);
    return b.add(b.mul(row, rank), column);
  }
  Value getInputPlace(Value token, Value row) {
    return b.add(b.add(b.mul(token, paddedDepth), row),
                 kMaxParts * tokens * rank);
  }
  Value getResidualPlace(Value token, Value row) {
    return b.add(getInputPlace(token, row), tokens * paddedDepth);
  }
  Value getNormPlace(Value item, Value number) {
    int64_t rows = isGraded ? 2 : 1;
    return b.add(b.add(b.mul(item, tokens * kNumNorms), number),
                 tokens * (kMaxParts * rank + rows * paddedDepth));
  }

  void askForBasis();
  void addToImage(Value item);
  void loadImages();
  void collectImage();
  Values loadBasis(RowSums &rows, Value item);
  void computeResidual(RowSums &rows, Value item, ValueRange loaded);
  void multiplyImages();
  void decideLevels();
  void multiplyRows();
  void multiplyRows(Projection &projection, Operand &matrix, int64_t level);
  void storeResults();

  Value getImagePiece(int64_t token, Value k, int64_t width);
  Value getRowPiece(int64_t token, Value k, int64_t width, bool isResidual);
  Value getInput(Value token, Value row) {
    return b.toF32(emitter.element(op.getInput(), {token, row}));
  }
  /// Calls `body` for numbers below `count`, shared by all threads.
  void forThreads(int64_t count, function_ref<void(Value)> body) {
    int64_t threads = b.getThreads();
    for (int64_t first = 0; first < count; first += threads) {
      Value i = b.add(b.thread(), first);
      Value isInside =
          first + threads > count
              ? b.isLess(i, count)
              : arith::ConstantIntOp::create(b, b.getI1Type(), 1).getResult();
      b.ifThen(isInside, [&] { body(i); });
    }
  }
  Value allocF32(ArrayRef<int64_t> shape) {
    return b.allocWorkgroup(shape, b.getF32Type());
  }

  GpuKernel &kernel;
  GpuBuilder &b;
  ElementEmitter &emitter;
  GatedProjectionOp op;
  func::FuncOp target;
  int64_t tokens;
  Operand basis;
  int64_t depth, rank, paddedDepth;
  bool isGraded;

  Value control, number, scratch, levelBuffer;
  std::vector<Projection> projections;
  int64_t workgroups = 0;

  // Items of g: lanes along a row of V, rows at once, rows of an item.
  int64_t columnLanes = 0, rowsAtOnce = 0, rowsOfPart = 0;
  int64_t partsOfRows = 0, partsOfColumns = 0;
  // Items of the residual.
  int64_t residualEach = 0, residualRows = 0, residualItems = 0;

  SmallVector<RowSums> images; ///< of the projections
  SmallVector<Values> loaded;  ///< their first rows
  Value image;                 ///< workgroup memory: g, tokens x paddedRank
  int64_t paddedRank = 0;
  Value sums;    ///< workgroup memory: rows of this workgroup x tokens
  Values levels; ///< i32
};
} // namespace

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

LogicalResult GatedKernel::readArguments() {
  func::FuncOp source = kernel.source;
  for (BlockArgument argument : source.getArguments())
    if (source.getArgAttr(argument.getArgNumber(), kControlArgAttr))
      control = target.getArgument(argument.getArgNumber());
  auto done = cast<func::ReturnOp>(source.getBody().front().getTerminator());
  unsigned firstOutput = source.getNumArguments() - done.getNumOperands();
  auto getOutput = [&](unsigned i) {
    return target.getArgument(firstOutput + i);
  };
  size_t count = op.getWeights().size();
  // The outputs, levels, scratch, control; the number is the last input.
  if (firstOutput > 0)
    number = target.getArgument(firstOutput - 1);
  if (!control || !number || !number.getType().isIndex() ||
      done.getNumOperands() != count + 3)
    return op.emitOpError("has no scratch memory");
  levelBuffer = getOutput(count);
  scratch = getOutput(count + 1);

  int64_t most = 0, place = 0;
  for (Value output : op.getOutputs())
    most =
        std::max(most, cast<RankedTensorType>(output.getType()).getDimSize(1));
  workgroups =
      llvm::divideCeil(most, kernel.getTile<GpuGatedAttr>().getColumns());
  // The residual has at most as many items as there are workgroups.
  if (workgroups > kMaxItems)
    return op.emitOpError("is cut into more than ")
           << kMaxItems << " workgroups";
  for (unsigned i = 0; i < count; ++i) {
    int64_t rows =
        cast<RankedTensorType>(op.getOutputs()[i].getType()).getDimSize(1);
    int64_t share = llvm::divideCeil(rows, workgroups);
    std::optional<Operand> low;
    if (!op.getLow().empty())
      low.emplace(emitter, op.getLow()[i]);
    projections.push_back({Operand(emitter, op.getWeights()[i]),
                           Operand(emitter, op.getImages()[i]), low,
                           op.getBiases().empty() ? Value() : op.getBiases()[i],
                           getOutput(i), share, place,
                           b.mul(b.block(0), share)});
    place += share;
  }
  sums = allocF32({place, tokens});
  return success();
}

void GatedKernel::planItems() {
  // Runs of 128 bytes of a row for an item of g; as many items as workgroups.
  int64_t pieces = llvm::divideCeil(rank, basis.getPiece());
  columnLanes = std::min<int64_t>(8, llvm::bit_floor<uint64_t>(pieces));
  rowsAtOnce = b.getThreads() / columnLanes;
  partsOfColumns = llvm::divideCeil(pieces, columnLanes);
  int64_t parts =
      std::clamp<int64_t>(workgroups / partsOfColumns, 1, kMaxParts);
  rowsOfPart = llvm::alignTo(llvm::divideCeil(depth, parts), rowsAtOnce);
  partsOfRows = llvm::divideCeil(depth, rowsOfPart);

  // A wave that shares a row reads whole pieces of g; zeros follow the rank.
  paddedRank = llvm::alignTo(rank, basis.getPiece() * b.getGpu().waveSize);
  image = allocF32({tokens, paddedRank});
  int64_t share = llvm::divideCeil(paddedDepth, workgroups);
  residualEach = RowSums::chooseEach(b, basis, share, 4);
  int64_t atOnce = RowSums(b, basis, tokens, residualEach, 1).getRowsAtOnce();
  residualRows = llvm::alignTo(share, atOnce);
  residualItems = llvm::divideCeil(paddedDepth, residualRows);
}

//===----------------------------------------------------------------------===//
// g
//===----------------------------------------------------------------------===//

/// Brings V into the cache while tickets are drawn: each workgroup some rows,
/// whoever then reads them.
void GatedKernel::askForBasis() {
  if (b.getGpu().kind != GpuKind::Nvidia ||
      !basis.isCopyable(getElementTypeOrSelf(op.getBasis())))
    return;
  constexpr int64_t kLine = 64; // numbers of 16 bits
  int64_t rows = llvm::divideCeil(depth, workgroups);
  int64_t lines = llvm::divideCeil(rank, kLine);
  forThreads(rows * lines, [&](Value i) {
    Value row = b.add(b.mul(b.block(0), rows), b.div(i, lines));
    auto [buffer, place] = basis.getPlace(b.min(row, b.index(depth - 1)),
                                          b.mul(b.rem(i, lines), kLine));
    prefetchLine(b, buffer, place);
  });
}

/// The sums over some rows of V, for some columns.
void GatedKernel::addToImage(Value item) {
  constexpr int64_t kRowsOfThread = 4;
  int64_t piece = basis.getPiece(), width = columnLanes * piece;
  bool checked = rank % width != 0;
  Value part = b.div(item, partsOfColumns);
  Value lane = b.rem(b.thread(), columnLanes);
  Value firstColumn = b.mul(b.rem(item, partsOfColumns), width);
  Value column = b.add(firstColumn, b.mul(lane, piece));
  Value begin = b.add(b.mul(part, rowsOfPart), b.div(b.thread(), columnLanes));
  Value lastRow = b.index(depth - 1);

  int64_t turns = rowsOfPart / rowsAtOnce;
  int64_t unrolled = std::min(turns, kRowsOfThread);
  auto addRows = [&](Value turn, ValueRange carried) {
    SmallVector<Values> fetched;
    Values rows, insides;
    for (int64_t i = 0; i < unrolled; ++i) {
      Value row = b.add(begin, b.mul(b.add(turn, i), rowsAtOnce));
      // The last round may go on into the rows of the next part, which are
      // there but not to be added here.
      insides.push_back(
          b.both(b.isLess(row, depth), b.isLess(b.add(turn, i), turns)));
      rows.push_back(b.min(row, lastRow));
      fetched.push_back(basis.fetch(rows.back(), column, checked));
    }
    Values factors;
    for (int64_t i = 0; i < unrolled; ++i)
      for (int64_t t = 0; t < tokens; ++t)
        factors.push_back(getInput(b.index(t), rows[i]));
    keepOrder(b);
    Values sums(carried);
    for (int64_t i = 0; i < unrolled; ++i) {
      Value numbers = basis.finish(column, fetched[i], checked, b.getF32Type());
      for (int64_t t = 0; t < tokens; ++t) {
        // The factor is cleared and not V: it is one number for a whole piece.
        Value factor = b.select(insides[i], factors[i * tokens + t], b.f32(0));
        sums[t] = b.fma(b.broadcast(factor, piece), numbers, sums[t]);
      }
    }
    return sums;
  };
  Values sums(tokens, b.constant(b.vectorOf(piece, b.getF32Type()), 0));
  sums = turns == unrolled
             ? addRows(b.index(0), sums)
             : b.loop(b.index(0), b.index(turns), unrolled, sums, addRows);

  // Over the lanes of a wave that have the same columns, then over the waves.
  int64_t waves = b.getThreads() / b.getGpu().waveSize;
  Value memory = allocF32({waves, tokens, width});
  for (int64_t t = 0; t < tokens; ++t) {
    Values numbers;
    for (int64_t j = 0; j < piece; ++j) {
      Value sum = b.extract(sums[t], j);
      for (int64_t mask = columnLanes; mask < b.getGpu().waveSize; mask *= 2)
        sum = arith::AddFOp::create(b, sum, b.exchange(sum, mask));
      numbers.push_back(sum);
    }
    b.ifThen(b.isLess(b.lane(), columnLanes), [&] {
      b.write(b.concat(numbers), memory,
              {b.wave(), b.index(t), b.mul(lane, piece)});
    });
  }
  b.barrier();
  forThreads(tokens * width, [&](Value i) {
    Value t = b.div(i, width), c = b.rem(i, width);
    Value sum = b.read(memory, {b.index(0), t, c});
    for (int64_t wave = 1; wave < waves; ++wave)
      sum =
          arith::AddFOp::create(b, sum, b.read(memory, {b.index(wave), t, c}));
    Value at = b.add(firstColumn, c);
    b.ifThen(b.isLess(at, rank),
             [&] { b.write(sum, scratch, getPartPlace(part, t, at)); });
  });
}

/// Adds the parts up, in workgroup memory; zeros behind them. Neighbouring
/// lanes share the parts of a number, so that all are on their way at once.
void GatedKernel::collectImage() {
  int64_t numbers = tokens * paddedRank;
  int64_t lanes = std::clamp<int64_t>(
      llvm::bit_floor<uint64_t>(b.getThreads() / numbers), 1, kPartLanes);
  forThreads(numbers * lanes, [&](Value thread) {
    Value i = b.div(thread, lanes), first = b.rem(thread, lanes);
    Value t = b.div(i, paddedRank), column = b.rem(i, paddedRank);
    Value at = b.min(column, b.index(rank - 1)),
          last = b.index(partsOfRows - 1);
    Values parts;
    for (int64_t part = 0; part < partsOfRows; part += lanes) {
      Value number = b.add(first, part);
      Value sum = b.read(scratch, getPartPlace(b.min(number, last), t, at));
      parts.push_back(b.select(b.isLess(number, partsOfRows), sum, b.f32(0)));
    }
    Value sum = parts[0];
    for (Value part : ArrayRef(parts).drop_front())
      sum = arith::AddFOp::create(b, sum, part);
    sum = b.waveReduce(sum, vector::CombiningKind::ADD, lanes);
    sum = b.select(b.isLess(column, rank), sum, b.f32(0));
    b.ifThen(b.isEqual(first, 0), [&] { b.write(sum, image, {t, column}); });
  });
  b.barrier();
}

Value GatedKernel::getImagePiece(int64_t token, Value k, int64_t width) {
  Value at = b.min(k, b.index(paddedRank - width));
  return b.read(image, {b.index(token), at}, width);
}

//===----------------------------------------------------------------------===//
// The residual
//===----------------------------------------------------------------------===//

/// Starts loading an item's rows of V, if they are read at once: they do not
/// depend on g.
Values GatedKernel::loadBasis(RowSums &rows, Value item) {
  if (rows.getRowsAtOnce() != residualRows)
    return {};
  Values loaded = rows.fetch(b.mul(item, residualRows));
  keepOrder(b);
  return loaded;
}

void GatedKernel::computeResidual(RowSums &rows, Value item,
                                  ValueRange loaded) {
  int64_t atOnce = rows.getRowsAtOnce(), groups = atOnce / residualEach;
  Value begin = b.mul(item, residualRows);
  auto getPiece = [&](int64_t token, Value k) {
    return getImagePiece(token, k, basis.getPiece());
  };
  // Norms of the rows that a group of lanes has; all of its lanes have them.
  Values norms(tokens * kNumNorms, b.f32(0));
  norms = b.loop(
      b.index(0), b.index(residualRows), atOnce, norms,
      [&](Value offset, ValueRange carried) {
        Value first = b.add(begin, offset);
        Values images = rows.getSums(first, getPiece, loaded), norms(carried);
        for (int64_t i = 0; i < residualEach; ++i) {
          Value row = b.add(first, rows.getPlace(i));
          Value isInside = b.isLess(row, depth);
          // Rows past the depth are zeros, and are stored too: getRowPiece()
          // reads whole pieces of x and of the residual.
          Value nearby = b.min(row, b.index(depth - 1));
          for (int64_t t = 0; t < tokens; ++t) {
            Value zero = b.f32(0);
            Value x = b.select(isInside, getInput(b.index(t), nearby), zero);
            Value residual = arith::SubFOp::create(
                b, x, b.select(isInside, images[t * residualEach + i], zero));
            Value *norm = &norms[t * kNumNorms];
            norm[kResidual] = b.fma(residual, residual, norm[kResidual]);
            norm[kInput] = b.fma(x, x, norm[kInput]);
            Value isNonZero = b.compare(arith::CmpFPredicate::UNE, x, zero);
            norm[kNonZero] = b.select(isNonZero, b.f32(1), norm[kNonZero]);
            Value isWriter =
                b.both(rows.isFirstLane(), b.isLess(row, paddedDepth));
            b.ifThen(isWriter, [&] {
              b.write(x, scratch, getInputPlace(b.index(t), row));
              if (isGraded)
                b.write(residual, scratch, getResidualPlace(b.index(t), row));
            });
          }
        }
        return norms;
      });

  Value memory = allocF32({groups, tokens * kNumNorms});
  b.ifThen(rows.isFirstLane(), [&] {
    for (auto [i, norm] : llvm::enumerate(norms))
      b.write(norm, memory, {rows.getPlace(0), b.index(i)});
  });
  b.barrier();
  forThreads(tokens * kNumNorms, [&](Value i) {
    Value sum = b.read(memory, {b.index(0), i});
    for (int64_t group = 1; group < groups; ++group)
      sum = arith::AddFOp::create(b, sum, b.read(memory, {b.index(group), i}));
    b.write(sum, scratch, getNormPlace(item, i));
  });
}

/// Adds the norms up, a wave for each, and compares.
void GatedKernel::decideLevels() {
  int64_t lanes = b.getGpu().waveSize, waves = b.getThreads() / lanes;
  Value totals = allocF32({tokens * kNumNorms});
  for (int64_t first = 0; first < tokens * kNumNorms; first += waves) {
    Value norm = b.add(b.wave(), first);
    Value nearby = b.min(norm, b.index(tokens * kNumNorms - 1));
    Values parts;
    for (int64_t item = 0; item < residualItems; item += lanes) {
      Value at = b.add(b.lane(), item);
      Value part = b.read(
          scratch, getNormPlace(b.min(at, b.index(residualItems - 1)), nearby));
      parts.push_back(b.select(b.isLess(at, residualItems), part, b.f32(0)));
    }
    Value sum = parts[0];
    for (Value part : ArrayRef(parts).drop_front())
      sum = arith::AddFOp::create(b, sum, part);
    sum = b.waveReduce(sum, vector::CombiningKind::ADD);
    Value isWriter =
        b.both(b.isEqual(b.lane(), 0), b.isLess(norm, tokens * kNumNorms));
    b.ifThen(isWriter, [&] { b.write(sum, totals, norm); });
  }
  b.barrier();

  for (int64_t t = 0; t < tokens; ++t) {
    auto get = [&](Norm norm) {
      return b.read(totals, b.index(t * kNumNorms + norm));
    };
    Value isNonZero =
        b.compare(arith::CmpFPredicate::UNE, get(kNonZero), b.f32(0));
    Value residual = get(kResidual);
    Value ratio = createGateRatio(b, residual, get(kInput), isNonZero);
    Value level = createGateLevel(b, op, ratio, b.getI32Type());
    levels.push_back(level);
    // Every workgroup has the levels, and they are the same in all; one stores.
    Value isFirst = b.both(b.isEqual(b.block(0), 0), b.isEqual(b.thread(), 0));
    b.ifThen(isFirst, [&] {
      b.write(arith::TruncIOp::create(b, b.getI8Type(), level), levelBuffer,
              b.index(t));
    });
  }
}

//===----------------------------------------------------------------------===//
// Rows of M and W
//===----------------------------------------------------------------------===//

/// Starts loading the rows of M: they do not depend on g.
void GatedKernel::loadImages() {
  // So many numbers of a lane are on their way for all projections.
  int64_t limit = std::max<int64_t>(8 / projections.size(), 1);
  limit = std::min<int64_t>(limit, std::max<int64_t>(32 / tokens, 1));
  for (Projection &projection : projections) {
    int64_t each =
        RowSums::chooseEach(b, projection.image, projection.count, limit);
    images.emplace_back(b, projection.image, tokens, each, 1);
    loaded.push_back(images.back().fetch(projection.first));
  }
  keepOrder(b);
}

void GatedKernel::multiplyImages() {
  for (auto [projection, rows, fetched] :
       llvm::zip_equal(projections, images, loaded)) {
    int64_t piece = projection.image.getPiece();
    auto getPiece = [&](int64_t token, Value k) {
      return getImagePiece(token, k, piece);
    };
    auto multiply = [&](Value offset, Values fetched) {
      Values products =
          rows.getSums(b.add(projection.first, offset), getPiece, fetched);
      b.ifThen(rows.isFirstLane(), [&] {
        for (int64_t i = 0; i < rows.getEach(); ++i) {
          Value row = b.add(offset, rows.getPlace(i));
          b.ifThen(b.isLess(row, projection.count), [&] {
            for (int64_t t = 0; t < tokens; ++t)
              b.write(products[t * rows.getEach() + i], sums,
                      {b.add(row, projection.place), b.index(t)});
          });
        }
      });
    };
    multiply(b.index(0), fetched);
    if (rows.getRowsAtOnce() < projection.count)
      b.forEach(b.index(rows.getRowsAtOnce()), b.index(projection.count),
                b.index(rows.getRowsAtOnce()),
                [&](Value offset) { multiply(offset, {}); });
  }
}

/// Of a token's residual or input.
Value GatedKernel::getRowPiece(int64_t token, Value k, int64_t width,
                               bool isResidual) {
  // Four numbers are what one instruction loads.
  constexpr int64_t kWidth = 4;
  Value at = b.min(k, b.index(paddedDepth - width));
  Values parts;
  for (int64_t i = 0; i < width; i += kWidth) {
    Value row = b.add(at, i);
    Value place = isResidual ? getResidualPlace(b.index(token), row)
                             : getInputPlace(b.index(token), row);
    parts.push_back(b.read(scratch, place, kWidth));
  }
  return b.concat(parts);
}

/// For the tokens at `level`, the rows of `matrix` times their residuals, added
/// to what is there, or at the highest level times their inputs, instead of it.
void GatedKernel::multiplyRows(Projection &projection, Operand &matrix,
                               int64_t level) {
  bool isResidual = isGraded && level == 1;
  int64_t each = RowSums::chooseEach(
      b, matrix, projection.count,
      std::max<int64_t>(4 / std::max<int64_t>(tokens / 2, 1), 1));
  RowSums rows(b, matrix, tokens, each,
               kernel.getTile<GpuGatedAttr>().getSteps());
  auto getPiece = [&](int64_t token, Value k) {
    return getRowPiece(token, k, matrix.getPiece(), isResidual);
  };
  b.forEach(b.index(0), b.index(projection.count),
            b.index(rows.getRowsAtOnce()), [&](Value offset) {
              Values products =
                  rows.getSums(b.add(projection.first, offset), getPiece);
              b.ifThen(rows.isFirstLane(), [&] {
                for (int64_t i = 0; i < each; ++i) {
                  Value row = b.add(offset, rows.getPlace(i));
                  b.ifThen(b.isLess(row, projection.count), [&] {
                    for (int64_t t = 0; t < tokens; ++t) {
                      Values place = {b.add(row, projection.place), b.index(t)};
                      Value old = b.read(sums, place);
                      Value isLevel = b.compare(arith::CmpIPredicate::eq,
                                                levels[t], b.i32(level));
                      Value product = products[t * each + i];
                      if (isResidual)
                        product = arith::AddFOp::create(b, old, product);
                      b.write(b.select(isLevel, product, old), sums, place);
                    }
                  });
                }
              });
            });
}

void GatedKernel::multiplyRows() {
  auto ifAny = [&](int64_t level, function_ref<void()> body) {
    Value isAny = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
    for (Value other : levels)
      isAny = arith::OrIOp::create(
          b, isAny, b.compare(arith::CmpIPredicate::eq, other, b.i32(level)));
    b.ifThen(isAny, body);
  };
  // Another lane may have multiplied the rows of M.
  if (isGraded)
    ifAny(1, [&] {
      b.barrier();
      for (Projection &projection : projections)
        multiplyRows(projection, *projection.low, 1);
    });
  int64_t open = isGraded ? 2 : 1;
  ifAny(open, [&] {
    b.barrier();
    for (Projection &projection : projections)
      multiplyRows(projection, projection.weight, open);
  });
}

void GatedKernel::storeResults() {
  for (Projection &projection : projections) {
    int64_t count = projection.count;
    Type element =
        cast<MemRefType>(projection.output.getType()).getElementType();
    forThreads(count * tokens, [&](Value i) {
      Value t = b.div(i, count), row = b.rem(i, count);
      Value at = b.add(projection.first, row);
      b.ifThen(b.isLess(at, b.size(projection.output, 1)), [&] {
        Value sum = b.read(sums, {b.add(row, projection.place), t});
        if (projection.bias)
          sum = arith::AddFOp::create(
              b, sum, b.toF32(emitter.element(projection.bias, at)));
        b.write(b.convert(sum, element), projection.output, {t, at});
      });
    });
  }
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

FailureOr<GpuGrid> gist::emitGated(GpuKernel &kernel, GatedProjectionOp op) {
  for (Value operand : op->getOperands())
    if (!cast<RankedTensorType>(operand.getType()).hasStaticShape())
      return op.emitOpError(
                 "expects static sizes where there are few tokens, got ")
             << operand.getType();
  return GatedKernel(kernel, op).emit();
}

/// Two workgroups per compute unit: while one waits for the others, or for its
/// last rows, the other has loads on their way.
static constexpr int64_t kThreads = 512, kWorkgroupsOfUnit = 2;
/// A workgroup has a multiple of so many columns, which its waves share evenly.
static constexpr int64_t kColumnStep = 16;
/// While one piece of a row is multiplied, the next is on its way.
static constexpr int64_t kSteps = 2;

GpuGatedAttr gist::selectGatedTile(GatedProjectionOp op, const GpuInfo &gpu) {
  int64_t most = 0;
  for (Value output : op.getOutputs())
    most =
        std::max(most, cast<RankedTensorType>(output.getType()).getDimSize(1));
  int64_t workgroups =
      std::min<int64_t>(kWorkgroupsOfUnit * gpu.computeUnits, kMaxItems);
  int64_t columns = std::max<int64_t>(
      llvm::alignTo(llvm::divideCeil(most, workgroups), kColumnStep),
      kColumnStep);
  return GpuGatedAttr::get(op.getContext(), columns, kThreads / gpu.waveSize,
                           kSteps);
}

static FailureOr<KernelScratch> getGatedScratch(func::FuncOp kernel) {
  KernelScratch scratch;
  GatedProjectionOp op = getGatedProjection(kernel);
  // What sizes there must be is verified when the kernel is written.
  if (!op || !op.getBasis().getType().hasStaticShape() ||
      !op.getInput().getType().hasStaticShape())
    return scratch;
  MLIRContext *context = kernel.getContext();
  scratch.tensors.push_back(
      {{getAffineConstantExpr(getScratchWords(op), context)},
       Float32Type::get(context)});
  scratch.controlWords = kStepWords;
  return scratch;
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuGatedKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuGatedKernel = {
    // More tokens run by the definition: the graph stage makes products of
    // them.
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      if (GatedProjectionOp op = getGatedProjection(kernel))
        return selectGatedTile(op, gpu);
      return selectRowsTile(kernel, gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      GatedProjectionOp op = getGatedProjection(kernel.source);
      return op ? emitGated(kernel, op) : emitDefinition(kernel);
    },
    .verify = [](func::FuncOp kernel, const GpuInfo &) -> LogicalResult {
      return getGatedProjection(kernel) ? expectTile<GpuGatedAttr>(kernel)
                                        : expectTile<GpuRowsAttr>(kernel);
    },
    .scratch = getGatedScratch,
};
