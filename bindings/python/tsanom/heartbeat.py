# SPDX-License-Identifier: BSD-3-Clause
"""Heartbeats of this process.

>>> import tempfile, tsanom
>>> directory = tempfile.mkdtemp() + "/run"
>>> with tsanom.heartbeat.record(directory):
...     for step in range(3):
...         recorded = tsanom.heartbeat.beat(tag=step)
>>> len(tsanom.Run(directory).beats())
3

A thread of Python is a thread of the system: give each thread a number of its own. A child of
os.fork() and multiprocessing has no run; it may start one in another directory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Dict, Optional, Union

from ._call import PARTIAL, call, choice, file_name, plain, whole
from ._library import ffi, record as _library

CLOCKS: Dict[str, int] = {"auto": _library.TSANOM_RECORD_CLOCK_AUTO,
                          "tsc": _library.TSANOM_RECORD_CLOCK_TSC,
                          "monotonic": _library.TSANOM_RECORD_CLOCK_MONOTONIC}

_OK = _library.TSANOM_OK
_NO_RUN = _library.TSANOM_E_STATE
_beat = _library.tsanom_heartbeat_beat


def start(directory: Union[str, "os.PathLike[str]"], threads: int = 1, *, clock: str = "auto",
          vital_ms: Optional[int] = None) -> None:
    """Start a run.

    Parameters
    ----------
    directory : str or path-like
        Created; it must not contain a run.
    threads : int
        Threads whose streams are ready from the start; more may beat.
    clock : {"auto", "tsc", "monotonic"}
    vital_ms : int, optional
        Milliseconds between samples of the vital signs; None: 50; -1: no samples.
    """
    setting = ffi.new("tsanom_record_options *")
    _library.tsanom_record_options_init(setting, ffi.sizeof("tsanom_record_options"))
    setting.clock = choice(clock, CLOCKS, "clock")
    if vital_ms is not None:
        setting.vital_ms = whole(vital_ms, "vital_ms", -1, 2**31 - 1)
    call(_library.tsanom_heartbeat_init,
         (file_name(directory, "directory"), whole(threads, "threads"), setting), ())


def beat(thread: int = 0, tag: int = 0) -> bool:
    """Record one beat of a thread; False without a run."""
    status = _beat(thread, tag)
    if status == _OK:
        return True
    if status == _NO_RUN:
        return False
    return bool(plain(status) == _OK)


def finish() -> bool:
    """End the run; False if beats were dropped because the disk was full."""
    return bool(plain(_library.tsanom_heartbeat_finish(), expected=(PARTIAL,)) == _OK)


@contextlib.contextmanager
def record(directory: Union[str, "os.PathLike[str]"], threads: int = 1, *, clock: str = "auto",
           vital_ms: Optional[int] = None) -> Iterator[None]:
    """Record a run while a block runs. Parameters are those of `start`."""
    start(directory, threads, clock=clock, vital_ms=vital_ms)
    try:
        yield
    finally:
        finish()


__all__ = ["beat", "finish", "record", "start"]
