#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a GGUF file again with all matrices in f16: bench/expand_gguf.py IN OUT.

For measurements on f16 weights where only a quantised file is at hand. Needs
the packages gguf and NumPy.
"""

import sys

import gguf
import numpy as np


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: expand_gguf.py IN.gguf OUT.gguf")
    reader = gguf.GGUFReader(sys.argv[1])
    architecture = reader.get_field(gguf.Keys.General.ARCHITECTURE).contents()
    writer = gguf.GGUFWriter(sys.argv[2], architecture)
    # The writer adds the fields that every file has itself.
    own = {gguf.Keys.General.ARCHITECTURE, gguf.Keys.General.FILE_TYPE,
           gguf.Keys.General.QUANTIZATION_VERSION}
    for field in reader.fields.values():
        if field.name in own or field.name.startswith("GGUF."):
            continue
        kind = field.types[0]
        element = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, element)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        values = values.reshape([int(n) for n in reversed(tensor.shape)])
        writer.add_tensor(tensor.name,
                          values.astype(np.float32 if values.ndim < 2 else np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
