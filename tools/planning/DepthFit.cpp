//===- DepthFit.cpp - Maps in place of layers, by least squares -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/DepthFit.h"

#include "tools/planning/LinearProbe.h"
#include "tools/planning/SafetensorsWriter.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace gist;
using namespace gist::plan;

//===----------------------------------------------------------------------===//
// Least squares
//===----------------------------------------------------------------------===//

void plan::addRows(const Matrix &x, const Matrix &y, MapMoments &moments) {
  Eigen::Index size = x.cols() + 1;
  if (moments.count == 0) {
    moments.reads = Eigen::MatrixXd::Zero(size, size);
    moments.gives = Eigen::MatrixXd::Zero(size, y.cols());
  }
  Matrix with(x.rows(), size);
  with << x, Matrix::Ones(x.rows(), 1);
  // f32 sums of a call's rows, added in f64.
  Eigen::MatrixXf reads = Eigen::MatrixXf::Zero(size, size);
  reads.selfadjointView<Eigen::Lower>().rankUpdate(with.transpose());
  moments.reads.triangularView<Eigen::Lower>() += reads.cast<double>();
  moments.gives += (with.transpose() * y).cast<double>();
  moments.count += x.rows();
}

FittedMap plan::fitMap(const MapMoments &moments, double ridge) {
  Eigen::Index size = moments.reads.rows() - 1;
  Eigen::MatrixXd sums = moments.reads.selfadjointView<Eigen::Lower>();
  double mean = sums.diagonal().head(size).sum() / static_cast<double>(size);
  // The bias is free.
  sums.diagonal().head(size).array() += ridge * mean;
  sums(size, size) += 1e-9 * static_cast<double>(moments.count);
  Eigen::MatrixXd solved = sums.ldlt().solve(moments.gives);
  FittedMap result;
  result.map = solved.topRows(size).transpose().cast<float>();
  Eigen::VectorXf bias = solved.row(size).transpose().cast<float>();
  result.bias.assign(bias.data(), bias.data() + bias.size());
  return result;
}

std::vector<float> plan::chooseNeurons(const Eigen::VectorXd &variance,
                                       const Eigen::VectorXd &squares,
                                       int64_t count) {
  Eigen::VectorXd worth = variance.cwiseProduct(squares);
  std::vector<float> order(static_cast<size_t>(worth.size()));
  std::iota(order.begin(), order.end(), 0.0F);
  auto worthOf = [&](float neuron) {
    return worth[static_cast<Eigen::Index>(neuron)];
  };
  std::sort(order.begin(), order.end(), [&](float a, float b) {
    return std::pair(-worthOf(a), a) < std::pair(-worthOf(b), b);
  });
  order.resize(static_cast<size_t>(count));
  // In the order of the model, so that equal sets are equal files.
  std::sort(order.begin(), order.end());
  return order;
}

Status plan::writeMaps(const std::string &path,
                       const std::vector<FittedTensor> &tensors) {
  SafetensorsWriter writer;
  for (const FittedTensor &tensor : tensors)
    writer.add(tensor.name, "F32", tensor.shape,
               std::span<const float>(tensor.values));
  return writer.write(path);
}

//===----------------------------------------------------------------------===//
// Passes over a text
//===----------------------------------------------------------------------===//

namespace {
/// What an entry shows of one call, by name.
using Shown = std::map<std::string, Matrix>;

class Fitter {
public:
  Fitter(Session &session, const DepthPlan &plan,
         std::span<const int32_t> tokens, const FitOptions &options,
         const FitProgress &progress)
      : session(session), plan(plan), tokens(tokens), options(options),
        progress(progress) {}

  Status
  findNeurons(const std::function<Status(int64_t, Eigen::VectorXd &)> &squares,
              std::vector<FittedTensor> &rows);
  Status run(std::vector<FittedTensor> &maps);

private:
  using Body = std::function<Status(size_t call, const Shown &shown)>;
  /// Calls `entry` on every window and hands out what it shows of rows behind
  /// the first tokens of the plan.
  Status pass(const char *entry, const char *what, const Body &body);
  Status fitLayer(int64_t layer, const std::string &map,
                  std::vector<FittedTensor> &maps);
  Status fitTail(std::vector<FittedTensor> &maps);
  Status take(const std::string &map, const MapMoments &moments,
              std::vector<FittedTensor> &maps);
  Status set(const std::string &name, const Matrix &numbers);

  Session &session;
  const DepthPlan &plan;
  std::span<const int32_t> tokens;
  const FitOptions &options;
  const FitProgress &progress;
  std::vector<Shown> targets; ///< of each call
};
} // namespace

Status Fitter::pass(const char *name, const char *what, const Body &body) {
  const ModuleSpec &spec = session.module().spec();
  const EntrySpec *entry = nullptr;
  for (const EntrySpec &other : spec.entries)
    if (other.name == name)
      entry = &other;
  if (!entry)
    return Status::error(Code::BadArgument,
                         "the module has no entry '%s'; make it with "
                         "gist-compile --observe --plan",
                         name);
  auto window = static_cast<size_t>(options.window);
  size_t windows = tokens.size() / window, number = 0;
  if (windows == 0)
    return Status::error(Code::BadArgument,
                         "the texts have %zu tokens; a window has %zu",
                         tokens.size(), window);
  for (size_t i = 0; i < windows; ++i) {
    GIST_TRY(session.reset());
    for (size_t past = 0; past < window; ++number) {
      size_t count = std::min(static_cast<size_t>(options.call), window - past);
      std::span<const int32_t> piece = tokens.subspan(i * window + past, count);
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
          std::clamp<int64_t>(plan.first - static_cast<int64_t>(past), 0,
                              static_cast<int64_t>(count)));
      Shown shown;
      for (auto &[output, bytes] : outputs) {
        // Names of a module are unique, so the entry's stands before them.
        std::string own = output;
        if (size_t prefix = std::string(name).size() + 1;
            own.starts_with(std::string(name) + "."))
          own = own.substr(prefix);
        auto columns =
            static_cast<Eigen::Index>(bytes.size() / sizeof(float) / count);
        Eigen::Map<const Matrix> rows(
            reinterpret_cast<const float *>(bytes.data()),
            static_cast<Eigen::Index>(count), columns);
        shown[own] = rows.bottomRows(static_cast<Eigen::Index>(count - first));
      }
      GIST_TRY(body(number, shown));
      past += count;
    }
    progress(what, i + 1, windows);
  }
  return {};
}

Status Fitter::findNeurons(
    const std::function<Status(int64_t, Eigen::VectorXd &)> &squares,
    std::vector<FittedTensor> &rows) {
  struct Sums {
    Eigen::VectorXd first, second;
    double count = 0;
  };
  std::map<int64_t, Sums> sums;
  for (size_t i = 0; i < plan.layers.size(); ++i)
    if (plan.layers[i].kind == LayerDepth::Thin)
      sums[static_cast<int64_t>(i)];
  if (sums.empty())
    return {};
  GIST_TRY(pass(kTargetEntry, "neurons", [&](size_t, const Shown &shown) {
    for (auto &[layer, sum] : sums) {
      const Matrix &h = shown.at(neuronsName(layer));
      if (sum.count == 0)
        sum.first = sum.second = Eigen::VectorXd::Zero(h.cols());
      sum.first += h.colwise().sum().transpose().cast<double>();
      sum.second += h.array()
                        .square()
                        .matrix()
                        .colwise()
                        .sum()
                        .transpose()
                        .cast<double>();
      sum.count += static_cast<double>(h.rows());
    }
    return Status();
  }));
  for (auto &[layer, sum] : sums) {
    Eigen::VectorXd mean = sum.first / sum.count;
    Eigen::VectorXd variance = sum.second / sum.count - mean.cwiseProduct(mean);
    Eigen::VectorXd columns;
    GIST_TRY(squares(layer, columns));
    int64_t neurons = plan.layers[static_cast<size_t>(layer)].neurons;
    if (columns.size() != variance.size() || neurons > variance.size())
      return Status::error(Code::BadArgument,
                           "layer %lld has %lld neurons, but the model's "
                           "weight has %lld columns and the plan asks for %lld",
                           static_cast<long long>(layer),
                           static_cast<long long>(variance.size()),
                           static_cast<long long>(columns.size()),
                           static_cast<long long>(neurons));
    rows.push_back({thinRowsName(layer),
                    {neurons},
                    chooseNeurons(variance, columns, neurons)});
  }
  return {};
}

/// Puts numbers where the module has the weight, in its own format.
Status Fitter::set(const std::string &name, const Matrix &numbers) {
  const ModuleSpec &spec = session.module().spec();
  std::string wanted = "depth." + name;
  for (const WeightSpec &weight : spec.weights) {
    std::string own = weight.name.substr(0, weight.name.find(' '));
    if (own != wanted)
      continue;
    std::vector<uint8_t> bytes;
    GIST_TRY(encodeWeight(numbers, weight.format, bytes).in(weight.name));
    return session.setWeight(weight.name, {bytes.data(), bytes.size()});
  }
  return Status::error(Code::NotFound, "the module has no weight '%s'",
                       wanted.c_str());
}

Status Fitter::take(const std::string &map, const MapMoments &moments,
                    std::vector<FittedTensor> &maps) {
  FittedMap fitted = fitMap(moments, options.ridge);
  maps.push_back({map,
                  {fitted.map.rows(), fitted.map.cols()},
                  {fitted.map.data(), fitted.map.data() + fitted.map.size()}});
  maps.push_back(
      {biasName(map), {static_cast<int64_t>(fitted.bias.size())}, fitted.bias});
  return {};
}

Status Fitter::fitLayer(int64_t layer, const std::string &map,
                        std::vector<FittedTensor> &maps) {
  MapMoments moments;
  std::string stream = streamName(layer + 1);
  // With a map of zeros the stream behind the layer is what the map adds to.
  GIST_TRY(pass(kFitEntry, map.c_str(), [&](size_t call, const Shown &shown) {
    addRows(shown.at(map), targets[call].at(stream) - shown.at(stream),
            moments);
    targets[call].erase(stream);
    return Status();
  }));
  GIST_TRY(take(map, moments, maps));
  const FittedTensor &numbers = maps[maps.size() - 2], &bias = maps.back();
  GIST_TRY(
      set(map, Eigen::Map<const Matrix>(numbers.values.data(), numbers.shape[0],
                                        numbers.shape[1])));
  return set(biasName(map),
             Eigen::Map<const Matrix>(bias.values.data(), 1, bias.shape[0]));
}

Status Fitter::fitTail(std::vector<FittedTensor> &maps) {
  std::map<std::string, MapMoments> moments;
  GIST_TRY(pass(kFitEntry, "tail", [&](size_t call, const Shown &shown) {
    for (const auto &[name, rows] : targets[call])
      addRows(shown.at(kTailRows), rows, moments[name]);
    return Status();
  }));
  for (const auto &[name, sums] : moments)
    GIST_TRY(take(name, sums, maps));
  return {};
}

Status Fitter::run(std::vector<FittedTensor> &maps) {
  GIST_TRY(pass(kTargetEntry, "targets", [&](size_t, const Shown &shown) {
    Shown &kept = targets.emplace_back(shown);
    std::erase_if(kept, [](const auto &one) {
      return one.first.starts_with(neuronsName(0).substr(0, 8));
    });
    return Status();
  }));
  bool hasTail = false;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    auto layer = static_cast<int64_t>(i);
    switch (plan.layers[i].kind) {
    case LayerDepth::Full:
      break;
    case LayerDepth::Thin:
      GIST_TRY(fitLayer(layer, thinMapName(layer), maps));
      break;
    case LayerDepth::Linear:
      GIST_TRY(fitLayer(layer, linearMapName(layer), maps));
      break;
    case LayerDepth::Tail:
      hasTail = true;
      break;
    }
  }
  return hasTail ? fitTail(maps) : Status();
}

Status plan::findNeurons(
    Session &session, const DepthPlan &plan, std::span<const int32_t> tokens,
    const std::function<Status(int64_t, Eigen::VectorXd &)> &squares,
    const FitOptions &options, const FitProgress &progress,
    std::vector<FittedTensor> &rows) {
  return Fitter(session, plan, tokens, options, progress)
      .findNeurons(squares, rows);
}

Status plan::fitMaps(Session &session, const DepthPlan &plan,
                     std::span<const int32_t> tokens, const FitOptions &options,
                     const FitProgress &progress,
                     std::vector<FittedTensor> &maps) {
  return Fitter(session, plan, tokens, options, progress).run(maps);
}
