//===- SelectionMeter.h - What a module's selections did --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_SELECTIONMETER_H
#define GIST_TOOLS_RUNNING_SELECTIONMETER_H

#include "runtime/session/Session.h"

#include "nlohmann/json_fwd.hpp"

namespace gist::run {

/// Means over calls of what a module's layers say of their selections: how many
/// representatives there are, and how they changed from the layer before.
///
/// Gram operations are counted as the cascade paper does: a selection of its
/// own compares all T x T pairs, one that follows from r representatives T x r,
/// one that is passed on none.
class SelectionMeter {
public:
  /// A module without selections leaves the meter inactive.
  void open(const Module &module);
  /// One call on a sequence of `tokens`.
  void add(const std::vector<StatisticValue> &statistics, int64_t tokens);

  bool isActive() const { return calls != 0; }
  nlohmann::json toJson() const;
  /// Adds what each layer did to a list of layers.
  void addTo(nlohmann::json &layers) const;
  void print() const;

private:
  struct Layer {
    std::string rule;       ///< empty: no selection
    double kept = 0;        ///< representatives of a head
    double jaccard = 0;     ///< with the layer before
    double turnover = 0;    ///< came and went, over the number before
    double gram = 0;        ///< rows compared, all heads
    double independent = 0; ///< the same of selections of their own
    bool isCompared = true; ///< there is a layer before
  };

  std::vector<Layer> layers;
  double calls = 0;
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_SELECTIONMETER_H
