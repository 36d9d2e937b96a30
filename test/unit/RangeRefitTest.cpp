//===- RangeRefitTest.cpp - Better ranges for rounded weights -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/RangeRefit.h"

#include "tools/planning/LinearRounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace gist;
using namespace gist::plan;

namespace {

Matrix draw(std::mt19937 &random, int64_t rows, int64_t columns) {
  std::normal_distribution<float> normal;
  Matrix result(rows, columns);
  for (float &value : result.reshaped())
    value = normal(random);
  return result;
}

LinearMoments sumUp(const Matrix &rows) {
  LinearMoments moments;
  moments.sums = Eigen::MatrixXd::Zero(rows.cols(), rows.cols());
  addRows({rows.data(), static_cast<size_t>(rows.size())}, moments);
  return moments;
}

/// Where a refit starts: the ranges are those of each block's values.
std::vector<uint8_t> roundNearest(const Matrix &weight, WeightFormat format) {
  const FormatInfo &info = formatInfo(format);
  std::vector<uint8_t> blocks(static_cast<size_t>(weight.size()) /
                              info.blockLength * info.blockBytes);
  quantize(format, weight.data(), static_cast<size_t>(weight.size()),
           blocks.data());
  return blocks;
}

/// e S e + (e c)^2 of each row, in f64, from the rows themselves.
Eigen::VectorXd measure(const Matrix &weight, const Matrix &values,
                        const Matrix &rows, const Matrix &contexts) {
  Eigen::MatrixXd error = (weight - values).cast<double>();
  Eigen::MatrixXd outputs = error * rows.cast<double>().transpose();
  return outputs.rowwise().squaredNorm() / static_cast<double>(rows.rows()) +
         error.cwiseProduct(contexts.cast<double>())
             .rowwise()
             .sum()
             .cwiseAbs2();
}

// Where levels are right and only ranges are wrong, the fit must find the right
// ones.
TEST(RangeRefitTest, RangesThatFitAreFound) {
  std::mt19937 random(1);
  Matrix rows = draw(random, 300, 64), right = draw(random, 8, 64);
  Matrix contexts = draw(random, 8, 64);
  for (WeightFormat format :
       {WeightFormat::Q4_1, WeightFormat::Q3_1, WeightFormat::Q2_1}) {
    SCOPED_TRACE(formatInfo(format).name);
    std::vector<uint8_t> blocks = roundNearest(right, format);
    Matrix weight = expand(blocks, format, 8, 64);
    // The same levels with other ranges.
    std::vector<uint8_t> wrong = blocks;
    for (size_t at = 0; at < wrong.size(); at += formatInfo(format).blockBytes)
      // The lowest bit of the exponent of d: twice or half the range.
      wrong[at + 1] ^= 0x04;
    ASSERT_GT((expand(wrong, format, 8, 64) - weight).norm(), 1);
    refitRanges(weight, format, sumUp(rows), contexts, wrong);
    EXPECT_LT((expand(wrong, format, 8, 64) - weight).norm(),
              1e-2f * weight.norm());
  }
}

// The fit is a minimum: every small change of a scale or minimum is worse.
TEST(RangeRefitTest, NoOtherRangesAreBetter) {
  std::mt19937 random(2);
  Matrix rows = draw(random, 300, 96), weight = draw(random, 12, 96);
  Matrix contexts = 3 * draw(random, 12, 96);
  constexpr WeightFormat kFormat = WeightFormat::Q3_1;
  std::vector<uint8_t> blocks = roundNearest(weight, kFormat), old = blocks;
  refitRanges(weight, kFormat, sumUp(rows), contexts, blocks);
  auto errors = [&](const std::vector<uint8_t> &some) {
    return measure(weight, expand(some, kFormat, 12, 96), rows, contexts);
  };
  Eigen::VectorXd found = errors(blocks), before = errors(old);
  for (Eigen::Index row = 0; row < 12; ++row)
    EXPECT_LT(found[row], before[row]);
  // A percent, or a thirty-second, more or less of any scale or minimum.
  size_t bytes = formatInfo(kFormat).blockBytes;
  for (size_t block = 0; block < blocks.size() / bytes; ++block)
    for (size_t part : {0, 2})
      for (int change : {-32, -8, 8, 32}) {
        std::vector<uint8_t> other = blocks;
        auto half = static_cast<uint16_t>(other[block * bytes + part] |
                                          other[block * bytes + part + 1] << 8);
        half = static_cast<uint16_t>(half + change);
        other[block * bytes + part] = static_cast<uint8_t>(half & 255);
        other[block * bytes + part + 1] = static_cast<uint8_t>(half >> 8);
        // Three blocks of 32 are a row. Other rows do not see the change.
        auto row = static_cast<Eigen::Index>(block / 3);
        EXPECT_GT(errors(other)[row], found[row] * (1 - 1e-6));
      }
  // Levels stay as they were.
  for (size_t block = 0; block < blocks.size() / bytes; ++block)
    for (size_t i = 4; i < bytes; ++i)
      EXPECT_EQ(blocks[block * bytes + i], old[block * bytes + i]);
}

// Against the definition, token by token.
TEST(RangeRefitTest, ContextsAreMeansOfWhatMakesATokenLikely) {
  std::mt19937 random(3);
  Matrix weight = draw(random, 5, 8), rows = draw(random, 200, 8);
  Matrix found = meanContexts(weight, rows);
  for (Eigen::Index token = 0; token < 5; ++token) {
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(8);
    double share = 0;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      double all = 0;
      for (Eigen::Index other = 0; other < 5; ++other)
        all +=
            std::exp(static_cast<double>(rows.row(i).dot(weight.row(other))));
      double likely =
          std::exp(static_cast<double>(rows.row(i).dot(weight.row(token)))) /
          all;
      sum += likely * rows.row(i).cast<double>();
      share += likely;
    }
    EXPECT_LT((found.row(token).cast<double>() - sum / share).norm(), 1e-4);
  }
}

} // namespace
