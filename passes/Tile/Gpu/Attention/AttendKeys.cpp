//===- AttendKeys.cpp - Clusters and near tokens as keys on GPUs --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup has queries of one block, so that they see the same clusters. It
// counts their members in workgroup memory, in a table by id; then steps of
// clusters, gathered, are followed by steps of tokens. A table has room for
// some ids; where there are more, they are taken one table at a time.
//
// Clusters that stand with their means (AttendMeans.h) are rows of other
// tensors than the tokens: they have a loop of their own, after that of the
// tokens. There is a list of the last member of each instead of the table; its
// row is the mean.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttendMeans.h"
#include "passes/Tile/Gpu/Core/GpuAtomics.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using State = AttentionLoop::State;
using arith::CmpIPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Ids and tokens that a thread reads at once.
static constexpr int64_t kNumbersAtOnce = 16;

namespace {
/// Clusters [begin, end), then tokens [firstToken, endToken).
class ClusterSteps final : public KeySteps {
public:
  ClusterSteps(GpuBuilder &b, AttendOp op, Selection &selection, int64_t keys)
      : op(op), selection(selection), keysOfStep(keys) {}

  Value begin, end, firstToken, endToken;
  /// Member counts of the clusters with ids from `firstId` on; null for all
  /// members.
  Value table, firstId;
  /// Rows of means; null if cluster i is row i.
  Value list;
  /// What `countOf` says of a row, where clusters are means.
  std::function<Value(Value row)> countOf;
  /// The token that a row of the workgroup is.
  std::function<Value(Value row)> getToken;

  Value getCount(GpuBuilder &b) override {
    return b.add(getClusterSteps(b),
                 b.ceilDiv(b.sub(endToken, firstToken), keysOfStep));
  }
  bool isGathered() const override { return true; }
  Value getRow(GpuBuilder &b, Value step, Value slot) override {
    // A step of tokens reads no id.
    return b.ifElse(
        isCluster(b, step),
        [&] { return getClusterRow(b, getCluster(b, step, slot)); },
        [&] {
          Value last = b.max(b.sub(endToken, 1), b.index(0));
          return b.min(getTokenKey(b, step, slot), last);
        });
  }
  Value isPlain(GpuBuilder &b, Value step) override {
    if (!op.getCausal())
      return arith::ConstantIntOp::create(b, 1, 1);
    Value last = getTokenKey(b, step, b.index(keysOfStep - 1));
    Value isSeen = isAtMost(b, last, getToken(b.index(0)));
    return arith::OrIOp::create(b, isCluster(b, step), isSeen);
  }
  Value adjust(GpuBuilder &b, Value score, Value step, Value row,
               Value slot) override {
    Value isSeen = isAtMost(b, getTokenKey(b, step, slot), getToken(row));
    isSeen = arith::OrIOp::create(b, isCluster(b, step), isSeen);
    return b.select(isSeen, score, b.f32(-kInfinity));
  }
  bool hasBias() const override { return true; }
  Value getBias(GpuBuilder &b, Value step, Value slot, Value row) override {
    auto ofCluster = [&]() -> Value {
      Value count;
      if (list)
        count = countOf(row);
      else if (table)
        count = b.read(table, b.sub(row, firstId));
      else
        count = selection.getWeight(getCluster(b, step, slot));
      return getClusterBias(b, step, slot, count);
    };
    return b.ifElse(isCluster(b, step), ofCluster,
                    [&]() -> Value { return b.f32(0); });
  }
  /// Counts of means are in memory, and their steps have no tokens.
  Value readBias(GpuBuilder &b, Value, Value, Value row) override {
    return list ? countOf(row) : Value();
  }
  Value finishBias(GpuBuilder &b, Value step, Value slot,
                   Value count) override {
    return getClusterBias(b, step, slot, count);
  }

private:
  Value getClusterRow(GpuBuilder &b, Value cluster) {
    if (list)
      return b.readNumber(list, cluster);
    return countOf ? cluster : selection.getId(cluster);
  }
  Value getClusterBias(GpuBuilder &b, Value step, Value slot, Value count) {
    Value bias = getLogCount(b, count, op.getEffectiveScale());
    // The last step repeats its last cluster, which must not be seen twice.
    Value isThere = b.isLess(b.add(begin, getOffset(b, step, slot)), end);
    return b.select(isThere, bias, b.f32(-kInfinity));
  }
  Value getClusterSteps(GpuBuilder &b) {
    return b.ceilDiv(b.sub(end, begin), keysOfStep);
  }
  Value isCluster(GpuBuilder &b, Value step) {
    return isAtMost(b, b.add(step, 1), getClusterSteps(b));
  }
  Value getOffset(GpuBuilder &b, Value step, Value slot) {
    return b.add(b.mul(step, keysOfStep), slot);
  }
  Value getCluster(GpuBuilder &b, Value step, Value slot) {
    return b.min(b.add(begin, getOffset(b, step, slot)), b.sub(end, 1));
  }
  Value getTokenKey(GpuBuilder &b, Value step, Value slot) {
    return b.add(firstToken,
                 getOffset(b, b.sub(step, getClusterSteps(b)), slot));
  }

  AttendOp op;
  Selection &selection;
  int64_t keysOfStep;
};

class AttendKeys {
public:
  AttendKeys(GpuKernel &kernel, AttendOp op)
      : emitter(kernel.emitter), b(kernel.b), op(op),
        group(op.getQuery().getType().getDimSize(1) /
              op.getKey().getType().getDimSize(1)),
        valueSize(op.getValue().getType().getDimSize(2)),
        owned(AttentionLoop::create(b, kernel.getTile<GpuAttentionAttr>(),
                                    {op.getKey().getType().getDimSize(2),
                                     valueSize, op.getEffectiveScale(), Type(),
                                     /*hasBias=*/true})),
        loop(*owned),
        multiplied(kernel.getTile<GpuAttentionAttr>().getElement()),
        // What is left of the memory of a compute unit.
        tableIds(b.getGpu().kind == GpuKind::Amd ? 4096 : 8192) {
    bool isMean = op.getEffectiveMerge() == Merge::Mean;
    if (isMean || op.getCausal())
      table = b.allocWorkgroup({tableIds}, b.getI32Type());
    if (isMean)
      means.emplace(kernel, op, table);
  }

  LogicalResult verify() { return means ? means->verify() : success(); }
  void emit();

private:
  /// What rows have seen so far, and of how many clusters.
  struct Seen {
    State state;
    Value clusters;
    auto getParts() { return std::tie(state, clusters); }
  };

  /// Which queries the workgroup has.
  void findQueries();
  State runCausal(ClusterSteps &steps, State state);
  /// Where clusters stand with their means; those are seen that began before
  /// `end`, and tokens from there to `endToken`.
  State runMeans(ClusterSteps &steps, State state, Value end, Value endToken);
  /// Counts, for ids from `firstId` on, the members among the tokens before
  /// `end`; those count whose representative is before `end` too.
  void countMembers(Value firstId, Value end);
  State run(KeySteps &steps, State state, Value keys, Value values) {
    return loop.run(state, steps,
                    getHeadSource(emitter, keys, kvHead, multiplied),
                    getHeadSource(emitter, values, kvHead, multiplied));
  }
  State runTokens(KeySteps &steps, State state) {
    return run(steps, state, op.getKey(), op.getValue());
  }
  Value getHead(Value row) {
    return b.add(b.mul(kvHead, group), b.rem(row, group));
  }
  Value getToken(Value row) {
    row = b.min(b.add(first, row), b.sub(numRows, 1));
    return b.add(start, b.div(row, group));
  }

  ElementEmitter &emitter;
  GpuBuilder &b;
  AttendOp op;
  int64_t group, valueSize;
  std::unique_ptr<AttentionLoop> owned;
  AttentionLoop &loop;
  Type multiplied;
  int64_t tableIds;
  std::optional<ClusterMeans> means;
  Value table; ///< workgroup memory

  Value kvHead;
  std::optional<Selection> selection;
  Value count; ///< of clusters
  /// The queries are rows from `first` on of `numRows`, which are those of
  /// tokens from `start` on.
  Value start, first, numRows;
};
} // namespace

void AttendKeys::findQueries() {
  Value numTokens = emitter.size(op.getQuery(), 0);
  int64_t heads = op.getKey().getType().getDimSize(1);
  if (!op.getCausal()) {
    kvHead = b.block(1);
    start = b.index(0);
    first = b.mul(b.block(0), loop.getRows());
    numRows = b.mul(numTokens, group);
    return;
  }
  int64_t block = *op.getBlock();
  int64_t parts = llvm::divideCeil(block * group, loop.getRows());
  Value numBlocks = b.ceilDiv(numTokens, block);
  Value number =
      b.add(b.mul(b.add(b.mul(b.block(2), numBlocks), b.block(1)), parts),
            b.block(0));
  BlockOrder order =
      orderBlocks(b, number, b.mul(numBlocks, parts), heads,
                  getHeadBytes(b, op.getKey(), op.getValue(), numTokens));
  kvHead = order.head;
  // Blocks that see the most keys come first.
  Value fromLast = b.div(order.block, parts);
  start = b.mul(b.sub(b.sub(numBlocks, 1), fromLast), block);
  first = b.mul(b.rem(order.block, parts), loop.getRows());
  Value stop = b.min(b.add(start, block), numTokens);
  numRows = b.mul(b.sub(stop, start), group);
}

void AttendKeys::emit() {
  if (means)
    means->emit();
  findQueries();
  selection.emplace(emitter, op, kvHead);
  count = selection->getCount();
  b.ifThen(b.isLess(first, numRows), [&] {
    loop.loadQueries(getRowSource(
        emitter, op.getQuery(), multiplied, [&](Value row, Value column) {
          return Values{getToken(row), getHead(b.add(first, row)), column};
        }));

    ClusterSteps steps(b, op, *selection, loop.getKeys());
    steps.getToken = [&](Value row) { return getToken(row); };
    if (means)
      steps.countOf = [&](Value row) { return means->getCount(kvHead, row); };
    State state = loop.getStart();
    if (op.getCausal()) {
      state = runCausal(steps, state);
    } else {
      steps.begin = steps.firstToken = steps.endToken = b.index(0);
      steps.end = count;
      state = means ? run(steps, state, means->getKeys(), means->getValues())
                    : runTokens(steps, state);
    }
    loop.finish(state);
    AttentionResult result(emitter, op.getOutput());
    loop.emitOutputs(state, [&](Value row, Value column, Value x) {
      row = b.add(first, row);
      Value isThere =
          b.both(b.isLess(row, numRows), b.isLess(column, valueSize));
      b.ifThen(isThere, [&] {
        result.store(b.add(start, b.div(row, group)), getHead(row), column, x);
      });
    });
  });
}

State AttendKeys::runCausal(ClusterSteps &steps, State state) {
  Value zero = b.index(0);
  Value end = b.max(b.sub(start, *op.getWindow()), zero);
  Value endToken = b.add(getToken(b.index(loop.getRows() - 1)), 1);
  steps.firstToken = end;
  if (means)
    return runMeans(steps, state, end, endToken);
  // At least one, even without clusters: the tokens come with it.
  Value tables = b.max(b.ceilDiv(end, tableIds), b.index(1));
  Seen all = {state, zero};
  all = carry(b, zero, tables, all, [&](Value number, const Seen &seen) {
    Value firstId = b.mul(number, tableIds);
    Value isLast = b.compare(CmpIPredicate::eq, number, b.sub(tables, 1));
    countMembers(firstId, end);
    steps.table = table;
    steps.firstId = firstId;
    // Ids ascend, so that the clusters of a table follow those of
    // the table before.
    steps.begin = seen.clusters;
    steps.end = selection->countIdsBefore(b.min(b.add(firstId, tableIds), end));
    // Tokens are seen once, with the last table.
    steps.endToken = b.select(isLast, endToken, end);
    return Seen{runTokens(steps, seen.state), steps.end};
  });
  return all.state;
}

State AttendKeys::runMeans(ClusterSteps &steps, State state, Value end,
                           Value endToken) {
  Value zero = b.index(0);
  // Tokens are rows of other tensors.
  ClusterSteps tokens(b, op, *selection, loop.getKeys());
  tokens.getToken = steps.getToken;
  tokens.begin = tokens.end = zero;
  tokens.firstToken = end;
  tokens.endToken = endToken;
  state = runTokens(tokens, state);
  // They come last: what the loop below holds beside its state would spill
  // registers of gfx942 with heads of 256.
  steps.begin = zero;
  steps.endToken = end;
  steps.list = table;
  auto see = [&](Value from, const State &seen) {
    Value to = b.min(b.add(from, tableIds), end);
    steps.end = means->listLast(*selection, from, to, end);
    return run(steps, seen, means->getKeys(), means->getValues());
  };
  return carry(b, zero, end, b.index(tableIds), state, see);
}

void AttendKeys::countMembers(Value firstId, Value end) {
  Value none = b.constant(b.vectorOf(4, b.getI32Type()), 0);
  b.barrier(); // The last table has been read.
  b.forEach(b.mul(b.thread(), 4), b.index(tableIds),
            b.index(b.getThreads() * 4),
            [&](Value i) { b.write(none, table, i); });
  b.barrier();
  Value last = b.min(b.add(firstId, tableIds), end);
  selection->forEachNearest(
      b.index(0), end, kNumbersAtOnce, [&](Value token, Value nearest) {
        Value id = b.toIndex(nearest);
        b.ifThen(b.both(b.compare(CmpIPredicate::sge, id, firstId),
                        b.isLess(id, last)),
                 [&] {
                   Value place = b.sub(id, firstId);
                   atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1), table,
                                place);
                 });
      });
  b.barrier();
}

LogicalResult gist::emitAttendKeys(GpuKernel &kernel, AttendOp op) {
  AttendKeys attend(kernel, op);
  if (failed(attend.verify()))
    return failure();
  attend.emit();
  return success();
}
