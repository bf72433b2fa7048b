# SPDX-License-Identifier: BSD-3-Clause
"""OPTICS as an estimator of scikit-learn."""

from __future__ import annotations

import math
import os
import sys
from numbers import Integral
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from ._arrays import F64, Array, numbers
from ._call import thread_count, whole
from ._optics import METRICS, Metric, optics_order


def _validated(estimator: Any, X: Any) -> Any:
    """Points as scikit-learn checks them; it renamed the function in version 1.6."""
    if isinstance(X, np.ma.MaskedArray):
        X = numbers(X, "X")
    expected = {"dtype": F64, "order": "C", "ensure_min_samples": 2}
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:
        return estimator._validate_data(X, **expected)
    return validate_data(estimator, X, **expected)


class OPTICS(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """OPTICS, with the parameters and attributes of `sklearn.cluster.OPTICS`.

    Parameters
    ----------
    min_samples : int > 1, or float between 0 and 1
        Points that make a neighborhood dense, including the point itself; a float is a part of
        all points, and at least 2.
    max_eps : float
        Radius of neighborhoods.
    metric : {"euclidean", "manhattan", "chebyshev", "precomputed"} or callable
    cluster_method : {"xi", "dbscan", "split"}
        How clusters are read from the order: by steepness; by the cut `eps`; or by a test for one
        class or several, which needs no parameter.
    eps : float, optional
        Height of the cut, for "dbscan"; None: `max_eps`.
    xi : float
        Steepness, for "xi".
    predecessor_correction : bool
        For "xi": a cluster loses trailing points whose predecessor is outside.
    n_jobs : int, optional
        Threads; None: 1; -1: all processors.

    Attributes
    ----------
    labels_, ordering_, reachability_, core_distances_, predecessor_ : ndarray of shape (points,)
    cluster_hierarchy_ : ndarray of shape (clusters, 2)
        For "xi": first and last position of each cluster in the order.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np, tsanom
    >>> X = np.array([[1, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]])
    >>> tsanom.OPTICS(min_samples=2).fit(X).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(self, *, min_samples: float = 5, max_eps: float = math.inf,
                 metric: Metric = "euclidean", cluster_method: str = "xi",
                 eps: Optional[float] = None, xi: float = 0.05,
                 predecessor_correction: bool = True, n_jobs: Optional[int] = None) -> None:
        self.min_samples = min_samples
        self.max_eps = max_eps
        self.metric = metric
        self.cluster_method = cluster_method
        self.eps = eps
        self.xi = xi
        self.predecessor_correction = predecessor_correction
        self.n_jobs = n_jobs

    def _more_tags(self) -> "dict[str, Any]":
        return {"pairwise": self.metric == "precomputed"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _count(self, n: int) -> int:
        """min_samples as a number of points."""
        given = self.min_samples
        count = given if given > 1 or isinstance(given, Integral) else max(2, given * n)
        if not (given > 0 and 1 <= count <= n):
            raise ValueError(f"min_samples={given} must be at least 1 and at most n_samples={n}")
        return int(count)

    def _threads(self) -> int:
        """n_jobs as a number of threads; -2: all processors but one, as scikit-learn has it."""
        if self.n_jobs is None:
            return 1
        jobs = whole(self.n_jobs, "n_jobs", -sys.maxsize)
        if jobs < -1:
            return max(1, len(os.sched_getaffinity(0)) + 1 + jobs)
        return thread_count(jobs, "n_jobs") or -1

    def fit(self, X: Any, y: Any = None) -> "OPTICS":
        """Order the points, and read the clusters from the order."""
        if self.cluster_method not in ("xi", "dbscan", "split"):
            raise ValueError(f"cluster_method={self.cluster_method!r}; 'xi', 'dbscan' or 'split' "
                             "is expected")
        if not callable(self.metric) and self.metric not in (*METRICS, "precomputed"):
            raise ValueError(f"metric={self.metric!r}; a callable, 'precomputed' or one of "
                             f"{', '.join(map(repr, METRICS))} is expected")
        points = _validated(self, X)
        count = self._count(len(points))
        order = optics_order(points, count, max_eps=self.max_eps, metric=self.metric,
                             threads=self._threads())
        self.ordering_: Array = order.ordering
        self.reachability_: Array = order.reachability
        self.core_distances_: Array = order.core_distances
        self.predecessor_: Array = order.predecessor
        if self.cluster_method == "xi":
            self.labels_, self.cluster_hierarchy_ = order.xi(
                self.xi, count, self.predecessor_correction)
        elif self.cluster_method == "dbscan":
            self.labels_ = order.cut(self.max_eps if self.eps is None else self.eps)
        else:
            self.labels_ = order.split().labels
        return self


__all__ = ["OPTICS"]
