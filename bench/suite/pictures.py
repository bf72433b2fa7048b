# SPDX-License-Identifier: BSD-3-Clause
"""Cost over size, one plot per program, drawn by gnuplot."""
import pathlib
import subprocess

import growth
import palette


def script(program, unit, families, file):
    """Commands for gnuplot, with the data in them."""
    lines = [f"set terminal svg size 900,600 dynamic", f"set output '{file}'",
             "set logscale xy", "set key outside right", "set grid",
             "set xlabel 'n, number of elements'", f"set ylabel 'cost, {unit}'",
             f"set title '{program}: cost over size'"]
    lines += [f"set linetype {i + 1} lc rgb '{color}'" for i, color in enumerate(palette.COLORS)]
    for i, (_, members) in enumerate(families):
        points = "\n".join(f"{r.arguments['n']} {r.median}" for r in members)
        lines.append(f"$family{i} << END\n{points}\nEND")
    plots = [f"$family{i} with linespoints title '{title}' noenhanced"
             for i, (title, _) in enumerate(families)]
    lines.append("plot " + ", \\\n  ".join(plots))
    return "\n".join(lines) + "\n"


def draw(rows, folder):
    """Returns the files that were written."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for program, title, members in growth.families(rows):
        pictures.setdefault((program, members[0].unit), []).append((title, members))
    files = []
    for (program, unit), families in pictures.items():
        file = folder / f"{program}-{unit.replace('/', '-per-')}.svg"
        subprocess.run(["gnuplot"], input=script(program, unit, families, file), text=True,
                       check=True)
        files.append(file)
    return files
