//===- WideAttention.cpp - Scores with a key per lane ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vectors of 8 or 16 lanes have a key in each: a number of a query is
// multiplied with the same number of many keys, and nothing is added across
// lanes. Keys of a step are transposed once for all rows of the tile. A single
// query would not pay for that, and keeps to vectors of four.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/AttentionTileEmitter.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;
using Attention = AttentionTileEmitter;

/// Keys of a step, step x head, as head x step.
Value Attention::emitTransposed(Value k) {
  Value zero = b.index(0);
  VectorType vector = b.vectorOf(lanes, f32);
  Value buffer = b.empty({headSize, step}, f32);
  return b.loop(
      zero, b.index(step), lanes, buffer, [&](Value key, ValueRange outer) {
        return b.loop(
            zero, b.index(headSize), lanes, outer,
            [&](Value at, ValueRange carried) {
              Values rows;
              for (int64_t i = 0; i < lanes; ++i)
                rows.push_back(b.read(k, {b.add(key, i), at}, vector));
              Value result = carried[0];
              for (auto [i, column] : llvm::enumerate(b.transpose(rows)))
                result = b.write(column, result,
                                 {b.add(at, static_cast<int64_t>(i)), key});
              return Values{result};
            });
      })[0];
}

/// Masked scores of `rows` rows with a step of keys: rows x step.
Value Attention::emitWideScores(Value row, int64_t rows, const Step &keys) {
  constexpr int64_t kVectors = 4, kUnrolled = 4;
  VectorType vector = b.vectorOf(lanes, f32);
  Values query;
  for (int64_t i = 0; i < rows; ++i)
    query.push_back(getQuery(b.add(row, i)));
  return b.loop(
      b.index(0), b.index(step), kVectors * lanes, b.empty({rows, step}, f32),
      [&](Value key, ValueRange carried) {
        Values sums(rows * kVectors, b.splat(lanes, f32, 0));
        sums = b.loop(b.index(0), b.index(headSize), kUnrolled, sums,
                      [&](Value first, ValueRange inner) {
                        Values total(inner);
                        for (int64_t n = 0; n < kUnrolled; ++n) {
                          Value at = b.add(first, n);
                          Values right;
                          for (int64_t j = 0; j < kVectors; ++j)
                            right.push_back(b.read(
                                keys.k, {at, b.add(key, j * lanes)}, vector));
                          for (int64_t i = 0; i < rows; ++i) {
                            Value left = b.broadcast(
                                b.readScalar(q, {b.add(row, i), at}), lanes);
                            for (int64_t j = 0; j < kVectors; ++j) {
                              Value &sum = total[i * kVectors + j];
                              sum = b.fma(left, right[j], sum);
                            }
                          }
                        }
                        return total;
                      });
        Value result = carried[0];
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < kVectors; ++j) {
            Value at = b.add(key, j * lanes);
            Value score = scaleBy(keys.keyScales, sums[i * kVectors + j], at);
            if (keys.bias)
              score = arith::AddFOp::create(b, score,
                                            b.read(keys.bias, at, vector));
            if (keys.pairBias)
              score = arith::AddFOp::create(
                  b, score, b.read(keys.pairBias, {query[i], at}, vector));
            result = b.write(emitMask(score, query[i], b.add(keys.first, at)),
                             result, {b.index(i), at});
          }
        return Values{result};
      })[0];
}
