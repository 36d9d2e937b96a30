//===- LinearCalibration.cpp - What linear layers could do without --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/LinearCalibration.h"

#include "passes/Plan/File/LinearWeights.h"
#include "tools/planning/AllCores.h"
#include "tools/planning/LinearProbe.h"
#include "tools/planning/LinearRounding.h"
#include "tools/planning/RangeRefit.h"
#include "tools/planning/SafetensorsWriter.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <mutex>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

LinearProgress plan::showLinearProgress() {
  auto lock = std::make_shared<std::mutex>();
  bool isTerminal = isatty(STDERR_FILENO) != 0;
  return [=](const char *what, size_t done, size_t of) {
    if (!isTerminal && done != of)
      return;
    std::lock_guard<std::mutex> guard(*lock);
    std::fprintf(stderr, "%s%s %zu/%zu%s", isTerminal ? "\r\033[K" : "", what,
                 done, of, isTerminal && done != of ? "" : "\n");
    std::fflush(stderr);
  };
}

static constexpr int kResidualBins = 20;
/// Dimensions that are reported.
static constexpr int64_t kReportedK[] = {16, 32, 64, 128, 256};
/// One row of a head in so many may stay exact; the fewest rows first.
static constexpr int64_t kExactShares[] = {20, 10, 5};
/// Dimensions in which the error of a rounded weight could be corrected.
static constexpr int64_t kCorrectedK[] = {32, 64};
/// Rounding that is tried in the model: errors as small as plans make, but
/// not so small that nothing is measured.
static constexpr int kProbedBits = 3, kProbedHeadBits = 4;

static WeightFormat formatOfBits(int bits) {
  LinearChoice choice;
  choice.bits = bits;
  return choice.format();
}

/// Whether weights in `bits` bits are blocks that compensation chooses; others
/// are rounded to the nearest when a plan is compiled.
static bool isCompensated(int bits) { return bits < 8; }

namespace {
class Calibrator {
public:
  Calibrator(Session &session, const ModelSource &model,
             const CalibrationOptions &options, const LinearProgress &progress)
      : session(session), model(model), options(options), progress(progress) {}

  Status run(const std::vector<int32_t> &tokens, const std::string &path,
             LinearCalibration &result);

private:
  using Rows = std::function<void(size_t input, std::span<const float> rows)>;

  Status findInputs();
  /// Shows `body` what the linear layers read, window by window.
  Status observe(std::span<const int32_t> tokens, const char *what,
                 const Rows &body);
  Status findWeights();
  void makeBasisOf(size_t i, InputResult &input);
  void makeBases(LinearCalibration &result);
  Status roundWeights(SafetensorsWriter &writer,
                      std::span<const int32_t> tokens,
                      LinearCalibration &result);
  Status roundInput(size_t number, std::vector<std::vector<uint8_t>> &blocks,
                    InputResult &result);
  Status probe(std::span<const int32_t> tokens,
               const std::vector<std::vector<std::vector<uint8_t>>> &blocks,
               LinearCalibration &result);
  Matrix getHeadRows(int64_t columns) const;
  void probeHead(const std::vector<uint8_t> &blocks, InputResult &result);
  Status countResiduals(std::span<const int32_t> tokens,
                        LinearCalibration &result);
  int64_t getK(size_t number) const {
    return std::min<int64_t>(options.maxK, inputs[number].sums.rows());
  }

  Session &session;
  const ModelSource &model;
  const CalibrationOptions &options;
  const LinearProgress &progress;
  std::vector<std::string> outputs;
  std::vector<LinearMoments> inputs;
  std::vector<Basis> bases;
  std::vector<float> headRows; ///< what the head read
};
} // namespace

Status Calibrator::findInputs() {
  const ModuleSpec &spec = session.module().spec();
  for (const EntrySpec &entry : spec.entries) {
    if (entry.name != kEntryObserve)
      continue;
    for (const ObservationSpec &shown : entry.observations) {
      const BufferSpec &buffer = spec.buffers[entry.outputs[shown.output]];
      if (shown.kind != ObservationKind::Input || buffer.shape.size() != 2 ||
          (options.isOfHeadAlone && shown.layer >= 0))
        continue;
      LinearMoments moments;
      moments.layer = shown.layer;
      moments.group = shown.group;
      moments.weights = shown.weights;
      outputs.push_back(buffer.name);
      inputs.push_back(std::move(moments));
    }
    if (inputs.empty())
      return Status::error(Code::BadArgument,
                           "the entry 'observe' does not say what it shows; "
                           "compile the model again with gist-compile "
                           "--observe");
    return {};
  }
  return Status::error(Code::BadArgument,
                       "the module has no entry 'observe'; gist-compile "
                       "--observe makes one");
}

Status Calibrator::findWeights() {
  for (LinearMoments &input : inputs)
    for (const std::string &name : input.weights) {
      auto found = model.tensors().find(name);
      if (found == model.tensors().end() || found->second.shape.size() != 2)
        return Status::error(Code::NotFound,
                             "the model has no matrix %s; the module was "
                             "compiled from another model",
                             inQuotes(name).c_str());
      input.sums =
          Eigen::MatrixXd::Zero(found->second.shape[1], found->second.shape[1]);
    }
  return {};
}

Status Calibrator::observe(std::span<const int32_t> tokens, const char *what,
                           const Rows &body) {
  size_t total = tokens.size(), done = 0;
  int64_t window = std::min(options.window, session.maxTokens(kEntryObserve));
  while (!tokens.empty()) {
    std::span<const int32_t> piece =
        tokens.first(std::min<size_t>(window, tokens.size()));
    std::map<std::string, std::vector<uint8_t>> results;
    Bytes bytes = {reinterpret_cast<const uint8_t *>(piece.data()),
                   piece.size_bytes()};
    GIST_TRY(session.call(
        kEntryObserve,
        // Every window begins a text of its own.
        {{kSymbolTokens, static_cast<int64_t>(piece.size())}, {kSymbolPast, 0}},
        {{kTensorTokens, bytes}}, results));
    for (size_t i = 0; i < inputs.size(); ++i) {
      // A head reads the last row alone.
      size_t row = static_cast<size_t>(inputs[i].sums.rows()) * sizeof(float);
      if (results[outputs[i]].size() % row != 0)
        return Status::error(Code::BadFile,
                             "the rows of %s have another size than the "
                             "model's weights",
                             inputs[i].name().c_str());
    }
    forEachOnAllCores(inputs.size(), [&](size_t i) {
      const std::vector<uint8_t> &rows = results[outputs[i]];
      body(i, {reinterpret_cast<const float *>(rows.data()),
               rows.size() / sizeof(float)});
    });
    tokens = tokens.subspan(piece.size());
    done += piece.size();
    progress(what, done, total);
  }
  return {};
}

/// The input of the same group one layer before, if there is one.
static std::optional<size_t>
findBefore(const std::vector<LinearMoments> &inputs, size_t number) {
  if (inputs[number].isHead())
    return std::nullopt;
  for (size_t i = 0; i < number; ++i)
    if (inputs[i].layer == inputs[number].layer - 1 &&
        inputs[i].group == inputs[number].group)
      return i;
  return std::nullopt;
}

/// Makes the basis of an input, or takes that of the layer before where it
/// captures about as much here as it did where it was made.
void Calibrator::makeBasisOf(size_t i, InputResult &input) {
  int64_t k = getK(i);
  std::optional<size_t> before = findBefore(inputs, i);
  if (before && inputs[*before].sums.rows() == inputs[i].sums.rows()) {
    const Basis &old = bases[*before];
    // `captured` of an inherited basis is still that of the layer where it was
    // made, so that losses do not creep in layer by layer.
    double loss = old.captured[k] - capturedEnergy(inputs[i].sums, old.rows, k);
    input.inheritanceLoss = loss;
    if (options.inheritance > 0 && loss <= options.inheritance) {
      bases[i] = old;
      input.isInherited = true;
    }
  }
  if (!input.isInherited)
    bases[i] = makeBasis(inputs[i].sums, k);
  for (int64_t reported : kReportedK)
    if (reported <= k)
      input.captured[reported] =
          capturedEnergy(inputs[i].sums, bases[i].rows, reported);
}

void Calibrator::makeBases(LinearCalibration &result) {
  bases.resize(inputs.size());
  if (options.maxK == 0)
    return;
  // Layers of a group one after the other, groups at once.
  std::map<std::string, std::vector<size_t>> chains;
  for (size_t i = 0; i < inputs.size(); ++i)
    chains[inputs[i].group].push_back(i);
  std::vector<std::vector<size_t>> groups;
  for (auto &[name, chain] : chains)
    groups.push_back(std::move(chain));
  std::atomic<size_t> done = 0;
  forEachOnAllCores(groups.size(), [&](size_t group) {
    for (size_t i : groups[group]) {
      makeBasisOf(i, result.inputs[i]);
      progress("bases", ++done, inputs.size());
    }
  });
  for (const InputResult &input : result.inputs)
    result.decompositions += input.isInherited ? 0 : 1;
}

Status Calibrator::roundInput(size_t number,
                              std::vector<std::vector<uint8_t>> &blocks,
                              InputResult &result) {
  const LinearMoments &input = inputs[number];
  Compensation compensation;
  GIST_TRY(
      prepareCompensation(input.sums, nullptr, compensation).in(input.name()));
  const std::vector<int> &wanted =
      input.isHead() ? options.headBits : options.bits;
  for (const std::string &name : input.weights) {
    const StoredTensor &stored = model.tensors().find(name)->second;
    int64_t rows = stored.shape[0], columns = stored.shape[1];
    Matrix weight(rows, columns);
    dequantize(stored.format, stored.content, weight.data());
    WeightResult found{
        .name = name,
        .rows = rows,
        .columns = columns,
        .bytes = static_cast<int64_t>(stored.content.size),
        // The error of a weight that is all zero is the size of the outputs,
        // which makes other errors relative.
        .energy = outputError(weight, Matrix::Zero(rows, columns), input.sums),
        .rounded = {}};
    Matrix contexts;
    if (input.isHead() && options.refitsRanges)
      contexts = meanContexts(weight, getHeadRows(columns));
    for (int bits : wanted) {
      WeightFormat format = formatOfBits(bits);
      const FormatInfo &info = formatInfo(format);
      int64_t size = rows * columns / info.blockLength * info.blockBytes;
      // A format that is not smaller than the stored one only loses.
      if (columns % info.blockLength != 0 || size >= found.bytes)
        continue;
      std::vector<uint8_t> nearest(static_cast<size_t>(size));
      quantize(format, weight.data(), weight.size(), nearest.data());
      std::vector<uint8_t> rounded =
          isCompensated(bits) ? roundCompensated(weight, format, compensation)
                              : nearest;
      if (isCompensated(bits) && contexts.rows() == rows)
        refitRanges(weight, format, input, contexts, rounded);
      RoundingResult &errors = found.rounded[bits];
      errors.bytes = static_cast<int64_t>(rounded.size());
      errors.nearest = outputError(
          weight, expand(nearest, format, rows, columns), input.sums);
      Matrix values = expand(rounded, format, rows, columns);
      errors.compensated = outputError(weight, values, input.sums);
      for (int64_t k : kCorrectedK) {
        if (k > getK(number) || input.isHead())
          continue;
        auto v = bases[number].rows.topRows(k);
        Matrix image = (weight - values) * v.transpose();
        errors.corrected[k] =
            outputError(weight, values + image * v, input.sums);
      }
      blocks.push_back(std::move(rounded));
    }
    result.weights.push_back(std::move(found));
  }
  return {};
}

Matrix Calibrator::getHeadRows(int64_t columns) const {
  return Eigen::Map<const Matrix>(
      headRows.data(), static_cast<Eigen::Index>(headRows.size()) / columns,
      columns);
}

/// What rounding a head costs, from the rows that it read: no weight of the
/// module is changed, because it may be the table of embeddings too.
void Calibrator::probeHead(const std::vector<uint8_t> &blocks,
                           InputResult &result) {
  const WeightResult &weight = result.weights.front();
  const StoredTensor &stored = model.tensors().find(weight.name)->second;
  WeightFormat format = formatOfBits(result.probedBits);
  Matrix exact(weight.rows, weight.columns);
  dequantize(stored.format, stored.content, exact.data());
  Matrix rounded = expand(blocks, format, weight.rows, weight.columns);
  Matrix x = getHeadRows(weight.columns);
  x.conservativeResize(std::min(x.rows(), options.probeTokens),
                       Eigen::NoChange);
  Matrix reference(x.rows(), weight.rows), other(x.rows(), weight.rows);
  constexpr Eigen::Index kSlice = 4096;
  forEachOnAllCores(
      static_cast<size_t>((weight.rows + kSlice - 1) / kSlice),
      [&](size_t slice) {
        Eigen::Index first = static_cast<Eigen::Index>(slice) * kSlice,
                     count = std::min(kSlice, weight.rows - first);
        reference.middleCols(first, count).noalias() =
            x * exact.middleRows(first, count).transpose();
        other.middleCols(first, count).noalias() =
            x * rounded.middleRows(first, count).transpose();
      });
  auto span = [](const Matrix &matrix) {
    return std::span<const float>(matrix.data(),
                                  static_cast<size_t>(matrix.size()));
  };
  auto columns = static_cast<size_t>(weight.rows);
  result.divergence = meanDivergence(span(reference), span(other), columns);
  for (int64_t share : kExactShares) {
    int64_t rows = weight.rows / share;
    // Logits of exact rows are exact. The shares grow, so one matrix serves
    // all.
    other.leftCols(rows) = reference.leftCols(rows);
    result.exactRows[rows] =
        meanDivergence(span(reference), span(other), columns);
  }
}

Status
Calibrator::probe(std::span<const int32_t> tokens,
                  const std::vector<std::vector<std::vector<uint8_t>>> &blocks,
                  LinearCalibration &result) {
  LinearProbe probe(session);
  if (!options.isOfHeadAlone)
    GIST_TRY(probe.start(tokens));
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputResult &input = result.inputs[i];
    std::vector<Matrix> numbers;
    size_t number = 0, chosen = 0;
    for (const WeightResult &weight : input.weights) {
      if (weight.rounded.empty())
        continue;
      auto probed = weight.rounded.find(inputs[i].isHead() ? kProbedHeadBits
                                                           : kProbedBits);
      if (probed == weight.rounded.end())
        probed = std::prev(weight.rounded.end());
      input.probedBits = probed->first;
      chosen = number + static_cast<size_t>(
                            std::distance(weight.rounded.begin(), probed));
      number += weight.rounded.size();
      // `blocks` has all formats of the first weight, then those of the second;
      // `number` is where those of this weight begin.
      numbers.push_back(expand(blocks[i][chosen],
                               formatOfBits(input.probedBits), weight.rows,
                               weight.columns));
    }
    if (numbers.size() != input.weights.size())
      continue;
    if (inputs[i].isHead())
      probeHead(blocks[i][chosen], input);
    else
      GIST_TRY(probe.measure(inputs[i].weights, numbers, input.divergence)
                   .in(input.name));
    progress("probes", i + 1, inputs.size());
  }
  return {};
}

Status Calibrator::roundWeights(SafetensorsWriter &writer,
                                std::span<const int32_t> tokens,
                                LinearCalibration &result) {
  std::vector<std::vector<std::vector<uint8_t>>> blocks(inputs.size());
  std::vector<Status> failures(inputs.size());
  std::atomic<size_t> done = 0;
  forEachOnAllCores(inputs.size(), [&](size_t i) {
    failures[i] = roundInput(i, blocks[i], result.inputs[i]);
    progress("rounding", ++done, inputs.size());
  });
  for (Status &failure : failures)
    GIST_TRY(std::move(failure));
  if (options.probeTokens > 0) {
    int64_t most = std::min(options.probeTokens, session.capacity());
    GIST_TRY(
        probe(tokens.first(std::min(tokens.size(), static_cast<size_t>(most))),
              blocks, result));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    size_t number = 0;
    for (const WeightResult &weight : result.inputs[i].weights)
      for (const auto &[bits, rounded] : weight.rounded) {
        WeightFormat format = formatOfBits(bits);
        const FormatInfo &info = formatInfo(format);
        std::vector<uint8_t> &content = blocks[i][number++];
        if (isCompensated(bits))
          writer.add(
              roundedName(weight.name, format), "U8",
              {weight.rows, weight.columns / info.blockLength, info.blockBytes},
              std::move(content));
      }
  }
  return {};
}

Status Calibrator::countResiduals(std::span<const int32_t> tokens,
                                  LinearCalibration &result) {
  auto count = [&](size_t i, std::span<const float> rows) {
    Eigen::Index size = inputs[i].sums.rows();
    Eigen::Map<const Matrix> x(
        rows.data(), static_cast<Eigen::Index>(rows.size()) / size, size);
    Matrix inside = x * bases[i].rows.transpose();
    for (int64_t k : kReportedK) {
      if (k > getK(i))
        continue;
      std::vector<int64_t> &bins = result.inputs[i].residuals[k];
      bins.resize(kResidualBins);
      Matrix left = x - inside.leftCols(k) * bases[i].rows.topRows(k);
      for (Eigen::Index row = 0; row < x.rows(); ++row) {
        float norm = x.row(row).norm();
        float ratio = norm > 0 ? left.row(row).norm() / norm : 0;
        int bin = std::clamp(static_cast<int>(ratio * kResidualBins), 0,
                             kResidualBins - 1);
        ++bins[bin];
      }
    }
  };
  return observe(tokens, "residuals", count);
}

Status Calibrator::run(const std::vector<int32_t> &tokens,
                       const std::string &path, LinearCalibration &result) {
  GIST_TRY(findInputs());
  GIST_TRY(findWeights());
  if (tokens.size() < 2)
    return Status::error(Code::BadArgument,
                         "the text is empty: there is nothing to calibrate "
                         "with");
  std::span<const int32_t> text(tokens);
  text = text.first(std::min<size_t>(text.size(), options.maxTokens));
  GIST_TRY(observe(text, "moments", [&](size_t i, std::span<const float> rows) {
    addRows(rows, inputs[i]);
    if (inputs[i].isHead())
      headRows.insert(headRows.end(), rows.begin(), rows.end());
  }));
  result.tokens = static_cast<int64_t>(text.size());
  result.inputs.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    result.inputs[i].name = inputs[i].name();
    result.inputs[i].size = inputs[i].sums.rows();
  }
  makeBases(result);
  SafetensorsWriter writer;
  GIST_TRY(roundWeights(writer, text, result));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].isHead() && bases[i].rows.size() > 0)
      writer.add(
          // The same name as basisName(), by which the compiler looks for it.
          inputs[i].name() + ".basis", "F32",
          {bases[i].rows.rows(), bases[i].rows.cols()},
          std::span<const float>(bases[i].rows.data(),
                                 static_cast<size_t>(bases[i].rows.size())));
  if (options.maxK > 0)
    GIST_TRY(countResiduals(
        text.first(std::min<size_t>(text.size(), options.residualTokens)),
        result));
  return writer.write(path);
}

Status plan::calibrateLinears(Session &session, const ModelSource &model,
                              const std::vector<int32_t> &tokens,
                              const CalibrationOptions &options,
                              const std::string &path,
                              const LinearProgress &progress,
                              LinearCalibration &result) {
  return Calibrator(session, model, options, progress)
      .run(tokens, path, result);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

template <typename T> static Json byK(const std::map<int64_t, T> &values) {
  Json json = Json::object();
  for (const auto &[k, value] : values)
    json[std::to_string(k)] = value;
  return json;
}

static Json toJson(const WeightResult &weight) {
  Json rounded = Json::object();
  for (const auto &[bits, result] : weight.rounded)
    rounded[std::to_string(bits)] = {{"bytes", result.bytes},
                                     {"nearest", result.nearest},
                                     {"compensated", result.compensated},
                                     {"corrected", byK(result.corrected)}};
  return {{"name", weight.name},       {"rows", weight.rows},
          {"columns", weight.columns}, {"bytes", weight.bytes},
          {"energy", weight.energy},   {"rounded", rounded}};
}

std::string LinearCalibration::print() const {
  std::string text =
      "{\"gist_linears\": 1, \"tokens\": " + std::to_string(tokens) +
      ",\n \"decompositions\": " + std::to_string(decompositions) +
      ",\n \"inputs\": [";
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputResult &input = inputs[i];
    Json weights = Json::array();
    for (const WeightResult &weight : input.weights)
      weights.push_back(toJson(weight));
    Json json = {{"name", input.name},
                 {"size", input.size},
                 {"inherited", input.isInherited},
                 {"inheritance_loss", input.inheritanceLoss
                                          ? Json(*input.inheritanceLoss)
                                          : Json()},
                 {"probed_bits", input.probedBits},
                 {"divergence", input.divergence},
                 {"exact_rows", byK(input.exactRows)},
                 {"captured", byK(input.captured)},
                 {"residuals", byK(input.residuals)},
                 {"weights", weights}};
    text += (i ? ",\n  " : "\n  ") + json.dump();
  }
  return text + "]}\n";
}
