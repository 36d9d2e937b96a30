//===- DepthFit.cpp - Maps in place of layers, by least squares -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/DepthFit.h"

#include "tools/planning/AllCores.h"
#include "tools/planning/SafetensorsWriter.h"

#include <algorithm>
#include <mutex>
#include <numeric>

using namespace gist;
using namespace gist::plan;

//===----------------------------------------------------------------------===//
// Least squares
//===----------------------------------------------------------------------===//

void plan::addRows(const Matrix &x, const Matrix &y, MapMoments &moments) {
  Eigen::Index size = x.cols() + 1;
  if (moments.count == 0) {
    moments.reads = Eigen::MatrixXf::Zero(size, size);
    moments.gives = Eigen::MatrixXf::Zero(size, y.cols());
  }
  Eigen::MatrixXf with(size, x.rows());
  with.topRows(x.cols()) = x.transpose();
  with.bottomRows(1).setOnes();
  moments.reads.selfadjointView<Eigen::Lower>().rankUpdate(with);
  moments.gives.noalias() += with * y;
  moments.count += x.rows();
}

FittedMap plan::fitMap(const MapMoments &moments, double ridge,
                       std::vector<float> neurons) {
  std::vector<Eigen::Index> kept;
  if (neurons.empty()) {
    kept.resize(static_cast<size_t>(moments.reads.rows()));
    std::iota(kept.begin(), kept.end(), 0);
  } else {
    kept.assign(neurons.begin(), neurons.end());
    kept.push_back(moments.reads.rows() - 1);
  }
  auto size = static_cast<Eigen::Index>(kept.size()) - 1;
  Eigen::MatrixXd sums(size + 1, size + 1);
  for (Eigen::Index i = 0; i <= size; ++i)
    for (Eigen::Index j = 0; j <= i; ++j)
      // Neurons ascend, so the lower triangle has it.
      sums(i, j) = static_cast<double>(moments.reads(
          kept[static_cast<size_t>(i)], kept[static_cast<size_t>(j)]));
  Eigen::MatrixXd gives(size + 1, moments.gives.cols());
  for (Eigen::Index i = 0; i <= size; ++i)
    gives.row(i) =
        moments.gives.row(kept[static_cast<size_t>(i)]).cast<double>();
  double mean = sums.diagonal().head(size).sum() / static_cast<double>(size);
  // The bias is free.
  sums.diagonal().head(size).array() += ridge * mean;
  sums(size, size) += 1e-9 * static_cast<double>(moments.count);
  Eigen::MatrixXd solved =
      sums.selfadjointView<Eigen::Lower>().llt().solve(gives);
  FittedMap result;
  result.map = solved.topRows(size).transpose().cast<float>();
  Eigen::VectorXf bias = solved.row(size).transpose().cast<float>();
  result.bias.assign(bias.data(), bias.data() + bias.size());
  result.neurons = std::move(neurons);
  return result;
}

std::vector<float> plan::chooseNeurons(const MapMoments &moments,
                                       const Matrix &outputWeight,
                                       int64_t count) {
  auto rows = static_cast<float>(moments.count);
  Eigen::Index all = outputWeight.cols();
  Eigen::VectorXf mean = moments.reads.row(all).head(all).transpose() / rows;
  Eigen::VectorXf variance =
      moments.reads.diagonal().head(all) / rows - mean.cwiseAbs2();
  Eigen::VectorXf worth = variance.cwiseProduct(
      outputWeight.array().square().matrix().colwise().sum().transpose());
  std::vector<float> order(static_cast<size_t>(all));
  std::iota(order.begin(), order.end(), 0.0F);
  auto worthOf = [&](float neuron) {
    return worth[static_cast<Eigen::Index>(neuron)];
  };
  std::sort(order.begin(), order.end(), [&](float a, float b) {
    return std::pair(-worthOf(a), a) < std::pair(-worthOf(b), b);
  });
  order.resize(std::min(order.size(), static_cast<size_t>(count)));
  // In the order of the model, so that equal sets are equal files.
  std::sort(order.begin(), order.end());
  return order;
}

Status plan::writeMaps(const std::string &path, uint64_t model,
                       const MapSet &maps) {
  SafetensorsWriter writer;
  auto add = [&](const std::string &name, std::vector<int64_t> shape,
                 std::span<const float> values) {
    writer.add(name, "F32", shape, values);
  };
  std::vector<float> words = wordsOfHash(model);
  add(kModelTensor, {4}, words);
  for (const auto &[name, map] : maps) {
    add(name, {map->map.rows(), map->map.cols()},
        {map->map.data(), static_cast<size_t>(map->map.size())});
    add(biasName(name), {static_cast<int64_t>(map->bias.size())}, map->bias);
    if (!map->neurons.empty())
      add(name + ".rows", {static_cast<int64_t>(map->neurons.size())},
          map->neurons);
  }
  return writer.write(path);
}

//===----------------------------------------------------------------------===//
// Passes over a text
//===----------------------------------------------------------------------===//

Status DepthFitter::pass(const char *name, const char *what, const Body &body) {
  Session &session = model.getSession();
  auto window = static_cast<size_t>(options.window);
  size_t windows = tokens.size() / window, number = 0;
  if (windows == 0)
    return Status::error(Code::BadArgument,
                         "the texts have %zu tokens; a window has %zu",
                         tokens.size(), window);
  int64_t skipped = DepthPlan().first;
  std::string prefix = std::string(name) + ".";
  for (size_t i = 0; i < windows; ++i) {
    GIST_TRY(session.reset());
    for (size_t past = 0; past < window; ++number) {
      size_t count = std::min(static_cast<size_t>(options.call), window - past);
      std::span<const int32_t> piece =
          std::span(tokens).subspan(i * window + past, count);
      std::map<std::string, std::vector<uint8_t>> outputs;
      GIST_TRY(session.call(name,
                            {{kSymbolTokens, static_cast<int64_t>(count)},
                             {kSymbolPast, static_cast<int64_t>(past)}},
                            {{kTensorTokens,
                              {reinterpret_cast<const uint8_t *>(piece.data()),
                               piece.size_bytes()}}},
                            outputs));
      // The first tokens of a sequence are unlike all others.
      auto first = static_cast<size_t>(
          std::clamp<int64_t>(skipped - static_cast<int64_t>(past), 0,
                              static_cast<int64_t>(count)));
      Shown shown;
      for (auto &[output, bytes] : outputs) {
        // Names of a module are unique, so the entry's stands before them.
        std::string own =
            output.starts_with(prefix) ? output.substr(prefix.size()) : output;
        auto columns =
            static_cast<Eigen::Index>(bytes.size() / sizeof(float) / count);
        Eigen::Map<const Matrix> rows(
            reinterpret_cast<const float *>(bytes.data()),
            static_cast<Eigen::Index>(count), columns);
        shown[own] = rows.bottomRows(static_cast<Eigen::Index>(count - first));
      }
      body(number, shown);
      past += count;
    }
    progress(what, i + 1, windows);
  }
  return {};
}

Status DepthFitter::keepTargets() {
  if (!targets.empty())
    return {};
  return pass(kTargetEntry, "the model as it is",
              [&](size_t, const Shown &shown) { targets.push_back(shown); });
}

void DepthFitter::add(const Wanted &wanted, const Shown &target,
                      const Shown &shown,
                      std::map<std::string, MapMoments> &moments) const {
  auto layer = static_cast<int64_t>(wanted.layer);
  std::string linear = linearMapName(layer), thin = thinMapName(layer);
  if (wanted.kind == LayerDepth::Linear) {
    addRows(shown.at(linear),
            target.at(streamName(layer + 1)) - shown.at(streamName(layer)),
            moments[linear]);
  } else if (wanted.kind == LayerDepth::Thin) {
    // What is missing behind the layer; what its map gives now is added when
    // it is solved.
    addRows(shown.at(thin),
            target.at(streamName(layer + 1)) - shown.at(streamName(layer + 1)),
            moments[thin]);
  } else {
    // All maps of a tail read the same rows.
    Eigen::Index columns = 0, at = 0;
    for (size_t i = wanted.layer; i < model.countLayers(); ++i)
      for (const std::string &map : model.tailMaps(i))
        columns += target.at(map).cols();
    const Matrix &rows = shown.at(linear);
    Matrix all(rows.rows(), columns);
    for (size_t i = wanted.layer; i < model.countLayers(); ++i)
      for (const std::string &map : model.tailMaps(i)) {
        all.middleCols(at, target.at(map).cols()) = target.at(map);
        at += target.at(map).cols();
      }
    addRows(rows, all, moments[""]);
  }
}

Status DepthFitter::collect(const std::vector<Wanted> &wanted,
                            Moments &moments) {
  GIST_TRY(keepTargets());
  std::vector<std::map<std::string, MapMoments>> sums(wanted.size());
  GIST_TRY(pass(kFitEntry, "moments", [&](size_t call, const Shown &shown) {
    forEachOnAllCores(wanted.size(), [&](size_t i) {
      add(wanted[i], targets[call], shown, sums[i]);
    });
  }));
  for (size_t i = 0; i < wanted.size(); ++i)
    moments[wanted[i]] = std::move(sums[i]);
  return {};
}

/// Of its moments.
size_t DepthFitter::bytesOf(const Wanted &wanted) const {
  auto width = static_cast<size_t>(
      model.getSession().module().spec().model.embeddingSize);
  size_t reads = width + 1, gives = width;
  if (wanted.kind == LayerDepth::Thin)
    reads = static_cast<size_t>(model.outputWeight(wanted.layer).cols()) + 1;
  if (wanted.kind == LayerDepth::Tail) {
    gives = 0;
    for (size_t i = wanted.layer; i < model.countLayers(); ++i)
      for (const std::string &map : model.tailMaps(i))
        gives += static_cast<size_t>(targets.front().at(map).cols());
  }
  return reads * (reads + gives) * sizeof(float);
}

std::vector<DepthFitter::Wanted>
DepthFitter::listWanted(const DepthPlan &plan) {
  std::vector<Wanted> list;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    LayerDepth kind = plan.layers[i].kind;
    if (kind == LayerDepth::Thin || kind == LayerDepth::Tail ||
        (kind == LayerDepth::Linear && i + 1 < plan.layers.size()))
      list.push_back({i, kind});
    // One for all of its layers.
    if (kind == LayerDepth::Tail)
      break;
  }
  return list;
}

MapSet DepthFitter::solve(const Wanted &wanted, const DepthChoice &choice,
                          const std::map<std::string, MapMoments> &moments,
                          const MapSet &known) const {
  const auto &[name, sums] = *moments.begin();
  MapSet maps;
  auto keep = [&](const std::string &map, FittedMap fitted) {
    maps[map] = std::make_shared<const FittedMap>(std::move(fitted));
  };
  if (wanted.kind == LayerDepth::Linear) {
    keep(name, fitMap(sums, options.ridge));
  } else if (wanted.kind == LayerDepth::Thin) {
    // A layer keeps its neurons while its map is fitted again.
    auto before = known.find(name);
    std::vector<float> neurons =
        before != known.end()
            ? before->second->neurons
            : chooseNeurons(sums, model.outputWeight(wanted.layer),
                            choice.neurons);
    MapMoments whole = sums;
    whole.gives.noalias() += sums.reads.selfadjointView<Eigen::Lower>() *
                             model.currentNeurons(wanted.layer);
    keep(name, fitMap(whole, options.ridge, std::move(neurons)));
  } else {
    FittedMap all = fitMap(sums, options.ridge);
    Eigen::Index at = 0;
    for (size_t i = wanted.layer; i < model.countLayers(); ++i)
      for (const std::string &map : model.tailMaps(i)) {
        Eigen::Index rows = targets.front().at(map).cols();
        keep(map, {all.map.middleRows(at, rows),
                   {all.bias.begin() + at, all.bias.begin() + at + rows}});
        at += rows;
      }
  }
  return maps;
}

Status DepthFitter::fitAlone(const std::vector<DepthPlan> &list,
                             std::vector<MapSet> &maps) {
  maps.resize(list.size());
  GIST_TRY(keepTargets());
  GIST_TRY(model.followNone());
  // Several plans may need the same moments: thin layers of several sizes.
  std::map<Wanted, std::vector<size_t>> users;
  for (size_t i = 0; i < list.size(); ++i)
    for (const Wanted &wanted : listWanted(list[i]))
      users[wanted].push_back(i);
  std::mutex mutex;
  for (auto next = users.begin(); next != users.end();) {
    std::vector<Wanted> group;
    for (size_t bytes = 0; next != users.end(); ++next) {
      bytes += bytesOf(next->first);
      if (!group.empty() && bytes > options.memory)
        break;
      group.push_back(next->first);
    }
    Moments moments;
    GIST_TRY(collect(group, moments));
    forEachOnAllCores(group.size(), [&](size_t i) {
      for (size_t user : users.at(group[i])) {
        MapSet found = solve(group[i], list[user].layers[group[i].layer],
                             moments.at(group[i]), {});
        std::lock_guard<std::mutex> lock(mutex);
        maps[user].merge(found);
      }
    });
  }
  return {};
}

Status DepthFitter::fitTogether(const DepthPlan &plan, MapSet &maps) {
  std::vector<Wanted> wanted = listWanted(plan);
  for (int round = 0; round < options.rounds; ++round) {
    GIST_TRY(model.follow(plan, maps));
    Moments moments;
    GIST_TRY(collect(wanted, moments));
    std::vector<MapSet> found(wanted.size());
    forEachOnAllCores(wanted.size(), [&](size_t i) {
      found[i] = solve(wanted[i], plan.layers[wanted[i].layer],
                       moments.at(wanted[i]), maps);
    });
    for (MapSet &one : found)
      for (auto &[name, map] : one)
        maps[name] = std::move(map);
  }
  return {};
}
