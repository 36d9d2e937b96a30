//===- Accounting.cpp - What a module with a plan did ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Accounting.h"

#include "nlohmann/json.hpp"

#include <cstdio>
#include <numeric>

using namespace gist;
using namespace gist::run;

void Accounting::listen(ModelOptions &model) {
  model.statistics = true;
  model.afterCall = [this](const Session &session, int64_t before,
                           int64_t tokens) {
    for (const StatisticValue &value : session.statistics())
      if (meter && value.name == kClustersStatistic) {
        meter->add(before, tokens, value.values);
        clusters = value.values;
      }
  };
}

Status Accounting::open(const Runner &runner) {
  if (!isPlanned(*runner.module))
    return {};
  PlannedModule found;
  GIST_TRY(readPlannedModule(*runner.module, found));
  cacheBytes = runner.session->memoryUse().state;
  meter.emplace(found.shape, found.block, found.table);
  planned = std::move(found);
  return {};
}

double Accounting::take() {
  if (!meter)
    return 1;
  double relative = meter->relative();
  meter->reset();
  return relative;
}

double Accounting::cacheShare() const {
  return static_cast<double>(cacheBytes) /
         static_cast<double>(planned.denseBytes());
}

std::span<const double> Accounting::clustersOf(int64_t layer) const {
  auto heads = static_cast<size_t>(planned.shape.kvHeads);
  return std::span(clusters).subspan(static_cast<size_t>(layer) * heads, heads);
}

nlohmann::json Accounting::toJson(double windows,
                                  std::optional<double> recall) const {
  nlohmann::json json = {{"attention", windows},
                         {"cache", cacheShare()},
                         {"cache_bytes", cacheBytes},
                         {"dense_cache_bytes", planned.denseBytes()}};
  if (recall)
    json["recall_attention"] = *recall;
  return json;
}

nlohmann::json Accounting::layersToJson() const {
  nlohmann::json list = nlohmann::json::array();
  for (int64_t layer = 0; layer < planned.shape.layers; ++layer) {
    std::span<const double> heads = clustersOf(layer);
    double sum = std::accumulate(heads.begin(), heads.end(), 0.0);
    list.push_back({{"clusters", sum / static_cast<double>(heads.size())},
                    {"clusters_of_heads", heads}});
  }
  return list;
}

void Accounting::print(double windows, std::optional<double> recall) const {
  std::printf("attention work, of dense causal attention\n");
  std::printf("  windows           %.4f\n", windows);
  if (recall)
    std::printf("  both copies       %.4f\n", *recall);
  std::printf("KV cache            %s, %.4f of dense\n",
              sizeText(cacheBytes).c_str(), cacheShare());
  std::printf("clusters of heads, layer by layer\n");
  for (int64_t layer = 0; layer < planned.shape.layers; ++layer) {
    std::printf("  %3lld ", static_cast<long long>(layer));
    for (double count : clustersOf(layer))
      std::printf(" %6.0f", count);
    std::printf("\n");
  }
}
