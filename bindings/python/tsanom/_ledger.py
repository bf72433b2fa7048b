# SPDX-License-Identifier: BSD-3-Clause
"""The ledger: where the time of a run went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Tuple

from ._arrays import new
from ._call import PARTIAL, call
from ._causes import sentence
from ._library import ffi, lib

_LEDGER = ffi.typeof("tsanom_diagnosis_ledger *")
_SHARES = ffi.typeof("tsanom_diagnosis_share[]")


@dataclass(frozen=True)
class ThreadTime:
    """The time of a thread in a window. NaN: not known."""

    cpu_s: float
    """On a processor."""
    ready_s: float
    """Ready without one."""
    off_s: float
    """Asleep, blocked or stopped."""
    beats: float


@dataclass(frozen=True)
class LedgerWindow:
    """The time of a team in a part of a run: wall_s = cpu_s + ready_s + nobody_s."""

    begin: float
    end: float
    beats: float
    """Mean of the threads."""
    wall_s: float
    cpu_s: float
    """Of work."""
    ready_s: float
    """In which work was ready and had no processor. NaN: not known."""
    nobody_s: float
    """In which nobody ran and nobody was ready. NaN: not known."""
    samples: int
    """Fewest samples of a thread."""
    threads: Tuple[ThreadTime, ...]
    text: str
    """A sentence."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Ledger:
    """The account of the time of a run."""

    processors: int
    """That the program may use."""
    sampled: int
    """Threads with two samples or more; the others are not in the sums."""
    whole: LedgerWindow
    parts: Tuple[LedgerWindow, ...]
    """The time of each eighth of the beats."""

    def __str__(self) -> str:
        return str(self.whole)


def _window(window: Any, shares: Any) -> LedgerWindow:
    return LedgerWindow(
        window.begin, window.end, window.beats, window.wall_s, window.cpu_s, window.ready_s,
        window.nobody_s, window.samples,
        tuple(ThreadTime(s.cpu_s, s.ready_s, s.off_s, s.beats) for s in shares),
        sentence(lib.tsanom_diagnosis_window_text, ffi.addressof(window)))


def ledger(run: Any) -> Ledger:
    """The ledger of a run in C."""
    threads, count = run.thread_count, lib.TSANOM_DIAGNOSIS_WINDOWS
    account, shares = new(_LEDGER), new(_SHARES, count * threads)
    call(lib.tsanom_diagnosis_account, (run,), (account, shares, count * threads),
         expected=(PARTIAL,))
    windows = [_window(account.window[w], shares[w * threads:(w + 1) * threads])
               for w in range(count)]
    return Ledger(account.processors, account.sampled, windows[0], tuple(windows[1:]))


__all__ = ["Ledger", "LedgerWindow", "ThreadTime", "ledger"]
