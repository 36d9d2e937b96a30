//===- SelectionCurves.cpp - How many representatives there would be ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/SelectionCurves.h"

#include "passes/Plan/File/SelectionCounts.h"
#include "runtime/format/Theta.h"
#include "runtime/support/Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace gist;
using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

namespace {
/// cos(s, t) for s < t; NaN where a row cannot be compared.
class Cosines {
public:
  explicit Cosines(const TokenRows &rows);

  size_t tokens() const { return count; }
  /// Those of token t with the tokens before it.
  const float *before(size_t t) const { return values.data() + t * count; }

private:
  size_t count;
  std::vector<float> values;
};
} // namespace

/// In lanes, so that a compiler may use vectors.
static float dot(const float *a, const float *b, size_t size) {
  constexpr size_t kLanes = 16;
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= size; i += kLanes)
    for (size_t j = 0; j < kLanes; ++j)
      lanes[j] += a[i + j] * b[i + j];
  float sum = 0;
  for (; i < size; ++i)
    sum += a[i] * b[i];
  for (float lane : lanes)
    sum += lane;
  return sum;
}

Cosines::Cosines(const TokenRows &rows)
    : count(rows.count), values(rows.count * rows.count) {
  std::vector<float> inverse(count);
  for (size_t t = 0; t < count; ++t) {
    const float *row = rows.first + t * rows.stride;
    float square = dot(row, row, rows.width);
    inverse[t] = square > 0 && std::isfinite(square)
                     ? 1 / std::sqrt(square)
                     // No comparison with a NaN holds: a zero row is not
                     // similar to any other row.
                     : std::numeric_limits<float>::quiet_NaN();
    for (size_t s = 0; s < t; ++s)
      values[t * count + s] =
          dot(rows.first + s * rows.stride, row, rows.width) * inverse[s] *
          inverse[t];
  }
}

/// The representatives: tokens that no earlier one, or no earlier one that is
/// kept, reaches (gist.gram_select).
static std::vector<bool> select(const Cosines &cosines,
                                const SelectionKind &kind, double tau) {
  float theta = thetaOfTau(static_cast<float>(tau));
  bool isAbsolute = kind.similarity == "absolute",
       isAll = kind.against == "all";
  std::vector<bool> result(cosines.tokens());
  std::vector<size_t> earlier; ///< that a token is compared with
  for (size_t t = 0; t < cosines.tokens(); ++t) {
    const float *row = cosines.before(t);
    bool isReached = std::any_of(earlier.begin(), earlier.end(), [&](size_t s) {
      return (isAbsolute ? std::fabs(row[s]) : row[s]) >= theta;
    });
    result[t] = !isReached;
    if (isAll || !isReached)
      earlier.push_back(t);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The meter
//===----------------------------------------------------------------------===//

SelectionCurveMeter::SelectionCurveMeter(int64_t window,
                                         std::vector<double> taus)
    : window(window), taus(std::move(taus)) {}

void SelectionCurveMeter::add(const std::string &on, size_t layer, size_t head,
                              const TokenRows &rows) {
  Cosines cosines(rows);
  for (const char *against : {"kept", "all"})
    for (const char *similarity : {"absolute", "signed"}) {
      SelectionKind kind{on, against, similarity};
      Sums &here = sums[{kind, layer, head}];
      here.last.clear();
      for (double tau : taus)
        // Kept for the next layer of the same window, which compares with it.
        // So layers must come in order.
        here.last.push_back(select(cosines, kind, tau));
      auto before =
          layer == 0 ? sums.end() : sums.find({kind, layer - 1, head});
      compare(here, before == sums.end() ? nullptr : &before->second.last);
    }
}

void SelectionCurveMeter::compare(Sums &here, const Sets *before) {
  ++here.windows;
  here.kept.resize(taus.size());
  here.squares.resize(taus.size());
  if (before) {
    here.jaccard.resize(taus.size());
    here.turnover.resize(taus.size());
  }
  for (size_t i = 0; i < taus.size(); ++i) {
    const std::vector<bool> &now = here.last[i];
    double share =
        static_cast<double>(std::count(now.begin(), now.end(), true)) /
        static_cast<double>(now.size());
    here.kept[i] += share;
    here.squares[i] += share * share;
    if (!before)
      continue;
    const std::vector<bool> &old = (*before)[i];
    SelectionCounts counts;
    for (size_t t = 0; t < now.size(); ++t) {
      counts.before += old[t] ? 1 : 0;
      counts.removed += old[t] && !now[t] ? 1 : 0;
      counts.added += now[t] && !old[t] ? 1 : 0;
    }
    here.jaccard[i] += counts.jaccard();
    here.turnover[i] += counts.turnover();
  }
}

/// Windows are too few for more digits.
static double roundCurve(double value) { return std::round(value * 1e6) / 1e6; }

SelectionCurves SelectionCurveMeter::finish() const {
  SelectionCurves result{window, 0, taus, {}};
  for (const auto &[key, sum] : sums) {
    double n = sum.windows;
    result.windows = std::max(result.windows, static_cast<int64_t>(n));
    SelectionCurve &curve = result.curves[key];
    for (size_t i = 0; i < taus.size(); ++i) {
      double mean = sum.kept[i] / n;
      double variance =
          n > 1 ? (sum.squares[i] - n * mean * mean) / (n - 1) : 0;
      curve.kept.push_back(roundCurve(mean));
      curve.deviation.push_back(roundCurve(std::sqrt(std::max(0.0, variance))));
    }
    for (double value : sum.jaccard)
      curve.jaccard.push_back(roundCurve(value / n));
    for (double value : sum.turnover)
      curve.turnover.push_back(roundCurve(value / n));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::string SelectionCurves::print() const {
  std::string text = "{\"window\": " + std::to_string(window) +
                     ", \"windows\": " + std::to_string(windows) +
                     ", \"taus\": " + Json(taus).dump() + ", \"curves\": [";
  const char *comma = "\n    ";
  for (const auto &[key, curve] : curves) {
    const auto &[kind, layer, head] = key;
    Json json = {{"on", kind.on},
                 {"against", kind.against},
                 {"similarity", kind.similarity},
                 {"layer", layer}};
    if (kind.on == "keys")
      json["head"] = head;
    json["kept"] = curve.kept;
    json["deviation"] = curve.deviation;
    if (!curve.turnover.empty()) {
      json["jaccard"] = curve.jaccard;
      json["turnover"] = curve.turnover;
    }
    text += comma + json.dump();
    comma = ",\n    ";
  }
  return text + "\n  ]}";
}

static Status readCurve(const Json &json, size_t layers, size_t kvHeads,
                        SelectionCurves &result) {
  SelectionKind kind;
  GIST_TRY(readText(json, "on", kind.on));
  GIST_TRY(readText(json, "against", kind.against));
  GIST_TRY(readText(json, "similarity", kind.similarity));
  bool isOfKeys = kind.on == "keys";
  if ((!isOfKeys && kind.on != "residual" && kind.on != "normalised") ||
      (kind.against != "kept" && kind.against != "all") ||
      (kind.similarity != "absolute" && kind.similarity != "signed"))
    return Status::error(Code::BadFile,
                         "expected a selection that a plan can ask for");
  size_t layer = 0, head = 0;
  GIST_TRY(readIndex(json, "layer", layers, layer));
  if (isOfKeys)
    GIST_TRY(readIndex(json, "head", kvHeads, head));
  auto [place, isNew] = result.curves.try_emplace({kind, layer, head});
  if (!isNew)
    return Status::error(Code::BadFile,
                         "layer %zu, head %zu is there twice; expected one "
                         "curve for each place",
                         layer, head);
  SelectionCurve &curve = place->second;
  size_t count = result.taus.size();
  GIST_TRY(readNumbers(json, "kept", count, 0, 1, curve.kept));
  GIST_TRY(readNumbers(json, "deviation", count, 0, 1, curve.deviation));
  if (!json.contains("turnover"))
    return {};
  GIST_TRY(readNumbers(json, "jaccard", count, 0, 1, curve.jaccard));
  // One representative may become as many as there are tokens.
  return readNumbers(json, "turnover", count, 0,
                     static_cast<double>(result.window), curve.turnover);
}

Status gist::parseSelectionCurves(const Json &json, size_t layers,
                                  size_t kvHeads, SelectionCurves &result) {
  constexpr int64_t kMost = int64_t{1} << 40; // Far above any measurement.
  GIST_TRY(readInteger(json, "window", 1, kMost, result.window));
  GIST_TRY(readInteger(json, "windows", 1, kMost, result.windows));
  const Json *taus = nullptr, *curves = nullptr;
  GIST_TRY(findList(json, "taus", taus));
  GIST_TRY(findList(json, "curves", curves));
  GIST_TRY(readNumbers(json, "taus", taus->size(), 0, 1, result.taus));
  double least = 0;
  for (double tau : result.taus) {
    if (!(tau > least && tau < 1))
      return Status::error(Code::BadFile,
                           "'taus' has %g after %g; expected ascending numbers "
                           "between 0 and 1",
                           tau, least);
    least = tau;
  }
  if (result.taus.empty())
    return Status::error(Code::BadFile, "'taus' is empty; expected numbers");
  for (size_t i = 0; i < curves->size(); ++i)
    GIST_TRY(readCurve((*curves)[i], layers, kvHeads, result)
                 .in("'curves', entry " + std::to_string(i)));
  return {};
}
