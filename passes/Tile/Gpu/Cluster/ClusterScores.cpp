//===- ClusterScores.cpp - Tokens against clusters on GPUs ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Cluster/ClusterScores.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Tokens that a workgroup has at once, where memory allows it: 32 for each of
/// four waves.
static constexpr int64_t kMaxTokens = 128;
/// Numbers of f32 that are moved at once.
static constexpr int64_t kPlainNumbers = 4;
/// Sixteenths of workgroup memory for tokens, clusters and pairs; one is left
/// for what there is per token.
static constexpr int64_t kMemoryParts = 16, kMemoryShare = 15;

/// The matrix instruction of a tile, with f16 in place of f32.
static Mma getMma(Instruction instruction, MLIRContext *context) {
  return Mma(instruction, Float16Type::get(context));
}

ClusterScores::ClusterScores(GpuBuilder &b, GpuClustersAttr tile,
                             int64_t keySize)
    : b(b), mma(getMma(tile.getInstruction(), b.getContext())),
      isPlain(tile.getElement().isF32()), tokens(tile.getTokens()),
      clusters(tile.getClusters()),
      depth(isPlain ? keySize : llvm::alignTo(keySize, mma.depth())),
      columns(tile.getColumns()), columnTiles(clusters / mma.columns()),
      lane(b.lane()), firstToken(b.mul(b.wave(), mma.rows())),
      tokenTile(b, 1, tokens, columns, tile.getElement()),
      unitTile(b, 1, clusters, columns, tile.getElement()) {}

GpuClustersAttr ClusterScores::selectTile(const GpuInfo &gpu, int64_t block,
                                          int64_t size, Type element) {
  MLIRContext *context = element.getContext();
  Instruction instruction = gpu.kind == GpuKind::Amd ? Instruction::Mfma32x32x8
                                                     : Instruction::Mma16x8x16;
  Mma mma = getMma(instruction, context);
  int64_t columns =
      llvm::alignTo(size, element.isF32() ? kPlainNumbers : mma.depth());
  int64_t tokens =
      llvm::PowerOf2Ceil(std::clamp(block, mma.rows(), kMaxTokens));
  // A step waits for memory once. What is multiplied in it stays in registers,
  // of which matrix instructions of gfx942 need more for each cluster.
  int64_t clusters = gpu.kind == GpuKind::Amd ? 64 : 128;
  auto isTooMuch = [&] {
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    return (tokens + clusters) * columns * bytes + 4 * countPairs(tokens) >
           gpu.workgroupMemory / kMemoryParts * kMemoryShare;
  };
  // Fewer tokens first: their pairs take memory by the square.
  while (isTooMuch() && tokens > mma.rows())
    tokens /= 2;
  while (isTooMuch() && clusters > mma.columns())
    clusters /= 2;
  return GpuClustersAttr::get(context, tokens, clusters, columns,
                              tokens / mma.rows(), instruction, element);
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

ClusterScores::Team ClusterScores::getTeam(int64_t size) {
  int64_t chunks = llvm::divideCeil(size, getChunk());
  int64_t lanes =
      std::min<int64_t>(llvm::PowerOf2Ceil(chunks), b.getGpu().waveSize);
  return {lanes, static_cast<int64_t>(llvm::divideCeil(chunks, lanes)), size,
          b.div(b.thread(), lanes), b.rem(b.thread(), lanes)};
}

Value ClusterScores::Team::getColumn(GpuBuilder &b, int64_t piece,
                                     int64_t chunk) const {
  return b.mul(b.add(lane, piece * lanes), chunk);
}

Value ClusterScores::isBelow(Value x, int64_t bound, int64_t limit) {
  return bound <= limit ? Value(arith::ConstantIntOp::create(b, 1, 1))
                        : b.isLess(x, limit);
}

Value ClusterScores::fetch(Value rows, Value row, Value column) {
  int64_t size = cast<MemRefType>(rows.getType()).getDimSize(1);
  if (size < columns)
    column = b.select(b.isLess(column, size), column, b.index(0));
  return b.read(rows, {row, column}, getChunk());
}

Value ClusterScores::finish(Value fetched, Value column, int64_t size) {
  if (size == columns)
    return fetched;
  return b.select(b.isLess(column, size), fetched,
                  b.constant(fetched.getType(), 0));
}

void ClusterScores::load(Value rows, function_ref<Value(Value)> getRow,
                         Value inverses) {
  int64_t size = cast<MemRefType>(rows.getType()).getDimSize(1);
  int64_t chunk = getChunk();
  Team team = getTeam(columns);
  int64_t atOnce = b.getThreads() / team.lanes;
  // All loads are in flight before the first is waited for.
  Values loaded;
  for (int64_t first = 0; first < tokens; first += atOnce) {
    Value token = b.min(b.add(team.number, first), b.index(tokens - 1));
    Value row = getRow(token);
    for (int64_t piece = 0; piece < team.pieces; ++piece) {
      Value column = team.getColumn(b, piece, chunk);
      loaded.push_back(fetch(rows, row, column));
    }
  }
  auto next = loaded.begin();
  for (int64_t first = 0; first < tokens; first += atOnce) {
    Value token = b.add(team.number, first);
    Value isToken = isBelow(token, first + atOnce, tokens);
    Value square = b.f32(0);
    for (int64_t piece = 0; piece < team.pieces; ++piece) {
      Value column = team.getColumn(b, piece, chunk);
      Value numbers = finish(*next++, column, size);
      Value isInside =
          isBelow(column, (piece + 1) * team.lanes * chunk, columns);
      b.ifThen(b.both(isToken, isInside),
               [&] { tokenTile.store(b, numbers, b.index(0), token, column); });
      Value x = b.toF32(numbers);
      for (int64_t i = 0; i < chunk; ++i)
        square = b.fma(b.extract(x, i), b.extract(x, i), square);
    }
    if (!inverses)
      continue;
    square = b.waveReduce(square, GpuBuilder::Kind::ADD, team.lanes);
    Value norm = math::SqrtOp::create(b, square);
    // False for NaN, too.
    Value hasDirection =
        b.both(b.compare(CmpFPredicate::OGT, norm, b.f32(0)),
               b.compare(CmpFPredicate::OLT, norm, b.f32(kInfinity)));
    Value inverse = b.div(b.f32(1), norm);
    b.ifThen(b.both(isToken, b.isEqual(team.lane, 0)), [&] {
      b.write(b.select(hasDirection, inverse, b.f32(0)), inverses, token);
    });
  }
}

Value ClusterScores::read(Value token, Value column) {
  return tokenTile.load(b, b.vectorOf(getChunk(), tokenTile.getElement()),
                        b.index(0), token, column);
}

Value ClusterScores::makeUnit(Value chunk, Value inverse) {
  Value x = b.toF32(chunk);
  // Zero times a NaN is a NaN.
  Value isNothing = b.compare(CmpFPredicate::OEQ, inverse, b.f32(0));
  Value unit = b.mul(x, b.broadcast(inverse, getChunk()));
  unit = b.select(isNothing, b.constant(x.getType(), 0), unit);
  return b.convert(unit, tokenTile.getElement());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void ClusterScores::forPieces(function_ref<void(Value, Value, Value)> body) {
  int64_t chunks = columns / getChunk(), count = clusters * chunks;
  for (int64_t first = 0; first < count; first += b.getThreads()) {
    Value item = b.add(b.thread(), first);
    body(isBelow(item, first + b.getThreads(), count), b.div(item, chunks),
         b.mul(b.rem(item, chunks), getChunk()));
  }
}

Values ClusterScores::loadLeft() {
  Values left;
  if (!isPlain)
    for (int64_t k = 0; k < depth; k += mma.depth())
      left.push_back(
          mma.loadA(b, tokenTile, lane, b.index(0), firstToken, b.index(k)));
  return left;
}

Values ClusterScores::multiply(ArrayRef<Value> left) {
  if (isPlain)
    return multiplyPlain();
  Values sums(columnTiles, mma.makeAccumulator(b));
  for (int64_t k = 0; k < depth; k += mma.depth())
    for (int64_t tile = 0; tile < columnTiles; ++tile) {
      Value right = mma.loadB(b, unitTile, lane, b.index(0),
                              b.index(tile * mma.columns()), b.index(k));
      sums[tile] = mma.multiply(b, left[k / mma.depth()], right, sums[tile]);
    }
  return sums;
}

Values ClusterScores::multiplyPlain() {
  int64_t chunk = getChunk(), run = mma.getRun();
  int64_t size = mma.getAccumulatorType().getNumElements();
  VectorType type = b.vectorOf(chunk, b.getF32Type());
  Values start(columnTiles, mma.makeAccumulator(b));
  return b.loop(
      b.index(0), b.index(depth), chunk, start,
      [&](Value k, ValueRange carried) {
        Values left, next;
        for (int64_t row = 0; row < mma.getLaneRows(); ++row)
          left.push_back(read(getLaneToken(row), k));
        for (int64_t tile = 0; tile < columnTiles; ++tile) {
          Values sums;
          for (int64_t i = 0; i < size; ++i) {
            Value column =
                b.add(mma.getColumn(b, lane, i), tile * mma.columns());
            // The sums lie as those of the matrix instruction, so that what
            // follows is the same for both.
            Value right = unitTile.load(b, type, b.index(0), column, k);
            Value row = left[i / run % mma.getLaneRows()];
            Value sum = b.extract(carried[tile], i);
            for (int64_t c = 0; c < chunk; ++c)
              sum = b.fma(b.extract(row, c), b.extract(right, c), sum);
            sums.push_back(sum);
          }
          next.push_back(vector::FromElementsOp::create(
              b, mma.getAccumulatorType(), sums));
        }
        return next;
      });
}

Value ClusterScores::getLaneToken(int64_t row) {
  return b.add(firstToken, mma.getRow(b, lane, row * mma.getRun()));
}

//===----------------------------------------------------------------------===//
// The largest products
//===----------------------------------------------------------------------===//

void ClusterScores::findBest(Value units, Value first, Value count, Value best,
                             Value owner) {
  int64_t size = cast<MemRefType>(units.getType()).getDimSize(1);
  int64_t run = mma.getRun(), rows = mma.getLaneRows();
  auto fetchStep = [&](Value step) {
    Values pieces;
    forPieces([&](Value isMine, Value slot, Value column) {
      Value cluster =
          b.min(b.add(b.mul(step, clusters), slot), b.sub(count, 1));
      pieces.push_back(fetch(units, b.add(first, cluster), column));
    });
    return pieces;
  };
  auto store = [&](ValueRange pieces) {
    forPieces([&](Value isMine, Value slot, Value column) {
      Value numbers = finish(pieces.front(), column, size);
      pieces = pieces.drop_front();
      b.ifThen(isMine,
               [&] { unitTile.store(b, numbers, b.index(0), slot, column); });
    });
  };

  b.ifThen(b.isLess(b.index(0), count), [&] {
    Values left = loadLeft(), state;
    for (int64_t row = 0; row < rows; ++row)
      state.append({b.f32(-kInfinity), b.i32(-1)});
    llvm::append_range(state, fetchStep(b.index(0)));
    Value steps = b.ceilDiv(count, clusters);
    state = b.loop(
        b.index(0), steps, 1, state, [&](Value step, ValueRange carried) {
          b.barrier(); // The last step has been read.
          store(carried.drop_front(2 * rows));
          b.barrier();
          Values loaded = fetchStep(b.min(b.add(step, 1), b.sub(steps, 1)));
          keepOrder(b);
          Values next(carried.take_front(2 * rows));
          Values sums = multiply(left);
          for (int64_t tile = 0; tile < columnTiles; ++tile) {
            Value start = b.add(b.mul(step, clusters), tile * mma.columns());
            for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements();
                 ++i) {
              Value &top = next[i / run % rows * 2],
                    &where = next[i / run % rows * 2 + 1];
              Value score = b.extract(sums[tile], i);
              Value number = b.toI32(b.add(start, mma.getColumn(b, lane, i)));
              Value isBetter = b.compare(CmpFPredicate::OGT, score, top);
              top = b.select(isBetter, score, top);
              where = b.select(isBetter, number, where);
            }
          }
          llvm::append_range(next, loaded);
          return next;
        });
    state.truncate(2 * rows);
    // The last step is padded with copies of the last cluster: their numbers
    // are clamped to its number.
    for (int64_t row = 0; row < rows; ++row) {
      Value &where = state[2 * row + 1];
      where = b.min(where, b.toI32(b.sub(count, 1)));
    }
    writeBest(state, best, owner);
  });
}

void ClusterScores::writeBest(Values state, Value best, Value owner) {
  // After the exchanges all lanes of a row agree, and one of them writes.
  Value isFirst = b.isEqual(mma.getColumn(b, lane, 0), 0);
  for (int64_t row = 0; row < mma.getLaneRows(); ++row) {
    Value top = state[2 * row], where = state[2 * row + 1];
    for (int64_t mask : mma.getRowShuffles()) {
      Value otherTop = b.exchange(top, mask);
      Value otherWhere = b.exchange(where, mask);
      Value isEqual = b.compare(CmpFPredicate::OEQ, otherTop, top);
      Value isBetter =
          arith::OrIOp::create(b, b.compare(CmpFPredicate::OGT, otherTop, top),
                               b.both(isEqual, b.isLess(otherWhere, where)));
      top = b.select(isBetter, otherTop, top);
      where = b.select(isBetter, otherWhere, where);
    }
    b.ifThen(isFirst, [&] {
      b.write(top, best, getLaneToken(row));
      b.write(where, owner, getLaneToken(row));
    });
  }
}

//===----------------------------------------------------------------------===//
// Pairs of tokens
//===----------------------------------------------------------------------===//

Value ClusterScores::getPair(Value token, Value earlier) {
  // Rows before this one have 1, 2, ... `token` places.
  Value row = b.div(b.mul(token, b.add(token, 1)), 2);
  return b.add(row, b.min(earlier, token));
}

void ClusterScores::findPairs(Value inverses, Value pairs) {
  Values left = loadLeft();
  b.forEach(b.index(0), b.index(tokens), b.index(clusters), [&](Value start) {
    b.barrier(); // The tile is free.
    forPieces([&](Value isMine, Value slot, Value column) {
      b.ifThen(isMine, [&] {
        Value token = b.min(b.add(start, slot), b.index(tokens - 1));
        Value unit = makeUnit(read(token, column), b.read(inverses, token));
        unitTile.store(b, unit, b.index(0), slot, column);
      });
    });
    b.barrier();
    Values sums = multiply(left);
    for (int64_t tile = 0; tile < columnTiles; ++tile)
      for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements(); ++i) {
        Value token = getLaneToken(i / mma.getRun() % mma.getLaneRows());
        Value earlier = b.add(b.add(start, tile * mma.columns()),
                              mma.getColumn(b, lane, i));
        auto write = [&] {
          b.write(b.extract(sums[tile], i), pairs, getPair(token, earlier));
        };
        // Products with later tokens go to the place of the token itself, which
        // is never read. They are skipped where that costs nothing: on gfx942
        // each condition is a mask of lanes, and there are more of them than
        // scalar registers.
        if (b.getGpu().kind == GpuKind::Nvidia)
          b.ifThen(b.compare(CmpIPredicate::ule, earlier, token), write);
        else
          write();
      }
  });
}
