# SPDX-License-Identifier: BSD-3-Clause
"""Usage: manual_plots.py PAGE DIRECTORY

Draws performance-MODULE.svg for each guide of the manual, by gnuplot, from the tables of PAGE
(docs/benchmarks.md, written by `scripts/bench --page`)."""
import pathlib
import re
import sys

import page
from pictures import COLORS, draw, line_plot

# Lines of a module: (label, benchmark, fixed arguments, column); the plot's x, and its axes.
LINES = {
    "dpd": ("n", "window N, events", "cost, ns per event", [
        ("libtsanom", "dpd event", "stream:random", "cost"),
        ("plain search", "dpd event", "stream:random", "plain")]),
    "dtw": ("n", "length of both series, samples", "cost, ns per cell", [
        ("single precision", "dtw one_pair<float>", "radius:all cost:absolute", "cost"),
        ("double precision", "dtw one_pair<double>", "radius:all cost:absolute", "cost"),
        ("plain loop, double", "dtw one_pair<double>", "radius:all cost:absolute", "plain")]),
    "hsa": ("n", "beats of a thread", "cost, ns per beat", [
        ("learn", "hsa learn", "", "cost"), ("diagnose", "hsa diagnose", "", "cost")]),
    "lbkeogh": ("radius", "radius, samples", "cost of an envelope, ns per sample", [
        ("single precision", "lbkeogh envelope<float>", "", "cost"),
        ("double precision", "lbkeogh envelope<double>", "", "cost"),
        ("monotone queue", "lbkeogh envelope<double>", "", "plain")]),
    "optics": ("n", "points, 14 dimensions", "time, ms", [
        ("libtsanom", "optics order_growth_many_dimensions", "", "cost"),
        ("double loop", "optics order_growth_many_dimensions", "", "plain")]),
    "roughset": ("n", "rows, 20 attributes", "time, ms", [
        ("all reducts", "roughset all_reducts", "attributes:20", "cost"),
        ("elements", "roughset elements", "attributes:20", "cost"),
        ("elements, plain", "roughset elements", "attributes:20", "plain")]),
    "speedup": ("n", "period of the loop, regions", "cost, ns per region", [
        ("push", "speedup push", "", "cost")]),
    "spmd": ("n", "processes", "time of an analysis, ms", [
        ("14 regions", "spmd bench_analyse", "regions:14 family:balanced", "cost"),
        ("200 regions", "spmd bench_analyse", "regions:200 family:balanced", "cost")]),
}
# Bars of a module: the axis, and (label, benchmark, fixed arguments, column).
BARS = {
    "heartbeat": ("cost, ns per beat", [
        ("time-stamp counter", "heartbeat beat", "clock:tsc threads:1", "cost"),
        ("CLOCK_MONOTONIC", "heartbeat beat", "clock:monotonic threads:1", "cost"),
        ("full speed, with growth", "heartbeat flood", "", "cost"),
        ("amid other work", "heartbeat beat_amid_work", "", "cost"),
        ("without a run", "heartbeat beat_without_run", "", "cost")]),
    "search": ("time, ms", [
        ("set, libtsanom", "search nearest", "threads:1", "cost"),
        ("set, plain", "search nearest", "threads:1", "plain"),
        ("stream, libtsanom", "search stream", "threads:1", "cost"),
        ("stream, plain", "search stream", "threads:1", "plain")]),
}
# Columns of the peers' table of polyfit at n = 1000.
POLYFIT = [("libtsanom, refined", "refined, µs"), ("libtsanom, plain", "plain, µs"),
           ("numpy", "numpy, µs"), ("GSL", "gsl, µs")]


def values(rows, benchmark, fixed, column):
    """(arguments, value) of the rows of a benchmark that have all fixed arguments."""
    for arguments, row in page.chosen(rows, benchmark, fixed):
        if row[column]:
            yield arguments, float(row[column])


def bar_plot(y, bars):
    """Commands of gnuplot for horizontal labels below bars."""
    data = "\n".join(f'{i} {value} "{label}"' for i, (label, value) in enumerate(bars))
    return [f"$bars << END\n{data}\nEND", f"set ylabel '{y}'", "unset key", "set grid ytics",
            "set yrange [0:*]", "set boxwidth 0.6", "set style fill solid",
            f"set xrange [-0.6:{len(bars) - 0.4}]", "set xtics nomirror",
            f"plot $bars using 1:2:xtic(3) with boxes lc rgb '{COLORS[0]}', "
            "'' using 1:2:(sprintf('%g', $2)) with labels offset 0, 0.7"]


def main():
    text = pathlib.Path(sys.argv[1]).read_text()
    directory = pathlib.Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    rows = page.table(text, "## Cost\n")
    for module, (key, x, y, lines) in LINES.items():
        found = [(label, [(int(a[key]), v) for a, v in values(rows, *which)])
                 for label, *which in lines]
        draw(directory / f"performance-{module}.svg", line_plot(x, y, found, key=False))
    for module, (y, bars) in BARS.items():
        found = [(re.sub(", ", "\\\\n", label), next(values(rows, *which))[1])
                 for label, *which in bars]
        draw(directory / f"performance-{module}.svg", bar_plot(y, found))
    peers = [row for row in page.table(text, "libraries: polyfit\n") if row["n"] == "1000"]
    found = [(label, [(int(row["degree"]), float(row[column])) for row in peers])
             for label, column in POLYFIT]
    draw(directory / "performance-polyfit.svg", line_plot("degree", "time, µs per fit", found, key=False))


main()
