# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR text of functions around single ops, for the harness.

A function takes and returns tensors: selections are packed from their parts
and unpacked into them. `Size` None is dynamic.
"""

from reference.selection import Selection

PARTS = ("ids", "count", "nearest", "weight")


def size(n):
    return "?" if n is None else str(n)


def tensor(element, *shape):
    return "tensor<" + "".join(size(n) + "x" for n in shape) + element + ">"


def number(value):
    """A float as MLIR wants it: with a point and all its digits."""
    return f"{value:.9e}"


def part_types(tokens=None, heads=None):
    """The types of the parts of a selection."""
    lead = () if heads is None else (heads,)
    part, count = tensor("i32", *lead, tokens), tensor("i32", *lead)
    return [part, count, part, part]


def selection_type(tokens=None, heads=None):
    lead = "" if heads is None else f"{heads}x"
    return f"!gist.selection<{lead}{size(tokens)}>"


def function(name, arguments, results, body):
    """`arguments` are (name, type) pairs; `results` are types."""
    listed = ", ".join(f"%{a}: {t}" for a, t in arguments)
    return (
        f"func.func @{name}({listed}) -> ({', '.join(results)})\n"
        f"    attributes {{llvm.emit_c_interface}} {{\n{body}\n}}\n"
    )


def unpack(selection, kind):
    left = ", ".join(f"%{p}" for p in PARTS)
    return f"  {left} = gist.unpack_selection %{selection} : {kind}\n"


def pack(selection, types):
    given = ", ".join(f"%old_{p}" for p in PARTS)
    return f"  %{selection} = gist.pack_selection {given} : {', '.join(types)}\n"


def packed_arguments(types):
    return [(f"old_{p}", t) for p, t in zip(PARTS, types)]


def rows_type(element, tokens, heads, d):
    middle = () if heads is None else (heads,)
    return tensor(element, tokens, *middle, d)


def offsets_clause(ragged):
    return " offsets(%offsets : tensor<?xi32>)" if ragged else ""


def offsets_argument(ragged):
    return [("offsets", "tensor<?xi32>")] if ragged else []


def gram_select(
    name,
    element,
    tau,
    against="kept",
    similarity="absolute",
    causal=False,
    ragged=False,
    tokens=None,
    heads=None,
    d=None,
    taus=None,
):
    """`taus`: how many of them there are, as an argument of their own."""
    rows = rows_type(element, tokens, heads, d)
    parts = part_types(tokens, heads)
    words = f"against {against} similarity {similarity}" + " causal" * causal
    more, chosen = [], number(tau)
    if taus:
        more = [("taus", f"tensor<{taus}xf32>")]
        chosen = f"taus(%taus : tensor<{taus}xf32>)"
    body = (
        f"  %s = gist.gram_select %x, {chosen} {words}{offsets_clause(ragged)}"
        f" : {rows}\n"
        + unpack("s", selection_type(tokens, heads))
        + f"  return %ids, %count, %nearest, %weight : {', '.join(parts)}"
    )
    arguments = [("x", rows), *more, *offsets_argument(ragged)]
    return function(name, arguments, parts, body)


def cascade_update(
    name,
    element,
    tau,
    rule="covering",
    similarity="absolute",
    causal=False,
    ragged=False,
    tokens=None,
    heads=None,
    d=None,
):
    rows = rows_type(element, tokens, heads, d)
    parts = part_types(tokens, heads)
    results = parts + [parts[1], parts[1]]
    words = f"rule {rule} similarity {similarity}" + " causal" * causal
    kind = selection_type(tokens, heads)
    body = (
        pack("old", parts)
        + f"  %s, %removed, %added = gist.cascade_update %x, %old, {number(tau)}"
        f" {words}{offsets_clause(ragged)} : {rows}, {kind}\n"
        + unpack("s", kind)
        + "  return %ids, %count, %nearest, %weight, %removed, %added"
        f" : {', '.join(results)}"
    )
    arguments = [("x", rows), *packed_arguments(parts), *offsets_argument(ragged)]
    return function(name, arguments, results, body)


def keep_all(name, tokens=None, heads=None):
    kind, parts = selection_type(tokens, heads), part_types(tokens, heads)
    operand = "(%size)" if tokens is None else ""
    body = (
        f"  %s = gist.keep_all{operand} : {kind}\n"
        + unpack("s", kind)
        + f"  return %ids, %count, %nearest, %weight : {', '.join(parts)}"
    )
    return function(name, [("size", "index")], parts, body)


def attention(
    name,
    element,
    heads,
    kv_heads,
    width,
    value_width,
    words="",
    mask=False,
    ragged=False,
    queries=None,
    keys=None,
):
    q = tensor(element, queries, heads, width)
    k = tensor(element, keys, kv_heads, width)
    v = tensor(element, keys, kv_heads, value_width)
    out = tensor(element, queries, heads, value_width)
    bias = tensor("f32", queries, keys)
    arguments = [("q", q), ("k", k), ("v", v)]
    clause = cuts = ""
    if mask:
        arguments.append(("mask", bias))
        clause = f" mask(%mask : {bias})"
    if ragged:
        arguments += [("offsets", "tensor<?xi32>"), ("key_offsets", "tensor<?xi32>")]
        cuts = " offsets(%offsets, %key_offsets : tensor<?xi32>, tensor<?xi32>)"
    body = (
        f"  %o = gist.attention %q, %k, %v{clause} {words}{cuts} : {q}, {k}, {v}\n"
        f"  return %o : {out}"
    )
    return function(name, arguments, [out], body)


def attend(
    name,
    element,
    heads,
    kv_heads,
    width,
    value_width,
    words,
    per_head=False,
    ragged=False,
    tokens=None,
):
    q = tensor(element, tokens, heads, width)
    k = tensor(element, tokens, kv_heads, width)
    v = tensor(element, tokens, kv_heads, value_width)
    out = tensor(element, tokens, heads, value_width)
    lead = kv_heads if per_head else None
    parts = part_types(tokens, lead)
    kind = selection_type(tokens, lead)
    body = (
        pack("s", parts)
        + f"  %o = gist.attend %q, %k, %v on %s {words}{offsets_clause(ragged)}"
        f" : {q}, {k}, {v}, {kind}\n"
        f"  return %o : {out}"
    )
    arguments = [("q", q), ("k", k), ("v", v), *packed_arguments(parts)]
    return function(name, arguments + offsets_argument(ragged), [out], body)


def gated_projection(
    name,
    element,
    weight_element,
    outputs,
    epsilon,
    epsilon_low=None,
    bias=False,
    tokens=None,
    d=None,
    k=None,
):
    """`outputs` has one size (or None) for each of the projections."""
    x, basis = tensor(element, tokens, d), tensor(weight_element, d, k)
    arguments = [("x", x), ("v", basis)]

    def group(word, letter, shape_of):
        types = [tensor(weight_element, *shape_of(m)) for m in outputs]
        names = [f"{letter}{i}" for i in range(len(outputs))]
        arguments.extend(zip(names, types))
        values = ", ".join("%" + n for n in names)
        return f"      {word} ({values} : {', '.join(types)})\n"

    clauses = group("weights", "w", lambda m: (m, d))
    clauses += group("images", "m", lambda m: (m, k))
    if bias:
        clauses += group("biases", "b", lambda m: (m,))
    if epsilon_low is not None:
        clauses += group(f"low {number(epsilon_low)}", "l", lambda m: (m, d))
    results = [tensor(element, tokens, m) for m in outputs] + [tensor("i8", tokens)]
    values = [f"%y{i}" for i in range(len(outputs))] + ["%level"]
    body = (
        f"  {', '.join(values)} = gist.gated_projection %x, %v, {number(epsilon)}\n"
        f"{clauses}      : {x}, {basis}\n"
        f"  return {', '.join(values)} : {', '.join(results)}"
    )
    return function(name, arguments, results, body)


def dequantize(name, kind, blocks, bytes_per_block, values, rows=None):
    raw = tensor("i8", rows, blocks, bytes_per_block)
    out = tensor("f32", rows, blocks * values)
    body = f"  %y = gist.dequantize %x format {kind} : {raw}\n  return %y : {out}"
    return function(name, [("x", raw)], [out], body)


def selection_of(parts):
    """The record from the parts that a function returned."""
    ids, count, nearest, weight = parts
    return Selection(ids, int(count), nearest, weight)


def selection_of_head(parts, head):
    return selection_of([part[head] for part in parts])
