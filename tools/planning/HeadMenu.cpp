//===- HeadMenu.cpp - What heads may do, and what it costs ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/HeadMenu.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace gist;
using namespace gist::plan;

Status HeadMenu::check(const std::string &model) const {
  if (calibration.layers != static_cast<size_t>(module.shape.layers) ||
      calibration.kvHeads != static_cast<size_t>(module.shape.kvHeads) ||
      // Windows move by blocks, so that measurements at another block are of
      // other heads.
      calibration.block != module.block || calibration.model != model)
    return Status::error(
        Code::BadArgument,
        "the calibration is of another model: %s, %zu layers with %zu KV heads "
        "and blocks of %lld; the module is %s, %lld layers with %lld KV heads "
        "and blocks of %lld",
        calibration.model.c_str(), calibration.layers, calibration.kvHeads,
        static_cast<long long>(calibration.block), model.c_str(),
        static_cast<long long>(module.shape.layers),
        static_cast<long long>(module.shape.kvHeads),
        static_cast<long long>(module.block));
  if (calibration.texts.empty() || calibration.runs.empty())
    return Status::error(Code::BadArgument,
                         "the calibration has no measurements");
  return {};
}

bool HeadMenu::isAllowed(const HeadChoice &choice) const {
  switch (options.kinds) {
  case HeadKinds::All:
    return true;
  case HeadKinds::Windows:
    return choice.kind == HeadKind::Window;
  case HeadKinds::Representatives:
    return choice.kind == HeadKind::Clusters;
  }
  return false;
}

/// What a head does in a sequence of `tokens`, the mean over texts. Between and
/// beyond checkpoints work is a power of the length.
HeadPart HeadMenu::workAt(const std::vector<HeadRun> &runs, HeadKind kind,
                          int64_t tokens) const {
  std::vector<int64_t> checkpoints = calibration.checkpoints();
  size_t high = 1;
  while (high + 1 < checkpoints.size() && checkpoints[high] < tokens)
    ++high;
  double step = std::log2(static_cast<double>(checkpoints[high]) /
                          static_cast<double>(checkpoints[high - 1]));
  double beyond = std::log2(static_cast<double>(tokens) /
                            static_cast<double>(checkpoints[high]));
  auto count = static_cast<double>(runs.size());
  // Two points of a power law are a line between logarithms.
  auto extend = [&](auto of, double *exponent) {
    double below = 0, above = 0;
    for (const HeadRun &run : runs) {
      below += of(run.work[high - 1]);
      above += of(run.work[high]);
    }
    double power = below > 0 ? std::log2(above / below) / step : 0;
    if (exponent)
      *exponent = power;
    return above / count * std::exp2(power * beyond);
  };
  HeadPart part{kind, {}, 0};
  double exponent = 1;
  part.work.keys =
      extend([](const HeadWork &work) { return work.keys; }, &exponent);
  part.work.compared =
      extend([](const HeadWork &work) { return work.compared; }, nullptr);
  part.work.absorbed =
      extend([](const HeadWork &work) { return work.absorbed; }, nullptr);
  // The next token sees as many keys as the sum grows by.
  part.rows = exponent * part.work.keys / static_cast<double>(tokens);
  return part;
}

/// The loss of one head alone in a term, never negative: gains by chance are
/// not spent. Half of it is the loss on the mean text, which is known better
/// than that of a single text.
double HeadMenu::spend(const std::vector<HeadRun> &runs,
                       const Term &term) const {
  std::vector<int64_t> checkpoints = calibration.checkpoints();
  size_t last =
      0; // The longest measured prefix that is not longer than the term.
  while (last + 2 < checkpoints.size() && checkpoints[last + 1] <= term.tokens)
    ++last;
  auto loss = [&](size_t text) {
    // Answers are found in what was read long before, as second copies are.
    MeanLoss found = term.kind != TermKind::Perplexity
                         ? calibration.secondCopyLoss(runs[text], text)
                         : calibration.firstCopyLoss(runs[text], text, last);
    return std::max(found.estimate(), options.caution * found.divergence);
  };
  double sum = 0;
  for (size_t text = 0; text < runs.size(); ++text)
    sum += loss(text);
  double mean = sum / static_cast<double>(runs.size());
  // Other texts are taken to lose as much as those of the calibration.
  return !options.hasOtherTexts && term.kind != TermKind::Tasks
             ? (loss(term.text) + mean) / 2
             : mean;
}

/// What a head takes, by the state of its layer.
static std::vector<double> costsOf(const HeadPart &part, const JobTime &time) {
  std::vector<double> costs(kLayerStates,
                            std::numeric_limits<double>::infinity());
  for (bool isPlanned : {false, true})
    for (bool hasAttention : {false, true})
      if (isPlanned || part.kind == HeadKind::Dense)
        costs[layerState(isPlanned, hasAttention)] =
            time.ofAnswer(part, isPlanned) +
            (hasAttention ? time.ofPrompt(part, isPlanned) : 0);
  return costs;
}

Places HeadMenu::makePlaces(const Contract &terms, const JobTime &time) {
  Places places;
  choicesOf.clear();
  int64_t tokens = time.job().prompt;
  HeadPart dense{HeadKind::Dense, denseWork(tokens),
                 static_cast<double>(tokens)};
  for (size_t layer = 0; layer < calibration.layers; ++layer)
    for (size_t head = 0; head < calibration.kvHeads; ++head) {
      Place place;
      std::vector<HeadChoice> choices;
      auto add = [&](const HeadChoice &choice, std::vector<double> spends,
                     std::vector<double> costs) {
        place.options.push_back(
            {.spends = std::move(spends), .inner = std::move(costs)});
        choices.push_back(choice);
      };
      bool isChosen = module.isChosen(layer * calibration.kvHeads + head);
      add({}, std::vector<double>(terms.terms().size()),
          isChosen ? costsOf(dense, time)
                   : std::vector<double>(kLayerStates, 0.0));
      size_t planned = layerState(true, true);
      double whole = place.options.front().inner[planned];
      for (size_t i = 0; i < calibration.candidates.size(); ++i) {
        const HeadChoice &candidate = calibration.candidates[i];
        auto found = calibration.runs.find({layer, head, i});
        if (found == calibration.runs.end() || !isAllowed(candidate))
          continue;
        std::vector<double> costs =
            costsOf(workAt(found->second, candidate.kind, tokens), time);
        // Options that do not save time are left out.
        if (costs[planned] >= whole)
          continue;
        std::vector<double> spends;
        for (const Term &term : terms.terms())
          spends.push_back(spend(found->second, term));
        add(candidate, std::move(spends), std::move(costs));
      }
      places.push_back(std::move(place));
      choicesOf.push_back(std::move(choices));
    }
  return places;
}

Plan HeadMenu::makePlan(std::span<const size_t> choices) const {
  Plan plan;
  plan.block = calibration.block;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (i % calibration.kvHeads == 0)
      plan.layers.emplace_back();
    plan.layers.back().push_back(choicesOf[i][choices[i]]);
  }
  return plan;
}

Status HeadMenu::findChoices(const Plan &plan,
                             std::vector<size_t> &choices) const {
  if (plan.block != calibration.block)
    return Status::error(Code::BadArgument,
                         "--start: the plan has blocks of %lld tokens, the "
                         "calibration of %lld",
                         static_cast<long long>(plan.block),
                         static_cast<long long>(calibration.block));
  choices.assign(choicesOf.size(), 0);
  for (size_t i = 0; i < choices.size(); ++i) {
    size_t layer = layerOf(i), number = i % calibration.kvHeads;
    if (layer >= plan.layers.size() || number >= plan.layers[layer].size())
      return Status::error(Code::BadArgument,
                           "--start: the plan has no head %zu in layer %zu",
                           number, layer);
    HeadChoice wanted = plan.layers[layer][number];
    auto found =
        std::ranges::find_if(choicesOf[i], [&](const HeadChoice &choice) {
          HeadChoice other = choice;
          other.room = wanted.room;
          return other == wanted;
        });
    if (found == choicesOf[i].end())
      return Status::error(Code::BadArgument,
                           "--start: head %zu of layer %zu does what the "
                           "calibration has not measured: %s",
                           number, layer, printHead(wanted).c_str());
    choices[i] = static_cast<size_t>(found - choicesOf[i].begin());
  }
  return {};
}
