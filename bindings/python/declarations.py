# SPDX-License-Identifier: BSD-3-Clause
"""Generate the declarations of the C functions for cffi from the headers.

    declarations.py INCLUDE_DIRECTORY OUTPUT      the directory that contains tsanom/tsanom.h

The C preprocessor expands tsanom.h. What it prints of our own headers is what cffi parses; what
it prints of the system's headers (stddef.h, stdint.h) cffi knows. OUTPUT is a Python module that
defines `ffi` for cffi's ABI mode, so that it serves every version of Python and needs neither
the headers nor a compiler."""

import os
import re
import subprocess
import sys
from pathlib import Path

import cffi

LINE_MARKER = re.compile(r'# \d+ "(.*)"')


def preprocessed(include: Path) -> str:
    """What the preprocessor prints of the headers below `include`."""
    command = [os.environ.get("CC", "cc"), "-E", f"-I{include}", str(include / "tsanom/tsanom.h")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    kept = []
    ours = False
    for line in text.splitlines():
        marker = LINE_MARKER.match(line)
        if marker:
            ours = Path(marker[1]).parent == include / "tsanom"
        elif ours:
            kept.append(line)
    return "\n".join(kept).replace('__attribute__((visibility("default")))', "")


def header_version(include: Path) -> str:
    """The version that base.h defines."""
    text = (include / "tsanom/base.h").read_text()
    parts = re.findall(r"#define TSANOM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
    return ".".join(parts)


def generate(include: Path, output: Path) -> None:
    """Write the module."""
    builder = cffi.FFI()
    builder.cdef(preprocessed(include.resolve()))
    builder.set_source("tsanom._declarations", None)
    output.parent.mkdir(parents=True, exist_ok=True)
    builder.emit_python_code(str(output))
    output.write_text(f"# mypy: ignore-errors\n{output.read_text()}\n"
                      f"version: str = {header_version(include)!r}\n")


if __name__ == "__main__":
    generate(Path(sys.argv[1]), Path(sys.argv[2]))
