//===- LinearMoments.h - What linear layers read, summed up -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_LINEARMOMENTS_H
#define GIST_TOOLS_PLANNING_LINEARMOMENTS_H

#include "runtime/support/Status.h"

#include <Eigen/Dense>

#include <span>
#include <string>
#include <vector>

namespace gist::plan {

/// Rows-major, as weights are.
using Matrix =
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The rows that some linear layers read, as sums.
struct LinearMoments {
  int64_t layer = -1;               ///< -1: the head
  std::string group;                ///< "qkv", "o", ..., or "head"
  std::vector<std::string> weights; ///< of the layers that read them
  /// The sum of x x^T over rows x: f64 sums of f32 sums over a call's rows.
  Eigen::MatrixXd sums;
  int64_t count = 0; ///< rows

  bool isHead() const { return layer < 0; }
  /// "3.qkv", or "head": for display and as the key of results.
  std::string name() const;
};

/// Adds rows, one after the other.
void addRows(std::span<const float> rows, LinearMoments &moments);

/// An orthonormal basis of the directions with most energy, as rows, the most
/// important first, and the share of the energy that the first k have.
struct Basis {
  Matrix rows;
  std::vector<double> captured; ///< [k], from 0 to all rows
};
Basis makeBasis(const Eigen::MatrixXd &sums, int64_t k);

/// The share of the energy in `sums` that the first `k` rows of `basis` have.
double capturedEnergy(const Eigen::MatrixXd &sums, const Matrix &basis,
                      int64_t k);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_LINEARMOMENTS_H
