#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits by the Python package beside NumPy.

    python_peers.py speed BUILD_DIR

BUILD_DIR is one that `cmake --preset bench && cmake --build --preset bench` made. Prints a
Markdown table, each cell the least of several calls from Python, on one thread: a fit with its
values at the samples. Results are compared. Run with OMP_NUM_THREADS=1."""
import math
import pathlib
import shutil
import subprocess
import sys
import time

import numpy
from numpy.polynomial import Chebyshev

FIT_CASES = ((100, 3), (100, 10), (10_000, 3), (10_000, 10), (1_000_000, 3))


def package(build):
    """The package of a build, with its libraries."""
    prefix = build / "python_prefix"
    subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", prefix],
                   check=True, stdout=subprocess.DEVNULL)
    folder = next(prefix.glob("lib/python3*/*/tsanom"))
    (folder / "lib").mkdir(exist_ok=True)
    for name in ("tsanom", "tsanom-record", "tsanom-runs"):
        shutil.copy(build / f"lib{name}.so.0.3", folder / "lib")
    sys.path.insert(0, str(folder.parent))
    import tsanom
    return tsanom


def least(run, seconds=1.0):
    """Least time of a call, over at least three calls and about `seconds`, and its result."""
    best, spent, calls = math.inf, 0.0, 0
    while calls < 3 or spent < seconds:
        start = time.perf_counter()
        result = run()
        took = time.perf_counter() - start
        best, spent, calls = min(best, took), spent + took, calls + 1
    return best, result


def fits(tsanom):
    print("| n | degree | tsanom.polyfit, µs | numpy.polyfit, µs | numpy Chebyshev.fit, µs | "
          "best ratio |\n|---|---|---|---|---|---|")
    for n, degree in FIT_CASES:
        x = numpy.linspace(-1, 1, n)
        y = numpy.sin(3 * x) + numpy.random.default_rng(1).normal(0, 0.1, n)
        runs = (lambda: tsanom.polyfit(x, y, degree)(x),
                lambda: numpy.polyval(numpy.polyfit(x, y, degree), x),
                lambda: Chebyshev.fit(x, y, degree)(x))
        times, values = zip(*(least(run) for run in runs))
        assert all(numpy.allclose(values[0], value, atol=1e-9) for value in values)
        cells = " | ".join(f"{1e6 * seconds:.3g}" for seconds in times)
        print(f"| {n} | {degree} | {cells} | {min(times[1:]) / times[0]:.1f} |")


def main():
    if len(sys.argv) != 3 or sys.argv[1] != "speed":
        sys.exit(__doc__)
    fits(package(pathlib.Path(sys.argv[2]).resolve()))


if __name__ == "__main__":
    main()
