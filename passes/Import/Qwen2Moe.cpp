//===- Qwen2Moe.cpp - Qwen2 with a mixture of experts ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen2 whose feed-forward blocks are mixtures of experts, beside an expert
// that all tokens have, behind a gate.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/GraphBuilder.h"
#include "passes/Import/Llama.h"

using namespace gist;
using mlir::Value;

/// Every `decoder_sparse_step`-th layer has experts, but for those listed.
Status gist::readQwenExperts(const ConfigReader &reader, ModelConfig &config) {
  GIST_TRY(readExperts(reader, config));
  int64_t step = 1;
  std::vector<int64_t> without;
  GIST_TRY(reader.read({{"norm_topk_prob"}}, config.normalizedExperts));
  GIST_TRY(reader.read({{"decoder_sparse_step"}}, step));
  if (step < 1)
    return Status::error(
        Code::BadFile,
        "'decoder_sparse_step' is %" PRId64 ", which is not positive", step);
  for (int64_t layer = 0; layer < config.numLayers; ++layer)
    config.expertLayers.push_back((layer + 1) % step == 0);
  if (reader.isGguf())
    return {};
  GIST_TRY(reader.read("mlp_only_layers", without));
  for (int64_t layer : without)
    if (layer >= 0 && layer < config.numLayers)
      config.expertLayers[static_cast<size_t>(layer)] = false;
  return {};
}

static Status configureQwen2Moe(const ModelSource &source,
                                ModelConfig &config) {
  ConfigReader reader = source.config();
  config.activation = Activation::Silu;
  config.queryBias = true;
  // What `transformers` assumes where the keys are absent.
  config.numExperts = 60;
  config.expertsOfToken = 4;
  GIST_TRY(readCommonConfig(reader, config));
  GIST_TRY(readQwenExperts(reader, config));
  // GGUF files do not list the layers without experts, which have no router.
  for (int64_t layer = 0; source.isGguf && layer < config.numLayers; ++layer)
    if (!source.tensors().contains("blk." + std::to_string(layer) +
                                   ".ffn_gate_inp.weight"))
      config.expertLayers[static_cast<size_t>(layer)] = false;
  config.sharedExpertSize = config.ffnSize;
  GIST_TRY(reader.read({{"shared_expert_intermediate_size"},
                        "expert_shared_feed_forward_length"},
                       config.sharedExpertSize));
  if (config.sharedExpertSize < 1 || config.sharedExpertSize > 1 << 24)
    return Status::error(Code::BadFile,
                         "the size of the shared expert is %" PRId64
                         ", which is outside the range 1 to %d",
                         config.sharedExpertSize, 1 << 24);
  GIST_TRY(readQwenWindow(reader, config));
  return readRotaryConfig(reader, config);
}

/// Qwen's experts, and the one that all tokens have where there is one.
static Value buildBlock(GraphBuilder &b, const ModelConfig &c, Value h) {
  static constexpr ExpertNames kNames = {
      ".mlp.gate", ".mlp.experts.#.gate_proj", ".mlp.experts.#.up_proj",
      ".mlp.experts.#.down_proj"};
  Value routed = buildExperts(b, c, kNames, h);
  if (c.sharedExpertSize == 0)
    return routed;
  Value gate = b.activation(
      b.linear(h, ".mlp.shared_expert.gate_proj", c.sharedExpertSize));
  Value up = b.linear(h, ".mlp.shared_expert.up_proj", c.sharedExpertSize);
  Value shared = b.linear(b.multiply(gate, up), ".mlp.shared_expert.down_proj",
                          c.hiddenSize);
  return b.add(routed, b.gateRows(shared, h, ".mlp.shared_expert_gate"));
}

void gist::buildQwenMoe(GraphBuilder &b, const ModelConfig &config) {
  buildLlama(b, config, buildBlock);
}

const Architecture gist::kQwen2Moe = {
    .name = "qwen2_moe",
    .ggufName = "qwen2moe",
    .isDecoder = true,
    .prefix = "model.",
    .layers = "layers",
    .ggufNames = kLlamaGgufNames,
    .unused = {"rotary_emb.inv_freq"},
    .configure = configureQwen2Moe,
    .build = buildQwenMoe,
};
