//===- PairedAttention.cpp - Attention by bfmmla --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bfmmla adds the product of 2 x 4 and 4 x 2 numbers of bf16 to a square of
// 2 x 2 in f32. Operands are put into its order once for many uses: queries per
// tile, keys and values per step, weights as they are made. Outputs stay
// squares until the end. The last row and the last key are repeated to fill
// tiles and steps: repeated keys are masked, repeated rows write the same.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/AttentionTileEmitter.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;
using Attention = AttentionTileEmitter;

/// Rows two by two, the last one repeated: [pair][size / 4][2][4].
Value Attention::emitPairs(Value count, int64_t size, Value buffer,
                           function_ref<Value(Value row, int64_t at)> read) {
  Value zero = b.index(0);
  return b.loop(zero, count, 1, buffer, [&](Value pair, ValueRange carried) {
    Value result = carried[0], row = b.mul(pair, 2);
    for (int64_t at = 0; at < size; at += 8) {
      Value even = b.bitcast(read(row, at), b.getI64Type());
      Value odd = b.bitcast(read(b.add(row, 1), at), b.getI64Type());
      for (int64_t half = 0; half < 2; ++half)
        result =
            b.write(b.bitcast(b.shuffle(even, odd, {half, 2 + half}), bf16),
                    result, {pair, b.index(2 * at + 8 * half)});
    }
    return Values{result};
  })[0];
}

Value Attention::emitPairedQueries() {
  Value rows = b.mul(queries, group);
  Value scale = b.splat(8, f32, what.scale * std::numbers::log2e);
  return emitPairs(
      countPairs(), headSize, b.empty({maxRows / 2, 2 * headSize}, bf16),
      [&](Value row, int64_t at) {
        row = clamp(row, rows);
        Value x = b.readF32(what.query,
                            {getQuery(row), getHead(row), b.index(at)}, 8);
        return narrow(arith::MulFOp::create(b, x, scale));
      });
}

Value Attention::emitPairedKeys(Value first, Value count) {
  return emitPairs(
      b.index(step / 2), headSize, b.empty({step / 2, 2 * headSize}, bf16),
      [&](Value row, int64_t at) {
        return readSource(what.key, b.add(first, clamp(row, count)), at);
      });
}

/// Values four by four: [step / 4][size / 2][2][4].
Value Attention::emitPairedValues(Value first, Value count) {
  return b.loop(
      b.index(0), b.index(step / 4), 1,
      b.empty({step / 4, 4 * valueSize}, bf16),
      [&](Value four, ValueRange carried) {
        Value result = carried[0];
        Values rows;
        for (int64_t i = 0; i < 4; ++i)
          rows.push_back(b.add(first, clamp(b.add(b.mul(four, 4), i), count)));
        for (int64_t at = 0; at < valueSize; at += 8) {
          Values x;
          for (Value row : rows)
            x.push_back(
                b.bitcast(readSource(what.value, row, at), b.getI16Type()));
          for (int64_t half = 0; half < 2; ++half) {
            int64_t n = 4 * half;
            // A transposition of 4 x 8 in two rounds: pairs of rows in words of
            // 16 bits, then pairs of these in words of 32.
            SmallVector<int64_t> zip = {n,     n + 8,  n + 1, n + 9,
                                        n + 2, n + 10, n + 3, n + 11};
            Value left = b.bitcast(b.shuffle(x[0], x[1], zip), b.getI32Type());
            Value right = b.bitcast(b.shuffle(x[2], x[3], zip), b.getI32Type());
            for (int64_t part = 0; part < 2; ++part) {
              int64_t m = 2 * part;
              result = b.write(
                  b.bitcast(b.shuffle(left, right, {m, m + 4, m + 1, m + 5}),
                            bf16),
                  result, {four, b.index(4 * at + 16 * half + 8 * part)});
            }
          }
        }
        return Values{result};
      })[0];
}

Value Attention::emitPairedScores(Value row, const Step &keys) {
  int64_t rowPairs = rowsAtOnce / 2;
  constexpr int64_t kPairs = 4;
  Value firstPair = getPair(row);
  Value rows = b.mul(queries, group);
  VectorType operand = b.vectorOf(8, bf16);
  Values query;
  for (int64_t i = 0; i < rowsAtOnce; ++i)
    query.push_back(getQuery(clamp(b.add(row, i), rows)));
  return b.loop(
      b.index(0), b.index(step / 2), kPairs, b.empty({rowsAtOnce, step}, f32),
      [&](Value pair, ValueRange carried) {
        Values sums(rowPairs * kPairs, b.splat(4, f32, 0));
        for (int64_t at = 0; at < 2 * headSize; at += 8) {
          Values y;
          for (int64_t j = 0; j < kPairs; ++j)
            y.push_back(b.read(keys.k, {b.add(pair, j), b.index(at)}, operand));
          for (int64_t i = 0; i < rowPairs; ++i) {
            Value x = b.read(q, {b.add(firstPair, i), b.index(at)}, operand);
            for (int64_t j = 0; j < kPairs; ++j)
              sums[i * kPairs + j] = multiply(sums[i * kPairs + j], x, y[j]);
          }
        }
        Value result = carried[0];
        for (int64_t i = 0; i < rowsAtOnce; ++i)
          for (int64_t j = 0; j < kPairs; j += 2) {
            int64_t lane = i % 2 * 2;
            Value score = b.shuffle(sums[i / 2 * kPairs + j],
                                    sums[i / 2 * kPairs + j + 1],
                                    {lane, lane + 1, lane + 4, lane + 5});
            Value key = b.add(b.mul(pair, 2), 2 * j);
            score = scaleBy(keys.keyScales, score, key);
            if (keys.bias)
              score = arith::AddFOp::create(
                  b, score, b.read(keys.bias, key, b.vectorOf(kKeys, f32)));
            result = b.write(emitMask(score, query[i], b.add(keys.first, key)),
                             result, {b.index(i), key});
          }
        return Values{result};
      })[0];
}

Value Attention::emitPairedOutput(Value row, Value p, Values factors, Value v,
                                  Value out) {
  int64_t rowPairs = rowsAtOnce / 2;
  constexpr int64_t kPairs = 4;
  Value firstPair = getPair(row);
  VectorType operand = b.vectorOf(8, bf16), square = b.vectorOf(4, f32);
  Values scales;
  for (int64_t i = 0; i < rowPairs; ++i)
    scales.push_back(b.shuffle(b.broadcast(factors[2 * i], 2),
                               b.broadcast(factors[2 * i + 1], 2),
                               {0, 1, 2, 3}));
  return b.loop(
      b.index(0), b.index(2 * valueSize), 4 * kPairs, out,
      [&](Value column, ValueRange carried) {
        Values sums;
        for (int64_t i = 0; i < rowPairs; ++i)
          for (int64_t j = 0; j < kPairs; ++j)
            sums.push_back(arith::MulFOp::create(
                b,
                b.read(carried[0], {b.add(firstPair, i), b.add(column, 4 * j)},
                       square),
                scales[i]));
        sums = b.loop(
            b.index(0), b.index(step / 4), 1, sums,
            [&](Value four, ValueRange inner) {
              Values total(inner), y;
              for (int64_t j = 0; j < kPairs; ++j)
                y.push_back(
                    b.read(v, {four, b.add(b.mul(column, 2), 8 * j)}, operand));
              for (int64_t i = 0; i < rowPairs; ++i) {
                Value x = b.read(p, {b.index(i), b.mul(four, 8)}, operand);
                for (int64_t j = 0; j < kPairs; ++j)
                  total[i * kPairs + j] =
                      multiply(total[i * kPairs + j], x, y[j]);
              }
              return total;
            });
        Value result = carried[0];
        for (int64_t i = 0; i < rowPairs; ++i)
          for (int64_t j = 0; j < kPairs; ++j)
            result = b.write(sums[i * kPairs + j], result,
                             {b.add(firstPair, i), b.add(column, 4 * j)});
        return Values{result};
      })[0];
}

Value Attention::emitPairedResult(State state, Value result) {
  Value rows = b.mul(queries, group);
  return b.loop(
      b.index(0), b.ceilDiv(rows, 2), 1, result,
      [&](Value pair, ValueRange carried) {
        Value result = carried[0];
        for (int64_t half = 0; half < 2; ++half) {
          // An odd last row is written twice, with the same numbers.
          Value row = b.add(b.mul(pair, 2), half), to = clamp(row, rows);
          Value sum = b.readScalar(state[1], row);
          Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                               sum, constant(0));
          Value inverse =
              b.broadcast(arith::SelectOp::create(
                              b, isNone, constant(0),
                              arith::DivFOp::create(b, constant(1), sum)),
                          4);
          for (int64_t at = 0; at < valueSize; at += 4) {
            auto read = [&](int64_t column) {
              return b.read(state[2], {pair, b.index(column)},
                            b.vectorOf(4, f32));
            };
            int64_t lane = 2 * half;
            Value x = b.shuffle(read(2 * at), read(2 * at + 4),
                                {lane, lane + 1, lane + 4, lane + 5});
            result = b.write(arith::MulFOp::create(b, x, inverse), result,
                             {getQuery(to), getHead(to), b.index(at)});
          }
        }
        return Values{result};
      })[0];
}

Value Attention::emitPaired(Value result) {
  Value zero = b.index(0);
  Value rows = b.mul(queries, group);
  State state = {b.empty({maxRows}, f32), b.empty({maxRows}, f32),
                 b.empty({maxRows / 2, 2 * valueSize}, f32)};
  Value never = constant(-std::numeric_limits<double>::infinity());
  state =
      b.loop(zero, countPairs(), 1, state, [&](Value pair, ValueRange carried) {
        State next(carried);
        for (int64_t half = 0; half < 2; ++half) {
          Value row = b.add(b.mul(pair, 2), half);
          next[0] = b.writeScalar(never, next[0], row);
          next[1] = b.writeScalar(constant(0), next[1], row);
        }
        for (int64_t at = 0; at < 2 * valueSize; at += 4)
          next[2] = b.write(b.splat(4, f32, 0), next[2], {pair, b.index(at)});
        return next;
      });
  q = emitPairedQueries();
  state = emitSteps(state, [&](Value first, const State &before) {
    Value count = countKeys(first);
    Step part = {.first = first,
                 .k = emitPairedKeys(first, count),
                 .v = emitPairedValues(first, count),
                 .keyScales = emitScales(what.keyScales, first, count),
                 .valueScales = emitScales(what.valueScales, first, count),
                 .bias = emitBias(first, count)};
    return b.loop(zero, rows, rowsAtOnce, before,
                  [&](Value row, ValueRange inner) {
                    return emitRows(row, rowsAtOnce, part, State(inner));
                  });
  });
  return emitPairedResult(state, result);
}
