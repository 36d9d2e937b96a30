//===- GatedRows.cpp - Gates of a few tokens: rows of M and W -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Gated/GatedKernel.h"

using namespace mlir;
using namespace gist;
using Values = GpuBuilder::Values;

/// Starts loading the rows of M: they do not depend on g.
void GatedKernel::loadImages() {
  // Numbers of a lane that are in flight for all projections.
  int64_t limit = std::max<int64_t>(8 / projections.size(), 1);
  limit = std::min<int64_t>(limit, std::max<int64_t>(32 / tokens, 1));
  for (Projection &projection : projections) {
    int64_t each =
        RowSums::chooseEach(b, projection.image, projection.count, limit);
    images.emplace_back(b, projection.image, tokens, each, 1);
    loaded.push_back(images.back().fetch(projection.first));
  }
  keepOrder(b);
}

void GatedKernel::multiplyImages() {
  for (auto [projection, rows, fetched] :
       llvm::zip_equal(projections, images, loaded)) {
    int64_t piece = projection.image.getPiece();
    auto getPiece = [&](int64_t token, Value k) {
      return getImagePiece(token, k, piece);
    };
    auto multiply = [&](Value offset, Values fetched) {
      Values products =
          rows.getSums(b.add(projection.first, offset), getPiece, fetched);
      b.ifThen(rows.isFirstLane(), [&] {
        for (int64_t i = 0; i < rows.getEach(); ++i) {
          Value row = b.add(offset, rows.getPlace(i));
          b.ifThen(b.isLess(row, projection.count), [&] {
            for (int64_t t = 0; t < tokens; ++t)
              b.write(products[t * rows.getEach() + i], sums,
                      {b.add(row, projection.place), b.index(t)});
          });
        }
      });
    };
    multiply(b.index(0), fetched);
    if (rows.getRowsAtOnce() < projection.count)
      b.forEach(b.index(rows.getRowsAtOnce()), b.index(projection.count),
                b.index(rows.getRowsAtOnce()),
                [&](Value offset) { multiply(offset, {}); });
  }
}

/// A piece of a token's residual or input.
Value GatedKernel::getRowPiece(int64_t token, Value k, int64_t width,
                               bool isResidual) {
  // One instruction loads four numbers.
  constexpr int64_t kWidth = 4;
  Value at = b.min(k, b.index(paddedDepth - width));
  Values parts;
  for (int64_t i = 0; i < width; i += kWidth) {
    Value row = b.add(at, i);
    Value place = isResidual ? getResidualPlace(b.index(token), row)
                             : getInputPlace(b.index(token), row);
    parts.push_back(b.read(scratch, place, kWidth));
  }
  return b.concat(parts);
}

/// For the tokens at `level`: adds the rows of `matrix` times their residuals
/// to `sums`, or at the highest level replaces `sums` by the rows times their
/// inputs.
void GatedKernel::multiplyRows(Projection &projection, Operand &matrix,
                               int64_t level) {
  bool isResidual = isGraded && level == 1;
  int64_t each = RowSums::chooseEach(
      b, matrix, projection.count,
      std::max<int64_t>(4 / std::max<int64_t>(tokens / 2, 1), 1));
  RowSums rows(b, matrix, tokens, each,
               kernel.getTile<GpuGatedAttr>().getSteps());
  auto getPiece = [&](int64_t token, Value k) {
    return getRowPiece(token, k, matrix.getPiece(), isResidual);
  };
  b.forEach(b.index(0), b.index(projection.count),
            b.index(rows.getRowsAtOnce()), [&](Value offset) {
              Values products =
                  rows.getSums(b.add(projection.first, offset), getPiece);
              b.ifThen(rows.isFirstLane(), [&] {
                for (int64_t i = 0; i < each; ++i) {
                  Value row = b.add(offset, rows.getPlace(i));
                  b.ifThen(b.isLess(row, projection.count), [&] {
                    for (int64_t t = 0; t < tokens; ++t) {
                      Values place = {b.add(row, projection.place), b.index(t)};
                      Value old = b.read(sums, place);
                      Value isLevel = b.compare(arith::CmpIPredicate::eq,
                                                levels[t], b.i32(level));
                      Value product = products[t * each + i];
                      if (isResidual)
                        product = b.add(old, product);
                      b.write(b.select(isLevel, product, old), sums, place);
                    }
                  });
                }
              });
            });
}

void GatedKernel::multiplyRows() {
  auto ifAny = [&](int64_t level, function_ref<void()> body) {
    Value isAny = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
    for (Value other : levels)
      isAny = arith::OrIOp::create(
          b, isAny, b.compare(arith::CmpIPredicate::eq, other, b.i32(level)));
    b.ifThen(isAny, body);
  };
  // Another lane may have multiplied the rows of M.
  if (isGraded)
    ifAny(1, [&] {
      b.barrier();
      for (Projection &projection : projections)
        multiplyRows(projection, *projection.low, 1);
    });
  int64_t open = isGraded ? 2 : 1;
  ifAny(open, [&] {
    b.barrier();
    for (Projection &projection : projections)
      multiplyRows(projection, projection.weight, open);
  });
}

void GatedKernel::storeResults() {
  for (Projection &projection : projections) {
    int64_t count = projection.count;
    Type element =
        cast<MemRefType>(projection.output.getType()).getElementType();
    forThreads(count * tokens, [&](Value i) {
      Value t = b.div(i, count), row = b.rem(i, count);
      Value at = b.add(projection.first, row);
      b.ifThen(b.isLess(at, b.size(projection.output, 1)), [&] {
        Value sum = b.read(sums, {b.add(row, projection.place), t});
        if (projection.bias)
          sum = b.add(sum, b.toF32(emitter.element(projection.bias, at)));
        b.write(b.convert(sum, element), projection.output, {t, at});
      });
    });
  }
}
