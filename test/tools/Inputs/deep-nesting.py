"""Writes modules that nest deep, and one that does not: deep-nesting.py FOLDER"""

import pathlib
import sys

folder, n = pathlib.Path(sys.argv[1]), 200000
deep = {
    "map": "#m = affine_map<(d0) -> (" + "(" * n + "d0" + ")" * n + ")>",
    "signs": "#m = affine_map<(d0) -> (" + "- " * n + "d0)>",
    "attribute": "func.func private @f() attributes {a = " + "[" * n + "]" * n + "}",
    "modules": "module {" * n + "}" * n,
    "type": "func.func private @f(" + "tuple<" * n + ">" * n + ")",
}
for name, text in deep.items():
    (folder / f"{name}.mlir").write_text(text)
(folder / "flat.txt").write_text(
    "// " + "(" * n + "\n" + 'func.func private @"' + "<" * n + '"()\n'
    + "".join(f"func.func private @f{i}(tensor<4xf32>) -> (tensor<4xf32>)\n" for i in range(500)))
