# SPDX-License-Identifier: BSD-3-Clause
"""An installed wheel, where there is no compiler: wheel.py COMMAND PROGRAM

The package computes with threads and in a forked child, and has OpenMP as a library of its own; the
command of the wheel records PROGRAM (consumer/parallel.c) and a process of Python. Prints how long
the import takes beyond that of NumPy."""

import os
import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy

import tsanom


def compute():
    series = numpy.random.default_rng(1).standard_normal((200, 100))
    one = tsanom.dtw_matrix(series, radius=5)
    assert numpy.array_equal(one, tsanom.dtw_matrix(series, radius=5, threads=2))
    assert numpy.allclose(tsanom.polyfit([0, 1, 2], [1, 3, 5], 1)([4]), [9])


def check_libraries():
    maps = Path("/proc/self/maps").read_text()
    files = {line.split()[-1] for line in maps.splitlines() if ".so" in line}
    own = [file for file in files if "libgomp-" in file]
    assert len(own) == 1 and "/tsanom/lib/" in own[0], files
    assert not any("openblas" in file and "tsanom" in file for file in files)


def check_fork():
    child = os.fork()
    if child == 0:
        compute()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=300).stdout


def check_command(command, program):
    with tempfile.TemporaryDirectory() as scratch:
        output(command, "record", "-o", f"{scratch}/program", "--", program)
        assert "60" in output(command, "rate", f"{scratch}/program")
        calls = ("import numpy, tsanom; x = numpy.random.rand(100, 50)\n"
                 "for i in range(50): tsanom.dtw_matrix(x, threads=2)")
        output(command, "record", "-o", f"{scratch}/python", "--", sys.executable, "-c", calls)
        assert "50" in output(command, "rate", f"{scratch}/python")


# Packages of the system with OpenMP, which is another library than that of the wheel.
NEIGHBORS = {
    "sklearn": "from sklearn.cluster import KMeans; KMeans(3, n_init=2).fit(x)",
    "torch": "torch.mm(torch.ones(300, 300), torch.ones(300, 300))"}


def check_neighbor(name, statement):
    """Both compute in one process, whichever was imported first, and tsanom in a forked child."""
    for imports in (f"import {name}, tsanom", f"import tsanom, {name}"):
        output(sys.executable, "-c", f"""
import os, numpy
{imports}
x = numpy.random.rand(200, 50)
expected = tsanom.dtw_matrix(x)
for turn in range(3):
    {statement}
    assert numpy.array_equal(tsanom.dtw_matrix(x, threads=2), expected)
child = os.fork()
if child == 0:
    os._exit(not numpy.array_equal(tsanom.dtw_matrix(x, threads=2), expected))
assert os.waitpid(child, 0)[1] == 0
""")


def import_seconds(names):
    """Processor time: other programs may run at the same time."""
    times = []
    for _ in range(15):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", f"import {names}"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


compute()
check_libraries()
check_fork()
check_command(*sys.argv[1:3])
for neighbor in NEIGHBORS.items():
    if find_spec(neighbor[0]):
        check_neighbor(*neighbor)
        print(f"works beside {neighbor[0]}")
beyond = import_seconds("numpy, tsanom") - import_seconds("numpy")
print(f"tsanom {tsanom.__version__}: works; import takes {beyond * 1000:.0f} ms beyond NumPy")
