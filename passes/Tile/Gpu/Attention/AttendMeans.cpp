//===- AttendMeans.cpp - Means of clusters as keys and values -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wave has a few clusters. It looks at the ids of all tokens, a vector per
// lane, and adds up the rows of members as it comes across them, in order; sums
// stay in registers, a lane having some columns of keys and values. So no row
// is read twice, and what is read often, the ids, is little.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttendMeans.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "passes/Tile/Gpu/Core/SharedSteps.h"

#include "llvm/ADT/bit.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using arith::CmpIPredicate;

/// Clusters that a wave adds up at once.
static constexpr int64_t kClusters = 4;
/// Neighbouring tokens whose ids a lane reads at once.
static constexpr int64_t kTokens = 2;
/// Tokens per item that workgroups draw: there are some items for each compute
/// unit, and none is empty without need.
static constexpr int64_t kTokensOfItem = 256;
/// Columns that a lane may have.
static constexpr int64_t kMaxWidth = 8;

/// A bit for each lane of the wave, in 64.
static Value ballot(GpuBuilder &b, Value condition) {
  Type i64 = b.getI64Type();
  if (b.getGpu().kind == GpuKind::Amd)
    return ROCDL::BallotOp::create(b, i64, condition);
  Value bits = NVVM::VoteSyncOp::create(b, b.getI32Type(), b.i32(-1), condition,
                                        NVVM::VoteSyncKind::ballot);
  return arith::ExtUIOp::create(b, i64, bits);
}

static Value isSet(GpuBuilder &b, Value bits, Value number) {
  Value shifted = arith::ShRUIOp::create(b, bits, number);
  return arith::TruncIOp::create(b, b.getI1Type(), shifted);
}

ClusterMeans::ClusterMeans(GpuKernel &kernel, AttendOp op)
    : emitter(kernel.emitter), b(kernel.b), op(op),
      heads(op.getKey().getType().getDimSize(1)) {
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
    zeros.append(kClusters, b.broadcast(b.f32(0), side.width));
  zeros.append(kClusters, b.f32(0));
  return zeros;
}

ClusterMeans::Sums ClusterMeans::unflatten(ValueRange values) const {
  Sums sums;
  for (size_t i = 0; i < sides.size(); ++i)
    sums.sides.push_back(Values(values.slice(i * kClusters, kClusters)));
  sums.counts = Values(values.slice(sides.size() * kClusters, kClusters));
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

/// The ids that tokens from `first` on belong to, -1 past the last token.
Value ClusterMeans::getNearest(Selection &selection, Value first) {
  Value end = emitter.size(op.getKey(), 0);
  VectorType type = b.vectorOf(kTokens, b.getI32Type());
  auto one = [&](Value token) -> Value {
    return b.ifElse(
        b.isLess(token, end),
        [&]() -> Value {
          return arith::IndexCastOp::create(b, b.getI32Type(),
                                            selection.getNearest(token));
        },
        [&]() -> Value { return b.i32(-1); });
  };
  return b.ifElse(
      b.compare(CmpIPredicate::sle, b.add(first, kTokens), end),
      [&] { return selection.getNearest(first, kTokens); },
      [&]() -> Value {
        Values numbers;
        for (int64_t i = 0; i < kTokens; ++i)
          numbers.push_back(one(b.add(first, i)));
        return vector::FromElementsOp::create(b, type, numbers);
      });
}

void ClusterMeans::addUp(Selection &selection, Value head, Value first,
                         Value count) {
  Value zero = b.index(0), tokens = emitter.size(op.getKey(), 0);
  Values ids;
  for (int64_t j = 0; j < kClusters; ++j) {
    // No token belongs to the largest i32: a place without a cluster sums
    // nothing.
    Value isThere = b.isLess(b.add(first, j), count);
    Value id = selection.getId(b.min(b.add(first, j), b.sub(count, 1)));
    id = arith::IndexCastOp::create(b, b.getI32Type(), id);
    ids.push_back(
        b.select(isThere, id, b.i32(std::numeric_limits<int32_t>::max())));
  }
  int64_t step = b.getGpu().waveSize * kTokens;
  Value mine = b.mul(b.lane(), kTokens);
  Values carried = getZeros();
  size_t numSums = carried.size();
  carried.push_back(getNearest(selection, mine));
  carried =
      b.loop(zero, tokens, step, carried, [&](Value base, ValueRange values) {
        // The ids of the next step are on their way while rows of this one are
        // added.
        Value next = getNearest(selection, b.add(b.add(base, step), mine));
        Values sums = addMembers(base, head, values.back(), ids,
                                 values.take_front(numSums));
        sums.push_back(next);
        return sums;
      });
  // Causal means were written member by member, in addMembers().
  if (op.getCausal())
    return;
  Sums sums = unflatten(ValueRange(carried).take_front(numSums));
  for (int64_t j = 0; j < kClusters; ++j)
    b.ifThen(b.isLess(b.add(first, j), count), [&] {
      for (auto [side, values] : llvm::zip_equal(sides, sums.sides))
        writeMean(side, b.add(first, j), head, values[j], sums.counts[j]);
    });
}

Values ClusterMeans::addMembers(Value base, Value head, Value nearest,
                                ArrayRef<Value> ids, ValueRange start) {
  Type i64 = b.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, i64, value);
  };
  // Which lanes have members at all, and among which of their tokens.
  Value none = constant(0), any = none;
  Values masks;
  for (int64_t i = 0; i < kTokens; ++i) {
    Value id = b.extract(nearest, i), isMember;
    for (Value own : ids) {
      Value isOwn = b.compare(CmpIPredicate::eq, id, own);
      isMember = isMember ? arith::OrIOp::create(b, isMember, isOwn).getResult()
                          : isOwn;
    }
    masks.push_back(ballot(b, isMember));
    any = arith::OrIOp::create(b, any, masks.back());
  }

  // One lane's tokens at a time, all at once.
  SmallVector<Type> types = {i64};
  llvm::append_range(types, start.getTypes());
  Values inits = {any};
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
  Value lane = math::CountTrailingZerosOp::create(b, left);
  Value token =
      b.add(base, b.mul(arith::IndexCastOp::create(b, b.getIndexType(), lane),
                        kTokens));
  Value from = arith::TruncIOp::create(b, b.getI32Type(), lane);
  Value width = b.i32(b.getGpu().waveSize);
  Values isHere, owners;
  SmallVector<Values, 2> rows(sides.size());
  for (int64_t i = 0; i < kTokens; ++i) {
    isHere.push_back(isSet(b, masks[i], lane));
    owners.push_back(gpu::ShuffleOp::create(b, b.extract(nearest, i), from,
                                            width, gpu::ShuffleMode::IDX)
                         .getShuffleResult());
    for (auto [side, loaded] : llvm::zip_equal(sides, rows))
      loaded.push_back(b.ifElse(
          isHere[i], [&] { return readRow(side, b.add(token, i), head); },
          [&] { return b.broadcast(b.f32(0), side.width); }));
  }
  for (int64_t i = 0; i < kTokens; ++i) {
    Value count = b.f32(1);
    Values seen(sides.size());
    for (int64_t j = 0; j < kClusters; ++j) {
      Value isOwn =
          b.both(isHere[i], b.compare(CmpIPredicate::eq, owners[i], ids[j]));
      auto addTo = [&](Value &sum, Value more, Value &chosen) {
        sum = b.select(isOwn, arith::AddFOp::create(b, sum, more), sum);
        chosen = chosen ? b.select(isOwn, sum, chosen) : sum;
      };
      addTo(sums.counts[j], b.f32(1), count);
      for (size_t k = 0; k < sides.size(); ++k)
        addTo(sums.sides[k][j], rows[k][i], seen[k]);
    }
    if (!op.getCausal())
      continue;
    b.ifThen(isHere[i], [&] {
      Value row = b.add(token, i);
      for (auto [side, sum] : llvm::zip_equal(sides, seen))
        writeMean(side, row, head, sum, count);
      // A selection for all heads has counts for all of them.
      bool isPerHead = bool(op.getSelection().getType().getHeads());
      Value isMine = b.isEqual(b.lane(), 0);
      Values at;
      if (isPerHead)
        at.push_back(head);
      else
        isMine = b.both(isMine, b.isEqual(head, 0));
      at.push_back(row);
      MemoryAccess memory = *emitter.asMemory(counts);
      b.ifThen(isMine, [&] {
        b.write(arith::FPToUIOp::create(b, b.getI32Type(), count),
                memory.buffer, memory.at(at));
      });
    });
  }
  // left & (left - 1) has no longer its lowest bit, the lane that was taken.
  // Lowest bits first is the order of tokens.
  Values next = {arith::AndIOp::create(
      b, left, arith::SubIOp::create(b, left, constant(1)))};
  llvm::append_range(next, flatten(sums));
  scf::YieldOp::create(b, next);
  return Values(loop.getResults().drop_front());
}

void ClusterMeans::emit() {
  SharedSteps steps(b, control, b.mul(number, kStepWords));
  Value parts = b.ceilDiv(emitter.size(op.getKey(), 0), kTokensOfItem);
  int64_t atOnce = b.getThreads() / b.getGpu().waveSize * kClusters;
  steps.begin();
  steps.run(b.mul(parts, heads), [&](Value item) {
    Value head = b.rem(item, heads), part = b.div(item, heads);
    Selection selection(emitter, op, head);
    Value count = selection.getCount();
    Value first = b.add(b.mul(part, atOnce), b.mul(b.wave(), kClusters));
    b.forEach(first, count, b.mul(parts, atOnce),
              [&](Value cluster) { addUp(selection, head, cluster, count); });
  });
  steps.wait();
}
