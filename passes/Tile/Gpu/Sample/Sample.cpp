//===- Sample.cpp - Draws tokens on GPUs ----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup has a row, which it reads from the caches many times. Nothing is
// sorted: the bits of logits, turned so that they are in the order of numbers,
// are searched bit by bit for the last that top-k or top-p keeps, with a count
// or a sum over the row for each bit; likewise the number of the token that is
// drawn. Sums of whole numbers are exact in any order. Greedy sampling reads
// the row once.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Sample/Sample.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Core/Carried.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using arith::CmpIPredicate;

/// Neighbouring tokens that a thread reads at once, and how often it does so
/// before it waits.
static constexpr int64_t kWidth = 4, kReadsAtOnce = 2;
static constexpr int64_t kThreads = 1024; ///< of a row
/// What a share is a part of; one of it is everything.
static constexpr int64_t kWholeShare = int64_t(1) << 32;

/// The number of tokens, padded so that no thread has to check whether its
/// token exists.
static int64_t getKeptTokens(int64_t tokens) {
  int64_t chunk = kThreads * kWidth;
  int64_t chunks = llvm::divideCeil(tokens, chunk);
  return chunk * llvm::alignTo(chunks, std::min(chunks, kReadsAtOnce));
}

namespace {
/// The tokens that top-k or top-p keep: those of a larger order than that of
/// the last of them, and of those of its order the ones before `end`.
struct Cut {
  Value order, end;
  auto getParts() { return std::tie(order, end); }
};

/// What is kept of a token: an i32 each. Padding behind the row's last token
/// has weight and order 0.
struct Token {
  Value number, weight, order;
};

class Sample {
public:
  Sample(GpuKernel &kernel, SampleOp op)
      : emitter(kernel.emitter), b(kernel.b), op(op), row(b.block(0)),
        size(op.getLogits().getType().getDimSize(1)),
        idBits(llvm::Log2_64_Ceil(size)), i32(b.getI32Type()),
        i64(b.getI64Type()),
        memory(emitter.asMemory(kernel.source.getArguments().back())->buffer),
        chunk(b.getThreads() * kWidth), chunks(getKeptTokens(size) / chunk) {}

  void emit();

private:
  using OfToken = function_ref<Value(const Token &token)>;
  using OfNumber = function_ref<Value(Value number)>;

  Value number(Type type, int64_t value) {
    return arith::ConstantIntOp::create(b, type, value);
  }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value getSetting(SampleField field) {
    return emitter.element(op.getSettings(),
                           {row, b.index(static_cast<int64_t>(field))});
  }
  Value getLogit(Value token) {
    return emitter.element(op.getLogits(), {row, token});
  }

  Value createOrder(Value logit);
  Value findFirstKey();

  // A thread has `kWidth` neighbours of every chunk, and reads what it has
  // written itself: no barrier is needed.
  enum Kept : int64_t { Weight, Order };
  Value getFirstOwn(Value number) {
    return b.add(b.mul(number, chunk), b.mul(b.thread(), kWidth));
  }
  void write(ValueRange lanes, Kept kept, Value first) {
    b.write(b.concat(lanes), memory, {row, b.index(kept), first});
  }
  SmallVector<Token, kWidth> read(Value first);
  void keepTokens(Value best);

  Value sum(Type type, OfToken getTerm);
  Value count(OfToken holds);
  Value getWeight(const Token &token, Value isCounted);
  Value sumWeights(OfToken holds);
  Value findLargest(int64_t bits, OfNumber holds);

  Value isKept(const Cut &cut, const Token &token);
  Cut cutByCount(Value limit);
  Cut cutByWeight(const Cut &before, Value share);
  void forget(const Cut &cut);
  Value findDrawn();
  Value draw();

  ElementEmitter &emitter;
  GpuBuilder &b;
  SampleOp op;
  Value row;
  int64_t size, idBits;
  Type i32, i64;
  Value memory;
  int64_t chunk, chunks; ///< tokens that all threads read at once; how many
};
} // namespace

//===----------------------------------------------------------------------===//
// Numbers of the row
//===----------------------------------------------------------------------===//

/// An unsigned number, from 1, that is larger for larger logits; 0 for NaN.
Value Sample::createOrder(Value logit) {
  // Both zeros are the same number.
  logit = b.add(logit, b.f32(0));
  Value bits = arith::BitcastOp::create(b, i32, logit);
  // Of negative numbers all bits are turned, of others the sign.
  Value turned = either(arith::ShRSIOp::create(b, bits, b.i32(31)),
                        b.i32(std::numeric_limits<int32_t>::min()));
  Value isNan = b.compare(arith::CmpFPredicate::UNO, logit, logit);
  return b.select(isNan, b.i32(0), arith::XOrIOp::create(b, bits, turned));
}

/// The largest key of the row: the order of a token, then the token turned
/// round, so that of equal logits the first has the largest. 0 where all are
/// NaN.
Value Sample::findFirstKey() {
  // Tokens of a thread whose loads are in flight together.
  constexpr int64_t kAtOnce = 16;
  int64_t width = size % kWidth == 0 ? kWidth : 1;
  int64_t together = b.getThreads() * width;
  Value lastId = b.i32((int64_t(1) << idBits) - 1);
  // A thread sees its tokens in their order, so a larger order alone decides:
  // half of the arithmetic that whole keys take, of which there is one at the
  // end. Behind the last token a thread sees some of the last again.
  auto step = [&](Value first, ValueRange carried) {
    Value largest = carried[0], best = carried[1];
    Values tokens, logits;
    for (int64_t i = 0; i < kAtOnce; i += width) {
      Value token =
          b.add(b.add(first, b.mul(b.thread(), width)), i / width * together);
      tokens.push_back(b.min(token, b.index(size - width)));
      logits.push_back(
          width == 1
              ? getLogit(tokens.back())
              : emitter.elements(op.getLogits(), {row, tokens.back()}, width));
    }
    for (auto [token, numbers] : llvm::zip_equal(tokens, logits))
      for (int64_t i = 0; i < width; ++i) {
        Value order = createOrder(width == 1 ? numbers : b.extract(numbers, i));
        Value isLarger = b.compare(CmpIPredicate::ugt, order, largest);
        largest = b.select(isLarger, order, largest);
        best = b.select(isLarger, b.toI32(b.add(token, i)), best);
      }
    return Values{largest, best};
  };
  Values mine = b.loop(b.index(0), b.index(size), b.getThreads() * kAtOnce,
                       {b.i32(0), lastId}, step);
  // An order has 32 bits and a token at most 24 (gist.sample, C2), so that a
  // key is positive as an i64 and comparisons may be signed.
  Value order = arith::ExtUIOp::create(b, i64, mine[0]);
  Value turned = arith::ExtUIOp::create(
      b, i64, arith::SubIOp::create(b, lastId, mine[1]).getResult());
  Value key =
      either(arith::ShLIOp::create(b, order, number(i64, idBits)), turned);
  return b.workgroupReduce(key, GpuBuilder::Kind::MAXSI);
}

SmallVector<Token, kWidth> Sample::read(Value first) {
  Value weights = b.read(memory, {row, b.index(Weight), first}, kWidth);
  Value orders = b.read(memory, {row, b.index(Order), first}, kWidth);
  SmallVector<Token, kWidth> tokens;
  for (int64_t i = 0; i < kWidth; ++i)
    tokens.push_back({b.toI32(b.add(first, i)), b.extract(weights, i),
                      b.extract(orders, i)});
  return tokens;
}

void Sample::keepTokens(Value best) {
  Value scale = arith::BitcastOp::create(
      b, b.getF32Type(),
      arith::TruncIOp::create(b, i32, getSetting(SampleField::Scale))
          .getResult());
  b.forEach(b.index(0), b.index(chunks), b.index(1), [&](Value number) {
    Value first = getFirstOwn(number);
    Values weights, orders;
    for (int64_t i = 0; i < kWidth; ++i) {
      Value token = b.add(first, i), isThere = b.isLess(token, size);
      Value logit = getLogit(b.min(token, b.index(size - 1)));
      Value weight = arith::TruncIOp::create(
          b, i32, createSampleWeight(b, logit, best, scale));
      weights.push_back(b.select(isThere, weight, b.i32(0)));
      orders.push_back(b.select(isThere, createOrder(logit), b.i32(0)));
    }
    write(weights, Weight, first);
    write(orders, Order, first);
  });
}

/// Terms of all tokens.
Value Sample::sum(Type type, OfToken getTerm) {
  // getKeptTokens() has rounded the number of chunks up to a multiple of it.
  int64_t together = std::min(chunks, kReadsAtOnce);
  auto step = [&](Value first, ValueRange carried) {
    Value total = carried[0];
    for (int64_t i = 0; i < together; ++i)
      for (const Token &token : read(getFirstOwn(b.add(first, i))))
        total = arith::AddIOp::create(b, total, getTerm(token));
    return Values{total};
  };
  Value mine =
      b.loop(b.index(0), b.index(chunks), together, number(type, 0), step)
          .front();
  return b.workgroupReduce(mine, GpuBuilder::Kind::ADD);
}

Value Sample::count(OfToken holds) {
  return sum(i32, [&](const Token &token) -> Value {
    return arith::ExtUIOp::create(b, i32, holds(token));
  });
}

Value Sample::getWeight(const Token &token, Value isCounted) {
  Value weight = b.select(isCounted, token.weight, b.i32(0));
  return arith::ExtUIOp::create(b, i64, weight);
}

Value Sample::sumWeights(OfToken holds) {
  return sum(
      i64, [&](const Token &token) { return getWeight(token, holds(token)); });
}

/// The largest unsigned number of `bits` bits for which the condition holds.
/// The condition is monotonic and holds for 0.
Value Sample::findLargest(int64_t bits, OfNumber holds) {
  auto step = [&](Value step, ValueRange carried) {
    Value shift = arith::SubIOp::create(b, b.i32(bits - 1), b.toI32(step));
    Value next = either(carried[0], arith::ShLIOp::create(b, b.i32(1), shift));
    return Values{b.select(holds(next), next, carried[0])};
  };
  return b.loop(b.index(0), b.index(bits), 1, b.i32(0), step).front();
}

//===----------------------------------------------------------------------===//
// The draw
//===----------------------------------------------------------------------===//

Value Sample::isKept(const Cut &cut, const Token &token) {
  Value isLast = b.both(b.compare(CmpIPredicate::eq, token.order, cut.order),
                        b.compare(CmpIPredicate::slt, token.number, cut.end));
  return either(b.compare(CmpIPredicate::ugt, token.order, cut.order), isLast);
}

/// The first `limit` tokens.
Cut Sample::cutByCount(Value limit) {
  limit = arith::TruncIOp::create(b, i32, limit);
  auto countFrom = [&](Value order) {
    return count([&](const Token &token) {
      return b.compare(CmpIPredicate::uge, token.order, order);
    });
  };
  Value order = findLargest(32, [&](Value next) {
    return b.compare(CmpIPredicate::sge, countFrom(next), limit);
  });
  // It is rare that more tokens have the last logit than are needed. All
  // threads have the same sums, so all take the same branch.
  Value isExact = b.compare(CmpIPredicate::eq, countFrom(order), limit);
  Value end = b.ifElse(
      isExact, [&] { return b.i32(size); },
      [&] {
        return findLargest(idBits + 1, [&](Value next) {
          Value kept = count(
              [&](const Token &token) { return isKept({order, next}, token); });
          return b.compare(CmpIPredicate::sle, kept, limit);
        });
      });
  return {order, end};
}

/// The first of the tokens that `before` keeps that have together `share` of
/// what these weigh.
Cut Sample::cutByWeight(const Cut &before, Value share) {
  Value total =
      sumWeights([&](const Token &token) { return isKept(before, token); });
  Value enough =
      arith::MaxSIOp::create(b, number(i64, 1), createShare(b, total, share));
  Value order = findLargest(32, [&](Value next) {
    Value sum = sumWeights([&](const Token &token) {
      return b.compare(CmpIPredicate::uge, token.order, next);
    });
    return b.compare(CmpIPredicate::sge, sum, enough);
  });
  Value equals = count([&](const Token &token) {
    return b.compare(CmpIPredicate::eq, token.order, order);
  });
  Value end = b.ifElse(
      b.compare(CmpIPredicate::eq, equals, b.i32(1)),
      [&] { return b.i32(size); },
      [&] {
        // The one at which the sum is still too small is kept as well.
        Value last = findLargest(idBits, [&](Value next) {
          Value sum = sumWeights(
              [&](const Token &token) { return isKept({order, next}, token); });
          return b.compare(CmpIPredicate::slt, sum, enough);
        });
        return Value(arith::AddIOp::create(b, last, b.i32(1)));
      });
  return {order, end};
}

/// Sets the weight of the tokens that are cut off to 0.
void Sample::forget(const Cut &cut) {
  Value least = arith::TruncIOp::create(b, i32, getSetting(SampleField::Least));
  b.forEach(b.index(0), b.index(chunks), b.index(1), [&](Value number) {
    Value first = getFirstOwn(number);
    Values weights;
    for (const Token &token : read(first)) {
      Value isChosen =
          b.both(isKept(cut, token),
                 b.compare(CmpIPredicate::sge, token.weight, least));
      weights.push_back(b.select(isChosen, token.weight, b.i32(0)));
    }
    write(weights, Weight, first);
  });
}

/// The first token up to which weights add up to more than is drawn: the chunk
/// that has it, then the token.
Value Sample::findDrawn() {
  auto isAny = [&](const Token &) -> Value {
    return arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  };
  Value drawn =
      createShare(b, sumWeights(isAny), getSetting(SampleField::Random));
  auto sumOwn = [&](Value first, OfToken holds) {
    Value total = number(i64, 0);
    for (const Token &token : read(first))
      total = arith::AddIOp::create(b, total, getWeight(token, holds(token)));
    return b.workgroupReduce(total, GpuBuilder::Kind::ADD);
  };
  // The last chunk for which the sum before it is at most `drawn`, and that
  // sum.
  auto step = [&](Value number, ValueRange carried) {
    Value sum = arith::AddIOp::create(b, carried[0],
                                      sumOwn(getFirstOwn(number), isAny));
    Value isBefore = b.compare(CmpIPredicate::sle, sum, drawn);
    return Values{sum, b.select(isBefore, sum, carried[1]),
                  b.select(isBefore, b.add(number, 1), carried[2])};
  };
  Value zero = number(i64, 0);
  Values found =
      b.loop(b.index(0), b.index(chunks), 1, {zero, zero, b.index(0)}, step);
  Value before = found[1];
  // At most the last chunk: rounding must not select one past it.
  Value which = b.min(found[2], b.index(chunks - 1));
  Value start = b.toI32(b.mul(which, chunk));
  Value place = findLargest(llvm::Log2_64(chunk), [&](Value end) {
    Value last = arith::AddIOp::create(b, start, end);
    Value sum = sumOwn(getFirstOwn(which), [&](const Token &token) {
      return b.compare(CmpIPredicate::slt, token.number, last);
    });
    return b.compare(CmpIPredicate::sle,
                     arith::AddIOp::create(b, before, sum).getResult(), drawn);
  });
  return arith::AddIOp::create(b, start, place);
}

/// The token of a row that has one, by its weights.
Value Sample::draw() {
  // Tokens of order 0 are NaNs and padding, which have no weight.
  Cut all = {b.i32(0), b.i32(size)};
  Value topK = getSetting(SampleField::TopK);
  Cut cut = takeIf(b, b.compare(CmpIPredicate::slt, topK, number(i64, size)),
                   all, [&](const Cut &) { return cutByCount(topK); });
  Value topP = getSetting(SampleField::TopP);
  cut = takeIf(b, b.compare(CmpIPredicate::slt, topP, number(i64, kWholeShare)),
               cut, [&](const Cut &cut) { return cutByWeight(cut, topP); });
  forget(cut);
  return findDrawn();
}

void Sample::emit() {
  Value first = findFirstKey();
  Value idMask = number(i64, (int64_t(1) << idBits) - 1);
  Value best = arith::TruncIOp::create(
      b, i32,
      arith::SubIOp::create(b, idMask,
                            arith::AndIOp::create(b, first, idMask).getResult())
          .getResult());
  // Orders below this are those of -infinity and NaN.
  Value isThere = b.compare(CmpIPredicate::sge, first,
                            number(i64, int64_t(0x00800000) << idBits));
  Value isDrawn =
      b.both(isThere, b.compare(CmpIPredicate::ne,
                                getSetting(SampleField::TopK), number(i64, 1)));
  Value token = b.ifElse(
      isDrawn,
      [&] {
        keepTokens(getLogit(b.toIndex(best)));
        return draw();
      },
      [&] { return b.select(isThere, best, b.i32(-1)); });
  b.ifThen(b.isEqual(b.thread(), 0), [&] { emitter.store(0, row, token); });
}

FailureOr<GpuGrid> gist::emitSample(GpuKernel &kernel, SampleOp op) {
  // The token, and the memory that getSampleScratch asks for.
  if (kernel.source.getNumResults() != 2)
    return op.emitOpError("needs memory for what it keeps of tokens");
  Sample(kernel, op).emit();
  FailureOr<AffineExpr> rows =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0).front());
  if (failed(rows))
    return failure();
  return GpuGrid{*rows};
}

GpuRowsAttr gist::selectSampleTile(SampleOp op, const GpuInfo &gpu) {
  return GpuRowsAttr::get(op.getContext(), /*rows=*/1, kThreads / gpu.waveSize,
                          /*columns=*/0);
}

/// Memory and sums are laid out for one number of threads.
static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  if (failed(expectTile<GpuRowsAttr>(kernel)))
    return failure();
  auto tile = cast<GpuRowsAttr>(kernel->getAttr(kTileAttr));
  GpuRowsAttr only = selectSampleTile(findRoot<SampleOp>(kernel), gpu);
  if (tile == only)
    return success();
  return kernel.emitOpError("samples, which is cut as ")
         << only << " on " << gpu.name << " and not otherwise, got " << tile;
}

/// Two i32 of every token: its weight and its order.
static FailureOr<KernelScratch> getSampleScratch(func::FuncOp kernel) {
  auto op = findRoot<SampleOp>(kernel);
  FailureOr<SmallVector<AffineExpr>> sizes =
      getSizeExprs(kernel, op.getLogits());
  if (failed(sizes))
    return failure();
  MLIRContext *context = kernel.getContext();
  int64_t tokens = getKeptTokens(op.getLogits().getType().getDimSize(1));
  KernelScratch scratch;
  scratch.tensors.push_back({{sizes->front(), getAffineConstantExpr(2, context),
                              getAffineConstantExpr(tokens, context)},
                             IntegerType::get(context, 32)});
  return scratch;
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuSampleKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuSampleKernel = {
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      return selectSampleTile(findRoot<SampleOp>(kernel), gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      return emitSample(kernel, findRoot<SampleOp>(kernel.source));
    },
    .verify = verifyTile,
    .scratch = getSampleScratch,
};
