//===- EncoderTexts.cpp - Texts whose embeddings a plan keeps -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/EncoderTexts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace gist;
using namespace gist::plan;

Status plan::cutText(run::Runner &model, const std::string &path,
                     std::string_view content, int64_t tokens, size_t pieces,
                     std::vector<EncoderText> &texts) {
  std::vector<int32_t> ids;
  model.tokenizer.encode(content, ids,
                         {.addSpecial = false, .parseSpecial = false});
  if (ids.empty())
    return Status::error(Code::BadArgument, "%s: the text is empty",
                         path.c_str());
  const TokenizerSpec &spec = model.tokenizer.spec();
  size_t around = spec.prefix.size() + spec.suffix.size();
  auto most = static_cast<size_t>(model.session->maxTokens(kEntryEmbed));
  if (tokens > 0)
    most = std::min(most, static_cast<size_t>(tokens));
  if (most <= around)
    return Status::error(
        Code::BadArgument,
        "--tokens: a piece of %zu tokens has no room for a text", most);
  size_t width = std::min(most - around, ids.size());
  for (size_t i = 0; i < pieces && (i + 1) * width <= ids.size(); ++i) {
    EncoderText text{path, {}, {}};
    text.tokens.assign(spec.prefix.begin(), spec.prefix.end());
    auto begin = ids.begin() + static_cast<ptrdiff_t>(i * width);
    text.tokens.insert(text.tokens.end(), begin,
                       begin + static_cast<ptrdiff_t>(width));
    text.tokens.insert(text.tokens.end(), spec.suffix.begin(),
                       spec.suffix.end());
    texts.push_back(std::move(text));
  }
  return {};
}

static double dot(const std::vector<float> &a, const std::vector<float> &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double plan::cosineLoss(const std::vector<float> &a,
                        const std::vector<float> &b) {
  double norms = std::sqrt(dot(a, a) * dot(b, b));
  return norms > 0 ? 1 - dot(a, b) / norms : 1;
}

double EncoderMeasurement::worstCosine() const {
  double worst = 1;
  for (const EncoderRun &run : runs)
    worst = std::min(worst, 1 - run.loss);
  return worst;
}

double EncoderMeasurement::meanCosine() const {
  double sum = 0;
  for (const EncoderRun &run : runs)
    sum += 1 - run.loss;
  return sum / static_cast<double>(runs.size());
}

double EncoderMeasurement::worstWork() const {
  double worst = 0;
  for (const EncoderRun &run : runs)
    worst = std::max(worst, run.work);
  return worst;
}

Status plan::chooseByCosine(
    const Places &places, size_t texts, double allowed, int steps,
    const std::function<Status(const std::vector<size_t> &choices,
                               EncoderMeasurement &measured)> &measure,
    std::vector<size_t> &best, EncoderMeasurement &measured) {
  // The model as it is keeps every quality.
  best.assign(places.size(), 0);
  GIST_TRY(measure(best, measured));
  // What choices lose together is not the sum of what they lose alone: a
  // bisection finds the factor on the budgets that just holds.
  double low = 0, high = 0, factor = 1;
  std::map<std::vector<size_t>, bool> known; // whether they hold
  for (int step = 0; step < steps; ++step) {
    std::vector<double> budgets(texts, factor * allowed);
    std::vector<size_t> choices = chooseOptions(places, budgets);
    auto [entry, isNew] = known.try_emplace(choices);
    if (isNew) {
      EncoderMeasurement found;
      GIST_TRY(measure(choices, found));
      bool holds = entry->second = 1 - found.worstCosine() <= allowed;
      std::fprintf(stderr, "work %.3f has cosine %.5f%s\n", found.worstWork(),
                   found.worstCosine(), holds ? "" : ": too little");
      if (holds && found.worstWork() < measured.worstWork()) {
        best = choices;
        measured = std::move(found);
      }
    }
    (entry->second ? low : high) = factor;
    factor = high == 0  ? low * 1.6
             : low == 0 ? high / 1.6
                        : std::sqrt(low * high);
  }
  return {};
}
