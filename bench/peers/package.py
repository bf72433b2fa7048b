# SPDX-License-Identifier: BSD-3-Clause
"""What the comparisons with other libraries share: their arguments, the Python package of a build,
and the least time of a call."""
import math
import pathlib
import shutil
import subprocess
import sys
import time


def arguments(usage, count):
    """The paths on the command line; ends with the text `usage` if there are not `count`."""
    if len(sys.argv) != count + 1:
        sys.exit(usage)
    return [pathlib.Path(path).resolve() for path in sys.argv[1:]]


def package(build):
    """The package of a build, with its libraries."""
    prefix = build / "python_prefix"
    subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", prefix],
                   check=True, stdout=subprocess.DEVNULL)
    folder = next(prefix.glob("lib/python3*/*/tsanom"))
    (folder / "lib").mkdir(exist_ok=True)
    for name in ("tsanom", "tsanom-record", "tsanom-runs"):
        shutil.copy(build / f"lib{name}.so.0.3", folder / "lib")
    sys.path.insert(0, str(folder.parent))
    import tsanom
    return tsanom


def least(run, seconds=1.0):
    """Least time of a call, over at least three calls and about `seconds`."""
    best, spent, calls = math.inf, 0.0, 0
    while calls < 3 or spent < seconds:
        start = time.perf_counter()
        run()
        took = time.perf_counter() - start
        best, spent, calls = min(best, took), spent + took, calls + 1
    return best
