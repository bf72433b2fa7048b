# SPDX-License-Identifier: BSD-3-Clause
"""Heartbeat sequence analysis: which threads of a run behave as in normal runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Any, Dict, List, Optional, TYPE_CHECKING, Tuple, Union


from ._arrays import DOUBLES, from_buffer, list_of_times, new
from ._call import (PARTIAL, QUICK, Progress, call, call_sized, choice, file_name, options, plain,
                    real, warn_of)
from ._causes import STATES, Cause, Causes, NormalRanges, sentence, status_name
from ._library import NULL, ffi, lib, runs
from ._results import maker
from ._runs import Path, Run

if TYPE_CHECKING:
    import numpy.typing as npt
    # A recorded run, its path, or the times of the beats of each thread.
    Beats = Union[Run, Path, Sequence[npt.ArrayLike]]
else:
    Beats = Union[Run, Path, Sequence[Any]]

# Without a tree the model has that of the default.
RULES: Dict[str, int] = {"causes": lib.TSANOM_HSA_RULE_PACE, "pace": lib.TSANOM_HSA_RULE_PACE,
                         "completion": lib.TSANOM_HSA_RULE_COMPLETION,
                         "paper": lib.TSANOM_HSA_RULE_PAPER}


FEATURES: Tuple[str, ...] = tuple(ffi.string(lib.tsanom_hsa_feature_name(i)).decode()
                                  for i in range(lib.TSANOM_HSA_FEATURES))

_RUNS = ffi.typeof("tsanom_hsa_run[]")
_SERIES = ffi.typeof("tsanom_hsa_series[]")
_VERDICTS = ffi.typeof("tsanom_hsa_verdict[]")
_EMPTY_VERDICT = options("tsanom_hsa_verdict")
_diagnose = lib.tsanom_hsa_diagnose


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
    """"normal", or its first cause."""
    features: Dict[str, float]
    """The defined features, such as "gtr" and "dtw", against the reference of the thread."""
    steps: Tuple[Step, ...]
    """The path through a decision tree, from the root; empty by causes."""
    causes: Tuple[Cause, ...]
    """The causes of this thread, the most important first; empty by a decision tree."""
    signs: Dict[str, float]
    """Signs of its beats and vital signs, as far as they are known."""


@dataclass(frozen=True)
class Diagnosis:
    """The result for a run."""

    status: str
    """"normal", or the first cause."""
    threads: Tuple[ThreadVerdict, ...]
    causes: Tuple[Cause, ...]
    """All causes, the most important first; empty by a decision tree."""
    state: str
    """Of the run: "finished", "killed", "running" or "unknown"."""


@dataclass(frozen=True)
class ThreadModel:
    """What a model contains of a thread."""

    beats: int
    """Beats of its reference series; 0: no normal run has one."""
    window: int
    completion: float
    mean_rate: float
    ranges: Dict[str, Tuple[float, float]]
    """Normal values by feature; those of signs are in `Model.normal`."""


_verdict = maker(ThreadVerdict)
_diagnosis = maker(Diagnosis)


class _Runs:
    """Runs as structs of C. It keeps what they refer to."""

    def __init__(self, values: Sequence[Beats], start: float, names: Sequence[str] = ()) -> None:
        if isinstance(values, (str, os.PathLike, Run)):
            raise TypeError("normal is one run; a sequence of runs is expected")
        self._keep: List[Any] = []
        self.structs = new(_RUNS, len(values))
        self.names: List[str] = []
        self.size = 0
        for i, value in enumerate(values):
            if type(value) is not list and isinstance(value, (str, os.PathLike)):
                value = Run(value, parts=("beats",))
            if isinstance(value, Run):
                self._keep.append(value)
                self.structs[i] = value._series()[0]
                self.names.append(value._arguments[0])
                self.size = QUICK + 1
            else:
                name = names[i] if names else f"normal[{i}]"
                self._take_arrays(self.structs[i], list_of_times(value, name), start)
                self.names.append(f"run {i}")

    def _take_arrays(self, run: Any, arrays: Sequence[Any], start: float) -> None:
        run.threads = series = new(_SERIES, len(arrays))
        run.thread_count = len(arrays)
        run.start = real(start, "start")
        for one, array in zip(series, arrays):
            one.time = from_buffer(DOUBLES, array)
            one.beats = beats = len(array)
            self.size += beats * beats
        self._keep += [arrays, series]


def _step(step: Any) -> Step:
    return Step(sentence(lib.tsanom_hsa_step_text, ffi.addressof(step)), bool(step.answer))


@lru_cache(maxsize=64)
def _defined(mask: int) -> "Tuple[Tuple[str, ...], Tuple[bool, ...]]":
    """The names of the features of a mask, and whether each feature is one of them."""
    selected = tuple(bool(mask >> f & 1) for f in range(len(FEATURES)))
    return tuple(compress(FEATURES, selected)), selected


def _features(features: Any) -> Dict[str, float]:
    names, selected = _defined(features.defined)
    return dict(zip(names, compress(ffi.unpack(features.value, len(FEATURES)), selected)))


def _by_tree(verdicts: Any, state: str) -> Diagnosis:
    """The result of a decision tree: statuses are in the order of what is worse."""
    worst = max(verdict.status for verdict in verdicts)
    return _diagnosis(status_name(worst), tuple(
        _verdict(status_name(verdict.status), _features(verdict.features),
                      tuple(_step(verdict.step[i]) for i in range(verdict.step_count)), (), {})
        for verdict in verdicts), (), state)


def _by_causes(verdicts: Any, causes: Causes, signs: Sequence[Dict[str, float]],
               state: str) -> Diagnosis:
    """The result by causes, with the features of the threads."""
    return _diagnosis(causes.status(), tuple([
        _verdict(causes.status(t), _features(verdict.features), (), causes.of(t),
                 signs[t] if t < len(signs) else {})
        for t, verdict in enumerate(verdicts)]), causes.list, state)


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
    ('normal', 'slowdown')
    >>> model.diagnose(run(0.3)).causes[0].sign
    'slowdown'
    """

    def __init__(self, handle: Any, names: Sequence[str],
                 normal: Optional[NormalRanges] = None) -> None:
        self._model = ffi.gc(handle, lib.tsanom_hsa_model_destroy)
        self._thread_count: int = self._content().thread_count
        self.normal = normal
        """Normal ranges of signs, by which causes are found; None: by a decision tree."""
        self.runs: Tuple[str, ...] = tuple(names)
        """Names of the normal runs."""

    @classmethod
    def learn(cls, normal: Sequence[Beats], *, rule: str = "causes", start: float = 0.0,
              progress: Progress = None, **setting: Any) -> "Model":
        """Learn a model from normal runs.

        Parameters
        ----------
        normal : sequence
            Of runs: `Run`, paths, or sequences of the times of the beats of each thread. If there
            are too few to tell how much they vary, the ranges are guessed, and a `TsanomWarning`
            says so.
        rule : {"causes", "pace", "completion", "paper"}
            Find causes by signs, as the command does; or apply a decision tree to features.
        start : float
            Start of runs that are given by times.
        window, max_windows, max_degree, points, radius, r2, coverage, margin, ...
            The fields of tsanom_hsa_options.
        """
        tree = choice(rule, RULES, "rule")
        given = _Runs(normal, start)
        model = ffi.new("tsanom_hsa_model **")
        chosen = options("tsanom_hsa_options", rule=tree, **setting)
        status = call(lib.tsanom_hsa_learn, (given.structs, len(given.structs), chosen), (model,),
                      progress=progress, expected=(PARTIAL,))
        result = cls(model[0], given.names)
        if rule == "causes":
            result.normal, status = NormalRanges.learn(
                given.structs, len(given.structs), len(result.threads), chosen.coverage, progress)
        warn_of(status, (), "the normal runs are too few to tell how much they vary; the ranges "
                            "are guessed")
        return result

    @classmethod
    def load(cls, path: Path) -> "Model":
        """Load a model file, as `save` and the command ``tsanom learn`` write it."""
        loaded = ffi.new("tsanom_runs_model **")
        call(runs.tsanom_runs_model_load, (file_name(path),), (loaded,))
        return cls._of_file(loaded)

    @classmethod
    def _of_file(cls, loaded: Any) -> "Model":
        file = ffi.gc(loaded[0], runs.tsanom_runs_model_destroy)
        data = ffi.new("tsanom_runs_model_data *")
        plain(runs.tsanom_runs_model_get(file, data))
        model = ffi.new("tsanom_hsa_model **")
        call(lib.tsanom_hsa_model_create, (data.model,), (model,))
        return cls(model[0], [ffi.string(data.run[i]).decode(errors="replace")
                              for i in range(data.model.run_count)],
                   NormalRanges.copy(data.normal) if data.normal != NULL else None)

    def save(self, path: Path) -> None:
        """Write a model file, complete or not at all."""
        names = [ffi.new("char[]", file_name(name, "a name of a run")) for name in self.runs]
        listed = ffi.new("char *[]", names)
        content = self._content()
        data = ffi.new("tsanom_runs_model_data *", {
            "model": content, "run": listed,
            "normal": self.normal.struct if self.normal else NULL})
        call(runs.tsanom_runs_model_save, (file_name(path), data), ())

    def diagnose(self, run: Beats, *, start: float = 0.0, progress: Progress = None) -> Diagnosis:
        """Compare a run with the model, thread by thread."""
        given = _Runs([run], start, ("run",))
        struct = given.structs[0]
        state = STATES.get(struct.state, "unknown")
        count = max(struct.thread_count, self._thread_count)
        verdicts = new(_VERDICTS, count)
        verdicts[0] = _EMPTY_VERDICT[0]
        call_sized(given.size, _diagnose, (self._model, given.structs), (verdicts, count, NULL), 1,
                   progress)
        if self.normal is None:
            return _by_tree(verdicts, state)
        return _by_causes(verdicts, *self.normal.causes(given.structs, given.size, progress), state)

    @property
    def threads(self) -> Tuple[ThreadModel, ...]:
        """What the model contains of each thread."""
        content = self._content()
        return tuple(
            ThreadModel(r.beats, r.window, r.completion, r.mean_rate,
                        {name: (r.range[f].low, r.range[f].high)
                         for f, name in enumerate(FEATURES)})
            for r in content.references[0:content.thread_count])

    def _content(self) -> Any:
        content = options("tsanom_hsa_model_data")
        plain(lib.tsanom_hsa_model_read(self._model, content))
        return content

    def __getstate__(self) -> bytes:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "model.json")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    def __setstate__(self, text: bytes) -> None:
        parsed = ffi.new("tsanom_runs_model **")
        call(runs.tsanom_runs_model_parse, (text, len(text), b"pickle"), (parsed,))
        self.__dict__.update(Model._of_file(parsed).__dict__)


__all__ = ["Diagnosis", "Model", "Step", "ThreadModel", "ThreadVerdict"]
