//===- PlanJson.h - The parts of a plan's JSON ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PlanFile.cpp parses the text once and hands the JSON to the four readers,
// each of which knows one kind of plan. Only files of this folder include this.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_PLANJSON_H
#define GIST_PASSES_PLAN_FILE_PLANJSON_H

#include "passes/Plan/File/DepthPlan.h"
#include "passes/Plan/File/LinearPlan.h"
#include "passes/Plan/File/Plan.h"
#include "passes/Plan/File/SelectionPlan.h"
#include "runtime/support/Json.h"

#include <nlohmann/json.hpp>

namespace gist {

using PlanJson = nlohmann::ordered_json;

/// What `gist_plan` must be.
inline constexpr int64_t kPlanVersion = 1;
/// Bounds that no sensible plan reaches; they keep arithmetic in range.
inline constexpr int64_t kMaxPlanTokens = int64_t{1} << 24;
inline constexpr size_t kMaxPlanLayers = 4096, kMaxPlanHeads = 4096;

/// Parses `text`, which is a JSON object.
Status parsePlanJson(std::string_view text, PlanJson &json);

/// Finds the list `layers`, which has at least one layer. All kinds of
/// plan keep their layers there, so one place says what the list may be.
Status findLayers(const PlanJson &json, const PlanJson *&layers);

Status readHeads(const PlanJson &json, Plan &plan);
/// `bases` is left as the file has it.
Status readLinears(const PlanJson &json, LinearPlan &plan);
/// `maps` is left as the file has it.
Status readDepths(const PlanJson &json, DepthPlan &plan);
Status readSelections(const PlanJson &json, SelectionPlan &plan);

PlanJson toJson(const HeadChoice &head);
PlanJson toJson(const DepthChoice &choice);
PlanJson toJson(const LinearChoice &choice);
PlanJson toJson(const LayerLinears &layer);

/// True if a layer has a selection, or attends on one.
bool hasSelections(const PlanJson &json);

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_PLANJSON_H
