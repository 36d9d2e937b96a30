//===- Bert.cpp - BERT, MiniLM --------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// BERT: an encoder with learned positions and norms after each block. Results
// are hidden states, or one vector of a sentence where the model says how to
// pool.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Architecture.h"
#include "passes/Import/GraphBuilder.h"

using namespace gist;
using mlir::Value;

/// sentence-transformers folders say how to pool; GGUF files by a number, and
/// those are always normalised by the programs that read them.
static Status readPooling(const ModelSource &source, ModelConfig &config) {
  const ModelFolder::Pooling &pooling = source.folder.pooling;
  // llama.cpp's numbers: 0 is none, 1 the mean, 2 CLS and 3 the last token.
  int64_t ggufPooling = 0;
  GIST_TRY(source.config().read({{}, "pooling_type"}, ggufPooling));
  // Of the ways to pool only the mean is built. CLS or the maximum would
  // silently give other vectors.
  if ((pooling.present && !pooling.mean) || ggufPooling > 1)
    return Status::error(Code::Unsupported,
                         "the model does not pool by the mean of its tokens, "
                         "which is the only supported way");
  if (pooling.mean || ggufPooling == 1)
    config.pooling = Pooling::Mean;
  config.normalizeOutput = pooling.normalize || ggufPooling == 1;
  config.maxSentence = pooling.maxTokens;
  return {};
}

static Status configureBert(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  // The defaults of transformers' BertConfig, for files that leave them out.
  config.normEpsilon = 1e-12;
  config.numTokenTypes = 2;
  std::string positions = "absolute";
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(reader.read({{"type_vocab_size"}, "token_type_count"},
                       config.numTokenTypes));
  GIST_TRY(reader.read({{"position_embedding_type"}}, positions));
  if (positions != "absolute")
    return Status::error(
        Code::Unsupported,
        "positions of type %s are not supported; only absolute ones are",
        inQuotes(positions).c_str());
  GIST_TRY(reader.expect({{"is_decoder"}}, false));
  return readPooling(source, config);
}

static void buildBert(GraphBuilder &b, const ModelConfig &c) {
  Value x =
      b.embedding("embeddings.word_embeddings", c.vocabSize, c.hiddenSize);
  x = b.add(x, b.positions("embeddings.position_embeddings", c.contextLength,
                           c.hiddenSize));
  // One sentence: every token is of type 0.
  x = b.addRow(x, "embeddings.token_type_embeddings", c.numTokenTypes, 0);
  x = b.layerNorm(x, "embeddings.LayerNorm");
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    auto project = [&](const char *name) {
      return b.heads(b.linear(x, name, c.hiddenSize, Bias::Yes), c.numHeads);
    };
    Value q = project(".attention.self.query");
    Value k = project(".attention.self.key");
    Value a = b.attention(q, k, project(".attention.self.value"));
    a = b.linear(a, ".attention.output.dense", c.hiddenSize, Bias::Yes);
    // The norm comes after the sum with the residual.
    x = b.layerNorm(b.add(x, a), ".attention.output.LayerNorm");

    Value h = b.linear(x, ".intermediate.dense", c.ffnSize, Bias::Yes);
    h = b.linear(b.activation(h), ".output.dense", c.hiddenSize, Bias::Yes);
    x = b.layerNorm(b.add(x, h), ".output.LayerNorm");
  }
  b.leaveLayers();
  if (c.pooling == Pooling::Mean)
    x = b.meanOfRows(x);
  b.finish(c.normalizeOutput ? b.toUnitLength(x) : x);
}

const Architecture gist::kBert = {
    .name = "bert",
    .isDecoder = false,
    .prefix = "bert.",
    .layers = "encoder.layer",
    .ggufNames = {{"embeddings.word_embeddings", "token_embd"},
                  {"embeddings.position_embeddings", "position_embd"},
                  {"embeddings.token_type_embeddings", "token_types"},
                  {"embeddings.LayerNorm", "token_embd_norm"},
                  {".attention.self.query", ".attn_q"},
                  {".attention.self.key", ".attn_k"},
                  {".attention.self.value", ".attn_v"},
                  {".attention.output.dense", ".attn_output"},
                  {".attention.output.LayerNorm", ".attn_output_norm"},
                  {".intermediate.dense", ".ffn_up"},
                  {".output.dense", ".ffn_down"},
                  {".output.LayerNorm", ".layer_output_norm"}},
    // Heads of other tasks, trained on top of the hidden states.
    .unused = {"pooler.dense.weight", "pooler.dense.bias",
               "embeddings.position_ids", "cls.predictions.bias",
               "cls.predictions.decoder.weight", "cls.predictions.decoder.bias",
               "cls.predictions.transform.dense.weight",
               "cls.predictions.transform.dense.bias",
               "cls.predictions.transform.LayerNorm.weight",
               "cls.predictions.transform.LayerNorm.bias",
               "cls.seq_relationship.weight", "cls.seq_relationship.bias"},
    .configure = configureBert,
    .build = buildBert,
};
