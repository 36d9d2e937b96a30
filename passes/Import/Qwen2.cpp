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
static Status readWindow(const ConfigReader &reader,
                         const nlohmann::json &folder, ModelConfig &config) {
  bool used = false;
  GIST_TRY(reader.read({{"use_sliding_window"}}, used));
  if (used) {
    // The defaults of transformers' Qwen2Config, for folders that leave them
    // out.
    config.slidingWindow = 4096;
    config.firstWindowLayer = 28;
    GIST_TRY(reader.read({{"sliding_window"}}, config.slidingWindow));
    GIST_TRY(reader.read({{"max_window_layers"}}, config.firstWindowLayer));
    GIST_TRY(checkSlidingWindow(config));
  }
  auto types = folder.find("layer_types");
  if (types == folder.end() || !types->is_array())
    return {};
  for (size_t i = 0; i < types->size(); ++i) {
    bool hasWindow = config.slidingWindow > 0 &&
                     static_cast<int64_t>(i) >= config.firstWindowLayer;
    const char *expected = hasWindow ? "sliding_attention" : "full_attention";
    if ((*types)[i] != expected)
      return Status::error(Code::Unsupported,
                           "'layer_types' of layer %zu is not '%s', which "
                           "'use_sliding_window' and 'max_window_layers' say",
                           i, expected);
  }
  return {};
}

static Status configure(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  config.queryBias = true;
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(readWindow(reader, source.folder.config, config));
  return readRotaryConfig(reader, config);
}

const Architecture gist::kQwen2 = {
    .name = "qwen2",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = kLlamaGgufNames,
    .unused = {"rotary_emb.inv_freq"},
    .configure = configure,
    .build = buildLlama,
};
