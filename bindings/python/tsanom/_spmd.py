# SPDX-License-Identifier: BSD-3-Clause
"""Similarity of the processes of an SPMD program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any, Dict, FrozenSet, List, Optional, TYPE_CHECKING, Tuple

import numpy as np

from ._arrays import (DOUBLES, F64, I32, INTP, INTS, SIZES, WORDS, Array, doubles, empty,
                      from_buffer, integers, new)
from ._call import PARTIAL, Progress, call_sized, choice, flag, options, real, shared, warn_of
from ._library import ffi, lib
from ._results import maker

if TYPE_CHECKING:
    import numpy.typing as npt

CUTS: Dict[str, int] = {"tolerance": lib.TSANOM_SPMD_CUT_TOLERANCE,
                        "automatic": lib.TSANOM_SPMD_CUT_AUTOMATIC,
                        "noise": lib.TSANOM_SPMD_CUT_NOISE}
SEARCHES: Dict[int, str] = {
    lib.TSANOM_SPMD_SIMILAR: "similar", lib.TSANOM_SPMD_DESCENT: "descent",
    lib.TSANOM_SPMD_COMBINED: "combined", lib.TSANOM_SPMD_DISJOINT: "disjoint",
    lib.TSANOM_SPMD_NOT_FOUND: "not_found", lib.TSANOM_SPMD_UNFINISHED: "unfinished",
    lib.TSANOM_SPMD_UNKNOWN: "unknown"}


_analyze = lib.tsanom_spmd_analyze
_DATA = ffi.typeof("tsanom_spmd_data *")
_EMPTY_DATA = options("tsanom_spmd_data")
_REPORT = ffi.typeof("tsanom_spmd_report *")
_EMPTY_REPORT = options("tsanom_spmd_report")
_REGIONS = ffi.typeof("tsanom_spmd_region[]")
_DECISIONS = ffi.typeof("tsanom_spmd_decision[]")
# The fields of their elements, without the reserved ones.
_REGION = Struct("ddddNNiii36x")
_DECISION = Struct("iiiiNNN16x")


@dataclass(frozen=True)
class RegionSummary:
    """Times of one region over the processes."""

    name: str
    level: int
    """Nested hierarchy, 1 for the outermost regions."""
    min: float
    mean: float
    max: float
    imbalance: float
    """max / mean - 1."""
    min_process: int
    max_process: int
    ccr: bool
    """A critical code region."""
    cccr: bool
    """The core of a critical code region."""


@dataclass(frozen=True)
class Decision:
    """One re-clustering of the search."""

    step: int
    level: int
    regions: Tuple[str, ...]
    """What was tried."""
    classes: int
    changed: bool
    critical: bool


@dataclass(frozen=True)
class Similarity:
    """The result of `spmd_analyze`."""

    classes: Array
    """The class of each process, numbered in order of first appearance."""
    class_count: int
    severity: float
    """Largest distance over largest norm; 0: all processes are equal."""
    eps: float
    """The distance from which processes belong to different classes."""
    regions: Tuple[RegionSummary, ...]
    causes: Tuple[FrozenSet[str], ...]
    """Sets of metrics that discern the classes."""
    dependency: float
    """Part of the processes whose class the metrics determine."""
    search: str
    """How the search ended: "similar", "descent", "combined", "disjoint", "not_found",
    "unknown"."""
    decisions: Tuple[Decision, ...]
    load_balance: float
    serialization: float
    efficiency: float
    ordering: Array
    """OPTICS order of the processes."""
    reachability: Array
    """In that order."""

    @property
    def ccr(self) -> List[str]:
        """Names of the critical code regions."""
        return [region.name for region in self.regions if region.ccr]

    @property
    def cccr(self) -> List[str]:
        """Names of the cores of critical code regions."""
        return [region.name for region in self.regions if region.cccr]


_summary = maker(RegionSummary)
_decision = maker(Decision)
_similarity = maker(Similarity)


class Arrays:
    """The input in C, with its names. It keeps the arrays."""

    def __init__(self, times: npt.ArrayLike, parents: Optional[npt.ArrayLike],
                 metrics: Optional[Mapping[str, npt.ArrayLike]],
                 regions: Optional[Sequence[str]], elapsed: float,
                 errors: Optional[npt.ArrayLike]) -> None:
        self.times = doubles(times, "times", 2)
        processes, count = self.times.shape
        if isinstance(regions, str):
            raise TypeError("regions is a text; a sequence of names is expected")
        self.regions = list(regions) if regions is not None else [str(i) for i in range(count)]
        if len(self.regions) != count:
            raise ValueError(f"regions has {len(self.regions)} names for {count} regions")
        self.metrics = list(metrics or {})
        if metrics is not None and not isinstance(metrics, Mapping):
            raise TypeError(f"metrics is a {type(metrics).__name__}; a mapping of names to "
                            "matrices is expected")
        values = [doubles(value, f"the metric {name!r}", 2)
                  for name, value in (metrics or {}).items()]
        for name, value in zip(self.metrics, values):
            if value.shape != self.times.shape:
                raise ValueError(f"the metric {name!r} has the shape {value.shape}, the times "
                                 f"{self.times.shape}")
        self.parents: Any = (new(INTS, count * [-1]) if parents is None
                             else integers(parents, "parents", I32))
        if len(self.parents) != count:
            raise ValueError(f"parents has {len(self.parents)} elements for {count} regions")
        self.view = view = new(_DATA, _EMPTY_DATA[0])
        view.processes, view.regions, view.metrics = processes, count, len(values)
        view.elapsed = real(elapsed, "elapsed")
        view.parent = self.parents if parents is None else from_buffer(INTS, self.parents)
        view.time = from_buffer(DOUBLES, self.times)
        if values:
            self.values = np.stack(values)
            view.metric = from_buffer(DOUBLES, self.values)
        if errors is None:
            return
        self.errors = doubles(errors, "errors", 2)
        if self.errors.shape != self.times.shape:
            raise ValueError(f"errors has the shape {self.errors.shape}, the times "
                             f"{self.times.shape}")
        view.error = from_buffer(DOUBLES, self.errors)


class _Report:
    """A report in C, with memory for its arrays."""

    def __init__(self, view: Any, decisions: int, members: int, causes: int) -> None:
        self.causes = causes
        self.words = (view.metrics + 63) // 64
        n = view.processes
        self.struct = s = new(_REPORT, _EMPTY_REPORT[0])
        self.class_of, s.class_of = empty(n, I32, INTS)
        self.order, s.order = empty(n, INTP, SIZES)
        self.reachability, s.reachability = empty(n, F64, DOUBLES)
        s.region = self.region = new(_REGIONS, view.regions)
        s.decision = self.decision = new(_DECISIONS, decisions)
        s.member = self.member = new(SIZES, members)
        s.reduct = self.reduct = new(WORDS, max(causes * self.words, 1))
        s.decision_capacity = decisions
        s.member_capacity = members
        s.reduct_capacity = causes

    def too_small(self) -> bool:
        """Whether results did not fit."""
        s = self.struct
        return bool(s.decisions > s.decision_capacity or s.members > s.member_capacity
                    or s.reducts > s.reduct_capacity)


def report_of(view: Any, setting: Any, progress: Progress) -> Any:
    """The report of data in C, with memory that contains it."""
    report = _Report(view, 64, 64, 16)
    while True:
        status = call_sized((view.processes * view.regions) ** 2, _analyze, (view, setting),
                            (report.struct,), 1, progress, (PARTIAL,))
        if not report.too_small():
            warn_of(status)
            return report
        s = report.struct
        report = _Report(view, s.decisions, s.members, s.reducts)


def analyze_view(view: Any, regions: Sequence[str], metrics: Sequence[str], setting: Any,
                 progress: Progress) -> Similarity:
    """Analyze data in C."""
    return _result(view, regions, metrics, report_of(view, setting, progress))


def _result(view: Any, regions: Sequence[str], metrics: Sequence[str],
            report: _Report) -> Similarity:
    s = report.struct
    summaries = tuple([
        _summary(name, level, low, mean, high, imbalance, at_low, at_high, ccr != 0, cccr != 0)
        for name, (low, mean, high, imbalance, at_low, at_high, level, ccr, cccr)
        in zip(regions, _REGION.iter_unpack(ffi.buffer(report.region)))])
    tried = ffi.unpack(report.member, s.members)
    decisions = tuple([
        _decision(step, level, tuple([regions[i] for i in tried[first:first + count]]), classes,
                  changed != 0, critical != 0)
        for step, level, changed, critical, classes, first, count
        in _DECISION.iter_unpack(ffi.buffer(report.decision[0:s.decisions]))])
    causes = tuple([
        frozenset(name for m, name in enumerate(metrics)
                  if report.reduct[k * report.words + m // 64] >> m % 64 & 1)
        for k in range(s.reducts)])
    return _similarity(
        report.class_of.astype(INTP), s.classes, s.severity, s.eps, summaries,
        causes, s.dependency, SEARCHES[s.search], decisions, s.load_balance, s.serialization,
        s.efficiency, report.order, report.reachability)


@shared
def spmd_options(tolerance: Optional[float] = None, metric_tolerance: Optional[float] = None,
                 program_root: bool = False, mean_norm: bool = False, cut: str = "tolerance",
                 deep: bool = False) -> Any:
    """The options of an analysis, which calls share."""
    return options(
        "tsanom_spmd_options", tolerance=tolerance, metric_tolerance=metric_tolerance,
        tree=(lib.TSANOM_SPMD_FOREST, lib.TSANOM_SPMD_PROGRAM)[flag(program_root, "program_root")],
        norm=(lib.TSANOM_SPMD_LARGEST_NORM, lib.TSANOM_SPMD_MEAN_NORM)[flag(mean_norm,
                                                                            "mean_norm")],
        cut=choice(cut, CUTS, "cut"), deep=flag(deep, "deep"))


def spmd_analyze(times: npt.ArrayLike, *, parents: Optional[npt.ArrayLike] = None,
                 metrics: Optional[Mapping[str, npt.ArrayLike]] = None,
                 regions: Optional[Sequence[str]] = None, elapsed: float = 0.0,
                 errors: Optional[npt.ArrayLike] = None, progress: Progress = None,
                 **setting: Any) -> Similarity:
    """Which processes differ, in which region of the code, and why.

    Parameters
    ----------
    times : array_like of shape (processes, regions)
        CPU time of each region in each process, nested regions included.
    parents : array_like of int, optional
        The region that each region is nested in directly; -1: none.
    metrics : mapping of names to array_like of shape (processes, regions), optional
        Measurements that may explain the differences; NaN: not measured.
    regions : sequence of str, optional
        Names of the regions.
    elapsed : float
        Wall time of the program; 0: unknown.
    errors : array_like of shape (processes, regions), optional
        Standard errors of the times, for the cut by noise; NaN: not known.
    tolerance, metric_tolerance : float
        Processes are neighbors if their distance is at most this part of the largest norm; 0.05
        by default.
    cut : {"tolerance", "automatic", "noise"}
        The distance from which processes belong to different classes.
    deep, program_root, mean_norm : bool
        See `tsanom_spmd_options` in the C reference: deep, tree, norm.

    Examples
    --------
    >>> import tsanom
    >>> times = [[1.0, 2.0], [1.0, 2.0], [1.0, 4.0]]
    >>> misses = [[5.0, 5.0], [5.0, 5.0], [5.0, 9.0]]
    >>> result = tsanom.spmd_analyze(times, regions=["init", "solve"], metrics={"misses": misses})
    >>> result.classes.tolist(), result.cccr, [set(cause) for cause in result.causes]
    ([0, 0, 1], ['solve'], [{'misses'}])
    """
    data = Arrays(times, parents, metrics, regions, elapsed, errors)
    return analyze_view(data.view, data.regions, data.metrics, spmd_options(**setting), progress)


__all__ = ["Decision", "RegionSummary", "Similarity", "spmd_analyze"]
