#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_real_programs.py SOURCES BUILD: bench/tables/real_programs.py accepts its example, and
reports a number of iterations that is wrong and an output that differs."""
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCES, BUILD = map(pathlib.Path, sys.argv[1:])
TABLES = SOURCES / "bench" / "tables"
# The word is 16 random letters.
WRITES = 'tr -dc a-z < /dev/urandom | head -c 16; {build}/examples/workloads/bt --size tiny'


def table(path):
    """Exit status and rows."""
    done = subprocess.run([sys.executable, "-B", TABLES / "real_programs.py", BUILD, path, "--json",
                           "--runs", "1"], stdout=subprocess.PIPE, check=False)
    return done.returncode, json.loads(done.stdout)


def check(good, what):
    if not good:
        sys.exit(f"check_real_programs.py: {what}")


def main():
    status, rows = table(TABLES / "real_programs.toml")
    check(status == 0 and len(rows) == 3, rows)
    for row in rows:
        check(row["expected"] == [row["found"]] and row["output"] == "same", row)
        check(2 <= row["known after"] <= row["found"], row)
        for key in ("speedup", "latest", "printed", "plain", "again"):
            check((row[key] or 0) > 0 if row["program"] == "jacobi" else row[key] is None, row)
        check(row["steady"] in ("yes", "no", None), row)
    with tempfile.TemporaryDirectory() as folder:
        wrong = pathlib.Path(folder, "wrong.toml")
        wrong.write_text('[[program]]\nname = "bt"\niterations = 5\n'
                         'command = ["{build}/examples/workloads/bt", "--size", "tiny"]\n')
        status, rows = table(wrong)
        check(status == 1 and rows[0]["found"] == 4, rows)
        wrong.write_text(f'[[program]]\nname = "bt"\ncommand = ["sh", "-c", "{WRITES}"]\n')
        status, rows = table(wrong)
        check(status == 1 and rows[0]["output"] == "differs", rows)


main()
