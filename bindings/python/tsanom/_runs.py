# SPDX-License-Identifier: BSD-3-Clause
"""Recorded runs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, Dict, List, Optional, TYPE_CHECKING, Tuple, Union

import numpy as np

from ._arrays import DOUBLES, F64, Array, doubles, empty, from_buffer
from ._call import (PARTIAL, Progress, call, choice, file_name, flag, options, plain, quick, real,
                    whole)
from ._errors import TsanomError
from ._ledger import Ledger, ledger
from ._library import NULL, ffi, runs
from ._run_parts import Damage, Message, Place, RegionTimes, RunInfo, Stream
from ._speedup import EVENT, MainLoop, Speedup, main_loop, speedup, speedup_level
from ._spmd import Similarity, analyze_view, report_of, spmd_options
from ._summary import Collector, Summary

if TYPE_CHECKING:
    import numpy.typing as npt

    from . import _hsa

Path = Union[str, "os.PathLike[str]"]

PARTS: Dict[str, int] = {"beats": runs.TSANOM_RUNS_BEATS, "regions": runs.TSANOM_RUNS_REGIONS,
                         "spmd": runs.TSANOM_RUNS_SPMD,
                         "region_times": runs.TSANOM_RUNS_REGION_TIMES}
LEVELS: Dict[str, int] = {"regions": runs.TSANOM_RUNS_LEVEL_REGIONS,
                          "worksharing": runs.TSANOM_RUNS_LEVEL_WORKSHARING}


def _dtype(struct: Any, names: str) -> "np.dtype[Any]":
    """Some fields of a struct of C as those of a structured array."""
    formats = {"double": "f8", "uint64_t": "u8", "int32_t": "i4", "char[16]": "S16"}
    fields = dict(struct.fields)
    return np.dtype({"names": names.split(), "itemsize": ffi.sizeof(struct),
                     "formats": [formats[fields[name].type.cname] for name in names.split()],
                     "offsets": [fields[name].offset for name in names.split()]})


# Where samples and events go.
_VITALS = ffi.typeof(runs.tsanom_runs_vitals).args[3]
_EVENTS = ffi.typeof("tsanom_speedup_event[]")
_VITAL = _dtype(_VITALS.item.item, "time cpu_s wait_s voluntary involuntary minor_faults "
                "major_faults resident anonymous threads beats thread task state waits "
                "spun_s name")


def heart_rate(times: npt.ArrayLike, window: int) -> Array:
    """Windowed heart rate w / (t_i - t_{i-w}) for i = w, w + 1, ...

    >>> import tsanom
    >>> tsanom.heart_rate([0.0, 0.5, 1.0, 2.0], window=2)
    array([2.        , 1.33333333])
    """
    array = doubles(times, "times")
    window = whole(window, "window", 1)
    if len(array) <= window:
        raise ValueError(f"times has {len(array)} elements; more than window, {window}, expected")
    rates, out = empty(max(len(array) - window, 0), F64, DOUBLES)
    quick(runs.tsanom_runs_rate, (from_buffer(DOUBLES, array), len(array), window), (out,))
    return rates


def _options(parts: Sequence[str], symbols: bool, salvage: bool) -> Any:
    if isinstance(parts, str):
        raise TypeError(f"parts is {parts!r}; a sequence of names is expected")
    wanted = 0
    for part in parts:
        wanted |= choice(part, PARTS, "part")
    setting = ffi.new("tsanom_runs_options *")
    runs.tsanom_runs_options_init(setting, ffi.sizeof("tsanom_runs_options"))
    setting.parts = wanted
    setting.symbols = flag(symbols, "symbols")
    setting.salvage = flag(salvage, "salvage")
    return setting


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
        Read the files of a damaged run up to the damage, instead of rejecting it.

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
        self._paths: Optional[Tuple[str, ...]] = None
        handle = ffi.new("tsanom_runs **")
        call(runs.tsanom_runs_open, (file_name(path), _options(parts, symbols, salvage)),
             (handle,), progress=progress)
        self._run = ffi.gc(handle[0], runs.tsanom_runs_destroy)

    @classmethod
    def of_processes(cls, paths: Sequence[Path], *, symbols: bool = True, salvage: bool = False,
                     progress: Progress = None) -> "Run":
        """Separate runs as the processes of one program, for `region_times` and `similarity`. A
        run of several ranks stands for its ranks."""
        if isinstance(paths, (str, os.PathLike)):
            raise TypeError(f"paths is {paths!r}; a sequence of paths is expected")
        run = cls.__new__(cls)
        run._paths = tuple(os.fspath(path) for path in paths)
        run._arguments = (" ".join(run._paths), (), symbols, salvage)
        names = [ffi.new("char[]", file_name(path, "paths")) for path in run._paths]
        handle = ffi.new("tsanom_runs **")
        call(runs.tsanom_runs_open_processes,
             (ffi.new("char *[]", names), len(names), _options((), symbols, salvage)), (handle,),
             progress=progress)
        run._run = ffi.gc(handle[0], runs.tsanom_runs_destroy)
        return run

    @staticmethod
    def ranks(path: Path) -> Tuple[List[int], int]:
        """The ranks of an MPI program that recorded a run, and the size of the job, 0 if it is
        not known. ``Run(f"{path}/rank.{K}")`` opens that of rank K. No ranks: it is not a run of
        several ranks."""
        count, size = ffi.new("size_t *"), ffi.new("size_t *")
        ranks = ffi.new("int32_t[]", 64)
        while call(runs.tsanom_runs_ranks, (file_name(path),),
                   (ranks, len(ranks), count, size), expected=(PARTIAL,)) == PARTIAL:
            ranks = ffi.new("int32_t[]", count[0])
        return ffi.unpack(ranks, count[0]), size[0]

    @staticmethod
    def messages(path: Path) -> List[Message]:
        """The latest messages of the recorders in the processes of a run, which need not be one
        that can be opened. Look here if something was not recorded."""
        count = ffi.new("size_t *")
        found = ffi.new("tsanom_runs_message[]", 16)
        call(runs.tsanom_runs_messages, (file_name(path),), (found, len(found), count))
        return [Message(one.number, one.time, one.process, one.error,
                        ffi.string(one.text).decode(errors="replace"))
                for one in found[0:count[0]]]

    def __reduce__(self) -> Tuple[Any, ...]:
        return _reopen, (self._paths or self._arguments[0], *self._arguments[1:])

    def __repr__(self) -> str:
        return f"Run({self._arguments[0]!r})"

    @property
    def info(self) -> RunInfo:
        """The description of the run now."""
        info = self._describe()
        return RunInfo(
            tuple(name for name, bit in PARTS.items() if info.parts & bit),
            info.state in (runs.TSANOM_RUN_UNKNOWN, runs.TSANOM_RUN_FINISHED),
            info.start * 1e-9, info.last, info.pid,
            ffi.string(info.program).decode(errors="replace"), info.beats, info.events,
            info.beats_dropped, info.events_dropped, info.skipped, info.restarts,
            info.vital_samples, info.vital_period_s, info.totals,
            info.beats_interpolated, info.beats_by_time, info.beats_of_steps)

    def _describe(self) -> Any:
        info = ffi.new("tsanom_runs_info *")
        info.struct_size = ffi.sizeof("tsanom_runs_info")
        plain(runs.tsanom_runs_describe(self._run, info))
        return info

    def refresh(self) -> int:
        """Add what the program wrote since; return the number of records added."""
        added = ffi.new("uint64_t *")
        call(runs.tsanom_runs_refresh, (self._run,), (added,))
        return int(added[0])

    def follow(self, interval: float = 1.0, timeout: Optional[float] = None) -> Iterator[int]:
        """Refresh every `interval` seconds, and yield the number of records added, until the
        program ends the recording or is killed, or for `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            # A program that is over may have written since the latest refresh.
            over = (self._describe().state != runs.TSANOM_RUN_RUNNING
                    or end is not None and time.monotonic() >= end)
            yield self.refresh()
            if over or self.info.finished:
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

    def ledger(self) -> Ledger:
        """Where the time of the run went: for how long its threads computed, for how long they
        lacked a processor, and for how long nobody ran. It needs vital signs."""
        return ledger(self._series())

    def events(self, level: str = "regions") -> Array:
        """Parallel regions, or for "worksharing" the work between their constructs: a structured
        array of region, threads, begin and end. `place_name` names a region."""
        code, count = choice(level, LEVELS, "level"), ffi.new("size_t *")
        call(runs.tsanom_runs_events, (self._run, code, 0), (NULL, 0, count))
        events = np.zeros(count[0], EVENT)
        call(runs.tsanom_runs_events, (self._run, code, 0),
             (from_buffer(_EVENTS, events), len(events), count))
        return events

    def place_name(self, region: int) -> str:
        """Function, file and line of a region of `events`."""
        name = ffi.new("char **")
        call(runs.tsanom_runs_place_name, (self._run, region), (name,))
        return str(ffi.string(name[0]).decode(errors="replace"))

    def place(self, region: int) -> Place:
        """The place in the code of a region of `events`."""
        place = ffi.new("tsanom_runs_place *")
        plain(runs.tsanom_runs_place_at(self._run, region, place), "region", region)
        return Place(self.place_name(region), os.fsdecode(ffi.string(place.module)), place.address,
                     None if place.call == NULL
                     else ffi.string(place.call).decode(errors="replace"),
                     place.communicator)

    def streams(self, part: str = "beats") -> List[Stream]:
        """The records of "beats" or "regions" as they were written; the tags of regions are
        documented with the format of a run."""
        info = self._describe()
        code = choice(part, {name: PARTS[name] for name in ("beats", "regions")}, "part")
        found = ffi.new("tsanom_runs_stream *")
        result = []
        for i in range(info.beat_streams if part == "beats" else info.event_streams):
            plain(runs.tsanom_runs_stream_at(self._run, code, i, found), part, i)
            tag = None if found.tag == NULL else _copy(found.tag, found.count, np.uint32)
            result.append(Stream(found.thread, _copy(found.time, found.count, F64), tag,
                                 found.dropped))
        return result

    def damage(self) -> Optional[Damage]:
        """The damage up to which ``salvage=True`` read; None: the run is intact."""
        found = options("tsanom_fault")
        plain(runs.tsanom_runs_first_damage(self._run, found))
        if found.status == 0:
            return None
        return Damage(os.fsdecode(ffi.string(found.file)), found.offset, found.line,
                      ffi.string(found.text).decode(errors="replace"))

    def in_call(self) -> Optional[bool]:
        """Whether the thread that began the recording is in a call of MPI now; None: not known.
        The run need not be refreshed."""
        inside = ffi.new("int32_t *")
        call(runs.tsanom_runs_in_call, (self._run,), (inside,))
        return None if inside[0] < 0 else bool(inside[0])

    def active_threads(self, interval: float) -> Array:
        """Mean number of threads that work in parallel regions, in each `interval` seconds from
        the start of the run: a series for `period`."""
        count = ffi.new("size_t *")
        interval = real(interval, "interval")
        call(runs.tsanom_runs_active, (self._run, interval), (NULL, 0, count), expected=(PARTIAL,))
        active, out = empty(count[0], F64, DOUBLES)
        call(runs.tsanom_runs_active, (self._run, interval), (out, count[0], count))
        return active

    def main_loop(self, level: str = "regions", *, anchor: Optional[int] = None,
                  progress: Progress = None) -> Optional[MainLoop]:
        """The main loop of `events`; None without one."""
        events = self.events(level)
        times = np.append(events["begin"], events["end"][-1:])
        return main_loop(events["region"], times, anchor=anchor, ended=self.info.finished,
                         progress=progress) if len(events) else None

    def speedup(self, level: Optional[str] = None, *, baseline: Optional[int] = None) -> Speedup:
        """Loops of `events` and their speedup; level None: where `speedup_level` finds them."""
        if level is None:
            level = speedup_level(self.events("regions"), self.events("worksharing"),
                                  ended=self.info.finished)
        return speedup(self.events(level), baseline=baseline)

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
        errors = None
        if view.error != NULL:
            errors = _copy(view.error, view.processes * stride, F64).reshape(-1, stride)
            errors = errors[:, :view.regions]
        return RegionTimes(
            times[:, :view.regions].reshape(shape), _copy(view.parent, view.regions, np.int32),
            dict(zip(names, values)), _names(data.region, view.regions),
            _processes(data), errors)

    def similarity(self, progress: Progress = None, **setting: Any) -> Similarity:
        """`spmd_analyze` of the region times, with its options."""
        data = self._region_times()
        return analyze_view(data.data, _names(data.region, data.data.regions),
                            _names(data.metric, data.data.metrics), spmd_options(**setting),
                            progress)

    def summary(self, model: "Optional[_hsa.Model]" = None) -> Summary:
        """What happened in the run, on one page: how it ended, slow iterations, where its time
        went, which threads differ, its memory, what a model finds, and what was not recorded.
        ``print`` it. Open each rank of a job by itself."""
        path, run, info = self._arguments[0], self._series(), self._describe()
        missing = [one.text for one in self.messages(path)] if os.path.isdir(path) else []
        missing += _gaps(info)
        team = None
        if run.thread_count > 1:
            try:
                data = self._region_times()
                team = data.data, report_of(data.data, spmd_options(cut="noise"), None)
            except TsanomError as error:
                missing.append("threads were not compared: " + str(error).replace(f"{path}: ", ""))
        no_iterations = info.beats_by_time or info.beats_of_steps
        summary = Collector(path, missing, None if no_iterations else self._run)
        causes = None
        if model is not None and model.normal is not None:
            causes = model.normal.causes(run, run.threads[0].beats, None)[0]
        summary.add(run, causes)
        if no_iterations:
            summary.clear_iterations()
        if team:
            summary.add_team(team[0], team[1].struct, _names(data.region, team[0].regions),
                             _processes(data))
        summary.struct.records = info.beats + info.events
        return summary.result()


def _gaps(info: Any) -> List[str]:
    """What a run lacks, by its description."""
    dropped = info.beats_dropped + info.events_dropped
    return [text for condition, text in (
        (dropped, f"{dropped} records were dropped; the results are incomplete"),
        (info.restarts, f"the clock restarted {info.restarts} times while the program ran; "
                        "intervals that contain a restart are too short"),
        (info.beats_interpolated, f"{info.beats_interpolated} beats were not recorded; they are "
                                  "taken to be at equal distances between the others"),
        (info.totals, "events end before the run does; the rest has totals only"),
        (info.beats_by_time, "the program has no beats; each thread gets one for every 50 ms of "
                             "its processor time, which does not show how fast the program "
                             "computes"),
        (not info.vital_samples, "no vital signs: processor time and memory are not known"),
    ) if condition]


def _processes(data: Any) -> Optional[List[str]]:
    return _names(data.process, data.data.processes) if data.process != NULL else None


def _reopen(path: Union[str, Tuple[str, ...]], parts: Tuple[str, ...], symbols: bool,
            salvage: bool) -> Run:
    if isinstance(path, tuple):
        return Run.of_processes(path, symbols=symbols, salvage=salvage)
    return Run(path, parts=parts, symbols=symbols, salvage=salvage)


def _copy(pointer: Any, count: int, dtype: Any) -> Array:
    """A copy of an array of C."""
    dtype = np.dtype(dtype)
    if not count:
        return np.empty(0, dtype)
    return np.frombuffer(ffi.buffer(pointer, count * dtype.itemsize), dtype).copy()


def _names(names: Any, count: int) -> List[str]:
    return [ffi.string(names[i]).decode(errors="replace") for i in range(count)]


__all__ = ["Run", "heart_rate"]
