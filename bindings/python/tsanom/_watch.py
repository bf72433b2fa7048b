# SPDX-License-Identifier: BSD-3-Clause
"""Online diagnosis: what is not normal in a program while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, TYPE_CHECKING, Union


from ._arrays import SIZE, list_of_times, new
from ._call import call, options, plain, real, whole
from ._causes import Cause, cause_of, status_name
from ._hsa import Model
from ._library import NONE, NULL, ffi, lib, runs
from ._runs import Run

if TYPE_CHECKING:
    import numpy.typing as npt

PHASES: Dict[int, str] = {lib.TSANOM_DIAGNOSIS_ANOMALY_BEGAN: "began",
                          lib.TSANOM_DIAGNOSIS_ANOMALY_LASTS: "lasts",
                          lib.TSANOM_DIAGNOSIS_ANOMALY_RECOVERED: "recovered"}


@dataclass(frozen=True)
class Anomaly:
    """An anomaly of a run, as `Watch.update` finds it."""

    cause: Cause
    """With its thread and evidence."""
    phase: str
    """"began", "lasts", or "recovered": it no longer holds."""
    onset: float
    """When it began, on the clock of the beats."""
    iteration: int
    """Beats until then, of the thread or of the busiest one."""
    confidence: float
    """If this observation were normal, a value as extreme would have at most the probability
    1 - confidence; 1: a fact."""


@dataclass(frozen=True)
class Pulse:
    """How a thread fared at the last update of a `Watch`."""

    status: str
    """"normal", "hang", "contention": it does not beat because it has no processor, or
    "waiting": another one hangs, or has no processor."""
    beats: int
    last: float
    """Time of its last beat; NaN: none."""
    rate: float
    """Beats per second over the last beats; 0: it hangs; NaN: not known."""
    limit: float
    """Seconds after which it is silent; infinity: not known."""
    waited: float
    """Seconds since its last beat in which it was ready without a processor."""


@dataclass(frozen=True)
class Remaining:
    """What is left of a watched run. NaN: not known."""

    iterations: float
    """By the normal runs, if their lengths differ by at most 1 %."""
    seconds: float
    """Of these, from the latest update on."""
    low: float
    high: float
    """`low` and `high` contain the seconds with 95 %."""
    drifts: bool
    """Iterations become longer or shorter: the time is not known."""


class Watch:
    """Online diagnosis of a program, in bounded memory: beats and vital signs arrive piece by
    piece, and each piece returns the anomalies.

    Parameters
    ----------
    threads : int
        Most threads of the run.
    model : Model, optional
        Its normal ranges; None: only hangs and the end of the program are found.
    hang : float, optional
        A thread hangs if it is silent for longer, in seconds; None: the limit follows from its
        intervals.

    Examples
    --------
    >>> import numpy as np, tsanom
    >>> watch = tsanom.Watch(threads=2)
    >>> times = np.arange(1, 101) * 0.1
    >>> watch.update([times, times], now=10.0)
    []
    >>> found = watch.update([[], times + 10.0], now=20.0)
    >>> [(one.cause.cause, one.cause.thread, one.phase, one.onset) for one in found]
    [('hang', 0, 'began', 10.0)]
    >>> watch.pulse(0).status, watch.pulse(1).status, round(watch.pulse(1).rate, 6)
    ('hang', 'normal', 10.0)
    """

    def __init__(self, threads: int = 1, model: Optional[Model] = None, *,
                 hang: Optional[float] = None) -> None:
        if model is not None and not isinstance(model, Model):
            raise TypeError(f"model is a {type(model).__name__}; a Model is expected")
        if model is not None and model.normal is None:
            raise ValueError("model has no normal ranges; Model.learn(..., rule=\"causes\") "
                             "learns them")
        normal = model.normal.struct if model is not None and model.normal else NULL
        watch = new("tsanom_diagnosis_watch **")
        call(lib.tsanom_diagnosis_watch_create,
             (whole(threads, "threads", 1), normal,
              options("tsanom_diagnosis_watch_options", hang=hang)), (watch,))
        self._watch: Any = ffi.gc(watch[0], lib.tsanom_diagnosis_watch_destroy)
        self._found, self._count = new("tsanom_diagnosis_anomaly **"), new(SIZE)
        self._fed: Dict[Any, int] = {}
        self._zero = 0.0  # of its clock, in seconds since 1970

    def update(self, news: Union[Run, Sequence[npt.ArrayLike]], *, now: float = 0.0,
               start: float = 0.0) -> List[Anomaly]:
        """Add what is new, and judge the run.

        Parameters
        ----------
        news : Run, or sequence of the times of beats of each thread
            Of the same `Run` in each call, after its `refresh`, or while `Run.follow` iterates,
            the records since the last call count. Times are those since the last call.
        now : float
            Time of the call on the clock of the beats; 0: no hangs are judged. A `Run` has its
            own clock.
        start : float
            Start of the run on that clock.

        Returns
        -------
        list of Anomaly
            Those of the run now, and those that ended since the last call.
        """
        if isinstance(news, Run):
            keep, run = self._of_run(news)
        else:
            keep, run = _of_times(news, now, start)
        # `keep` owns what `run` points to, the watch the anomalies until its next update.
        call(lib.tsanom_diagnosis_watch_update, (self._watch, run), (self._found, self._count))
        del keep
        return self.anomalies()

    def anomalies(self) -> List[Anomaly]:
        """What the last update returned, as of the `Job` that judged it since."""
        count = self._count[0]
        return [Anomaly(cause_of(one.cause), PHASES[one.phase], one.onset, one.iteration,
                        one.confidence) for one in (self._found[0][0:count] if count else ())]

    def remaining(self, run: Run) -> Remaining:
        """How long a program will still run of which the updates had all that it recorded: by the
        iterations of the normal runs, and those of its slowest thread."""
        left = new("tsanom_diagnosis_remaining *")
        call(lib.tsanom_diagnosis_predict, (self._watch, run._series()), (left,))
        return Remaining(left.iterations, left.seconds, left.low, left.high, bool(left.drifts))

    def pulse(self, thread: int = 0) -> Pulse:
        """How a thread fared at the last update."""
        pulse = new("tsanom_diagnosis_pulse *")
        plain(lib.tsanom_diagnosis_watch_pulse(self._watch, whole(thread, "thread"), pulse),
              "thread", thread)
        return Pulse(status_name(pulse.status), pulse.beats, pulse.last, pulse.rate, pulse.limit,
                     pulse.waited)

    def _of_run(self, recorded: Run) -> Any:
        """What a run recorded since the last update."""
        whole = recorded._series()
        self._zero = recorded.info.start
        run = new("tsanom_hsa_run *", whole[0])
        series = new("tsanom_hsa_series[]", max(run.thread_count, 1))
        samples = new("tsanom_hsa_vital[]", len(series))
        for t in range(run.thread_count):
            series[t] = whole.threads[t]
            self._skip(series[t], t, "time", "beats")
            self._skip(series[t], t, "vital", "vital_count")
            if (self._is_silent(series[t], t, run.end) and
                    runs.tsanom_runs_sample(recorded._run, t, NULL, samples + t) == 0):
                series[t].vital, series[t].vital_count = samples + t, 1
        self._skip(run, None, "vital", "vital_count")
        run.threads = series
        run.thread_count = len(series)
        return (series, samples), run

    def _is_silent(self, series: Any, thread: int, now: float) -> bool:
        """Whether a thread without new samples may hang: what it does now says that."""
        pulse = new("tsanom_diagnosis_pulse *")
        return (not series.beats and not series.vital_count and
                lib.tsanom_diagnosis_watch_pulse(self._watch, thread, pulse) == 0 and
                now - pulse.last > pulse.limit / 2)

    def _skip(self, struct: Any, thread: Optional[int], data: str, count: str) -> None:
        """Leave out the elements of earlier updates."""
        total = getattr(struct, count)
        first = min(self._fed.get((thread, count), 0), total)
        self._fed[thread, count] = total
        if total:
            setattr(struct, data, getattr(struct, data) + first)
        setattr(struct, count, total - first)


class Job:
    """Watches of runs that meet each other, such as the ranks of an MPI program: which of them
    hang, and which wait for these.

    Parameters
    ----------
    watches : sequence of Watch
        One of each run. Those that get a `Run` are compared by the time of day at which the
        runs began; times of beats are on one clock.

    Examples
    --------
    >>> import numpy as np, tsanom
    >>> job = tsanom.Job([tsanom.Watch(), tsanom.Watch()])
    >>> times = np.arange(1, 101) * 0.1
    >>> for watch, last in zip(job.watches, (100, 99)):
    ...     found = watch.update([times[:last]], now=12.0)
    >>> job.judge()
    1
    >>> [watch.pulse().status for watch in job.watches]
    ['waiting', 'hang']
    """

    def __init__(self, watches: Sequence[Watch]) -> None:
        self.watches = list(watches)
        self._ranks = new("tsanom_diagnosis_rank[]", len(self.watches))

    def judge(self, in_call: Optional[Sequence[Optional[bool]]] = None,
              ended: Sequence[int] = ()) -> Optional[int]:
        """Judge the runs together, after each update of all. The anomalies and pulses of the
        watches are then those of the job: a run that waits for another one does not hang.

        Parameters
        ----------
        in_call : sequence, optional
            Of each run, whether it is in a call of MPI (`Run.in_call`); None: not known, or a
            thread of it beat within half of its limit.
        ended : sequence of int
            Runs that were over at an earlier call.

        Returns
        -------
        int or None
            The run that holds up the others; None: fewer than two have beats.
        """
        if in_call is not None and len(in_call) != len(self.watches):
            raise ValueError(f"in_call has {len(in_call)} elements; {len(self.watches)} expected")
        for i, watch in enumerate(self.watches):
            inside = in_call[i] if in_call is not None else None
            self._ranks[i].watch = watch._watch
            self._ranks[i].start = watch._zero
            self._ranks[i].in_call = -1 if inside is None else int(inside)
            self._ranks[i].ended = i in ended
        slowest = new(SIZE)
        call(lib.tsanom_diagnosis_judge_job, (self._ranks, len(self.watches)), (slowest,))
        return None if slowest[0] == NONE else int(slowest[0])


def _of_times(threads: Sequence[npt.ArrayLike], now: float, start: float) -> Any:
    """News of beats."""
    arrays = list_of_times(threads, "news")
    series = new("tsanom_hsa_series[]", len(arrays))
    for one, array in zip(series, arrays):
        one.time, one.beats = ffi.cast("double *", array.ctypes.data), len(array)
    return (arrays, series), new("tsanom_hsa_run *", {
        "threads": series, "thread_count": len(arrays), "start": real(start, "start"),
        "end": real(now, "now")})


__all__ = ["Anomaly", "Job", "Pulse", "Remaining", "Watch"]
