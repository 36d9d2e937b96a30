//===- DepthFit.h - Maps in place of layers, by least squares ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fits the maps of plans of depths (passes/Plan/File/DepthPlan.h). Each window
// of a text is read twice: as the model is, and with the maps that are there.
// The second moments of what maps read and of what is missing at the end of
// their layers are summed up, for all layers at once: each is then fitted as if
// it were the only one. The maps of a plan are then fitted again, one layer
// after the other: each makes up for the errors of those before it, so these
// have to be there.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_DEPTHFIT_H
#define GIST_TOOLS_PLANNING_DEPTHFIT_H

#include "tools/planning/DepthModel.h"
#include "tools/running/Limit.h"

#include <functional>

namespace gist::plan {

struct FitOptions {
  int64_t window = 2048; ///< tokens of a sequence
  int64_t call = 2048;   ///< tokens of a call
  /// Tokens before the bulk, which walk through all layers.
  int64_t first = DepthPlan().first;
  /// Relative to the squares of each number that a map reads.
  double ridge = 1e-3;
  /// One of so many windows is read for maps that are fitted alone: these are
  /// compared and not kept.
  size_t shareAlone = 2;
  /// Bytes of the moments that are kept at a time.
  size_t memory = size_t{4} << 30;
};

/// What a map reads and what it should give, summed over rows, with a one
/// behind each row for the bias. The bits of f32 are far more than what the
/// ridge leaves of them.
struct MapMoments {
  Matrix reads; ///< sum of x x^T, the lower triangle
  Matrix gives; ///< sum of x y^T
  int64_t count = 0;
  /// Which neurons the columns of x are, ascending; empty: all.
  std::vector<float> neurons = {};
};

/// Rows that a map reads, with the one for the bias, rows that it should give,
/// and where they are summed up.
struct MapRows {
  Matrix x, y;
  MapMoments *moments = nullptr;
};
/// Adds all of these on all cores.
void addRows(std::span<const MapRows> rows);
/// `x` with the one for the bias behind each row.
Matrix withOnes(const Matrix &x);

/// A and b with the least squares, and a ridge that holds A down. Of the
/// columns of x only `neurons` are read, where there are any.
FittedMap fitMap(const MapMoments &moments, double ridge,
                 std::vector<float> neurons = {});

/// Sums over rows of what neurons give, and of its squares.
struct NeuronSums {
  Eigen::ArrayXd sums, squares;
  int64_t count = 0;

  void add(const Matrix &rows);
  /// All neurons, those that give most first: of the largest variance times
  /// the squares of what the output weight makes of them.
  std::vector<float> rank(const Matrix &outputWeight) const;
};

/// Reads the maps of a plan that can be tried in `model` (DepthModel::check).
Status readMaps(const std::string &path, const DepthModel &model,
                const DepthPlan &plan, MapSet &maps);
/// Writes a file of maps, for the weights of a module.
Status writeMaps(const std::string &path, const Module &module,
                 const MapSet &maps);

class DepthFitter {
public:
  DepthFitter(DepthModel &model, std::vector<int32_t> tokens,
              FitOptions options)
      : model(model), tokens(std::move(tokens)), options(options) {}

  /// A limit ends what follows as an error.
  ///
  /// Fits the maps of every plan in `list`, each as if it were the only layer,
  /// or the only tail, that is not full. Plans have one kind of layers each.
  Status fitAlone(const std::vector<DepthPlan> &list, const run::Limit &limit,
                  std::vector<MapSet> &maps);
  /// Fits all maps of `plan`, one layer after the other. `maps` has what they
  /// are alone.
  Status fitTogether(const DepthPlan &plan, const run::Limit &limit,
                     MapSet &maps);

private:
  /// What an entry shows of one call.
  struct Shown {
    std::map<std::string, std::vector<uint8_t>> bytes; ///< by name
    size_t tokens = 0;                                 ///< rows

    Eigen::Map<const Matrix> at(const std::string &name) const;
    auto countRows() const { return static_cast<Eigen::Index>(tokens); }
  };
  /// Some rows of a call, for one map.
  struct Piece {
    size_t wanted;
    Eigen::Index first, count;
  };
  using Body = std::function<void(Shown shown)>;
  /// A map and what it is fitted towards.
  struct Wanted {
    size_t layer;
    LayerDepth kind;
    auto operator<=>(const Wanted &) const = default;
    /// Of the map; a tail reads what a linear layer does.
    std::string mapName() const;
  };
  using Moments = std::map<Wanted, MapMoments>;

  Status call(const char *entry, size_t window, size_t past, size_t count,
              const std::set<std::string> &names, Shown &shown);
  /// Calls `entry` on a window behind its first tokens and hands out those of
  /// `names` that it shows.
  Status read(const char *entry, size_t window,
              const std::set<std::string> &names, const Body &body);
  /// Calls `body` for every window, or for one of so many.
  Status forWindows(size_t share, const run::Limit &limit,
                    const std::function<Status(size_t window)> &body);
  /// Which neurons of the layers in `wanted` give most.
  Status rankNeurons(const std::vector<Wanted> &wanted,
                     const run::Limit &limit);
  /// The `count` that give most, in the order of the model.
  std::vector<float> bestNeurons(size_t layer, int64_t count) const;
  /// As the model does now. `moments` say which neurons are of interest.
  Status collect(const std::vector<Wanted> &wanted, size_t share,
                 const run::Limit &limit, Moments &moments);
  std::set<std::string> namesOf(const std::vector<Wanted> &wanted) const;
  /// What the map of a thin layer gives now: by the neurons that moments are
  /// taken of and its bias, and by those of the others that give anything.
  struct Given {
    Matrix byOwn, byOthers;
    std::vector<Eigen::Index> others;
  };
  Given splitGiven(size_t layer, const std::vector<float> &neurons) const;
  /// Takes the moments of a call.
  void addCall(const std::vector<Wanted> &wanted, const Shown &target,
               const Shown &shown, const std::vector<Given> &given,
               std::vector<MapMoments> &moments) const;
  MapRows rowsOf(const Wanted &wanted, const Piece &piece, const Shown &target,
                 const Shown &shown, MapMoments &moments) const;
  /// The keys and values of all layers of a tail, beside each other.
  std::vector<std::string> tailMaps(size_t first) const;
  size_t bytesOf(const Wanted &wanted, int64_t neurons) const;
  Status fitNext(const DepthPlan &plan, const Wanted &wanted,
                 const run::Limit &limit, const MapSet &maps, MapSet &fitted);
  static std::vector<Wanted> listWanted(const DepthPlan &plan);
  /// The maps of one layer, or of a tail.
  MapSet solve(const Wanted &wanted, const MapMoments &moments,
               std::vector<float> neurons) const;

  DepthModel &model;
  std::vector<int32_t> tokens;
  FitOptions options;
  std::map<size_t, std::vector<float>> ranked; ///< neurons of a layer
  /// What was fitted together last.
  DepthPlan together;
  MapSet togetherMaps;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_DEPTHFIT_H
