#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a call from Python costs beyond the C functions that it calls, for 8 samples.

    overhead.py [--markdown] [NAME...]

`tsanom` must be importable. Each case is timed twice: first as a program calls it; then every
call of a C function within it is repeated with the same arguments, which cffi passes as in the
first case, and the least times of these are added. The difference is what the package adds:
checks, conversions, memory for results. All times are the least of many, so that other load of
the machine matters little. NAME selects cases that contain it."""

import argparse
import importlib
import sys
import tempfile
import types
from pathlib import Path
from time import perf_counter_ns

import numpy as np

# Functions that must be called once.
ONCE = ("_destroy", "_close", "_free", "_finish", "_begin", "_end")
ROUNDS = 2000


class Counted:
    """A library whose functions add the least time of a call to `spent` while it is `on`."""

    on = False
    spent = 0.0

    def __init__(self, library):
        self._library = library

    def __getattr__(self, name):
        value = getattr(self._library, name)
        if not callable(value):
            return value

        def counted(*arguments):
            result = value(*arguments)
            if Counted.on and name.endswith("_create"):
                Counted.spent += self._creation(name, value, arguments)
            elif Counted.on and not name.endswith(ONCE):
                Counted.spent += least(lambda: value(*arguments))
            return result

        # For ffi.typeof() of a function.
        return value if name == "tsanom_runs_vitals" else counted

    def _creation(self, name, create, arguments):
        """Time to create and destroy an object; the one that exists is kept."""
        destroy = getattr(self._library, name.replace("_create", "_destroy"))
        out = arguments[-1]
        kept = out[0]

        def both():
            create(*arguments)
            destroy(out[0])

        time = least(both)
        out[0] = kept
        return time


def least(call, rounds=3, repeats=5):
    """Least time of a call in microseconds."""
    best = sys.maxsize
    loop = range(repeats)
    for _ in range(rounds):
        start = perf_counter_ns()
        for _ in loop:
            call()
        best = min(best, perf_counter_ns() - start)
    return best / repeats / 1000


def counted_package():
    """A second copy of the package, whose C functions are counted."""
    kept = {name: sys.modules.pop(name) for name in list(sys.modules)
            if name.split(".")[0] == "tsanom"}
    shell = types.ModuleType("tsanom")
    shell.__path__ = [str(Path(kept["tsanom"].__file__).parent)]
    sys.modules["tsanom"] = shell
    library = importlib.import_module("tsanom._library")
    for name in ("lib", "runs", "record"):
        setattr(library, name, Counted(getattr(library, name)))
    del sys.modules["tsanom"]
    package = importlib.import_module("tsanom")
    for name in dir(package):  # loads what is loaded when it is first used
        getattr(package, name)
    for name in [name for name in sys.modules if name.split(".")[0] == "tsanom"]:
        del sys.modules[name]
    sys.modules.update(kept)
    return package


def series_cases(t):
    """Distances, bounds, searches of series."""
    rng = np.random.default_rng(1)
    x, y, f = rng.normal(size=8), rng.normal(size=8), rng.normal(size=8).astype(np.float32)
    X = rng.normal(size=(4, 8))
    around = t.envelope(y, 2)
    index = t.Index(X, 2)
    stream = t.EnvelopeStream(2)
    query, one = x[:4].copy(), X[:1].copy()
    return {
        "dtw": lambda: t.dtw(x, y, 2),
        "dtw, float32": lambda: t.dtw(f, f, 2),
        "dtw_path": lambda: t.dtw_path(x, y, 2),
        "dtw_matrix": lambda: t.dtw_matrix(X, radius=2),
        "dtw_matrix, condensed": lambda: t.dtw_matrix(X, radius=2, condensed=True),
        "dtw_matrix, two sets": lambda: t.dtw_matrix(X, X, 2),
        "dtw_medoid": lambda: t.dtw_medoid(X, 2),
        "dtw_barycenter": lambda: t.dtw_barycenter(X, x, 2, iterations=1),
        "envelope": lambda: t.envelope(x, 2),
        "lb_kim": lambda: t.lb_kim(x, y),
        "lb_keogh": lambda: t.lb_keogh(x, around),
        "lb_keogh_pair": lambda: t.lb_keogh_pair(x, y, 2),
        "lb_tail": lambda: t.lb_tail(x, around),
        "lb_improved": lambda: t.lb_improved(x, y, 2, envelope=around),
        "lb_enhanced": lambda: t.lb_enhanced(x, y, 2, envelope=around),
        "EnvelopeStream.push": lambda: stream.push(x),
        "Index": lambda: t.Index(X, 2),
        "Index.kneighbors": lambda: index.kneighbors(one, 1),
        "Index.report": lambda: index.report(one, 1),
        "search_stream": lambda: t.search_stream(query, y, 1),
    }


def sample_cases(t):
    """Polynomials, periods, beats."""
    rng = np.random.default_rng(2)
    x, y, weights = np.arange(8.0), rng.normal(size=8), rng.uniform(1, 2, 8)
    fit, fits = t.polyfit(x, y, 2), t.FitStream(2)
    detector, events = t.PeriodDetector(4), t.PeriodDetector(4, events=True)
    codes = np.array([1, 2, 3, 1, 2, 3, 1, 2], np.uint64)
    events.push(np.tile(codes[:3], 8))
    detector.push(np.tile([1.0, 2.0], 8))
    fits.push(x, y)
    return {
        "polyfit": lambda: t.polyfit(x, y, 2),
        "polyfit, weights": lambda: t.polyfit(x, y, 2, weights=weights),
        "Fit()": lambda: fit(x),
        "Fit.slope": lambda: fit.slope(x),
        "FitStream.push": lambda: fits.push(x, y),
        "FitStream.fit": lambda: fits.fit(),
        "period": lambda: t.period(x),
        "PeriodDetector.push": lambda: detector.push(x),
        "PeriodDetector.push, events": lambda: events.push(codes),
        "PeriodDetector.predict": lambda: events.predict(8),
        "loops": lambda: t.loops(codes),
        "heart_rate": lambda: t.heart_rate(x, 2),
        "heartbeat.beat": lambda: t.heartbeat.beat(),
    }


def table_cases(t):
    """Clusters, rough sets, processes."""
    rng = np.random.default_rng(3)
    points, table = rng.normal(size=(8, 2)), rng.integers(0, 2, (8, 3), np.int32)
    decision, order = rng.integers(0, 2, 8, np.int32), t.optics_order(points, 2)
    times, column = rng.random((4, 2)), points[:, 0].copy()
    return {
        "optics_order": lambda: t.optics_order(points, 2),
        "OpticsOrdering.cut": lambda: order.cut(0.5),
        "OpticsOrdering.xi": lambda: order.xi(0.05, 2),
        "OpticsOrdering.split": lambda: order.split(),
        "reducts": lambda: t.reducts(table, decision),
        "minimum_reducts": lambda: t.minimum_reducts(table, decision),
        "greedy_reduct": lambda: t.greedy_reduct(table, decision),
        "core_attributes": lambda: t.core_attributes(table, decision),
        "dependency": lambda: t.dependency(table, decision),
        "significance": lambda: t.significance(table, decision),
        "decision_rules": lambda: t.decision_rules(table, decision),
        "inconsistent_pairs": lambda: t.inconsistent_pairs(table, decision),
        "discretize": lambda: t.discretize(column, 2, "width"),
        "spmd_analyze": lambda: t.spmd_analyze(times),
    }


def run_cases(t):
    """Iterations, signs and causes."""
    beats, begin = np.arange(1.0, 9.0), np.arange(8.0)
    events = t.region_events(8 * [1], begin, begin + 1)
    codes = np.array([1, 2, 1, 2, 1, 2, 1, 2], np.uint32)
    analyzer = t.SpeedupAnalyzer()
    model = t.Model.learn([[beats], [1.01 * beats]], window=2)
    loop = np.arange(8).reshape(4, 2)
    loop[:, 1] += 1
    return {
        "main_loop": lambda: t.main_loop(codes),
        "speedup_summarize": lambda: t.speedup_summarize(events, loop),
        "SpeedupAnalyzer.loops": lambda: analyzer.loops(),
        "Model.diagnose": lambda: model.diagnose([beats]),
    }


def cases(package):
    return {**series_cases(package), **sample_cases(package), **table_cases(package),
            **run_cases(package)}


def measure(direct, counted):
    """Time of a call, and of the C functions in it."""
    python, c = float("inf"), float("inf")
    for _ in range(ROUNDS):
        python = min(python, least(direct, 1))
        Counted.spent, Counted.on = 0.0, True
        counted()
        Counted.on = False
        c = min(c, Counted.spent)
    return python, c


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--markdown", action="store_true")
    options.add_argument("name", nargs="*")
    given = options.parse_args()
    package = importlib.import_module("tsanom")
    with tempfile.TemporaryDirectory() as directory:
        package.heartbeat.start(f"{directory}/run", vital_ms=-1)
        direct, counted = cases(package), cases(counted_package())
        form = "| `{}` | {} | {} | {} |" if given.markdown else "{:30} {:>8} {:>8} {:>10}"
        print(form.format("call", "Python", "C", "difference"))
        for name, call in direct.items():
            if not given.name or any(part in name for part in given.name):
                python, c = measure(call, counted[name])
                print(form.format(name, *(f"{t:.2f}" for t in (python, c, python - c))))
        package.heartbeat.finish()


if __name__ == "__main__":
    main()
