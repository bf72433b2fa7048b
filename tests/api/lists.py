#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""lists.py SOURCES

Compares the steps "How to add a sign" and "How to add a cause" of CONTRIBUTING.md with the
sources:

- at most 8 files are named, `a` or `b` being one, and each exists;
- each file that lists all signs or all causes, by their constants or their names within a few
  lines, is named: a new one has to be added there."""

import re
import sys
from pathlib import Path

MOST_FILES = 8
NEAR = 20  # lines of a list
FOLDERS = ("include", "src", "tools", "bindings", "docs", "tests/api", "examples")
ENDS = {".c", ".h", ".py", ".md", ".pyi"}


def steps(guide, title):
    """The text of a section."""
    return re.search(rf"^## {title}\n(.*?)^## ", guide, re.M | re.S).group(1)


def named(text, sources):
    """The files of a section, each a set of those that stand for one another."""
    found, folder = [], None
    for match in re.finditer(r"( or |)`([\w/]+\.(?:c|h|md|py))`", text):
        path = match.group(2)
        if "/" in path:
            folder = Path(path).parent
        else:
            path = str(folder / path)
        assert (sources / path).is_file(), f"{path}: there is no such file"
        if match.group(1):
            found[-1].add(path)
        else:
            found.append({path})
    return found


def is_listed(lines, words):
    """Whether all words are within NEAR lines."""
    seen = {}
    for number, line in enumerate(lines):
        for word in re.findall(r"\w+", line):
            if word in words:
                seen[word] = number
        if len(seen) == len(words) and number - min(seen.values()) < NEAR:
            return True
    return False


def check(sources, title, constants, names):
    """The files that list the constants or the names are those of a section."""
    guide = (sources / "CONTRIBUTING.md").read_text()
    files = named(steps(guide, title), sources)
    assert len(files) <= MOST_FILES, f"{title}: {len(files)} files"
    known = set().union(*files)
    lists = set()
    for folder in FOLDERS:
        for path in (sources / folder).rglob("*"):
            if path.suffix not in ENDS or path.name == "lists.py":
                continue
            lines = path.read_text().splitlines()
            if is_listed(lines, constants) or is_listed(lines, names):
                lists.add(str(path.relative_to(sources)))
    assert lists, f"{title}: no list was found"
    assert lists <= known, f"{title}: not named: {sorted(lists - known)}"


def main():
    """Check both sections."""
    sources = Path(sys.argv[1])
    signs = re.findall(r"\b(TSANOM_DIAGNOSIS_SIGN_\w+) = \d+,",
                       (sources / "include/tsanom/diagnosis.h").read_text())
    names = re.search(r"TSN_DIAGNOSIS_SIGN_NAMES(.*?)\n\n",
                      (sources / "src/core/names.h").read_text(), re.S).group(1)
    signs = {s for s in signs if s not in ("TSANOM_DIAGNOSIS_SIGN_SLOTS", "TSANOM_DIAGNOSIS_SIGNS")}
    names = set(re.findall(r'"(\w+)"', names))
    assert len(signs) == len(names) > 10, (signs, names)
    check(sources, "How to add a sign", signs, names)
    statuses = re.search(r"enum \{[^}]*TSANOM_HSA_NORMAL = 0(.*?)TSANOM_HSA_STATUSES",
                         (sources / "include/tsanom/hsa.h").read_text(), re.S).group(1)
    causes = set(re.findall(r"\b(TSANOM_HSA_\w+) = \d+,", statuses))
    assert len(causes) > 8, causes
    check(sources, "How to add a cause", causes,
          {c.removeprefix("TSANOM_HSA_").lower() for c in causes})


if __name__ == "__main__":
    main()
