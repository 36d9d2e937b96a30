//===- Plan.h - Where a model does less work --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is a small JSON file that a person can read and edit:
//
//   {
//     "gist_plan": 1,
//     "block": 128,
//     "layers": [
//       {"heads": ["dense", {"window": 256, "sinks": 4},
//                  {"window": 128, "theta": 0.8, "room": 0.4}]},
//       ...
//     ]
//   }
//
// There is one entry for each KV head. A dense head keeps everything; one with
// sinks sees the first tokens and a window; one with a theta keeps clusters of
// what is older than its window, at most `room` of them for each token of the
// context. {"window": 128, "random": 0.4} draws that share of the tokens and
// lets the others join the nearest of them: what clusters are measured against.
// Other members of the file, such as how the plan was found, do not affect the
// compiled module.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_PLAN_H
#define GIST_PASSES_PLAN_FILE_PLAN_H

#include "runtime/format/HeadTable.h"
#include "runtime/support/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

enum class HeadKind { Dense, Window, Clusters, Random };

/// What one KV head of one layer keeps.
struct HeadChoice {
  HeadKind kind = HeadKind::Dense;
  int64_t window = 0; ///< tokens kept exactly, beside the block at hand
  int64_t sinks = 0;  ///< Window: first tokens that stay
  double theta = 0;   ///< Clusters: cosine from which tokens are alike
  double room = 1;    ///< Clusters, Random: how many, as a share of the context

  bool operator==(const HeadChoice &) const = default;
};

struct Plan {
  /// Tokens that leave windows at a time; calls do not cross its multiples.
  int64_t block = 128;
  /// For each layer and KV head.
  std::vector<std::vector<HeadChoice>> layers;

  /// Whether a layer, or all of them, attends to all tokens with all heads.
  bool isDense(size_t layer) const;
  bool isDense() const;
};

/// The value of --plan that stands for makeCalibrationPlan's plan in place of a
/// file.
inline constexpr const char *kCalibrationPlan = "calibration";

/// A plan that computes what the model computes, in a cache with room for every
/// other plan, so that their tables can replace its own.
Plan makeCalibrationPlan(size_t layers, size_t kvHeads);

/// Reads the heads from a plan's JSON text, which is untrusted.
Status parsePlan(std::string_view text, Plan &plan);
/// `contract` is the JSON text of how the plan was found, or empty.
std::string printPlan(const Plan &plan, const std::string &contract = {});
/// One head as it stands in the file.
std::string printHead(const HeadChoice &head);
Status parseHead(std::string_view text, HeadChoice &head);

/// Where the parts of a cache of clusters lie, as gist.cluster_update reads it.
struct CacheLayout {
  /// layers x KV heads x the columns of runtime/format/HeadTable.def.
  std::vector<float> table;
  int64_t rows = 0;  ///< of keys and of values
  int64_t units = 0; ///< of units and weights, at least one
};

/// The layout for `context` tokens; an error if its rows cannot be numbered.
Status layOutCache(const Plan &plan, int64_t context, CacheLayout &layout);

/// The table of `plan` in a cache that was laid out for another one, `table`,
/// and `context` tokens; or which head has no room there.
Status fitPlan(const Plan &plan, std::span<const float> table, int64_t context,
               std::vector<float> &result);

/// Whether a head sees a window without sinks and has no room for anything
/// else: in a module for calibration, this is a window of the model's own.
bool isOwnWindow(const HeadPlace &place);

/// The name of the weight that holds a layout's table.
inline constexpr const char *kPlanHeadsWeight = "plan.heads";

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_PLAN_H
