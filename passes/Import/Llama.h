//===- Llama.h - What relatives of Llama share ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mistral, Qwen2 and Qwen3 are Llama with other defaults: they have its graph
// and its names. Gemma 3 and OLMo 2 have its blocks, with norms elsewhere.
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
void buildLlama(GraphBuilder &b, const ModelConfig &config);

} // namespace gist

#endif // GIST_PASSES_IMPORT_LLAMA_H
