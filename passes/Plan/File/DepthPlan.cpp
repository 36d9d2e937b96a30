//===- DepthPlan.cpp - Layers that a prompt does not walk through ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/DepthPlan.h"
#include "passes/Plan/File/PlanJson.h"
#include "runtime/format/Devices.h"
#include "runtime/support/Hash.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

using namespace gist;
using Json = PlanJson;

bool DepthPlan::isNeeded() const {
  return std::any_of(layers.begin(), layers.end(), [](const DepthChoice &one) {
    return one.kind != LayerDepth::Full;
  });
}

DepthPlan DepthPlan::partFor(bool allTokens) const {
  DepthPlan part = *this;
  for (DepthChoice &choice : part.layers) {
    bool isForAll = !hasBulk || (thinForAll && choice.kind == LayerDepth::Thin);
    if (isForAll != allTokens)
      choice = {};
  }
  return part;
}

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

static const char *nameOf(LayerDepth kind) {
  switch (kind) {
  case LayerDepth::Full:
    return "full";
  case LayerDepth::Thin:
    return "thin";
  case LayerDepth::Linear:
    return "linear";
  case LayerDepth::Tail:
    return "tail";
  case LayerDepth::Any:
    break;
  }
  return "any";
}

static Status readChoice(const Json &json, DepthChoice &choice) {
  std::string word = json.is_string() ? json.get<std::string>() : "";
  for (LayerDepth kind : {LayerDepth::Full, LayerDepth::Linear,
                          LayerDepth::Tail, LayerDepth::Any})
    if (word == nameOf(kind)) {
      choice.kind = kind;
      return {};
    }
  if (!json.is_object() || json.size() != 1 || !json.contains("thin"))
    return Status::error(Code::BadFile,
                         "'depth' is %s; expected \"full\", \"linear\", "
                         "\"tail\" or {\"thin\": neurons}",
                         describeJson(json).c_str());
  choice.kind = LayerDepth::Thin;
  return readInteger(json, "thin", 1, kMaxPlanTokens, choice.neurons);
}

static Status readLeast(const Json &json, DepthPlan &plan) {
  auto least = json.find("least");
  if (least == json.end())
    return {};
  if (!least->is_object())
    return Status::error(Code::BadFile,
                         "'least' is %s; expected an object with a number of "
                         "tokens for each device",
                         describeJson(*least).c_str());
  for (const auto &[device, tokens] : least->items()) {
    if (!targetOfDevice(device))
      return Status::error(Code::BadFile,
                           "'least' has a number for '%s'; expected cpu, hip "
                           "or cuda",
                           device.c_str());
    GIST_TRY(readInteger(*least, device.c_str(), 1, kMaxPlanTokens,
                         plan.least[device])
                 .in("least"));
  }
  return {};
}

/// Which tokens the depths of `plan` are for.
static Status readTokens(const Json &json, DepthPlan &plan) {
  plan.hasBulk = json.contains("first") || json.contains("last");
  if (plan.hasBulk) {
    GIST_TRY(readInteger(json, "first", 0, kMaxPlanTokens, plan.first));
    GIST_TRY(readInteger(json, "last", 0, kMaxPlanTokens, plan.last));
    GIST_TRY(readLeast(json, plan));
  }
  auto all = json.find("thin_for_all");
  if (all != json.end() && !all->is_boolean())
    return Status::error(Code::BadFile,
                         "'thin_for_all' is %s; expected true or false",
                         describeJson(*all).c_str());
  plan.thinForAll = all != json.end() && all->get<bool>();
  if (plan.thinForAll && !plan.hasBulk)
    return Status::error(Code::BadFile,
                         "'thin_for_all' stands alone; expected it beside "
                         "first and last, without which all layers are for "
                         "all tokens");
  if (!plan.hasBulk && plan.layers.back().kind == LayerDepth::Tail)
    return Status::error(Code::BadFile,
                         "a tail is for the bulk of a prompt; expected first "
                         "and last, or a plan without a tail");
  return {};
}

Status gist::readDepths(const PlanJson &json, DepthPlan &plan) {
  DepthPlan result;
  const PlanJson *layers = nullptr;
  GIST_TRY(findLayers(json, layers));
  for (const Json &layer : *layers) {
    DepthChoice &choice = result.layers.emplace_back();
    std::string where = "layer " + std::to_string(result.layers.size() - 1);
    if (auto depth = layer.is_object() ? layer.find("depth") : layer.end();
        depth != layer.end())
      GIST_TRY(readChoice(*depth, choice).in(where));
    size_t count = result.layers.size();
    if (count > 1 && result.layers[count - 2].kind == LayerDepth::Tail &&
        choice.kind != LayerDepth::Tail)
      return Status::error(Code::BadFile,
                           "%s stands behind a layer of the tail; expected "
                           "\"tail\" as its depth",
                           where.c_str());
  }
  auto depth = json.find("depth");
  if (!result.isNeeded() && depth == json.end()) {
    plan = std::move(result);
    return {};
  }
  if (depth == json.end() || !depth->is_object())
    return Status::error(Code::BadFile,
                         "expected an object 'depth' with first, last and "
                         "maps, because layers have depths");
  GIST_TRY(readTokens(*depth, result).in("depth"));
  GIST_TRY(readText(*depth, "maps", result.maps).in("depth"));
  plan = std::move(result);
  return {};
}

std::string gist::printDepth(const DepthPlan &plan) {
  Json json = Json::object();
  if (plan.hasBulk)
    json = {{"first", plan.first}, {"last", plan.last}};
  if (plan.thinForAll)
    json["thin_for_all"] = true;
  if (!plan.least.empty())
    json["least"] = plan.least;
  json["maps"] = plan.maps;
  return json.dump();
}

Json gist::toJson(const DepthChoice &choice) {
  return choice.kind == LayerDepth::Thin ? Json{{"thin", choice.neurons}}
                                         : Json(nameOf(choice.kind));
}

std::string gist::printDepth(const DepthChoice &choice) {
  return toJson(choice).dump();
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

std::string gist::streamName(int64_t layer) {
  return "stream." + std::to_string(layer);
}
std::string gist::sumName(int64_t layer) {
  return std::to_string(layer) + ".sum";
}
std::string gist::linearMapName(int64_t layer) {
  return std::to_string(layer) + ".linear";
}
std::string gist::thinMapName(int64_t layer) {
  return std::to_string(layer) + ".thin";
}
std::string gist::thinRowsName(int64_t layer) {
  return thinMapName(layer) + ".rows";
}
std::string gist::tailMapName(const std::string &weight) {
  return weight + ".tail";
}
std::string gist::biasName(const std::string &map) { return map + ".bias"; }
std::string gist::gateName(int64_t layer) {
  return std::to_string(layer) + ".gate";
}
std::string gist::gateName(const std::string &tailMap) {
  return tailMap + ".gate";
}

DepthPlan gist::makeOpenDepths(int64_t layers) {
  DepthPlan plan;
  plan.layers.assign(static_cast<size_t>(layers), {LayerDepth::Any, 0});
  return plan;
}

Status DepthMaps::open(const std::string &path, DepthMaps &maps) {
  DepthMaps result;
  result.path = path;
  GIST_TRY(MappedFile::open(path, result.file).in(path));
  GIST_TRY(readSafetensors(result.file->bytes(), result.tensors).in(path));
  maps = std::move(result);
  return {};
}

Status DepthMaps::find(const std::string &name,
                       const std::vector<int64_t> &shape,
                       std::vector<float> &values) const {
  auto found = tensors.tensors.find(name);
  if (found == tensors.tensors.end())
    return Status::error(Code::NotFound,
                         "%s: there is no tensor %s; fit the plan again "
                         "(gist-plan depths)",
                         path.c_str(), inQuotes(name).c_str());
  const StoredTensor &tensor = found->second;
  if (tensor.shape != shape)
    return Status::error(Code::BadFile, "%s: %s is %s, expected %s",
                         path.c_str(), inQuotes(name).c_str(),
                         shapeText(tensor.shape).c_str(),
                         shapeText(shape).c_str());
  std::vector<float> all(static_cast<size_t>(tensor.numElements()));
  dequantize(tensor.format, tensor.content, all.data());
  if (!std::all_of(all.begin(), all.end(),
                   [](float value) { return std::isfinite(value); }))
    return Status::error(Code::BadFile,
                         "%s: %s has numbers that are not finite", path.c_str(),
                         inQuotes(name).c_str());
  values = std::move(all);
  return {};
}

uint64_t gist::hashOfModel(const WeightMap &model) {
  Hasher hasher;
  auto add = [&](const void *data, size_t size) {
    hasher.update({static_cast<const uint8_t *>(data), size});
  };
  for (const auto &[name, weight] : model.entries) {
    // Tables that import makes depend on the context.
    if (weight.file.empty())
      continue;
    add(name.data(), name.size());
    add(weight.shape.data(), weight.shape.size() * sizeof(int64_t));
    add(weight.content.data, std::min<uint64_t>(weight.content.size, 4096));
  }
  return hasher.finish();
}

std::vector<float> gist::wordsOfHash(uint64_t hash) {
  std::vector<float> words;
  for (int shift = 0; shift < 64; shift += 16)
    words.push_back(static_cast<float>(hash >> shift & 0xffff));
  return words;
}

Status DepthMaps::checkModel(uint64_t hash) const {
  std::vector<float> fitted;
  GIST_TRY(find(kModelTensor, {4}, fitted));
  if (fitted == wordsOfHash(hash))
    return {};
  return Status::error(Code::BadFile,
                       "%s: the maps were fitted for other weights than this "
                       "model's; fit the plan again (gist-plan depths)",
                       path.c_str());
}

Weight gist::fittedWeight(WeightFormat format, std::vector<int64_t> shape,
                          const std::vector<float> &values) {
  if (format == WeightFormat::F32)
    return madeWeight(std::move(shape), values);
  const FormatInfo &info = formatInfo(format);
  auto bytes = std::make_shared<std::vector<uint8_t>>(
      values.size() / info.blockLength * info.blockBytes);
  quantize(format, values.data(), values.size(), bytes->data());
  Weight weight;
  weight.format = format;
  weight.shape = std::move(shape);
  weight.content = {bytes->data(), bytes->size()};
  weight.owned = std::move(bytes);
  return weight;
}

Status gist::pickedWeight(const Weight &source, const std::vector<float> &rows,
                          Weight &picked) {
  auto count = static_cast<uint64_t>(source.shape[0]);
  uint64_t size = source.content.size / count;
  auto bytes = std::make_shared<std::vector<uint8_t>>(rows.size() * size);
  uint8_t *to = bytes->data();
  for (float row : rows) {
    if (!(row >= 0 && row < static_cast<float>(count)))
      return Status::error(Code::BadFile,
                           "row %g is asked for, but the weight has %" PRIu64,
                           static_cast<double>(row), count);
    std::memcpy(to, source.content.data + static_cast<uint64_t>(row) * size,
                size);
    to += size;
  }
  Weight result;
  result.format = source.format;
  result.shape = source.shape;
  result.shape[0] = static_cast<int64_t>(rows.size());
  result.content = {bytes->data(), bytes->size()};
  result.owned = std::move(bytes);
  picked = std::move(result);
  return {};
}
