//===- Olmo2.cpp - OLMo 2 -------------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Llama with norms after its blocks instead of before them, and norms of whole
// rows of queries and keys.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/GraphBuilder.h"
#include "passes/Import/Llama.h"

using namespace gist;
using mlir::Value;

static Status configureOlmo2(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  config.queryNorm = QueryNorm::Rows;
  GIST_TRY(readCommonConfig(reader, config));
  return readRotaryConfig(reader, config);
}

static void buildOlmo2(GraphBuilder &b, const ModelConfig &c) {
  Value x = b.embedding("embed_tokens", c.vocabSize, c.hiddenSize);
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    x = b.add(x, b.rmsNorm(buildLlamaAttention(b, c, x),
                           ".post_attention_layernorm"));
    x = b.add(
        x, b.rmsNorm(buildGatedBlock(b, c, x), ".post_feedforward_layernorm"));
  }
  b.leaveLayers();
  x = b.rmsNorm(b.rowsOfLogits(x), "norm");
  b.finish(b.logits(x, "lm_head", "embed_tokens"));
}

const Architecture gist::kOlmo2 = {
    .name = "olmo2",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = {{"embed_tokens", "token_embd"},
                  {".self_attn.q_proj", ".attn_q"},
                  {".self_attn.k_proj", ".attn_k"},
                  {".self_attn.v_proj", ".attn_v"},
                  {".self_attn.o_proj", ".attn_output"},
                  {".self_attn.q_norm", ".attn_q_norm"},
                  {".self_attn.k_norm", ".attn_k_norm"},
                  {".post_attention_layernorm", ".post_attention_norm"},
                  {".mlp.gate_proj", ".ffn_gate"},
                  {".mlp.up_proj", ".ffn_up"},
                  {".mlp.down_proj", ".ffn_down"},
                  {".post_feedforward_layernorm", ".post_ffw_norm"},
                  {"norm", "output_norm"},
                  {"lm_head", "output"}},
    .unused = {"rotary_emb.inv_freq"},
    .configure = configureOlmo2,
    .build = buildOlmo2,
};
