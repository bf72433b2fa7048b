#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""definitions.py SOURCES LIBRARY...

Checks that Universal Ctags, with the options of .ctags.d/, finds the definition in src/ of
every function that the shared libraries export. A function NAME_f32 may be compiled from the
source of NAME. Exit status 77 (skipped) without ctags."""

import json
import re
import subprocess
import sys
from pathlib import Path

from names import exported


def is_universal():
    """Whether `ctags` is Universal Ctags with JSON output."""
    try:
        version = subprocess.run(["ctags", "--list-features"], capture_output=True, text=True)
    except FileNotFoundError:
        return False
    return re.search(r"^json\b", version.stdout, re.M) is not None


def defined(sources):
    """The functions whose definitions ctags finds."""
    # ctags reads .ctags.d of the current directory.
    lines = subprocess.run(["ctags", "--output-format=json", "--kinds-C=f", "-R", "-f", "-", "src"],
                           cwd=sources, check=True, capture_output=True, text=True).stdout
    return {json.loads(line)["name"] for line in lines.splitlines()}


def main():
    sources, libraries = Path(sys.argv[1]), sys.argv[2:]
    if not is_universal():
        print("skipped: needs the Debian package universal-ctags")
        return 77
    functions = set().union(*map(exported, libraries))
    found = defined(sources)
    missing = sorted(name for name in functions
                     if name not in found and name.removesuffix("_f32") not in found)
    for name in missing:
        print(f"ctags finds no definition of {name}")
    print(f"{len(functions)} functions, {len(missing)} without definition")
    return 1 if missing or not functions else 0


if __name__ == "__main__":
    sys.exit(main())
