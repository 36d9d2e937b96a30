//===- LinearRounding.cpp - Weights in few bits ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With S the second moments of the rows and E the error of the weight, outputs
// are off by tr(E S E^T). Column by column, the error of a column moves the
// columns after it to where the sum is least:
//
//   w[j + 1 ..] -= (w[j] - q[j]) / U[j, j] * U[j, j + 1 ..]
//
// with U^T U = S^-1, U upper triangular. What remains is the sum over columns
// of
// ((w[j] - q[j]) / U[j, j])^2, so that is what ranges are chosen by.
//
//===----------------------------------------------------------------------===//

#include "tools/planning/LinearRounding.h"

#include "tools/planning/AllCores.h"
#include "tools/planning/RowProducts.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <array>
#include <cmath>

using namespace gist;
using namespace gist::plan;

/// The block length of the formats Q2_1, Q3_1 and Q4_1.
static constexpr Eigen::Index kBlock = 32;

Status plan::prepareCompensation(const Eigen::MatrixXd &sums,
                                 const Matrix *basis, Compensation &result) {
  Eigen::MatrixXd moments = sums.selfadjointView<Eigen::Lower>();
  double mean = moments.diagonal().mean();
  if (basis) {
    Eigen::MatrixXd v = basis->cast<double>();
    // Rows inside the subspace are corrected exactly, so only the error outside
    // counts: (I - V^T V) S (I - V^T V).
    Eigen::MatrixXd outside = moments - v.transpose() * (v * moments);
    moments = outside - (outside * v.transpose()) * v;
  }
  // A share of the mean of the diagonal, as in GPTQ. Directions that the text
  // never used would else have no inverse.
  constexpr double kDamping = 0.01;
  moments.diagonal().array() += mean > 0 ? kDamping * mean : 1.0;
  // From the last column on: with S = R R^T and R upper triangular, U is the
  // inverse of R.
  Eigen::LLT<Eigen::MatrixXd> factors(moments.reverse().eval());
  // A factorisation of NaNs does not fail.
  if (!moments.allFinite() || factors.info() != Eigen::Success)
    return Status::error(Code::BadArgument,
                         "second moments are not positive: the text gave "
                         "numbers that are not finite");
  Eigen::MatrixXd lower = factors.matrixL(), upper = lower.reverse();
  result.factor =
      upper.triangularView<Eigen::Upper>()
          .solve(Eigen::MatrixXd::Identity(upper.rows(), upper.cols()))
          .cast<float>();
  return {};
}

/// What a block loses where its levels are `scale` apart from `minimum` on.
GIST_BEST_INSTRUCTIONS
static float rangeError(const float *values, const float *importance,
                        float scale, float minimum, float top) {
  float inverse = scale == 0 ? 0 : 1 / scale, errors[kBlock];
  for (Eigen::Index j = 0; j < kBlock; ++j) {
    float level = __builtin_nearbyintf((values[j] - minimum) * inverse);
    level = level < 0 ? 0 : level > top ? top : level;
    float error = values[j] - (level * scale + minimum);
    errors[j] = error * error * importance[j];
  }
  float sum = 0;
  for (float error : errors)
    sum += error;
  return sum;
}

namespace {
/// Rounds one row at a time; rows do not depend on one another.
class RowRounder {
public:
  RowRounder(WeightFormat format, const Eigen::MatrixXf &factor)
      : format(format), bits(levelBits(format)), factor(factor),
        importance(factor.diagonal().array().square().inverse()) {}

  /// Rounds columns [first, first + 32) of `row` into a block, and adds to
  /// `errors` what the columns after them have to make up for.
  void roundBlock(Eigen::Ref<Eigen::RowVectorXf> row, Eigen::Index first,
                  Eigen::Ref<Eigen::RowVectorXf> errors, uint8_t *block) const {
    auto values = row.segment(first, kBlock);
    LevelRange range = chooseRange(values, first);
    float scale = halfToFloat(range.scale);
    float minimum = halfToFloat(range.minimum);
    std::array<uint8_t, kBlock> levels;
    for (Eigen::Index j = 0; j < kBlock; ++j) {
      Eigen::Index column = first + j;
      levels[j] = nearestLevel(values[j], scale, minimum, bits);
      float rounded = scale * static_cast<float>(levels[j]) + minimum;
      float error = (values[j] - rounded) / factor(column, column);
      // Divided by the diagonal already, which is how the product with the rows
      // of the factor needs it.
      errors[j] = error;
      Eigen::Index left = kBlock - 1 - j;
      // Only within the block: the range of the next one is chosen after all
      // errors of this one have arrived there.
      values.tail(left) -= error * factor.row(column).segment(column + 1, left);
    }
    writeLevels(format, range, levels.data(), block);
  }

private:
  /// The range with the least error, among those that cut off nothing and
  /// those that cut off some of the largest.
  LevelRange chooseRange(const Eigen::Ref<const Eigen::RowVectorXf> &values,
                         Eigen::Index first) const {
    float low = values.minCoeff(), high = values.maxCoeff();
    auto top = static_cast<float>((1 << bits) - 1);
    LevelRange best = levelRange(low, high, bits);
    float least = INFINITY;
    for (int lower = 0; lower <= kSteps; ++lower)
      for (int upper = 0; upper <= kSteps; ++upper) {
        float cut = (high - low) * kStep;
        LevelRange range =
            levelRange(low + cut * static_cast<float>(lower),
                       high - cut * static_cast<float>(upper), bits);
        float error = rangeError(values.data(), importance.data() + first,
                                 halfToFloat(range.scale),
                                 halfToFloat(range.minimum), top);
        if (error < least) {
          least = error;
          best = range;
        }
      }
    return best;
  }

  static constexpr int kSteps = 4;
  static constexpr float kStep = 0.06f;

  WeightFormat format;
  int bits;
  const Eigen::MatrixXf &factor;
  Eigen::ArrayXf importance;
};
} // namespace

/// Rounds the rows of `left` into `result`.
static void roundRows(Matrix left, WeightFormat format,
                      const Compensation &compensation, uint8_t *result) {
  const FormatInfo &info = formatInfo(format);
  Eigen::Index rows = left.rows(), columns = left.cols();
  Eigen::Index blocks = columns / kBlock;
  RowRounder rounder(format, compensation.factor);
  Matrix errors(rows, kBlock);
  for (Eigen::Index block = 0; block < blocks; ++block) {
    Eigen::Index first = block * kBlock, after = first + kBlock;
    for (Eigen::Index row = 0; row < rows; ++row)
      rounder.roundBlock(left.row(row), first, errors.row(row),
                         result + (row * blocks + block) * info.blockBytes);
    // What a block leaves to all columns after it, in one product.
    left.rightCols(columns - after).noalias() -=
        errors *
        compensation.factor.block(first, after, kBlock, columns - after);
  }
}

std::vector<uint8_t> plan::roundCompensated(const Matrix &weight,
                                            WeightFormat format,
                                            const Compensation &compensation) {
  const FormatInfo &info = formatInfo(format);
  Eigen::Index rows = weight.rows(),
               rowBytes = weight.cols() / kBlock * info.blockBytes;
  std::vector<uint8_t> result(static_cast<size_t>(rows * rowBytes));
  // Only a head has so many rows that cores share them.
  constexpr Eigen::Index kSlice = 8192;
  forEachOnAllCores(
      static_cast<size_t>((rows + kSlice - 1) / kSlice), [&](size_t slice) {
        Eigen::Index first = static_cast<Eigen::Index>(slice) * kSlice;
        roundRows(weight.middleRows(first, std::min(kSlice, rows - first)),
                  format, compensation, result.data() + first * rowBytes);
      });
  return result;
}

/// tr(E S E^T), which is the squared error of the outputs summed over the rows
/// that `sums` was taken of.
double plan::outputError(const Matrix &weight, const Matrix &rounded,
                         const Eigen::MatrixXd &sums) {
  Eigen::Index size = weight.cols();
  // tr(E S E^T) is the sum over E^T E times S, number by number. In pieces, so
  // that f32 sums stay short.
  constexpr Eigen::Index kPiece = 4096;
  double total = 0;
  for (Eigen::Index first = 0; first < weight.rows(); first += kPiece) {
    Eigen::Index count = std::min(kPiece, weight.rows() - first);
    Matrix error =
        weight.middleRows(first, count) - rounded.middleRows(first, count);
    Matrix products = Matrix::Zero(size, size);
    RowProduct product{&error, &error, &products, /*isLower=*/true};
    addProducts({&product, 1});
    // Both are symmetric, and have their lower triangles.
    for (Eigen::Index i = 0; i < size; ++i)
      total +=
          2 * products.row(i).head(i).cast<double>().dot(sums.row(i).head(i)) +
          static_cast<double>(products(i, i)) * sums(i, i);
  }
  return total;
}

Matrix plan::expand(const std::vector<uint8_t> &blocks, WeightFormat format,
                    int64_t rows, int64_t columns) {
  Matrix result(rows, columns);
  dequantize(format, {blocks.data(), blocks.size()}, result.data());
  return result;
}
