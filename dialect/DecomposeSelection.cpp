//===- DecomposeSelection.cpp - What selections mean ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A selection is computed in three steps: all cosines; which tokens are kept,
// as one flag per token; and from these the parts of the selection. Rules
// differ in the second step alone. T x T cosines are held at once: this is
// the definition, kernels hold tiles.
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/Formats.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "runtime/format/Theta.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Cosines
//===----------------------------------------------------------------------===//

/// For each row 1/|x|, or NaN for a row without a direction, which makes every
/// cosine with it NaN.
static Value createInverseNorms(ValueBuilder &b, Value rows) {
  Value squares = createSquares(b, rows);
  Value empty = createEmpty(b, getSize(b, rows, 0), b.getF32Type());
  auto invert = [](ValueBuilder &b, ValueRange args) -> Value {
    // False for a NaN as well: the comparisons are ordered.
    Value hasDirection =
        b.allOf({b.compare(CmpFPredicate::OGT, args[0], b.f32(0)),
                 b.compare(CmpFPredicate::OLT, args[0], b.f32(kInfinity))});
    Value norm = math::SqrtOp::create(b, args[0]);
    Value inverse = b.div(b.f32(1), norm);
    return b.select(hasDirection, inverse, b.f32(kNaN));
  };
  return createLoops(b, "t->t", squares, empty, invert);
}

/// cos(s,t) of every row t with every row s, -infinity if a row has no
/// direction or s is of another sequence.
static Value createCosines(ValueBuilder &b, Value rows, Similarity similarity,
                           const Sequences &sequences) {
  SmallVector<OpFoldResult> sizes = {getSize(b, rows, 0), getSize(b, rows, 0)};
  Value dots = createProduct(b, "td,sd->ts", rows, rows, sizes);
  Value inverse = createInverseNorms(b, rows);
  auto normalize = [&](ValueBuilder &b, ValueRange args) -> Value {
    // Scaled one norm after the other: the first product is at most |x_t|, so
    // nothing overflows, and it is small only where the cosine is. The
    // product of two inverse norms can do both.
    Value cos = b.mul(args[0], args[2]);
    cos = b.mul(cos, args[1]);
    if (similarity == Similarity::Absolute)
      cos = math::AbsFOp::create(b, cos);
    SmallVector<Value> conditions = {b.compare(CmpFPredicate::ORD, cos, cos)};
    if (sequences.isRagged())
      conditions.push_back(
          sequences.contains(b, getLoopIndex(b, 0), getLoopIndex(b, 1)));
    return b.select(b.allOf(conditions), cos, b.f32(-kInfinity));
  };
  return createLoops(b, "ts,t,s->ts", {dots, inverse, inverse},
                     createEmpty(b, sizes, b.getF32Type()), normalize);
}

/// Theta of a head, from `tau` or from its entry of `taus`. An entry that is
/// not in (0, 1), such as a NaN, keeps every token.
template <typename OpTy>
static Value createTheta(ValueBuilder &b, OpTy op, Value head) {
  if (op.getTau())
    return b.f32(thetaOfTau(op.getTau()->convertToFloat()));
  return createTheta(b, load(b, op.getTaus(), head ? head : b.index(0)));
}

/// True if candidate s may be compared with token t.
static Value isInReach(ValueBuilder &b, Reach reach, Value s, Value t) {
  switch (reach) {
  case Reach::Before:
    return b.compare(CmpIPredicate::slt, s, t);
  case Reach::Upto:
    return b.compare(CmpIPredicate::sle, s, t);
  case Reach::Any:
    return b.boolean(true);
  }
  llvm_unreachable("all cases are listed");
}

//===----------------------------------------------------------------------===//
// Flags: sets of tokens
//===----------------------------------------------------------------------===//

/// Flags of the first `count` of `ids`.
/// Ids come from a selection, so they are within bounds.
static Value createFlags(ValueBuilder &b, Value ids, Value count,
                         OpFoldResult tokens) {
  Value none = createFilled(b, tokens, b.boolean(false));
  auto flag = [&](Value j, ValueRange flags) {
    Value id = b.toIndex(load(b, ids, j));
    return SmallVector<Value>{store(b, b.boolean(true), flags[0], id)};
  };
  Value end = b.toIndex(load(b, count, {}));
  return b.loop(b.index(0), end, 1, none, flag).front();
}

/// For each token, whether one of the set `among` in its reach has a cosine of
/// at least theta with it.
static Value createCovered(ValueBuilder &b, Value cosines, Value among,
                           Reach reach, Value theta) {
  Value none = createFilled(b, getSize(b, cosines, 0), b.boolean(false));
  auto cover = [&](ValueBuilder &b, ValueRange args) -> Value {
    Value t = getLoopIndex(b, 0), s = getLoopIndex(b, 1);
    Value covers =
        b.allOf({args[1], b.compare(CmpFPredicate::OGE, args[0], theta),
                 isInReach(b, reach, s, t)});
    return b.either(args[2], covers);
  };
  return createLoops(b, "ts,s->t", {cosines, among}, none, cover);
}

/// The tokens of `lhs` that are not in `rhs`.
// For flags, lhs > rhs is "lhs and not rhs".
static Value createDifference(ValueBuilder &b, Value lhs, Value rhs) {
  auto subtract = [](ValueBuilder &b, ValueRange args) -> Value {
    return b.compare(CmpIPredicate::ugt, args[0], args[1]);
  };
  Value empty = createEmpty(b, getSize(b, lhs, 0), b.getI1Type());
  return createLoops(b, "t,t->t", {lhs, rhs}, empty, subtract);
}

/// The number of tokens of a set.
static Value createCount(ValueBuilder &b, Value flags) {
  auto count = [](ValueBuilder &b, ValueRange args) -> Value {
    Value one = arith::ExtUIOp::create(b, b.getI32Type(), args[0]);
    return b.add(args[1], one);
  };
  return createLoops(b, "t->", flags, createFilled(b, {}, b.i32(0)), count);
}

//===----------------------------------------------------------------------===//
// Rules: which tokens are kept
//===----------------------------------------------------------------------===//

/// `against all`: no earlier token covers t.
static Value createKeptOfAll(ValueBuilder &b, Value cosines, Value theta) {
  Value all = createFilled(b, getSize(b, cosines, 0), b.boolean(true));
  Value covered = createCovered(b, cosines, all, Reach::Before, theta);
  return createDifference(b, all, covered);
}

/// `against kept` and `rule covering`: no earlier kept token covers t. The one
/// definition that visits tokens in order.
static Value createCovering(ValueBuilder &b, Value cosines, Value theta) {
  Value zero = b.index(0);
  Value none = createFilled(b, getSize(b, cosines, 0), b.boolean(false));
  auto visit = [&](Value t, ValueRange kept) {
    auto compareWith = [&](Value s, ValueRange covered) {
      Value covers = b.allOf(
          {load(b, kept[0], s),
           b.compare(CmpFPredicate::OGE, load(b, cosines, {t, s}), theta)});
      return SmallVector<Value>{b.either(covered[0], covers)};
    };
    Value covered = b.loop(zero, t, 1, b.boolean(false), compareWith).front();
    Value isKept = arith::XOrIOp::create(b, covered, b.boolean(true));
    return SmallVector<Value>{store(b, isKept, kept[0], t)};
  };
  return b.loop(zero, getSizeValue(b, cosines, 0), 1, none, visit).front();
}

/// `rule paper`: the inherited tokens that no earlier inherited one covers, and
/// the others that none of those covers, earlier or later.
static Value createKeptOfPaper(ValueBuilder &b, Value cosines, Value inherited,
                               Value theta) {
  Value repeated = createCovered(b, cosines, inherited, Reach::Before, theta);
  Value valid = createDifference(b, inherited, repeated);
  Value covered = createCovered(b, cosines, valid, Reach::Any, theta);
  Value empty = createEmpty(b, getSize(b, cosines, 0), b.getI1Type());
  auto unite = [](ValueBuilder &b, ValueRange args) -> Value {
    Value isNew = arith::XOrIOp::create(b, args[2], b.boolean(true));
    return b.select(args[0], args[1], isNew);
  };
  return createLoops(b, "t,t,t->t", {inherited, valid, covered}, empty, unite);
}

//===----------------------------------------------------------------------===//
// Parts: from flags to a selection
//===----------------------------------------------------------------------===//

/// For each row the smallest id of the set `among` in its reach that has the
/// largest cosine with it; -1 if there is no such token. A cosine of -infinity
/// never wins: rows without a direction have no nearest.
static Value createNearest(ValueBuilder &b, Value cosines, Value among,
                           Reach reach) {
  OpFoldResult rows = getSize(b, cosines, 0);
  Value lowest = createFilled(b, rows, b.f32(-kInfinity));
  Value none = createFilled(b, rows, b.i32(-1));
  auto improve = [&](ValueBuilder &b, ValueRange args) {
    Value cos = args[0], best = args[2], owner = args[3];
    Value t = getLoopIndex(b, 0), s = getLoopIndex(b, 1);
    // Ties go to the smallest id whatever the order of the loop.
    Value id = b.toI32(s);
    Value isTie = b.allOf({b.compare(CmpFPredicate::OEQ, cos, best),
                           b.compare(CmpIPredicate::slt, id, owner)});
    Value isBetter = b.either(b.compare(CmpFPredicate::OGT, cos, best), isTie);
    Value wins = b.allOf({args[1], isBetter, isInReach(b, reach, s, t)});
    return SmallVector<Value>{b.select(wins, cos, best),
                              b.select(wins, id, owner)};
  };
  return createLoops(b, "ts,s->t", {cosines, among}, ValueRange{lowest, none},
                     improve)[1];
}

/// The set as a list: ids in ascending order, -1 past their number.
static Value createIds(ValueBuilder &b, Value kept) {
  Value none = createFilled(b, getSize(b, kept, 0), b.i32(-1));
  Value zero = b.index(0);
  auto append = [&](Value t, ValueRange carried) {
    Value ids = carried[0], size = carried[1], isKept = load(b, kept, t);
    // Written for every token; what is not kept is overwritten by the next.
    Value id = b.select(isKept, b.toI32(t), b.i32(-1));
    Value one = arith::IndexCastUIOp::create(b, b.getIndexType(), isKept);
    return SmallVector<Value>{store(b, id, ids, size), b.add(size, one)};
  };
  return b.loop(zero, getSizeValue(b, kept, 0), 1, {none, zero}, append)
      .front();
}

/// ids, count, nearest and weight of the selection that keeps `kept`.
static SmallVector<Value> createParts(ValueBuilder &b, Value kept,
                                      Value cosines, bool isCausal) {
  OpFoldResult tokens = getSize(b, kept, 0);
  Value ids = createIds(b, kept);
  Value best =
      createNearest(b, cosines, kept, isCausal ? Reach::Upto : Reach::Any);
  // A kept token is its own nearest, also where another is exactly as near.
  auto chooseOwn = [](ValueBuilder &b, ValueRange args) -> Value {
    return b.select(args[0], b.toI32(getLoopIndex(b, 0)), args[1]);
  };
  Value nearest =
      createLoops(b, "t,t->t", {kept, best},
                  createEmpty(b, tokens, b.getI32Type()), chooseOwn);
  auto countMembers = [](ValueBuilder &b, ValueRange args) -> Value {
    Value isMember = b.compare(CmpIPredicate::eq, args[0], args[1]);
    Value one = arith::ExtUIOp::create(b, b.getI32Type(), isMember);
    return b.add(args[2], one);
  };
  Value weight = createLoops(b, "j,t->j", {ids, nearest},
                             createFilled(b, tokens, b.i32(0)), countMembers);
  return {ids, createCount(b, kept), nearest, weight};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

using HeadBody = function_ref<SmallVector<Value>(Value rows, Value head)>;

/// What `body` gives for the rows of `tokens`; where these are tokens x heads x
/// d, for each head, with the heads as a new leading dimension. `head` is null
/// in the first case. `types` are those of the results.
static SmallVector<Value> createPerHead(ValueBuilder &b, Value tokens,
                                        TypeRange types, HeadBody body) {
  if (cast<RankedTensorType>(tokens.getType()).getRank() == 2)
    return body(tokens, {});
  SmallVector<Value> inits;
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<OpFoldResult> sizes = {getSize(b, tokens, 1)};
    if (tensor.getRank() == 2)
      sizes.push_back(getSize(b, tokens, 0));
    inits.push_back(createEmpty(b, sizes, tensor.getElementType()));
  }
  auto ofHead = [&](Value head, ValueRange carried) {
    SmallVector<Value> results = body(takeSlice(b, tokens, 1, head), head);
    for (auto [result, all] : llvm::zip_equal(results, carried))
      result = putSlice(b, result, all, 0, head);
    return results;
  };
  return b.loop(b.index(0), getSizeValue(b, tokens, 1), 1, inits, ofHead);
}

/// The part of a head; all of it where selections are not per head.
static Value takeHead(ValueBuilder &b, Value part, Value head) {
  return head ? takeSlice(b, part, 0, head) : part;
}

/// The types of the parts of a selection.
static SmallVector<Type> getPartTypes(SelectionType selection) {
  Type i32 = IntegerType::get(selection.getContext(), 32);
  Type part = RankedTensorType::get(selection.getPartShape(), i32);
  return {part, RankedTensorType::get(selection.getCountShape(), i32), part,
          part};
}

static Value createPack(ValueBuilder &b, ValueRange parts) {
  return PackSelectionOp::create(b, parts[0], parts[1], parts[2], parts[3]);
}

namespace {
struct DecomposeGramSelect final : OpRewritePattern<GramSelectOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(GramSelectOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    Value tokens = op.getTokens();
    Sequences sequences(b, op.getOffsets(), getSize(b, tokens, 0));
    auto select = [&](Value rows, Value head) {
      Value theta = createTheta(b, op, head);
      Value cosines = createCosines(b, rows, op.getSimilarity(), sequences);
      Value kept = op.getAgainst() == Against::All
                       ? createKeptOfAll(b, cosines, theta)
                       : createCovering(b, cosines, theta);
      return createParts(b, kept, cosines, op.getCausal());
    };
    SmallVector<Value> parts = createPerHead(
        b, tokens, getPartTypes(op.getSelection().getType()), select);
    rewriter.replaceOp(op, createPack(b, parts));
    return success();
  }
};

struct DecomposeCascadeUpdate final : OpRewritePattern<CascadeUpdateOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(CascadeUpdateOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getRule() == CascadeRule::Inherit)
      return rewriter.notifyMatchFailure(op, "nothing is computed");
    ValueBuilder b(op.getLoc(), rewriter);
    Value tokens = op.getTokens();
    auto inherited = UnpackSelectionOp::create(b, op.getInherited());
    Sequences sequences(b, op.getOffsets(), getSize(b, tokens, 0));
    auto update = [&](Value rows, Value head) {
      Value theta = createTheta(b, op, head);
      Value cosines = createCosines(b, rows, op.getSimilarity(), sequences);
      Value old = createFlags(b, takeHead(b, inherited.getIds(), head),
                              takeHead(b, inherited.getCount(), head),
                              getSize(b, rows, 0));
      Value kept = op.getRule() == CascadeRule::Paper
                       ? createKeptOfPaper(b, cosines, old, theta)
                       : createCovering(b, cosines, theta);
      SmallVector<Value> results =
          createParts(b, kept, cosines, op.getCausal());
      // What was removed, then what was added.
      results.push_back(createCount(b, createDifference(b, old, kept)));
      results.push_back(createCount(b, createDifference(b, kept, old)));
      return results;
    };
    SmallVector<Type> types = getPartTypes(op.getSelection().getType());
    types.append({op.getRemoved().getType(), op.getAdded().getType()});
    SmallVector<Value> results = createPerHead(b, tokens, types, update);
    rewriter.replaceOp(op, {createPack(b, results), results[4], results[5]});
    return success();
  }
};

/// `rule inherit`: the parts as they are, and nothing removed or added.
struct DecomposeInherit final : OpRewritePattern<CascadeUpdateOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(CascadeUpdateOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getRule() != CascadeRule::Inherit)
      return rewriter.notifyMatchFailure(op, "a selection is computed");
    ValueBuilder b(op.getLoc(), rewriter);
    auto inherited = UnpackSelectionOp::create(b, op.getInherited());
    // The two may differ in whether the number of tokens is static.
    SmallVector<Value> parts;
    for (auto [part, type] : llvm::zip_equal(
             inherited.getResults(), getPartTypes(op.getSelection().getType())))
      parts.push_back(b.createOrFold<tensor::CastOp>(type, part));
    Value none =
        arith::ConstantOp::create(b, b.getZeroAttr(op.getRemoved().getType()));
    rewriter.replaceOp(op, {createPack(b, parts), none, none});
    return success();
  }
};

struct DecomposeKeepAll final : OpRewritePattern<KeepAllOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(KeepAllOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    SelectionType type = op.getSelection().getType();
    OpFoldResult tokens = b.getIndexAttr(type.getTokens());
    if (op.getSize())
      tokens = op.getSize();
    SmallVector<OpFoldResult> sizes, countSizes;
    if (std::optional<int64_t> heads = type.getHeads())
      countSizes.push_back(b.getIndexAttr(*heads));
    sizes = countSizes;
    sizes.push_back(tokens);

    auto number = [&](ValueBuilder &b, ValueRange) -> Value {
      return b.toI32(getLoopIndex(b, type.getHeads() ? 1 : 0));
    };
    Value numbers = createLoops(b, type.getHeads() ? "->ht" : "->t", {},
                                createEmpty(b, sizes, b.getI32Type()), number);
    Value total =
        b.toI32(getValueOrCreateConstantIndexOp(b, b.getLoc(), tokens));
    Value count = createFilled(b, countSizes, total);
    Value ones = createFilled(b, sizes, b.i32(1));
    rewriter.replaceOp(op, createPack(b, {numbers, count, numbers, ones}));
    return success();
  }
};
} // namespace

void gist::populateDecomposeSelectionPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeGramSelect, DecomposeCascadeUpdate, DecomposeInherit,
               DecomposeKeepAll>(patterns.getContext());
}
