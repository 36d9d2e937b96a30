"""make-bases.py FILE NAME=ROWSxCOLUMNS[:FAULT]...: a file of bases as plans
have them. Rows are those of the identity; FAULT is `nan`, `long` (a row of
length 2) or `cut` (the file ends early)."""

import json
import struct
import sys

header, data, cut = {}, b"", 0
for argument in sys.argv[2:]:
    name, _, size = argument.partition("=")
    size, _, fault = size.partition(":")
    rows, columns = map(int, size.split("x"))
    values = [[float(r == c) for c in range(columns)] for r in range(rows)]
    if fault == "nan":
        values[0][0] = float("nan")
    if fault == "long":
        values[0][0] = 2.0
    cut = 8 if fault == "cut" else 0
    content = b"".join(struct.pack(f"<{columns}f", *row) for row in values)
    header[name] = {
        "dtype": "F32",
        "shape": [rows, columns],
        "data_offsets": [len(data), len(data) + len(content)],
    }
    data += content
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data[: len(data) - cut])
