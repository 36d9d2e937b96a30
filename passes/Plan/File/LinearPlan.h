//===- LinearPlan.h - Where linear layers read less -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of a plan that is about linear layers:
//
//   "bases": "smollm2.bases.safetensors",
//   "head": {"bits": 4, "rounding": "compensated", "exact_rows": 4096},
//   "layers": [
//     {"linears": {
//       "qkv": "dense",
//       "o": {"bits": 3},
//       "gate_up": {"bits": 3, "k": 32, "rounding": "compensated"},
//       "down": {"k": 64, "epsilon": 0.1}}},
//     ...
//   ]
//
// Linear layers that read the same rows are one entry. `bits` rounds their
// weights, to the nearest or as the file of bases says (`compensated`); of a
// head the first `exact_rows` may stay as stored, or with `exact_bits` in 8
// bits: vocabularies begin with the tokens that texts have most of. `k` gives
// them a subspace of so many dimensions, in which they stay exact; `epsilon`
// makes that a gate: rows nearer to the subspace than that do not read the
// weight. With both, rows up to `epsilon_low` read no weight, rows up to
// `epsilon` the rounded weight, and the others the stored weight.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_LINEARPLAN_H
#define GIST_PASSES_PLAN_FILE_LINEARPLAN_H

#include "passes/Import/Files/BlockFormats.h"

#include <array>
#include <optional>
#include <string_view>

namespace gist {

/// The value of --plan that opens the output weight for fewer bits, in place of
/// a file.
inline constexpr const char *kBitsPlan = "bits";

/// Linear layers of a layer by what they read, in the order of the graph.
enum class LinearGroup { Qkv, O, GateUp, Down };
inline constexpr size_t kNumLinearGroups = 4;
const char *linearGroupName(LinearGroup group);

/// The format of weights in this many bits: 2, 3, 4 or 8.
WeightFormat roundedFormat(int64_t bits);

/// What the linear layers of one group do.
struct LinearChoice {
  int64_t bits = 0; ///< of the rounded weight: 2, 3, 4, 8; 0: not rounded
  bool isCompensated = false; ///< rounded beforehand, in the file of bases
  int64_t exactRows = 0; ///< the first rows of a weight that stay as stored
  int64_t exactBits = 0; ///< of these rows: 8; 0 is as stored
  int64_t k = 0;         ///< dimensions of the subspace
  std::optional<double> epsilon = std::nullopt;
  double epsilonLow = 0;

  bool isDense() const { return bits == 0 && k == 0; }
  bool isGated() const { return epsilon.has_value(); }
  /// The format of the rounded weight.
  WeightFormat format() const { return roundedFormat(bits); }
  bool operator==(const LinearChoice &) const = default;
};

using LayerLinears = std::array<LinearChoice, kNumLinearGroups>;

struct LinearPlan {
  std::string bases; ///< a file, as seen from here; may be empty
  std::vector<LayerLinears> layers;
  LinearChoice head; ///< never gated, without a subspace

  /// Something other than dense layers.
  bool isNeeded() const;
};

/// Reads the linear layers of a plan; a plan without any is dense. `folder` is
/// the plan's folder.
Status parseLinearPlan(std::string_view text, const std::string &folder,
                       LinearPlan &plan);

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_LINEARPLAN_H
