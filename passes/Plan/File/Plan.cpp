//===- Plan.cpp - Where a model does less work ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/Plan.h"
#include "passes/Plan/File/PlanFile.h"
#include "passes/Plan/File/PlanJson.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

using namespace gist;
using Json = PlanJson;

bool Plan::isDense(size_t layer) const {
  return std::all_of(
      layers[layer].begin(), layers[layer].end(),
      [](const HeadChoice &head) { return head.kind == HeadKind::Dense; });
}

bool Plan::isDense() const {
  for (size_t layer = 0; layer < layers.size(); ++layer)
    if (!isDense(layer))
      return false;
  return true;
}

Plan gist::makeCalibrationPlan(size_t layers, size_t kvHeads) {
  // A window that no token leaves. Clusters and not a dense head: the module
  // needs the code and the memory of the most general kind, so that any other
  // table fits.
  HeadChoice head{.kind = HeadKind::Clusters,
                  .window = kMaxPlanTokens,
                  .theta = 0.5,
                  .room = 1};
  Plan plan;
  plan.layers.assign(layers, std::vector<HeadChoice>(kvHeads, head));
  return plan;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads a share above 0 and at most 1.
static Status readShare(const Json &object, const char *name, double &value) {
  double share = 0;
  GIST_TRY(readNumber(object, name, 0, 1, share));
  if (share == 0)
    return Status::error(Code::BadFile,
                         "'%s' is 0; expected more than 0 and at most 1", name);
  value = share;
  return {};
}

static Status readHead(const Json &json, HeadChoice &head) {
  if (json.is_string()) {
    if (json.get_ref<const std::string &>() != "dense")
      return Status::error(Code::BadFile,
                           "expected \"dense\" or an object, got \"%s\"",
                           json.get_ref<const std::string &>().c_str());
    head = {};
    return {};
  }
  if (!json.is_object())
    return Status::error(Code::BadFile, "expected \"dense\" or an object");
  for (const auto &[name, value] : json.items())
    if (name != "window" && name != "sinks" && name != "theta" &&
        name != "room" && name != "random")
      return Status::error(Code::BadFile,
                           "'%s' is unknown; a head has window and sinks, or "
                           "window, theta and room, or window and random",
                           name.c_str());
  GIST_TRY(readInteger(json, "window", 0, kMaxPlanTokens, head.window));
  bool isWindow = json.contains("sinks"), isRandom = json.contains("random");
  // The member decides the kind of head, so exactly one must be present.
  if (isWindow + isRandom + json.contains("theta") != 1)
    return Status::error(
        Code::BadFile,
        "expected one of 'sinks', 'theta' and 'random' beside 'window'");
  if (isWindow) {
    head.kind = HeadKind::Window;
    return readInteger(json, "sinks", 0, kMaxPlanTokens, head.sinks);
  }
  if (isRandom) {
    head.kind = HeadKind::Random;
    return readShare(json, "random", head.room);
  }
  head.kind = HeadKind::Clusters;
  GIST_TRY(readShare(json, "theta", head.theta));
  if (head.theta >= 1)
    return Status::error(Code::BadFile, "'theta' is 1; expected less than 1");
  return readShare(json, "room", head.room);
}

static Status readLayer(const Json &json, std::vector<HeadChoice> &heads) {
  auto list = json.is_object() ? json.find("heads") : json.end();
  // A plan may be about linear layers or depths alone.
  if (json.is_object() && list == json.end() &&
      (json.contains("linears") || json.contains("depth")))
    return {};
  if (!json.is_object() || list == json.end() || !list->is_array() ||
      list->empty() || list->size() > kMaxPlanHeads)
    return Status::error(Code::BadFile, "expected an object with 'heads'");
  for (const Json &entry : *list) {
    heads.emplace_back();
    GIST_TRY(readHead(entry, heads.back())
                 .in("head " + std::to_string(heads.size() - 1)));
  }
  return {};
}

Status gist::parseHead(std::string_view text, HeadChoice &head) {
  Json json;
  GIST_TRY(parseJson(text, json));
  HeadChoice result;
  GIST_TRY(readHead(json, result));
  head = result;
  return {};
}

Status gist::readHeads(const PlanJson &json, Plan &plan) {
  int64_t version = 0;
  GIST_TRY(readInteger(json, "gist_plan", kPlanVersion, kPlanVersion, version));
  Plan result;
  GIST_TRY(readInteger(json, "block", 1, kMaxPlanTokens, result.block));
  const PlanJson *layers = nullptr;
  GIST_TRY(findLayers(json, layers));
  for (const Json &layer : *layers) {
    result.layers.emplace_back();
    GIST_TRY(readLayer(layer, result.layers.back())
                 .in("layer " + std::to_string(result.layers.size() - 1)));
    if (result.layers.back().size() != result.layers.front().size())
      return Status::error(
          Code::BadFile, "layer %zu has %zu heads, but layer 0 has %zu",
          result.layers.size() - 1, result.layers.back().size(),
          result.layers.front().size());
  }
  plan = std::move(result);
  return {};
}

Status gist::parsePlan(std::string_view text, Plan &plan) {
  PlanJson json;
  GIST_TRY(parsePlanJson(text, json));
  return readHeads(json, plan);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Json gist::toJson(const HeadChoice &head) {
  switch (head.kind) {
  case HeadKind::Dense:
    return "dense";
  case HeadKind::Window:
    return {{"window", head.window}, {"sinks", head.sinks}};
  case HeadKind::Random:
    return {{"window", head.window}, {"random", head.room}};
  case HeadKind::Clusters:
    break;
  }
  return {{"window", head.window}, {"theta", head.theta}, {"room", head.room}};
}

std::string gist::printHead(const HeadChoice &head) {
  return toJson(head).dump();
}

std::string gist::printPlan(const Plan &plan, const std::string &contract) {
  return printPlanFile(plan, {}, {}, contract);
}

/// A line for each member, and for each row of a list.
static std::string printContract(const Json &contract) {
  std::string text = "{";
  for (const auto &[name, value] : contract.items()) {
    text +=
        (text.size() == 1 ? "\n    " : ",\n    ") + Json(name).dump() + ": ";
    if (!value.is_array()) {
      text += value.dump();
      continue;
    }
    for (size_t i = 0; i < value.size(); ++i)
      text += (i == 0 ? "[\n      " : ",\n      ") + value[i].dump();
    text += value.empty() ? "[]" : "\n    ]";
  }
  return text + "\n  }";
}

std::string gist::printPlanFile(const Plan &heads, const DepthPlan &depths,
                                const LinearPlan &linears,
                                const std::string &contract) {
  std::string text = "{\n  \"gist_plan\": " + std::to_string(kPlanVersion) +
                     ",\n  \"block\": " + std::to_string(heads.block);
  if (depths.isNeeded())
    text += ",\n  \"depth\": " + printDepth(depths);
  if (!linears.bases.empty())
    text += ",\n  \"bases\": " + Json(linears.bases).dump();
  if (!linears.head.isDense())
    text += ",\n  \"head\": " + toJson(linears.head).dump();
  if (Json json; !contract.empty() && parseJson(contract, json).ok())
    text += ",\n  \"contract\": " + printContract(json);
  text += ",\n  \"layers\": [";
  // A line for each layer: what a person compares.
  size_t layers = std::max(
      {heads.layers.size(), depths.layers.size(), linears.layers.size()});
  for (size_t i = 0; i < layers; ++i) {
    Json layer = Json::object();
    if (depths.isNeeded())
      layer["depth"] = toJson(depths.layers[i]);
    for (size_t head = 0;
         i < heads.layers.size() && head < heads.layers[i].size(); ++head)
      layer["heads"].push_back(toJson(heads.layers[i][head]));
    if (i < linears.layers.size())
      layer["linears"] = toJson(linears.layers[i]);
    text += (i == 0 ? "\n    " : ",\n    ") + layer.dump();
  }
  return text + "\n  ]\n}\n";
}

static Json toJson(const SelectionLayer &layer) {
  Json json = Json::object();
  if (const auto &selection = layer.selection)
    json["selection"] = {{"on", selection->on},
                         {"tau", selection->taus},
                         {"against", selection->against},
                         {"similarity", selection->similarity}};
  if (const auto &attend = layer.attend)
    json["attend"] = {{"mode", attend->mode}, {"merge", attend->merge}};
  return json;
}

std::string gist::printPlanFile(const SelectionPlan &selections,
                                const std::string &contract) {
  std::string text = "{\n  \"gist_plan\": " + std::to_string(kPlanVersion);
  if (Json json; !contract.empty() && parseJson(contract, json).ok())
    text += ",\n  \"contract\": " + printContract(json);
  text += ",\n  \"layers\": [";
  for (size_t i = 0; i < selections.layers.size(); ++i)
    text +=
        (i == 0 ? "\n    " : ",\n    ") + ::toJson(selections.layers[i]).dump();
  return text + "\n  ]\n}\n";
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

/// Rows that a head keeps exactly, and clusters that it may have.
static std::pair<int64_t, int64_t>
countRows(const Plan &plan, const HeadChoice &head, int64_t context) {
  // The window is at most the context. The ring has one more block, because
  // tokens leave the window a block at a time and are needed until then.
  int64_t ring = std::min(head.window, context) + plan.block;
  switch (head.kind) {
  case HeadKind::Dense:
    return {context, 0};
  case HeadKind::Window:
    return {ring, head.sinks};
  case HeadKind::Clusters:
  case HeadKind::Random:
    break;
  }
  return {ring, static_cast<int64_t>(
                    std::ceil(head.room * static_cast<double>(context)))};
}

/// Appends the row of a head whose rows and clusters are at `place`.
static void addHead(const HeadChoice &head, HeadPlace place, int64_t context,
                    std::vector<float> &table) {
  place.window =
      head.kind == HeadKind::Dense ? -1 : std::min(head.window, context);
  // -1 marks a head that is not a window: the table has no column for the kind.
  place.sinks = head.kind == HeadKind::Window ? head.sinks : -1;
  place.theta =
      head.kind == HeadKind::Random ? randomTheta(head.room) : head.theta;
  appendPlace(place, table);
}

Status gist::layOutCache(const Plan &plan, int64_t context,
                         CacheLayout &layout) {
  CacheLayout result;
  for (size_t layer = 0; layer < plan.layers.size(); ++layer)
    for (const HeadChoice &head : plan.layers[layer]) {
      auto [ring, clusters] = countRows(plan, head, context);
      // Such a layer uses the model's cache, and has no rows here.
      if (plan.isDense(layer))
        ring = 0;
      addHead(head,
              {.ringRow = result.rows,
               .ringRows = ring,
               .meanRow = result.rows + ring,
               .unit = result.units,
               .capacity = clusters},
              context, result.table);
      result.rows += ring + clusters;
      result.units += clusters;
    }
  // The table holds row numbers as f32, which is exact up to here.
  if (result.rows > kMaxPlanTokens)
    return Status::error(Code::Unsupported,
                         "the plan's cache has %" PRId64
                         " rows for a context of %" PRId64 "; at most %" PRId64
                         " can be numbered",
                         result.rows, context, kMaxPlanTokens);
  result.units = std::max<int64_t>(result.units, 1);
  layout = std::move(result);
  return {};
}

bool gist::isOwnWindow(const HeadPlace &place) {
  return place.window >= 0 && place.sinks == 0 && place.capacity == 0;
}

Status gist::fitPlan(const Plan &plan, std::span<const float> table,
                     int64_t context, std::vector<float> &result) {
  std::vector<float> fitted;
  for (size_t layer = 0; layer < plan.layers.size(); ++layer)
    for (size_t i = 0; i < plan.layers[layer].size(); ++i) {
      size_t number = fitted.size() / kNumHeadFields;
      if ((number + 1) * kNumHeadFields > table.size())
        return Status::error(Code::BadArgument,
                             "the plan has more heads than the module");
      HeadPlace place = readPlace(table, number);
      // A plan cannot change a window of the model's own.
      if (isOwnWindow(place)) {
        appendPlace(place, fitted);
        continue;
      }
      auto [ring, clusters] = countRows(plan, plan.layers[layer][i], context);
      if (ring > place.ringRows || clusters > place.capacity)
        return Status::error(
            Code::BadArgument,
            "layer %zu: head %zu: needs %" PRId64 " rows and %" PRId64
            " clusters, but the module has room for %" PRId64 " and %" PRId64,
            layer, i, ring, clusters, place.ringRows, place.capacity);
      // The rows stay where the module laid them out; the plan uses as many of
      // them as it needs.
      place.ringRows = ring;
      place.capacity = clusters;
      addHead(plan.layers[layer][i], place, context, fitted);
    }
  if (fitted.size() != table.size())
    return Status::error(Code::BadArgument,
                         "the plan has fewer heads than the module");
  result = std::move(fitted);
  return {};
}
