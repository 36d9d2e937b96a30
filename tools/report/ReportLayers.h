//===- ReportLayers.h - Where the savings are -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_REPORT_REPORTLAYERS_H
#define GIST_TOOLS_REPORT_REPORTLAYERS_H

#include "tools/report/Plot.h"

#include "nlohmann/json_fwd.hpp"

namespace gist::plan {

/// A line of a plot with the plan's name; baselines are dashed.
Series makeSeries(const nlohmann::json &plan);
bool hasPoints(const Plot &plot);

/// Layers by KV heads: what each does and, where it was measured, how much of
/// dense attention's work that is.
std::string drawHeads(const nlohmann::json &plan);

/// What was measured in every layer: a plot for each kind of number, with a
/// line for each plan. Means over texts, at the greatest length.
std::string drawLayers(const nlohmann::json &plans);

} // namespace gist::plan

#endif // GIST_TOOLS_REPORT_REPORTLAYERS_H
