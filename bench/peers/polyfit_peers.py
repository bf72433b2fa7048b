#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Polynomial regression beside numpy, GSL, Eigen and R, as far as they are installed
(Debian: python3-numpy, libgsl-dev, libeigen3-dev, r-base-core).

    polyfit_peers.py digits BUILD_DIR   log relative errors on NIST StRD
    polyfit_peers.py speed  BUILD_DIR   seconds of a fit

BUILD_DIR is one that `cmake --preset bench && cmake --build --preset bench`
made. Both print a Markdown table. Run with OMP_NUM_THREADS=1: everything is
timed on one thread, by its own clock, and the least of several runs counts.
"""
import ctypes
import math
import pathlib
import shutil
import subprocess
import sys
import time
from fractions import Fraction

import polyfit_library

DATA = pathlib.Path(__file__).parents[2] / "tests" / "data" / "nist"
SETS = ("norris", "pontius", "filip", "wampler1", "wampler2", "wampler3", "wampler4",
        "wampler5")
MOST_DIGITS = 16  # shown for a result that is the nearest double

try:
    import numpy
except ImportError:
    numpy = None


def read_sets():
    sets = {name: {} for name in SETS}
    for name in SETS:
        rows = [line.split(",") for line in (DATA / f"{name}.csv").read_text().split()[1:]]
        sets[name]["y"] = [float(row[0]) for row in rows]
        sets[name]["x"] = [float(row[1]) for row in rows]
        sets[name]["certified"] = {}
        sets[name]["rounded"] = {}
    for line in (DATA / "certified.csv").read_text().splitlines()[2:]:
        name, degree, quantity, _, certified, rounded = line.split(",")
        sets[name]["degree"] = int(degree)
        sets[name]["certified"].setdefault(quantity, []).append(Fraction(certified))
        if rounded:
            sets[name]["rounded"].setdefault(quantity, []).append(Fraction(rounded))
    return sets


def digits(got, certified):
    """Log relative error; absolute where the certified value is 0."""
    if not math.isfinite(got):
        return 0.0
    error = abs(Fraction(got) - certified)
    if certified:
        error /= abs(certified)
    if error == 0:
        return math.inf
    return max(0.0, -math.log10(error))


def least_digits(values, certified):
    return min(digits(got, exact) for got, exact in zip(values, certified))


def from_residuals(x, y, coefficients):
    """Residual sd and R^2 as a user of a bare fit would compute them."""
    x, y = numpy.array(x), numpy.array(y)
    residual = y - numpy.polynomial.polynomial.polyval(x, coefficients)
    rss = residual @ residual
    sd = math.sqrt(rss / (len(x) - len(coefficients)))
    return sd, 1 - rss / ((y - y.mean()) @ (y - y.mean()))


def fit_numpy(x, y, degree):
    coefficients = numpy.polyfit(x, y, degree)[::-1]
    return (list(map(float, coefficients)), *from_residuals(x, y, coefficients))


def fit_numpy_mapped(x, y, degree):
    fit = numpy.polynomial.Chebyshev.fit(x, y, degree)
    coefficients = fit.convert(kind=numpy.polynomial.Polynomial).coef
    residual = numpy.array(y) - fit(numpy.array(x))
    rss = float(residual @ residual)
    centred = numpy.array(y) - numpy.mean(y)
    sd = math.sqrt(rss / (len(x) - degree - 1))
    return list(map(float, coefficients)), sd, 1 - rss / float(centred @ centred)


class Gsl:
    """gsl_multifit_linear() on powers of x."""

    def __init__(self):
        ctypes.CDLL("libgslcblas.so.0", ctypes.RTLD_GLOBAL)
        self.lib = ctypes.CDLL("libgsl.so.27")
        for name in ("gsl_matrix_alloc", "gsl_vector_alloc",
                     "gsl_multifit_linear_alloc"):
            getattr(self.lib, name).restype = ctypes.c_void_p
        self.lib.gsl_vector_get.restype = ctypes.c_double

    def fit(self, x, y, degree):
        lib, size = self.lib, ctypes.c_size_t
        pointer, real = ctypes.c_void_p, ctypes.c_double
        n, terms = len(x), degree + 1
        a = pointer(lib.gsl_matrix_alloc(size(n), size(terms)))
        covariance = pointer(lib.gsl_matrix_alloc(size(terms), size(terms)))
        right, c = (pointer(lib.gsl_vector_alloc(size(m))) for m in (n, terms))
        work = pointer(lib.gsl_multifit_linear_alloc(size(n), size(terms)))
        rss = real()
        for i in range(n):
            power = 1.0
            for k in range(terms):
                lib.gsl_matrix_set(a, size(i), size(k), real(power))
                power *= x[i]
            lib.gsl_vector_set(right, size(i), real(y[i]))
        lib.gsl_multifit_linear(a, right, c, covariance, ctypes.byref(rss), work)
        coefficients = [lib.gsl_vector_get(c, size(k)) for k in range(terms)]
        mean = math.fsum(y) / n
        tss = math.fsum((value - mean) ** 2 for value in y)
        return coefficients, math.sqrt(rss.value / (n - terms)), 1 - rss.value / tss


def fit_r(x, y, degree, tolerance):
    script = (f"x <- c({','.join(map(repr, x))}); y <- c({','.join(map(repr, y))});"
              f"f <- lm(y ~ poly(x, {degree}, raw=TRUE){tolerance});"
              "s <- suppressWarnings(summary(f)); b <- coef(f); b[is.na(b)] <- NaN;"
              "cat(sprintf('%.17g', c(b, s$sigma, s$r.squared)))")
    answer = subprocess.run(["Rscript", "-e", script], check=True, capture_output=True,
                            text=True).stdout.split()
    values = [float(word) for word in answer]
    return values[:-2], values[-2], values[-1]


def ways(library):
    def own(refine):
        def fit(x, y, degree):
            model = library.fit(x, y, degree, refine)
            return list(model.monomial[:degree + 1]), model.residual_sd, model.r2
        return fit

    table = {"libtsanom": own(True), "libtsanom, refine = 0": own(False)}
    if numpy:
        table[f"numpy {numpy.__version__} polyfit"] = fit_numpy
        table["numpy Chebyshev.fit, converted"] = fit_numpy_mapped
    try:
        table["GSL multifit_linear"] = Gsl().fit
    except OSError:
        pass
    if shutil.which("Rscript"):
        table["R lm(poly(raw = TRUE))"] = lambda x, y, d: fit_r(x, y, d, "")
        table["R lm, tol = 1e-20"] = lambda x, y, d: fit_r(x, y, d, ", tol=1e-20")
    return table


def shown(value):
    return "exact" if value > MOST_DIGITS else f"{value:.1f}"


def print_digits(build):
    sets = read_sets()
    table = ways(polyfit_library.Library(str(build / "libtsanom.so")))
    heading = " | ".join(("method",) + SETS)
    for index, quantity in enumerate(("coefficient", "residual_sd", "r2")):
        print(f"\n**{quantity}**\n\n| {heading} |\n|---{'|---' * len(SETS)}|")
        row = []
        for name in SETS:
            rounded = sets[name]["rounded"][quantity]
            row.append(shown(least_digits(map(float, rounded),
                                          sets[name]["certified"][quantity])))
        print("| *ceiling* | " + " | ".join(row) + " |")
        for way, fit in table.items():
            row = []
            for name in SETS:
                s = sets[name]
                answer = fit(s["x"], s["y"], s["degree"])[index]
                answer = answer if isinstance(answer, list) else [answer]
                row.append(shown(least_digits(answer, s["certified"][quantity])))
            print(f"| {way} | " + " | ".join(row) + " |")


def time_numpy(n, degree):
    i = numpy.arange(n)
    x = 2 * (i + 0.5) / n - 1
    y = numpy.sin(7 * i / n) + 0.1 * numpy.random.default_rng(1).random(n)
    best, total, runs = math.inf, 0.0, 0
    while runs < 5 or (total < 0.05 and runs < 2000):
        start = time.thread_time()
        numpy.polyfit(x, y, degree)
        seconds = time.thread_time() - start
        best, total, runs = min(best, seconds), total + seconds, runs + 1
    return best


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
    peers = [name for name in ("numpy", "gsl", "eigen")
             if name == "numpy" and numpy or (name, *cases[0]) in seconds]
    print("| n | degree | refined, µs | plain, µs | coefficients, µs | " +
          "".join(f"{peer}, µs | " for peer in peers) +
          "best peer / refined | best peer / plain | best peer / coefficients | "
          "selection / one fit, refined |")
    print("|---" * (9 + len(peers)) + "|")
    for case in cases:
        if numpy:
            seconds["numpy", *case] = time_numpy(*case)
        refined, plain = seconds["refined", *case], seconds["plain", *case]
        coefficients = seconds["coefficients", *case]
        best = min((seconds[peer, *case] for peer in peers), default=math.nan)
        print(f"| {case[0]} | {case[1]} | {1e6 * refined:.3g} | {1e6 * plain:.3g} | "
              f"{1e6 * coefficients:.3g} | " +
              "".join(f"{1e6 * seconds[peer, *case]:.3g} | " for peer in peers) +
              f"{best / refined:.1f} | {best / plain:.1f} | {best / coefficients:.2f} | "
              f"{seconds['selected_refined', *case] / refined:.2f} |")


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("digits", "speed"):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[2])
    print_digits(build) if sys.argv[1] == "digits" else print_speed(build)


if __name__ == "__main__":
    main()
