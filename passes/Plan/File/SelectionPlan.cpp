//===- SelectionPlan.cpp - Where a model works on representatives ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/SelectionPlan.h"
#include "passes/Plan/File/PlanJson.h"

#include <algorithm>

using namespace gist;
using Json = PlanJson;

/// Refuses an object with a member that is not in `names`.
static Status checkNames(const Json &object,
                         std::initializer_list<const char *> names) {
  if (!object.is_object())
    return Status::error(Code::BadFile, "expected an object");
  for (const auto &[name, value] : object.items())
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      std::string known;
      for (const char *each : names)
        known += (known.empty() ? "" : ", ") + std::string(each);
      return Status::error(Code::BadFile, "'%s' is unknown; expected one of %s",
                           name.c_str(), known.c_str());
    }
  return {};
}

/// Reads the optional member `name`, which must be one of `words`.
static Status readWord(const Json &object, const char *name,
                       std::initializer_list<const char *> words,
                       std::string &value) {
  auto found = object.find(name);
  if (found == object.end())
    return {};
  std::string known;
  for (const char *word : words) {
    if (found->is_string() && found->get_ref<const std::string &>() == word) {
      value = word;
      return {};
    }
    known += (known.empty() ? "\"" : "\", \"") + std::string(word);
  }
  return Status::error(Code::BadFile, "expected '%s' to be one of %s\"", name,
                       known.c_str());
}

static Status readBool(const Json &object, const char *name, bool &value) {
  auto found = object.find(name);
  if (found == object.end())
    return {};
  if (!found->is_boolean())
    return Status::error(Code::BadFile, "expected '%s' to be true or false",
                         name);
  value = found->get<bool>();
  return {};
}

static Status readCount(const Json &object, const char *name, int64_t low,
                        std::optional<int64_t> &value) {
  if (!object.contains(name))
    return {};
  return readInteger(object, name, low, kMaxPlanTokens, value.emplace());
}

/// One tau in (0, 1), or a list with zeros for heads that keep everything.
static Status readTaus(const Json &object, std::vector<double> &taus) {
  auto found = object.find("tau");
  if (found == object.end())
    return Status::error(Code::BadFile, "expected a number 'tau'");
  bool isList = found->is_array();
  Json list = isList ? *found : Json::array({*found});
  if (list.empty() || list.size() > kMaxPlanHeads)
    return Status::error(Code::BadFile, "expected a 'tau' for each KV head");
  for (const Json &entry : list) {
    if (!entry.is_number())
      return Status::error(Code::BadFile, "expected 'tau' to be a number");
    double tau = entry.get<double>();
    // A zero for all heads would be a selection that does nothing; leaving it
    // out says that better.
    bool isOff = isList && tau == 0;
    if (!isOff && !(tau > 0 && tau < 1))
      return Status::error(Code::BadFile,
                           "'tau' is %g, expected more than 0 and less than 1",
                           tau);
    taus.push_back(tau);
  }
  return {};
}

/// Reads the optional subspace of a selection, and refuses one without an
/// effect.
static Status readSubspace(const Json &json, SelectionChoice &choice) {
  std::optional<int64_t> k;
  GIST_TRY(readCount(json, "k", 1, k));
  if (!k)
    return {};
  if (choice.on != "normalised")
    return Status::error(
        Code::BadFile, "'k' needs \"on\": \"normalised\": the rows that bases "
                       "are made for");
  bool isCompared =
      choice.isFresh() ? choice.against == "kept" : choice.rule != "inherit";
  if (!isCompared)
    return Status::error(Code::BadFile,
                         "'k' saves nothing where no row is compared, or all "
                         "are");
  choice.k = *k;
  return {};
}

static Status readSelection(const Json &json, SelectionChoice &choice) {
  GIST_TRY(
      checkNames(json, {"on", "tau", "against", "similarity", "rule", "k"}));
  GIST_TRY(readWord(json, "on", {"residual", "normalised", "keys"}, choice.on));
  GIST_TRY(readTaus(json, choice.taus));
  GIST_TRY(readWord(json, "against", {"all", "kept"}, choice.against));
  GIST_TRY(
      readWord(json, "similarity", {"absolute", "signed"}, choice.similarity));
  GIST_TRY(readWord(json, "rule", {"fresh", "covering", "paper", "inherit"},
                    choice.rule));
  if (!choice.isFresh() && json.contains("against"))
    return Status::error(Code::BadFile,
                         "'against' belongs to the rule \"fresh\"");
  if (choice.taus.size() > 1 && choice.on != "keys")
    return Status::error(Code::BadFile,
                         "a 'tau' for each KV head needs \"on\": \"keys\"");
  return readSubspace(json, choice);
}

static Status readAttend(const Json &json, AttendChoice &choice) {
  GIST_TRY(checkNames(json, {"mode", "log_count", "window", "block", "merge"}));
  if (!json.contains("mode"))
    return Status::error(Code::BadFile, "expected a 'mode'");
  GIST_TRY(readWord(json, "mode", {"copy", "keys"}, choice.mode));
  GIST_TRY(readBool(json, "log_count", choice.logCount));
  GIST_TRY(readCount(json, "window", 0, choice.window));
  GIST_TRY(readCount(json, "block", 1, choice.block));
  GIST_TRY(readWord(json, "merge", {"mean", "representative"}, choice.merge));
  bool isCopy = choice.mode == "copy";
  if (isCopy && (choice.window || choice.block || json.contains("merge")))
    return Status::error(Code::BadFile, "'window', 'block' and 'merge' belong "
                                        "to the mode \"keys\"");
  if (!isCopy && json.contains("log_count") && !choice.logCount)
    return Status::error(Code::BadFile,
                         "the mode \"keys\" always counts members");
  return {};
}

static Status readLayer(const Json &json, SelectionLayer &layer) {
  GIST_TRY(checkNames(json, {"selection", "attend"}));
  if (auto found = json.find("selection"); found != json.end())
    GIST_TRY(readSelection(*found, layer.selection.emplace()).in("selection"));
  if (auto found = json.find("attend"); found != json.end())
    GIST_TRY(readAttend(*found, layer.attend.emplace()).in("attend"));
  return {};
}

SelectionPlan gist::makeCalibrationSelections(size_t layers, size_t kvHeads) {
  SelectionLayer layer;
  layer.selection.emplace();
  layer.selection->on = "keys";
  // Zeros keep every token: the module computes what the model computes, until
  // other taus replace them.
  layer.selection->taus.assign(kvHeads, 0);
  layer.selection->similarity = "signed";
  layer.attend.emplace();
  layer.attend->mode = "keys";
  SelectionPlan plan;
  plan.layers.assign(layers, layer);
  return plan;
}

bool gist::hasSelections(const PlanJson &json) {
  auto layers = json.find("layers");
  if (layers == json.end() || !layers->is_array())
    return false;
  return std::any_of(layers->begin(), layers->end(), [](const Json &layer) {
    return layer.is_object() &&
           (layer.contains("selection") || layer.contains("attend"));
  });
}

Status gist::readSelections(const PlanJson &json, SelectionPlan &plan) {
  GIST_TRY(
      checkNames(json, {"gist_plan", "layers", "trace", "bases", "contract"}));
  auto version = json.find("gist_plan");
  if (version == json.end() || *version != kPlanVersion)
    return Status::error(Code::BadFile, "expected 'gist_plan' to be %lld",
                         static_cast<long long>(kPlanVersion));
  SelectionPlan result;
  GIST_TRY(readBool(json, "trace", result.isTraced));
  if (auto bases = json.find("bases"); bases != json.end()) {
    if (!bases->is_string())
      return Status::error(Code::BadFile, "expected a file name as 'bases'");
    result.bases = bases->get<std::string>();
  }
  const PlanJson *layers = nullptr;
  GIST_TRY(findLayers(json, layers));
  for (const Json &layer : *layers) {
    result.layers.emplace_back();
    GIST_TRY(readLayer(layer, result.layers.back())
                 .in("layer " + std::to_string(result.layers.size() - 1)));
    const std::optional<SelectionChoice> &choice =
        result.layers.back().selection;
    if (choice && choice->k > 0 && result.bases.empty())
      return Status::error(
          Code::BadFile,
          "layer %zu has a 'k', but the plan does not name a file 'bases'",
          result.layers.size() - 1);
  }
  plan = std::move(result);
  return {};
}
