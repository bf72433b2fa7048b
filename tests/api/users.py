#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""users.py SOURCES [--list]

Who uses each public function: other modules of the library, tools, the Python package, examples.
Fails if more than MOST functions have no user but an example; --list prints all of them."""

import re
import sys
from pathlib import Path

from names import code_of, declared

MOST = 25
# Where users are: name, patterns of files.
PLACES = {
    "module": ("src/*/*.[ch]",),
    "tool": ("tools/**/*.[ch]",),
    "Python": ("bindings/python/tsanom/*.py",),
    "example": ("examples/**/*.c", "examples/**/*.cc", "include/tsanom/compat.h"),
}
# The Python package composes the names of the functions of detectors.
COMPOSED = re.compile(r"tsanom_dpd_(event|value)_(create|destroy|predict|push_many|resize|window)")


def public_functions(sources):
    """name -> header."""
    return {name: path.stem for path in sorted((sources / "include/tsanom").glob("*.h"))
            for name in sorted(declared(code_of(path)))}


def calls(path, names):
    """The functions that a file uses: in its own module, the file that defines one is no user."""
    text = path.read_text() if path.suffix == ".py" else code_of(path)
    used = set(re.findall(r"\btsanom_\w+", text)) & names
    defined = set(re.findall(r"^(?:tsanom_status|void|size_t|int32_t|const char \*)\s*\*?"
                             r"(tsanom_\w+)\([^;]*?\) \{", text, re.M))
    # A definition of double precision is that of single precision, too.
    return used - defined - {name + "_f32" for name in defined}


def main():
    sources = Path(sys.argv[1])
    functions = public_functions(sources)
    users = {name: set() for name in functions}
    for place, patterns in PLACES.items():
        for pattern in patterns:
            for path in sources.glob(pattern):
                for name in calls(path, set(functions)):
                    users[name].add(place)
    for name in functions:
        if COMPOSED.fullmatch(name):
            users[name].add("Python")
    alone = [name for name in functions if not users[name] - {"example"}]
    for name, header in functions.items():
        if "--list" in sys.argv or name in alone:
            print(f"{header}.h {name}: {', '.join(sorted(users[name])) or 'none'}")
    print(f"{len(functions)} functions, {len(alone)} used by nothing but examples")
    return 1 if len(alone) > MOST or not functions else 0


if __name__ == "__main__":
    sys.exit(main())
