//===- DepthFitTest.cpp - Maps by least squares ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/DepthFit.h"
#include "tools/planning/RowProducts.h"

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

  static void add(const Matrix &x, const Matrix &y, MapMoments &moments) {
    addRows(std::vector<MapRows>{{withOnes(x), y, &moments}});
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
    add(x, (x * map.transpose()).rowwise() + bias.row(0), moments);
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
  add(x, (x * map.transpose()).array() + 5, moments);
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
  add(x, x * map.transpose(), moments);
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
  NeuronSums sums;
  sums.add(x.topRows(200));
  sums.add(x.bottomRows(300));
  EXPECT_EQ(sums.rank(output), (std::vector<float>{3, 1, 0, 2}));
}

TEST_F(DepthFit, MomentsMayHaveSomeNeuronsAlone) {
  Matrix x = draw(300, 5), map = draw(2, 5);
  map.col(3).setZero();
  MapMoments all, some;
  add(x, x * map.transpose(), all);
  some.neurons = {0, 1, 2, 4};
  Matrix picked(300, 4);
  picked << x.leftCols(3), x.col(4);
  add(picked, x * map.transpose(), some);
  // The fifth neuron is the fourth of these columns.
  FittedMap one = fitMap(all, 1e-6, {1, 4}), other = fitMap(some, 1e-6, {1, 4});
  EXPECT_LT((one.map - other.map).cwiseAbs().maxCoeff(), 1e-3);
}

TEST_F(DepthFit, ProductsOfRowsAreThoseOfMatrices) {
  // Sizes that no tile divides, several products at once.
  for (auto [rows, n, m] :
       {std::array<int, 3>{7, 13, 40}, {33, 100, 17}, {1, 1, 1}, {64, 6, 16}}) {
    Matrix x = draw(rows, n), y = draw(rows, m);
    Matrix sums = draw(n, m), lower = draw(n, n);
    // One of them twice.
    Matrix expected = sums + 2 * x.transpose() * y;
    Matrix square = lower + x.transpose() * x;
    addProducts(std::vector<RowProduct>{
        {&x, &y, &sums}, {&x, &x, &lower, true}, {&x, &y, &sums}});
    EXPECT_LT((sums - expected).cwiseAbs().maxCoeff(), 1e-4);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        EXPECT_NEAR(lower(i, j), square(i, j), 1e-4);
  }
}
