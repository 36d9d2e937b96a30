//===- DecomposeAttention.cpp - What attention and attend mean ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads are computed one after the other. Within a head a score of -infinity
// means that the query does not see the key, so every rule about which keys a
// query sees is a rule for scores.
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

//===----------------------------------------------------------------------===//
// One head
//===----------------------------------------------------------------------===//

namespace {
/// Queries, keys and values of one head: tokens x head size.
struct Head {
  /// The number of the KV head.
  Value kvHead;
  Value query, key, value;
};
} // namespace

/// `score` where `isVisible`, and -infinity elsewhere.
static Value hideUnless(ValueBuilder &b, Value isVisible, Value score) {
  return b.select(isVisible, score, b.f32(-kInfinity));
}

/// A NaN is not hidden: it has to show in the result.
static Value isHidden(ValueBuilder &b, Value score) {
  return b.compare(CmpFPredicate::OEQ, score, b.f32(-kInfinity));
}

/// For each row of scores the mean of the values, weighted by the exponentials
/// of their scores, in f32; zeros where all are hidden. A hidden value takes no
/// part, not even with a weight of zero: it may be NaN.
static Value createSoftmaxMean(ValueBuilder &b, Value scores, Value values) {
  OpFoldResult queries = getSize(b, scores, 0), keys = getSize(b, scores, 1);
  OpFoldResult width = getSize(b, values, 1);
  Type f32 = b.getF32Type();
  // maximumf passes a NaN on, so that the whole row becomes NaN.
  Value highest = createLoops(
      b, "ij->i", scores, createFilled(b, queries, b.f32(-kInfinity)),
      [](ValueBuilder &b, ValueRange args) -> Value {
        return arith::MaximumFOp::create(b, args[1], args[0]);
      });
  // The largest score is taken off, so that no exponential overflows.
  Value powers = createLoops(
      b, "ij,i->ij", {scores, highest}, createEmpty(b, {queries, keys}, f32),
      [](ValueBuilder &b, ValueRange args) -> Value {
        Value power = math::ExpOp::create(b, b.sub(args[0], args[1]));
        return b.select(isHidden(b, args[0]), b.f32(0), power);
      });
  Value total =
      createLoops(b, "ij->i", powers, createFilled(b, queries, b.f32(0)),
                  [](ValueBuilder &b, ValueRange args) -> Value {
                    return b.add(args[1], args[0]);
                  });
  Value sums =
      createLoops(b, "ij,ij,je->ie", {scores, powers, values},
                  createFilled(b, {queries, width}, b.f32(0)),
                  [](ValueBuilder &b, ValueRange args) -> Value {
                    Value term = b.mul(args[1], b.toF32(args[2]));
                    Value sum = b.add(args[3], term);
                    return b.select(isHidden(b, args[0]), args[3], sum);
                  });
  return createLoops(
      b, "ie,i->ie", {sums, total}, createEmpty(b, {queries, width}, f32),
      [](ValueBuilder &b, ValueRange args) -> Value {
        // The largest score adds 1 to the total, so 0 means: all are hidden.
        Value isNothingSeen = b.compare(CmpFPredicate::OEQ, args[1], b.f32(0));
        Value mean = b.div(args[0], args[1]);
        return b.select(isNothingSeen, b.f32(0), mean);
      });
}

/// `scale` of the op, or 1/sqrt(D), as an f32.
/// The head size may be known only when the code runs.
template <typename OpTy>
/// The head size may be known only when the code runs.
static Value createScale(ValueBuilder &b, OpTy op) {
  if (op.getScale() || !op.getKey().getType().isDynamicDim(2))
    return b.f32(static_cast<float>(op.getEffectiveScale()));
  Value width = b.toF32(b.toI32(getSizeValue(b, op.getKey(), 2)));
  Value root = math::SqrtOp::create(b, width);
  return b.div(b.f32(1), root);
}

/// scale * dot(q[i], k[j]).
static Value createScores(ValueBuilder &b, Value queries, Value keys,
                          Value scale) {
  SmallVector<OpFoldResult> sizes = {getSize(b, queries, 0),
                                     getSize(b, keys, 0)};
  Value dots = createProduct(b, "id,jd->ij", queries, keys, sizes);
  return createLoops(b, "ij->ij", dots, createEmpty(b, sizes, b.getF32Type()),
                     [&](ValueBuilder &b, ValueRange args) -> Value {
                       return b.mul(args[0], scale);
                     });
}

/// The output whose heads are what `body` gives in f32, rounded once.
template <typename OpTy>
static Value
createPerHead(ValueBuilder &b, OpTy op,
              function_ref<Value(ValueBuilder &, const Head &)> body) {
  Value query = op.getQuery(), key = op.getKey(), value = op.getValue();
  Type element = op.getOutput().getType().getElementType();
  OpFoldResult tokens = getSize(b, query, 0), width = getSize(b, value, 2);
  Value output = createEmpty(b, {tokens, getSize(b, query, 1), width}, element);
  Value heads = getSizeValue(b, query, 1), kvHeads = getSizeValue(b, key, 1);
  auto ofHead = [&](Value h, ValueRange carried) {
    Value group = b.div(heads, kvHeads);
    Head head;
    head.kvHead = b.div(h, group);
    head.query = takeSlice(b, query, 1, h);
    head.key = takeSlice(b, key, 1, head.kvHead);
    head.value = takeSlice(b, value, 1, head.kvHead);
    auto round = [&](ValueBuilder &b, ValueRange args) -> Value {
      return b.convert(args[0], element);
    };
    Value rounded =
        createLoops(b, "ie->ie", body(b, head),
                    createEmpty(b, {tokens, width}, element), round);
    return SmallVector<Value>{putSlice(b, rounded, carried[0], 1, h)};
  };
  return b.loop(b.index(0), heads, 1, output, ofHead).front();
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

/// True if the query of row i sees the key of row j.
static Value isVisible(ValueBuilder &b, AttentionOp op,
                       const Sequences &sequences, Value i, Value j) {
  Bounds keys = {b.index(0), getSizeValue(b, op.getKey(), 0)};
  Value queriesEnd = getSizeValue(b, op.getQuery(), 0);
  SmallVector<Value> conditions;
  if (sequences.isRagged()) {
    queriesEnd = sequences.getBounds(b, i).end;
    keys = sequences.getBoundsIn(b, op.getKeyOffsets(), i);
    conditions.push_back(b.compare(CmpIPredicate::sge, j, keys.begin));
    conditions.push_back(b.compare(CmpIPredicate::slt, j, keys.end));
  }
  // Queries are the last of the sequence: the row of the query among the keys
  // is as far from the end. Negative where there are more queries than keys.
  Value past = b.sub(keys.end, queriesEnd);
  Value position = b.add(i, past);
  if (op.getCausal())
    conditions.push_back(b.compare(CmpIPredicate::sle, j, position));
  if (std::optional<int64_t> window = op.getWindow()) {
    Value start = b.sub(position, b.index(*window));
    Value isNear = b.compare(CmpIPredicate::sgt, j, start);
    // Sinks are the first keys of the sequence, which are always seen.
    Value sinksEnd = b.add(keys.begin, b.index(op.getSinks().value_or(0)));
    Value isSink = b.compare(CmpIPredicate::slt, j, sinksEnd);
    conditions.push_back(b.either(isNear, isSink));
  }
  return b.allOf(conditions);
}

namespace {
struct DecomposeAttention final : OpRewritePattern<AttentionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    Sequences sequences(b, op.getOffsets(), getSize(b, op.getQuery(), 0));
    Value scale = createScale(b, op);
    auto mask = [&](ValueBuilder &b, ValueRange args) -> Value {
      Value score = args[0];
      if (op.getMask())
        score = b.add(score, args[1]);
      return hideUnless(
          b,
          isVisible(b, op, sequences, getLoopIndex(b, 0), getLoopIndex(b, 1)),
          score);
    };
    auto attend = [&](ValueBuilder &b, const Head &head) -> Value {
      SmallVector<Value> inputs = {
          createScores(b, head.query, head.key, scale)};
      SmallVector<OpFoldResult> sizes = {getSize(b, head.query, 0),
                                         getSize(b, head.key, 0)};
      if (op.getMask())
        inputs.push_back(op.getMask());
      Value scores =
          createLoops(b, op.getMask() ? "ij,ij->ij" : "ij->ij", inputs,
                      createEmpty(b, sizes, b.getF32Type()), mask);
      return createSoftmaxMean(b, scores, head.value);
    };
    rewriter.replaceOp(op, createPerHead(b, op, attend));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// attend
//===----------------------------------------------------------------------===//

namespace {
/// The clusters of some tokens: for each token the number of members of the
/// cluster that it represents, and sums over them.
struct Clusters {
  Value counts;
  /// One for each of the tensors of rows to be summed, in f32.
  SmallVector<Value> sums;
};
} // namespace

/// `sums` with the row `m` of `rows` added to row `s` where `isMember`.
static Value addRow(ValueBuilder &b, Value rows, Value m, Value sums, Value s,
                    Value isMember) {
  Value row = takeSlice(b, rows, 0, m), sum = takeSlice(b, sums, 0, s);
  auto add = [&](ValueBuilder &b, ValueRange args) -> Value {
    Value more = b.add(args[1], b.toF32(args[0]));
    return b.select(isMember, more, args[1]);
  };
  return putSlice(b, createLoops(b, "d->d", row, sum, add), sums, 0, s);
}

/// The clusters of the tokens `begin` to `end`: a member counts when it and its
/// representative are both before `end`.
/// A representative may come later than its member where a selection is not
/// causal, so both are asked for.
static Clusters createClusters(ValueBuilder &b, Value nearest, Value begin,
                               Value end, ValueRange rows) {
  OpFoldResult tokens = getSize(b, nearest, 0);
  SmallVector<Value> inits = {createFilled(b, tokens, b.i32(0))};
  for (Value tensor : rows)
    inits.push_back(createFilled(b, {tokens, getSize(b, tensor, 1)}, b.f32(0)));
  auto addMember = [&](Value m, ValueRange carried) {
    Value s = b.toIndex(load(b, nearest, m));
    Value isMember = b.compare(CmpIPredicate::slt, s, end);
    Value one = arith::ExtUIOp::create(b, b.getI32Type(), isMember);
    Value count = b.add(load(b, carried[0], s), one);
    SmallVector<Value> results = {store(b, count, carried[0], s)};
    for (auto [tensor, sums] : llvm::zip_equal(rows, carried.drop_front()))
      results.push_back(addRow(b, tensor, m, sums, s, isMember));
    return results;
  };
  SmallVector<Value> results = b.loop(begin, end, 1, inits, addMember);
  return {results.front(), llvm::to_vector(ArrayRef(results).drop_front())};
}

/// For each query i and representative j the number of members of j at or
/// before i; of all its members where not causal.
/// T x T numbers: a causal query must not count members that come after it.
static Value createMemberCounts(ValueBuilder &b, Value nearest, bool isCausal) {
  OpFoldResult size = getSize(b, nearest, 0);
  Value tokens = getSizeValue(b, nearest, 0), zero = b.index(0);
  auto count = [&](Value i, ValueRange carried) {
    Value end = isCausal ? b.add(i, b.index(1)) : tokens;
    Clusters clusters = createClusters(b, nearest, zero, end, {});
    return SmallVector<Value>{putSlice(b, clusters.counts, carried[0], 0, i)};
  };
  return b
      .loop(zero, tokens, 1, createEmpty(b, {size, size}, b.getI32Type()),
            count)
      .front();
}

static Value createLog(ValueBuilder &b, Value count) {
  return math::LogOp::create(b, b.toF32(count));
}

/// `mode copy` of one head. Rows of redundant tokens see nothing and are not
/// read.
static Value createCopy(ValueBuilder &b, AttendOp op, const Head &head,
                        Value scale, Value nearest,
                        const Sequences &sequences) {
  OpFoldResult tokens = getSize(b, nearest, 0);
  auto decide = [&](ValueBuilder &b, ValueRange args) -> Value {
    Value i = getLoopIndex(b, 0), j = getLoopIndex(b, 1);
    // A representative is its own nearest.
    SmallVector<Value> conditions = {
        b.compare(CmpIPredicate::eq, args[1], b.toI32(i)),
        b.compare(CmpIPredicate::eq, args[2], b.toI32(j))};
    if (sequences.isRagged())
      conditions.push_back(sequences.contains(b, i, j));
    if (op.getCausal())
      conditions.push_back(b.compare(CmpIPredicate::sle, j, i));
    Value score = args[0];
    if (op.getLogCount())
      score = b.add(score, createLog(b, args[3]));
    return hideUnless(b, b.allOf(conditions), score);
  };
  SmallVector<Value> inputs = {createScores(b, head.query, head.key, scale),
                               nearest, nearest};
  if (op.getLogCount())
    inputs.push_back(createMemberCounts(b, nearest, op.getCausal()));
  Value scores =
      createLoops(b, op.getLogCount() ? "ij,i,j,ij->ij" : "ij,i,j->ij", inputs,
                  createEmpty(b, {tokens, tokens}, b.getF32Type()), decide);
  Value outputs = createSoftmaxMean(b, scores, head.value);

  auto copy = [&](ValueBuilder &b, ValueRange args) -> Value {
    return load(b, outputs, {b.toIndex(args[0]), getLoopIndex(b, 1)});
  };
  Value empty =
      createEmpty(b, {tokens, getSize(b, outputs, 1)}, b.getF32Type());
  return createLoops(b, "t->te", nearest, empty, copy);
}

/// `rows` in f32 with those before `e` replaced by the means of clusters, which
/// are undefined for clusters without members.
static Value createSlots(ValueBuilder &b, Value rows, Value sums, Value counts,
                         Value e) {
  auto choose = [&](ValueBuilder &b, ValueRange args) -> Value {
    Value isCluster = b.compare(CmpIPredicate::slt, getLoopIndex(b, 0), e);
    Value mean = b.div(args[1], b.toF32(args[2]));
    return b.select(isCluster, mean, b.toF32(args[0]));
  };
  Value empty = createEmpty(b, {getSize(b, rows, 0), getSize(b, rows, 1)},
                            b.getF32Type());
  return createLoops(b, "jd,jd,j->jd", {rows, sums, counts}, empty, choose);
}

/// `mode keys` of query t. It sees T slots: before `e` slot j is the cluster
/// that j represents, from `e` on token j itself.
static Value createKeysRow(ValueBuilder &b, AttendOp op, const Head &head,
                           Value scale, Value nearest,
                           const Sequences &sequences, Value t) {
  Bounds bounds = sequences.getBounds(b, t);
  Value e = bounds.end, end = bounds.end;
  if (op.getCausal()) {
    // e = block start - window: fixed for all queries of a block, so that a
    // call of many tokens and calls of one give the same.
    Value position = b.sub(t, bounds.begin);
    Value block = b.index(*op.getBlock());
    Value number = b.div(position, block);
    Value start = b.sub(b.mul(number, block), b.index(*op.getWindow()));
    start = b.max(start, b.index(0));
    e = b.add(bounds.begin, start);
    end = b.add(t, b.index(1));
  }

  bool isMean = op.getEffectiveMerge() == Merge::Mean;
  SmallVector<Value> rows;
  if (isMean)
    rows = {head.key, head.value};
  Clusters clusters = createClusters(b, nearest, bounds.begin, e, rows);
  Value keys = head.key, values = head.value;
  if (isMean) {
    keys = createSlots(b, keys, clusters.sums[0], clusters.counts, e);
    values = createSlots(b, values, clusters.sums[1], clusters.counts, e);
  }

  auto decide = [&](ValueBuilder &b, ValueRange args) -> Value {
    Value j = getLoopIndex(b, 1);
    Value isCluster = b.compare(CmpIPredicate::slt, j, e);
    Value hasMembers = b.compare(CmpIPredicate::sgt, args[1], b.i32(0));
    Value isSeen = b.allOf({b.compare(CmpIPredicate::sge, j, bounds.begin),
                            b.compare(CmpIPredicate::slt, j, end)});
    Value visible = b.select(isCluster, hasMembers, isSeen);
    // log 0 is -infinity where a slot has no members, which is not chosen.
    Value weighted = b.add(args[0], createLog(b, args[1]));
    Value score = b.select(isCluster, weighted, args[0]);
    return hideUnless(b, visible, score);
  };
  OpFoldResult one = b.getIndexAttr(1), tokens = getSize(b, nearest, 0);
  auto queryType = cast<RankedTensorType>(head.query.getType());
  SmallVector<OpFoldResult> querySizes = {one, getSize(b, head.query, 1)};
  Value query = tensor::ExtractSliceOp::create(
      b, queryType.clone({1, queryType.getDimSize(1)}), head.query,
      SmallVector<OpFoldResult>{t, b.getIndexAttr(0)}, querySizes,
      SmallVector<OpFoldResult>{one, one});
  Value scores = createLoops(
      b, "ij,j->ij", {createScores(b, query, keys, scale), clusters.counts},
      createEmpty(b, {one, tokens}, b.getF32Type()), decide);
  return createSoftmaxMean(b, scores, values);
}

/// `mode keys` of one head.
static Value createKeys(ValueBuilder &b, AttendOp op, const Head &head,
                        Value scale, Value nearest,
                        const Sequences &sequences) {
  OpFoldResult one = b.getIndexAttr(1);
  OpFoldResult tokens = getSize(b, nearest, 0);
  OpFoldResult width = getSize(b, head.value, 1);
  auto query = [&](Value t, ValueRange carried) {
    Value row = createKeysRow(b, op, head, scale, nearest, sequences, t);
    return SmallVector<Value>{tensor::InsertSliceOp::create(
        b, row, carried[0], SmallVector<OpFoldResult>{t, b.getIndexAttr(0)},
        SmallVector<OpFoldResult>{one, width},
        SmallVector<OpFoldResult>{one, one})};
  };
  return b
      .loop(b.index(0), getSizeValue(b, nearest, 0), 1,
            createEmpty(b, {tokens, width}, b.getF32Type()), query)
      .front();
}

namespace {
struct DecomposeAttend final : OpRewritePattern<AttendOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(AttendOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    auto selection = UnpackSelectionOp::create(b, op.getSelection());
    Sequences sequences(b, op.getOffsets(), getSize(b, op.getQuery(), 0));
    Value scale = createScale(b, op);
    auto attend = [&](ValueBuilder &b, const Head &head) {
      Value nearest = selection.getNearest();
      if (op.getSelection().getType().getHeads())
        nearest = takeSlice(b, nearest, 0, head.kvHead);
      return op.getMode() == AttendMode::Copy
                 ? createCopy(b, op, head, scale, nearest, sequences)
                 : createKeys(b, op, head, scale, nearest, sequences);
    };
    rewriter.replaceOp(op, createPerHead(b, op, attend));
    return success();
  }
};
} // namespace

void gist::populateDecomposeAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeAttention, DecomposeAttend>(patterns.getContext());
}
