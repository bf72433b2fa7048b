#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast and how often `tsanom watch` names an anomaly of a running program.

    watch_trials.py BUILD [--trials 3] [--full] [--kinds stop deadlock loop leak] [--jobs 1]
                    [--workloads bt lu cg sp jacobi arraybench] [--iterations 1000000]
    watch_trials.py BUILD --healthy 50 [--seeds 6] [--first 1]

Each trial starts watch_trial.c and a watch of it. SIGSTOP, a deadlock and an endless loop
in thread 1 must be named within the limit of a silence, max(3 iterations, 1 s), and two
looks, with the right thread and iteration. A leak must be reported within 10 % of the
iterations that remain at its onset, and so must the onset that is reported. At last a
normal program, and each of --workloads (with --full: all), makes --iterations iterations,
in which nothing may be reported; the workloads are judged by a model of short runs. --full
makes 100 trials, --jobs of them at a time. With --healthy, that many random programs of
watch_healthy.c, each of about a second and recorded by `tsanom record`, are watched --seeds times
by a model of 5 runs; at most 2 % may have an alarm at any look. Prints Markdown tables with Wilson
intervals of 95 %.
"""
import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import diagnosis_statistics
import workloads

EVERY_S = 0.1
LIMIT_S = 1.0
HANGS = {"stop": (0, 1), "deadlock": (1,), "loop": (1,)}
HANG_US, HANG_BEATS = 2000, 100000
LEAK_US, LEAK_BEATS = 4000, 4000
MODEL_RUNS = 4
THREADS = 2
WORKLOAD_S, MODEL_S, CALIBRATION_STEPS = 60, 3, 20
HEALTHY_RUNS, HEALTHY_S, HEALTHY_TRY, HEALTHY_LEAST, HEALTHY_MOST = 5, 1.0, 30, 40, 0.02
SOURCE = pathlib.Path(__file__).with_name("watch_trial.c")
INCLUDE = pathlib.Path(__file__).parents[2] / "include"


class Trials:
    def __init__(self, build, folder):
        self.tsanom = build / "tools" / "tsanom" / "tsanom"
        self.build, self.folder, self.program = build, folder, folder / "watch_trial"
        self.numbers, self.others, self.reports = itertools.count(), [], []
        self.random_program = folder / "watch_healthy"
        compiler = [os.environ.get("CC", "cc"), "-D_GNU_SOURCE", "-O2", "-fopenmp"]
        subprocess.run([*compiler, f"-I{INCLUDE}", SOURCE, build / "libtsanom-record.a",
                        "-lpthread", "-lm", "-o", self.program], check=True)
        subprocess.run([*compiler, SOURCE.with_name("watch_healthy.c"), "-o",
                        self.random_program], check=True)

    def new_run(self):
        return self.folder / f"run{next(self.numbers)}"

    def start(self, beats, pause_us, kind, at):
        """The program, and its run."""
        run = self.new_run()
        return run, start([self.program, run, str(beats), str(pause_us), kind, str(at)])

    def found(self, run, program, cause, options):
        """The first line of `tsanom watch` that names the cause, or the last one, and its anomalies
        of that cause. Counts other alarms, and what is no alarm."""
        command = [self.tsanom, "watch", "--json", "--wait", "--every", str(EVERY_S), *options, run]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as watch:
            try:
                for text in watch.stdout:
                    line = json.loads(text)
                    named = [c for c in line["causes"] if c["cause"] == cause]
                    self.others += [c["evidence"] for c in line["causes"]
                                    if c["new"] and c["alarm"] and c["cause"] != cause]
                    self.reports += [c["cause"] for c in line["causes"]
                                     if c["new"] and not c["alarm"]]
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
        if not right or line["time"] - named[0]["onset"] > LIMIT_S + 2 * EVERY_S:
            print(f"{kind} at {at}: {line['time']} s, {named}", file=sys.stderr)
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
        runs = []
        for _ in range(MODEL_RUNS):
            run, program = self.start(LEAK_BEATS, LEAK_US, "none", 0)
            program.wait()
            runs.append(run)
        return self.learn(runs)

    def learn(self, runs):
        model = self.new_run().with_suffix(".json")
        subprocess.run([self.tsanom, "learn", "-o", model, *runs], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return model

    def alarms(self, run, program, options):
        """The evidence of every alarm until the program ends, and its last line."""
        before = len(self.others)
        line, _ = self.found(run, program, None, options)
        return self.others[before:], line

    def workload(self, name, iterations):
        """The alarms of a workload that beats that many times in about a minute, and the last line of
        its watch."""
        def arguments(steps, cycle, run):
            return [f"--steps={math.ceil(steps)}", f"--cycle={cycle}", "--size=tiny",
                    f"--threads={THREADS}", f"--record={run}"]

        once = workloads.run(self.build, name,
                             *arguments(CALIBRATION_STEPS, 1, self.new_run()))
        rate = once.beats_per_second / THREADS
        per_step = rate * once.seconds / CALIBRATION_STEPS
        cycle = max(1, round(rate * WORKLOAD_S / iterations))
        steps = 1.1 * iterations * cycle / per_step
        runs = [self.new_run() for _ in range(MODEL_RUNS)]
        for run in runs:
            workloads.run(self.build, name, *arguments(steps * MODEL_S / WORKLOAD_S, cycle, run))
        model, run = self.learn(runs), self.new_run()
        command = [self.build / "examples" / "workloads" / name, *arguments(steps, cycle, run)]
        return self.alarms(run, start(command), ["-m", model])

    def healthy(self, number, seeds):
        """The evidence of the alarms of each of these runs of a random program."""
        def record(run, seed):
            return start([self.tsanom, "record", "-o", run, "--", self.random_program,
                          str(number), str(seed), str(iterations)], stderr=subprocess.DEVNULL)

        begin = time.monotonic()
        start([self.random_program, str(number), "0", str(HEALTHY_TRY)]).wait()
        each = (time.monotonic() - begin) / HEALTHY_TRY
        iterations = max(HEALTHY_LEAST, round(HEALTHY_S / each))
        runs = [self.new_run() for _ in range(HEALTHY_RUNS)]
        for seed, run in enumerate(runs):
            record(run, 1000 + seed).wait()
        options = ["-m", self.learn(runs)]
        for seed in range(seeds):
            run = self.new_run()
            yield self.alarms(run, record(run, seed), options)[0]


def start(command, **options):
    return subprocess.Popen(command, env=workloads.ENVIRONMENT, stdout=subprocess.DEVNULL,
                            **options)


def print_row(name, right, count, worst):
    low, high = diagnosis_statistics.wilson(right, count)
    print(f"| {name} | {right} of {count} | {100 * low:.1f} – {100 * high:.1f} | {worst} |",
          flush=True)


def run_trials(trials, chosen, count):
    """The table of anomalies; whether all hangs were named in time."""
    def repeat(trial):
        with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
            return [made for made in pool.map(lambda _: trial(), range(count))
                    if made is not None]

    in_time = True
    for kind in chosen.kinds:
        if kind == "leak":
            model = trials.model()
            late = repeat(lambda: trials.leak(model))
            for title, index in (("leak", 0), ("onset of the leak", 1)):
                worst = max((l[index] for l in late), default=math.nan)
                print_row(title, sum(l[index] <= 0.1 for l in late), count,
                          f"{100 * worst:.1f} % of the rest")
        else:
            took = repeat(lambda: trials.hang(kind))
            right = sum(t <= LIMIT_S + 2 * EVERY_S for t in took)
            in_time = in_time and right == count
            print_row(kind, right, count, f"{max(took, default=math.nan):.2f} s")
    print(f"\n{len(trials.others)} alarms of other causes in these runs")
    for evidence in trials.others:
        print(f"- {evidence}")
    return in_time


def run_normal(trials, chosen):
    """The table of normal programs."""
    print("\n| program | iterations | seconds | alarms | |\n|---|---|---|---|---|")
    for name in ("watch_trial", *chosen.workloads):
        if name == "watch_trial":
            alarms, line = trials.alarms(*trials.start(chosen.iterations, 0, "none", 0), [])
        else:
            alarms, line = trials.workload(name, chosen.iterations)
        print(f"| {name} | {line['iteration']} | {line['time']:.0f} | {len(alarms)} "
              f"| {'; '.join(alarms)} |", flush=True)


def run_healthy(trials, chosen):
    """The table of random programs; whether few enough had an alarm."""
    false, runs, lines = 0, 0, []
    for number in range(chosen.first, chosen.first + chosen.healthy):
        for seed, alarms in enumerate(trials.healthy(number, chosen.seeds)):
            false += bool(alarms)
            runs += 1
            lines += [f"- program {number}, run {seed}: {a}" for a in alarms]
    low, high = diagnosis_statistics.wilson(false, runs)
    print("| random programs | runs | with an alarm | interval, % | reports of contention |"
          "\n|---|---|---|---|---|")
    print(f"| {chosen.healthy} | {runs} | {false} | {100 * low:.1f} – {100 * high:.1f} "
          f"| {trials.reports.count('contention')} |\n")
    print("\n".join(lines))
    return false <= HEALTHY_MOST * runs


def main():
    parser = workloads.parser(__doc__)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    kinds = [*HANGS, "leak"]
    parser.add_argument("--kinds", nargs="*", choices=kinds, default=kinds)
    parser.add_argument("--workloads", nargs="*", choices=workloads.PROGRAMS)
    parser.add_argument("--iterations", type=int, default=1000000)
    parser.add_argument("--healthy", type=int)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=1, help="number of the first random program")
    chosen = parser.parse_args()
    count = 100 if chosen.full else chosen.trials
    if chosen.workloads is None:
        chosen.workloads = workloads.PROGRAMS if chosen.full else ()
    print(f"{workloads.machine()}, load {os.getloadavg()[0]:.1f} at the beginning\n")
    with tempfile.TemporaryDirectory() as name:
        trials = Trials(chosen.build, pathlib.Path(name))
        if chosen.healthy:
            sys.exit(0 if run_healthy(trials, chosen) else 1)
        in_time = True
        if chosen.kinds:
            print("| anomaly | named in time | interval, % | latest |\n|---|---|---|---|")
            in_time = run_trials(trials, chosen, count)
        if chosen.iterations:
            run_normal(trials, chosen)
        sys.exit(0 if in_time else 1)


if __name__ == "__main__":
    main()
