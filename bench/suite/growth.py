# SPDX-License-Identifier: BSD-3-Clause
"""How cost grows with size: rows that differ in n alone."""
import math
import statistics

import words

# The size, and arguments that say what the result must be.
APART = ("n", "golden", "size", "plain")


def families(rows):
    """Lists of rows, by rising n, that have the other arguments in common."""
    found = {}
    for row in rows:
        if "n" not in row.arguments:
            continue
        others = tuple((k, v) for k, v in row.arguments.items() if k not in APART)
        found.setdefault((row.program, row.name, others), []).append(row)
    for (program, name, others), members in found.items():
        if len(members) >= 3:
            title = " ".join([name] + [words.argument(program, k, v) for k, v in others])
            yield program, title, sorted(members, key=lambda r: int(r.arguments["n"]))


def exponent(members):
    """Slope and correlation of log(cost) over log(n), by least squares. A cost a sample
    or a cell that does not grow has slope 0."""
    x = [math.log(int(r.arguments["n"])) for r in members]
    y = [math.log(r.median) for r in members]
    correlation = statistics.correlation(x, y) if len(set(y)) > 1 else 1.0
    return statistics.linear_regression(x, y).slope, correlation
