//===- SelectionCurves.h - How many representatives there would be -*- C++ -*-//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What selections of every kind would do in each layer of a model, for a ladder
// of taus: how many tokens are representatives, and how the set differs from
// that of the layer before with the same tau. A part of what `gist-plan
// calibrate` writes.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_SELECTIONCURVES_H
#define GIST_TOOLS_PLANNING_SELECTIONCURVES_H

#include "runtime/support/Status.h"

#include "nlohmann/json_fwd.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace gist {

/// One of the selections that a plan can ask for, by the plan's words.
struct SelectionKind {
  std::string on = "residual";         ///< or "normalised", "keys"
  std::string against = "kept";        ///< or "all"
  std::string similarity = "absolute"; ///< or "signed"

  auto operator<=>(const SelectionKind &) const = default;
};

/// What selections of one kind do in one place, by tau.
struct SelectionCurve {
  /// Representatives over tokens: mean and standard deviation over windows.
  std::vector<double> kept, deviation;
  /// Against the layer before, means over windows; empty in the first layer.
  std::vector<double> jaccard, turnover;

  bool operator==(const SelectionCurve &) const = default;
};

struct SelectionCurves {
  /// A kind, a layer, and a KV head: of other rows than keys there is one, 0.
  using Key = std::tuple<SelectionKind, size_t, size_t>;

  int64_t window = 0;       ///< tokens of a sequence
  int64_t windows = 0;      ///< sequences; 0: nothing was measured
  std::vector<double> taus; ///< ascending
  std::map<Key, SelectionCurve> curves;

  /// One line for each curve.
  std::string print() const;
};

/// Reads what print() wrote, for a model of so many layers and KV heads.
/// Throws what the JSON library throws.
Status parseSelectionCurves(const nlohmann::ordered_json &json, size_t layers,
                            size_t kvHeads, SelectionCurves &result);

/// The rows of a sequence's tokens, `stride` numbers apart.
struct TokenRows {
  const float *first = nullptr;
  size_t count = 0, width = 0, stride = 0;
};

/// Collects curves, window by window.
class SelectionCurveMeter {
public:
  SelectionCurveMeter(int64_t window, std::vector<double> taus);

  /// One window's rows in one place. The layers of a window follow each other
  /// in ascending order, of each kind of rows and head.
  void add(const std::string &on, size_t layer, size_t head,
           const TokenRows &rows);

  SelectionCurves finish() const;

private:
  /// Whether each token is a representative, by tau.
  using Sets = std::vector<std::vector<bool>>;
  struct Sums {
    double windows = 0;
    std::vector<double> kept, squares, jaccard, turnover; ///< by tau
    Sets last; ///< of the window at hand
  };

  void compare(Sums &sums, const Sets *before);

  int64_t window;
  std::vector<double> taus;
  std::map<SelectionCurves::Key, Sums> sums;
};

} // namespace gist

#endif // GIST_TOOLS_PLANNING_SELECTIONCURVES_H
