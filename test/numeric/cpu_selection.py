# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The CPU's kernels that select, called as the runtime does."""

import functools
import threading

import numpy as np

import scratch
from cpu_kernels import Kernels, whole
from reference import numerics
from reference.selection import Selection

#: Words behind the scratch memory, which stay as they are.
GUARD = 64


def kernel_text(rule, d, element, heads, similarity, causal, tau, taus, subspace):
    tokens = f"tensor<?x{heads}x{d}x{element}>" if heads else f"tensor<?x{d}x{element}>"
    part = f"tensor<{heads}x?xi32>" if heads else "tensor<?xi32>"
    count = f"tensor<{heads}xi32>" if heads else "tensor<i32>"
    selection = f"!gist.selection<{heads}x?>" if heads else "!gist.selection<?>"
    is_cascade = rule in ("covering", "paper")
    arguments = [f"%x: {tokens}"]
    if is_cascade:
        arguments += [f"%oi: {part}", f"%oc: {count}", f"%on: {part}", f"%ow: {part}"]
    chosen, hint = f"{tau:e} ", ""
    if taus:
        arguments += [f"%taus: tensor<{max(heads, 1)}xf32>"]
        chosen = f"taus(%taus : tensor<{max(heads, 1)}xf32>) "
    if subspace:
        lead = f"?x{heads}" if heads else "?"
        g, rho = f"tensor<{lead}x{subspace}xf32>", f"tensor<{lead}xf32>"
        arguments += [f"%g: {g}", f"%rho: {rho}"]
        hint = f" subspace(%g, %rho : {g}, {rho})"
    results = [part, count, part, part] + [count, count] * is_cascade
    arguments += [f"%d{i}: {type}" for i, type in enumerate(results)]
    options = f"similarity {similarity}" + " causal" * causal + hint
    if is_cascade:
        body = f"""
  %p = gist.pack_selection %oi, %oc, %on, %ow : {part}, {count}, {part}, {part}
  %s, %r, %a = gist.cascade_update %x, %p, {chosen}rule {rule} {options}
      : {tokens}, {selection}"""
    else:
        body = f"""
  %s = gist.gram_select %x, {chosen}against {rule} {options} : {tokens}"""
    values = "%i, %c, %n, %w" + ", %r, %a" * is_cascade
    return f"""
func.func private @select({", ".join(arguments)}) -> ({", ".join(results)})
    attributes {{gist.kernel = #gist.kernel<kind = select, outputs = {len(results)}>}} {{{body}
  %i, %c, %n, %w = gist.unpack_selection %s : {selection}
  return {values} : {", ".join(results)}
}}
"""


@functools.lru_cache(maxsize=None)
def build(*form):
    text = kernel_text(*form)
    return Kernels(text), scratch.ask(text, "cpu")


def part(array):
    """A part of a selection: tokens are its last, dynamic dimension."""
    return np.ascontiguousarray(array, dtype=np.int32), [np.ndim(array) - 1]


def call(kernels, threads, *arguments):
    """Workgroups in order, by several threads if there are."""
    if threads == 1:
        return kernels.call("select", *arguments)
    function, slots, tasks = kernels.prepare("select", *arguments)
    left, lock = iter(tasks), threading.Lock()

    def work():
        while True:
            with lock:
                task = next(left, None)
            if task is None:
                return
            function(slots, *task)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def run(x, element, rule, old=None, similarity="absolute", causal=True, tau=0.3,
        taus=None, subspace=None, threads=1):
    """x: T x d or T x heads x d. A list of (Selection, removed, added)."""
    total, heads = len(x), x.shape[1] if x.ndim == 3 else 0
    width = subspace[0].shape[-1] if subspace else 0
    kernels, memory = build(rule, x.shape[-1], element, heads, similarity, causal, tau,
                            taus is not None, width)
    shape, rows = ((heads,), (heads, total)) if heads else ((), (total,))
    arguments = [(numerics.store(x, element), [0])]
    if old is not None:
        arguments += [part(old.ids), whole(np.asarray(old.count, np.int32)),
                      part(old.nearest), part(old.weight)]
    if taus is not None:
        arguments += [whole(np.asarray(taus, np.float32))]
    if subspace:
        arguments += [(np.ascontiguousarray(s, np.float32), [0]) for s in subspace]
    outputs = [np.full(s, 77, np.int32) for s in (rows, shape, rows, rows)]
    if old is not None:
        outputs += [np.full(shape, 77, np.int32) for _ in range(2)]
    arguments += [part(o) if o.shape == rows else whole(o) for o in outputs]
    outputs = [a[0] for a in arguments[-len(outputs):]]
    shapes = [a[0].shape for a in arguments]
    (words, dynamic), control = (m.make(0, *shapes) for m in memory)
    guarded = np.full(words.size + GUARD, 0x55555555, np.int32)
    call(kernels, threads, *arguments, (guarded[: words.size], dynamic), control)
    # The next selection may be given the same words, and others have those behind.
    assert not control[0].any()
    assert (guarded[words.size :] == 0x55555555).all()
    if not heads:
        outputs = [o[None] for o in outputs]
    result = []
    for h in range(max(heads, 1)):
        ids, count, nearest, weight = (o[h] for o in outputs[:4])
        result.append((Selection(ids, count.item(), nearest, weight),
                       *(o[h].item() for o in outputs[4:])))
    return result
