#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often `tsanom compare` reports a difference between runs of one program.

    change_runs.py BUILD [--runs DIRECTORY] [--count 200] [--draws 1000] [--seed 1]

Records a workload COUNT times, half of them beside a busy loop on one of its processors,
or takes the runs that DIRECTORY has. Then each draw compares 5 + 5 of these runs, which
all are of one program: at a nominal 1 %, at most 1.6 % may be reported. Ends with status 1
otherwise. BUILD is one by `cmake --preset dev`.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import workloads
from diagnosis_statistics import share


def record(build, folder, count):
    """Runs of jacobi, every other one beside a busy loop."""
    program = build / "examples/workloads/jacobi"
    hog = build / "examples/anomalies/cpu_hog"
    processor = min(os.sched_getaffinity(0))
    environment = dict(workloads.ENVIRONMENT, OMP_NUM_THREADS="2")
    for i in range(count):
        beside = None
        if i % 2:
            beside = subprocess.Popen([hog, f"--cpu={processor}", "--for=60"],
                                      stdout=subprocess.DEVNULL)
        subprocess.run([build / "tools/tsanom/tsanom", "record", "-o", folder / str(i), "--",
                        program], env=environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        if beside:
            beside.terminate()
            beside.wait()


def compare(build, first, second):
    """The row of the mean iteration."""
    printed = subprocess.run(
        [build / "tools/tsanom/tsanom", "compare", "--json", *first, "--against", *second],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return json.loads(printed)["changes"][0]


def main():
    parser = workloads.parser(__doc__)
    parser.add_argument("--runs", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.runs or pathlib.Path(scratch)
        if not given.runs:
            record(given.build, folder, given.count)
        runs = sorted(path for path in folder.iterdir() if (path / "heartbeat.run").exists())
        draw = random.Random(given.seed)
        different = inside = 0
        for _ in range(given.draws):
            chosen = draw.sample(runs, 10)
            row = compare(given.build, chosen[:5], chosen[5:])
            different += row["changed"]
            inside += row["low"] <= 1 <= row["high"]
    print(f"{len(runs)} runs of one program, {given.draws} comparisons of 5 + 5")
    print(f"different: {share(different, given.draws)}, at most 1.6 %")
    print(f"the interval contains 1: {share(inside, given.draws)}")
    return int(different > 0.016 * given.draws)


if __name__ == "__main__":
    sys.exit(main())
