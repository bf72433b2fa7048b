#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""All tables of the manual that state how answers hold in noise, in one document.

    noise.py BUILD [--rounds 20] [--seeds 11 12 13 14 15] [--only NAME...]

Prints, as Markdown:

    periods     periods by noise level, beside autocorrelation and the periodogram, and
                false periods (docs/measurements.md; periods_in_noise)
    cuts        false alarms and power of the cuts of `similar`, simulated (docs/measurements.md;
                spmd_cuts)
    recordings  the same of recorded programs, on the machine as it is and with every
                processor busy (docs/measurements.md; similar_rates.py)
    clusters    adjusted Rand index by data set, beside scikit-learn and excess of mass
                (docs/measurements.md; clusters.py)

About an hour on two processors, mostly recordings. BUILD is one that `cmake --preset
bench && cmake --build --preset bench` made. Needs Debian's python3-sklearn.
"""
import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def commands(chosen):
    """Name, title, command."""
    programs = chosen.build / "bench" / "tables"
    rates = [sys.executable, "-B", HERE / "similar_rates.py", chosen.build, "--rounds",
             str(chosen.rounds)]
    yield "periods", "Periods", [programs / "periods_in_noise"]
    yield "cuts", "Kinds of simulated processes", [programs / "spmd_cuts"]
    yield "recordings", "Kinds of recorded threads", rates
    yield "recordings", "Kinds of recorded threads, every processor busy", [*rates, "--loaded"]
    yield ("clusters", "Clusters",
           [sys.executable, "-B", HERE / "clusters.py", chosen.build, "--seeds", *chosen.seeds])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ("periods", "cuts", "recordings", "clusters")
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seeds", nargs="+", default=["11", "12", "13", "14", "15"])
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    chosen = parser.parse_args()
    for name, title, command in commands(chosen):
        if name in chosen.only:
            print(f"\n## {title}\n", flush=True)
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
