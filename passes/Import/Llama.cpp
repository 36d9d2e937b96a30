//===- Llama.cpp - Llama, SmolLM2 -----------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Llama and its relatives (SmolLM2, TinyLlama): RMS norms, rotary positions,
// grouped KV heads and a gated feed-forward block. Biases are added where a
// model has them. GGUF files of Mixtral are called Llama's too.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Llama.h"

#include "passes/Import/GraphBuilder.h"

using namespace gist;
using mlir::Value;

static Status configureLlama(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  // GGUF files hold query and key rows permuted for neighbouring pairs.
  config.rotaryPairs =
      source.isGguf ? RotaryPairs::Neighbours : RotaryPairs::Halves;
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(readRotaryConfig(reader, config));
  if (source.isGguf) {
    config.normalizedExperts = true;
    GIST_TRY(readExperts(reader, config));
  }
  // GGUF files state Llama 3's scaling as a tensor of factors.
  return scaleRotaryByTensor(source, "rope_freqs.weight", config);
}

Value gist::buildLlamaAttention(GraphBuilder &b, const ModelConfig &c,
                                Value h) {
  Bias bias = c.queryBias ? Bias::Yes : Bias::IfStored;
  auto project = [&](const char *name, int64_t count, const char *norm) {
    Value x = b.heads(b.linear(h, name, count * c.headSize, bias), count);
    if (!norm || c.queryNorm == QueryNorm::None)
      return x;
    return c.queryNorm == QueryNorm::Heads ? b.headNorm(x, norm)
                                           : b.rowNorm(x, norm);
  };
  Value q = project(".self_attn.q_proj", c.numHeads, ".self_attn.q_norm");
  Value k = project(".self_attn.k_proj", c.numKvHeads, ".self_attn.k_norm");
  Value v = project(".self_attn.v_proj", c.numKvHeads, /*norm=*/nullptr);
  return b.linear(b.attention(b.rotary(q), b.rotary(k), v), ".self_attn.o_proj",
                  c.hiddenSize);
}

Value gist::buildGatedBlock(GraphBuilder &b, const ModelConfig &c, Value h) {
  Value gate = b.activation(b.linear(h, ".mlp.gate_proj", c.ffnSize));
  Value up = b.linear(h, ".mlp.up_proj", c.ffnSize);
  return b.linear(b.multiply(gate, up), ".mlp.down_proj", c.hiddenSize);
}

Value gist::buildExperts(GraphBuilder &b, const ModelConfig &c,
                         const ExpertNames &names, Value h) {
  GraphBuilder::Routes routes =
      b.route(b.linear(h, names.router, c.numExperts));
  int64_t size = c.hiddenSize, inner = c.expertSize;
  Value gate = b.activation(b.expertLinear(h, names.gate, size, inner, routes));
  Value up = b.expertLinear(h, names.up, size, inner, routes);
  Value down =
      b.expertLinear(b.multiply(gate, up), names.down, inner, size, routes);
  return b.addShares(down, routes);
}

void gist::buildLlama(GraphBuilder &b, const ModelConfig &c,
                      Value (*experts)(GraphBuilder &, const ModelConfig &,
                                       Value)) {
  Value x = b.embedding("embed_tokens", c.vocabSize, c.hiddenSize);
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    Value h = b.rmsNorm(x, ".input_layernorm");
    x = b.add(x, buildLlamaAttention(b, c, h));
    h = b.rmsNorm(x, ".post_attention_layernorm");
    x = b.add(x, c.hasExperts(layer) ? experts(b, c, h)
                                     : buildGatedBlock(b, c, h));
  }
  b.leaveLayers();
  x = b.rmsNorm(b.rowsOfLogits(x), "norm");
  b.finish(b.logits(x, "lm_head", "embed_tokens"));
}

void gist::buildLlama(GraphBuilder &b, const ModelConfig &c) {
  buildLlama(b, c, buildMixtralBlock);
}

const Architecture gist::kLlama = {
    .name = "llama",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = kLlamaGgufNames,
    .unused = {"rotary_emb.inv_freq", "rope_freqs.weight"},
    .configure = configureLlama,
    .build = buildLlama,
};
