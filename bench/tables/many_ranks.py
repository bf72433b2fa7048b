#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What it costs to find the slow rank of a run of very many ranks.

    many_ranks.py BUILD [--ranks 100000] [--regions 200] [--directory DIRECTORY]

Writes a run of an MPI program by the formats of docs/formats.md, as `mpirun tsanom record
--profile` does: in each rank one thread with the totals of --regions computations, each of
which ends with a call of MPI. 100 ranks differ by chance, and the others repeat them; one
rank computes for twice as long in one module, which stands for a function. `tsanom similar`
must name that rank and that module; otherwise the exit status is 1. Prints a Markdown row:
elapsed time, processor time and memory of the command. 100,000 ranks of 200 regions take
5 GB of the file system that contains DIRECTORY, and some minutes to write; the run is deleted
at the end. BUILD is one that `cmake --preset bench && cmake --build --preset bench` made.
"""
import json
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

import workloads

CHANCE = 100  # ranks that differ by chance
MODULES = 4
VISITS = 100
MS = 1000000  # nanoseconds
CALLS = ("MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Waitall")


def fnv(data):
    """FNV-1a sum of 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def checked(data, size):
    return (data + struct.pack("<Q", fnv(data))).ljust(size, b"\0")


def run_file(number, end):
    data = struct.pack("<8sIIQIiIIQQQQQQQ", b"TSNHBRUN", 2, 512, number, 2, 1, 1, 2, 1, 1,
                       1000, 1000, end, end, 0)
    return checked(data + b"solver".ljust(64, b"\0") + b"machine".ljust(64, b"\0")
                   + bytes(280), 512)


def stream(number, records):
    """A file of records: a moment in nanoseconds and a tag each."""
    count = len(records)
    data = struct.pack("<8sIIQIiIIQQQ", b"TSNHBSTR", 2, 4096, number, 0, 0, 2, 0, count, count,
                       0)
    parts = [checked(data + bytes(56), 4096)]
    for index, (moment, tag) in enumerate(records):
        mixed = ((moment ^ tag << 32) * 0x9E3779B97F4A7C15 % 2**64) >> 32
        parts.append(struct.pack("<QII", moment, tag, mixed ^ index))
    return b"".join(parts)


def place_lines(regions):
    lines = ["tsanom places 3\n"]
    for place in range(regions):
        lines.append(f"{place}\tmc\t{0x1000 + 16 * place:x}\tbuild-id:{'8c1f3d52' * 5}\t"
                     f"/none/module_{place * MODULES // regions}\t"
                     f"{CALLS[place % len(CALLS)]}\t1\n")
    return "".join(lines).encode()


def row(kind, parent, place, *totals):
    beginning = struct.pack("<IIII", kind, 0, parent, place)
    return beginning + struct.pack("<QQQQQQ", *totals, fnv(beginning))


def rank_files(number, regions, slow):
    """The files of a rank, by their names; `slow`: module whose work is double, or None."""
    chance = random.Random(number)
    rows, useful = [], 0
    for place in range(regions):
        work = MS * (10 + place % 7) + chance.randrange(MS // 5)
        if place * MODULES // regions == slow:
            work *= 2
        useful += work
        rows.append(row(3, 1, place, VISITS, work, work, MS, work))
    waiting = MS * regions
    end = 1000 + useful + waiting
    thread = row(1, 0, 1, 2 * VISITS * regions, end - 1000, 1000, waiting, 0)
    header = struct.pack("<8sII", b"TSNPROFL", 1, 64) + bytes(48)
    call = [(1000, 0), (2000, 1 | 1 << 16)]  # begin and end of the first one
    return {"heartbeat.run": run_file(number, end), "heartbeat.00000": stream(number, []),
            "regions/heartbeat.run": run_file(number, end),
            "regions/heartbeat.00000": stream(number, call),
            "regions/places.tsv": place_lines(regions),
            "regions/profile": b"".join([header, thread, *rows])}


def write_run(run, ranks, regions, slow):
    run.mkdir()
    (run / "ranks.tsv").write_text(f"tsanom ranks 1\nsize\t{ranks}\njob\t1\n",
                                   encoding="utf-8")
    usual = [rank_files(number, regions, None) for number in range(min(ranks, CHANCE))]
    other = rank_files(ranks, regions, MODULES // 2)
    for rank in range(ranks):
        directory = run / f"rank.{rank}"
        (directory / "regions").mkdir(parents=True)
        for name, data in (other if rank == slow else usual[rank % CHANCE]).items():
            (directory / name).write_bytes(data)
        if rank % 1000 == 0 and sys.stderr.isatty():
            print(f"\r{rank} of {ranks} ranks written", end="", file=sys.stderr)


def find_slow(command, run):
    """What `tsanom similar` reports, and what it cost."""
    began = time.monotonic()
    answer = subprocess.run([command, "similar", "--json", run], stdout=subprocess.PIPE,
                            check=True).stdout
    elapsed = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(answer), elapsed, used


def main():
    parser = workloads.parser(__doc__)
    parser.add_argument("--ranks", type=int, default=100000)
    parser.add_argument("--regions", type=int, default=200)
    parser.add_argument("--directory")
    chosen = parser.parse_args()
    slow = 7 * chosen.ranks // 10
    with tempfile.TemporaryDirectory(dir=chosen.directory) as scratch:
        run = pathlib.Path(scratch) / "run"
        write_run(run, chosen.ranks, chosen.regions, slow)
        answer, elapsed, used = find_slow(chosen.build / "tools/tsanom/tsanom", run)
    alone = [str(slow)] in answer["clusters"] and len(answer["clusters"]) == 2
    region = answer["verdict"]["region"] or ""
    print(workloads.machine() + "\n")
    workloads.print_table(
        ("ranks", "regions", "elapsed, s", "user, s", "system, s", "memory, MB", "rank", "region"),
        [(chosen.ranks, chosen.regions, f"{elapsed:.1f}", f"{used.ru_utime:.1f}", f"{used.ru_stime:.1f}",
          f"{used.ru_maxrss / 1024:.0f}", slow if alone else "not named", region or "not named")])
    sys.exit(not (alone and region.startswith(f"module_{MODULES // 2}")))


if __name__ == "__main__":
    main()
