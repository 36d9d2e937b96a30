//===- DepthModel.cpp - A model in which depths can be tried --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/DepthModel.h"

#include "tools/planning/LinearProbe.h"

#include <algorithm>
#include <numeric>

using namespace gist;
using namespace gist::plan;

static constexpr std::string_view kPrefix = "depth.";

void DepthModel::addObservation(const ObservationSpec &shown,
                                const ModelSource &model) {
  if (shown.kind != ObservationKind::Input || shown.layer < 0 ||
      static_cast<size_t>(shown.layer) >= layers.size())
    return;
  Layer &layer = layers[static_cast<size_t>(shown.layer)];
  for (const std::string &name : shown.weights) {
    auto found = model.tensors().find(name);
    if (found == model.tensors().end())
      continue;
    const StoredTensor &tensor = found->second;
    auto size = static_cast<double>(
        std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t{1},
                        std::multiplies<>()));
    if (numbers.contains(tailMapName(name))) {
      layer.tails.push_back(tailMapName(name));
      layer.sizes.keys += size;
    } else if (shown.group == "qkv") {
      layer.sizes.queries += size;
    } else if (shown.group == "o") {
      layer.sizes.output += size;
    } else {
      layer.sizes.neurons += size;
    }
    if (shown.group != "down" || tensor.shape.size() != 2 ||
        !numbers.contains(thinMapName(shown.layer)))
      continue;
    layer.outputWeight.resize(tensor.shape[0], tensor.shape[1]);
    dequantize(tensor.format, tensor.content, layer.outputWeight.data());
  }
}

/// The weights that one of the module is made of, of those for depths.
static std::vector<std::string> getMaps(const WeightSpec &weight) {
  std::vector<std::string> parts = getParts(weight);
  for (std::string &part : parts)
    part = part.starts_with(kPrefix) ? part.substr(kPrefix.size()) : "";
  std::erase(parts, "");
  return parts;
}

Status DepthModel::open(Session &of, const ModelSource &model) {
  session = &of;
  const ModuleSpec &spec = of.module().spec();
  layers.resize(static_cast<size_t>(spec.model.layerCount));
  for (const WeightSpec &weight : spec.weights)
    for (const std::string &part : getMaps(weight))
      numbers[part];
  if (!numbers.contains(gateName(int64_t{0})))
    return Status::error(Code::BadArgument,
                         "the module has no layers in which depths can be "
                         "tried; make it with gist-compile --observe "
                         "--plan=depths");
  for (const EntrySpec &entry : spec.entries)
    for (const ObservationSpec &shown : entry.observations)
      addObservation(shown, model);
  std::string prefix = std::string(kTargetEntry) + ".";
  for (const EntrySpec &entry : spec.entries)
    for (uint32_t output : entry.outputs)
      if (const std::string &name = spec.buffers[output].name;
          name.starts_with(prefix))
        sums.insert(name.substr(prefix.size()));
  // The width of the stream and of keys says what the maps' sizes are.
  auto width = static_cast<Eigen::Index>(spec.model.embeddingSize);
  for (size_t i = 0; i < layers.size(); ++i) {
    auto number = static_cast<int64_t>(i);
    if (i + 1 < layers.size()) {
      numbers[gateName(number)] = Matrix::Zero(1, width);
      numbers[linearMapName(number)] = Matrix::Zero(width, width);
      numbers[biasName(linearMapName(number))] = Matrix::Zero(1, width);
    }
    if (const Matrix &output = layers[i].outputWeight; output.size() > 0) {
      numbers[thinMapName(number)] = output;
      numbers[biasName(thinMapName(number))] = Matrix::Zero(1, output.rows());
    }
    for (const std::string &map : layers[i].tails) {
      std::string source = map.substr(0, map.size() - tailMapName("").size());
      auto rows =
          static_cast<Eigen::Index>(model.tensors().at(source).shape[0]);
      numbers[map] = Matrix::Zero(rows, width);
      numbers[biasName(map)] = numbers[gateName(map)] = Matrix::Zero(1, rows);
    }
  }
  for (const auto &[name, content] : numbers)
    changed.insert(name);
  for (size_t i = 0; i < layers.size(); ++i)
    change(i, {}, {});
  return flush();
}

void DepthModel::set(const std::string &name, Matrix content) {
  numbers[name] = std::move(content);
  changed.insert(name);
}

void DepthModel::setMap(const std::string &name, const FittedMap *map) {
  Matrix &now = numbers[name], &bias = numbers[biasName(name)];
  set(name, map ? map->map : Matrix::Zero(now.rows(), now.cols()));
  set(biasName(name),
      map ? Eigen::Map<const Matrix>(map->bias.data(), 1, bias.cols())
          : Matrix(Matrix::Zero(1, bias.cols())));
}

void DepthModel::setGate(const std::string &name, bool isOpen) {
  set(name, Matrix::Constant(1, numbers[name].cols(), isOpen ? 1.0F : 0.0F));
}

void DepthModel::change(size_t number, const DepthChoice &choice,
                        std::vector<std::shared_ptr<const FittedMap>> maps) {
  Layer &layer = layers[number];
  auto index = static_cast<int64_t>(number);
  bool isTail = choice.kind == LayerDepth::Tail,
       isLinear = choice.kind == LayerDepth::Linear,
       isThin = choice.kind == LayerDepth::Thin;
  if (number + 1 < layers.size()) {
    setGate(gateName(index), !isTail && !isLinear);
    setMap(linearMapName(index), isLinear ? maps.front().get() : nullptr);
  }
  for (size_t i = 0; i < layer.tails.size(); ++i) {
    setGate(gateName(layer.tails[i]), !isTail);
    setMap(layer.tails[i], isTail ? maps[i].get() : nullptr);
  }
  if (layer.outputWeight.size() > 0) {
    FittedMap all{layer.outputWeight, std::vector<float>(static_cast<size_t>(
                                          layer.outputWeight.rows()))};
    if (isThin) {
      all.map.setZero();
      for (size_t i = 0; i < maps.front()->neurons.size(); ++i)
        all.map.col(static_cast<Eigen::Index>(maps.front()->neurons[i])) =
            maps.front()->map.col(static_cast<Eigen::Index>(i));
      all.bias = maps.front()->bias;
    }
    setMap(thinMapName(index), &all);
  }
  layer.choice = choice;
  layer.maps = std::move(maps);
}

std::vector<std::string> DepthModel::mapsOf(size_t layer,
                                            const DepthChoice &choice) const {
  auto number = static_cast<int64_t>(layer);
  switch (choice.kind) {
  case LayerDepth::Thin:
    return {thinMapName(number)};
  case LayerDepth::Tail:
    return layers[layer].tails;
  case LayerDepth::Linear:
    // The last layer leaves nothing but keys and values in any case.
    if (layer + 1 < layers.size())
      return {linearMapName(number)};
    break;
  case LayerDepth::Full:
  case LayerDepth::Any:
    break;
  }
  return {};
}

Status DepthModel::check(const DepthPlan &plan) const {
  auto refuse = [](const std::string &what) {
    return Status::error(Code::BadArgument, "%s", what.c_str());
  };
  if (!plan.isNeeded())
    return refuse("no layer is thin, linear or of the tail, so there is "
                  "nothing to fit");
  if (plan.hasBulk && !hasBulk())
    return refuse("the plan is for the bulk of prompts, which an encoder does "
                  "not have; expected one without first and last tokens");
  if (!plan.hasBulk && hasBulk())
    return refuse("the plan's depths are for all tokens, without first and "
                  "last; maps are fitted for the bulk of a prompt");
  // The module reads the ends of a prompt as every plan of a search does.
  DepthPlan usual;
  if (plan.hasBulk && (plan.first != usual.first || plan.last != usual.last))
    return refuse("the first " + std::to_string(plan.first) + " and the last " +
                  std::to_string(plan.last) +
                  " tokens of a prompt are whole; maps are fitted and "
                  "measured with " +
                  std::to_string(usual.first) + " and " +
                  std::to_string(usual.last));
  if (plan.layers.size() != layers.size())
    return refuse("the plan has " + std::to_string(plan.layers.size()) +
                  " layers, the model " + std::to_string(layers.size()));
  for (size_t i = 0; i < layers.size(); ++i) {
    const DepthChoice &choice = plan.layers[i];
    auto all = static_cast<int64_t>(layers[i].outputWeight.cols());
    if (choice.kind == LayerDepth::Any || choice.neurons > all)
      return refuse("layer " + std::to_string(i) + " is " + printDepth(choice) +
                    "; the model has " + std::to_string(all) +
                    " neurons there that can be left out");
    if (!hasBulk() && i + 1 == layers.size() &&
        choice.kind == LayerDepth::Linear)
      return refuse("layer " + std::to_string(i) +
                    " is the last one, behind which there is no other to map "
                    "to; expected it to be full or thin");
  }
  return {};
}

std::string DepthModel::sumOf(size_t layer) const {
  auto number = static_cast<int64_t>(layer);
  return sums.contains(sumName(number)) ? sumName(number)
                                        : streamName(number + 1);
}

Status DepthModel::follow(const DepthPlan &plan, const MapSet &maps) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const DepthChoice &choice = plan.layers[i];
    std::vector<std::shared_ptr<const FittedMap>> wanted;
    for (const std::string &name : mapsOf(i, choice)) {
      auto found = maps.find(name);
      if (found == maps.end())
        return Status::error(Code::NotFound, "the map '%s' is not fitted",
                             name.c_str());
      wanted.push_back(found->second);
    }
    if (choice != layers[i].choice || wanted != layers[i].maps)
      change(i, choice, std::move(wanted));
  }
  return flush();
}

Status DepthModel::flush() {
  for (const WeightSpec &weight : session->module().spec().weights) {
    std::vector<std::string> parts = getMaps(weight);
    if (std::none_of(parts.begin(), parts.end(), [&](const std::string &part) {
          return changed.contains(part);
        }))
      continue;
    Matrix joined = numbers[parts.front()];
    for (size_t i = 1; i < parts.size(); ++i) {
      const Matrix &more = numbers[parts[i]];
      Matrix both(joined.rows() + more.rows(), more.cols());
      both << joined, more;
      joined = std::move(both);
    }
    std::vector<uint8_t> bytes;
    GIST_TRY(encodeWeight(joined, weight.format, bytes).in(weight.name));
    GIST_TRY(session->setWeight(weight.name, {bytes.data(), bytes.size()}));
  }
  changed.clear();
  return {};
}

Matrix DepthModel::currentNeurons(size_t layer) const {
  std::string map = thinMapName(static_cast<int64_t>(layer));
  const Matrix &weight = numbers.at(map), &bias = numbers.at(biasName(map));
  Matrix result(weight.cols() + 1, weight.rows());
  result.topRows(weight.cols()) = weight.transpose();
  result.bottomRows(1) = bias;
  return result;
}
