//===- AmxAttention.cpp - Attention by tiles of AMX -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile has 16 rows, each a query and a head, and everything is turned: scores
// are K Q^T and outputs V^T P^T, with a row in each lane. Maxima and sums of a
// row then need nothing across lanes, and weights of two neighbouring keys,
// side by side, are the right operand as they are made. Keys are the left
// operand as they lie. Values are turned once per step for all tiles of rows.
//
// AMX tiles are loaded from and stored to memory, so the state is kept in
// buffers: maxima and sums [tile] [row], outputs [tile][value][row]. The last
// row and the last key are repeated to fill tiles and steps: such rows are not
// written, such keys are masked.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Tile/Cpu/AttentionTileEmitter.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;
using Attention = AttentionTileEmitter;

/// Rows of a tile, and lanes of a vector.
static constexpr int64_t kTile = CpuAmxAttentionAttr::kLanes;
/// Numbers of bf16 in a row of a tile.
static constexpr int64_t kDeep = 32;
/// Tiles of sums at a time: the others of eight are operands.
static constexpr int64_t kSums = 4;
/// Keys of a round of the loops over a step.
static constexpr int64_t kRound = 8;

static Value createBuffer(TileBuilder &b, ArrayRef<int64_t> shape,
                          Type element) {
  return memref::AllocOp::create(b, MemRefType::get(shape, element));
}

static Value load(TileBuilder &b, Value buffer, ValueRange indices) {
  return vector::LoadOp::create(b, b.vectorOf(kTile, b.getF32Type()), buffer,
                                indices);
}

static void store(TileBuilder &b, Value vector, Value buffer,
                  ValueRange indices) {
  vector::StoreOp::create(b, vector, buffer, indices);
}

static void repeat(TileBuilder &b, Value count, int64_t step,
                   function_ref<void(Value)> body) {
  b.loop(b.index(0), count, step, {}, [&](Value i, ValueRange) {
    body(i);
    return Values{};
  });
}

/// Two vectors of f32 as 32 numbers of bf16, one after the other.
static Value narrowTwo(TileBuilder &b, Value low, Value high) {
  return LLVM::CallIntrinsicOp::create(
             b, b.vectorOf(kDeep, b.getBF16Type()),
             b.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
             ValueRange{high, low})
      .getResult(0);
}

/// The same with the numbers of a lane side by side.
static Value narrowPairs(TileBuilder &b, Value even, Value odd) {
  SmallVector<int64_t> lanes;
  for (int64_t i = 0; i < kTile; ++i)
    lanes.append({i, kTile + i});
  Value both = narrowTwo(b, even, odd);
  return b.shuffle(both, both, lanes);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Sixteen numbers of key or value number `n`.
static Value readNumbers(TileBuilder &b, const AttentionTile &what,
                         Value source, Value n, Value at) {
  Values indices = what.locate(b, n);
  indices.push_back(at);
  return b.readF32(source, indices, kTile);
}

/// Rows of a tile, turned: [tile][head / 32][16 pairs][16 rows, 2]. Their
/// positions among the keys, and what they start from.
void Attention::emitTiledRows(const Tiled &tiled, Value number) {
  Value rows = b.mul(queries, group), zero = b.index(0);
  Value scale = b.splat(kTile, f32, what.scale * std::numbers::log2e);
  auto getRow = [&](Value i) {
    return clamp(b.add(b.mul(number, kTile), i), rows);
  };
  repeat(b, b.index(headSize), kDeep, [&](Value at) {
    Values pairs;
    for (int64_t i = 0; i < kTile; ++i) {
      Value row = getRow(b.index(i));
      auto read = [&](Value at) {
        Value x =
            b.readF32(what.query, {getQuery(row), getHead(row), at}, kTile);
        return arith::MulFOp::create(b, x, scale);
      };
      pairs.push_back(b.bitcast(narrowTwo(b, read(at), read(b.add(at, kTile))),
                                b.getI32Type()));
    }
    for (auto [i, pair] : llvm::enumerate(b.transpose(pairs)))
      store(b, b.bitcast(pair, bf16), tiled.rows,
            {number, divide(at, kDeep, false), b.index(i), zero});
  });
  repeat(b, b.index(kTile), 1, [&](Value i) {
    // Queries are the last of the keys.
    Value position = arith::AddIOp::create(
        b, getQuery(getRow(i)), arith::SubIOp::create(b, keys, queries));
    memref::StoreOp::create(b, toI32(position), tiled.positions,
                            ValueRange{number, i});
  });
  double never = -std::numeric_limits<double>::infinity();
  store(b, b.splat(kTile, f32, never), tiled.largest, {number, zero});
  store(b, b.splat(kTile, f32, 0), tiled.sums, {number, zero});
  repeat(b, b.index(valueSize), 1, [&](Value at) {
    store(b, b.splat(kTile, f32, 0), tiled.outputs, {number, at, zero});
  });
}

/// A step of keys, [step / 16][head / 32][16 keys][32].
void Attention::emitTiledKeys(const Tiled &tiled, Value first, Value count) {
  repeat(b, b.index(step), 1, [&](Value i) {
    Value key = b.add(first, clamp(i, count));
    for (int64_t at = 0; at < headSize; at += kDeep)
      store(b,
            narrowTwo(b, readNumbers(b, what, what.key, key, b.index(at)),
                      readNumbers(b, what, what.key, key, b.index(at + kTile))),
            tiled.keys,
            {divide(i, kTile, false), b.index(at / kDeep),
             divide(i, kTile, true), b.index(0)});
  });
}

/// A step of values, turned: [value / 16][step / 32][16 numbers][32 keys].
void Attention::emitTiledValues(const Tiled &tiled, Value first, Value count) {
  repeat(b, b.index(valueSize), kTile, [&](Value at) {
    repeat(b, b.index(step), kDeep, [&](Value key) {
      Values pairs;
      for (int64_t i = 0; i < kDeep; i += 2) {
        auto read = [&](int64_t n) {
          return readNumbers(b, what, what.value,
                             b.add(first, clamp(b.add(key, n), count)), at);
        };
        pairs.push_back(
            b.bitcast(narrowPairs(b, read(i), read(i + 1)), b.getI32Type()));
      }
      for (auto [i, pair] : llvm::enumerate(b.transpose(pairs)))
        store(b, b.bitcast(pair, bf16), tiled.values,
              {divide(at, kTile, false), divide(key, kDeep, false), b.index(i),
               b.index(0)});
    });
  });
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

/// Adds A B to tiles of sums, at `where` of a buffer [..][16 rows][16]: tiles
/// along the first operand, `steps` of 32 along the reduction.
static void emitTiles(TileBuilder &b, int64_t count, int64_t steps,
                      bool isAdded,
                      function_ref<Value(int64_t tile, int64_t step)> loadLeft,
                      function_ref<Value(int64_t step)> loadRight, Value buffer,
                      function_ref<Values(int64_t tile)> where) {
  auto type = amx::TileType::get({kTile, kTile}, b.getF32Type());
  for (int64_t first = 0; first < count; first += kSums) {
    int64_t tiles = std::min(kSums, count - first);
    Values sums;
    for (int64_t i = 0; i < tiles; ++i)
      sums.push_back(
          isAdded ? amx::TileLoadOp::create(b, type, buffer, where(first + i))
                        .getResult()
                  : amx::TileZeroOp::create(b, type).getResult());
    for (int64_t step = 0; step < steps; ++step) {
      Value right = loadRight(step);
      for (int64_t i = 0; i < tiles; ++i)
        sums[i] = amx::TileMulFOp::create(b, type, loadLeft(first + i, step),
                                          right, sums[i]);
    }
    for (int64_t i = 0; i < tiles; ++i)
      amx::TileStoreOp::create(b, buffer, where(first + i), sums[i]);
  }
}

/// -infinity where a row does not see key number `key`.
Value Attention::emitTiledMask(const Tiled &tiled, Value score, Value number,
                               Value key) {
  Type i32 = b.getI32Type();
  auto splat = [&](Value value) { return b.broadcast(toI32(value), kTile); };
  Value id = splat(key);
  Value seen = compare(arith::CmpIPredicate::slt, id, splat(keys));
  if (what.isCausal) {
    Value here =
        vector::LoadOp::create(b, b.vectorOf(kTile, i32), tiled.positions,
                               ValueRange{number, b.index(0)});
    seen = emitSeen(id, here);
  }
  Value never = b.splat(kTile, f32, -std::numeric_limits<double>::infinity());
  return arith::SelectOp::create(b, seen, score, never);
}

/// Weights of a step from its scores, as the right operand, and the new maxima
/// and sums. Returns what the outputs so far are multiplied with.
Value Attention::emitTiledWeights(const Tiled &tiled, Value number,
                                  const Step &keys) {
  Value zero = b.index(0);
  auto splat = [&](Value column, Value at) {
    return b.broadcast(b.readScalar(column, at), kTile);
  };
  double infinity = std::numeric_limits<double>::infinity();
  Value never = b.splat(kTile, f32, -infinity);
  Value largest = b.loop(
      zero, b.index(step), kRound, never, [&](Value key, ValueRange carried) {
        Value top = carried[0];
        for (int64_t i = 0; i < kRound; ++i) {
          Value at = b.add(key, i);
          Value score = load(b, tiled.scores, {at, zero});
          if (keys.keyScales)
            score = arith::MulFOp::create(b, score, splat(keys.keyScales, at));
          if (keys.bias)
            score = arith::AddFOp::create(b, score, splat(keys.bias, at));
          if (isMasked)
            score = emitTiledMask(tiled, score, number, b.add(keys.first, at));
          if (keys.keyScales || keys.bias || isMasked)
            store(b, score, tiled.scores, {at, zero});
          top = arith::MaxNumFOp::create(b, top, score);
        }
        return Values{top};
      })[0];
  Value old = load(b, tiled.largest, {number, zero});
  Value top = arith::MaxNumFOp::create(b, largest, old);
  // Nothing seen yet: any finite number will do in place of -infinity.
  Value isNone =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, top, never);
  Value base = arith::SelectOp::create(b, isNone, b.splat(kTile, f32, 0), top);
  Value factor = emitExp2(arith::SubFOp::create(b, old, base));
  Value sum = b.loop(
      zero, b.index(step), kRound,
      arith::MulFOp::create(b, load(b, tiled.sums, {number, zero}), factor)
          .getResult(),
      [&](Value key, ValueRange carried) {
        Value total = carried[0];
        for (int64_t i = 0; i < kRound; i += 2) {
          Values weights;
          for (int64_t n = i; n < i + 2; ++n) {
            Value at = b.add(key, n);
            Value score = load(b, tiled.scores, {at, zero});
            Value weight = emitExp2(arith::SubFOp::create(b, score, base));
            total = arith::AddFOp::create(b, total, weight);
            if (keys.valueScales)
              weight =
                  arith::MulFOp::create(b, weight, splat(keys.valueScales, at));
            weights.push_back(weight);
          }
          Value pair = divide(b.add(key, i), 2, false);
          store(b, narrowPairs(b, weights[0], weights[1]), tiled.weights,
                {divide(pair, kTile, false), divide(pair, kTile, true), zero});
        }
        return Values{total};
      })[0];
  store(b, top, tiled.largest, {number, zero});
  store(b, sum, tiled.sums, {number, zero});
  return factor;
}

/// One step of keys and values for a tile of rows.
void Attention::emitTiledStep(const Tiled &tiled, Value number,
                              const Step &keys) {
  Value zero = b.index(0);
  auto operand = amx::TileType::get({kTile, kDeep}, bf16);
  auto loadTile = [&](Value buffer, ValueRange indices) -> Value {
    return amx::TileLoadOp::create(b, operand, buffer, indices);
  };
  emitTiles(
      b, step / kTile, headSize / kDeep, /*isAdded=*/false,
      [&](int64_t i, int64_t at) {
        return loadTile(tiled.keys, {b.index(i), b.index(at), zero, zero});
      },
      [&](int64_t at) {
        return loadTile(tiled.rows, {number, b.index(at), zero, zero});
      },
      tiled.scores,
      [&](int64_t i) { return Values{b.index(i * kTile), zero}; });
  Value factor = emitTiledWeights(tiled, number, keys);
  repeat(b, b.index(valueSize), kRound, [&](Value at) {
    for (int64_t i = 0; i < kRound; ++i) {
      Values place = {number, b.add(at, i), zero};
      store(b, arith::MulFOp::create(b, load(b, tiled.outputs, place), factor),
            tiled.outputs, place);
    }
  });
  emitTiles(
      b, valueSize / kTile, step / kDeep, /*isAdded=*/true,
      [&](int64_t i, int64_t at) {
        return loadTile(tiled.values, {b.index(i), b.index(at), zero, zero});
      },
      [&](int64_t at) {
        return loadTile(tiled.weights, {b.index(at), zero, zero});
      },
      tiled.outputs,
      [&](int64_t i) { return Values{number, b.index(i * kTile), zero}; });
}

//===----------------------------------------------------------------------===//
// The whole tile
//===----------------------------------------------------------------------===//

/// Outputs divided by sums, or zeros where nothing was seen.
Value Attention::emitTiledResult(const Tiled &tiled, Value number,
                                 Value result) {
  Value zero = b.index(0);
  Value zeros = b.splat(kTile, f32, 0);
  Value sum = load(b, tiled.sums, {number, zero});
  Value isNone =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, zeros);
  Value inverse = arith::SelectOp::create(
      b, isNone, zeros, arith::DivFOp::create(b, b.splat(kTile, f32, 1), sum));
  for (int64_t at = 0; at < valueSize; at += kTile) {
    Values square;
    for (int64_t i = 0; i < kTile; ++i)
      square.push_back(arith::MulFOp::create(
          b, load(b, tiled.outputs, {number, b.index(at + i), zero}), inverse));
    for (auto [i, row] : llvm::enumerate(b.transpose(square)))
      store(b, row, tiled.turned, {b.index(i), b.index(at)});
  }
  Value firstRow = b.mul(number, kTile);
  Value count = arith::MinSIOp::create(
      b, b.index(kTile),
      arith::SubIOp::create(b, b.mul(queries, group), firstRow));
  return b.loop(zero, count, 1, result, [&](Value i, ValueRange carried) {
    Value result = carried[0], row = b.add(firstRow, i);
    for (int64_t at = 0; at < valueSize; at += kTile)
      result = b.write(load(b, tiled.turned, {i, b.index(at)}), result,
                       {getQuery(row), getHead(row), b.index(at)});
    return Values{result};
  })[0];
}

Value Attention::emitTiled(Value result) {
  int64_t maxTiles = maxRows / kTile;
  Tiled tiled;
  tiled.rows =
      createBuffer(b, {maxTiles, headSize / kDeep, kTile, kDeep}, bf16);
  tiled.keys =
      createBuffer(b, {step / kTile, headSize / kDeep, kTile, kDeep}, bf16);
  tiled.values =
      createBuffer(b, {valueSize / kTile, step / kDeep, kTile, kDeep}, bf16);
  tiled.weights = createBuffer(b, {step / kDeep, kTile, kDeep}, bf16);
  tiled.scores = createBuffer(b, {step, kTile}, f32);
  tiled.outputs = createBuffer(b, {maxTiles, valueSize, kTile}, f32);
  tiled.turned = createBuffer(b, {kTile, valueSize}, f32);
  tiled.largest = createBuffer(b, {maxTiles, kTile}, f32);
  tiled.sums = createBuffer(b, {maxTiles, kTile}, f32);
  tiled.positions = createBuffer(b, {maxTiles, kTile}, b.getI32Type());
  Value tiles = b.ceilDiv(b.mul(queries, group), kTile);
  repeat(b, tiles, 1, [&](Value number) { emitTiledRows(tiled, number); });
  emitSteps({}, [&](Value first, const State &) {
    Value count = countKeys(first);
    emitTiledKeys(tiled, first, count);
    emitTiledValues(tiled, first, count);
    Step part = {.first = first,
                 .keyScales = emitScales(what.keyScales, first, count),
                 .valueScales = emitScales(what.valueScales, first, count),
                 .bias = emitBias(first, count)};
    repeat(b, tiles, 1,
           [&](Value number) { emitTiledStep(tiled, number, part); });
    return State();
  });
  return b.loop(b.index(0), tiles, 1, result,
                [&](Value number, ValueRange carried) {
                  return Values{emitTiledResult(tiled, number, carried[0])};
                })[0];
}
