//===- LinearRoundingTest.cpp - Moments, bases and rounding ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/LinearRounding.h"

#include <gtest/gtest.h>

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

/// Rows with a few strong directions, as activations have.
Matrix drawRows(std::mt19937 &random, int64_t count, int64_t size) {
  Matrix mix = draw(random, size, size);
  for (int64_t i = 0; i < size; ++i)
    mix.row(i) *= 1.0f / static_cast<float>(1 + i);
  return draw(random, count, size) * mix;
}

/// addRows fills the lower triangle only.
LinearMoments sumUp(const Matrix &rows) {
  LinearMoments moments;
  moments.sums = Eigen::MatrixXd::Zero(rows.cols(), rows.cols());
  addRows({rows.data(), static_cast<size_t>(rows.size())}, moments);
  return moments;
}

// Sums are made in pieces; the reference is one product in f64.
TEST(LinearMomentsTest, SumsAreThoseOfTheRows) {
  std::mt19937 random(1);
  Matrix rows = draw(random, 600, 7); // More than one piece.
  LinearMoments moments = sumUp(rows);
  Eigen::MatrixXd wanted =
      rows.cast<double>().transpose() * rows.cast<double>();
  Eigen::MatrixXd found = moments.sums.selfadjointView<Eigen::Lower>();
  EXPECT_EQ(moments.count, 600);
  EXPECT_LT((found - wanted).norm(), 1e-3);
}

// The names by which gist-plan writes and finds inputs.
TEST(LinearMomentsTest, NamesSayLayerAndGroup) {
  LinearMoments moments;
  moments.layer = 3;
  moments.group = "qkv";
  EXPECT_EQ(moments.name(), "3.qkv");
  moments.layer = -1;
  moments.group = "head";
  EXPECT_EQ(moments.name(), "head");
}

// What a basis promises to capture decides which k a plan chooses.
TEST(LinearMomentsTest, BasesAreOrthonormalAndCaptureMost) {
  std::mt19937 random(2);
  Matrix rows = drawRows(random, 200, 32);
  LinearMoments moments = sumUp(rows);
  Basis basis = makeBasis(moments.sums, 8);
  Matrix products = basis.rows * basis.rows.transpose();
  EXPECT_LT((products - Matrix::Identity(8, 8)).norm(), 1e-5);
  // What a basis is said to capture is what projections keep.
  for (int64_t k : {1, 4, 8}) {
    Matrix inside = rows * basis.rows.topRows(k).transpose();
    double kept = inside.squaredNorm() / rows.squaredNorm();
    EXPECT_NEAR(basis.captured[k], kept, 1e-4);
    EXPECT_NEAR(capturedEnergy(moments.sums, basis.rows, k), kept, 1e-4);
    // No other basis captures more.
    Matrix other = draw(random, 32, k);
    Eigen::HouseholderQR<Eigen::MatrixXf> qr(other);
    Matrix rotated =
        (qr.householderQ() * Eigen::MatrixXf::Identity(32, k)).transpose();
    EXPECT_GT(kept, capturedEnergy(moments.sums, rotated, k));
  }
}

// Compensation moves the error of a weight to those that are not rounded yet.
// Against random directions it must clearly win.
TEST(LinearRoundingTest, CompensationIsNeverWorseThanTheNearest) {
  std::mt19937 random(3);
  Matrix rows = drawRows(random, 400, 96);
  LinearMoments moments = sumUp(rows);
  Compensation compensation;
  ASSERT_TRUE(prepareCompensation(moments.sums, nullptr, compensation).ok());
  Matrix weight = draw(random, 24, 96);
  for (WeightFormat format :
       {WeightFormat::Q4_1, WeightFormat::Q3_1, WeightFormat::Q2_1}) {
    SCOPED_TRACE(formatInfo(format).name);
    std::vector<uint8_t> blocks =
        roundCompensated(weight, format, compensation);
    std::vector<uint8_t> nearest(blocks.size());
    quantize(format, weight.data(), static_cast<size_t>(weight.size()),
             nearest.data());
    double better =
        outputError(weight, expand(blocks, format, 24, 96), moments.sums);
    double plain =
        outputError(weight, expand(nearest, format, 24, 96), moments.sums);
    EXPECT_LT(better, 0.5 * plain);
    // The error is the one that outputs have.
    Matrix error = (weight - expand(blocks, format, 24, 96)) * rows.transpose();
    EXPECT_NEAR(better, error.squaredNorm(), 1e-2 * better);
  }
}

// What a subspace holds is added back exactly, so errors inside of it are free.
TEST(LinearRoundingTest, WhatASubspaceHoldsDoesNotCount) {
  std::mt19937 random(4);
  Matrix rows = drawRows(random, 400, 64);
  LinearMoments moments = sumUp(rows);
  Basis basis = makeBasis(moments.sums, 8);
  Matrix weight = draw(random, 16, 64);
  auto outsideError = [&](const Compensation &compensation) {
    std::vector<uint8_t> blocks =
        roundCompensated(weight, WeightFormat::Q2_1, compensation);
    Matrix error = weight - expand(blocks, WeightFormat::Q2_1, 16, 64);
    Matrix outside = error - error * basis.rows.transpose() * basis.rows;
    return (outside * rows.transpose()).squaredNorm();
  };
  Compensation with, without;
  ASSERT_TRUE(prepareCompensation(moments.sums, nullptr, without).ok());
  // Only with the basis does the rounding know what will be added back.
  ASSERT_TRUE(prepareCompensation(moments.sums, &basis.rows, with).ok());
  EXPECT_LT(outsideError(with), outsideError(without));
}

// NaN would silently spread to all weights.
TEST(LinearRoundingTest, MomentsThatAreNotNumbersAreRefused) {
  Eigen::MatrixXd sums = Eigen::MatrixXd::Identity(32, 32);
  sums(3, 3) = NAN;
  Compensation compensation;
  EXPECT_EQ(prepareCompensation(sums, nullptr, compensation).text,
            "second moments are not positive: the text gave numbers that are "
            "not finite");
}

} // namespace
