//===- DepthFit.h - Maps in place of layers, by least squares ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fits the maps of a plan of depths (passes/Plan/File/DepthPlan.h). One pass
// over a text keeps what the model computes without the plan. Then layer after
// layer, with the maps of the layers before it in place, a map is fitted from
// what it reads to what is missing at its layer's end: the errors of earlier
// maps are made up for. Only second moments of rows are kept of the text.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_DEPTHFIT_H
#define GIST_TOOLS_PLANNING_DEPTHFIT_H

#include "passes/Plan/File/DepthPlan.h"
#include "runtime/session/Session.h"
#include "tools/planning/LinearMoments.h"

#include <functional>

namespace gist::plan {

struct FitOptions {
  int64_t window = 1024; ///< tokens of a sequence
  int64_t call = 256;    ///< tokens of a call
  /// Relative to the mean of the squares of what a map reads.
  double ridge = 1e-3;
};

/// Says how far work has come.
using FitProgress =
    std::function<void(const char *what, size_t done, size_t of)>;

/// What a map of a layer reads and gives, summed over rows, with a one behind
/// each row for the bias.
struct MapMoments {
  Eigen::MatrixXd reads; ///< sum of x x^T, the lower triangle
  Eigen::MatrixXd gives; ///< sum of x y^T
  int64_t count = 0;
};

/// Adds rows x and y of these widths.
void addRows(const Matrix &x, const Matrix &y, MapMoments &moments);

/// A and b of y = A x + b with the least squares, and a ridge that holds A
/// down.
struct FittedMap {
  Matrix map;
  std::vector<float> bias;
};
FittedMap fitMap(const MapMoments &moments, double ridge);

/// The numbers of the neurons that give most: of the largest variance times the
/// squares of what the output weight makes of them.
std::vector<float> chooseNeurons(const Eigen::VectorXd &variance,
                                 const Eigen::VectorXd &squares, int64_t count);

/// Tensors of a file of maps.
struct FittedTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;
};
Status writeMaps(const std::string &path,
                 const std::vector<FittedTensor> &tensors);

/// Finds which neurons thin layers keep. `session` is of a module with the plan
/// that was made with --observe; `squares` says, for each layer, the sums of
/// squares of the columns of its output weight.
Status findNeurons(
    Session &session, const DepthPlan &plan, std::span<const int32_t> tokens,
    const std::function<Status(int64_t layer, Eigen::VectorXd &)> &squares,
    const FitOptions &options, const FitProgress &progress,
    std::vector<FittedTensor> &rows);

/// Fits all maps of `plan`. The module's maps are changed as they are fitted.
Status fitMaps(Session &session, const DepthPlan &plan,
               std::span<const int32_t> tokens, const FitOptions &options,
               const FitProgress &progress, std::vector<FittedTensor> &maps);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_DEPTHFIT_H
