# SPDX-License-Identifier: BSD-3-Clause
"""Changes of the level of a series, and comparisons of runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, TYPE_CHECKING

import numpy as np

from ._arrays import DOUBLES, doubles, from_buffer, new
from ._call import PARTIAL, call, call_sized, flag, options, plain, quick, shared_options
from ._errors import from_status
from ._library import ffi, lib
from ._results import reader

if TYPE_CHECKING:
    import numpy.typing as npt

_POINTS = ffi.typeof("tsanom_change_point[]")
_COMPARISON = ffi.typeof("tsanom_change_comparison *")
_OPTIONS = "tsanom_change_options"
# Changes that are stored at first; a series with more is searched again.
_FEW = 32


@dataclass(frozen=True)
class Change:
    """A change of level; intervals contain the truth with 95 %."""

    at: int
    """Index of the first sample with the new level."""
    low: int
    """It is this one or a later one,"""
    high: int
    """and this one or an earlier one."""
    before: float
    """Mean without outliers since the change before it."""
    after: float
    """Mean without outliers to the next change."""
    size: float
    """after - before."""
    size_low: float
    size_high: float
    significance: float
    """Probability of such a change in a series without any."""


@dataclass(frozen=True)
class RunComparison:
    """The result of `compare_runs`."""

    a: float
    """Mean of the first set."""
    b: float
    """Mean of the second set."""
    difference: float
    """b - a."""
    low: float
    """With 95 %, the true difference is at least this,"""
    high: float
    """and at most this; infinity: not known."""
    significance: float
    """Probability of such a difference between sets of runs of the same program."""
    detectable: float
    """1.5 times this difference is found in 95 % of comparisons; infinity: too few runs."""


_change = reader(Change)
_comparison = reader(RunComparison)


def find_changes(x: npt.ArrayLike, *, level: Optional[float] = None) -> List[Change]:
    """Changes of the level of a series, in ascending order.

    `level` is the rate of false alarms, 0.01 by default. A series with too few samples for its
    autocorrelation has no changes, and a warning is given.

    >>> import numpy as np, tsanom
    >>> x = np.random.default_rng(1).normal(10.0, 0.5, 300)
    >>> x[180:] += 1
    >>> change, = tsanom.find_changes(x)
    >>> change.low <= 180 <= change.high, change.size_low < 1 < change.size_high
    (True, True)
    """
    array = doubles(x, "x")
    setting = shared_options(_OPTIONS, level=level)
    count, capacity = new("size_t *"), _FEW
    while True:
        points = new(_POINTS, capacity)
        status = call_sized(len(array), lib.tsanom_change_find,
                            (from_buffer(DOUBLES, array), len(array), setting),
                            (points, capacity, count), expected=(PARTIAL,))
        if status != PARTIAL:
            return [_change(points[i]) for i in range(count[0])]
        capacity = count[0]


class ChangeDetector:
    """Changes of a series that is still being measured.

    Parameters
    ----------
    level : float
        Rate of false alarms in 4000 samples; 0.01 by default.
    reference : int
        Samples from which it learns a level; 200 by default.

    Examples
    --------
    >>> import numpy as np, tsanom
    >>> x = np.random.default_rng(1).normal(10.0, 0.5, 300)
    >>> x[250:] += 2
    >>> detector = tsanom.ChangeDetector()
    >>> detector.push(x[:250])
    []
    >>> change, = detector.push(x[250:])
    >>> change.low <= 250 <= change.high
    True
    """

    def __init__(self, level: Optional[float] = None, reference: Optional[int] = None) -> None:
        detector = new("tsanom_change_detector **")
        quick(lib.tsanom_change_create, (options(_OPTIONS, level=level, reference=reference),),
              (detector,))
        self._detector: Any = ffi.gc(detector[0], lib.tsanom_change_destroy)

    def push(self, x: npt.ArrayLike) -> List[Change]:
        """Take in samples; return the changes that they reveal."""
        array = doubles(x, "x")
        pointer, done = from_buffer(DOUBLES, array), 0
        count, taken, points = new("size_t *"), new("size_t *"), new(_POINTS, _FEW)
        changes: List[Change] = []
        while True:
            status = lib.tsanom_change_push(self._detector, pointer + done, len(array) - done,
                                            points, _FEW, count, taken)
            if status == lib.TSANOM_E_NONFINITE:
                raise from_status(status, "x", int(np.isfinite(array).argmin()))
            plain(status, "x", expected=(PARTIAL,))
            changes += [_change(points[i]) for i in range(count[0])]
            done += taken[0]
            if status != PARTIAL:
                return changes


def compare_runs(a: npt.ArrayLike, b: npt.ArrayLike, *, paired: bool = False,
                 sequential: bool = False, level: Optional[float] = None) -> RunComparison:
    """Compare two sets of runs, with one number per run, such as its median iteration time.

    `paired`: a[i] and b[i] were measured next to each other. `sequential`: the call is repeated
    after each pair until the significance is at most `level`.

    >>> import tsanom
    >>> found = tsanom.compare_runs([10.1, 10.3, 9.9, 10.0, 10.2], [10.9, 10.6, 11.1, 10.8, 10.7])
    >>> round(found.difference, 3), round(found.significance, 4)
    (0.72, 0.0079)
    """
    first, second = doubles(a, "a"), doubles(b, "b")
    setting = shared_options(_OPTIONS, level=level, paired=flag(paired, "paired"),
                             sequential=flag(sequential, "sequential"))
    result = new(_COMPARISON, {"struct_size": ffi.sizeof("tsanom_change_comparison")})
    call(lib.tsanom_change_compare, (from_buffer(DOUBLES, first), len(first),
                                     from_buffer(DOUBLES, second), len(second), setting),
         (result,))
    return _comparison(result)


__all__ = ["Change", "ChangeDetector", "RunComparison", "compare_runs", "find_changes"]
