//===- Gpt2.cpp - GPT-2 ---------------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPT-2: learned positions, norms before the blocks, one product for queries,
// keys and values.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Architecture.h"
#include "passes/Import/GraphBuilder.h"

using namespace gist;
using mlir::Value;

static Status configureGpt2(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::GeluTanh;
  config.normEpsilon = 1e-5;
  // Folders keep these weights as inputs x outputs.
  config.transposedLinears = !source.isGguf;
  // Flags that change the graph are refused where they are not as in the
  // published models.
  GIST_TRY(reader.expect({{"scale_attn_weights"}}, true));
  GIST_TRY(reader.expect({{"scale_attn_by_inverse_layer_idx"}}, false));
  return readCommonConfig(reader, config);
}

static void buildGpt2(GraphBuilder &b, const ModelConfig &c) {
  Value x = b.add(b.embedding("wte", c.vocabSize, c.hiddenSize),
                  b.positions("wpe", c.contextLength, c.hiddenSize));
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    Value h = b.layerNorm(x, ".ln_1");
    Value qkv = b.linear(h, ".attn.c_attn", 3 * c.hiddenSize, Bias::Yes);
    // Queries, keys and values are a third of the columns each, in this order.
    auto part = [&](int64_t i) {
      return b.heads(b.columns(qkv, i * c.hiddenSize, c.hiddenSize),
                     c.numHeads);
    };
    Value a = b.attention(part(0), part(1), part(2));
    x = b.add(x, b.linear(a, ".attn.c_proj", c.hiddenSize, Bias::Yes));

    h = b.layerNorm(x, ".ln_2");
    h = b.activation(b.linear(h, ".mlp.c_fc", c.ffnSize, Bias::Yes));
    x = b.add(x, b.linear(h, ".mlp.c_proj", c.hiddenSize, Bias::Yes));
  }
  b.leaveLayers();
  x = b.layerNorm(b.rowsOfLogits(x), "ln_f");
  b.finish(b.logits(x, "lm_head", "wte"));
}

const Architecture gist::kGpt2 = {
    .name = "gpt2",
    .isDecoder = true,
    .prefix = "transformer.",
    .layers = "h",
    .ggufNames = {{"wte", "token_embd"},
                  {"wpe", "position_embd"},
                  {".ln_1", ".attn_norm"},
                  {".attn.c_attn", ".attn_qkv"},
                  {".attn.c_proj", ".attn_output"},
                  {".ln_2", ".ffn_norm"},
                  {".mlp.c_fc", ".ffn_up"},
                  {".mlp.c_proj", ".ffn_down"},
                  {"ln_f", "output_norm"},
                  {"lm_head", "output"}},
    .unused = {".attn.bias", ".attn.masked_bias"}, // The causal mask.
    .configure = configureGpt2,
    .build = buildGpt2,
};
