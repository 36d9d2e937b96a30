//===- AdaptTaus.cpp - gist-plan adapt-taus -------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan adapt-taus`: gives each layer of a plan of selections a threshold
// of its own. Tau grows where a set changes less from one layer to the next
// than --turnover allows, and falls where it changes more. How much it changes
// comes from evaluations of the plan, or from a calibration.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/AtomicFile.h"
#include "runtime/support/Json.h"
#include "tools/gist-plan/Commands.h"
#include "tools/planning/AdaptiveTau.h"
#include "tools/planning/Calibration.h"
#include "tools/running/Options.h"

#include "nlohmann/json.hpp"

#include <cmath>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

namespace {
/// Either evaluations or a calibration tells how much sets change.
struct Options {
  std::string plan, output;
  std::vector<std::string> evaluations;
  std::string calibration;
  TauRule rule;
};
} // namespace

/// The order of the fields is kept, so that the plan that is written looks like
/// the one that was read.
static Status readJson(const std::string &path, Json &json) {
  std::string text;
  GIST_TRY(run::readText(path, text));
  return parseJsonObject(text, json).in(path);
}

/// Adds what one run of `gist-run eval --json` counted, layers x heads.
/// Several runs add up, so that a layer's change is that of all texts.
static Status addCounts(const Json &evaluation, size_t layers,
                        std::vector<std::vector<SelectionCounts>> &counts) {
  auto find = [&](const char *name, std::vector<double> &values) -> Status {
    auto statistics = evaluation.find("statistics");
    if (statistics == evaluation.end() || !statistics->contains(name) ||
        !statistics->at(name).is_array())
      return Status::error(Code::BadFile,
                           "the evaluation has no statistic '%s'; expected one "
                           "of a module with selections",
                           name);
    for (const Json &value : statistics->at(name)) {
      if (!value.is_number())
        return Status::error(Code::BadFile, "'%s' is not a list of numbers",
                             name);
      values.push_back(value.get<double>());
    }
    return {};
  };
  std::vector<double> kept, removed, added;
  GIST_TRY(find("representatives", kept));
  GIST_TRY(find("removed", removed));
  GIST_TRY(find("added", added));
  size_t heads = kept.size() / layers;
  if (heads == 0 || kept.size() != heads * layers ||
      removed.size() != kept.size() || added.size() != kept.size())
    return Status::error(Code::BadFile,
                         "the evaluation is of a model with another number of "
                         "layers than the plan's %zu",
                         layers);
  counts.resize(layers, std::vector<SelectionCounts>(heads));
  if (counts.front().size() != heads)
    return Status::error(
        Code::BadFile,
        "the evaluation is of a module with another number of heads");
  // From the second layer on: the first has nothing before it.
  for (size_t i = heads; i < kept.size(); ++i) {
    SelectionCounts &sum = counts[i / heads][i % heads];
    sum.before += kept[i - heads];
    sum.removed += removed[i];
    sum.added += added[i];
  }
  return {};
}

/// A word of a selection, or its default.
static std::string getWord(const Json &selection, const char *name,
                           const char *otherwise) {
  auto word = selection.find(name);
  return word != selection.end() && word->is_string() ? word->get<std::string>()
                                                      : otherwise;
}

/// What a layer's selection would change by its calibration, for each head: as
/// counts of a set of one.
/// A turnover of 0.3 is a set of one of which 0.3 went: adaptTau asks for the
/// ratio only.
static Status countCalibrated(const Json &layer, size_t number,
                              const Calibration &calibration,
                              std::vector<SelectionCounts> &counts) {
  // Without counts adaptTau leaves tau as it is.
  counts.assign(1, {});
  auto selection = layer.find("selection");
  if (selection == layer.end() || !selection->is_object() ||
      !selection->contains("tau"))
    return {};
  std::string rule = getWord(*selection, "rule", "fresh");
  SelectionKind kind{getWord(*selection, "on", "residual"),
                     rule == "paper" ? "all"
                                     : getWord(*selection, "against", "kept"),
                     getWord(*selection, "similarity", "absolute")};
  const SelectionCurves &curves = calibration.selections;
  if (!curves.curves.contains({kind, number, 0}))
    return Status::error(Code::BadFile,
                         "the calibration does not know selections on '%s' "
                         "against '%s' by '%s' similarity",
                         kind.on.c_str(), kind.against.c_str(),
                         kind.similarity.c_str());
  // A set that is passed on follows no tau.
  if (rule == "inherit")
    return {};
  const Json &tau = selection->at("tau");
  // Only keys are selected head by head; other rows have all heads in one.
  counts.assign(kind.on == "keys" ? calibration.kvHeads : 1, {});
  for (size_t head = 0; head < counts.size(); ++head) {
    // One number stands for all heads.
    const Json *one = tau.is_array() && head < tau.size() ? &tau[head] : &tau;
    std::optional<double> turnover =
        one->is_number()
            ? curves.turnoverAt({kind, number, head}, one->get<double>())
            : std::nullopt;
    if (turnover)
      counts[head] = {1, *turnover, 0};
  }
  return {};
}

/// Four digits are more than the measurement is worth.
static double rounded(double tau) { return std::round(tau * 1e4) / 1e4; }

/// Layers without a selection stay as they are.
static Status adaptLayer(Json &layer, const TauRule &rule,
                         const std::vector<SelectionCounts> &counts) {
  auto selection = layer.find("selection");
  if (selection == layer.end() || !selection->is_object() ||
      !selection->contains("tau"))
    return {};
  Json &tau = selection->at("tau");
  if (tau.is_array()) {
    if (tau.size() != counts.size())
      return Status::error(
          Code::BadFile, "the plan has %zu taus, but the module has %zu heads",
          tau.size(), counts.size());
    for (size_t head = 0; head < tau.size(); ++head)
      if (tau[head].is_number())
        tau[head] =
            rounded(adaptTau(tau[head].get<double>(), counts[head], rule));
    return {};
  }
  if (!tau.is_number())
    return Status::error(Code::BadFile, "expected a number 'tau'");
  // A tau for all heads follows what all heads did.
  SelectionCounts all;
  for (const SelectionCounts &head : counts) {
    all.before += head.before;
    all.removed += head.removed;
    all.added += head.added;
  }
  tau = rounded(adaptTau(tau.get<double>(), all, rule));
  return {};
}

static Status
readCalibrated(const std::string &path, const Json &layers,
               std::vector<std::vector<SelectionCounts>> &counts) {
  Calibration calibration;
  GIST_TRY(readCalibration(path, calibration));
  if (calibration.selections.windows == 0)
    return Status::error(
        Code::BadFile,
        "%s: the calibration has no part about selections; run 'gist-plan "
        "calibrate' with a module that was compiled with --observe",
        path.c_str());
  if (calibration.layers != layers.size())
    return Status::error(Code::BadFile,
                         "%s: the calibration is of a model with %zu layers, "
                         "but the plan has %zu",
                         path.c_str(), calibration.layers, layers.size());
  counts.resize(layers.size());
  for (size_t i = 0; i < layers.size(); ++i)
    if (layers[i].is_object())
      GIST_TRY(countCalibrated(layers[i], i, calibration, counts[i])
                   .in(path + ": layer " + std::to_string(i)));
  return {};
}

/// Only taus change; everything else of the plan is written as it was read.
static Status runAdapt(const Options &options) {
  GIST_TRY(checkWritable(options.output));
  Json plan;
  GIST_TRY(readJson(options.plan, plan));
  auto layers = plan.find("layers");
  if (layers == plan.end() || !layers->is_array() || layers->empty())
    return Status::error(Code::BadFile, "%s: expected a list 'layers'",
                         options.plan.c_str());
  std::vector<std::vector<SelectionCounts>> counts;
  for (const std::string &path : options.evaluations) {
    Json evaluation;
    GIST_TRY(readJson(path, evaluation));
    GIST_TRY(addCounts(evaluation, layers->size(), counts).in(path));
  }
  if (!options.calibration.empty())
    GIST_TRY(readCalibrated(options.calibration, *layers, counts));
  for (size_t i = 0; i < layers->size(); ++i)
    if (layers->at(i).is_object())
      GIST_TRY(adaptLayer(layers->at(i), options.rule, counts[i])
                   .in(options.plan + ": layer " + std::to_string(i)));
  // One line for each layer, for readability.
  std::string text = "{";
  for (const auto &[name, value] : plan.items())
    if (name != "layers")
      text += Json(name).dump() + ": " + value.dump() + ", ";
  text += "\"layers\": [";
  for (size_t i = 0; i < layers->size(); ++i)
    text += (i ? ",\n  " : "\n  ") + layers->at(i).dump();
  text += "]}\n";
  return writeWhole(options.output, text);
}

void plan::addAdaptTaus(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "adapt-taus", "Give each layer of a plan of selections a tau of its own, "
                    "by how much its selection changed");
  command->add_option("plan", options->plan, "Plan of selections")
      ->required()
      ->type_name("PLAN");
  command
      ->add_option("-e,--evaluation", options->evaluations,
                   "What 'gist-run eval --json' printed for a module with this "
                   "plan; may be given several times")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command
      ->add_option("-c,--calibration", options->calibration,
                   "What 'gist-plan calibrate' wrote, in place of evaluations")
      ->excludes("--evaluation")
      ->type_name("FILE");
  command
      ->add_option("--turnover", options->rule.target,
                   "Share of a set that may change from layer to layer: where "
                   "less does, tau grows")
      ->check(CLI::Range(0.001, 2.0))
      ->capture_default_str();
  command
      ->add_option("--strength", options->rule.strength,
                   "How far tau follows: its exponent")
      ->check(CLI::Range(0.0, 2.0))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "The plan to write")
      ->required()
      ->type_name("FILE");
  command->footer("Example: gist-plan adapt-taus plan.json -e eval.json "
                  "--turnover 0.1 -o adapted.json");
  command->callback([options, &action] {
    if (options->evaluations.empty() && options->calibration.empty())
      throw CLI::RequiredError("--evaluation or --calibration");
    action = [options] { return runAdapt(*options); };
  });
}
