#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Polynomial regression beside numpy, GSL and Eigen, these as far as they are installed
(Debian: python3-numpy, libgsl-dev, libeigen3-dev).

    polyfit_peers.py BUILD_DIR

BUILD_DIR is one that `cmake --preset bench && cmake --build --preset bench`
made. Prints a Markdown table of the seconds of a fit. Run with OMP_NUM_THREADS=1:
everything is timed on one thread, and the least of several runs counts.
"""
import subprocess

import numpy
from package import arguments, least


NUMPY = {"numpy": numpy.polyfit, "numpy Chebyshev.fit": numpy.polynomial.Chebyshev.fit}


def time_numpy(fit, n, degree):
    i = numpy.arange(n)
    x = 2 * (i + 0.5) / n - 1
    y = numpy.sin(7 * i / n) + 0.1 * numpy.random.default_rng(1).random(n)
    return least(lambda: fit(x, y, degree), seconds=0.05)


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
    peers = [*NUMPY] + [name for name in ("gsl", "eigen") if (name, *cases[0]) in seconds]
    print("| n | degree | refined, µs | plain, µs | coefficients, µs | " +
          "".join(f"{peer}, µs | " for peer in peers) +
          "best peer / refined | best peer / plain | best peer / coefficients | "
          "selection / one fit, refined |")
    print("|---" * (9 + len(peers)) + "|")
    for case in cases:
        for name, fit in NUMPY.items():
            seconds[name, *case] = time_numpy(fit, *case)
        refined, plain = seconds["refined", *case], seconds["plain", *case]
        coefficients = seconds["coefficients", *case]
        best = min(seconds[peer, *case] for peer in peers)
        print(f"| {case[0]} | {case[1]} | {1e6 * refined:.3g} | {1e6 * plain:.3g} | "
              f"{1e6 * coefficients:.3g} | " +
              "".join(f"{1e6 * seconds[peer, *case]:.3g} | " for peer in peers) +
              f"{best / refined:.1f} | {best / plain:.1f} | {best / coefficients:.2f} | "
              f"{seconds['selected_refined', *case] / refined:.2f} |")


def main():
    print_speed(*arguments(__doc__, 1))


if __name__ == "__main__":
    main()
