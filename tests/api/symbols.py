#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""symbols.py SOURCES [--write]

Compares the version scripts cmake/*.map with the headers, or writes them. A script names each
symbol that a library exports. What a header declares below the line

    experimental: may change in any release

is in a version node of its own, so that `nm -D program` shows whether a program uses it."""

import sys
from pathlib import Path

from names import COMMENT, declared

LIBRARIES = {"tsanom-record": ("record.h", "heartbeat.h"), "tsanom-runs": ("runs.h",)}
SMALL = ("exec_init", "status_name", "status_text", "version")
# What each library has of base.h.
BASE = {"tsanom": ("exec_init", "isa_available", "isa_best", "save", "restore"),
        "tsanom-record": SMALL, "tsanom-runs": SMALL}
LINE = "experimental: may change in any release"


def functions(headers, library):
    """The stable and the experimental functions of a library."""
    stable, experimental = {"tsanom_" + name for name in BASE[library]}, set()
    others = {name for names in LIBRARIES.values() for name in names}
    for path in sorted(headers.glob("*.h")):
        if path.name != "base.h" and path.name in LIBRARIES.get(
                library, {path.name} - others):
            before, _, after = path.read_text().partition(LINE)
            # The line stands in a comment, of which the rest would be code.
            stable |= declared(COMMENT.sub(" ", before + "*/"))
            experimental |= declared(COMMENT.sub(" ", after.partition("*/")[2]))
    return stable, experimental


def node(name, symbols, rest, parent=""):
    lines = "".join(f"    {symbol};\n" for symbol in sorted(symbols))
    return f"{name} {{\n  global:\n{lines}{rest}}}{parent};\n"


def version_script(headers, library):
    stable, experimental = functions(headers, library)
    text = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
    text += node("TSANOM_0.3", stable, "  local:\n    *;\n")
    if experimental:
        text += "\n" + node("TSANOM_EXPERIMENTAL", experimental, "", " TSANOM_0.3")
    return text


def main():
    sources = Path(sys.argv[1])
    changed = []
    for library in BASE:
        path = sources / f"cmake/{library}.map"
        text = version_script(sources / "include/tsanom", library)
        if "--write" in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            changed.append(path.name)
    if changed:
        print(f"not the functions of the headers: {', '.join(changed)}. "
              "Write them again: python3 tests/api/symbols.py . --write")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
