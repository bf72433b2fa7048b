# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of runs, conditions, and the verdicts that are accepted for them."""
import dataclasses
import hashlib
import pathlib
import re

MANUAL = pathlib.Path(__file__).parents[2] / "docs" / "measurements.md"
SECTION = "{#hsa_accepted}"
CLASS_OF = {"hang": "shutdown"}  # one class of the F-score
LEAKS = ("256M", "128M", "64M", "32M", "16M")
PREFIXES = (10, 30, 50)  # percents of its duration at which a running program is diagnosed
PAUSE_SECONDS = 1.0
HELD_SECONDS = 1.5  # a run that hangs is killed after this time


@dataclasses.dataclass(frozen=True)
class Kind:
    """How a run is made. diagnosis_record.values() replaces what is in
    braces; `beside` is a program of examples/anomalies, `inject` options of inject."""
    arguments: tuple = ()
    beside: tuple = ()
    inject: tuple = ()
    status: int = 0        # exit status
    hangs: bool = False    # is killed a while after the anomaly began
    threads: int = 1       # least number of threads
    thread: int | None = None  # that leaks alone
    without: str = ""      # a program that has no such run


PROGRESS = ("--processor-time", "--when", "{first_beat}")


def injected(kind, *options, **fields):
    return Kind(inject=(*PROGRESS, "--after", "{moment}", *options, kind), threads=2, **fields)


KINDS = {
    "train": Kind(),
    "normal": Kind(),
    "leak": Kind(("--anomaly", "leak")),
    **{f"leak-{cap}": Kind(("--anomaly", "leak", "--leak-cap", cap)) for cap in LEAKS},
    "leak-thread": Kind(("--anomaly", "leak", "--leak-cap", "256M", "--anomaly-thread", "1"),
                        threads=2, thread=1),
    "leak-injected": Kind(inject=(*PROGRESS, "--after", "{early}", "--bytes", "64M", "--rate",
                                  "{rate_of_64M}", "leak"), threads=2, thread=1),
    "memory-eater": Kind(beside=("memory_eater",)),
    "cpu-hog": Kind(beside=("cpu_hog",)),
    "cpu-hog-pinned": Kind(beside=("cpu_hog", "--cpu", "{last_cpu}")),
    "bandwidth-hog": Kind(beside=("bandwidth_hog", "--cpu", "{last_cpu}")),
    "cache-hog": Kind(beside=("cache_hog", "--cpu", "{last_cpu}")),
    "disk-hog": Kind(beside=("disk_hog", "--folder", "{data}")),
    "stall": injected("stall", "--for", str(PAUSE_SECONDS), "--folder", "{data}"),
    "pause": injected("pause", "--for", str(PAUSE_SECONDS)),
    "stopped": injected("pause", "--for", "600", status=-9, hangs=True),
    "deadlock": injected("deadlock", "--for", "600", "--thread", "0", status=-9, hangs=True),
    "thread-exit": injected("thread-exit", status=-9, hangs=True),
    "idle-thread": Kind(("--anomaly", "thread-shutdown"), status=4, threads=2),
    "killed": Kind(("--anomaly", "shutdown"), status=-9),
    "segv": injected("segv", status=-11),
    "exit": injected("exit", status=1),
    "imbalance": Kind(inject=("--factor", "1.5", "imbalance"), threads=2),
    "more-work": Kind(("--cycle", "{more_work}")),
    "changed-input": Kind(("--points", "{more_points}"), without="arraybench"),
    "other-threads": Kind(("--threads", "1"), threads=2),
}
HOGS = tuple(name for name, kind in KINDS.items() if kind.beside)
INJECTED = tuple(name for name, kind in KINDS.items() if kind.inject)
WEAK_LEAKS = tuple(f"leak-{cap}" for cap in LEAKS)


@dataclasses.dataclass(frozen=True)
class Condition:
    kinds: tuple           # besides train and normal
    beside: tuple = ()     # during all runs
    threads: int = 2
    cpu: int | None = None  # the only processor of the program
    steps: tuple = ()      # numbers of steps in turn, as multiples of those of the size
    unmodified: bool = False  # recorded by `tsanom record`, without heartbeats of its own
    train: str | None = None  # condition of the training runs, if there are no own ones
    also_train: str | None = None  # condition whose models are tried too


CONDITIONS = {
    "quiet": Condition(tuple(k for k in KINDS if k not in ("train", "normal"))),
    "loaded": Condition(("leak", *WEAK_LEAKS, "leak-thread", *INJECTED, "killed",
                         "idle-thread"), beside=("cpu_hog",), also_train="quiet"),
    "steps": Condition(("leak", *WEAK_LEAKS, "leak-thread", "killed", "stopped", "cpu-hog"),
                       steps=(0.5, 2), train="quiet"),
    "pinned": Condition((*WEAK_LEAKS, *HOGS, "killed"), threads=1, cpu=0),
    "unmodified": Condition(("leak", *WEAK_LEAKS, *INJECTED, *HOGS, "killed"),
                            unmodified=True, steps=(4,)),
    "later": Condition(("leak-64M", "leak-16M", "cpu-hog", "killed", "stopped"),
                       train="quiet"),
}


def kinds_of(condition, wanted):
    """Kinds of a condition, training first, as far as they are wanted."""
    c = CONDITIONS[condition]
    names = ("train",) * (c.train is None) + ("normal", *dict.fromkeys(c.kinds))
    return [n for n in names if KINDS[n].threads <= c.threads and
            (not wanted or n in wanted or n == "train")]


def evaluations(conditions):
    """(condition of the training runs, condition of the tested ones)"""
    for name in conditions:
        c = CONDITIONS[name]
        yield c.train or name, name
        if c.also_train:
            yield c.also_train, name


class Table:
    """The table of the manual: accepted verdicts by kind. The first one names the class."""

    def __init__(self, path=MANUAL):
        text = path.read_text()
        section = text.split(SECTION, 1)[1].split("\n#", 1)[0]
        self.rows = [[cell.strip() for cell in line.strip("|").split("|")]
                     for line in section.splitlines() if line.startswith("| `")]
        self.version = hashlib.sha256(repr(self.rows).encode()).hexdigest()[:16]

    def accepted(self, kind, trained, tested):
        """Verdicts of a kind that count as right."""
        column = 2
        if tested == "pinned":
            column = 4
        elif tested == "loaded" and trained != tested:
            column = 3
        for row in self.rows:
            if kind in re.findall(r"`([^`]+)`", row[0]):
                return row[column if row[column] != "same" else 2].split(", ")
        raise KeyError(f"{kind}: not in the table of {MANUAL}")


def class_of(verdict):
    return CLASS_OF.get(verdict, verdict)
