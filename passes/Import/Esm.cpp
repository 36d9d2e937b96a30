//===- Esm.cpp - ESM-2 ----------------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ESM-2: an encoder for proteins, with rotary positions and norms before the
// blocks. Its head gives logits for masked tokens.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Architecture.h"
#include "passes/Import/GraphBuilder.h"

using namespace gist;
using mlir::Value;

static Status configureEsm(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  // The defaults of transformers' EsmConfig.
  config.normEpsilon = 1e-12;
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(readRotaryConfig(reader, config));
  std::string positions = "absolute";
  GIST_TRY(reader.read({{"position_embedding_type"}}, positions));
  if (positions != "rotary")
    return Status::error(
        Code::Unsupported,
        "positions of type %s are not supported; only rotary ones are",
        inQuotes(positions).c_str());
  GIST_TRY(reader.read({{"emb_layer_norm_before"}}, config.normEmbedding));
  bool dropsMasked = false;
  GIST_TRY(reader.read({{"token_dropout"}}, dropsMasked));
  if (dropsMasked)
    GIST_TRY(reader.read({{"mask_token_id"}}, config.maskToken));
  if (dropsMasked && config.maskToken < 0)
    return Status::error(Code::BadFile,
                         "'token_dropout' is set but 'mask_token_id' is not");
  return {};
}

static void buildEsm(GraphBuilder &b, const ModelConfig &c) {
  Value x =
      b.embedding("embeddings.word_embeddings", c.vocabSize, c.hiddenSize);
  if (c.maskToken >= 0)
    // The share of tokens that were masked in training: 15 % were chosen, and
    // 80 % of those became the mask.
    x = b.dropToken(x, c.maskToken, /*trained=*/0.15 * 0.8);
  if (c.normEmbedding)
    x = b.layerNorm(x, "embeddings.layer_norm");
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    Value h = b.layerNorm(x, ".attention.LayerNorm");
    auto project = [&](const char *name) {
      return b.heads(b.linear(h, name, c.hiddenSize, Bias::Yes), c.numHeads);
    };
    Value q = b.rotary(project(".attention.self.query"));
    Value k = b.rotary(project(".attention.self.key"));
    Value a = b.attention(q, k, project(".attention.self.value"));
    x = b.add(x,
              b.linear(a, ".attention.output.dense", c.hiddenSize, Bias::Yes));

    h = b.layerNorm(x, ".LayerNorm");
    h = b.activation(b.linear(h, ".intermediate.dense", c.ffnSize, Bias::Yes));
    x = b.add(x, b.linear(h, ".output.dense", c.hiddenSize, Bias::Yes));
  }
  b.leaveLayers();
  x = b.layerNorm(x, "encoder.emb_layer_norm_after");
  if (!b.hasTensor("lm_head.dense.weight")) { // Hidden states alone.
    b.finish(x);
    return;
  }
  x = b.activation(b.linear(x, "lm_head.dense", c.hiddenSize, Bias::Yes));
  x = b.layerNorm(x, "lm_head.layer_norm");
  // The decoder shares the embedding's table. The copy that some files have is
  // left unused.
  x = b.logits(x, "lm_head.decoder", "embeddings.word_embeddings");
  b.finish(b.addBias(x, "lm_head"));
}

const Architecture gist::kEsm = {
    .name = "esm",
    .isDecoder = false,
    .prefix = "esm.",
    .layers = "encoder.layer",
    .ggufNames = {},
    .unused = {"rotary_embeddings.inv_freq", "embeddings.position_ids",
               "contact_head.regression.weight", "contact_head.regression.bias",
               "pooler.dense.weight", "pooler.dense.bias",
               "position_embeddings.weight", "lm_head.decoder.weight",
               "lm_head.decoder.bias"},
    .configure = configureEsm,
    .build = buildEsm,
};
