# SPDX-License-Identifier: BSD-3-Clause
"""Main loop, iterations and speedup of a program from the events of its parallel regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, TYPE_CHECKING, Tuple

import numpy as np

from ._arrays import (DOUBLES, I32, INTP, U32, U64, Array, as_array, doubles, event_codes,
                      from_buffer, integers, new)
from ._call import (INFEASIBLE, PARTIAL, Progress, call_sized, flag, limit, options, plain,
                    quick, shared, warn_of, whole)
from ._library import NONE, NULL, ffi, lib
from ._results import maker, reader
from ._state import restore, saved

if TYPE_CHECKING:
    import numpy.typing as npt

_FIELDS = dict(ffi.typeof("tsanom_speedup_event").fields)
EVENT = np.dtype({"names": ["region", "begin", "end", "threads"],
                  "formats": ["u8", "f8", "f8", "i4"],
                  "offsets": [_FIELDS[name].offset
                              for name in ("region", "begin", "end", "threads")],
                  "itemsize": ffi.sizeof("tsanom_speedup_event")})
LEVELS: Dict[int, str] = {lib.TSANOM_SPEEDUP_REGIONS: "regions",
                          lib.TSANOM_SPEEDUP_WORKSHARING: "worksharing"}

_RESERVED = _FIELDS["reserved0"].offset
_EVENTS = ffi.typeof("tsanom_speedup_event[]")
_CODES = ffi.typeof("uint32_t[]")
_ITERATIONS = ffi.typeof("tsanom_dpd_iteration[]")
_LOOP = ffi.typeof("tsanom_speedup_loop *")
_PREDICTION = ffi.typeof("tsanom_speedup_prediction *")
_EMPTY_PREDICTION = options("tsanom_speedup_prediction")
_MAIN = ffi.typeof("tsanom_dpd_main *")
_EMPTY_MAIN = options("tsanom_dpd_main")
# Events for which Python's functions are faster than those of NumPy.
_FEW = 64
_summarize = lib.tsanom_speedup_summarize
_main_loop = lib.tsanom_dpd_main_loop


@dataclass(frozen=True)
class SpeedupLoop:
    """Statistics of a loop; see tsanom_speedup_loop."""

    start: int
    """Identifier of its first region."""
    period: int
    """Regions in an iteration."""
    iterations: int
    runs: int
    """How often the loop was entered."""
    last_run: int
    """Iterations of its latest finished run; 0: none finished."""
    first: float
    """Time when it began."""
    last: float
    """Time when its last complete iteration ended."""
    total_s: float
    parallel_s: float
    """Seconds inside regions."""
    baseline_s: float
    """Median iteration with `baseline_threads`; NaN: none."""
    current_s: float
    speedup: float
    efficiency: float
    serial_fraction: float
    """Amdahl's fraction."""
    baseline_threads: int
    current_threads: int
    baseline_mean_s: float
    """Mean of all iterations with `baseline_threads`, not of the latest ones; NaN: none."""
    current_mean_s: float

    def compare(self, baseline: "SpeedupLoop") -> "SpeedupLoop":
        """The same with the iterations of another run as the baseline.

        >>> import numpy as np, tsanom
        >>> def loop(seconds, threads):
        ...     begin = np.arange(20) * seconds
        ...     events = tsanom.region_events(20 * [7], begin, begin + seconds / 2, threads)
        ...     return tsanom.speedup(events).loops[0]
        >>> found = loop(0.5, 4).compare(loop(1.0, 1))
        >>> found.speedup, found.efficiency
        (2.0, 0.5)
        """
        loop = _to_struct(self)
        plain(lib.tsanom_speedup_compare(loop, _to_struct(baseline)), "baseline")
        return _loop(loop)


@dataclass(frozen=True)
class Prediction:
    """Predicted end of a program; see tsanom_speedup_prediction."""

    expected: int
    """Iterations of the main loop."""
    remaining_s: float
    total_s: float
    """Time of the end, on the clock of the events; NaN: iterations drift."""
    low_s: float
    high_s: float
    """The end is between `low_s` and `high_s` with 95 %; NaN: not known."""
    drifts: bool


@dataclass(frozen=True)
class Speedup:
    """The result of `speedup`."""

    loops: Tuple[SpeedupLoop, ...]
    """In the order in which they were found."""
    prediction: Optional[Prediction]
    """None: nothing determines the length of the main loop."""


@dataclass(frozen=True)
class RelatedLoop:
    """Another loop than the main loop."""

    anchor: int
    """The event that begins its iterations."""
    iterations: int
    relation: str
    """"around" the main loop, "inside" it, or "beside" it."""
    previous: Optional[int] = None
    """None; or its iterations begin with an anchor directly behind this event."""


@dataclass(frozen=True)
class MainLoop:
    """The main loop of a sequence of events, as `main_loop` finds it."""

    anchor: int
    """The event that begins its iterations."""
    runs: int
    """How often it is entered."""
    places: int
    """Different events of a usual iteration."""
    covered: float
    """Time in it; without times, events."""
    iterations: Array
    """Index of the first event of each, and that behind the last, of shape (iterations, 2)."""
    previous: Optional[int] = None
    """None; or an iteration begins with each anchor directly behind this event."""
    related: Tuple[RelatedLoop, ...] = ()
    """Loops around it, the next ones first, beside it, and in it; at most 4."""


def region_events(region: npt.ArrayLike, begin: npt.ArrayLike, end: npt.ArrayLike,
                  threads: npt.ArrayLike = 1) -> Array:
    """Events of parallel regions as `Run.events` returns them.

    >>> import tsanom
    >>> tsanom.region_events([1, 2], [0.0, 1.0], [0.5, 2.0], threads=4)["end"]
    array([0.5, 2. ])
    """
    regions = event_codes(region, "region").view(U64)
    n = len(regions)
    if isinstance(threads, int) or getattr(threads, "ndim", 1) == 0:
        threads = np.full(n, whole(threads, "threads"))
    columns = {"begin": doubles(begin, "begin"), "end": doubles(end, "end"),
               "threads": integers(threads, "threads", I32)}
    # Not np.empty: the struct has a reserved field.
    events = np.frombuffer(bytearray(n * EVENT.itemsize), EVENT)
    events["region"] = regions
    for name, column in columns.items():
        if len(column) != n:
            raise ValueError(f"{name} has {len(column)} elements for {n} regions")
        events[name] = column
    return events


def _events(events: npt.ArrayLike, name: str = "events") -> Tuple[Array, Any]:
    """Events to pass, and their pointer: an array as `region_events` returns it as it is, unless
    NumPy left something in the reserved field when it copied it."""
    array = as_array(events, name)
    if not (array.dtype == EVENT and array.ndim == 1 and array.flags.c_contiguous
            and array.flags.aligned
            and not array.getfield(I32, _RESERVED).tobytes().strip(b"\0")):
        if array.dtype.names is None or not set(EVENT.names or ()) <= set(array.dtype.names):
            raise TypeError(f"{name} has the type {array.dtype}; a structured array with the "
                            "fields region, begin, end and threads is expected; see region_events")
        array = region_events(*(array[field] for field in ("region", "begin", "end", "threads")))
    return array, from_buffer(_EVENTS, array)


_loop = reader(SpeedupLoop)
_prediction_of = maker(Prediction)
_main_loop_of = maker(MainLoop)
_RELATIONS = {lib.TSANOM_DPD_AROUND: "around", lib.TSANOM_DPD_INSIDE: "inside",
              lib.TSANOM_DPD_BESIDE: "beside"}


def _number(code: int) -> Optional[int]:
    return None if code == NONE else code


def _related(found: Any) -> Tuple[RelatedLoop, ...]:
    return tuple(RelatedLoop(loop.anchor, loop.iterations, _RELATIONS[loop.relation],
                             _number(loop.previous))
                 for loop in found.related[0:found.relations])


def _to_struct(loop: SpeedupLoop) -> Any:
    return new(_LOOP, vars(loop))


def _prediction(struct: Any) -> Prediction:
    return _prediction_of(struct.expected, struct.remaining_s, struct.total_s, struct.low_s,
                          struct.high_s, bool(struct.drifts))


@shared
def _options(baseline: Optional[int], max_period: Optional[int] = None,
             capacity: Optional[int] = None) -> Any:
    """The options of a call, which calls share."""
    return options("tsanom_speedup_options", baseline=baseline, max_period=max_period,
                   capacity=capacity)


class SpeedupAnalyzer:
    """Speedup of an iterative program while it runs.

    Parameters
    ----------
    baseline : int, optional
        Threads of the baseline; None: the fewest of any iteration, of those that the latest one
        did not have.
    max_period : int, optional
        Regions of the longest iteration; 1024 by default.
    capacity : int, optional
        Loops that are recorded; 64 by default. If there are more, a `TsanomWarning` says so.

    Examples
    --------
    >>> import numpy as np, tsanom
    >>> analyzer = tsanom.SpeedupAnalyzer()
    >>> begin = np.arange(30) * 1.0
    >>> analyzer.push(tsanom.region_events(15 * [1, 2], begin, begin + 0.75))
    >>> [(loop.period, loop.current_s) for loop in analyzer.loops()]
    [(2, 2.0)]
    >>> analyzer.predict(iterations=100).remaining_s
    170.25
    """

    def __init__(self, baseline: Optional[int] = None, *, max_period: Optional[int] = None,
                 capacity: Optional[int] = None) -> None:
        self._settings = baseline, max_period, capacity
        analyzer = ffi.new("tsanom_speedup **")
        quick(lib.tsanom_speedup_create, (_options(baseline, max_period, capacity),), (analyzer,))
        self._analyzer: Any = ffi.gc(analyzer[0], lib.tsanom_speedup_destroy)

    def __getstate__(self) -> Tuple[Tuple[Any, ...], bytes]:
        return self._settings, saved(self._analyzer)

    def __setstate__(self, state: Tuple[Tuple[Any, ...], bytes]) -> None:
        baseline, max_period, capacity = state[0]
        SpeedupAnalyzer.__init__(self, baseline, max_period=max_period, capacity=capacity)
        restore(self._analyzer, state[1])

    def push(self, events: npt.ArrayLike) -> None:
        """Take in finished regions, in the order of time. Of an invalid one those before it were
        taken in."""
        array, pointer = _events(events)
        for i in range(len(array)):
            plain(lib.tsanom_speedup_push(self._analyzer, pointer + i), "events", i)

    def finish(self) -> None:
        """End the stream: its last iteration is complete if its last region is."""
        plain(lib.tsanom_speedup_finish(self._analyzer))

    def loops(self) -> List[SpeedupLoop]:
        """The loops so far, in the order in which they were found."""
        count = ffi.new("size_t *")
        plain(lib.tsanom_speedup_loops(self._analyzer, NULL, 0, count), expected=(PARTIAL,))
        found = ffi.new("tsanom_speedup_loop[]", count[0])
        warn_of(lib.tsanom_speedup_loops(self._analyzer, found, count[0], count), (),
                "there were more loops than the capacity of the analyzer")
        return [_loop(loop) for loop in found]

    def predict(self, iterations: int = 0) -> Optional[Prediction]:
        """When the main loop ends; `iterations` is their total number, 0: that of its latest
        finished run. None: nothing determines it."""
        prediction = options("tsanom_speedup_prediction")
        status = plain(lib.tsanom_speedup_predict(
            self._analyzer, whole(iterations, "iterations"), prediction), "iterations", None,
            (INFEASIBLE,))
        return None if status == INFEASIBLE else _prediction(prediction)


def speedup(events: npt.ArrayLike, *, baseline: Optional[int] = None,
            max_period: Optional[int] = None, capacity: Optional[int] = None,
            iterations: int = 0) -> Speedup:
    """Loops of a recorded sequence of parallel regions, and their speedup over iterations with
    fewer threads.

    Parameters
    ----------
    events : structured array
        With the fields region, begin, end and threads, as `Run.events` and `region_events` return.
    baseline, max_period, capacity
        See `SpeedupAnalyzer`.
    iterations : int
        Total iterations of the main loop, if they are known, for the prediction.

    Examples
    --------
    >>> import numpy as np, tsanom
    >>> seconds = np.repeat([1.0, 0.25], 20)
    >>> begin = np.cumsum(seconds) - seconds
    >>> events = tsanom.region_events(40 * [5], begin, begin + seconds, np.repeat([1, 8], 20))
    >>> loop = tsanom.speedup(events).loops[0]
    >>> loop.speedup, loop.efficiency, round(loop.serial_fraction, 6)
    (4.0, 0.5, 0.142857)
    """
    analyzer = SpeedupAnalyzer(baseline, max_period=max_period, capacity=capacity)
    analyzer.push(events)
    analyzer.finish()
    return Speedup(tuple(analyzer.loops()), analyzer.predict(iterations))


def speedup_summarize(events: npt.ArrayLike, iterations: npt.ArrayLike, *,
                      baseline: Optional[int] = None,
                      expected: int = 0) -> Tuple[SpeedupLoop, Optional[Prediction]]:
    """Statistics and predicted end of a loop whose iterations are known, as those of `main_loop`.

    Parameters
    ----------
    events : structured array
        See `speedup`.
    iterations : array_like of shape (iterations, 2)
        Index of the first event of each, and that behind its last.
    expected : int
        Total iterations; 0: those that there are, if the loop has ended.

    Examples
    --------
    >>> import numpy as np, tsanom
    >>> begin = np.arange(30) * 1.0
    >>> events = tsanom.region_events(15 * [1, 2], begin, begin + 1.0)
    >>> loop = tsanom.main_loop(events["region"])
    >>> summary, end = tsanom.speedup_summarize(events, loop.iterations, expected=20)
    >>> summary.iterations, summary.current_s, end.remaining_s
    (15, 2.0, 10.0)
    """
    array, pointer = _events(events)
    given = integers(iterations, "iterations", INTP, 2)
    if given.shape[1:] != (2,):
        raise ValueError(f"iterations has the shape {given.shape}; (iterations, 2) expected")
    loop, prediction = new(_LOOP), new(_PREDICTION, _EMPTY_PREDICTION[0])
    n = len(array)
    status = call_sized(n, _summarize,
                        (pointer, n, from_buffer(_ITERATIONS, given), len(given),
                         _options(baseline), whole(expected, "expected")), (loop, prediction),
                        expected=(INFEASIBLE,))
    return _loop(loop), None if status == INFEASIBLE else _prediction(prediction)


@shared
def _main_options(kinds: int, anchor: Optional[int], ended: bool, active: bool) -> Any:
    """The options of a call, which calls share."""
    return options("tsanom_dpd_main_options", kinds=kinds, anchor=limit(anchor, "anchor"),
                   ended=flag(ended, "ended"), active=flag(active, "active"))


def main_loop(events: npt.ArrayLike, times: Optional[npt.ArrayLike] = None, *,
              anchor: Optional[int] = None, ended: bool = True, active: bool = False,
              progress: Progress = None) -> Optional[MainLoop]:
    """The main loop of a sequence of events, whose iterations may differ; None without one.

    Parameters
    ----------
    events : array_like of integers
        Not negative. Memory is proportional to the largest.
    times : array_like, optional
        When each event begins, and when the last one ends; None: each takes 1.
    anchor : int, optional
        The event that begins the iterations; None: it is chosen.
    ended : bool
        False: the sequence goes on, so that its last iteration is not complete.
    active : bool
        Only runs that last until the end of the sequence count.

    Examples
    --------
    >>> import tsanom
    >>> loop = tsanom.main_loop([9, 8] + [1, 2, 2, 3, 1, 2, 3] * 5 + [7])
    >>> loop.anchor, loop.iterations[:3].tolist()
    (1, [[2, 6], [6, 9], [9, 13]])
    """
    array = integers(events, "events", U32)
    n = len(array)
    began = NULL
    if times is not None:
        when = doubles(times, "times")
        if len(when) != n + 1:
            raise ValueError(f"times has {len(when)} elements for {n} events; {n + 1} expected")
        began = from_buffer(DOUBLES, when)
    kinds = (max(array.tolist(), default=0) if n <= _FEW else int(array.max())) + 1
    setting = _main_options(kinds, anchor, ended, active)
    found = new(_MAIN, _EMPTY_MAIN[0])
    iterations = np.empty((n, 2), INTP)
    status = call_sized(n * n, _main_loop, (from_buffer(_CODES, array), began, n, setting),
                        (found, from_buffer(_ITERATIONS, iterations, True), n), 1, progress,
                        (INFEASIBLE,))
    if status == INFEASIBLE:
        return None
    iterations = iterations[:found.iterations]
    return _main_loop_of(found.anchor, found.runs, found.places, found.covered,
                         iterations if n <= _FEW else iterations.copy(),
                         _number(found.previous), _related(found))


def speedup_level(regions: npt.ArrayLike, worksharing: npt.ArrayLike, *,
                  ended: bool = True) -> str:
    """Which events of a run show its iterations: "regions" or "worksharing". A program that opens
    one region around its main loop has no loop of regions: that of worksharing takes longer.

    Parameters
    ----------
    ended : bool
        False: the run goes on, so that its last iterations are not complete.
    """
    covered, level = [], ffi.new("int32_t *")
    for events in (regions, worksharing):
        array = _events(events)[0]
        places = np.unique(array["region"], return_inverse=True)[1]
        times = np.append(array["begin"], array["end"][-1:])
        loop = main_loop(places, times, ended=ended) if len(array) else None
        covered.append(loop.covered if loop else 0.0)
    plain(lib.tsanom_speedup_choose_level(*covered, level))
    return LEVELS[level[0]]


__all__ = ["MainLoop", "Prediction", "RelatedLoop", "Speedup", "SpeedupAnalyzer", "SpeedupLoop",
           "main_loop", "region_events", "speedup", "speedup_level", "speedup_summarize"]
