# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input to the tools: one clear sentence, exit code 1, nothing left behind.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_bad_input.py
"""

import functools
import json
import os
import resource
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

MODELS = Path(__file__).parent.parent / "models"
GGUF = MODELS / "llama-q4_1.gguf"


def refused(*command, words, stdout=subprocess.PIPE, **options):
    """Runs a tool, and wants a sentence with all the words."""
    done = subprocess.run([str(part) for part in command], stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=120, **options)
    assert done.returncode == 1, (done.returncode, done.stderr)
    sentence, = (line for line in done.stderr.splitlines()
                 if not line.startswith(f"{command[0]}: warning: "))
    assert sentence.startswith(f"{command[0]}: error: ")
    for word in words:
        assert word in sentence
    assert not done.stdout


@pytest.fixture
def compile_refused(tmp_path):
    """Compiling leaves an older module as it was, and nothing beside it."""
    out = tmp_path / "out"
    out.mkdir()
    old = out / "model.gist"
    old.write_text("the module of before")

    def check(model, *options, words, **how):
        refused("gist-compile", model, "-o", old, "--progress=off", *options,
                words=words, **how)
        assert old.read_text() == "the module of before"
        assert os.listdir(out) == ["model.gist"]

    return check


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """A compiled model of at most 64 tokens."""
    path = tmp_path_factory.mktemp("module") / "llama.gist"
    subprocess.run(["gist-compile", MODELS / "llama", "-o", path, "--progress=off"],
                   stderr=subprocess.PIPE, check=True)
    return path


def edited(path, source, *changes):
    """A copy of a file with the first match of each pair replaced."""
    content = Path(source).read_bytes()
    for old, new in changes:
        assert old in content
        content = content.replace(old, new, 1)
    path.write_bytes(content)
    return path


def text(value):
    """A string of a GGUF file."""
    return struct.pack("<Q", len(value)) + value.encode()


def number(key, value):
    """A key of a GGUF file with a 32-bit number."""
    return text(key) + struct.pack("<II", 4, value)


def tensor(name, shape, kind):
    """A row of a GGUF file's table of tensors, up to the type."""
    return (text(name) + struct.pack("<I", len(shape)) +
            struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<I", kind))


# Of the model in GGUF.

@pytest.mark.parametrize("size", [0, 3, 20, 500, 2600, 20000, -1])
def test_truncated_gguf(tmp_path, compile_refused, size):
    path = tmp_path / "model.gguf"
    path.write_bytes(GGUF.read_bytes()[:size])
    compile_refused(path, words=["model.gguf: "])


def test_lying_counts(tmp_path, compile_refused):
    tensors, values = struct.unpack_from("<QQ", GGUF.read_bytes(), 8)
    for old, new in [((tensors, values), (2**62, values)), ((tensors, values), (tensors, 2**62)),
                     ((tensors, values), (tensors + 1, values))]:
        path = edited(tmp_path / "model.gguf", GGUF,
                      (struct.pack("<QQ", *old), struct.pack("<QQ", *new)))
        compile_refused(path, words=["model.gguf: "])


def test_unknown_architecture(tmp_path, compile_refused):
    path = edited(tmp_path / "model.gguf", GGUF, (text("llama"), text("abacu")))
    compile_refused(path, words=["model.gguf: ", "'abacu'", "llama"])


@pytest.mark.parametrize("kind, words", [(99, ["99"]), (10, ["Q2_K"]), (4, ["4"])])
def test_unknown_quantisation(tmp_path, compile_refused, kind, words):
    """A number that is not in use, a format that we do not read, a withdrawn one."""
    name, shape, stored = first_matrix()
    path = edited(tmp_path / "model.gguf", GGUF,
                  (tensor(name, shape, stored), tensor(name, shape, kind)))
    compile_refused(path, words=["model.gguf: ", name, *words])


def first_matrix():
    """Name, shape and type of the first weight with two dimensions."""
    content = GGUF.read_bytes()
    at = content.index(text("blk.0.attn_q.weight"))
    at += len(text("blk.0.attn_q.weight"))
    count, = struct.unpack_from("<I", content, at)
    *shape, kind = struct.unpack_from(f"<{count}QI", content, at + 4)
    return "blk.0.attn_q.weight", shape, kind


def test_shapes_disagree_gguf(tmp_path, compile_refused):
    content = GGUF.read_bytes()
    for key in "llama.embedding_length", "llama.feed_forward_length", "llama.block_count":
        at = content.index(text(key)) + len(text(key)) + 4
        value, = struct.unpack_from("<I", content, at)
        path = edited(tmp_path / "model.gguf", GGUF, (number(key, value), number(key, 2 * value)))
        compile_refused(path, words=["model.gguf: "])


# Of the model as a folder.

def copied(tmp_path, name="llama"):
    folder = tmp_path / "model"
    shutil.copytree(MODELS / name, folder)
    return folder


@pytest.mark.parametrize("size", [0, 7, 8, 100, 50000, -4])
def test_truncated_safetensors(tmp_path, compile_refused, size):
    folder = copied(tmp_path)
    content = (MODELS / "llama/model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:size])
    compile_refused(folder, words=["model.safetensors: "])


@pytest.mark.parametrize("header", [b"{", b"[]", b'{"a": 1}', b"\xff\xfe"])
def test_wrong_header(tmp_path, compile_refused, header):
    folder = copied(tmp_path)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    compile_refused(folder, words=["model"])


@pytest.mark.parametrize("key", ["hidden_size", "intermediate_size", "vocab_size",
                                 "num_hidden_layers"])
def test_shapes_disagree(tmp_path, compile_refused, key):
    folder = copied(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    config[key] *= 2
    (folder / "config.json").write_text(json.dumps(config))
    compile_refused(folder, words=["model: "])


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"model_type": 7}', "\0" * 50])
def test_wrong_config(tmp_path, compile_refused, content):
    folder = copied(tmp_path)
    (folder / "config.json").write_text(content)
    compile_refused(folder, words=["model"])


@pytest.mark.parametrize("content", [
    "", "{", "[]", '{"pre_tokenizer": {"type": "ByteLevel"}, '
    '"model": {"type": "BPE", "merges": [], "vocab": {"a": -1}}}'])
def test_wrong_tokenizer(tmp_path, compile_refused, content):
    folder = copied(tmp_path)
    (folder / "tokenizer.json").write_text(content)
    compile_refused(folder, words=["tokenizer"])


def test_unknown_tokenizer(tmp_path):
    """Not damaged, only not known: the model still runs on token ids."""
    folder = copied(tmp_path)
    (folder / "tokenizer.json").write_text('{"model": {"type": "Abacus"}}')
    done = subprocess.run(["gist-compile", folder, "-o", tmp_path / "a.gist", "--progress=off"],
                          capture_output=True, text=True)
    assert done.returncode == 0
    assert "warning: " in done.stderr and "'Abacus'" in done.stderr


def test_missing_shard(tmp_path, compile_refused):
    folder = copied(tmp_path)
    (folder / "model.safetensors").rename(folder / "other")
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"model.norm.weight": "model-1-of-1.safetensors"}}))
    compile_refused(folder, words=["model-1-of-1.safetensors: ", "No such file"])


def test_files_that_are_not_there(tmp_path, compile_refused):
    compile_refused(tmp_path / "missing.gguf", words=["missing.gguf: ", "No such file"])
    (tmp_path / "empty").mkdir()
    compile_refused(tmp_path / "empty", words=["empty", "config.json"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable(tmp_path, compile_refused):
    path = edited(tmp_path / "model.gguf", GGUF)
    path.chmod(0)
    compile_refused(path, words=["model.gguf: ", "Permission denied"])


# Of the output.

def test_output_is_a_folder(tmp_path):
    refused("gist-compile", MODELS / "llama", "-o", tmp_path, "--progress=off",
            words=[f"{tmp_path}: ", "Is a directory"])
    assert not list(tmp_path.iterdir())


def test_output_is_a_device(tmp_path):
    """A device is not replaced by a file of its name."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused("gist-compile", MODELS / "llama", "-o", pipe, "--progress=off",
            words=["pipe: ", "not a regular file"])
    assert pipe.is_fifo()
    assert len(list(tmp_path.iterdir())) == 1


def test_no_space(tmp_path, module, compile_refused, monkeypatch):
    """The limit on file sizes fails a write as a full disk does: of what the
    linker writes on the way, and of the module."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    for size, words in (4096, ["cannot write"]), (module.stat().st_size - 1,
                                                  ["model.gist: cannot write: File too large"]):
        small = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
        compile_refused(MODELS / "llama", preexec_fn=small, words=words)
        assert not list(scratch.iterdir())


def test_no_space_in_a_full_disk(tmp_path):
    """A disk of 64 KiB, where a user may mount one."""
    script = ("mount -t tmpfs -o size=64k gist $0 || exit 77; "
              'gist-compile "$1" -o $0/model.gist --progress=off; code=$?; ls -A $0; exit $code')
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script,
                           tmp_path, MODELS / "llama"], capture_output=True, text=True)
    if "unshare" in done.stderr or done.returncode == 77:
        pytest.skip("no mounting here: " + done.stderr.strip())
    assert done.returncode == 1
    assert "gist-compile: error: " in done.stderr
    assert "model.gist: cannot write: No space left on device" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", [
    ("gist-compile", MODELS / "llama", "--emit=graph", "--progress=off"),
    ("gist-run", "info", "MODULE"), ("gist-run", "info", "MODULE", "--disassemble"),
    ("gist-run", "bench", "MODULE", "-p", "4", "-n", "0", "-r", "1")])
def test_full_output(module, command):
    command = [module if part == "MODULE" else part for part in command]
    with open("/dev/full", "w") as full:
        refused(*command, words=["cannot write"], stdout=full)


# Of the module.

def test_truncated_module(tmp_path, module):
    content = module.read_bytes()
    path = tmp_path / "short.gist"
    for size in 0, 5, 40, 200, 5000, len(content) // 2, len(content) - 1:
        path.write_bytes(content[:size])
        refused("gist-run", "info", path, words=["short.gist: "])


def test_damaged_module(tmp_path, module):
    """Every section but the weights is verified on loading, they on request."""
    content = module.read_bytes()
    count, = struct.unpack_from("<I", content, 12)
    path = tmp_path / "damaged.gist"
    for i in range(count):
        _, _, offset, size = struct.unpack_from("<IIQQ", content, 64 + 40 * i)
        damaged = bytearray(content)
        damaged[offset + size // 2] ^= 1
        path.write_bytes(damaged)
        refused("gist-run", "bench", path, "-p", "4", "-n", "0", "--verify",
                words=["damaged.gist: ", "damaged"])


def test_module_of_another_machine(tmp_path):
    other, cpu = {"x86_64": ("aarch64", "cortex-a76"),
                  "aarch64": ("x86_64", "haswell")}[os.uname().machine]
    path = tmp_path / "other.gist"
    subprocess.run(["gist-compile", MODELS / "llama", "-o", path, "--progress=off",
                    f"--triple={other}-linux-gnu", f"--cpu={cpu}"], stderr=subprocess.PIPE, check=True)
    refused("gist-run", "bench", path, "-p", "4", "-n", "0",
            words=["other.gist: ", f"code for {other}"])


@pytest.mark.parametrize("options, words", [
    (["-p", "65", "-n", "0"], ["65", "64"]),
    (["-p", "8", "-n", "0", "-c", "4"], ["context is full", "4 tokens"]),
    (["-p", "8", "-n", "0", "-d", "60"], ["68", "64"])])
def test_beyond_capacity(tmp_path, options, words):
    path = tmp_path / "short.gist"
    subprocess.run(["gist-compile", MODELS / "llama", "-o", path, "--progress=off",
                    "--context=64"], stderr=subprocess.PIPE, check=True)
    refused("gist-run", "bench", path, *options, words=words)


def test_no_tokenizer(module):
    refused("gist-run", "generate", module, "-p", "x", words=["llama.gist: ", "tokenizer"])


def test_trace_that_cannot_be_written(tmp_path, module):
    refused("gist-run", "bench", module, "-p", "4", "-n", "0", "--trace", tmp_path,
            stdout=subprocess.DEVNULL, words=["cannot write: Is a directory"])
    assert not list(tmp_path.iterdir())


def test_wrong_arrays(tmp_path, module):
    """gist-run call with files that lie about what they hold."""
    array, out = tmp_path / "x.npy", tmp_path / "out"
    out.mkdir()
    np.save(array, np.arange(4, dtype=np.int32))
    call = ["gist-run", "call", module, "prefill", "-i", f"tokens={array}", "-o", out]
    good = array.read_bytes()
    for content in (good[:-1], good[:20], b"", good.replace(b"(4,)", b"(9,)"),
                    good.replace(b"<i4", b"<f4"), good.replace(b"(4,)", b"(-4)")):
        assert content != good
        array.write_bytes(content)
        refused(*call, words=["x.npy"])
        assert not list(out.iterdir())
