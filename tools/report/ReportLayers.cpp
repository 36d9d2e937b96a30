//===- ReportLayers.cpp - Where the savings are ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a plan does in each layer and head.
//
//===----------------------------------------------------------------------===//

#include "tools/report/ReportLayers.h"
#include "tools/report/ReportData.h"

#include <algorithm>
#include <cmath>

using namespace gist;
using namespace gist::plan;
using nlohmann::json;

/// Baselines are dashed, so that they are not taken for plans.
Series plan::makeSeries(const json &plan) {
  Series series{text(plan, "name"), {}};
  series.isDashed = !text(plan, "baseline").empty();
  return series;
}

bool plan::hasPoints(const Plot &plot) {
  return std::any_of(
      plot.series.begin(), plot.series.end(), [](const Series &series) {
        return std::any_of(
            series.points.begin(), series.points.end(),
            [](const auto &point) { return std::isfinite(point.second); });
      });
}

/// The runs of a plan on its longest sequences.
/// Layers of long and short sequences would not be comparable in one line.
static std::vector<json> longestRuns(const json &plan) {
  double longest = kNothing;
  for (const json &run : list(plan, "texts"))
    longest = larger(longest, number(run, {"tokens"}));
  std::vector<json> result;
  for (const json &run : list(plan, "texts"))
    if (number(run, {"tokens"}) == longest)
      result.push_back(run);
  return result;
}

/// Means over runs of a number for each head of a layer.
static std::vector<double> meanOfHeads(const std::vector<json> &runs,
                                       size_t layer, const char *key) {
  std::vector<std::vector<double>> byHead;
  for (const json &run : runs) {
    const json &layers = list(run, "layers");
    if (layer >= layers.size())
      continue;
    std::vector<double> values = numbers(layers[layer], key);
    byHead.resize(std::max(byHead.size(), values.size()));
    for (size_t i = 0; i < values.size(); ++i)
      byHead[i].push_back(values[i]);
  }
  std::vector<double> result;
  for (const std::vector<double> &values : byHead)
    result.push_back(meanOf(values));
  return result;
}

/// The colour of a cell says the kind of head, its depth how much is saved.
/// Without measurements the plan's own numbers stand for that.
static HeatMap::Cell describeHead(const json &head) {
  double window = number(head, {"window"});
  std::string length = "w" + shortNumber(window, 0);
  if (double theta = number(head, {"theta"}); !std::isnan(theta))
    return {shortNumber(theta, 2), length,
            "clusters of cosine " + shortNumber(theta, 2) + ", window " +
                shortNumber(window, 0),
            1 - theta, "clusters"};
  if (double share = number(head, {"random"}); !std::isnan(share))
    return {shortNumber(share, 2), length,
            "a random share of " + shortNumber(share, 2) + ", window " +
                shortNumber(window, 0),
            1 - share, "random"};
  if (!std::isnan(window))
    return {length, "", "sinks and a window of " + shortNumber(window, 0), 0.9,
            "window"};
  return {"all", "", "dense", 0, "dense"};
}

/// What the colours of these cells mean, for the kinds that occur.
static std::vector<HeatMap::Key> makeLegend(const HeatMap &map) {
  std::vector<HeatMap::Key> legend;
  for (const HeatMap::Key &key :
       {HeatMap::Key{"dense", "dense: keeps everything"},
        HeatMap::Key{"window", "window: the first tokens and the last w"},
        HeatMap::Key{"clusters",
                     "clusters of the cosine named, and a window w"},
        HeatMap::Key{"random", "a random share, and a window w"}}) {
    auto isOfKind = [&](const HeatMap::Cell &cell) {
      return cell.style == key.style;
    };
    if (std::any_of(map.rows.begin(), map.rows.end(), [&](const auto &row) {
          return std::any_of(row.begin(), row.end(), isOfKind);
        }))
      legend.push_back(key);
  }
  return legend;
}

/// " at N tokens" with the length of the sequences of `runs`, or nothing.
static std::string sayLength(const std::vector<json> &runs) {
  double tokens = runs.empty() ? kNothing : number(runs.front(), {"tokens"});
  return std::isnan(tokens) ? "" : " at " + shortNumber(tokens, 0) + " tokens";
}

/// Measured work takes the place of what the plan only promises.
static void showWork(double work, double clusters, HeatMap::Cell &cell) {
  // What the head keeps goes below: "0.8 w128".
  if (cell.style != "dense")
    cell.more = cell.more.empty() ? cell.text : cell.text + " " + cell.more;
  cell.shade = 1 - work;
  cell.text = shortNumber(100 * work, 0);
  cell.note += ": " + shortNumber(100 * work, 1) + " % of dense work";
  if (std::isfinite(clusters))
    cell.note += ", " + shortNumber(clusters, 0) + " clusters";
}

/// Layers are columns: there are more of them than heads.
std::string plan::drawHeads(const json &plan) {
  std::vector<json> runs = longestRuns(plan);
  HeatMap map;
  bool isMeasured = false;
  size_t layer = 0;
  for (const json &entry : list(find(plan, {"plan"}), "layers")) {
    std::vector<double> work = meanOfHeads(runs, layer, "work_of_heads"),
                        clusters =
                            meanOfHeads(runs, layer, "clusters_of_heads");
    size_t number = 0;
    for (const json &head : list(entry, "heads")) {
      if (map.rows.size() <= number)
        map.rows.resize(number + 1);
      HeatMap::Cell cell = describeHead(head);
      if (number < work.size() && std::isfinite(work[number])) {
        isMeasured = true;
        // A file may count work and not clusters.
        showWork(work[number],
                 number < clusters.size() ? clusters[number] : kNothing, cell);
      }
      // Layers may have different numbers of heads.
      map.rows[number].resize(layer);
      map.rows[number++].push_back(cell);
    }
    ++layer;
  }
  map.title = text(plan, "name") +
              (isMeasured ? ": work of each KV head" + sayLength(runs) +
                                ", % of dense attention"
                          : ": what each KV head keeps");
  map.rowLabel = "head";
  map.columnLabel = "layer";
  map.legend = makeLegend(map);
  map.shadeMeaning = "the darker, the less work";
  return map.rows.empty() ? std::string() : map.draw();
}

/// The mean over runs of `key` in each layer.
static Series drawLine(const json &plan, const char *key) {
  Series series = makeSeries(plan);
  std::vector<json> runs = longestRuns(plan);
  size_t layers = 0;
  for (const json &run : runs)
    layers = std::max(layers, list(run, "layers").size());
  for (size_t layer = 0; layer < layers; ++layer) {
    std::vector<double> values;
    for (const json &run : runs)
      if (layer < list(run, "layers").size())
        values.push_back(number(list(run, "layers")[layer], {key}));
    series.points.emplace_back(static_cast<double>(layer), meanOf(values));
  }
  return series;
}

std::string plan::drawLayers(const json &plans) {
  struct Kind {
    const char *key, *title, *label;
    bool isLogarithmic;
  };
  static constexpr Kind kKinds[] = {
      {"work", "Attention work", "of dense attention", false},
      {"attention_error", "Error of what attention gives", "relative error",
       true},
      {"linear_error", "Error of what linear layers give, the largest",
       "relative error", true},
      {"clusters", "Clusters of a head", "clusters", false},
      {"representatives", "Representatives of a head", "representatives",
       false},
      {"jaccard", "Jaccard index with the layer before", "Jaccard", false},
      {"turnover", "Turnover against the layer before", "turnover", false},
      {"gram", "Gram operations", "rows compared", false},
      {"gates", "Gates that let tokens read more weights", "share of tokens",
       false}};
  std::string html;
  for (const Kind &kind : kKinds) {
    Plot plot{kind.title, {"layer"}, {kind.label, kind.isLogarithmic}, {}};
    for (const json &plan : plans)
      plot.series.push_back(drawLine(plan, kind.key));
    if (hasPoints(plot))
      html += plot.draw();
  }
  return html;
}
