//===- Attend.cpp - Attention on representatives on the CPU ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops are those of dense attention; what differs is which keys there are.
//
//   copy   a workgroup takes some representatives as queries, of which those up
//          to the last are keys, and writes its rows to all their members
//   keys   a workgroup takes some tokens of one block. Its keys are the
//          clusters of what is older than the window, and then tokens. A step
//          of clusters is made by one look at the older tokens: members are
//          added up where they belong. That is a small part of what the
//          products of all queries with the step cost, and nothing is kept.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Tile/Cpu/AttentionLoops.h"
#include "passes/Tile/Cpu/BufferBuilder.h"
#include "passes/Tile/Cpu/Selection.h"

#include <numbers>
#include <numeric>

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;
using Values = TileBuilder::Values;

static constexpr int64_t kLanes = BufferBuilder::kLanes;

namespace {
class Attend {
public:
  Attend(BufferBuilder &b, AttendOp op, Value ids, Value count, Value nearest,
         Value weight, Value output)
      : b(b), op(op), f32(b.getF32Type()), i32(b.getI32Type()),
        keySize(op.getKey().getType().getDimSize(2)),
        valueSize(op.getValue().getType().getDimSize(2)),
        group(op.getQuery().getType().getDimSize(1) /
              op.getKey().getType().getDimSize(1)),
        ids(ids), count(count), nearest(nearest), weight(weight),
        keys(b.toBuffer(op.getKey())), values(b.toBuffer(op.getValue())),
        output(output) {}

  /// The code of `limit` queries from number `first` on.
  void emit(Value first, Value kvHead, CpuAttentionAttr tile, int64_t limit);

private:
  void emitCopy(Value first, CpuAttentionAttr tile, int64_t limit);
  void emitKeys(Value first, CpuAttentionAttr tile, int64_t limit);
  AttentionTile describe();
  AttentionStep makeStep(Value begin, Value number, int64_t step);
  void addMembers(Value first, Value last, int64_t step);
  Value makePairBias(Value begin, Value number, int64_t step);
  Value countBefore(Value token);
  Value findSlot(Value id, Value first, Value last, int64_t step);
  void writeRow(Value tile, Value row, Value token);

  /// The indices of number `n` in a part of the selection.
  Values part(Value n) {
    return op.getSelection().getType().getHeads() ? Values{head, n} : Values{n};
  }
  Value getId(Value n) { return b.loadIndex(ids, part(n)); }
  Value getCount() {
    return b.loadIndex(count, op.getSelection().getType().getHeads()
                                  ? Values{head}
                                  : Values{});
  }
  Value log(Value members) {
    return math::LogOp::create(b, arith::SIToFPOp::create(b, f32, members));
  }
  Value timesLog2e(Value x) { return b.mul(x, b.f32(std::numbers::log2e)); }
  void addTo(Value buffer, ValueRange to, Value from, ValueRange at,
             int64_t size);

  BufferBuilder &b;
  AttendOp op;
  Type f32, i32;
  int64_t keySize, valueSize, group;
  Value ids, count, nearest, weight, keys, values, output;
  Value head;            ///< the KV head
  Value older, clusters; ///< tokens before the window, representatives there
  Value first, queries;  ///< of this workgroup
  // A step that is made.
  Value stepKeys, stepValues, stepCounts, stepBias, pairs;
};
} // namespace

//===----------------------------------------------------------------------===//
// Representatives
//===----------------------------------------------------------------------===//

/// How many representatives are before `token`.
Value Attend::countBefore(Value token) {
  Value zero = b.index(0), total = getCount();
  Value tokens = b.size(op.getKey(), 0);
  constexpr int64_t kBits = 32; // of an id
  return b.loop(
      zero, b.index(kBits), 1, {zero, total}, [&](Value, ValueRange carried) {
        Value low = carried[0], high = carried[1];
        Value isOpen = b.compare(CmpIPredicate::slt, low, high);
        Value middle = arith::ShRUIOp::create(b, b.add(low, high), b.index(1));
        // Rounds after the end of the search still read, inside of the list.
        Value there = b.min(middle, b.add(tokens, -1));
        Value isBefore = b.compare(CmpIPredicate::slt, getId(there), token);
        return Values{b.select(b.both(isOpen, isBefore), b.add(middle, 1), low),
                      b.select(isOpen, b.select(isBefore, high, middle), high)};
      })[0];
}

/// Which of the representatives `first` to `last`, at most `step`, has this id;
/// it is one of them. Counted from `first`.
Value Attend::findSlot(Value id, Value first, Value last, int64_t step) {
  Value slot = b.index(0);
  // Ids ascend, so halves of the step are enough. The number of rounds is
  // fixed, so that the code has no loop.
  for (int64_t width = llvm::PowerOf2Ceil(step) / 2; width > 0; width /= 2) {
    Value next = b.add(slot, width);
    Value number = b.add(first, next);
    Value isThere = b.compare(CmpIPredicate::sle, number, last);
    Value isNot = b.compare(CmpIPredicate::sgt,
                            getId(b.select(isThere, number, last)), id);
    slot = b.select(
        b.both(isThere, arith::XOrIOp::create(
                            b, isNot,
                            arith::ConstantOp::create(b, b.getBoolAttr(true)))),
        next, slot);
  }
  return slot;
}

//===----------------------------------------------------------------------===//
// Steps of keys
//===----------------------------------------------------------------------===//

void Attend::addTo(Value buffer, ValueRange to, Value from, ValueRange at,
                   int64_t size) {
  Values target(to), source(at);
  target.push_back({});
  source.push_back({});
  for (int64_t i = 0; i < size; i += kLanes) {
    target.back() = source.back() = b.index(i);
    Value sum = b.add(b.loadVector(buffer, target), b.loadF32(from, source));
    b.storeVector(sum, buffer, target);
  }
}

/// Adds up the members of the representatives `first` to `last`.
void Attend::addMembers(Value first, Value last, int64_t step) {
  bool isMean = op.getEffectiveMerge() == Merge::Mean;
  Value low = b.toI32(getId(first)), high = b.toI32(getId(last));
  b.forEach(b.index(0), older, 1, [&](Value token) {
    Value id = b.load(nearest, part(token));
    Value isMember = b.both(b.compare(CmpIPredicate::sge, id, low),
                            b.compare(CmpIPredicate::sle, id, high));
    b.ifThen(isMember, [&] {
      Value slot = findSlot(b.toIndex(id), first, last, step);
      Value more = arith::AddIOp::create(b, b.load(stepCounts, slot), b.i32(1));
      b.store(more, stepCounts, slot);
      if (!isMean)
        return;
      addTo(stepKeys, slot, keys, {token, head}, keySize);
      addTo(stepValues, slot, values, {token, head}, valueSize);
    });
  });
}

AttentionStep Attend::makeStep(Value begin, Value number, int64_t step) {
  bool isMean = op.getEffectiveMerge() == Merge::Mean;
  Value zero = b.index(0);
  auto eachRow = [&](Value from, Value to, function_ref<void(Value)> body) {
    b.forEach(from, to, 1, body);
  };
  auto fill = [&](Value buffer, Value row, int64_t size) {
    for (int64_t i = 0; i < size; i += kLanes)
      b.storeVector(b.splat(kLanes, f32, 0), buffer, {row, b.index(i)});
  };
  eachRow(zero, b.index(step), [&](Value row) {
    fill(stepKeys, row, keySize);
    fill(stepValues, row, valueSize);
    b.store(b.i32(0), stepCounts, row);
    b.store(b.f32(0), stepBias, row);
  });

  // Clusters come first.
  Value end = b.add(begin, number);
  // A step may have the last clusters and the first tokens.
  Value numClusters =
      arith::MaxSIOp::create(b, b.sub(b.min(end, clusters), begin), zero);
  b.ifThen(b.compare(CmpIPredicate::sgt, numClusters, zero), [&] {
    bool isCounted = isMean || op.getCausal();
    if (isCounted)
      addMembers(begin, b.add(begin, b.add(numClusters, -1)), step);
    eachRow(zero, numClusters, [&](Value row) {
      Value n = b.add(begin, row);
      Value members =
          isCounted ? b.load(stepCounts, row) : b.load(weight, part(n));
      b.store(timesLog2e(log(members)), stepBias, row);
      if (!isMean) {
        addTo(stepKeys, row, keys, {getId(n), head}, keySize);
        addTo(stepValues, row, values, {getId(n), head}, valueSize);
        return;
      }
      Value inverse = b.broadcast(
          b.div(b.f32(1), arith::SIToFPOp::create(b, f32, members)), kLanes);
      for (auto [buffer, size] :
           {std::pair(stepKeys, keySize), std::pair(stepValues, valueSize)})
        for (int64_t i = 0; i < size; i += kLanes) {
          Values at = {row, b.index(i)};
          b.storeVector(b.mul(b.loadVector(buffer, at), inverse), buffer, at);
        }
    });
  });
  eachRow(numClusters, number, [&](Value row) {
    Value token = b.add(older, b.sub(b.add(begin, row), clusters));
    addTo(stepKeys, row, keys, {token, head}, keySize);
    addTo(stepValues, row, values, {token, head}, valueSize);
  });
  return {b.toTensor(stepKeys), b.toTensor(stepValues), b.toTensor(stepBias)};
}

/// log of the number of members of a step's representatives at or before each
/// query.
Value Attend::makePairBias(Value begin, Value number, int64_t step) {
  Value zero = b.index(0), one = b.index(1);
  Value last = b.add(begin, b.add(number, -1));
  b.forEach(zero, queries, 1, [&](Value query) {
    b.forEach(zero, b.index(step), kLanes, [&](Value at) {
      b.storeVector(b.splat(kLanes, f32, 0), pairs, {query, at});
    });
  });
  // A member counts from the first query that is not before it.
  Value low = b.toI32(getId(begin)), high = b.toI32(getId(last));
  Value newest = getId(b.add(first, b.add(queries, -1)));
  Value query = b.scratch({1}, b.getIndexType());
  b.store(zero, query, zero);
  b.forEach(zero, b.add(newest, 1), 1, [&](Value token) {
    Value here = b.load(query, zero);
    Value isPast =
        b.compare(CmpIPredicate::sgt, token, getId(b.add(first, here)));
    here = b.select(isPast, b.add(here, 1), here);
    b.store(here, query, zero);
    Value id = b.load(nearest, part(token));
    Value isMember = b.both(b.compare(CmpIPredicate::sge, id, low),
                            b.compare(CmpIPredicate::sle, id, high));
    b.ifThen(isMember, [&] {
      Values at = {here, findSlot(b.toIndex(id), begin, last, step)};
      b.store(b.add(b.load(pairs, at), b.f32(1)), pairs, at);
    });
  });
  // Each member was counted at one query; sums over the queries before make it
  // count for all later ones.
  b.forEach(one, queries, 1, [&](Value row) {
    b.forEach(zero, b.index(step), kLanes, [&](Value at) {
      Value before = b.loadVector(pairs, {b.add(row, -1), at});
      Value sum = b.add(before, b.loadVector(pairs, {row, at}));
      b.storeVector(sum, pairs, {row, at});
    });
  });
  // Without members it is a representative that the query does not see.
  b.forEach(zero, queries, 1, [&](Value row) {
    b.forEach(zero, number, 1, [&](Value at) {
      Value members = b.load(pairs, {row, at});
      Value isNone = b.compare(arith::CmpFPredicate::OEQ, members, b.f32(0));
      b.store(b.select(isNone, b.f32(0),
                       timesLog2e(math::LogOp::create(b, members))),
              pairs, {row, at});
    });
  });
  return b.toTensor(pairs);
}

//===----------------------------------------------------------------------===//
// Modes
//===----------------------------------------------------------------------===//

AttentionTile Attend::describe() {
  AttentionTile what;
  what.queries = queries;
  what.key = op.getKey();
  what.value = op.getValue();
  what.isCausal = op.getCausal();
  what.scale = op.getEffectiveScale();
  return what;
}

/// The row of a tile of results goes to a token.
void Attend::writeRow(Value tile, Value row, Value token) {
  for (int64_t member = 0; member < group; ++member)
    for (int64_t i = 0; i < valueSize; i += kLanes) {
      Value number = b.add(b.mul(head, group), member);
      b.storeF32(b.readF32(tile, {row, b.index(member), b.index(i)}, kLanes),
                 output, {token, number, b.index(i)});
    }
}

void Attend::emitCopy(Value start, CpuAttentionAttr tile, int64_t limit) {
  Value zero = b.index(0), total = getCount();
  first = start;
  queries = b.min(b.sub(total, first), b.index(limit));
  b.ifThen(b.compare(CmpIPredicate::sgt, queries, zero), [&] {
    Value query = b.toBuffer(op.getQuery());
    Value gathered = b.scratch({limit, group, keySize}, f32);
    b.forEach(zero, queries, 1, [&](Value row) {
      Value token = getId(b.add(first, row));
      for (int64_t member = 0; member < group; ++member)
        for (int64_t i = 0; i < keySize; i += kLanes) {
          Value number = b.add(b.mul(head, group), member);
          b.storeVector(b.loadF32(query, {token, number, b.index(i)}), gathered,
                        {row, b.index(member), b.index(i)});
        }
    });
    AttentionTile what = describe();
    what.query = b.toTensor(gathered);
    what.keys = op.getCausal() ? b.add(first, queries) : total;
    what.locate = [&](TileBuilder &, Value n) {
      return Values{getId(n), head};
    };
    if (op.getLogCount() && op.getCausal()) {
      pairs = b.scratch({limit, tile.getKeys()}, f32);
      what.pairBias = [&](TileBuilder &, Value begin, Value number,
                          int64_t step) {
        return makePairBias(begin, number, step);
      };
    } else if (op.getLogCount()) {
      what.bias = [&](TileBuilder &, Value n) {
        return log(b.load(weight, part(n)));
      };
    }
    Value result =
        emitAttention(b, what, tile, b.empty({limit, group, valueSize}, f32));
    Value last = b.add(first, b.add(queries, -1));
    Value low = b.toI32(getId(first)), high = b.toI32(getId(last));
    b.forEach(zero, b.size(op.getKey(), 0), 1, [&](Value token) {
      Value id = b.load(nearest, part(token));
      Value isMember = b.both(b.compare(CmpIPredicate::sge, id, low),
                              b.compare(CmpIPredicate::sle, id, high));
      b.ifThen(isMember, [&] {
        writeRow(result, findSlot(b.toIndex(id), first, last, limit), token);
      });
    });
  });
}

void Attend::emitKeys(Value start, CpuAttentionAttr tile, int64_t limit) {
  Value zero = b.index(0), total = b.size(op.getKey(), 0);
  first = start;
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  queries = getValueOrCreateConstantIndexOp(
      b, b.getLoc(),
      affine::makeComposedFoldedAffineMin(
          b, b.getLoc(),
          AffineMap::get(2, 0, {b.getAffineConstantExpr(limit), d1 - d0},
                         b.getContext()),
          {OpFoldResult(first), OpFoldResult(total)}));
  AttentionTile what = describe();
  if (op.getCausal()) {
    Value began = b.roundDown(first, *op.getBlock());
    older = arith::MaxSIOp::create(b, b.add(began, -*op.getWindow()), zero);
    clusters = countBefore(older);
    what.keys = b.add(clusters, b.sub(b.add(first, queries), older));
  } else {
    older = total;
    what.keys = clusters = getCount();
  }
  int64_t step = tile.getKeys();
  stepKeys = b.scratch({step, keySize}, f32);
  stepValues = b.scratch({step, valueSize}, f32);
  stepCounts = b.scratch({step}, i32);
  stepBias = b.scratch({step}, f32);
  OpFoldResult one = b.getIndexAttr(1), none = b.getIndexAttr(0);
  what.query = tensor::ExtractSliceOp::create(
      b, op.getQuery(),
      SmallVector<OpFoldResult>{first, b.mul(head, group), none},
      SmallVector<OpFoldResult>{queries, b.getIndexAttr(group),
                                b.getIndexAttr(keySize)},
      SmallVector<OpFoldResult>(3, one));
  what.make = [&](TileBuilder &, Value begin, Value number, int64_t rows) {
    return makeStep(begin, number, rows);
  };
  Value result =
      emitAttention(b, what, tile, b.empty({limit, group, valueSize}, f32));
  b.forEach(zero, queries, 1,
            [&](Value row) { writeRow(result, row, b.add(first, row)); });
}

void Attend::emit(Value start, Value kvHead, CpuAttentionAttr tile,
                  int64_t limit) {
  head = kvHead;
  if (op.getMode() == AttendMode::Copy)
    emitCopy(start, tile, limit);
  else
    emitKeys(start, tile, limit);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

FailureOr<scf::ForallOp> gist::distributeAttend(RewriterBase &rewriter,
                                                AttendOp op) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  auto end = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  auto pack = op.getSelection().getDefiningOp<PackSelectionOp>();
  if (!pack || end.getNumOperands() != 1 || end.getOperand(0) != op.getOutput())
    return op.emitOpError(
        "is not the only op whose results its kernel returns");
  if (op.getOffsets())
    return op.emitOpError("has offsets, which CPU kernels do not read yet");
  if (!isAttentionVectorizable(op.getKey().getType(), op.getValue().getType()))
    return op.emitOpError("has heads whose size is not a multiple of ")
           << kLanes << " numbers";

  auto tile = cast<CpuAttentionAttr>(kernel->getAttr(kTileAttr));
  // Queries of a workgroup are of one block.
  int64_t limit = tile.getQueries();
  if (op.getMode() == AttendMode::Keys && op.getCausal())
    limit = std::gcd(limit, *op.getBlock());
  rewriter.setInsertionPoint(end);
  BufferBuilder b(op.getLoc(), rewriter);
  BufferArguments arguments(kernel);
  Value output = arguments.get(
      kernel.getArgument(kernel.getNumArguments() - end.getNumOperands()));
  Attend attend(b, op, b.toBuffer(pack.getIds()), b.toBuffer(pack.getCount()),
                b.toBuffer(pack.getNearest()), b.toBuffer(pack.getWeight()),
                output);
  auto forall = scf::ForallOp::create(
      b, SmallVector<OpFoldResult>(2, b.getIndexAttr(0)),
      {tensor::getMixedSize(b, op.getLoc(), op.getKey(), 0),
       b.getIndexAttr(op.getKey().getType().getDimSize(1))},
      {b.getIndexAttr(limit), b.getIndexAttr(1)}, ValueRange(), std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    attend.emit(forall.getInductionVar(0), forall.getInductionVar(1), tile,
                limit);
  }
  rewriter.modifyOpInPlace(end, [&] { end->setOperands({}); });
  rewriter.eraseOp(op);
  arguments.finish(rewriter);
  return forall;
}
