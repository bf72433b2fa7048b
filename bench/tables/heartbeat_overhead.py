#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Overhead of heartbeats, equation 14 of the heartbeat paper: (E_a - E_b) / E_b with
E_a the processor time of a workload that beats and E_b of one that does not.

    heartbeat_overhead.py BUILD_DIR [--programs NAME ...] [--runs N] [--threads N]
                          [--size NAME] [--block MS] [--sweep [CYCLE ...]]

Two runs differ by more than heartbeats cost: in where memory lies, in the clock
frequency, in who else is about. So blocks of some milliseconds with and without
heartbeats take turns within one run, in an order drawn for each pair, by the
workloads' --alternate. A pair's E_a and E_b are the processor times of all threads
in its two blocks. `beats` is the median over the pairs of all runs; its interval is
that between order statistics which holds the true median with 95 %, whatever the
noise. `helper` is the processor time of the recorder's helper thread over that of the
blocks that beat, `computed` the rate times what bench_heartbeat finds a beat to cost.
--sweep changes the cycle of sp instead, for the overhead against the rate.
Prints Markdown tables.
"""
import json
import re
import statistics
import subprocess
import sys
import tempfile

import workloads

PAPER = "under 2.5 %"
SWEEP_CYCLES = (100_000, 10_000, 1000, 300, 100)


def beat_cost(build):
    """Nanoseconds of a beat."""
    text = subprocess.run([build / "bench" / "bench_heartbeat", "--benchmark_format=json",
                           "--benchmark_filter=^beat/clock:1/threads:1/"],
                          check=True, text=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)["benchmarks"][0]["real_time"]


def block_pairs(output):
    """(beating, silent) of each pair, in seconds of all threads together."""
    threads = {}
    for thread, beating, silent in re.findall(
            r"thread (\d+) block pair: beating ([\d.]+) s, silent ([\d.]+) s", output):
        threads.setdefault(thread, []).append((float(beating), float(silent)))
    return [tuple(map(sum, zip(*pair))) for pair in zip(*threads.values())]


def measure(chosen, program, arguments):
    """Pairs of blocks and seconds of the helper in all runs, and the rate."""
    arguments = ["--threads", chosen.threads, *arguments]
    trial = workloads.run(chosen.build, program, *arguments, "--size", "short")
    block = max(1, round(trial.beats_per_second / chosen.threads * chosen.block / 1000))
    arguments += ["--size", chosen.size]
    pairs, helper, rates = [], 0.0, []
    for number in range(chosen.runs):
        print(f"\r{program}: run {number + 1} of {chosen.runs} ", end="", file=sys.stderr,
              flush=True)
        with tempfile.TemporaryDirectory() as folder:
            run = workloads.run(chosen.build, program, *arguments, "--seed", number,
                                "--record", f"{folder}/run", "--alternate", block)
        pairs += block_pairs(run.output)
        helper += workloads.number_after(run.output, r"helper ([-\d.]+) s")
        rates.append(run.beats_per_second)
    print("\r\033[K", end="", file=sys.stderr)
    return pairs, helper, statistics.median(rates)


def row(chosen, program, cost, cycle=None):
    pairs, helper, rate = measure(chosen, program, ["--cycle", cycle] if cycle else [])
    overheads = sorted(beating / silent - 1 for beating, silent in pairs)
    k = workloads.median_interval(len(overheads))
    computed = rate / chosen.threads * cost * 1e-9
    print(f"| {program} | {cycle or 'as in Table 1'} | {rate:.0f} | {PAPER} | "
          f"{100 * statistics.median(overheads):.2f} % | "
          f"{100 * overheads[k]:.2f} ... {100 * overheads[-1 - k]:.2f} % | "
          f"{100 * helper / sum(beating for beating, _ in pairs):.2f} % | "
          f"{100 * computed:.2f} % | {len(pairs)} |", flush=True)


def main():
    parser = workloads.parser(__doc__, size="medium")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--block", type=float, default=5, help="milliseconds")
    parser.add_argument("--sweep", nargs="*", type=int)
    chosen = parser.parse_args()
    cost = beat_cost(chosen.build)
    workloads.print_header(chosen, f", blocks of {chosen.block:g} ms; a beat costs "
                           f"{cost:.1f} ns", "benchmark", "iterations per beat", "beats/s",
                           "paper", "beats", "95 % interval", "helper", "computed", "pairs")
    if chosen.sweep is not None:
        for cycle in chosen.sweep or SWEEP_CYCLES:
            row(chosen, "sp", cost, cycle)
        return
    for program in chosen.programs:
        row(chosen, program, cost)


if __name__ == "__main__":
    main()
