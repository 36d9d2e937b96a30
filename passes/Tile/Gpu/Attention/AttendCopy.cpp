//===- AttendCopy.cpp - Outputs of representatives, copied on GPUs ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dense attention of the representatives, whose rows are gathered by id. The
// grid has room for every token to be one; workgroups past the count leave at
// once. Outputs go to workgroup memory, from where the tokens that the
// workgroup's representatives stand for take them: these are the tokens whose
// nearest id lies between the first and the last of its ids, since every
// nearest id is a representative's and ids ascend.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttendParts.h"
#include "passes/Tile/Gpu/Core/GpuAtomics.h"

#include <functional>
#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using arith::CmpIPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Tokens that look for their representative at once, per thread.
static constexpr int64_t kTokensAtOnce = 8;
/// Chunks of outputs that a thread has in flight at once.
static constexpr int64_t kChunksAtOnce = 4;

namespace {
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
    Value isSeen = isAtMost(b, getKey(b, step, slot), limit);
    return b.select(isSeen, score, b.f32(-kInfinity));
  }
  bool hasBias() const override { return AttendOp(op).getLogCount(); }
  Value getBias(GpuBuilder &b, Value step, Value slot, Value) override {
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

/// Tokens, each with the key and value of its representative, to
/// representatives: where those are causal and weighted, a representative has
/// as many members as the query has seen tokens of it.
class MemberSteps final : public KeySteps {
public:
  /// Tokens before `end`; `getToken` says which token a row is.
  MemberSteps(Selection &selection, Value end, int64_t keys,
              std::function<Value(Value row)> getToken)
      : selection(selection), end(end), keysOfStep(keys),
        getToken(std::move(getToken)) {}

  Value getCount(GpuBuilder &b) override { return b.ceilDiv(end, keysOfStep); }
  bool isGathered() const override { return true; }
  Value getRow(GpuBuilder &b, Value step, Value slot) override {
    return selection.getNearest(b.min(getMember(b, step, slot), b.sub(end, 1)));
  }
  Value isPlain(GpuBuilder &b, Value) override {
    // A representative may come after its members.
    return arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  }
  Value adjust(GpuBuilder &b, Value score, Value step, Value row,
               Value slot) override {
    Value query = getToken(row);
    Value isSeen = b.both(isAtMost(b, getMember(b, step, slot), query),
                          isAtMost(b, getRow(b, step, slot), query));
    return b.select(isSeen, score, b.f32(-kInfinity));
  }

private:
  Value getMember(GpuBuilder &b, Value step, Value slot) {
    return b.add(b.mul(step, keysOfStep), slot);
  }

  Selection &selection;
  Value end;
  int64_t keysOfStep;
  std::function<Value(Value row)> getToken;
};

class AttendCopy {
public:
  AttendCopy(GpuKernel &kernel, AttendOp op)
      : emitter(kernel.emitter), b(kernel.b), op(op),
        element(op.getOutput().getType().getElementType()),
        group(op.getQuery().getType().getDimSize(1) /
              op.getKey().getType().getDimSize(1)),
        valueSize(op.getValue().getType().getDimSize(2)),
        owned(AttentionLoop::create(b, kernel.getTile<GpuAttentionAttr>(),
                                    {op.getKey().getType().getDimSize(2),
                                     valueSize, op.getEffectiveScale(), element,
                                     op.getLogCount() && !op.getCausal()})),
        loop(*owned),
        multiplied(kernel.getTile<GpuAttentionAttr>().getElement()) {
    atOnce = b.getThreads() * kTokensAtOnce;
    found = b.allocWorkgroup({1}, b.getI32Type());
    entries = b.allocWorkgroup({atOnce}, b.getI32Type());
    ids = b.allocWorkgroup({loop.getRows() + 1}, b.getI32Type());
  }

  void emit();

private:
  AttentionLoop::State run(KeySteps &steps) {
    return loop.run(loop.getStart(), steps,
                    getHeadSource(emitter, op.getKey(), kvHead, multiplied),
                    getHeadSource(emitter, op.getValue(), kvHead, multiplied));
  }
  /// Reads the ids of the workgroup's representatives.
  void listIds();
  void scatter(AttentionLoop::State &state);
  /// Lists the tokens from `base` on that are the workgroup's.
  void listTokens(Value base, Value end);
  /// Lets them take columns from `begin` on.
  void copyRows(AttentionResult &result, Value base, int64_t begin);
  /// Representatives of the rows of a workgroup, at most: the rows may begin
  /// and end inside of a group.
  int64_t getNumbers() const {
    return llvm::divideCeil(loop.getRows() - 1, group) + 1;
  }
  Value getHead(Value row) {
    return b.add(b.mul(kvHead, group), b.rem(row, group));
  }

  ElementEmitter &emitter;
  GpuBuilder &b;
  AttendOp op;
  Type element;
  int64_t group, valueSize;
  std::unique_ptr<AttentionLoop> owned;
  AttentionLoop &loop;
  Type multiplied;
  int64_t atOnce; ///< tokens that are listed at once
  /// Workgroup memory: the number of tokens found, for each its place after the
  /// first that was looked at and, 16 bits further, its representative's among
  /// the workgroup's; the ids of these.
  Value found, entries, ids;

  Value kvHead;
  std::optional<Selection> selection;
  /// The workgroup's rows, and the numbers of their representatives.
  Value first, end, firstNumber, lastNumber;
};
} // namespace

void AttendCopy::emit() {
  // The count of a selection per head depends on the head: heads come first.
  int64_t heads = op.getKey().getType().getDimSize(1);
  Value numTokens = emitter.size(op.getQuery(), 0);
  // The grid is for all tokens being representatives; their count is known on
  // the device alone.
  Value gridBlocks = b.ceilDiv(b.mul(numTokens, group), loop.getRows());
  Value block = b.block(0);
  kvHead = b.block(1);
  bool isPerHead = bool(op.getSelection().getType().getHeads());
  Value isThere;
  if (!isPerHead) {
    Value count = Selection(emitter, op, kvHead).getCount();
    Value blocks = b.ceilDiv(b.mul(count, group), loop.getRows());
    BlockOrder order =
        orderBlocks(b, b.add(b.mul(b.block(1), gridBlocks), b.block(0)), blocks,
                    heads, getHeadBytes(b, op.getKey(), op.getValue(), count));
    block = order.block;
    kvHead = order.head;
    isThere = order.isThere;
  }
  selection.emplace(emitter, op, kvHead);
  Value count = selection->getCount();
  Value numRows = b.mul(count, group);
  Value numBlocks = b.ceilDiv(numRows, loop.getRows());
  if (isPerHead)
    isThere = b.isLess(block, numBlocks);
  b.ifThen(isThere, [&] {
    // Blocks that see the most keys come first.
    first = b.mul(b.sub(b.sub(numBlocks, 1), block), loop.getRows());
    end = b.min(b.add(first, loop.getRows()), numRows);
    loop.loadQueries(getRowSource(
        emitter, op.getQuery(), multiplied, [&](Value row, Value column) {
          row = b.min(b.add(first, row), b.sub(numRows, 1));
          return Values{selection->getId(b.div(row, group)), getHead(row),
                        column};
        }));
    listIds();
    AttentionLoop::State state;
    if (op.getLogCount() && op.getCausal()) {
      b.barrier();
      auto getToken = [&](Value row) {
        row = b.min(b.add(first, row), b.sub(end, 1));
        return b.readNumber(ids, b.sub(b.div(row, group), firstNumber));
      };
      Value last = getToken(b.index(loop.getRows() - 1));
      MemberSteps steps(*selection, b.add(last, 1), loop.getKeys(), getToken);
      state = run(steps);
    } else {
      CopySteps steps(b, op, *selection, count, first, loop.getRows(),
                      loop.getKeys(), group);
      state = run(steps);
    }
    loop.finish(state);
    scatter(state);
  });
}

void AttendCopy::listIds() {
  firstNumber = b.div(first, group);
  lastNumber = b.div(b.sub(end, 1), group);
  b.forEach(b.thread(), b.index(getNumbers()), b.index(b.getThreads()),
            [&](Value i) {
              Value number = b.min(b.add(firstNumber, i), lastNumber);
              b.write(b.toI32(selection->getId(number)), ids, i);
            });
}

void AttendCopy::scatter(AttentionLoop::State &state) {
  Value numTokens = emitter.size(op.getQuery(), 0);
  AttentionResult result(emitter, op.getOutput());
  for (int64_t begin = 0; begin < valueSize; begin += loop.getHeldColumns()) {
    b.barrier(); // The columns before have been read.
    loop.hold(state, begin);
    b.forEach(b.index(0), numTokens, b.index(atOnce), [&](Value base) {
      listTokens(base, b.min(b.add(base, atOnce), numTokens));
      copyRows(result, base, begin);
    });
  }
}

void AttendCopy::listTokens(Value base, Value endToken) {
  Value zero = b.index(0);
  Value last = b.sub(lastNumber, firstNumber);
  b.barrier(); // The tokens before have been copied.
  b.ifThen(b.isEqual(b.thread(), 0), [&] { b.write(b.i32(0), found, zero); });
  b.barrier();
  Value lowest = b.read(ids, zero), highest = b.read(ids, last);
  selection->forEachNearest(
      base, endToken, kTokensAtOnce, [&](Value token, Value id) {
        Value isMine = b.both(b.compare(CmpIPredicate::sge, id, lowest),
                              b.compare(CmpIPredicate::sle, id, highest));
        b.ifThen(isMine, [&] {
          Value low = zero, high = last;
          for (int64_t left = llvm::Log2_64_Ceil(getNumbers()); left > 0;
               --left) {
            Value middle = b.div(b.add(b.add(low, high), 1), 2);
            Value isBefore =
                b.compare(CmpIPredicate::sgt, b.read(ids, middle), id);
            high = b.select(isBefore, b.sub(middle, 1), high);
            low = b.select(isBefore, low, middle);
          }
          Value place = b.toIndex(
              atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1), found, zero));
          Value entry = b.add(b.sub(token, base), b.mul(low, 1 << 16));
          b.write(b.toI32(entry), entries, place);
        });
      });
  b.barrier();
}

void AttendCopy::copyRows(AttentionResult &result, Value base, int64_t begin) {
  int64_t chunk = 128 / element.getIntOrFloatBitWidth();
  int64_t stop = std::min(begin + loop.getHeldColumns(), valueSize);
  int64_t chunks = llvm::divideCeil(stop - begin, chunk);
  int64_t threads = b.getThreads();
  Value items = b.mul(b.readNumber(found, b.index(0)), group * chunks);
  b.forEach(
      b.thread(), items, b.index(threads * kChunksAtOnce),
      [&](Value firstItem) {
        Values numbers, tokens, rows, columns, isHere;
        for (int64_t i = 0; i < kChunksAtOnce; ++i) {
          Value item = b.add(firstItem, i * threads);
          Value isItem = b.isLess(item, items);
          item = b.select(isItem, item, firstItem);
          Value number = b.div(item, chunks);
          Value entry = b.readNumber(entries, b.div(number, group));
          Value row =
              b.add(b.mul(b.add(firstNumber, b.div(entry, 1 << 16)), group),
                    b.rem(number, group));
          isHere.push_back(
              b.both(isItem, b.both(b.compare(CmpIPredicate::sge, row, first),
                                    b.isLess(row, end))));
          columns.push_back(b.mul(b.rem(item, chunks), chunk));
          tokens.push_back(b.add(base, b.rem(entry, 1 << 16)));
          rows.push_back(row);
          Value place = b.select(isHere.back(), b.sub(row, first), b.index(0));
          numbers.push_back(loop.readHeld(place, columns.back(), chunk));
        }
        for (int64_t i = 0; i < kChunksAtOnce; ++i)
          b.ifThen(isHere[i], [&] {
            result.store(tokens[i], getHead(rows[i]), b.add(columns[i], begin),
                         b.toF32(numbers[i]));
          });
      });
}

void gist::emitAttendCopy(GpuKernel &kernel, AttendOp op) {
  AttendCopy(kernel, op).emit();
}
