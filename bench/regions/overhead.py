#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processor time (user and system, all processes) that recording adds to the workloads.

    overhead.py BUILD_DIR FILE [--pairs N] [--size NAME] [--threads N] [WORKLOAD...]

Plain and recorded runs take turns, in an order that alternates. Each pair is appended to
FILE, so that a long measurement can be made in pieces; then the pairs of that size that
FILE has are tabulated: the medians, what is added by the median over the pairs, with the
interval that holds the true median with 95 %, and a bound that is computed: what the
events that there were take by the cost of a region (region_cost.sh). What it takes to
start recording is in what is added; size tiny shows little else. --pairs 0 only prints.
Prints a Markdown table.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tables"))
import workloads  # noqa: E402

# Seconds of an event, of all threads of a team of two: the most of region_cost.sh, twice.
EVENT_SECONDS = 2 * 163e-9

# Pairs that an interval of 95 % takes.
LEAST = 6


def measure(chosen, name, number):
    """One pair, as a line of FILE."""
    arguments = ["--threads", chosen.threads, "--size", chosen.size, "--seed", 1]
    command = f"{chosen.build}/tools/tsanom/tsanom"
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        record = [command, "record", "-o", f"{folder}/run", "--"]
        for recorded in ((True, False) if number % 2 else (False, True)):
            seconds[recorded] = workloads.run(chosen.build, name, *arguments,
                                              through=record if recorded else []).cpu_seconds
        told = subprocess.run([command, "speedup", f"{folder}/run", "--json"], check=True,
                              stdout=subprocess.PIPE).stdout
    return f"{name} {chosen.size} {seconds[False]:.4f} {seconds[True]:.4f} " \
           f"{json.loads(told)['events']}\n"


def read_pairs(path, size):
    """By workload: plain seconds, recorded seconds and events of each pair."""
    pairs = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, of_size, plain, recorded, events = line.split()
        if of_size == size:
            pairs.setdefault(name, []).append((float(plain), float(recorded), int(events)))
    return pairs


def row(name, pairs):
    plain, recorded, events = (statistics.median(column) for column in zip(*pairs))
    added, low, high = workloads.median_and_interval(
        100 * (with_it / without - 1) for without, with_it, _ in pairs)
    interval = f"{low:+.2f} ... {high:+.2f}" if len(pairs) >= LEAST else "-"
    print(f"| `{name}` | {events:.0f} | {plain:.3f} | {recorded:.3f} | {len(pairs)} | "
          f"{added:+.2f} | {interval} | "
          f"{100 * events * EVENT_SECONDS / plain:.3f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("file")
    parser.add_argument("workload", nargs="*", default=list(workloads.PROGRAMS))
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--size", default="small")
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_intermixed_args()
    for number in range(chosen.pairs):
        for name in chosen.workload:
            line = measure(chosen, name, number)
            with open(chosen.file, "a", encoding="utf-8") as file:
                file.write(line)
    print(f"{datetime.date.today()}, {workloads.machine()}; {chosen.threads} threads, size "
          f"{chosen.size}\n")
    print("| workload | events | plain, s | recorded, s | pairs | added, % | 95 % interval "
          "| bound, % |")
    print("|---|---|---|---|---|---|---|---|")
    for name, pairs in read_pairs(chosen.file, chosen.size).items():
        row(name, pairs)


if __name__ == "__main__":
    main()
