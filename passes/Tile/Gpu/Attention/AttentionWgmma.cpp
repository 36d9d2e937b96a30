//===- AttentionWgmma.cpp - Attention by instructions of four warps -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionWgmma.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using State = AttentionLoop::State;

/// Numbers of 16 bytes, and how many of them a row of a tile has.
static constexpr int64_t kChunk = 8;
static constexpr int64_t kChunks = Wgmma::kTileDepth / kChunk;
/// Outputs are scaled again only if a score exceeds the running maximum by more
/// than this many powers of two: weights stay below 2^8, which every type can
/// hold.
static constexpr double kSlack = 8;
/// Sentinel for the row of a slot that holds no key.
static constexpr int64_t kNoRow = -1;
/// With up to this many columns, outputs are always scaled, without a check.
static constexpr int64_t kNarrow = 64;

/// A number that all lanes of a warp have, and are now known to: descriptors
/// that follow from it, and loops that it bounds, take no registers of lanes.
static Value makeUniform(GpuBuilder &b, Value number) {
  Value word = b.toI32(number);
  word = gpu::ShuffleOp::create(b, word, 0,
                                static_cast<int32_t>(b.getGpu().waveSize),
                                gpu::ShuffleMode::IDX)
             .getShuffleResult();
  return b.toIndex(word);
}

WgmmaAttention::WgmmaAttention(GpuBuilder &b, GpuAttentionAttr tile,
                               const Shape &shape)
    : AttentionLoop(b, tile, shape,
                    llvm::alignTo(shape.valueSize, Wgmma::kTileDepth),
                    {/*tiles=*/1, /*rows=*/2, /*shuffles=*/{1, 2}}),
      wgmma(b, element),
      keyParts(llvm::divideCeil(shape.headSize, Wgmma::kTileDepth)),
      valueParts(width / Wgmma::kTileDepth) {
  assert(width <= Wgmma::kMaxColumns && rows % Wgmma::kRows == 0 &&
         b.getThreads() == rows / Wgmma::kRows * Wgmma::kThreads &&
         "expects four warps for 64 rows");
  groupRow =
      b.mul(makeUniform(b, b.div(b.thread(), Wgmma::kThreads)), Wgmma::kRows);
  // The outputs take the place of the queries in the end.
  queryTile = SharedTile(b, std::max(keyParts, valueParts), rows,
                         Wgmma::kTileDepth, element);
  keyTile = SharedTile(b, kStages * keyParts, keys, Wgmma::kTileDepth, element);
  valueTile =
      SharedTile(b, kStages * valueParts, keys, Wgmma::kTileDepth, element);
  if (shape.hasBias)
    biases = b.allocWorkgroup({kStages, keys}, b.getF32Type());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void WgmmaAttention::loadQueries(const RowSource &queries) {
  int64_t chunks = keyParts * kChunks, columns = keyParts * Wgmma::kTileDepth;
  // A copy here is always of a whole chunk: where a head is narrower than the
  // tile, zeros behind it are written from registers.
  bool isCopied = queries.place && queries.width == columns;
  distribute(rows * chunks, [&](Value item, Value isOne) {
    b.ifThen(isOne, [&] {
      Value row = b.div(item, chunks);
      Value column = b.mul(b.rem(item, chunks), kChunk);
      Value part = b.div(column, Wgmma::kTileDepth);
      Value inside = b.rem(column, Wgmma::kTileDepth);
      if (!isCopied) {
        Value fetched = fetchChunk(queries, row, column, columns);
        queryTile.store(b, finishChunk(queries, fetched, column, columns), part,
                        row, inside);
        return;
      }
      auto [buffer, place] = queries.place(row, column);
      copyChunk(buffer, place, queryTile, part, row, inside, b.index(kChunk));
    });
  });
  // They are first waited for together with the first keys.
  if (isCopied)
    closeCopies(b);
}

void WgmmaAttention::copyChunk(Value buffer, ValueRange place,
                               const SharedTile &tile, Value stage, Value row,
                               Value column, Value size) {
  nvgpu::DeviceAsyncCopyOp::create(
      b, nvgpu::DeviceAsyncTokenType::get(b.getContext()), tile.getBuffer(),
      ValueRange{stage, row, tile.getPlace(b, row, column)}, buffer, place,
      b.getIndexAttr(kChunk), size, b.getUnitAttr());
}

void WgmmaAttention::forEachRow(
    function_ref<void(int64_t, Value, Value)> body) {
  // Eight neighbouring threads have the chunks of a row, in all parts.
  int64_t number = 0;
  distribute(keys * kChunks, [&](Value item, Value isOne) {
    body(number++, b.div(item, kChunks), isOne);
  });
}

Values WgmmaAttention::findRows(Value step) {
  Value last = b.sub(count, 1);
  Values found;
  forEachRow([&](int64_t, Value slot, Value isOne) {
    slot = b.select(isOne, slot, b.index(0));
    // Rows are found ahead of the loop. Past the end they are those of the last
    // step: they can be read, and no query sees them.
    step = b.min(step, last);
    Value row = steps->getRow(b, step, slot);
    // Carried by a loop; rows fit 32 bits.
    Value word = b.toI32(row);
    if (Value isThere = steps->isThere(b, step, slot))
      word = b.select(isThere, word, b.i32(kNoRow));
    found.push_back(word);
  });
  return found;
}

void WgmmaAttention::copy(const RowSource &source, const SharedTile &tile,
                          Value step, ValueRange sourceRows) {
  int64_t parts = tile.getType().getDimSize(0) / kStages;
  Value stage = b.mul(b.rem(step, kStages), parts);
  Value column = b.mul(b.rem(b.thread(), kChunks), kChunk);
  Value isStep = b.isLess(step, count);
  bool hasGaps = steps->isThere(b, b.index(0), b.index(0)) != Value();
  forEachRow([&](int64_t number, Value slot, Value isOne) {
    Value word = sourceRows[number], isRow = isStep;
    if (hasGaps) {
      Value isKey = b.compare(arith::CmpIPredicate::sge, word, b.i32(0));
      isRow = b.both(isStep, isKey);
      word = b.select(isKey, word, b.i32(0));
    }
    Value row = arith::IndexCastUIOp::create(b, b.getIndexType(), word);
    b.ifThen(isOne, [&] {
      for (int64_t part = 0; part < parts; ++part) {
        Value from = b.add(column, part * Wgmma::kTileDepth);
        Value to = b.add(stage, part);
        if (!source.place) {
          int64_t columns = parts * Wgmma::kTileDepth;
          Value fetched = fetchChunk(source, row, from, columns);
          tile.store(b, finishChunk(source, fetched, from, columns), to, slot,
                     column);
          continue;
        }
        // What is past the row or the last step is filled with zeros.
        Value isThere = isRow;
        if (source.width < (part + 1) * Wgmma::kTileDepth) {
          Value isInside = b.isLess(from, source.width);
          isThere = b.both(isThere, isInside);
          from = b.select(isInside, from, b.index(0));
        }
        Value size = b.select(isThere, b.index(kChunk), b.index(0));
        auto [buffer, place] = source.place(row, from);
        copyChunk(buffer, place, tile, to, slot, column, size);
      }
    });
  });
}

Values WgmmaAttention::readBiases(Value step, ValueRange sourceRows) {
  Values read;
  if (biases && steps->hasBias())
    forEachRow([&](int64_t number, Value slot, Value) {
      Value row =
          arith::IndexCastUIOp::create(b, b.getIndexType(), sourceRows[number]);
      if (Value bias = steps->readBias(b, step, slot, row))
        read.push_back(bias);
    });
  return read;
}

void WgmmaAttention::writeBiases(Value step, ValueRange sourceRows,
                                 ValueRange read) {
  if (!biases || !steps->hasBias())
    return;
  // The first of the threads that have chunks of a row.
  Value isFirst = b.isEqual(b.rem(b.thread(), kChunks), 0);
  Value isHere = b.both(isFirst, b.isLess(step, count));
  forEachRow([&](int64_t number, Value slot, Value isOne) {
    b.ifThen(b.both(isHere, isOne), [&] {
      Value row =
          arith::IndexCastUIOp::create(b, b.getIndexType(), sourceRows[number]);
      b.write(read.empty() ? steps->getBias(b, step, slot, row)
                           : steps->finishBias(b, step, slot, read[number]),
              biases, {b.rem(step, kStages), slot});
    });
  });
}

/// The order matters: a thread waits for its own copies, hands them to the
/// matrix units, and only then tells the others.
void WgmmaAttention::finishCopies() {
  waitForCopies(b, 0);
  wgmma.publishStores();
  b.barrier();
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

Values WgmmaAttention::emitScores(Value step) {
  Value stage = b.mul(b.rem(step, kStages), keyParts);
  Value left = wgmma.getDescriptor(queryTile, b.index(0), groupRow);
  Value right = wgmma.getDescriptor(keyTile, stage, b.index(0));
  Values scores;
  for (int64_t part = 0; part < keyParts; ++part)
    for (int64_t k = 0; k < Wgmma::kTileDepth; k += Wgmma::kDepth) {
      Value a = wgmma.advance(left, part * rows, k);
      Value c = wgmma.advance(right, part * keys, k);
      // The first product starts from nothing, so that no zeros are written.
      scores = wgmma.multiply(scores, keys, a, c, /*isTransposed=*/false);
    }
  wgmma.commit();
  return scores;
}

Values WgmmaAttention::emitOut(ValueRange out, ValueRange weights, Value step) {
  Value stage = b.mul(b.rem(step, kStages), valueParts);
  // A part of the values is one swizzle wide; the columns behind it are in the
  // next part, which is the next of the tiles.
  Value right = wgmma.getDescriptor(valueTile, stage, b.index(0), /*next=*/1);
  Values sums(out);
  for (int64_t k = 0; k < keys; k += Wgmma::kDepth)
    sums = wgmma.multiply(sums, width, weights.slice(k / 4, 4),
                          wgmma.advance(right, k, 0),
                          /*isTransposed=*/true);
  wgmma.commit();
  return sums;
}

Values WgmmaAttention::adjustScores(Value step, Values scores) {
  if (biases && steps->hasBias()) {
    Value stage = b.rem(step, kStages), first = wgmma.getColumn();
    for (int64_t i = 0, end = scores.size(); i < end; i += 4) {
      Value pair = b.read(biases, {stage, b.add(first, i * 2)}, 2);
      for (int64_t j = 0; j < 4; ++j)
        scores[i + j] =
            arith::AddFOp::create(b, scores[i + j], b.extract(pair, j % 2));
    }
  }
  auto hide = [&] {
    Values seen = scores;
    for (auto [i, score] : llvm::enumerate(seen)) {
      int64_t number = i;
      Value row = b.add(groupRow, wgmma.getRow(number / 2 % 2));
      Value slot = b.add(wgmma.getColumn(), number / 4 * 8 + number % 2);
      score = steps->adjust(b, score, step, row, slot);
    }
    return seen;
  };
  return choose(
      b, steps->isPlain(b, step), scores, [&] { return scores; }, hide);
}

std::pair<Values, Values> WgmmaAttention::emitWeights(Values scores,
                                                      RowTile &rows) {
  auto getHalf = [](size_t i) { return i / 2 % 2; };
  Value scale = b.f32(factor);
  Values factors, bases;
  for (size_t half : {0, 1}) {
    Values tops;
    for (auto [i, score] : llvm::enumerate(scores))
      if (getHalf(i) == half) {
        // Two chains, for the latency of one.
        if (tops.size() < 2)
          tops.push_back(score);
        else
          tops[i % 2] = getLarger(tops[i % 2], score);
      }
    Value top = getLarger(tops[0], tops[1]);
    for (int64_t mask : lanes.shuffles)
      top = getLarger(top, b.exchange(top, mask));
    // What scores are compared with need not be the largest, only near it.
    Value &old = rows.tops[half];
    // As long as no score has been seen this is a NaN, which compares as not
    // far: the row stays as it is. With the first score it is infinite.
    Value distance = arith::SubFOp::create(b, getLarger(top, old), old);
    // Scores are not multiplied by `factor` yet, which the slack is.
    Value isFar =
        b.compare(arith::CmpFPredicate::OGT, distance, b.f32(kSlack / factor));
    Value now = b.select(isFar, top, old);
    Value base = emitBase(now);
    factors.push_back(
        b.select(isFar, emitPower(b.fma(old, scale, base)), b.f32(1)));
    bases.push_back(base);
    old = now;
  }
  Values sums[2];
  for (auto [i, score] : llvm::enumerate(scores)) {
    score = emitPower(b.fma(score, scale, bases[getHalf(i)]));
    Values &sum = sums[getHalf(i)];
    if (sum.size() < 2)
      sum.push_back(score);
    else
      sum[i % 2] = arith::AddFOp::create(b, sum[i % 2], score);
  }
  for (size_t half : {0, 1}) {
    // A lane's share of the sum: shares are added up when all is done.
    Value &total = rows.sums[half];
    total = b.fma(total, factors[half],
                  arith::AddFOp::create(b, sums[half][0], sums[half][1]));
  }
  return {scores, factors};
}

WgmmaAttention::Multiplied
WgmmaAttention::finishOut(const Multiplied &registers, ValueRange factors,
                          Value total) {
  auto wait = [&](StringRef note = "") {
    return unpack(registers, wgmma.wait(pack(registers), 0, note));
  };
  auto scale = [&](Multiplied finished) {
    for (auto [out, by] : llvm::zip_equal(finished.out, spread(factors)))
      out = arith::MulFOp::create(b, out, by);
    return finished;
  };
  // Of few columns products are short, and other workgroups of a compute unit
  // fill the gaps.
  if (width <= kNarrow)
    return scale(wait());
  // ptxas moves a wait up to the beginning of its block, before all arithmetic
  // that does not need it: only in a block of its own does it come after the
  // weights. All four warps have to wait in one place: a sum of weights is
  // never negative, which compilers do not know. The texts differ so that LLVM
  // leaves the two waits where they are.
  Value isNegative = b.compare(arith::CmpFPredicate::OLT, total, b.f32(0));
  Multiplied finished = choose(
      b, isNegative, registers, [&] { return wait(" // never"); },
      [&] { return wait(); });
  Value isNeeded = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  for (Value factor : factors)
    isNeeded = arith::OrIOp::create(
        b, isNeeded, b.compare(arith::CmpFPredicate::UNE, factor, b.f32(1)));
  // One decision for all rows of a warp, so that it does not diverge.
  isNeeded = NVVM::VoteSyncOp::create(b, b.getI1Type(), b.i32(-1), isNeeded,
                                      NVVM::VoteSyncKind::any);
  return takeIf(b, isNeeded, finished, scale);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

Values WgmmaAttention::makeOut() { return Values(width / 2, b.f32(0)); }

Values WgmmaAttention::spread(ValueRange numbers) {
  Values all;
  for (int64_t i = 0; i < width / 2; ++i)
    all.push_back(numbers[i / 2 % 2]);
  return all;
}

State WgmmaAttention::run(State state, KeySteps &keySteps, const RowSource &k,
                          const RowSource &v) {
  steps = &keySteps;
  keySource = &k;
  valueSource = &v;
  count = makeUniform(b, steps->getCount(b));
  Value isAny = b.compare(arith::CmpIPredicate::sgt, count, b.index(0));
  return takeIf(b, isAny, state,
                [&](const State &state) { return runSteps(state); });
}

WgmmaAttention::Step WgmmaAttention::beginSteps(State state) {
  Value zero = b.index(0);
  Values rowsNow = findRows(zero), rowsNext = findRows(b.index(1));
  Values biasesNow = readBiases(zero, rowsNow);
  Values biasesNext = readBiases(b.index(1), rowsNext);
  copy(*keySource, keyTile, zero, rowsNow);
  writeBiases(zero, rowsNow, biasesNow);
  closeCopies(b);
  // Keys of the first step, and the queries before them, are groups of their
  // own: the first scores wait for these alone.
  copy(*keySource, keyTile, b.index(1), rowsNext);
  copy(*valueSource, valueTile, zero, rowsNow);
  writeBiases(b.index(1), rowsNext, biasesNext);
  closeCopies(b);
  waitForCopies(b, 1);
  wgmma.publishStores();
  b.barrier();

  wgmma.fence();
  Values scores = wgmma.wait(emitScores(zero), 0);
  RowTile &rows = state.front();
  auto [powers, factors] = emitWeights(adjustScores(zero, scores), rows);
  rescale(rows, factors);
  Values weights = wgmma.getLeft(powers), rowsAhead;
  if (steps->isGathered())
    rowsAhead = findRows(b.index(2));
  return {state, weights, rowsNext, rowsAhead};
}

WgmmaAttention::Step WgmmaAttention::takeStep(Value step, Step now) {
  Value next = b.add(step, 1), ahead = b.add(step, 2);
  RowTile &rows = now.state.front();
  Values rowsAhead = steps->isGathered() ? now.rowsAhead : findRows(ahead);
  // They are there when the copies have been started.
  Values biasesAhead = readBiases(ahead, rowsAhead);
  finishCopies();

  // What is multiplied was written to registers above.
  Multiplied registers = {rows.out, now.weights};
  registers = unpack(registers, wgmma.fence(pack(registers)));
  // The scores are committed before the outputs, so that they can be waited
  // for while the outputs still run.
  Values scores = emitScores(next);
  Values out = emitOut(registers.out, registers.weights, step);
  // Of two stages, that of the keys of `step` is free: their scores were
  // taken a round ago. The values of `step` are being read, and those of the
  // next go to the other stage.
  copy(*keySource, keyTile, ahead, rowsAhead);
  copy(*valueSource, valueTile, next, now.rowsNext);
  closeCopies(b);
  now.rowsNext = rowsAhead;
  if (steps->isGathered())
    now.rowsAhead = findRows(b.add(step, 3));

  writeBiases(ahead, rowsAhead, biasesAhead);
  scores = wgmma.wait(scores, 1);
  auto [powers, factors] = emitWeights(adjustScores(next, scores), rows);
  // The weights of the last step are being multiplied until here: these take
  // their registers.
  registers = finishOut({out, powers}, factors, rows.sums.front());
  rows.out = registers.out;
  now.weights = wgmma.getLeft(registers.weights);
  return now;
}

State WgmmaAttention::runSteps(State state) {
  Value last = b.sub(count, 1);
  Step done =
      carry(b, b.index(0), last, beginSteps(state),
            [&](Value step, const Step &now) { return takeStep(step, now); });
  finishCopies();
  Values &out = done.state.front().out;
  Multiplied registers = {out, done.weights};
  registers = unpack(registers, wgmma.fence(pack(registers)));
  out = wgmma.wait(emitOut(registers.out, registers.weights, last), 0);
  b.barrier(); // What comes next may fill the memory again.
  return done.state;
}

void WgmmaAttention::finish(State &state) {
  // Queries that no step has waited for: outputs take their place.
  waitForCopies(b, 0);
  b.barrier();
  AttentionLoop::finish(state);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

void WgmmaAttention::hold(State &state, int64_t begin) {
  assert(begin == 0 && "all columns are held at once");
  ArrayRef<Value> out = state.front().out;
  for (int64_t i = 0; i < width / 2; i += 2) {
    Value pair = b.convert(b.concat(out.slice(i, 2)), element);
    int64_t column = i / 4 * 8;
    queryTile.store(b, pair, b.index(column / Wgmma::kTileDepth),
                    b.add(groupRow, wgmma.getRow(i / 2 % 2)),
                    b.add(wgmma.getColumn(), column % Wgmma::kTileDepth));
  }
}

Value WgmmaAttention::readHeld(Value row, Value column, int64_t numbers) {
  return queryTile.load(b, b.vectorOf(numbers, element),
                        b.div(column, Wgmma::kTileDepth), row,
                        b.rem(column, Wgmma::kTileDepth));
}

void WgmmaAttention::emitOutputs(State &state,
                                 function_ref<void(Value, Value, Value)> emit) {
  // Through workgroup memory, so that neighbouring threads store neighbours.
  hold(state, 0);
  b.barrier();
  distribute(rows * width / kChunk, [&](Value item, Value isOne) {
    b.ifThen(isOne, [&] {
      Value row = b.div(item, width / kChunk);
      Value column = b.mul(b.rem(item, width / kChunk), kChunk);
      emit(row, column, b.toF32(readHeld(row, column, kChunk)));
    });
  });
}
