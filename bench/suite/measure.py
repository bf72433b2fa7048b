# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Google Benchmark programs and gathers their rows."""
import ctypes
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import threads

QUICK_SIZE = 10_000
REPETITIONS = 5
LEVELS = "_levels"  # of benchmarks whose rows are of all instruction sets


@dataclasses.dataclass
class Row:
    """One benchmark with its arguments; a list holds one value a repetition."""
    program: str
    name: str
    arguments: dict
    unit: str
    cost: list
    plain: list
    separate: list = dataclasses.field(default_factory=list)

    @property
    def key(self):
        return "/".join([self.program, self.name] +
                        [f"{k}:{v}" for k, v in self.arguments.items()])

    @property
    def median(self):
        return statistics.median(self.cost)

    @property
    def spread(self):
        """Largest less least, as a part of the median."""
        return (max(self.cost) - min(self.cost)) / self.median if self.median else 0.0


def split_name(name):
    """'path<double>/n:64/radius:6/manual_time' to name and arguments."""
    parts = name.split("/")
    arguments = {}
    for part in parts[1:]:
        key, colon, value = part.partition(":")
        if colon and key not in ("iterations", "min_time", "repeats", "min_warmup_time"):
            arguments[key] = value
    return parts[0], arguments


def programs(folder):
    return sorted(p for p in pathlib.Path(folder).glob("bench_*") if os.access(p, os.X_OK)
                  and p.is_file())


def wanted(name, best_isa, quick):
    """More threads than processors tell nothing; a quick run leaves out more."""
    base, arguments = split_name(name)
    if int(arguments.get("threads", 1)) > os.cpu_count():
        return False
    if not quick:
        return True
    best = arguments.get("isa", best_isa) in ("0", best_isa) or LEVELS in base
    return not base.endswith("_large") and best and int(arguments.get("n", 0)) <= QUICK_SIZE


def call(program, *options):
    run = subprocess.run([program, *options], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"{program.name} failed (exit status {run.returncode}):\n{run.stderr}")
    return run.stdout


def exactly(names):
    return "^(" + "|".join(re.sub(r"([][().*+?^$|{}\\])", r"\\\1", n) for n in names) + ")$"


def run(program, best_isa, quick):
    """What the program says of the machine and of its build, and its rows."""
    names = call(program, "--benchmark_list_tests=true").split("\n")
    threaded = {n for pair in threads.pairs(filter(None, names), split_name, best_isa)
                for n in pair if "_large" not in n}
    names = [n for n in names if n and (n in threaded or wanted(n, best_isa, quick))]
    output = call(program, "--benchmark_format=json", "--benchmark_filter=" + exactly(names),
                  f"--benchmark_repetitions={REPETITIONS}",
                  f"--benchmark_min_time={0.01 if quick else 0.2}")
    result, rows = json.loads(output), {}
    for entry in result["benchmarks"]:
        if entry.get("run_type") != "iteration" or entry.get("error_occurred"):
            continue
        name, arguments = split_name(entry["run_name"])
        row = rows.setdefault(entry["run_name"],
                              Row(program.name.removeprefix("bench_"), name, arguments,
                                  entry.get("label", ""), [], []))
        if "cost" not in entry:
            sys.exit(f"{program.name}: {entry['name']} reports no cost (see bench/report.h)")
        row.cost.append(entry["cost"])
        if "plain" in entry:
            row.plain.append(entry["plain"])
        if "separate" in entry:
            row.separate.append(entry["separate"])
    return result["context"], list(rows.values())


def processor():
    """The name that the kernel gives it."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def measure(build, only, quick):
    """All rows, and the machine they were taken on."""
    chosen = [p for p in programs(build / "bench")
              if not only or p.name.removeprefix("bench_") in only]
    if not chosen:
        sys.exit(f"no benchmark {' '.join(only)} in {build}")
    best_isa = str(ctypes.CDLL((build / "libtsanom.so").resolve()).tsanom_isa_best())
    rows = []
    for i, program in enumerate(chosen):
        begin = time.monotonic()
        print(f"[{i + 1}/{len(chosen)}] {program.name} ... ", end="", file=sys.stderr,
              flush=True)
        context, found = run(program, best_isa, quick)
        rows += found
        print(f"{len(found)} rows in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    machine = {"processor": processor(), "processors": os.cpu_count(),
               "mhz": context["mhz_per_cpu"]}
    for key in ("isa", "compiler", "flags", "openblas", "threads", "tsanom"):
        machine[key] = context[key]
    return machine, rows
