//===- AttendMeans.cpp - Means of clusters as keys and values -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup has some clusters, which are neighbours. It lists their members
// among all tokens, in order, in workgroup memory. Then each wave has a few of
// the clusters, goes through the list, and adds up the rows of their members as
// it comes across them; sums stay in registers, a lane having some columns of
// keys and values. So no row is read twice, rows of several members are on
// their way at once, and ids, which are read often, are read by all threads.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttendMeans.h"
#include "passes/Tile/Gpu/Core/SharedSteps.h"

#include "llvm/ADT/bit.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using arith::CmpIPredicate;

/// Sums that a lane has, of as many clusters as that is room for.
static constexpr int64_t kSums = 64;
/// Clusters that a wave adds up at once, at most.
static constexpr int64_t kMaxClusters = 8;
/// Members whose rows are read at once.
static constexpr int64_t kMembers = 4;
/// Tokens for each cluster that a workgroup may have at once: where clusters
/// are so many, no item that workgroups draw is empty.
static constexpr int64_t kTokensOfCluster = 4;
/// Columns that a lane may have.
static constexpr int64_t kMaxWidth = 8;

ClusterMeans::ClusterMeans(GpuKernel &kernel, AttendOp op, Value memory)
    : emitter(kernel.emitter), b(kernel.b), op(op),
      heads(op.getKey().getType().getDimSize(1)), list(memory),
      room(cast<MemRefType>(memory.getType()).getDimSize(0) / 2), compact(b) {
  func::FuncOp source = kernel.source;
  auto target = cast<func::FuncOp>(b.getBlock()->getParentOp());
  for (BlockArgument argument : source.getArguments())
    if (source.getArgAttr(argument.getArgNumber(), kControlArgAttr))
      control = target.getArgument(argument.getArgNumber());
  auto done = cast<func::ReturnOp>(source.getBody().front().getTerminator());
  // The output, keys, values, counts, control; the number is the last input.
  constexpr unsigned kNumOutputs = 5;
  if (!control || done.getNumOperands() != kNumOutputs ||
      source.getNumArguments() == kNumOutputs)
    return;
  number = target.getArgument(source.getNumArguments() - kNumOutputs - 1);
  if (!number.getType().isIndex())
    return;
  for (auto [rows, means] : {std::pair(op.getKey(), done.getOperand(1)),
                             std::pair(op.getValue(), done.getOperand(2))}) {
    int64_t size = rows.getType().getDimSize(2);
    Side side = {rows,
                 means,
                 int64_t(llvm::bit_ceil<uint64_t>(
                     llvm::divideCeil(size, b.getGpu().waveSize))),
                 {},
                 {}};
    Value column = b.mul(b.lane(), side.width);
    side.isThere = b.isLess(column, size);
    side.column = b.select(side.isThere, column, b.index(0));
    sides.push_back(side);
  }
  counts = done.getOperand(3);
  clusters = std::min(kMaxClusters, kSums / (sides[0].width + sides[1].width));
}

LogicalResult ClusterMeans::verify() {
  if (sides.empty())
    return op.emitOpError("has no scratch memory");
  for (const Side &side : sides)
    if (side.width > kMaxWidth)
      return op.emitOpError(
          "has heads of a size for which there is no GPU kernel");
  return success();
}

//===----------------------------------------------------------------------===//
// What is summed
//===----------------------------------------------------------------------===//

Values ClusterMeans::getZeros() {
  Values zeros;
  for (const Side &side : sides)
    zeros.append(clusters, b.broadcast(b.f32(0), side.width));
  zeros.append(clusters, b.f32(0));
  return zeros;
}

ClusterMeans::Sums ClusterMeans::unflatten(ValueRange values) const {
  Sums sums;
  for (size_t i = 0; i < sides.size(); ++i)
    sums.sides.push_back(Values(values.slice(i * clusters, clusters)));
  sums.counts = Values(values.slice(sides.size() * clusters, clusters));
  return sums;
}

Values ClusterMeans::flatten(const Sums &sums) const {
  Values values;
  for (const Values &side : sums.sides)
    llvm::append_range(values, side);
  llvm::append_range(values, sums.counts);
  return values;
}

Value ClusterMeans::readRow(const Side &side, Value token, Value head) {
  Values at = {token, head, side.column};
  return b.toF32(side.width == 1 ? emitter.element(side.rows, at)
                                 : emitter.elements(side.rows, at, side.width));
}

void ClusterMeans::writeMean(const Side &side, Value row, Value head, Value sum,
                             Value count) {
  MemoryAccess memory = *emitter.asMemory(side.means);
  Type element = cast<MemRefType>(memory.buffer.getType()).getElementType();
  Value inverse = arith::DivFOp::create(b, b.f32(1), count);
  Value mean = arith::MulFOp::create(b, sum, b.broadcast(inverse, side.width));
  b.ifThen(side.isThere, [&] {
    b.write(b.convert(mean, element), memory.buffer,
            memory.at({row, head, side.column}));
  });
}

Value ClusterMeans::getCount(Value kvHead, Value row) {
  Values at;
  if (op.getSelection().getType().getHeads())
    at.push_back(kvHead);
  at.push_back(row);
  return emitter.element(counts, at);
}

//===----------------------------------------------------------------------===//
// Clusters of a wave
//===----------------------------------------------------------------------===//

Value ClusterMeans::listMembers(Selection &selection, Value begin, Value end,
                                Value firstId, Value lastId) {
  auto isMember = [&](Value token) {
    Value id = selection.getNearest(token);
    return b.both(b.compare(CmpIPredicate::sge, id, firstId),
                  b.compare(CmpIPredicate::sle, id, lastId));
  };
  b.barrier(); // The last list has been read.
  Value count = compact.run(
      begin, end, b.index(0), isMember,
      [&](Value token, Value holds, Value before) {
        b.ifThen(holds, [&] {
          auto write = [&](Value number, Value place) {
            b.write(arith::IndexCastOp::create(b, b.getI32Type(), number), list,
                    place);
          };
          write(token, before);
          write(selection.getNearest(token), b.add(before, room));
        });
      });
  b.barrier();
  return count;
}

void ClusterMeans::addUp(Selection &selection, Value head, Value begin,
                         Value count) {
  int64_t waves = b.getThreads() / b.getGpu().waveSize;
  Value last = b.sub(count, 1);
  Value firstId = selection.getId(begin);
  Value lastId =
      selection.getId(b.min(b.add(begin, waves * clusters - 1), last));
  Value first = b.add(begin, b.mul(b.wave(), clusters));
  Values ids;
  for (int64_t j = 0; j < clusters; ++j) {
    // No token belongs to the largest i32: a place without a cluster sums
    // nothing.
    Value isThere = b.isLess(b.add(first, j), count);
    Value id = selection.getId(b.min(b.add(first, j), last));
    id = arith::IndexCastOp::create(b, b.getI32Type(), id);
    ids.push_back(
        b.select(isThere, id, b.i32(std::numeric_limits<int32_t>::max())));
  }
  Value tokens = emitter.size(op.getKey(), 0);
  Values carried = b.loop(
      b.index(0), tokens, room, getZeros(), [&](Value base, ValueRange values) {
        Value end = b.min(b.add(base, room), tokens);
        Value members = listMembers(selection, base, end, firstId, lastId);
        return b.loop(b.index(0), members, b.getGpu().waveSize, values,
                      [&](Value from, ValueRange sums) {
                        return addMembers(from, members, head, ids, sums);
                      });
      });
  // Causal means were written member by member, in addMembers().
  if (op.getCausal())
    return;
  Sums sums = unflatten(carried);
  for (int64_t j = 0; j < clusters; ++j)
    b.ifThen(b.isLess(b.add(first, j), count), [&] {
      for (auto [side, values] : llvm::zip_equal(sides, sums.sides))
        writeMean(side, b.add(first, j), head, values[j], sums.counts[j]);
    });
}

Values ClusterMeans::addMembers(Value from, Value members, Value head,
                                ArrayRef<Value> ids, ValueRange start) {
  Type i64 = b.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, i64, value);
  };
  // One member for each lane, and which of them are of this wave's clusters.
  Value place = b.add(from, b.lane()), isListed = b.isLess(place, members);
  place = b.select(isListed, place, b.index(0));
  Value token = b.read(list, place), owner = b.read(list, b.add(place, room));
  Value isOwn;
  for (Value id : ids) {
    Value isThis = b.compare(CmpIPredicate::eq, owner, id);
    isOwn = isOwn ? arith::OrIOp::create(b, isOwn, isThis).getResult() : isThis;
  }
  Value none = constant(0), mine = ballot(b, b.both(isListed, isOwn));

  // Some members at a time, all at once. Lowest bits first is the order of
  // tokens.
  SmallVector<Type> types = {i64};
  llvm::append_range(types, start.getTypes());
  Values inits = {mine};
  llvm::append_range(inits, start);
  auto loop = scf::WhileOp::create(b, types, inits);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locations(types.size(), b.getLoc());
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value isLeft = b.compare(CmpIPredicate::ne, before->getArgument(0), none);
  scf::ConditionOp::create(b, isLeft, before->getArguments());

  Block *body = b.createBlock(&loop.getAfter(), {}, types, locations);
  Value left = body->getArgument(0);
  Sums sums = unflatten(ValueRange(body->getArguments()).drop_front());
  Value width = b.i32(b.getGpu().waveSize);
  Values isHere, tokens, owners;
  SmallVector<Values, 2> rows(sides.size());
  Value lane;
  for (int64_t i = 0; i < kMembers; ++i) {
    isHere.push_back(b.compare(CmpIPredicate::ne, left, none));
    Value lowest = arith::TruncIOp::create(
        b, b.getI32Type(), math::CountTrailingZerosOp::create(b, left));
    // Without a member the one before is read again.
    lane = lane ? b.select(isHere[i], lowest, lane) : lowest;
    left = arith::AndIOp::create(b, left,
                                 arith::SubIOp::create(b, left, constant(1)));
    auto get = [&](Value number) -> Value {
      return gpu::ShuffleOp::create(b, number, lane, width,
                                    gpu::ShuffleMode::IDX)
          .getShuffleResult();
    };
    owners.push_back(get(owner));
    tokens.push_back(
        arith::IndexCastUIOp::create(b, b.getIndexType(), get(token)));
    for (auto [side, loaded] : llvm::zip_equal(sides, rows))
      loaded.push_back(readRow(side, tokens[i], head));
  }
  for (int64_t i = 0; i < kMembers; ++i) {
    Value count = b.f32(1);
    Values seen(sides.size());
    for (int64_t j = 0; j < clusters; ++j) {
      Value isThis =
          b.both(isHere[i], b.compare(CmpIPredicate::eq, owners[i], ids[j]));
      auto addTo = [&](Value &sum, Value more, Value &chosen) {
        sum = b.select(isThis, arith::AddFOp::create(b, sum, more), sum);
        chosen = chosen ? b.select(isThis, sum, chosen) : sum;
      };
      addTo(sums.counts[j], b.f32(1), count);
      for (size_t k = 0; k < sides.size(); ++k)
        addTo(sums.sides[k][j], rows[k][i], seen[k]);
    }
    if (op.getCausal())
      b.ifThen(isHere[i], [&] { writeSoFar(tokens[i], head, seen, count); });
  }
  Values next = {left};
  llvm::append_range(next, flatten(sums));
  scf::YieldOp::create(b, next);
  return Values(loop.getResults().drop_front());
}

void ClusterMeans::writeSoFar(Value token, Value head, ValueRange sums,
                              Value count) {
  for (auto [side, sum] : llvm::zip_equal(sides, sums))
    writeMean(side, token, head, sum, count);
  // A selection for all heads has counts for all of them.
  Value isMine = b.isEqual(b.lane(), 0);
  Values at;
  if (op.getSelection().getType().getHeads())
    at.push_back(head);
  else
    isMine = b.both(isMine, b.isEqual(head, 0));
  at.push_back(token);
  MemoryAccess memory = *emitter.asMemory(counts);
  b.ifThen(isMine, [&] {
    b.write(arith::FPToUIOp::create(b, b.getI32Type(), count), memory.buffer,
            memory.at(at));
  });
}

void ClusterMeans::emit() {
  SharedSteps steps(b, control, b.mul(number, kStepWords));
  int64_t atOnce = b.getThreads() / b.getGpu().waveSize * clusters;
  Value parts =
      b.ceilDiv(emitter.size(op.getKey(), 0), kTokensOfCluster * atOnce);
  steps.begin();
  steps.run(b.mul(parts, heads), [&](Value item) {
    Value head = b.rem(item, heads), part = b.div(item, heads);
    Selection selection(emitter, op, head);
    Value count = selection.getCount();
    b.forEach(b.mul(part, atOnce), count, b.mul(parts, atOnce),
              [&](Value first) { addUp(selection, head, first, count); });
  });
  steps.wait();
}
