//===- LinearPlan.cpp - Where linear layers read less ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/LinearPlan.h"
#include "passes/Plan/File/PlanJson.h"

#include <cinttypes>
#include <cmath>
#include <filesystem>

using namespace gist;
using Json = PlanJson;

/// No model has longer rows. A file with more is damaged, and would allocate a
/// huge basis.
static constexpr int64_t kMaxDimensions = int64_t{1} << 20;
/// The rows of a head are its vocabulary.
static constexpr int64_t kMaxRows = int64_t{1} << 24;
/// In the order of LinearGroup, whose values are the indices.
static constexpr const char *kGroupNames[kNumLinearGroups] = {
    "qkv", "o", "gate_up", "down"};

const char *gist::linearGroupName(LinearGroup group) {
  return kGroupNames[static_cast<size_t>(group)];
}

WeightFormat gist::roundedFormat(int64_t bits) {
  switch (bits) {
  case 2:
    return WeightFormat::Q2_1;
  case 3:
    return WeightFormat::Q3_1;
  case 4:
    return WeightFormat::Q4_1;
  default:
    return WeightFormat::Q8_0;
  }
}

bool LinearPlan::isNeeded() const {
  if (!head.isDense())
    return true;
  for (const LayerLinears &layer : layers)
    for (const LinearChoice &choice : layer)
      if (!choice.isDense())
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads an optional integer from 0 to `most`.
static Status readCount(const Json &object, const char *name, int64_t most,
                        int64_t &value) {
  return object.contains(name) ? readInteger(object, name, 0, most, value)
                               : Status();
}

/// Thresholds are norms of residuals relative to their rows, from 0 to 1.
static Status readGate(const Json &json, LinearChoice &choice) {
  if (json.contains("epsilon")) {
    choice.epsilon = 0;
    GIST_TRY(readNumber(json, "epsilon", 0, 1, *choice.epsilon));
    if (choice.k == 0)
      return Status::error(Code::BadFile, "a gate needs a subspace: 'k'");
  }
  if (!json.contains("epsilon_low"))
    return {};
  if (!choice.epsilon || choice.bits == 0)
    return Status::error(Code::BadFile,
                         "'epsilon_low' needs 'bits' and 'epsilon'");
  GIST_TRY(readNumber(json, "epsilon_low", 0, 1, choice.epsilonLow));
  if (choice.epsilonLow >= *choice.epsilon)
    return Status::error(Code::BadFile,
                         "'epsilon_low' is %g, expected less than 'epsilon'",
                         choice.epsilonLow);
  return {};
}

static Status readRounding(const Json &json, LinearChoice &choice) {
  auto found = json.find("rounding");
  if (found == json.end())
    return {};
  if (choice.bits == 0)
    return Status::error(Code::BadFile, "'rounding' needs 'bits'");
  std::string name = found->is_string() ? found->get<std::string>() : "";
  if (name != "nearest" && name != "compensated")
    return Status::error(
        Code::BadFile, "expected \"nearest\" or \"compensated\" as 'rounding'");
  choice.isCompensated = name == "compensated";
  return {};
}

static Status readChoice(const Json &json, LinearChoice &choice) {
  if (json.is_string() && json.get_ref<const std::string &>() == "dense")
    return {};
  if (!json.is_object())
    return Status::error(Code::BadFile, "expected \"dense\" or an object");
  // Unknown names are refused: a misspelt one would silently give a plan with
  // less effect than intended.
  for (const auto &[name, value] : json.items())
    if (name != "bits" && name != "rounding" && name != "k" &&
        name != "epsilon" && name != "epsilon_low" && name != "exact_rows" &&
        name != "exact_bits")
      return Status::error(Code::BadFile,
                           "%s is unknown; linear layers have bits, rounding, "
                           "k, epsilon and epsilon_low, a head exact_rows "
                           "and exact_bits",
                           inQuotes(name).c_str());
  GIST_TRY(readCount(json, "bits", 8, choice.bits));
  if (json.contains("bits") && choice.bits != 2 && choice.bits != 3 &&
      choice.bits != 4 && choice.bits != 8)
    return Status::error(Code::BadFile,
                         "'bits' is %" PRId64 ", expected 2, 3, 4 or 8",
                         choice.bits);
  GIST_TRY(readCount(json, "exact_rows", kMaxRows, choice.exactRows));
  if (choice.exactRows > 0 && choice.bits == 0)
    return Status::error(Code::BadFile, "'exact_rows' needs 'bits'");
  GIST_TRY(readCount(json, "exact_bits", 8, choice.exactBits));
  if (json.contains("exact_bits") &&
      (choice.exactBits != 8 || choice.exactRows == 0))
    return Status::error(Code::BadFile,
                         "'exact_bits' needs 'exact_rows', and must be 8");
  GIST_TRY(readCount(json, "k", kMaxDimensions, choice.k));
  GIST_TRY(readRounding(json, choice));
  GIST_TRY(readGate(json, choice));
  // A subspace beside a weight that is read whole would change nothing.
  if (choice.k > 0 && choice.bits == 0 && !choice.epsilon)
    return Status::error(Code::BadFile, "'k' needs 'bits', 'epsilon' or both");
  return {};
}

static Status readLayer(const Json &json, LayerLinears &layer) {
  auto linears = json.is_object() ? json.find("linears") : json.end();
  if (linears == json.end())
    return {};
  if (!linears->is_object())
    return Status::error(Code::BadFile, "expected an object 'linears'");
  for (const auto &[name, value] : linears->items()) {
    const auto *found =
        std::find(std::begin(kGroupNames), std::end(kGroupNames), name);
    if (found == std::end(kGroupNames))
      return Status::error(Code::BadFile,
                           "%s is unknown; linear layers are qkv, o, gate_up "
                           "and down",
                           inQuotes(name).c_str());
    LinearChoice &choice = layer[found - kGroupNames];
    GIST_TRY(readChoice(value, choice).in(name));
    if (choice.exactRows > 0)
      return Status::error(Code::BadFile,
                           "%s: only the head may have 'exact_rows'",
                           name.c_str());
  }
  return {};
}

Status gist::readLinears(const PlanJson &json, LinearPlan &plan) {
  LinearPlan result;
  if (auto bases = json.find("bases"); bases != json.end()) {
    if (!bases->is_string())
      return Status::error(Code::BadFile, "expected a file name as 'bases'");
    result.bases = bases->get<std::string>();
  }
  if (auto head = json.find("head"); head != json.end()) {
    GIST_TRY(readChoice(*head, result.head).in("head"));
    if (result.head.k > 0)
      return Status::error(
          Code::BadFile, "head: only 'bits' are supported, without a subspace");
  }
  auto layers = json.find("layers");
  if (layers != json.end() && layers->is_array())
    for (const Json &layer : *layers) {
      result.layers.emplace_back();
      GIST_TRY(readLayer(layer, result.layers.back())
                   .in("layer " + std::to_string(result.layers.size() - 1)));
    }
  plan = std::move(result);
  return {};
}

Status gist::parseLinearPlan(std::string_view text, const std::string &folder,
                             LinearPlan &plan) {
  PlanJson json;
  LinearPlan result;
  GIST_TRY(parsePlanJson(text, json));
  GIST_TRY(readLinears(json, result));
  if (!result.bases.empty())
    result.bases = (std::filesystem::path(folder) / result.bases).string();
  plan = std::move(result);
  return {};
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Json gist::toJson(const LinearChoice &choice) {
  if (choice.isDense())
    return "dense";
  Json json = Json::object();
  if (choice.bits != 0)
    json["bits"] = choice.bits;
  if (choice.isCompensated)
    json["rounding"] = "compensated";
  if (choice.exactRows != 0)
    json["exact_rows"] = choice.exactRows;
  if (choice.exactBits != 0)
    json["exact_bits"] = choice.exactBits;
  if (choice.k != 0)
    json["k"] = choice.k;
  if (choice.epsilon) {
    if (choice.bits != 0)
      json["epsilon_low"] = choice.epsilonLow;
    json["epsilon"] = *choice.epsilon;
  }
  return json;
}

Json gist::toJson(const LayerLinears &layer) {
  Json linears = Json::object();
  for (size_t group = 0; group < kNumLinearGroups; ++group)
    if (!layer[group].isDense())
      linears[kGroupNames[group]] = toJson(layer[group]);
  return linears;
}
