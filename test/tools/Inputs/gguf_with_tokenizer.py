"""A copy of a GGUF file with a tokenizer of single characters, for tools that
read text: gguf_with_tokenizer.py MODEL COPY VOCABULARY."""

import struct
import sys

STRING, ARRAY, INTEGERS = 8, 9, 5


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def strings(values):
    return struct.pack("<IIQ", ARRAY, STRING, len(values)) + b"".join(
        map(text, values))


source, target, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
# Byte-level tokenizers write a space and a newline so.
tokens = [chr(code) for code in range(33, 127)] + ["Ġ", "Ċ"]
kinds = [1] * len(tokens) + [5] * (count - len(tokens))
tokens += [f"<{number}>" for number in range(len(tokens), count)]
entries = [text("tokenizer.ggml.model") + struct.pack("<I", STRING) + text("gpt2"),
           text("tokenizer.ggml.pre") + struct.pack("<I", STRING) + text("gpt-2"),
           text("tokenizer.ggml.tokens") + strings(tokens),
           text("tokenizer.ggml.merges") + strings([]),
           text("tokenizer.ggml.token_type") +
           struct.pack(f"<IIQ{count}i", ARRAY, INTEGERS, count, *kinds)]
# Tensors begin at a multiple of 32 bytes.
filler = text("test.filler") + struct.pack("<I", STRING)
entries.append(filler + text("." * (-(sum(map(len, entries)) + len(filler) + 8) % 32)))
with open(source, "rb") as file:
    magic, version, tensors, known = struct.unpack("<4sIQQ", file.read(24))
    rest = file.read()
with open(target, "wb") as file:
    file.write(struct.pack("<4sIQQ", magic, version, tensors, known + len(entries)))
    file.write(b"".join(entries) + rest)
