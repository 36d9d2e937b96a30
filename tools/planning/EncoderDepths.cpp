//===- EncoderDepths.cpp - Which layers an encoder needs ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/EncoderDepths.h"

#include "tools/planning/DepthMenu.h"
#include "tools/running/Progress.h"

#include <algorithm>

using namespace gist;
using namespace gist::plan;

Status EncoderDepths::embedAsItIs(std::vector<EncoderText> &pieces) {
  GIST_TRY(model.followNone());
  for (EncoderText &piece : pieces)
    GIST_TRY(runner.session->embed(piece.tokens, piece.dense));
  return {};
}

/// For each piece the number of the one that it is most like.
static std::vector<size_t>
findNearest(const std::vector<const std::vector<float> *> &embeddings) {
  std::vector<size_t> nearest(embeddings.size());
  for (size_t i = 0; i < embeddings.size(); ++i) {
    double least = 0;
    bool isFirst = true;
    for (size_t j = 0; j < embeddings.size(); ++j) {
      if (i == j)
        continue;
      double away = cosineLoss(*embeddings[i], *embeddings[j]);
      if (isFirst || away < least) {
        least = away;
        nearest[i] = j;
      }
      isFirst = false;
    }
  }
  return nearest;
}

Status EncoderDepths::measure(const DepthPlan &plan, const MapSet &maps,
                              const std::vector<EncoderText> &on,
                              KeptEmbeddings &kept) {
  GIST_TRY(model.follow(plan, maps));
  KeptEmbeddings result;
  std::vector<std::vector<float>> found(on.size());
  std::vector<const std::vector<float> *> before, after;
  for (size_t i = 0; i < on.size(); ++i) {
    GIST_TRY(runner.session->embed(on[i].tokens, found[i]));
    EncoderRun &run = result.each.runs.emplace_back();
    run.loss = cosineLoss(found[i], on[i].dense);
    run.work =
        countWork(model, plan, static_cast<int64_t>(on[i].tokens.size()));
    before.push_back(&on[i].dense);
    after.push_back(&found[i]);
  }
  std::vector<size_t> own = findNearest(before), now = findNearest(after);
  size_t same = 0;
  for (size_t i = 0; i < on.size(); ++i)
    same += own[i] == now[i];
  result.sameNearest = static_cast<double>(same) /
                       static_cast<double>(std::max<size_t>(on.size(), 1));
  kept = std::move(result);
  return {};
}

DepthPlan EncoderDepths::planOf(size_t layer, const DepthChoice &choice) const {
  DepthPlan plan = model.none();
  plan.layers[layer] = choice;
  return plan;
}

DepthPlan EncoderDepths::planOf(const std::vector<size_t> &choices,
                                MapSet &maps) const {
  DepthPlan plan = model.none();
  for (size_t i = 0; i < choices.size(); ++i) {
    const Kind &kind = kinds[i][choices[i]];
    plan.layers[i] = kind.depth;
    maps.insert(kind.maps.begin(), kind.maps.end());
  }
  return plan;
}

Status EncoderDepths::measureKinds(std::span<const int64_t> shares,
                                   std::vector<EncoderText> pieces,
                                   const run::Limit &limit) {
  texts = std::move(pieces);
  std::vector<std::pair<size_t, DepthChoice>> list;
  std::vector<DepthPlan> plans;
  size_t count = model.countLayers();
  for (size_t i = 0; i < count; ++i) {
    for (int64_t share : shares)
      // Whole blocks of what kernels read at once.
      if (int64_t neurons = model.outputWeight(i).cols() / share / 64 * 64;
          neurons > 0)
        list.push_back({i, {LayerDepth::Thin, neurons}});
    if (i + 1 < count)
      list.push_back({i, {LayerDepth::Linear, 0}});
  }
  for (const auto &[layer, choice] : list)
    plans.push_back(planOf(layer, choice));
  std::vector<MapSet> maps;
  GIST_TRY(fitter.fitAlone(plans, limit, maps));
  auto length = static_cast<int64_t>(texts.front().tokens.size());
  PlaceOption whole{.work = 1 / static_cast<double>(count),
                    .spends = std::vector<double>(texts.size())};
  kinds.assign(count, {Kind()});
  places.assign(count, {{whole}});
  Progress bar("kinds of layers", list.size(), 0, &limit);
  for (size_t k = 0; k < list.size(); ++k, bar.advance()) {
    const auto &[layer, choice] = list[k];
    KeptEmbeddings kept;
    GIST_TRY(measure(plans[k], maps[k], texts, kept));
    PlaceOption option = whole;
    option.work -= 1 - countWork(model, plans[k], length);
    for (size_t i = 0; i < texts.size(); ++i)
      option.spends[i] = kept.each.runs[i].loss;
    std::fprintf(stderr, "layer %zu %s alone: cosine %.4f, at least %.4f\n",
                 layer, printDepth(choice).c_str(), kept.each.meanCosine(),
                 kept.each.worstCosine());
    places[layer].options.push_back(std::move(option));
    kinds[layer].push_back({choice, std::move(maps[k])});
  }
  return {};
}

Status EncoderDepths::fit(const DepthPlan &plan, const run::Limit &limit,
                          MapSet &maps) {
  std::vector<MapSet> alone;
  GIST_TRY(fitter.fitAlone({plan}, limit, alone));
  maps = std::move(alone.front());
  return fitter.fitTogether(plan, limit, maps);
}

Status EncoderDepths::choose(double allowed, int tries, const run::Limit &limit,
                             DepthPlan &plan, MapSet &maps) {
  std::vector<size_t> best;
  EncoderMeasurement measured;
  // The maps of the best plan so far: the least work that held.
  double least = 1;
  maps.clear();
  GIST_TRY(chooseByCosine(
      places, texts.size(), allowed, tries,
      [&](const std::vector<size_t> &choices, EncoderMeasurement &found) {
        MapSet tried;
        DepthPlan planned = planOf(choices, tried);
        if (planned.isNeeded())
          GIST_TRY(fitter.fitTogether(planned, limit, tried));
        KeptEmbeddings kept;
        GIST_TRY(measure(planned, tried, texts, kept));
        found = std::move(kept.each);
        if (1 - found.worstCosine() <= allowed && found.worstWork() < least) {
          least = found.worstWork();
          maps = std::move(tried);
        }
        return Status();
      },
      best, measured));
  MapSet ignored;
  plan = planOf(best, ignored);
  return {};
}
