//===- LinearMoments.cpp - What linear layers read, summed up -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/LinearMoments.h"

#include <Eigen/Eigenvalues>

using namespace gist;
using namespace gist::plan;

std::string LinearMoments::name() const {
  return isHead() ? group : std::to_string(layer) + "." + group;
}

void plan::addRows(std::span<const float> rows, LinearMoments &moments) {
  Eigen::Index size = moments.sums.rows();
  Eigen::Index count = static_cast<Eigen::Index>(rows.size()) / size;
  Eigen::Map<const Matrix> x(rows.data(), count, size);
  // In pieces, so that f32 sums stay short.
  constexpr Eigen::Index kPiece = 256;
  for (Eigen::Index first = 0; first < count; first += kPiece) {
    Eigen::Index length = std::min(kPiece, count - first);
    Eigen::MatrixXf part = Eigen::MatrixXf::Zero(size, size);
    // Half of a symmetric product, at half the cost. Readers must use the lower
    // triangle.
    part.selfadjointView<Eigen::Lower>().rankUpdate(
        x.middleRows(first, length).transpose());
    moments.sums.triangularView<Eigen::Lower>() += part.cast<double>();
  }
  moments.count += count;
}

/// `sums` with its upper half, which addRows leaves alone.
static Eigen::MatrixXd makeWhole(const Eigen::MatrixXd &sums) {
  return sums.selfadjointView<Eigen::Lower>();
}

Basis plan::makeBasis(const Eigen::MatrixXd &sums, int64_t k) {
  // Eigenvalues ascend; the last ones are wanted.
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(makeWhole(sums));
  Eigen::Index size = sums.rows();
  Basis basis;
  basis.rows.resize(k, size);
  basis.captured.push_back(0);
  double total = sums.diagonal().sum();
  for (Eigen::Index i = 0; i < k; ++i) {
    basis.rows.row(i) =
        solver.eigenvectors().col(size - 1 - i).transpose().cast<float>();
    // Moments have no negative eigenvalues; rounding gives tiny ones.
    double value = std::max(0.0, solver.eigenvalues()[size - 1 - i]);
    basis.captured.push_back(basis.captured.back() +
                             (total > 0 ? value / total : 0));
  }
  return basis;
}

double plan::capturedEnergy(const Eigen::MatrixXd &sums, const Matrix &basis,
                            int64_t k) {
  Eigen::MatrixXd v = basis.topRows(k).cast<double>();
  double inside =
      (v * sums.selfadjointView<Eigen::Lower>() * v.transpose()).trace();
  double total = sums.diagonal().sum();
  return total > 0 ? inside / total : 1;
}
