"""A copy of a test model with a SentencePiece tokenizer of single characters and a few
longer pieces, as tokenizer.model: with_pieces.py MODEL COPY. `pieces` are its pieces."""

import pathlib
import shutil
import struct
import sys

MARK = "\u2581"
NORMAL, UNKNOWN, CONTROL = 1, 2, 3
pieces = [("<unk>", 0, UNKNOWN), ("<s>", 0, CONTROL), ("</s>", 0, CONTROL), (MARK, -9, NORMAL)]
pieces += [(chr(code), -9, NORMAL) for code in range(33, 127)]
pieces += [("ab", -1, NORMAL), (MARK + "a", -2, NORMAL)]


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def model():
    """The protocol buffer: pieces, a BPE model, and a normalizer that keeps spaces."""
    listed = b"".join(
        field(1, field(1, text.encode()) + field(2, float(score)) + field(3, kind))
        for text, score, kind in pieces)
    return listed + field(2, field(3, 2)) + field(3, field(1, b"identity") + field(4, 0))


if __name__ == "__main__":
    source, target = map(pathlib.Path, sys.argv[1:])
    shutil.copytree(source, target)
    (target / "tokenizer.model").write_bytes(model())
