//===- GatedKernel.cpp - Gates of a few tokens: g, residual, levels -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Gated/GatedKernel.h"
#include "dialect/Decompose.h"
#include "passes/Kernel/GatedProjection.h"
#include "passes/Tile/Gpu/Core/SharedSteps.h"

using namespace mlir;
using namespace gist;
using Values = GpuBuilder::Values;

/// Lanes that share the parts of a number of g, at most.
static constexpr int64_t kPartLanes = 4;

FailureOr<GpuGrid> GatedKernel::emit() {
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

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

int64_t GatedKernel::getScratchWords(GatedProjectionOp op) {
  RankedTensorType basis = op.getBasis().getType();
  // Rows of x and, where a product needs them, of the residual.
  int64_t rows = op.getLow().empty() ? 1 : 2;
  // The sum of what getPartPlace() to getNormPlace() address, which must agree.
  // The largest numbers of parts and items make it independent of the tile.
  return op.getInput().getType().getDimSize(0) *
         (kMaxParts * basis.getDimSize(1) +
          rows * llvm::alignTo(basis.getDimSize(0), kRowUnit) +
          kMaxItems * kNumNorms);
}

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

/// Prefetches V into the cache while tickets are drawn: each workgroup some
/// rows, whichever workgroup then reads them.
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
      // The last round may go on into the rows of the next part, which are in
      // bounds but must not be added here.
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
        sum = b.add(sum, b.exchange(sum, mask));
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
      sum = b.add(sum, b.read(memory, {b.index(wave), t, c}));
    Value at = b.add(firstColumn, c);
    b.ifThen(b.isLess(at, rank),
             [&] { b.write(sum, scratch, getPartPlace(part, t, at)); });
  });
}

/// Adds the parts up, in workgroup memory; zeros behind them. Neighbouring
/// lanes share the parts of a number, so that all are in flight at once.
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
      sum = b.add(sum, part);
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
            Value residual = b.sub(
                x, b.select(isInside, images[t * residualEach + i], zero));
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
      sum = b.add(sum, b.read(memory, {b.index(group), i}));
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
      sum = b.add(sum, part);
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
