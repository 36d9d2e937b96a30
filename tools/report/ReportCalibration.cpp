//===- ReportCalibration.cpp - Curves of selections -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/report/Plot.h"
#include "tools/report/ReportData.h"

#include <algorithm>

using namespace gist;
using nlohmann::json;

namespace {
/// Selections of which a page shows something, in words.
struct Shown {
  const char *on, *against, *similarity, *title;
};
} // namespace

static constexpr Shown kShown[] = {
    {"residual", "kept", "absolute", "residual stream, coverings"},
    {"residual", "all", "absolute", "residual stream, against all tokens"},
    {"normalised", "kept", "absolute", "normalised rows, coverings"},
    {"keys", "kept", "signed", "keys, coverings, means of heads"}};

/// More lines than this are hard to tell apart.
static constexpr size_t kMostLines = 5;

/// Some of `count` places, the first and the last among them.
/// Evenly spread.
static std::vector<size_t> chooseSome(size_t count) {
  size_t wanted = std::min(count, kMostLines);
  std::vector<size_t> result(wanted);
  for (size_t i = 1; i < wanted; ++i)
    result[i] = i * (count - 1) / (wanted - 1);
  return result;
}

using Values = std::vector<double> SelectionCurve::*;

/// The mean of the heads of a layer, for one tau; null where there is none.
static json meanOfHeads(const Calibration &calibration,
                        const SelectionKind &kind, size_t layer, Values values,
                        size_t tau) {
  double sum = 0, heads = 0;
  for (size_t head = 0; head < calibration.kvHeads; ++head) {
    const auto &curves = calibration.selections.curves;
    auto found = curves.find({kind, layer, head});
    if (found == curves.end() || (found->second.*values).empty())
      continue;
    sum += (found->second.*values)[tau];
    ++heads;
  }
  return heads > 0 ? json(sum / heads) : json();
}

json plan::toEvaluation(const Calibration &calibration) {
  const std::vector<double> &taus = calibration.selections.taus;
  json selections = json::array();
  // A calibration knows more kinds of selections than fit a page.
  for (const auto &[on, against, similarity, title] : kShown) {
    SelectionKind kind{on, against, similarity};
    if (!calibration.selections.curves.contains({kind, 0, 0}))
      continue;
    std::string words = title;
    auto add = [&](const char *unit, const json &series) -> json & {
      selections.push_back({{"model", calibration.model},
                            {"text", words},
                            {"unit", unit},
                            {"series", series}});
      return selections.back();
    };
    json byTau = json::object();
    for (size_t layer : chooseSome(calibration.layers)) {
      // Names are sorted as text: a space comes before a digit.
      json &line = byTau[layer < 10 ? "layer  " + std::to_string(layer)
                                    : "layer " + std::to_string(layer)];
      for (size_t i = 0; i < taus.size(); ++i)
        line.push_back(
            meanOfHeads(calibration, kind, layer, &SelectionCurve::kept, i));
    }
    add("representatives, of tokens", byTau)["by"] = {{"name", "tau"},
                                                      {"values", taus}};
    for (auto [values, unit] :
         {std::pair(&SelectionCurve::jaccard, "Jaccard, layer before"),
          std::pair(&SelectionCurve::turnover, "turnover, layer before")}) {
      json byLayer = json::object();
      for (size_t i : chooseSome(taus.size())) {
        json &line = byLayer["tau " + shortNumber(taus[i])];
        for (size_t layer = 0; layer < calibration.layers; ++layer)
          line.push_back(meanOfHeads(calibration, kind, layer, values, i));
      }
      add(unit, byLayer);
    }
  }
  return {{"gist_evaluation", 1},
          {"model", calibration.model},
          {"selections", selections}};
}
