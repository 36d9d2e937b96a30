//===- ClusterUpdate.cpp - Tokens go into a cache of clusters -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads write into disjoint regions of the same tensors, at places that a table
// says: no slice of a tensor describes that, so the loop over heads works on
// buffers.
//
// Clusters never change their unit. So a few tokens are first compared with the
// existing clusters, several of these at a time, and then one after the other
// with those that the few have founded themselves.
//
//===----------------------------------------------------------------------===//

#include "dialect/ClusterHead.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Cpu/BufferBuilder.h"
#include "passes/Tile/Cpu/ClusterCache.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Values = TileBuilder::Values;

/// Tokens and clusters that are compared at once.
static constexpr int64_t kTogether = 4;
/// Rows that a task puts into a ring.
static constexpr int64_t kAppended = 32;
/// The least number of lanes of a vector: this many products are summed at
/// once.
static constexpr int64_t kLeastLanes = 4;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// The code of KV heads, on the buffers of their cache.
class ClusterUpkeep {
public:
  /// `op` is a ClusterUpdateOp or a ClusterAbsorbOp, `state` the buffers of its
  /// cache.
  template <typename OpTy>
  ClusterUpkeep(BufferBuilder &b, OpTy op, ValueRange state, int64_t lanes)
      : b(b), heads(b.toBuffer(op.getHeads())), past(op.getPast()),
        block(op.getBlock()), lanes(lanes), keys(state[0]), values(state[1]),
        units(state[2]), weights(state[3]), counts(state[4]) {
    if constexpr (std::is_same_v<OpTy, ClusterUpdateOp>) {
      key = b.toBuffer(op.getKey());
      value = b.toBuffer(op.getValue());
    }
  }

  /// At the start of a block, the tokens that have left the window of a head
  /// join clusters.
  void emitAbsorb(Value layer, Value head);
  /// Rows [begin, end) of an update go into the ring of a head.
  void emitAppend(Value layer, Value head, Value begin, Value end);

private:
  /// A cluster's product with a token's key, and its number.
  struct Nearest {
    Value score, cluster;
  };

  ClusterHead readPlan(Value layer, Value head);
  Value absorbTogether(const ClusterHead &plan, Value token, int64_t tokens,
                       Value count);
  SmallVector<Nearest> findNearest(const ClusterHead &plan,
                                   ArrayRef<Value> rows, Value count);
  Nearest findLast(const ClusterHead &plan, Value row, Value begin, Value end,
                   Nearest nearest);
  Value join(const ClusterHead &plan, Value token, Value row, Value inverse,
             const Nearest &nearest, Value count);
  void mix(const ClusterHead &plan, Value row, Value cluster, Value isNew,
           Value inverse);
  void mixRow(Value rows, Value from, Value to, Value n);

  static int64_t sizeOf(Value rows) {
    return cast<MemRefType>(rows.getType()).getDimSize(1);
  }
  /// Calls `body` with where each vector of a row of `rows` begins.
  void forVectors(Value rows, function_ref<void(Value)> body) {
    for (int64_t at = 0; at < sizeOf(rows); at += lanes)
      body(b.index(at));
  }
  Value dot(Value x, Value i, Value y, Value j);

  BufferBuilder &b;
  Value heads, past;
  int64_t block, lanes;
  Value keys, values, units, weights, counts;
  Value key, value; ///< of an update: tokens x KV heads x numbers
};
} // namespace

ClusterHead ClusterUpkeep::readPlan(Value layer, Value head) {
  return ClusterHead(b, b.getI64Type(), [&](Value column) {
    return b.load(heads, {layer, head, column});
  });
}

/// The f32 dot product of a row of `x` and one of `y`.
Value ClusterUpkeep::dot(Value x, Value i, Value y, Value j) {
  Value total = b.splat(lanes, b.getF32Type(), 0);
  forVectors(x, [&](Value at) {
    total = b.fma(b.loadF32(x, {i, at}, lanes), b.loadF32(y, {j, at}, lanes),
                  total);
  });
  return vector::ReductionOp::create(b, vector::CombiningKind::ADD, total,
                                     arith::FastMathFlags::reassoc);
}

/// The better of `nearest` and the clusters [begin, end), one at a time.
ClusterUpkeep::Nearest ClusterUpkeep::findLast(const ClusterHead &plan,
                                               Value row, Value begin,
                                               Value end, Nearest nearest) {
  Values found = b.loop(begin, end, 1, {nearest.score, nearest.cluster},
                        [&](Value j, ValueRange carried) {
                          Value score =
                              dot(keys, row, units, b.add(plan.unit, j));
                          Value isBetter =
                              b.compare(CmpFPredicate::OGT, score, carried[0]);
                          return Values{b.select(isBetter, score, carried[0]),
                                        b.select(isBetter, j, carried[1])};
                        });
  return {found[0], found[1]};
}

/// The best of the first `count` clusters for the keys in `rows`. Products with
/// units are not scaled: a key's norm changes no comparison.
SmallVector<ClusterUpkeep::Nearest>
ClusterUpkeep::findNearest(const ClusterHead &plan, ArrayRef<Value> rows,
                           Value count) {
  auto numRows = static_cast<int64_t>(rows.size());
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  Value places = arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.vectorOf(kTogether, i32),
                                ArrayRef<int32_t>{0, 1, 2, 3}));
  Values state;
  for (int64_t i = 0; i < numRows; ++i) {
    state.push_back(b.splat(kTogether, f32, -kInfinity));
    state.push_back(b.splat(kTogether, i32, -1));
  }
  Value whole = b.roundDown(count, kTogether);
  state = b.loop(
      b.index(0), whole, kTogether, state, [&](Value j, ValueRange carried) {
        Values sums(numRows * kTogether, b.splat(lanes, f32, 0));
        forVectors(units, [&](Value at) {
          Values right;
          for (int64_t n = 0; n < kTogether; ++n)
            right.push_back(
                b.loadF32(units, {b.add(plan.unit, b.add(j, n)), at}, lanes));
          for (int64_t i = 0; i < numRows; ++i) {
            Value left = b.loadF32(keys, {rows[i], at}, lanes);
            for (int64_t n = 0; n < kTogether; ++n)
              sums[i * kTogether + n] =
                  b.fma(left, right[n], sums[i * kTogether + n]);
          }
        });
        Value ids = arith::AddIOp::create(b, b.broadcast(b.toI32(j), kTogether),
                                          places);
        Values next;
        for (int64_t i = 0; i < numRows; ++i) {
          Value scores = b.sumsOfFour(
              ArrayRef<Value>(sums).slice(i * kTogether, kTogether));
          // Not "or equal": of equal scores in a lane the earlier cluster
          // stays.
          Value isBetter =
              b.compare(CmpFPredicate::OGT, scores, carried[2 * i]);
          next.push_back(b.select(isBetter, scores, carried[2 * i]));
          next.push_back(b.select(isBetter, ids, carried[2 * i + 1]));
        }
        return next;
      });
  SmallVector<Nearest> all;
  for (int64_t i = 0; i < numRows; ++i) {
    // Ties go to the smallest number, whatever its lane.
    Nearest best = {b.f32(-kInfinity), b.index(-1)};
    for (int64_t n = 0; n < kTogether; ++n) {
      Value score = vector::ExtractOp::create(b, state[2 * i], n);
      Value number =
          b.toIndex(vector::ExtractOp::create(b, state[2 * i + 1], n));
      Value isEarlier =
          b.both(b.compare(CmpFPredicate::OEQ, score, best.score),
                 b.compare(CmpIPredicate::slt, number, best.cluster));
      Value isBetter = arith::OrIOp::create(
          b, b.compare(CmpFPredicate::OGT, score, best.score), isEarlier);
      best = {b.select(isBetter, score, best.score),
              b.select(isBetter, number, best.cluster)};
    }
    all.push_back(findLast(plan, rows[i], whole, count, best));
  }
  return all;
}

/// rows[to] becomes (n rows[to] + rows[from]) / (n + 1).
void ClusterUpkeep::mixRow(Value rows, Value from, Value to, Value n) {
  Value total = b.add(n, b.f32(1));
  Value share = b.broadcast(b.div(b.f32(1), total), lanes);
  Value isFirst = b.compare(CmpFPredicate::OEQ, n, b.f32(0));
  forVectors(rows, [&](Value at) {
    Value x = b.loadF32(rows, {from, at}, lanes);
    Value old = b.loadF32(rows, {to, at}, lanes);
    Value mean = b.fma(share, b.sub(x, old), old);
    // Before the first member the row is uninitialised.
    b.storeF32(b.select(isFirst, x, mean), rows, {to, at});
  });
}

/// Adds the token in `row` of the ring to a cluster.
void ClusterUpkeep::mix(const ClusterHead &plan, Value row, Value cluster,
                        Value isNew, Value inverse) {
  Value unit = b.add(plan.unit, cluster), mean = b.add(plan.meanRow, cluster);
  Value n = b.select(isNew, b.f32(0), b.load(weights, unit));
  b.ifThen(isNew, [&] {
    Value isNothing = b.compare(CmpFPredicate::OEQ, inverse, b.f32(0));
    Value factor = b.broadcast(inverse, lanes);
    Value zeros = b.splat(lanes, b.getF32Type(), 0);
    forVectors(keys, [&](Value at) {
      Value x = b.mul(b.loadF32(keys, {row, at}, lanes), factor);
      b.storeF32(b.select(isNothing, zeros, x), units, {unit, at});
    });
  });
  mixRow(keys, row, mean, n);
  mixRow(values, row, mean, n);
  b.store(b.add(n, b.f32(1)), weights, unit);
}

/// Puts a token into a cluster, or drops it; its key is in `row`. Returns how
/// many clusters there are then.
Value ClusterUpkeep::join(const ClusterHead &plan, Value token, Value row,
                          Value inverse, const Nearest &nearest, Value count) {
  Value cosine = b.mul(nearest.score, inverse);
  ClusterHead::Choice choice =
      plan.choose(b, token, inverse, cosine, nearest.cluster, count);
  b.ifThen(choice.takesPart,
           [&] { mix(plan, row, choice.cluster, choice.founds, inverse); });
  return b.select(choice.founds, b.add(count, 1), count);
}

/// Absorbs a few neighbours from `token` on; returns how many clusters there
/// are then.
Value ClusterUpkeep::absorbTogether(const ClusterHead &plan, Value token,
                                    int64_t tokens, Value count) {
  Values rows;
  for (int64_t i = 0; i < tokens; ++i)
    rows.push_back(plan.getRow(b, b.add(token, i)));
  SmallVector<Nearest> nearest = findNearest(plan, rows, count);
  Value now = count;
  for (int64_t i = 0; i < tokens; ++i) {
    // Those that the neighbours before it have founded.
    if (i > 0)
      nearest[i] = findLast(plan, rows[i], count, now, nearest[i]);
    Value inverse = createInverseNorm(b, dot(keys, rows[i], keys, rows[i]));
    now = join(plan, b.add(token, i), rows[i], inverse, nearest[i], now);
  }
  return now;
}

void ClusterUpkeep::emitAbsorb(Value layer, Value head) {
  ClusterHead plan = readPlan(layer, head);
  b.ifThen(plan.letsTokensLeave(b, past, block), [&] {
    Value end = plan.getFirstExact(b, past);
    Value begin = plan.getFirstExact(b, b.add(past, -block));
    Value whole = b.add(begin, b.roundDown(b.sub(end, begin), kTogether));
    Value count = b.loadIndex(counts, {layer, head});
    for (auto [first, last, tokens] : {std::tuple(begin, whole, kTogether),
                                       std::tuple(whole, end, int64_t{1})})
      count = b.loop(first, last, tokens, count,
                     [&, tokens = tokens](Value token, ValueRange carried) {
                       return Values{
                           absorbTogether(plan, token, tokens, carried[0])};
                     })[0];
    b.store(b.toI32(count), counts, {layer, head});
  });
}

void ClusterUpkeep::emitAppend(Value layer, Value head, Value begin,
                               Value end) {
  ClusterHead plan = readPlan(layer, head);
  b.forEach(begin, end, 1, [&](Value i) {
    Value row = plan.getRow(b, b.add(past, i));
    for (auto [source, cache] :
         {std::pair(key, keys), std::pair(value, values)})
      forVectors(cache, [&, source = source, cache = cache](Value at) {
        b.storeF32(b.loadF32(source, {i, head, at}, lanes), cache, {row, at});
      });
  });
}

/// The lanes of the kernel's tile, or fewer, so that rows are whole vectors.
template <typename OpTy> static FailureOr<int64_t> findLanes(OpTy op) {
  auto kernel = op->template getParentOfType<func::FuncOp>();
  auto tile = kernel->template getAttrOfType<CpuRowsAttr>(kTileAttr);
  int64_t lanes = std::max(tile.getLanes(), kLeastLanes);
  int64_t key = op.getKeys().getType().getDimSize(1);
  int64_t value = op.getValues().getType().getDimSize(1);
  while (lanes > kLeastLanes && (key % lanes != 0 || value % lanes != 0))
    lanes /= 2;
  if (key % lanes == 0 && value % lanes == 0)
    return lanes;
  op.emitOpError("has heads whose size is not a multiple of ")
      << lanes << " numbers";
  return failure();
}

/// A loop from zero to `sizes` on the buffers of the cache of `op`. The kernel
/// takes these as buffers from there on, and returns nothing.
template <typename OpTy>
static FailureOr<scf::ForallOp> distribute(
    RewriterBase &rewriter, OpTy op, ArrayRef<OpFoldResult> sizes,
    ArrayRef<int64_t> steps,
    function_ref<void(BufferBuilder &, ClusterUpkeep &, ValueRange)> emit) {
  FailureOr<int64_t> lanes = findLanes(op);
  if (failed(lanes))
    return failure();
  auto kernel = op->template getParentOfType<func::FuncOp>();
  auto end = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  SmallVector<Value> tensors = op.getDpsInits();
  if (!llvm::equal(end.getOperands(), op->getResults()) ||
      !llvm::all_of(tensors, llvm::IsaPred<BlockArgument>))
    return op.emitOpError(
        "is not the only op whose results its kernel returns");
  BufferBuilder b(op.getLoc(), rewriter);
  BufferArguments arguments(kernel);
  Values state;
  for (Value tensor : tensors)
    state.push_back(arguments.get(cast<BlockArgument>(tensor)));
  ClusterUpkeep upkeep(b, op, state, *lanes);
  SmallVector<OpFoldResult> zeros(sizes.size(), b.getIndexAttr(0));
  auto forall = scf::ForallOp::create(
      b, zeros, sizes, getAsIndexOpFoldResult(b.getContext(), steps),
      ValueRange(), std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    emit(b, upkeep, forall.getInductionVars());
  }
  arguments.finish(rewriter);
  return forall;
}

FailureOr<scf::ForallOp> gist::distributeClusterUpdate(RewriterBase &rewriter,
                                                       ClusterUpdateOp op) {
  rewriter.setInsertionPoint(op);
  Value layer = op.getLayer();
  OpFoldResult heads =
      rewriter.getIndexAttr(op.getKey().getType().getDimSize(1));
  OpFoldResult size =
      tensor::getMixedSize(rewriter, op.getLoc(), op.getKey(), 0);
  Value tokens = getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), size);
  if (!op.getAbsorbed())
    return distribute(
        rewriter, op, heads, 1,
        [&](BufferBuilder &b, ClusterUpkeep &upkeep, ValueRange at) {
          upkeep.emitAbsorb(layer, at[0]);
          upkeep.emitAppend(layer, at[0], b.index(0), tokens);
        });
  return distribute(
      rewriter, op, {heads, size}, {1, kAppended},
      [&](BufferBuilder &b, ClusterUpkeep &upkeep, ValueRange at) {
        Value end = b.min(b.add(at[1], kAppended), tokens);
        upkeep.emitAppend(layer, at[0], at[1], end);
      });
}

FailureOr<scf::ForallOp> gist::distributeClusterAbsorb(RewriterBase &rewriter,
                                                       ClusterAbsorbOp op) {
  rewriter.setInsertionPoint(op);
  OpFoldResult heads =
      rewriter.getIndexAttr(op.getHeads().getType().getDimSize(1));
  OpFoldResult layers = rewriter.getIndexAttr(op.getEnd() - op.getBegin());
  return distribute(
      rewriter, op, {heads, layers}, {1, 1},
      [&](BufferBuilder &b, ClusterUpkeep &upkeep, ValueRange at) {
        upkeep.emitAbsorb(b.add(at[1], op.getBegin()), at[0]);
      });
}
