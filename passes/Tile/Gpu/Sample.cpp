//===- Sample.cpp - Draws tokens on GPUs ----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup has a row, which it reads from the caches time and again. Nothing
// is sorted: the bits of logits, turned so that they are in the order of
// numbers, are searched bit by bit for the last that top-k or top-p keeps, with
// a count or a sum over the row for each bit; likewise the number of the token
// that is drawn. Sums of whole numbers are exact in any order. Greedy sampling
// reads the row once.
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
static constexpr int64_t kTokensAtOnce = 8;
static constexpr int64_t kThreads = 1024;
/// What a share is a part of; one of it is everything.
static constexpr int64_t kWholeShare = int64_t(1) << 32;

namespace {
/// The tokens that top-k or top-p keep: those of a larger order than that of
/// the last of them, and of those of its order the ones before `end`.
struct Cut {
  Value order, end;
};

class Sample {
public:
  Sample(GpuKernel &kernel, SampleOp op)
      : emitter(kernel.emitter), b(kernel.b), op(op), row(b.block(0)),
        size(op.getLogits().getType().getDimSize(1)),
        idBits(llvm::Log2_64_Ceil(size)), i32(b.getI32Type()),
        i64(b.getI64Type()),
        memory(emitter.asMemory(kernel.source.getArguments().back())->buffer) {}

  void emit();

private:
  using OfToken = function_ref<Value(Value token)>;
  using OfNumber = function_ref<Value(Value number)>;

  Value number(Type type, int64_t value) {
    return arith::ConstantIntOp::create(b, type, value);
  }
  Value toNumber(Value index) {
    return arith::IndexCastOp::create(b, i32, index);
  }
  Value compare(CmpIPredicate predicate, Value x, Value y) {
    return b.compare(predicate, x, y);
  }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value getSetting(SampleField field) {
    return emitter.element(op.getSettings(),
                           {row, b.index(static_cast<int64_t>(field))});
  }
  Value getLogit(Value token) {
    return emitter.element(op.getLogits(), {row, token});
  }

  // What the kernel keeps of a token. A thread reads that of its own tokens
  // alone: none waits for others.
  enum Kept : int64_t { Weight, Order };
  Value getKept(Kept kept, Value token) {
    return b.read(memory, {row, b.index(kept), token});
  }
  void keep(Value value, Kept kept, Value token) {
    b.write(value, memory, {row, b.index(kept), token});
  }
  Value getWeight(Value token) {
    return arith::ExtUIOp::create(b, i64, getKept(Weight, token));
  }

  Value createOrder(Value logit);
  Value createFirstKey(Value token);

  Value reduce(GpuBuilder::Kind kind, Type type, OfToken getTerm);
  Value count(OfToken holds);
  Value sumWeights(OfToken holds);
  Value findLargest(int64_t bits, OfNumber holds);

  void keepTokens(Value best);
  Value isKept(const Cut &cut, Value token);
  Cut cutByCount(Value limit);
  Cut cutByWeight(const Cut &before, Value share);
  Cut choose(Value condition, function_ref<Cut()> then, const Cut &otherwise);
  Value draw();

  ElementEmitter &emitter;
  GpuBuilder &b;
  SampleOp op;
  Value row;
  int64_t size, idBits;
  Type i32, i64;
  Value memory;
};
} // namespace

//===----------------------------------------------------------------------===//
// Numbers of the row
//===----------------------------------------------------------------------===//

/// An unsigned number, from 1, that is larger for larger logits; 0 for NaN.
Value Sample::createOrder(Value logit) {
  // Both zeros are the same number.
  logit = arith::AddFOp::create(b, logit, b.f32(0));
  Value bits = arith::BitcastOp::create(b, i32, logit);
  // Of negative numbers all bits are turned, of others the sign.
  Value turned = either(arith::ShRSIOp::create(b, bits, b.i32(31)),
                        b.i32(std::numeric_limits<int32_t>::min()));
  Value isNan =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, logit, logit);
  return b.select(isNan, b.i32(0), arith::XOrIOp::create(b, bits, turned));
}

/// Larger for tokens that come before: the order, then the token turned round.
Value Sample::createFirstKey(Value token) {
  Value order = arith::ExtUIOp::create(b, i64, createOrder(getLogit(token)));
  Value turned = arith::SubIOp::create(
      b, number(i64, (int64_t(1) << idBits) - 1),
      arith::IndexCastOp::create(b, i64, token).getResult());
  return either(arith::ShLIOp::create(b, order, number(i64, idBits)), turned);
}

/// Terms of all tokens of the row, none of them negative.
Value Sample::reduce(GpuBuilder::Kind kind, Type type, OfToken getTerm) {
  int64_t step = b.getThreads() * kTokensAtOnce;
  Value zero = number(type, 0);
  Value mine =
      b.loop(b.index(0), b.index(size), step, zero,
             [&](Value first, ValueRange carried) {
               Value total = carried[0];
               for (int64_t i = 0; i < kTokensAtOnce; ++i) {
                 Value token =
                     b.add(b.add(first, b.thread()), i * b.getThreads());
                 Value isThere = b.isLess(token, size);
                 // Without a branch, so that all loads run together.
                 Value term = getTerm(b.min(token, b.index(size - 1)));
                 total = b.combine(kind, total, b.select(isThere, term, zero));
               }
               return Values{total};
             })
          .front();
  return b.workgroupReduce(mine, kind);
}

Value Sample::count(OfToken holds) {
  return reduce(GpuBuilder::Kind::ADD, i32, [&](Value token) -> Value {
    return arith::ExtUIOp::create(b, i32, holds(token));
  });
}

Value Sample::sumWeights(OfToken holds) {
  return reduce(GpuBuilder::Kind::ADD, i64, [&](Value token) -> Value {
    Value weight = getWeight(token);
    return b.select(holds(token), weight, number(i64, 0));
  });
}

/// The largest i32 of so many bits, unsigned, for which the condition holds: it
/// does for 0, and for none above one for which it does not.
Value Sample::findLargest(int64_t bits, OfNumber holds) {
  auto step = [&](Value step, ValueRange carried) {
    Value shift = arith::SubIOp::create(b, b.i32(bits - 1), toNumber(step));
    Value next = either(carried[0], arith::ShLIOp::create(b, b.i32(1), shift));
    return Values{b.select(holds(next), next, carried[0])};
  };
  return b.loop(b.index(0), b.index(bits), 1, b.i32(0), step).front();
}

//===----------------------------------------------------------------------===//
// The draw
//===----------------------------------------------------------------------===//

void Sample::keepTokens(Value best) {
  Value scale = arith::BitcastOp::create(
      b, b.getF32Type(),
      arith::TruncIOp::create(b, i32, getSetting(SampleField::Scale))
          .getResult());
  b.forEach(b.thread(), b.index(size), b.index(b.getThreads()),
            [&](Value token) {
              Value logit = getLogit(token);
              Value weight = createSampleWeight(b, logit, best, scale);
              keep(arith::TruncIOp::create(b, i32, weight), Weight, token);
              keep(createOrder(logit), Order, token);
            });
}

Value Sample::isKept(const Cut &cut, Value token) {
  Value order = getKept(Order, token);
  Value isLast = b.both(compare(CmpIPredicate::eq, order, cut.order),
                        compare(CmpIPredicate::slt, toNumber(token), cut.end));
  return either(compare(CmpIPredicate::ugt, order, cut.order), isLast);
}

/// The first `limit` tokens.
Cut Sample::cutByCount(Value limit) {
  limit = arith::TruncIOp::create(b, i32, limit);
  auto countFrom = [&](Value order) {
    return count([&](Value token) {
      return compare(CmpIPredicate::uge, getKept(Order, token), order);
    });
  };
  Value order = findLargest(32, [&](Value next) {
    return compare(CmpIPredicate::sge, countFrom(next), limit);
  });
  // Seldom are there more of the last logit than are needed.
  Value isExact = compare(CmpIPredicate::eq, countFrom(order), limit);
  Value end = b.ifElse(
      isExact, [&] { return b.i32(size); },
      [&] {
        return findLargest(idBits + 1, [&](Value next) {
          Value kept =
              count([&](Value token) { return isKept({order, next}, token); });
          return compare(CmpIPredicate::sle, kept, limit);
        });
      });
  return {order, end};
}

/// The first of the tokens that `before` keeps that have together `share` of
/// what these weigh.
Cut Sample::cutByWeight(const Cut &before, Value share) {
  Value total = sumWeights([&](Value token) { return isKept(before, token); });
  Value enough =
      arith::MaxSIOp::create(b, number(i64, 1), createShare(b, total, share));
  Value order = findLargest(32, [&](Value next) {
    Value sum = sumWeights([&](Value token) {
      return compare(CmpIPredicate::uge, getKept(Order, token), next);
    });
    return compare(CmpIPredicate::sge, sum, enough);
  });
  Value equals = count([&](Value token) {
    return compare(CmpIPredicate::eq, getKept(Order, token), order);
  });
  Value end = b.ifElse(
      compare(CmpIPredicate::eq, equals, b.i32(1)), [&] { return b.i32(size); },
      [&] {
        // The one at which the sum is still too small is kept as well.
        Value last = findLargest(idBits, [&](Value next) {
          Value sum = sumWeights(
              [&](Value token) { return isKept({order, next}, token); });
          return compare(CmpIPredicate::slt, sum, enough);
        });
        return Value(arith::AddIOp::create(b, last, b.i32(1)));
      });
  return {order, end};
}

Cut Sample::choose(Value condition, function_ref<Cut()> then,
                   const Cut &otherwise) {
  Type types[] = {i32, i32};
  auto branch = scf::IfOp::create(b, types, condition, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  Cut cut = then();
  scf::YieldOp::create(b, ValueRange{cut.order, cut.end});
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, ValueRange{otherwise.order, otherwise.end});
  return {branch.getResult(0), branch.getResult(1)};
}

/// The token of a row that has one, by its weights.
Value Sample::draw() {
  Cut all = {b.i32(0), b.i32(size)};
  Value topK = getSetting(SampleField::TopK);
  Cut cut = choose(
      compare(CmpIPredicate::slt, topK, number(i64, size)),
      [&] { return cutByCount(topK); }, all);
  Value topP = getSetting(SampleField::TopP);
  cut = choose(
      compare(CmpIPredicate::slt, topP, number(i64, kWholeShare)),
      [&] { return cutByWeight(cut, topP); }, cut);

  // From here on who is not chosen weighs nothing.
  Value least = getSetting(SampleField::Least);
  b.forEach(b.thread(), b.index(size), b.index(b.getThreads()),
            [&](Value token) {
              Value isChosen =
                  b.both(isKept(cut, token),
                         compare(CmpIPredicate::sge, getWeight(token), least));
              Value weight = getKept(Weight, token);
              keep(b.select(isChosen, weight, b.i32(0)), Weight, token);
            });
  auto sumBefore = [&](Value end) {
    return sumWeights([&](Value token) {
      return compare(CmpIPredicate::slt, toNumber(token), end);
    });
  };
  Value drawn =
      createShare(b, sumBefore(b.i32(size)), getSetting(SampleField::Random));
  return findLargest(idBits, [&](Value end) {
    return compare(CmpIPredicate::sle, sumBefore(end), drawn);
  });
}

void Sample::emit() {
  Value first = reduce(GpuBuilder::Kind::MAXSI, i64,
                       [&](Value token) { return createFirstKey(token); });
  Value idMask = number(i64, (int64_t(1) << idBits) - 1);
  Value best = arith::TruncIOp::create(
      b, i32,
      arith::SubIOp::create(b, idMask,
                            arith::AndIOp::create(b, first, idMask).getResult())
          .getResult());
  // Below is what -infinity and NaN give.
  Value isThere = compare(CmpIPredicate::sge, first,
                          number(i64, int64_t(0x00800000) << idBits));
  Value isDrawn =
      b.both(isThere, compare(CmpIPredicate::ne, getSetting(SampleField::TopK),
                              number(i64, 1)));
  Value token = b.ifElse(
      isDrawn,
      [&] {
        keepTokens(
            getLogit(arith::IndexCastOp::create(b, b.getIndexType(), best)));
        return draw();
      },
      [&] { return b.select(isThere, best, b.i32(-1)); });
  b.ifThen(b.isEqual(b.thread(), 0), [&] { emitter.store(0, row, token); });
}

FailureOr<GpuGrid> gist::emitSample(GpuKernel &kernel, SampleOp op) {
  if (kernel.source.getNumResults() != 2)
    return op.emitOpError("needs memory for what it keeps of tokens");
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
