#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_tables.py SOURCES BUILD: scripts/tables lists every item of docs/papers.md, finds the core and
the reducts of table 1 of the SPMD paper, and reports results that differ."""
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCES, BUILD = map(pathlib.Path, sys.argv[1:])
SAME = [["core", "{a1}", "{a1}"], ["reducts", "{a1, a2} or {a1, a3}", "{a1, a2} or {a1, a3}"]]


def tables(*arguments):
    done = subprocess.run([SOURCES / "scripts" / "tables", *arguments], text=True,
                          stdout=subprocess.PIPE, check=False)
    return done.returncode, done.stdout


def table1(build):
    """Exit status, verdict and rows."""
    status, text = tables("--build", build, "--only", "spmd-table1", "--json")
    (item,) = json.loads(text)["items"]
    return status, item["same"], item["tables"][0]["rows"]


def check(good, what):
    if not good:
        sys.exit(f"check_tables.py: {what}")


def main():
    page = (SOURCES / "docs" / "papers.md").read_text()
    status, listed = tables("--list")
    names = [line.split()[0] for line in listed.splitlines()]
    check(status == 0 and len(names) >= 16, f"--list: {listed}")
    for name in names:
        check(f"{{#papers_{name.replace('-', '_')}}}" in page, f"docs/papers.md lacks {name}")

    check(table1(BUILD) == (0, True, SAME), f"table 1: {table1(BUILD)}")
    status, text = tables("--build", BUILD, "--only", "spmd-table1")
    check(status == 0 and text.strip() in page, f"docs/papers.md differs from:\n{text}")

    with tempfile.TemporaryDirectory() as folder:
        wrong = pathlib.Path(folder, "tools", "tsanom", "tsanom")
        wrong.parent.mkdir(parents=True)
        wrong.write_text("""#!/bin/sh\necho '{"core": ["a2"], "reducts": [["a1", "a2"]]}'\n""")
        wrong.chmod(0o755)
        status, same, _ = table1(folder)
        check((status, same) == (1, False), "a core that differs is not reported")
        wrong.write_text("""#!/bin/sh
echo '{"core": ["a1"], "reducts": [["a1", "a2"], ["a1", "a3"]]}'
exit 1
""")
        status, text = tables("--build", folder, "--only", "spmd-table1", "--json")
        check(status and not text, "a program that fails is not reported")


main()
