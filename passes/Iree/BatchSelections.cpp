//===- BatchSelections.cpp - The pass -gist-batch-selections --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps are those of the definition (dialect/DecomposeSelection.cpp), for
// all heads at once. Whether a token is kept depends on those before it, so
// this one step is a dispatch of its own; the rest is loops without an order.
// The number of kept tokens is written and read on the device: no size depends
// on it.
//
//===----------------------------------------------------------------------===//

#include "dialect/DecomposeUtils.h"
#include "dialect/Formats.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Iree/BatchedHeads.h"
#include "passes/Iree/Dispatch.h"
#include "passes/Iree/Words.h"
#include "passes/Passes.h"
#include "runtime/format/Theta.h"

#include <limits>

namespace gist {
#define GEN_PASS_DEF_BATCHSELECTIONSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Cosines
//===----------------------------------------------------------------------===//

/// T x d, or T x H x d, as H x T x d in f32.
static Value createRows(ValueBuilder &b, Value tokens) {
  auto type = cast<RankedTensorType>(tokens.getType());
  if (type.getRank() == 3)
    return transpose(b, convert(b, tokens, b.getF32Type()), {1, 0, 2});
  Value rows = tensor::ExpandShapeOp::create(
      b, type.clone({1, type.getDimSize(0), type.getDimSize(1)}), tokens,
      ArrayRef<ReassociationIndices>{{0, 1}, {2}},
      {b.getIndexAttr(1), getSize(b, tokens, 0), getSize(b, tokens, 1)});
  return convert(b, rows, b.getF32Type());
}

/// For each row 1/|x|, or NaN for a row without a direction.
static Value createInverseNorms(ValueBuilder &b, Value rows) {
  SmallVector<OpFoldResult> sizes = {getSize(b, rows, 0), getSize(b, rows, 1)};
  Value squares =
      createLoops(b, "htd->ht", rows, createFilled(b, sizes, b.f32(0)),
                  [](ValueBuilder &b, ValueRange args) -> Value {
                    Value square = b.mul(args[0], args[0]);
                    return b.add(args[1], square);
                  });
  return createLoops(
      b, "ht->ht", squares, createEmpty(b, sizes, b.getF32Type()),
      [](ValueBuilder &b, ValueRange args) -> Value {
        // False for a NaN as well: the comparisons are ordered.
        Value hasDirection =
            b.allOf({b.compare(CmpFPredicate::OGT, args[0], b.f32(0)),
                     b.compare(CmpFPredicate::OLT, args[0], b.f32(kInfinity))});
        Value norm = math::SqrtOp::create(b, args[0]);
        Value inverse = b.div(b.f32(1), norm);
        return b.select(hasDirection, inverse, b.f32(kNaN));
      });
}

/// The cosine of every row with every row of its head, H x T x T; -infinity if
/// a row has no direction.
static Value createCosines(ValueBuilder &b, Value rows, Similarity similarity) {
  Value dots = multiplyBatches(b, rows, rows, /*byRows=*/true);
  Value inverse = createInverseNorms(b, rows);
  return createLoops(b, "hts,ht,hs->hts", {dots, inverse, inverse},
                     createEmpty(b, tensor::getMixedSizes(b, b.getLoc(), dots),
                                 b.getF32Type()),
                     [&](ValueBuilder &b, ValueRange args) -> Value {
                       // One norm after the other, for the reason that the
                       // definition gives.
                       Value cos = b.mul(args[0], args[2]);
                       cos = b.mul(cos, args[1]);
                       if (similarity == Similarity::Absolute)
                         cos = math::AbsFOp::create(b, cos);
                       Value exists = b.compare(CmpFPredicate::ORD, cos, cos);
                       return b.select(exists, cos, b.f32(-kInfinity));
                     });
}

/// Theta of each head.
template <typename OpTy>
static Value createThetas(ValueBuilder &b, OpTy op, OpFoldResult heads) {
  if (op.getTau())
    return createFilled(b, heads,
                        b.f32(thetaOfTau(op.getTau()->convertToFloat())));
  return createLoops(b, "h->h", op.getTaus(),
                     createEmpty(b, heads, b.getF32Type()),
                     [](ValueBuilder &b, ValueRange args) -> Value {
                       return createTheta(b, args[0]);
                     });
}

//===----------------------------------------------------------------------===//
// Flags: sets of tokens, H x T, 1 for a member
//===----------------------------------------------------------------------===//

static Value isSet(ValueBuilder &b, Value flag) {
  return b.compare(CmpIPredicate::ne, flag, b.i32(0));
}

static Value isNotSet(ValueBuilder &b, Value flag) {
  return b.compare(CmpIPredicate::eq, flag, b.i32(0));
}

static Value toFlag(ValueBuilder &b, Value isMember) {
  return arith::ExtUIOp::create(b, b.getI32Type(), isMember);
}

/// For each token, whether one of `among` has a cosine of at least theta with
/// it; an earlier one if `isBefore`.
static Value createCovered(ValueBuilder &b, Value cosines, Value thetas,
                           Value among, bool isBefore) {
  SmallVector<OpFoldResult> sizes = {getSize(b, cosines, 0),
                                     getSize(b, cosines, 1)};
  return createLoops(
      b, "hts,hs,h->ht", {cosines, among, thetas},
      createFilled(b, sizes, b.i32(0)),
      [&](ValueBuilder &b, ValueRange args) -> Value {
        SmallVector<Value> conditions = {
            isSet(b, args[1]), b.compare(CmpFPredicate::OGE, args[0], args[2])};
        if (isBefore)
          conditions.push_back(b.compare(CmpIPredicate::slt, getLoopIndex(b, 2),
                                         getLoopIndex(b, 1)));
        return b.either(args[3], toFlag(b, b.allOf(conditions)));
      });
}

/// The tokens of `lhs` that are not in `rhs`.
static Value createDifference(ValueBuilder &b, Value lhs, Value rhs) {
  return createLoops(
      b, "ht,ht->ht", {lhs, rhs},
      createEmpty(b, tensor::getMixedSizes(b, b.getLoc(), lhs), b.getI32Type()),
      [](ValueBuilder &b, ValueRange args) -> Value {
        return b.select(isSet(b, args[1]), b.i32(0), args[0]);
      });
}

/// How many tokens of each head are in a set.
static Value createCounts(ValueBuilder &b, Value flags) {
  return createLoops(b, "ht->h", flags,
                     createFilled(b, getSize(b, flags, 0), b.i32(0)),
                     [](ValueBuilder &b, ValueRange args) -> Value {
                       return b.add(args[1], args[0]);
                     });
}

/// `against all`: no earlier token covers t.
static Value createKeptOfAll(ValueBuilder &b, Value cosines, Value thetas) {
  SmallVector<OpFoldResult> sizes = {getSize(b, cosines, 0),
                                     getSize(b, cosines, 1)};
  Value all = createFilled(b, sizes, b.i32(1));
  return createDifference(
      b, all, createCovered(b, cosines, thetas, all, /*isBefore=*/true));
}

/// `rule paper`: the inherited tokens that no earlier inherited one covers, and
/// the others that none of those covers, earlier or later.
static Value createKeptOfPaper(ValueBuilder &b, Value cosines, Value thetas,
                               Value inherited) {
  Value valid = createDifference(
      b, inherited,
      createCovered(b, cosines, thetas, inherited, /*isBefore=*/true));
  Value covered = createCovered(b, cosines, thetas, valid, /*isBefore=*/false);
  return createLoops(b, "ht,ht,ht->ht", {inherited, valid, covered},
                     createEmpty(b, tensor::getMixedSizes(b, b.getLoc(), valid),
                                 b.getI32Type()),
                     [](ValueBuilder &b, ValueRange args) -> Value {
                       return b.select(isSet(b, args[0]), args[1],
                                       toFlag(b, isNotSet(b, args[2])));
                     });
}

//===----------------------------------------------------------------------===//
// The step that has an order
//===----------------------------------------------------------------------===//

namespace {
/// Which tokens are kept: flags and ids, H x T, and their numbers, H.
struct Kept {
  Value flags, ids, counts;
};
} // namespace

/// Whether token t of head h is kept, given the first `size` ids of the head.
using KeepRule = function_ref<Value(ValueBuilder &, ValueRange inputs, Value h,
                                    Value t, Value ids, Value size)>;

/// Visits the tokens of each head in order; `rule` uses nothing but `inputs`
/// and its own arguments.
static Kept createScan(ValueBuilder &b, ValueRange inputs,
                       ArrayRef<OpFoldResult> sizes, KeepRule rule) {
  SmallVector<Value> outputs = {createFilled(b, sizes, b.i32(0)),
                                createFilled(b, sizes, b.i32(-1)),
                                createFilled(b, sizes.front(), b.i32(0))};
  auto scan = [&](ValueBuilder &b, ValueRange in, ValueRange out) {
    Value zero = b.index(0);
    Value heads = getSizeValue(b, out[0], 0),
          tokens = getSizeValue(b, out[0], 1);
    auto ofHead = [&](Value h, ValueRange all) {
      auto visit = [&](Value t, ValueRange carried) {
        Value size = carried[2];
        Value isKept = rule(b, in, h, t, carried[1], size);
        // Written for every token; what is not kept is overwritten by the next.
        Value id = b.select(isKept, b.toI32(t), b.i32(-1));
        Value one = arith::IndexCastUIOp::create(b, b.getIndexType(), isKept);
        return SmallVector<Value>{
            store(b, toFlag(b, isKept), carried[0], {h, t}),
            store(b, id, carried[1], {h, size}), b.add(size, one)};
      };
      SmallVector<Value> results =
          b.loop(zero, tokens, 1, {all[0], all[1], zero}, visit);
      results[2] = store(b, b.toI32(results[2]), all[2], h);
      return results;
    };
    return b.loop(zero, heads, 1, out, ofHead);
  };
  SmallVector<Value> results = iree::createDispatch(b, inputs, outputs, scan);
  return {results[0], results[1], results[2]};
}

/// `against kept` and `rule covering`: no earlier kept token covers t. A token
/// is compared with those that are kept, of which there may be few.
static Kept createCovering(ValueBuilder &b, Value cosines, Value thetas) {
  return createScan(
      b, {cosines, thetas}, {getSize(b, cosines, 0), getSize(b, cosines, 1)},
      [](ValueBuilder &b, ValueRange in, Value h, Value t, Value ids,
         Value size) -> Value {
        auto compareWith = [&](Value j, ValueRange covered) {
          Value s = b.toIndex(load(b, ids, {h, j}));
          Value covers = b.compare(
              CmpFPredicate::OGE, load(b, in[0], {h, t, s}), load(b, in[1], h));
          return SmallVector<Value>{b.either(covered[0], covers)};
        };
        Value covered =
            b.loop(b.index(0), size, 1, b.boolean(false), compareWith).front();
        return arith::XOrIOp::create(b, covered, b.boolean(true));
      });
}

/// The set `flags` as a list.
static Kept createList(ValueBuilder &b, Value flags) {
  return createScan(
      b, flags, {getSize(b, flags, 0), getSize(b, flags, 1)},
      [](ValueBuilder &b, ValueRange in, Value h, Value t, Value,
         Value) -> Value { return isSet(b, load(b, in[0], {h, t})); });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// For each token the smallest id of a kept one that has the largest cosine
/// with it, not later than the token if `isCausal`; its own id if it is kept.
static Value createNearest(ValueBuilder &b, Value cosines, Value flags,
                           bool isCausal) {
  SmallVector<OpFoldResult> sizes = {getSize(b, cosines, 0),
                                     getSize(b, cosines, 1)};
  auto improve = [&](ValueBuilder &b, ValueRange args) {
    Value cos = args[0], best = args[2], owner = args[3];
    Value id = b.toI32(getLoopIndex(b, 2));
    // Ties go to the smallest id whatever the order of the loop.
    Value isTie = b.allOf({b.compare(CmpFPredicate::OEQ, cos, best),
                           b.compare(CmpIPredicate::slt, id, owner)});
    Value isBetter = b.either(b.compare(CmpFPredicate::OGT, cos, best), isTie);
    SmallVector<Value> conditions = {isSet(b, args[1]), isBetter};
    if (isCausal)
      conditions.push_back(b.compare(CmpIPredicate::sle, getLoopIndex(b, 2),
                                     getLoopIndex(b, 1)));
    Value wins = b.allOf(conditions);
    return SmallVector<Value>{b.select(wins, cos, best),
                              b.select(wins, id, owner)};
  };
  Value lowest = createFilled(b, sizes, b.f32(-kInfinity));
  Value none = createFilled(b, sizes, b.i32(-1));
  Value owner = createLoops(b, "hts,hs->ht", {cosines, flags},
                            ValueRange{lowest, none}, improve)[1];
  return createLoops(b, "ht,ht->ht", {flags, owner},
                     createEmpty(b, sizes, b.getI32Type()),
                     [](ValueBuilder &b, ValueRange args) -> Value {
                       return b.select(isSet(b, args[0]),
                                       b.toI32(getLoopIndex(b, 1)), args[1]);
                     });
}

/// For each representative, in the order of ids, how many tokens it stands for.
static Value createWeights(ValueBuilder &b, Value ids, Value nearest) {
  return createLoops(
      b, "hj,ht->hj", {ids, nearest},
      createFilled(b, tensor::getMixedSizes(b, b.getLoc(), ids), b.i32(0)),
      [](ValueBuilder &b, ValueRange args) -> Value {
        Value isMember = b.compare(CmpIPredicate::eq, args[0], args[1]);
        return b.add(args[2], toFlag(b, isMember));
      });
}

/// `part` with heads, of which there is one where selections are not per head.
static Value withHeads(ValueBuilder &b, Value part) {
  auto type = cast<RankedTensorType>(part.getType());
  if (type.getRank() == 2)
    return part;
  return tensor::ExpandShapeOp::create(
      b, type.clone({1, type.getDimSize(0)}), part,
      ArrayRef<ReassociationIndices>{{0, 1}},
      {b.getIndexAttr(1), getSize(b, part, 0)});
}

/// `part` as selections over `tokens` have it.
static Value asPart(ValueBuilder &b, Value part, Value tokens) {
  if (cast<RankedTensorType>(tokens.getType()).getRank() == 3)
    return part;
  // The number of a single head is a tensor of rank 0.
  SmallVector<ReassociationIndices> dims;
  if (cast<RankedTensorType>(part.getType()).getRank() == 2)
    dims = {{0, 1}};
  return tensor::CollapseShapeOp::create(b, part, dims);
}

/// The selection over `tokens` that keeps `kept`.
static Value createSelection(ValueBuilder &b, const Kept &kept, Value cosines,
                             bool isCausal, Value tokens) {
  Value nearest = createNearest(b, cosines, kept.flags, isCausal);
  Value weights = createWeights(b, kept.ids, nearest);
  return PackSelectionOp::create(
      b, asPart(b, kept.ids, tokens), asPart(b, kept.counts, tokens),
      asPart(b, nearest, tokens), asPart(b, weights, tokens));
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct BatchGramSelect final : OpRewritePattern<GramSelectOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(GramSelectOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getOffsets())
      return rewriter.notifyMatchFailure(op, "the batch is ragged");
    ValueBuilder b(op.getLoc(), rewriter);
    Value rows = createRows(b, op.getTokens());
    Value cosines = createCosines(b, rows, op.getSimilarity());
    Value thetas = createThetas(b, op, getSize(b, rows, 0));
    Kept kept = op.getAgainst() == Against::All
                    ? createList(b, createKeptOfAll(b, cosines, thetas))
                    : createCovering(b, cosines, thetas);
    rewriter.replaceOp(
        op, createSelection(b, kept, cosines, op.getCausal(), op.getTokens()));
    return success();
  }
};

struct BatchCascadeUpdate final : OpRewritePattern<CascadeUpdateOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(CascadeUpdateOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getOffsets())
      return rewriter.notifyMatchFailure(op, "the batch is ragged");
    if (op.getRule() == CascadeRule::Inherit)
      return rewriter.notifyMatchFailure(op, "nothing is computed");
    ValueBuilder b(op.getLoc(), rewriter);
    Value rows = createRows(b, op.getTokens());
    Value cosines = createCosines(b, rows, op.getSimilarity());
    Value thetas = createThetas(b, op, getSize(b, rows, 0));
    auto before = UnpackSelectionOp::create(b, op.getInherited());
    Value nearest = withHeads(b, before.getNearest());
    // A representative is its own nearest.
    Value inherited = createLoops(
        b, "ht->ht", nearest,
        createEmpty(b, tensor::getMixedSizes(b, b.getLoc(), nearest),
                    b.getI32Type()),
        [](ValueBuilder &b, ValueRange args) -> Value {
          return toFlag(b, b.compare(CmpIPredicate::eq, args[0],
                                     b.toI32(getLoopIndex(b, 1))));
        });
    Kept kept =
        op.getRule() == CascadeRule::Paper
            ? createList(b, createKeptOfPaper(b, cosines, thetas, inherited))
            : createCovering(b, cosines, thetas);
    auto count = [&](Value set, Value without) {
      return asPart(b, createCounts(b, createDifference(b, set, without)),
                    op.getTokens());
    };
    Value selection =
        createSelection(b, kept, cosines, op.getCausal(), op.getTokens());
    rewriter.replaceOp(op, {selection, count(inherited, kept.flags),
                            count(kept.flags, inherited)});
    return success();
  }
};

struct BatchSelectionsPass final
    : gist::impl::BatchSelectionsPassBase<BatchSelectionsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<BatchGramSelect, BatchCascadeUpdate>(&getContext());
    SmallVector<Operation *> ops =
        findOutsideKernels(getOperation(), [](Operation *op) {
          return isa<GramSelectOp, CascadeUpdateOp>(op);
        });
    // Dispatches are IREE's.
    if (!ops.empty() && failed(iree::verifyOpsAllowed(getOperation())))
      return signalPassFailure();
    if (failed(rewriteOnce(ops, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
