//===- LayerComparison.h - Two models, layer by layer -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry `observe` shows what linear layers read ("3.o:blk.3.attn_output")
// and give ("3.o=blk.3.attn_output"). What the output projection reads is what
// attention gave.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_LAYERCOMPARISON_H
#define GIST_TOOLS_RUNNING_LAYERCOMPARISON_H

#include "tools/running/Observer.h"

#include "nlohmann/json_fwd.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>

namespace gist::run {

/// How far the layers of a model are from those of another, on the same text:
/// |x - x'| / |x'| over all rows, where x' is the other's.
class LayerComparison {
public:
  /// Both outlive this.
  LayerComparison(Runner &model, Runner &reference)
      : model(model), reference(reference) {}

  /// Fails where a module has no entry `observe`, or they are of different
  /// models.
  Status open();

  /// One sequence, which both see from its beginning.
  Status add(std::span<const int32_t> tokens);

  void addTo(nlohmann::json &layers) const;
  void print() const;

private:
  /// Sums of squares.
  struct Sums {
    double difference = 0, reference = 0;

    double error() const;
  };
  struct Layer {
    Sums attention;
    std::map<std::string, Sums> linears; ///< by group
  };

  void compare(const Observed &what, std::span<const float> rows,
               std::span<const float> other);
  /// The largest error of all groups of a layer.
  static double largest(const Layer &layer);

  Runner &model, &reference;
  std::optional<Observer> observer, referenceObserver;
  std::set<Observed> compared; ///< what both show
  std::map<int64_t, Layer> layers;
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_LAYERCOMPARISON_H
