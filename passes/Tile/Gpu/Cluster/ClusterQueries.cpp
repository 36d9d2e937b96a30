//===- ClusterQueries.cpp - Many queries on a cache of clusters -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the call's tokens are not in the cache yet, the cache comes first, and all
// queries see all of it: clusters, then the ring. The tokens follow as in dense
// attention.
//
// Heads see different numbers of keys: those that see most come first, so that
// the last workgroups to run have little to do.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Attention/AttentionSources.h"
#include "passes/Tile/Gpu/Cluster/ClusterKeys.h"
#include "passes/Tile/Gpu/Cluster/ClusterParts.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
class CacheSteps final : public KeySteps {
public:
  /// For `rows` rows from `first` on, `group` for each query. A query sees the
  /// last `window` keys up to its own, where there is a window.
  CacheSteps(GpuBuilder &b, const SeenKeys &seen, Value first, Value numQueries,
             int64_t rows, int64_t keys, int64_t group, double scale,
             std::optional<int64_t> window)
      : seen(seen), first(first), numKeys(b.add(seen.getBefore(), numQueries)),
        keysOfStep(keys), group(group), numRows(rows), scale(scale),
        window(window) {
    // Steps end where the last row of the workgroup sees nothing more, and
    // begin where the first one sees something.
    end = b.min(numKeys, b.add(getLast(b, b.index(rows - 1)), 1));
    start = b.index(0);
    if (window)
      start = b.max(getFirst(b, b.index(0)), start);
  }

  Value getCount(GpuBuilder &b) override {
    return b.ceilDiv(b.sub(end, start), keysOfStep);
  }
  Value getRow(GpuBuilder &b, Value step, Value slot) override {
    return seen.getRow(b, b.min(getKey(b, step, slot), b.sub(numKeys, 1)));
  }
  /// A step that all rows see whole needs no comparison.
  Value isPlain(GpuBuilder &b, Value step) override {
    Value isPast = isAtMost(b, getKey(b, step, b.index(keysOfStep - 1)),
                            getLast(b, b.index(0)));
    if (!window)
      return isPast;
    return b.both(isPast, isAtMost(b, getFirst(b, b.index(numRows - 1)),
                                   getKey(b, step, b.index(0))));
  }
  Value adjust(GpuBuilder &b, Value score, Value step, Value row,
               Value slot) override {
    Value key = getKey(b, step, slot);
    Value isSeen = b.compare(CmpIPredicate::sle, key, getLast(b, row));
    if (window)
      isSeen = b.both(isSeen, isAtMost(b, getFirst(b, row), key));
    return b.select(isSeen, score,
                    b.f32(-std::numeric_limits<double>::infinity()));
  }
  bool hasBias() const override { return true; }
  Value getBias(GpuBuilder &b, Value step, Value slot, Value) override {
    Value log =
        seen.getLogCount(b, getKey(b, step, slot), getKey(b, step, b.index(0)));
    // The loop scales scores after it has added this.
    return b.mul(log, b.f32(std::numbers::ln2 / scale));
  }

private:
  /// The last key that a row sees.
  Value getLast(GpuBuilder &b, Value row) {
    return b.add(seen.getBefore(), b.div(b.add(first, row), group));
  }
  /// The first that it sees through a window; negative where it sees all.
  Value getFirst(GpuBuilder &b, Value row) {
    return b.sub(getLast(b, row), *window - 1);
  }
  Value getKey(GpuBuilder &b, Value step, Value slot) {
    return b.add(b.add(start, b.mul(step, keysOfStep)), slot);
  }

  const SeenKeys &seen;
  Value first, numKeys, start, end;
  int64_t keysOfStep, group, numRows;
  double scale;
  std::optional<int64_t> window;
};

/// Rows that all queries see, in ranges of neighbours. A step has rows of one
/// range, so that where they lie follows from a number that all threads share.
class RangeSteps : public KeySteps {
public:
  RangeSteps(GpuBuilder &b, ArrayRef<RowRange> ranges, int64_t keys)
      : ranges(ranges), keysOfStep(keys) {
    count = b.index(0);
    for (const RowRange &range : ranges) {
      starts.push_back(count);
      count = b.add(count, b.ceilDiv(range.count, keys));
    }
  }

  Value getCount(GpuBuilder &b) override { return count; }
  Value getRow(GpuBuilder &b, Value step, Value slot) override {
    RowRange rest = getRest(b, step);
    // Loops without a step still read a row.
    Value last = b.max(b.sub(rest.count, 1), b.index(0));
    return b.add(rest.first, getSmaller(b, slot, last));
  }
  Value isThere(GpuBuilder &b, Value step, Value slot) override {
    return isAtMost(b, b.add(slot, 1), getRest(b, step).count);
  }
  Value isPlain(GpuBuilder &b, Value step) override {
    return isAtMost(b, b.index(keysOfStep), getRest(b, step).count);
  }
  Value adjust(GpuBuilder &b, Value score, Value step, Value,
               Value slot) override {
    return b.select(isThere(b, step, slot), score,
                    b.f32(-std::numeric_limits<double>::infinity()));
  }
  // Called even if hasBias() is false.
  Value getBias(GpuBuilder &b, Value, Value, Value) override {
    return b.f32(0);
  }

protected:
  /// The rows of a step and those after them in its range.
  RowRange getRest(GpuBuilder &b, Value step) {
    RowRange rest = ranges.front();
    Value start = starts.front();
    for (size_t i = 1; i < ranges.size(); ++i) {
      Value isHere = isAtMost(b, starts[i], step);
      start = b.select(isHere, starts[i], start);
      rest.first = b.select(isHere, ranges[i].first, rest.first);
      rest.count = b.select(isHere, ranges[i].count, rest.count);
    }
    Value done = b.mul(b.sub(step, start), keysOfStep);
    return {b.add(rest.first, done), b.sub(rest.count, done)};
  }

  SmallVector<RowRange> ranges;
  SmallVector<Value> starts; ///< the first step of each range
  Value count;
  int64_t keysOfStep;
};

/// The clusters, which stand for several tokens each.
class ClusterSteps final : public RangeSteps {
public:
  ClusterSteps(GpuBuilder &b, const SeenKeys &seen, int64_t keys, double scale)
      : RangeSteps(b, RowRange{seen.getFirstMean(), seen.getClusters()}, keys),
        seen(seen), scale(scale) {}

  bool hasBias() const override { return true; }
  Value getBias(GpuBuilder &b, Value step, Value slot, Value) override {
    Value first = b.mul(step, keysOfStep);
    Value log = seen.getLogCount(b, b.add(first, slot), first);
    return b.mul(log, b.f32(std::numbers::ln2 / scale));
  }
  Value readBias(GpuBuilder &b, Value step, Value slot, Value) override {
    return seen.readCount(b, getKey(b, step, slot));
  }
  Value finishBias(GpuBuilder &b, Value step, Value slot, Value read) override {
    return b.mul(seen.finishCount(b, getKey(b, step, slot), read),
                 b.f32(std::numbers::ln2 / scale));
  }

private:
  Value getKey(GpuBuilder &b, Value step, Value slot) {
    return b.add(b.mul(step, keysOfStep), slot);
  }

  const SeenKeys &seen;
  double scale;
};

/// The call's own tokens: query i sees those up to itself.
class OwnSteps final : public KeySteps {
public:
  /// For `rows` rows from `first` on, `group` for each query.
  OwnSteps(GpuBuilder &b, Value first, Value numQueries, int64_t rows,
           int64_t keys, int64_t group)
      : first(first), numQueries(numQueries), keysOfStep(keys), group(group) {
    end = b.min(numQueries, b.add(getQuery(b, b.index(rows - 1)), 1));
  }

  Value getCount(GpuBuilder &b) override { return b.ceilDiv(end, keysOfStep); }
  Value getRow(GpuBuilder &b, Value step, Value slot) override {
    return getSmaller(b, getKey(b, step, slot), b.sub(numQueries, 1));
  }
  Value isThere(GpuBuilder &b, Value step, Value slot) override {
    return isAtMost(b, b.add(getKey(b, step, slot), 1), numQueries);
  }
  Value isPlain(GpuBuilder &b, Value step) override {
    return isAtMost(b, getKey(b, step, b.index(keysOfStep - 1)),
                    getQuery(b, b.index(0)));
  }
  Value adjust(GpuBuilder &b, Value score, Value step, Value row,
               Value slot) override {
    return b.select(isAtMost(b, getKey(b, step, slot), getQuery(b, row)), score,
                    b.f32(-std::numeric_limits<double>::infinity()));
  }
  // Called even if hasBias() is false.
  Value getBias(GpuBuilder &b, Value, Value, Value) override {
    return b.f32(0);
  }

private:
  Value getQuery(GpuBuilder &b, Value row) {
    return b.div(b.add(first, row), group);
  }
  Value getKey(GpuBuilder &b, Value step, Value slot) {
    return b.add(b.mul(step, keysOfStep), slot);
  }

  Value first, numQueries, end;
  int64_t keysOfStep, group;
};
} // namespace

//===----------------------------------------------------------------------===//
// Blocks of queries
//===----------------------------------------------------------------------===//

namespace {
/// A KV head, and what all of them see together.
struct FoundHead {
  Value head;
  Value steps; ///< before the call, of all heads; null where that is not known
};
} // namespace

/// The KV head that sees the `rank`-th most keys before the call, which are
/// taken in steps of `keys`.
static FoundHead findHead(ElementEmitter &emitter, ClusterAttentionOp op,
                          Value rank, int64_t keys) {
  // Every workgroup compares all pairs, which is cheap up to this number.
  constexpr int64_t kMaxHeads = 16;
  GpuBuilder &b = emitter.getBuilder();
  int64_t kvHeads = op.getHeads().getType().getDimSize(1);
  if (kvHeads == 1 || kvHeads > kMaxHeads)
    return {rank, Value()};
  AttentionLoop::Values seen;
  for (int64_t head = 0; head < kvHeads; ++head)
    seen.push_back(SeenKeys(emitter, op, b.index(head)).getBefore());
  Value found = b.index(0), steps = b.index(0);
  for (int64_t head = 0; head < kvHeads; ++head) {
    steps = b.add(steps, b.ceilDiv(seen[head], keys));
    Value place = b.index(0);
    for (int64_t other = 0; other < kvHeads; ++other) {
      if (other == head)
        continue;
      // Of equals the smaller number comes first, so that each rank has one
      // head.
      Value isBefore =
          b.compare(other < head ? CmpIPredicate::sge : CmpIPredicate::sgt,
                    seen[other], seen[head]);
      place = b.add(place, b.select(isBefore, b.index(1), b.index(0)));
    }
    Value isIt = b.compare(CmpIPredicate::eq, place, rank);
    found = b.select(isIt, b.index(head), found);
  }
  return {found, steps};
}

namespace {
/// The code of one workgroup, which has a block of queries of a KV head, or a
/// part of what they see.
class ManyQueries {
public:
  ManyQueries(GpuKernel &kernel, ClusterAttentionOp op)
      : kernel(kernel), op(op), b(kernel.b), emitter(kernel.emitter),
        tile(kernel.getTile<GpuAttentionAttr>()),
        valueSize(op.getValues().getType().getDimSize(1)),
        kvHeads(op.getHeads().getType().getDimSize(1)),
        group(op.getQuery().getType().getDimSize(1) / kvHeads),
        scale(op.getEffectiveScale()),
        owned(AttentionLoop::create(b, tile,
                                    {op.getKeys().getType().getDimSize(1),
                                     valueSize, scale, Type(),
                                     /*hasBias=*/true})),
        loop(*owned), parts(ClusterParts::find(kernel, op)),
        partsOfBlock(parts ? parts->getMost() : 1),
        result(emitter, op.getOutput(), getResultNumber(op)) {
    numQueries = emitter.size(op.getQuery(), 0);
    // Query heads of one KV head are rows side by side: they read the same
    // keys.
    numRows = b.mul(numQueries, group);
    numBlocks = b.ceilDiv(numRows, loop.getRows());
    // Blocks that see the most keys come first: later queries see more.
    first = b.mul(b.sub(b.sub(numBlocks, 1), b.block(0)), loop.getRows());
  }

  FailureOr<GpuGrid> emit() {
    if (op.getOwn().empty())
      emitUpdated();
    else
      emitBeside();
    FailureOr<AffineExpr> tokens = getSizeExpr(
        kernel.source, emitter.getWrittenSizes(getResultNumber(op))[0]);
    if (failed(tokens))
      return failure();
    return GpuGrid{(*tokens * group).ceilDiv(loop.getRows()),
                   b.getAffineConstantExpr(kvHeads * partsOfBlock)};
  }

private:
  using Values = AttentionLoop::Values;
  using State = AttentionLoop::State;

  /// Keys in steps, and where they are read.
  struct Source {
    KeySteps &steps;
    const RowSource &keys, &values;
  };

  /// Where the call's tokens are in the cache already.
  void emitUpdated();
  /// Where they are beside it.
  void emitBeside();
  void emitParts(ArrayRef<Source> sources, Value stepsOfHeads);
  State attend(ArrayRef<Source> sources, bool inParts);

  void loadQueries();
  void emitOutputs(State &state);
  /// Puts the tokens of the workgroup's queries into the ring, where the kernel
  /// does that: over rows that no query of the call sees.
  void append(const KnownKeys &known);

  Value getToken(Value row) { return b.div(row, group); }
  Value getHead(Value row) {
    return b.add(b.mul(kvHead, group), b.rem(row, group));
  }

  GpuKernel &kernel;
  ClusterAttentionOp op;
  GpuBuilder &b;
  ElementEmitter &emitter;
  GpuAttentionAttr tile;
  int64_t valueSize, kvHeads, group;
  double scale;
  std::unique_ptr<AttentionLoop> owned;
  AttentionLoop &loop;
  std::optional<ClusterParts> parts;
  int64_t partsOfBlock;
  AttentionResult result;
  Value numQueries, numRows, numBlocks;
  Value first; ///< row of the workgroup
  Value kvHead;
};
} // namespace

void ManyQueries::loadQueries() {
  loop.loadQueries(getRowSource(
      emitter, op.getQuery(), tile.getElement(), [&](Value row, Value column) {
        row = b.min(b.add(first, row), b.sub(numRows, 1));
        return Values{getToken(row), getHead(row), column};
      }));
}

void ManyQueries::emitOutputs(State &state) {
  loop.finish(state);
  loop.emitOutputs(state, [&](Value row, Value column, Value numbers) {
    row = b.add(first, row);
    Value isThere = b.both(b.isLess(row, numRows), b.isLess(column, valueSize));
    b.ifThen(isThere, [&] {
      result.store(getToken(row), getHead(row), column, numbers);
    });
  });
}

void ManyQueries::append(const KnownKeys &known) {
  ClusterUpdateOp update = findUpdate(op);
  if (!update)
    return;
  Value begin = b.ceilDiv(first, group);
  Value end = b.min(b.ceilDiv(b.add(first, loop.getRows()), group), numQueries);
  appendRows(
      emitter, update, kvHead, begin, b.sub(end, begin), [&](Value token) {
        return known.head.getRow(b, known.place, b.add(known.exact, token));
      });
}

AttentionLoop::State ManyQueries::attend(ArrayRef<Source> sources,
                                         bool inParts) {
  State state = loop.getStart();
  Value before = b.index(0); // Steps of the sources so far.
  for (const Source &source : sources) {
    if (!inParts) {
      state = loop.run(state, source.steps, source.keys, source.values);
      continue;
    }
    PartSteps part(b, source.steps, b.sub(parts->getFirst(), before),
                   b.sub(parts->getEnd(), before));
    before = b.add(before, source.steps.getCount(b));
    state = loop.run(state, part, source.keys, source.values);
  }
  return state;
}

void ManyQueries::emitUpdated() {
  kvHead = b.div(b.block(1), partsOfBlock);
  loadQueries();
  SeenKeys seen(emitter, op, kvHead);
  RowSource keys = getPoolSource(emitter, op.getKeys(), tile.getElement());
  RowSource values = getPoolSource(emitter, op.getValues(), tile.getElement());
  CacheSteps steps(b, seen, first, numQueries, loop.getRows(), loop.getKeys(),
                   group, scale, op.getWindow());
  State state = attend(Source{steps, keys, values}, /*inParts=*/false);
  emitOutputs(state);
}

void ManyQueries::emitBeside() {
  // Parts of the blocks of a head follow one another: where heads have fewer
  // parts, the parts spread evenly over the GPU.
  FoundHead found =
      findHead(emitter, op, b.div(b.block(1), partsOfBlock), loop.getKeys());
  kvHead = found.head;
  KnownKeys known(emitter, op, kvHead);
  SeenKeys seen(emitter, op, kvHead, known);
  b.ifThen(b.isEqual(b.rem(b.block(1), partsOfBlock), 0),
           [&] { append(known); });
  Type element = tile.getElement();
  RowSource keys = getPoolSource(emitter, op.getKeys(), element);
  RowSource values = getPoolSource(emitter, op.getValues(), element);
  RowSource ownKeys = getHeadSource(emitter, op.getOwn()[0], kvHead, element);
  RowSource ownValues = getHeadSource(emitter, op.getOwn()[1], kvHead, element);
  ClusterSteps clusters(b, seen, loop.getKeys(), scale);
  RangeSteps exact(b, seen.getExact(b), loop.getKeys());
  OwnSteps own(b, first, numQueries, loop.getRows(), loop.getKeys(), group);
  Source sources[] = {{clusters, keys, values},
                      {exact, keys, values},
                      {own, ownKeys, ownValues}};
  if (parts)
    return emitParts(sources, found.steps);
  loadQueries();
  State state = attend(sources, /*inParts=*/false);
  emitOutputs(state);
}

void ManyQueries::emitParts(ArrayRef<Source> sources, Value stepsOfHeads) {
  Value item = b.add(b.mul(kvHead, numBlocks), b.block(0));
  Value steps = b.index(0);
  for (const Source &source : sources)
    steps = b.add(steps, source.steps.getCount(b));
  // Of the call's own keys blocks see a half on average.
  Value all = b.index(0);
  if (stepsOfHeads)
    all =
        b.mul(numBlocks,
              b.add(stepsOfHeads,
                    b.mul(b.ceilDiv(numQueries, 2 * loop.getKeys()), kvHeads)));
  Value mean = b.div(all, getAttentionPlaces(op, tile, b.getGpu()));
  parts->begin(item, b.rem(b.block(1), partsOfBlock), steps, mean);
  // Workgroups without a part do not read queries.
  b.ifThen(parts->isThere(), [&] {
    loadQueries();
    parts->finish(loop, attend(sources, /*inParts=*/true),
                  [&](State &state) { emitOutputs(state); });
  });
}

FailureOr<GpuGrid> gist::emitClusterQueries(GpuKernel &kernel,
                                            ClusterAttentionOp op) {
  return ManyQueries(kernel, op).emit();
}
