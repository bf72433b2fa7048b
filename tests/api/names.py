#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""names.py SOURCES LIBRARY...

Compares the names in the public headers, the manual and the manual pages with the symbols
that the shared libraries export:

- every function that a header declares is exported;
- every exported function is declared in a header;
- every tsanom_* and TSANOM_* name in a text exists: as an identifier in a header, or, for
  capitals, also in the build files or the tools (options of CMake, environment variables),
  or as a metric of `tsanom watch`.

A name that ends in an underscore or is followed by `*`, `<` or `…` stands for several."""

import re
import subprocess
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
NAME = re.compile(r"(?<![\w/<.-])((?:tsanom|TSANOM)_\w+)(?!\w|[*<…]|\.(?:h|c|pc|map)\b|@)")
# Targets and functions of CMake.
TARGETS = re.compile(r"(?:add_library|add_executable|tsanom_library|function)\((tsanom_\w+)")


def exported(library):
    """The functions that a shared library exports."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    symbols = (line.split() for line in lines)
    return {s[-1].split("@")[0] for s in symbols if s[-2] in "TW" and s[-1].startswith("tsanom_")}


def code_of(path):
    """The text of a C file without comments."""
    return COMMENT.sub(" ", path.read_text())


def declared(code):
    """The functions that a header declares."""
    return set(re.findall(r"TSANOM_API[^;{]*?\b(tsanom_\w+)\s*\(", code))


def identifiers(paths):
    """All names in the code of C files."""
    return {name for path in paths for name in re.findall(r"\b(?:tsanom|TSANOM)_\w+", code_of(path))}


def build_names(sources):
    """Names of the build files and the tools that a text may mention."""
    names = set()
    files = [sources / "CMakeLists.txt", *sources.glob("*/CMakeLists.txt"),
             *sources.glob("*/*/CMakeLists.txt"), *sources.glob("cmake/*.cmake"),
             *sources.glob("bindings/*/setup.py")]
    for path in files:
        text = path.read_text()
        names |= set(re.findall(r"TSANOM_\w+", text))
        names |= set(TARGETS.findall(text))
    tools = [*sources.glob("tools/**/*.[ch]"), *sources.glob("src/core/*.h")]
    metrics = (sources / "tools/tsanom/cmd/cmd_watch.c").read_text()
    names |= {f"tsanom_{name}" for name in re.findall(r'\{"(\w+)",\s+"', metrics)}
    return names | {name for name in identifiers(tools) if name.startswith("TSANOM_")} | {
        name for path in [*tools, *sources.glob("bindings/**/*.py")]
        for name in re.findall(r'"(TSANOM_\w+)', path.read_text())}


def texts(sources, headers):
    """The texts to check: (path, text). CHANGELOG names functions of older versions."""
    for path in headers:
        yield path, path.read_text()
    patterns = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/man/*",
                "src/*/README.md", "tools/**/README.md", "bindings/*/README.md")
    for pattern in patterns:
        for path in sorted(sources.glob(pattern)):
            yield path, path.read_text()


def unknown_names(text, known):
    """(line number, name) of each name that does not exist."""
    for number, line in enumerate(text.splitlines(), 1):
        for name in NAME.findall(line):
            if name not in known and not name.endswith("_"):
                yield number, name


def main():
    sources, libraries = Path(sys.argv[1]), sys.argv[2:]
    headers = sorted((sources / "include/tsanom").glob("*.h"))
    functions = set().union(*map(exported, libraries))
    in_headers = set().union(*(declared(code_of(path)) for path in headers))
    problems = [f"declared, but not exported: {name}" for name in sorted(in_headers - functions)]
    problems += [f"exported, but not declared: {name}" for name in sorted(functions - in_headers)]
    known = functions | identifiers(headers) | build_names(sources)
    for path, text in texts(sources, headers):
        problems += [f"{path.relative_to(sources)}:{number}: {name} does not exist"
                     for number, name in unknown_names(text, known)]
    print("\n".join(problems))
    print(f"{len(functions)} functions, {len(problems)} problems")
    return 1 if problems or not functions else 0


if __name__ == "__main__":
    sys.exit(main())
