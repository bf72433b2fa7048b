#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often `tsanom similar` reports several kinds of threads in recorded programs.

    similar_rates.py BUILD [--rounds 20] [--threads 4] [--loaded] [--options --automatic]

Each round records, by `tsanom record --cpu-time`, balanced programs: four workloads and
imbalance.c with 8 and with 3 regions; cg, in which some threads take 6 % longer; and
imbalance.c with a thread that has 2, 5, 10, 20 and 50 % of the program's work more than
the others. 20 rounds are 120 balanced runs. Several kinds in a balanced program are a
false alarm. --loaded keeps every processor busy meanwhile.
--options are passed on to `tsanom similar`. Prints a Markdown table with Wilson intervals
of 95 %. BUILD is one that `cmake --preset bench && cmake --build --preset bench` made.
"""
import argparse
import contextlib
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import workloads

# Thread 0 of arraybench differs: it does not copy what others copy from it.
TITLES = {name: f"{name}, balanced" for name in workloads.PROGRAMS if name != "arraybench"}
# In 56 of 60 recordings threads 1 and 2 of 4 took longer than both others, 5.7 % in the
# median, which is about the tolerance.
TITLES["cg"] = "cg, 6 %"
IMBALANCES = (2, 5, 10, 20, 50)
REGIONS = ("8", "3")
numbers = itertools.count()  # names of runs
SOURCE = pathlib.Path(__file__).with_name("imbalance.c")


# Ends with its parent, however that ends.
BUSY = """import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1000000):
        pass
"""


@contextlib.contextmanager
def another_process():
    """Keeps a processor busy while the context lasts."""
    with subprocess.Popen([sys.executable, "-c", BUSY]) as process:
        try:
            yield
        finally:
            process.kill()


def wilson(part, whole, deviations=1.96):
    """Interval of a probability, in percent."""
    share, square = part / whole, deviations ** 2
    center = share + square / (2 * whole)
    spread = deviations * math.sqrt(share * (1 - share) / whole + square / (4 * whole ** 2))
    ends = [center - spread, center + spread]
    return [max(0, 100 * end / (1 + square / whole)) for end in ends]


def kinds(chosen, folder, program):
    """Kinds of threads in a run of the program."""
    run = folder / str(next(numbers))
    tsanom = chosen.build / "tools" / "tsanom" / "tsanom"
    environment = dict(workloads.ENVIRONMENT, OMP_NUM_THREADS=str(chosen.threads))
    subprocess.run([tsanom, "record", "--cpu-time", "-o", run, "--", *program],
                   check=True, env=environment, stdout=subprocess.DEVNULL)
    answer = subprocess.run([tsanom, "similar", "--json", *chosen.options, run], check=True,
                            stdout=subprocess.PIPE)
    return len(json.loads(answer.stdout)["clusters"])


def programs(chosen, imbalance):
    """What is recorded: name, expected answer, command."""
    for name, title in TITLES.items():
        command = [chosen.build / "examples" / "workloads" / name, "--size", "short",
                   "--threads", str(chosen.threads)]
        yield title, command
    for regions in REGIONS:
        yield f"{regions} regions, balanced", [imbalance, "0", regions]
        for percent in IMBALANCES:
            yield f"{regions} regions, {percent} %", [imbalance, str(percent), regions]


def print_row(name, part, whole):
    low, high = wilson(part, whole)
    print(f"| {name} | {part} of {whole} | {100 * part / whole:.1f} | "
          f"{low:.1f} – {high:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--loaded", action="store_true")
    parser.add_argument("--options", nargs=argparse.REMAINDER, default=[])
    chosen = parser.parse_args()
    several = {}
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as load:
        folder = pathlib.Path(name)
        imbalance = folder / "imbalance"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-g", "-fopenmp", SOURCE, "-o",
                        imbalance, "-lm"], check=True)
        for _ in range(os.cpu_count() * chosen.loaded):
            load.enter_context(another_process())
        for number in range(chosen.rounds):
            print(f"\rround {number + 1} of {chosen.rounds}", end="", file=sys.stderr, flush=True)
            for title, command in programs(chosen, imbalance):
                several.setdefault(title, []).append(kinds(chosen, folder, command) > 1)
    print(file=sys.stderr)
    print(f"{workloads.machine()}, {chosen.threads} threads, "
          f"load {os.getloadavg()[0]:.1f} at the end\n")
    print("| program | several kinds | % | interval, % |\n|---|---|---|---|")
    balanced = [found for title, of in several.items() if "balanced" in title for found in of]
    print_row("all balanced", sum(balanced), len(balanced))
    for title, found in several.items():
        print_row(title, sum(found), len(found))


if __name__ == "__main__":
    main()
