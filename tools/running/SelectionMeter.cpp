//===- SelectionMeter.cpp - What a module's selections did ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts selections as the cascade paper does.
//
//===----------------------------------------------------------------------===//

#include "tools/running/SelectionMeter.h"

#include "passes/Plan/File/SelectionCounts.h"
#include "passes/Plan/File/SelectionNames.h"

#include "nlohmann/json.hpp"

#include <cstdio>
#include <sstream>

using namespace gist;
using namespace gist::run;

void SelectionMeter::open(const Module &module) {
  const auto &properties = module.spec().model.properties;
  auto found = properties.find(kSelectionsProperty);
  if (found == properties.end())
    return;
  // One word for each layer: its rule, or "-" for none.
  std::istringstream words(found->second);
  for (std::string word; words >> word;)
    layers.emplace_back().rule = word == "-" ? "" : word;
}

static const std::vector<double> *
find(const std::vector<StatisticValue> &statistics, const char *name) {
  for (const StatisticValue &statistic : statistics)
    if (statistic.name == name)
      return &statistic.values;
  return nullptr;
}

/// A call whose statistics are not of these layers is passed over.
void SelectionMeter::add(const std::vector<StatisticValue> &statistics,
                         int64_t tokens) {
  const auto *counts = find(statistics, "representatives");
  const auto *removed = find(statistics, "removed");
  const auto *added = find(statistics, "added");
  if (layers.empty() || !counts || !removed || !added ||
      counts->size() % layers.size() != 0 || counts->empty() ||
      removed->size() != counts->size() || added->size() != counts->size())
    return;
  ++calls;
  size_t heads = counts->size() / layers.size();
  auto total = static_cast<double>(tokens);
  // The layer before that has a selection, not always the one above it.
  const double *before = nullptr;
  for (size_t n = 0; n < layers.size(); ++n) {
    Layer &layer = layers[n];
    if (layer.rule.empty())
      continue;
    const double *now = counts->data() + n * heads;
    // A selection of all heads together leaves the other places empty.
    double used = 0;
    for (size_t h = 0; h < heads; ++h)
      used += now[h] > 0 ? 1 : 0;
    for (size_t h = 0; h < heads; ++h) {
      if (now[h] == 0)
        continue;
      layer.kept += now[h] / used;
      layer.independent += total * total;
      SelectionCounts change{before ? before[h] : 0, (*removed)[n * heads + h],
                             (*added)[n * heads + h]};
      // See the class for what is counted.
      if (layer.rule == "fresh")
        layer.gram += total * total;
      else if (layer.rule != "inherit")
        layer.gram += total * change.before;
      // Selections of different kinds are not compared.
      if (change.before == 0 ||
          change.before - change.removed + change.added != now[h]) {
        layer.isCompared = false;
        continue;
      }
      layer.jaccard += change.jaccard() / used;
      layer.turnover += change.turnover() / used;
    }
    // Layers without a selection are passed over above and leave it alone.
    before = now;
  }
}

nlohmann::json SelectionMeter::toJson() const {
  double gram = 0, independent = 0;
  for (const Layer &layer : layers) {
    gram += layer.gram / calls;
    independent += layer.independent / calls;
  }
  return {{"gram", gram}, {"gram_independent", independent}};
}

void SelectionMeter::addTo(nlohmann::json &list) const {
  for (size_t n = 0; n < layers.size(); ++n) {
    const Layer &layer = layers[n];
    if (layer.rule.empty())
      continue;
    list[n]["rule"] = layer.rule;
    list[n]["representatives"] = layer.kept / calls;
    list[n]["gram"] = layer.gram / calls;
    if (!layer.isCompared)
      continue;
    list[n]["jaccard"] = layer.jaccard / calls;
    list[n]["turnover"] = layer.turnover / calls;
  }
}

void SelectionMeter::print() const {
  std::printf("selections, means over calls\n");
  std::printf("  %5s  %-8s %15s %8s %8s %12s\n", "layer", "rule",
              "representatives", "Jaccard", "turnover", "Gram");
  double gram = 0, independent = 0;
  for (size_t n = 0; n < layers.size(); ++n) {
    const Layer &layer = layers[n];
    if (layer.rule.empty())
      continue;
    gram += layer.gram;
    independent += layer.independent;
    std::printf("  %5zu  %-8s %15.1f", n, layer.rule.c_str(),
                layer.kept / calls);
    if (layer.isCompared)
      std::printf(" %8.4f %8.4f", layer.jaccard / calls,
                  layer.turnover / calls);
    else
      std::printf(" %8s %8s", "-", "-");
    std::printf(" %12.0f\n", layer.gram / calls);
  }
  std::printf("  Gram operations   %.0f, %.4f of independent selections\n",
              gram / calls, independent > 0 ? gram / independent : 1);
}
