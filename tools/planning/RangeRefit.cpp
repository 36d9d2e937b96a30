//===- RangeRefit.cpp - Better ranges for rounded weights -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/RangeRefit.h"

#include "tools/planning/LinearRounding.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cstring>

using namespace gist;
using namespace gist::plan;

static constexpr Eigen::Index kBlock = 32;

Matrix plan::meanContexts(const Matrix &weight, const Matrix &rows) {
  Matrix sums = Matrix::Zero(weight.rows(), weight.cols());
  Eigen::VectorXf shares = Eigen::VectorXf::Zero(weight.rows());
  // In pieces: there is a number for every row and token of the vocabulary.
  constexpr Eigen::Index kPiece = 128;
  for (Eigen::Index first = 0; first < rows.rows(); first += kPiece) {
    auto piece = rows.middleRows(first, std::min(kPiece, rows.rows() - first));
    Matrix likely = piece * weight.transpose();
    for (Eigen::Index i = 0; i < likely.rows(); ++i) {
      auto row = likely.row(i).array();
      row = (row - row.maxCoeff()).exp();
      row /= row.sum();
    }
    sums.noalias() += likely.transpose() * piece;
    shares += likely.colwise().sum().transpose();
  }
  // A token that no row made likely has no context: its e c is 0.
  for (Eigen::Index i = 0; i < sums.rows(); ++i)
    sums.row(i) *= shares[i] > 0 ? 1 / shares[i] : 0;
  return sums;
}

namespace {
/// Scales and minima of one row's blocks: a row is B^T p, where p has all
/// scales and then all minima, and B the levels, and ones, of each block.
class RowRefit {
public:
  explicit RowRefit(const Eigen::MatrixXf &moments)
      : moments(moments), blocks(moments.rows() / kBlock),
        products(2 * blocks, moments.rows()), system(2 * blocks, 2 * blocks) {
    // What ones give is the same for every row.
    for (Eigen::Index b = 0; b < blocks; ++b)
      products.row(blocks + b) =
          moments.middleRows(b * kBlock, kBlock).colwise().sum();
  }

  /// Improves `ranges`; false if they are the best.
  bool improve(const Eigen::RowVectorXf &levels,
               const Eigen::RowVectorXf &error,
               const Eigen::RowVectorXf &context, Eigen::VectorXd &ranges) {
    for (Eigen::Index b = 0; b < blocks; ++b)
      products.row(b).noalias() = levels.segment(b * kBlock, kBlock) *
                                  moments.middleRows(b * kBlock, kBlock);
    for (Eigen::Index b = 0; b < blocks; ++b) {
      auto part = products.middleCols(b * kBlock, kBlock);
      auto own = levels.segment(b * kBlock, kBlock);
      system.col(b) = (part * own.transpose()).cast<double>();
      system.col(blocks + b) = part.rowwise().sum().cast<double>();
    }
    Eigen::VectorXd along = apply(levels, context);
    Eigen::VectorXd wanted = (products * error.transpose()).cast<double>() +
                             along * static_cast<double>(context.dot(error));
    system += along * along.transpose();
    // A block with equal levels makes the system singular: scale and minimum
    // are not unique.
    Eigen::MatrixXd damped = system;
    damped.diagonal().array() += 1e-6 * system.diagonal().mean();
    Eigen::VectorXd better = ranges + damped.ldlt().solve(wanted);
    if (!better.allFinite())
      return false;
    for (double &value : better)
      value = static_cast<double>(
          halfToFloat(floatToHalf(static_cast<float>(value))));
    Eigen::VectorXd step = better - ranges;
    // The decrease of the sum of squares.
    if (!(2 * step.dot(wanted) - step.dot(system * step) > 0))
      return false;
    ranges = better;
    return true;
  }

private:
  /// B v.
  Eigen::VectorXd apply(const Eigen::RowVectorXf &levels,
                        const Eigen::RowVectorXf &v) const {
    Eigen::VectorXd result(2 * blocks);
    for (Eigen::Index b = 0; b < blocks; ++b) {
      auto part = v.segment(b * kBlock, kBlock);
      result[b] =
          static_cast<double>(part.dot(levels.segment(b * kBlock, kBlock)));
      result[blocks + b] = static_cast<double>(part.sum());
    }
    return result;
  }

  const Eigen::MatrixXf &moments;
  Eigen::Index blocks;
  Matrix products;        ///< B S
  Eigen::MatrixXd system; ///< B (S + c c^T) B^T
};
} // namespace

static LevelRange readRange(const FormatInfo &format, const uint8_t *block) {
  LevelRange range;
  std::memcpy(&range.scale, block + format.scale, sizeof(range.scale));
  std::memcpy(&range.minimum, block + format.minimum, sizeof(range.minimum));
  return range;
}

static void writeRange(LevelRange range, const FormatInfo &format,
                       uint8_t *block) {
  std::memcpy(block + format.scale, &range.scale, sizeof(range.scale));
  std::memcpy(block + format.minimum, &range.minimum, sizeof(range.minimum));
}

void plan::refitRanges(const Matrix &weight, WeightFormat format,
                       const LinearMoments &input, const Matrix &contexts,
                       std::vector<uint8_t> &blocks) {
  Eigen::MatrixXd sums = input.sums.selfadjointView<Eigen::Lower>();
  Eigen::MatrixXf moments =
      (sums / static_cast<double>(std::max<int64_t>(1, input.count)))
          .cast<float>();
  Eigen::Index rows = weight.rows(), count = weight.cols() / kBlock;
  Matrix values = expand(blocks, format, rows, weight.cols());
  const FormatInfo &info = formatInfo(format);
  int64_t blockBytes = info.blockBytes;
  int bits = levelBits(format);
  RowRefit refit(moments);
  Eigen::RowVectorXf levels(weight.cols());
  Eigen::VectorXd ranges(2 * count);
  for (Eigen::Index row = 0; row < rows; ++row) {
    uint8_t *first = blocks.data() + row * count * blockBytes;
    for (Eigen::Index b = 0; b < count; ++b) {
      LevelRange range = readRange(info, first + b * blockBytes);
      float scale = halfToFloat(range.scale),
            minimum = halfToFloat(range.minimum);
      ranges[b] = static_cast<double>(scale);
      ranges[count + b] = static_cast<double>(minimum);
      for (Eigen::Index j = b * kBlock; j < (b + 1) * kBlock; ++j)
        levels[j] = nearestLevel(values(row, j), scale, minimum, bits);
    }
    if (!refit.improve(levels, weight.row(row) - values.row(row),
                       contexts.row(row), ranges))
      continue;
    for (Eigen::Index b = 0; b < count; ++b)
      writeRange({floatToHalf(static_cast<float>(ranges[b])),
                  floatToHalf(static_cast<float>(ranges[count + b]))},
                 info, first + b * blockBytes);
  }
}
