#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The distance of two series beside the C library of dtaidistance.

    dtaidistance_sources.py speed BUILD_DIR SOURCES_DIR

BUILD_DIR is one that `cmake --preset bench && cmake --build --preset bench` made;
SOURCES_DIR/dtaidistance a checkout of github.com/wannesm/dtaidistance, whose C library is
compiled with -O3 -march=native. Both functions are called from Python with prepared arguments,
alternately on one thread; each number is the least of many. Distances are compared, also with
penalty and open ends, which docs/python.md defines in terms of ours."""
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import cffi
import numpy
from python_peers import package

CASES = ((128, 12), (128, None), (1024, 50), (1024, None), (8192, 400))

ffi = cffi.FFI()
ffi.cdef("""
typedef struct {
  ssize_t window; double max_dist, max_step; ssize_t max_length_diff; double penalty;
  ssize_t psi_1b, psi_1e, psi_2b, psi_2e; bool use_pruning; int inner_dist, window_type;
} DTWSettings;
DTWSettings dtw_settings_default(void);
double dtw_distance(double *s1, ssize_t l1, double *s2, ssize_t l2, DTWSettings *settings);
""")


def compiled(sources, folder):
    """The C library of a checkout."""
    folder = pathlib.Path(folder)
    c = pathlib.Path(sources) / "dtaidistance" / "src" / "DTAIDistanceC" / "DTAIDistanceC"
    files = [c / name for name in ("dd_dtw.c", "dd_ed.c", "dd_globals.c")]
    subprocess.run(["gcc", "-O3", "-march=native", "-w", "-shared", "-fPIC", *files, "-lm", "-o",
                    folder / "dtaidistance.so"], check=True)
    return ffi.dlopen(str(folder / "dtaidistance.so"))


def settings(library, **fields):
    result = ffi.new("DTWSettings *", library.dtw_settings_default())
    for name, value in fields.items():
        setattr(result, name, value)
    return result


def pointer(array):
    return ffi.from_buffer("double[]", array)


def check(tsanom, library, random):
    """The table of definitions in docs/python.md."""
    for _ in range(300):
        n = int(random.integers(4, 60))
        x, y = random.normal(size=n), random.normal(size=n)
        w, p = int(random.integers(1, n + 1)), float(random.uniform(0, 1))
        ends = [int(random.integers(0, min(3, w))) for _ in range(4)]
        a, b, c, d = ends
        psi = dict(psi_1b=a, psi_1e=b, psi_2b=c, psi_2e=d)
        theirs = library.dtw_distance(pointer(x), n, pointer(y), n,
                                      settings(library, window=w, penalty=p, **psi))
        ours = tsanom.dtw(x, y, w - 1, cost="squared", penalty=p**2, root=True,
                          open_begin=(a, c), open_end=(b, d))
        assert math.isclose(theirs, ours, rel_tol=1e-12, abs_tol=1e-12), (theirs, ours, w, psi)
        theirs = library.dtw_distance(pointer(x), n, pointer(y), n,
                                      settings(library, window=w, penalty=p, inner_dist=1))
        ours = tsanom.dtw(x, y, w - 1, penalty=p**2)
        assert math.isclose(theirs, ours, rel_tol=1e-12), (theirs, ours, w, p, n)


def least(calls, seconds=3.0):
    """Least time of each call in microseconds; they alternate."""
    best = [math.inf] * len(calls)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - start)
    return [1e6 * t for t in best]


def main():
    if len(sys.argv) != 4 or sys.argv[1] != "speed":
        sys.exit(__doc__)
    tsanom, random = package(pathlib.Path(sys.argv[2]).resolve()), numpy.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(sys.argv[3], folder)
    check(tsanom, library, random)
    print("| n | radius | tsanom.dtw, µs | dtaidistance, µs | ratio |\n|---|---|---|---|---|")
    for n, radius in CASES:
        x, y = random.normal(size=(2, n)).cumsum(axis=1)
        a, b = pointer(x), pointer(y)
        given = settings(library, window=0 if radius is None else radius + 1)
        ours, theirs = least([
            lambda: tsanom.dtw(x, y, radius, cost="squared", root=True),
            lambda: library.dtw_distance(a, n, b, n, given)])
        print(f"| {n} | {'none' if radius is None else radius} | {ours:.4g} | {theirs:.4g} | "
              f"{theirs / ours:.3g} |", flush=True)


if __name__ == "__main__":
    main()
