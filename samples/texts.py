#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts to find plans with, and others to judge them by.

    python3 samples/texts.py FOLDER [CHARACTERS]

writes prose, code and licence text into FOLDER/calibration and
FOLDER/held-out, from what a Debian machine has: its licences, Python's standard
library, and packages that are fetched with apt-get and unpacked beside the
texts (not installed). No source is in both folders. A context of 32768 tokens
takes 200000 characters; licences are not as long.
"""

import gzip
import pathlib
import re
import subprocess
import sys
import sysconfig

# The default number of characters of each text: more than 9,000 tokens of any
# of them.
LENGTH = 60_000

LICENCES = pathlib.Path("/usr/share/common-licenses")
LIBRARY = pathlib.Path(sysconfig.get_path("stdlib"))


def unpack(package, file, folder):
    """The bytes of a file of a Debian package."""
    target = folder / "packages" / package
    if not (target / file).exists():
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", package], cwd=target, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (archive,) = target.glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", archive, target], check=True)
        archive.unlink()
    path = target / file
    return (gzip.open(path) if path.suffix in (".gz", ".dz") else path.open("rb")).read()


def debian_faq(folder):
    text = unpack("debian-faq", "usr/share/doc/debian/FAQ/debian-faq.en.txt.gz", folder)
    text = text.decode(errors="replace")
    # The table of contents is not prose.
    return text[len(text) // 5:]


def jargon(folder):
    text = unpack("dict-jargon", "usr/share/dictd/jargon.dict.dz", folder).decode(errors="replace")
    # The text before it is about the file.
    return text[len(text) // 3:]


def sayings(folder):
    return "\n".join(unpack("fortunes", f"usr/share/games/fortunes/{name}", folder).decode(errors="replace")
                     for name in ("songs-poems", "cookie", "people"))


def dictionary(folder):
    text = unpack("dict-devil", "usr/share/dictd/devil.dict.dz", folder).decode(errors="replace")
    return text[len(text) // 10:]


def debian_policy(folder):
    text = unpack("debian-policy", "usr/share/doc/debian-policy/policy.txt.gz", folder)
    text = text.decode(errors="replace")
    return text[len(text) // 10:]


def debian_reference(folder):
    text = unpack("debian-reference-en", "usr/share/debian-reference/debian-reference.en.txt.gz", folder)
    text = text.decode(errors="replace")
    return text[len(text) // 5:]


def documentation(_):
    """Python's language reference, as its help prints it."""
    from pydoc_data.topics import topics
    return "\n".join(text for _, text in sorted(topics.items()))


def library(*names):
    return lambda _: "\n".join((LIBRARY / name).read_text() for name in names)


def licences(*names):
    return lambda _: "\n".join((LICENCES / name).read_text() for name in names)


TEXTS = {
    "calibration/prose.txt": debian_faq,
    "calibration/manual.txt": documentation,
    "calibration/sayings.txt": sayings,
    "calibration/dictionary.txt": dictionary,
    "calibration/policy.txt": debian_policy,
    "calibration/code.txt": library("argparse.py", "typing.py", "subprocess.py"),
    "calibration/code2.txt": library("asyncio/base_events.py", "datetime.py", "difflib.py"),
    "calibration/licence.txt": licences("GPL-3", "MPL-1.1"),
    "calibration/licence2.txt": licences("LGPL-2.1", "MPL-2.0"),
    "held-out/prose.txt": jargon,
    "held-out/code.txt": library("tarfile.py", "pydoc.py", "pickletools.py"),
    "held-out/licence.txt": licences("GFDL-1.3", "Apache-2.0", "CC0-1.0", "Artistic"),
}

# In place of licences, which end before long contexts do.
LONG_TEXTS = {"held-out/reference.txt": debian_reference}


def main():
    if len(sys.argv) not in (2, 3) or not all(size.isdigit() for size in sys.argv[2:]):
        sys.exit("usage: texts.py FOLDER [CHARACTERS]")
    folder = pathlib.Path(sys.argv[1])
    length = int(sys.argv[2]) if len(sys.argv) == 3 else LENGTH
    texts = TEXTS | (LONG_TEXTS if length > LENGTH else {})
    for name, make in texts.items():
        text = re.sub(r"\n{3,}", "\n\n", make(folder)).strip()[:length] + "\n"
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"{path}: {len(text)} characters")


if __name__ == "__main__":
    main()
