//===- Gemma3.cpp - Gemma 3 -----------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gemma 3: Llama's blocks with norms before and after each, norms of queries
// and keys, and a scaled embedding. Most layers see a window and turn by angles
// of their own; every sixth sees all of the past.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/GraphBuilder.h"
#include "passes/Import/Llama.h"

#include <cmath>

using namespace gist;
using mlir::Value;

/// Layers `pattern` - 1, 2 `pattern` - 1 and so on have no window. Newer
/// folders list the layers instead.
static Status readWindow(const ConfigReader &reader, ModelConfig &config) {
  int64_t pattern = 6;
  config.slidingWindow = 4096;
  GIST_TRY(reader.read({{"sliding_window"}, "attention.sliding_window"},
                       config.slidingWindow));
  GIST_TRY(reader.read(
      {{"sliding_window_pattern"}, "attention.sliding_window_pattern"},
      pattern));
  GIST_TRY(checkSlidingWindow(config));
  if (pattern < 1)
    return Status::error(Code::BadFile,
                         "a window pattern of %" PRId64 " is not positive",
                         pattern);
  for (int64_t layer = 0; layer < config.numLayers; ++layer)
    config.windowLayers.push_back((layer + 1) % pattern != 0);
  return readLayerTypes(reader, config);
}

/// Scaling rules are for layers without a window, but where a folder has an
/// object for those with one.
static Status readRotary(const ConfigReader &reader, ModelConfig &config) {
  GIST_TRY(readRotaryConfig(reader, config, /*base=*/1e6));
  double base = 10000;
  GIST_TRY(reader.read({{"rope_local_base_freq"}, "rope.freq_base_swa"}, base));
  static const nlohmann::json none = nlohmann::json::object();
  std::optional<ConfigReader> own = reader.inside("rope_parameters");
  if (own)
    own = own->inside("sliding_attention");
  return readRotaryFrequencies(own ? *own : ConfigReader(none), base,
                               config.rotarySize, config.windowFrequencies);
}

static Status readScale(const ConfigReader &reader, ModelConfig &config) {
  // GGUF files do not say it: the largest model alone differs.
  constexpr int64_t kLargest = 62;
  double divisor = 256;
  if (reader.isGguf())
    divisor = static_cast<double>(config.numLayers == kLargest
                                      ? config.hiddenSize / config.numHeads
                                      : config.headSize);
  GIST_TRY(reader.read({{"query_pre_attn_scalar"}}, divisor));
  if (!(divisor > 0))
    return Status::error(Code::BadFile,
                         "'query_pre_attn_scalar' is %g, which is not positive",
                         divisor);
  if (divisor != static_cast<double>(config.headSize))
    config.attentionScale = 1 / std::sqrt(divisor);
  return {};
}

static Status configureGemma3(const ModelSource &source, ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::GeluTanh;
  config.normEpsilon = 1e-6;
  config.queryNorm = QueryNorm::Heads;
  // GGUF files have the one added.
  config.normsLessOne = !source.isGguf;
  for (const char *key : {"final_logit_softcapping", "attn_logit_softcapping"})
    if (reader.has({{key}}))
      return Status::error(Code::Unsupported,
                           "'%s' is set, which is not supported", key);
  GIST_TRY(reader.expect({{"use_bidirectional_attention"}}, false));
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(readWindow(reader, config));
  GIST_TRY(readRotary(reader, config));
  return readScale(reader, config);
}

static void buildGemma3(GraphBuilder &b, const ModelConfig &c) {
  Value x = b.scale(b.embedding("embed_tokens", c.vocabSize, c.hiddenSize),
                    std::sqrt(static_cast<double>(c.hiddenSize)));
  for (int64_t layer = 0; layer < c.numLayers; ++layer) {
    b.enterLayer(layer);
    Value h = b.rmsNorm(x, ".input_layernorm");
    h = buildLlamaAttention(b, c, h);
    x = b.add(x, b.rmsNorm(h, ".post_attention_layernorm"));
    h = b.rmsNorm(x, ".pre_feedforward_layernorm");
    h = buildGatedBlock(b, c, h);
    x = b.add(x, b.rmsNorm(h, ".post_feedforward_layernorm"));
  }
  b.leaveLayers();
  x = b.rmsNorm(b.rowsOfLogits(x), "norm");
  b.finish(b.logits(x, "lm_head", "embed_tokens"));
}

const Architecture gist::kGemma3 = {
    .name = "gemma3_text",
    .ggufName = "gemma3",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = {{"embed_tokens", "token_embd"},
                  {".input_layernorm", ".attn_norm"},
                  {".self_attn.q_proj", ".attn_q"},
                  {".self_attn.k_proj", ".attn_k"},
                  {".self_attn.v_proj", ".attn_v"},
                  {".self_attn.o_proj", ".attn_output"},
                  {".self_attn.q_norm", ".attn_q_norm"},
                  {".self_attn.k_norm", ".attn_k_norm"},
                  {".post_attention_layernorm", ".post_attention_norm"},
                  {".pre_feedforward_layernorm", ".ffn_norm"},
                  {".mlp.gate_proj", ".ffn_gate"},
                  {".mlp.up_proj", ".ffn_up"},
                  {".mlp.down_proj", ".ffn_down"},
                  {".post_feedforward_layernorm", ".post_ffw_norm"},
                  {"norm", "output_norm"},
                  {"lm_head", "output"}},
    .unused = {},
    .configure = configureGemma3,
    .build = buildGemma3,
};
