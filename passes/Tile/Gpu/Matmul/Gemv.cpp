//===- Gemv.cpp - Products of few rows ------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a few rows of x, reading W is all that takes time. Lanes share the rows
// of W that a wave has: `lanes` neighbours read one piece of a row each, so
// that a row is read in long runs, and keep a sum for every row of x. A lane
// has the loads of several rows of W, `steps` pieces of each, in flight at
// once. At the end the sums of the lanes come together, and those of the waves
// that share a row.
//
// On sm_90 a workgroup begins while the kernels that write x still run. Where a
// lane has all of its pieces of W at once, it reads them before it waits for
// those. Where it has more, it asks for the first ones.
//
// Where x is the result of a norm, every workgroup reduces the rows for itself:
// they are short, and it saves a launch. What an RMS norm multiplies a row with
// is multiplied with the sums, so that products and reduction run side by side
// (RowFactor.h). Where columns are paired a lane has
// both numbers of a pair, one after the other.
//
// The tile is a #gist.gpu_gemv.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/GridOrder.h"
#include "passes/Tile/Gpu/Elements/RowTeam.h"
#include "passes/Tile/Gpu/Matmul/FewRows.h"
#include "passes/Tile/Gpu/Matmul/Matmul.h"
#include "passes/Tile/Gpu/Matmul/RowFactor.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

/// Numbers of a row that a lane reads at once to reduce it.
static constexpr int64_t kReducedWidth = 4;
/// The most of these reads that a lane has in flight if each wave reduces a row
/// for itself, so that no wave waits for another.
static constexpr int64_t kReducedAtOnce = 8;

void gist::prefetchShortWeights(ElementEmitter &emitter, func::FuncOp source) {
  GpuBuilder &b = emitter.getBuilder();
  for (BlockArgument argument : source.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() != 1 || !type.hasStaticShape() ||
        !isa<FloatType>(type.getElementType()) || !isConstant(argument))
      continue;
    std::optional<MemoryAccess> memory = emitter.asMemory(argument);
    if (!memory)
      continue;
    int64_t line = kLineBits / type.getElementTypeBitWidth();
    b.forEach(b.mul(b.thread(), line), b.index(type.getDimSize(0)),
              b.index(line * b.getThreads()), [&](Value at) {
                prefetchLine(b, memory->buffer, memory->at({at}));
              });
  }
}

/// The reductions of the rows that `product` multiplies.
static SmallVector<RowReduction> getReductionsBefore(linalg::LinalgOp product) {
  SmallVector<RowReduction> reductions = getRowReductions(
      product->getParentOfType<func::FuncOp>(), product.getDpsInputs()[0]);
  llvm::erase_if(reductions, [](const RowReduction &reduction) {
    return reduction.rank != 1;
  });
  return reductions;
}

void gist::reduceRowsBefore(ElementEmitter &emitter, linalg::LinalgOp product,
                            int64_t rows, RowTeam &team) {
  GpuBuilder &b = emitter.getBuilder();
  for (const RowReduction &reduction : getReductionsBefore(product)) {
    Values numbers;
    for (int64_t row = 0; row < rows; ++row)
      numbers.push_back(team.reduce(reduction, b.index(row), kReducedWidth));
    emitter.bind(reduction.op->getResult(0), [numbers](ValueRange indices,
                                                       int64_t width) {
      std::optional<int64_t> row = getConstantIntValue(indices.front());
      return width == 1 && row ? numbers[*row] : Value();
    });
  }
}

namespace {
class GemvKernel {
public:
  GemvKernel(ElementEmitter &emitter, linalg::LinalgOp product,
             GpuGemvAttr tile)
      : b(emitter.getBuilder()),
        split(splitRowFactor(product.getDpsInputs()[0])),
        x(emitter, split ? split->rest : product.getDpsInputs()[0]),
        w(emitter, product.getDpsInputs()[1]), rows(tile.getRows()),
        columns(tile.getColumns()), steps(tile.getSteps()), piece(w.getPiece()),
        lanes(tile.getLanes()), wavesOfK(tile.getWaves()[1]),
        perStore(isPaired(product) ? 2 : 1), emitter(emitter), product(product),
        result(emitter, product, columns) {
    // Rows of W whose sums a lane has; between them are those of the other
    // groups of lanes.
    apart = tile.getWaves()[0] * b.getGpu().waveSize / lanes;
    each = columns / apart;
    Value group = b.div(b.rem(b.thread(), apart * lanes), lanes);
    first = b.add(b.mul(b.block(0), columns / perStore), group);
    // One value for each place: what was read there early is found by it.
    for (int64_t i = 0; i < each; i += perStore)
      columnsOfStores.push_back(
          b.mul(b.add(first, i / perStore * apart), perStore));
    laneOfRow = b.rem(b.lane(), lanes);
    waveOfK = b.div(b.thread(), apart * lanes);
    isWeight = b.getGpu().kind == GpuKind::Nvidia && isConstant(w.getTensor());
  }

  void generate() {
    int64_t stride = lanes * piece * wavesOfK * steps;
    Value start =
        b.add(b.mul(waveOfK, lanes * piece * steps), b.mul(laneOfRow, piece));
    Values sums(rows * each, b.f32(0));
    // One step covers all of k, so there is no loop.
    if (isWeight && stride >= w.getDepth()) {
      prefetchShortWeights(emitter, product->getParentOfType<func::FuncOp>());
      SmallVector<Values> early = fetchEarly(start, stride);
      waitForGrids(b);
      keepSums();
      if (!split)
        reduceRows(start);
      sums = getSteps(start, stride, sums, early, [&] {
        fetchAddends();
        if (split)
          reduceRows(start);
      });
    } else {
      // Lines that are asked for take no registers.
      if (isWeight)
        prefetch(start);
      waitForGrids(b);
      keepSums();
      reduceRows(start);
      sums = b.loop(b.index(0), b.index(w.getDepth()), stride, sums,
                    [&](Value k, ValueRange sums) {
                      return getSteps(b.add(k, start), stride, sums, {}, [] {});
                    });
      // A kernel of several steps lets others start only now, near its end. One
      // of a single step leaves it to orderGrids(), at the beginning.
      if (stride < w.getDepth())
        letGridsStart(b);
    }
    for (Value &sum : sums)
      sum = b.waveReduce(sum, vector::CombiningKind::ADD, lanes);
    if (split)
      for (int64_t i = 0; i < rows * each; ++i) {
        Value factor = emitter.element(split->factor, b.index(i / each));
        sums[i] = b.mul(sums[i], factor);
      }
    store(wavesOfK > 1 ? combineWaves(sums) : sums);
  }

private:
  /// The first column of the store that sum number `i` is part of.
  Value getColumn(int64_t i) { return columnsOfStores[i / perStore]; }
  /// The row of W that sum number `i` is of.
  Value getRowOfW(int64_t i) {
    // Past the end the last row is read again: its results are dropped, and
    // loads need no branch.
    Value last = b.sub(w.getRows(), 1);
    if (perStore == 1)
      return b.min(getColumn(i), last);
    // Both halves of W have a row for a pair.
    int64_t half = *getConstantIntValue(w.getRows()) / 2;
    Value pair = b.min(b.add(first, i / 2 * apart), b.index(half - 1));
    return b.add(pair, i % 2 * half);
  }

  /// Asks for what the first step reads of W: it arrives while rows are made or
  /// reduced.
  void prefetch(Value k) {
    if (b.getGpu().kind != GpuKind::Nvidia || !w.isMemory())
      return;
    Value last = b.index(std::max<int64_t>(w.getDepth() - piece, 0));
    for (int64_t step = 0; step < steps; ++step) {
      Value at = b.min(b.add(k, step * lanes * piece), last);
      for (int64_t i = 0; i < each; ++i) {
        auto [buffer, place] = w.getPlace(getRowOfW(i), at);
        prefetchLine(b, buffer, place);
      }
    }
  }

  /// Adds up the rows that x is made of where they are several
  /// (SplitOutputs.h), for all waves: each would read all of them, and more
  /// than once.
  void keepSums() {
    constexpr unsigned kFewAddends = 2;
    auto kernel = product->getParentOfType<func::FuncOp>();
    for (auto sum : kernel.getOps<linalg::GenericOp>()) {
      Value numbers = sum.getResult(0);
      if (rows != 1 || sum.getNumReductionLoops() != 0 ||
          sum.getNumDpsInputs() <= kFewAddends ||
          numbers.getType() != product.getDpsInputs()[0].getType() ||
          !llvm::all_of(sum.getDpsInputs(), [](Value input) {
            return isa<BlockArgument>(input) && !isConstant(input);
          }))
        continue;
      int64_t width = getRowWidth(w.getDepth(), getElementBytes(numbers));
      Value memory = b.allocWorkgroup({w.getDepth()},
                                      getElementTypeOrSelf(numbers.getType()));
      Values columns, parts;
      // All loads are in flight before the first one is waited for.
      for (int64_t i = 0; i < w.getDepth(); i += b.getThreads() * width) {
        columns.push_back(b.add(b.mul(b.thread(), width), i));
        Value there = b.min(columns.back(), b.index(w.getDepth() - width));
        parts.push_back(emitter.elements(numbers, {b.index(0), there}, width));
      }
      for (auto [column, part] : llvm::zip_equal(columns, parts))
        b.ifThen(b.isLess(column, w.getDepth()),
                 [&] { b.write(part, memory, column); });
      b.barrier();
      emitter.bind(numbers, [this, memory](ValueRange at, int64_t width) {
        return width == 1 ? b.read(memory, at[1])
                          : b.read(memory, at[1], width);
      });
    }
  }

  /// Computes what x needs of each row as a whole. `k` is the first number that
  /// this lane has of a row.
  void reduceRows(Value k) {
    if (!isWeight && !getReductionsBefore(product).empty())
      prefetch(k);
    int64_t waveSize = b.getGpu().waveSize;
    bool isShort = isWeight && rows == 1 &&
                   w.getDepth() <= kReducedAtOnce * kReducedWidth * waveSize;
    RowTeam team(emitter, isShort ? waveSize : b.getThreads(),
                 isShort ? b.lane() : b.thread());
    reduceRowsBefore(emitter, product, rows, team);
  }

  /// Reads the other operand of the op behind the product, such as a residual
  /// stream, early: its latency overlaps the sums.
  void fetchAddends() {
    Value sum = product->getResult(0);
    if (rows != 1 || perStore != 1 || !sum.hasOneUse() ||
        *getConstantIntValue(w.getRows()) % columns != 0)
      return;
    auto after = dyn_cast<linalg::LinalgOp>(*sum.user_begin());
    if (!after || after.getNumReductionLoops() != 0)
      return;
    AffineExpr row, column;
    bindDims(product.getContext(), row, column);
    for (OpOperand *operand : after.getDpsInputOperands()) {
      // A row, or several, at the column of the sum.
      ArrayRef<AffineExpr> at =
          after.getMatchingIndexingMap(operand).getResults();
      auto isOther = [&](AffineExpr index) {
        return index == row || isa<AffineConstantExpr>(index);
      };
      if (!isa<BlockArgument>(operand->get()) ||
          getElementTypeOrSelf(operand->get()) != getElementTypeOrSelf(sum) ||
          at.size() < 2 || at.back() != column ||
          !llvm::all_of(at.drop_back(), isOther))
        continue;
      Values indices;
      for (AffineExpr index : at.drop_back()) {
        auto constant = dyn_cast<AffineConstantExpr>(index);
        indices.push_back(b.index(constant ? constant.getValue() : 0));
      }
      indices.push_back(Value());
      // The emitter remembers it.
      for (int64_t i = 0; i < each; ++i) {
        indices.back() = getColumn(i);
        emitter.element(operand->get(), indices);
      }
    }
  }

  /// What the only step reads of W: weights can be read before the kernels that
  /// write x are over. Where there are more steps this does not pay: it takes
  /// registers for longer, and so workgroups from a compute unit.
  SmallVector<Values> fetchEarly(Value k, int64_t stride) {
    bool checked = w.getDepth() % stride != 0;
    SmallVector<Values> fetched;
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t i = 0; i < each; ++i)
        fetched.push_back(
            w.fetch(getRowOfW(i), b.add(k, step * lanes * piece), checked));
    return fetched;
  }

  /// Adds `steps` pieces of each row, from k on. All loads come first, then
  /// what `beside` does. What was read of W before is `early`.
  Values getSteps(Value k, int64_t stride, ValueRange sums,
                  ArrayRef<Values> early, function_ref<void()> beside) {
    bool checked = w.getDepth() % stride != 0;
    Value lastX = b.sub(x.getRows(), 1);
    SmallVector<Values> fetchedW(early), fetchedX;
    for (int64_t step = 0; step < steps; ++step) {
      Value at = b.add(k, step * lanes * piece);
      if (early.empty())
        for (int64_t i = 0; i < each; ++i)
          fetchedW.push_back(w.fetch(getRowOfW(i), at, checked));
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < piece; i += x.getPiece())
          fetchedX.push_back(
              x.fetch(b.min(b.index(row), lastX), b.add(at, i), checked));
    }
    beside();
    keepOrder(b);
    Values newSums(sums);
    // Each step has sums of its own where there is no other work meanwhile.
    bool isChain = rows * each == 1 && early.size() > 1;
    const Values *nextW = fetchedW.begin(), *nextX = fetchedX.begin();
    for (int64_t step = 0; step < steps; ++step) {
      Value at = b.add(k, step * lanes * piece);
      Values numbersX;
      for (int64_t row = 0; row < rows; ++row)
        numbersX.push_back(finishX(at, nextX, checked));
      for (int64_t i = 0; i < each; ++i) {
        Value numbersW = w.finish(at, *nextW++, checked, b.getF32Type());
        for (int64_t row = 0; row < rows; ++row) {
          Value &sum = newSums[row * each + i];
          Value before = sum;
          if (isChain)
            sum = b.f32(0);
          for (int64_t j = 0; j < piece; ++j)
            sum =
                b.fma(b.extract(numbersX[row], j), b.extract(numbersW, j), sum);
          if (isChain)
            sum = b.add(before, sum);
        }
      }
    }
    return newSums;
  }

  /// As many numbers of x as a piece of W has, from the next that were fetched.
  Value finishX(Value k, const Values *&next, bool checked) {
    Values parts;
    for (int64_t i = 0; i < piece; i += x.getPiece())
      parts.push_back(x.finish(b.add(k, i), *next++, checked, b.getF32Type()));
    return parts.size() == 1 ? parts.front() : b.concat(parts);
  }

  /// The sums over the waves that share k, for the first of them.
  Values combineWaves(ArrayRef<Value> sums) {
    int64_t count = apart * each;
    Value memory = b.allocWorkgroup({wavesOfK, rows, count}, b.getF32Type());
    auto getPlace = [&](Value wave, int64_t row, int64_t i) {
      Value group = b.div(b.rem(b.thread(), apart * lanes), lanes);
      return Values{wave, b.index(row), b.add(group, i * apart)};
    };
    // All lanes of a row have its sum after the reduction; the first one
    // writes.
    b.ifThen(b.isEqual(laneOfRow, 0), [&] {
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < each; ++i)
          b.write(sums[row * each + i], memory, getPlace(waveOfK, row, i));
    });
    b.barrier();
    Values all;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < each; ++i) {
        Value sum = b.read(memory, getPlace(b.index(0), row, i));
        for (int64_t wave = 1; wave < wavesOfK; ++wave)
          sum = b.combine(vector::CombiningKind::ADD, sum,
                          b.read(memory, getPlace(b.index(wave), row, i)));
        all.push_back(sum);
      }
    return all;
  }

  void store(ArrayRef<Value> sums) {
    Value isWriter = b.both(b.isEqual(laneOfRow, 0), b.isEqual(waveOfK, 0));
    b.ifThen(isWriter, [&] {
      for (int64_t row = 0; row < rows; ++row)
        result.ifRow(b.index(row), [&] {
          for (int64_t i = 0; i < each; i += perStore) {
            ArrayRef<Value> numbers = sums.slice(row * each + i, perStore);
            result.store(b.index(row), getColumn(i),
                         perStore == 1 ? numbers[0] : b.concat(numbers));
          }
        });
    });
  }

  GpuBuilder &b;
  std::optional<RowFactor> split; ///< of x
  Operand x, w;
  int64_t rows, columns, steps, piece, lanes, wavesOfK;
  int64_t perStore; ///< numbers that are stored together
  ElementEmitter &emitter;
  linalg::LinalgOp product;
  MatmulResult result;
  int64_t apart, each;
  bool isWeight; ///< W can be read before the kernels that write x are over
  Value first, laneOfRow, waveOfK;
  Values columnsOfStores;
};
} // namespace

LogicalResult gist::verifyGemv(linalg::LinalgOp product, GpuGemvAttr tile,
                               const GpuInfo &gpu) {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  if (type.isDynamicDim(0) || type.getDimSize(0) > tile.getRows())
    return product.emitOpError("expects at most as many rows as the tile, got ")
           << type;
  if (tile.getLanes() > gpu.waveSize)
    return product.emitOpError("expects at most ")
           << gpu.waveSize << " lanes on " << gpu.name << ", got " << tile;
  // Each group of lanes has whole rows of W, as many as the others, and both
  // rows of a pair.
  int64_t groups = tile.getWaves()[0] * gpu.waveSize / tile.getLanes();
  int64_t unit = isPaired(product) ? 2 * groups : groups;
  if (tile.getColumns() % unit != 0)
    return product.emitOpError("expects a multiple of ")
           << unit << " columns on " << gpu.name << ", got " << tile;
  return verifyLaneProducts(product, tile,
                            tile.getRows() * (tile.getColumns() / groups));
}

FailureOr<GpuGrid> gist::emitGemv(GpuKernel &kernel, linalg::LinalgOp product) {
  auto tile = kernel.getTile<GpuGemvAttr>();
  GemvKernel(kernel.emitter, product, tile).generate();
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  return GpuGrid{getAffineConstantExpr(
      llvm::divideCeil(type.getDimSize(1), tile.getColumns()),
      kernel.source.getContext())};
}
