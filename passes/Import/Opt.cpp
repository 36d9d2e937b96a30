//===- Opt.cpp - OPT ------------------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OPT: learned positions with an offset, ReLU, norms before or after the
// blocks. In the smallest models the embedding is narrower than the hidden
// state.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Architecture.h"
#include "passes/Import/GraphBuilder.h"

using namespace gist;
using mlir::Value;

/// The table of positions begins with two rows that no token has.
static constexpr int64_t kPositionOffset = 2;

static Status configureOpt(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Relu;
  config.normEpsilon = 1e-5;
  // Variants that no published model has are refused.
  GIST_TRY(reader.expect({{"enable_bias"}}, true));
  GIST_TRY(reader.expect({{"layer_norm_elementwise_affine"}}, true));
  GIST_TRY(reader.expect({{"_remove_final_layer_norm"}}, false));
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(reader.read({{"do_layer_norm_before"}}, config.normBefore));
  config.embeddingSize = config.hiddenSize;
  return reader.read({{"word_embed_proj_dim"}}, config.embeddingSize);
}

static void buildOpt(GraphBuilder &b, const ModelConfig &c) {
  auto norm = [&](Value x, const char *name, bool wanted) {
    return wanted ? b.layerNorm(x, name) : x;
  };
  // The positions have the hidden size, so the projection comes before the sum.
  Value x = b.embedding("embed_tokens", c.vocabSize, c.embeddingSize);
  if (c.embeddingSize != c.hiddenSize)
    x = b.linear(x, "project_in", c.hiddenSize);
  x = b.add(x, b.positions("embed_positions", c.contextLength, c.hiddenSize,
                           kPositionOffset));
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    Value h = norm(x, ".self_attn_layer_norm", c.normBefore);
    auto project = [&](const char *name) {
      return b.heads(b.linear(h, name, c.hiddenSize, Bias::Yes), c.numHeads);
    };
    Value q = project(".self_attn.q_proj");
    Value k = project(".self_attn.k_proj");
    Value a = b.attention(q, k, project(".self_attn.v_proj"));
    x = b.add(x, b.linear(a, ".self_attn.out_proj", c.hiddenSize, Bias::Yes));
    x = norm(x, ".self_attn_layer_norm", !c.normBefore);

    h = norm(x, ".final_layer_norm", c.normBefore);
    h = b.activation(b.linear(h, ".fc1", c.ffnSize, Bias::Yes));
    x = b.add(x, b.linear(h, ".fc2", c.hiddenSize, Bias::Yes));
    x = norm(x, ".final_layer_norm", !c.normBefore);
  }
  b.leaveLayers();
  // With norms after the blocks there is no last one.
  x = norm(b.rowsOfLogits(x), "final_layer_norm", c.normBefore);
  if (c.embeddingSize != c.hiddenSize)
    x = b.linear(x, "project_out", c.embeddingSize);
  b.finish(b.logits(x, "lm_head", "embed_tokens"));
}

const Architecture gist::kOpt = {
    .name = "opt",
    .isDecoder = true,
    .prefix = "model.decoder.",
    .layers = "layers",
    .ggufNames = {},
    .unused = {},
    .configure = configureOpt,
    .build = buildOpt,
};
