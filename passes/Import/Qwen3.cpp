//===- Qwen3.cpp - Qwen3 --------------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen2 with norms of every head of queries and keys in place of biases.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Llama.h"

using namespace gist;

static Status configureQwen3(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  config.queryNorm = QueryNorm::Heads;
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(readQwenWindow(reader, config));
  return readRotaryConfig(reader, config);
}

const Architecture gist::kQwen3 = {
    .name = "qwen3",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = kLlamaGgufNames,
    .unused = {"rotary_emb.inv_freq"},
    .configure = configureQwen3,
    .build = buildLlama,
};
