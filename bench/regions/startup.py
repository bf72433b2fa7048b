#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time that `tsanom record` takes beyond a program that does next to nothing.

    startup.py BUILD_DIR [--pairs N] [--threads N] [--compiler CC]

One iteration of steady.c, two parallel regions, runs plain and recorded in turn, in an
order that alternates. The elapsed time is that from the start of the process to its end,
as a shell sees it. The processor time, user and system, is that of the process, of which
the command becomes the program. Each pair gives a difference: the table has the median
over the pairs, with the interval that holds the true median with 95 %.
Prints a Markdown table.
"""
import argparse
import datetime
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tables"))
import workloads  # noqa: E402


def run(command, environment, output):
    """Milliseconds of one run: elapsed, and of the processor."""
    actions = [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
    began = time.perf_counter()
    process = os.posix_spawn(command[0], command, environment, file_actions=actions)
    _, status, usage = os.wait4(process, 0)
    elapsed = time.perf_counter() - began
    if status != 0:
        sys.exit(f"{command}: status {status}")
    return 1000 * elapsed, 1000 * (usage.ru_utime + usage.ru_stime)


def measure(chosen, folder):
    """By pair: what the plain and the recorded run took."""
    program = f"{folder}/steady"
    subprocess.run([chosen.compiler, "-O2", "-fopenmp", "-o", program,
                    pathlib.Path(__file__).parent / "steady.c"], check=True)
    environment = dict(os.environ, OMP_NUM_THREADS=str(chosen.threads),
                       OMP_WAIT_POLICY="passive")
    plain = [program, "1"]
    pairs = []
    with open(os.devnull, "wb") as output:
        for number in range(chosen.pairs):
            record = [f"{chosen.build}/tools/tsanom/tsanom", "record", "-o",
                      f"{folder}/run{number}", "--", *plain]
            took = {}
            for recorded in ((True, False) if number % 2 else (False, True)):
                took[recorded] = run(record if recorded else plain, environment,
                                     output.fileno())
            pairs.append((took[False], took[True]))
    return pairs


def row(name, column, pairs):
    added, low, high = workloads.median_and_interval(
        recorded[column] - plain[column] for plain, recorded in pairs)
    print(f"| {name} | {statistics.median(plain[column] for plain, _ in pairs):.2f} | "
          f"{statistics.median(recorded[column] for _, recorded in pairs):.2f} | "
          f"{added:+.2f} | {low:+.2f} ... {high:+.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compiler", default="gcc")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pairs = measure(chosen, folder)
    print(f"{datetime.date.today()}, {workloads.machine()}; {chosen.compiler}, "
          f"{chosen.threads} threads, {chosen.pairs} pairs\n")
    print("| time | plain, ms | recorded, ms | added, ms | 95 % interval |")
    print("|---|---|---|---|---|")
    row("elapsed", 0, pairs)
    row("processor", 1, pairs)


if __name__ == "__main__":
    main()
