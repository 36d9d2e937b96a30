//===- Sample.cpp - Draws tokens on GPUs ----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup has a row, which a few thousand cycles read from the caches.
// Nothing is sorted: the order of tokens is that of numbers, the bits of a
// logit above those of the token, so the last of the first tokens, by their
// number or by their weight, is found bit by bit, and so is the token drawn.
// That is a sum over the row for each bit; sums of whole numbers are exact in
// any order. Greedy sampling reads the row once.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Sample.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Tile/Kernels.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using arith::CmpIPredicate;

/// Tokens of a thread whose loads are in flight together.
static constexpr int64_t kTokensAtOnce = 4;
static constexpr int64_t kThreads = 1024;
/// What a share is a part of; one of it is everything.
static constexpr int64_t kWholeShare = int64_t(1) << 32;

namespace {
class Sample {
public:
  Sample(GpuKernel &kernel, SampleOp op)
      : emitter(kernel.emitter), b(kernel.b), op(op), row(b.block(0)),
        size(op.getLogits().getType().getDimSize(1)),
        idBits(llvm::Log2_64_Ceil(size)),
        memory(emitter.asMemory(kernel.source.getArguments().back())->buffer) {}

  void emit();

private:
  Value i64(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(b, b.getI64Type(), index);
  }
  Value shiftLeft(Value x, int64_t bits) {
    return arith::ShLIOp::create(b, x, i64(bits));
  }
  Value getSetting(SampleField field) {
    return emitter.element(op.getSettings(),
                           {row, b.index(static_cast<int64_t>(field))});
  }
  Value getLogit(Value token) {
    return emitter.element(op.getLogits(), {row, token});
  }
  Value getWeight(Value token) {
    return arith::ExtUIOp::create(b, b.getI64Type(),
                                  b.read(memory, {row, token}));
  }
  Value getKey(Value token);

  Value reduce(GpuBuilder::Kind kind, function_ref<Value(Value)> getTerm);
  Value sumWhere(function_ref<Value(Value)> getTerm,
                 function_ref<Value(Value)> holds);
  Value findLargest(int64_t bits, function_ref<Value(Value number)> createSum,
                    function_ref<Value(Value sum)> holds);
  void writeWeights(Value bestToken);
  Value draw();

  ElementEmitter &emitter;
  GpuBuilder &b;
  SampleOp op;
  Value row;
  int64_t size, idBits;
  Value memory; ///< of the weights
};
} // namespace

/// A number, from 1, that is larger for tokens that come before; 0 for NaN.
Value Sample::getKey(Value token) {
  // Both zeros are the same number.
  Value logit = arith::AddFOp::create(b, getLogit(token), b.f32(0));
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), logit);
  // Of negative numbers all bits are turned, of others the sign.
  Value flipped = arith::OrIOp::create(
      b, arith::ShRSIOp::create(b, bits, b.i32(31)).getResult(),
      b.i32(std::numeric_limits<int32_t>::min()));
  Value order = arith::XOrIOp::create(b, bits, flipped);
  Value high =
      shiftLeft(arith::ExtUIOp::create(b, b.getI64Type(), order), idBits);
  Value low =
      arith::SubIOp::create(b, i64((int64_t(1) << idBits) - 1), toI64(token));
  Value isNan =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, logit, logit);
  return b.select(isNan, i64(0), arith::OrIOp::create(b, high, low));
}

/// Terms of all tokens of the row, none of them negative.
Value Sample::reduce(GpuBuilder::Kind kind,
                     function_ref<Value(Value)> getTerm) {
  int64_t step = b.getThreads() * kTokensAtOnce;
  Value mine =
      b.loop(b.index(0), b.index(size), step, i64(0),
             [&](Value first, ValueRange carried) {
               Value total = carried[0];
               for (int64_t i = 0; i < kTokensAtOnce; ++i) {
                 Value token =
                     b.add(b.add(first, b.thread()), i * b.getThreads());
                 Value isThere = b.isLess(token, size);
                 // Without a branch, so that all loads run together.
                 Value term = getTerm(b.min(token, b.index(size - 1)));
                 total =
                     b.combine(kind, total, b.select(isThere, term, i64(0)));
               }
               return Values{total};
             })
          .front();
  return b.workgroupReduce(mine, kind);
}

Value Sample::sumWhere(function_ref<Value(Value)> getTerm,
                       function_ref<Value(Value)> holds) {
  return reduce(GpuBuilder::Kind::ADD, [&](Value token) {
    return b.select(holds(token), getTerm(token), i64(0));
  });
}

/// The largest number of `bits` bits for whose sum the condition holds: it does
/// for 0, and for no number above one for which it does not.
Value Sample::findLargest(int64_t bits, function_ref<Value(Value)> createSum,
                          function_ref<Value(Value)> holds) {
  return b
      .loop(b.index(0), b.index(bits), 1, i64(0),
            [&](Value step, ValueRange carried) {
              Value shift =
                  arith::SubIOp::create(b, i64(bits - 1), toI64(step));
              Value next = arith::OrIOp::create(
                  b, carried[0], arith::ShLIOp::create(b, i64(1), shift));
              Value isRight = holds(createSum(next));
              return Values{b.select(isRight, next, carried[0])};
            })
      .front();
}

/// A thread reads the weights of its own tokens alone: none waits for others.
void Sample::writeWeights(Value bestToken) {
  Value best = getLogit(bestToken);
  Value scale = arith::BitcastOp::create(
      b, b.getF32Type(),
      arith::TruncIOp::create(b, b.getI32Type(), getSetting(SampleField::Scale))
          .getResult());
  b.forEach(
      b.thread(), b.index(size), b.index(b.getThreads()), [&](Value token) {
        Value weight = createSampleWeight(b, getLogit(token), best, scale);
        b.write(arith::TruncIOp::create(b, b.getI32Type(), weight), memory,
                {row, token});
      });
}

/// The token of a row that has one, by its weights.
Value Sample::draw() {
  auto weight = [&](Value token) { return getWeight(token); };
  auto one = [&](Value) { return i64(1); };
  int64_t keyBits = 32 + idBits;
  auto isFrom = [&](Value key) {
    return [this, key](Value token) {
      return b.compare(CmpIPredicate::sge, getKey(token), key);
    };
  };

  // The key of the last token that is among the first.
  Value topK = getSetting(SampleField::TopK);
  Value last = b.ifElse(
      b.compare(CmpIPredicate::slt, topK, i64(size)),
      [&] {
        return findLargest(
            keyBits, [&](Value key) { return sumWhere(one, isFrom(key)); },
            [&](Value sum) {
              return b.compare(CmpIPredicate::sge, sum, topK);
            });
      },
      [&] { return i64(0); });
  Value topP = getSetting(SampleField::TopP);
  last = b.ifElse(
      b.compare(CmpIPredicate::slt, topP, i64(kWholeShare)),
      [&] {
        Value total = sumWhere(weight, isFrom(last));
        Value enough =
            arith::MaxSIOp::create(b, i64(1), createShare(b, total, topP));
        return findLargest(
            keyBits, [&](Value key) { return sumWhere(weight, isFrom(key)); },
            [&](Value sum) {
              return b.compare(CmpIPredicate::sge, sum, enough);
            });
      },
      [&] { return last; });

  Value least = getSetting(SampleField::Least);
  auto isChosen = [&](Value token) {
    return b.both(isFrom(last)(token),
                  b.compare(CmpIPredicate::sge, getWeight(token), least));
  };
  Value drawn = createShare(b, sumWhere(weight, isChosen),
                            getSetting(SampleField::Random));
  return findLargest(
      idBits,
      [&](Value end) {
        return sumWhere(weight, [&](Value token) {
          return b.both(b.compare(CmpIPredicate::slt, toI64(token), end),
                        isChosen(token));
        });
      },
      [&](Value sum) { return b.compare(CmpIPredicate::sle, sum, drawn); });
}

void Sample::emit() {
  Value first = reduce(GpuBuilder::Kind::MAXSI,
                       [&](Value token) { return getKey(token); });
  Value idMask = i64((int64_t(1) << idBits) - 1);
  Value best = arith::SubIOp::create(
      b, idMask, arith::AndIOp::create(b, first, idMask).getResult());
  // Below is what -infinity and NaN give.
  Value isThere =
      b.compare(CmpIPredicate::sge, first, i64(int64_t(0x00800000) << idBits));
  Value isDrawn =
      b.both(isThere, b.compare(CmpIPredicate::ne,
                                getSetting(SampleField::TopK), i64(1)));
  Value token = b.ifElse(
      isDrawn,
      [&] {
        writeWeights(arith::IndexCastOp::create(b, b.getIndexType(), best));
        return draw();
      },
      [&] { return b.select(isThere, best, i64(-1)); });
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    emitter.store(0, row, arith::TruncIOp::create(b, b.getI32Type(), token));
  });
}

FailureOr<GpuGrid> gist::emitSample(GpuKernel &kernel, SampleOp op) {
  if (kernel.source.getNumResults() != 2)
    return op.emitOpError("needs memory for its weights");
  Sample(kernel, op).emit();
  FailureOr<AffineExpr> rows =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0).front());
  if (failed(rows))
    return failure();
  return GpuGrid{*rows};
}

GpuTileAttr gist::selectSampleTile(SampleOp op, const GpuInfo &gpu) {
  MLIRContext *context = op.getContext();
  return GpuTileAttr::get(context, {1}, 0, {kThreads / gpu.waveSize}, 1,
                          Instruction::Fma, Float32Type::get(context));
}
