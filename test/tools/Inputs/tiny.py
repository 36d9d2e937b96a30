"""What the model of gist-make-tiny-module must answer, from its weights alone.

Reads the embeddings out of the module file by the layout that
runtime/README.md gives, and computes with plain Python.
"""
import json
import math
import statistics
import struct
import sys

VOCAB, WIDTH = 261, 9


def load(path):
    data = open(path, "rb").read()
    magic, major, _minor, count, size = struct.unpack_from("<8sHHIQ", data)
    assert magic == b"\x89GIST\r\n\x1a" and major == 1 and size == len(data)
    for i in range(count):
        kind, _index, offset = struct.unpack_from("<IIQ", data, 64 + 40 * i)
        if kind == 3:  # weights
            flat = struct.unpack_from(f"<{VOCAB * WIDTH}f", data, offset)
            return [flat[v * WIDTH : (v + 1) * WIDTH] for v in range(VOCAB)]
    raise SystemExit("no weight section")


def mean(rows, tokens):
    return [sum(rows[t][i] for t in tokens) / len(tokens) for i in range(WIDTH)]


def logits(rows, tokens):
    center = mean(rows, tokens)
    return [-sum(a * b for a, b in zip(center, row)) for row in rows]


def log_softmax(values):
    top = max(values)
    total = top + math.log(sum(math.exp(v - top) for v in values))
    return [v - total for v in values]


def generate(rows, prompt, count):
    tokens = list(prompt.encode())
    for _ in range(int(count)):
        values = logits(rows, tokens)
        tokens.append(values.index(max(values)))
        print(tokens[-1])


def near(got, expected, what):
    if abs(got - expected) > 1e-4 * max(1, abs(expected)):
        raise SystemExit(f"{what}: {got}, expected {expected}")


def check_embed(rows, *texts):
    """Standard input: the text output of gist-run embed."""
    lines = sys.stdin.read().splitlines()
    assert len(lines) == len(texts), lines
    for line, text in zip(lines, texts):
        for got, expected in zip(line.split(), mean(rows, text.encode())):
            near(float(got), expected, text)
    print("embeddings agree")


def check_logits(rows, tokens, result):
    import numpy

    tokens, got = numpy.load(tokens), numpy.load(result)
    for i, line in enumerate(got):
        for a, b in zip(line, logits(rows, tokens[: i + 1])):
            near(float(a), float(b), f"logits after token {i}")
    print(f"logits of shape {got.shape} agree")


def check_eval(rows, text, window, stride, other, recall):
    """Standard input: gist-run eval --json --against other --recall N."""
    result = json.load(sys.stdin)
    tokens = list(open(text, "rb").read())
    window, stride, recall = int(window), int(stride), int(recall)
    reference = load(other)

    def check(part, contexts):
        loss = other_loss = equal = divergence = largest = right = lead = 0
        errors = []
        for context, token in contexts:
            values, others = logits(rows, context), logits(reference, context)
            p, q = log_softmax(values), log_softmax(others)
            loss -= p[token]
            other_loss -= q[token]
            equal += values.index(max(values)) == others.index(max(others))
            right += values.index(max(values)) == token
            kl = sum(math.exp(b) * (b - a) for a, b in zip(p, q))
            divergence += kl
            largest = max(largest, kl)
            distance = math.dist(values, others)
            errors.append(distance / math.hypot(*others))
            if values.index(max(values)) != others.index(max(others)):
                first, second = sorted(others)[:-3:-1]
                lead = max(lead, first - second)
        n = len(contexts)
        near(part["tokens"], n, "tokens")
        near(part["perplexity"], math.exp(loss / n), "perplexity")
        near(part["against_perplexity"], math.exp(other_loss / n), "against")
        near(part["perplexity_ratio"], math.exp((loss - other_loss) / n), "ratio")
        near(part["top1_agreement"], equal / n, "agreement")
        near(part["accuracy"], right / n, "accuracy")
        near(part["kl_mean"], divergence / n, "KL mean")
        near(part["kl_max"], largest, "KL max")
        near(part["row_error_mean"], sum(errors) / n, "row error mean")
        near(part["row_error_max"], max(errors), "row error max")
        near(part["lost_lead_max"], lead, "lost lead")

    # A token belongs to the first window that reaches it.
    contexts, by_window = [], {}
    for at in range(1, len(tokens)):
        start = max(0, math.ceil((at - window + 1) / stride)) * stride
        if start < at:  # the first token of a window has nothing before it
            contexts.append((tokens[start:at], tokens[at]))
            by_window.setdefault(start, []).append(contexts[-1])
    check(result["windows"], contexts)

    def losses(rows, contexts):
        return [-log_softmax(logits(rows, before))[token] for before, token in contexts]

    def check_spread(name, expected):
        found = result["variation"][name]
        for got, want in zip(found["values"], expected, strict=True):
            near(got, want, f"{name} of a window")
        near(found["mean"], statistics.mean(expected), f"mean {name}")
        near(found["deviation"], statistics.stdev(expected), f"deviation of {name}")

    near(result["variation"]["windows"], len(by_window), "windows")
    each = [(statistics.mean(losses(rows, part)), statistics.mean(losses(reference, part)))
            for part in by_window.values()]
    check_spread("perplexity", [math.exp(ours) for ours, _ in each])
    check_spread("perplexity_ratio", [math.exp(ours - theirs) for ours, theirs in each])
    twice = tokens[:recall] * 2
    check(
        result["recall"],
        [(twice[:at], twice[at]) for at in range(recall, 2 * recall)],
    )
    print("evaluation agrees")


def main():
    command, module, *rest = sys.argv[1:]
    globals()[command](load(module), *rest)


main()
