//===- DepthFit.cpp - Maps in place of layers, by least squares -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/DepthFit.h"

#include "runtime/module/Properties.h"
#include "tools/planning/AllCores.h"
#include "tools/planning/RowProducts.h"
#include "tools/planning/SafetensorsWriter.h"
#include "tools/running/Progress.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <numeric>

using namespace gist;
using namespace gist::plan;

//===----------------------------------------------------------------------===//
// Least squares
//===----------------------------------------------------------------------===//

Matrix plan::withOnes(const Matrix &x) {
  Matrix result(x.rows(), x.cols() + 1);
  result.leftCols(x.cols()) = x;
  result.rightCols(1).setOnes();
  return result;
}

void plan::addRows(std::span<const MapRows> rows) {
  std::vector<RowProduct> products;
  for (const auto &[x, y, sum] : rows) {
    if (sum->count == 0) {
      sum->reads = Matrix::Zero(x.cols(), x.cols());
      sum->gives = Matrix::Zero(x.cols(), y.cols());
    }
    sum->count += x.rows();
    products.push_back({&x, &x, &sum->reads, /*isLower=*/true});
    products.push_back({&x, &y, &sum->gives});
  }
  addProducts(products);
}

FittedMap plan::fitMap(const MapMoments &moments, double ridge,
                       std::vector<float> neurons) {
  std::vector<Eigen::Index> kept;
  if (neurons.empty()) {
    kept.resize(static_cast<size_t>(moments.reads.rows()));
    std::iota(kept.begin(), kept.end(), 0);
  } else {
    for (float neuron : neurons)
      kept.push_back(moments.neurons.empty()
                         ? static_cast<Eigen::Index>(neuron)
                         : std::ranges::lower_bound(moments.neurons, neuron) -
                               moments.neurons.begin());
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
  // Numbers that a map reads differ in size by orders of magnitude: each is
  // held down by its own. The bias is free.
  sums.diagonal().head(size).array() *= 1 + ridge;
  sums(size, size) += 1e-9 * static_cast<double>(moments.count);
  Eigen::LLT<Eigen::MatrixXd> factors(sums.selfadjointView<Eigen::Lower>());
  constexpr Eigen::Index kColumns = 64;
  auto parts = static_cast<size_t>((gives.cols() + kColumns - 1) / kColumns);
  forEachOnAllCores(parts, [&](size_t i) {
    Eigen::Index first = static_cast<Eigen::Index>(i) * kColumns;
    factors.solveInPlace(
        gives.middleCols(first, std::min(kColumns, gives.cols() - first)));
  });
  FittedMap result;
  result.map = gives.topRows(size).transpose().cast<float>();
  Eigen::VectorXf bias = gives.row(size).transpose().cast<float>();
  result.bias.assign(bias.data(), bias.data() + bias.size());
  result.neurons = std::move(neurons);
  return result;
}

void NeuronSums::add(const Matrix &rows) {
  if (count == 0)
    sums = squares = Eigen::ArrayXd::Zero(rows.cols());
  sums += rows.colwise().sum().transpose().array().cast<double>();
  squares += rows.colwise().squaredNorm().transpose().array().cast<double>();
  count += rows.rows();
}

std::vector<float> NeuronSums::rank(const Matrix &outputWeight) const {
  auto rows = static_cast<double>(count);
  Eigen::ArrayXd worth =
      (squares / rows - (sums / rows).square()) *
      outputWeight.colwise().squaredNorm().transpose().array().cast<double>();
  std::vector<float> order(static_cast<size_t>(worth.size()));
  std::iota(order.begin(), order.end(), 0.0F);
  // The number decides between equals, so that files are the same again.
  std::ranges::sort(order, {}, [&](float neuron) {
    return std::pair(-worth[static_cast<Eigen::Index>(neuron)], neuron);
  });
  return order;
}

/// Of the model that a module for fitting is of.
static uint64_t readHash(const Module &module) {
  const auto &properties = module.spec().model.properties;
  uint64_t model = 0;
  if (auto hash = properties.find(kWeightsProperty); hash != properties.end())
    std::from_chars(hash->second.data(),
                    hash->second.data() + hash->second.size(), model, 16);
  return model;
}

Status plan::readMaps(const std::string &path, const DepthModel &model,
                      const DepthPlan &plan, MapSet &maps) {
  const Module &module = model.getSession().module();
  DepthMaps file;
  GIST_TRY(DepthMaps::open(path, file));
  GIST_TRY(file.checkModel(readHash(module)));
  MapSet result;
  for (size_t i = 0; i < plan.layers.size(); ++i)
    for (const std::string &name : model.mapsOf(i, plan.layers[i])) {
      bool isThin = plan.layers[i].kind == LayerDepth::Thin;
      auto rows = static_cast<int64_t>(model.rowsOf(name));
      int64_t columns =
          isThin ? plan.layers[i].neurons : module.spec().model.embeddingSize;
      FittedMap map;
      std::vector<float> numbers;
      GIST_TRY(file.find(name, {rows, columns}, numbers));
      GIST_TRY(file.find(biasName(name), {rows}, map.bias));
      if (isThin)
        GIST_TRY(file.find(thinRowsName(static_cast<int64_t>(i)), {columns},
                           map.neurons));
      auto all = static_cast<float>(model.outputWeight(i).cols());
      if (std::ranges::any_of(map.neurons, [&](float neuron) {
            return !(neuron >= 0 && neuron < all);
          }))
        return Status::error(Code::BadFile,
                             "%s: '%s' has a neuron that the model does not "
                             "have; fit the plan again (gist-plan depths)",
                             path.c_str(), name.c_str());
      map.map = Eigen::Map<const Matrix>(numbers.data(), rows, columns);
      result[name] = std::make_shared<const FittedMap>(std::move(map));
    }
  maps = std::move(result);
  return {};
}

Status plan::writeMaps(const std::string &path, const Module &module,
                       const MapSet &maps) {
  SafetensorsWriter writer;
  auto add = [&](const std::string &name, std::vector<int64_t> shape,
                 std::span<const float> values) {
    writer.add(name, "F32", shape, values);
  };
  std::vector<float> words = wordsOfHash(readHash(module));
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

Eigen::Map<const Matrix> DepthFitter::Shown::at(const std::string &name) const {
  const std::vector<uint8_t> &content = bytes.at(name);
  size_t columns = content.size() / sizeof(float) / tokens;
  return {reinterpret_cast<const float *>(content.data()), countRows(),
          static_cast<Eigen::Index>(columns)};
}

Status DepthFitter::call(const char *entry, size_t window, size_t past,
                         size_t count, const std::set<std::string> &names,
                         Shown &shown) {
  // Names of a module are unique, so the entry's stands before them.
  auto nameOf = [prefix = std::string(entry) + "."](const std::string &output) {
    return output.starts_with(prefix) ? output.substr(prefix.size()) : output;
  };
  size_t first = window * static_cast<size_t>(options.window) + past;
  std::span<const int32_t> piece = std::span(tokens).subspan(first, count);
  std::map<std::string, std::vector<uint8_t>> outputs;
  std::map<std::string, int64_t> symbols = {
      {kSymbolTokens, static_cast<int64_t>(count)}};
  if (model.hasBulk())
    symbols[kSymbolPast] = static_cast<int64_t>(past);
  GIST_TRY(model.getSession().call(
      entry, symbols,
      {{kTensorTokens,
        {reinterpret_cast<const uint8_t *>(piece.data()), piece.size_bytes()}}},
      outputs, [&](const std::string &output) {
        return names.contains(nameOf(output));
      }));
  shown.tokens = count;
  for (auto &[output, bytes] : outputs)
    shown.bytes[nameOf(output)] = std::move(bytes);
  return {};
}

Status DepthFitter::read(const char *entry, size_t window,
                         const std::set<std::string> &names, const Body &body) {
  auto size = static_cast<size_t>(options.window);
  GIST_TRY(model.getSession().reset());
  // The first tokens of a prompt walk through all layers, and every token
  // looks at them.
  Shown ignored;
  auto past = static_cast<size_t>(options.first);
  if (past > 0)
    GIST_TRY(call(kTargetEntry, window, 0, past, {}, ignored));
  while (past < size) {
    Shown shown;
    size_t count = std::min(static_cast<size_t>(options.call), size - past);
    GIST_TRY(call(entry, window, past, count, names, shown));
    body(std::move(shown));
    past += count;
  }
  return {};
}

Status
DepthFitter::forWindows(size_t share, const run::Limit &limit,
                        const std::function<Status(size_t window)> &body) {
  if (options.window <= options.first)
    return Status::error(
        Code::BadArgument,
        "a window has %lld tokens, and the first %lld of a prompt are whole; "
        "expected more",
        static_cast<long long>(options.window),
        static_cast<long long>(options.first));
  size_t windows = tokens.size() / static_cast<size_t>(options.window);
  if (windows == 0)
    return Status::error(Code::BadArgument,
                         "the texts have %zu tokens; a window has %lld",
                         tokens.size(), static_cast<long long>(options.window));
  for (size_t i = 0; i < windows; i += share) {
    if (limit.isOver())
      return Status::error(Code::Io, "stopped by its limit");
    GIST_TRY(body(i));
  }
  return {};
}

Status DepthFitter::rankNeurons(const std::vector<Wanted> &wanted,
                                const run::Limit &limit) {
  std::map<size_t, NeuronSums> sums;
  for (const auto &[layer, kind] : wanted)
    if (kind == LayerDepth::Thin && !ranked.contains(layer))
      sums[layer];
  if (sums.empty())
    return {};
  std::set<std::string> names;
  for (const auto &[layer, sum] : sums)
    names.insert(thinMapName(static_cast<int64_t>(layer)));
  // A few thousand tokens tell neurons that vary from others.
  GIST_TRY(forWindows(4 * options.shareAlone, limit, [&](size_t window) {
    return read(kFitEntry, window, names, [&](const Shown &shown) {
      for (auto &[layer, sum] : sums)
        sum.add(shown.at(thinMapName(static_cast<int64_t>(layer))));
    });
  }));
  for (const auto &[layer, sum] : sums)
    ranked[layer] = sum.rank(model.outputWeight(layer));
  return {};
}

std::vector<float> DepthFitter::bestNeurons(size_t layer, int64_t count) const {
  std::vector<float> best = ranked.at(layer);
  best.resize(std::min(best.size(), static_cast<size_t>(count)));
  // In the order of the model, so that equal sets are equal files.
  std::sort(best.begin(), best.end());
  return best;
}

std::vector<std::string> DepthFitter::tailMaps(size_t first) const {
  std::vector<std::string> names;
  for (size_t i = first; i < model.countLayers(); ++i)
    names.insert(names.end(), model.tailMaps(i).begin(),
                 model.tailMaps(i).end());
  return names;
}

std::string DepthFitter::Wanted::mapName() const {
  auto number = static_cast<int64_t>(layer);
  return kind == LayerDepth::Thin ? thinMapName(number) : linearMapName(number);
}

std::set<std::string>
DepthFitter::namesOf(const std::vector<Wanted> &wanted) const {
  std::set<std::string> names;
  for (const auto &[number, kind] : wanted) {
    auto layer = static_cast<int64_t>(number);
    names.insert(streamName(layer));
    names.insert(kind == LayerDepth::Thin ? model.sumOf(number)
                                          : streamName(layer + 1));
    names.insert(Wanted{number, kind}.mapName());
    if (kind == LayerDepth::Tail)
      for (const std::string &map : tailMaps(number))
        names.insert(map);
  }
  return names;
}

/// `rows` with the one for the bias; some neurons of it, where they are named.
static Matrix takeNeurons(const Eigen::Ref<const Matrix> &rows,
                          const std::vector<float> &neurons) {
  if (neurons.empty())
    return withOnes(rows);
  std::vector<Eigen::Index> columns(neurons.begin(), neurons.end());
  return withOnes(rows(Eigen::all, columns));
}

/// Of a thin layer what is missing behind it.
MapRows DepthFitter::rowsOf(const Wanted &wanted, const Piece &piece,
                            const Shown &target, const Shown &shown,
                            MapMoments &moments) const {
  auto layer = static_cast<int64_t>(wanted.layer);
  auto take = [&](const Shown &from, const std::string &name) {
    return from.at(name).middleRows(piece.first, piece.count);
  };
  bool isThin = wanted.kind == LayerDepth::Thin;
  MapRows rows;
  rows.moments = &moments;
  rows.x = takeNeurons(take(shown, wanted.mapName()), moments.neurons);
  if (wanted.kind != LayerDepth::Tail) {
    std::string behind =
        isThin ? model.sumOf(wanted.layer) : streamName(layer + 1);
    rows.y =
        take(target, behind) - take(shown, isThin ? behind : streamName(layer));
    return rows;
  }
  // All maps of a tail read the same rows.
  std::vector<std::string> maps = tailMaps(wanted.layer);
  Eigen::Index columns = 0, at = 0;
  for (const std::string &map : maps)
    columns += static_cast<Eigen::Index>(model.rowsOf(map));
  rows.y.resize(piece.count, columns);
  for (const std::string &map : maps) {
    auto part = take(target, map);
    rows.y.middleCols(at, part.cols()) = part;
    at += part.cols();
  }
  return rows;
}

void DepthFitter::addCall(const std::vector<Wanted> &wanted,
                          const Shown &target, const Shown &shown,
                          const std::vector<Given> &given,
                          std::vector<MapMoments> &moments) const {
  // Few maps would leave cores without work.
  constexpr Eigen::Index kRows = 256;
  std::vector<Piece> pieces;
  for (size_t i = 0; i < wanted.size(); ++i)
    for (Eigen::Index first = 0; first < shown.countRows(); first += kRows)
      pieces.push_back({i, first, std::min(kRows, shown.countRows() - first)});
  std::vector<MapRows> rows(pieces.size());
  std::vector<Matrix> others(pieces.size());
  forEachOnAllCores(pieces.size(), [&](size_t i) {
    const auto &[number, first, count] = pieces[i];
    const Wanted &one = wanted[number];
    rows[i] = rowsOf(one, pieces[i], target, shown, moments[number]);
    if (!given[number].others.empty())
      others[i] =
          shown.at(one.mapName())
              .middleRows(first, count)(Eigen::all, given[number].others)
              .transpose();
  });
  std::vector<RowProduct> missing;
  for (size_t i = 0; i < pieces.size(); ++i)
    if (others[i].size() > 0)
      missing.push_back(
          {&others[i], &given[pieces[i].wanted].byOthers, &rows[i].y});
  addProducts(missing);
  addRows(rows);
}

DepthFitter::Given
DepthFitter::splitGiven(size_t layer, const std::vector<float> &neurons) const {
  Matrix now = model.currentNeurons(layer);
  std::vector<Eigen::Index> own(neurons.begin(), neurons.end());
  Given given;
  for (Eigen::Index i = 0; i + 1 < now.rows(); ++i)
    if (!std::ranges::binary_search(own, i) && !now.row(i).isZero(0))
      given.others.push_back(i);
  own.push_back(now.rows() - 1);
  given.byOwn = now(own, Eigen::all);
  given.byOthers = now(given.others, Eigen::all);
  return given;
}

Status DepthFitter::collect(const std::vector<Wanted> &wanted, size_t share,
                            const run::Limit &limit, Moments &moments) {
  std::vector<MapMoments> sums(wanted.size());
  std::vector<Given> given(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    sums[i].neurons = std::move(moments[wanted[i]].neurons);
    if (wanted[i].kind == LayerDepth::Thin)
      given[i] = splitGiven(wanted[i].layer, sums[i].neurons);
  }
  std::set<std::string> names = namesOf(wanted);
  GIST_TRY(forWindows(share, limit, [&](size_t window) {
    std::vector<Shown> targets;
    GIST_TRY(read(kTargetEntry, window, names,
                  [&](Shown shown) { targets.push_back(std::move(shown)); }));
    size_t call = 0;
    return read(kFitEntry, window, names, [&](const Shown &shown) {
      addCall(wanted, targets[call++], shown, given, sums);
    });
  }));
  // What a map gives now is missing without it. Of neurons that stay it follows
  // from the sums.
  std::vector<RowProduct> own;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (given[i].byOwn.size() > 0) {
      sums[i].reads.triangularView<Eigen::StrictlyUpper>() =
          sums[i].reads.transpose();
      own.push_back({&sums[i].reads, &given[i].byOwn, &sums[i].gives});
    }
  addProducts(own);
  for (size_t i = 0; i < wanted.size(); ++i)
    moments[wanted[i]] = std::move(sums[i]);
  return {};
}

/// Of its moments.
size_t DepthFitter::bytesOf(const Wanted &wanted, int64_t neurons) const {
  auto width = static_cast<size_t>(
      model.getSession().module().spec().model.embeddingSize);
  size_t reads = width + 1, gives = width;
  if (wanted.kind == LayerDepth::Thin)
    reads = static_cast<size_t>(neurons) + 1;
  if (wanted.kind == LayerDepth::Tail) {
    gives = 0;
    for (const std::string &map : tailMaps(wanted.layer))
      gives += model.rowsOf(map);
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

MapSet DepthFitter::solve(const Wanted &wanted, const MapMoments &moments,
                          std::vector<float> neurons) const {
  FittedMap fitted = fitMap(moments, options.ridge, std::move(neurons));
  MapSet maps;
  if (wanted.kind != LayerDepth::Tail) {
    maps[wanted.mapName()] =
        std::make_shared<const FittedMap>(std::move(fitted));
    return maps;
  }
  Eigen::Index at = 0;
  for (const std::string &map : tailMaps(wanted.layer)) {
    auto rows = static_cast<Eigen::Index>(model.rowsOf(map));
    maps[map] = std::make_shared<const FittedMap>(
        FittedMap{fitted.map.middleRows(at, rows),
                  {fitted.bias.begin() + at, fitted.bias.begin() + at + rows}});
    at += rows;
  }
  return maps;
}

Status DepthFitter::fitAlone(const std::vector<DepthPlan> &list,
                             const run::Limit &limit,
                             std::vector<MapSet> &maps) {
  maps.resize(list.size());
  GIST_TRY(model.followNone());
  // Several plans may need the same moments: thin layers of several sizes.
  std::map<Wanted, std::vector<size_t>> users;
  std::vector<Wanted> all;
  for (size_t i = 0; i < list.size(); ++i)
    for (const Wanted &wanted : listWanted(list[i]))
      users[wanted].push_back(i);
  for (const auto &[wanted, plans] : users)
    all.push_back(wanted);
  GIST_TRY(rankNeurons(all, limit));
  std::mutex mutex;
  for (auto next = users.begin(); next != users.end();) {
    std::vector<Wanted> group;
    Moments moments;
    for (size_t bytes = 0; next != users.end(); ++next) {
      const auto &[wanted, plans] = *next;
      int64_t most = 0;
      for (size_t user : plans)
        most = std::max(most, list[user].layers[wanted.layer].neurons);
      bytes += bytesOf(wanted, most);
      if (!group.empty() && bytes > options.memory)
        break;
      group.push_back(wanted);
      if (wanted.kind == LayerDepth::Thin)
        moments[wanted].neurons = bestNeurons(wanted.layer, most);
    }
    GIST_TRY(collect(group, options.shareAlone, limit, moments));
    forEachOnAllCores(group.size(), [&](size_t i) {
      for (size_t user : users.at(group[i])) {
        const Wanted &wanted = group[i];
        std::vector<float> neurons;
        if (wanted.kind == LayerDepth::Thin)
          neurons = bestNeurons(wanted.layer,
                                list[user].layers[wanted.layer].neurons);
        MapSet found = solve(wanted, moments.at(wanted), std::move(neurons));
        std::lock_guard<std::mutex> lock(mutex);
        maps[user].merge(found);
      }
    });
  }
  return {};
}

Status DepthFitter::fitTogether(const DepthPlan &plan, const run::Limit &limit,
                                MapSet &maps) {
  std::vector<Wanted> wanted = listWanted(plan);
  // Maps depend on the layers before them alone.
  auto changed = std::ranges::mismatch(plan.layers, together.layers).in1 -
                 plan.layers.begin();
  Progress bar("layers", wanted.size(), 0, &limit);
  for (const Wanted &one : wanted) {
    bool isKnown = one.kind != LayerDepth::Tail &&
                   one.layer < static_cast<size_t>(changed);
    MapSet fitted;
    if (isKnown)
      fitted[one.mapName()] = togetherMaps.at(one.mapName());
    else
      GIST_TRY(fitNext(plan, one, limit, maps, fitted));
    for (auto &[name, map] : fitted)
      maps[name] = map;
    bar.advance();
  }
  together = plan;
  togetherMaps = maps;
  return {};
}

/// The maps of one layer, with those before it in place.
Status DepthFitter::fitNext(const DepthPlan &plan, const Wanted &wanted,
                            const run::Limit &limit, const MapSet &maps,
                            MapSet &fitted) {
  GIST_TRY(model.follow(plan, maps));
  Moments moments;
  // A layer keeps its neurons while its map is fitted again.
  if (wanted.kind == LayerDepth::Thin)
    moments[wanted].neurons = maps.at(wanted.mapName())->neurons;
  GIST_TRY(collect({wanted}, /*share=*/1, limit, moments));
  fitted = solve(wanted, moments.at(wanted), moments.at(wanted).neurons);
  return {};
}
