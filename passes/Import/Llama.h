//===- Llama.h - What relatives of Llama share ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mistral and Qwen2 are Llama with other defaults: they have its graph and its
// names.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_LLAMA_H
#define GIST_PASSES_IMPORT_LLAMA_H

#include "passes/Import/Architecture.h"

namespace gist {

inline constexpr std::initializer_list<ModuleName> kLlamaGgufNames = {
    {"embed_tokens", "token_embd"},
    {".input_layernorm", ".attn_norm"},
    {".self_attn.q_proj", ".attn_q"},
    {".self_attn.k_proj", ".attn_k"},
    {".self_attn.v_proj", ".attn_v"},
    {".self_attn.o_proj", ".attn_output"},
    {".post_attention_layernorm", ".ffn_norm"},
    {".mlp.gate_proj", ".ffn_gate"},
    {".mlp.up_proj", ".ffn_up"},
    {".mlp.down_proj", ".ffn_down"},
    {"norm", "output_norm"},
    {"lm_head", "output"}};

void buildLlama(GraphBuilder &b, const ModelConfig &config);

} // namespace gist

#endif // GIST_PASSES_IMPORT_LLAMA_H
