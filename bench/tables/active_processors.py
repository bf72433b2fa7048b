#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figures 3 and 4 of the periodicity paper: the number of active processors of a program
over time, and d(m) with its period. Records a program whose iterations of 44 ms use 16, 2,
12, 1, 16 and 4 threads, and prints a Markdown table; takes a minute.

    active_processors.py BUILD_DIR [--runs N] [--plot FILE.svg]

BUILD_DIR is one that `cmake --preset dev && cmake --build --preset dev` made.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

PROGRAM = pathlib.Path(__file__).parents[2] / "tests" / "tools" / "programs" / "levels.c"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5, help="of each row")
    parser.add_argument("--plot")
    chosen = parser.parse_args()
    command = chosen.build / "tools" / "tsanom" / "tsanom"
    print("| boundaries moved by up to | iterations | samples of 1 ms | period 44 found |")
    print("| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/levels"
        subprocess.run(["cc", "-O2", "-fopenmp", PROGRAM, "-o", program], check=True)
        for moved in 0, 1, 2:
            for iterations in 20, 40:
                right, samples = 0, 0
                for i in range(chosen.runs):
                    run = f"{folder}/run.{moved}.{iterations}.{i}"
                    subprocess.run([command, "record", "-o", run, "--", program,
                                    str(iterations), str(1000 * moved)],
                                   check=True, stdout=subprocess.DEVNULL)
                    plot = ["--plot", chosen.plot] if chosen.plot else []
                    found = json.loads(subprocess.check_output(
                        [command, "period", run, "--active", "--json", *plot]))
                    right += [p["period"] for p in found["periods"]] == [44]
                    samples = found["samples"]
                print(f"| {moved} ms | {iterations} | {samples} | {right} of {chosen.runs} |",
                      flush=True)


if __name__ == "__main__":
    main()
