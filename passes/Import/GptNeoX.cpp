//===- GptNeoX.cpp - GPT-NeoX, Pythia -------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPT-NeoX: attention and feed-forward read norms of the same rows and are
// added together; a part of each head turns. One linear layer gives queries,
// keys and values, head by head.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Architecture.h"
#include "passes/Import/GraphBuilder.h"

using namespace gist;
using mlir::Value;

static Status configureGptNeoX(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::GeluErf;
  config.normEpsilon = 1e-5;
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(reader.read({{"use_parallel_residual"}}, config.parallelResidual));
  // The default.
  config.rotarySize = config.headSize / 4;
  double base = 10000;
  GIST_TRY(reader.read({{"rotary_emb_base"}}, base));
  return readRotaryConfig(reader, config, base);
}

static void buildGptNeoX(GraphBuilder &b, const ModelConfig &c) {
  Value x = b.embedding("embed_in", c.vocabSize, c.hiddenSize);
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    Value h = b.layerNorm(x, ".input_layernorm");
    Value all = b.linear(h, ".attention.query_key_value", 3 * c.hiddenSize);
    auto part = [&](int64_t number) {
      return b.headsOfPart(all, c.numHeads, number, /*parts=*/3);
    };
    Value a = b.attention(b.rotary(part(0)), b.rotary(part(1)), part(2));
    a = b.add(x, b.linear(a, ".attention.dense", c.hiddenSize));

    Value m =
        b.layerNorm(c.parallelResidual ? x : a, ".post_attention_layernorm");
    m = b.activation(b.linear(m, ".mlp.dense_h_to_4h", c.ffnSize));
    x = b.add(a, b.linear(m, ".mlp.dense_4h_to_h", c.hiddenSize));
  }
  b.leaveLayers();
  x = b.layerNorm(b.rowsOfLogits(x), "final_layer_norm");
  b.finish(b.logits(x, "embed_out", "embed_in"));
}

const Architecture gist::kGptNeoX = {
    .name = "gpt_neox",
    .isDecoder = true,
    .prefix = "gpt_neox.",
    .layers = "layers",
    .ggufNames = {},
    // The causal mask, and what rotary positions are computed from.
    .unused = {".attention.bias", ".attention.masked_bias",
               "rotary_emb.inv_freq"},
    .configure = configureGptNeoX,
    .build = buildGptNeoX,
};
