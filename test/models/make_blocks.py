"""Writes blocks.gguf: every storage format beside the numbers it stands for.

Tensor "q4_k" holds random blocks and "q4_k.expected" what the `gguf` package
(PyPI) makes of them, as f32. The readers' tests compare with it.

    python make_blocks.py [OUTPUT]
"""

import sys
from pathlib import Path

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

ROWS, COLUMNS = 2, 512
# Where the f16 numbers of a block are: random bytes there could be NaN.
HALVES = {"F16": [0], "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2],
          "Q4_K": [0, 2], "Q6_K": [208], "Q5_0": [0], "Q5_1": [0, 2],
          "Q5_K": [0, 2], "Q3_K": [108], "Q2_K": [80, 82], "IQ4_NL": [0]}


def random_blocks(rng, name, rows=ROWS, columns=COLUMNS, scale=0.1):
    """Rows of blocks whose f16 numbers have this standard deviation."""
    length, size = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    shape = (rows, columns // length, size)
    blocks = rng.integers(0, 256, shape, dtype=np.uint8)
    for offset in HALVES.get(name, []):
        halves = rng.normal(0, scale, shape[:2]).astype(np.float16)
        blocks[:, :, offset:offset + 2] = halves[..., None].view(np.uint8)
    if name == "BF16":
        values = rng.normal(0, 1, shape[:2]).astype(np.float32)
        blocks[:] = (values.view(np.uint32) >> 16).astype(np.uint16)[
            ..., None].view(np.uint8)
    return blocks.reshape(rows, -1)


def main():
    rng = np.random.default_rng(7)
    output = sys.argv[1] if len(sys.argv) > 1 else \
        Path(__file__).parent / "blocks.gguf"
    writer = gguf.GGUFWriter(output, "test")
    writer.add_uint8("test.uint8", 200)
    writer.add_int8("test.int8", -100)
    writer.add_uint16("test.uint16", 60000)
    writer.add_int16("test.int16", -30000)
    writer.add_uint32("test.uint32", 4000000000)
    writer.add_int32("test.int32", -2000000000)
    writer.add_float32("test.float32", 0.5)
    writer.add_bool("test.bool", True)
    writer.add_string("test.string", "größe")
    writer.add_array("test.strings", ["a", "", "ccc"])
    writer.add_array("test.integers", [1, -2, 3])
    writer.add_array("test.floats", [0.25, -1.5])
    writer.add_uint64("test.uint64", 2**63 + 1)
    writer.add_int64("test.int64", -2**62)
    writer.add_float64("test.float64", 0.1)
    for name in ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K",
                 "Q5_0", "Q5_1", "Q5_K", "Q3_K", "Q2_K", "IQ4_NL"]:
        blocks = random_blocks(rng, name)
        kind = GGMLQuantizationType[name]
        writer.add_tensor(name.lower(), blocks, raw_dtype=kind)
        expected = dequantize(blocks, kind).astype(np.float32)
        writer.add_tensor(name.lower() + ".expected", expected)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
