"""Writes the tiny randomly initialised models of this folder.

One Hugging Face folder for each architecture, made with `transformers` (PyPI),
and one GGUF file. Tests make more of them: in shards, as sentence-transformers
folders, as GGUF files of other formats. Sizes differ from one
another wherever an architecture allows it, so that a swap shows, and weights
are larger than usual, so that a wrong one shows in the result. Beside the
weights is what `transformers` computes with them: `reference.npz`.

    python make_models.py [FOLDER]
"""

import json
import re
import shutil
import sys
from pathlib import Path

import gguf
import numpy as np
import torch
import transformers as tf
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize, quantize
from safetensors.torch import load_file, save_file

MODELS = {
    "llama": lambda: tf.LlamaForCausalLM(tf.LlamaConfig(
        vocab_size=101, hidden_size=32, intermediate_size=96,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=64, rope_theta=5000.0,
        tie_word_embeddings=True)),
    # Llama 3's rotary scaling, a head size of its own, biases, an untied head.
    "llama3": lambda: tf.LlamaForCausalLM(tf.LlamaConfig(
        vocab_size=53, hidden_size=24, intermediate_size=40,
        num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=1,
        head_dim=16, max_position_embeddings=128, attention_bias=True,
        mlp_bias=True, tie_word_embeddings=False, rope_theta=100.0,
        rope_scaling=dict(
            rope_type="llama3", factor=8.0, low_freq_factor=1.0,
            high_freq_factor=4.0, original_max_position_embeddings=32))),
    "gpt2": lambda: tf.GPT2LMHeadModel(tf.GPT2Config(
        vocab_size=101, n_embd=32, n_layer=2, n_head=4, n_positions=40,
        n_inner=96)),
    "gptj": lambda: tf.GPTJForCausalLM(tf.GPTJConfig(
        vocab_size=101, n_embd=36, n_layer=2, n_head=3, n_positions=40,
        rotary_dim=8, n_inner=52)),
    "opt": lambda: tf.OPTForCausalLM(tf.OPTConfig(
        vocab_size=101, hidden_size=32, ffn_dim=96, num_hidden_layers=2,
        num_attention_heads=4, max_position_embeddings=40,
        word_embed_proj_dim=32)),
    # As OPT-350m: norms after the blocks, an embedding of another size.
    "opt-post": lambda: tf.OPTForCausalLM(tf.OPTConfig(
        vocab_size=53, hidden_size=24, ffn_dim=40, num_hidden_layers=1,
        num_attention_heads=3, max_position_embeddings=40,
        word_embed_proj_dim=16, do_layer_norm_before=False)),
    "bert": lambda: tf.BertModel(tf.BertConfig(
        vocab_size=101, hidden_size=32, intermediate_size=96,
        num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=40)),
    "esm": lambda: tf.EsmForMaskedLM(tf.EsmConfig(
        vocab_size=33, hidden_size=32, intermediate_size=96,
        num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=40, position_embedding_type="rotary",
        token_dropout=True, mask_token_id=32, pad_token_id=1,
        layer_norm_eps=1e-5)),
    # A window that is shorter than the text.
    "mistral": lambda: tf.MistralForCausalLM(tf.MistralConfig(
        vocab_size=53, hidden_size=24, intermediate_size=40,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        head_dim=12, max_position_embeddings=64, sliding_window=8,
        tie_word_embeddings=False)),
    "qwen2": lambda: tf.Qwen2ForCausalLM(tf.Qwen2Config(
        vocab_size=61, hidden_size=32, intermediate_size=64,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=64, rope_theta=5000.0,
        tie_word_embeddings=True)),
    # The second layer has a window and the first has none.
    "qwen2-window": lambda: tf.Qwen2ForCausalLM(tf.Qwen2Config(
        vocab_size=53, hidden_size=24, intermediate_size=40,
        num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
        max_position_embeddings=64, use_sliding_window=True, sliding_window=7,
        max_window_layers=1, tie_word_embeddings=False)),
    # A window in every other layer, and rotary bases of both kinds.
    "gemma3": lambda: tf.Gemma3ForCausalLM(tf.Gemma3TextConfig(
        vocab_size=61, hidden_size=32, intermediate_size=96,
        num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=1,
        head_dim=16, max_position_embeddings=64, sliding_window=7,
        layer_types=["sliding_attention", "full_attention",
                     "sliding_attention"],
        query_pre_attn_scalar=16, rope_parameters=dict(
            full_attention=dict(rope_type="default", rope_theta=1e6),
            sliding_attention=dict(rope_type="default", rope_theta=1e4)))),
    # The norms of queries and keys are of each head.
    "qwen3": lambda: tf.Qwen3ForCausalLM(tf.Qwen3Config(
        vocab_size=53, hidden_size=32, intermediate_size=96,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        head_dim=16, max_position_embeddings=64, rope_theta=5000.0,
        tie_word_embeddings=True)),
    # Queries, keys and values are one layer, gate and up another; a part of a
    # head turns, and a window is shorter than the text.
    "phi3": lambda: tf.Phi3ForCausalLM(tf.Phi3Config(
        vocab_size=53, hidden_size=32, intermediate_size=96,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=64, original_max_position_embeddings=64,
        sliding_window=9, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        rope_parameters=dict(rope_type="default", rope_theta=5000.0,
                             partial_rotary_factor=0.5),
        tie_word_embeddings=False)),
    "gpt-neox": lambda: tf.GPTNeoXForCausalLM(tf.GPTNeoXConfig(
        vocab_size=53, hidden_size=48, intermediate_size=80,
        num_hidden_layers=2, num_attention_heads=3,
        max_position_embeddings=40, rope_parameters=dict(
            rope_type="default", rope_theta=5000.0,
            partial_rotary_factor=0.25))),
    # Norms after the blocks, and of whole rows of queries and keys.
    "olmo2": lambda: tf.Olmo2ForCausalLM(tf.Olmo2Config(
        vocab_size=53, hidden_size=32, intermediate_size=96,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=64, rope_theta=5000.0, pad_token_id=0,
        eos_token_id=1, tie_word_embeddings=False)),
    # Two of five experts for each token; their shares add up to one.
    "mixtral": lambda: tf.MixtralForCausalLM(tf.MixtralConfig(
        vocab_size=53, hidden_size=32, intermediate_size=64,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        num_local_experts=5, num_experts_per_tok=2,
        max_position_embeddings=64, tie_word_embeddings=False)),
    # Three of six, shares of all, beside one that every token has; the second
    # of three layers has no experts.
    "qwen2-moe": lambda: tf.Qwen2MoeForCausalLM(tf.Qwen2MoeConfig(
        vocab_size=53, hidden_size=32, intermediate_size=128,
        moe_intermediate_size=64, shared_expert_intermediate_size=96,
        num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
        num_experts=6, num_experts_per_tok=3, mlp_only_layers=[1],
        max_position_embeddings=64, tie_word_embeddings=False)),
    "qwen3-moe": lambda: tf.Qwen3MoeForCausalLM(tf.Qwen3MoeConfig(
        vocab_size=61, hidden_size=32, intermediate_size=128,
        moe_intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=1, head_dim=16, num_experts=7,
        num_experts_per_tok=4, norm_topk_prob=True,
        max_position_embeddings=64, tie_word_embeddings=True)),
}


def randomize(model, seed):
    """Norms and biases too: at their usual start they could be left out."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                parameter.copy_(noise * 1.5 / parameter.shape[-1] ** 0.5)
            elif name.endswith("weight"):
                parameter.copy_(1 + 0.3 * noise)
            else:
                parameter.copy_(0.3 * noise)


def make_folder(folder, make, seed):
    shutil.rmtree(folder, ignore_errors=True)
    model = make().eval()
    randomize(model, seed)
    model.tie_weights()
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)


def reference(path, ids, model=None):
    """Logits, or hidden states of a model that has no head, for every token."""
    if model is None:
        classes = {"bert": "BertModel", "esm": "EsmForMaskedLM"}
        config = tf.AutoConfig.from_pretrained(path)
        name = classes.get(config.model_type, "AutoModelForCausalLM")
        model = getattr(tf, name).from_pretrained(path)
    with torch.no_grad():
        out = model.eval().float()(torch.tensor(ids)[None].long())
    result = out.logits if hasattr(out, "logits") else out.last_hidden_state
    return result[0].numpy()


def some_tokens(count, vocabulary, seed=3):
    return np.random.default_rng(seed).integers(0, vocabulary, count)


def make_reference(folder):
    if folder.name == "esm":
        ids = some_tokens(19, 30) + 2
        masked = ids.copy()
        masked[4:7] = 32
        more = {"masked_ids": masked, "masked": reference(folder, masked)}
    else:
        ids, more = some_tokens(19, 50), {}
    np.savez_compressed(folder / "reference.npz", ids=ids,
                        result=reference(folder, ids), **more)


def is_router(name):
    """What chooses or weighs experts is not quantised."""
    return name.endswith(("mlp.gate.weight", "moe.gate.weight",
                          "shared_expert_gate.weight"))


def quantized_reference(folder, kind, embedding_kind, ids):
    """The result when every matrix is rounded as a GGUF file rounds it; blocks
    are within rows, so the order of rows does not matter."""
    model = tf.AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            stored = embedding_kind if "embed" in name else kind
            if parameter.dim() >= 2 and not is_router(name):
                blocks = quantize(parameter.numpy(), stored)
                parameter.copy_(torch.tensor(dequantize(blocks, stored)))
    return reference(None, ids, model)


def make_sentence_folder(source, folder):
    """The BERT model as sentence-transformers lays out its folders."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    types = ["Transformer", "Pooling", "Normalize"]
    modules = [{"idx": i, "type": f"sentence_transformers.models.{t}"}
               for i, t in enumerate(types)]
    (folder / "modules.json").write_text(json.dumps(modules, indent=1))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(
        json.dumps({"pooling_mode_mean_tokens": True}))


def make_sharded_folder(source, folder):
    """The same model in bf16 and two files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(source / "config.json", folder)
    tensors = load_file(source / "model.safetensors")
    names = sorted(tensors)
    files = {}
    for i, part in enumerate([names[:7], names[7:]]):
        file = f"model-{i + 1}-of-2.safetensors"
        save_file({n: tensors[n].to(torch.bfloat16) for n in part},
                  folder / file)
        files |= {n: file for n in part}
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": files}, indent=1))


def interleave_rotary(weight, heads):
    """Rows of a query or key projection as GGUF files have them: the pairs that
    rotate together, half a head apart in a folder, become neighbours."""
    rows = weight.reshape(heads, 2, weight.shape[0] // heads // 2, -1)
    return rows.swapaxes(1, 2).reshape(weight.shape)


GGUF_NAMES = {
    "llama": {
        "model.embed_tokens": "token_embd", "model.norm": "output_norm",
        "lm_head": "output", "input_layernorm": "attn_norm",
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
        "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"},
    "gpt2": {
        "transformer.wte": "token_embd", "transformer.wpe": "position_embd",
        "transformer.ln_f": "output_norm", "ln_1": "attn_norm",
        "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
        "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"},
    "bert": {
        "embeddings.word_embeddings": "token_embd",
        "embeddings.position_embeddings": "position_embd",
        "embeddings.token_type_embeddings": "token_types",
        "embeddings.LayerNorm": "token_embd_norm",
        "attention.self.query": "attn_q", "attention.self.key": "attn_k",
        "attention.self.value": "attn_v",
        "attention.output.dense": "attn_output",
        "attention.output.LayerNorm": "attn_output_norm",
        "intermediate.dense": "ffn_up", "output.dense": "ffn_down",
        "output.LayerNorm": "layer_output_norm"},
}
# Qwen's tensors have Llama's names, and are stored as they are.
GGUF_NAMES["llama"] |= {"self_attn.q_norm": "attn_q_norm",
                        "self_attn.k_norm": "attn_k_norm"}
GGUF_NAMES["qwen2"] = GGUF_NAMES["qwen3"] = GGUF_NAMES["llama"]
GGUF_NAMES["gemma3"] = GGUF_NAMES["llama"] | {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm"}
GGUF_NAMES["olmo2"] = GGUF_NAMES["llama"] | {
    "post_attention_layernorm": "post_attention_norm",
    "post_feedforward_layernorm": "post_ffw_norm"}
GGUF_NAMES["phi3"] = GGUF_NAMES["llama"] | {
    "self_attn.qkv_proj": "attn_qkv", "mlp.gate_up_proj": "ffn_up"}
GGUF_NAMES["llama"] |= {
    "block_sparse_moe.gate": "ffn_gate_inp",
    "block_sparse_moe.experts.w1": "ffn_gate_exps",
    "block_sparse_moe.experts.w2": "ffn_down_exps",
    "block_sparse_moe.experts.w3": "ffn_up_exps"}
GGUF_NAMES["qwen2moe"] = GGUF_NAMES["qwen3moe"] = GGUF_NAMES["llama"] | {
    "mlp.gate": "ffn_gate_inp", "mlp.experts.gate_proj": "ffn_gate_exps",
    "mlp.experts.up_proj": "ffn_up_exps",
    "mlp.experts.down_proj": "ffn_down_exps",
    "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
    "mlp.shared_expert.up_proj": "ffn_up_shexp",
    "mlp.shared_expert.down_proj": "ffn_down_shexp"}
LAYERS = {"gpt2": "transformer.h.", "bert": "encoder.layer."}
# What GGUF calls an architecture, where it differs.
ARCHITECTURES = {"gemma3_text": "gemma3", "mixtral": "llama",
                 "qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe"}


def gguf_name(architecture, name):
    module, suffix = name.rsplit(".", 1)
    prefix = LAYERS.get(architecture, "model.layers.")
    if module.startswith(prefix):
        layer, module = module[len(prefix):].split(".", 1)
        return f"blk.{layer}.{GGUF_NAMES[architecture][module]}.{suffix}"
    return f"{GGUF_NAMES[architecture][module]}.{suffix}"


def stack_experts(tensors):
    """The tensors of a folder, with those of all experts of a layer as one."""
    result, experts = {}, {}
    for name, tensor in tensors.items():
        parts = re.fullmatch(r"(.*\.experts)\.(\d+)(\..*)", name)
        if parts:
            experts.setdefault(parts[1] + parts[3], {})[int(parts[2])] = tensor
        else:
            result[name] = tensor
    for name, each in experts.items():
        result[name] = torch.stack([each[i] for i in range(len(each))])
    return result


def make_gguf(source, output, kind, embedding_kind=None, encode=quantize):
    """The folder's model as a GGUF file, as llama.cpp converts it; matrices
    whose rows are whole blocks are stored as `kind`, or `embedding_kind`."""
    config = json.loads((source / "config.json").read_text())
    architecture = config["model_type"]
    architecture = ARCHITECTURES.get(architecture, architecture)
    writer = gguf.GGUFWriter(output, architecture)
    get = lambda *names: next(config[n] for n in names if n in config)
    heads = get("num_attention_heads", "n_head")
    kv_heads = config.get("num_key_value_heads", heads)
    writer.add_vocab_size(config["vocab_size"])
    writer.add_context_length(get("max_position_embeddings", "n_positions"))
    writer.add_embedding_length(get("hidden_size", "n_embd"))
    writer.add_block_count(get("num_hidden_layers", "n_layer"))
    writer.add_feed_forward_length(get("intermediate_size", "n_inner"))
    writer.add_head_count(heads)
    if architecture not in ("bert", "gpt2"):
        writer.add_head_count_kv(kv_heads)
        writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
        rope = config.get("rope_parameters") or config
        rope = rope.get("full_attention", rope)
        writer.add_rope_freq_base(rope["rope_theta"])
        head = config.get("head_dim") or config["hidden_size"] // heads
        writer.add_key_length(head)
        writer.add_value_length(head)
        if "partial_rotary_factor" in rope:
            writer.add_rope_dimension_count(
                int(head * rope["partial_rotary_factor"]))
        if config.get("sliding_window") and config.get(
                "use_sliding_window", True):
            writer.add_sliding_window(config["sliding_window"])
        if architecture == "gemma3":
            # The tiny model has fewer layers than the usual pattern.
            writer.add_uint32("gemma3.attention.sliding_window_pattern", 2)
    else:
        writer.add_layer_norm_eps(get("layer_norm_eps", "layer_norm_epsilon"))
    if "num_experts_per_tok" in config:
        writer.add_expert_count(get("num_local_experts", "num_experts"))
        writer.add_expert_used_count(config["num_experts_per_tok"])
    if "moe_intermediate_size" in config:
        writer.add_expert_feed_forward_length(config["moe_intermediate_size"])
    if "shared_expert_intermediate_size" in config:
        writer.add_expert_shared_feed_forward_length(
            config["shared_expert_intermediate_size"])
    if architecture == "bert":
        writer.add_pooling_type(gguf.PoolingType.MEAN)
    tensors = stack_experts(load_file(source / "model.safetensors"))
    for name, tensor in sorted(tensors.items()):
        if "pooler" in name:
            continue
        array = tensor.float().numpy()
        if architecture == "gemma3" and name.endswith("norm.weight"):
            array = array + 1
        if architecture == "llama" and "q_proj" in name:
            array = interleave_rotary(array, heads)
        if architecture == "llama" and "k_proj" in name:
            array = interleave_rotary(array, kv_heads)
        if architecture == "gpt2" and ".c_" in name and array.ndim == 2:
            array = np.ascontiguousarray(array.T)
        stored = kind if "embed" not in name else embedding_kind or kind
        if name.endswith("shared_expert_gate.weight"):
            array = array[0]
        if (array.ndim < 2 or is_router(name)
                or array.shape[-1] % gguf.GGML_QUANT_SIZES[stored][0]):
            stored = Kind.F32
        writer.add_tensor(gguf_name(architecture, name),
                          encode(array, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make_quantized(root, name, kind, ids):
    """The model as a GGUF file, its embedding in Q8_0, and its result."""
    path = root / f"{name}-{kind.name.lower()}.gguf"
    make_gguf(root / name, path, kind, Kind.Q8_0)
    result = quantized_reference(root / name, kind, Kind.Q8_0, ids)
    np.savez_compressed(path.with_suffix(".npz"), ids=ids, result=result)


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for seed, (name, make) in enumerate(MODELS.items()):
        make_folder(root / name, make, seed)
        make_reference(root / name)
    make_quantized(root, "llama", Kind.Q4_1, some_tokens(19, 100))
    make_quantized(root, "qwen2", Kind.Q4_0, some_tokens(19, 60))
    make_quantized(root, "gemma3", Kind.Q5_0, some_tokens(19, 60))
    make_quantized(root, "mixtral", Kind.Q4_1, some_tokens(19, 50))


if __name__ == "__main__":
    main()
