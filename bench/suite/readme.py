# SPDX-License-Identifier: BSD-3-Clause
"""Usage: readme.py [--check]

Writes the tables of section "Speed" of README.md, between their marks, from docs/benchmarks.md.
--check changes nothing, and exits with 1 if they differ."""
import pathlib
import sys

import page

# Beside another library: the problem, the heading and the cells that choose the row, and
# what the columns of both times begin with, before a comma and their unit.
BOTH = ("libtsanom", "other")
PEERS = [
    ("OPTICS, 10 000 points, 2 dimensions", "optics",
     {"n": "10000", "dimensions": "2", "eps": "inf"}, ("libtsanom", "scikit-learn")),
    ("OPTICS, 10 000 points, 14 dimensions", "optics",
     {"n": "10000", "dimensions": "14", "eps": "inf"}, ("libtsanom", "scikit-learn")),
    ("OPTICS, 10 000 points, 2 dimensions, radius 1.5", "optics",
     {"n": "10000", "dimensions": "2", "eps": "1.5"}, ("libtsanom", "R dbscan")),
    ("polynomial of degree 3, 1000 samples, exact to the last digit", "polyfit",
     {"n": "1000", "degree": "3"}, ("refined", "numpy")),
    ("polynomial of degree 10, 1 000 000 samples, exact to the last digit", "polyfit",
     {"n": "1000000", "degree": "10"}, ("refined", "numpy")),
    ("smallest reduct, 100 rows, 20 attributes", "roughset",
     {"rows": "100", "attributes": "20"}, ("tsanom", "HiGHS")),
    ("DTW of two series of 2000 samples, single precision", "compiled",
     {"problem": "DTW f32, n = 2000"}, BOTH),
    ("nearest neighbor under DTW, 5000 series", "compiled",
     {"problem": "nearest of 5000 walks, squared, n = 256, radius 12"}, BOTH),
    ("envelope of LB_Keogh, radius 100", "compiled",
     {"problem": "envelope, n = 100000, radius 100"}, BOTH),
    ("heartbeat", "compiled", {"problem": "beat of one thread"}, BOTH),
]
# Beside the plain form: the problem, the benchmark and its arguments.
PLAIN = [
    ("DTW of two series of 2000 samples", "dtw one_pair<double>",
     "n:2000 radius:all cost:absolute threads:1"),
    ("the same in a window of 10 %", "dtw one_pair<double>",
     "n:2000 radius:200 cost:absolute threads:1"),
    ("period of a stream of events, window 8192", "dpd event", "stream:random n:8192"),
    ("envelope of LB_Keogh, radius 100", "lbkeogh envelope<double>", "n:4096 radius:100"),
    ("nearest neighbors under DTW, 5000 series", "search nearest", "threads:1"),
]
UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def shown(value, unit):
    """With three digits; seconds of any size in the unit that suits."""
    seconds = value * dict(UNITS).get(unit, 0)
    for name, size in UNITS:
        if seconds >= size:
            return f"{seconds / size:.3g} {name}"
    number = f"{value:.3g}" if value < 1000 else f"{value:.0f}"
    return f"{number} {unit.replace('/', ' per ')}"


def ratio(value):
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def of_peers(text):
    lines = ["| problem | libtsanom | other library | ratio |", "|---|---|---|---|"]
    for problem, heading, cells, begins in PEERS:
        for row in page.table(text, f"libraries: {heading}\n"):
            if any(row.get(column) != cell for column, cell in cells.items()):
                continue
            columns = [next(c for c in row if c == begin or c.startswith(begin) and ", " in c)
                       for begin in begins]
            own, other = (float(row[column].split()[0]) for column in columns)
            name, _, unit = columns[1].rpartition(", ")
            name, unit = row.get("other library", name), row.get("unit", unit)
            lines.append(f"| {problem} | {shown(own, unit)} | {name}: {shown(other, unit)} | "
                         f"{ratio(other / own)} |")
            break
    return lines


def of_plain(text):
    lines = ["| problem | libtsanom | plain form | ratio |", "|---|---|---|---|"]
    rows = page.table(text, "## Cost\n")
    for problem, benchmark, fixed in PLAIN:
        for _, row in page.chosen(rows, benchmark, fixed):
            own, plain = float(row["cost"]), float(row["plain"])
            lines.append(f"| {problem} | {shown(own, row['unit'])} | {shown(plain, row['unit'])} | "
                         f"{ratio(plain / own)} |")
    return lines


def with_table(readme, mark, lines):
    """README with the table between the marks replaced."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
    before, _, rest = readme.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        sys.exit(f"readme.py: README.md has no marks '{mark}'")
    return before + begin + "\n".join(lines) + "\n" + end + after


def main():
    root = pathlib.Path(__file__).parents[2]
    text, file = (root / "docs" / "benchmarks.md").read_text(), root / "README.md"
    old = file.read_text()
    new = with_table(old, "other libraries", of_peers(text))
    new = with_table(new, "plain forms", of_plain(text))
    if "--check" not in sys.argv:
        file.write_text(new)
    elif new != old:
        sys.exit("readme.py: the tables of README.md are not those of docs/benchmarks.md; run bench/suite/readme.py")


if __name__ == "__main__":
    main()
