//===- GptJ.cpp - GPT-J ---------------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Architecture.h"
#include "passes/Import/GraphBuilder.h"

using namespace gist;
using mlir::Value;

static Status configureGptJ(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::GeluTanh;
  config.normEpsilon = 1e-5;
  config.rotaryPairs = RotaryPairs::Neighbours;
  // The first 64 elements of a head rotate, in pairs of neighbours, unless the
  // file says otherwise.
  config.rotarySize = 64;
  GIST_TRY(readCommonConfig(reader, config));
  return readRotaryConfig(reader, config);
}

/// Attention and feed-forward both read the one norm and add to the residual.
static void buildGptJ(GraphBuilder &b, const ModelConfig &c) {
  Value x = b.embedding("wte", c.vocabSize, c.hiddenSize);
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    Value h = b.layerNorm(x, ".ln_1");
    auto project = [&](const char *name) {
      return b.heads(b.linear(h, name, c.hiddenSize), c.numHeads);
    };
    Value q = b.rotary(project(".attn.q_proj"));
    Value k = b.rotary(project(".attn.k_proj"));
    Value a = b.attention(q, k, project(".attn.v_proj"));
    a = b.linear(a, ".attn.out_proj", c.hiddenSize);

    Value m = b.activation(b.linear(h, ".mlp.fc_in", c.ffnSize, Bias::Yes));
    m = b.linear(m, ".mlp.fc_out", c.hiddenSize, Bias::Yes);
    // The two parallel blocks are added to each other first.
    x = b.add(x, b.add(a, m));
  }
  b.leaveLayers();
  x = b.layerNorm(b.rowsOfLogits(x), "ln_f");
  b.finish(b.logits(x, "lm_head", "wte", Bias::Yes));
}

const Architecture gist::kGptJ = {
    .name = "gptj",
    .isDecoder = true,
    .prefix = "transformer.",
    .layers = "h",
    .ggufNames = {},
    .unused = {".attn.bias", ".attn.masked_bias"}, // The causal mask.
    .configure = configureGptJ,
    .build = buildGptJ,
};
