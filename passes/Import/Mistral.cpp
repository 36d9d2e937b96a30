//===- Mistral.cpp - Mistral ----------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Llama whose attention sees a window of the past. GGUF files call Mistral
// llama.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Llama.h"

using namespace gist;

static Status configureMistral(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  GIST_TRY(readCommonConfig(reader, config));
  // The first version's window is what `transformers` assumes where the key is
  // absent. null, which later versions have, means that there is no window.
  auto window = source.folder.config.find("sliding_window");
  if (window == source.folder.config.end() || !window->is_null()) {
    config.slidingWindow = 4096;
    GIST_TRY(reader.read({{"sliding_window"}}, config.slidingWindow));
    GIST_TRY(checkSlidingWindow(config));
  }
  return readRotaryConfig(reader, config);
}

const Architecture gist::kMistral = {
    .name = "mistral",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = {},
    .unused = {"rotary_emb.inv_freq"},
    .configure = configureMistral,
    .build = buildLlama,
};
