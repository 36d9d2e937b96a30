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
STOPS = {256}


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
    for got, part in zip(result["variation"]["tokens"], by_window.values(), strict=True):
        near(got, len(part), "tokens of a window")
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


class Reader:
    """The model after some tokens, one after the other."""

    def __init__(self, rows, tokens):
        self.rows, self.sum, self.count = rows, [0.0] * WIDTH, 0
        for token in tokens:
            self.feed(token)

    def feed(self, token):
        self.sum = [a + b for a, b in zip(self.sum, self.rows[token])]
        self.count += 1

    def copy(self):
        other = Reader(self.rows, [])
        other.sum, other.count = list(self.sum), self.count
        return other

    def logits(self):
        center = [value / self.count for value in self.sum]
        return [-sum(a * b for a, b in zip(center, row)) for row in self.rows]


def answer(rows, turns, more):
    """Log-likelihood of the targets' tokens, their number, and what is written."""
    total, count, written, reader = 0.0, 0, [], Reader(rows, [])
    for turn in turns:
        for token in (turn["text"] + turn["question"]).encode():
            reader.feed(token)
        target = list(turn["target"].encode())
        free, said = reader.copy(), []
        while len(said) < len(target) + more:
            values = free.logits()
            best = values.index(max(values))
            if best == ord("\n") or best in STOPS:
                break
            said.append(best)
            free.feed(best)
        written.append(bytes(token for token in said if token < 256).decode(errors="replace"))
        for token in target:
            total += log_softmax(reader.logits())[token]
            reader.feed(token)
        count += len(target)
    return total, count, written


def check_tasks(rows, samples, other, more):
    """Standard input: gist-run eval --tasks --json --against other; the same samples in a
    file. Every figure is computed from the weights."""
    result, more = json.load(sys.stdin), int(more)
    asked = {(line["task"], line["number"]): line["turns"]
             for line in map(json.loads, open(samples))}
    assert len(result["samples"]) == len(asked) > 0
    found = {}
    for sample in result["samples"]:
        turns = asked[sample["task"], sample["number"]]
        logs = []
        for weights, got in (rows, sample), (load(other), sample["against"]):
            total, count, written = answer(weights, turns, more)
            near(got["log_likelihood"], total, "log-likelihood")
            near(got["tokens"], count, "tokens")
            assert got["written"] == written, (got["written"], written)
            near(got["found"], sum(a in text for turn, text in zip(turns, written)
                                   for a in turn["answers"]), "found")
            logs.append(total / count)
        found.setdefault(sample["task"], []).append(logs)
    ratios = []
    for task in result["tasks"]:
        logs = found[task["task"]]
        near(task["samples"], len(logs), "samples")
        near(task["answer_nll"], -statistics.mean(a for a, _ in logs), "answer nll")
        differences = [a - b for a, b in logs]
        mean, error = statistics.mean(differences), statistics.stdev(differences) / len(logs) ** .5
        near(task["likelihood_ratio"], math.exp(mean), "ratio")
        # Student's t with two degrees of freedom at 97.5 %.
        assert len(logs) == 3
        near(task["likelihood_ratio_interval"][0], math.exp(mean - 4.302653 * error), "low end")
        near(task["likelihood_ratio_interval"][1], math.exp(mean + 4.302653 * error), "high end")
        ratios.append(task["likelihood_ratio"])
    assert ratios == sorted(ratios), "the worst is not first"
    print(f"{len(ratios)} tasks agree")


def check_writing(rows, text, other, prompt):
    """Standard input: gist-run eval --generate --json --against other."""
    result = json.load(sys.stdin)
    before = list(open(text, "rb").read())[: int(prompt)]
    written = result["written"]
    near(result["prompt_tokens"], len(before), "prompt")
    ours, theirs = Reader(rows, before), Reader(load(other), before)
    at = 0
    for part in result["parts"]:
        near(part["first"], len(before) + at, "first")
        loss = other_loss = divergence = largest = equal = 0
        for token in written[at : at + part["tokens"]]:
            values, others = ours.logits(), theirs.logits()
            p, q = log_softmax(values), log_softmax(others)
            kl = sum(math.exp(b) * (b - a) for a, b in zip(p, q))
            divergence, largest = divergence + kl, max(largest, kl)
            equal += values.index(max(values)) == others.index(max(others))
            loss, other_loss = loss - p[token], other_loss - q[token]
            ours.feed(token)
            theirs.feed(token)
        n = part["tokens"]
        near(part["kl_mean"], divergence / n, "KL mean")
        near(part["kl_max"], largest, "KL max")
        near(part["top1_agreement"], equal / n, "agreement")
        near(part["nll"], loss / n, "nll")
        near(part["against_nll"], other_loss / n, "against nll")
        at += n
    near(at, len(written), "tokens")
    print(f"{len(result['parts'])} parts of a text agree")


def main():
    command, module, *rest = sys.argv[1:]
    globals()[command](load(module), *rest)


main()
