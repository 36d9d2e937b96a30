#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans beside other ways to keep less of the KV cache, at equal bytes, on the same texts and
questions.

The others are those of NVIDIA's kvpress in PyTorch, on the weights of the same GGUF file:

    gist-run eval dense.gist --tasks all --length 8192 --samples 200 --write-samples samples.jsonl
    gist-run eval dense.gist --tasks all --length 8192 --samples 200 --json > dense.json
    gist-run eval plan.gist  --tasks all --length 8192 --samples 200 --json > plan.json
    gist-run eval plan.gist  --against dense.gist --text prose.txt --window 8192 --stride 1024 \\
        --max-tokens 12288 --recall 4096 --json > plan-prose.json
    bench/kv_peers.py run --model model.gguf --samples samples.jsonl --text prose.txt \\
        --calibration other.txt --share .49 -o peers.json
    bench/kv_peers.py table --samples samples.jsonl --gist dense=dense.json \\
        --gist "plan 1.01=plan.json,plan-prose.json" --peers peers.json

A text is read and made smaller before what follows is known (kv_torch.py). What follows it is kept
whole by kvpress; a plan goes on forgetting. `share` is what is kept of the cache of a text, in
bytes; of layers that see a window of their own nothing is taken. Peaks are the most bytes of keys and values at any time while the text was read. What kvpress
only masks (DuoAttention, KVzip) counts as gone after the text, and as there before.

Every method is compared with the same engine's own dense run: perplexity of a text that goes on, of
one that comes again, and the likelihood of a right answer's token.
"""

import argparse
import json
import math
import random
import statistics
import sys
import time
from pathlib import Path

import kv_torch
import results
from kv_torch import say

# First and last tokens that streaming heads of DuoAttention keep.
SINKS, RECENT = 128, 256


def duo_scores(model, texts):
    """Which heads look far back, as kvpress scores them on the fly (mean query and mean key,
    rotated, area under the attention of the last query), on texts of our own."""
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb
    torch, hf, length = model.torch, model.model, 500
    groups = hf.config.num_attention_heads // hf.config.num_key_value_heads
    scores = torch.zeros(hf.config.num_hidden_layers, hf.config.num_key_value_heads)
    # A layer with a window of its own is never compressed.
    scores[[not whole for whole in model.is_global]] = float("inf")
    places = torch.arange(length, device=model.device)[None]
    for tokens in texts:
        ids = torch.tensor([tokens[:2048]], device=model.device)
        with torch.no_grad():
            states = hf.model(input_ids=ids, output_hidden_states=True).hidden_states[:-1]
            for number, state in enumerate(states):
                if not model.is_global[number]:
                    continue
                attention = model.layers[number].self_attn
                state = model.layers[number].input_layernorm(state)

                def mean(name):
                    rows = getattr(attention, f"{name}_proj")(state)
                    rows = rows.view(1, state.shape[1], -1, attention.head_dim)
                    norm = getattr(attention, f"{name}_norm", None)
                    rows = norm(rows) if norm else rows
                    return rows.mean(1, keepdim=True).repeat(1, length, 1, 1).transpose(1, 2)

                cos, sin = hf.model.rotary_emb(state, places)
                q, k = apply_rotary_pos_emb(mean("q"), mean("k"), cos, sin)
                k = k.repeat_interleave(groups, dim=1)
                weights = (q[:, :, -1:] @ k.transpose(2, 3) * attention.scaling).float()
                area = weights.softmax(-1)[0, :, 0].cumsum(-1).mean(-1)
                scores[number] += area.view(-1, groups).mean(-1).cpu()
    return scores / len(texts)


def press_global_layers(model):
    """kvpress skips the sliding-window layers of Gemma 3 only in the multimodal model; this makes it
    skip them in the text model too. It then compresses global layers, so their rotation is used."""
    from transformers import Gemma3ForCausalLM
    from kvpress.presses import base_press
    if not isinstance(model.model, Gemma3ForCausalLM):
        return
    base_press.Gemma3ForConditionalGeneration = Gemma3ForCausalLM
    rotary = model.model.model.rotary_emb
    rotate = rotary.forward
    rotary.forward = lambda x, places, layer_type=None: rotate(x, places, layer_type or "full_attention")


def make_presses(model, texts):
    """{name: function(share, length) -> a press that keeps this share of the bytes}"""
    import kvpress
    from kvpress.presses import kvzip_press

    class Tokenizers:
        """KVzip would load the tokenizer again for every text; this returns the loaded one."""

        @staticmethod
        def from_pretrained(_):
            return model.tokenizer

    kvzip_press.AutoTokenizer = Tokenizers
    press_global_layers(model)
    scores = duo_scores(model, texts)
    heads = int(scores.isfinite().sum())

    class Duo(kvpress.DuoAttentionPress):
        def post_init_from_model(self, _):
            self.sink_size, self.recent_size = SINKS, RECENT
            streaming = round(heads * self.head_compression_ratio)
            mask = scores.new_zeros(scores.numel(), dtype=bool)
            mask[scores.flatten().argsort()[:streaming]] = True
            self.streaming_mask = mask.view(scores.shape).to(model.device)

    def duo(share, length):
        """Chooses the number of streaming heads that keeps this share."""
        streamed = 1 - (SINKS + RECENT) / max(length, SINKS + RECENT + 1)
        return Duo(head_compression_ratio=min(1, (1 - share) / streamed))

    def plain(kind):
        return lambda share, _: kind(compression_ratio=1 - share)

    return {"StreamingLLM": plain(kvpress.StreamingLLMPress), "SnapKV": plain(kvpress.SnapKVPress),
            "KeyDiff": plain(kvpress.KeyDiffPress),
            "Expected Attention": plain(kvpress.ExpectedAttentionPress),
            "DuoAttention": duo, "KVzip": plain(kvpress.KVzipPress)}


class Method:
    """A press at a share, or None, and its measurements. After an error it is left out."""

    def __init__(self, name, share, make=None):
        self.name, self.share, self.make = name, share, make
        self.samples, self.texts, self.error = [], [], None

    def press(self, tokens):
        return self.make and self.make(self.share, len(tokens))

    def measure(self, reader, into, probe):
        if self.error:
            return
        try:
            into.extend(probe(lambda tokens: reader.past(self, tokens)))
        except Exception as error:  # a press may raise anything
            self.error = f"{type(error).__name__}: {error}"
            say(f"{self.name} at {self.share}: left out: {self.error}")

    def to_json(self):
        found = {"name": self.name, "share": self.share, "samples": self.samples, "texts": self.texts}
        return found | ({"error": self.error} if self.error else {})


class Reader:
    """Reads a text once for all methods that can share it; they ask for it in turn."""

    def __init__(self, model, methods):
        self.model, self.methods = model, methods
        self.tokens, self.pasts = None, {}

    def past(self, method, tokens):
        if tokens != self.tokens:
            presses = {each: each.press(tokens) for each in self.methods if not each.error}
            sharing = {each: press for each, press in presses.items()
                       if press is None or kv_torch.takes_layers(press)}
            self.tokens = tokens
            self.pasts = dict(zip(sharing, self.model.read_once(tokens, list(sharing.values()))))
        # Each past is used once: later tokens are appended to it.
        past = self.pasts.pop(method, None)
        return past or self.model.read(tokens, method.press(tokens))


def run(options):
    started = time.monotonic()
    kv_torch.set_length(options.length)
    try:
        import kvpress  # noqa: F401
        model = kv_torch.Model(options.model, options.device)
    except ImportError as missing:
        sys.exit(f"kv_peers.py: error: {missing}; expected the packages of bench/requirements-kv.txt")
    texts = kv_torch.read_texts(model, options.text)
    samples = kv_torch.read_samples(options.samples, options.count, options.part)
    model.check_tokens(samples[:18])
    presses = make_presses(model, list(kv_torch.read_texts(model, options.calibration).values()))
    say(f"{len(samples)} samples, {len(texts)} texts; ready after {time.monotonic() - started:.0f} s")
    methods = [Method("dense", 1.0)]
    methods += [Method(name, share, presses[name]) for share in options.share
                for name in options.presses or presses]

    reader = Reader(model, methods)

    def write():
        Path(options.output).write_text(json.dumps({
            "gist_kv_peers": 1, **results.about(), "device": options.device, "seconds": time.monotonic() - started,
            "methods": [method.to_json() for method in methods]}) + "\n")

    for name, tokens in texts.items():
        for probe in kv_torch.text_probes(model, name, tokens, options.windows):
            for method in methods:
                method.measure(reader, method.texts, probe)
        write()
    # Each sample runs with all methods before the next, so that a time limit leaves all
    # methods with the same samples.
    for number, sample in enumerate(samples):
        if 0 < options.seconds < time.monotonic() - started:
            say(f"stopped by --seconds after {number} samples")
            break
        for method in methods:
            method.measure(reader, method.samples, lambda read: [kv_torch.ask(model, sample, read)])
        write()


# The table.


class Row:
    """A row of the table: ratios to the dense run of the same engine."""

    def __init__(self, name, share, peak):
        self.name, self.share, self.peak = name, share, peak
        self.perplexity, self.recall = [], []  # one for each text
        # By task and number: difference of log likelihood, and whether the answer is right.
        self.samples = {}

    def add_samples(self, samples, dense):
        for key in samples.keys() & dense.keys():
            log, right = samples[key]
            self.samples[key] = log - dense[key][0], right

    def keep(self, keys):
        self.tasks, self.right = {}, [self.samples[key][1] for key in keys]
        for key in keys:
            self.tasks.setdefault(key[0], []).append(self.samples[key][0])


def interval(values, draws=1000):
    """The 95 % confidence interval of the mean, by bootstrap."""
    choose = random.Random(1)
    means = sorted(statistics.fmean(choose.choices(values, k=len(values))) for _ in range(draws))
    return means[int(.025 * draws)], means[int(.975 * draws)]


def gist_samples(path, targets):
    result = json.loads(Path(path).read_text())
    rows = {}
    for sample in result["samples"]:
        key = sample["task"], sample["number"]
        if key in targets:
            right = all(written.strip().startswith(target)
                        for written, target in zip(sample["written"], targets[key]))
            rows[key] = sample["log_likelihood"] / sample["tokens"], right
    return rows, result["kv_bytes"]


def ratio_of_windows(variation):
    """The perplexity ratio over all tokens except those of the first window, which has less context
    than the peers' texts. The last window may have a single token."""
    ratios, tokens = variation["perplexity_ratio"]["values"][1:], variation["tokens"][1:]
    lost = sum(count * math.log(ratio) for count, ratio in zip(tokens, ratios))
    return math.exp(lost / sum(tokens))


def gist_rows(named, targets):
    (_, (dense_path, *_)), *plans = named
    dense, dense_bytes = gist_samples(dense_path, targets)
    for name, (path, *texts) in plans:
        samples, size = gist_samples(path, targets)
        # The cache is allocated once, so its peak is its size.
        row = Row(f"Gist, {name}", size / dense_bytes, size / dense_bytes)
        row.add_samples(samples, dense)
        for text in texts:
            found = json.loads(Path(text).read_text())
            row.perplexity.append(ratio_of_windows(found["variation"]))
            row.recall.append(found["recall"]["perplexity_ratio"])
        yield row


def merged(paths):
    """The methods of several files, each of which has a part of the samples."""
    found = {}
    for path in paths:
        read = json.loads(Path(path).read_text())
        for method in read["methods"]:
            there = found.setdefault((method["name"], method["share"]),
                                     {"samples": [], "texts": [],
                                      "engine": read.get("engine", "kvpress")})
            for what in ("samples", "texts"):
                there[what] += method[what]
    return found


def peer_rows(paths):
    methods = merged(paths)

    def samples_of(method):
        return {(s["task"], s["number"]): (s["log_likelihood"] / s["tokens"], s["right"])
                for s in method["samples"]}

    def texts_of(method):
        return {(t["text"], t["probe"], t.get("window")): t for t in method["texts"]}

    base = methods.pop(("dense", 1.0))
    dense, dense_texts = samples_of(base), texts_of(base)
    whole = {(s["task"], s["number"]): s["bytes"] for s in base["samples"]}
    for (name, _), method in methods.items():
        def mean(what):
            shares = [s[what] / whole[s["task"], s["number"]] for s in method["samples"]
                      if (s["task"], s["number"]) in whole]
            return statistics.fmean(shares) if shares else math.nan

        row = Row(f"{method['engine']}, {name}", mean("bytes"), mean("peak_bytes"))
        row.add_samples(samples_of(method), dense)
        lost = {}
        for key, text in texts_of(method).items():
            lost.setdefault(key[:2], []).append(text["nll"] - dense_texts[key]["nll"])
        for (_, probe), nats in lost.items():
            getattr(row, probe).append(math.exp(statistics.fmean(nats)))
        yield row


def table(options):
    targets = {(sample["task"], sample["number"]): [turn["target"].strip() for turn in sample["turns"]]
               for sample in kv_torch.read_samples(options.samples, 1 << 30)}
    rows = []
    if options.gist:
        rows += gist_rows([(name, paths.split(",")) for name, _, paths in
                           (text.partition("=") for text in options.gist)], targets)
    if options.peers:
        rows += peer_rows(options.peers)
    rows = [row for row in rows if row.samples]
    # A run with a time limit has fewer samples: rows are compared on the samples that all have.
    common = sorted(set.intersection(*(set(row.samples) for row in rows)))
    for row in rows:
        row.keep(common)
    tasks = sorted({task for row in rows for task in row.tasks})

    def ratios(values):
        return " / ".join(f"{value:.3f}" for value in values) or "–"

    columns = {"method": None, "cache": 3, "peak": 3, "perplexity": None, "recall": None,
               "worst task": None, "all tasks": None, "right": 3, "samples": None}
    table = []
    for row in rows:
        everything = [value for values in row.tasks.values() for value in values]
        low, high = map(math.exp, interval(everything))
        means = {task: math.exp(statistics.fmean(values)) for task, values in row.tasks.items()}
        worst = min(means, key=means.get)
        table.append([row.name, row.share, row.peak, ratios(row.perplexity), ratios(row.recall),
                      f"{means[worst]:.3f} {worst}",
                      f"{math.exp(statistics.fmean(everything)):.3f} [{low:.3f}, {high:.3f}]",
                      statistics.fmean(row.right), len(everything)])
    print(results.markdown(columns, table) + "\n")
    print(results.markdown({"method": None, "cache": 3} | dict.fromkeys(tasks, 3), [
        [row.name, row.share, *(math.exp(statistics.fmean(row.tasks[task])) for task in tasks)]
        for row in rows]))
    if options.json:
        results.write(options.json, columns, table)


def part(text):
    number, _, count = text.partition("/")
    return int(number), int(count)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    asking = commands.add_parser("run", help="measure PyTorch with presses")
    asking.add_argument("--model", required=True, metavar="GGUF")
    asking.add_argument("--samples", required=True, metavar="JSONL")
    asking.add_argument("--text", action="append", default=[], metavar="FILE",
                        help="text to go on with and to come again; may be given several times")
    asking.add_argument("--calibration", action="append", required=True, metavar="FILE",
                        help="text that DuoAttention's heads are chosen by; may be given several times")
    asking.add_argument("--length", type=int, default=8192, metavar="TOKENS",
                        help="of what is read and goes on; half of it comes again")
    asking.add_argument("--windows", type=int, default=4, help="places in a text where it goes on")
    asking.add_argument("--share", type=float, action="append", required=True,
                        help="of the cache's bytes to keep; may be given several times")
    asking.add_argument("--presses", type=lambda text: text.split(","), metavar="NAME,…")
    asking.add_argument("--count", type=int, default=1 << 30, help="samples of each task at most")
    asking.add_argument("--part", type=part, default=(0, 1), metavar="I/N",
                        help="samples whose number leaves I when divided by N")
    asking.add_argument("--seconds", type=float, default=0, help="stop after so many; 0: never")
    asking.add_argument("--device", default="cpu")
    asking.add_argument("-o", "--output", required=True)
    showing = commands.add_parser("table", help="everything as tables, in Markdown")
    showing.add_argument("--samples", required=True, metavar="JSONL")
    showing.add_argument("--gist", action="append", default=[], metavar="NAME=TASKS[,TEXT…]",
                         help="what gist-run eval --json wrote, that without a plan first")
    showing.add_argument("--json", metavar="FILE", help="also write JSON")
    showing.add_argument("--peers", action="append", default=[], metavar="JSON")
    options = parser.parse_args()
    {"run": run, "table": table}[options.command](options)


if __name__ == "__main__":
    main()
