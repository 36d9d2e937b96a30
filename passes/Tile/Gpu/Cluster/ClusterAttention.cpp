//===- ClusterAttention.cpp - Attention on a cache of clusters on GPUs ----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a head sees, its clusters and then the tokens it keeps exactly, are keys
// in a row of which the queries are the last: dense causal attention with rows
// that must be looked up and something added to the scores of clusters.
//
// Where the call's tokens are not in the cache yet, what is there comes first,
// all of it seen by all queries: clusters, then the ring. The tokens follow as
// in dense attention.
//
// Heads see different numbers of keys: those that see most come first, so that
// the last workgroups to run have little to do.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/KernelKinds.h"
#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Tile/Gpu/Attention/AttentionDecode.h"
#include "passes/Tile/Gpu/Attention/AttentionSources.h"
#include "passes/Tile/Gpu/Cluster/ClusterCache.h"
#include "passes/Tile/Gpu/Cluster/ClusterParts.h"
#include "passes/Tile/Gpu/Core/GridOrder.h"

#include <array>
#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using arith::CmpIPredicate;

/// The update by which the kernel puts the call's own token into the ring, or
/// null.
static ClusterUpdateOp findUpdate(ClusterAttentionOp op) {
  return findRoot<ClusterUpdateOp>(op->getParentOfType<func::FuncOp>());
}

/// The number of the kernel's result that attention gives: the cache may come
/// before it.
static unsigned getResultNumber(ClusterAttentionOp op) {
  ClusterUpdateOp update = findUpdate(op);
  auto end = cast<func::ReturnOp>(op->getBlock()->getTerminator());
  unsigned number = 0;
  while (update && end.getOperand(number).getDefiningOp() == update)
    ++number;
  return number;
}

//===----------------------------------------------------------------------===//
// What a head keeps
//===----------------------------------------------------------------------===//

ClusterHead::ClusterHead(ElementEmitter &emitter, Value heads, Value layer,
                         Value head) {
  GpuBuilder &b = emitter.getBuilder();
  auto number = [&](HeadField field) -> Value {
    return emitter.element(heads,
                           {layer, head, b.index(static_cast<int64_t>(field))});
  };
  auto integer = [&](HeadField field) -> Value {
    Value word = arith::FPToSIOp::create(b, b.getI32Type(), number(field));
    return arith::IndexCastOp::create(b, b.getIndexType(), word);
  };
#define GIST_HEAD_INTEGER(Field, member) member = integer(HeadField::Field);
#define GIST_HEAD_NUMBER(Field, member) member = number(HeadField::Field);
#include "runtime/format/HeadTable.def"
}

Value ClusterHead::getFirstExact(GpuBuilder &b, Value x) const {
  Value zero = b.index(0);
  Value hasWindow = b.compare(CmpIPredicate::sge, window, zero);
  return b.select(hasWindow, b.max(b.sub(x, window), zero), zero);
}

Value ClusterHead::getPlace(GpuBuilder &b, Value t) const {
  // Division of 64 bits is a long program.
  auto narrow = [&](Value number) -> Value {
    return arith::IndexCastOp::create(b, b.getI32Type(), number);
  };
  Value place = arith::RemUIOp::create(b, narrow(t), narrow(ringRows));
  return arith::IndexCastOp::create(b, b.getIndexType(), place);
}

Value ClusterHead::getRow(GpuBuilder &b, Value place, Value n) const {
  // n is less than the ring has rows, so one subtraction is enough.
  Value at = b.add(place, n);
  Value isInside = b.isLess(at, ringRows);
  return b.add(ringRow, b.select(isInside, at, b.sub(at, ringRows)));
}

namespace {
/// Neighbouring rows of the pools.
struct RowRange {
  Value first, count;
};

/// What follows for one KV head from the tokens before the call and the table.
struct KnownKeys {
  KnownKeys(ElementEmitter &emitter, ClusterAttentionOp op, Value kvHead)
      : head(emitter, op.getHeads(), emitter.number(op.getLayer()), kvHead) {
    GpuBuilder &b = emitter.getBuilder();
    Value past = emitter.number(op.getPast());
    // The window stays where it was when the block began, as the op defines.
    Value started = b.sub(past, b.rem(past, op.getBlock()));
    first = head.getFirstExact(b, started);
    exact = b.sub(past, first);
    place = head.getPlace(b, first);
  }

  /// Keys that the head sees at most: each token that has left may have founded
  /// a cluster, as long as there was room.
  Value getMost(GpuBuilder &b) const {
    return b.add(exact, b.min(head.capacity, first));
  }

  ClusterHead head;
  Value first; ///< token that is exact
  Value place; ///< of it in the ring
  Value exact; ///< tokens that are
};

/// The keys of one KV head: clusters, then tokens up to the last of the call.
class SeenKeys {
public:
  SeenKeys(ElementEmitter &emitter, ClusterAttentionOp op, Value kvHead)
      : SeenKeys(emitter, op, kvHead, KnownKeys(emitter, op, kvHead)) {}
  SeenKeys(ElementEmitter &emitter, ClusterAttentionOp op, Value kvHead,
           const KnownKeys &known)
      : emitter(emitter), op(op), head(known.head), exact(known.exact),
        place(known.place) {
    GpuBuilder &b = emitter.getBuilder();
    Value layer = emitter.number(op.getLayer());
    clusters = arith::IndexCastOp::create(
        b, b.getIndexType(), emitter.element(op.getCounts(), {layer, kvHead}));
    before = b.add(clusters, exact);
  }

  /// Keys before the call's own: query i sees those, and i + 1 more.
  Value getBefore() const { return before; }
  /// Those of them that are clusters, and where the first lies.
  Value getClusters() const { return clusters; }
  Value getFirstMean() const { return head.meanRow; }
  /// The others, in two pieces: up to the end of the ring, and from its start
  /// on.
  std::array<RowRange, 2> getExact(GpuBuilder &b) const {
    Value count = b.min(exact, b.sub(head.ringRows, place));
    return {RowRange{b.add(head.ringRow, place), count},
            RowRange{head.ringRow, b.sub(exact, count)}};
  }
  /// Where key `n` lies.
  Value getRow(GpuBuilder &b, Value n) const {
    return b.select(b.isLess(n, clusters), b.add(head.meanRow, n),
                    head.getRow(b, place, b.sub(n, clusters)));
  }
  /// The logarithm of how many tokens key `n` stands for. Where no key from
  /// `least`, the same in all threads, on is a cluster nothing is read.
  Value getLogCount(GpuBuilder &b, Value n, Value least) const {
    auto ofCluster = [&]() -> Value {
      Value cluster = b.min(n, b.sub(clusters, 1));
      Value weight =
          emitter.element(op.getWeights(), {b.add(head.unit, cluster)});
      Value log = math::Log2Op::create(b, weight, arith::FastMathFlags::afn);
      // GPUs have instructions for logarithms to base 2.
      constexpr double kLn2 = 0.693147180559945309417;
      log = arith::MulFOp::create(b, log, b.f32(kLn2));
      return b.select(b.isLess(n, clusters), log, b.f32(0));
    };
    return b.ifElse(isAtMost(b, b.add(least, 1), clusters), ofCluster,
                    [&]() -> Value { return b.f32(0); });
  }

private:
  ElementEmitter &emitter;
  // Getters of ops are not const.
  mutable ClusterAttentionOp op;
  ClusterHead head;
  Value clusters, exact, before;
  Value place; ///< in the ring, of the first exact token
};

//===----------------------------------------------------------------------===//
// Many queries
//===----------------------------------------------------------------------===//

class CacheSteps final : public KeySteps {
public:
  /// Of `rows` rows from `first` on, `group` to a query.
  CacheSteps(GpuBuilder &b, const SeenKeys &seen, Value first, Value numQueries,
             int64_t rows, int64_t keys, int64_t group, double scale)
      : seen(seen), first(first), numKeys(b.add(seen.getBefore(), numQueries)),
        keysOfStep(keys), group(group), scale(scale) {
    // Steps end where the last row of the workgroup sees nothing more.
    end = b.min(numKeys, b.add(getLast(b, b.index(rows - 1)), 1));
  }

  Value getCount(GpuBuilder &b) override { return b.ceilDiv(end, keysOfStep); }
  Value getRow(GpuBuilder &b, Value step, Value slot) override {
    return seen.getRow(b, b.min(getKey(b, step, slot), b.sub(numKeys, 1)));
  }
  /// A step that all rows see whole needs no comparison.
  Value isPlain(GpuBuilder &b, Value step) override {
    return isAtMost(b, getKey(b, step, b.index(keysOfStep - 1)),
                    getLast(b, b.index(0)));
  }
  Value adjust(GpuBuilder &b, Value score, Value step, Value row,
               Value slot) override {
    Value isSeen =
        b.compare(CmpIPredicate::sle, getKey(b, step, slot), getLast(b, row));
    return b.select(isSeen, score,
                    b.f32(-std::numeric_limits<double>::infinity()));
  }
  bool hasBias() const override { return true; }
  Value getBias(GpuBuilder &b, Value step, Value slot, Value) override {
    Value log =
        seen.getLogCount(b, getKey(b, step, slot), getKey(b, step, b.index(0)));
    // The loop scales scores after it has added this.
    return arith::MulFOp::create(b, log, b.f32(1 / scale));
  }

private:
  /// The last key that a row sees.
  Value getLast(GpuBuilder &b, Value row) {
    return b.add(seen.getBefore(), b.div(b.add(first, row), group));
  }
  Value getKey(GpuBuilder &b, Value step, Value slot) {
    return b.add(b.mul(step, keysOfStep), slot);
  }

  const SeenKeys &seen;
  Value first, numKeys, end;
  int64_t keysOfStep, group;
  double scale;
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
    // Loops without a step read something all the same.
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
  // For loops that ask all the same.
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
    return arith::MulFOp::create(b, log, b.f32(1 / scale));
  }

private:
  const SeenKeys &seen;
  double scale;
};

/// The call's own tokens: query i sees those up to itself.
class OwnSteps final : public KeySteps {
public:
  /// Of `rows` rows from `first` on, `group` to a query.
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
  // For loops that ask all the same.
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

//===----------------------------------------------------------------------===//
// One query
//===----------------------------------------------------------------------===//

class CacheKeys final : public DecodeKeys {
public:
  CacheKeys(ElementEmitter &emitter, ClusterAttentionOp op, Value kvHead,
            const KnownKeys &known)
      : emitter(emitter), b(emitter.getBuilder()), op(op),
        update(findUpdate(op)), kvHead(kvHead), known(known),
        seen(emitter, op, kvHead, known) {}

  Value getCount() override {
    return hasOwn() ? seen.getBefore() : b.add(seen.getBefore(), 1);
  }
  bool hasOwn() const override {
    return !ClusterAttentionOp(op).getOwn().empty();
  }
  Value readOwn(bool isKey, Value column, int64_t width) override {
    return emitter.elements(op.getOwn()[isKey ? 0 : 1],
                            {b.index(0), kvHead, column}, width);
  }
  Value getRow(Value number) override { return seen.getRow(b, number); }
  Value readKey(Value row, Value column, int64_t width) override {
    return emitter.elements(op.getKeys(), {row, column}, width);
  }
  Value readValue(Value row, Value column, int64_t width) override {
    return emitter.elements(op.getValues(), {row, column}, width);
  }
  Value getBias(Value number, Value) override {
    return seen.getLogCount(b, number, b.index(0));
  }
  bool makesOwn() const override { return update != nullptr; }
  /// In the ring, whose row for this token no query of the call reads: a ring
  /// has room for a window and a block.
  void writeOwn(bool isKey, Value column, Value numbers) override {
    TypedValue<RankedTensorType> cache =
        isKey ? update.getKeys() : update.getValues();
    Value row = known.head.getRow(b, known.place, known.exact);
    b.write(b.convert(numbers, cache.getType().getElementType()),
            emitter.asMemory(cache)->buffer, {row, column});
  }
  unsigned getResult() const override { return getResultNumber(op); }

private:
  ElementEmitter &emitter;
  GpuBuilder &b;
  // Getters of ops are not const.
  mutable ClusterAttentionOp op;
  mutable ClusterUpdateOp update;
  Value kvHead;
  KnownKeys known;
  SeenKeys seen;
};
} // namespace

static bool isOneQuery(ClusterAttentionOp op) {
  return op.getQuery().getType().getDimSize(0) == 1;
}

static DecodeHeads getDecodeHeads(ClusterAttentionOp op) {
  return {op.getQuery().getType().getDimSize(1),
          op.getHeads().getType().getDimSize(1),
          op.getValues().getType().getDimSize(1)};
}

/// Kernels may be written by hand: what they put into the cache are the rows
/// that attention reads beside it, and they give all of it back.
static LogicalResult verifyStoredRows(ClusterAttentionOp op) {
  ClusterUpdateOp update = findUpdate(op);
  if (!update)
    return success();
  auto isArgument = llvm::IsaPred<BlockArgument>;
  auto isReturned = [](Value result) {
    return llvm::any_of(result.getUsers(), llvm::IsaPred<func::ReturnOp>);
  };
  if (op.getOwn().size() == 2 && op.getOwn()[0] == update.getKey() &&
      op.getOwn()[1] == update.getValue() &&
      op.getHeads() == update.getHeads() && op.getPast() == update.getPast() &&
      op.getLayer() == update.getLayer() && op.getKeys() == update.getKeys() &&
      op.getValues() == update.getValues() &&
      llvm::all_of(update.getDpsInits(), isArgument) &&
      llvm::all_of(update->getResults(), isReturned))
    return success();
  return op.emitOpError("is in a kernel with a 'gist.cluster_update'; expects "
                        "it to store the keys and values that 'own' gives, and "
                        "all of the cache to be returned");
}

static FailureOr<GpuGrid> emitOneQuery(GpuKernel &kernel,
                                       ClusterAttentionOp op) {
  DecodeHeads heads = getDecodeHeads(op);
  FailureOr<DecodeParts> parts = findDecodeParts(kernel, op, heads);
  if (failed(parts))
    return failure();
  DecodeAttention attention(kernel.emitter, op.getQuery(), op.getOutput(),
                            heads.kvHeads, heads.valueSize,
                            op.getEffectiveScale(), *parts);
  // Which keys a workgroup has follows from numbers and the table, so that it
  // is known when the kernels before are over.
  bool isEarly = isConstant(op.getHeads());
  if (!isEarly)
    waitForGrids(kernel.b);
  if (parts->count > 1 && kernel.b.getGpu().kind == GpuKind::Nvidia) {
    SmallVector<Value> most;
    for (int64_t head = 0; head < heads.kvHeads; ++head)
      most.push_back(KnownKeys(kernel.emitter, op, kernel.b.index(head))
                         .getMost(kernel.b));
    attention.shareByKeys(most);
  }
  KnownKeys known(kernel.emitter, op, attention.getKvHead());
  if (isEarly)
    waitForGrids(kernel.b);
  CacheKeys keys(kernel.emitter, op, attention.getKvHead(), known);
  attention.emit(keys);
  return GpuGrid{kernel.b.getAffineConstantExpr(attention.getWorkgroups())};
}

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
  // Every workgroup compares all pairs: of so many that does not matter.
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

static FailureOr<GpuGrid> emitManyQueries(GpuKernel &kernel,
                                          ClusterAttentionOp op) {
  GpuBuilder &b = kernel.b;
  ElementEmitter &emitter = kernel.emitter;
  int64_t keySize = op.getKeys().getType().getDimSize(1);
  int64_t valueSize = op.getValues().getType().getDimSize(1);
  int64_t kvHeads = op.getHeads().getType().getDimSize(1);
  int64_t group = op.getQuery().getType().getDimSize(1) / kvHeads;
  double scale = op.getEffectiveScale();
  std::unique_ptr<AttentionLoop> owned = AttentionLoop::create(
      b, kernel.getTile<GpuAttentionAttr>(),
      {keySize, valueSize, scale, Type(), /*hasBias=*/true});
  AttentionLoop &loop = *owned;
  Value numQueries = emitter.size(op.getQuery(), 0);
  // Query heads of one KV head are rows side by side: they read the same keys.
  Value numRows = b.mul(numQueries, group);
  // What sees most comes first.
  // A query sees more the later it is, so the last rows run first.
  Value numBlocks = b.ceilDiv(numRows, loop.getRows());
  std::optional<ClusterParts> parts = ClusterParts::find(kernel, op);
  int64_t partsOfBlock = parts ? parts->getMost() : 1;
  // Parts of the blocks of a head follow one another: where heads have fewer
  // parts, those that there are spread evenly over the GPU.
  Value rank = b.div(b.block(1), partsOfBlock);
  Value first = b.mul(b.sub(b.sub(numBlocks, 1), b.block(0)), loop.getRows());
  FoundHead found = {rank, Value()};
  if (!op.getOwn().empty())
    found = findHead(emitter, op, rank, loop.getKeys());
  Value kvHead = found.head;

  auto getToken = [&](Value row) { return b.div(row, group); };
  auto getHead = [&](Value row) {
    return b.add(b.mul(kvHead, group), b.rem(row, group));
  };
  Type element = kernel.getTile<GpuAttentionAttr>().getElement();
  auto loadQueries = [&] {
    loop.loadQueries(getRowSource(
        emitter, op.getQuery(), element, [&](Value row, Value column) {
          row = b.min(b.add(first, row), b.sub(numRows, 1));
          return AttentionLoop::Values{getToken(row), getHead(row), column};
        }));
  };
  // Workgroups that find that they are no part do not read any.
  if (!parts)
    loadQueries();
  KnownKeys known(emitter, op, kvHead);
  SeenKeys seen(emitter, op, kvHead, known);
  // Each workgroup puts the tokens of its queries into the ring, over rows that
  // no query of the call sees.
  if (ClusterUpdateOp update = findUpdate(op)) {
    auto append = [&] {
      Value begin = b.ceilDiv(first, group);
      Value end =
          b.min(b.ceilDiv(b.add(first, loop.getRows()), group), numQueries);
      appendRows(
          emitter, update, kvHead, begin, b.sub(end, begin), [&](Value token) {
            return known.head.getRow(b, known.place, b.add(known.exact, token));
          });
    };
    if (partsOfBlock == 1)
      append();
    else
      b.ifThen(b.isEqual(b.rem(b.block(1), partsOfBlock), 0), append);
  }
  RowSource keys = getPoolSource(emitter, op.getKeys(), element);
  RowSource values = getPoolSource(emitter, op.getValues(), element);
  AttentionResult result(emitter, op.getOutput(), getResultNumber(op));
  auto emitOutputs = [&](AttentionLoop::Values &state) {
    loop.finish(state);
    loop.emitOutputs(state, [&](Value row, Value column, Value numbers) {
      row = b.add(first, row);
      Value isThere =
          b.both(b.isLess(row, numRows), b.isLess(column, valueSize));
      b.ifThen(isThere, [&] {
        result.store(getToken(row), getHead(row), column, numbers);
      });
    });
  };
  if (op.getOwn().empty()) {
    AttentionLoop::Values state = loop.getStart();
    CacheSteps steps(b, seen, first, numQueries, loop.getRows(), loop.getKeys(),
                     group, scale);
    state = loop.run(state, steps, keys, values);
    emitOutputs(state);
  } else {
    ClusterSteps clusters(b, seen, loop.getKeys(), scale);
    RangeSteps exact(b, seen.getExact(b), loop.getKeys());
    OwnSteps own(b, first, numQueries, loop.getRows(), loop.getKeys(), group);
    RowSource ownKeys = getHeadSource(emitter, op.getOwn()[0], kvHead, element);
    RowSource ownValues =
        getHeadSource(emitter, op.getOwn()[1], kvHead, element);
    struct Source {
      KeySteps *steps;
      const RowSource *keys, *values;
    };
    const Source sources[] = {{&clusters, &keys, &values},
                              {&exact, &keys, &values},
                              {&own, &ownKeys, &ownValues}};
    auto attend = [&] {
      if (parts)
        loadQueries();
      AttentionLoop::Values state = loop.getStart();
      Value before = b.index(0); // Steps of the sources so far.
      for (const Source &source : sources) {
        if (!parts) {
          state = loop.run(state, *source.steps, *source.keys, *source.values);
          continue;
        }
        PartSteps part(b, *source.steps, b.sub(parts->getFirst(), before),
                       b.sub(parts->getEnd(), before));
        before = b.add(before, source.steps->getCount(b));
        state = loop.run(state, part, *source.keys, *source.values);
      }
      return state;
    };
    if (parts) {
      Value item = b.add(b.mul(kvHead, numBlocks), b.block(0));
      Value steps = b.index(0);
      for (const Source &source : sources)
        steps = b.add(steps, source.steps->getCount(b));
      // Of the call's own keys blocks see a half on average.
      Value all = b.index(0);
      if (found.steps)
        all = b.mul(
            numBlocks,
            b.add(found.steps,
                  b.mul(b.ceilDiv(numQueries, 2 * loop.getKeys()), kvHeads)));
      Value mean =
          b.div(all, getAttentionPlaces(op, kernel.getTile<GpuAttentionAttr>(),
                                        b.getGpu()));
      parts->begin(item, b.rem(b.block(1), partsOfBlock), steps, mean);
      b.ifThen(parts->isThere(),
               [&] { parts->finish(loop, attend(), emitOutputs); });
    } else {
      AttentionLoop::Values state = attend();
      emitOutputs(state);
    }
  }
  FailureOr<AffineExpr> tokens = getSizeExpr(
      kernel.source, emitter.getWrittenSizes(getResultNumber(op))[0]);
  if (failed(tokens))
    return failure();
  return GpuGrid{(*tokens * group).ceilDiv(loop.getRows()),
                 b.getAffineConstantExpr(kvHeads * partsOfBlock)};
}

FailureOr<GpuGrid> gist::emitClusterAttention(GpuKernel &kernel,
                                              ClusterAttentionOp op) {
  for (Value rows : {op.getKeys(), op.getValues()})
    // Eight f16 are sixteen bytes, the widest access.
    if (cast<RankedTensorType>(rows.getType()).getDimSize(1) % 8 != 0)
      return op.emitOpError(
          "has heads whose size is not a multiple of 8 numbers");
  if (failed(verifyStoredRows(op)))
    return failure();
  return isOneQuery(op) ? emitOneQuery(kernel, op)
                        : emitManyQueries(kernel, op);
}

GpuTileInterface gist::selectClusterAttentionTile(ClusterAttentionOp op,
                                                  const GpuInfo &gpu) {
  if (isOneQuery(op))
    return getDecodeTile(op.getContext(), gpu);
  GpuAttentionAttr tile =
      getCausalTile(op.getKeys().getType(), op.getValues().getType(),
                    op.getOutput().getType(), gpu);
  // Loops for clusters, the ring and the call's own keys share registers: with
  // shorter steps three workgroups fit a compute unit where two do.
  constexpr int64_t kKeys = 64;
  if (op.getOwn().empty() || tile.getKeys() <= kKeys ||
      tile.getInstruction() != Instruction::Wgmma64x128x16)
    return tile;
  return GpuAttentionAttr::get(op.getContext(), tile.getRows(), kKeys,
                               tile.getNumWaves(), tile.getStages(),
                               tile.getInstruction(), tile.getElement());
}

static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  auto op = findRoot<ClusterAttentionOp>(kernel);
  if (isOneQuery(op))
    return expectTile<GpuDecodeAttr>(kernel);
  return verifyAttentionTile(kernel, op.getKeys().getType(),
                             op.getValues().getType(), op.getOutput().getType(),
                             gpu);
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuClusterAttentionKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuClusterAttentionKernel = {
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      return selectClusterAttentionTile(findRoot<ClusterAttentionOp>(kernel),
                                        gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      return emitClusterAttention(kernel,
                                  findRoot<ClusterAttentionOp>(kernel.source));
    },
    .verify = verifyTile,
    .scratch = getClusterScratch,
};
