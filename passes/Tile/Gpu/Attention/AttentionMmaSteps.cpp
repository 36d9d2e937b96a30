//===- AttentionMmaSteps.cpp - Weights beside the outputs of a step before ===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loop of gfx942, which takes its steps as AttentionWgmma.h does:
//
//   for step:
//     barrier; store keys step + 1 and values step from registers; barrier
//     load keys step + 2 and values step + 1 into registers
//     scores = q k[step + 1]^T             while out *= c
//     out += p v[step]                     while p, c = weights of the scores
//
// A wave executes it all, one instruction after the other: matrix instructions
// take several cycles, in which others are issued. So a step is one basic
// block, in which the compiler's scheduler can put vector instructions between
// matrix instructions. Steps in which not all is seen have code of their own:
//
//   do
//     while the next step is plain: step as above
//   while there is a step: step as above, and hide what is not seen
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "passes/Tile/Gpu/Attention/AttentionMma.h"
#include "passes/Tile/Gpu/Core/Registers.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using State = AttentionLoop::State;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

Value MmaAttention::roundWeights(Value weights) {
  if (element.isF16())
    return b.convert(weights, element);
  int64_t size = cast<VectorType>(weights.getType()).getNumElements();
  // The upper half, to nearest. No weight is NaN or infinite.
  Type word = b.getI32Type();
  Value words = vector::BitCastOp::create(b, b.vectorOf(size, word), weights);
  words = arith::AddIOp::create(b, words,
                                b.constant(b.vectorOf(size, word), 0x8000));
  auto halves = b.vectorOf(2 * size, element);
  Value all = vector::BitCastOp::create(b, halves, words);
  SmallVector<int64_t> upper;
  for (int64_t i = 0; i < size; ++i)
    upper.push_back(2 * i + 1);
  return b.shuffle(all, all, upper);
}

Value MmaAttention::addUp(ArrayRef<Value> weights, Value start) {
  // Two chains, for the latency of one.
  Value sums[2] = {start, b.f32(0)};
  if (element.isF16()) {
    VectorType pair = b.vectorOf(2, element);
    Value ones = b.constant(pair, 1);
    Value noClamp =
        LLVM::ConstantOp::create(b, b.getI1Type(), b.getBoolAttr(false));
    for (Value part : weights)
      for (int64_t i = 0, end = mma.getAccumulatorType().getNumElements();
           i < end; i += 2) {
        Value &sum = sums[i / 2 % 2];
        sum = LLVM::CallIntrinsicOp::create(
                  b, b.getF32Type(), b.getStringAttr("llvm.amdgcn.fdot2"),
                  ValueRange{b.slice(part, i, 2), ones, sum, noClamp})
                  .getResult(0);
      }
    return arith::AddFOp::create(b, sums[0], sums[1]);
  }
  Value all = weights.front();
  for (Value part : weights.drop_front())
    all = arith::AddFOp::create(b, all, part);
  for (int64_t size = mma.getAccumulatorType().getNumElements() / 2; size > 0;
       size /= 2)
    all = arith::AddFOp::create(b, b.slice(all, 0, size),
                                b.slice(all, size, size));
  return arith::AddFOp::create(b, start, b.extract(all, 0));
}

MmaAttention::Weights MmaAttention::emitLeft(const Tiles &scores,
                                             State &state) {
  Weights left;
  for (auto [rows, ofTile] : llvm::zip_equal(state, scores)) {
    auto [base, factors] = findBase(getTops(ofTile), rows);
    Values weights, rounded;
    for (Value part : ofTile) {
      weights.push_back(emitWeights(part, base));
      rounded.push_back(roundWeights(weights.back()));
    }
    Value &sum = rows.sums.front();
    // fdot2 adds pairs of f16, so these are added as they were rounded.
    sum = addUp(element.isF16() ? rounded : weights,
                arith::MulFOp::create(b, sum, factors.front()));
    left.fragments.push_back(mma.getFragments(b, rounded));
    left.factors.push_back(factors.front());
  }
  return left;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

MmaAttention::Tiles MmaAttention::emitBiasedScores(Value stage) {
  if (!biases)
    return emitScores(
        stage, Tiles(rowTiles, Values(keyTiles, mma.makeAccumulator(b))));
  Tiles start(rowTiles);
  for (Values &ofTile : start)
    for (int64_t key = 0; key < keyTiles; ++key)
      ofTile.push_back(readBias(stage, key));
  return emitScores(stage, start);
}

void MmaAttention::addOut(const Weights &weights, State &state) {
  for (auto [rows, factor] : llvm::zip_equal(state, weights.factors))
    rescale(rows, factor);
  emitProduct(weights.fragments, b.index(0), state);
}

MmaAttention::PipelinedStep MmaAttention::takeStep(PipelinedStep now,
                                                   Value last, bool isPlain) {
  Value next = b.add(now.number, 1);
  PipelinedStep result = {next, now.state, {}, {}, {}};
  // Past the end the last step is loaded again; that load is never stored.
  Value ahead = b.min(b.add(now.number, 2), last);
  b.barrier(); // The last step has been read.
  storeKeys(now.loaded);
  storeValues(now.loaded);
  b.barrier();
  forEachValue(now.rows, [&](Value &row) {
    row = arith::IndexCastUIOp::create(b, b.getIndexType(), row);
  });
  result.loaded = load(ahead, now.rows);
  // Rows of clusters and tokens are found in branches.
  if (biases)
    result.rows = findNextRows(next, last);
  keepOrder(b);
  if (!biases)
    result.rows = findNextRows(next, last);
  Tiles scores = emitBiasedScores(b.index(0));
  addOut(now.weights, result.state);
  if (!isPlain)
    adjust(next, scores);
  result.weights = emitLeft(scores, result.state);
  if (isPlain) {
    int64_t readsOfScores = keyTiles * depth / mma.depth();
    int64_t readsOfOut = outTiles * keys / mma.depth();
    int64_t multiplied = rowTiles * mma.getInstructions();
    int64_t readsOfBiases =
        biases ? keyTiles * mma.getAccumulatorType().getNumElements() /
                     mma.getRun()
               : 0;
    interleaveWeights(b, readsOfScores * multiplied, readsOfOut * multiplied,
                      readsOfScores + readsOfOut, readsOfBiases);
  }
  return result;
}

MmaAttention::Loads MmaAttention::findNextRows(Value step, Value last) {
  Loads found;
  findKeyRows(b.min(b.add(step, 2), last), found);
  findValueRows(b.min(b.add(step, 1), last), found);
  // Carried by the loop; rows fit 32 bits.
  forEachValue(found, [&](Value &row) { row = b.toI32(row); });
  return found;
}

MmaAttention::PipelinedStep MmaAttention::beginSteps(const State &state,
                                                     Value last) {
  Value zero = b.index(0);
  PipelinedStep first = {zero, state, {}, {}, {}};
  auto loadKeysOf = [&](Value step, Loads &loaded) {
    Loads rows;
    findKeyRows(step, rows);
    loadKeys(step, rows, loaded);
  };
  b.barrier(); // What was there has been read.
  Loads keysOfFirst, rows;
  loadKeysOf(zero, keysOfFirst);
  storeKeys(keysOfFirst);
  b.barrier();
  loadKeysOf(b.min(b.index(1), last), first.loaded);
  findValueRows(zero, rows);
  loadValues(rows, first.loaded);
  first.rows = findNextRows(zero, last);
  Tiles scores = emitBiasedScores(zero);
  adjust(zero, scores);
  first.weights = emitLeft(scores, first.state);
  return first;
}

State MmaAttention::runPipelined(State state, Value count) {
  using Now = PipelinedStep;
  Value last = b.sub(count, 1);
  auto isStep = [&](const Now &now) { return b.isLess(now.number, last); };
  auto isPlainStep = [&](const Now &now) {
    Value isPlain = steps->isPlain(b, b.add(now.number, 1));
    isPlain = b.select(isPlain, b.index(1), b.index(0));
    // All threads agree, and LLVM now knows it: the branch is a scalar one.
    isPlain = b.isEqual(takeFirstThread(b, isPlain), 1);
    return b.both(isStep(now), isPlain);
  };
  auto takePlain = [&](const Now &now) { return takeStep(now, last, true); };
  auto takeHidden = [&](const Now &now) { return takeStep(now, last, false); };
  auto takeSome = [&](const Now &now) {
    Now done = takeIf(b, isPlainStep(now), now, [&](const Now &now) {
      return repeat(b, now, isPlainStep, takePlain);
    });
    return takeIf(b, isStep(done), done, takeHidden);
  };
  Now done = beginSteps(state, last);
  done = takeIf(b, isStep(done), done, [&](const Now &now) {
    return repeat(b, now, isStep, takeSome);
  });
  b.barrier();
  storeValues(done.loaded);
  b.barrier();
  addOut(done.weights, done.state);
  return done.state;
}
