# SPDX-License-Identifier: BSD-3-Clause
"""Exact nearest neighbors under dynamic time warping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, TYPE_CHECKING, Tuple


from ._arrays import (DOUBLES, F64, INTP, SIZES, Array, Series, SeriesSet, doubles, empty,
                      from_buffer, new)
from ._call import Progress, call_sized, choice, flag, limit, options, shared, whole
from ._dtw import COSTS
from ._library import NULL, ffi, lib
from ._results import reader

if TYPE_CHECKING:
    import numpy.typing as npt

_create = lib.tsanom_search_index_create
_destroy = lib.tsanom_search_index_destroy
_nearest = lib.tsanom_search_nearest
_stream = lib.tsanom_search_stream
_INDEX = ffi.typeof("tsanom_search_index **")
_REPORTS = ffi.typeof("tsanom_search_report[]")


@shared
def _options(radius: Optional[int], cost: str, z_normalize: bool, borrow: bool,
             neighbors: Optional[int] = None, exclusion: Optional[int] = None) -> Any:
    """The options of a call, which calls share; only a search in a stream has neighbors."""
    return options("tsanom_search_options", radius=limit(radius), cost=choice(cost, COSTS, "cost"),
                   z_normalize=flag(z_normalize, "z_normalize"), borrow=borrow,
                   neighbors=neighbors,
                   exclusion=None if neighbors is None else limit(exclusion, "exclusion"))


@dataclass(frozen=True)
class SearchReport:
    """How the candidates of one query were decided."""

    candidates: int
    kim: int
    means: int
    keogh: int
    keogh_reversed: int
    abandoned: int
    computed: int
    found: int


_report = reader(SearchReport)


class Index:
    """Series of one length, prepared for searches of nearest neighbors under DTW.

    Parameters
    ----------
    X : array_like of shape (count, length)
    radius : int, optional
        Radius of the warping window; None: no window.
    cost : {"absolute", "squared"}
    z_normalize : bool
        Normalize each series and query to mean 0 and standard deviation 1.
    copy : bool
        False: refer to the samples of a contiguous X of float64, which must then not change;
        not with z_normalize.
    threads : int
        Threads to build the index; -1: all processors.

    Examples
    --------
    >>> import tsanom
    >>> index = tsanom.Index([[0, 0, 1, 2], [5, 5, 5, 5], [0, 1, 2, 2]], radius=1)
    >>> index.kneighbors([[0, 1, 2, 2]], 2)
    (array([[0., 0.]]), array([[0, 2]]))
    """

    def __init__(self, X: SeriesSet, radius: Optional[int] = None, *, cost: str = "absolute",
                 z_normalize: bool = False, copy: bool = True, threads: int = 1,
                 progress: Progress = None) -> None:
        if flag(z_normalize, "z_normalize") and not flag(copy, "copy"):
            raise ValueError("copy=False is not possible with z_normalize")
        # A pickle needs the samples as they were given.
        self._series = Series(X, "X", F64, bool(flag(copy, "copy")))
        self._arguments = {"radius": radius, "cost": cost, "z_normalize": z_normalize, "copy": copy}
        index = new(_INDEX)
        borrow = not (copy and z_normalize)
        call_sized(self._series.count * self._series.longest, _create,
                   (self._series.view, _options(radius, cost, z_normalize, borrow)), (index,),
                   threads, progress)
        self._index = ffi.gc(index[0], _destroy)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _restore, (self._series[:], self._arguments)

    def __len__(self) -> int:
        return self._series.count

    def _columns(self, n_neighbors: int) -> int:
        """Columns of a result: a larger number of neighbors is rejected, not allocated."""
        return min(whole(n_neighbors, "n_neighbors", 1), self._series.count)

    def kneighbors(self, Q: SeriesSet, n_neighbors: int = 1, *, threads: int = 1,
                   progress: Progress = None) -> Tuple[Array, Array]:
        """The nearest series of each query.

        Returns
        -------
        distances, indices : ndarray of shape (queries, n_neighbors)
            Nearest first; -1 where the distance is infinite, as its sum overflows.
        """
        queries = Series(Q, "Q", F64)
        shape = (queries.count, self._columns(n_neighbors))
        distances, out = empty(shape, F64, DOUBLES)
        indices, out_indices = empty(shape, INTP, SIZES)
        self._search(queries, n_neighbors, (out_indices, out, NULL), threads, progress)
        return distances, indices

    def report(self, Q: SeriesSet, n_neighbors: int = 1) -> List[SearchReport]:
        """How many candidates each bound removes, for each query."""
        queries = Series(Q, "Q", F64)
        reports = new(_REPORTS, queries.count)
        found = queries.count * self._columns(n_neighbors)
        self._search(queries, n_neighbors, (new(SIZES, found), new(DOUBLES, found), reports))
        return [_report(report) for report in reports]

    def _search(self, queries: Series, k: int, outputs: Tuple[Any, Any, Any], threads: int = 1,
                progress: Progress = None) -> None:
        call_sized(self._series.count * queries.count * queries.longest * queries.longest, _nearest,
                   (self._index, queries.view, k), outputs, threads, progress)


def _restore(X: Any, arguments: "dict[str, Any]") -> Index:
    return Index(X, **arguments)


def search_stream(query: npt.ArrayLike, stream: npt.ArrayLike, radius: Optional[int] = None, *,
                  n_neighbors: int = 1, exclusion: Optional[int] = None, cost: str = "absolute",
                  z_normalize: bool = False, threads: int = 1,
                  progress: Progress = None) -> Tuple[Array, Array]:
    """The windows of a long series that are nearest to a query.

    Parameters
    ----------
    query, stream : array_like
    n_neighbors : int
        Matches to find.
    exclusion : int, optional
        The starts of two matches differ by more than this; None: half the length of the query.

    Returns
    -------
    distances, starts : ndarray
        Nearest first; fewer than n_neighbors if the exclusion leaves fewer.

    Examples
    --------
    >>> import tsanom
    >>> tsanom.search_stream([1, 2, 1], [0, 0, 1, 2, 1, 0, 0], radius=1)
    (array([0.]), array([2]))
    """
    a, b = doubles(query, "query"), doubles(stream, "stream")
    most = max(len(b), 1)
    setting = _options(radius, cost, z_normalize, False,
                       min(whole(n_neighbors, "n_neighbors", 1), most), exclusion)
    distances, out = empty(setting.neighbors, F64, DOUBLES)
    starts, out_starts = empty(setting.neighbors, INTP, SIZES)
    call_sized(len(a) * len(a) * len(b), _stream,
               (from_buffer(DOUBLES, a), len(a), from_buffer(DOUBLES, b), len(b), setting),
               (out_starts, out, NULL), threads, progress)
    if starts[-1] < 0:
        found = starts >= 0
        return distances[found], starts[found]
    return distances, starts


__all__ = ["Index", "SearchReport", "search_stream"]
