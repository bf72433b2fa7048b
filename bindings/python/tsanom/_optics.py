# SPDX-License-Identifier: BSD-3-Clause
"""OPTICS: the order in which points are connected by density, and clusters read from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, TYPE_CHECKING, Tuple, Union

import numpy as np

from ._arrays import (DOUBLES, F64, I32, INTP, INTS, SIZE, SIZES, Array, doubles, empty,
                      from_buffer, integers, new, numbers)
from ._call import (PARTIAL, Progress, call, call_sized, choice, flag, options, quick, real,
                    shared, shared_options, whole)
from ._errors import TsanomError
from ._library import NULL, ffi, lib
from ._results import maker

if TYPE_CHECKING:
    import numpy.typing as npt

# Largest difference of d(i, j) and d(j, i), over the largest distance, that is one of rounding;
# that of distances computed by squares in double precision, or at all in single precision.
ROUNDING = 1e-6

Metric = Union[str, Callable[[Array, Array], float]]

METRICS: Dict[str, int] = {"euclidean": lib.TSANOM_OPTICS_EUCLIDEAN,
                           "manhattan": lib.TSANOM_OPTICS_MANHATTAN,
                           "chebyshev": lib.TSANOM_OPTICS_CHEBYSHEV}
SEARCHES: Dict[str, int] = {"auto": lib.TSANOM_OPTICS_SEARCH_AUTO,
                            "exhaustive": lib.TSANOM_OPTICS_SEARCH_EXHAUSTIVE,
                            "tree": lib.TSANOM_OPTICS_SEARCH_TREE}


_ORDERING = ffi.typeof("tsanom_optics_ordering *")
_EMPTY = options("tsanom_optics_ordering")
_TWO = ffi.typeof("double[2]")
_order = lib.tsanom_optics_order
_order_matrix = lib.tsanom_optics_order_matrix
_cut = lib.tsanom_optics_cut
_split = lib.tsanom_optics_split
_xi = lib.tsanom_optics_xi


@shared
def _setting(min_samples: Optional[int], max_eps: float, metric: int, search: int) -> Any:
    """The options of a call, which calls share."""
    return options("tsanom_optics_options", min_points=min_samples, eps=max_eps, metric=metric,
                   search=search)


@shared
def _xi_setting(xi: float, min_samples: Optional[int], predecessor_correction: bool) -> Any:
    """The same of clusters by steepness."""
    return options("tsanom_optics_xi_options", xi=xi, min_points=min_samples,
                   keep_tails=1 - flag(predecessor_correction, "predecessor_correction"))


class OpticsOrdering:
    """The order of points, as scikit-learn describes it; `optics_order` creates it.

    Attributes
    ----------
    ordering : ndarray
        Indices of the points in the order of processing.
    reachability : ndarray
        By index of the point; infinity: undefined.
    core_distances : ndarray
        By index of the point; infinity: undefined.
    predecessor : ndarray
        By index of the point: index of a point, or -1.
    max_eps : float
        Radius of the neighborhoods; no cut may be above it.
    min_samples : int
        Points that make a neighborhood dense; 0: not known, which `split` takes for 1.
    """

    __slots__ = ("ordering", "core_distances", "_numbers", "_places", "_struct", "_reachability",
                 "_predecessor")

    def __init__(self, ordering: npt.ArrayLike, reachability: npt.ArrayLike,
                 core_distances: npt.ArrayLike, predecessor: npt.ArrayLike,
                 max_eps: float = math.inf, min_samples: int = 0) -> None:
        order = integers(ordering, "ordering", INTP)
        n = len(order)
        reach, core = doubles(reachability, "reachability"), doubles(core_distances,
                                                                     "core_distances")
        before = integers(predecessor, "predecessor", INTP)
        if not len(reach) == len(core) == len(before) == n:
            raise ValueError(f"ordering, reachability, core_distances and predecessor have {n}, "
                             f"{len(reach)}, {len(core)} and {len(before)} elements")
        if not np.array_equal(np.sort(order), np.arange(n)):
            raise ValueError("ordering is no permutation")
        self._allocate(n)
        self.ordering[:] = order
        self.core_distances[:] = core
        self._reachability: Optional[Array] = reach.copy()
        self._predecessor: Optional[Array] = before.copy()
        self._numbers[:n] = self._reachability[order]
        self._places[n:] = self._predecessor[order]
        self._struct.n = n
        self._struct.eps = real(max_eps, "max_eps")
        self._struct.min_points = whole(min_samples, "min_samples")

    def _allocate(self, n: int) -> Any:
        """The arrays of n points, and the struct of C that refers to them, which it returns.
        `_numbers` are reachability in order and core distances, `_places` order and predecessors
        in order."""
        self._numbers, numbers = empty(2 * n, F64, DOUBLES)
        self._places, places = empty(2 * n, INTP, SIZES)
        self.core_distances: Array = self._numbers[n:]
        self.ordering: Array = self._places[:n]
        self._struct = view = new(_ORDERING, _EMPTY[0])
        view.reachability, view.core_distance = numbers, numbers + n
        view.order, view.predecessor = places, places + n
        self._reachability = self._predecessor = None
        return view

    def __reduce__(self) -> Tuple[Any, ...]:
        return OpticsOrdering, (self.ordering, self.reachability, self.core_distances,
                                self.predecessor, self.max_eps, self.min_samples)

    def __repr__(self) -> str:
        return f"OpticsOrdering({len(self.ordering)} points)"

    def _by_point(self, in_order: Array) -> Array:
        """What is given in order, by index of the point."""
        result = np.empty(len(in_order), in_order.dtype)
        result[self.ordering] = in_order
        return result

    @property
    def max_eps(self) -> float:
        return float(self._struct.eps)

    @property
    def min_samples(self) -> int:
        return int(self._struct.min_points)

    @property
    def reachability(self) -> Array:
        if self._reachability is None:
            self._reachability = self._by_point(self._numbers[:len(self.ordering)])
        return self._reachability

    @property
    def predecessor(self) -> Array:
        if self._predecessor is None:
            self._predecessor = self._by_point(self._places[len(self.ordering):])
        return self._predecessor

    def cut(self, eps: float) -> Array:
        """Labels of the clusters that DBSCAN with radius `eps` finds, except for border points;
        -1 is noise."""
        labels, out = empty(len(self.ordering), I32, INTS)
        quick(_cut, (self._struct, real(eps, "eps")), (out, NULL))
        return labels.astype(INTP)

    def split(self, significance: Optional[float] = None,
              resolution: Optional[float] = None) -> "Split":
        """One class or several? Classes are significant valleys of the plot; with
        `min_samples` 1, what a gap separates."""
        labels, out = empty(len(self.ordering), I32, INTS)
        numbers = new(_TWO)
        setting = shared_options("tsanom_optics_split_options", significance=significance,
                                 resolution=resolution)
        call_sized(len(labels), _split, (self._struct, setting), (out, NULL, numbers, numbers + 1))
        return _split_of(labels.astype(INTP), numbers[0], numbers[1])

    def xi(self, xi: float = 0.05, min_samples: Optional[int] = None,
           predecessor_correction: bool = True) -> Tuple[Array, Array]:
        """Clusters by steepness: labels, and the hierarchy as an array of the first and the last
        position of each cluster in the order, sorted as scikit-learn does. `min_samples` is by
        default that of the order."""
        n, count, capacity = len(self.ordering), new(SIZE), 8
        labels, out = empty(n, I32, INTS)
        inputs = self._struct, _xi_setting(xi, min_samples, predecessor_correction)
        while True:
            clusters, out_clusters = empty((capacity, 2), INTP, SIZES)
            if call_sized(n, _xi, inputs, (out_clusters, capacity, count, out),
                          expected=(PARTIAL,)) != PARTIAL:
                break
            capacity = count[0]
        # They are sorted by first, then by last position.
        clusters = clusters[:count[0]][::-1]
        return labels.astype(INTP), clusters[clusters[:, 1].argsort(kind="stable")]


@dataclass(frozen=True)
class Split:
    """The result of `OpticsOrdering.split`."""

    labels: Array
    """By index of the point; -1 is noise."""
    cut: float
    """The height of the cut, above all steps for one class; NaN: classes are valleys of several
    heights."""
    probability: float
    """Chance of such a gap in one class: small values indicate several."""


_split_of = maker(Split)


def _by_function(metric: Callable[[Array, Array], float], points: Array, setting: Any,
                 view: Any) -> None:
    """The order by a distance function of Python."""
    caught: List[BaseException] = []

    def distance(user: Any, i: int, j: int) -> float:
        return metric(points[i], points[j])

    callback = ffi.callback("tsanom_optics_distance *", distance, error=math.nan,
                            onerror=lambda kind, value, trace: caught.append(value))
    try:
        call(lib.tsanom_optics_order_function, (callback, NULL, len(points), setting), (view,))
    except TsanomError:
        # The distance is NaN where the function raised.
        if caught:
            raise caught[0] from None
        raise


def _matrix(X: npt.ArrayLike) -> Tuple[Array, int, int]:
    """Given distances, the number of points, and the leading dimension, 0 if condensed."""
    matrix = doubles(X, "X", numbers(X, "X").ndim)
    if matrix.ndim == 1:
        n = (1 + math.isqrt(1 + 8 * len(matrix))) // 2
        if n * (n - 1) // 2 != len(matrix):
            raise ValueError(f"X has {len(matrix)} distances, which are not those of all pairs")
        return matrix, n, 0
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"X has the shape {matrix.shape}; a square matrix of distances, or a "
                         "condensed one, is expected")
    turned = matrix.T
    is_exact = np.array_equal(matrix, turned) and not matrix.diagonal().any()
    if not is_exact and np.isfinite(matrix).all():
        apart = max(np.abs(matrix - turned).max(), np.abs(matrix.diagonal()).max())
        if apart <= ROUNDING * np.abs(matrix).max():
            matrix = (matrix + turned) / 2
            np.fill_diagonal(matrix, 0)
    return matrix, len(matrix), len(matrix)


def optics_order(X: npt.ArrayLike, min_samples: Optional[int] = None, *, max_eps: float = math.inf,
                 metric: Metric = "euclidean", search: str = "auto", threads: int = 1,
                 progress: Progress = None) -> OpticsOrdering:
    """OPTICS order of points.

    Parameters
    ----------
    X : array_like of shape (points, dimensions)
        Points; for ``metric="precomputed"`` their distances, square or condensed as
        `dtw_matrix` returns them.
    min_samples : int, optional
        Points that make a neighborhood dense, including the point itself; by default the larger of
        5 and half the square root of the number of points, 1 of fewer than 10 points.
    max_eps : float
        Radius of neighborhoods.
    metric : {"euclidean", "manhattan", "chebyshev", "precomputed"} or callable
        A function is called with two points.
    search : {"auto", "exhaustive", "tree"}
        How neighbors are searched; it changes the speed only.

    Examples
    --------
    >>> import tsanom
    >>> order = tsanom.optics_order([[0.0], [10.0], [1.0], [11.0]], min_samples=1)
    >>> order.ordering.tolist(), order.reachability.tolist()
    ([0, 2, 1, 3], [inf, 9.0, 1.0, 1.0])
    >>> order.cut(2.0).tolist()
    [0, 1, 0, 1]
    """
    if isinstance(metric, str) and metric == "precomputed":
        points, n, ld = _matrix(X)
    else:
        points = doubles(X, "X", 2)
        n, ld = points.shape
    if min_samples is not None and n < whole(min_samples, "min_samples", 1):
        raise ValueError(f"X has {n} points; min_samples is {min_samples}")
    result = OpticsOrdering.__new__(OpticsOrdering)
    view = result._allocate(n)
    if callable(metric):
        _by_function(metric, points, _setting(min_samples, max_eps, 0, 0), view)
        return result
    data = from_buffer(DOUBLES, points)
    method = choice(search, SEARCHES, "search")
    if metric == "precomputed":
        call_sized(n * n, _order_matrix, (data, n, ld, _setting(min_samples, max_eps, 0, 0)),
                   (view,), 1, progress)
    else:
        setting = _setting(min_samples, max_eps, choice(metric, METRICS, "metric"),
                           method)
        call_sized(n * n * ld, _order, (data, n, ld, ld, setting), (view,), threads, progress)
    return result


__all__ = ["OpticsOrdering", "Split", "optics_order"]
