"""odd-gguf.py FILE ARCHITECTURE: writes a GGUF file with one tensor in a format
that is not supported (IQ2_XXS)."""

import struct
import sys


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


path, architecture = sys.argv[1:]
with open(path, "wb") as file:
    file.write(b"GGUF" + struct.pack("<IQQ", 3, 1, 1))
    file.write(text("general.architecture") + struct.pack("<I", 8) + text(architecture))
    file.write(text("token_embd.weight") + struct.pack("<IQIQ", 1, 256, 16, 0))
    file.write(bytes(256))
