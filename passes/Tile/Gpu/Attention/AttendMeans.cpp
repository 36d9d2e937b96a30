//===- AttendMeans.cpp - Means of clusters as keys and values -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First tokens are ordered by clusters, for all heads that share a selection: a
// workgroup lists the members of some clusters among all tokens, in order, in
// workgroup memory, and its waves put those of single clusters where they
// belong. Then a wave has a few clusters of a head, whose members are
// neighbours in that order, and adds up their rows; a lane has some columns of
// keys and values. So no row is read twice, and rows of several members are on
// their way at once.
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

/// Clusters of a wave: whose members it orders, and whose rows it adds up.
static constexpr int64_t kOrdered = 8;
static constexpr int64_t kSummed = 4;
/// Members whose rows are read at once.
static constexpr int64_t kMembers = 8;
/// Tokens for each cluster that a workgroup may have at once: where clusters
/// are so many, no item that workgroups draw is empty.
static constexpr int64_t kTokensOfCluster = 4;
/// Sentinel for "no token".
static constexpr int64_t kNone = std::numeric_limits<int32_t>::max();
/// Columns that a lane may have.
static constexpr int64_t kMaxWidth = 8;

/// Numbers are words in memory, and never negative.
static Value toNumber(GpuBuilder &b, Value word) {
  return arith::IndexCastUIOp::create(b, b.getIndexType(), word);
}

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
  // The output, keys, values, four tensors of numbers, control; the number is
  // the last input.
  constexpr unsigned kNumOutputs = 8;
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
  next = done.getOperand(4);
  order = done.getOperand(5);
  starts = done.getOperand(6);
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
// Memory
//===----------------------------------------------------------------------===//

Values ClusterMeans::at(Value head, Value i) const {
  Values indices;
  if (AttendOp(op).getSelection().getType().getHeads())
    indices.push_back(head);
  indices.push_back(i);
  return indices;
}

void ClusterMeans::writeNumber(Value number, Value tensor, Value head,
                               Value i) {
  MemoryAccess memory = *emitter.asMemory(tensor);
  if (number.getType().isIndex())
    number = b.toI32(number);
  b.write(number, memory.buffer, memory.at(at(head, i)));
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
  return emitter.element(counts, at(kvHead, row));
}

//===----------------------------------------------------------------------===//
// Members in order
//===----------------------------------------------------------------------===//

Value ClusterMeans::listMembers(Selection &selection, Value begin, Value end,
                                Value firstId, Value lastId) {
  auto isMember = [&](Value token) {
    Value id = selection.getNearest(token);
    return b.both(b.compare(CmpIPredicate::sge, id, firstId),
                  b.compare(CmpIPredicate::sle, id, lastId));
  };
  b.barrier(); // The last list has been read.
  Value count =
      compact.run(begin, end, b.index(0), isMember,
                  [&](Value token, Value holds, Value before) {
                    b.ifThen(holds, [&] {
                      auto write = [&](Value number, Value place) {
                        b.write(b.toI32(number), list, place);
                      };
                      write(token, before);
                      write(selection.getNearest(token), b.add(before, room));
                    });
                  });
  b.barrier();
  return count;
}

void ClusterMeans::sort(Selection &selection, Value head, Value begin,
                        Value count) {
  Type i64 = b.getI64Type();
  Value zero = b.index(0), last = b.sub(count, 1);
  Value tokens = emitter.size(op.getKey(), 0);
  auto addWeights = [&](Value from, Value to, int64_t step) {
    return b
        .loop(from, to, step, b.i32(0),
              [&](Value i, ValueRange sum) {
                return Values{arith::AddIOp::create(b, sum.front(),
                                                    selection.getWeight(i))};
              })
        .front();
  };
  // Where this wave's clusters begin: behind all members of those before.
  Value before =
      compact.scan(toNumber(b, addWeights(b.thread(), begin, b.getThreads())))
          .second;
  Value first = b.add(begin, b.mul(b.wave(), kOrdered));
  Value near = addWeights(b.add(begin, b.lane()), b.min(first, count),
                          b.getGpu().waveSize);
  Value start =
      b.add(before, toNumber(b, b.waveReduce(near, GpuBuilder::Kind::ADD)));
  Values ids, begins;
  for (int64_t j = 0; j < kOrdered; ++j) {
    Value cluster = b.min(b.add(first, j), last);
    Value isThere = b.isLess(b.add(first, j), count);
    ids.push_back(
        b.select(isThere, b.toI32(selection.getId(cluster)), b.i32(kNone)));
    // Whatever weights say, nothing is written past the last token.
    begins.push_back(b.min(start, b.sub(tokens, 1)));
    b.ifThen(b.both(isThere, b.isEqual(b.lane(), 0)),
             [&] { writeNumber(begins[j], starts, head, cluster); });
    start = b.add(start, toNumber(b, selection.getWeight(cluster)));
  }

  int64_t waves = b.getThreads() / b.getGpu().waveSize;
  Value firstId = selection.getId(begin);
  Value lastId =
      selection.getId(b.min(b.add(begin, waves * kOrdered - 1), last));
  Value one = arith::ConstantIntOp::create(b, i64, 1);
  Value bit = arith::ShLIOp::create(
      b, one, arith::IndexCastUIOp::create(b, i64, b.lane()));
  Value lower = arith::SubIOp::create(b, bit, one);
  auto putMembers = [&](Value from, Value members, Values places) {
    Value place = b.add(from, b.lane()), isListed = b.isLess(place, members);
    place = b.select(isListed, place, zero);
    Value token = b.read(list, place), owner = b.read(list, b.add(place, room));
    for (int64_t j = 0; j < kOrdered; ++j) {
      Value isOwn =
          b.both(isListed, b.compare(CmpIPredicate::eq, owner, ids[j]));
      Value own = ballot(b, isOwn);
      auto countBits = [&](Value bits) -> Value {
        return toNumber(b, math::CtPopOp::create(b, bits).getResult());
      };
      Value earlier = arith::AndIOp::create(b, own, lower);
      Value to = b.min(b.add(places[j], countBits(earlier)), b.sub(tokens, 1));
      b.ifThen(isOwn, [&] {
        Value isFirst = b.compare(CmpIPredicate::eq, to, begins[j]);
        Value marked = arith::OrIOp::create(b, token, b.i32(kFirst));
        writeNumber(b.select(isFirst, marked, token), order, head, to);
      });
      places[j] = b.add(places[j], countBits(own));
    }
    return places;
  };
  b.loop(zero, tokens, room, begins, [&](Value base, ValueRange places) {
    Value end = b.min(b.add(base, room), tokens);
    Value members = listMembers(selection, base, end, firstId, lastId);
    return b.loop(zero, members, b.getGpu().waveSize, places,
                  [&](Value from, ValueRange places) {
                    return putMembers(from, members, Values(places));
                  });
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void ClusterMeans::addUp(Value head, Value first, Value count) {
  Value tokens = emitter.size(op.getKey(), 0);
  auto readNumber = [&](Value tensor, Value i) {
    return emitter.element(tensor, at(head, i));
  };
  Value later = b.add(first, kSummed);
  Value begin = toNumber(b, readNumber(starts, first));
  Value end = b.ifElse(
      b.isLess(later, count),
      [&] { return toNumber(b, readNumber(starts, later)); },
      [&] { return tokens; });
  Value last = b.sub(end, 1);
  // Sums of keys and of values, and of how many; the number of the cluster.
  Values state;
  for (const Side &side : sides)
    state.push_back(b.broadcast(b.f32(0), side.width));
  state.push_back(b.f32(0));
  state.push_back(b.sub(first, 1));
  b.loop(begin, end, kMembers, state, [&](Value base, ValueRange carried) {
    Values words, isHere, isFirst, members;
    // One more, which says whether a member is the last of its cluster.
    for (int64_t i = 0; i <= kMembers; ++i) {
      Value place = b.add(base, i);
      isHere.push_back(b.isLess(place, end));
      Value word = readNumber(order, b.min(place, last));
      isFirst.push_back(b.compare(CmpIPredicate::slt, word, b.i32(0)));
      words.push_back(arith::AndIOp::create(b, word, b.i32(kNone)));
      members.push_back(toNumber(b, words[i]));
    }
    SmallVector<Values, 2> rows(sides.size());
    for (int64_t i = 0; i < kMembers; ++i)
      for (auto [side, loaded] : llvm::zip_equal(sides, rows))
        loaded.push_back(readRow(side, members[i], head));
    Values now(carried);
    Value &number = now[sides.size()], &cluster = now[sides.size() + 1];
    for (int64_t i = 0; i < kMembers; ++i) {
      for (size_t k = 0; k < sides.size(); ++k)
        now[k] = b.select(isFirst[i], rows[k][i],
                          arith::AddFOp::create(b, now[k], rows[k][i]));
      number = b.select(isFirst[i], b.f32(1),
                        arith::AddFOp::create(b, number, b.f32(1)));
      cluster = b.select(isFirst[i], b.add(cluster, 1), cluster);
      Value isLast =
          arith::OrIOp::create(b, b.negate(isHere[i + 1]), isFirst[i + 1]);
      Value isWritten = op.getCausal() ? isHere[i] : b.both(isHere[i], isLast);
      b.ifThen(isWritten, [&] {
        for (size_t k = 0; k < sides.size(); ++k)
          writeMean(sides[k], op.getCausal() ? members[i] : cluster, head,
                    now[k], number);
        if (op.getCausal())
          writeNumbers(members[i], head, number,
                       b.select(isLast, b.i32(kNone), words[i + 1]));
      });
    }
    return now;
  });
}

void ClusterMeans::writeNumbers(Value token, Value head, Value count,
                                Value following) {
  Value isMine = b.isEqual(b.lane(), 0);
  // A selection for all heads has these for all of them.
  if (!op.getSelection().getType().getHeads())
    isMine = b.both(isMine, b.isEqual(head, 0));
  b.ifThen(isMine, [&] {
    writeNumber(arith::FPToUIOp::create(b, b.getI32Type(), count), counts, head,
                token);
    writeNumber(following, next, head, token);
  });
}

Value ClusterMeans::listLast(Selection &selection, Value begin, Value stop,
                             Value end) {
  constexpr int64_t kLoads = 4;
  int64_t step = b.getThreads() * Selection::kSome;
  Value last = b.toI32(end);
  auto list = [&](Value base, ValueRange carried) {
    Values firsts, nexts, owners;
    for (int64_t i = 0; i < kLoads; ++i) {
      Value first =
          b.add(base, b.add(b.mul(b.thread(), Selection::kSome), i * step));
      firsts.push_back(first);
      nexts.push_back(selection.readSome(next, first, stop));
      owners.push_back(selection.readNearest(first, stop));
    }
    Value bits = b.i32(0);
    for (int64_t i = 0; i < kLoads * Selection::kSome; ++i) {
      auto get = [&](const Values &loaded) {
        return b.extract(loaded[i / Selection::kSome], i % Selection::kSome);
      };
      // Past the last token there is no next one.
      Value isLast = b.both(b.compare(CmpIPredicate::sge, get(nexts), last),
                            b.compare(CmpIPredicate::slt, get(owners), last));
      bits = arith::OrIOp::create(
          b, bits, b.select(isLast, b.i32(int64_t(1) << i), b.i32(0)));
    }
    auto count = [&](Value some) -> Value {
      return arith::IndexCastUIOp::create(
          b, b.getIndexType(), math::CtPopOp::create(b, some).getResult());
    };
    auto [before, total] = compact.scan(count(bits));
    Value place = b.add(carried[0], before);
    for (int64_t i = 0; i < kLoads * Selection::kSome; ++i) {
      auto mask = [&](int64_t numbers) -> Value {
        return arith::AndIOp::create(b, bits, b.i32(numbers));
      };
      Value isLast =
          b.compare(CmpIPredicate::ne, mask(int64_t(1) << i), b.i32(0));
      b.ifThen(isLast, [&] {
        Value token = b.add(firsts[i / Selection::kSome], i % Selection::kSome);
        b.write(b.toI32(token), this->list,
                b.add(place, count(mask((int64_t(1) << i) - 1))));
      });
    }
    return Values{b.add(carried[0], total)};
  };
  Value number = b.loop(begin, stop, kLoads * step, b.index(0), list).front();
  b.barrier();
  return number;
}

void ClusterMeans::emit() {
  SharedSteps steps(b, control, b.mul(number, kStepWords));
  steps.begin();
  auto run = [&](int64_t numHeads, int64_t clusters, auto body) {
    int64_t atOnce = b.getThreads() / b.getGpu().waveSize * clusters;
    Value parts =
        b.ceilDiv(emitter.size(op.getKey(), 0), kTokensOfCluster * atOnce);
    steps.run(b.mul(parts, numHeads), [&](Value item) {
      Value head = b.rem(item, numHeads), part = b.div(item, numHeads);
      Selection selection(emitter, op, head);
      Value count = selection.getCount();
      b.forEach(b.mul(part, atOnce), count, b.mul(parts, atOnce),
                [&](Value begin) {
                  // Attention, which comes later, has its own in registers.
                  b.getBlock()->getParentOp()->setAttr(kLoadArgumentsAttr,
                                                       b.getUnitAttr());
                  body(selection, head, begin, count);
                });
    });
    steps.wait();
  };
  run(op.getSelection().getType().getHeads() ? heads : 1, kOrdered,
      [&](Selection &selection, Value head, Value begin, Value count) {
        sort(selection, head, begin, count);
      });
  run(heads, kSummed, [&](Selection &, Value head, Value begin, Value count) {
    Value first = b.add(begin, b.mul(b.wave(), kSummed));
    b.ifThen(b.isLess(first, count), [&] { addUp(head, first, count); });
  });
}
