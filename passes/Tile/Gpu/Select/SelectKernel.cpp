//===- SelectKernel.cpp - Selections as GPU kernels -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/SelectKernel.h"
#include "dialect/Formats.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Values = GpuBuilder::Values;

/// Rows of which one wave computes the norms one after the other.
static constexpr int64_t kNormRowsOfWave = 2;
/// Loads of a row that a lane has in flight at once, where rows are long.
static constexpr int64_t kNormLoads = 16;
/// Workgroups that a compute unit runs at once, where its memory allows.
static constexpr int64_t kWorkgroupsOfUnit = 2;

static Value getHead(GpuBuilder &b, Value tokens) {
  return cast<MemRefType>(tokens.getType()).getRank() == 3 ? b.block(1)
                                                           : Value();
}

static int64_t getNumHeads(Value tokens) {
  auto type = cast<MemRefType>(tokens.getType());
  return type.getRank() == 3 ? type.getDimSize(1) : 1;
}

/// Workgroups of one selection: all that the GPU runs at once.
static int64_t getNumWorkgroups(const GpuInfo &gpu, GpuSelectionAttr tile,
                                Value tokens) {
  auto type = cast<MemRefType>(tokens.getType());
  int64_t bytes = (tile.getRows() + tile.getColumns()) * tile.getDepth() *
                  tile.getStages() * tile.getElement().getIntOrFloatBitWidth() /
                  8;
  if (type.getElementType().isF32() && tile.getElement().isF16())
    bytes *= 2; // Both halves.
  bool isAlone = bytes * 2 > gpu.workgroupMemory;
  return llvm::divideCeil(gpu.computeUnits * (isAlone ? 1 : kWorkgroupsOfUnit),
                          getNumHeads(tokens));
}

/// The cosine that makes a token redundant; none does where tau is 0.
static Value getTheta(GpuBuilder &b, const SelectProblem &problem, Value head) {
  if (!problem.taus)
    return b.f32(problem.theta);
  return createTheta(b, b.read(problem.taus, head ? head : b.index(0)));
}

SelectKernel::SelectKernel(GpuBuilder &b, GpuSelectionAttr tile,
                           const SelectProblem &problem)
    : b(b), problem(problem), head(getHead(b, problem.tokens)),
      theta(getTheta(b, problem, head)), heads(::getNumHeads(problem.tokens)),
      workgroups(getNumWorkgroups(b.getGpu(), tile, problem.tokens)),
      groupTiles(tile.getGroup()), loadsTogether(tile.getLoads()),
      rounds(b, problem.to.control, problem.to.scratch, head, heads,
             b.size(problem.tokens, 0), hasColumns()),
      gram(b, tile, problem.tokens, head), compact(b) {
  found = b.allocWorkgroup({2}, b.getI32Type());
  if (gram.canStart())
    places = b.allocWorkgroup({b.getThreads() * kPlaceWords}, b.getI32Type());
  for (unsigned i : {0, 1})
    if (problem.offsets)
      begins[i] = b.allocWorkgroup({gram.getSide(i).extent}, b.getI32Type());
  if (hasColumns()) {
    kept = b.allocWorkgroup({kBitWords}, b.getI32Type());
    undecided = b.allocWorkgroup({kBitWords}, b.getI32Type());
    numListed = b.allocWorkgroup({1}, b.getI32Type());
  }
  if (canBeDirect()) {
    int64_t rows = getGroupRows(), tokens = getDirectTokens();
    bestOfGroup = b.allocWorkgroup({2 * rows}, b.getI32Type());
    bitsOfGroup = b.allocWorkgroup({rows, tokens / 32}, b.getI32Type());
    columnScales = b.allocWorkgroup({tokens}, b.getF32Type());
    rowScales = b.allocWorkgroup({rows}, b.getF32Type());
  }
}

Value SelectKernel::div32(Value x, Value y) {
  Value quotient = arith::DivUIOp::create(b, b.toI32(x), b.toI32(y));
  return arith::IndexCastUIOp::create(b, b.getIndexType(), quotient);
}

void SelectKernel::forTokens(Value begin, Value end,
                             function_ref<void(Value)> body) {
  b.forEach(b.add(begin, b.thread()), end, b.index(b.getThreads()), body);
}

void SelectKernel::forLoaded(Value begin, Value end,
                             function_ref<Values(Value)> load,
                             function_ref<void(Value, ArrayRef<Value>)> body) {
  int64_t threads = b.getThreads(), together = loadsTogether;
  b.forEach(b.add(begin, b.thread()), end, b.index(together * threads),
            [&](Value first) {
              Values numbers;
              SmallVector<Values> loaded;
              for (int64_t i = 0; i < together; ++i) {
                numbers.push_back(b.add(first, i * threads));
                loaded.push_back(load(b.min(numbers.back(), b.sub(end, 1))));
              }
              for (auto [i, values] : llvm::zip_equal(numbers, loaded))
                b.ifThen(b.isLess(i, end),
                         [&, i = i, &values = values] { body(i, values); });
            });
}

int64_t SelectKernel::getNormRows() const {
  return b.getThreads() / b.getGpu().waveSize * kNormRowsOfWave;
}

/// Whether an item is all rows that a workgroup has, as drawing more of them
/// takes longer than their norms; on gfx942 the loop's scalar registers would
/// spill.
static bool hasNormLoop(const GpuBuilder &b) {
  return b.getGpu().kind == GpuKind::Nvidia;
}

Value SelectKernel::getNumNorms() {
  Value sets = b.ceilDiv(rounds.tokens, getNormRows());
  return hasNormLoop(b) ? b.min(sets, b.index(workgroups)) : sets;
}

void SelectKernel::emit() {
  auto emitRounds = [&] {
    rounds.run(
        workgroups, [&] { return getNumNorms(); },
        [&](Value kind, Value item) { emitItem(kind, item); },
        [&] { decide(); });
  };
  // Both ways are in the code: how many tokens there are is known at the call.
  if (!canBeDirect())
    return emitRounds();
  Direct plan = planDirect();
  auto branch =
      scf::IfOp::create(b, TypeRange(), plan.fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitDirect(b.add(plan.norms, b.add(plan.shares, plan.groups)));
  b.setInsertionPointToStart(branch.elseBlock());
  emitRounds();
}

void SelectKernel::emitItem(Value kind, Value item) {
  auto when = [&](RoundKind which, function_ref<void()> body) {
    rounds.ifThenHere(b.isEqual(kind, static_cast<int64_t>(which)), body);
  };
  when(RoundKind::Norms, [&] { emitNorms(item); });
  when(RoundKind::Gram, [&] { emitGram(item); });
  if (hasHint())
    when(RoundKind::Check, [&] { emitCheck(item); });
  when(RoundKind::Mark, [&] { emitMark(item); });
  when(RoundKind::Close, [&] { emitClose(item); });
  when(RoundKind::Finish, [&] { emitFinish(item); });
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The squared norms of rows, of what rounding makes of them where a power is
/// given; all lanes of a wave take part.
Values SelectKernel::getSquares(ArrayRef<Value> tokens, Value power) {
  auto type = cast<MemRefType>(problem.tokens.getType());
  int64_t size = type.getShape().back();
  int64_t width = 16 * 8 / type.getElementTypeBitWidth();
  if (size % width != 0)
    width = 1;
  int64_t stride = b.getGpu().waveSize * width;
  // Adds `count` parts of each row, of which all loads come first.
  auto addParts = [&](Value column, ValueRange sums, int64_t count) {
    Values parts, next(sums);
    for (Value t : tokens)
      for (int64_t j = 0; j < count; ++j) {
        Value at = b.add(column, j * stride);
        Values place = head ? Values{t, head, at} : Values{t, at};
        parts.push_back(width == 1 ? b.read(problem.tokens, place)
                                   : b.read(problem.tokens, place, width));
      }
    keepOrder(b);
    for (auto [i, part] : llvm::enumerate(parts)) {
      part = b.toF32(part);
      if (power)
        part = gram.round(part, power);
      Value &sum = next[i / count];
      sum = b.fma(part, part, sum);
    }
    return next;
  };
  Value column = b.mul(b.lane(), width);
  Value zero =
      width == 1 ? b.f32(0) : b.constant(b.vectorOf(width, b.getF32Type()), 0);
  Values sums(tokens.size(), zero);
  auto addRange = [&](Value begin, Value end, int64_t count) {
    sums = b.loop(begin, end, stride * count, sums,
                  [&](Value column, ValueRange sums) {
                    return addParts(column, sums, count);
                  });
  };
  int64_t loads = std::clamp<int64_t>(size / stride, 1, kNormLoads);
  int64_t whole = llvm::alignDown(size, stride * loads);
  Value middle = b.add(column, whole);
  if (whole != 0)
    addRange(column, middle, loads);
  if (whole != size)
    addRange(middle, b.index(size), 1);
  auto plus = [&](Value x, Value y) -> Value { return b.add(x, y); };
  for (Value &sum : sums)
    sum = b.waveReduce(b.reduceLanes(sum, plus), plus);
  return sums;
}

void SelectKernel::emitNorms(Value item) {
  if (!hasNormLoop(b))
    return emitNormsOf(item);
  b.forEach(item, b.ceilDiv(rounds.tokens, getNormRows()), getNumNorms(),
            [&](Value set) { emitNormsOf(set); });
}

void SelectKernel::emitNormsOf(Value set) {
  // The last row again where there are no more.
  Values rows, tokens;
  for (int64_t i = 0; i < kNormRowsOfWave; ++i) {
    rows.push_back(b.add(b.mul(set, getNormRows()),
                         b.add(b.mul(b.wave(), kNormRowsOfWave), i)));
    tokens.push_back(b.min(rows.back(), b.sub(rounds.tokens, 1)));
  }
  Values squares = getSquares(tokens, {});
  for (int64_t i = 0; i < kNormRowsOfWave; ++i) {
    Value t = rows[i], square = squares[i];
    b.ifThen(b.isLess(t, rounds.tokens), [&] {
      Value scale = getScale(square);
      if (gram.isRounded()) {
        Value power = gram.getPower(scale);
        scale = b.div(
            power,
            math::SqrtOp::create(b, getSquares(t, power).front()).getResult());
      }
      b.ifThen(b.isEqual(b.lane(), 0), [&] {
        rounds.write(scale, SelectArray::Scales, t);
        clearToken(t);
      });
    });
  }
}

/// The inverse norm, from its square; NaN if the token has no direction.
Value SelectKernel::getScale(Value square) {
  // False for what is not a number: the comparisons are ordered.
  auto compare = [&](CmpFPredicate predicate, double bound) -> Value {
    return b.compare(predicate, square, b.f32(bound));
  };
  float infinity = std::numeric_limits<float>::infinity();
  Value hasDirection = b.both(compare(CmpFPredicate::OGT, 0),
                              compare(CmpFPredicate::OLT, infinity));
  Value inverse = b.div(b.f32(1), math::SqrtOp::create(b, square).getResult());
  return b.select(hasDirection, inverse,
                  b.f32(std::numeric_limits<float>::quiet_NaN()));
}

/// Nothing is known of a token yet but where its sequence begins.
void SelectKernel::clearToken(Value t) {
  for (SelectArray array :
       {SelectArray::Covered, SelectArray::Touched, SelectArray::Suspects,
        SelectArray::ColumnOf, SelectArray::Inherited})
    rounds.write(b.i32(0), array, t);
  for (int64_t half : {0, 1})
    b.write(b.i32(0), problem.to.scratch,
            rounds.getPlace(SelectArray::Best, b.add(b.mul(t, 2), half)));
  // Ids behind the last representative stay -1, as the op defines.
  b.write(b.i32(-1), problem.to.ids, at(t));
  if (problem.to.weight)
    b.write(b.i32(0), problem.to.weight, at(t));
  if (!problem.offsets)
    return;
  // The last beginning that is not after t.
  Value last = b.sub(b.size(problem.offsets, 0), 1);
  Value begin =
      b.loop(b.index(0), last, 1, b.index(0), [&](Value i, ValueRange carried) {
         Value offset = b.readNumber(problem.offsets, i);
         Value isBefore = b.compare(CmpIPredicate::sle, offset, t);
         return Values{b.select(isBefore, offset, carried[0])};
       }).front();
  rounds.write(begin, SelectArray::Begins, t);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void SelectKernel::writeNearest(Value t, Value owner,
                                function_ref<Value(Value)> getRank) {
  if (problem.to.nearest)
    b.write(owner, problem.to.nearest, at(t));
  if (!problem.to.weight)
    return;
  b.ifThen(b.compare(CmpIPredicate::sge, owner, b.i32(0)), [&] {
    Value slot = getRank(b.toIndex(owner));
    if (head)
      slot = b.add(b.mul(head, rounds.tokens), slot);
    atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1), problem.to.weight, slot);
  });
}

void SelectKernel::emitFinish(Value item) {
  Value t = b.add(b.mul(item, b.getThreads()), b.thread());
  Value exists = b.isLess(t, rounds.tokens);
  Value safe = b.min(t, b.sub(rounds.tokens, 1));
  Value isKept = b.isEqual(rounds.readNumber(SelectArray::Covered, safe), 0);
  Value low = b.read(problem.to.scratch,
                     rounds.getPlace(SelectArray::Best, b.mul(safe, 2)));
  Value high =
      b.read(problem.to.scratch,
             rounds.getPlace(SelectArray::Best, b.add(b.mul(safe, 2), 1)));
  Value owner = b.select(isKept, b.toI32(safe), getNearest(low, high));
  auto getRank = [&](Value id) {
    return rounds.readNumber(SelectArray::Rank, id);
  };
  b.ifThen(exists, [&] { writeNearest(t, owner, getRank); });
  if (!problem.to.removed)
    return;
  Value isCommon =
      b.both(b.both(exists, isKept),
             b.isEqual(rounds.readNumber(SelectArray::Inherited, safe), 1));
  Value common =
      b.workgroupReduce(arith::ExtUIOp::create(b, b.getI32Type(), isCommon),
                        GpuBuilder::Kind::ADD);
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    atomicUpdate(b, LLVM::AtomicBinOp::add, common, problem.to.control,
                 rounds.getControlPlace(kNumCommon));
  });
}
