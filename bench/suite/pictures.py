# SPDX-License-Identifier: BSD-3-Clause
"""Plots of lines by gnuplot: of cost over size, one per program, and those of the manual."""
import pathlib
import subprocess

import growth

# Okabe and Ito's colors, which color-blind readers distinguish.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]


def line_plot(x, y, lines, key):
    """Commands for lines (label, points) with a key, or whose ends carry their labels."""
    out = ["set logscale xy", f"set xlabel '{x}'", f"set ylabel '{y}'", "set grid",
           *(["set key outside right"] if key else
             ["unset key", "set autoscale xfix", "set rmargin 22"])]
    plots = []
    for i, (label, points) in enumerate(lines):
        data = "\n".join(f"{a} {b}" for a, b in sorted(points))
        last, color = max(points), COLORS[i % len(COLORS)]
        out.append(f"$line{i} << END\n{data}\nEND")
        if not key:
            out.append(f"set label '{label}' at {last[0]}, {last[1]} offset 1.2, 0 tc rgb '{color}'")
        plots.append(f"$line{i} with linespoints lw 2 pt 7 ps 0.6 lc rgb '{color}' title '{label}'")
    return out + ["plot " + ", ".join(plots)]


def draw(file, commands):
    head = ["set encoding utf8",
            "set terminal svg size 760,430 dynamic noenhanced background 'white'",
            f"set output '{file}'", "set border 3", "set tics nomirror", "set bmargin 4"]
    subprocess.run(["gnuplot"], input="\n".join(head + commands) + "\n", text=True, check=True)


def draw_growth(rows, folder):
    """Cost over size by program and unit. Returns the files that were written."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plots = {}
    for program, title, members in growth.families(rows):
        points = [(int(row.arguments["n"]), row.median) for row in members]
        plots.setdefault((program, members[0].unit), []).append((title, points))
    files = []
    for (program, unit), lines in plots.items():
        files.append(folder / f"{program}-{unit.replace('/', '-per-')}.svg")
        draw(files[-1], [f"set title '{program}: cost over size'",
                         *line_plot("n, number of elements", f"cost, {unit}", lines, key=True)])
    return files
