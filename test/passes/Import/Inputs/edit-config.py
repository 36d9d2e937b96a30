"""Copies a model's folder, changes values of its config.json and removes keys.

    edit-config.py FOLDER COPY '{"hidden_size": 48}' [KEY...]
"""
import json
import shutil
import sys
from pathlib import Path

source, copy, changes, *removed = sys.argv[1:]
shutil.rmtree(copy, ignore_errors=True)
shutil.copytree(source, copy)
config = Path(copy) / "config.json"
values = json.loads(config.read_text()) | json.loads(changes)
config.write_text(json.dumps({k: v for k, v in values.items() if k not in removed}))
