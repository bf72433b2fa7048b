#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `tsanom speedup` predicts of recorded workloads when a quarter of the main loop's
time has run: the time at which the loop will have ended, against the time at which it did.
The number of iterations is given, as a user would who knows his program.

    prediction.py BUILD_DIR [--runs N] [--size NAME] [WORKLOAD...]

Prints a Markdown table: what the main loop took (median over the runs), the errors of
all runs by size, and how many are within 5 %. A run takes a second or two.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tables"))
import workloads  # noqa: E402


def speedup(command, run, *options):
    text = subprocess.run([command, "speedup", run, "--json", *options], check=True,
                          stdout=subprocess.PIPE).stdout
    return json.loads(text)


def same_loop(whole, prediction):
    """The loop in the whole run that a prediction rests on."""
    for loop in whole["regions"]:
        if all(loop[key] == prediction[key] for key in ("start", "period")):
            return loop
    raise SystemExit("the loop of the prediction is not in the whole run")


def check(command, program, size, run):
    subprocess.run([command, "record", "-o", run, "--", program, "--size", size],
                   check=True, stdout=subprocess.DEVNULL)
    whole = speedup(command, run)
    longest = max(whole["regions"], key=lambda loop: loop["total_s"])
    quarter = longest["first_s"] + (longest["last_s"] - longest["first_s"]) / 4
    options = ["--until", repr(quarter), "--level", whole["level"]]
    # Which loop is the main one by then does not depend on the count.
    then = speedup(command, run, *options, "--iterations", "1")["prediction"]
    if then is None:
        return longest, None
    loop = same_loop(whole, then)
    count = str(loop["iterations"])
    return loop, speedup(command, run, *options, "--iterations", count)["prediction"]


def row(chosen, name, folder):
    command = f"{chosen.build}/tools/tsanom/tsanom"
    program = f"{chosen.build}/examples/workloads/{name}"
    errors, known, took = [], [], []
    for number in range(chosen.runs):
        loop, then = check(command, program, chosen.size, f"{folder}/{name}.{number}")
        took.append(loop["last_s"])
        known.append(then["iterations"] if then else 0)
        errors.append(100 * (then["total_s"] / took[-1] - 1) if then else math.inf)
    errors.sort()
    close = sum(abs(error) <= 5 for error in errors)
    print(f"| `{name}` | {loop['period']} | {loop['iterations']} | "
          f"{statistics.median_low(known)} | {statistics.median(took):.3f} | "
          f"{', '.join(f'{error:+.1f}' for error in errors)} | {close} of {chosen.runs} |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("workload", nargs="*", default=list(workloads.PROGRAMS))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--size", default="small")
    chosen = parser.parse_intermixed_args()
    os.environ.update(workloads.ENVIRONMENT)
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    print(f"{datetime.date.today()}, {workloads.machine()}; size {chosen.size}\n")
    print("| workload | period | iterations | known | took, s | errors, % | within 5 % |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.workload:
            row(chosen, name, folder)


if __name__ == "__main__":
    main()
