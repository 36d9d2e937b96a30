//===- DecomposeSelection.cpp - What selections mean ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A selection is computed in three steps, for all heads at once: all cosines;
// which tokens are kept, as one flag per token and as a list of ids; and from
// these the parts of the selection. Rules differ in the second step alone.
// Tokens without heads are one head.
//
// Whether a token is kept depends on those before it, so the second step visits
// tokens in order. The rest is loops without an order, and no size depends on
// the number of kept tokens. H x T x T cosines are held at once: this is the
// definition, kernels hold tiles.
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
// Heads
//===----------------------------------------------------------------------===//

/// `x`, whose rows or tokens are not per head, with a first dimension of one
/// head.
static Value withHead(ValueBuilder &b, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, type.getShape());
  SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1)};
  llvm::append_range(sizes, tensor::getMixedSizes(b, b.getLoc(), x));
  SmallVector<ReassociationIndices> dims;
  if (type.getRank() > 0)
    dims.push_back({0, 1});
  for (int64_t dim = 2; dim <= type.getRank(); ++dim)
    dims.push_back({dim});
  return tensor::ExpandShapeOp::create(b, type.clone(shape), x, dims, sizes);
}

/// H x T of a tensor that begins with them.
static SmallVector<OpFoldResult> getTokenSizes(ValueBuilder &b, Value x) {
  return {getSize(b, x, 0), getSize(b, x, 1)};
}

/// T x d, or T x H x d, as H x T x d in f32.
static Value createRows(ValueBuilder &b, Value tokens) {
  if (cast<RankedTensorType>(tokens.getType()).getRank() == 3)
    return splitHeads(b, tokens);
  return convert(b, withHead(b, tokens), b.getF32Type());
}

/// `part`, which is per head, as selections over `tokens` have it.
static Value asPart(ValueBuilder &b, Value part, Value tokens) {
  if (cast<RankedTensorType>(tokens.getType()).getRank() == 3)
    return part;
  // The number of a single head is a tensor of rank 0.
  SmallVector<ReassociationIndices> dims;
  if (cast<RankedTensorType>(part.getType()).getRank() == 2)
    dims = {{0, 1}};
  return tensor::CollapseShapeOp::create(b, part, dims);
}

//===----------------------------------------------------------------------===//
// Cosines, H x T x T
//===----------------------------------------------------------------------===//

/// For each row 1/|x|, or NaN for a row without a direction, which makes every
/// cosine with it NaN.
static Value createInverseNorms(ValueBuilder &b, Value rows) {
  SmallVector<OpFoldResult> sizes = getTokenSizes(b, rows);
  Value squares =
      createLoops(b, "htd->ht", rows, createFilled(b, sizes, b.f32(0)),
                  [](ValueBuilder &b, ValueRange args) -> Value {
                    return b.add(args[1], b.mul(args[0], args[0]));
                  });
  auto invert = [](ValueBuilder &b, ValueRange args) -> Value {
    // False for a NaN as well: the comparisons are ordered.
    Value hasDirection =
        b.allOf({b.compare(CmpFPredicate::OGT, args[0], b.f32(0)),
                 b.compare(CmpFPredicate::OLT, args[0], b.f32(kInfinity))});
    Value norm = math::SqrtOp::create(b, args[0]);
    Value inverse = b.div(b.f32(1), norm);
    return b.select(hasDirection, inverse, b.f32(kNaN));
  };
  return createLoops(b, "ht->ht", squares,
                     createEmpty(b, sizes, b.getF32Type()), invert);
}

/// cos(s,t) of every row t with every row s of its head, -infinity if a row has
/// no direction or s is of another sequence.
static Value createCosines(ValueBuilder &b, Value rows, Similarity similarity,
                           const Sequences &sequences) {
  Value dots = multiplyBatches(b, rows, rows, /*byRows=*/true);
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
          sequences.contains(b, getLoopIndex(b, 1), getLoopIndex(b, 2)));
    return b.select(b.allOf(conditions), cos, b.f32(-kInfinity));
  };
  return createLoops(b, "hts,ht,hs->hts", {dots, inverse, inverse},
                     createEmptyLike(b, dots, b.getF32Type()), normalize);
}

/// Theta of each head, from `tau` or from its entry of `taus`. An entry that is
/// not in (0, 1), such as a NaN, keeps every token.
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

static Value toFlag(ValueBuilder &b, Value isMember) {
  return arith::ExtUIOp::create(b, b.getI32Type(), isMember);
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

/// The first `counts` of `ids`.
static Value createFlags(ValueBuilder &b, Value ids, Value counts,
                         Sizes sizes) {
  auto find = [](ValueBuilder &b, ValueRange args) -> Value {
    Value t = b.toI32(getLoopIndex(b, 1)), j = b.toI32(getLoopIndex(b, 2));
    Value isListed = b.allOf({b.compare(CmpIPredicate::slt, j, args[1]),
                              b.compare(CmpIPredicate::eq, args[0], t)});
    return b.either(args[2], toFlag(b, isListed));
  };
  return createLoops(b, "hj,h->ht", {ids, counts},
                     createFilled(b, sizes, b.i32(0)), find);
}

/// For each token, whether one of the set `among` in its reach has a cosine of
/// at least theta with it.
static Value createCovered(ValueBuilder &b, Value cosines, Value thetas,
                           Value among, Reach reach) {
  Value none = createFilled(b, getTokenSizes(b, cosines), b.i32(0));
  auto cover = [&](ValueBuilder &b, ValueRange args) -> Value {
    Value t = getLoopIndex(b, 1), s = getLoopIndex(b, 2);
    Value covers = b.allOf({isSet(b, args[1]),
                            b.compare(CmpFPredicate::OGE, args[0], args[2]),
                            isInReach(b, reach, s, t)});
    return b.either(args[3], toFlag(b, covers));
  };
  return createLoops(b, "hts,hs,h->ht", {cosines, among, thetas}, none, cover);
}

/// The tokens of `lhs` that are not in `rhs`.
static Value createDifference(ValueBuilder &b, Value lhs, Value rhs) {
  return createLoops(b, "ht,ht->ht", {lhs, rhs},
                     createEmptyLike(b, lhs, b.getI32Type()),
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

//===----------------------------------------------------------------------===//
// Rules: which tokens are kept
//===----------------------------------------------------------------------===//

/// `against all`: no earlier token covers t.
static Value createKeptOfAll(ValueBuilder &b, Value cosines, Value thetas) {
  Value all = createFilled(b, getTokenSizes(b, cosines), b.i32(1));
  return createDifference(
      b, all, createCovered(b, cosines, thetas, all, Reach::Before));
}

/// `rule paper`: the inherited tokens that no earlier inherited one covers, and
/// the others that none of those covers, earlier or later.
static Value createKeptOfPaper(ValueBuilder &b, Value cosines, Value thetas,
                               Value inherited) {
  Value repeated = createCovered(b, cosines, thetas, inherited, Reach::Before);
  Value valid = createDifference(b, inherited, repeated);
  Value covered = createCovered(b, cosines, thetas, valid, Reach::Any);
  auto unite = [](ValueBuilder &b, ValueRange args) -> Value {
    Value isNew = b.compare(CmpIPredicate::eq, args[2], b.i32(0));
    return b.select(isSet(b, args[0]), args[1], toFlag(b, isNew));
  };
  return createLoops(b, "ht,ht,ht->ht", {inherited, valid, covered},
                     createEmptyLike(b, valid, b.getI32Type()), unite);
}

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
/// and its own arguments. Ids are in ascending order, -1 past their number.
static Kept createScan(ValueBuilder &b, ValueRange inputs, Sizes sizes,
                       RunInOrder run, KeepRule rule) {
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
  SmallVector<Value> results = run(b, inputs, outputs, scan);
  return {results[0], results[1], results[2]};
}

/// `against kept` and `rule covering`: no earlier kept token covers t. A token
/// is compared with those that are kept, of which there may be few.
static Kept createCovering(ValueBuilder &b, Value cosines, Value thetas,
                           RunInOrder run) {
  auto rule = [](ValueBuilder &b, ValueRange in, Value h, Value t, Value ids,
                 Value size) -> Value {
    auto compareWith = [&](Value j, ValueRange covered) {
      Value s = b.toIndex(load(b, ids, {h, j}));
      Value covers = b.compare(CmpFPredicate::OGE, load(b, in[0], {h, t, s}),
                               load(b, in[1], h));
      return SmallVector<Value>{b.either(covered[0], covers)};
    };
    Value covered =
        b.loop(b.index(0), size, 1, b.boolean(false), compareWith).front();
    return arith::XOrIOp::create(b, covered, b.boolean(true));
  };
  return createScan(b, {cosines, thetas}, getTokenSizes(b, cosines), run, rule);
}

/// The set `flags` as a list.
static Kept createList(ValueBuilder &b, Value flags, RunInOrder run) {
  auto rule = [](ValueBuilder &b, ValueRange in, Value h, Value t, Value,
                 Value) -> Value { return isSet(b, load(b, in[0], {h, t})); };
  return createScan(b, flags, getTokenSizes(b, flags), run, rule);
}

//===----------------------------------------------------------------------===//
// Parts: from kept tokens to a selection
//===----------------------------------------------------------------------===//

/// For each token the smallest id of the set `among` in its reach that has the
/// largest cosine with it; -1 if there is no such token. A cosine of -infinity
/// never wins: rows without a direction have no nearest. A kept token is its
/// own nearest, also where another is exactly as near.
static Value createNearest(ValueBuilder &b, Value cosines, Value among,
                           Reach reach) {
  SmallVector<OpFoldResult> sizes = getTokenSizes(b, cosines);
  auto improve = [&](ValueBuilder &b, ValueRange args) {
    Value cos = args[0], best = args[2], owner = args[3];
    Value t = getLoopIndex(b, 1), s = getLoopIndex(b, 2);
    // Ties go to the smallest id whatever the order of the loop.
    Value id = b.toI32(s);
    Value isTie = b.allOf({b.compare(CmpFPredicate::OEQ, cos, best),
                           b.compare(CmpIPredicate::slt, id, owner)});
    Value isBetter = b.either(b.compare(CmpFPredicate::OGT, cos, best), isTie);
    Value wins =
        b.allOf({isSet(b, args[1]), isBetter, isInReach(b, reach, s, t)});
    return SmallVector<Value>{b.select(wins, cos, best),
                              b.select(wins, id, owner)};
  };
  Value lowest = createFilled(b, sizes, b.f32(-kInfinity));
  Value none = createFilled(b, sizes, b.i32(-1));
  Value owner = createLoops(b, "hts,hs->ht", {cosines, among},
                            ValueRange{lowest, none}, improve)[1];
  auto chooseOwn = [](ValueBuilder &b, ValueRange args) -> Value {
    return b.select(isSet(b, args[0]), b.toI32(getLoopIndex(b, 1)), args[1]);
  };
  return createLoops(b, "ht,ht->ht", {among, owner},
                     createEmpty(b, sizes, b.getI32Type()), chooseOwn);
}

/// For each representative, in the order of ids, how many tokens it stands for.
static Value createWeights(ValueBuilder &b, Value ids, Value nearest) {
  Value none = createFilled(b, getTokenSizes(b, ids), b.i32(0));
  return createLoops(b, "hj,ht->hj", {ids, nearest}, none,
                     [](ValueBuilder &b, ValueRange args) -> Value {
                       Value isMember =
                           b.compare(CmpIPredicate::eq, args[0], args[1]);
                       return b.add(args[2], toFlag(b, isMember));
                     });
}

static Value createPack(ValueBuilder &b, ValueRange parts) {
  return PackSelectionOp::create(b, parts[0], parts[1], parts[2], parts[3]);
}

/// The selection over `tokens` that keeps `kept`.
static Value packKept(ValueBuilder &b, const Kept &kept, Value cosines,
                      bool isCausal, Value tokens) {
  Value nearest = createNearest(b, cosines, kept.flags,
                                isCausal ? Reach::Upto : Reach::Any);
  Value weights = createWeights(b, kept.ids, nearest);
  return createPack(
      b, {asPart(b, kept.ids, tokens), asPart(b, kept.counts, tokens),
          asPart(b, nearest, tokens), asPart(b, weights, tokens)});
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {
/// What an op that selects compares: cosines, and theta of each head.
struct Compared {
  template <typename OpTy> Compared(ValueBuilder &b, OpTy op) {
    Value rows = createRows(b, op.getTokens());
    Sequences sequences(b, op.getOffsets(), getSize(b, rows, 1));
    cosines = createCosines(b, rows, op.getSimilarity(), sequences);
    thetas = createThetas(b, op, getSize(b, rows, 0));
  }

  Value cosines, thetas;
};
} // namespace

SmallVector<Value> gist::createSelection(ValueBuilder &b, GramSelectOp op,
                                         RunInOrder run) {
  Compared what(b, op);
  Kept kept =
      op.getAgainst() == Against::All
          ? createList(b, createKeptOfAll(b, what.cosines, what.thetas), run)
          : createCovering(b, what.cosines, what.thetas, run);
  return {packKept(b, kept, what.cosines, op.getCausal(), op.getTokens())};
}

SmallVector<Value> gist::createSelection(ValueBuilder &b, CascadeUpdateOp op,
                                         RunInOrder run) {
  Compared what(b, op);
  Value tokens = op.getTokens();
  auto before = UnpackSelectionOp::create(b, op.getInherited());
  Value ids = before.getIds(), counts = before.getCount();
  if (!op.getInherited().getType().getHeads()) {
    ids = withHead(b, ids);
    counts = withHead(b, counts);
  }
  Value inherited = createFlags(b, ids, counts, getTokenSizes(b, what.cosines));
  Kept kept =
      op.getRule() == CascadeRule::Paper
          ? createList(
                b, createKeptOfPaper(b, what.cosines, what.thetas, inherited),
                run)
          : createCovering(b, what.cosines, what.thetas, run);
  auto count = [&](Value set, Value without) {
    return asPart(b, createCounts(b, createDifference(b, set, without)),
                  tokens);
  };
  Value selection = packKept(b, kept, what.cosines, op.getCausal(), tokens);
  return {selection, count(inherited, kept.flags),
          count(kept.flags, inherited)};
}

/// The types of the parts of a selection.
static SmallVector<Type> getPartTypes(SelectionType selection) {
  Type i32 = IntegerType::get(selection.getContext(), 32);
  Type part = RankedTensorType::get(selection.getPartShape(), i32);
  return {part, RankedTensorType::get(selection.getCountShape(), i32), part,
          part};
}

/// `rule inherit` computes no selection.
static bool isInherited(GramSelectOp) { return false; }
static bool isInherited(CascadeUpdateOp op) {
  return op.getRule() == CascadeRule::Inherit;
}

namespace {
template <typename OpTy>
struct DecomposeSelection final : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (isInherited(op))
      return rewriter.notifyMatchFailure(op, "nothing is computed");
    ValueBuilder b(op.getLoc(), rewriter);
    auto run = [](ValueBuilder &b, ValueRange inputs, ValueRange outputs,
                  OrderedBody body) { return body(b, inputs, outputs); };
    rewriter.replaceOp(op, createSelection(b, op, run));
    return success();
  }
};

/// `rule inherit`: the parts as they are, and nothing removed or added.
struct DecomposeInherit final : OpRewritePattern<CascadeUpdateOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(CascadeUpdateOp op,
                                PatternRewriter &rewriter) const override {
    if (!isInherited(op))
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
  patterns.add<DecomposeSelection<GramSelectOp>,
               DecomposeSelection<CascadeUpdateOp>, DecomposeInherit,
               DecomposeKeepAll>(patterns.getContext());
}
