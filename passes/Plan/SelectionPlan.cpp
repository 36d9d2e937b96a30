//===- SelectionPlan.cpp - Where a model works on representatives ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/SelectionPlan.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace gist;
using Json = nlohmann::ordered_json;

static constexpr int64_t kVersion = 1;
/// Bounds that no sensible plan reaches; they keep arithmetic in range.
static constexpr int64_t kMaxTokens = int64_t{1} << 24;
static constexpr size_t kMaxLayers = 4096, kMaxHeads = 4096;

/// Refuses an object with a member that is none of `names`.
static Status checkNames(const Json &object,
                         std::initializer_list<const char *> names) {
  if (!object.is_object())
    return Status::error(Code::BadFile, "expected an object");
  for (const auto &[name, value] : object.items())
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      std::string known;
      for (const char *each : names)
        known += (known.empty() ? "" : ", ") + std::string(each);
      return Status::error(Code::BadFile, "'%s' is unknown; there are %s",
                           name.c_str(), known.c_str());
    }
  return {};
}

/// Reads the word `name`, if it is there, which is one of the enum's.
template <typename Enum>
static Status
readWord(const Json &object, const char *name,
         std::initializer_list<std::pair<const char *, Enum>> words,
         Enum &value) {
  auto found = object.find(name);
  if (found == object.end())
    return {};
  std::string known;
  for (const auto &[word, each] : words) {
    if (found->is_string() && found->get_ref<const std::string &>() == word) {
      value = each;
      return {};
    }
    known += (known.empty() ? "\"" : "\", \"") + std::string(word);
  }
  return Status::error(Code::BadFile, "'%s' is none of %s\"", name,
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
  auto found = object.find(name);
  if (found == object.end())
    return {};
  if (!found->is_number_integer() || found->get<int64_t>() < low ||
      found->get<int64_t>() > kMaxTokens)
    return Status::error(
        Code::BadFile, "expected '%s' to be an integer from %lld to %lld", name,
        static_cast<long long>(low), static_cast<long long>(kMaxTokens));
  value = found->get<int64_t>();
  return {};
}

/// One tau in (0, 1), or a list with zeros for heads that keep everything.
static Status readTaus(const Json &object, std::vector<double> &taus) {
  auto found = object.find("tau");
  if (found == object.end())
    return Status::error(Code::BadFile, "expected a number 'tau'");
  bool isList = found->is_array();
  Json list = isList ? *found : Json::array({*found});
  if (list.empty() || list.size() > kMaxHeads)
    return Status::error(Code::BadFile, "expected a 'tau' for each KV head");
  for (const Json &entry : list) {
    if (!entry.is_number())
      return Status::error(Code::BadFile, "expected 'tau' to be a number");
    double tau = entry.get<double>();
    bool isOff = isList && tau == 0;
    if (!isOff && !(tau > 0 && tau < 1))
      return Status::error(Code::BadFile,
                           "'tau' is %g, expected more than 0 and less than 1",
                           tau);
    taus.push_back(tau);
  }
  return {};
}

/// The subspace of a selection, where it has one that is of use.
static Status readSubspace(const Json &json, SelectionChoice &choice) {
  std::optional<int64_t> k;
  GIST_TRY(readCount(json, "k", 1, k));
  if (!k)
    return {};
  if (choice.on != SelectOn::Normalised)
    return Status::error(
        Code::BadFile, "'k' needs \"on\": \"normalised\": the rows that bases "
                       "are made for");
  bool isCompared = choice.rule ? *choice.rule != CascadeRule::Inherit
                                : choice.against == Against::Kept;
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
  GIST_TRY(readWord(json, "on",
                    {std::pair("residual", SelectOn::Residual),
                     std::pair("normalised", SelectOn::Normalised),
                     std::pair("keys", SelectOn::Keys)},
                    choice.on));
  GIST_TRY(readTaus(json, choice.taus));
  GIST_TRY(readWord(
      json, "against",
      {std::pair("all", Against::All), std::pair("kept", Against::Kept)},
      choice.against));
  GIST_TRY(readWord(json, "similarity",
                    {std::pair("absolute", Similarity::Absolute),
                     std::pair("signed", Similarity::Signed)},
                    choice.similarity));
  enum class Rule { Fresh, Covering, Paper, Inherit } rule = Rule::Fresh;
  GIST_TRY(readWord(
      json, "rule",
      {std::pair("fresh", Rule::Fresh), std::pair("covering", Rule::Covering),
       std::pair("paper", Rule::Paper), std::pair("inherit", Rule::Inherit)},
      rule));
  if (rule == Rule::Covering)
    choice.rule = CascadeRule::Covering;
  else if (rule == Rule::Paper)
    choice.rule = CascadeRule::Paper;
  else if (rule == Rule::Inherit)
    choice.rule = CascadeRule::Inherit;
  if (choice.rule && json.contains("against"))
    return Status::error(Code::BadFile,
                         "'against' belongs to the rule \"fresh\"");
  if (choice.taus.size() > 1 && choice.on != SelectOn::Keys)
    return Status::error(Code::BadFile,
                         "a 'tau' for each KV head needs \"on\": \"keys\"");
  return readSubspace(json, choice);
}

static Status readAttend(const Json &json, AttendChoice &choice) {
  GIST_TRY(checkNames(json, {"mode", "log_count", "window", "block", "merge"}));
  if (!json.contains("mode"))
    return Status::error(Code::BadFile, "expected a 'mode'");
  GIST_TRY(readWord(json, "mode",
                    {std::pair("copy", AttendMode::Copy),
                     std::pair("keys", AttendMode::Keys)},
                    choice.mode));
  GIST_TRY(readBool(json, "log_count", choice.logCount));
  GIST_TRY(readCount(json, "window", 0, choice.window));
  GIST_TRY(readCount(json, "block", 1, choice.block));
  GIST_TRY(readWord(json, "merge",
                    {std::pair("mean", Merge::Mean),
                     std::pair("representative", Merge::Representative)},
                    choice.merge));
  bool isCopy = choice.mode == AttendMode::Copy;
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
  layer.selection->on = SelectOn::Keys;
  layer.selection->taus.assign(kvHeads, 0);
  layer.selection->similarity = Similarity::Signed;
  layer.attend.emplace();
  layer.attend->mode = AttendMode::Keys;
  SelectionPlan plan;
  plan.layers.assign(layers, layer);
  return plan;
}

bool gist::isSelectionPlan(std::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr,
                          /*allow_exceptions=*/false);
  auto layers = json.is_object() ? json.find("layers") : json.end();
  if (!json.is_object() || layers == json.end() || !layers->is_array())
    return false;
  return std::any_of(layers->begin(), layers->end(), [](const Json &layer) {
    return layer.is_object() &&
           (layer.contains("selection") || layer.contains("attend"));
  });
}

Status gist::parseSelectionPlan(std::string_view text, SelectionPlan &plan) {
  Json json = Json::parse(text.begin(), text.end(), nullptr,
                          /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object())
    return Status::error(Code::BadFile, "a plan is a JSON object");
  GIST_TRY(
      checkNames(json, {"gist_plan", "layers", "trace", "bases", "contract"}));
  auto version = json.find("gist_plan");
  if (version == json.end() || *version != kVersion)
    return Status::error(Code::BadFile, "expected 'gist_plan' to be %lld",
                         static_cast<long long>(kVersion));
  SelectionPlan result;
  GIST_TRY(readBool(json, "trace", result.isTraced));
  if (auto bases = json.find("bases"); bases != json.end()) {
    if (!bases->is_string())
      return Status::error(Code::BadFile, "expected a file name as 'bases'");
    result.bases = bases->get<std::string>();
  }
  auto layers = json.find("layers");
  if (layers == json.end() || !layers->is_array() || layers->empty() ||
      layers->size() > kMaxLayers)
    return Status::error(Code::BadFile, "expected a list 'layers'");
  for (const Json &layer : *layers) {
    result.layers.emplace_back();
    GIST_TRY(readLayer(layer, result.layers.back())
                 .in("layer " + std::to_string(result.layers.size() - 1)));
    const std::optional<SelectionChoice> &choice =
        result.layers.back().selection;
    if (choice && choice->k > 0 && result.bases.empty())
      return Status::error(Code::BadFile,
                           "layer %zu has a 'k', and the plan no file 'bases'",
                           result.layers.size() - 1);
  }
  plan = std::move(result);
  return {};
}

Status gist::readPlanText(const std::string &path, std::string &text) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf()))
    return Status::error(Code::NotFound, "%s: cannot be read", path.c_str());
  text = content.str();
  return {};
}

Status gist::readSelectionPlan(const std::string &path, SelectionPlan &plan) {
  std::string text;
  GIST_TRY(readPlanText(path, text));
  SelectionPlan result;
  GIST_TRY(parseSelectionPlan(text, result).in(path));
  if (!result.bases.empty())
    result.bases =
        (std::filesystem::path(path).parent_path() / result.bases).string();
  plan = std::move(result);
  return {};
}

std::string gist::printRules(const SelectionPlan &plan) {
  std::string text;
  for (const SelectionLayer &layer : plan.layers) {
    if (!text.empty())
      text += ' ';
    if (!layer.selection)
      text += '-';
    else if (!layer.selection->rule)
      text += "fresh";
    else
      text += stringifyCascadeRule(*layer.selection->rule).str();
  }
  return text;
}

std::string gist::getTausWeight(int64_t layer) {
  return "plan." + std::to_string(layer) + ".taus";
}

std::string gist::getBasisWeight(int64_t layer) {
  return "plan." + std::to_string(layer) + ".basis";
}
