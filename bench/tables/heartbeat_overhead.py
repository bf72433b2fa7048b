#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Overhead of heartbeats, equation 14 of the heartbeat paper: (E_a - E_b) / E_b with
E_a the processor time of a workload that beats and E_b of one that does not.

    heartbeat_overhead.py BUILD_DIR [--pairs N] [--threads N] [--size NAME] [--sweep]

Runs with and without heartbeats take turns, so that what the machine does
meanwhile meets both. The overhead is the median over the pairs; its interval is
that between order statistics which holds the true median with 95 %, whatever the
noise. --sweep also changes the cycle of sp, for the overhead against the rate.
Prints Markdown tables.
"""
import argparse
import datetime
import math
import sys
import tempfile

import workloads

PAPER = "under 2.5 %"
SWEEP_CYCLES = (100_000, 10_000, 1000, 300, 100)


def median_interval(count, level=0.95):
    """Rank k (from 0) such that the median lies between the k-th smallest and the
    k-th largest of `count` with at least that probability: a sign test."""
    tail, k = 0.0, 0
    while True:
        tail += math.comb(count, k) / 2 ** count
        if 2 * tail > 1 - level:
            return max(k - 1, 0)
        k += 1


def pair(build, program, folder, number, arguments):
    """Processor times with and without heartbeats, in an order that alternates, and
    the rate."""
    times = {}
    rate = math.nan
    for beating in ((True, False) if number % 2 else (False, True)):
        how = ("--record", f"{folder}/{number}") if beating else ("--no-heartbeat",)
        run = workloads.run(build, program, *arguments, "--seed", 1, *how)
        times[beating] = run.cpu_seconds
        if beating:
            rate = run.beats_per_second
    return times[True] / times[False] - 1, rate


def row(chosen, program, cycle=None):
    arguments = ["--threads", chosen.threads, "--size", chosen.size]
    if cycle:
        arguments += ["--cycle", cycle]
    overheads, rates = [], []
    for number in range(chosen.pairs):
        print(f"\r{program} {cycle or ''}: pair {number + 1} of {chosen.pairs} ", end="",
              file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            overhead, rate = pair(chosen.build, program, folder, number, arguments)
        overheads.append(overhead)
        rates.append(rate)
    print("\r\033[K", end="", file=sys.stderr)
    overheads.sort()
    rates.sort()
    k = median_interval(chosen.pairs)
    middle = chosen.pairs // 2
    print(f"| {program} | {cycle or 'as in Table 1'} | {rates[middle]:.0f} | {PAPER} | "
          f"{100 * overheads[middle]:.2f} % | {100 * overheads[k]:.2f} ... "
          f"{100 * overheads[-1 - k]:.2f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--pairs", type=int, default=21)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--size", default="short")
    parser.add_argument("--sweep", action="store_true")
    chosen = parser.parse_args()
    print(f"{datetime.date.today()}, {workloads.machine()}; {chosen.threads} threads, size "
          f"{chosen.size}, {chosen.pairs} pairs\n")
    print("| benchmark | iterations per beat | beats/s | paper | overhead | 95 % interval |")
    print("|---|---|---|---|---|---|")
    for program in workloads.PROGRAMS:
        row(chosen, program)
    if chosen.sweep:
        for cycle in SWEEP_CYCLES:
            row(chosen, "sp", cycle)


if __name__ == "__main__":
    main()
