#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""OPTICS beside scikit-learn and R's dbscan, as far as they are installed (Debian: python3-sklearn,
r-cran-dbscan).

    optics_peers.py BUILD_DIR

BUILD_DIR is one that `cmake --preset bench && cmake --build --preset bench` made.
Prints a Markdown table of seconds for Gaussian blobs with 10 % noise, min_points 5,
each on one thread, the least of five runs. A peer's ten highest peaks are compared with
ours: below, peers differ where rounding makes or breaks ties. Run with
OMP_NUM_THREADS=1.
"""
import math
import pathlib
import shutil
import subprocess
import tempfile
import time

import numpy
from package import arguments, package

try:
    import sklearn.cluster
except ImportError:
    sklearn = None

MIN_POINTS = 5
REPETITIONS = 5
# points, dimensions, eps
CASES = ((10_000, 1, math.inf), (10_000, 2, math.inf), (10_000, 2, 1.5), (10_000, 14, math.inf))


def blobs(n, dimensions):
    random = numpy.random.default_rng(7)
    centres = 100 * random.random((20, dimensions))
    points = centres[random.integers(0, 20, n)] + 2 * random.normal(size=(n, dimensions))
    noise = random.random(n) < 0.1
    points[noise] = 100 * random.random((noise.sum(), dimensions))
    return numpy.ascontiguousarray(points)


def scikit_learn(points, eps):
    start = time.perf_counter()
    _, _, reachability, _ = sklearn.cluster.compute_optics_graph(
        points, min_samples=MIN_POINTS, max_eps=eps, metric="euclidean", p=2,
        metric_params=None, algorithm="auto", leaf_size=30, n_jobs=1)
    return time.perf_counter() - start, reachability


def r_dbscan(points, eps):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "points.bin"
        points.T.tofile(file)
        n, dimensions = points.shape
        bound = 1e9 if math.isinf(eps) else eps
        script = (f"x <- matrix(readBin('{file}', 'double', {n * dimensions}), {n});"
                  f"t <- system.time(o <- dbscan::optics(x, eps={bound}, minPts={MIN_POINTS}));"
                  f"writeBin(o$reachdist, '{folder}/reach.bin'); cat(t[['user.self']])")
        answer = subprocess.run(["Rscript", "-e", script], check=True, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return float(answer), numpy.fromfile(f"{folder}/reach.bin")


def agrees(own, other):
    def peaks(plot):
        return numpy.sort(plot[numpy.isfinite(plot)])[-10:]
    return numpy.allclose(peaks(own), peaks(other), rtol=1e-9)


def peers():
    table = {}
    if sklearn:
        table[f"scikit-learn {sklearn.__version__}"] = scikit_learn
    if shutil.which("Rscript") and subprocess.run(
            ["Rscript", "-e", "library(dbscan)"], capture_output=True).returncode == 0:
        table["R dbscan"] = r_dbscan
    return table


def least(run, points, eps):
    """Least time of the repetitions, and the plot."""
    runs = [run(points, eps) for _ in range(REPETITIONS)]
    return min(seconds for seconds, _ in runs), runs[0][1]


def main():
    tsanom, others = package(*arguments(__doc__, 1)), peers()

    def own(points, eps):
        start = time.perf_counter()
        plot = tsanom.optics_order(points, MIN_POINTS, max_eps=eps).reachability
        return time.perf_counter() - start, plot

    print("| n | dimensions | eps | libtsanom, s | " + " | ".join(f"{name}, s" for name in others) +
          " | best peer / libtsanom |")
    print("|---" * (5 + len(others)) + "|")
    for n, dimensions, eps in CASES if others else ():
        points = blobs(n, dimensions)
        seconds, reachability = least(own, points, eps)
        found = [least(run, points, eps) for run in others.values()]
        cells = " | ".join(f"{time:.2f} ({'same' if agrees(reachability, plot) else 'other'} peaks)"
                           for time, plot in found)
        print(f"| {n} | {dimensions} | {eps} | {seconds:.4f} | {cells} | "
              f"{min(s for s, _ in found) / seconds:.1f} |")


if __name__ == "__main__":
    main()
