//===- LinearRounding.h - Weights in few bits -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_LINEARROUNDING_H
#define GIST_TOOLS_PLANNING_LINEARROUNDING_H

#include "passes/Import/Files/BlockFormats.h"
#include "tools/planning/LinearMoments.h"

namespace gist::plan {

/// What compensated rounding needs of the rows that a weight meets: the upper
/// Cholesky factor of the inverse of their second moments.
struct Compensation {
  Eigen::MatrixXf factor; ///< U with U^T U = S^-1
};

/// Prepares the rounding of weights that read rows with the moments `sums`. A
/// little of their mean is added to the diagonal: other texts may use
/// directions that this one did not. With `basis`, the span of its rows is
/// exact anyway and its moments do not count.
Status prepareCompensation(const Eigen::MatrixXd &sums, const Matrix *basis,
                           Compensation &result);

/// The blocks of `weight` in a format of levels, rounded column by column so
/// that later columns make up for the errors of earlier ones (the scheme of
/// GPTQ); ranges of blocks are chosen for the least error that remains.
std::vector<uint8_t> roundCompensated(const Matrix &weight, WeightFormat format,
                                      const Compensation &compensation);

/// tr((W - W') S (W - W')^T): how much outputs are off over all rows.
double outputError(const Matrix &weight, const Matrix &rounded,
                   const Eigen::MatrixXd &sums);

/// The numbers of blocks.
Matrix expand(const std::vector<uint8_t> &blocks, WeightFormat format,
              int64_t rows, int64_t columns);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_LINEARROUNDING_H
