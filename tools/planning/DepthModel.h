//===- DepthModel.h - A model in which depths can be tried ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module whose layers are "any" (passes/Plan/File/DepthPlan.h) follows every
// plan of depths by its weights alone. This puts them there.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_DEPTHMODEL_H
#define GIST_TOOLS_PLANNING_DEPTHMODEL_H

#include "passes/Import/Files/ModelSource.h"
#include "passes/Plan/File/DepthPlan.h"
#include "runtime/session/Session.h"
#include "tools/planning/LinearMoments.h"

#include <map>
#include <memory>
#include <set>

namespace gist::plan {

/// A and b of y = A x + b.
struct FittedMap {
  Matrix map;
  std::vector<float> bias;
  std::vector<float> neurons = {}; ///< that a thin layer keeps
};
/// By the names of DepthPlan.h.
using MapSet = std::map<std::string, std::shared_ptr<const FittedMap>>;

/// What one layer has, as multiply-adds for each token, without attention.
struct LayerSizes {
  double queries = 0, keys = 0, output = 0; ///< keys: and values
  double neurons = 0;                       ///< all of the feed-forward block
};

class DepthModel {
public:
  /// `session` is of a module made with --observe --plan=depths of `model`.
  Status open(Session &session, const ModelSource &model);

  /// Does as a plan says from now on; its maps are among `maps`.
  Status follow(const DepthPlan &plan, const MapSet &maps);
  /// Does as the model does, in the form that plans are tried in.
  Status followNone() { return follow(none(), {}); }

  Session &getSession() const { return *session; }
  size_t countLayers() const { return layers.size(); }
  /// The plan in which all layers are full.
  DepthPlan none() const {
    DepthPlan plan;
    plan.hasBulk = hasBulk();
    plan.layers.resize(layers.size());
    return plan;
  }
  /// The output weight of a feed-forward block; empty where it has none that
  /// is a matrix of the model.
  const Matrix &outputWeight(size_t layer) const {
    return layers[layer].outputWeight;
  }
  /// Whether plans are about the bulk of prompts; otherwise they are about all
  /// tokens of a sequence, as an encoder's are.
  bool hasBulk() const { return !layers.front().tails.empty(); }
  /// Refuses a plan that cannot be tried in the module.
  Status check(const DepthPlan &plan) const;
  /// What the maps of a thin layer are fitted towards (kTargetEntry).
  std::string sumOf(size_t layer) const;
  /// The maps that a layer needs for a choice.
  std::vector<std::string> mapsOf(size_t layer,
                                  const DepthChoice &choice) const;
  /// The maps that a layer of a tail has.
  const std::vector<std::string> &tailMaps(size_t layer) const {
    return layers[layer].tails;
  }
  /// What a thin layer's map is now, over all neurons, with its bias as the
  /// last row.
  Matrix currentNeurons(size_t layer) const;
  /// Numbers that a map gives.
  size_t rowsOf(const std::string &map) const {
    return static_cast<size_t>(numbers.at(map).rows());
  }
  const LayerSizes &sizes(size_t layer) const { return layers[layer].sizes; }

private:
  struct Layer {
    Matrix outputWeight;
    std::vector<std::string> tails;
    LayerSizes sizes;
    // What it does now.
    DepthChoice choice;
    std::vector<std::shared_ptr<const FittedMap>> maps;
  };

  void addObservation(const ObservationSpec &shown, const ModelSource &model);
  void change(size_t layer, const DepthChoice &choice,
              std::vector<std::shared_ptr<const FittedMap>> maps);
  void set(const std::string &name, Matrix numbers);
  void setMap(const std::string &name, const FittedMap *map);
  void setGate(const std::string &name, bool isOpen);
  /// Brings what was set into the session.
  Status flush();

  Session *session = nullptr;
  std::vector<Layer> layers;
  /// All maps, biases and gates of the module by name, and those that changed.
  std::map<std::string, Matrix> numbers;
  std::set<std::string> changed;
  std::set<std::string> sums; ///< that kTargetEntry shows, among other rows
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_DEPTHMODEL_H
