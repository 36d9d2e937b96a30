//===- EncoderPlanner.cpp - The least work that keeps embeddings ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/EncoderPlanner.h"

#include "tools/running/Progress.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace gist;
using namespace gist::plan;

double plan::encoderWork(double kept, double tokens) {
  // A representative is compared with those before it, and another token with
  // at most all of them.
  double compared = kept * (kept - 1) / 2 + (tokens - kept) * kept;
  // Of dense attention, which has two products of tokens x tokens.
  return (2 * tokens * kept + compared) / (2 * tokens * tokens);
}

//===----------------------------------------------------------------------===//
// Trying taus
//===----------------------------------------------------------------------===//

Status EncoderProber::open(const run::ModelOptions &given) {
  run::ModelOptions chosen = given;
  chosen.statistics = true;
  GIST_TRY(runner.openWithTokenizer(chosen));
  if (!runner.session->hasEntry(kEntryEmbed))
    return Status::error(
        Code::BadArgument,
        "%s: the module has no entry '%s'; expected an encoder of texts",
        given.path.c_str(), kEntryEmbed);
  const ModuleSpec &spec = runner.module->spec();
  for (size_t layer = 0;; ++layer) {
    std::string name = "plan." + std::to_string(layer) + ".taus";
    auto found =
        std::find_if(spec.weights.begin(), spec.weights.end(),
                     [&](const WeightSpec &each) { return each.name == name; });
    if (found == spec.weights.end())
      break;
    if (found->shape.size() != 1 || found->size % sizeof(float) != 0)
      return Status::error(Code::BadFile, "%s: '%s' is not a list of taus",
                           given.path.c_str(), name.c_str());
    numHeads = found->size / sizeof(float);
    weights.push_back(name);
  }
  if (weights.empty())
    return Status::error(Code::BadArgument,
                         "%s: the module has no taus to choose: compile the "
                         "model with gist-compile --plan=calibration",
                         given.path.c_str());
  return {};
}

Status EncoderProber::embed(std::span<const double> taus,
                            const std::vector<int32_t> &tokens,
                            std::vector<float> &result) {
  for (size_t layer = 0; layer < weights.size(); ++layer) {
    auto part = taus.subspan(layer * numHeads, numHeads);
    std::vector<float> values(part.begin(), part.end());
    GIST_TRY(runner.session->setWeight(
        weights[layer], {reinterpret_cast<const uint8_t *>(values.data()),
                         values.size() * sizeof(float)}));
  }
  return runner.session->embed(tokens, result);
}

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

Status EncoderProber::addText(const std::string &path, int64_t tokens,
                              size_t pieces, std::vector<EncoderText> &texts) {
  std::string content;
  GIST_TRY(run::readText(path, content));
  size_t first = texts.size();
  GIST_TRY(cutText(runner, path, content, tokens, pieces, texts));
  // Taus of 0 keep everything: the same module is its own reference.
  std::vector<double> dense(layers() * heads());
  for (size_t i = first; i < texts.size(); ++i)
    GIST_TRY(embed(dense, texts[i].tokens, texts[i].dense));
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

Status EncoderProber::run(std::span<const double> taus, const EncoderText &text,
                          EncoderRun &result) {
  std::vector<float> found;
  GIST_TRY(embed(taus, text.tokens, found));
  result = {};
  result.loss = cosineLoss(found, text.dense);
  for (const StatisticValue &value : runner.session->statistics())
    if (value.name == "representatives")
      result.kept = value.values;
  if (result.kept.size() != taus.size())
    return Status::error(Code::BadFile, "the module does not say how many "
                                        "representatives its heads have");
  auto tokens = static_cast<double>(text.tokens.size());
  for (size_t i = 0; i < taus.size(); ++i)
    result.work += taus[i] == 0 ? 1 : encoderWork(result.kept[i], tokens);
  result.work /= static_cast<double>(taus.size());
  return {};
}

//===----------------------------------------------------------------------===//
// Choosing them
//===----------------------------------------------------------------------===//

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

Status EncoderPlanner::measure(std::span<const double> taus,
                               const std::vector<EncoderText> &on,
                               EncoderMeasurement &measured) {
  measured.runs.resize(on.size());
  for (size_t i = 0; i < on.size(); ++i)
    GIST_TRY(prober.run(taus, on[i], measured.runs[i]));
  return {};
}

/// Every head alone, the others dense.
Status EncoderPlanner::measureHeads() {
  size_t count = prober.layers() * prober.heads();
  PlaceOption dense{.work = 1, .spends = std::vector<double>(texts.size())};
  places.assign(count, {{dense}});
  tausOfChoices.assign(count, {0});
  Progress progress("measurements", count * options.taus.size());
  for (size_t head = 0; head < count; ++head)
    for (double tau : options.taus) {
      std::vector<double> taus(count);
      taus[head] = tau;
      EncoderMeasurement measured;
      GIST_TRY(measure(taus, texts, measured));
      PlaceOption option;
      for (size_t i = 0; i < texts.size(); ++i) {
        const EncoderRun &run = measured.runs[i];
        auto tokens = static_cast<double>(texts[i].tokens.size());
        // The worst text, as the promise is about every text.
        option.work =
            std::max(option.work, encoderWork(run.kept[head], tokens));
        option.spends.push_back(run.loss);
      }
      // Options that do not save work are left out.
      if (option.work < 1) {
        places[head].options.push_back(std::move(option));
        tausOfChoices[head].push_back(tau);
      }
      progress.advance();
    }
  return {};
}

std::vector<double>
EncoderPlanner::tausOf(const std::vector<size_t> &choices) const {
  std::vector<double> taus;
  for (size_t i = 0; i < choices.size(); ++i)
    taus.push_back(tausOfChoices[i][choices[i]]);
  return taus;
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

Status EncoderPlanner::solve(std::vector<double> &best,
                             EncoderMeasurement &measured) {
  GIST_TRY(measureHeads());
  constexpr int kSteps = 12;
  std::vector<size_t> choices;
  GIST_TRY(chooseByCosine(
      places, texts.size(), (1 - options.quality) * options.margin, kSteps,
      [&](const std::vector<size_t> &tried, EncoderMeasurement &found) {
        return measure(tausOf(tried), texts, found);
      },
      choices, measured));
  best = tausOf(choices);
  return {};
}
