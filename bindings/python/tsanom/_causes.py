# SPDX-License-Identifier: BSD-3-Clause
"""Causes of anomalies: signs of the threads of a run, their normal ranges, what deviations mean."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from ._arrays import F64, SIZE, Array, from_buffer, new
from ._call import PARTIAL, Progress, call, call_sized, options, plain
from ._library import NONE, NULL, ffi, lib
from ._results import maker

SIGNS: Tuple[str, ...] = tuple(ffi.string(lib.tsanom_diagnosis_sign_name(i)).decode()
                               for i in range(lib.TSANOM_DIAGNOSIS_SIGNS))
PARTS: int = lib.TSANOM_DIAGNOSIS_PARTS
STATES: Dict[int, str] = {
    lib.TSANOM_RUN_UNKNOWN: "unknown", lib.TSANOM_RUN_FINISHED: "finished",
    lib.TSANOM_RUN_KILLED: "killed", lib.TSANOM_RUN_RUNNING: "running"}

_RANGES = ffi.typeof("tsanom_hsa_range[]")
_SIGNS = ffi.typeof("tsanom_diagnosis_signs[]")
_CAUSES = ffi.typeof("tsanom_diagnosis_finding[]")
_NUMBERS = ffi.typeof("double[]")
_STATUS = ffi.typeof("int32_t *")
_find_causes = lib.tsanom_diagnosis_find_causes
_cause_status = lib.tsanom_diagnosis_cause_status


@dataclass(frozen=True)
class Cause:
    """A cause of what is not normal, with its evidence."""

    cause: str
    """"memory_leak", "contention", "slowdown", "imbalance", "hang", "shutdown", ..."""
    thread: Optional[int]
    """Number of the thread; None: the run."""
    evidence: str
    """A sentence with the numbers."""
    next: str
    """What to do next."""
    sign: Optional[str]
    """The sign that it follows from; None: none."""
    value: float
    """Of the sign; NaN: not known."""
    most: float
    """The greatest of the normal runs; NaN: not known."""
    limit: float
    """It is reported above this; NaN: a fact."""
    lost_s: float
    """Seconds that it cost; NaN: not known."""
    begin: float
    """Since when, on the clock of the beats; NaN: not known."""
    end: float
    """Until when; infinity: it lasts."""
    iteration: int
    """Beats of the busiest thread until then."""
    name: str
    """That the thread gave itself; empty: none, or not known."""


_cause = maker(Cause)


@dataclass(frozen=True)
class Power:
    """The smallest effects outside of the normal ranges; infinity: none is detected."""

    slowdown: float
    """Processor time per beat over its middle normal value."""
    imbalance: float
    """The same over that of the other threads."""
    contention: float
    """Time without a processor over the time of normal runs."""
    blocked: float
    """Time of waiting for something else, likewise."""
    leak: float
    """Bytes."""
    hang: float
    """Seconds without a beat."""
    more_runs: float
    """Further normal runs that would halve what `slowdown` exceeds 1 by; infinity: none."""
    early: float
    """Bytes of a leak in the first fifth, behind the first sample after the first beat."""
    load: float
    """Share of their active time that normal runs were ready without a processor; NaN: unknown."""


class NormalRanges:
    """Normal ranges of signs, what the ledger has in normal runs, and the conditions of these;
    `Model.normal` is one.

    Attributes
    ----------
    ranges : ndarray of shape (8, threads, signs, 2)
        Least and greatest normal value after each eighth of a run, of each thread and sign.
    ledger : ndarray
        What the ledger learned, as a model file has it; empty: nothing.
    misfit : int or None
        Index of the normal run that all others exclude, after learning.
    signs : tuple of str
        Names of the signs.
    run_count : int
    beats, fewest : int
        Most beats of a thread of a normal run; fewest of the busiest thread of one.
    program, machine : str
        Empty: not known, or several.
    """

    signs = SIGNS

    def __init__(self, struct: Any, ranges: Array, ledger: Array) -> None:
        self.ranges = ranges
        self.ledger = ledger
        self.struct = struct
        struct.range = from_buffer(_RANGES, ranges)
        struct.range_count = ranges.size // 2
        struct.ledger = from_buffer(_NUMBERS, ledger) if ledger.size else NULL
        struct.ledger_count = ledger.size
        self.misfit = None if struct.misfit == NONE else struct.misfit
        self.run_count: int = struct.run_count
        self.beats: int = struct.beats
        self.fewest: int = struct.fewest
        self.program, self.machine = (ffi.string(text).decode(errors="replace")
                                      for text in (struct.program, struct.machine))

    @classmethod
    def learn(cls, runs: Any, count: int, threads: int, coverage: float,
              progress: Progress) -> "Tuple[NormalRanges, int]":
        """Learn them from runs in C; and the status."""
        ranges = np.empty((PARTS, threads, len(SIGNS), 2), F64)
        struct = options("tsanom_diagnosis_normal")
        struct.range = from_buffer(_RANGES, ranges)
        struct.range_count = ranges.size // 2
        ledger = np.zeros(lib.TSANOM_DIAGNOSIS_LEDGER_RUN
                          + lib.TSANOM_DIAGNOSIS_LEDGER_THREAD * threads, F64)
        struct.ledger = from_buffer(_NUMBERS, ledger)
        struct.ledger_count = ledger.size
        status = call(lib.tsanom_diagnosis_learn_normal, (runs, count, coverage), (struct,),
                      progress=progress, expected=(PARTIAL,))
        return cls(struct, ranges, ledger), status

    @classmethod
    def copy(cls, source: Any) -> "NormalRanges":
        """A copy of those in C."""
        content = ffi.buffer(source.range, source.range_count * ffi.sizeof("tsanom_hsa_range"))
        ranges = np.frombuffer(content, F64).reshape(PARTS, source.thread_count, -1, 2).copy()
        numbers = ffi.buffer(source.ledger, source.ledger_count * 8) if source.ledger_count else b""
        return cls(ffi.new("tsanom_diagnosis_normal *", source[0]), ranges,
                   np.frombuffer(numbers, F64).copy())

    def __reduce__(self) -> Tuple[Any, ...]:
        s = self.struct
        return _restored, (self.ranges, self.ledger, {
            "thread_count": s.thread_count, "run_count": s.run_count, "beats": s.beats,
            "fewest": s.fewest, "program": ffi.string(s.program),
            "machine": ffi.string(s.machine), "misfit": s.misfit})

    def __getitem__(self, thread: int) -> Dict[str, Tuple[float, float]]:
        """Ranges of a thread in a whole run, by sign."""
        return {sign: (float(low), float(high))
                for sign, (low, high) in zip(SIGNS, self.ranges[-1, thread])}

    def __len__(self) -> int:
        return int(self.ranges.shape[1])

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, NormalRanges) and np.array_equal(self.ranges, other.ranges)
                and np.array_equal(self.ledger, other.ledger)
                and self._conditions() == other._conditions())

    def _conditions(self) -> Tuple[Any, ...]:
        return (self.run_count, self.beats, self.fewest, self.program,
                self.machine)

    @property
    def power(self) -> Power:
        """What they detect."""
        power = ffi.new("tsanom_diagnosis_power *")
        plain(lib.tsanom_diagnosis_normal_power(self.struct, power))
        return Power(power.slowdown, power.imbalance, power.contention, power.blocked, power.leak,
                     power.hang, power.more_runs, power.early, power.load)

    def causes(self, run: Any, size: int,
               progress: Progress) -> "Tuple[Causes, Tuple[Dict[str, float], ...]]":
        """The causes and the signs of a run in C; `size` as of `call_sized`."""
        threads = run[0].thread_count
        capacity = 4 * threads + 8
        signs, count, found = new(_SIGNS, threads), new(SIZE), new(_CAUSES, capacity)
        call_sized(size, _find_causes, (self.struct, run), (signs, found, capacity, count), 1,
                   progress)
        return Causes(found, count[0]), signs_by_name(signs)


def _restored(ranges: Array, ledger: Array, fields: Dict[str, Any]) -> NormalRanges:
    return NormalRanges(options("tsanom_diagnosis_normal", **fields), ranges, ledger)


class Causes:
    """The causes of a run in C."""

    def __init__(self, structs: Any, count: int) -> None:
        self.structs = structs, count
        self.list = tuple([cause_of(cause) for cause in structs[0:count]])

    def status(self, thread: int = lib.TSANOM_HSA_PROCESS) -> str:
        """The status of a thread, or of the run."""
        status = new(_STATUS)
        plain(_cause_status(*self.structs, thread, status))
        return status_name(status[0])

    def of(self, thread: int) -> Tuple[Cause, ...]:
        """The causes of one thread."""
        return tuple([cause for cause in self.list if cause.thread == thread])


def sentence(function: Any, struct: Any, *part: int) -> str:
    """The sentence, or a part, that a function of C writes about a struct."""
    needed, size = new(SIZE), 256
    while True:
        text = ffi.new("char[]", size)
        status = plain(function(struct, *part, text, size, needed), expected=(PARTIAL,))
        if status != PARTIAL:
            return str(ffi.string(text).decode(errors="replace"))
        size = needed[0] + 1


@lru_cache(maxsize=None)
def status_name(status: int) -> str:
    return str(ffi.string(lib.tsanom_hsa_status_name(status)).decode())


def cause_of(cause: Any) -> Cause:
    """A cause in C."""
    return _cause(status_name(cause.cause), None if cause.thread < 0 else cause.thread,
                  sentence(lib.tsanom_diagnosis_cause_text, ffi.addressof(cause),
                           lib.TSANOM_DIAGNOSIS_CAUSE_EVIDENCE),
                  sentence(lib.tsanom_diagnosis_cause_text, ffi.addressof(cause),
                           lib.TSANOM_DIAGNOSIS_CAUSE_NEXT),
                  None if cause.sign < 0 else SIGNS[cause.sign], cause.value, cause.most,
                  cause.limit, cause.lost_s, cause.begin, cause.end, cause.iteration,
                  ffi.string(cause.name).decode(errors="replace"))


def signs_by_name(signs: Sequence[Any]) -> Tuple[Dict[str, float], ...]:
    """Signs of threads by name; without those that are not available."""
    return tuple([{name: value for name, value in zip(SIGNS, ffi.unpack(one.value, len(SIGNS)))
                   if value == value} for one in signs])


__all__ = ["STATES", "Cause", "Causes", "NormalRanges", "Power", "cause_of",
           "sentence", "status_name"]
