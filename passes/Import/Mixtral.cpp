//===- Mixtral.cpp - Mixtral ----------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mistral with a mixture of experts in place of its feed-forward block. GGUF
// files call Mixtral llama.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/GraphBuilder.h"
#include "passes/Import/Llama.h"

using namespace gist;

static Status configureMixtral(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  config.normalizedExperts = true;
  // What `transformers` assumes where the keys are absent.
  config.numExperts = 8;
  config.expertsOfToken = 2;
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(readExperts(reader, config));
  // null, which released models have, means that there is no window.
  if (reader.has({{"sliding_window"}})) {
    GIST_TRY(reader.read({{"sliding_window"}}, config.slidingWindow));
    GIST_TRY(checkSlidingWindow(config));
  }
  return readRotaryConfig(reader, config, /*base=*/1e6);
}

mlir::Value gist::buildMixtralBlock(GraphBuilder &b, const ModelConfig &config,
                                    mlir::Value h) {
  static constexpr ExpertNames kNames = {
      ".block_sparse_moe.gate", ".block_sparse_moe.experts.#.w1",
      ".block_sparse_moe.experts.#.w3", ".block_sparse_moe.experts.#.w2"};
  return buildExperts(b, config, kNames, h);
}

const Architecture gist::kMixtral = {
    .name = "mixtral",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = {},
    .unused = {"rotary_emb.inv_freq"},
    .configure = configureMixtral,
    .build = buildLlama,
};
