#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each installed program and library needs, compared with the table libraries.tsv.

    libraries.py TABLE DIRECTORY [--glibc VERSION] [--lapack] [--print]

DIRECTORY is an installation, or the directory `tsanom` of an unpacked wheel. Every program and
library in it must have a row in the table, and every row a file. Its needed libraries must be in
the row, besides those of glibc. With --glibc, no symbol may have a later version of glibc than the
row says, nor than VERSION; that is for files built with a glibc of that version, since a later one
moves symbols. --lapack also allows OpenBLAS and LAPACKE. --print shows the rows as they are."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

# Of glibc; a wheel may expect no other.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
LLVM_OPENMP = {"libomp.so.5": "libgomp.so.1"}
LAPACK = {"liblapacke.so.3", "libopenblas.so.0"}
# A bundled library has a name of its own, which no other in the process has.
OWN_NAME = re.compile(r"-[0-9a-f]{8}(?=\.so)")


def readelf(option: str, file: Path) -> str:
    return subprocess.run(["readelf", "-W", option, str(file)], check=True, capture_output=True,
                          text=True).stdout


def as_numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def row_of(root: Path, file: Path) -> tuple[str, str, set[str]]:
    """The file's name in the table, its latest version of glibc, the libraries that it needs."""
    name = OWN_NAME.sub("", str(file.relative_to(root)))
    name = re.sub(r"^lib/[a-z0-9_]+-linux-gnu/", "lib/", name)
    name = re.sub(r"(\.so\.(?:0\.[0-9]+|[1-9][0-9]*))\.[0-9.]+$", r"\1", name)
    versions = re.findall(r"\bGLIBC_([0-9.]+)", readelf("--version-info", file))
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", file)))
    # The name of the loader is that of the architecture.
    needed = {OWN_NAME.sub("", LLVM_OPENMP.get(other, other)) for other in needed
              if not other.startswith("ld-linux")}
    return name, max(versions, key=as_numbers, default="0"), needed - SYSTEM


def rows_of(root: Path) -> dict[str, tuple[str, set[str]]]:
    rows = {}
    for file in sorted(root.rglob("*")):
        if file.is_file() and not file.is_symlink() and file.read_bytes()[:4] == b"\x7fELF":
            name, version, needed = row_of(root, file)
            rows[name] = version, needed
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare with the table.")
    parser.add_argument("table", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--glibc")
    parser.add_argument("--lapack", action="store_true")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    found = rows_of(options.directory)
    if options.print:
        for name, (version, needed) in found.items():
            print(name, version, ",".join(sorted(needed)) or "-", sep="\t")
        return 0
    wrong = []
    lines = [line.split("\t") for line in options.table.read_text().splitlines()
             if not line.startswith("#")]
    table = {name: (where, version, set(needed.split(",")) - {"-"})
             for name, where, version, needed in lines}
    bundled = any(table[name][0] == "wheel" for name in found if name in table)
    for name, (version, needed) in found.items():
        if name not in table:
            wrong.append(f"{name}: not in the table")
            continue
        _, allowed_version, allowed = table[name]
        extra = needed - allowed - (LAPACK if options.lapack else set())
        if extra:
            wrong.append(f"{name}: needs {', '.join(sorted(extra))}")
        limit = min(allowed_version, options.glibc or "0", key=as_numbers)
        if options.glibc and as_numbers(version) > as_numbers(limit):
            wrong.append(f"{name}: has a symbol of glibc {version}, not {limit}")
    for name, (where, _, _) in table.items():
        if name not in found and (where == "all" or bundled):
            wrong.append(f"{name}: is missing")
    print("\n".join(wrong) or f"{len(found)} programs and libraries need what the table says")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
