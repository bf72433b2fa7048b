#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Overhead of heartbeats, equation 14 of the heartbeat paper: (E_a - E_b) / E_b with
E_a the processor time of a workload that beats and E_b of one that does not.

    heartbeat_overhead.py BUILD_DIR [--programs NAME ...] [--runs N] [--threads N]
                          [--size NAME] [--block MS] [--sweep [CYCLE ...]]

Two runs differ by more than heartbeats cost: in where memory lies, in the clock
frequency, in who else is about. So blocks of less than a millisecond with heartbeats,
without, and with the bare reading of the clock that a beat contains, take turns within
one run, in an order drawn for each round, by the workloads' --alternate. A round's E_a
and E_b are the processor times of all threads in its two blocks. `beats` and `clock` are
medians over the rounds of all runs; the interval is that between order statistics which
holds the true median of `beats` with 95 %, whatever the noise. `ns` is the same by beat.
`helper` is the processor time of the recorder's helper thread over that of the blocks
that beat.
--sweep changes the cycle of sp instead, for the overhead against the rate.
Prints Markdown tables.
"""
import datetime
import re
import statistics
import sys
import tempfile

import workloads

HEAD = ("benchmark", "iterations per beat", "beats/s", "paper", "beats", "95 % interval", "clock", "ns",
        "helper", "rounds")
PAPER = "under 2.5 %"
SWEEP_CYCLES = (100_000, 10_000, 1000, 300, 100)


def rounds_of(output):
    """(beating, reading, silent) of each round, in seconds of all threads together."""
    threads = {}
    for thread, *seconds in re.findall(
            r"thread (\d+) round: beating ([\d.]+) s, reading ([\d.]+) s, silent ([\d.]+) s",
            output):
        threads.setdefault(thread, []).append(tuple(map(float, seconds)))
    return [tuple(map(sum, zip(*parts))) for parts in zip(*threads.values())]


def measure(chosen, program, arguments):
    """Rounds of blocks, beats of a block, seconds of the helper in all runs, the rate."""
    arguments = ["--threads", chosen.threads, *arguments]
    trial = workloads.run(chosen.build, program, *arguments, "--size", "short")
    block = max(1, round(trial.beats_per_second / chosen.threads * chosen.block / 1000))
    arguments += ["--size", chosen.size]
    rounds, helper, rates = [], 0.0, []
    for number in range(chosen.runs):
        print(f"\r{program}: run {number + 1} of {chosen.runs} ", end="", file=sys.stderr,
              flush=True)
        with tempfile.TemporaryDirectory() as folder:
            run = workloads.run(chosen.build, program, *arguments, "--seed", number,
                                "--record", f"{folder}/run", "--alternate", block)
        rounds += rounds_of(run.output)
        helper += workloads.number_after(run.output, r"helper ([-\d.]+) s")
        rates.append(run.beats_per_second)
    print("\r\033[K", end="", file=sys.stderr)
    return rounds, block, helper, statistics.median(rates)


def row(chosen, program, cycle=None):
    rounds, block, helper, rate = measure(chosen, program, ["--cycle", cycle] if cycle else [])
    beats, low, high = workloads.median_and_interval(
        beating / silent - 1 for beating, _, silent in rounds)
    clock = statistics.median(reading / silent - 1 for _, reading, silent in rounds)
    nanoseconds = (1e9 * statistics.median(silent for _, _, silent in rounds) /
                   (block * chosen.threads))
    helper /= sum(beating for beating, _, _ in rounds)
    return [program, cycle or "as in Table 1", f"{rate:.0f}", PAPER, f"{100 * beats:.2f} %",
            f"{100 * low:.2f} ... {100 * high:.2f} %", f"{100 * clock:.2f} %",
            f"{beats * nanoseconds:.0f} / {clock * nanoseconds:.0f}", f"{100 * helper:.2f} %",
            len(rounds)]


def read_options(arguments=None):
    parser = workloads.parser(__doc__)
    parser.add_argument("--programs", nargs="+", choices=workloads.PROGRAMS, default=workloads.PROGRAMS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--size", default="medium")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--block", type=float, default=0.5, help="milliseconds")
    parser.add_argument("--sweep", nargs="*", type=int)
    chosen = parser.parse_args(arguments)
    chosen.caption = (f"{datetime.date.today()}, {workloads.machine()}; {chosen.threads} threads, size "
                      f"{chosen.size}, blocks of {chosen.block:g} ms")
    return chosen


def rows(chosen):
    if chosen.sweep is None:
        return (row(chosen, program) for program in chosen.programs)
    return (row(chosen, "sp", cycle) for cycle in chosen.sweep or SWEEP_CYCLES)


def main():
    chosen = read_options()
    print(chosen.caption + "\n")
    workloads.print_table(HEAD, rows(chosen))


if __name__ == "__main__":
    main()
