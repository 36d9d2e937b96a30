//===- ModelConfig.h - A model's hyper-parameters ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_FILES_MODELCONFIG_H
#define GIST_PASSES_IMPORT_FILES_MODELCONFIG_H

#include "passes/Import/Files/Gguf.h"

#include "nlohmann/json.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace gist {

enum class Activation { GeluErf, GeluTanh, Relu, Silu };

/// Which two elements of a head rotate together, i counting up to half of what
/// rotates.
enum class RotaryPairs {
  Halves,     ///< i and i + half: GPT-NeoX, Llama in Hugging Face folders.
  Neighbours, ///< 2i and 2i + 1: GPT-J, Llama in GGUF files, whose query and
              ///< key rows are permuted for it.
};

/// Which parts of queries and keys are normalised before the rotation.
enum class QueryNorm { None, Heads, Rows };

/// How sentence-transformers models make one vector of the hidden states.
enum class Pooling { None, Mean };

/// The hyper-parameters of every architecture; those that an architecture does
/// not have keep their defaults.
struct ModelConfig {
  int64_t vocabSize = 0;
  int64_t hiddenSize = 0;
  int64_t numLayers = 0;
  int64_t numHeads = 0;
  int64_t numKvHeads = 0;
  int64_t headSize = 0;
  int64_t ffnSize = 0;
  int64_t contextLength = 0; ///< Positions that the model knows.
  int64_t capacity = 0;      ///< The most tokens at once, cached ones included.
  double normEpsilon = 0;
  Activation activation = Activation::GeluErf;

  // Rotary positions.
  RotaryPairs rotaryPairs = RotaryPairs::Halves;
  int64_t rotarySize = 0;               ///< Elements of a head that rotate.
  std::vector<float> rotaryFrequencies; ///< Radians per position, one a pair.
  /// Gemma 3: those of layers with a window; empty: the same.
  std::vector<float> windowFrequencies;

  // Attention sees this many of the last tokens (0: all of them) in the layers
  // that have the window; empty: all have it.
  int64_t slidingWindow = 0;
  std::vector<bool> windowLayers;
  bool hasWindow(int64_t layer) const {
    return slidingWindow > 0 &&
           (windowLayers.empty() || windowLayers[static_cast<size_t>(layer)]);
  }

  // A mixture of experts: every token is computed by some of them, in the
  // layers that have them; empty: all have.
  int64_t numExperts = 0; ///< 0: one feed-forward block for all tokens.
  int64_t expertsOfToken = 0;
  int64_t expertSize = 0;
  int64_t sharedExpertSize = 0;   ///< Of one that all tokens have; 0: none.
  bool normalizedExperts = false; ///< The shares of a token add up to one.
  std::vector<bool> expertLayers;
  bool hasExperts(int64_t layer) const {
    return numExperts > 0 &&
           (expertLayers.empty() || expertLayers[static_cast<size_t>(layer)]);
  }

  // The rest is one architecture's own.
  bool queryBias = false; ///< Qwen2: of queries, keys and values.
  QueryNorm queryNorm = QueryNorm::None;
  double attentionScale = 0;      ///< Gemma: 0: 1 / sqrt of the head size.
  bool parallelResidual = true;   ///< GPT-NeoX: both blocks read one residual.
  bool normsLessOne = false;      ///< Gemma: stored norms are one too small.
  bool transposedLinears = false; ///< GPT-2: stored as inputs x outputs.
  bool normBefore = true;         ///< OPT: norms before the blocks, or after.
  int64_t embeddingSize = 0;      ///< OPT: may differ from the hidden size.
  int64_t numTokenTypes = 0;      ///< BERT.
  int64_t maskToken = -1;     ///< ESM-2: set where masked tokens are dropped.
  bool normEmbedding = false; ///< ESM-2.
  Pooling pooling = Pooling::None; ///< BERT.
  bool normalizeOutput = false;    ///< BERT: to unit length after pooling.
  int64_t maxSentence = 0; ///< BERT: tokens of a text; 0: as many as it takes.
};

/// One key in the two places where a model keeps its hyper-parameters.
struct ConfigKey {
  std::initializer_list<const char *> json; ///< Its names in config.json.
  const char *gguf = nullptr; ///< In GGUF, after the architecture's name.
};

/// Reads hyper-parameters by name. A value that is absent, or null, leaves
/// `out` as it was; one of another type is refused.
class ConfigReader {
public:
  explicit ConfigReader(const nlohmann::json &config) : config(&config) {}
  ConfigReader(const GgufFile &file, std::string architecture)
      : file(&file), prefix(std::move(architecture) + ".") {}

  bool isGguf() const { return file != nullptr; }
  bool has(const ConfigKey &key) const;
  Status read(const ConfigKey &key, int64_t &out) const;
  Status read(const ConfigKey &key, double &out) const;
  Status read(const ConfigKey &key, bool &out) const;
  Status read(const ConfigKey &key, std::string &out) const;

  /// Refuses a model whose flag `key` is not `expected`.
  Status expect(const ConfigKey &key, bool expected) const;

  /// A list of strings or of whole numbers of config.json; empty if the key is
  /// absent.
  Status read(const char *key, std::vector<std::string> &out) const;
  Status read(const char *key, std::vector<int64_t> &out) const;

  /// The same reader inside an object of config.json; none if there is no such
  /// object.
  std::optional<ConfigReader> inside(const char *key) const;

private:
  const nlohmann::json *findJson(const ConfigKey &key, const char *&name) const;
  const GgufValue *findGguf(const ConfigKey &key, std::string &name) const;

  const nlohmann::json *config = nullptr;
  const GgufFile *file = nullptr;
  std::string prefix;
};

/// Reads what most architectures have, and checks that sizes are sizes.
Status readCommonConfig(const ConfigReader &reader, ModelConfig &config);

/// Refuses a window that is not a number of tokens.
Status checkSlidingWindow(const ModelConfig &config);

/// Sets `config.windowLayers` from the list `layer_types` of a folder, where
/// there is one.
Status readLayerTypes(const ConfigReader &reader, ModelConfig &config);

/// Sets `config.numExperts` and `config.expertsOfToken` where the model has
/// experts, of the size of a feed-forward block.
Status readExperts(const ConfigReader &reader, ModelConfig &config);

/// Sets the rotary fields from the base frequency and the scaling rule;
/// `config.rotarySize` defaults to the head size, and `base` is the default.
Status readRotaryConfig(const ConfigReader &reader, ModelConfig &config,
                        double base = 10000);

/// The frequencies of `size` elements, by the base and the rule of `reader`;
/// `base` is the default.
Status readRotaryFrequencies(const ConfigReader &reader, double base,
                             int64_t size, std::vector<float> &frequencies);

} // namespace gist

#endif // GIST_PASSES_IMPORT_FILES_MODELCONFIG_H
