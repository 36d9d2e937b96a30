//===- ModelConfig.cpp - A model's hyper-parameters -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hyper-parameters from config.json or GGUF metadata, under the names that
// different architectures use for the same thing.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/ModelConfig.h"

#include "runtime/support/Json.h"

#include <cmath>
#include <numbers>

using namespace gist;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// ConfigReader
//===----------------------------------------------------------------------===//

/// null counts as absent: many config.json files have keys with null.
const json *ConfigReader::findJson(const ConfigKey &key,
                                   const char *&name) const {
  if (!config)
    return nullptr;
  for (const char *candidate : key.json) {
    auto found = config->find(candidate);
    if (found == config->end() || found->is_null())
      continue;
    name = candidate;
    return &*found;
  }
  return nullptr;
}

const GgufValue *ConfigReader::findGguf(const ConfigKey &key,
                                        std::string &name) const {
  if (!file || !key.gguf)
    return nullptr;
  name = prefix + key.gguf;
  auto found = file->metadata.find(name);
  return found == file->metadata.end() ? nullptr : &found->second;
}

static Status wrongType(const std::string &name, const char *expected) {
  return Status::error(Code::BadFile, "%s is not %s", inQuotes(name).c_str(),
                       expected);
}

bool ConfigReader::has(const ConfigKey &key) const {
  const char *jsonName = nullptr;
  std::string name;
  return findJson(key, jsonName) || findGguf(key, name);
}

Status ConfigReader::read(const ConfigKey &key, int64_t &out) const {
  const char *jsonName = nullptr;
  // A source is a folder or a file, so at most one of the two finds something.
  if (const json *value = findJson(key, jsonName)) {
    std::optional<int64_t> integer = integerOf(*value);
    if (!integer)
      return wrongType(jsonName, "an integer");
    out = *integer;
  }
  std::string name;
  if (const GgufValue *value = findGguf(key, name)) {
    std::optional<int64_t> integer = value->integer();
    if (!integer)
      return wrongType(name, "an integer");
    out = *integer;
  }
  return {};
}

Status ConfigReader::read(const ConfigKey &key, double &out) const {
  const char *jsonName = nullptr;
  if (const json *value = findJson(key, jsonName)) {
    if (!value->is_number())
      return wrongType(jsonName, "a number");
    out = value->get<double>();
  }
  std::string name;
  if (const GgufValue *value = findGguf(key, name)) {
    std::optional<double> number = value->number();
    if (!number)
      return wrongType(name, "a number");
    out = *number;
  }
  return {};
}

Status ConfigReader::read(const ConfigKey &key, bool &out) const {
  const char *jsonName = nullptr;
  if (const json *value = findJson(key, jsonName)) {
    if (!value->is_boolean())
      return wrongType(jsonName, "true or false");
    out = value->get<bool>();
  }
  std::string name;
  if (const GgufValue *value = findGguf(key, name)) {
    if (value->type != GgufType::Bool)
      return wrongType(name, "true or false");
    out = *value->integer() != 0;
  }
  return {};
}

Status ConfigReader::read(const ConfigKey &key, std::string &out) const {
  const char *jsonName = nullptr;
  if (const json *value = findJson(key, jsonName)) {
    if (!value->is_string())
      return wrongType(jsonName, "a string");
    out = value->get<std::string>();
  }
  std::string name;
  if (const GgufValue *value = findGguf(key, name)) {
    std::optional<std::string_view> text = value->string();
    if (!text)
      return wrongType(name, "a string");
    out = std::string(*text);
  }
  return {};
}

Status ConfigReader::read(const char *key,
                          std::vector<std::string> &out) const {
  const char *name = nullptr;
  const json *value = findJson({{key}}, name);
  if (!value)
    return {};
  std::vector<std::string> result;
  bool isList = value->is_array();
  for (size_t i = 0; isList && i < value->size(); ++i) {
    isList = (*value)[i].is_string();
    if (isList)
      result.push_back((*value)[i].get<std::string>());
  }
  if (!isList)
    return wrongType(key, "a list of strings");
  out = std::move(result);
  return {};
}

Status ConfigReader::read(const char *key, std::vector<int64_t> &out) const {
  const char *name = nullptr;
  const json *value = findJson({{key}}, name);
  if (!value)
    return {};
  std::vector<int64_t> result;
  bool isList = value->is_array();
  for (size_t i = 0; isList && i < value->size(); ++i) {
    std::optional<int64_t> integer = integerOf((*value)[i]);
    isList = integer.has_value();
    if (isList)
      result.push_back(*integer);
  }
  if (!isList)
    return wrongType(key, "a list of whole numbers");
  out = std::move(result);
  return {};
}

/// Absent means: as expected.
Status ConfigReader::expect(const ConfigKey &key, bool expected) const {
  bool value = expected;
  GIST_TRY(read(key, value));
  if (value == expected)
    return {};
  return Status::error(Code::Unsupported, "'%s' is %s, which is not supported",
                       *key.json.begin(), value ? "true" : "false");
}

/// Only config.json has nested objects.
std::optional<ConfigReader> ConfigReader::inside(const char *key) const {
  const char *name = nullptr;
  const json *value = findJson({{key}}, name);
  if (!value || !value->is_object())
    return std::nullopt;
  return ConfigReader(*value);
}

//===----------------------------------------------------------------------===//
// What architectures have in common
//===----------------------------------------------------------------------===//

static Status checkSize(const char *name, int64_t value, int64_t limit) {
  if (value >= 1 && value <= limit)
    return {};
  return Status::error(Code::BadFile,
                       "the %s is missing or outside the range 1 to %" PRId64
                       ": found %" PRId64,
                       name, limit, value);
}

static Status readActivation(const ConfigReader &reader, Activation &out) {
  std::string name;
  GIST_TRY(reader.read(
      {{"hidden_act", "activation_function", "hidden_activation"}}, name));
  if (name.empty()) // GGUF files do not say; the architecture's own stays.
    return {};
  if (name == "gelu")
    out = Activation::GeluErf;
  else if (name == "gelu_new" || name == "gelu_fast" ||
           name == "gelu_pytorch_tanh")
    out = Activation::GeluTanh;
  else if (name == "relu")
    out = Activation::Relu;
  else if (name == "silu" || name == "swish")
    out = Activation::Silu;
  else
    return Status::error(Code::Unsupported,
                         "the activation %s is not supported; supported are "
                         "gelu, gelu_new, relu and silu",
                         inQuotes(name).c_str());
  return {};
}

Status gist::readCommonConfig(const ConfigReader &reader, ModelConfig &config) {
  GIST_TRY(reader.read({{"vocab_size"}, "vocab_size"}, config.vocabSize));
  GIST_TRY(reader.read({{"hidden_size", "n_embd"}, "embedding_length"},
                       config.hiddenSize));
  GIST_TRY(reader.read({{"num_hidden_layers", "n_layer"}, "block_count"},
                       config.numLayers));
  GIST_TRY(
      reader.read({{"num_attention_heads", "n_head"}, "attention.head_count"},
                  config.numHeads));
  GIST_TRY(reader.read(
      {{"max_position_embeddings", "n_positions"}, "context_length"},
      config.contextLength));
  // Generous bounds that keep products of sizes far from overflow.
  constexpr int64_t kLimit = 1 << 24;
  GIST_TRY(checkSize("vocabulary size", config.vocabSize, kLimit));
  GIST_TRY(checkSize("hidden size", config.hiddenSize, kLimit));
  GIST_TRY(checkSize("number of layers", config.numLayers, 4096));
  GIST_TRY(checkSize("number of heads", config.numHeads, 65536));
  GIST_TRY(checkSize("context length", config.contextLength, kLimit));

  // Without grouped heads there are as many as query heads.
  config.numKvHeads = config.numHeads;
  GIST_TRY(reader.read({{"num_key_value_heads"}, "attention.head_count_kv"},
                       config.numKvHeads));
  config.headSize = config.hiddenSize / config.numHeads;
  GIST_TRY(
      reader.read({{"head_dim"}, "attention.key_length"}, config.headSize));
  // The default; a file with another size gives it.
  config.ffnSize = 4 * config.hiddenSize;
  GIST_TRY(reader.read(
      {{"intermediate_size", "ffn_dim", "n_inner"}, "feed_forward_length"},
      config.ffnSize));
  GIST_TRY(checkSize("number of KV heads", config.numKvHeads, config.numHeads));
  GIST_TRY(checkSize("head size", config.headSize, kLimit));
  GIST_TRY(checkSize("feed-forward size", config.ffnSize, kLimit));
  if (config.numHeads % config.numKvHeads != 0)
    return Status::error(Code::BadFile,
                         "%" PRId64 " heads are not a multiple of %" PRId64
                         " KV heads",
                         config.numHeads, config.numKvHeads);

  GIST_TRY(reader.read({{"layer_norm_epsilon", "layer_norm_eps"},
                        "attention.layer_norm_epsilon"},
                       config.normEpsilon));
  GIST_TRY(reader.read({{"rms_norm_eps"}, "attention.layer_norm_rms_epsilon"},
                       config.normEpsilon));
  // Written so that NaN fails.
  if (!(config.normEpsilon >= 0 && config.normEpsilon < 1))
    return Status::error(Code::BadFile,
                         "the norms' epsilon %g is not in [0, 1)",
                         config.normEpsilon);
  return readActivation(reader, config.activation);
}

Status gist::checkSlidingWindow(const ModelConfig &config) {
  constexpr int64_t kLimit = 1 << 24; // As for sizes.
  if (config.slidingWindow < 1 || config.slidingWindow > kLimit)
    return Status::error(Code::BadFile,
                         "a sliding window of %" PRId64
                         " tokens is outside the range 1 to %" PRId64,
                         config.slidingWindow, kLimit);
  return {};
}

Status gist::readExperts(const ConfigReader &reader, ModelConfig &config) {
  GIST_TRY(reader.read({{"num_local_experts", "num_experts"}, "expert_count"},
                       config.numExperts));
  // GGUF files of models without experts may say that there are none.
  if (config.numExperts == 0)
    return {};
  GIST_TRY(reader.read({{"num_experts_per_tok"}, "expert_used_count"},
                       config.expertsOfToken));
  config.expertSize = config.ffnSize;
  GIST_TRY(
      reader.read({{"moe_intermediate_size"}, "expert_feed_forward_length"},
                  config.expertSize));
  // Bounds as above: products of sizes stay far from overflow.
  GIST_TRY(checkSize("number of experts", config.numExperts, 4096));
  GIST_TRY(checkSize("number of experts of a token", config.expertsOfToken,
                     std::min<int64_t>(config.numExperts, 64)));
  return checkSize("size of an expert", config.expertSize, 1 << 24);
}

Status gist::readLayerTypes(const ConfigReader &reader, ModelConfig &config) {
  std::vector<std::string> types;
  GIST_TRY(reader.read("layer_types", types));
  if (types.empty())
    return {};
  if (static_cast<int64_t>(types.size()) != config.numLayers)
    return Status::error(Code::BadFile,
                         "'layer_types' has %zu entries for %" PRId64 " layers",
                         types.size(), config.numLayers);
  config.windowLayers.clear();
  for (const std::string &type : types) {
    bool hasWindow = type == "sliding_attention";
    if (!hasWindow && type != "full_attention")
      return Status::error(Code::Unsupported,
                           "the layer type %s is not supported; supported are "
                           "full_attention and sliding_attention",
                           inQuotes(type).c_str());
    config.windowLayers.push_back(hasWindow);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Rotary positions
//===----------------------------------------------------------------------===//

/// Llama 3's rule: slow pairs are slowed by `factor`, fast ones kept, and those
/// in between interpolated, by how many turns they make in the old context.
static Status scaleLlama3(const ConfigReader &reader, double factor,
                          std::vector<float> &frequencies) {
  double low = 0, high = 0, oldContext = 0;
  GIST_TRY(reader.read({{"low_freq_factor"}}, low));
  GIST_TRY(reader.read({{"high_freq_factor"}}, high));
  GIST_TRY(reader.read({{"original_max_position_embeddings"}}, oldContext));
  if (!(low > 0 && high > low && oldContext > 0))
    return Status::error(Code::BadFile,
                         "rope scaling 'llama3' lacks its three factors");
  for (float &frequency : frequencies) {
    double turns = oldContext * frequency / (2 * std::numbers::pi);
    double keep = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency =
        static_cast<float>(keep * frequency + (1 - keep) * frequency / factor);
  }
  return {};
}

Status gist::readRotaryConfig(const ConfigReader &reader, ModelConfig &config,
                              double base) {
  // The base and the rule stand in the open or in an object of their own, which
  // newer folders of models with windows have for each type of layers.
  std::optional<ConfigReader> nested = reader.inside("rope_parameters");
  if (!nested)
    nested = reader.inside("rope_scaling");
  if (std::optional<ConfigReader> full =
          nested ? nested->inside("full_attention") : std::nullopt)
    nested = full;
  const ConfigReader &scaling = nested ? *nested : reader;

  if (config.rotarySize == 0)
    config.rotarySize = config.headSize;
  double share = 0;
  GIST_TRY(reader.read({{"partial_rotary_factor", "rotary_pct"}}, share));
  GIST_TRY(scaling.read({{"partial_rotary_factor"}}, share));
  if (share > 0 && share <= 1)
    config.rotarySize =
        static_cast<int64_t>(share * static_cast<double>(config.headSize));
  GIST_TRY(
      reader.read({{"rotary_dim"}, "rope.dimension_count"}, config.rotarySize));
  // Elements rotate in pairs.
  if (config.rotarySize < 2 || config.rotarySize % 2 != 0 ||
      config.rotarySize > config.headSize)
    return Status::error(Code::BadFile,
                         "rotary positions cannot turn %" PRId64
                         " elements of a head of %" PRId64 " in pairs",
                         config.rotarySize, config.headSize);
  // Newer folders have rope_theta inside of rope_parameters, older ones beside
  // it. What is inside wins.
  GIST_TRY(reader.read({{"rope_theta"}, "rope.freq_base"}, base));
  return readRotaryFrequencies(scaling, base, config.rotarySize,
                               config.rotaryFrequencies);
}

Status gist::readRotaryFrequencies(const ConfigReader &reader, double base,
                                   int64_t size,
                                   std::vector<float> &frequencies) {
  double factor = 1;
  std::string rule = "default";
  GIST_TRY(reader.read({{"rope_theta"}, nullptr}, base));
  GIST_TRY(reader.read({{"rope_type", "type"}, "rope.scaling.type"}, rule));
  GIST_TRY(reader.read({{"factor"}, "rope.scaling.factor"}, factor));
  if (!(base > 0 && factor > 0))
    return Status::error(Code::BadFile,
                         "rope base %g or factor %g is not positive", base,
                         factor);

  // In f32 throughout, as the reference implementations do.
  int64_t numPairs = size / 2;
  frequencies.resize(numPairs);
  for (int64_t i = 0; i < numPairs; ++i) {
    float exponent = static_cast<float>(2 * i) / static_cast<float>(size);
    frequencies[i] = 1.0f / std::pow(static_cast<float>(base), exponent);
  }
  if (rule == "default" || rule == "none")
    return {};
  if (rule == "llama3")
    return scaleLlama3(reader, factor, frequencies);
  if (rule != "linear")
    return Status::error(
        Code::Unsupported,
        "the rope scaling %s is not supported; supported are linear and llama3",
        inQuotes(rule).c_str());
  for (float &frequency : frequencies)
    frequency /= static_cast<float>(factor);
  return {};
}
