#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""DTW, envelopes, nearest neighbors, beats and periods beside libraries that are built here
from sources of yours.

    compiled_sources.py BUILD_DIR SOURCES_DIR

BUILD_DIR is one that `cmake --preset bench && cmake --build --preset bench` made.
SOURCES_DIR holds checkouts under these names; those that are missing are left out:

    RawHash             github.com/CMU-SAFARI/RawHash
    lbimproved          github.com/lemire/lbimproved
    tempo               github.com/MonashTS/tempo
    dtw-cpp             github.com/Battery-Intelligence-Lab/dtw-cpp (needs armadillo)
    heartbeats-simple   github.com/libheartbeats/heartbeats-simple
    EAR                 github.com/eas4dc/EAR
    dtaidistance        github.com/wannesm/dtaidistance

Each is compiled with -O3 -march=native, as are the comparisons in sources/, which verify
that both give the same result. Prints a Markdown table: medians of five repetitions in turns,
on one thread by its own clock, and the spread of each, largest less smallest.
"""
import dataclasses
import pathlib
import subprocess
import sys
import tempfile

from package import arguments

PEERS = pathlib.Path(__file__).parent
ROOT = PEERS.parents[1]
FLAGS = ("-O3", "-march=native", "-w")


@dataclasses.dataclass
class Peer:
    """What is compiled of a checkout: each source by the options of one object of it."""
    include: tuple = ()
    objects: tuple = ()


HAS_AVX512 = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
DYNAIS = f"src/library/dynais/avx{512 if HAS_AVX512 else 2}"
DTAI = "src/DTAIDistanceC/DTAIDistanceC"
TABLE = {
    "RawHash": ("rawhash", Peer(("src",), (("src/dtw.cpp",),))),
    "lbimproved": ("lbimproved", Peer(("include",))),
    "tempo": ("tempo", Peer(("src",))),
    "dtw-cpp": ("dtwc", Peer((".",))),
    "heartbeats-simple": ("heartbeats", Peer(("inc",), (("src/hb.c",), ("src/hb-util.c",)))),
    "EAR": ("dynais", Peer(("src",), ((f"{DYNAIS}/dynais.c",),
                                      (f"{DYNAIS}/dynais_core.c", "-DDYN_CORE_N"),
                                      (f"{DYNAIS}/dynais_core.c", "-DDYN_CORE_0")))),
    "dtaidistance": ("dtaidistance", Peer((DTAI,), tuple((f"{DTAI}/dd_{part}.c",)
                                                         for part in ("dtw", "ed", "globals")))),
}


def compile_peer(name, build, sources, folder):
    """The comparison with a peer, as a program."""
    program, peer = TABLE[name]
    include = [f"-I{sources / name / path}" for path in peer.include]
    objects = []
    for number, (source, *options) in enumerate(peer.objects):
        objects.append(folder / f"{program}{number}.o")
        compiler = "gcc" if source.endswith(".c") else "g++"
        subprocess.run([compiler, *FLAGS, *options, *include, "-c", sources / name / source,
                        "-o", objects[-1]], check=True)
    target = folder / program
    subprocess.run(["g++", "-std=c++20", *FLAGS, *include, f"-I{ROOT / 'include'}",
                    f"-I{ROOT / 'testing'}", PEERS / "sources" / f"{program}.cc", *objects, f"-L{build}",
                    f"-Wl,-rpath,{build}", "-ltsanom", "-ltsanom-record", "-ltsanom-runs",
                    "-o", target], check=True)
    return target


def rows(name, build, sources, folder):
    """The lines of the table of one peer."""
    printed = subprocess.run([compile_peer(name, build, sources, folder)], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    for line in printed.splitlines():
        problem, unit, own, own_spread, other, other_spread = line.split("\t")
        yield (f"| {problem} | {name} | {unit} | {own} | {100 * float(own_spread):.0f} % | {other} | "
               f"{100 * float(other_spread):.0f} % | {float(other) / float(own):.2f} |")


def main():
    build, sources = arguments(__doc__, 2)
    print("| problem | other library | unit | libtsanom | spread | other | spread | ratio |\n"
          "|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in TABLE:
            if not (sources / name).is_dir():
                print(f"{name} is not in {sources}", file=sys.stderr)
                continue
            try:
                for row in rows(name, build, sources, pathlib.Path(folder)):
                    print(row, flush=True)
            except subprocess.CalledProcessError as error:
                print(f"{name}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
