//===- SelectRules.cpp - What comes next in a selection -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/SelectKernel.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;
using Values = GpuBuilder::Values;

/// Writes `body` for a stage.
void SelectKernel::atStage(Value stage, SelectStage which,
                           function_ref<void()> body) {
  rounds.ifThenHere(b.isEqual(stage, static_cast<int64_t>(which)), body);
}

void SelectKernel::setStage(SelectStage stage) {
  rounds.set(kStage, b.index(static_cast<int64_t>(stage)));
}

void SelectKernel::decide() {
  Value stage = rounds.get(kStage);
  b.barrier(); // All have read it before it changes.
  if (problem.rule == SelectRule::Paper)
    decidePaper(stage);
  else
    decideCovering(stage);
  atStage(stage, SelectStage::List, [&] {
    setStage(SelectStage::Rank);
    rounds.publish(RoundKind::Mark, b.ceilDiv(rounds.tokens, b.getThreads()));
  });
  atStage(stage, SelectStage::Rank, [&] { rankKept(); });
  atStage(stage, SelectStage::Close, [&] { decideNearest(); });
  atStage(stage, SelectStage::Nearest, [&] { publishFinish(); });
  atStage(stage, SelectStage::End, [&] { finish(); });
}

/// Flags of the inherited representatives, and for the paper's rule their list
/// in Kept.
void SelectKernel::markInherited() {
  Value count = b.readNumber(problem.oldCount, atHead());
  rounds.set(kNumInherited, count);
  auto readId = [&](Value j) {
    return Values{b.readNumber(problem.oldIds, at(j))};
  };
  forLoaded(b.index(0), count, readId, [&](Value j, ArrayRef<Value> ids) {
    Value id = ids.front();
    rounds.write(b.i32(1), SelectArray::Inherited, id);
    if (problem.rule == SelectRule::Paper)
      rounds.write(id, SelectArray::Kept, j);
  });
  b.barrier();
}

void SelectKernel::decidePaper(Value stage) {
  Value zero = b.index(0);
  atStage(stage, SelectStage::Start, [&] {
    setStage(SelectStage::Outside);
    markInherited();
    List old = {
        SelectArray::Kept, {}, b.readNumber(problem.oldCount, atHead())};
    Product product = {old, old, Reach::Before, b.index(kUseCover)};
    product.getLimit = [](Value row) { return row; };
    publishGram(product);
  });
  // Those that no earlier one covers against the tokens outside.
  atStage(stage, SelectStage::Outside, [&] {
    setStage(SelectStage::List);
    auto isOld = [&](Value t) {
      return b.isEqual(rounds.readNumber(SelectArray::Inherited, t), 1);
    };
    Value numOutside = compact.run(
        zero, rounds.tokens, zero,
        [&](Value t) {
          return b.isEqual(rounds.readNumber(SelectArray::Inherited, t), 0);
        },
        [&](Value t, Value holds, Value before) {
          b.ifThen(holds,
                   [&] { rounds.write(t, SelectArray::Others, before); });
        });
    Value numValid = compact.run(
        zero, rounds.tokens, zero,
        [&](Value t) {
          return b.both(
              isOld(t),
              b.isEqual(rounds.readNumber(SelectArray::Covered, t), 0));
        },
        [&](Value t, Value holds, Value before) {
          b.ifThen(holds, [&] { rounds.write(t, SelectArray::Kept, before); });
        });
    publishGram(Product{{SelectArray::Others, {}, numOutside},
                        {SelectArray::Kept, {}, numValid},
                        Reach::Any,
                        b.index(kUseCover)});
  });
}

void SelectKernel::decideNearest() {
  if (!hasNearest())
    return problem.to.removed ? publishFinish() : finish();
  if (!canRecall())
    return publishLost();
  Value keepsSums = rounds.get(kKeepsSums);
  b.barrier(); // All have read it before it changes.
  b.ifThen(b.isEqual(keepsSums, 1), [&] {
    setStage(SelectStage::Nearest);
    recallGram();
  });
  b.ifThen(b.isEqual(keepsSums, 0), [&] { publishLost(); });
}

/// The nearest representatives that are still unknown.
void SelectKernel::publishLost() {
  Value zero = b.index(0), count = rounds.get(kNumKept);
  Value numLost = listWords(WordSet::Lost, getNumWords(), zero);
  b.ifThen(b.isEqual(numLost, 0), [&] { publishFinish(); });
  b.ifThen(b.compare(CmpIPredicate::sgt, numLost, zero), [&] {
    setStage(SelectStage::Nearest);
    Product product = {{SelectArray::Others, {}, numLost},
                       {SelectArray::Kept, {}, count},
                       problem.isCausal ? Reach::Upto : Reach::Any,
                       b.index(kUseBest)};
    if (problem.isCausal)
      product.getLimit = [&](Value row) {
        return rounds.readNumber(SelectArray::Rank,
                                 rounds.readNumber(SelectArray::Others, row));
      };
    publishGram(product);
  });
}

void SelectKernel::publishFinish() {
  setStage(SelectStage::End);
  rounds.publish(RoundKind::Finish, b.ceilDiv(rounds.tokens, b.getThreads()));
}

void SelectKernel::finish() {
  if (problem.to.removed)
    b.ifThen(b.isEqual(b.thread(), 0), [&] {
      // removed = inherited - common, added = kept - common.
      Value common = rounds.get(kNumCommon);
      b.write(b.toI32(b.sub(rounds.get(kNumInherited), common)),
              problem.to.removed, atHead());
      b.write(b.toI32(b.sub(rounds.get(kNumKept), common)), problem.to.added,
              atHead());
    });
  rounds.finish();
}
