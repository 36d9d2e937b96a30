//===- PlanFile.h - plan.json, read once ------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is about a KV cache (heads, see Plan.h, linear layers, see
// LinearPlan.h, and depths, see DepthPlan.h, or some of them), or about whole
// sequences (selections, see SelectionPlan.h). This is where a file is opened,
// and the only place.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_PLANFILE_H
#define GIST_PASSES_PLAN_FILE_PLANFILE_H

#include "passes/Plan/File/DepthPlan.h"
#include "passes/Plan/File/LinearPlan.h"
#include "passes/Plan/File/Plan.h"
#include "passes/Plan/File/SelectionPlan.h"

namespace gist {

struct PlanFile {
  /// True: the plan is `selections`; false: the other members.
  bool isOfSelections = false;
  Plan heads; ///< without layers if the plan has no heads
  LinearPlan linears;
  DepthPlan depths;
  SelectionPlan selections;
  std::string text; ///< as it is in the file

  bool hasHeads() const {
    return !heads.layers.empty() && !heads.layers.front().empty();
  }
  /// The file of bases, as seen from here; may be empty.
  const std::string &bases() const {
    return isOfSelections ? selections.bases : linears.bases;
  }
};

/// Reads a plan of any kind from JSON text, which is untrusted. `folder` is the
/// plan's folder.
Status parsePlanFile(std::string_view text, const std::string &folder,
                     PlanFile &plan);
/// Opens the file and reads it.
Status readPlanFile(const std::string &path, PlanFile &plan);
/// The text of a file with all of these; each may be empty. `contract` is JSON.
std::string printPlanFile(const Plan &heads, const DepthPlan &depths,
                          const LinearPlan &linears,
                          const std::string &contract);
/// The same of selections on keys, as encoders have them.
std::string printPlanFile(const SelectionPlan &selections,
                          const std::string &contract);

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_PLANFILE_H
