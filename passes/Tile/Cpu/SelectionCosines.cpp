//===- SelectionCosines.cpp - Cosines of a block of rows ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/SelectionCosines.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Values = TileBuilder::Values;

static constexpr int64_t kLanes = BufferBuilder::kLanes;
/// Candidates that all rows meet before the next are read.
static constexpr int64_t kTogether = 16;
/// Numbers of a row taken in one round of the loop along it.
static constexpr int64_t kUnrolled = 2 * kLanes;

/// The rank of a buffer says whether it has heads.
SmallVector<Value> SelectionCosines::locate(Value buffer, Value token,
                                            Value at) {
  if (cast<MemRefType>(buffer.getType()).getRank() == 3)
    return {token, head, at};
  return {token, at};
}

int64_t SelectionCosines::getWidth(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getShape().back();
}

Value SelectionCosines::emitInverseNorm(Value token) {
  int64_t width = getWidth(tokens);
  Value squares = b.loop(
      b.index(0), b.index(width), kLanes, b.splat(kLanes, b.getF32Type(), 0),
      [&](Value at, ValueRange carried) {
        Value x = b.loadF32(tokens, locate(tokens, token, at));
        return Values{b.fma(x, x, carried[0])};
      })[0];
  Value square = vector::ReductionOp::create(
      b, vector::CombiningKind::ADD, squares, arith::FastMathFlags::reassoc);
  Value infinity = b.f32(std::numeric_limits<double>::infinity());
  // False for NaN, too.
  Value hasDirection = b.both(b.compare(CmpFPredicate::OGT, square, b.f32(0)),
                              b.compare(CmpFPredicate::OLT, square, infinity));
  Value inverse = b.div(b.f32(1), math::SqrtOp::create(b, square));
  return b.select(hasDirection, inverse,
                  b.f32(std::numeric_limits<double>::quiet_NaN()));
}

/// For each row of a tile the vector of its dot products with the candidates.
SmallVector<Value> SelectionCosines::emitDots(Value buffer, const Tile &tile) {
  int64_t width = getWidth(buffer);
  Value zero = b.splat(kLanes, b.getF32Type(), 0);
  auto addProducts = [&](Value at, Values sums) {
    Values right;
    for (Value token : tile.candidates)
      right.push_back(b.loadF32(buffer, locate(buffer, token, at)));
    for (auto [i, token] : llvm::enumerate(tile.rows)) {
      Value left = b.loadF32(buffer, locate(buffer, token, at));
      for (int64_t j = 0; j < kLanes; ++j)
        sums[i * kLanes + j] = b.fma(left, right[j], sums[i * kLanes + j]);
    }
    return sums;
  };
  // Sixteen vectors of sums: four rows with four candidates.
  Values sums(kLanes * kLanes, zero);
  int64_t whole = width / kUnrolled * kUnrolled;
  if (whole != 0)
    sums = b.loop(b.index(0), b.index(whole), kUnrolled, sums,
                  [&](Value at, ValueRange carried) {
                    Values next(carried);
                    for (int64_t i = 0; i < kUnrolled; i += kLanes)
                      next = addProducts(b.add(at, i), next);
                    return next;
                  });
  for (int64_t at = whole; at < width; at += kLanes)
    sums = addProducts(b.index(at), sums);
  Values dots;
  for (int64_t i = 0; i < kLanes; ++i)
    dots.push_back(
        b.sumsOfFour(ArrayRef<Value>(sums).slice(i * kLanes, kLanes)));
  return dots;
}

Value SelectionCosines::emitCosines(const Tile &tile, int64_t row, Value dots) {
  // One norm after the other: the product of both inverses could overflow.
  Value cosines = b.mul(dots, tile.candidateInverses);
  cosines = b.mul(cosines, b.broadcast(tile.rowInverses[row], kLanes));
  if (similarity == Similarity::Absolute)
    cosines = math::AbsFOp::create(b, cosines);
  Value isKnown = b.compare(CmpFPredicate::ORD, cosines, cosines);
  return b.select(b.both(isKnown, tile.isThere), cosines,
                  b.splat(kLanes, b.getF32Type(),
                          -std::numeric_limits<double>::infinity()));
}

/// Whether a pair of the tile might reach the limit of its row. A NaN never
/// does.
Value SelectionCosines::mayReach(const Tile &tile, Value row,
                                 const std::function<Value(Value row)> &limit) {
  Type f32 = b.getF32Type();
  SmallVector<Value> dots = emitDots(coefficients, tile);
  auto residual = [&](Value token) {
    Values indices = {token};
    if (cast<MemRefType>(residuals.getType()).getRank() == 2)
      indices.push_back(head);
    return b.load(residuals, indices);
  };
  Values lanes;
  for (Value token : tile.candidates)
    lanes.push_back(residual(token));
  Value rho = vector::FromElementsOp::create(b, b.vectorOf(kLanes, f32), lanes);
  // Rounding of both products, of coefficients and of norms.
  double slack =
      4 * static_cast<double>(getWidth(tokens) + 16) * std::ldexp(1.0, -24);
  Value any;
  for (int64_t i = 0; i < kLanes; ++i) {
    Value dot = dots[i];
    if (similarity == Similarity::Absolute)
      dot = math::AbsFOp::create(b, dot);
    Value bound = b.fma(rho, b.broadcast(residual(tile.rows[i]), kLanes), dot);
    bound = b.mul(bound, tile.candidateInverses);
    bound = b.mul(bound, b.broadcast(tile.rowInverses[i], kLanes));
    bound = b.add(bound, b.splat(kLanes, f32, slack));
    Value reaches = b.compare(CmpFPredicate::OGE, bound,
                              b.broadcast(limit(b.add(row, i)), kLanes));
    any = any ? arith::OrIOp::create(b, any, reaches).getResult() : reaches;
  }
  return vector::ReductionOp::create(b, vector::CombiningKind::OR,
                                     b.both(any, tile.isThere));
}

void SelectionCosines::emitTile(const Rows &rows, const Candidates &candidates,
                                Value row, Value number, const Visit &visit,
                                const std::function<Value(Value row)> &limit) {
  Type i32 = b.getI32Type();
  Tile tile;
  // The last row and the last candidate are repeated to fill the tile.
  Value lastRow = b.add(rows.count, -1), last = b.add(candidates.end, -1);
  for (int64_t i = 0; i < kLanes; ++i) {
    tile.rows.push_back(b.add(rows.first, b.min(b.add(row, i), lastRow)));
    tile.candidates.push_back(candidates.token(b.min(b.add(number, i), last)));
  }
  Values ids, inverses;
  for (Value token : tile.rows)
    tile.rowInverses.push_back(inverse(token));
  for (Value token : tile.candidates) {
    ids.push_back(b.toI32(token));
    inverses.push_back(inverse(token));
  }
  tile.ids = vector::FromElementsOp::create(b, b.vectorOf(kLanes, i32), ids);
  tile.candidateInverses = vector::FromElementsOp::create(
      b, b.vectorOf(kLanes, b.getF32Type()), inverses);
  Value lanes = arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.vectorOf(kLanes, i32),
                                ArrayRef<int32_t>{0, 1, 2, 3}));
  Value left = b.toI32(b.sub(candidates.end, number));
  tile.isThere =
      b.compare(CmpIPredicate::slt, lanes, b.broadcast(left, kLanes));

  auto compute = [&] {
    SmallVector<Value> dots = emitDots(tokens, tile);
    for (int64_t i = 0; i < kLanes; ++i)
      visit(b.add(row, i), emitCosines(tile, i, dots[i]), tile.ids);
  };
  if (coefficients && limit)
    // The bound costs k of d products; a tile that is passed over saves the
    // rest.
    b.ifThen(mayReach(tile, row, limit), compute);
  else
    compute();
}

void SelectionCosines::emit(const Rows &rows, const Candidates &candidates,
                            Visit visit,
                            std::function<Value(Value row)> limit) {
  b.forEach(candidates.begin, candidates.end, kTogether, [&](Value begin) {
    Value end = b.min(b.add(begin, kTogether), candidates.end);
    Candidates some = {begin, candidates.end, candidates.token};
    b.forEach(b.index(0), rows.count, kLanes, [&](Value row) {
      auto meet = [&] {
        b.forEach(begin, end, kLanes, [&](Value number) {
          emitTile(rows, some, row, number, visit, limit);
        });
      };
      if (rows.isActive)
        b.ifThen(rows.isActive(row), meet);
      else
        meet();
    });
  });
}
