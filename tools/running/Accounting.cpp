//===- Accounting.cpp - What a module with a plan did ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work of a plan's attention, counted from the clusters that the module reports
// after each call.
//
//===----------------------------------------------------------------------===//

#include "tools/running/Accounting.h"

#include "nlohmann/json.hpp"

#include <cstdio>
#include <numeric>

using namespace gist;
using namespace gist::run;

void Accounting::listen(ModelOptions &model) {
  model.statistics = true;
  model.afterCall = [this](const Session &session, int64_t before,
                           int64_t tokens) {
    // The number of clusters tells how many keys each head has compared. A
    // module without the statistic is not counted.
    for (const StatisticValue &value : session.statistics())
      if (meter && value.name == kClustersStatistic) {
        meter->add(before, tokens, value.values);
        clusters = value.values;
      }
  };
}

/// Only a module with a plan of clusters has a meter.
Status Accounting::open(const Runner &runner) {
  if (!isPlanned(*runner.module))
    return {};
  PlannedModule found;
  GIST_TRY(readPlannedModule(*runner.module, found));
  // All state of the session, not the rows of keys and values alone.
  cacheBytes = runner.session->memoryUse().state;
  meter.emplace(found.shape, found.block, found.table);
  planned = std::move(found);
  return {};
}

AttentionWork Accounting::take() {
  if (!meter)
    return {};
  AttentionWork work{meter->multiplyAdds(), meter->denseMultiplyAdds(),
                     meter->heads(), clusters};
  // The next part counts from zero.
  meter->reset();
  return work;
}

double Accounting::cacheShare() const {
  return static_cast<double>(cacheBytes) /
         static_cast<double>(planned.denseBytes());
}

nlohmann::json
Accounting::toJson(const AttentionWork &windows,
                   const std::optional<AttentionWork> &recall) const {
  nlohmann::json json = {
      {"attention", windows.relative()},
      {"attention_multiply_adds", windows.multiplyAdds},
      {"dense_attention_multiply_adds", windows.denseMultiplyAdds},
      {"kv_heads", planned.shape.kvHeads},
      {"query_heads", planned.shape.queryHeads},
      {"cache", cacheShare()},
      {"cache_bytes", cacheBytes},
      {"dense_cache_bytes", planned.denseBytes()}};
  if (recall)
    json["recall_attention"] = recall->relative();
  return json;
}

void Accounting::addTo(const AttentionWork &work,
                       nlohmann::json &layers) const {
  auto heads = static_cast<size_t>(planned.shape.kvHeads);
  // Dense work is the same for all heads.
  double dense =
      work.denseMultiplyAdds / static_cast<double>(planned.shape.heads());
  for (size_t layer = 0; layer * heads < work.heads.size(); ++layer) {
    std::vector<double> found, shares;
    double compared = 0;
    for (size_t i = layer * heads; i < (layer + 1) * heads; ++i) {
      found.push_back(work.clusters[i]);
      shares.push_back(countMultiplyAdds(work.heads[i], planned.shape) / dense);
      compared += work.heads[i].compared;
    }
    auto mean = [](const std::vector<double> &values) {
      return std::accumulate(values.begin(), values.end(), 0.0) /
             static_cast<double>(values.size());
    };
    layers[layer]["clusters"] = mean(found);
    layers[layer]["clusters_of_heads"] = found;
    layers[layer]["work"] = mean(shares);
    layers[layer]["work_of_heads"] = shares;
    layers[layer]["gram"] = compared;
  }
}

void Accounting::print(const AttentionWork &windows,
                       const std::optional<AttentionWork> &recall) const {
  std::printf("attention work, of dense causal attention\n");
  std::printf("  windows           %.4f\n", windows.relative());
  if (recall)
    std::printf("  both copies       %.4f\n", recall->relative());
  std::printf("KV cache            %s, %.4f of dense\n",
              sizeText(cacheBytes).c_str(), cacheShare());
  std::printf("clusters of heads, layer by layer\n");
  auto heads = static_cast<size_t>(planned.shape.kvHeads);
  for (size_t i = 0; i < clusters.size(); ++i) {
    if (i % heads == 0)
      std::printf("%s  %3zu ", i == 0 ? "" : "\n", i / heads);
    std::printf(" %6.0f", clusters[i]);
  }
  std::printf("\n");
}
