# SPDX-License-Identifier: BSD-3-Clause
"""OPTICS: the order in which points are connected by density, and clusters read from it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._arrays import DOUBLES, F64, INTS, SIZES, Array, empty, from_buffer
from ._call import Execution, Progress, call, choice, options
from ._library import NULL, ffi, lib

Metric = Union[str, Callable[[Array, Array], float]]

METRICS: Dict[str, int] = {"euclidean": lib.TSANOM_OPTICS_EUCLIDEAN,
                           "manhattan": lib.TSANOM_OPTICS_MANHATTAN,
                           "chebyshev": lib.TSANOM_OPTICS_CHEBYSHEV}
SEARCHES: Dict[str, int] = {"auto": lib.TSANOM_OPTICS_SEARCH_AUTO,
                            "exhaustive": lib.TSANOM_OPTICS_SEARCH_EXHAUSTIVE,
                            "tree": lib.TSANOM_OPTICS_SEARCH_TREE}


@dataclass(frozen=True)
class OpticsOrdering:
    """The order of points, as scikit-learn describes it; `optics_order` creates it."""

    ordering: Array
    """Indices of the points in the order of processing."""
    reachability: Array
    """By index of the point; infinity: undefined."""
    core_distances: Array
    """By index of the point; infinity: undefined."""
    predecessor: Array
    """By index of the point: index of a point, or -1."""

    def _struct(self) -> Tuple[Any, Tuple[Array, ...]]:
        """The C struct, and the arrays that it refers to."""
        order = np.ascontiguousarray(self.ordering, np.intp)
        reachability = np.ascontiguousarray(self.reachability[self.ordering], F64)
        predecessor = np.ascontiguousarray(self.predecessor[self.ordering], np.intp)
        core = np.ascontiguousarray(self.core_distances, F64)
        view = options("tsanom_optics_ordering", n=len(order),
                       order=ffi.cast("size_t *", order.ctypes.data),
                       reachability=ffi.cast("double *", reachability.ctypes.data),
                       predecessor=ffi.cast("size_t *", predecessor.ctypes.data),
                       core_distance=ffi.cast("double *", core.ctypes.data))
        return view, (order, reachability, predecessor, core)

    def cut(self, eps: float) -> Array:
        """Labels of the clusters that DBSCAN with radius `eps` finds, except for border points;
        -1 is noise."""
        view, _arrays = self._struct()
        labels, out = empty(len(self.ordering), np.int32, INTS)
        call(lib.tsanom_optics_cut, (view, eps), (out, NULL))
        return labels.astype(np.intp)

    def split(self, significance: Optional[float] = None,
              resolution: Optional[float] = None) -> "Split":
        """One class or several? A cut without a parameter, for few points."""
        view, _arrays = self._struct()
        labels, out = empty(len(self.ordering), np.int32, INTS)
        numbers = ffi.new("double[2]")
        setting = options("tsanom_optics_split_options", significance=significance,
                          resolution=resolution)
        call(lib.tsanom_optics_split, (view, setting), (out, NULL, numbers, numbers + 1))
        return Split(labels.astype(np.intp), numbers[0], numbers[1])

    def xi(self, xi: float = 0.05, min_samples: int = 5,
           predecessor_correction: bool = True) -> Tuple[Array, Array]:
        """Clusters by steepness: labels, and the hierarchy as an array of the first and the last
        position of each cluster in the order, sorted as scikit-learn does."""
        view, _arrays = self._struct()
        labels, out = empty(len(self.ordering), np.int32, INTS)
        setting = options("tsanom_optics_xi_options", xi=xi, min_points=min_samples,
                          keep_tails=int(not predecessor_correction))
        count = ffi.new("size_t *")
        call(lib.tsanom_optics_xi, (view, setting), (NULL, 0, count, out))
        clusters, out_clusters = empty((count[0], 2), np.intp, SIZES)
        if count[0]:
            call(lib.tsanom_optics_xi, (view, setting), (out_clusters, count[0], count, out))
        return labels.astype(np.intp), clusters[np.lexsort((-clusters[:, 0], clusters[:, 1]))]


@dataclass(frozen=True)
class Split:
    """The result of `OpticsOrdering.split`."""

    labels: Array
    """By index of the point; -1 is noise."""
    cut: float
    """The height of the cut; infinity: one class."""
    probability: float
    """Chance of such a gap in one class: small values indicate several."""


def _by_function(metric: Callable[[Array, Array], float], points: Array, setting: Any,
                 view: Any) -> None:
    """The order by a distance function of Python."""
    caught: List[BaseException] = []

    def distance(user: Any, i: int, j: int) -> float:
        return metric(points[i], points[j])

    callback = ffi.callback("tsanom_optics_distance *", distance, error=math.nan,
                            onerror=lambda kind, value, trace: caught.append(value))
    execution = Execution()
    status = lib.tsanom_optics_order_function(callback, NULL, len(points), setting, execution.exec,
                                              view)
    if caught:
        raise caught[0]
    execution.check(status)


def _matrix(X: npt.ArrayLike) -> Tuple[Array, int, int]:
    """Given distances, the number of points, and the leading dimension, 0 if condensed."""
    matrix = np.ascontiguousarray(X, F64)
    if matrix.ndim == 1:
        n = (1 + math.isqrt(1 + 8 * len(matrix))) // 2
        if n * (n - 1) // 2 != len(matrix):
            raise ValueError(f"{len(matrix)} distances are not those of all pairs of a set")
        return matrix, n, 0
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError("a square matrix of distances, or a condensed one, is expected")
    return matrix, len(matrix), len(matrix)


def optics_order(X: npt.ArrayLike, min_samples: int = 5, *, max_eps: float = math.inf,
                 metric: Metric = "euclidean", search: str = "auto", threads: int = 1,
                 progress: Progress = None) -> OpticsOrdering:
    """OPTICS order of points.

    Parameters
    ----------
    X : array_like of shape (points, dimensions)
        Points; for ``metric="precomputed"`` their distances, square or condensed as
        `dtw_matrix` returns them.
    min_samples : int
        Points that make a neighborhood dense, including the point itself.
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
    if metric == "precomputed":
        points, n, ld = _matrix(X)
    else:
        points = np.ascontiguousarray(X, F64)
        if points.ndim != 2:
            raise ValueError(f"X has {points.ndim} dimensions; 2 expected")
        n, ld = points.shape
    order, out_order = empty(n, np.intp, SIZES)
    reachability, out_reachability = empty(n, F64, DOUBLES)
    predecessor, out_predecessor = empty(n, np.intp, SIZES)
    core, out_core = empty(n, F64, DOUBLES)
    view = options("tsanom_optics_ordering", order=out_order, reachability=out_reachability,
                   predecessor=out_predecessor, core_distance=out_core)
    setting = options("tsanom_optics_options", min_points=min_samples, eps=max_eps)
    data = from_buffer(DOUBLES, points)
    if callable(metric):
        _by_function(metric, points, setting, view)
    elif metric == "precomputed":
        call(lib.tsanom_optics_order_matrix, (data, n, ld, setting), (view,), 1, progress)
    else:
        setting.metric = choice(metric, METRICS, "metric")
        setting.search = choice(search, SEARCHES, "search")
        call(lib.tsanom_optics_order, (data, n, ld, ld, setting), (view,), threads, progress)
    by_point = np.empty(n, F64)
    by_point[order] = reachability
    before = np.empty(n, np.intp)
    before[order] = predecessor
    return OpticsOrdering(order, by_point, core, before)


__all__ = ["OpticsOrdering", "Split", "optics_order"]
