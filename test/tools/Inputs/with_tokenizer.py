"""A copy of a test model with a tokenizer of single characters, for tools that
read text: with_tokenizer.py MODEL COPY."""

import json
import pathlib
import shutil
import sys

source, target = map(pathlib.Path, sys.argv[1:])
shutil.copytree(source, target)
# Byte-level tokenizers write a space and a newline so.
characters = [chr(code) for code in range(33, 127)] + ["Ġ", "Ċ"]
vocabulary = {character: number for number, character in enumerate(characters)}
(target / "tokenizer.json").write_text(json.dumps({
    "version": "1.0",
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False,
                      "trim_offsets": True, "use_regex": True},
    "post_processor": None,
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "dropout": None, "unk_token": None,
              "continuing_subword_prefix": None, "end_of_word_suffix": None,
              "fuse_unk": False, "byte_fallback": False,
              "vocab": vocabulary, "merges": []},
}))
