"""Writes files that gist-plan and gist-compile read, with a part that nests deep: deep-json.py FOLDER"""

import pathlib
import sys

folder, n = pathlib.Path(sys.argv[1]), 200000
deep = "[" * n + "]" * n
(folder / "model").mkdir()
for name, text in {
        "evaluation": '{"gist_evaluation": 1, "model": "m", "plans": [{"name": "p", "texts": [], "plan": %s}]}',
        "calibration": '{"gist_calibration": 1, "model": "m", "layers": 1, "kv_heads": 1, "block": 8, "tokens": 64, '
                       '"texts": [], "candidates": [%s], "heads": []}',
        "plan": '{"gist_plan": 1, "layers": [{"selection": %s}]}',
        "certificates": '{"gist_certificates": [%s]}',
        "model/config": '{"model_type": "llama", "rope_scaling": %s}',
}.items():
    (folder / f"{name}.json").write_text(text % deep)
