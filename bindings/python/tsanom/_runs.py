# SPDX-License-Identifier: BSD-3-Clause
"""Recorded runs."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._arrays import DOUBLES, F64, Array, doubles, empty, from_buffer
from ._call import Progress, call, quick
from ._dtw import limit
from ._library import NULL, ffi, runs
from ._spmd import Similarity, analyze_view, spmd_options

Path = Union[str, "os.PathLike[str]"]

PARTS: Dict[str, int] = {"beats": runs.TSANOM_RUNS_BEATS, "regions": runs.TSANOM_RUNS_REGIONS,
                         "spmd": runs.TSANOM_RUNS_SPMD,
                         "region_times": runs.TSANOM_RUNS_REGION_TIMES}
LEVELS: Dict[str, int] = {"regions": runs.TSANOM_RUNS_LEVEL_REGIONS,
                          "worksharing": runs.TSANOM_RUNS_LEVEL_WORKSHARING}


def _dtype(struct: Any, names: str) -> "np.dtype[Any]":
    """Some fields of a struct of C as those of a structured array."""
    formats = {"double": "f8", "uint64_t": "u8", "int32_t": "i4"}
    fields = dict(struct.fields)
    return np.dtype({"names": names.split(), "itemsize": ffi.sizeof(struct),
                     "formats": [formats[fields[name].type.cname] for name in names.split()],
                     "offsets": [fields[name].offset for name in names.split()]})


# The last but one argument of the functions: where they put the pointer to samples and events.
_VITALS = ffi.typeof(runs.tsanom_runs_vitals).args[3]
_EVENTS = ffi.typeof(runs.tsanom_runs_events).args[3]
_VITAL = _dtype(_VITALS.item.item, "time cpu_s wait_s voluntary involuntary minor_faults "
                "major_faults resident anonymous threads beats thread task state")
_EVENT = _dtype(_EVENTS.item.item, "region threads begin end")


def heart_rate(times: npt.ArrayLike, window: int) -> Array:
    """Windowed heart rate w / (t_i - t_{i-w}) for i = w, w + 1, ...

    >>> import tsanom
    >>> tsanom.heart_rate([0.0, 0.5, 1.0, 2.0], window=2)
    array([2.        , 1.33333333])
    """
    array = doubles(times, "times")
    limit(window, "window")
    rates, out = empty(max(len(array) - window, 0), F64, DOUBLES)
    quick(runs.tsanom_runs_rate, (from_buffer(DOUBLES, array), len(array), window), (out,))
    return rates


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
    """Records that salvage did not recover."""
    restarts: int
    """Restarts of the clock."""
    vital_samples: int
    vital_period_s: float
    totals: int
    """Rows of totals, by which the run continues where its events end."""


class Run:
    """A recorded run: a directory, a CSV file of heartbeats, or a JSON file of region times.

    Parameters
    ----------
    path : str or path-like
    parts : sequence of {"beats", "regions", "spmd", "region_times"}
        What must be there; by default what is there.
    symbols : bool
        Name places in the code by function, file and line.
    salvage : bool
        Read what is intact of a damaged run, instead of rejecting it.

    Arrays that methods return are copies: they stay as they are after a refresh.

    Examples
    --------
    >>> import tempfile, tsanom
    >>> directory = tempfile.mkdtemp() + "/run"
    >>> with tsanom.heartbeat.record(directory):
    ...     for _ in range(5):
    ...         recorded = tsanom.heartbeat.beat()
    >>> run = tsanom.Run(directory)
    >>> run.info.finished, len(run.beats(0)), len(run.rates(0, window=2))
    (True, 5, 3)
    """

    def __init__(self, path: Path, *, parts: Tuple[str, ...] = (), symbols: bool = True,
                 salvage: bool = False, progress: Progress = None) -> None:
        self._arguments = (os.fspath(path), tuple(parts), symbols, salvage)
        wanted = 0
        for part in parts:
            if part not in PARTS:
                raise ValueError(f"the part {part!r} is none of {', '.join(map(repr, PARTS))}")
            wanted |= PARTS[part]
        setting = ffi.new("tsanom_runs_options *")
        runs.tsanom_runs_options_init(setting, ffi.sizeof("tsanom_runs_options"))
        setting.parts = wanted
        setting.symbols = int(symbols)
        setting.salvage = int(salvage)
        handle = ffi.new("tsanom_runs **")
        call(runs.tsanom_runs_open, (os.fsencode(path), setting), (handle,), progress=progress)
        self._run = ffi.gc(handle[0], runs.tsanom_runs_close)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _reopen, self._arguments

    def __repr__(self) -> str:
        return f"Run({self._arguments[0]!r})"

    @property
    def info(self) -> RunInfo:
        """The description of the run now."""
        info = self._describe()
        return RunInfo(
            tuple(name for name, bit in PARTS.items() if info.parts & bit),
            info.state == runs.TSANOM_RUNS_FINISHED, info.start * 1e-9, info.last, info.pid,
            ffi.string(info.program).decode(errors="replace"), info.beats, info.events,
            info.beats_dropped, info.events_dropped, info.skipped, info.restarts,
            info.vital_samples, info.vital_period_s, info.totals)

    def _describe(self) -> Any:
        info = ffi.new("tsanom_runs_info *")
        runs.tsanom_runs_info_init(info, ffi.sizeof("tsanom_runs_info"))
        runs.tsanom_runs_describe(self._run, info)
        return info

    def refresh(self) -> int:
        """Add what the program wrote since; return the number of records added."""
        added = ffi.new("uint64_t *")
        call(runs.tsanom_runs_refresh, (self._run,), (added,))
        return int(added[0])

    def follow(self, interval: float = 1.0, timeout: Optional[float] = None) -> Iterator[int]:
        """Refresh every `interval` seconds, and yield the number of records added, until the
        program ends the recording, or for `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            yield self.refresh()
            if self.info.finished or end is not None and time.monotonic() >= end:
                return
            time.sleep(interval)

    def _series(self) -> Any:
        """The heartbeats as the struct tsanom_hsa_run, valid until a refresh."""
        beats = ffi.new("tsanom_hsa_run **")
        call(runs.tsanom_runs_hsa, (self._run,), (beats,))
        return beats[0]

    @property
    def threads(self) -> int:
        """Threads with numbers for heartbeats."""
        return int(self._series().thread_count)

    def beats(self, thread: int = 0) -> Array:
        """Times of the heartbeats of a thread, in seconds since the start of the run."""
        beats = self._series()
        if not 0 <= thread < beats.thread_count:
            raise IndexError(f"thread {thread} of {beats.thread_count}")
        series = beats.threads[thread]
        return _copy(series.time, series.beats, F64)

    def rates(self, thread: int = 0, window: int = 1) -> Array:
        """Heart rate of a thread over windows of beats; see `heart_rate`."""
        return heart_rate(self.beats(thread), window)

    def vital_signs(self, thread: Optional[int] = None) -> Array:
        """What the kernel knew of a thread, or without one of the process: a structured array
        whose fields are those of the C struct. NaN: not known."""
        samples, count = ffi.new(_VITALS), ffi.new("size_t *")
        call(runs.tsanom_runs_vitals,
             (self._run, runs.TSANOM_RUNS_PROCESS if thread is None else thread), (samples, count))
        return _copy(samples[0], count[0], _VITAL)

    def events(self, level: str = "regions") -> Array:
        """Parallel regions, or for "worksharing" the work between their constructs: a structured
        array of region, threads, begin and end. `place_name` names a region."""
        if level not in LEVELS:
            raise ValueError(f"level is {level!r}; one of {', '.join(map(repr, LEVELS))} is "
                             "expected")
        events, count = ffi.new(_EVENTS), ffi.new("size_t *")
        call(runs.tsanom_runs_events, (self._run, LEVELS[level]), (events, count))
        return _copy(events[0], count[0], _EVENT)

    def place_name(self, region: int) -> str:
        """Function, file and line of a region of `events`."""
        name = ffi.new("char **")
        call(runs.tsanom_runs_place_name, (self._run, region), (name,))
        return str(ffi.string(name[0]).decode())

    def _region_times(self) -> Any:
        data = ffi.new("tsanom_runs_spmd_data *")
        call(runs.tsanom_runs_spmd, (self._run,), (data,))
        return data

    def region_times(self) -> "RegionTimes":
        """Times and metrics of regions by process."""
        data = self._region_times()
        view = data.data
        shape = (view.processes, view.regions)
        stride = view.time_ld or view.regions
        times = _copy(view.time, view.processes * stride, F64).reshape(-1, stride)
        step = view.metric_ld or view.regions
        values = _copy(view.metric, view.metrics * view.processes * step, F64)
        values = values.reshape(view.metrics, view.processes, step)[:, :, :view.regions]
        names = _names(data.metric, view.metrics)
        return RegionTimes(
            times[:, :view.regions].reshape(shape), _copy(view.parent, view.regions, np.int32),
            dict(zip(names, values)), _names(data.region, view.regions),
            _names(data.process, view.processes) if data.process != NULL else None)

    def similarity(self, progress: Progress = None, **setting: Any) -> Similarity:
        """`spmd_analyze` of the region times, with its options."""
        data = self._region_times()
        return analyze_view(data.data, _names(data.region, data.data.regions),
                            _names(data.metric, data.data.metrics), spmd_options(**setting),
                            progress)


@dataclass(frozen=True)
class RegionTimes:
    """Region times of a run, as the arguments of `spmd_analyze`."""

    times: Array
    parents: Array
    metrics: Dict[str, Array]
    regions: List[str]
    processes: Optional[List[str]]
    """None: processes are known by number."""


def _reopen(path: str, parts: Tuple[str, ...], symbols: bool, salvage: bool) -> Run:
    return Run(path, parts=parts, symbols=symbols, salvage=salvage)


def _copy(pointer: Any, count: int, dtype: Any) -> Array:
    """A copy of an array of C."""
    dtype = np.dtype(dtype)
    if not count:
        return np.empty(0, dtype)
    return np.frombuffer(ffi.buffer(pointer, count * dtype.itemsize), dtype).copy()


def _names(names: Any, count: int) -> List[str]:
    return [ffi.string(names[i]).decode(errors="replace") for i in range(count)]


__all__ = ["RegionTimes", "Run", "RunInfo", "heart_rate"]
