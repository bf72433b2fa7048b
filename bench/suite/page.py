# SPDX-License-Identifier: BSD-3-Clause
"""Reads the tables of docs/benchmarks.md, which `scripts/bench --page` writes."""


def table(page, heading):
    """The rows of the tables below a heading, as dictionaries by column."""
    lines = page.partition(heading)[2].split("\n## ")[0].splitlines()
    rows, columns = [], None
    for line in lines:
        cells = [cell.strip(" `") for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            columns = None
        elif columns is None:
            columns = cells
        elif set(cells[0]) != {"-"}:
            rows.append(dict(zip(columns, cells)))
    return rows


def chosen(rows, benchmark, fixed):
    """The rows of a benchmark that have all fixed arguments, with their arguments by name."""
    for row in rows:
        arguments = row["arguments"].split()
        if row["benchmark"] == benchmark and set(fixed.split()) <= set(arguments):
            yield dict(a.split(":", 1) for a in arguments), row
