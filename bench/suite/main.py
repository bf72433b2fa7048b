# SPDX-License-Identifier: BSD-3-Clause
"""The suite behind scripts/bench, whose --help describes the options."""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import subprocess
import sys

import measure
import pictures
import tables

BUILD = pathlib.Path("build/bench")
PEERS = pathlib.Path(__file__).parents[1] / "peers"


def options():
    parser = argparse.ArgumentParser(prog="scripts/bench", add_help=False)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--quick", action="store_true")
    mode.add_argument("--full", action="store_true")
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--output", default=BUILD / "results.json")
    parser.add_argument("--against")
    parser.add_argument("--plot")
    parser.add_argument("--page")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--peer-sources", metavar="DIRECTORY")
    return parser.parse_args()


def stored_rows(file):
    """Rows of an earlier run by their keys; None without a file."""
    if file is None:
        return None
    try:
        rows = [measure.Row(**row) for row in json.loads(pathlib.Path(file).read_text())["rows"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"scripts/bench: {file} is no stored run of the suite: {error}")
    return {row.key: row for row in rows}


def peers(chosen):
    """What each comparison with other libraries prints, by its name, and those that failed."""
    scripts = [(script, []) for script in sorted(PEERS.glob("*_peers.py")) if chosen.peers]
    if chosen.peer_sources:
        scripts += [(script, [chosen.peer_sources]) for script in sorted(PEERS.glob("*_sources.py"))]
    printed, failed = {}, []
    for script, sources in scripts:
        print(f"{script.name} ...", file=sys.stderr)
        run = subprocess.run(["/usr/bin/python3", script, BUILD, *sources], text=True,
                             stdout=subprocess.PIPE, env=dict(os.environ, OMP_NUM_THREADS="1"))
        printed[script.stem] = run.stdout
        if run.returncode:
            failed.append(script.name)
    return printed, failed


def main():
    chosen = options()
    stored = stored_rows(chosen.against)
    mode = "full" if chosen.full else "quick"
    date = datetime.date.today().isoformat()
    machine, rows = measure.measure(BUILD, chosen.program, mode == "quick")
    compared, failed = peers(chosen)
    result = {"date": date, "mode": mode, "machine": machine,
              "rows": [dataclasses.asdict(row) for row in rows], "peers": compared}
    pathlib.Path(chosen.output).write_text(json.dumps(result, indent=1) + "\n")

    report = tables.report(tables.described(machine, mode, date, rows), rows, stored, compared)
    print(report, end="")
    if chosen.page:
        pathlib.Path(chosen.page).write_text(tables.page_head(mode) + report)
    if chosen.plot:
        for file in pictures.draw_growth(rows, chosen.plot):
            print(f"picture: {file}")
    print(f"stored in {chosen.output}")
    if failed:
        sys.exit(f"scripts/bench: failed: {' '.join(failed)}")


main()
