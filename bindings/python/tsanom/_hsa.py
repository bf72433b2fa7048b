# SPDX-License-Identifier: BSD-3-Clause
"""Heartbeat sequence analysis: which threads of a run behave as in normal runs."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Dict, List, Tuple, Union

import numpy.typing as npt

from ._arrays import doubles
from ._call import Progress, call, options
from ._library import NULL, ffi, lib, runs
from ._runs import Path, Run

# A recorded run, its path, or the times of the beats of each thread.
Beats = Union[Run, Path, Sequence[npt.ArrayLike]]


@dataclass(frozen=True)
class Step:
    """One step of the path through the decision tree."""

    text: str
    """The question, the numbers and the answer, in a sentence."""
    answer: bool


@dataclass(frozen=True)
class ThreadVerdict:
    """The result for one thread."""

    status: str
    """"normal", "memory_leak", "shutdown", ..."""
    features: Dict[str, float]
    """The defined features, such as "gtr" and "dtw", against the reference of the thread."""
    steps: Tuple[Step, ...]
    """The path, from the root."""


@dataclass(frozen=True)
class Diagnosis:
    """The result for a run."""

    status: str
    """"shutdown" if a thread was shut down, else "memory_leak" if one leaks, else "normal"."""
    threads: Tuple[ThreadVerdict, ...]


@dataclass(frozen=True)
class ThreadModel:
    """What a model contains of a thread."""

    beats: int
    """Beats of its reference series; 0: no normal run has one."""
    window: int
    completion: float
    mean_rate: float
    ranges: Dict[str, Tuple[float, float]]
    """Normal values by feature."""


class _Runs:
    """Runs as structs of C. It keeps what they refer to."""

    def __init__(self, values: Sequence[Beats], start: float) -> None:
        self._keep: List[Any] = []
        self.structs = ffi.new("tsanom_hsa_run[]", len(values))
        self.names: List[str] = []
        for i, value in enumerate(values):
            if isinstance(value, (str, os.PathLike)):
                value = Run(value, parts=("beats",))
            if isinstance(value, Run):
                self._keep.append(value)
                self.structs[i] = value._series()[0]
                self.names.append(value._arguments[0])
            else:
                self.structs[i] = self._from_arrays(value, start)
                self.names.append(f"run {i}")

    def _from_arrays(self, threads: Sequence[npt.ArrayLike], start: float) -> Any:
        arrays = [doubles(times, f"thread {t}") for t, times in enumerate(threads)]
        series = ffi.new("tsanom_hsa_series[]", len(arrays))
        for one, array in zip(series, arrays):
            one.time = ffi.cast("double *", array.ctypes.data)
            one.beats = len(array)
        run = ffi.new("tsanom_hsa_run *", {"threads": series, "thread_count": len(arrays),
                                           "start": start})
        self._keep += [arrays, series, run]
        return run[0]


def _feature_name(index: int) -> str:
    return str(ffi.string(lib.tsanom_hsa_feature_name(index)).decode())


def _status_name(status: int) -> str:
    return str(ffi.string(lib.tsanom_hsa_status_name(status)).decode())


def _step(step: Any) -> Step:
    text = ffi.new("char[]", 1024)
    lib.tsanom_hsa_step_text(ffi.addressof(step), text, len(text), NULL)
    return Step(ffi.string(text).decode(), bool(step.answer))


def _verdict(verdict: Any) -> ThreadVerdict:
    features = {_feature_name(f): verdict.features.value[f] for f in range(lib.TSANOM_HSA_FEATURES)
                if verdict.features.defined >> f & 1}
    return ThreadVerdict(_status_name(verdict.status), features,
                         tuple(_step(verdict.step[i]) for i in range(verdict.step_count)))


class Model:
    """The normal behavior of a program; `Model.learn` and `Model.load` create it.

    Examples
    --------
    >>> import numpy as np, tsanom
    >>> rng = np.random.default_rng(1)
    >>> def run(seconds):
    ...     return [np.cumsum(rng.normal(seconds, 0.02 * seconds, 200)) for thread in range(2)]
    >>> model = tsanom.Model.learn([run(0.1) for _ in range(5)])
    >>> model.diagnose(run(0.1)).status, model.diagnose(run(0.3)).status
    ('normal', 'memory_leak')
    """

    def __init__(self, handle: Any, names: Sequence[str]) -> None:
        self._model = ffi.gc(handle, lib.tsanom_hsa_model_destroy)
        self.runs: Tuple[str, ...] = tuple(names)
        """Names of the normal runs."""

    @classmethod
    def learn(cls, normal: Sequence[Beats], *, start: float = 0.0, progress: Progress = None,
              **setting: Any) -> "Model":
        """Learn a model from normal runs.

        Parameters
        ----------
        normal : sequence
            Of runs: `Run`, paths, or sequences of the times of the beats of each thread.
        start : float
            Start of runs that are given by times.
        window, max_windows, max_degree, points, radius, r2, coverage, margin, ...
            The fields of tsanom_hsa_options.
        """
        given = _Runs(normal, start)
        model = ffi.new("tsanom_hsa_model **")
        call(lib.tsanom_hsa_learn,
             (given.structs, len(normal), options("tsanom_hsa_options", **setting)), (model,),
             progress=progress)
        return cls(model[0], given.names)

    @classmethod
    def load(cls, path: Path) -> "Model":
        """Load a model file, as `save` and the command ``tsanom learn`` write it."""
        loaded = ffi.new("tsanom_runs_model **")
        call(runs.tsanom_runs_model_load, (os.fsencode(path),), (loaded,))
        file = ffi.gc(loaded[0], runs.tsanom_runs_model_free)
        data = ffi.new("tsanom_runs_model_data *")
        runs.tsanom_runs_model_get(file, data)
        model = ffi.new("tsanom_hsa_model **")
        call(lib.tsanom_hsa_model_create, (data.model,), (model,))
        return cls(model[0], [ffi.string(data.run[i]).decode(errors="replace")
                              for i in range(data.model.run_count)])

    def save(self, path: Path) -> None:
        """Write a model file, complete or not at all."""
        names = [ffi.new("char[]", os.fsencode(name)) for name in self.runs]
        listed = ffi.new("char *[]", names)
        content = self._content()
        data = ffi.new("tsanom_runs_model_data *", {"model": content, "run": listed})
        call(runs.tsanom_runs_model_save, (os.fsencode(path), data), ())

    def diagnose(self, run: Beats, *, start: float = 0.0, progress: Progress = None) -> Diagnosis:
        """Compare a run with the model, thread by thread."""
        given = _Runs([run], start)
        count = max(given.structs[0].thread_count, self._content().thread_count)
        verdicts = ffi.new("tsanom_hsa_verdict[]", count)
        lib.tsanom_hsa_verdict_init(verdicts, ffi.sizeof("tsanom_hsa_verdict"))
        call(lib.tsanom_hsa_diagnose, (self._model, given.structs), (verdicts, count, NULL),
             progress=progress)
        status = ffi.new("int32_t *")
        lib.tsanom_hsa_run_status(verdicts, count, status)
        return Diagnosis(_status_name(status[0]), tuple(_verdict(verdict) for verdict in verdicts))

    @property
    def threads(self) -> Tuple[ThreadModel, ...]:
        """What the model contains of each thread."""
        content = self._content()
        return tuple(
            ThreadModel(r.beats, r.window, r.completion, r.mean_rate,
                        {_feature_name(f): (r.range[f].low, r.range[f].high)
                         for f in range(lib.TSANOM_HSA_FEATURES)})
            for r in content.references[0:content.thread_count])

    def _content(self) -> Any:
        content = options("tsanom_hsa_model_data")
        lib.tsanom_hsa_model_read(self._model, content)
        return content

    def __getstate__(self) -> bytes:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "model.json")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    def __setstate__(self, text: bytes) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "model.json")
            with open(path, "wb") as file:
                file.write(text)
            self.__dict__.update(Model.load(path).__dict__)


__all__ = ["Diagnosis", "Model", "Step", "ThreadModel", "ThreadVerdict"]
