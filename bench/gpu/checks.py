# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is checked on a card and not timed: the cases of cases.py in shapes that
are not multiples of a tile, in f16 and bf16, on inputs that are hard to get right.
"""

import dataclasses

import cases

cases.HEADS |= {  # query heads, KV heads, head size
    "heads of 32": (4, 2, 32),
    "heads of 80": (3, 1, 80),
    "heads of 96": (5, 5, 96),
    "heads of 256": (2, 1, 256),
}
ODD = [name for name in cases.HEADS if name not in cases.TIMED]
BF16_LIMIT = 1e-2 / cases.LIMIT


def scaled_rows(torch, inputs, generator):
    """Rows scaled by 0.001 to 100, and one row of zeros."""
    x = inputs["x"]
    scale = torch.logspace(-3, 2, x.shape[0], device="cuda")[:, None]
    changed = (x.float() * scale).to(x.dtype)
    changed[x.shape[0] // 2] = 0
    return inputs | {"x": changed}


def sharp(torch, inputs, generator):
    """Scores so large that few keys matter, and many equal keys."""
    q, k = inputs["q"] * 8, inputs["k"].clone()
    k[k.shape[0] // 2:] = k[-1]
    return inputs | {"q": q, "k": k}


def repeated_rows(torch, inputs, generator):
    """Rows that are repeated, negated, or zero."""
    x = inputs["x"].clone()
    tokens = x.shape[0]
    x[tokens // 3:tokens // 3 * 2:2] = x[0]
    x[tokens // 3 + 1:tokens // 3 * 2:5] = -x[0]
    x[tokens - 1] = 0
    return inputs | {"x": x}


def equal_logits(torch, inputs, generator):
    """Rounded logits: many are equal, and there are zeros of both signs."""
    return inputs | {"x": inputs["x"].round()}


def variant(case, element, change=None):
    """The case with another element type and changed inputs."""
    def inputs(torch, generator):
        made = case.inputs(torch, generator)
        if element == "bf16":
            made = {name: x.bfloat16() if x.dtype == torch.float16 else x
                    for name, x in made.items()}
        return change(torch, made, generator) if change else made

    def check(torch, made, outputs):
        error, tolerance = case.check(torch, made, outputs)
        return error, tolerance * (BF16_LIMIT if element == "bf16" else 1)

    name = f"{case.name} {element}" + (f", {change.__name__}" if change else "")
    return dataclasses.replace(case, name=name, graph=case.graph.replace("f16", element),
                               inputs=inputs, check=check)


def plain_cases():
    """Cases, each with the function that makes its inputs hard, or None."""
    for tokens, depth, columns in (1, 200, 72), (77, 576, 200), (129, 1000, 520), (333, 104, 1000):
        yield cases.gemm(tokens, depth, columns, 0, 0), scaled_rows
    yield cases.gemv(1000, 520, 2, 0, 0), None
    for numbers in cases.SMALL:
        for tokens, depth, columns in (1, 96, 72), (77, 576, 200), (129, 1024, 520), (333, 1408, 3000):
            yield cases.scaled_gemm(numbers, tokens, depth, columns, 0, 0), None
        for tokens, depth, columns in (77, 576, 400), (129, 1024, 1056):
            yield cases.scaled_gate(numbers, tokens, depth, columns), None
        for tokens, depth in (3, 96), (77, 576), (5, 14336), (2, 28704):
            yield cases.quantize(numbers, tokens, depth), scaled_rows
    for model in ODD:
        for tokens in (1, 17, 333):
            yield cases.attention(model, tokens, 0, 0), sharp
        yield cases.decode(model, 333, 0, 0), sharp
        yield cases.copy(model, 333, 83, 0, 0), sharp
        yield cases.copy(model, 333, 83, 0, 0, log_count=True), None
        for merge in "representative", "mean":
            yield cases.keys(model, 1000, 37, merge, 0, 0, block=64), sharp
    yield cases.attention("smollm2", 1025, 0, 0), sharp
    for tokens, depth in (5, 64), (100, 72), (333, 768), (2100, 100), (2500, 768):
        for against in "all", "kept":
            yield cases.select(tokens, depth, against, 0, 0), repeated_rows
    for tokens, depth in (100, 72), (333, 768), (2500, 768):
        yield cases.cascade(tokens, depth), None
    for is_open in False, True:
        yield cases.gated(600, 1000, 40, 1, is_open, 0, 0), None
    for tokens, share in (9, 0.5), (77, 0.3), (300, 0), (300, 1):
        yield cases.gated_many(tokens, 576, 200, 64, share), None


def sample_cases():
    for vocabulary in 1, 7, 1000, 128256:
        for temperature, top_k, top_p in (0, 1, 1), (1, 5, 1), (1.5, vocabulary, 0.7):
            yield cases.sample(vocabulary, temperature, top_k, top_p)


def all_cases():
    for case in sample_cases():
        yield variant(case, "f32")
        yield variant(case, "f32", equal_logits)
    for case, change in plain_cases():
        for element in "f16", "bf16":
            yield variant(case, element)
            if change:
                yield variant(case, element, change)
