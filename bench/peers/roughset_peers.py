#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A minimum reduct beside the solver HiGHS of SciPy (Debian: python3-scipy).

    roughset_peers.py BUILD_DIR

BUILD_DIR is one that `cmake --preset bench && cmake --build --preset bench` made. HiGHS gets
the discernibility matrix, each set of attributes once, as a set-covering problem; only its
solution is timed, for us the whole function from the table on. Both prove that the result is
minimum; its size is compared. Prints a Markdown table of seconds: medians of five repetitions on one
thread by its own clock, and the spread, largest less smallest. Run with OMP_NUM_THREADS=1."""
import statistics
import time

import numpy
from package import arguments, package
from scipy.optimize import Bounds, LinearConstraint, milp

REPETITIONS = 5
# rows, attributes, values of each
CASES = ((50, 20, 2), (100, 20, 2), (200, 16, 4))


def discernibility(table, decision):
    """A row for each set of attributes that differ in a pair of rows of unlike decision."""
    sets = set()
    for i, row in enumerate(table):
        others = table[i + 1:][decision[i + 1:] != decision[i]]
        sets.update(map(bytes, numpy.packbits(others != row, axis=1)))
    packed = numpy.frombuffer(b"".join(sorted(sets)), dtype=numpy.uint8).reshape(len(sets), -1)
    return numpy.unpackbits(packed, axis=1)[:, :table.shape[1]]


def solve(matrix):
    """The number of attributes of a smallest set that meets every row."""
    attributes = matrix.shape[1]
    found = milp(numpy.ones(attributes), integrality=numpy.ones(attributes), bounds=Bounds(0, 1),
                 constraints=LinearConstraint(matrix, lb=1))
    assert found.success
    return round(found.fun)


def repeated(run):
    """Median and spread of the seconds, and the result."""
    times = []
    for _ in range(REPETITIONS):
        start = time.thread_time()
        result = run()
        times.append(time.thread_time() - start)
    middle = statistics.median(times)
    return middle, (max(times) - min(times)) / middle, result


def main():
    tsanom = package(*arguments(__doc__, 1))
    print("| rows | attributes | values | smallest reduct | tsanom.minimum_reducts, s | spread | "
          "HiGHS, s | spread | ratio |\n|---|---|---|---|---|---|---|---|---|")
    for rows, attributes, values in CASES:
        random = numpy.random.default_rng(1)
        table = random.integers(0, values, (rows, attributes))
        decision = random.integers(0, 2, rows)
        own, own_spread, reducts = repeated(lambda: tsanom.minimum_reducts(table, decision))
        matrix = discernibility(table, decision)
        other, other_spread, size = repeated(lambda: solve(matrix))
        assert all(len(reduct) == size for reduct in reducts)
        print(f"| {rows} | {attributes} | {values} | {size} | {own:.4g} | {100 * own_spread:.0f} % | "
              f"{other:.4g} | {100 * other_spread:.0f} % | {other / own:.1f} |", flush=True)


if __name__ == "__main__":
    main()
