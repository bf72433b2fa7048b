#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python package beside scikit-learn and NumPy (Debian: python3-sklearn).

    python_peers.py speed BUILD_DIR

BUILD_DIR is one that `cmake --preset bench && cmake --build --preset bench` made. Prints two
Markdown tables, each cell the least of several calls from Python, on one thread by its own
clock: OPTICS with its clusters, and a fit with its values at the samples. Results are compared.
Run with OMP_NUM_THREADS=1."""
import math
import pathlib
import shutil
import subprocess
import sys
import time

import numpy
from numpy.polynomial import Chebyshev

try:
    import sklearn.cluster
except ImportError:
    sklearn = None

OPTICS_CASES = ((1000, 2), (5000, 2), (5000, 8))
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
        start = time.thread_time()
        result = run()
        took = time.thread_time() - start
        best, spent, calls = min(best, took), spent + took, calls + 1
    return best, result


def blobs(n, dimensions):
    random = numpy.random.default_rng(7)
    centers = 100 * random.random((20, dimensions))
    return centers[random.integers(0, 20, n)] + 2 * random.normal(size=(n, dimensions))


def optics(tsanom):
    print("| n | dimensions | tsanom.OPTICS, s | scikit-learn "
          f"{sklearn.__version__}, s | ratio |\n|---|---|---|---|---|")
    for n, dimensions in OPTICS_CASES:
        points = blobs(n, dimensions)
        own, ours = least(lambda: tsanom.OPTICS(min_samples=5).fit(points))
        other, theirs = least(lambda: sklearn.cluster.OPTICS(min_samples=5).fit(points))
        assert numpy.allclose(numpy.sort(ours.reachability_), numpy.sort(theirs.reachability_))
        print(f"| {n} | {dimensions} | {own:.4f} | {other:.3f} | {other / own:.1f} |")


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
    tsanom = package(pathlib.Path(sys.argv[2]).resolve())
    if sklearn:
        optics(tsanom)
        print()
    fits(tsanom)


if __name__ == "__main__":
    main()
