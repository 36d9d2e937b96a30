//===- Llama.cpp - Llama, SmolLM2 -----------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Llama and its relatives (SmolLM2, TinyLlama): RMS norms, rotary positions,
// grouped KV heads and a gated feed-forward block. Biases are added where a
// model has them.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Llama.h"

#include "passes/Import/GraphBuilder.h"

using namespace gist;
using mlir::Value;

static Status configure(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  // GGUF files hold query and key rows permuted for neighbouring pairs.
  config.rotaryPairs =
      source.isGguf ? RotaryPairs::Neighbours : RotaryPairs::Halves;
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(readRotaryConfig(reader, config));
  // GGUF files state Llama 3's scaling as a tensor of factors.
  return scaleRotaryByTensor(source, "rope_freqs.weight", config);
}

void gist::buildLlama(GraphBuilder &b, const ModelConfig &c) {
  Value x = b.embedding("embed_tokens", c.vocabSize, c.hiddenSize);
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    Value h = b.rmsNorm(x, ".input_layernorm");
    Bias bias = c.queryBias ? Bias::Yes : Bias::IfStored;
    Value q =
        b.heads(b.linear(h, ".self_attn.q_proj", c.numHeads * c.headSize, bias),
                c.numHeads);
    Value k = b.heads(
        b.linear(h, ".self_attn.k_proj", c.numKvHeads * c.headSize, bias),
        c.numKvHeads);
    Value v = b.heads(
        b.linear(h, ".self_attn.v_proj", c.numKvHeads * c.headSize, bias),
        c.numKvHeads);
    Value a = b.attention(b.rotary(q), b.rotary(k), v);
    x = b.add(x, b.linear(a, ".self_attn.o_proj", c.hiddenSize));

    h = b.rmsNorm(x, ".post_attention_layernorm");
    Value gate = b.activation(b.linear(h, ".mlp.gate_proj", c.ffnSize));
    Value up = b.linear(h, ".mlp.up_proj", c.ffnSize);
    // silu(gate) * up, then down.
    x = b.add(x,
              b.linear(b.multiply(gate, up), ".mlp.down_proj", c.hiddenSize));
  }
  b.leaveLayers();
  x = b.rmsNorm(b.rowsOfLogits(x), "norm");
  b.finish(b.logits(x, "lm_head", "embed_tokens"));
}

const Architecture gist::kLlama = {
    .name = "llama",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = kLlamaGgufNames,
    .unused = {"rotary_emb.inv_freq", "rope_freqs.weight"},
    .configure = configure,
    .build = buildLlama,
};
