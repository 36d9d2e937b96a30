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
// Clusters never change their unit. So a block of tokens is first compared with
// the clusters that there are, some tokens and clusters at a time, and then
// token by token with those that the block itself founds.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Tile/Cpu/BufferBuilder.h"
#include "passes/Tile/Cpu/ClusterCache.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Values = TileBuilder::Values;

/// Numbers in a vector, and tokens and clusters that are compared at once.
static constexpr int64_t kLanes = 4;

namespace {
class Update {
public:
  /// `state` are the buffers of the cache.
  Update(TileBuilder &b, ClusterUpdateOp op, ValueRange state)
      : b(b), op(op), f32(b.getF32Type()), keySize(sizeOf(op.getKeys())),
        valueSize(sizeOf(op.getValues())), key(toBuffer(op.getKey())),
        value(toBuffer(op.getValue())), heads(toBuffer(op.getHeads())),
        keys(state[0]), values(state[1]), units(state[2]), weights(state[3]),
        counts(state[4]) {}

  /// The code of one KV head.
  void emit(Value head);

private:
  static int64_t sizeOf(Value rows) {
    return cast<RankedTensorType>(rows.getType()).getDimSize(1);
  }
  /// What is only read.
  Value toBuffer(Value tensor) {
    return BufferBuilder(b.getLoc(), b).toBuffer(tensor);
  }

  void emitAbsorb(const HeadPlan &plan, Value head);
  void emitNorms(const HeadPlan &plan, Value begin, Value tokens);
  void emitBest(const HeadPlan &plan, Value begin, Value tokens, Value count);
  void emitBestOf(const HeadPlan &plan, Value begin, Value token, int64_t rows,
                  Value count);
  Value emitJoin(const HeadPlan &plan, Value begin, Value token, Value first,
                 Value count);
  void emitMix(const HeadPlan &plan, Value row, Value cluster, Value isNew,
               Value inverse);
  void emitMixRow(Value rows, int64_t size, Value from, Value to, Value n);
  void emitAppend(const HeadPlan &plan, Value head);

  // Short forms.
  Value load(Value buffer, ValueRange indices) {
    return memref::LoadOp::create(b, buffer, indices);
  }
  void store(Value scalar, Value buffer, ValueRange indices) {
    memref::StoreOp::create(b, scalar, buffer, indices);
  }
  Value loadF32(Value buffer, ValueRange indices) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    Value loaded =
        vector::LoadOp::create(b, b.vectorOf(kLanes, element), buffer, indices);
    if (element.isF32())
      return loaded;
    return arith::ExtFOp::create(b, b.vectorOf(kLanes, f32), loaded);
  }
  void storeF32(Value vector, Value buffer, ValueRange indices) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    if (!element.isF32())
      vector = arith::TruncFOp::create(b, b.vectorOf(kLanes, element), vector);
    vector::StoreOp::create(b, vector, buffer, indices);
  }
  Value constant(double value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Value compare(CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value compare(CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value choose(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  void when(Value condition, llvm::function_ref<void()> body) {
    auto choice = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(choice.thenBlock()->getTerminator());
    body();
  }
  void repeat(Value lower, Value upper, int64_t step,
              llvm::function_ref<void(Value)> body) {
    b.loop(lower, upper, step, {}, [&](Value i, ValueRange) {
      body(i);
      return Values{};
    });
  }
  Value sum(Value vector) {
    return vector::ReductionOp::create(b, vector::CombiningKind::ADD, vector,
                                       arith::FastMathFlags::reassoc);
  }
  /// The f32 dot product of a row of `x` and one of `y`.
  Value dot(Value x, Value i, Value y, Value j) {
    Value total = b.splat(kLanes, f32, 0);
    for (int64_t at = 0; at < keySize; at += kLanes)
      total = b.fma(loadF32(x, {i, b.index(at)}), loadF32(y, {j, b.index(at)}),
                    total);
    return sum(total);
  }

  TileBuilder &b;
  ClusterUpdateOp op;
  Type f32;
  int64_t keySize, valueSize;
  Value key, value, heads, keys, values, units, weights, counts;
  /// For each token of the block: one over the norm of its key (0 where it has
  /// no direction), the largest cosine so far and whose it is.
  Value inverses, best, owner;
};
} // namespace

/// One over the norms of the keys that leave the window.
void Update::emitNorms(const HeadPlan &plan, Value begin, Value tokens) {
  repeat(b.index(0), tokens, 1, [&](Value i) {
    Value row = plan.getRingRow(b, add(begin, i));
    Value norm = math::SqrtOp::create(b, dot(keys, row, keys, row));
    Value infinity = constant(std::numeric_limits<double>::infinity());
    // False for NaN, too.
    Value hasDirection = both(compare(CmpFPredicate::OGT, norm, constant(0)),
                              compare(CmpFPredicate::OLT, norm, infinity));
    Value inverse = arith::DivFOp::create(b, constant(1), norm);
    store(choose(hasDirection, inverse, constant(0)), inverses, i);
  });
}

/// The best of the first `count` clusters for `rows` tokens from `token` on.
void Update::emitBestOf(const HeadPlan &plan, Value begin, Value token,
                        int64_t rows, Value count) {
  Values ring;
  for (int64_t i = 0; i < rows; ++i)
    ring.push_back(plan.getRingRow(b, add(begin, b.add(token, i))));
  Type i32 = b.getI32Type();
  VectorType numbers = b.vectorOf(kLanes, i32);
  Value lanes = arith::ConstantOp::create(
      b, DenseElementsAttr::get(numbers, ArrayRef<int32_t>{0, 1, 2, 3}));
  Values state;
  for (int64_t i = 0; i < rows; ++i) {
    state.push_back(
        b.splat(kLanes, f32, -std::numeric_limits<double>::infinity()));
    state.push_back(b.splat(kLanes, i32, -1));
  }
  // Dot products with the units, unscaled: the norm changes no comparison.
  Value whole = b.roundDown(count, kLanes);
  state = b.loop(
      b.index(0), whole, kLanes, state, [&](Value j, ValueRange carried) {
        Values sums(rows * kLanes, b.splat(kLanes, f32, 0));
        for (int64_t at = 0; at < keySize; at += kLanes) {
          Values right;
          for (int64_t n = 0; n < kLanes; ++n)
            right.push_back(
                loadF32(units, {add(plan.unit, b.add(j, n)), b.index(at)}));
          for (int64_t i = 0; i < rows; ++i) {
            Value left = loadF32(keys, {ring[i], b.index(at)});
            for (int64_t n = 0; n < kLanes; ++n)
              sums[i * kLanes + n] =
                  b.fma(left, right[n], sums[i * kLanes + n]);
          }
        }
        Value first = arith::IndexCastOp::create(b, i32, j);
        Value ids = arith::AddIOp::create(b, b.broadcast(first, kLanes), lanes);
        Values next;
        for (int64_t i = 0; i < rows; ++i) {
          Value scores =
              b.sumsOfFour(ArrayRef<Value>(sums).slice(i * kLanes, kLanes));
          // Not "or equal": of equal scores in a lane the earlier cluster
          // stays.
          Value isBetter = compare(CmpFPredicate::OGT, scores, carried[2 * i]);
          next.push_back(choose(isBetter, scores, carried[2 * i]));
          next.push_back(choose(isBetter, ids, carried[2 * i + 1]));
        }
        return next;
      });
  for (int64_t i = 0; i < rows; ++i) {
    // Ties go to the smallest number, whatever its lane.
    Value most = constant(-std::numeric_limits<double>::infinity());
    Value who = b.index(-1);
    for (int64_t n = 0; n < kLanes; ++n) {
      Value score = vector::ExtractOp::create(b, state[2 * i], n);
      Value number = arith::IndexCastOp::create(
          b, b.getIndexType(),
          vector::ExtractOp::create(b, state[2 * i + 1], n).getResult());
      Value isEarlier = both(compare(CmpFPredicate::OEQ, score, most),
                             compare(CmpIPredicate::slt, number, who));
      Value isBetter = arith::OrIOp::create(
          b, compare(CmpFPredicate::OGT, score, most), isEarlier);
      most = choose(isBetter, score, most);
      who = choose(isBetter, number, who);
    }
    Values rest =
        b.loop(whole, count, 1, {most, who}, [&](Value j, ValueRange carried) {
          Value score = dot(keys, ring[i], units, add(plan.unit, j));
          Value isBetter = compare(CmpFPredicate::OGT, score, carried[0]);
          return Values{choose(isBetter, score, carried[0]),
                        choose(isBetter, j, carried[1])};
        });
    store(rest[0], best, b.add(token, i));
    store(rest[1], owner, b.add(token, i));
  }
}

void Update::emitBest(const HeadPlan &plan, Value begin, Value tokens,
                      Value count) {
  Value whole = b.roundDown(tokens, kLanes);
  repeat(b.index(0), whole, kLanes,
         [&](Value token) { emitBestOf(plan, begin, token, kLanes, count); });
  repeat(whole, tokens, 1,
         [&](Value token) { emitBestOf(plan, begin, token, 1, count); });
}

/// rows[to] becomes (n rows[to] + rows[from]) / (n + 1).
void Update::emitMixRow(Value rows, int64_t size, Value from, Value to,
                        Value n) {
  Value total = arith::AddFOp::create(b, n, constant(1));
  Value share = b.broadcast(
      arith::DivFOp::create(b, constant(1), total).getResult(), kLanes);
  Value isFirst = compare(CmpFPredicate::OEQ, n, constant(0));
  for (int64_t at = 0; at < size; at += kLanes) {
    Value x = loadF32(rows, {from, b.index(at)});
    Value old = loadF32(rows, {to, b.index(at)});
    Value mean = b.fma(share, arith::SubFOp::create(b, x, old), old);
    // What is there before the first is no number.
    storeF32(choose(isFirst, x, mean), rows, {to, b.index(at)});
  }
}

/// Adds the token in `row` of the ring to a cluster.
void Update::emitMix(const HeadPlan &plan, Value row, Value cluster,
                     Value isNew, Value inverse) {
  Value unit = add(plan.unit, cluster), mean = add(plan.meanRow, cluster);
  Value n = choose(isNew, constant(0), load(weights, unit));
  when(isNew, [&] {
    Value isNothing = compare(CmpFPredicate::OEQ, inverse, constant(0));
    Value factor = b.broadcast(inverse, kLanes);
    for (int64_t at = 0; at < keySize; at += kLanes) {
      Value x =
          arith::MulFOp::create(b, loadF32(keys, {row, b.index(at)}), factor);
      storeF32(choose(isNothing, b.splat(kLanes, f32, 0), x), units,
               {unit, b.index(at)});
    }
  });
  emitMixRow(keys, keySize, row, mean, n);
  emitMixRow(values, valueSize, row, mean, n);
  store(arith::AddFOp::create(b, n, constant(1)), weights, unit);
}

/// Puts a token into a cluster, or drops it; clusters from `first` on are of
/// this block. Returns how many clusters there are then.
Value Update::emitJoin(const HeadPlan &plan, Value begin, Value token,
                       Value first, Value count) {
  Value t = add(begin, token);
  Value row = plan.getRingRow(b, t);
  Value inverse = load(inverses, token);
  Values found =
      b.loop(first, count, 1, {load(best, token), load(owner, token)},
             [&](Value j, ValueRange carried) {
               Value score = dot(keys, row, units, add(plan.unit, j));
               Value isBetter = compare(CmpFPredicate::OGT, score, carried[0]);
               return Values{choose(isBetter, score, carried[0]),
                             choose(isBetter, j, carried[1])};
             });
  Value cosine = arith::MulFOp::create(b, found[0], inverse);
  Value no = arith::ConstantOp::create(b, b.getBoolAttr(false));
  Value zero = b.index(0);
  Value hasDirection = compare(CmpFPredicate::ONE, inverse, constant(0));
  Value isSink = compare(CmpIPredicate::sge, plan.sinks, zero);
  Value hasRoom = compare(CmpIPredicate::slt, count, plan.capacity);
  Value likeness = createLikeness(b, cosine, t, plan.theta);
  Value isAlike =
      both(hasDirection, compare(CmpFPredicate::OGE, likeness, plan.theta));
  Value joins = choose(isSink, no, isAlike);
  Value mayFound =
      choose(isSink, compare(CmpIPredicate::slt, count, plan.sinks), hasRoom);
  Value founds = choose(joins, no, both(mayFound, hasRoom));
  Value hasOwner =
      both(hasDirection, compare(CmpIPredicate::sge, found[1], zero));
  // Without room for another cluster a token joins the nearest, alike or not.
  Value joinsAnyway = choose(isSink, no, hasOwner);
  when(arith::OrIOp::create(b, founds, joinsAnyway), [&] {
    emitMix(plan, row, choose(founds, count, found[1]), founds, inverse);
  });
  return choose(founds, b.add(count, 1), count);
}

/// Absorbs the tokens that are in the window no more.
void Update::emitAbsorb(const HeadPlan &plan, Value head) {
  Value past = op.getPast(), layer = op.getLayer();
  Value end = plan.getFirstExact(b, past);
  Value begin = plan.getFirstExact(b, b.add(past, -op.getBlock()));
  Value tokens = arith::SubIOp::create(b, end, begin);
  Value first = arith::IndexCastOp::create(b, b.getIndexType(),
                                           load(counts, {layer, head}));
  emitNorms(plan, begin, tokens);
  emitBest(plan, begin, tokens, first);
  Value count = b.loop(
      b.index(0), tokens, 1, first, [&](Value token, ValueRange carried) {
        return Values{emitJoin(plan, begin, token, first, carried[0])};
      })[0];
  store(arith::IndexCastOp::create(b, b.getI32Type(), count), counts,
        {layer, head});
}

/// Writes the rows of this call into the ring.
void Update::emitAppend(const HeadPlan &plan, Value head) {
  Value tokens = memref::DimOp::create(b, key, 0);
  repeat(b.index(0), tokens, 1, [&](Value i) {
    Value row = plan.getRingRow(b, add(op.getPast(), i));
    for (auto [source, cache, size] :
         {std::tuple(key, keys, keySize), std::tuple(value, values, valueSize)})
      for (int64_t at = 0; at < size; at += kLanes)
        storeF32(loadF32(source, {i, head, b.index(at)}), cache,
                 {row, b.index(at)});
  });
}

void Update::emit(Value head) {
  auto scratch = [&](Type element) -> Value {
    return memref::AllocOp::create(b,
                                   MemRefType::get({op.getBlock()}, element));
  };
  inverses = scratch(f32);
  best = scratch(f32);
  owner = scratch(b.getIndexType());
  HeadPlan plan(b, [&](HeadField field) {
    return load(heads,
                {op.getLayer(), head, b.index(static_cast<int64_t>(field))});
  });
  Value zero = b.index(0);
  Value block = b.index(op.getBlock());
  Value isBlock = compare(CmpIPredicate::eq,
                          arith::RemUIOp::create(b, op.getPast(), block), zero);
  Value hasWindow = compare(CmpIPredicate::sge, plan.window, zero);
  if (!op.getAbsorbed())
    when(both(isBlock, hasWindow), [&] { emitAbsorb(plan, head); });
  emitAppend(plan, head);
}

FailureOr<scf::ForallOp> gist::distributeClusterUpdate(RewriterBase &rewriter,
                                                       ClusterUpdateOp op) {
  for (Value rows : {op.getKeys(), op.getValues()})
    if (cast<RankedTensorType>(rows.getType()).getDimSize(1) % kLanes != 0)
      return op.emitOpError("has heads whose size is not a multiple of ")
             << kLanes << " numbers";
  // The kernel takes the cache as buffers from here on, and returns nothing.
  auto kernel = op->getParentOfType<func::FuncOp>();
  auto end = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  SmallVector<Value> tensors = op.getDpsInits();
  if (!llvm::equal(end.getOperands(), op.getResults()) ||
      !llvm::all_of(tensors, llvm::IsaPred<BlockArgument>))
    return op.emitOpError(
        "is not the only op whose results its kernel returns");
  rewriter.setInsertionPoint(op);
  TileBuilder b(op.getLoc(), rewriter);
  Values state;
  for (Value tensor : tensors)
    state.push_back(kernel.getBody().front().addArgument(
        getBufferType(tensor.getType()), tensor.getLoc()));
  Update update(b, op, state);
  SmallVector<OpFoldResult> upper = {
      b.getIndexAttr(op.getKey().getType().getDimSize(1))};
  auto forall = scf::ForallOp::create(b, upper, ValueRange(), std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    update.emit(forall.getInductionVar(0));
  }
  rewriter.modifyOpInPlace(end, [&] { end->setOperands({}); });
  rewriter.eraseOp(op);
  Block &body = kernel.getBody().front();
  body.eraseArguments(body.getNumArguments() - 2 * state.size(), state.size());
  kernel.setFunctionType(rewriter.getFunctionType(body.getArgumentTypes(), {}));
  return forall;
}
