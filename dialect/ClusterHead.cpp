//===- ClusterHead.cpp - What a cache's table says of a head --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/ClusterHead.h"
#include "dialect/GistClusterOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static Value cast(ValueBuilder &b, Type type, Value value) {
  return arith::IndexCastOp::create(b, type, value);
}

ClusterHead::ClusterHead(ValueBuilder &b, Type word,
                         function_ref<Value(Value column)> read)
    : word(word) {
  auto number = [&](HeadField field) {
    return read(b.index(static_cast<int64_t>(field)));
  };
  // Row numbers are f32 in the table, and exact.
  auto integer = [&](HeadField field) {
    return b.toIndex(arith::FPToSIOp::create(b, word, number(field)));
  };
#define GIST_HEAD_INTEGER(Field, member) member = integer(HeadField::Field);
#define GIST_HEAD_NUMBER(Field, member) member = number(HeadField::Field);
#include "runtime/format/HeadTable.def"
}

Value ClusterHead::getFirstExact(ValueBuilder &b, Value x) const {
  Value zero = b.index(0);
  Value hasWindow = b.compare(CmpIPredicate::sge, window, zero);
  return b.select(hasWindow, b.max(b.sub(x, window), zero), zero);
}

Value ClusterHead::letsTokensLeave(ValueBuilder &b, Value past,
                                   int64_t block) const {
  Value isBlock = b.isEqual(b.rem(past, block), 0);
  return b.both(isBlock, b.compare(CmpIPredicate::sge, window, b.index(0)));
}

Value ClusterHead::getPlace(ValueBuilder &b, Value t) const {
  return b.toIndex(
      arith::RemUIOp::create(b, cast(b, word, t), cast(b, word, ringRows)));
}

Value ClusterHead::getRow(ValueBuilder &b, Value place, Value n) const {
  // n is less than the ring has rows, so one subtraction is enough.
  Value at = b.add(place, n);
  Value isInside = b.isLess(at, ringRows);
  return b.add(ringRow, b.select(isInside, at, b.sub(at, ringRows)));
}

ClusterHead::Choice ClusterHead::choose(ValueBuilder &b, Value token,
                                        Value inverse, Value cosine,
                                        Value nearest, Value count) const {
  Value no = b.boolean(false), zero = b.index(0);
  Value hasDirection = b.compare(CmpFPredicate::ONE, inverse, b.f32(0));
  // Negative where a head has clusters.
  Value isSink = b.compare(CmpIPredicate::sge, sinks, zero);
  Value hasRoom = b.isLess(count, capacity);
  // A token without a direction joins nothing, and founds a cluster of its own
  // where there is room.
  Value likeness = createLikeness(b, cosine, token, theta);
  Value isAlike =
      b.both(hasDirection, b.compare(CmpFPredicate::OGE, likeness, theta));
  // A sink head takes the first tokens, whatever they are like.
  Value joins = b.select(isSink, no, isAlike);
  Value mayFound = b.select(isSink, b.isLess(count, sinks), hasRoom);
  Value founds = b.select(joins, no, b.both(mayFound, hasRoom));
  Value hasOwner =
      b.both(hasDirection, b.compare(CmpIPredicate::sge, nearest, zero));
  // Without room for another cluster a token joins the nearest, alike or not.
  Value joinsAnyway = b.select(isSink, no, hasOwner);
  return {founds, b.either(founds, joinsAnyway),
          b.select(founds, count, nearest)};
}

Value gist::createInverseNorm(ValueBuilder &b, Value square) {
  Value norm = math::SqrtOp::create(b, square);
  // False for NaN, too.
  Value hasDirection =
      b.both(b.compare(CmpFPredicate::OGT, norm, b.f32(0)),
             b.compare(CmpFPredicate::OLT, norm,
                       b.f32(std::numeric_limits<double>::infinity())));
  return b.select(hasDirection, b.div(b.f32(1), norm), b.f32(0));
}
