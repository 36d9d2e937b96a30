//===- AttendParts.cpp - What attention on representatives shares ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttendParts.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "passes/Tile/Gpu/Core/Carried.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace gist;
using Values = GpuBuilder::Values;

Selection::Selection(ElementEmitter &emitter, AttendOp op, Value kvHead)
    : emitter(emitter), b(emitter.getBuilder()),
      parts(op.getSelection().getDefiningOp<PackSelectionOp>()) {
  if (op.getSelection().getType().getHeads())
    head.push_back(kvHead);
}

Values Selection::at(Value i) {
  Values indices = head;
  indices.push_back(i);
  return indices;
}

Value Selection::read(Value tensor, ValueRange indices) {
  return b.toIndex(emitter.element(tensor, indices));
}

Value Selection::readSome(Value tensor, Value first, Value end) {
  return b.ifElse(
      b.compare(arith::CmpIPredicate::sle, b.add(first, kSome), end),
      [&] { return emitter.elements(tensor, at(first), kSome); },
      [&]() -> Value {
        Values numbers;
        for (int64_t j = 0; j < kSome; ++j) {
          Value index = b.add(first, j);
          numbers.push_back(b.ifElse(
              b.isLess(index, end),
              [&] { return emitter.element(tensor, at(index)); },
              [&]() -> Value { return b.i32(-1); }));
        }
        return vector::FromElementsOp::create(
            b, b.vectorOf(kSome, b.getI32Type()), numbers);
      });
}

void Selection::forEach(Value tensor, Value begin, Value end, int64_t atOnce,
                        Body body) {
  assert(atOnce % kSome == 0 && "expects whole loads");
  Value step = b.index(atOnce * b.getThreads());
  b.forEach(begin, end, step, [&](Value base) {
    Values firsts, loaded;
    for (int64_t i = 0; i < atOnce / kSome; ++i) {
      firsts.push_back(
          b.add(base, b.mul(b.add(b.thread(), i * b.getThreads()), kSome)));
      loaded.push_back(readSome(tensor, firsts.back(), end));
    }
    for (auto [first, numbers] : llvm::zip_equal(firsts, loaded))
      for (int64_t j = 0; j < kSome; ++j) {
        Value index = b.add(first, j), number = b.extract(numbers, j);
        b.ifThen(b.isLess(index, end), [&] { body(index, number); });
      }
  });
}

Value gist::ballot(GpuBuilder &b, Value condition) {
  Type i64 = b.getI64Type();
  if (b.getGpu().kind == GpuKind::Amd)
    return ROCDL::BallotOp::create(b, i64, condition);
  Value bits = NVVM::VoteSyncOp::create(b, b.getI32Type(), b.i32(-1), condition,
                                        NVVM::VoteSyncKind::ballot);
  return arith::ExtUIOp::create(b, i64, bits);
}

Value Selection::countIdsBefore(Value end) {
  // The answer is between `first` and `first + left`. The lanes of a wave look
  // at the last ids of as many pieces.
  struct Range {
    Value first, left;
    auto getParts() { return std::tie(first, left); }
  };
  auto isAnyLeft = [&](const Range &range) {
    return b.compare(arith::CmpIPredicate::sgt, range.left, b.index(0));
  };
  auto narrow = [&](const Range &range) {
    auto [first, left] = range;
    Value piece = b.ceilDiv(left, b.getGpu().waveSize);
    Value mine = arith::MulIOp::create(b, b.lane(), piece);
    Value last = b.sub(b.min(b.add(mine, piece), left), 1);
    Value isBefore =
        b.both(b.isLess(mine, left), b.isLess(getId(b.add(first, last)), end));
    Value pieces = arith::IndexCastUIOp::create(
        b, b.getIndexType(),
        math::CtPopOp::create(b, ballot(b, isBefore)).getResult());
    Value passed = b.min(b.mul(pieces, piece), left);
    // The last id of the piece that is left is not before the end.
    left = b.min(b.sub(left, passed), b.sub(piece, 1));
    return Range{b.add(first, passed), left};
  };
  Range all = {b.index(0), getCount()};
  return takeWhile(b, all, isAnyLeft, narrow).first;
}

Value gist::getLogCount(GpuBuilder &b, Value count, double scale) {
  Value number = arith::UIToFPOp::create(b, b.getF32Type(), count);
  Value log = math::Log2Op::create(b, number, arith::FastMathFlags::afn);
  Value scaled =
      arith::MulFOp::create(b, log, b.f32(std::numbers::ln2 / scale));
  Value isNone =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, count, b.i32(0));
  return b.select(isNone, b.f32(-std::numeric_limits<double>::infinity()),
                  scaled);
}
