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
// What `"contract"` holds, such as how the plan was found, is for people.
//
// With `"trace": true` a module also gives, for each selection, the rows it
// looked at and the nearest representative of every token.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_SELECTIONPLAN_H
#define GIST_PASSES_PLAN_SELECTIONPLAN_H

#include "dialect/GistOps.h"
#include "passes/Plan/File/SelectionNames.h"
#include "runtime/support/Status.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

enum class SelectOn { Residual, Normalised, Keys };

struct SelectionChoice {
  SelectOn on = SelectOn::Residual;
  std::vector<double> taus; ///< one, or one for each KV head
  Against against = Against::Kept;
  Similarity similarity = Similarity::Absolute;
  std::optional<CascadeRule> rule; ///< none: a fresh selection
  int64_t k = 0; ///< dimensions of the subspace that bounds cosines; 0: none
};

struct AttendChoice {
  AttendMode mode = AttendMode::Copy;
  bool logCount = false;
  std::optional<int64_t> window, block;
  Merge merge = Merge::Mean;
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

/// A plan that does what the model does, with a tau for each KV head of each
/// layer that can be changed in a session: 0 to begin with.
SelectionPlan makeCalibrationSelections(size_t layers, size_t kvHeads);

/// True if the text is a plan of selections rather than of heads of a cache.
bool isSelectionPlan(std::string_view text);

/// Reads a plan from JSON text, whoever wrote it.
Status parseSelectionPlan(std::string_view text, SelectionPlan &plan);
/// The same from a file; `bases` is then as seen from here.
Status readSelectionPlan(const std::string &path, SelectionPlan &plan);

/// The content of a plan's file.
Status readPlanText(const std::string &path, std::string &text);

/// How each layer selects, as kSelectionsProperty has it: "fresh paper -".
std::string printRules(const SelectionPlan &plan);

/// The name of the weight that holds the taus of a layer's heads.
std::string getTausWeight(int64_t layer);

/// The name of the weight that holds the basis of a layer's selection, k x d.
std::string getBasisWeight(int64_t layer);

} // namespace gist

#endif // GIST_PASSES_PLAN_SELECTIONPLAN_H
