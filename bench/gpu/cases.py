# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is timed: a graph for gist-compile, its inputs, the right answer and the
peer that does the same work.

A peer is what a PyTorch user would write; its time and ours are taken in one
run. Inputs are made by PyTorch on the GPU from a seed.
"""

import math
from dataclasses import dataclass, field
from typing import Callable

HEADS = {  # query heads, KV heads, head size
    "gpt2": (12, 12, 64),
    "gptj-6b": (16, 16, 256),
    "opt-6.7b": (32, 32, 128),
    "smollm2": (9, 3, 64),
}
TIMED = tuple(HEADS)


@dataclass
class Case:
    name: str
    graph: str
    tokens: int
    inputs: Callable  # torch, generator -> {name: tensor}
    check: Callable  # torch, inputs, outputs -> (error, tolerance)
    peer: Callable  # torch, inputs -> function without arguments
    peer_name: str
    bar: float = 0.0  # upper bound on our time relative to the peer's
    goal: float = 0.0
    flops: float = 0.0
    bytes: float = 0.0
    steps: int = 1  # how often the graph repeats the work
    tags: set = field(default_factory=set)


LIMIT = 2e-3  # error of f16 results, relative to the norm of their row


def relative_error(torch, got, want):
    """The largest norm of a row's error, relative to the row's norm."""
    got, want = (x.float().reshape(-1, x.shape[-1]) for x in (got, want))
    return ((got - want).norm(dim=1) / want.norm(dim=1).clamp_min(1e-6)).amax().item()


def normal(torch, generator, *shape, scale=1.0):
    return (torch.randn(*shape, generator=generator, device="cuda") * scale).half()


# Products.


def gemm(tokens, depth, columns, bar, goal):
    graph = f"""
#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func @run(%x: tensor<?x{depth}xf16> {{gist.name = "x"}}, %w: tensor<{columns}x{depth}xf16> {{gist.name = "w"}})
    -> (tensor<?x{columns}xf16> {{gist.name = "y"}}) {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x{depth}xf16>
  %e = tensor.empty(%t) : tensor<?x{columns}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x{columns}xf32>) -> tensor<?x{columns}xf32>
  %p = linalg.matmul indexing_maps = [#rows, #columns, #result]
      ins(%x, %w : tensor<?x{depth}xf16>, tensor<{columns}x{depth}xf16>)
      outs(%f : tensor<?x{columns}xf32>) -> tensor<?x{columns}xf32>
  %o = tensor.empty(%t) : tensor<?x{columns}xf16>
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%p : tensor<?x{columns}xf32>) outs(%o : tensor<?x{columns}xf16>) {{
    ^bb0(%a: f32, %b: f16):
      %h = arith.truncf %a : f32 to f16
      linalg.yield %h : f16
  }} -> tensor<?x{columns}xf16>
  return %y : tensor<?x{columns}xf16>
}}"""

    def check(torch, inputs, outputs):
        want = inputs["x"].float() @ inputs["w"].float().T
        return relative_error(torch, outputs["y"], want), LIMIT

    return Case(
        f"gemm T={tokens} {depth}->{columns}", graph, tokens,
        lambda torch, g: {"x": normal(torch, g, tokens, depth),
                          "w": normal(torch, g, columns, depth, scale=depth ** -0.5)},
        check, lambda torch, i: lambda: torch.nn.functional.linear(i["x"], i["w"]),
        "cuBLAS through torch", bar, goal, flops=2.0 * tokens * depth * columns, tags={"gemm"})


BLOCK = 128  # numbers of a row that share a scale
# Numbers of 8 bits: what MLIR calls them, and what shares a scale; 0 is a row.
SMALL = {"int8": ("i8", BLOCK), "int8-256": ("i8", 2 * BLOCK), "int8-rows": ("i8", 0), "fp8": ("f8E4M3FN", 0),
         "fp8-blocks": ("f8E4M3FN", BLOCK)}


def small_limit(element):
    """Matrix instructions add floats of 8 bits with fewer bits than f32 has: the error of a sum
    grows with its length, to 3.1e-3 at 14336. Rounding a row to 8 bits is ten times as much."""
    return LIMIT if element == "i8" else 2 * LIMIT


def small_rows(torch, x, element, block):
    """Values in 8 bits and a scale for each block; the last one may be part full."""
    blocks = torch.nn.functional.pad(x.float(), (0, -x.shape[1] % block)).unflatten(1, (-1, block))
    largest = blocks.abs().amax(2)
    scales = largest / (127 if element == "i8" else 448)
    values = blocks / scales.clamp_min(1e-30)[..., None]
    values = values.round().to(torch.int8) if element == "i8" else values.to(torch.float8_e4m3fn)
    return values.flatten(1)[:, :x.shape[1]].contiguous(), scales


def scaled_gemm(numbers, tokens, depth, columns, bar, goal):
    """Rows and weights in 8 bits, with scales by rows of the weights."""
    element, block = SMALL[numbers]
    block = block or depth
    blocks = -(-depth // block)
    graph = f"""
func.func @run(%x: tensor<?x{depth}x{element}> {{gist.name = "x"}}, %s: tensor<?x{blocks}xf32> {{gist.name = "s"}},
    %w: tensor<{columns}x{depth}x{element}> {{gist.name = "w"}}, %f: tensor<{columns}xf32> {{gist.name = "f"}})
    -> (tensor<?x{columns}xf16> {{gist.name = "y"}}) {{
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x{depth}x{element}>
  %p = gist.scaled_matmul %x, %s, %w block {block}
      : tensor<?x{depth}x{element}>, tensor<?x{blocks}xf32>, tensor<{columns}x{depth}x{element}>
  %o = tensor.empty(%t) : tensor<?x{columns}xf16>
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
      affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}}
      ins(%p, %f : tensor<?x{columns}xf32>, tensor<{columns}xf32>) outs(%o : tensor<?x{columns}xf16>) {{
    ^bb0(%a: f32, %b: f32, %c: f16):
      %u = arith.mulf %a, %b : f32
      %h = arith.truncf %u : f32 to f16
      linalg.yield %h : f16
  }} -> tensor<?x{columns}xf16>
  return %y : tensor<?x{columns}xf16>
}}"""

    def inputs(torch, g):
        x, s = small_rows(torch, normal(torch, g, tokens, depth), element, block)
        w, f = small_rows(torch, normal(torch, g, columns, depth, scale=depth ** -0.5), element, depth)
        return {"x": x, "s": s, "w": w, "f": f[:, 0].contiguous()}

    def check(torch, i, outputs):
        scales = i["s"].repeat_interleave(block, 1)[:, :depth]
        want = ((i["x"].double() * scales) @ i["w"].double().T) * i["f"]
        return relative_error(torch, outputs["y"], want), small_limit(element)

    def peer(torch, i):
        x, w = (i[name].float().to(torch.float8_e4m3fn) for name in "xw")
        own, of_weight = i["s"][:, :1].contiguous(), i["f"][None]
        return lambda: torch._scaled_mm(x, w.T, scale_a=own, scale_b=of_weight,
                                        out_dtype=torch.bfloat16, use_fast_accum=True)

    return Case(f"{numbers} T={tokens} {depth}->{columns}", graph, tokens, inputs, check, peer,
                "fp8 by row, cuBLAS through torch", bar, goal, flops=2.0 * tokens * depth * columns,
                tags={"8 bits"})


def scaled_gate(numbers, tokens, depth, columns):
    """a * sigmoid(a) * b of the halves a and b of a product in 8 bits."""
    element, block = SMALL[numbers]
    block, half = block or depth, columns // 2
    blocks = -(-depth // block)
    graph = f"""
#i = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
func.func @run(%x: tensor<?x{depth}x{element}> {{gist.name = "x"}}, %s: tensor<?x{blocks}xf32> {{gist.name = "s"}},
    %w: tensor<{columns}x{depth}x{element}> {{gist.name = "w"}}, %f: tensor<{columns}xf32> {{gist.name = "f"}})
    -> (tensor<?x{half}xf16> {{gist.name = "y"}}) {{
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x{depth}x{element}>
  %p = gist.scaled_matmul %x, %s, %w block {block}
      : tensor<?x{depth}x{element}>, tensor<?x{blocks}xf32>, tensor<{columns}x{depth}x{element}>
  %a = tensor.extract_slice %p[0, 0] [%t, {half}] [1, 1] : tensor<?x{columns}xf32> to tensor<?x{half}xf32>
  %b = tensor.extract_slice %p[0, {half}] [%t, {half}] [1, 1] : tensor<?x{columns}xf32> to tensor<?x{half}xf32>
  %g = tensor.extract_slice %f[0] [{half}] [1] : tensor<{columns}xf32> to tensor<{half}xf32>
  %h = tensor.extract_slice %f[{half}] [{half}] [1] : tensor<{columns}xf32> to tensor<{half}xf32>
  %o = tensor.empty(%t) : tensor<?x{half}xf16>
  %y = linalg.generic {{indexing_maps = [#i, #c, #i, #c, #i], iterator_types = ["parallel", "parallel"]}}
      ins(%a, %g, %b, %h : tensor<?x{half}xf32>, tensor<{half}xf32>, tensor<?x{half}xf32>, tensor<{half}xf32>)
      outs(%o : tensor<?x{half}xf16>) {{
    ^bb0(%x0: f32, %x1: f32, %x2: f32, %x3: f32, %e: f16):
      %u = arith.mulf %x0, %x1 : f32
      %v = arith.mulf %x2, %x3 : f32
      %n = arith.negf %u : f32
      %d = math.exp %n : f32
      %q = arith.addf %d, %one : f32
      %r = arith.divf %u, %q : f32
      %z = arith.mulf %r, %v : f32
      %k = arith.truncf %z : f32 to f16
      linalg.yield %k : f16
  }} -> tensor<?x{half}xf16>
  return %y : tensor<?x{half}xf16>
}}"""

    def inputs(torch, g):
        x, s = small_rows(torch, normal(torch, g, tokens, depth), element, block)
        w, f = small_rows(torch, normal(torch, g, columns, depth, scale=depth ** -0.5), element, depth)
        return {"x": x, "s": s, "w": w, "f": f[:, 0].contiguous()}

    def check(torch, i, outputs):
        scales = i["s"].repeat_interleave(block, 1)[:, :depth]
        product = ((i["x"].double() * scales) @ i["w"].double().T) * i["f"]
        want = torch.nn.functional.silu(product[:, :half]) * product[:, half:]
        return relative_error(torch, outputs["y"], want), small_limit(element)

    return Case(f"{numbers} gate T={tokens} {depth}->{columns}", graph, tokens, inputs, check,
                lambda torch, i: lambda: None, "none", flops=2.0 * tokens * depth * columns, tags={"8 bits"})


def quantize(numbers, tokens, depth):
    """Rows in 16 bits to 8."""
    element, block = SMALL[numbers]
    block = block or depth
    blocks = -(-depth // block)
    of_type = "" if element == "i8" else f" as {element}"
    graph = f"""
func.func @run(%x: tensor<?x{depth}xf16> {{gist.name = "x"}})
    -> (tensor<?x{depth}x{element}> {{gist.name = "q"}}, tensor<?x{blocks}xf32> {{gist.name = "s"}}) {{
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x{depth}xf16>
  %o = tensor.empty(%t) : tensor<?x{depth}xf32>
  %f = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<?x{depth}xf16>) outs(%o : tensor<?x{depth}xf32>) {{
    ^bb0(%a: f16, %b: f32):
      %h = arith.extf %a : f16 to f32
      linalg.yield %h : f32
  }} -> tensor<?x{depth}xf32>
  %q, %s = gist.quantize_blocks %f block {block}{of_type} : tensor<?x{depth}xf32>
  return %q, %s : tensor<?x{depth}x{element}>, tensor<?x{blocks}xf32>
}}"""

    def check(torch, i, outputs):
        values, scales = small_rows(torch, i["x"], element, block)
        # A number half way between two others may become either, which are neighbours
        # as bits too.
        off = (outputs["q"].view(torch.int8).int() - values.view(torch.int8).int()).abs()
        right = off.amax() <= 1 and (off != 0).float().mean() < 0.01
        wrong = relative_error(torch, outputs["s"], scales)
        return wrong if right else math.inf, 1e-5

    return Case(f"quantize {numbers} T={tokens} {depth}", graph, tokens,
                lambda torch, g: {"x": normal(torch, g, tokens, depth)}, check,
                lambda torch, i: lambda: small_rows(torch, i["x"], element, block), "torch",
                tags={"rows"})


def gemv(depth, columns, weights, bar, goal):
    """One token times several weights in turn, so that none stays in the L2 cache."""
    row, out = f"tensor<1x{depth}xf16>", f"tensor<1x{columns}xf32>"
    weight = f"tensor<{columns}x{depth}xf16>"
    text, names = "", []
    for i in range(weights):
        text += f"""
  %p{i} = linalg.matmul indexing_maps = [#rows, #columns, #result]
      ins(%x, %w{i} : {row}, {weight}) outs(%f : {out}) -> {out}"""
        names.append(f"%p{i}")
    results = ", ".join(f'{out} {{gist.name = "y{i}"}}' for i in range(weights))
    arguments = ", ".join(f'%w{i}: {weight} {{gist.name = "w{i}"}}' for i in range(weights))
    graph = f"""
#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func @run(%x: {row} {{gist.name = "x"}}, {arguments}) -> ({results}) {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {out}
  %f = linalg.fill ins(%zero : f32) outs(%e : {out}) -> {out}{text}
  return {", ".join(names)} : {", ".join([out] * weights)}
}}"""

    def check(torch, inputs, outputs):
        errors = [relative_error(torch, outputs[f"y{i}"],
                                 inputs["x"].float() @ inputs[f"w{i}"].float().T)
                  for i in range(weights)]
        return max(errors), LIMIT

    def peer(torch, i):
        def multiply():
            for n in range(weights):
                torch.nn.functional.linear(i["x"], i[f"w{n}"])
        return multiply

    return Case(
        f"gemv {depth}->{columns}, {weights} weights in turn", graph, 1,
        lambda torch, g: {"x": normal(torch, g, 1, depth)} | {
            f"w{i}": normal(torch, g, columns, depth, scale=depth ** -0.5)
            for i in range(weights)},
        check, peer, "cuBLAS through torch", bar, goal,
        flops=2.0 * depth * columns * weights, steps=weights, tags={"gemv"})


# Attention.


def dense_attention(model, name, queries, tokens, bar, goal, **cost):
    """The last `queries` of `tokens`, or all where that is None."""
    heads, kv, size = HEADS[model]
    q, k = f"tensor<{queries or '?'}x{heads}x{size}xf16>", f"tensor<?x{kv}x{size}xf16>"
    graph = f"""
func.func @run(%q: {q} {{gist.name = "q"}}, %k: {k} {{gist.name = "k"}}, %v: {k} {{gist.name = "v"}}) -> ({q} {{gist.name = "y"}}) {{
  %y = gist.attention %q, %k, %v causal : {q}, {k}, {k}
  return %y : {q}
}}"""

    def peer(torch, i):
        def sdpa():
            q, k, v = (i[n].transpose(0, 1)[None] for n in "qkv")
            # With is_causal, PyTorch lets a single query see only the first key; ours sees all.
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=queries is None, enable_gqa=heads != kv)
        return sdpa

    def check(torch, inputs, outputs):
        want = peer(torch, {n: inputs[n].float() for n in "qkv"})()[0].transpose(0, 1)
        return relative_error(torch, outputs["y"], want), LIMIT

    return Case(
        f"{name} {model} T={tokens}", graph, tokens,
        lambda torch, g: {"q": normal(torch, g, queries or tokens, heads, size),
                          "k": normal(torch, g, tokens, kv, size),
                          "v": normal(torch, g, tokens, kv, size)},
        check, peer, "SDPA", bar, goal, tags={"attention"}, **cost)


def attention(model, tokens, bar, goal):
    heads, _, size = HEADS[model]
    return dense_attention(model, "attention", None, tokens, bar, goal,
                           flops=2.0 * heads * size * tokens * tokens)


def decode(model, tokens, bar, goal):
    """One query on the keys and values of `tokens`."""
    heads, kv, size = HEADS[model]
    return dense_attention(model, "decode", 1, tokens, bar, goal,
                           flops=4.0 * heads * size * tokens, bytes=4.0 * kv * size * tokens)


# Selections.

SELECTION = """(tensor<{shape}xi32> {{gist.name = "ids"}}, tensor<i32> {{gist.name = "count"}},
    tensor<{shape}xi32> {{gist.name = "nearest"}}, tensor<{shape}xi32> {{gist.name = "weight"}})"""


def clustered(torch, generator, tokens, depth, kept, spread):
    """Rows around `kept` directions: about that many stay at tau = 0.3."""
    centres = torch.randn(kept, depth, generator=generator, device="cuda")
    owner = torch.randint(kept, (tokens,), generator=generator, device="cuda")
    owner[:kept] = torch.arange(kept, device="cuda")
    owner = owner[torch.randperm(tokens, generator=generator, device="cuda")]
    noise = torch.randn(tokens, depth, generator=generator, device="cuda")
    return (centres[owner] + spread * noise).half()


def check_selection(against):
    """A certificate: every decision is right within delta."""
    def check(torch, inputs, outputs):
        x = inputs["x"].float()
        unit = x / x.norm(dim=1, keepdim=True).clamp_min(1e-30)  # a row may be zero
        gram = (unit @ unit.T).abs()
        tokens, theta, delta = x.shape[0], 1 - 0.3 ** 2, 2e-3
        count = int(outputs["count"].reshape(-1)[0])
        ids = outputs["ids"][:count].long()
        kept = torch.zeros(tokens, dtype=torch.bool, device="cuda")
        kept[ids] = True
        earlier = torch.ones(tokens, tokens, device="cuda", dtype=torch.bool).tril(-1)
        if against == "kept":
            earlier &= kept[None, :]
        best = torch.where(earlier, gram, -1.0).amax(1)
        wrong = (kept & (best >= theta + delta)) | (~kept & (best < theta - delta))
        reachable = kept[None, :] & torch.ones_like(earlier).tril(0)
        nearest = outputs["nearest"].long()
        chosen = gram.gather(1, nearest[:, None])[:, 0]
        wrong |= torch.where(reachable, gram, -1.0).amax(1) > chosen + delta
        wrong |= kept & (nearest != torch.arange(tokens, device="cuda"))
        weight = torch.bincount(nearest, minlength=tokens)
        bad = int(wrong.sum()) + int((outputs["weight"][:count] != weight[ids]).sum())
        bad += int((ids[1:] <= ids[:-1]).sum()) + abs(int(weight.sum()) - tokens)
        return float(bad), 0.0
    return check


def torch_select(torch, i):
    def select(x):
        unit = x / x.float().norm(dim=1, keepdim=True).to(x.dtype)
        gram = (unit @ unit.T).abs().tril(-1)
        return gram.amax(1) < 1 - 0.3 ** 2
    compiled = torch.compile(select)
    return lambda: compiled(i["x"])


def select(tokens, depth, against, bar, goal):
    text = f"""
func.func @run(%x: tensor<?x{depth}xf16> {{gist.name = "x"}}) -> {SELECTION.format(shape="?")} {{
  %s = gist.gram_select %x, 3.0e-1 against {against} causal : tensor<?x{depth}xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c, %n, %w : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
}}"""
    return Case(
        f"select {against} T={tokens} d={depth} r=T/4", text, tokens,
        lambda torch, g: {"x": clustered(torch, g, tokens, depth, tokens // 4, 0.2)},
        check_selection(against), torch_select, "torch.compile", bar, goal,
        flops=float(tokens) * tokens * depth, tags={"select"})


PARTS = """%ids: tensor<?xi32> {gist.name = "ids"}, %count: tensor<i32> {gist.name = "count"},
    %nearest: tensor<?xi32> {gist.name = "nearest"}, %weight: tensor<?xi32> {gist.name = "weight"}"""
PACK = """%s = gist.pack_selection %ids, %count, %nearest, %weight
      : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>"""


def selection_of(torch, owner, changed=0.0):
    """The parts of the selection whose clusters are `owner`; for a share of the
    clusters the representative is the second member instead of the first."""
    tokens = owner.shape[0]
    order = torch.arange(tokens, device="cuda")
    clusters = int(owner.max()) + 1
    first = torch.full((clusters,), tokens, device="cuda").scatter_reduce(
        0, owner, order, "amin")
    later = torch.where(first[owner] == order, tokens, order)
    second = torch.full((clusters,), tokens, device="cuda").scatter_reduce(
        0, owner, later, "amin")
    swap = (torch.arange(clusters, device="cuda") < changed * clusters) & (second < tokens)
    chosen = torch.where(swap, second, first)
    ids = torch.full((tokens,), -1, dtype=torch.int32, device="cuda")
    weight = torch.zeros(tokens, dtype=torch.int32, device="cuda")
    ordered, rank = torch.sort(chosen)
    ids[:clusters] = ordered.int()
    weight[:clusters] = torch.bincount(owner, minlength=clusters)[rank].int()
    return {"ids": ids, "count": torch.tensor(clusters, dtype=torch.int32, device="cuda"),
            "nearest": chosen[owner].int(), "weight": weight}


def clusters_of(torch, generator, tokens, kept):
    owner = torch.randint(kept, (tokens,), generator=generator, device="cuda")
    owner[:kept] = torch.arange(kept, device="cuda")
    return owner[torch.randperm(tokens, generator=generator, device="cuda")]


def growing_of(torch, generator, tokens, kept):
    """Clusters that begin evenly over the sequence, as in text that goes on to say
    new things; a token joins any that has begun."""
    begins = torch.zeros(tokens, dtype=torch.bool, device="cuda")
    begins[0] = True
    begins[1 + torch.randperm(tokens - 1, generator=generator, device="cuda")[:kept - 1]] = True
    begun = begins.cumsum(0)
    any_begun = (torch.rand(tokens, generator=generator, device="cuda") * begun).long()
    return torch.where(begins, begun - 1, any_begun.clamp(max=begun - 1))


def cascade(tokens, depth):
    text = f"""
func.func @run(%x: tensor<?x{depth}xf16> {{gist.name = "x"}}, {PARTS}) -> {SELECTION.format(shape="?")} {{
  {PACK}
  %n, %gone, %new = gist.cascade_update %x, %s, 3.0e-1 causal : tensor<?x{depth}xf16>, !gist.selection<?>
  %i, %c, %a, %w = gist.unpack_selection %n : !gist.selection<?>
  return %i, %c, %a, %w : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
}}"""

    def inputs(torch, g):
        owner = clusters_of(torch, g, tokens, tokens // 4)
        centres = torch.randn(tokens // 4, depth, generator=g, device="cuda")
        noise = torch.randn(tokens, depth, generator=g, device="cuda")
        return {"x": (centres[owner] + 0.2 * noise).half()} | selection_of(torch, owner, 0.05)

    return Case(f"cascade covering T={tokens} d={depth} r=T/4, 5 % turnover", text, tokens,
                inputs, check_selection("kept"), torch_select, "torch.compile select", 0, 0,
                flops=float(tokens) * tokens * depth / 4, tags={"select"})


def attend_graph(model, words):
    heads, kv, size = HEADS[model]
    q, k = f"tensor<?x{heads}x{size}xf16>", f"tensor<?x{kv}x{size}xf16>"
    return f"""
func.func @run(%q: {q} {{gist.name = "q"}}, %k: {k} {{gist.name = "k"}}, %v: {k} {{gist.name = "v"}}, {PARTS})
    -> ({q} {{gist.name = "y"}}) {{
  {PACK}
  %y = gist.attend %q, %k, %v on %s {words} : {q}, {k}, {k}, !gist.selection<?>
  return %y : {q}
}}"""


def attend_inputs(model, tokens, kept, clusters=clusters_of):
    heads, kv, size = HEADS[model]
    return lambda torch, g: {
        "q": normal(torch, g, tokens, heads, size), "k": normal(torch, g, tokens, kv, size),
        "v": normal(torch, g, tokens, kv, size)
    } | selection_of(torch, clusters(torch, g, tokens, kept))


def copy(model, tokens, kept, bar, goal, log_count=False):
    """Causal, or both ways with the logarithms of counts added to the scores."""
    heads, kv, size = HEADS[model]

    def peer(torch, i):
        ids, rank = i["ids"][:kept].long(), torch.zeros(tokens, dtype=torch.long, device="cuda")
        rank[ids] = torch.arange(kept, device="cuda")
        back = rank[i["nearest"].long()]
        bias = i["weight"][:kept].float().log().to(i["q"].dtype)[None, None, None]

        def gather():
            q, k, v = (i[n][ids].transpose(0, 1)[None] for n in "qkv")
            words = {"attn_mask": bias.expand(1, heads, kept, kept)} if log_count else {"is_causal": True}
            out = torch.nn.functional.scaled_dot_product_attention(
                q, k, v, enable_gqa=heads != kv, **words)
            return out[0].transpose(0, 1)[back]
        return gather

    def check(torch, inputs, outputs):
        want = peer(torch, inputs | {n: inputs[n].float() for n in "qkv"})()
        return relative_error(torch, outputs["y"], want), LIMIT

    words = "mode copy log_count" if log_count else "mode copy causal"
    name = "copy, counts, both ways" if log_count else "copy"
    return Case(f"{name} {model} T={tokens} r={kept}", attend_graph(model, words), tokens,
                attend_inputs(model, tokens, kept), check, peer, "gather + SDPA + scatter",
                bar, goal, flops=(4.0 if log_count else 2.0) * heads * size * kept * kept,
                tags={"attend"})


def keys(model, tokens, window, merge, bar, goal, block=128, is_growing=True):
    """r + window = T / 4, beside dense attention. Queries see half of the clusters on
    average if these begin evenly, and three quarters if tokens are in any at random."""
    heads, kv, size = HEADS[model]
    kept = tokens // 4 - window

    def check(torch, inputs, outputs):
        q, k, v = (inputs[n].float().transpose(0, 1) for n in "qkv")
        k, v = (x.repeat_interleave(heads // kv, 0) for x in (k, v))
        ids, nearest = inputs["ids"][:kept].long(), inputs["nearest"].long()
        want = torch.empty(heads, tokens, size, device="cuda")
        for start in range(0, tokens, block):
            stop, old = min(start + block, tokens), max(start - window, 0)
            seen = ids[ids < old]
            owner = nearest[:old]
            is_member = owner < old
            count = torch.zeros(tokens, device="cuda").index_add_(
                0, owner[is_member], torch.ones_like(owner[is_member], dtype=torch.float))

            def cluster_rows(x):
                if merge == "representative":
                    return x[:, seen]
                total = torch.zeros_like(x).index_add_(1, owner[is_member], x[:, :old][:, is_member])
                # Matrix units multiply means rounded to the type of k and v.
                return (total[:, seen] / count[seen, None]).to(inputs["k"].dtype).float()

            all_k = torch.cat([cluster_rows(k), k[:, old:stop]], 1)
            all_v = torch.cat([cluster_rows(v), v[:, old:stop]], 1)
            scores = q[:, start:stop] @ all_k.transpose(1, 2) * size ** -0.5
            scores[:, :, :len(seen)] += count[seen].log()
            position = torch.arange(start, stop, device="cuda")[:, None]
            later = torch.arange(old, stop, device="cuda")[None, :] > position
            scores[:, :, len(seen):].masked_fill_(later, float("-inf"))
            want[:, start:stop] = scores.softmax(-1) @ all_v
        return relative_error(torch, outputs["y"], want.transpose(0, 1)), LIMIT

    words = f"mode keys causal window {window} block {block} merge {merge}"
    dense = attention(model, tokens, 0, 0)
    seen = kept / 2 if is_growing else kept * (1 - kept / tokens * (1 - math.exp(-tokens / kept)))
    return Case(f"keys {merge} {model} T={tokens} r={kept} window={window}"
                + ("" if is_growing else ", most early"),
                attend_graph(model, words), tokens,
                attend_inputs(model, tokens, kept, growing_of if is_growing else clusters_of),
                check, dense.peer, "SDPA of all keys", bar, goal,
                flops=4.0 * heads * size * tokens * (seen + window), tags={"attend"})


# Gated projections.


def gated_text(tokens, depth, columns, rank, number, x):
    """The op number `number`, on the first columns of `x`."""
    row, out = f"tensor<{tokens}x{depth}xf16>", f"tensor<{tokens}x{columns}xf16>"
    return f"""
  %y{number}, %l{number} = gist.gated_projection {x}, %v{number}, 1.0e-1
      weights(%w{number} : tensor<{columns}x{depth}xf16>)
      images(%m{number} : tensor<{columns}x{rank}xf16>) : {row}, tensor<{depth}x{rank}xf16>"""


def basis_around(torch, generator, row, rank):
    """An orthonormal basis whose span contains the rows of `row`."""
    other = torch.randn(rank - row.shape[0], row.shape[1], generator=generator, device="cuda")
    return torch.linalg.qr(torch.cat([row.float(), other]).T)[0].half().contiguous()


def gated(depth, columns, rank, calls, is_open, bar, goal):
    """One token through several projections, each of which reads the result of
    the one before: none can begin early, and no weight stays in the L2 cache. Closed
    gates read no W, so all projections share one; the peer reads copies of it."""
    weights = calls if is_open else 1
    row, out = f"tensor<1x{depth}xf16>", f"tensor<1x{columns}xf16>"
    text, x = "", "%x"
    for i in range(calls):
        text += gated_text(1, depth, columns, rank, i, x).replace(
            f"%w{i}", f"%w{min(i, weights - 1)}")
        if i + 1 < calls:
            text += f"""
  %x{i + 1} = tensor.extract_slice %y{i}[0, 0] [1, {depth}] [1, 1] : {out} to {row}"""
        x = f"%x{i + 1}"
    arguments = [f'%x: {row} {{gist.name = "x"}}']
    for i in range(calls):
        arguments.append(f'%v{i}: tensor<{depth}x{rank}xf16> {{gist.name = "v{i}"}}')
        arguments.append(f'%m{i}: tensor<{columns}x{rank}xf16> {{gist.name = "m{i}"}}')
    arguments += [f'%w{i}: tensor<{columns}x{depth}xf16> {{gist.name = "w{i}"}}' for i in range(weights)]
    graph = f"""
func.func @run({", ".join(arguments)}) -> ({out} {{gist.name = "y"}}, tensor<1xi8> {{gist.name = "level"}}) {{{text}
  return %y{calls - 1}, %l{calls - 1} : {out}, tensor<1xi8>
}}"""

    def inputs(torch, g):
        made = {"x": normal(torch, g, 1, depth)}
        for i in range(weights):
            made[f"w{i}"] = normal(torch, g, columns, depth, scale=depth ** -0.5)
        x = made["x"]
        for i in range(calls):
            w = made[f"w{min(i, weights - 1)}"].float()
            around = torch.randn(1, depth, generator=g, device="cuda") if is_open else x
            v = basis_around(torch, g, around, rank)
            made |= {f"v{i}": v, f"m{i}": (w @ v.float()).half()}
            x = project(made, i, x).to(x.dtype)[:, :depth]
        return made

    def project(made, i, x):
        if is_open:
            return x.float() @ made[f"w{i}"].float().T
        return x.float() @ made[f"v{i}"].float() @ made[f"m{i}"].float().T

    def check(torch, inputs, outputs):
        x = inputs["x"]
        for i in range(calls):
            y = project(inputs, i, x)
            x = y.to(x.dtype)[:, :depth]
        bad = int(outputs["level"][0]) != int(is_open)
        return relative_error(torch, outputs["y"], y) + 1e9 * bad, LIMIT * calls ** 0.5

    def peer(torch, i):
        dense = [i[f"w{n}"] for n in range(weights)]
        dense += [dense[0].clone() for _ in range(3 - weights)]

        def multiply():
            for n in range(calls):
                torch.nn.functional.linear(i["x"], dense[n % len(dense)])
        return multiply

    return Case(f"gated {depth}->{columns} k={rank} {'open' if is_open else 'closed'}", graph, 1,
                inputs, check, peer, "cuBLAS through torch", bar, goal,
                flops=2.0 * calls * (depth + columns) * rank, steps=calls, tags={"gated"})


def gated_many(tokens, depth, columns, rank, share):
    """Many tokens, of which a share has an open gate."""
    text = gated_text("?", depth, columns, rank, 0, "%x")
    graph = f"""
func.func @run(%x: tensor<?x{depth}xf16> {{gist.name = "x"}}, %v0: tensor<{depth}x{rank}xf16> {{gist.name = "v0"}},
    %m0: tensor<{columns}x{rank}xf16> {{gist.name = "m0"}}, %w0: tensor<{columns}x{depth}xf16> {{gist.name = "w0"}})
    -> (tensor<?x{columns}xf16> {{gist.name = "y"}}, tensor<?xi8> {{gist.name = "level"}}) {{{text}
  return %y0, %l0 : tensor<?x{columns}xf16>, tensor<?xi8>
}}"""

    def inputs(torch, g):
        v = torch.linalg.qr(torch.randn(depth, rank, generator=g, device="cuda"))[0].half().contiguous()
        w = normal(torch, g, columns, depth, scale=depth ** -0.5)
        x = torch.randn(tokens, rank, generator=g, device="cuda") @ v.float().T
        chosen = torch.rand(tokens, 1, generator=g, device="cuda") < share
        x += chosen * torch.randn(tokens, depth, generator=g, device="cuda") * (rank / depth) ** 0.5
        return {"x": x.half(), "v0": v, "w0": w, "m0": (w.float() @ v.float()).half()}

    def check(torch, i, outputs):
        x, v = i["x"].float(), i["v0"].float()
        image = x @ v
        rest = x - image @ v.T
        is_open = (rest.norm(dim=1) / x.norm(dim=1) > 0.1)
        want = torch.where(is_open[:, None], x @ i["w0"].float().T, image @ i["m0"].float().T)
        bad = int((outputs["level"].bool() != is_open).sum())
        return relative_error(torch, outputs["y"], want) + 1e9 * bad, LIMIT

    return Case(f"gated T={tokens} {depth}->{columns} k={rank} {share:.0%} open", graph, tokens,
                inputs, check, lambda torch, i: lambda: torch.nn.functional.linear(i["x"], i["w0"]),
                "cuBLAS through torch", 0, 0,
                flops=2.0 * tokens * (rank * (2 * depth + columns) + share * depth * columns),
                tags={"gated"})


# Sampling.


def sample_weights(torch, x, scale):
    """The weight of each token as gist.sample defines it, in units of 2^-30."""
    powers = [1073741824, -744261112, 257940802, -59591844, 10304738, -1386885, 123394]
    distance = (x.amax() - x) * scale
    units = torch.where(distance < 30, distance * 2.0 ** 25, 0).long()
    fraction, power = units & (2 ** 25 - 1), torch.zeros_like(units)
    for coefficient in reversed(powers):
        power = coefficient + (power * fraction >> 25)
    return torch.where(distance < 30, power >> (units >> 25), 0)


def sample(vocabulary, temperature, top_k, top_p):
    """The next token of one row of logits; greedy at temperature 0."""
    row, settings = f"tensor<1x{vocabulary}xf32>", "tensor<1x5xi64>"
    graph = f"""
func.func @run(%x: {row} {{gist.name = "x"}}, %s: {settings} {{gist.name = "s"}}) -> (tensor<1xi32> {{gist.name = "y"}}) {{
  %y = gist.sample %x by %s : {row}, {settings}
  return %y : tensor<1xi32>
}}"""
    greedy, random = temperature == 0, 0x9E3779B9

    def inputs(torch, g):
        scale = torch.tensor(0.0 if greedy else math.log2(math.e) / temperature)
        words = [int(scale.view(torch.int32)), 1 if greedy else top_k, int(top_p * 2 ** 32), 1,
                 random]
        return {"x": 3 * torch.randn(1, vocabulary, generator=g, device="cuda"),
                "s": torch.tensor([words], dtype=torch.int64)}

    def check(torch, inputs, outputs):
        x, words = inputs["x"][0], inputs["s"][0].tolist()
        scale = torch.tensor(words[0], dtype=torch.int32).view(torch.float32).cuda()
        weights = sample_weights(torch, x, scale)
        order = torch.sort(x, descending=True, stable=True).indices[:words[1]]
        ranked = weights[order]
        enough = max(1, int(ranked.sum()) * words[2] >> 32)
        order = order[ranked.cumsum(0) - ranked < enough]
        chosen = torch.zeros_like(weights)
        chosen[order] = weights[order]
        drawn = int(chosen.sum()) * random >> 32
        want = int((chosen.cumsum(0) > drawn).int().argmax())
        return float(int(outputs["y"][0]) != want), 0.0

    def peer(torch, i):
        def draw(x):
            if greedy:
                return x.argmax()
            value, index = torch.sort(x[0] / temperature, descending=True)
            share = torch.softmax(value, 0)
            far = torch.arange(vocabulary, device="cuda") >= top_k
            far |= share.cumsum(0) - share >= top_p
            share = share.masked_fill(far, 0)
            return index.take((share / torch.empty_like(share).exponential_()).argmax())
        return lambda: draw(i["x"])

    name = "greedy" if greedy else f"temperature {temperature:g} top-k {top_k} top-p {top_p:g}"
    return Case(f"sample {vocabulary} {name}", graph, 1, inputs, check, peer, "torch", 0, 0,
                bytes=4.0 * vocabulary, tags={"sample"})


def all_cases():
    for tokens in (512, 2048):
        yield gemm(tokens, 4096, 16384, 1 / 0.6, 1 / 0.9)
    for tokens in (512, 2048):
        yield gemm(tokens, 576, 1536, 0, 0)
    for depth, columns in (4096, 6144), (4096, 4096), (4096, 28672), (14336, 4096):
        for tokens in (512, 2000, 8000):
            yield gemm(tokens, depth, columns, 0, 0)
            for numbers in SMALL:
                yield scaled_gemm(numbers, tokens, depth, columns, 0, 0)
    for numbers in SMALL:
        yield quantize(numbers, 2000, 4096)
    yield gemv(4096, 16384, 3, 0, 0)
    yield gated(4096, 16384, 256, 23, False, 0.35, 0.17)
    yield gated(4096, 16384, 256, 3, True, 1.25, 0)
    for share in (0, 0.1, 0.5, 1):
        yield gated_many(512, 4096, 16384, 256, share)
    for tokens in (512, 2048, 8192):
        for model in TIMED:
            yield attention(model, tokens, 1 / 0.6, 1 / 0.9)
    for depth in (768, 4096):
        for tokens in (512, 2048, 8192):
            bar, goal = (0.8, 0.5) if depth == 4096 and tokens > 512 else (0, 0)
            yield select(tokens, depth, "all", bar, goal)
            yield select(tokens, depth, "kept", 0, 0)
    for depth in (768, 4096):
        for tokens in (2048, 8192):
            yield cascade(tokens, depth)
    yield copy("gptj-6b", 2048, 512, 0, 0)
    yield copy("gptj-6b", 8192, 2048, 0.8, 0.5)
    yield copy("opt-6.7b", 8192, 2048, 0, 0)
    yield copy("gptj-6b", 8192, 2048, 0, 0, log_count=True)
    for model in ("gptj-6b", "opt-6.7b"):
        yield keys(model, 8192, 128, "representative", 0.45, 0.35)
        yield keys(model, 8192, 128, "representative", 0, 0, is_growing=False)
        yield keys(model, 8192, 128, "mean", 0, 0)
    for tokens in (512, 2048, 8192):
        for model in TIMED:
            yield decode(model, tokens, 0, 0)
    for temperature, top_k, top_p in ((0, 1, 1), (0.8, 50257, 1), (0.8, 40, 0.9)):
        yield sample(50257, temperature, top_k, top_p)
