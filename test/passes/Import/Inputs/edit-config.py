"""Copies a model's folder and changes values of its config.json.

    edit-config.py FOLDER COPY '{"hidden_size": 48}'
"""
import json
import shutil
import sys
from pathlib import Path

source, copy, changes = sys.argv[1:]
shutil.rmtree(copy, ignore_errors=True)
shutil.copytree(source, copy)
config = Path(copy) / "config.json"
config.write_text(json.dumps(json.loads(config.read_text()) | json.loads(changes)))
