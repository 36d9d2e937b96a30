#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times whole models on a GPU beside PyTorch in one run: prefill and decode, without a plan and with one.

Compiling needs the compiler, running needs a GPU, PyTorch and gist-run; the two
need not be the same machine. Weights are random: modules hold none of them.

  gpu_models.py compile --gist-compile build/release/bin/gist-compile -o models
  gpu_models.py run models --gist-run build/runtime-only/bin/gist-run --json table.json

Plans have the mix of heads of the plan that --plan names, spread over the layers
of each shape in its order. `plan` is what the compiler makes of it, which leaves
out what it expects to cost time; `follow` does all that the plan says. Rows that
do not fit a model's context are left out. --json is written after every engine
and row, so that a run that is cut short has said what it knew.
`int8`, `int8-rows` and `fp8` multiply in 8 bits (--compute), and are compared with
PyTorch in fp8.
Tokens per second; the peers are PyTorch as written, through torch.compile, and so
with products in fp8, each as one CUDA graph.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]
import own_process
import results
import torch_models

SMALL = ("int8", "int8-rows", "fp8")
KINDS = ("dense", "plan", "follow", *SMALL)
SHAPES = ("smollm2-135m", "gpt-j-6b", "opt-6.7b", "llama-3-8b")
PREFILL = (16, 128, 512, 2000, 8000, 32000, 131072)
DECODE = (64, 1900, 8000, 31000, 128000)
STEPS = 32  # single tokens that a decode row times


def config_of(name):
    return json.loads((FOLDER / name / "config.json").read_text())


def scaled_plan(plan, shape):
    """The plan's heads, in their order, over so many layers and KV heads."""
    heads = [head for layer in plan["layers"] for head in layer["heads"]]
    count = shape.layers * shape.kv_heads
    spread = [heads[i * len(heads) // count] for i in range(count)]
    layers = [{"heads": spread[i:i + shape.kv_heads]} for i in range(0, count, shape.kv_heads)]
    return {"gist_plan": 1, "block": plan["block"], "layers": layers}


def compile_all(arguments):
    folder = pathlib.Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in arguments.shapes:
        shape = torch_models.Shape(config_of(name))
        context = min(shape.context, arguments.context or shape.context)
        command = [arguments.gist_compile, FOLDER / name / "config.json", "--random-weights",
                   f"--target={arguments.target}", f"--context={context}", "--progress=off"]
        plan = folder / (name + ".plan.json")
        plan.write_text(json.dumps(scaled_plan(json.loads(pathlib.Path(arguments.plan).read_text()),
                                               shape)))
        for kind in arguments.kinds:
            extra = ([] if kind == "dense" else [f"--compute={kind}"] if kind in SMALL
                     else ["--plan", plan])
            if kind in ("plan", "follow") and arguments.block:
                extra += ["--plan-block", str(arguments.block)]
            if kind == "follow":
                extra += ["--follow-plan"]
            done = subprocess.run([*command, *extra, "-o", folder / f"{name}.{kind}.gist"],
                                  capture_output=True, text=True)
            failed += done.returncode != 0
            said = done.stderr.strip()[:400]
            print(f"{name} {kind}: {'ok' if done.returncode == 0 else 'failed'} {said}".rstrip())
    return 1 if failed else 0


def chosen_rows(arguments, context):
    """(what, tokens or depth) of the rows that fit."""
    rows = []
    if "prefill" in arguments.only:
        rows += [("prefill", n) for n in arguments.prefill if n <= context]
    if "decode" in arguments.only:
        rows += [("decode", n) for n in arguments.decode if n + STEPS <= context]
    return rows


def test_name(row):
    what, count = row
    return f"pp{count}" if what == "prefill" else f"tg{STEPS}@{count}"


def run_ours(arguments, module, rows):
    """{row: tokens/s}, and the whole result of gist-run bench."""
    command = [arguments.gist_run, "bench", module, "--trust", "--device", arguments.device, "--format", "json",
               "--seconds", str(arguments.seconds), "-r", str(arguments.repeat),
               "--tests", ",".join(test_name(row) for row in rows), *arguments.option]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    said = json.loads(done.stdout)
    # The median, since the second run of a call records a graph, which takes longer.
    middle = lambda test: sorted(test["seconds"])[len(test["seconds"]) // 2]
    return {row: test["tokens"] / middle(test) for row, test in zip(rows, said["tests"])}, said


def bandwidth(torch):
    """Bytes per second that a copy reads and writes."""
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    times = []
    for _ in range(10):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        target.copy_(source)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return 2 * source.numel() / min(times)


def run_peers(arguments, shape, context, table, late, save):
    """Adds tokens/s of the peers, or the reason why they are missing."""
    import torch
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = True
    torch._dynamo.config.cache_size_limit = 64
    model = torch_models.Model(torch, shape, context)
    # torch.compile takes long, so all eager rows are measured before it.
    for peer in arguments.peers:
        for (what, count), row in table.items():
            if late():
                row.setdefault("missing", {})[peer] = "no time left"
                continue
            tokens, first = (count, 0) if what == "prefill" else (1, count)
            try:
                row["peer_fp8" if peer == "fp8" else peer] = tokens / model.seconds(tokens, first, peer in ("compiled", "fp8"),
                                                   arguments.seconds, fp8=peer == "fp8")
            except Exception as error:  # A row that fails must not hide the others.
                why = (str(error).splitlines() or [type(error).__name__])[0][:120]
                row.setdefault("missing", {})[peer] = why
                torch.cuda.empty_cache()
            save()


def measure(arguments, name, begin, result):
    """The rows of one shape; `result` has those of the earlier shapes."""
    import torch
    shape = torch_models.Shape(config_of(name))
    modules = {kind: pathlib.Path(arguments.folder, f"{name}.{kind}.gist") for kind in arguments.kinds}
    context = min(shape.context, arguments.context or shape.context)
    rows = chosen_rows(arguments, context)
    table = {row: {"shape": name, "what": row[0], "tokens": row[1]} for row in rows}

    def save():
        for row in table.values():
            finish_row(row, result["copy_bytes_per_second"])
        write_json(arguments, {**result, "rows": result["rows"] + list(table.values())})

    for kind, module in modules.items():
        if not module.exists() or not rows:
            continue
        try:
            rates, said = run_ours(arguments, module, rows)
        except RuntimeError as error:
            print(f"{name} {kind}: {error}", flush=True)
            continue
        for row, rate in rates.items():
            table[row][kind] = rate
            table[row]["weight_bytes"] = said["weight_bytes"]
            table[row][kind + "_bytes"] = {key: said[key + "_bytes"] for key in ("state", "scratch")}
            if row[0] == "decode":
                table[row]["bytes"] = said["weight_bytes"] + shape.cache_bytes(row[1])
        save()
    if arguments.peers:
        late = lambda: arguments.limit and time.time() - begin > arguments.limit
        run_peers(arguments, shape, context, table, late, save)
    return list(table.values())


# Titles: decimals, and what the row of a test calls it.
TITLES = {"shape": (None, "shape"), "what": (None, "what"), "tokens": (None, "tokens"),
          "Gist": (0, "dense"), "plan": (0, "plan"), "plan followed everywhere": (0, "follow"),
          "Gist int8": (0, "int8"), "Gist int8 by row": (0, "int8-rows"),
          "Gist fp8": (0, "fp8"), "PyTorch": (0, "eager"), "torch.compile": (0, "compiled"),
          "torch.compile fp8": (0, "peer_fp8"), "Gist to the better peer": (2, "to_peer"),
          "int8 to fp8": (2, "int8_to_peer"), "int8 by row to fp8": (2, "int8-rows_to_peer"),
          "fp8 to fp8": (2, "fp8_to_peer"), "plan to no plan": (2, "plan_to_dense"),
          "of bytes": (2, "of_bandwidth")}
COLUMNS = {title: digits for title, (digits, _) in TITLES.items()}


def cells(rows):
    return [[row.get(key) for _, key in TITLES.values()] for row in rows]


def write_json(arguments, result):
    if arguments.json:
        results.write(arguments.json, COLUMNS, cells(result["rows"]), machine=result["machine"],
                      copy_bytes_per_second=result["copy_bytes_per_second"])


def finish_row(row, copies):
    """Adds the ratios that the table shows."""
    best = max((row[peer] for peer in ("eager", "compiled") if peer in row), default=None)
    if best and "dense" in row:
        row["to_peer"] = row["dense"] / best
    for kind in SMALL:
        if kind in row and "peer_fp8" in row:
            row[kind + "_to_peer"] = row[kind] / row["peer_fp8"]
    for kind in KINDS[1:]:
        if kind in row and "dense" in row:
            row[kind + "_to_dense"] = row[kind] / row["dense"]
    if "bytes" in row and "dense" in row:
        row["of_bandwidth"] = row["dense"] * row["bytes"] / copies


def run_all(arguments):
    import torch
    begin = time.time()
    copies = bandwidth(torch)
    torch.cuda.empty_cache()
    result = {"machine": f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}",
              "copy_bytes_per_second": copies, "rows": []}
    print(f"{result['machine']}, copies at {copies / 1e12:.2f} TB/s; tokens/s")
    for name in arguments.shapes:
        # Each shape has its own process: the peers of a second model failed in the
        # process of the first, where torch.compile had left its code.
        rows = own_process.call(measure, arguments, name, begin, result)
        for row in rows:
            finish_row(row, copies)
        result["rows"] += rows
        print(results.markdown(COLUMNS, cells(rows)), flush=True)
        for row in rows:
            for peer, why in row.get("missing", {}).items():
                print(f"{row['what']} {row['tokens']}, {peer}: {why}", flush=True)
        for kind in KINDS[1:]:
            if rows and "dense_bytes" in rows[0] and kind + "_bytes" in rows[0]:
                share = rows[0][kind + "_bytes"]["state"] / rows[0]["dense_bytes"]["state"]
                print(f"{name}: the cache of {kind} is {share:.2f} of the dense one", flush=True)
        write_json(arguments, result)
    print(f"{time.time() - begin:.0f} s")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    numbers = lambda text: [int(part) for part in text.split(",") if part]
    words = lambda text: [word for word in text.split(",") if word]
    compiling = commands.add_parser("compile")
    compiling.add_argument("--gist-compile", default="gist-compile")
    compiling.add_argument("--target", default="sm_90")
    compiling.add_argument("--plan", default=FOLDER.parent.parent / "samples/04-less-work/plan-1.01.json")
    compiling.add_argument("--block", type=int, help="of plans: tokens at a time; the compiler's choice when not given")
    compiling.add_argument("-o", "--output", default="models")
    compiling.set_defaults(function=compile_all)
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--gist-run", default="gist-run")
    running.add_argument("--device", default="cuda")
    running.add_argument("--only", type=words, default=["prefill", "decode"])
    running.add_argument("--prefill", type=numbers, default=PREFILL, metavar="N,...")
    running.add_argument("--decode", type=numbers, default=DECODE, metavar="N,...")
    running.add_argument("--peers", type=words, default=["eager", "compiled", "fp8"])
    running.add_argument("--repeat", type=int, default=7)
    running.add_argument("--seconds", type=float, default=4, help="for each row and engine")
    running.add_argument("--limit", type=float, default=0, help="seconds after which peers are left out")
    running.add_argument("--option", action="append", default=[], help="for gist-run bench, e.g. --option=--chunk=512")
    running.add_argument("--json")
    running.set_defaults(function=run_all)
    for sub in (compiling, running):
        sub.add_argument("--shapes", type=words, default=SHAPES)
        sub.add_argument("--kinds", type=words, default=["dense", "plan"], help=",".join(KINDS))
        sub.add_argument("--context", type=int, help="at most this many tokens")
    arguments = parser.parse_args()
    function = vars(arguments).pop("function")
    return function(arguments)


if __name__ == "__main__":
    sys.exit(main())
