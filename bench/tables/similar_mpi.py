#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether `tsanom similar` names the rank that has more work, and nobody in balanced programs.

    similar_mpi.py BUILD [--rounds 20] [--ranks 2] [--mpi openmpi mpich] [--check]

Each round records, by `tsanom record` without options, imbalance_mpi.c in each of its kinds,
balanced and with a rank that has more work; the order is random. Prints a Markdown table with
Wilson intervals of 95 %. --check ends with 1 if fewer than 18 of 20 runs of a row are right, or
more than 1 of 60 balanced ones are not. BUILD is one that `cmake --preset dev && cmake --build
--preset dev` made.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import workloads
from diagnosis_statistics import wilson

SOURCE = pathlib.Path(__file__).with_name("imbalance_mpi.c")
# Kind, percent of additional work of the last rank, iterations of about a millisecond.
PROGRAMS = (("barrier", 0, 400), ("oddeven", 0, 400), ("startup", 0, 400),
            ("barrier", 20, 400), ("startup", 20, 400), ("oddeven", 20, 400),
            ("polling", 100, 300), ("pipeline", 50, 300))
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1")


def named(chosen, program, mpi, arguments, run):
    """The ranks that take longer than the others, as `similar` says."""
    tsanom = chosen.build / "tools" / "tsanom" / "tsanom"
    subprocess.run([f"mpirun.{mpi}", "-n", str(chosen.ranks), tsanom, "record", "-o", run, "--",
                    program, *map(str, arguments)], check=True, env=ENVIRONMENT,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ranks = sorted(run.parent.glob(run.name + "*"))
    answer = subprocess.run([tsanom, "similar", "--json", *ranks], check=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    facts = json.loads(answer.stdout)
    kinds, slowest = facts["clusters"], facts["verdict"]["cluster"]
    if len(kinds) == 1:
        return []
    return kinds[slowest] if slowest is not None else sum(kinds, [])


def is_right(chosen, percent, ranks):
    expected = [chosen.ranks - 1] if percent else []
    return [int(rank) for rank in ranks] == expected


def measure(chosen, folder):
    """Right answers by MPI, kind and percent."""
    right = {}
    for mpi in chosen.mpi:
        subprocess.run([f"mpicc.{mpi}", "-O2", "-g", SOURCE, "-o", folder / mpi], check=True)
    jobs = [(mpi, program, i) for mpi in chosen.mpi for program in PROGRAMS
            for i in range(chosen.rounds)]
    random.shuffle(jobs)
    for done, (mpi, program, i) in enumerate(jobs):
        print(f"\rrun {done + 1} of {len(jobs)}", end="", file=sys.stderr, flush=True)
        run = folder / "-".join(map(str, (mpi, *program, f"{i:04}")))
        ranks = named(chosen, folder / mpi, mpi, program, run)
        right.setdefault((mpi, *program[:2]), []).append(is_right(chosen, program[1], ranks))
    print(file=sys.stderr)
    return right


def print_row(name, part, whole):
    low, high = wilson(part, whole)
    print(f"| {name} | {part} of {whole} | {100 * part / whole:.1f} | "
          f"{100 * low:.1f} – {100 * high:.1f} |", flush=True)


def main():
    parser = workloads.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--mpi", nargs="+", default=["openmpi", "mpich"])
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        right = measure(chosen, pathlib.Path(folder))
    print(f"{workloads.machine()}, {chosen.ranks} ranks, load {os.getloadavg()[0]:.1f} at the end\n")
    print("| program | right | % | interval, % |\n|---|---|---|---|")
    failed, balanced = False, []
    for (mpi, kind, percent), of in sorted(right.items()):
        print_row(f"{mpi}, {kind}, {percent} %", sum(of), len(of))
        if percent:
            failed |= sum(of) < 0.9 * len(of)
        else:
            balanced += of
    print_row("all balanced", sum(balanced), len(balanced))
    failed |= len(balanced) - sum(balanced) > max(1, len(balanced) / 60)
    sys.exit(1 if chosen.check and failed else 0)


if __name__ == "__main__":
    main()
