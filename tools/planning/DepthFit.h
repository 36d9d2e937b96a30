//===- DepthFit.h - Maps in place of layers, by least squares ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fits the maps of plans of depths (passes/Plan/File/DepthPlan.h). One pass
// over a text keeps what the model computes without a plan. A second one keeps
// the second moments of what maps read and of what is missing at the end of
// their layers, for all layers at once: each is then fitted as if it were the
// only one. With the maps of a plan in place the moments are taken again, and
// each map makes up for the errors of those before it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_DEPTHFIT_H
#define GIST_TOOLS_PLANNING_DEPTHFIT_H

#include "tools/planning/DepthModel.h"

#include <functional>

namespace gist::plan {

struct FitOptions {
  int64_t window = 1024; ///< tokens of a sequence
  int64_t call = 256;    ///< tokens of a call
  /// Relative to the mean of the squares of what a map reads.
  double ridge = 1e-3;
  int rounds = 2; ///< in which all maps of a plan are fitted again
  /// Bytes of the moments that are kept at a time.
  size_t memory = size_t{4} << 30;
};

/// Says how far work has come.
using FitProgress =
    std::function<void(const char *what, size_t done, size_t of)>;

/// What a map reads and what it should give, summed over rows, with a one
/// behind each row for the bias. The bits of f32 are far more than what the
/// ridge leaves of them.
struct MapMoments {
  Eigen::MatrixXf reads; ///< sum of x x^T, the lower triangle
  Eigen::MatrixXf gives; ///< sum of x y^T
  int64_t count = 0;
};

/// Adds rows x and y of these widths.
void addRows(const Matrix &x, const Matrix &y, MapMoments &moments);

/// A and b with the least squares, and a ridge that holds A down. Of the
/// columns of x only `neurons` are read, where there are any.
FittedMap fitMap(const MapMoments &moments, double ridge,
                 std::vector<float> neurons = {});

/// The numbers of the neurons that give most: of the largest variance times the
/// squares of what the output weight makes of them.
std::vector<float> chooseNeurons(const MapMoments &moments,
                                 const Matrix &outputWeight, int64_t count);

/// Tensors of a file of maps.
Status writeMaps(const std::string &path, uint64_t model, const MapSet &maps);

class DepthFitter {
public:
  DepthFitter(DepthModel &model, std::vector<int32_t> tokens,
              FitOptions options, FitProgress progress)
      : model(model), tokens(std::move(tokens)), options(options),
        progress(std::move(progress)) {}

  /// Fits the maps of every plan in `list`, each as if it were the only layer,
  /// or the only tail, that is not full. Plans have one kind of layers each.
  Status fitAlone(const std::vector<DepthPlan> &list,
                  std::vector<MapSet> &maps);
  /// Fits all maps of `plan`, from what they are in `maps` on.
  Status fitTogether(const DepthPlan &plan, MapSet &maps);

private:
  /// What an entry shows of one call, by name.
  using Shown = std::map<std::string, Matrix>;
  using Body = std::function<void(size_t call, const Shown &shown)>;
  /// A map and what it is fitted towards.
  struct Wanted {
    size_t layer;
    LayerDepth kind;
    auto operator<=>(const Wanted &) const = default;
  };
  using Moments = std::map<Wanted, std::map<std::string, MapMoments>>;

  /// Calls `entry` on every window and hands out what it shows of rows behind
  /// the first tokens.
  Status pass(const char *entry, const char *what, const Body &body);
  Status keepTargets();
  /// As the model does now.
  Status collect(const std::vector<Wanted> &wanted, Moments &moments);
  void add(const Wanted &wanted, const Shown &target, const Shown &shown,
           std::map<std::string, MapMoments> &moments) const;
  size_t bytesOf(const Wanted &wanted) const;
  static std::vector<Wanted> listWanted(const DepthPlan &plan);
  /// The maps of one layer, or of a tail. `known` are those it has so far.
  MapSet solve(const Wanted &wanted, const DepthChoice &choice,
               const std::map<std::string, MapMoments> &moments,
               const MapSet &known) const;

  DepthModel &model;
  std::vector<int32_t> tokens;
  FitOptions options;
  FitProgress progress;
  std::vector<Shown> targets; ///< of each call
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_DEPTHFIT_H
