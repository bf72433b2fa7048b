# SPDX-License-Identifier: BSD-3-Clause
"""What papers.py needs to describe a table or figure of a paper and to run its program."""
import collections.abc
import dataclasses
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclasses.dataclass
class Table:
    caption: str
    head: list
    rows: list


@dataclasses.dataclass
class Result:
    tables: list
    same: bool | None      # whether the paper's values were found; None: not comparable
    partial: bool = False  # only some of the values can be compared

    @property
    def verdict(self):
        if self.same is None:
            return "not comparable"
        return ("same where comparable" if self.partial else "same") if self.same else "differs"


@dataclasses.dataclass(frozen=True)
class Context:
    build: pathlib.Path
    full: bool  # all repetitions

    @property
    def tsanom(self):
        return self.build / "tools" / "tsanom" / "tsanom"

    def program(self, name):
        return self.build / "bench" / "tables" / name


@dataclasses.dataclass(frozen=True)
class Item:
    name: str
    title: str
    paper: str    # the paper's values or statement
    reason: str   # for differences
    seconds: int  # of a run without --full
    run: collections.abc.Callable[[Context], Result]
    timed: bool = False  # the result depends on the processor and its load


def output_of(*command, given=None):
    """Standard output of a command that succeeds."""
    try:
        done = subprocess.run([str(word) for word in command], input=given, text=True,
                              stdout=subprocess.PIPE, check=False)
    except OSError as error:
        sys.exit(f"scripts/tables: {command[0]}: {error.strerror}; build it, or give another --build")
    if done.returncode:
        sys.exit(f"scripts/tables: {' '.join(map(str, command))}: status {done.returncode}")
    return done.stdout


def json_of(*command, **options):
    return json.loads(output_of(*command, **options))
