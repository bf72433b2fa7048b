# SPDX-License-Identifier: BSD-3-Clause
"""Running the workloads of examples/workloads/, for the tables of the heartbeat paper."""
import argparse
import dataclasses
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

PROGRAMS = ("bt", "lu", "cg", "sp", "jacobi", "arraybench")

# A waiting thread sleeps: on a machine that others use, spinning takes the cores
# from threads that work.
ENVIRONMENT = dict(os.environ, OMP_WAIT_POLICY="passive", OMP_DYNAMIC="false")


@dataclasses.dataclass
class Run:
    cpu_seconds: float      # of the whole process, start and end included
    elapsed: float          # the same by the clock
    seconds: float          # of the work, by the clock
    beats_per_second: float  # of all threads together
    processor: float        # share of the time that a thread had a processor
    output: str


def number_after(text, pattern):
    found = re.search(pattern, text)
    return float(found[1]) if found else float("nan")


def run(build, program, *arguments, through=()):
    """One run, by a command that runs it or of itself; ends the script if its answer is
    wrong."""
    command = [*through, pathlib.Path(build) / "examples" / "workloads" / program,
               *map(str, arguments)]
    read, write = os.pipe()
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=write, stderr=subprocess.STDOUT, env=ENVIRONMENT)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child.pid, 0)
    elapsed = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(map(str, command))}: status {child.returncode}:\n{text}")
    return Run(usage.ru_utime + usage.ru_stime, elapsed, number_after(text, r": ([\d.]+) s,"),
               number_after(text, r"([\d.]+) beats/s"),
               number_after(text, r"processor (\d+) %") / 100, text)


def parser(description):
    """Of a script whose first argument is the directory of a build."""
    made = argparse.ArgumentParser(description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    return made


def machine():
    """One line that says what a table was measured on."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.partition(':')[2].strip()}, {os.cpu_count()} processors"
    return f"{os.cpu_count()} processors"


def print_table(head, rows):
    """Prints Markdown, each row as soon as it is there."""
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def median_interval(count, odds=20):
    """Rank k (from 0) such that the median lies outside the k-th smallest and the k-th
    largest of `count` with a probability of at most 1 / odds: a sign test."""
    tail, k = 0, 0
    while True:
        tail += math.comb(count, k)
        if 2 * odds * tail > 2 ** count:
            return max(k - 1, 0)
        k += 1


def median_and_interval(values):
    """Their median and the interval that contains the true one with 95 %."""
    ordered = sorted(values)
    k = median_interval(len(ordered))
    return statistics.median(ordered), ordered[k], ordered[-1 - k]
