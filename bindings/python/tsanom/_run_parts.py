# SPDX-License-Identifier: BSD-3-Clause
"""What `Run` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from ._arrays import Array


@dataclass(frozen=True)
class RunInfo:
    """Description of a run; see tsanom_runs_info."""

    parts: Tuple[str, ...]
    finished: bool
    """False: the program was killed, or still runs."""
    start: float
    """Seconds since 1970."""
    last: float
    """Time of the latest record, in seconds since the start."""
    pid: int
    program: str
    beats: int
    events: int
    beats_dropped: int
    events_dropped: int
    skipped: int
    """Records behind the damage of their stream, as far as their number is known."""
    restarts: int
    """Restarts of the clock."""
    vital_samples: int
    vital_period_s: float
    totals: int
    """Rows of totals, by which the run continues where its events end."""
    beats_interpolated: int
    """Beats that were counted and not recorded."""
    beats_by_time: int
    """Beats from processor time, of a program that has no others."""
    beats_of_steps: int
    """Beats that are no iterations, but at tasks or chunks of a loop."""


@dataclass(frozen=True)
class Damage:
    """The first damage of a run that was opened with ``salvage=True``."""

    file: str
    """Its path."""
    offset: int
    """The byte in a binary file."""
    line: int
    """The line in a text file; 0: the file is binary."""
    text: str
    """What is wrong there."""


@dataclass(frozen=True)
class Message:
    """What the recorder inside of a program reports: why something was not recorded."""

    number: int
    """In the run, from 1."""
    time: float
    """Seconds since 1970."""
    process: int
    error: int
    """The errno that explains it; 0: none does."""
    text: str


@dataclass(frozen=True)
class Stream:
    """Records of one thread, in the order in which they were written."""

    thread: int
    time: Array
    """Seconds since the start of the run."""
    tag: Optional[Array]
    """Of beats: what the program passed; None of a CSV file."""
    dropped: int
    """Records lost because the disk was full."""


@dataclass(frozen=True)
class Place:
    """A place in the code."""

    name: str
    """Function, file and line, or module and address."""
    module: str
    """Path of the program or library."""
    address: int
    call: Optional[str]
    """The function of MPI, of a call of it."""
    communicator: int
    """Number of the communicator of a call; 0: none."""


@dataclass(frozen=True)
class RegionTimes:
    """Region times of a run, as the arguments of `spmd_analyze`."""

    times: Array
    parents: Array
    metrics: Dict[str, Array]
    regions: List[str]
    processes: Optional[List[str]]
    """None: processes are known by number."""
    errors: Optional[Array] = None
    """Standard errors of the times, NaN where not known."""


__all__ = ["Damage", "Message", "Place", "RegionTimes", "RunInfo", "Stream"]
