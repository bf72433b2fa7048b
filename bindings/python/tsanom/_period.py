# SPDX-License-Identifier: BSD-3-Clause
"""Periods of series, streams and events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, TYPE_CHECKING, Tuple


from ._arrays import (BOOL, DOUBLES, F64, I32, I64, INTP, INTS, SIZE, SIZES, U64, WORDS, Array,
                      doubles, empty, event_codes, from_buffer, new)
from ._call import (INFEASIBLE, PARTIAL, Progress, call_sized, flag, options, plain, quick,
                    shared_options, warn_of, whole)
from ._errors import TsanomError, from_status
from ._library import NULL, ffi, lib
from ._results import maker, reader
from ._state import restore, saved

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class Period:
    """The period of a series, as `period` finds it; ``int()`` of it is the period."""

    period: int
    """In samples; 1: all samples are equal; 0: there is none."""
    candidate: int
    """The period with the most significant dip; 0: none was tested."""
    max_period: int
    """Longest period tested."""
    dip: float
    """Depth of the dips at its multiples, about its share of the variance."""
    score: float
    """`dip` in units of its standard error in white noise."""
    probability: float
    """Chance that noise shows such a score."""
    lines: float
    """Chance that noise has such lines in its spectrum; above the level, the length varies."""
    variation: float
    """Standard deviation of the length of a period, relative to it."""

    def __int__(self) -> int:
        return self.period

    __index__ = __int__


_period = reader(Period)


def period(x: npt.ArrayLike, *, max_period: Optional[int] = None,
           significance: Optional[float] = None, threads: int = 1,
           progress: Progress = None) -> Period:
    """Find the period of a recorded series in noise.

    Parameters
    ----------
    x : array_like
        At least 8 samples.
    max_period : int, optional
        Longest period to test; None: a quarter of the samples, at most 16384.
    significance : float, optional
        Accepted chance that a series without a period shows one; None: 0.01.

    Examples
    --------
    >>> import numpy as np, tsanom
    >>> t = np.arange(400)
    >>> noise = np.random.default_rng(0).normal(0, 0.5, t.size)
    >>> tsanom.period(np.sin(2 * np.pi * t / 16) + noise).period
    16
    """
    array = doubles(x, "x")
    setting = shared_options("tsanom_dpd_find_options", max_period=max_period,
                             significance=significance)
    found = options("tsanom_dpd_found")
    try:
        call_sized(len(array) ** 2, lib.tsanom_dpd_find,
                   (from_buffer(DOUBLES, array), len(array), setting), (found,), threads, progress)
    except TsanomError as error:
        raise error.renamed("samples", "x") from None
    return _period(found)


class PeriodDetector:
    """The period of a stream, sample by sample.

    Parameters
    ----------
    window : int
        Samples compared; by default 400 values, or 1024 events.
    max_period : int
        Largest period; by default a quarter of the window of values, or the window of events.
    events : bool
        True: samples are identifiers of events, of which only equality counts.
    adapt : bool
        Shrink the window while a period holds, so that a new one is found sooner.
    depth : float
        Of values: see tsanom_dpd_value_options.

    Examples
    --------
    >>> import tsanom
    >>> detector = tsanom.PeriodDetector(window=6, events=True)
    >>> periods, starts = detector.push([1, 2, 3] * 5)
    >>> periods[-1], detector.predict(4).tolist()
    (3, [1, 2, 3, 1])
    """

    def __init__(self, window: Optional[int] = None, max_period: Optional[int] = None, *,
                 events: bool = False, adapt: bool = False,
                 depth: Optional[float] = None) -> None:
        self._settings = window, max_period, events, adapt, depth
        kind = "event" if events else "value"
        fields: Dict[str, Any] = {"window": window, "max_period": max_period,
                                  "adapt": flag(adapt, "adapt")}
        if not events:
            fields.update(depth=depth)
        elif depth is not None:
            raise ValueError("depth is an option of values")
        setting = options(f"tsanom_dpd_{kind}_options", **fields)
        detector = ffi.new(f"tsanom_dpd_{kind} **")
        create = getattr(lib, f"tsanom_dpd_{kind}_create")
        quick(create, (setting,), (detector,))
        self._kind = kind
        self._detector = ffi.gc(detector[0], self._function("destroy"))
        # That of the latest events, which are their bits in C.
        self._dtype: Any = I64
        self._push, self._predict = self._function("push_many"), self._function("predict")

    def __getstate__(self) -> Tuple[Tuple[Any, ...], bytes, str]:
        return self._settings, saved(self._detector), self._dtype.str

    def __setstate__(self, state: Tuple[Tuple[Any, ...], bytes, str]) -> None:
        window, max_period, events, adapt, depth = state[0]
        PeriodDetector.__init__(self, window, max_period, events=events, adapt=adapt,
                                depth=depth)
        restore(self._detector, state[1])
        self._dtype = I64 if state[2] == I64.str else U64

    def _function(self, name: str) -> Any:
        return getattr(lib, f"tsanom_dpd_{self._kind}_{name}")

    def _samples(self, samples: npt.ArrayLike) -> Tuple[Array, Any]:
        one = getattr(samples, "ndim", None) == 0 or isinstance(samples, (int, float))
        given: Any = [samples] if one else samples
        if self._kind == "event":
            array = event_codes(given, "samples")
            self._dtype = array.dtype
            return array, from_buffer(WORDS, array)
        array = doubles(given, "samples")
        return array, from_buffer(DOUBLES, array)

    def push(self, samples: npt.ArrayLike) -> Tuple[Array, Array]:
        """Take in samples. Returns the period after each, 0 without one, and whether a period
        starts at it. A value that is not finite is an error; those before it were taken in."""
        array, pointer = self._samples(samples)
        n = len(array)
        periods, out_periods = empty(n, INTP, SIZES)
        starts, out_starts = empty(n, I32, INTS)
        if self._kind == "event":
            status = self._push(self._detector, pointer, n, out_periods, out_starts)
        else:
            done = new(SIZE)
            status = self._push(self._detector, pointer, n, out_periods, out_starts, done)
        if status == PARTIAL:
            raise from_status(lib.TSANOM_E_NONFINITE, "samples", done[0])
        plain(status)
        return periods, starts.astype(BOOL)

    def predict(self, count: int) -> Array:
        """The next `count` samples if the period continues; none without a period."""
        count = whole(count, "count")
        if self._kind == "event":
            result, out = empty(count, self._dtype, WORDS)
        else:
            result, out = empty(count, F64, DOUBLES)
        status = plain(self._predict(self._detector, out, count), "count", None, (INFEASIBLE,))
        return result[:0] if status == INFEASIBLE else result

    @property
    def window(self) -> int:
        """The window in use. Setting it keeps the history; it cannot exceed the first one."""
        return int(self._function("window")(self._detector))

    @window.setter
    def window(self, window: int) -> None:
        plain(self._function("resize")(self._detector, whole(window, "window")), "window")

    def distances(self) -> Array:
        """Of values: the distances d(m) for the delays m = 1, 2, ... with a complete window."""
        if self._kind == "event":
            raise ValueError("events have no distances")
        count = ffi.new("size_t *")
        plain(lib.tsanom_dpd_value_distances(self._detector, NULL, 0, count), expected=(PARTIAL,))
        result, out = empty(count[0], F64, DOUBLES)
        plain(lib.tsanom_dpd_value_distances(self._detector, out, count[0], count))
        return result


@dataclass(frozen=True)
class Loop:
    """A loop in a stream of events, over the whole stream."""

    period: int
    """Events in an iteration."""
    level: int
    """1: no loop was found inside; else 1 + the highest level of those inside."""
    first: int
    """Index of its first event."""
    last: int
    """Index of its last event."""
    count: int
    """How often it was entered."""
    events: int
    """Events in it, of all entries together."""


_loop = maker(Loop)
_nest_create = lib.tsanom_dpd_nest_create
_nest_destroy = lib.tsanom_dpd_nest_destroy
_nest_push_many = lib.tsanom_dpd_nest_push_many
_nest_periods = lib.tsanom_dpd_nest_periods
_NEST = ffi.typeof("tsanom_dpd_nest **")
_PERIODS = ffi.typeof("tsanom_dpd_period[]")


def loops(events: npt.ArrayLike, *, max_period: Optional[int] = None,
          repeats: Optional[int] = None, least_events: Optional[int] = None,
          capacity: int = 4096) -> List[Loop]:
    """Find the loops of a stream of events, also nested ones, shortest period first.

    Parameters
    ----------
    events : array_like of integers
        Identifiers, such as addresses of regions.
    max_period : int
        Largest period, 1024 by default.
    repeats, least_events : int
        Consecutive occurrences of a pattern that make it a loop, 3 by default, and events that it
        must cover, 8 by default.
    capacity : int
        Loops that are recorded; if there are more, a `TsanomWarning` says so.

    Examples
    --------
    >>> import tsanom
    >>> [(loop.period, loop.level) for loop in tsanom.loops([1, 2, 3, 3, 3, 3] * 6, least_events=3)]
    [(1, 1), (6, 2)]
    """
    array = event_codes(events)
    setting = shared_options("tsanom_dpd_nest_options", max_period=max_period, repeats=repeats,
                             least_events=least_events, capacity=capacity)
    handle = new(_NEST)
    quick(_nest_create, (setting,), (handle,))
    nest = ffi.gc(handle[0], _nest_destroy)
    plain(_nest_push_many(nest, from_buffer(WORDS, array), len(array), NULL), "events")
    count = new(SIZE)
    plain(_nest_periods(nest, NULL, 0, count), expected=(PARTIAL,))
    found = new(_PERIODS, count[0])
    warn_of(_nest_periods(nest, found, count[0], count), (),
            f"capacity is {capacity}, and there were more loops")
    return [_loop(f.period, f.level, f.first, f.last, f.loops, f.events) for f in found]


__all__ = ["Loop", "Period", "PeriodDetector", "loops", "period"]
