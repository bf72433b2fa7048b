#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""include_graph.py SOURCES

Checks which file includes which in src and tools, a .c and a .h of one name being one file:

- the command includes public headers and its own; the launcher also the format of runs;
- only libtsanom-runs uses JSON, and of other modules it uses core and the format of runs;
- no more than CIRCLE files include each other in a circle.

Prints the largest circle, and the share of the internal functions that exactly one other file
uses."""

import os
import re
import sys
from collections import defaultdict
from pathlib import Path

from names import code_of

CIRCLE = 10
INCLUDE = re.compile(r'^#include "(.*)"', re.M)
PROTOTYPE = re.compile(r"^(?!static|typedef)[A-Za-z_][\w *]*?[ *](\w+)\([^;{}]*\)[^;{}]*;", re.M)
# What parts of other modules a place may include.
ALLOWED = {"tools/tsanom": r"core/replace_file\.h", "tools/tsanom/launcher": r"record/.*|core/replace_file\.h",
           "src/runs": r"(core|runs)/.*|.*/?(format|regions|identity|vital_proc)\.h"}


class Tree:
    """The C files of the project, and what they include."""

    def __init__(self, root):
        self.root = root
        self.files = [p for top in ("src", "tools") for p in sorted((root / top).rglob("*.[ch]"))]
        self.named = defaultdict(list)
        for path in self.files:
            self.named[path.name].append(path)
        self.included = {path: INCLUDE.findall(path.read_text()) for path in self.files}

    def place(self, path):
        return str(path.parent.relative_to(self.root))

    def target(self, path, name):
        """The file that `path` includes by a name, the nearest one; None: not one of these."""
        def common(other):
            return len(Path(os.path.commonpath([path, other])).parts)
        name = name.lstrip("./")
        found = [p for p in self.named[Path(name).name] if str(p).endswith(f"/{name}")]
        return max(found, key=common, default=None)

    def edges(self):
        edges = defaultdict(set)
        for path, names in self.included.items():
            for target in filter(None, (self.target(path, name) for name in names)):
                edges[path.with_suffix("")].add(target.with_suffix(""))
        return edges


def foreign(tree):
    """Includes that cross a border of modules."""
    for path, names in tree.included.items():
        place = tree.place(path)
        home = "tools" if place.startswith("tools/tsanom") else place
        for name in names if home == "tools" != place or place == "src/runs" else ():
            target = tree.target(path, name)
            if not (target and tree.place(target).startswith(home)):
                if not re.fullmatch(ALLOWED.get(place, ALLOWED["tools/tsanom"]), name):
                    yield f"{place}/{path.name} includes {name}, which is internal to another module"
        if place.startswith("src/") and place != "src/runs" and "#include <jansson" in path.read_text():
            yield f"{place}/{path.name}: only libtsanom-runs uses JSON"


def circles(edges):
    """Sets of files that reach each other, the largest first."""
    reach = {}
    for start in edges:
        seen, open_ends = set(), [start]
        while open_ends:
            new = edges.get(open_ends.pop(), set()) - seen
            seen |= new
            open_ends += new
        reach[start] = seen
    found = {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in reach if a in reach[a]}
    return sorted(found, key=len, reverse=True)


def of_one_user(tree):
    """How many internal functions there are, and how many exactly one other file uses."""
    code = {path: code_of(path) for path in tree.files}
    users = defaultdict(set)
    for path, text in code.items():
        for name in set(re.findall(r"\w+(?=\()", text)):
            users[name].add(path)
    functions = {name for path in tree.files if path.suffix == ".h" for name in PROTOTYPE.findall(code[path])}
    one = 0
    for name in functions:
        definition = re.compile(rf"^(?!static)[A-Za-z_][\w *]*?[ *]{name}\([^;{{]*\)\s*{{", re.M)
        one += sum(p.suffix == ".c" and not definition.search(code[p]) for p in users[name]) == 1
    return len(functions), one


def main():
    tree = Tree(Path(sys.argv[1]).resolve())
    errors = list(foreign(tree))
    found = circles({a: b - {a} for a, b in tree.edges().items()})
    largest = sorted(str(p.relative_to(tree.root)) for p in found[0]) if found else []
    print(f"largest circle: {len(largest)} files: {' '.join(largest)}")
    if len(largest) > CIRCLE:
        errors.append(f"a circle of {len(largest)} files; at most {CIRCLE} are allowed")
    count, one = of_one_user(tree)
    print(f"{len(tree.files)} files; of {count} internal functions {one} ({one / count:.0%}) "
          "are used by exactly one other file")
    print("\n".join(errors))
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
