#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often heartbeat diagnosis is right: all kinds of anomalies under all conditions.

    diagnosis.py all DATA BUILD [--quick]     record, score and live
    diagnosis.py record DATA BUILD            make recordings, or complete them
    diagnosis.py score DATA BUILD [--misses]  models, verdicts and tables of recordings
    diagnosis.py live DATA BUILD              verdicts on programs that still run
    diagnosis.py quickstart DATA BUILD        how often the quickstart's macro F is 1

Recordings lie in DATA/CONDITION/PROGRAM/KIND/NUMBER. A recording that was interrupted goes on
where it stopped. `score` reads only; it can be repeated with each version of the library. The
accepted verdicts are those of the table in docs/measurements.md; each recording keeps the version of
the table, and `score` warns if it was changed afterwards. BUILD is a directory that
`cmake --preset bench && cmake --build --preset bench` made. All tables are Markdown.

Everything (default): 10 rounds of all programs, with 3 normal runs and one of each other kind
in a round, some 7000 runs in 3 hours on two idle processors. --quick: one program, one round, at most 3 minutes.
--sample 3 --rounds 1 --normals 1: three programs of each kind under each condition, 444 runs in 12 minutes.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

import diagnosis_live
import diagnosis_plan as plan
import diagnosis_record
import diagnosis_score
import workloads
from diagnosis_statistics import share

QUICK = {"programs": ["cg"], "rounds": 1, "normals": 3, "training": 4, "minutes": 2.5,
         "kinds": [k for k in (*plan.KINDS, "other-program")
                   if k not in ("leak-128M", "leak-64M", "leak-32M")]}
FULL = {"programs": list(workloads.PROGRAMS), "rounds": 10, "normals": 3, "training": 6,
        "minutes": 0, "kinds": []}
SUMMARY = re.compile(r"^macro F-score ([\d.]+)$", re.MULTILINE)


def quickstart(chosen):
    """Runs the quickstart's main job --rounds times."""
    script = pathlib.Path(__file__).parents[2] / "examples" / "quickstart" / "main_job.sh"
    scores = []
    for number in range(chosen.rounds):
        print(f"\r\033[Krun {number + 1} of {chosen.rounds}", end="", file=sys.stderr,
              flush=True)
        done = subprocess.run(["sh", script, "--output", chosen.data, chosen.build], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        scores.append(float(SUMMARY.findall(done.stdout)[-1]) if not done.returncode else 0.0)
        if scores[-1] < 1:
            print(f"\n{done.stdout}", file=sys.stderr)
    right = scores.count(1.0)
    print(f"\nmacro F 1.0: {share(right, len(scores))} runs; the others: {[s for s in scores if s < 1]}")
    if chosen.json:
        chosen.json.write_text(json.dumps({"macro_f": scores}) + "\n")
    return 0 if right == len(scores) else 1


def report(chosen, verdicts):
    if not verdicts:
        sys.exit(f"{chosen.data}: no recordings; make them by `diagnosis.py record`")
    print(f"{workloads.machine()}\n")
    diagnosis_score.print_report(chosen, verdicts)
    if chosen.json:
        diagnosis_score.save_json(chosen.json, verdicts)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("all", "record", "score", "live", "quickstart"))
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--programs", nargs="+", choices=workloads.PROGRAMS)
    parser.add_argument("--conditions", nargs="+", choices=plan.CONDITIONS,
                        default=list(plan.CONDITIONS))
    parser.add_argument("--kinds", nargs="+", help="only these, besides training runs")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--normals", type=int, help="normal runs in a round")
    parser.add_argument("--training", type=int, help="runs to learn from")
    parser.add_argument("--sample", type=int, default=0, metavar="N",
                        help="in a round, each kind under each condition of only N programs in turn")
    parser.add_argument("--size", default="short")
    parser.add_argument("--minutes", type=float, help="after which recording stops")
    parser.add_argument("--repeats", type=int, default=1,
                        help="score: repeats, from the second on with training runs drawn")
    parser.add_argument("--rule", help="of `tsanom learn`")
    parser.add_argument("--coverage", help="of `tsanom learn`")
    parser.add_argument("--misses", action="store_true", help="print each wrong verdict")
    parser.add_argument("--json", type=pathlib.Path, help="write all verdicts to this file")
    parser.add_argument("--verbose", action="store_true", help="show warnings of the command")
    chosen = parser.parse_args()
    for name, value in (QUICK if chosen.quick else FULL).items():
        if getattr(chosen, name) is None:
            setattr(chosen, name, value)
    chosen.build = chosen.build.resolve()
    return chosen


def main():
    chosen = read_options()
    if chosen.action == "quickstart":
        chosen.data.mkdir(parents=True, exist_ok=True)
        sys.exit(quickstart(chosen))
    if chosen.action in ("all", "record"):
        diagnosis_record.record(chosen)
    verdicts = []
    if chosen.action in ("all", "score"):
        verdicts += diagnosis_score.collect(chosen)
    if chosen.action in ("all", "live"):
        verdicts += diagnosis_live.collect(chosen)
    if chosen.action != "record":
        report(chosen, verdicts)


if __name__ == "__main__":
    main()
