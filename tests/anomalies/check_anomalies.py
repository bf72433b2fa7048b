#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether each program of examples/anomalies has its effect.

    check_anomalies.py FOLDER VICTIM [--seconds S] [--repeats N]

FOLDER has the programs, VICTIM is the program that they are applied to. No check depends on
how fast the machine is: an effect is counted, or lasts at least as long as it was asked to. What
else the machine does may leave the victim too little of its time: a check that fails is done
again with a victim that runs longer. With longer --seconds and --repeats it is a soak test.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MIB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")
HOGS = ("bandwidth_hog", "cache_hog", "cpu_hog", "disk_hog", "memory_eater")
THREAD = re.compile(r"thread (\d): counted (\d+), processor ([\d.]+) s, faults (\d+), "
                    r"longest gap ([\d.]+) s")


class Wrong(Exception):
    """An effect that did not occur."""


def expect(condition, words):
    if not condition:
        raise Wrong(words)


def run(*command, status=0):
    done = subprocess.run([str(part) for part in command], text=True, timeout=600,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    expect(done.returncode == status,
           f"status {done.returncode} instead of {status}: {done.stdout}")
    return done.stdout


def inject(chosen, *arguments, status=0):
    """Threads and growth of a victim with an anomaly, which begins when both threads run."""
    with tempfile.TemporaryDirectory() as folder:
        both = pathlib.Path(folder) / "both"
        output = run(chosen.folder / "inject", "--when", both, *arguments, chosen.victim,
                     chosen.seconds, both, status=status)
    expect("inject: began after" in output, f"no message that it began: {output}")
    threads = {int(t): dict(counted=int(c), processor=float(p), faults=int(f), gap=float(g))
               for t, c, p, f, g in THREAD.findall(output)}
    grown = re.search(r"grown by (-?\d+) bytes", output)
    return threads, int(grown[1]) if grown else None


def check_leak(chosen):
    threads, grown = inject(chosen, "--rate", "1G", "--bytes", "32M", "leak")
    expect(16 * MIB < grown < 48 * MIB, f"grown by {grown / MIB:.1f} MiB instead of 32")
    expect(threads[1]["faults"] > 16 * MIB / PAGE > threads[0]["faults"],
           f"faults of the threads: {threads[0]['faults']}, {threads[1]['faults']}")


def check_leak_of_all(chosen):
    """Each thread leaks as long as it runs, however late it was started."""
    threads, grown = inject(chosen, "--rate", "32M", "--thread", "all", "leak")
    expect(grown > MIB, f"grown by {grown / MIB:.1f} MiB")
    expect(min(t["faults"] for t in threads.values()) > 100, f"faults: {threads}")


def check_imbalance(chosen):
    threads, _ = inject(chosen, "--factor", "4", "imbalance")
    pace = [threads[t]["counted"] / threads[t]["processor"] for t in (0, 1)]
    expect(pace[1] < 0.6 * pace[0], f"counts per second of processor time: {pace}")


def check_waits(chosen):
    """One thread is held for half of the time; of a deadlock both."""
    held = chosen.seconds / 2
    with tempfile.TemporaryDirectory() as folder:
        for kind, options, victims in (("pause", [], [1]), ("pause", ["--thread", "0"], [0]),
                                       ("deadlock", ["--thread", "0"], [0, 1]),
                                       ("stall", ["--folder", folder], [1])):
            threads, _ = inject(chosen, "--for", held, *options, kind)
            for t in victims:
                expect(threads[t]["gap"] > 0.9 * held,
                       f"{kind}: thread {t} has a gap of {threads[t]['gap']} s")


def check_ends(chosen):
    threads, _ = inject(chosen, "thread-exit")
    expect(list(threads) == [0], f"threads {list(threads)} came to their end")
    for kind, status in (("segv", -11), ("kill", -9), ("exit", 1)):
        threads, _ = inject(chosen, kind, status=status)
        expect(not threads, f"{kind}: threads {list(threads)} came to their end")


def check_when(chosen):
    """--when: nothing happens before the path exists; --processor-time: nor before the
    program had that much."""
    with tempfile.TemporaryDirectory() as folder:
        output = run(chosen.folder / "inject", "--when", f"{folder}/none", "kill",
                     chosen.victim, 0.1)
    expect("began" not in output and len(THREAD.findall(output)) == 2, output)
    output = run(chosen.folder / "inject", "--processor-time", "--after", 10 * chosen.seconds,
                 "kill", chosen.victim, chosen.seconds)
    expect("began" not in output, output)
    inject(chosen, "--processor-time", "--after", "0.01", "kill", status=-9)


def check_hogs(chosen):
    allowed = sorted(os.sched_getaffinity(0))[-1]
    for name in HOGS:
        output = run(chosen.folder / name, "--for", chosen.seconds / 2, "--cpu", allowed)
        lasted, processor, amount = map(float, re.search(
            r": ([\d.]+) s, processor ([\d.]+) s, ([\d.e+]+) ", output).groups())
        expect(lasted >= 0.9 * chosen.seconds / 2 and amount > 0, output)
        expect(processor > 0, output)


def check_eater(chosen):
    """The memory is really in use: the process is as large as it claims."""
    command = [chosen.folder / "memory_eater", "--for", "60", "--bytes", "64M", "--rate", "8G"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            size = 0
            while size < 48 * MIB and process.poll() is None:
                text = pathlib.Path(f"/proc/{process.pid}/statm").read_text()
                size = int(text.split()[1]) * PAGE
            expect(size >= 48 * MIB, f"only {size} bytes are resident")
        finally:
            process.kill()


def check_usage(chosen):
    for name in (*HOGS, "inject"):
        expect("--for=SECONDS" in run(chosen.folder / name, "--help"), f"{name} --help")
        run(chosen.folder / name, "--for", "-1", status=2)
    run(chosen.folder / "cpu_hog", "--cpu", "1023", status=3)
    run(chosen.folder / "inject", "fire", chosen.victim, status=2)
    run(chosen.folder / "inject", "leak", status=2)
    run(chosen.folder / "inject", "leak", "/none", status=3)


CHECKS = (check_leak, check_leak_of_all, check_imbalance, check_waits, check_ends, check_when,
          check_hogs, check_eater, check_usage)


def passes(check, chosen):
    for factor in (1, 3, 9):
        tried = argparse.Namespace(**{**vars(chosen), "seconds": factor * chosen.seconds})
        try:
            check(tried)
            print(f"{check.__name__}: passed", flush=True)
            return True
        except Wrong as wrong:
            print(f"{check.__name__}, {tried.seconds:g} s: FAILED: {wrong}", flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("victim", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=0.6, help="that a victim runs")
    parser.add_argument("--repeats", type=int, default=1)
    chosen = parser.parse_args()
    failures = sum(not passes(check, chosen) for _ in range(chosen.repeats) for check in CHECKS)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
