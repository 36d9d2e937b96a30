//===- DepthFitTest.cpp - Maps by least squares ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/DepthFit.h"

#include <gtest/gtest.h>

#include <random>

using namespace gist;
using namespace gist::plan;

namespace {
class DepthFit : public testing::Test {
protected:
  Matrix draw(Eigen::Index rows, Eigen::Index columns) {
    Matrix result(rows, columns);
    for (float &value : result.reshaped())
      value = normal(random);
    return result;
  }

  std::mt19937 random{7};
  std::normal_distribution<float> normal;
};
} // namespace

TEST_F(DepthFit, FindsAMapAndItsBias) {
  Matrix map = draw(3, 5), bias = draw(1, 3);
  MapMoments moments;
  // In several calls of different sizes.
  for (int rows : {64, 17, 40}) {
    Matrix x = draw(rows, 5);
    addRows(x, (x * map.transpose()).rowwise() + bias.row(0), moments);
  }
  EXPECT_EQ(moments.count, 121);
  FittedMap found = fitMap(moments, 1e-9);
  EXPECT_LT((found.map - map).cwiseAbs().maxCoeff(), 1e-3);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(found.bias[static_cast<size_t>(i)], bias(0, i), 1e-3);
}

TEST_F(DepthFit, TheRidgeHoldsTheMapDownAndLeavesTheBias) {
  Matrix map = Matrix::Constant(1, 2, 1), x = draw(400, 2);
  x.rowwise() -= x.colwise().mean();
  MapMoments moments;
  addRows(x, (x * map.transpose()).array() + 5, moments);
  FittedMap found = fitMap(moments, 1);
  // With a ridge as large as the mean square a map is about half.
  EXPECT_NEAR(found.map(0, 0), 0.5, 0.1);
  EXPECT_NEAR(found.map(0, 1), 0.5, 0.1);
  EXPECT_NEAR(found.bias[0], 5, 0.01);
}

TEST_F(DepthFit, ReadsOnlyTheNeuronsThatStay) {
  // Column 2 is twice column 0, so that 0 can stand for both.
  Matrix x = draw(200, 4);
  x.col(2) = 2 * x.col(0);
  Matrix map(2, 4);
  map << 1, 0, 1, 3, 0, 2, 1, 0;
  MapMoments moments;
  addRows(x, x * map.transpose(), moments);
  FittedMap found = fitMap(moments, 1e-9, {0, 1, 3});
  Matrix expected(2, 3);
  expected << 3, 0, 3, 2, 2, 0;
  ASSERT_EQ(found.map.cols(), 3);
  EXPECT_LT((found.map - expected).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_EQ(found.neurons, (std::vector<float>{0, 1, 3}));
}

TEST_F(DepthFit, NeuronsThatVaryAndAreReadStay) {
  Matrix x = draw(500, 4);
  x.col(0).array() += 100; // large, and as constant as the others
  x.col(3) *= 5;
  Matrix output(2, 4);
  output << 1, 4, 0.1F, 1, 0, 0, 0, 1;
  MapMoments moments;
  addRows(x, x * output.transpose(), moments);
  EXPECT_EQ(chooseNeurons(moments, output, 2), (std::vector<float>{1, 3}));
  EXPECT_EQ(chooseNeurons(moments, output, 3), (std::vector<float>{0, 1, 3}));
  EXPECT_EQ(chooseNeurons(moments, output, 9).size(), 4U);
}
