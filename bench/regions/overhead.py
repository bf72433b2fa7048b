#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time that recording adds to the workloads: of the processor (user and system, all processes), and
elapsed.

    overhead.py BUILD_DIR FILE [--pairs N] [--size NAME] [--threads N] [WORKLOAD...]

Plain and recorded runs take turns, in an order that alternates. Each pair is appended to
FILE, so that a long measurement can be made in pieces; then the pairs of that size that
FILE has are tabulated: the medians, what is added by the median over the pairs, with the
interval that holds the true median with 95 %, and a bound that is computed: what the
events that there were take by the cost of a region (region_cost.sh). What it takes to
start recording is in what is added; size tiny shows little else. --pairs 0 only prints.
Prints a Markdown table.
"""
import datetime
import json
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


HEAD = ("workload", "events", "plain, s", "recorded, s", "pairs", "added, %", "95 % interval", "bound, %",
        "added, ms", "95 % interval", "added, ms elapsed", "95 % interval")


def measure(chosen, name, number):
    """One pair, as a line of FILE."""
    arguments = ["--threads", chosen.threads, "--size", chosen.size, "--seed", 1]
    command = chosen.build / "tools" / "tsanom" / "tsanom"
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        record = [command, "record", "-o", f"{folder}/run", "--"]
        for recorded in ((True, False) if number % 2 else (False, True)):
            runs[recorded] = workloads.run(chosen.build, name, *arguments,
                                           through=record if recorded else [])
        told = subprocess.run([command, "speedup", f"{folder}/run", "--json"], check=True,
                              stdout=subprocess.PIPE).stdout
    times = (f"{time:.6f}" for recorded in (False, True)
             for time in (runs[recorded].cpu_seconds, runs[recorded].elapsed))
    return " ".join((name, chosen.size, str(json.loads(told)["events"]), *times)) + "\n"


def read_pairs(path, size):
    """By workload: the events of each pair, and the times of both runs, of the processor and elapsed."""
    pairs = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, of_size, *numbers = line.split()
        if of_size == size:
            pairs.setdefault(name, []).append(tuple(map(float, numbers)))
    return pairs


def added(differences, count):
    """Their median, and its interval if there are enough pairs."""
    middle, low, high = workloads.median_and_interval(differences)
    return f"{middle:+.2f}", f"{low:+.2f} ... {high:+.2f}" if count >= LEAST else "-"


def row(name, pairs):
    events, plain, _, recorded, _ = (statistics.median(column) for column in zip(*pairs))
    count = len(pairs)
    return (f"`{name}`", f"{events:.0f}", f"{plain:.3f}", f"{recorded:.3f}", count,
            *added((100 * (b / a - 1) for _, a, _, b, _ in pairs), count),
            f"{100 * events * EVENT_SECONDS / plain:.3f}",
            *added((1000 * (b - a) for _, a, _, b, _ in pairs), count),
            *added((1000 * (b - a) for _, _, a, _, b in pairs), count))


def main():
    parser = workloads.parser(__doc__)
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
    workloads.print_table(HEAD, (row(name, pairs)
                                 for name, pairs in read_pairs(chosen.file, chosen.size).items()))


if __name__ == "__main__":
    main()
