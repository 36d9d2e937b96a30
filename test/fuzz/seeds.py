# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small files of every format that Gist reads, for the fuzz targets to begin with.

Usage: seeds.py FOLDER [GIST-MAKE-TINY-MODULE]

Each target has a folder of its own. Files are written by hand and not by Gist, so
that readers meet what others write.
"""

import json
import pathlib
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/tools/Inputs"))
import with_pieces  # noqa: E402

TYPES = {"u32": 4, "i32": 5, "f32": 6, "bool": 7, "str": 8, "arr": 9, "u64": 10}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_value(kind, value):
    if kind == "str":
        return text(value)
    if kind == "arr":
        inner, items = value
        return (struct.pack("<IQ", TYPES[inner], len(items))
                + b"".join(gguf_value(inner, item) for item in items))
    return struct.pack({"u32": "<I", "i32": "<i", "f32": "<f", "bool": "<B", "u64": "<Q"}[kind], value)


def gguf(metadata, tensors):
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, (kind, value) in metadata.items():
        out += text(key) + struct.pack("<I", TYPES[kind]) + gguf_value(kind, value)
    offset, data = 0, b""
    for name, (kind, shape, content) in tensors.items():
        out += text(name) + struct.pack("<I", len(shape))
        out += struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", kind, offset)
        data += content + b"\0" * (-len(content) % 32)
        offset = len(data)
    return out + b"\0" * (-len(out) % 32) + data


def model_keys():
    keys = {"general.architecture": ("str", "llama"), "general.alignment": ("u32", 32)}
    for name, value in {"block_count": 2, "embedding_length": 16, "feed_forward_length": 32,
                        "context_length": 64, "attention.head_count": 4,
                        "attention.head_count_kv": 2, "vocab_size": 32}.items():
        keys["llama." + name] = ("u32", value)
    keys["llama.attention.layer_norm_rms_epsilon"] = ("f32", 1e-5)
    keys["llama.rope.freq_base"] = ("f32", 10000.0)
    keys["llama.rope.scaling.type"] = ("str", "linear")
    keys["llama.rope.scaling.factor"] = ("f32", 2.0)
    return keys


def tokenizer_keys(model, tokens, **more):
    keys = {"tokenizer.ggml.model": ("str", model), "tokenizer.ggml.tokens": ("arr", ("str", tokens)),
            "tokenizer.ggml.bos_token_id": ("u32", 1), "tokenizer.ggml.eos_token_id": ("u32", 2),
            "tokenizer.ggml.add_bos_token": ("bool", 1),
            "tokenizer.chat_template": ("str", TEMPLATES["loop"])}
    return keys | {"tokenizer.ggml." + name: value for name, value in more.items()}


TEMPLATES = {
    "texts": "{{ 'aB c' | capitalize }}{{ 'aXbX' | replace('X', 'y', 1) }}{{ '7' | int + '2.5' | int(1) }}{{ 3.7 | int }}"
             "{{ '1.5' | float }}{{ 2 | float }}{{ -3 | abs }}{{ -2.5 | abs }}{{ [1, 2] | first }}{{ '<\"&' | escape }}"
             "{{ ['a', 'b'] | join }}{{ {'b': 1, 'a': 2} | items | list }}{{ {'b': 1, 'A': 2} | dictsort }}"
             "{{ {'b': {'c': 1}} | tojson(sort_keys=true) }}{{ [{'a': 2}, {'a': 1}] | sort(attribute='a') }}"
             "{{ x | default('d') }}{{ 'q' | indent('  ') }}",
    "methods": "{{ 'a\\nb\\r\\nc'.splitlines() }}{{ 'ab'.startswith(('a', 'x')) }}{{ 'ab'.endswith('b') }}{{ ' '.isspace() }}"
               "{{ '12'.isdigit() }}{{ 'ab'.isalpha() }}{{ 'abab'.count('ab') }}{{ 'ab'.count('') }}{{ 'ab'.removeprefix('a') }}"
               "{{ 'ab'.removesuffix('b') }}{{ 'a,b,c'.rsplit(',', 1) }}{{ 'a b c'.split() }}{{ 'a,b'.rsplit(',') }}"
               "{{ {'a': 1}.get('b', 2) }}{{ {'a': 1}.keys() | list }}{{ 'a' in {'a': 1} }}{{ 'xay'.strip('xy') }}{{ 'abc'[::-1] }}",
    "loop": "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
            "message['content'] | trim + '<|im_end|>' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "system": "{%- if messages[0].role == 'system' -%}{%- set system = messages[0].content -%}"
              "{%- set rest = messages[1:] -%}{%- else -%}{%- set rest = messages -%}{%- endif -%}"
              "{{- bos_token -}}{%- for m in rest -%}{%- if (m.role == 'user') != (loop.index0 % 2 == 0) -%}"
              "{{- raise_exception('roles alternate') -}}{%- endif -%}[INST] {{ m.content }} [/INST]{%- endfor -%}",
    "namespace": "{% set ns = namespace(n=0, seen=false) %}{% for m in messages | reverse %}"
                 "{% set ns.n = ns.n + m.content | length %}{% endfor %}{{ ns.n ** 2 // 3 % 7 }}{{ ns.n ~ 'x' * 3 }}",
    "macro": "{% macro f(a, b='z', *c) %}{{ a | upper }}{{ b }}{% endmacro %}{{ f('x') }}{{ f(1, [2, 3.5]) }}"
             "{{ {'a': [1, 2]} | tojson(indent=2) }}{{ 'a,b'.split(',') | join('-') }}",
    "tests": "{{ x is defined }}{{ none is none }}{{ [1] is iterable and not 'a' is number }}"
             "{{ range(2, 20, 3) | list }}{{ 'abc'[::-1] }}{{ 'a' in 'abc' }}{{ messages | map(attribute='role') | list }}"
             "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{# words #}{% raw %}{{ }}{% endraw %}",
}


def byte_level():
    """The stand-ins of all bytes, in order."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(b) if b in keep else chr(next(others)) for b in range(256)]


def tokenizer_jsons():
    tokens = byte_level()
    vocab = {token: i for i, token in enumerate(tokens[:64] + ["ab", "abc"])}
    added = [{"id": 66, "content": "<|im_end|>", "special": True, "single_word": False,
              "lstrip": False, "rstrip": False, "normalized": False}]
    bpe = {"version": "1.0", "added_tokens": added, "normalizer": None,
           "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
               {"type": "Digits", "individual_digits": True},
               {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}]},
           "post_processor": {"type": "TemplateProcessing", "single": [
               {"SpecialToken": {"id": "<|im_end|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
               "pair": [], "special_tokens": {"<|im_end|>": {"id": "<|im_end|>", "ids": [66], "tokens": ["<|im_end|>"]}}},
           "decoder": {"type": "ByteLevel"},
           "model": {"type": "BPE", "vocab": vocab, "merges": ["a b", ["ab", "c"]]}}
    split = json.loads(json.dumps(bpe))
    split["pre_tokenizer"]["pretokenizers"][0] = {
        "type": "Split", "behavior": "Isolated", "invert": False,
        "pattern": {"Regex": "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
                             " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}}
    words = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4, "##b": 5, "hello": 6, ",": 7}
    wordpiece = {"added_tokens": [], "normalizer": {"type": "BertNormalizer", "clean_text": True,
                 "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
                 "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": None,
                 "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
                 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                           "max_input_chars_per_word": 100, "vocab": words}}
    names = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + ["\u2581", "a", "b", "\u2581a", "ab"]
    pieces = {"added_tokens": [{"id": i, "content": names[i], "special": True} for i in range(3)],
              "normalizer": {"type": "Sequence", "normalizers": [
                  {"type": "Prepend", "prepend": "\u2581"},
                  {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
              "pre_tokenizer": None, "post_processor": None,
              "decoder": {"type": "Sequence", "decoders": [
                  {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                  {"type": "ByteFallback"}, {"type": "Fuse"},
                  {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
              "model": {"type": "BPE", "byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>",
                        "vocab": {name: i for i, name in enumerate(names)}, "merges": ["\u2581 a", "a b"]}}
    return {"bpe": bpe, "split": split, "wordpiece": wordpiece, "pieces": pieces}


def sentencepiece():
    out = b""
    field = with_pieces.field
    for piece, score, kind in with_pieces.pieces[:40]:
        out += field(1, field(1, piece.encode()) + field(2, float(score)) + field(3, kind))
    return out + field(2, field(3, 2) + field(35, 1)) + field(3, field(3, 1) + field(5, 1))


def safetensors(header, data):
    words = json.dumps(header).encode()
    words += b" " * (-len(words) % 8)
    return struct.pack("<Q", len(words)) + words + data


def npy(description, data, major=1):
    words = (description + " " * 20 + "\n").encode()
    return b"\x93NUMPY" + bytes([major, 0]) + struct.pack("<H" if major == 1 else "<I", len(words)) + words + data


def main(folder):
    def write(target, name, content):
        path = folder / target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    tensors = {"token_embd.weight": (0, [16, 2], b"\1\2\3\4" * 32), "blk.0.ffn_up.weight": (2, [32, 1], b"\1" * 18),
               "output_norm.weight": (1, [16], b"\0\x3c" * 16)}
    tokens = byte_level()[:64] + ["ab"]
    write("Gguf", "bpe", gguf(model_keys() | tokenizer_keys(
        "gpt2", tokens, pre=("str", "smollm"), merges=("arr", ("str", ["a b"])),
        token_type=("arr", ("i32", [1] * 65))), tensors))
    names = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + ["\u2581", "a", "\u2581a"]
    write("Gguf", "pieces", gguf(model_keys() | tokenizer_keys(
        "llama", names, scores=("arr", ("f32", [0.0] * len(names))),
        token_type=("arr", ("i32", [2, 3, 3] + [6] * 256 + [1] * 3))), tensors))
    write("Gguf", "words", gguf(tokenizer_keys(
        "bert", ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581a", "b"], seperator_token_id=("u32", 3)), {}))
    write("Safetensors", "two", safetensors({
        "__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "b": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]},
        "empty": {"dtype": "U8", "shape": [0], "data_offsets": [32, 32]}}, b"\0" * 32))
    write("Safetensors", "index", json.dumps({"metadata": {"total_size": 8}, "weight_map": {
        "a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}))
    for name, value in tokenizer_jsons().items():
        write("TokenizerJson", name, json.dumps(value))
    for scheme in ({"prepend_scheme": "never"}, {"prepend_scheme": "x"}, {"add_prefix_space": False}, {}):
        space = {"type": "Metaspace", "replacement": "\u2581"} | scheme
        write("TokenizerJson", "space" + "-".join(map(str, scheme.values())), json.dumps({
            "model": {"type": "BPE", "vocab": {"a": 0, "\u2581": 1}, "merges": []},
            "pre_tokenizer": space, "decoder": {"type": "Sequence", "decoders": [space]}}))
    write("TokenizerJson", "words", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##b\n")
    write("TokenizerJson", "stops", json.dumps({"eos_token_id": [0, 1], "add_eos_token": True, "eos_token": "a"}))
    write("TokenizerJson", "vocab", json.dumps({token: i for i, token in enumerate(tokens)}))
    write("TokenizerJson", "special", json.dumps({"bos_token": "<s>", "eos_token": {"content": "</s>"},
                                                  "tokenizer_class": "LlamaTokenizer", "add_bos_token": True}))
    write("SentencePiece", "bpe", sentencepiece())
    for config in sorted(ROOT.glob("test/models/*/config.json")):
        write("Config", config.parent.name, config.read_text())
    for plan in sorted([*ROOT.glob("test/passes/Plan/Inputs/*.json")]):
        write("Plan", plan.stem, plan.read_text())
    write("Plan", "heads", json.dumps({"gist_plan": 1, "block": 8, "context": 64, "layers": [
        ["dense", {"window": 8, "sinks": 2}], [{"window": 8, "theta": 0.8, "room": 0.5}, {"window": 4, "random": 0.25}]]}))
    # Selections, right and wrong: prefixes and bits of them do not find each rule.
    select = {"on": "keys", "tau": [0.5, 0], "similarity": "signed"}
    for name, layer in {
            "subspace": {"selection": {"on": "normalised", "tau": 0.5, "against": "kept", "k": 4}},
            "k-of-keys": {"selection": select | {"k": 4}},
            "k-of-all": {"selection": {"on": "normalised", "tau": 0.5, "rule": "inherit", "k": 4}},
            "no-taus": {"selection": select | {"tau": []}},
            "against": {"selection": select | {"rule": "paper", "against": "all"}},
            "taus-of-rows": {"selection": {"on": "residual", "tau": [0.5, 0.5]}},
            "copy": {"selection": select, "attend": {"mode": "copy", "log_count": True}},
            "window-of-copy": {"selection": select, "attend": {"mode": "copy", "window": 4}},
            "no-mode": {"selection": select, "attend": {"window": 4}},
            "no-bool": {"selection": select, "attend": {"mode": "keys", "log_count": 1}},
            "no-count": {"selection": select, "attend": {"mode": "keys", "log_count": False}},
            "no-object": {"selection": 1}}.items():
        for more in ({}, {"bases": "b.safetensors"}, {"bases": 1}) if name == "subspace" else ({},):
            write("Plan", name + "-".join(map(str, more.values())), json.dumps({"gist_plan": 1, "layers": [layer]} | more))
    for name, linears in {"no-linears": 1, "low-alone": {"o": {"bits": 3, "epsilon_low": 0.1}},
                          "low-above": {"o": {"k": 4, "epsilon": 0.1, "bits": 3, "epsilon_low": 0.5}},
                          "rounding": {"o": {"rounding": "nearest"}}, "no-rounding": {"o": {"bits": 3, "rounding": 1}},
                          "exact": {"o": {"bits": 4, "exact_rows": 8, "exact_bits": 8}}, "no-epsilon": {"o": {"k": 4, "epsilon": "x"}},
                          "large-k": {"o": {"k": 1 << 40, "epsilon": 0.5}}}.items():
        write("Plan", name, json.dumps({"gist_plan": 1, "block": 8, "layers": [{"linears": linears}], "bases": "b"}))
    write("Plan", "head-k", json.dumps({"gist_plan": 1, "block": 8, "layers": [{"linears": {}}], "head": {"k": 4, "epsilon": 0.5}}))
    write("Plan", "levels", json.dumps({"gist_plan": 1, "block": 8, "layers": [{"linears": {
        "qkv": {"k": 4, "epsilon": 0.5, "bits": 3, "epsilon_low": 0.125}, "o": {"bits": 3, "rounding": "compensated"},
        "down": {"bits": 2, "rounding": "nearest"}}}], "head": {"bits": 4}, "bases": "bases.safetensors"}))
    write("Plan", "linears", json.dumps({"gist_plan": 1, "block": 8, "layers": [{"linears": {
        "qkv": {"k": 4, "epsilon": 0.125}, "o": {"bits": 3}, "down": {"bits": 2, "k": 4}}}],
        "head": {"bits": 4, "exact_rows": 8, "exact_bits": 8}, "bases": "bases.safetensors"}))
    run = {"nll": [100.5, 201, 402], "divergence": [0.25, 0.5, 8], "keys": [10, 20, 40], "compared": [1, 2, 4],
           "absorbed": [2, 4, 8], "clusters": [1, 2, 3]}
    calibration = {
        "gist_calibration": 1, "model": "m", "layers": 2, "kv_heads": 1, "block": 64, "tokens": 1024,
        "texts": [{"path": "a.txt", "hash": "00ff", "dense_nll": [100, 200, 400]}],
        "candidates": [{"window": 128, "sinks": 4}, {"window": 64, "theta": 0.75, "room": 1}],
        "heads": [{"layer": 1, "head": 0, "candidate": 1, "texts": [run]}]}
    write("Measurements", "calibration", json.dumps(calibration))
    # What stands twice, and a value outside: changed bits seldom make either.
    write("Measurements", "twice", json.dumps(calibration | {"heads": 2 * calibration["heads"]}))
    row = {"part": "perplexity", "text": "a.txt", "tokens": 512, "ratio": 1.002, "bound": 1.004, "promised": 1.01,
           "verdict": "kept", "count": 4, "error": 0.0005}
    certificate = {"plan": "p.json", "verdict": "kept", "device": "cpu", "work": 0.5, "confidence": 0.9, "perplexity": 1.01,
                   "recall": 1.05, "tasks": 0.98, "task_seeds": [1], "task_samples": 8, "of_each_task": False,
                   "parts": [row, row | {"part": "recall"}, row | {"part": "answers", "text": "all tasks", "ratio": 0.99}]}
    other = certificate | {"task_seeds": [2], "parts": [part | {"text": "b.txt"} for part in certificate["parts"]]}
    write("Measurements", "certificates", json.dumps({"gist_certificates": [certificate, other]}))
    write("Config", "experts", json.dumps({
        "model_type": "qwen3_moe", "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 64,
        "intermediate_size": 64, "max_position_embeddings": 128, "num_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 16, "norm_topk_prob": True, "mlp_only_layers": [0, 1], "rms_norm_eps": 1e-6,
        "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 8}))
    write("Npy", "f4", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", b"\0" * 24))
    write("Npy", "i8", npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", b"\1" * 8, 2))
    write("Http", "length", b"POST /v1/%63hat?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n"
                            b"Connection: keep-alive, close\r\n\r\n{}")
    write("Http", "chunks", b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n")
    write("Http", "old", b"GET / HTTP/1.0\r\n\r\n")
    write("Request", "chat", json.dumps({"model": "m", "messages": [
        {"role": "user", "content": [{"type": "text", "text": "a"}]}], "stream": True, "stop": ["a"],
        "stream_options": {"include_usage": True}, "logprobs": True, "top_logprobs": 2, "seed": 1}))
    write("Request", "tools", json.dumps({"messages": [
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {
            "name": "f", "arguments": "{}"}}]}, {"role": "tool", "content": "1"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {
            "type": "object", "properties": {"a": {"enum": [1, "b"]}}}}}], "tool_choice": "required"}))
    calls = ['{"name": "f", "arguments": {"a": "</tool_call"}}', '{"name": "g", "arguments": []}', "{"]
    write("Request", "answers", json.dumps({"messages": [{"role": "user", "content": text} for text in (
        *(f"So: <tool_call>\n{call}\n</tool_call>\n" for call in calls), "\n" + calls[0], "<tool_call> a <tool")],
        "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "auto", "n": 2,
        "response_format": {"type": "text"}}))
    write("Request", "completion", json.dumps({"prompt": [[1, 2], "a"], "echo": True, "max_tokens": 0,
                                               "logprobs": 1, "temperature": 0.5, "n": 1}))
    write("Request", "rerank", json.dumps({"query": "a", "documents": ["b", {"text": "c"}], "top_n": 1}))
    write("Request", "responses", json.dumps({"instructions": "a", "max_output_tokens": 9, "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "b"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "d"}],
        "tools": [{"type": "function", "name": "f"}], "tool_choice": {"type": "function", "name": "f"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}}}))
    write("Request", "embedding", json.dumps({"input": [1, 2], "encoding_format": "base64", "dimensions": 9}))
    write("Grammar", "notation", 'root ::= a ("," b){2,3} | [^x-z\\u00e9]+ # c\na ::= "(" root ")" | "é"\nb ::= .?\n')
    write("Grammar", "object", json.dumps({"properties": {"a": {"type": "integer", "minimum": -5, "maximum": 1e3},
        "b": {"pattern": "^[a-c]{2}(x|\\d)+$"}, "c": {"$ref": "#/$defs/d"}}, "required": ["b"],
        "additionalProperties": {"type": ["null", "string"], "maxLength": 3},
        "$defs": {"d": {"anyOf": [{"items": {"$ref": "#/$defs/d"}, "maxItems": 2}, {"enum": [1, "a", None]}]}}}))
    write("Grammar", "values", json.dumps({"oneOf": [{"type": "number", "exclusiveMinimum": 0.25},
        {"type": "string", "format": "date"}, {"prefixItems": [True, {"const": {"a": 1}}], "minItems": 3}]}))
    for name, value in TEMPLATES.items():
        write("ChatTemplate", name, value)


def without_code(module):
    """The module with 64 bytes of its code: nine tenths of its bytes are code, which
    is not read before a session is made. Hashes are left to the target."""
    header, entry = 64, struct.Struct("<IIQQQII")
    count, = struct.unpack_from("<I", module, 12)
    table, content = b"", b""
    start = header + count * entry.size
    for i in range(count):
        kind, index, offset, size, digest, alignment, flags = entry.unpack_from(module, header + i * entry.size)
        size = min(size, 64) if kind == 2 else size
        content += b"\0" * (-(start + len(content)) % max(alignment, 1))
        table += entry.pack(kind, index, start + len(content), size, digest, alignment, flags)
        content += module[offset:offset + size]
    size = struct.pack("<Q", start + len(content))
    return module[:16] + size + module[24:header] + table + content


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
    if len(sys.argv) == 3:
        for name, options in {"tiny": [], "ranks": ["7", "--ranks"]}.items():
            module = pathlib.Path(sys.argv[1]) / "Module" / name
            module.parent.mkdir(exist_ok=True)
            subprocess.run([sys.argv[2], module, *options], check=True)
            module.write_bytes(without_code(module.read_bytes()))
