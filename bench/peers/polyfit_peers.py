#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Polynomial regression beside numpy, GSL and Eigen, these as far as they are installed
(Debian: python3-numpy, libgsl-dev, libeigen3-dev).

    polyfit_peers.py speed BUILD_DIR

BUILD_DIR is one that `cmake --preset bench && cmake --build --preset bench`
made. Prints a Markdown table of the seconds of a fit. Run with OMP_NUM_THREADS=1:
everything is timed on one thread, and the least of several runs counts.
"""
import pathlib
import subprocess
import sys

import numpy
from python_peers import least


def time_numpy(n, degree):
    i = numpy.arange(n)
    x = 2 * (i + 0.5) / n - 1
    y = numpy.sin(7 * i / n) + 0.1 * numpy.random.default_rng(1).random(n)
    return least(lambda: numpy.polyfit(x, y, degree), seconds=0.05)[0]


def print_speed(build):
    cases = [(n, degree) for n in (2, 4, 8, 16, 64, 100, 1000, 100000, 1000000)
             for degree in (1, 2, 3, 5, 7, 10) if degree < n]
    arguments = [str(number) for case in cases for number in case]
    answer = subprocess.run([str(build / "bench" / "polyfit_speed"), *arguments],
                            check=True, capture_output=True, text=True).stdout
    seconds = {}
    for line in answer.split():
        name, n, degree, value = line.split(",")
        seconds[name, int(n), int(degree)] = float(value)
    peers = ["numpy"] + [name for name in ("gsl", "eigen") if (name, *cases[0]) in seconds]
    print("| n | degree | refined, µs | plain, µs | coefficients, µs | " +
          "".join(f"{peer}, µs | " for peer in peers) +
          "best peer / refined | best peer / plain | best peer / coefficients | "
          "selection / one fit, refined |")
    print("|---" * (9 + len(peers)) + "|")
    for case in cases:
        seconds["numpy", *case] = time_numpy(*case)
        refined, plain = seconds["refined", *case], seconds["plain", *case]
        coefficients = seconds["coefficients", *case]
        best = min(seconds[peer, *case] for peer in peers)
        print(f"| {case[0]} | {case[1]} | {1e6 * refined:.3g} | {1e6 * plain:.3g} | "
              f"{1e6 * coefficients:.3g} | " +
              "".join(f"{1e6 * seconds[peer, *case]:.3g} | " for peer in peers) +
              f"{best / refined:.1f} | {best / plain:.1f} | {best / coefficients:.2f} | "
              f"{seconds['selected_refined', *case] / refined:.2f} |")


def main():
    if len(sys.argv) != 3 or sys.argv[1] != "speed":
        sys.exit(__doc__)
    print_speed(pathlib.Path(sys.argv[2]))


if __name__ == "__main__":
    main()
