# SPDX-License-Identifier: BSD-3-Clause
"""What a run of the suite prints: Markdown, so that it can stand in a page."""
import statistics

import growth
import measure
import threads
import words


def columns(head, lines):
    """A Markdown table whose columns line up."""
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    rule = ["-" * w for w in widths]
    return "\n".join("| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths)) + " |"
                     for line in [head, rule, *lines])


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def described(machine, mode, date, rows):
    counts = [len(row.cost) for row in rows]
    least = min(counts, default=0)
    repetitions = f"{least} repetition{'' if least == 1 else 's'}"
    return (f"{date}, {mode} run with {repetitions} of tsanom {machine['tsanom']}: {machine['processor']}, "
            f"{machine['processors']} processors at {machine['mhz']} MHz, instruction set "
            f"{machine['isa']}, {machine['compiler']} ({machine['flags'].strip()}), "
            f"{machine['openblas'].strip()}, {machine['threads']} OpenMP threads")


def against(row, stored):
    """Ratio of the medians, and the least and largest of any two repetitions."""
    old = stored.get(row.key)
    if old is None:
        return "new"
    return (f"{row.median / old.median:.2f} "
            f"({min(row.cost) / max(old.cost):.2f}-{max(row.cost) / min(old.cost):.2f})")


def of_rows(rows, stored):
    head = ["benchmark", "arguments", "cost", "unit", "spread", "plain", "plain/cost"]
    if stored is not None:
        head.append("against stored")
    lines = []
    for row in rows:
        plain = statistics.median(row.plain) if row.plain else None
        line = [f"`{row.program} {row.name}`",
                " ".join(words.argument(row.program, k, v) for k, v in row.arguments.items()
                         if k == "n" or k not in growth.APART), number(row.median),
                row.unit, f"{100 * row.spread:.0f} %", number(plain) if plain else "",
                number(plain / row.median) if plain else ""]
        if stored is not None:
            line.append(against(row, stored))
        lines.append(line)
    return columns(head, lines)


def of_growth(rows):
    lines = []
    for program, title, members in growth.families(rows):
        slope, correlation = growth.exponent(members)
        sizes = [r.arguments["n"] for r in members]
        lines.append([f"`{program} {title}`", f"{sizes[0]} ... {sizes[-1]}", members[0].unit,
                      f"n^{slope:.2f}", f"{correlation:.4f}"])
    return columns(["benchmark", "n", "unit", "cost grows as", "correlation"], lines)


def of_levels(rows):
    """Rows that differ in the instruction set only, as ratios to the last, which is the best."""
    families = {}
    for row in rows:
        if measure.LEVELS in row.name:
            others = tuple((k, v) for k, v in row.arguments.items() if k != "isa")
            families.setdefault((row.program, row.name, others), []).append(row)
    lines = []
    for (program, name, others), members in families.items():
        best = members[-1]
        ratios = [f"{words.argument(program, 'isa', row.arguments['isa'])} {row.median / best.median:.2f}"
                  for row in members[:-1]]
        lines.append([f"`{program} {name}`", " ".join(words.argument(program, k, v) for k, v in others),
                      number(best.median), best.unit, ", ".join(ratios)])
    return columns(["benchmark", "arguments", "best", "unit", "others/best"], lines)


def of_threads(rows):
    isas = [int(row.arguments["isa"]) for row in rows if "isa" in row.arguments]
    pairs = threads.pairs(rows, lambda row: (row.name, row.arguments), str(max(isas, default=0)))
    lines = []
    for one, row in pairs:
        arguments = " ".join(words.argument(row.program, k, v) for k, v in row.arguments.items()
                             if k not in ("isa", "threads"))
        lines.append([f"`{row.program} {row.name}`", arguments, row.arguments["threads"],
                      number(one.median), number(row.median), row.unit,
                      f"{one.median / row.median:.2f}",
                      f"{one.median / statistics.median(row.separate):.2f}" if row.separate else ""])
    return columns(["benchmark", "arguments", "threads", "one thread", "these threads", "unit",
                    "one/these", "one/separate"], lines)


def report(description, rows, stored, peers):
    """All tables of a run; `peers` holds those of other libraries by their scripts."""
    parts = [description, "## Cost", of_rows(rows, stored),
             "## Growth", of_growth(rows), "## Instruction sets", of_levels(rows),
             "## Threads", of_threads(rows)]
    for name, text in peers.items():
        if text.count("\n") < 3:  # a heading without rows
            continue
        parts += [f"## Beside other libraries: {name.rpartition('_')[0]}", text.strip()]
    return "\n\n".join(parts) + "\n"


def page_head(mode):
    return f"""# Benchmarks {{#benchmarks}}

`scripts/bench --{mode} --peers --peer-sources DIRECTORY --page docs/benchmarks.md` wrote this page. Every
result is verified before its time counts.

| column | meaning |
| ------ | ------- |
| cost | median of the repetitions, by sample, cell, point or beat |
| spread | largest less smallest repetition, in percent of the median |
| plain | a plain form of the same method, timed in the same run |
| plain/cost | how many times faster the library is |
| others/best | how many times the cost of the best instruction set another one has |
| one/these | how many times faster the threads are than one; of beats, those of one thread |
| one/separate | the same for as many separate calls at once, each on one thread: what threads can gain at most |

Ratios within one run vary less than times, which depend on the load of the machine. The guides
explain what bounds each cost.

"""
