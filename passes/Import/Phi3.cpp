//===- Phi3.cpp - Phi-3 ---------------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Llama whose queries, keys and values are one linear layer, and gate and up
// another. The rotary rule of its models of 128k tokens, longrope, is refused.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Architecture.h"
#include "passes/Import/GraphBuilder.h"

using namespace gist;
using mlir::Value;

static Status configurePhi3(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  GIST_TRY(readCommonConfig(reader, config));
  ConfigKey window = {{"sliding_window"}, "attention.sliding_window"};
  if (reader.has(window)) {
    GIST_TRY(reader.read(window, config.slidingWindow));
    GIST_TRY(checkSlidingWindow(config));
  }
  return readRotaryConfig(reader, config);
}

static void buildPhi3(GraphBuilder &b, const ModelConfig &c) {
  int64_t queries = c.numHeads * c.headSize, keys = c.numKvHeads * c.headSize;
  Value x = b.embedding("embed_tokens", c.vocabSize, c.hiddenSize);
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    Value h = b.rmsNorm(x, ".input_layernorm");
    Value all = b.linear(h, ".self_attn.qkv_proj", queries + 2 * keys);
    Value q = b.heads(b.columns(all, 0, queries), c.numHeads);
    Value k = b.heads(b.columns(all, queries, keys), c.numKvHeads);
    Value v = b.heads(b.columns(all, queries + keys, keys), c.numKvHeads);
    Value a = b.attention(b.rotary(q), b.rotary(k), v);
    x = b.add(x, b.linear(a, ".self_attn.o_proj", c.hiddenSize));

    h = b.rmsNorm(x, ".post_attention_layernorm");
    Value both = b.linear(h, ".mlp.gate_up_proj", 2 * c.ffnSize);
    Value gate = b.activation(b.columns(both, 0, c.ffnSize));
    Value up = b.columns(both, c.ffnSize, c.ffnSize);
    x = b.add(x,
              b.linear(b.multiply(gate, up), ".mlp.down_proj", c.hiddenSize));
  }
  b.leaveLayers();
  x = b.rmsNorm(b.rowsOfLogits(x), "norm");
  b.finish(b.logits(x, "lm_head", "embed_tokens"));
}

const Architecture gist::kPhi3 = {
    .name = "phi3",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = {{"embed_tokens", "token_embd"},
                  {".input_layernorm", ".attn_norm"},
                  {".self_attn.qkv_proj", ".attn_qkv"},
                  {".self_attn.o_proj", ".attn_output"},
                  {".post_attention_layernorm", ".ffn_norm"},
                  {".mlp.gate_up_proj", ".ffn_up"},
                  {".mlp.down_proj", ".ffn_down"},
                  {"norm", "output_norm"},
                  {"lm_head", "output"}},
    .unused = {"rotary_emb.inv_freq"},
    .configure = configurePhi3,
    .build = buildPhi3,
};
