# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engines that cpu_peers.py compares.

An engine can be asked for: `check` (the mean negative log-likelihood of a text's
first tokens, and what it says after prompts), `time` (seconds of one test), and
`memory`. gist is its own program. The others live in a process each, this file
run with a name and the options as JSON; requests and answers are lines of JSON,
so that one engine's threads and memory are not another's.
"""

import contextlib
import copy
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

class Missing(Exception):
    """An engine cannot run here; the text says why."""


def some_tokens(count, vocabulary):
    """Tokens all over the vocabulary, the same in every run."""
    choose = random.Random(1)
    return [choose.randrange(vocabulary) for _ in range(count)]


def resident():
    """Peak resident memory of this process, and the file-backed part of the current."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024
             for line in lines if line.startswith(("VmHWM", "Rss"))}
    return {"peak": sizes["VmHWM"], "files": sizes.get("RssFile", 0)}


def mean_nll(logits, tokens):
    """Mean negative log-likelihood of tokens[1:], from the logits of the token before."""
    import numpy as np
    logits = np.asarray(logits, np.float64)[:-1]
    logits -= logits.max(axis=1, keepdims=True)
    chosen = logits[np.arange(len(logits)), tokens[1:]]
    return float(np.mean(np.log(np.exp(logits).sum(axis=1)) - chosen))


class Gist:
    """gist-run, once per question."""

    def __init__(self, gist_run, gist_compile, model, threads, context, folder):
        self.run, self.threads, self.context = gist_run, threads, context
        self.module, self.scoring = folder / "model.gist", folder / "scoring.gist"
        start = time.perf_counter()
        for module, options in (self.module, []), (self.scoring, ["--logits=all"]):
            subprocess.run([gist_compile, model, "-o", module, "--progress=off",
                            *options], check=True)
        self.compile_seconds = (time.perf_counter() - start) / 2
        self.last = {}

    def with_threads(self, threads):
        """The same modules with another number of threads; 0: gist-run chooses."""
        other = copy.copy(self)
        other.threads, other.last = threads, {}
        return other

    def version(self):
        info = self.json("info", self.module)
        return f"{info['producer']}, {info['properties']['compute']} products"

    def json(self, command, module, *options):
        done = subprocess.run([self.run, command, module, "--json", *options],
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def check(self, text, count, prompts, length):
        found = self.json("eval", self.scoring, "-t", str(self.threads),
                          "--text", text, "--window", str(count),
                          "--max-tokens", str(count))
        said = []
        for prompt in prompts:
            done = subprocess.run(
                [self.run, "generate", self.module, "-t", str(self.threads), "-p",
                 prompt, "-n", str(length), "--ignore-end", "--print-tokens"],
                stdout=subprocess.PIPE, check=True)
            said.append([int(word) for word in done.stdout.split()])
        return {"nll": found["windows"]["nll"], "said": said}

    def time(self, kind, count):
        wanted = ["-p", str(count), "-n", "0"] if kind == "pp" else \
            ["-p", "0", "-n", str(count)]
        done = subprocess.run(
            [self.run, "bench", self.module, "-t", str(self.threads), *wanted,
             "-c", str(self.context), "-r", "1", "-o", "json"],
            stdout=subprocess.PIPE, check=True)
        self.last[kind, count] = found = json.loads(done.stdout)
        return found["tests"][0]["seconds"][0]

    def memory(self):
        """The largest of all tests. A cache has room for the module's longest context,
        but only the pages that this context's tokens touch are resident."""
        runs = self.last.values()
        longest = self.json("info", self.module)["context_length"]
        state = max(run["state_bytes"] for run in runs)
        return {"peak": max(run["peak_resident_bytes"] for run in runs),
                "kv": state * min(self.context, longest) // longest,
                "module": self.module.stat().st_size,
                "load_seconds": max(run["load_seconds"] for run in runs)}

    def close(self):
        pass


class Worker:
    """An engine in a process of its own."""

    def __init__(self, name, options, log):
        environment = dict(os.environ, OMP_NUM_THREADS=str(options["threads"]),
                           TOKENIZERS_PARALLELISM="false")
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, __file__, name, json.dumps(options)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            env=environment)
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with {self.process.wait()}; "
                               "its words are in the log")
        answer = json.loads(line)
        if "missing" in answer:
            self.close()
            raise Missing(answer["missing"])
        return answer

    def ask(self, request, **arguments):
        print(json.dumps({"request": request, **arguments}), flush=True,
              file=self.process.stdin)
        return self.answer()

    def version(self):
        return self.about["version"]

    def check(self, text, count, prompts, length):
        return self.ask("check", text=Path(text).read_text(), count=count,
                        prompts=prompts, length=length)

    def time(self, kind, count):
        return self.ask("time", kind=kind, count=count)["seconds"]

    def memory(self):
        return self.ask("memory")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class LlamaCpp:
    """llama.cpp through the package llama-cpp-python."""

    def __init__(self, model, threads, context, flash, **_):
        try:
            import llama_cpp
        except ImportError as error:
            raise Missing("the package llama-cpp-python is not installed") from error
        self.api = llama_cpp
        llama_cpp.llama_backend_init()
        parameters = llama_cpp.llama_model_default_params()
        self.model = llama_cpp.llama_model_load_from_file(model.encode(), parameters)
        if not self.model:
            raise Missing(f"llama.cpp cannot load {model}")
        self.vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        self.width = llama_cpp.llama_vocab_n_tokens(self.vocabulary)
        chosen = llama_cpp.llama_context_default_params()
        chosen.n_ctx = context
        chosen.n_batch = context  # n_ubatch stays at its default, as llama-bench's.
        chosen.n_threads = chosen.n_threads_batch = threads
        chosen.flash_attn_type = int(flash)
        self.context = llama_cpp.llama_init_from_model(self.model, chosen)
        if not self.context:
            raise Missing(f"llama.cpp cannot make a context of {context} tokens")

    def version(self):
        features = self.api.llama_print_system_info().decode()
        return f"llama-cpp-python {self.api.__version__} ({features.strip()})"

    def kv_bytes(self):
        return self.api.llama_state_seq_get_size(self.context, 0)

    def clear(self):
        self.api.llama_memory_clear(self.api.llama_get_memory(self.context), False)

    def feed(self, tokens):
        array = (self.api.llama_token * len(tokens))(*tokens)
        batch = self.api.llama_batch_get_one(array, len(tokens))
        if self.api.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama_decode failed")
        self.api.llama_synchronize(self.context)

    def encode(self, text):
        content = text.encode()
        array = (self.api.llama_token * (len(content) + 8))()
        count = self.api.llama_tokenize(self.vocabulary, content, len(content), array,
                                        len(array), False, False)
        return list(array[:count])

    def score(self, tokens):
        import numpy as np
        batch = self.api.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.logits[i] = token, i, 1
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, 0
        self.clear()
        if self.api.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama_decode failed")
        rows = np.ctypeslib.as_array(self.api.llama_get_logits(self.context),
                                     (len(tokens), self.width)).copy()
        self.api.llama_batch_free(batch)
        return rows

    def generate(self, tokens, length):
        import numpy as np
        self.clear()
        said = []
        while len(said) < length:
            self.feed(tokens)
            row = self.api.llama_get_logits_ith(self.context, -1)
            tokens = [int(np.ctypeslib.as_array(row, (self.width,)).argmax())]
            said += tokens
        return said

    def time(self, kind, tokens):
        self.clear()
        start = time.perf_counter()
        if kind == "pp":
            self.feed(tokens)
        else:
            for token in tokens:
                self.feed([token])
        return time.perf_counter() - start


class Torch:
    """The same weights, expanded, in transformers' Llama, eager mode."""

    def __init__(self, model, threads, dtype, **_):
        try:
            import gguf
            import torch
            import transformers
        except ImportError as error:
            raise Missing(f"the package {error.name} is not installed") from error
        self.torch, self.transformers = torch, transformers
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        path = Path(model)
        self.dtype = getattr(torch, dtype)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=self.dtype,
            attn_implementation="sdpa").eval()
        self.width = self.model.config.vocab_size
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(
            path.parent, gguf_file=path.name)

    def version(self):
        return (f"PyTorch {self.torch.__version__}, transformers "
                f"{self.transformers.__version__}, {self.dtype}".replace("torch.", ""))

    def kv_bytes(self):
        return sum(part.nbytes for layer in self.cache.layers
                   for part in (layer.keys, layer.values))

    def encode(self, text):
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def feed(self, tokens, cache=None):
        """Logits of the last token, and the cache after it."""
        out = self.model(input_ids=self.torch.tensor([tokens]), use_cache=True,
                         past_key_values=cache, logits_to_keep=1)
        self.cache = out.past_key_values
        return out.logits[0, -1], out.past_key_values

    def score(self, tokens):
        return self.model(input_ids=self.torch.tensor([tokens])).logits[0].float().numpy()

    def generate(self, tokens, length):
        said, cache = [], None
        while len(said) < length:
            logits, cache = self.feed(tokens, cache)
            tokens = [int(logits.argmax())]
            said += tokens
        return said

    def time(self, kind, tokens):
        start = time.perf_counter()
        if kind == "pp":
            self.feed(tokens)
        else:
            cache = None
            for token in tokens:
                _, cache = self.feed([token], cache)
        return time.perf_counter() - start


def serve(engine):
    """Answers requests until the end of the input."""
    yield {"version": engine.version()}
    kv_bytes, warm = 0, set()
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["request"] == "check":
            tokens = engine.encode(asked["text"])[:asked["count"]]
            yield {"nll": mean_nll(engine.score(tokens), tokens),
                   "said": [engine.generate(engine.encode(prompt), asked["length"])
                            for prompt in asked["prompts"]]}
        elif asked["request"] == "time":
            tokens = some_tokens(asked["count"], engine.width)
            test = asked["kind"], tokens
            # As in gist-run bench, the first run is not counted.
            if (asked["kind"], len(tokens)) not in warm:
                engine.time(*test)
                warm.add((asked["kind"], len(tokens)))
            yield {"seconds": engine.time(*test)}
            kv_bytes = max(kv_bytes, engine.kv_bytes())
        elif asked["request"] == "memory":
            yield {**resident(), "kv": kv_bytes}


def requantize(source, destination, threads):
    """Writes the model with its matrices in Q4_0, llama.cpp's fastest format."""
    try:
        import llama_cpp
    except ImportError as error:
        raise Missing("the package llama-cpp-python is not installed") from error
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0
    parameters.nthread = threads
    parameters.allow_requantize = True
    failed = llama_cpp.llama_model_quantize(str(source).encode(),
                                            str(destination).encode(), parameters)
    if failed:
        raise Missing(f"llama.cpp cannot requantise {source}")


def main():
    name, options = sys.argv[1], json.loads(sys.argv[2])
    # Libraries print to stdout, so answers get a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        if name == "requantize":
            requantize(**options)
            replies = [{"version": ""}]
        else:
            replies = serve({"llama.cpp": LlamaCpp, "torch": Torch}[name](**options))
        for reply in replies:
            print(json.dumps(reply), file=answers, flush=True)
    except Missing as why:
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps({"missing": str(why)}), file=answers, flush=True)


if __name__ == "__main__":
    main()
