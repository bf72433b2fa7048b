#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: prediction.py BUILD [SIZE [WORKLOAD...]]

What `tsanom speedup` predicts of recorded workloads when a quarter of the main loop's time
has run: the time at which the loop will have ended, against the time at which it did. The
number of iterations is given, as a user would who knows his program. BUILD is a build
folder; SIZE is small by default."""
import json
import os
import subprocess
import sys
import tempfile

WORKLOADS = ["arraybench", "bt", "cg", "jacobi", "lu", "sp"]


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


def row(name, loop, then):
    took = loop["last_s"]
    known = f"{name:<11}{loop['period']:>7}{loop['iterations']:>11}"
    if then is None:
        return f"{known}{0:>7}{took:>10.3f}{'-':>13}{'-':>10}"
    predicted = then["total_s"]
    return (f"{known}{then['iterations']:>7}{took:>10.3f}{predicted:>13.3f}"
            f"{100 * (predicted - took) / took:>+10.2f}")


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    build = os.path.abspath(sys.argv[1])
    size = sys.argv[2] if len(sys.argv) > 2 else "small"
    command = f"{build}/tools/tsanom/tsanom"
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    print(f"{'workload':<11}{'period':>7}{'iterations':>11}{'known':>7}{'took, s':>10}"
          f"{'predicted, s':>13}{'error, %':>10}")
    with tempfile.TemporaryDirectory() as work:
        for name in sys.argv[3:] or WORKLOADS:
            loop, then = check(command, f"{build}/examples/workloads/{name}", size,
                               f"{work}/{name}")
            print(row(name, loop, then), flush=True)


if __name__ == "__main__":
    main()
