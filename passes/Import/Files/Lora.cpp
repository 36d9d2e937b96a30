//===- Lora.cpp - Adapters that are added to a model's weights ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/Lora.h"

#include "passes/Import/Files/ModelConfig.h"
#include "passes/Import/Files/Safetensors.h"
#include "runtime/support/Json.h"
#include "runtime/support/TextBytes.h"

#include <algorithm>
#include <cmath>

using namespace gist;
using nlohmann::json;

/// Refuses adapters that do more than add B A, and reads how much it counts.
static Status readAdapterConfig(const json &config, bool &rootOfRank,
                                double &alpha, int64_t &rank) {
  if (!config.is_object())
    return Status::error(Code::BadFile, "expected a JSON object");
  ConfigReader reader(config);
  std::string type, bias = "none";
  GIST_TRY(reader.read({{"peft_type"}}, type));
  if (type != "LORA")
    return Status::error(Code::Unsupported,
                         "'peft_type' is %s; expected 'LORA'",
                         inQuotes(type).c_str());
  GIST_TRY(reader.read({{"bias"}}, bias));
  if (bias != "none")
    return Status::error(Code::Unsupported,
                         "'bias' is %s; expected 'none': only matrices of "
                         "linear layers are merged",
                         inQuotes(bias).c_str());
  for (const char *key : {"use_dora", "lora_bias"})
    GIST_TRY(reader.expect({{key}}, false));
  for (const char *key : {"modules_to_save", "alpha_pattern"})
    if (config.contains(key) && !config[key].empty())
      return Status::error(Code::Unsupported,
                           "'%s' is not empty; expected an adapter of A and B "
                           "alone, which all count alike",
                           key);
  // Other ways to begin change the weights of the model as well.
  json begin = config.value("init_lora_weights", json(true));
  if (!begin.is_boolean() && begin != "gaussian" && begin != "eva" &&
      begin != "orthogonal")
    return Status::error(
        Code::Unsupported,
        "'init_lora_weights' changes the model's own weights; "
        "expected an adapter that was converted to plain LoRA");
  GIST_TRY(reader.read({{"use_rslora"}}, rootOfRank));
  GIST_TRY(reader.read({{"r"}}, rank));
  GIST_TRY(reader.read({{"lora_alpha"}}, alpha));
  // Ranks of some layers may differ: their matrices say so.
  if (config.contains("rank_pattern") && !config["rank_pattern"].empty())
    rank = 0;
  return std::isfinite(alpha)
             ? Status()
             : Status::error(Code::BadFile, "'lora_alpha' is not finite");
}

/// The layer of a tensor "base_model.model.LAYER.lora_A.weight"; empty: it is
/// not one of these.
static std::string_view layerOf(std::string_view name, bool &isA) {
  constexpr std::string_view kFront = "base_model.model.",
                             kA = ".lora_A.weight", kB = ".lora_B.weight";
  isA = name.ends_with(kA);
  if (!name.starts_with(kFront) || !(isA || name.ends_with(kB)) ||
      name.size() <= kFront.size() + kA.size())
    return {};
  return name.substr(kFront.size(), name.size() - kFront.size() - kA.size());
}

static Status checkShapes(const std::string &layer, int64_t rank,
                          const LoraAdapter::Update &update) {
  const auto &a = update.a.shape, &b = update.b.shape;
  if (a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[0] > 0 &&
      (rank == 0 || a[0] == rank))
    return {};
  if (a.empty() || b.empty())
    return Status::error(Code::BadFile, "layer %s has no %s; expected A and B",
                         inQuotes(layer).c_str(), a.empty() ? "A" : "B");
  std::string expected = rank == 0 ? "one number" : std::to_string(rank);
  return Status::error(Code::BadFile,
                       "layer %s has A of %s and B of %s; expected rank x "
                       "inputs and outputs x rank, with %s for the rank",
                       inQuotes(layer).c_str(), shapeText(a).c_str(),
                       shapeText(b).c_str(), expected.c_str());
}

Status gist::openLora(const std::string &path, LoraAdapter &out) {
  std::string configPath = path + "/adapter_config.json";
  std::unique_ptr<MappedFile> configFile;
  GIST_TRY(MappedFile::open(configPath, configFile).in(configPath));
  json config;
  GIST_TRY(parseJson(configFile->bytes().text(), config).in(configPath));
  bool rootOfRank = false;
  // PEFT's own defaults.
  double alpha = 8;
  int64_t rank = 8;
  GIST_TRY(readAdapterConfig(config, rootOfRank, alpha, rank).in(configPath));

  LoraAdapter adapter;
  std::string tensorPath = path + "/adapter_model.safetensors";
  GIST_TRY(MappedFile::open(tensorPath, adapter.file).in(tensorPath));
  SafetensorsFile content;
  GIST_TRY(readSafetensors(adapter.file->bytes(), content).in(tensorPath));
  auto refuse = [&](const std::string &name) {
    return Status::error(Code::Unsupported,
                         "%s: tensor %s is not an A or B of a linear layer in "
                         "f32, f16 or bf16, which is what is merged",
                         tensorPath.c_str(), inQuotes(name).c_str());
  };
  if (!content.skipped.empty())
    return refuse(content.skipped.begin()->first);
  if (!content.bytes.empty())
    return refuse(content.bytes.begin()->first);
  for (auto &[name, tensor] : content.tensors) {
    bool isA = false;
    std::string layer(layerOf(name, isA));
    if (layer.empty())
      return refuse(name);
    LoraAdapter::Update &update = adapter.updates[layer];
    (isA ? update.a : update.b) = std::move(tensor);
  }
  if (adapter.updates.empty())
    return Status::error(Code::BadFile, "%s: there are no tensors",
                         tensorPath.c_str());
  for (auto &[layer, update] : adapter.updates) {
    GIST_TRY(checkShapes(layer, rank, update).in(tensorPath));
    auto count = static_cast<double>(update.a.shape[0]);
    update.scale =
        static_cast<float>(alpha / (rootOfRank ? std::sqrt(count) : count));
  }
  out = std::move(adapter);
  return {};
}

static std::vector<float> expandNumbers(WeightFormat format, Bytes content,
                                        size_t count) {
  std::vector<float> values(count);
  dequantize(format, content, values.data());
  return values;
}

/// The row of B for row `row` of a matrix whose heads have their halves
/// alternating: rows 0, 1, 2, … of a head are 0, half, 1, half + 1, …
static size_t rowOfHalves(size_t row, size_t headSize) {
  size_t inHead = row % headSize;
  return row - inHead + (inHead % 2) * (headSize / 2) + inHead / 2;
}

static void storeNumber(WeightFormat format, float value, uint8_t *to) {
  if (format == WeightFormat::F32) {
    std::memcpy(to, &value, sizeof value);
    return;
  }
  uint16_t half =
      format == WeightFormat::BF16 ? floatToBfloat(value) : floatToHalf(value);
  std::memcpy(to, &half, sizeof half);
}

Status gist::readFactors(const LoraAdapter::Update &update, int64_t heads,
                         int64_t outputs, int64_t inputs,
                         LoraFactors &factors) {
  std::vector<int64_t> own = {update.b.shape[0], update.a.shape[1]};
  if (own != std::vector<int64_t>{outputs, inputs})
    return Status::error(
        Code::BadFile, "the adapter's layer is %s; the model's is %s",
        shapeText(own).c_str(), shapeText({outputs, inputs}).c_str());
  auto rows = static_cast<size_t>(outputs);
  auto rank = static_cast<size_t>(update.a.shape[0]);
  LoraFactors result;
  result.a = expandNumbers(update.a.format, update.a.content,
                           rank * static_cast<size_t>(inputs));
  std::vector<float> stored =
      expandNumbers(update.b.format, update.b.content, rows * rank);
  size_t headSize = heads == 0 ? 0 : rows / static_cast<size_t>(heads);
  result.b.reserve(stored.size());
  for (size_t i = 0; i < rows; ++i) {
    size_t from = headSize == 0 ? i : rowOfHalves(i, headSize);
    for (size_t k = 0; k < rank; ++k)
      result.b.push_back(stored[from * rank + k] * update.scale);
  }
  factors = std::move(result);
  return {};
}

Status gist::mergeLora(const LoraAdapter::Update &update, float scale,
                       int64_t heads, Weight &matrix) {
  if (matrix.shape.size() != 2)
    return Status::error(Code::Unsupported,
                         "the model's layer is %s; adapters change matrices",
                         shapeText(matrix.shape).c_str());
  LoraFactors factors;
  GIST_TRY(
      readFactors(update, heads, matrix.shape[0], matrix.shape[1], factors));
  auto rows = static_cast<size_t>(matrix.shape[0]);
  auto columns = static_cast<size_t>(matrix.shape[1]);
  auto rank = static_cast<size_t>(update.a.shape[0]);
  const FormatInfo &info = formatInfo(matrix.format);
  bool isKept =
      matrix.format == WeightFormat::F32 || matrix.format == WeightFormat::BF16;
  WeightFormat format = isKept ? matrix.format : WeightFormat::F16;
  size_t size = formatInfo(format).blockBytes;
  float largest = format == WeightFormat::F16 ? 65504.0f : 3.38e38f;
  size_t rowBytes = columns / info.blockLength * info.blockBytes;

  std::vector<uint8_t> bytes(rows * columns * size);
  std::vector<float> change(columns);
  bool isFinite = true;
  for (size_t i = 0; i < rows; ++i) {
    std::fill(change.begin(), change.end(), 0.0f);
    for (size_t k = 0; k < rank; ++k)
      for (size_t j = 0; j < columns; ++j)
        change[j] += factors.b[i * rank + k] * factors.a[k * columns + j];
    std::vector<float> row = expandNumbers(
        matrix.format, {matrix.content.data + i * rowBytes, rowBytes}, columns);
    for (size_t j = 0; j < columns; ++j) {
      float sum = row[j] + scale * change[j];
      isFinite = isFinite && std::fabs(sum) <= largest;
      storeNumber(format, sum, &bytes[(i * columns + j) * size]);
    }
  }
  // NaN is not <= anything.
  if (!isFinite)
    return Status::error(Code::BadFile,
                         "with the adapter there are numbers that %s cannot "
                         "hold",
                         formatInfo(format).name);
  matrix = ownWeight(format, matrix.shape, std::move(bytes));
  return {};
}

Status gist::storeNumbers(WeightFormat format, std::vector<int64_t> shape,
                          const std::vector<float> &values, Weight &result) {
  size_t size = formatInfo(format).blockBytes;
  float largest = format == WeightFormat::F16 ? 65504.0f : 3.38e38f;
  std::vector<uint8_t> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(std::fabs(values[i]) <= largest))
      return Status::error(Code::BadFile, "it has numbers that %s cannot hold",
                           formatInfo(format).name);
    storeNumber(format, values[i], &bytes[i * size]);
  }
  result = ownWeight(format, std::move(shape), std::move(bytes));
  return {};
}
