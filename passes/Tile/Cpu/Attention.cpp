//===- Attention.cpp - Attention as loops over vectors --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Online softmax. A tile has some queries of one KV head, each with the query
// heads that share it: its rows. Keys and values come in steps; a step is
// widened to f32 once for all rows of the tile, then rows are taken `registers`
// at a time:
//
//   scores = (q scaled) . k, masked       lanes along the head, then keys
//   m' = max(m, scores), p = 2^(scores - m'), c = 2^(m - m')
//   l = l c + sum(p), out = out c + p v   lanes along the head
//
// Scores are kept times log2(e). Steps of which every query sees all keys are
// not masked: all but the last, as a rule. How bfmmla forms the scores and
// outputs is in PairedAttention.cpp, how tiles of AMX do in AmxAttention.cpp,
// and how vectors of more lanes form the scores of many queries in
// WideAttention.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistCpuTileAttrs.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Kernel/ScaledRows.h"
#include "passes/Tile/Cpu/AttentionTileEmitter.h"
#include "passes/Tile/Cpu/BufferBuilder.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;
using Attention = AttentionTileEmitter;

Value Attention::emitQueries() {
  Value scale = b.splat(lanes, f32, what.scale * std::numbers::log2e);
  return b.loop(
      b.index(0), b.mul(queries, group), 1, b.empty({maxRows, headSize}, f32),
      [&](Value row, ValueRange carried) {
        Value result = carried[0];
        for (int64_t at = 0; at < headSize; at += lanes) {
          Value x = b.readF32(
              what.query, {getQuery(row), getHead(row), b.index(at)}, lanes);
          result = b.write(arith::MulFOp::create(b, x, scale), result,
                           {row, b.index(at)});
        }
        return Values{result};
      })[0];
}

void Attention::emitPrefetch(Value source, Value n, Value at, int64_t count) {
  Value buffer = source == what.key ? keyBuffer : valueBuffer;
  if (!buffer)
    return;
  constexpr int64_t kLine = 64, kMostLocal = 3;
  RankedTensorType type = getType(source);
  int64_t ofLine =
      kLine * 8 / std::max<int64_t>(type.getElementTypeBitWidth(), 8);
  // Past the last key these are rows of later tokens; past the last of all, the
  // CPU ignores it.
  Values indices = what.locate(b, b.add(n, what.ahead));
  indices.push_back({});
  for (int64_t i = 0; i < count; i += ofLine) {
    indices.back() = b.add(at, i);
    memref::PrefetchOp::create(b, buffer, indices, /*isWrite=*/false,
                               kMostLocal, /*isDataCache=*/true);
  }
}

/// Rows [first, first + count) of `source` in f32, and zeros up to `step`.
/// Zeros, and not what memory has: a weight of zero times a NaN is a NaN.
Value Attention::emitWiden(Value source, Value first, Value count,
                           int64_t size) {
  Value buffer = b.empty({step, size}, f32);
  Value zero = b.index(0);
  buffer = b.loop(zero, count, 1, buffer, [&](Value i, ValueRange carried) {
    Value result = carried[0];
    Values indices = what.locate(b, b.add(first, i));
    indices.push_back(zero);
    emitPrefetch(source, b.add(first, i), zero, size);
    for (int64_t at = 0; at < size; at += lanes) {
      indices.back() = b.index(at);
      result =
          b.write(b.readF32(source, indices, lanes), result, {i, b.index(at)});
    }
    return Values{result};
  })[0];
  return b.loop(
      count, b.index(step), 1, buffer, [&](Value i, ValueRange carried) {
        Value result = carried[0];
        for (int64_t at = 0; at < size; at += lanes)
          result = b.write(b.splat(lanes, f32, 0), result, {i, b.index(at)});
        return Values{result};
      })[0];
}

/// A number for each of `count` keys of a step, and zeros up to `step`.
Value Attention::emitColumn(Value count, function_ref<Value(Value i)> read) {
  Value buffer = b.loop(b.index(0), count, 1, b.empty({step}, f32),
                        [&](Value i, ValueRange carried) {
                          return Values{b.writeScalar(read(i), carried[0], i)};
                        })[0];
  return b.loop(count, b.index(step), 1, buffer,
                [&](Value i, ValueRange carried) {
                  return Values{b.writeScalar(constant(0), carried[0], i)};
                })[0];
}

/// What the keys or the values of a step are scaled by, or null.
Value Attention::emitScales(Value scales, Value first, Value count) {
  if (!scales)
    return {};
  return emitColumn(count, [&](Value i) {
    return b.readScalar(scales, what.locate(b, b.add(first, i)));
  });
}

/// What is added to the scores of a step, or null.
Value Attention::emitBias(Value first, Value count) {
  if (!what.bias)
    return {};
  return emitColumn(count, [&](Value i) -> Value {
    return arith::MulFOp::create(b, what.bias(b, b.add(first, i)),
                                 constant(std::numbers::log2e));
  });
}

/// Which of the keys `ids` a query at `here` sees where attention is causal;
/// vectors of numbers.
Value Attention::emitSeen(Value ids, Value here) {
  Value seen = compare(arith::CmpIPredicate::sle, ids, here);
  if (!what.window)
    return seen;
  int64_t size = cast<VectorType>(ids.getType()).getNumElements();
  Type i32 = b.getI32Type();
  Value width = b.splat(size, i32, *what.window);
  Value near = compare(arith::CmpIPredicate::sgt, ids,
                       arith::SubIOp::create(b, here, width));
  Value sink =
      compare(arith::CmpIPredicate::slt, ids, b.splat(size, i32, what.sinks));
  return arith::AndIOp::create(b, seen, arith::OrIOp::create(b, near, sink));
}

/// Scores of a query with keys from `key` on, -infinity where unseen.
Value Attention::emitMask(Value scores, Value query, Value key) {
  if (!isMasked)
    return scores;
  int64_t lanes = cast<VectorType>(scores.getType()).getNumElements();
  Type i32 = b.getI32Type();
  auto splat = [&](Value value) { return b.broadcast(toI32(value), lanes); };
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
  Value ids = arith::AddIOp::create(
      b, splat(key),
      arith::ConstantOp::create(
          b, DenseElementsAttr::get(b.vectorOf(lanes, i32),
                                    ArrayRef<int32_t>(numbers))));
  if (what.mask) {
    Value mask = vector::TransferReadOp::create(
        b, b.vectorOf(lanes, f32), what.mask, ValueRange{query, key},
        std::optional<Value>(constant(0)), ArrayRef<bool>{false});
    scores = b.fma(mask, b.splat(lanes, f32, std::numbers::log2e), scores);
  }
  Value seen = compare(arith::CmpIPredicate::slt, ids, splat(keys));
  if (what.isCausal) {
    // Queries are the last of the keys.
    AffineExpr q, k, t;
    bindDims(b.getContext(), q, k, t);
    Value position = affine::makeComposedAffineApply(
        b, b.getLoc(), q + k - t,
        {OpFoldResult(query), OpFoldResult(keys), OpFoldResult(queries)});
    Value here = splat(position);
    // No key past the last is at or before a query, so this implies the bound
    // above.
    seen = emitSeen(ids, here);
  }
  Value never = b.splat(lanes, f32, -std::numeric_limits<double>::infinity());
  return arith::SelectOp::create(b, seen, scores, never);
}

/// Where row `i` of a step lies; nothing where the step was widened. Rows past
/// the last key are that key: no weight of theirs is more than zero.
Values Attention::locateRow(const Step &keys, Value i) {
  if (keys.k)
    return {};
  Value n = b.add(keys.first, i);
  Values place = what.locate(b, isMasked ? clamp(n, this->keys) : n);
  place.push_back({});
  return place;
}

Value Attention::readRow(Value widened, Value source, Value i,
                         const Values &place, Value at) {
  if (widened)
    return b.readF32(widened, {i, at}, lanes);
  Values indices = place;
  indices.back() = at;
  return b.readF32(source, indices, lanes);
}

/// Masked scores of `rows` rows with a step of keys: rows x step.
Value Attention::emitScores(Value row, int64_t rows, const Step &keys) {
  Values query;
  for (int64_t i = 0; i < rows; ++i)
    query.push_back(getQuery(b.add(row, i)));
  return b.loop(
      b.index(0), b.index(step), kKeys, b.empty({rows, step}, f32),
      [&](Value key, ValueRange carried) {
        Values sums(rows * kKeys, b.splat(lanes, f32, 0));
        SmallVector<Values> places;
        for (int64_t j = 0; j < kKeys; ++j) {
          places.push_back(locateRow(keys, b.add(key, j)));
          if (!keys.k)
            emitPrefetch(what.key, b.add(b.add(keys.first, key), j), b.index(0),
                         headSize);
        }
        for (int64_t at = 0; at < headSize; at += lanes) {
          Values right;
          for (int64_t j = 0; j < kKeys; ++j)
            right.push_back(readRow(keys.k, what.key, b.add(key, j), places[j],
                                    b.index(at)));
          for (int64_t i = 0; i < rows; ++i) {
            Value left = b.readF32(q, {b.add(row, i), b.index(at)}, lanes);
            for (int64_t j = 0; j < kKeys; ++j)
              sums[i * kKeys + j] = b.fma(left, right[j], sums[i * kKeys + j]);
          }
        }
        Value result = carried[0];
        for (int64_t i = 0; i < rows; ++i) {
          Value score =
              scaleBy(keys.keyScales,
                      b.sumsOfFour(ArrayRef<Value>(sums).slice(i * 4, 4)), key);
          if (keys.bias)
            score = arith::AddFOp::create(
                b, score, b.read(keys.bias, key, b.vectorOf(kKeys, f32)));
          if (keys.pairBias)
            score = arith::AddFOp::create(
                b, score,
                b.read(keys.pairBias, {query[i], key}, b.vectorOf(kKeys, f32)));
          result = b.write(emitMask(score, query[i], b.add(keys.first, key)),
                           result, {b.index(i), key});
        }
        return Values{result};
      })[0];
}

/// out[row + i] = out[row + i] * factors[i] + p[i] . v
Values Attention::emitOutput(Value row, int64_t rows, Value p, Values factors,
                             const Step &keys, Value out) {
  int64_t width = std::min<int64_t>(valueSize, 4 * lanes);
  // The size of values is a multiple of the lanes, so that this ends.
  while (valueSize % width != 0)
    width -= lanes;
  int64_t vectors = width / lanes;
  return b.loop(
      b.index(0), b.index(valueSize), width, out,
      [&](Value column, ValueRange carried) {
        Values sums;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < vectors; ++j) {
            Value old =
                b.read(carried[0], {b.add(row, i), b.add(column, j * lanes)},
                       b.vectorOf(lanes, f32));
            sums.push_back(
                arith::MulFOp::create(b, old, b.broadcast(factors[i], lanes)));
          }
        sums = b.loop(
            b.index(0), b.index(step), kKeys, sums,
            [&](Value key, ValueRange inner) {
              Values total(inner), weights;
              for (int64_t i = 0; i < rows; ++i)
                weights.push_back(
                    b.read(p, {b.index(i), key}, b.vectorOf(kKeys, f32)));
              for (int64_t n = 0; n < kKeys; ++n) {
                Value at = b.add(key, n);
                Values place = locateRow(keys, at);
                if (!keys.v)
                  emitPrefetch(what.value, b.add(keys.first, at), column,
                               width);
                for (int64_t j = 0; j < vectors; ++j) {
                  Value x = readRow(keys.v, what.value, at, place,
                                    b.add(column, j * lanes));
                  for (int64_t i = 0; i < rows; ++i) {
                    Value lane =
                        isWide() ? b.readScalar(p, {b.index(i), b.add(key, n)})
                                 : vector::ExtractOp::create(b, weights[i], n);
                    Value &sum = total[i * vectors + j];
                    sum = b.fma(b.broadcast(lane, lanes), x, sum);
                  }
                }
              }
              return total;
            });
        Value result = carried[0];
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < vectors; ++j)
            result = b.write(sums[i * vectors + j], result,
                             {b.add(row, i), b.add(column, j * lanes)});
        return Values{result};
      });
}

/// 2^x for x <= 0, to f32 or to what a bf16 keeps of it. Where `isMasked`, the
/// result is 0 if it is not normal; elsewhere it need only be tiny.
Value Attention::emitExp2(Value x) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  auto splat = [&](double value) { return b.splat(lanes, f32, value); };
  // The polynomial gives at least 0.7, whose exponent is -1: with n of -125 the
  // sum of exponents is that of the smallest normal number.
  constexpr double kLowest = -125.0;
  Value bounded = arith::MaxNumFOp::create(b, x, splat(kLowest));
  // x = n + r with |r| <= 1/2, and polynomials of least relative error in r.
  Value n = math::RoundEvenOp::create(b, bounded);
  Value r = arith::SubFOp::create(b, bounded, n);
  static constexpr double kExact[] = {1.534581097e-04,
                                      1.339993090e-03,
                                      9.618489072e-03,
                                      5.550328642e-02,
                                      2.402264625e-01,
                                      6.931471825e-01,
                                      1.0};
  static constexpr double kForBf16[] = {9.570101276e-03, 5.591785908e-02,
                                        2.402474433e-01, 6.931217909e-01,
                                        9.999992847e-01};
  ArrayRef<double> terms =
      isPaired || isTiled ? ArrayRef(kForBf16) : ArrayRef(kExact);
  Value p = splat(terms.front());
  for (double next : terms.drop_front())
    p = b.fma(p, r, splat(next));
  // Times 2^n, by adding n to the exponent.
  Type i32 = b.getI32Type();
  Value exponent = arith::ShLIOp::create(
      b, arith::FPToSIOp::create(b, b.vectorOf(lanes, i32), n),
      b.splat(lanes, i32, 23));
  Value result =
      b.bitcast(arith::AddIOp::create(b, b.bitcast(p, i32), exponent), f32);
  if (!isMasked)
    return result;
  Value isNormal =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, splat(kLowest));
  return arith::SelectOp::create(b, isNormal, result, splat(0));
}

/// One step of keys and values for `rows` rows.
Attention::State Attention::emitRows(Value row, int64_t rows, const Step &keys,
                                     State state) {
  Value p = isPaired         ? emitPairedScores(row, keys)
            : isTransposed() ? emitWideScores(row, rows, keys)
                             : emitScores(row, rows, keys);
  Value operand = isPaired ? b.empty({rows / 2, 2 * step}, bf16) : Value();
  Value zero = constant(0);
  Value never = constant(-std::numeric_limits<double>::infinity());
  int64_t width = std::min<int64_t>(step, 4 * lanes);
  Values factors;
  for (int64_t i = 0; i < rows; ++i) {
    Value at = b.add(row, i), line = b.index(i);
    Value old = b.readScalar(state[0], at);
    Value largest = b.loop(
        b.index(0), b.index(step), width, b.broadcast(never, width),
        [&](Value key, ValueRange carried) {
          return Values{arith::MaxNumFOp::create(
              b, carried[0], b.read(p, {line, key}, b.vectorOf(width, f32)))};
        })[0];
    // Left alone, LLVM takes the lanes one after the other.
    for (int64_t half = width / 2; isWide() && half >= kKeys; half /= 2)
      largest = arith::MaxNumFOp::create(b, b.slice(largest, 0, half),
                                         b.slice(largest, half, half));
    Value top = vector::ReductionOp::create(b, vector::CombiningKind::MAXNUMF,
                                            largest, old);
    // Nothing seen yet: any finite number will do in place of -infinity.
    Value isNone =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, top, never);
    Value base = arith::SelectOp::create(b, isNone, zero, top);
    Value factor = math::ExpOp::create(
        b, arith::MulFOp::create(b, arith::SubFOp::create(b, old, base),
                                 constant(std::numbers::ln2)));
    Values sums = b.loop(
        b.index(0), b.index(step), width,
        {b.splat(width, f32, 0), isPaired ? operand : p},
        [&](Value key, ValueRange carried) {
          Value x = b.read(isPaired ? p : carried[1], {line, key},
                           b.vectorOf(width, f32));
          Value e =
              emitExp2(arith::SubFOp::create(b, x, b.broadcast(base, width)));
          Value sum = arith::AddFOp::create(b, carried[0], e);
          e = scaleBy(keys.valueScales, e, key);
          if (!isPaired)
            return Values{sum, b.write(e, carried[1], {line, key})};
          Value result = carried[1];
          for (int64_t at = 0; at < width; at += 4)
            result = b.write(
                narrow(b.slice(e, at, 4)), result,
                {b.index(i / 2), b.add(b.mul(key, 2), 2 * at + i % 2 * 4)});
          return Values{sum, result};
        });
    (isPaired ? operand : p) = sums[1];
    Value sum = vector::ReductionOp::create(
        b, vector::CombiningKind::ADD, sums[0],
        arith::MulFOp::create(b, b.readScalar(state[1], at), factor),
        arith::FastMathFlags::reassoc);
    state[0] = b.writeScalar(top, state[0], at);
    state[1] = b.writeScalar(sum, state[1], at);
    factors.push_back(factor);
  }
  state[2] = isPaired
                 ? emitPairedOutput(row, operand, factors, keys.v, state[2])
                 : emitOutput(row, rows, p, factors, keys, state[2])[0];
  return state;
}

/// out / l, or zeros where nothing was seen.
Value Attention::emitResult(State state, Value result) {
  Value rows = b.mul(queries, group);
  return b.loop(
      b.index(0), rows, 1, result, [&](Value row, ValueRange carried) {
        Value sum = b.readScalar(state[1], row);
        Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum,
                                             constant(0));
        Value inverse = arith::SelectOp::create(
            b, isNone, constant(0), arith::DivFOp::create(b, constant(1), sum));
        Value result = carried[0];
        for (int64_t at = 0; at < valueSize; at += lanes) {
          Value x =
              b.read(state[2], {row, b.index(at)}, b.vectorOf(lanes, f32));
          Value y = arith::MulFOp::create(b, x, b.broadcast(inverse, lanes));
          result =
              b.write(y, result, {getQuery(row), getHead(row), b.index(at)});
        }
        return Values{result};
      })[0];
}

//===----------------------------------------------------------------------===//
// The whole tile
//===----------------------------------------------------------------------===//

/// How many keys the step from `first` on has.
Value Attention::countKeys(Value first) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  return getValueOrCreateConstantIndexOp(
      b, b.getLoc(),
      affine::makeComposedFoldedAffineMin(
          b, b.getLoc(),
          AffineMap::get(2, 0, {b.getAffineConstantExpr(step), d1 - d0},
                         b.getContext()),
          {OpFoldResult(first), OpFoldResult(keys)}));
}

/// The keys and values from number `first` on.
Attention::Step Attention::emitStep(Value first) {
  Value count = countKeys(first);
  Step part = {first};
  if (what.make) {
    AttentionStep made = what.make(b, first, count, step);
    part.k = made.key;
    part.v = made.value;
    part.bias = made.bias;
  } else {
    if (!readsInPlace()) {
      part.k = emitWiden(what.key, first, count, headSize);
      part.v = emitWiden(what.value, first, count, valueSize);
    }
    part.keyScales = emitScales(what.keyScales, first, count);
    part.valueScales = emitScales(what.valueScales, first, count);
    part.bias = emitBias(first, count);
  }
  if (what.pairBias)
    part.pairBias = what.pairBias(b, first, count, step);
  if (isTransposed())
    part.k = emitTransposed(part.k);
  return part;
}

/// The first key of the first step that a query sees, sinks apart.
Value Attention::getFirstSeen() {
  Value begin = b.index(0);
  if (!what.window)
    return begin;
  // No query sees what lies before the window of the first one, but sinks.
  AffineExpr k, t;
  bindDims(b.getContext(), k, t);
  Value seen = affine::makeComposedAffineApply(
      b, b.getLoc(), k - t + 1 - *what.window,
      {OpFoldResult(keys), OpFoldResult(queries)});
  return b.roundDown(arith::MaxSIOp::create(b, seen, begin), step);
}

/// All steps of the part that some query sees: first those in which every query
/// sees every key.
Attention::State Attention::emitSteps(
    State state,
    llvm::function_ref<State(Value first, const State &state)> emitStep) {
  Value zero = b.index(0), seenFirst = getFirstSeen();
  Value begin = firstKey ? firstKey : seenFirst;
  if (!what.mask && !what.window) {
    // The first query sees the fewest keys.
    AffineExpr k, t;
    bindDims(b.getContext(), k, t);
    Value seen = what.isCausal
                     ? affine::makeComposedAffineApply(
                           b, b.getLoc(), k - t + 1,
                           {OpFoldResult(keys), OpFoldResult(queries)})
                     : keys;
    Value end = b.roundDown(arith::MaxSIOp::create(b, seen, zero), step);
    if (endKey)
      end = b.min(end, endKey);
    isMasked = false;
    state =
        b.loop(begin, end, step, state, [&](Value first, ValueRange carried) {
          return emitStep(first, State(carried));
        });
    begin = end;
  }
  isMasked = true;
  auto emitMasked = [&](Value from, Value to) {
    state = b.loop(from, to, step, state, [&](Value first, ValueRange carried) {
      return emitStep(first, State(carried));
    });
  };
  if (what.window && what.sinks > 0) {
    Value end = arith::MinSIOp::create(
        b, seenFirst, b.index(llvm::divideCeil(what.sinks, step) * step));
    // They belong to the first part.
    if (firstKey)
      end = b.select(b.compare(arith::CmpIPredicate::eq, firstKey, seenFirst),
                     end, zero);
    emitMasked(zero, end);
  }
  emitMasked(begin, endKey ? endKey : keys);
  return state;
}

Value Attention::emit(Value result) {
  if (what.ahead > 0) {
    BufferBuilder buffers(b.getLoc(), b);
    keyBuffer = buffers.toBuffer(what.key);
    valueBuffer = buffers.toBuffer(what.value);
  }
  if (isPaired)
    return emitPaired(result);
  if (isTiled)
    return emitTiled(result);
  return hasParts() ? emitPart(result) : emitResult(emitKeys(), result);
}

/// What the rows find in the keys of the part.
Attention::State Attention::emitKeys() {
  Value rows = b.mul(queries, group), zero = b.index(0);
  Value whole = b.roundDown(rows, rowsAtOnce);
  State state = {b.empty({maxRows}, f32), b.empty({maxRows}, f32),
                 b.empty({maxRows, valueSize}, f32)};
  Value never = constant(-std::numeric_limits<double>::infinity());
  state = b.loop(zero, rows, 1, state, [&](Value row, ValueRange carried) {
    State next(carried);
    next[0] = b.writeScalar(never, next[0], row);
    next[1] = b.writeScalar(constant(0), next[1], row);
    for (int64_t at = 0; at < valueSize; at += lanes)
      next[2] = b.write(b.splat(lanes, f32, 0), next[2], {row, b.index(at)});
    return next;
  });
  q = emitQueries();
  return emitSteps(state, [&](Value first, const State &before) {
    Step part = emitStep(first);
    State next = b.loop(zero, whole, rowsAtOnce, before,
                        [&](Value row, ValueRange inner) {
                          return emitRows(row, rowsAtOnce, part, State(inner));
                        });
    if (std::optional<int64_t> all = getNumRows(what)) {
      int64_t rest = *all % rowsAtOnce;
      return rest == 0 ? next : emitRows(whole, rest, part, next);
    }
    return b.loop(whole, rows, 1, next, [&](Value row, ValueRange inner) {
      return emitRows(row, 1, part, State(inner));
    });
  });
}

bool gist::isAttentionVectorizable(RankedTensorType key,
                                   RankedTensorType value) {
  auto isWhole = [](int64_t size) {
    return !ShapedType::isDynamic(size) && size % kKeys == 0;
  };
  return isWhole(key.getShape().back()) && isWhole(value.getShape().back());
}

/// One query of the tile, whose number is known.
static AttentionTile getOnlyQuery(TileBuilder &b, const AttentionTile &what) {
  auto type = cast<RankedTensorType>(what.query.getType());
  SmallVector<OpFoldResult> offsets(3, b.getIndexAttr(0)),
      strides(3, b.getIndexAttr(1)),
      sizes = {b.getIndexAttr(1), b.getIndexAttr(type.getDimSize(1)),
               b.getIndexAttr(type.getDimSize(2))};
  AttentionTile one = what;
  one.query =
      tensor::ExtractSliceOp::create(b, what.query, offsets, sizes, strides);
  one.queries = b.index(1);
  return one;
}

/// What a tile of many queries prepares does not pay for one: a sequence that
/// writes, in a call with others. What it gets is to the bit what `decode`
/// gives it, whose tile has as many keys and lanes.
static Value emitOneOrMany(TileBuilder &b, const AttentionTile &what,
                           Attention many, int64_t keys, int64_t lanes,
                           Value result, int64_t rows = 4) {
  return b.choose(
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, what.queries,
                            b.index(1)),
      result,
      [&](Value result) {
        AttentionTile one = getOnlyQuery(b, what);
        auto tile = CpuAttentionAttr::get(b.getContext(), /*queries=*/1, keys,
                                          rows, lanes, Instruction::Fma);
        return Attention(b, one, tile).emit(result);
      },
      [&](Value result) {
        if (!what.part)
          return many.emit(result);
        // The workgroups of the other parts have nothing to do.
        return b.when(b.isEqual(what.part->first, 0), result,
                      [&](Value result) { return many.emit(result); });
      });
}

Value gist::emitAttention(TileBuilder &b, const AttentionTile &what,
                          CpuTileInterface tile, Value result) {
  if (auto tiles = dyn_cast<CpuAmxAttentionAttr>(tile))
    return emitOneOrMany(b, what, Attention(b, what, tiles), tiles.getKeys(),
                         tiles.getLanes(), result);
  auto plain = cast<CpuAttentionAttr>(tile);
  Attention attention(b, what, plain);
  if (plain.getInstruction() == Instruction::Bfmmla)
    return emitOneOrMany(b, what, attention, plain.getKeys(), plain.getLanes(),
                         result);
  bool isOne = isConstantIntValue(what.queries, 1);
  if (attention.isTransposed() || (what.part && !isOne))
    return emitOneOrMany(b, what, attention, plain.getKeys(), plain.getLanes(),
                         result, plain.getRegisters());
  return attention.emit(result);
}

/// Where `rows` are read from: integers with scales, or as they are.
static void setSource(TileBuilder &b, Value rows, Value &numbers,
                      Value &scales) {
  std::optional<ScaledRows> scaled = sliceScaledRows(b, rows);
  numbers = scaled ? scaled->numbers : rows;
  scales = scaled ? scaled->scales : Value();
}

LogicalResult gist::lowerAttention(RewriterBase &rewriter, AttentionOp op) {
  RankedTensorType key = op.getKey().getType();
  if (op.getOffsets() || key.getDimSize(1) != 1)
    return rewriter.notifyMatchFailure(op, "more than one sequence or KV head");
  if (!isAttentionVectorizable(key, op.getValue().getType()))
    return rewriter.notifyMatchFailure(
        op, "the heads are not a multiple of a vector");
  CpuTileInterface tile = getKernelTile(op);
  if (!isa_and_nonnull<CpuAttentionAttr, CpuAmxAttentionAttr>(tile))
    return rewriter.notifyMatchFailure(op,
                                       "its kernel is not cut as attention");
  TileBuilder builder(op.getLoc(), rewriter);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(builder, shapes)))
    return failure();
  Value empty = tensor::EmptyOp::create(builder, shapes[0],
                                        op.getType().getElementType());
  AttentionTile what;
  what.query = op.getQuery();
  what.queries = builder.size(op.getQuery(), 0);
  setSource(builder, op.getKey(), what.key, what.keyScales);
  setSource(builder, op.getValue(), what.value, what.valueScales);
  what.keys = builder.size(what.key, 0);
  what.locate = [](TileBuilder &b, Value n) { return Values{n, b.index(0)}; };
  what.mask = op.getMask();
  what.isCausal = op.getCausal();
  what.window = op.getWindow();
  what.sinks = op.getSinks().value_or(0);
  what.scale = op.getEffectiveScale();
  if (auto ahead =
          op->getParentOfType<func::FuncOp>()->getAttrOfType<IntegerAttr>(
              kPrefetchAttr))
    what.ahead = ahead.getInt();
  what.part = findPart(builder, op);
  rewriter.replaceOp(op, emitAttention(builder, what, tile, empty));
  return success();
}
