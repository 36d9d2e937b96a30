//===- Llama.h - What relatives of Llama share ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mistral, Qwen2 and Qwen3 are Llama with other defaults: they have its graph
// and its names. Mixtral and the Qwens with experts have other feed-forward
// blocks. Gemma 3 and OLMo 2 have Llama's blocks, with norms elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_LLAMA_H
#define GIST_PASSES_IMPORT_LLAMA_H

#include "passes/Import/Architecture.h"

#include "mlir/IR/Value.h"

namespace gist {

inline constexpr std::initializer_list<ModuleName> kLlamaGgufNames = {
    {"embed_tokens", "token_embd"},
    {".input_layernorm", ".attn_norm"},
    {".self_attn.q_proj", ".attn_q"},
    {".self_attn.k_proj", ".attn_k"},
    {".self_attn.v_proj", ".attn_v"},
    {".self_attn.o_proj", ".attn_output"},
    {".self_attn.q_norm", ".attn_q_norm"},
    {".self_attn.k_norm", ".attn_k_norm"},
    {".post_attention_layernorm", ".ffn_norm"},
    {".mlp.gate_proj", ".ffn_gate"},
    {".mlp.up_proj", ".ffn_up"},
    {".mlp.down_proj", ".ffn_down"},
    // Mixtral, whose GGUF files are called Llama's.
    {".block_sparse_moe.gate", ".ffn_gate_inp"},
    {".block_sparse_moe.experts.#.w1", ".ffn_gate_exps"},
    {".block_sparse_moe.experts.#.w2", ".ffn_down_exps"},
    {".block_sparse_moe.experts.#.w3", ".ffn_up_exps"},
    // Qwen.
    {".mlp.gate", ".ffn_gate_inp"},
    {".mlp.experts.#.gate_proj", ".ffn_gate_exps"},
    {".mlp.experts.#.down_proj", ".ffn_down_exps"},
    {".mlp.experts.#.up_proj", ".ffn_up_exps"},
    {".mlp.shared_expert_gate", ".ffn_gate_inp_shexp"},
    {".mlp.shared_expert.gate_proj", ".ffn_gate_shexp"},
    {".mlp.shared_expert.down_proj", ".ffn_down_shexp"},
    {".mlp.shared_expert.up_proj", ".ffn_up_shexp"},
    {"norm", "output_norm"},
    {"lm_head", "output"}};

/// The window of Qwen2 and Qwen3.
Status readQwenWindow(const ConfigReader &reader, ModelConfig &config);

/// Attention of the rows `h`, from its projections to its output.
mlir::Value buildLlamaAttention(GraphBuilder &b, const ModelConfig &config,
                                mlir::Value h);
/// activation(gate) * up, then down.
mlir::Value buildGatedBlock(GraphBuilder &b, const ModelConfig &config,
                            mlir::Value h);

/// What a mixture of experts calls the layers of an expert; `#` is its number.
struct ExpertNames {
  const char *router, *gate, *up, *down;
};
/// `buildGatedBlock` by the experts that tokens have.
mlir::Value buildExperts(GraphBuilder &b, const ModelConfig &config,
                         const ExpertNames &names, mlir::Value h);
/// Mixtral's experts.
mlir::Value buildMixtralBlock(GraphBuilder &b, const ModelConfig &config,
                              mlir::Value h);
/// The sizes of Qwen's experts, and which layers have them.
Status readQwenExperts(const ConfigReader &reader, ModelConfig &config);

/// Llama; `experts` builds the feed-forward block of layers that have them.
void buildLlama(GraphBuilder &b, const ModelConfig &config,
                mlir::Value (*experts)(GraphBuilder &, const ModelConfig &,
                                       mlir::Value));
void buildLlama(GraphBuilder &b, const ModelConfig &config);
/// Llama with the experts of Qwen2-MoE and Qwen3-MoE.
void buildQwenMoe(GraphBuilder &b, const ModelConfig &config);

} // namespace gist

#endif // GIST_PASSES_IMPORT_LLAMA_H
