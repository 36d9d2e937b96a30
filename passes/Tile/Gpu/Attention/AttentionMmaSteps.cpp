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

Values MmaAttention::emitLeft(ArrayRef<Value> scores, Values &state) {
  Values tops = getTops(scores), fragments, allFactors;
  for (int64_t tile = 0; tile < rowTiles; ++tile) {
    auto [base, factors] = findBase(tile, tops, state);
    Values weights, rounded;
    for (Value part : scores.slice(tile * keyTiles, keyTiles)) {
      weights.push_back(emitWeights(part, base));
      rounded.push_back(roundWeights(weights.back()));
    }
    Value &sum = getSum(state, tile, 0);
    // fdot2 adds pairs of f16, so these are added as they were rounded.
    sum = addUp(element.isF16() ? rounded : weights,
                arith::MulFOp::create(b, sum, factors.front()));
    llvm::append_range(fragments, mma.getFragments(b, rounded));
    llvm::append_range(allFactors, factors);
  }
  llvm::append_range(fragments, allFactors);
  return fragments;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// do values = body(values); while (isOne(values)).
static Values repeat(GpuBuilder &b, ValueRange start,
                     function_ref<Value(ValueRange)> isOne,
                     function_ref<Values(ValueRange)> body) {
  TypeRange types(start);
  SmallVector<Location> locations(start.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, types, start);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  Values next = body(before->getArguments());
  scf::ConditionOp::create(b, isOne(next), next);
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  scf::YieldOp::create(b, after->getArguments());
  return loop.getResults();
}

/// body(values) where `condition`, else `values`.
static Values takeIf(GpuBuilder &b, Value condition, ValueRange values,
                     function_ref<Values(ValueRange)> body) {
  auto branch = scf::IfOp::create(b, values.getTypes(), condition,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, values);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, body(values));
  return branch.getResults();
}

Values MmaAttention::runPipelined(Values state, Value count) {
  Value isAny = b.compare(arith::CmpIPredicate::sgt, count, b.index(0));
  return takeIf(b, isAny, state, [&](ValueRange values) {
    return runSteps(Values(values), takeFirstThread(b, count));
  });
}

Values MmaAttention::runSteps(Values state, Value count) {
  size_t numStates = state.size();
  Value zero = b.index(0), last = b.sub(count, 1);
  // Past the end the last step is loaded again; that load is never stored.
  auto getStep = [&](Value step, int64_t by) {
    return b.min(b.add(step, by), last);
  };

  b.barrier(); // What was there has been read.
  storeKeys(loadKeys(zero, findKeyRows(zero)));
  b.barrier();
  Values start = loadKeys(getStep(zero, 1), findKeyRows(getStep(zero, 1)));
  size_t numKeys = start.size();
  llvm::append_range(start, loadValues(findValueRows(zero)));
  size_t numLoaded = start.size();
  auto findNextRows = [&](Value step) {
    Values found = findKeyRows(getStep(step, 2));
    llvm::append_range(found, findValueRows(getStep(step, 1)));
    // Carried by the loop; rows fit 32 bits.
    for (Value &row : found)
      row = b.toI32(row);
    return found;
  };
  llvm::append_range(start, findNextRows(zero));
  size_t numRows = start.size() - numLoaded;

  // Sums of scores start from the biases, which saves the additions.
  auto getScores = [&] {
    if (!biases)
      return emitScores(zero,
                        Values(rowTiles * keyTiles, mma.makeAccumulator(b)));
    Values start;
    for (int64_t tile = 0; tile < rowTiles; ++tile)
      for (int64_t key = 0; key < keyTiles; ++key)
        start.push_back(readBias(zero, key));
    return emitScores(zero, start);
  };
  // Weights, then factors.
  auto addOut = [&](ValueRange left, Values &now) {
    for (auto [tile, factor] : llvm::enumerate(left.take_back(rowTiles)))
      rescale(tile, factor, now);
    emitProduct(left, zero, now);
  };
  Values scores = getScores();
  adjust(zero, scores);
  Values weights = emitLeft(scores, state);
  size_t numWeights = weights.size();

  // The numbers of a step: its own, the state, weights and factors, what is
  // loaded, rows.
  auto takeStep = [&](ValueRange values, bool isPlain) {
    Value step = values.front();
    Values now(values.slice(1, numStates));
    ValueRange left = values.slice(1 + numStates, numWeights);
    ValueRange loaded = values.slice(1 + numStates + numWeights, numLoaded);
    ValueRange rows = values.take_back(numRows);
    Value next = b.add(step, 1), ahead = getStep(step, 2);
    b.barrier(); // The last step has been read.
    storeKeys(loaded.take_front(numKeys));
    storeValues(loaded.drop_front(numKeys));
    b.barrier();
    Values nextRows(rows);
    for (Value &row : nextRows)
      row = arith::IndexCastUIOp::create(b, b.getIndexType(), row);
    // A row for each chunk of keys, and for the bias.
    Values nextLoaded =
        loadKeys(ahead, ValueRange(nextRows).take_front(numKeys));
    llvm::append_range(nextLoaded,
                       loadValues(ValueRange(nextRows).drop_front(numKeys)));
    Values later;
    // Rows of clusters and tokens are found in branches.
    if (biases)
      later = findNextRows(next);
    keepOrder(b);
    if (!biases)
      later = findNextRows(next);
    Values scores = getScores();
    addOut(left, now);
    if (!isPlain)
      adjust(next, scores);
    Values result = {next};
    Values nextWeights = emitLeft(scores, now);
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
    llvm::append_range(result, now);
    llvm::append_range(result, nextWeights);
    llvm::append_range(result, nextLoaded);
    llvm::append_range(result, later);
    return result;
  };
  Values all = {zero};
  llvm::append_range(all, state);
  llvm::append_range(all, weights);
  llvm::append_range(all, start);
  auto isStep = [&](ValueRange values) {
    return b.isLess(values.front(), last);
  };
  auto isPlainStep = [&](ValueRange values) {
    Value isPlain = steps->isPlain(b, b.add(values.front(), 1));
    isPlain = b.select(isPlain, b.index(1), b.index(0));
    // All threads agree, and LLVM now knows it: the branch is a scalar one.
    isPlain = b.isEqual(takeFirstThread(b, isPlain), 1);
    return b.both(isStep(values), isPlain);
  };
  auto takePlain = [&](ValueRange values) {
    return repeat(b, values, isPlainStep,
                  [&](ValueRange values) { return takeStep(values, true); });
  };
  auto takeHidden = [&](ValueRange values) { return takeStep(values, false); };
  auto takeSome = [&](ValueRange values) {
    Values done = takeIf(b, isPlainStep(values), values, takePlain);
    return takeIf(b, isStep(done), done, takeHidden);
  };
  all = takeIf(b, isStep(all), all, [&](ValueRange values) {
    return repeat(b, values, isStep, takeSome);
  });

  ValueRange done = ValueRange(all).drop_front();
  state = Values(done.take_front(numStates));
  ValueRange left = done.slice(numStates, numWeights);
  b.barrier();
  storeValues(
      done.slice(numStates + numWeights + numKeys, numLoaded - numKeys));
  b.barrier();
  addOut(left, state);
  return state;
}
