# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures of the heartbeat paper, "Heartbeat diagnosis of performance anomaly in OpenMP
multi-threaded systems"."""
import datetime
import json
import math
import pathlib
import random
import sys
import tempfile

import heartbeat_overhead
import workloads
from papers_item import HERE, Item, Result, Table, json_of, output_of

MACHINE = "The paper does not describe its processor, its problem sizes or its modifications."
R2 = 0.9  # of an accepted fit
KINDS = ("normal", "leak", "leak-256M", "killed", "stopped")  # two of each class in a round
LARGEST_OVERHEAD = 2.5  # percent


# Table 1: iterations per beat and beats/s of all threads together.
RATES = {"bt": (1, 97519.4), "lu": (1, 346877.5), "cg": (10, 176311.3), "sp": (1000, 528756.4),
         "jacobi": (10000, 5488.1), "arraybench": (1, 31695.64)}


def table1(context):
    rows = []
    for program, (cycle, paper) in RATES.items():
        with tempfile.TemporaryDirectory() as folder:
            rate = workloads.run(context.build, program, "--threads", 2, "--size", "small", "--cycle",
                                 cycle, "--record", f"{folder}/run").beats_per_second
        rows.append([program, cycle, f"{paper:.0f}", f"{rate:.0f}", f"{rate / paper:.2f}"])
    return Result([Table(f"{datetime.date.today()}, {workloads.machine()}; 2 threads, size small",
                         ["benchmark", "iterations per beat", "paper, beats/s", "ours, beats/s",
                          "ours/paper"], rows)], None)


def measured_overhead(context, *options):
    chosen = heartbeat_overhead.read_options([str(context.build), *options])
    return Table(chosen.caption, list(heartbeat_overhead.HEAD), list(heartbeat_overhead.rows(chosen)))


def overhead(context):
    short = [] if context.full else ["--size", "small", "--runs", "1"]
    tables = [measured_overhead(context, *short)]
    columns = [heartbeat_overhead.HEAD.index(name) for name in ("beats", "helper")]
    same = all(sum(float(row[column].rstrip(" %")) for column in columns) < LARGEST_OVERHEAD
               for row in tables[0].rows)
    if context.full:
        tables.append(measured_overhead(context, "--runs", "1", "--sweep"))
    return Result(tables, same)


def macro_f(context):
    """Recordings, scored by causes, by the rule of pace and by Algorithm 1."""
    with tempfile.TemporaryDirectory() as folder:
        common = [folder, context.build, "--conditions", "quiet", "--kinds", *KINDS, "--normals", 2]
        if not context.full:
            common += ["--quick", "--rounds", 5, "--minutes", 1.7]
        program = [sys.executable, "-B", HERE / "diagnosis.py"]
        output_of(*program, "record", *common)
        rows = []
        for rule in "causes", "pace", "paper":
            file = pathlib.Path(folder, f"{rule}.json")
            option = [] if rule == "causes" else ["--rule", rule]
            output_of(*program, "score", *common, *option, "--json", file)
            rows += [[row["program"], rule, row["runs"], "0.95" if row["program"] == "cg" else "",
                      row["macro_f"], row["interval"]]
                     for row in json.loads(file.read_text())["macro_f"]]
    return Result([Table("", ["program", "rule", "runs", "paper", "macro F", "95 %"], rows)], None)


def fitted(context, series):
    """The polynomial of least degree with R² above 0.9, by powers of x."""
    text = "x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in series)
    return json_of(context.tsanom, "fit", "-", "--r2", R2, "--max-degree", "10", "--json", given=text)


def value(fit, x):
    return sum(c * x ** power for power, c in enumerate(fit["coefficients"]))


def figure2(context):
    """Two fragments whose rates are known, at different times, compared at the times of the first."""
    noise = random.Random(2)
    rates = {"l1": lambda t: 100 + 5 * math.sin(2 * math.pi * t / 10),
             "l2": lambda t: 100 - 1.5 * t - 0.1 * t * t}
    fits = {name: fitted(context, [(t, rates[name](t) + noise.gauss(0, 0.5)) for t in
                                   [step * i for i in range(int(10 / step) + 1)]])
            for name, step in (("l1", 0.10), ("l2", 0.07))}
    accepted = [[name, fit["samples"], fit["degree"], f"above {R2}", f"{fit['r2']:.3f}"]
                for name, fit in fits.items()]
    aligned, worst = [], 0.0
    for t in range(11):
        row = [t]
        for name, rate in rates.items():
            here = value(fits[name], t)
            worst = max(worst, abs(here - rate(t)))
            row += [f"{rate(t):.2f}", f"{here:.2f}"]
        aligned.append(row)
    same = all(fit["r2"] > R2 for fit in fits.values())
    return Result([Table("(a) Polynomials:", ["fragment", "beats", "degree", "R², paper", "R², here"],
                         accepted),
                   Table(f"(b) Heart rates at common times; largest error {worst:.2f} beats/s:",
                         ["time, s", "l1 without noise", "l1 aligned", "l2 without noise",
                          "l2 aligned"], aligned)], same)


ITEMS = [
    Item("heartbeat-figure2", "Figure 2: alignment by polynomial regression",
         "l1 fluctuates about its mean, l2 decreases; both are fitted with R² > 0.9 and "
         "evaluated at common times.",
         "The series of the paper are not printed. Those here are computed, with noise of standard "
         "deviation 0.5 beats/s, so that the error is known. R² is compared. The rule selects the least "
         "degree with R² > 0.9, and so permits an rms error of up to √0.1 of the standard deviation of "
         "the series.", 1, figure2),
    Item("heartbeat-table1", "Table 1: heartbeat cycles and heart rates", "rates of six programs.",
         MACHINE + " `examples/workloads/` has programs of the same kinds, run with two threads.",
         30, table1, timed=True),
    Item("heartbeat-overhead", "Overhead (equation 14)", "below 2.5 %.",
         MACHINE + " Blocks with and without heartbeats alternate within a run (@ref heartbeat_overhead). "
         "The sum of the columns beats and helper is compared. It is too large: only a third of the blocks "
         "beat, but the helper thread runs all the time.",
         60, overhead, timed=True),
    Item("heartbeat-fscore", "Macro F-score (section 4.3)", "0.95 for NPB-cg.",
         "The recordings of the paper are not public. Those here are normal, leaking, and killed or stopped runs "
         "in equal numbers, besides four normal runs for training. `paper` is Algorithm 1, `pace` the default "
         "rule of tsanom_hsa_diagnose(), `causes` what `tsanom diagnose` prints. @ref hsa_accuracy has higher "
         "values, of causes or of rules that learn from six runs. Ranges of four runs are narrower than those of six, "
         "and normal runs exceed them more often.",
         120, macro_f, timed=True),
]
