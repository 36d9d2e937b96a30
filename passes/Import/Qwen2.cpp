//===- Qwen2.cpp - Qwen2 --------------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Llama with biases of queries, keys and values. Pairs half a head apart rotate
// in GGUF files too.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Llama.h"

using namespace gist;

/// The layers from `max_window_layers` on have the window, and only where
/// `use_sliding_window` says so. Newer folders list the layers as well.
Status gist::readQwenWindow(const ConfigReader &reader, ModelConfig &config) {
  bool used = false;
  GIST_TRY(reader.read({{"use_sliding_window"}}, used));
  // The defaults of transformers' configurations, for folders that leave them
  // out.
  int64_t first = 28;
  if (used) {
    config.slidingWindow = 4096;
    GIST_TRY(reader.read({{"sliding_window"}}, config.slidingWindow));
    GIST_TRY(reader.read({{"max_window_layers"}}, first));
    GIST_TRY(checkSlidingWindow(config));
  }
  for (int64_t layer = 0; layer < config.numLayers; ++layer)
    config.windowLayers.push_back(used && layer >= first);
  std::vector<bool> expected = config.windowLayers;
  GIST_TRY(readLayerTypes(reader, config));
  for (size_t i = 0; i < expected.size(); ++i)
    if (config.windowLayers[i] != expected[i])
      return Status::error(
          Code::Unsupported,
          "'layer_types' of layer %zu is not '%s', which "
          "'use_sliding_window' and 'max_window_layers' say",
          i, expected[i] ? "sliding_attention" : "full_attention");
  return {};
}

static Status configureQwen2(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  config.queryBias = true;
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(readQwenWindow(reader, config));
  return readRotaryConfig(reader, config);
}

const Architecture gist::kQwen2 = {
    .name = "qwen2",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = kLlamaGgufNames,
    .unused = {"rotary_emb.inv_freq"},
    .configure = configureQwen2,
    .build = buildLlama,
};
