#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast and how often `tsanom watch` names an anomaly of a running program.

    watch_trials.py BUILD [--trials 3] [--full] [--kinds stop deadlock loop] [--iterations 1000000]

Each trial starts watch_trial.c and a watch of it. SIGSTOP, a deadlock and an endless loop
in thread 1 must be named within the limit of a silence, max(3 iterations, 1 s), and two
looks, with the right thread and iteration. A leak must be reported within 10 % of the
iterations that remain at its onset, and so must the onset that is reported. At last a
normal program makes --iterations iterations, in which nothing may be reported. --full
makes 100 trials. Prints a Markdown table with Wilson intervals of 95 %.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import tempfile

import diagnosis_statistics
import workloads

EVERY_S = 0.1
LIMIT_S = 1.0
HANGS = {"stop": (0, 1), "deadlock": (1,), "loop": (1,)}
HANG_US, HANG_BEATS = 2000, 100000
LEAK_US, LEAK_BEATS = 4000, 2000
MODEL_RUNS = 4
NO_ALARM = ("contention", "waiting", "unknown", "not_comparable")
SOURCE = pathlib.Path(__file__).with_name("watch_trial.c")
INCLUDE = pathlib.Path(__file__).parents[2] / "include"


class Trials:
    def __init__(self, build, folder):
        self.tsanom = build / "tools" / "tsanom" / "tsanom"
        self.folder, self.program = folder, folder / "watch_trial"
        self.number = self.others = 0
        subprocess.run([os.environ.get("CC", "cc"), "-D_GNU_SOURCE", "-O2", "-fopenmp",
                        f"-I{INCLUDE}", SOURCE, build / "libtsanom-record.a", "-lpthread", "-lm",
                        "-o", self.program], check=True)

    def start(self, beats, pause_us, kind, at):
        """The program, and its run."""
        self.number += 1
        run = self.folder / f"run{self.number}"
        return run, subprocess.Popen([self.program, run, str(beats), str(pause_us),
                                      kind, str(at)], env=workloads.ENVIRONMENT)

    def found(self, run, program, cause, options):
        """The first line of `tsanom watch` that names the cause, and its anomalies of that
        cause; if there is none, the last line. Counts other alarms."""
        command = [self.tsanom, "watch", "--json", "--wait", "--every", str(EVERY_S), *options, run]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as watch:
            try:
                for text in watch.stdout:
                    line = json.loads(text)
                    named = [c for c in line["causes"] if c["cause"] == cause]
                    self.others += sum(c["new"] and c["cause"] not in (cause, *NO_ALARM)
                                       for c in line["causes"])
                    if named:
                        break
            finally:
                watch.kill()
                program.kill()
                program.wait()
        return line, named

    def hang(self, kind):
        """Seconds from the last beat until the right thread was named; None: it was not."""
        at = random.randrange(100, 400)
        run, program = self.start(HANG_BEATS, HANG_US, kind, at)
        line, named = self.found(run, program, "hang", [])
        right = (named and {a["thread"] for a in named} <= set(HANGS[kind])
                 and any(a["thread"] == 1 and a["iteration"] == at for a in named))
        return line["time"] - named[0]["onset"] if right else None

    def leak(self, model):
        """By which shares of the rest of the run a leak, and its onset, were late."""
        at = random.randrange(3 * LEAK_BEATS // 10, 7 * LEAK_BEATS // 10)
        run, program = self.start(LEAK_BEATS, LEAK_US, "leak", at)
        line, named = self.found(run, program, "memory_leak", ["-m", model])
        if not named:
            return None
        rest = LEAK_BEATS - at
        return (line["iteration"] - at) / rest, abs(named[0]["iteration"] - at) / rest

    def model(self):
        """Learned from normal runs."""
        runs, model = [], self.folder / "model.json"
        for _ in range(MODEL_RUNS):
            run, program = self.start(LEAK_BEATS, LEAK_US, "none", 0)
            program.wait()
            runs.append(run)
        subprocess.run([self.tsanom, "learn", "-o", model, *runs], check=True,
                       stdout=subprocess.DEVNULL)
        return model

    def hangs(self, iterations):
        """Whether a normal program is said to hang."""
        run, program = self.start(iterations, 0, "none", 0)
        return len(self.found(run, program, "hang", [])[1])


def print_row(name, right, count, worst):
    low, high = diagnosis_statistics.wilson(right, count)
    print(f"| {name} | {right} of {count} | {100 * low:.1f} – {100 * high:.1f} | {worst} |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--kinds", nargs="*", choices=list(HANGS), default=list(HANGS))
    parser.add_argument("--iterations", type=int, default=1000000)
    chosen = parser.parse_args()
    count = 100 if chosen.full else chosen.trials
    print(f"{workloads.machine()}, load {os.getloadavg()[0]:.1f} at the beginning\n")
    print("| anomaly | named in time | interval, % | latest |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        trials = Trials(chosen.build, pathlib.Path(name))
        for kind in chosen.kinds:
            took = [trials.hang(kind) for _ in range(count)]
            known = [t for t in took if t is not None]
            print_row(kind, sum(t <= LIMIT_S + 2 * EVERY_S for t in known), count,
                      f"{max(known, default=float('nan')):.2f} s")
        model = trials.model()
        late = [trials.leak(model) for _ in range(count)]
        known = [l for l in late if l]
        for title, index in (("leak", 0), ("onset of the leak", 1)):
            worst = max((l[index] for l in known), default=float("nan"))
            print_row(title, sum(l[index] <= 0.1 for l in known), count,
                      f"{100 * worst:.1f} % of the rest")
        print(f"\n{trials.others} alarms of other causes in these runs; "
              f"{trials.hangs(chosen.iterations)} in {chosen.iterations} normal iterations")


if __name__ == "__main__":
    main()
