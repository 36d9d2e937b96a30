#!/usr/bin/env python3
"""Writes runtime/text/UnicodeTables.inc: character classes, case and decompositions.

A tokenizer is right when it gives the ids the model was trained on, and those
came from the library `tokenizers`. Its parts follow different versions of
Unicode (Oniguruma's letters and numbers, Rust's digits and case, a punctuation
and mark table of Unicode 8 in the BERT parts), so the classes are asked of that
library, code point by code point, and not taken from one version of the
standard. Canonical decompositions come from Python's unicodedata, less those
that the library does not know.

Usage: generate.py OUTPUT   (needs `pip install tokenizers`; takes ten seconds)
"""
import sys
import unicodedata

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
BLOCK = 4096


def matching(pattern):
    """The code points that match a one-character pattern of the library."""
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    left = set()
    for i in range(0, len(CODE_POINTS), BLOCK):
        text = "".join(map(chr, CODE_POINTS[i : i + BLOCK]))
        for piece, _ in split.pre_tokenize_str(text):
            left.update(map(ord, piece))
    return set(CODE_POINTS) - left


def pieces(pre_tokenizer, count):
    """The code points that, between two letters, give so many pieces."""
    return {
        c
        for c in CODE_POINTS
        if len(pre_tokenizer.pre_tokenize_str(f"x{chr(c)}y")) == count
    }


def bert(**options):
    off = dict(
        clean_text=False,
        handle_chinese_chars=False,
        strip_accents=False,
        lowercase=False,
    )
    return normalizers.BertNormalizer(**(off | options)).normalize_str


def is_hangul(c):
    return 0xAC00 <= c <= 0xD7A3


def classes():
    clean, strip, nfd = bert(clean_text=True), bert(strip_accents=True), normalizers.NFD()
    marks = {
        c
        for c in CODE_POINTS
        if strip(f"x{chr(c)}y") == "xy" and nfd.normalize_str(chr(c)) == chr(c)
    }
    # In the order of the flags in Unicode.h.
    return [
        matching(r"\p{L}"),
        matching(r"\p{N}"),
        matching(r"\s"),
        pieces(pre_tokenizers.Digits(individual_digits=False), 3),
        pieces(pre_tokenizers.BertPreTokenizer(), 3),
        marks,
        {c for c in CODE_POINTS if clean(f"x{chr(c)}y") == "xy"},
        matching(r"\w"),
    ]


def class_runs():
    flags = bytearray(0x110000)
    for bit, members in enumerate(classes()):
        for c in members:
            flags[c] |= 1 << bit
    runs = [(0, flags[0])]
    for c in range(1, 0x110000):
        if flags[c] != runs[-1][1]:
            runs.append((c, flags[c]))
    return runs


def lower_runs():
    """Maximal runs (first, last, step, difference); U+0130 alone has two."""
    lower = bert(lowercase=True)
    runs = []
    for c in CODE_POINTS:
        text = lower(chr(c))
        if len(text) != 1:
            assert c == 0x130 and text == "i\u0307", hex(c)
            continue
        difference = ord(text) - c
        if not difference:
            continue
        if runs and runs[-1][3] == difference:
            first, last, step, _ = runs[-1]
            gap = c - last
            if gap == step or (first == last and gap <= 2):
                runs[-1] = (first, c, gap, difference)
                continue
        runs.append((c, c, 1, difference))
    return runs


def decompositions():
    """(code point, first, second or 0, whether NFC puts it together again)."""
    nfd, nfc = normalizers.NFD(), normalizers.NFC()
    result = []
    for c in CODE_POINTS:
        field = unicodedata.decomposition(chr(c))
        if not field or field.startswith("<") or is_hangul(c):
            continue
        if nfd.normalize_str(chr(c)) == chr(c):
            continue
        parts = [int(part, 16) for part in field.split()] + [0]
        composes = nfc.normalize_str(chr(c)) == chr(c) and parts[1] != 0
        result.append((c, parts[0], parts[1], int(composes)))
    return result


def combining_runs():
    nfd = normalizers.NFD()

    def combining(c):
        order = unicodedata.combining(chr(c))
        # A mark the library does not know never moves past another one.
        other = "\u0334" if order > 1 else "\u0315"
        text = f"a{chr(c)}{other}" if order > 1 else f"a{other}{chr(c)}"
        return order if nfd.normalize_str(text) != text else 0

    runs = [(0, 0)]
    for c in CODE_POINTS:
        value = combining(c) if unicodedata.combining(chr(c)) else 0
        if value != runs[-1][1]:
            runs.append((c, value))
    return runs


def table(out, ctype, name, rows):
    out.write(f"static constexpr {ctype} {name}[] = {{\n")
    line = "   "
    for row in rows:
        cell = f" {row},"
        if len(line) + len(cell) > 80:
            out.write(line + "\n")
            line = "   "
        line += cell
    out.write(line + "\n};\n\n")


def braces(row):
    return "{" + ",".join(f"0x{v:x}" if v >= 10 else str(v) for v in row) + "}"


def main():
    with open(sys.argv[1], "w") as out:
        out.write(
            "// Written by runtime/text/unicode/generate.py from tokenizers "
            f"{tokenizers.__version__} and\n// Unicode "
            f"{unicodedata.unidata_version} decompositions. Do not edit.\n\n"
        )
        out.write("// First code point of a run << 8 | CharClass flags.\n")
        table(out, "uint32_t", "kClassRuns", [f"0x{c << 8 | f:x}" for c, f in class_runs()])
        out.write("// First, last, step, difference to the lower-case letter.\n")
        table(out, "LowerRun", "kLowerRuns", map(braces, lower_runs()))
        out.write("// Code point, its two parts, whether NFC composes them.\n")
        table(out, "Decomposition", "kDecompositions", map(braces, decompositions()))
        out.write("// First code point of a run << 8 | combining class.\n")
        table(out, "uint32_t", "kCombiningRuns", [f"0x{c << 8 | f:x}" for c, f in combining_runs()])


main()
