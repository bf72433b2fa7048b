# SPDX-License-Identifier: BSD-3-Clause
"""The tables and figures of the three papers beside ours: the program behind scripts/tables, whose
--help describes the options."""
import argparse
import datetime
import json
import pathlib
import sys
import time

import papers_dpd
import papers_heartbeat
import papers_spmd
import workloads
from papers_item import ROOT, Context

PAPERS = {"Heartbeat paper": papers_heartbeat.ITEMS, "DPD paper": papers_dpd.ITEMS,
          "SPMD paper": papers_spmd.ITEMS}
ITEMS = [item for items in PAPERS.values() for item in items]
BUSY = 0.10  # share of the processors from which on timed results do not go into the page

# What is not reproduced, and why.
MISSING = [
    ("heartbeat, figure 1", "diagram of the interface; its functions are in `tsanom/compat.h`"),
    ("DPD, figures 1, 2, 5 and 6, table 1",
     "formulas, code, a diagram and the interface; its functions are in `tsanom/compat.h`"),
    ("DPD, table 3, ApExTime and percentage",
     "times of SPECfp95 programs, which are not free"),
    ("SPMD, figures 1 and 3", "diagrams without values"),
    ("SPMD, figures 6 to 8, heights of bars and curves",
     "missing in the copy of the paper that we have"),
    ("SPMD, severities 0.783958 and 0.032800",
     "the performance vectors are not printed; equation 2 is missing in our copy"),
    ("SPMD, 1.4 times as fast", "the program Geo-ST and its data are not public"),
]


def options():
    parser = argparse.ArgumentParser(prog="scripts/tables", add_help=False)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "bench")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", action="append", choices=[item.name for item in ITEMS])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--page", type=pathlib.Path)
    return parser.parse_args()


def processor_times():
    """Ticks of all processors since the start of the machine: busy, all."""
    user, nice, system, idle, wait, *others = map(
        int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
    busy = user + nice + system + sum(others)
    return busy, busy + idle + wait


def busy_share(seconds=1):
    """Share of the processors that other programs use."""
    busy, total = processor_times()
    time.sleep(seconds)
    busy_after, total_after = processor_times()
    return round((busy_after - busy) / max(1, total_after - total), 3)


def markdown(tables):
    parts = []
    for table in tables:
        lines = [table.caption + "\n"] if table.caption else []
        lines += ["| " + " | ".join(map(str, row)) + " |"
                  for row in (table.head, ["---"] * len(table.head), *table.rows)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def section(item, result, busy, omit):
    """Markdown of an item. A timed result on a busy machine is marked, or omitted."""
    loaded = item.timed and busy > BUSY
    share = f"other programs used {100 * busy:.0f} % of the processors" if loaded else ""
    label = "papers_" + item.name.replace("-", "_")
    parts = [f"### {item.title} {{#{label}}}", f"Paper: {item.paper} {item.reason}".strip()]
    if loaded and omit:
        parts.append(f"Not measured for this page, because {share}.")
    else:
        parts += [markdown(result.tables),
                  f"Result: {result.verdict}." + (f" Measured while {share}." if loaded else "")]
    return "\n\n".join([*parts, f"To repeat: `scripts/tables --only {item.name}`"])


def missing():
    rows = "\n".join(f"| {what} | {why} |" for what, why in MISSING)
    return f"## Not reproduced {{#papers_missing}}\n\n| item | reason |\n| --- | --- |\n{rows}"


def page(results, mode, busy):
    """The page of the manual."""
    command = "scripts/tables --full" if mode == "full" else "scripts/tables"
    parts = ["# Tables of the papers {#papers}", "[TOC]",
             f"`{command} --page docs/papers.md` wrote this page on {datetime.date.today()}; processor: "
             f"{workloads.machine()}. Each table or figure stands beside the paper's value. "
             "`scripts/tables --list` prints the names.",
             "| item | result |\n| --- | --- |\n" + "\n".join(
                 f"| {item.name} | "
                 f"{'not measured' if item.timed and busy > BUSY else result.verdict} |"
                 for item, result, _ in results)]
    for title, items in PAPERS.items():
        of = [section(item, result, busy, omit=True) for item, result, _ in results if item in items]
        if of:
            parts += [f"## {title} {{#papers_{title.split()[0].lower()}}}", *of]
    return "\n\n".join([*parts, missing()]) + "\n"


def as_json(results, mode, busy):
    return json.dumps({
        "date": datetime.date.today().isoformat(), "machine": workloads.machine(), "mode": mode,
        "busy": busy,
        "items": [{"name": item.name, "title": item.title, "paper": item.paper,
                   "reason": item.reason, "timed": item.timed, "same": result.same,
                   "verdict": result.verdict,
                   "seconds": round(seconds, 1),
                   "tables": [{"caption": t.caption, "head": t.head, "rows": t.rows}
                              for t in result.tables]}
                  for item, result, seconds in results]}, indent=1)


def run(chosen, items):
    """(item, result, seconds) of each item, with progress on standard error."""
    context = Context(chosen.build.resolve(), chosen.full)
    results = []
    for number, item in enumerate(items, 1):
        about = "" if chosen.full else f", about {item.seconds} s"
        print(f"[{number}/{len(items)}] {item.name}{about}", file=sys.stderr, flush=True)
        start = time.monotonic()
        results.append((item, item.run(context), time.monotonic() - start))
    return results


def main():
    chosen = options()
    if chosen.list:
        for item in ITEMS:
            print(f"{item.name:<20}{item.title}")
        return 0
    items = [item for item in ITEMS if not chosen.only or item.name in chosen.only]
    busy = busy_share() if any(item.timed for item in items) else None
    results = run(chosen, items)
    mode = "full" if chosen.full else "quick"
    if chosen.json:
        print(as_json(results, mode, busy))
    else:
        for item, result, _ in results:
            print(section(item, result, busy, omit=False) + "\n")
        if not chosen.only:
            print(missing())
    if chosen.page:
        chosen.page.write_text(page(results, mode, busy))
    return 1 if any(result.same is False and not item.timed for item, result, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
