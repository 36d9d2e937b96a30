# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A GGUF model in PyTorch whose KV cache may be made smaller after a text was read, and what it
still knows then. `kv_peers.py` and `kv_ideas.py` make it smaller, each in its own ways.

Three probes, each of a text that is read first and made smaller before what follows is known:
the text goes on (perplexity), it comes again (recall), a question about it is asked (the samples
of `gist-run eval --tasks … --write-samples`). What follows is kept whole.
"""

import copy
import functools
import heapq
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

# Tokens that are read before a text goes on, tokens that are predicted then, and tokens that come
# twice. The first two are what `gist-run eval --window 8192 --stride 1024` predicts after its
# first window, the third is `--recall 4096`. set_length() makes them those of another length.
READ, NEXT, TWICE = 7168, 1024, 4096


def set_length(tokens):
    global READ, TWICE
    READ, TWICE = tokens - NEXT, tokens // 2


def say(text):
    print(text, file=sys.stderr, flush=True)


def read_samples(path, count, part=(0, 1)):
    """At most `count` samples of each task, all tasks in turns; of them every n-th, `part` (i, n)."""
    tasks = defaultdict(list)
    with open(path) as lines:
        for line in lines:
            sample = json.loads(line)
            if len(tasks[sample["task"]]) < count and sample["number"] % part[1] == part[0]:
                tasks[sample["task"]].append(sample)
    turns = max(map(len, tasks.values()), default=0)
    return [samples[i] for i in range(turns) for samples in tasks.values() if i < len(samples)]


class Past:
    """The cache of a text that was read."""

    def __init__(self, cache, tokens, size, peak, bias=None):
        self.cache, self.tokens = cache, tokens
        self.bytes, self.peak = size, peak
        # For each layer what is added to the scores of its rows, KV heads x rows, or None.
        self.bias = bias


def size_of(*tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors if tensor is not None)


def bytes_of(cache):
    return sum(size_of(getattr(layer, "keys", None), getattr(layer, "values", None))
               for layer in cache.layers)


def takes_layers(press):
    """Whether a press compresses each layer by itself, as most do, rather than read a text in
    its own way."""
    from kvpress.presses.base_press import BasePress
    return all(getattr(type(press), name) is getattr(BasePress, name)
               for name in ("__call__", "forward_hook"))


class Pieces:
    """The SentencePiece tokenizer of a GGUF file, which transformers converts wrongly: neighbours
    merge, the pair with the best score first. User-defined symbols are split off before that."""

    def __init__(self, path):
        import gguf
        fields = gguf.GGUFReader(path).fields
        kinds = fields["tokenizer.ggml.token_type"].contents()
        self.bos_token_id = fields["tokenizer.ggml.bos_token_id"].contents()
        self.scores = fields["tokenizer.ggml.scores"].contents()
        pieces = fields["tokenizer.ggml.tokens"].contents()
        self.ids = {piece: number for number, piece in enumerate(pieces)}
        named = sorted((piece for piece, kind in zip(pieces, kinds)
                        if kind == gguf.TokenType.USER_DEFINED), key=len, reverse=True)
        self.named = re.compile("(" + "|".join(map(re.escape, named)) + ")") if named else None
        # Most pieces have spaces only at their start: texts are cut before a space that no piece can cross.
        inner = {before for piece in pieces for before in re.findall("([^\u2581])(?=\u2581)", piece)}
        self.words = re.compile("(?<=[^\u2581" + "".join(map(re.escape, inner)) + "])(?=\u2581)")
        self.merge = functools.cache(self.merge)
        self.chat_template = None

    def __call__(self, text, add_special_tokens=False):
        tokens = []
        # User-defined symbols, such as four spaces, contain spaces, not U+2581.
        for number, part in enumerate(self.named.split(text) if self.named else [text]):
            if number % 2:
                tokens.append(self.ids[part])
                continue
            for word in self.words.split(part.replace(" ", "\u2581")):
                tokens += self.merge(word)
        return {"input_ids": tokens}

    def merge(self, text):
        parts, after, before = list(text), list(range(1, len(text) + 1)), list(range(-1, len(text) - 1))
        heap = []

        def offer(left):
            right = after[left] if left >= 0 else len(parts)
            if right < len(parts):
                both = parts[left] + parts[right]
                if both in self.ids:
                    heapq.heappush(heap, (-self.scores[self.ids[both]], left, both))

        for left in range(len(parts)):
            offer(left)
        while heap:
            _, left, both = heapq.heappop(heap)
            right = after[left]
            # Outdated: one of the two parts has been merged since.
            if parts[left] is None or right >= len(parts) or parts[left] + parts[right] != both:
                continue
            parts[left], parts[right], after[left] = both, None, after[right]
            if after[right] < len(parts):
                before[after[right]] = left
            offer(before[left])
            offer(left)
        return [token for part in parts if part is not None for token in
                ([self.ids[part]] if part in self.ids
                 else [self.ids[f"<0x{byte:02X}>"] for byte in part.encode()])]


class Model:
    def __init__(self, path, device):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.integrations.sdpa_attention import sdpa_attention_forward
        from transformers.utils import logging
        logging.disable_progress_bar()
        self.torch, self.device = torch, device
        path = Path(path)
        model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name,
                                                     attn_implementation="sdpa")
        # Hidden states of Gemma overflow f16 in PyTorch.
        is_gemma = model.config.model_type.startswith("gemma")
        self.dtype = torch.float32 if device == "cpu" or is_gemma else torch.float16
        if is_gemma:
            # With attend_whole() memory-efficient kernels save little, and with them a run on an H200 ended
            # in an illegal access.
            torch.backends.cuda.enable_mem_efficient_sdp(False)
        self.tokenizer = Pieces(path) if is_gemma else \
            AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        # Samples are not wrapped in a chat template.
        self.tokenizer.chat_template = None
        if model.config.model_type == "llama":
            self.cut_digits()
        self.model = model.to(device=device, dtype=self.dtype).eval()
        self.plain_attention = sdpa_attention_forward
        self.bias, self.on_query = None, None
        self.begin = []  # tokens that every text begins with
        self.take_attention()

    def cut_digits(self):
        """Sets SmolLM2's pre-tokenizer, which transformers does not read from GGUF files. Another model
        may need another one; check_tokens() finds out."""
        from tokenizers import pre_tokenizers
        self.tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])

    def check_tokens(self, samples):
        """Exits unless transformers and gist-run tokenize all samples alike. If samples begin with a BOS
        token, so do texts that are read without a question."""
        bos = self.tokenizer.bos_token_id
        if samples and samples[0]["turns"][0]["text_tokens"][0] == bos:
            self.begin = [bos]
        for sample in samples:
            for number, turn in enumerate(sample["turns"]):
                ids = self.tokenizer(turn["text"], add_special_tokens=False)["input_ids"]
                if number == 0:
                    ids = self.begin + ids
                if ids != turn["text_tokens"]:
                    sys.exit(f"error: sample {sample['number']} of {sample['task']} has other tokens in "
                             "transformers than in gist-run")

    @property
    def layers(self):
        return self.model.model.layers

    @property
    def is_global(self):
        """For each layer, whether it sees the whole past rather than a window."""
        return [not getattr(layer.self_attn, "is_sliding", False) for layer in self.layers]

    def take_attention(self):
        """Makes the model use attend(). Call it again after other code has changed the attention."""
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
        ALL_ATTENTION_FUNCTIONS["sdpa"] = self.attend

    def attend(self, module, query, key, value, attention_mask, **options):
        """The model's attention, with a bias added to the scores of past rows."""
        torch = self.torch
        if self.on_query:
            self.on_query(module.layer_idx, query)
        bias = self.bias[module.layer_idx] if self.bias else None
        if bias is None and attention_mask is None and getattr(module, "is_sliding", None) is not None:
            return self.attend_whole(module, query, key, value), None
        if bias is None:
            return self.plain_attention(module, query, key, value, attention_mask, **options)
        heads, kept = query.shape[1], bias.shape[-1]
        count, new = query.shape[2], key.shape[2] - kept
        mask = query.new_zeros(1, heads, count, key.shape[2])
        mask[..., :kept] = bias.repeat_interleave(heads // bias.shape[0], 0)[:, None]
        mask[..., kept:] = torch.full((count, new), float("-inf"), dtype=query.dtype,
                                      device=query.device).triu(new - count + 1)
        return self.plain_attention(module, query, key, value, mask, **options)

    def attend_whole(self, module, query, key, value):
        """Attention of a whole text, piece by piece: a piece sees itself and all earlier pieces, or with a
        window only the one before. This avoids the large mask of a whole text."""
        torch, attend = self.torch, self.torch.nn.functional.scaled_dot_product_attention
        heads, length = query.shape[1:3]
        key, value = (rows.repeat_interleave(heads // rows.shape[1], 1) for rows in (key, value))
        places, found = torch.arange(length, device=query.device), []
        size = module.sliding_window if module.is_sliding else 1024
        for begin in range(0, length, size):
            end, first = begin + size, max(0, begin - size) if module.is_sliding else 0
            back = places[begin:end, None] - places[first:end]
            mask = (back >= 0) & (back < size) if module.is_sliding else back >= 0
            found.append(attend(query[:, :, begin:end], key[:, :, first:end], value[:, :, first:end],
                                attn_mask=mask, scale=module.scaling))
        return torch.cat(found, 2).transpose(1, 2).contiguous()

    def read(self, tokens, press=None):
        """Reads a text, with a press of kvpress unless it is None."""
        if press is None or takes_layers(press):
            return self.read_once(tokens, [press])[0]
        from transformers import DynamicCache
        cache, peak = DynamicCache(config=self.model.config), 0

        def count(*_):
            nonlocal peak
            peak = max(peak, bytes_of(cache))

        # Registered before the press's hooks, so that a layer is counted before it is compressed.
        hooks = [layer.self_attn.register_forward_hook(count) for layer in self.layers]
        for layer in self.layers:
            layer.self_attn.masked_key_indices = None
        try:
            with press(self.model):
                self.forward(tokens, cache)
        finally:
            for hook in hooks:
                hook.remove()
        return self.past_of(cache, [getattr(layer.self_attn, "masked_key_indices", None)
                                    for layer in self.layers], len(tokens), peak)

    def read_once(self, tokens, presses):
        """What each press keeps of a text, which is read once for all presses: a press compresses a layer
        after the layer has run. A press of None keeps everything."""
        from transformers import DynamicCache
        cache = DynamicCache(config=self.model.config)
        kept, sizes, peaks = [[] for _ in presses], [0] * len(presses), [0] * len(presses)
        for press in filter(None, presses):
            press.post_init_from_model(self.model)

        def take(module, _, options, output):
            layer = cache.layers[module.layer_idx]
            for number, press in enumerate(presses):
                peaks[number] = max(peaks[number], sizes[number] + size_of(layer.keys, layer.values))
                rows, module.masked_key_indices = (layer.keys, layer.values), None
                if press and self.is_global[module.layer_idx]:
                    rows = press.compress(module, options["hidden_states"], *rows, output[1], options)
                sizes[number] += size_of(*rows)
                kept[number].append((*rows, module.masked_key_indices))
                module.masked_key_indices = None

        hooks = [layer.self_attn.register_forward_hook(take, with_kwargs=True) for layer in self.layers]
        for layer in self.layers:
            layer.self_attn.rotary_emb = self.model.model.rotary_emb  # as presses expect
        try:
            self.forward(tokens, cache)
        finally:
            for hook in hooks:
                hook.remove()
        pasts = []
        for rows, peak in zip(kept, peaks):
            own = copy.copy(cache)
            own.layers = [copy.copy(layer) for layer in cache.layers]
            for layer, (layer.keys, layer.values, _) in zip(own.layers, rows):
                pass
            pasts.append(self.past_of(own, [mask for *_, mask in rows], len(tokens), peak))
        return pasts

    def forward(self, tokens, cache):
        self.bias = None
        # attend() needs no masks for a whole text, and large ones take time and memory.
        masks = {} if all(self.is_global) else {
            "attention_mask": {"full_attention": None, "sliding_attention": None}}
        self.model.model(input_ids=self.torch.tensor([tokens], device=self.device),
                         past_key_values=cache, **masks)

    def past_of(self, cache, masks, tokens, peak):
        size, bias = bytes_of(cache), None
        if any(mask is not None for mask in masks):
            # These presses only mask rows; masked rows count as removed.
            bias = []
            for layer, mask in zip(cache.layers, masks):
                rows = None
                if mask is not None:
                    rows = layer.keys.new_zeros(layer.keys.shape[1:3])
                    rows[mask[1], mask[2]] = float("-inf")
                    size -= 2 * len(mask[0]) * layer.keys.shape[-1] * layer.keys.element_size()
                bias.append(rows)
        elif not all(self.is_global):
            # transformers builds the mask of global layers for the position that layer 0 has reached;
            # layer 0 has a window here and is not compressed. In a global layer with fewer rows
            # tokens would see later ones. A bias, even of zeros, makes attend() build its own mask.
            bias = [layer.keys.new_zeros(layer.keys.shape[1:3])
                    if whole and layer.keys.shape[2] < tokens else None
                    for layer, whole in zip(cache.layers, self.is_global)]
        return Past(cache, tokens, size, peak, bias)

    def follow(self, past, tokens, targets, chunk=1024):
        """For each of the last len(targets) tokens the log probability that its target comes next, and
        whether it is the most likely. Appends the tokens to the past."""
        torch, found = self.torch, []
        first = len(tokens) - len(targets)
        targets = torch.tensor(targets, device=self.device)
        self.bias = past.bias
        for begin in range(0, len(tokens), chunk):
            piece = torch.tensor([tokens[begin:begin + chunk]], device=self.device)
            # Positions continue after the whole text, however few of its rows are kept.
            places = past.tokens + begin + torch.arange(piece.shape[1], device=self.device)[None]
            states = self.model.model(input_ids=piece, past_key_values=past.cache,
                                      position_ids=places).last_hidden_state[0]
            states = states[max(0, first - begin):]
            rows = self.model.lm_head(states).float().log_softmax(-1)
            # Rows of logits can be large: only the numbers of the targets are kept.
            wanted = targets[max(0, begin - first):][:len(rows), None]
            found.append((rows.gather(1, wanted)[:, 0], rows.argmax(-1) == wanted[:, 0]))
        past.tokens += len(tokens)
        self.bias = None
        logs, likeliest = map(torch.cat, zip(*found))
        if logs.isnan().any():
            raise ValueError("predictions are not numbers")
        return logs, likeliest


def figures(past):
    return {"bytes": past.bytes, "peak_bytes": past.peak}


def ask(model, sample, read):
    """How likely the right answer is. `read` gives the past of the first turn's text; later texts
    are kept whole."""
    total, count, right, past, last = 0.0, 0, True, None, []
    with model.torch.no_grad():
        for turn in sample["turns"]:
            prompt, target = turn["text_tokens"] + turn["question_tokens"], turn["target_tokens"]
            if past is None:
                past = read(turn["text_tokens"])
                found = figures(past)
                prompt = turn["question_tokens"]
            # No target follows the last token of an answer.
            logs, likeliest = model.follow(past, last + prompt + target[:-1], target)
            last = target[-1:]
            total += float(logs.sum())
            count += len(target)
            right &= bool(likeliest.all())
    return {"task": sample["task"], "number": sample["number"], "log_likelihood": total,
            "tokens": count, "right": right} | found


def goes_on(model, tokens, begin, read):
    """Mean -log p of the tokens that follow a piece of text."""
    with model.torch.no_grad():
        past = read(model.begin + tokens[begin:begin + READ - 1])
        found = figures(past)
        rest = tokens[begin + READ - 1:begin + READ + NEXT]
        logs, _ = model.follow(past, rest[:-1], rest[1:])
    return {"nll": -float(logs.mean())} | found


def comes_again(model, tokens, read):
    """Mean -log p of the tokens of a text that was read just before."""
    with model.torch.no_grad():
        past = read(model.begin + tokens[:TWICE])
        found = figures(past)
        # The first token of the second copy is not scored.
        logs, _ = model.follow(past, tokens[:TWICE - 1], tokens[1:TWICE])
    return {"nll": -float(logs.mean())} | found


def text_probes(model, name, tokens, windows):
    """The probes of a text; each takes the function that reads, and returns a list of figures."""
    for window in range(1, windows + 1):
        begin = window * NEXT
        if begin + READ + NEXT > len(tokens):
            break
        yield lambda read: [{"text": name, "probe": "perplexity", "window": window}
                            | goes_on(model, tokens, begin, read)]
    yield lambda read: [{"text": name, "probe": "recall"} | comes_again(model, tokens, read)]


def read_texts(model, files):
    """Tokens of files, by their names."""
    return {Path(file).stem: model.tokenizer(Path(file).read_text(errors="replace"),
                                             add_special_tokens=False)["input_ids"]
            for file in files}
