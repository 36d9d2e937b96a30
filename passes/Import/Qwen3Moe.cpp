//===- Qwen3Moe.cpp - Qwen3 with a mixture of experts ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen3 whose feed-forward blocks are mixtures of experts.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Llama.h"

using namespace gist;

static Status configureQwen3Moe(const ModelSource &source,
                                ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  config.queryNorm = QueryNorm::Heads;
  // GGUF files do not say it, and all of their models do.
  config.normalizedExperts = source.isGguf;
  // What `transformers` assumes where the keys are absent.
  config.numExperts = 128;
  config.expertsOfToken = 8;
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(readQwenExperts(reader, config));
  GIST_TRY(readQwenWindow(reader, config));
  return readRotaryConfig(reader, config);
}

const Architecture gist::kQwen3Moe = {
    .name = "qwen3_moe",
    .ggufName = "qwen3moe",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = kLlamaGgufNames,
    .unused = {"rotary_emb.inv_freq"},
    .configure = configureQwen3Moe,
    .build = buildQwenMoe,
};
