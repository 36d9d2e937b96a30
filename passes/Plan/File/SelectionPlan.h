//===- SelectionPlan.h - Where a model works on representatives -*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan for models that see a whole sequence in one call:
//
//   {
//     "gist_plan": 1,
//     "layers": [
//       {"selection": {"on": "residual", "tau": 0.3, "against": "all"},
//        "attend": {"mode": "copy", "log_count": true}},
//       {"selection": {"on": "residual", "tau": 0.3, "rule": "paper"},
//        "attend": {"mode": "copy"}},
//       {"selection": {"on": "keys", "tau": [0.3, 0, 0.45], "similarity":
//       "signed"},
//        "attend": {"mode": "keys", "merge": "mean", "window": 128, "block":
//        128}},
//       {},
//       ...
//     ]
//   }
//
// A layer without a selection uses the one before it, one without `attend` is
// dense. `on` says what is compared: the residual stream (the default), the
// rows that queries and keys are projected from (`normalised`), or the rotated
// keys of each KV head, then with one tau for all or one for each; there a tau
// of 0 keeps every token. `rule` is `fresh` (the default), or how the selection
// follows from the one before: `covering`, `paper` or `inherit`.
//
// `"k": 64` in a selection on normalised rows gives it the subspace of that
// many dimensions that linear layers reading these rows would have, out of the
// plan's file `"bases"` (see LinearPlan.h): the coefficients bound cosines, and
// pairs that the bound decides are not computed in full. The selection is the
// same.
//
// `"contract"` says how the plan was found; it does not affect the compiled
// module.
//
// With `"trace": true` a module also gives, for each selection, the rows it
// looked at and the nearest representative of every token.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_SELECTIONPLAN_H
#define GIST_PASSES_PLAN_FILE_SELECTIONPLAN_H

#include "passes/Plan/File/SelectionNames.h"
#include "runtime/support/Status.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// Words are those of the dialect's enums, which this folder does not include.
struct SelectionChoice {
  std::string on = "residual";         ///< or "normalised" or "keys"
  std::vector<double> taus;            ///< one, or one for each KV head
  std::string against = "kept";        ///< or "all"
  std::string similarity = "absolute"; ///< or "signed"
  /// How it follows from the selection before it: "covering", "paper" or
  /// "inherit"; "fresh" if it does not.
  std::string rule = "fresh";
  int64_t k = 0; ///< dimensions of the subspace that bounds cosines; 0: none

  bool isFresh() const { return rule == "fresh"; }
};

struct AttendChoice {
  std::string mode = "copy"; ///< or "keys"
  bool logCount = false;
  std::optional<int64_t> window, block;
  std::string merge = "mean"; ///< or "representative"
};

struct SelectionLayer {
  std::optional<SelectionChoice> selection;
  std::optional<AttendChoice> attend;
};

struct SelectionPlan {
  std::vector<SelectionLayer> layers;
  std::string bases; ///< a file, seen from the plan's folder; may be empty
  bool isTraced = false;
};

/// A plan that computes what the model computes, with a tau for each KV head of
/// each layer, 0 at first, that a session can change.
SelectionPlan makeCalibrationSelections(size_t layers, size_t kvHeads);

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_SELECTIONPLAN_H
