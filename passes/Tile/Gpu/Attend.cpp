//===- Attend.cpp - Attention on representatives on GPUs ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `mode copy`: dense attention of the representatives, whose rows are gathered
// by id. The grid has room for every token to be one; workgroups past the
// count leave at once. Outputs go to workgroup memory, from where the tokens
// that the workgroup's representatives stand for take them: these are the
// tokens whose nearest id lies between the first and the last of its ids, since
// every nearest id is a representative's and ids ascend.
//
// `mode keys`: a workgroup has queries of one block, so that they see the same
// clusters. It counts their members in workgroup memory, in a table by id; then
// steps of clusters, gathered, are followed by steps of tokens. A table has
// room for some ids; where there are more, they are taken one table at a time.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention.h"
#include "passes/Tile/Gpu/AttentionSources.h"
#include "passes/Tile/Gpu/GpuAtomics.h"
#include "passes/Tile/Kernels.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using arith::CmpIPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Tokens that look for their representative at once, per thread.
static constexpr int64_t kTokensAtOnce = 4;
/// Columns of outputs that are in workgroup memory at once.
static constexpr int64_t kColumnsAtOnce = 64;
/// Ids that a table of member counts has room for.
static constexpr int64_t kTableIds = 4096;

namespace {
/// The parts of a selection, for one KV head.
class Selection {
public:
  Selection(ElementEmitter &emitter, AttendOp op, Value kvHead)
      : emitter(emitter), b(emitter.getBuilder()),
        parts(op.getSelection().getDefiningOp<PackSelectionOp>()) {
    if (op.getSelection().getType().getHeads())
      head.push_back(kvHead);
  }

  Value getCount() { return read(parts.getCount(), head); }
  Value getId(Value i) { return read(parts.getIds(), at(i)); }
  Value getNearest(Value token) { return read(parts.getNearest(), at(token)); }
  Value getWeight(Value i) { return emitter.element(parts.getWeight(), at(i)); }

private:
  Values at(Value i) {
    Values indices = head;
    indices.push_back(i);
    return indices;
  }
  Value read(Value tensor, ValueRange indices) {
    return arith::IndexCastOp::create(b, b.getIndexType(),
                                      emitter.element(tensor, indices));
  }

  ElementEmitter &emitter;
  GpuBuilder &b;
  PackSelectionOp parts;
  Values head;
};

/// What is added to the score of a cluster of `count` members, an i32.
Value getLogCount(GpuBuilder &b, Value count, double scale) {
  Value number = arith::UIToFPOp::create(b, b.getF32Type(), count);
  Value log = math::Log2Op::create(b, number, arith::FastMathFlags::afn);
  constexpr double kLn2 = 0.693147180559945309417;
  Value scaled = arith::MulFOp::create(b, log, b.f32(kLn2 / scale));
  Value isNone = arith::CmpIOp::create(b, CmpIPredicate::eq, count, b.i32(0));
  return b.select(isNone, b.f32(-kInfinity), scaled);
}

//===----------------------------------------------------------------------===//
// copy
//===----------------------------------------------------------------------===//

/// Representatives, to representatives.
class CopySteps final : public KeySteps {
public:
  CopySteps(GpuBuilder &b, AttendOp op, Selection &selection, Value count,
            Value first, int64_t rows, int64_t keys, int64_t group)
      : op(op), selection(selection), count(count), first(first),
        keysOfStep(keys), group(group) {
    end = count;
    if (op.getCausal())
      end = b.min(end, b.add(getNumber(b, b.index(rows - 1)), 1));
  }

  Value getCount(GpuBuilder &b) override { return b.ceilDiv(end, keysOfStep); }
  bool isGathered() const override { return true; }
  Value getRow(GpuBuilder &b, Value step, Value slot) override {
    return selection.getId(b.min(getKey(b, step, slot), b.sub(count, 1)));
  }
  Value isPlain(GpuBuilder &b, Value step) override {
    Value last = getKey(b, step, b.index(keysOfStep - 1));
    return isAtMost(
        b, last, op.getCausal() ? getNumber(b, b.index(0)) : b.sub(count, 1));
  }
  Value adjust(GpuBuilder &b, Value score, Value step, Value row,
               Value slot) override {
    Value limit = op.getCausal() ? getNumber(b, row) : b.sub(count, 1);
    Value isSeen = b.compare(CmpIPredicate::sle, getKey(b, step, slot), limit);
    return b.select(isSeen, score, b.f32(-kInfinity));
  }
  bool hasBias() const override { return AttendOp(op).getLogCount(); }
  Value getBias(GpuBuilder &b, Value step, Value slot) override {
    Value key = b.min(getKey(b, step, slot), b.sub(count, 1));
    return getLogCount(b, selection.getWeight(key), op.getEffectiveScale());
  }

private:
  /// The number of the representative that a row belongs to.
  Value getNumber(GpuBuilder &b, Value row) {
    return b.div(b.add(first, row), group);
  }
  Value getKey(GpuBuilder &b, Value step, Value slot) {
    return b.add(b.mul(step, keysOfStep), slot);
  }

  AttendOp op;
  Selection &selection;
  Value count, first, end;
  int64_t keysOfStep, group;
};

//===----------------------------------------------------------------------===//
// keys
//===----------------------------------------------------------------------===//

/// Clusters [begin, end), then tokens [firstToken, endToken).
class ClusterSteps final : public KeySteps {
public:
  ClusterSteps(GpuBuilder &b, AttendOp op, Selection &selection, int64_t keys)
      : op(op), selection(selection), keysOfStep(keys) {}

  Value begin, end, firstToken, endToken;
  /// Member counts of the clusters with ids from `firstId` on; their weights
  /// where there is none.
  Value table, firstId;
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
        [&] { return selection.getId(getCluster(b, step, slot)); },
        [&] { return b.min(getTokenKey(b, step, slot), b.sub(endToken, 1)); });
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
    Value isSeen = b.compare(CmpIPredicate::sle, getTokenKey(b, step, slot),
                             getToken(row));
    isSeen = arith::OrIOp::create(b, isCluster(b, step), isSeen);
    return b.select(isSeen, score, b.f32(-kInfinity));
  }
  bool hasBias() const override { return true; }
  Value getBias(GpuBuilder &b, Value step, Value slot) override {
    auto ofCluster = [&]() -> Value {
      Value cluster = getCluster(b, step, slot);
      Value count =
          table ? b.read(table, b.sub(selection.getId(cluster), firstId))
                : selection.getWeight(cluster);
      Value bias = getLogCount(b, count, op.getEffectiveScale());
      Value isThere = b.isLess(b.add(begin, getOffset(b, step, slot)), end);
      return b.select(isThere, bias, b.f32(-kInfinity));
    };
    return b.ifElse(isCluster(b, step), ofCluster,
                    [&]() -> Value { return b.f32(0); });
  }

private:
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

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

class Attend {
public:
  Attend(ElementEmitter &emitter, AttendOp op, GpuTileAttr tile)
      : emitter(emitter), b(emitter.getBuilder()), op(op), tile(tile),
        group(op.getQuery().getType().getDimSize(1) /
              op.getKey().getType().getDimSize(1)),
        valueSize(op.getValue().getType().getDimSize(2)),
        isCopy(op.getMode() == AttendMode::Copy),
        kvHead(b.block(isCopy || !op.getCausal() ? 1 : 2)),
        selection(emitter, op, kvHead),
        loop(b, tile, op.getKey().getType().getDimSize(2), valueSize,
             op.getEffectiveScale(), !isCopy || op.getLogCount()) {
    if (isCopy)
      outputs = SharedTile(b, 1, loop.getRows(),
                           std::min(loop.getWidth(), kColumnsAtOnce),
                           op.getOutput().getType().getElementType());
  }

  void emit() { isCopy ? emitCopy() : emitKeys(); }

private:
  void emitCopy();
  void scatter(Values &state, Value first, Value count);
  void emitKeys();
  void countMembers(Value table, Value firstId, Value end);
  Value countIdsBefore(Value id, Value count);

  Values run(KeySteps &steps, Values state) {
    Type element = tile.getElement();
    return loop.run(state, steps,
                    getHeadSource(emitter, op.getKey(), kvHead, element),
                    getHeadSource(emitter, op.getValue(), kvHead, element));
  }
  Value getHead(Value row) {
    return b.add(b.mul(kvHead, group), b.rem(row, group));
  }
  ElementEmitter &emitter;
  GpuBuilder &b;
  AttendOp op;
  GpuTileAttr tile;
  int64_t group, valueSize;
  bool isCopy;
  Value kvHead;
  Selection selection;
  AttentionLoop loop;
  SharedTile outputs;
};
} // namespace

void Attend::emitCopy() {
  Value count = selection.getCount();
  Value numRows = b.mul(count, group);
  Value numBlocks = b.ceilDiv(numRows, loop.getRows());
  // What sees most comes first.
  b.ifThen(b.isLess(b.block(0), numBlocks), [&] {
    Value first = b.mul(b.sub(b.sub(numBlocks, 1), b.block(0)), loop.getRows());
    RowSource queries;
    queries.width = op.getQuery().getType().getDimSize(2);
    queries.read = [&](Value row, Value column, int64_t width) {
      row = b.min(b.add(first, row), b.sub(numRows, 1));
      return emitter.elements(
          op.getQuery(),
          {selection.getId(b.div(row, group)), getHead(row), column}, width);
    };
    loop.loadQueries(queries);
    CopySteps steps(b, op, selection, count, first, loop.getRows(),
                    loop.getKeys(), group);
    Values state = run(steps, loop.getStart());
    loop.finish(state);
    scatter(state, first, numRows);
  });
}

/// Lets every token that a representative of rows [first, first + rows) stands
/// for take the outputs.
void Attend::scatter(Values &state, Value first, Value numRows) {
  Type element = op.getOutput().getType().getElementType();
  int64_t chunk = 128 / element.getIntOrFloatBitWidth();
  int64_t rows = loop.getRows(), threads = b.getThreads();
  int64_t columns = outputs.getColumns();
  int64_t atOnce = threads * kTokensAtOnce;
  Value tokens = b.allocWorkgroup({atOnce}, b.getI32Type());
  Value numbers = b.allocWorkgroup({atOnce}, b.getI32Type());
  Value found = b.allocWorkgroup({1}, b.getI32Type());

  Value numTokens = emitter.size(op.getQuery(), 0), zero = b.index(0);
  Value end = b.min(b.add(first, rows), numRows);
  Value firstNumber = b.div(first, group);
  Value lastNumber = b.div(b.sub(end, 1), group);
  Value lowest = selection.getId(firstNumber);
  Value highest = selection.getId(lastNumber);
  auto toI32 = [&](Value x) -> Value {
    return arith::IndexCastOp::create(b, b.getI32Type(), x);
  };
  /// The number of the representative `id`, one of the workgroup's.
  auto findNumber = [&](Value id) {
    Value low = firstNumber, high = lastNumber;
    for (int64_t left = llvm::Log2_64_Ceil(rows) + 1; left > 0; --left) {
      Value middle = b.div(b.add(b.add(low, high), 1), 2);
      Value isBefore =
          b.compare(CmpIPredicate::sgt, selection.getId(middle), id);
      high = b.select(isBefore, b.sub(middle, 1), high);
      low = b.select(isBefore, low, middle);
    }
    return low;
  };

  AttentionResult result(emitter, op.getOutput());
  for (int64_t begin = 0; begin < loop.getWidth(); begin += columns) {
    int64_t stop = std::min(begin + columns, loop.getWidth());
    b.barrier(); // The columns before have been read.
    loop.emitOutputs(state, begin, stop, [&](Value row, Value column, Value x) {
      outputs.store(b, b.convert(x, element), zero, row, b.sub(column, begin));
    });
    b.forEach(zero, numTokens, b.index(atOnce), [&](Value base) {
      b.barrier();
      b.ifThen(b.isEqual(b.thread(), 0),
               [&] { b.write(b.i32(0), found, zero); });
      b.barrier();
      for (int64_t i = 0; i < kTokensAtOnce; ++i) {
        Value token = b.add(base, b.add(b.thread(), i * threads));
        b.ifThen(b.isLess(token, numTokens), [&] {
          Value id = selection.getNearest(token);
          Value isMine = b.both(b.compare(CmpIPredicate::sge, id, lowest),
                                b.compare(CmpIPredicate::sle, id, highest));
          b.ifThen(isMine, [&] {
            Value place = arith::IndexCastOp::create(
                b, b.getIndexType(),
                atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1), found, zero));
            b.write(toI32(token), tokens, place);
            b.write(toI32(findNumber(id)), numbers, place);
          });
        });
      }
      b.barrier();
      int64_t chunks =
          llvm::divideCeil(std::min(stop, valueSize) - begin, chunk);
      if (chunks <= 0)
        return;
      Value items = b.mul(b.readNumber(found, zero), group * chunks);
      b.forEach(b.thread(), items, b.index(threads), [&](Value item) {
        Value column = b.mul(b.rem(item, chunks), chunk);
        Value entry = b.div(item, chunks);
        Value row =
            b.add(b.mul(b.readNumber(numbers, b.div(entry, group)), group),
                  b.rem(entry, group));
        Value isHere = b.both(b.compare(CmpIPredicate::sge, row, first),
                              b.isLess(row, end));
        b.ifThen(isHere, [&] {
          Value x = outputs.load(b, b.vectorOf(chunk, element), zero,
                                 b.sub(row, first), column);
          result.store(b.readNumber(tokens, b.div(entry, group)), getHead(row),
                       b.add(column, begin), b.toF32(x));
        });
      });
    });
  }
}

/// How many of the `count` ids are less than `id`. All threads take part.
Value Attend::countIdsBefore(Value id, Value count) {
  Value sum = b.loop(b.thread(), count, b.getThreads(), b.i32(0),
                     [&](Value i, ValueRange carried) {
                       Value isBefore = b.isLess(selection.getId(i), id);
                       Value one =
                           arith::ExtUIOp::create(b, b.getI32Type(), isBefore);
                       return Values{arith::AddIOp::create(b, carried[0], one)};
                     })[0];
  Value all = b.workgroupReduce(sum, GpuBuilder::Kind::ADD);
  return arith::IndexCastOp::create(b, b.getIndexType(), all);
}

/// Counts, for ids from `firstId` on, the members among the tokens before
/// `end`; those count whose representative is before `end` too.
void Attend::countMembers(Value table, Value firstId, Value end) {
  Value threads = b.index(b.getThreads());
  b.barrier(); // The last table has been read.
  b.forEach(b.thread(), b.index(kTableIds), threads,
            [&](Value i) { b.write(b.i32(0), table, i); });
  b.barrier();
  Value last = b.min(b.add(firstId, kTableIds), end);
  b.forEach(b.thread(), end, threads, [&](Value token) {
    Value id = selection.getNearest(token);
    b.ifThen(
        b.both(b.compare(CmpIPredicate::sge, id, firstId), b.isLess(id, last)),
        [&] {
          atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1), table,
                       b.sub(id, firstId));
        });
  });
  b.barrier();
}

void Attend::emitKeys() {
  Value numTokens = emitter.size(op.getQuery(), 0), zero = b.index(0);
  Value count = selection.getCount();
  // The queries of the workgroup: rows from `first` on of tokens from `start`.
  Value start = zero, stop = numTokens;
  Value first = b.mul(b.block(0), loop.getRows());
  if (op.getCausal()) {
    // What sees most comes first.
    int64_t block = *op.getBlock();
    Value numBlocks = b.ceilDiv(numTokens, block);
    start = b.mul(b.sub(b.sub(numBlocks, 1), b.block(1)), block);
    stop = b.min(b.add(start, block), numTokens);
  }
  Value numRows = b.mul(b.sub(stop, start), group);
  b.ifThen(b.isLess(first, numRows), [&] {
    auto getToken = [&](Value row) {
      row = b.min(b.add(first, row), b.sub(numRows, 1));
      return b.add(start, b.div(row, group));
    };
    RowSource queries;
    queries.width = op.getQuery().getType().getDimSize(2);
    queries.read = [&](Value row, Value column, int64_t width) {
      return emitter.elements(
          op.getQuery(), {getToken(row), getHead(b.add(first, row)), column},
          width);
    };
    loop.loadQueries(queries);

    ClusterSteps steps(b, op, selection, loop.getKeys());
    steps.getToken = getToken;
    Values state = loop.getStart();
    if (!op.getCausal()) {
      steps.begin = steps.firstToken = steps.endToken = zero;
      steps.end = count;
      state = run(steps, state);
    } else {
      Value end = b.max(b.sub(start, *op.getWindow()), zero);
      Value table = b.allocWorkgroup({kTableIds}, b.getI32Type());
      Value lastToken = getToken(b.index(loop.getRows() - 1));
      Value tables = b.max(b.ceilDiv(end, kTableIds), b.index(1));
      state.push_back(zero);
      state =
          b.loop(zero, tables, 1, state, [&](Value number, ValueRange carried) {
            Value firstId = b.mul(number, kTableIds);
            Value isLast =
                b.compare(CmpIPredicate::eq, number, b.sub(tables, 1));
            countMembers(table, firstId, end);
            steps.table = table;
            steps.firstId = firstId;
            steps.begin = carried.back();
            steps.end =
                countIdsBefore(b.min(b.add(firstId, kTableIds), end), count);
            steps.firstToken = end;
            steps.endToken = b.select(isLast, b.add(lastToken, 1), end);
            Values next = run(steps, Values(carried.drop_back()));
            next.push_back(steps.end);
            return next;
          });
      state.pop_back();
    }
    loop.finish(state);
    AttentionResult result(emitter, op.getOutput());
    loop.emitOutputs(
        state, 0, loop.getWidth(), [&](Value row, Value column, Value x) {
          row = b.add(first, row);
          Value isThere =
              b.both(b.isLess(row, numRows), b.isLess(column, valueSize));
          b.ifThen(isThere, [&] {
            result.store(b.add(start, b.div(row, group)), getHead(row), column,
                         x);
          });
        });
  });
}

static LogicalResult verify(AttendOp op) {
  if (!op.getSelection().getDefiningOp<PackSelectionOp>())
    return op.emitOpError("expects a selection made of tensors");
  if (op.getOffsets())
    return op.emitOpError("of a ragged batch has no GPU kernel");
  if (op.getKey().getType().getDimSize(2) % 8 != 0 ||
      op.getValue().getType().getDimSize(2) % 8 != 0)
    return op.emitOpError("has no GPU kernel for heads of this size");
  if (op.getMode() == AttendMode::Keys && op.getEffectiveMerge() == Merge::Mean)
    return op.emitOpError("has no GPU kernel with means");
  if (op.getLogCount() && op.getCausal())
    return op.emitOpError("has no GPU kernel with counts up to the query");
  return success();
}

FailureOr<GpuGrid> gist::emitAttend(GpuKernel &kernel, AttendOp op) {
  if (failed(verify(op)))
    return failure();
  Attend(kernel.emitter, op, kernel.tile).emit();
  if (kernel.emitter.hasFailed())
    return failure();
  FailureOr<AffineExpr> tokens =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0)[0]);
  if (failed(tokens))
    return failure();
  AffineExpr kvHeads =
      kernel.b.getAffineConstantExpr(op.getKey().getType().getDimSize(1));
  int64_t group = op.getQuery().getType().getDimSize(1) /
                  op.getKey().getType().getDimSize(1);
  int64_t rows = kernel.tile.getWorkgroup()[0];
  if (op.getMode() == AttendMode::Copy || !op.getCausal())
    return GpuGrid{(*tokens * group).ceilDiv(rows), kvHeads};
  return GpuGrid{kernel.b.getAffineConstantExpr(
                     llvm::divideCeil(*op.getBlock() * group, rows)),
                 tokens->ceilDiv(*op.getBlock()), kvHeads};
}
