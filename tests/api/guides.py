#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""guides.py SOURCES: checks that every guide of the manual has the same sections, in one order, and
is in the sidebar."""

import re
import sys
from pathlib import Path

SECTIONS = ["Example", "Mathematics", "Options by use", "Pitfalls", "Performance", "Limits",
            "References"]


def main():
    docs = Path(sys.argv[1]) / "docs"
    sidebar = (docs / "layout.xml").read_text()
    problems, guides = [], 0
    for path in sorted(docs.glob("*.md")):
        text = path.read_text()
        label = re.search(r"^# .*\{#(guide_\w+)\}", text)
        if not label:
            continue
        guides += 1
        found = re.findall(r"^## (.*?)(?: \{#\w+\})?$", text, re.M)
        if found != SECTIONS:
            problems.append(f"{path.name}: sections are {', '.join(found)}")
        if f'"@ref {label[1]}"' not in sidebar:
            problems.append(f"{path.name}: not in the sidebar of layout.xml")
    print("\n".join(problems))
    print(f"{guides} guides, {len(problems)} problems")
    return 1 if problems or not guides else 0


if __name__ == "__main__":
    sys.exit(main())
