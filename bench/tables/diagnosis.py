#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often heartbeat diagnosis is right: sections 4.2 and 4.3 of the paper.

    diagnosis.py record DATA BUILD [--rounds 20] [--size NAME] [--loaded] [--strengths]
    diagnosis.py score  DATA BUILD [--train OTHER_DATA] [--rule pace|completion|paper]
                        [--coverage P] [--repeats 3]

record makes DATA/PROGRAM/KIND/NUMBER: in each round of each workload a normal run, a
leaking one, and one that is shut down (by turns a killed process and a stopped
thread); 20 rounds are 60 runs a workload. --loaded keeps another process busy
meanwhile; --strengths adds leaks of 1 GiB down to 16 MiB.

score takes 30 % of the runs of each status of a workload at random as training, learns
from the normal ones among these, diagnoses the others, and does so --repeats times.
--train takes the training runs from another data set, of another problem size or
load. Prints Markdown tables. BUILD is one that `cmake --preset bench && cmake --build --preset
bench` made.
"""
import argparse
import collections
import contextlib
import datetime
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import workloads

STATUSES = ("normal", "memory_leak", "shutdown")
STATUS_OF = {"normal": "normal", "leak": "memory_leak", "killed": "shutdown",
             "stopped": "shutdown"}
STRENGTHS = ("1G", "512M", "256M", "128M", "64M", "32M", "16M")
THREADS = 2
TRAINING = 0.3


# Recording

def arguments_of(kind):
    """Options of a workload that make a run of that kind, and its exit status."""
    name, _, strength = kind.partition("-")
    if name == "normal":
        return [], workloads.VERIFIED
    if name == "leak":
        cap = ["--leak-cap", strength] if strength else []
        return ["--anomaly", "leak", *cap], workloads.VERIFIED
    if name == "killed":
        return ["--anomaly", "shutdown"], workloads.KILLED
    return ["--anomaly", "thread-shutdown"], workloads.VOID


def record_one(chosen, program, kind, number):
    folder = chosen.data / program / kind / str(number)
    if folder.exists():
        return  # an interrupted recording goes on
    folder.parent.mkdir(parents=True, exist_ok=True)
    arguments, status = arguments_of(kind)
    part = folder.with_suffix(".part")
    subprocess.run(["rm", "-rf", part], check=True)
    workloads.run(chosen.build, program, "--size", chosen.size, "--threads", THREADS,
                  "--seed", 1000 + number, "--record", part, *arguments, expected=status)
    part.rename(folder)


@contextlib.contextmanager
def another_process(wanted):
    """A core less for us, while it lasts."""
    process = subprocess.Popen(["sh", "-c", "while :; do :; done"]) if wanted else None
    try:
        yield
    finally:
        if process:
            process.kill()
            process.wait()


def record(chosen):
    strengths = [f"leak-{s}" for s in STRENGTHS] if chosen.strengths else []
    with another_process(chosen.loaded):
        for number in range(chosen.rounds):
            for program in chosen.programs:
                print(f"\rround {number + 1} of {chosen.rounds}: {program:<12}", end="",
                      file=sys.stderr, flush=True)
                ended = "killed" if number % 2 else "stopped"
                for kind in ["normal", "leak", ended] + strengths * (number < 10):
                    record_one(chosen, program, kind, number)
    print(file=sys.stderr)


# Scoring

def runs_of(data, program):
    """Folders of the runs by kind."""
    kinds = collections.defaultdict(list)
    for folder in sorted((data / program).glob("*/*")):
        kinds[folder.parent.name].append(folder)
    return kinds


def tsanom(build, *arguments):
    command = [build / "tools" / "tsanom" / "tsanom", *arguments]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def split(kinds, generator):
    """Training and testing runs, the same share of each status."""
    training, testing = [], []
    for status in STATUSES:
        runs = [run for kind, of in STATUS_OF.items() if of == status for run in kinds[kind]]
        generator.shuffle(runs)
        count = round(TRAINING * len(runs))
        training += runs[:count]
        testing += runs[count:]
    return training, testing


def found_in(build, model, runs):
    """(expected, found) of each run."""
    answer = json.loads(tsanom(build, "diagnose", "-m", model, "--json", *runs))
    return [(STATUS_OF[run.parent.name.partition("-")[0]], verdict["status"])
            for run, verdict in zip(runs, answer["runs"])]


def f_scores(pairs):
    """F-score of each status that occurs or was found, in the order of STATUSES."""
    scores = []
    for status in STATUSES:
        right = sum(e == f == status for e, f in pairs)
        named = sum((e == status) + (f == status) for e, f in pairs)
        scores.append(2 * right / named if named else 1.0)
    return scores


def mean(values):
    return sum(values) / len(values)


def learn(chosen, model, runs):
    coverage = ["--coverage", chosen.coverage] if chosen.coverage else []
    tsanom(chosen.build, "learn", "--rule", chosen.rule, *coverage, "-o", model, *runs)


def repeats(chosen, program):
    """For each repeat: the diagnosed pairs, and by strength of leak the pairs in which
    leaks of that strength stand for the leaks."""
    for repeat in range(chosen.repeats):
        generator = random.Random(f"{program} {repeat}")
        own = runs_of(chosen.data, program)
        training, testing = split(own, generator)
        if chosen.train:
            training, _ = split(runs_of(chosen.train, program), generator)
        normal = [run for run in training if run.parent.name == "normal"]
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model.json"
            learn(chosen, model, normal)
            pairs = found_in(chosen.build, model, testing)
            others = [p for p in pairs if p[0] != "memory_leak"]
            yield pairs, {s: others + found_in(chosen.build, model, own[f"leak-{s}"])
                          for s in STRENGTHS if own[f"leak-{s}"]}


def score(chosen):
    print(f"{datetime.date.today()}, {workloads.machine()}\n")
    print("| workload | normal | memory leak | shutdown | macro F | least of the repeats |")
    print("|---|---|---|---|---|---|", flush=True)
    by_strength = {}
    for program in chosen.programs:
        results = list(repeats(chosen, program))
        scores = [f_scores(pairs) for pairs, _ in results]
        each = " | ".join(f"{mean(column):.3f}" for column in zip(*scores))
        print(f"| {program} | {each} | {mean([mean(s) for s in scores]):.3f} | "
              f"{min(mean(s) for s in scores):.3f} |", flush=True)
        by_strength[program] = {s: mean([mean(f_scores(r[1][s])) for r in results])
                                for s in results[0][1]}
    strengths = [s for s in STRENGTHS if any(s in row for row in by_strength.values())]
    if not strengths:
        return
    print("\nMacro F with leaks of a total of\n")
    print("| workload | " + " | ".join(f"{s}iB" for s in strengths) + " |")
    print("|---" * (1 + len(strengths)) + "|")
    for program, row in by_strength.items():
        print(f"| {program} | " + " | ".join(f"{row[s]:.3f}" for s in strengths) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("record", "score"))
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--programs", nargs="+", default=workloads.PROGRAMS)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--size", default="short")
    parser.add_argument("--loaded", action="store_true")
    parser.add_argument("--strengths", action="store_true")
    parser.add_argument("--train", type=pathlib.Path)
    parser.add_argument("--rule", default="pace")
    parser.add_argument("--coverage", help="that of the ranges; by default the command's")
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    record(chosen) if chosen.action == "record" else score(chosen)


if __name__ == "__main__":
    main()
