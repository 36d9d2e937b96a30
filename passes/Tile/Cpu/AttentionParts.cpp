//===- AttentionParts.cpp - A single query's keys in parts ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// KV heads are fewer than threads, so the keys of a single query come in parts
// of kPartKeys, counted from the first key that the query sees. A part's
// workgroup leaves the largest score, the sum of weights and the output of each
// row, relative to that score. The workgroup that finishes last reads them in
// the order of keys, so that it does not matter which one it is:
//
//   m = max(m_i), w_i = 2^(m_i - m)
//   l = sum(w_i l_i), out = sum(w_i out_i)
//
// The grid has a part for each kPartKeys keys that there can be. Parts behind
// the last key that is seen end at once and are not counted.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistClusterOps.h"
#include "dialect/GistNames.h"
#include "passes/Kernel/ScaledRows.h"
#include "passes/Tile/Cpu/AttentionTileEmitter.h"
#include "passes/Tile/Cpu/BufferBuilder.h"
#include "passes/Tile/Cpu/CpuKernel.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;
using Attention = AttentionTileEmitter;

/// What a row of a part has besides its output, which lies behind it.
enum : int64_t { kLargest, kSum, kOutput };

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static bool hasPartMemory(func::FuncOp kernel) {
  unsigned count = kernel.getNumArguments();
  return count > 0 && kernel.getArgAttr(count - 1, kControlArgAttr);
}

/// Whether the number of queries may be one.
static bool mayBeOne(RankedTensorType query) {
  return query.isDynamicDim(0) || query.getDimSize(0) == 1;
}

/// Memory for attention of so many heads and at most `keys` keys.
static KernelScratch makePartScratch(func::FuncOp kernel, AffineExpr keys,
                                     int64_t kvHeads, int64_t heads,
                                     int64_t valueSize) {
  MLIRContext *context = kernel.getContext();
  KernelScratch scratch;
  // As many parts as there are, of which the last is perhaps not whole.
  int64_t numbers = countPartNumbers(heads, valueSize) / kPartKeys;
  scratch.tensors.push_back(
      {{(keys + (kPartKeys - 1)) * numbers}, Float32Type::get(context)});
  scratch.controlWords = kvHeads;
  // The workgroup that joins the parts of a head clears its word.
  scratch.leavesZero = true;
  return scratch;
}

FailureOr<KernelScratch> gist::getPartScratch(func::FuncOp kernel) {
  Value result = getReturn(kernel)->getOperand(0);
  if (auto op = result.getDefiningOp<AttentionOp>()) {
    RankedTensorType query = op.getQuery().getType(),
                     key = op.getKey().getType();
    if (!op.getCausal() || op.getOffsets() || !key.isDynamicDim(0) ||
        !mayBeOne(query) || query.isDynamicDim(1) || key.isDynamicDim(1) ||
        !isAttentionVectorizable(key, op.getValue().getType()))
      return KernelScratch();
    auto queries = getSizeExprs(kernel, op.getQuery());
    auto keys = getSizeExprs(kernel, op.getKey());
    if (failed(queries) || failed(keys))
      return failure();
    // Without tokens before a call, one query has one key.
    if (queries->front() == keys->front())
      return KernelScratch();
    return makePartScratch(kernel, keys->front(), key.getDimSize(1),
                           query.getDimSize(1),
                           op.getValue().getType().getDimSize(2));
  }
  auto op = result.getDefiningOp<ClusterAttentionOp>();
  if (!op || !mayBeOne(op.getQuery().getType()))
    return KernelScratch();
  auto queries = getSizeExprs(kernel, op.getQuery());
  FailureOr<AffineExpr> past = getSizeExpr(kernel, OpFoldResult(op.getPast()));
  if (failed(queries) || failed(past))
    return failure();
  // A cluster has a token at least.
  return makePartScratch(kernel, *past + queries->front(),
                         op.getHeads().getType().getDimSize(1),
                         op.getQuery().getType().getDimSize(1),
                         op.getValues().getType().getShape().back());
}

/// The memory of parts becomes buffers, which workgroups share.
static void shareMemory(RewriterBase &rewriter, func::FuncOp kernel) {
  constexpr unsigned kShared = 2;
  func::ReturnOp end = getReturn(kernel);
  unsigned results = end->getNumOperands() - kShared;
  rewriter.modifyOpInPlace(end, [&] {
    end->setOperands(SmallVector<Value>(end.getOperands().take_front(results)));
  });
  for (BlockArgument argument : kernel.getArguments().take_back(kShared))
    argument.setType(getBufferType(argument.getType()));
  kernel.setFunctionType(rewriter.getFunctionType(
      kernel.getBody().front().getArgumentTypes(), end.getOperandTypes()));
  kernel.removeResAttrsAttr();
}

/// In calls of many queries the workgroups of all parts but the first have
/// nothing to do. There parts come first, so that neighbours, which one thread
/// takes together, are not all workgroups that have. With one query heads come
/// first: their rows lie side by side.
static bool arePartsFirst(scf::ForallOp forall) {
  Operation *attention = nullptr;
  forall.walk([&](Operation *op) {
    if (isa<AttentionOp, ClusterAttentionOp>(op))
      attention = op;
  });
  auto query = cast<RankedTensorType>(attention->getOperand(0).getType());
  return query.isDynamicDim(0);
}

/// How many keys `attention` has at most.
static OpFoldResult countKeys(OpBuilder &builder, Operation *attention) {
  Location location = attention->getLoc();
  if (auto op = dyn_cast<AttentionOp>(attention)) {
    // The size of rows that are expanded would keep the expansion alive.
    std::optional<ScaledRows> scaled = sliceScaledRows(builder, op.getKey());
    return tensor::getMixedSize(builder, location,
                                scaled ? scaled->numbers : op.getKey(), 0);
  }
  auto op = cast<ClusterAttentionOp>(attention);
  // A cluster has a token at least.
  AffineExpr d0, d1;
  bindDims(builder.getContext(), d0, d1);
  return affine::makeComposedFoldedAffineApply(
      builder, location, d0 + d1,
      {OpFoldResult(op.getPast()),
       tensor::getMixedSize(builder, location, op.getQuery(), 0)});
}

scf::ForallOp gist::cutKeys(RewriterBase &rewriter, func::FuncOp kernel,
                            scf::ForallOp forall) {
  rewriter.setInsertionPoint(forall);
  // The op that was cut stays until nothing asks it for sizes.
  Operation *attention = findAttention(kernel);
  OpFoldResult keys = countKeys(rewriter, attention);
  shareMemory(rewriter, kernel);
  unsigned at = arePartsFirst(forall) ? 0 : forall.getRank();
  SmallVector<OpFoldResult> lower = forall.getMixedLowerBound(),
                            upper = forall.getMixedUpperBound(),
                            steps = forall.getMixedStep();
  lower.insert(lower.begin() + at, rewriter.getIndexAttr(0));
  upper.insert(upper.begin() + at, keys);
  steps.insert(steps.begin() + at, rewriter.getIndexAttr(kPartKeys));
  auto wider = scf::ForallOp::create(
      rewriter, forall.getLoc(), lower, upper, steps,
      SmallVector<Value>(forall.getOutputs()), std::nullopt);
  wider.getRegion().takeBody(forall.getRegion());
  wider.getBody()->insertArgument(at, rewriter.getIndexType(), forall.getLoc());
  rewriter.replaceOp(forall, wider);
  return wider;
}

std::optional<AttentionPart> gist::findPart(TileBuilder &b, Operation *op) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  auto forall = op->getParentOfType<scf::ForallOp>();
  if (!hasPartMemory(kernel) || !forall)
    return std::nullopt;
  ArrayRef<BlockArgument> arguments = kernel.getArguments();
  SmallVector<Value> ids = forall.getInductionVars();
  AttentionPart part;
  part.results = arguments.drop_back().back();
  part.control = arguments.back();
  part.heads = cast<MemRefType>(part.control.getType()).getDimSize(0);
  // A dimension of one workgroup has left the loop.
  bool isFirst = arePartsFirst(forall);
  part.first = isFirst ? ids.front() : ids.back();
  part.head = part.heads == 1 ? b.index(0)
              : isFirst       ? ids.back()
                              : ids[ids.size() - 2];
  return part;
}

//===----------------------------------------------------------------------===//
// The code of a part
//===----------------------------------------------------------------------===//

/// Writes on buffers where `b` writes now.
static BufferBuilder here(TileBuilder &b) {
  return BufferBuilder(b.getLoc(), b);
}

/// Where the numbers of a row of a part begin.
Value Attention::locatePart(Value part, Value row) {
  Value head = b.add(b.mul(what.part->head, group), row);
  return b.add(
      b.mul(part, countPartNumbers(what.part->heads * group, valueSize)),
      b.mul(head, kOutput + valueSize));
}

void Attention::storePart(const State &state) {
  Value part = b.floorDiv(what.part->first, kPartKeys);
  b.forEach(b.index(0), b.index(group), 1, [&](Value row) {
    Value at = locatePart(part, row);
    for (int64_t i : {kLargest, kSum})
      here(b).store(b.readScalar(state[i], row), what.part->results,
                    b.add(at, i));
    for (int64_t i = 0; i < valueSize; i += lanes)
      here(b).storeVector(
          b.read(state[2], {row, b.index(i)}, b.vectorOf(lanes, f32)),
          what.part->results, b.add(at, kOutput + i));
  });
}

/// How many parts of the head were finished before this one.
Value Attention::countFinished() {
  return b.toIndex(
      here(b).fetchAdd(b.i32(1), what.part->control, what.part->head));
}

/// What the rows find in all parts.
Attention::State Attention::joinParts(Value parts) {
  Value zero = b.index(0), results = what.part->results;
  Value never = constant(-std::numeric_limits<double>::infinity());
  isMasked = true; // A part that saw nothing counts nothing.
  here(b).store(b.i32(0), what.part->control, what.part->head);
  State state = {b.empty({group}, f32), b.empty({group}, f32),
                 b.empty({group, valueSize}, f32)};
  int64_t width = std::min<int64_t>(valueSize, 4 * lanes);
  while (valueSize % width != 0)
    width -= lanes;
  return b.loop(
      zero, b.index(group), 1, state, [&](Value row, ValueRange carried) {
        State next(carried);
        auto eachPart = [&](ValueRange before,
                            function_ref<Values(Value at, ValueRange)> body) {
          return b.loop(zero, parts, 1, before,
                        [&](Value part, ValueRange inner) {
                          return body(locatePart(part, row), inner);
                        });
        };
        Value largest = eachPart(never, [&](Value at, ValueRange inner) {
          Value other = here(b).load(results, b.add(at, kLargest));
          return Values{arith::MaxNumFOp::create(b, inner[0], other)};
        })[0];
        Value isNone = b.compare(arith::CmpFPredicate::OEQ, largest, never);
        Value base = b.broadcast(b.select(isNone, constant(0), largest), kKeys);
        // Weights take the place of the largest scores.
        Value sum = eachPart(constant(0), [&](Value at, ValueRange inner) {
          Value to = b.add(at, kLargest);
          Value score = b.broadcast(here(b).load(results, to), kKeys);
          Value weight = vector::ExtractOp::create(
              b, emitExp2(arith::SubFOp::create(b, score, base)), 0);
          here(b).store(weight, results, to);
          Value more = arith::MulFOp::create(
              b, weight, here(b).load(results, b.add(at, kSum)));
          return Values{arith::AddFOp::create(b, inner[0], more)};
        })[0];
        next[0] = b.writeScalar(largest, next[0], row);
        next[1] = b.writeScalar(sum, next[1], row);
        for (int64_t column = 0; column < valueSize; column += width) {
          Values none(width / lanes, b.splat(lanes, f32, 0));
          Values outputs = eachPart(none, [&](Value at, ValueRange inner) {
            Value weight =
                b.broadcast(here(b).load(results, b.add(at, kLargest)), lanes);
            Values total;
            for (auto [i, before] : llvm::enumerate(inner)) {
              int64_t offset = column + static_cast<int64_t>(i) * lanes;
              Value x = here(b).loadVector(results, b.add(at, kOutput + offset),
                                           lanes);
              total.push_back(b.fma(weight, x, before));
            }
            return total;
          });
          for (auto [i, output] : llvm::enumerate(outputs)) {
            int64_t offset = column + static_cast<int64_t>(i) * lanes;
            next[2] = b.write(output, next[2], {row, b.index(offset)});
          }
        }
        return next;
      });
}

/// Leaves what the part found, and joins all parts where it is the last.
Value Attention::emitOneOfMany(const State &state, Value parts, Value result) {
  storePart(state);
  Value isLast =
      b.compare(arith::CmpIPredicate::eq, countFinished(), b.add(parts, -1));
  return b.when(isLast, result, [&](Value result) {
    return emitResult(joinParts(parts), result);
  });
}

Value Attention::emitPart(Value result) {
  Value begin = getFirstSeen(), seen = b.sub(keys, begin);
  return b.when(b.isLess(what.part->first, seen), result, [&](Value result) {
    firstKey = b.add(begin, what.part->first);
    endKey = b.min(b.add(firstKey, kPartKeys), keys);
    State state = emitKeys();
    Value parts = b.ceilDiv(seen, kPartKeys);
    return b.choose(
        b.isEqual(parts, 1), result,
        [&](Value result) { return emitResult(state, result); },
        [&](Value result) { return emitOneOfMany(state, parts, result); });
  });
}
