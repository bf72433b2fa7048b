# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic time warping of sets of series: matrices of distances, medoid, barycenter.

A matrix can be computed by the workers of an executor, which may be on other machines. The set
is cut into blocks; each task is a pair of blocks, or one block with itself. The distance of a
pair of series does not depend on the pairs beside it, so that the tiles are bitwise equal to the
same parts of one call."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Dict, List, Optional, TYPE_CHECKING, Tuple

import numpy as np

from ._arrays import (DOUBLE, DOUBLES, F32, F64, FLOATS, SIZE, Array, Series, SeriesSet,
                      from_buffer, new, samples)
from ._call import (INFEASIBLE, PARTIAL, Progress, call_sized, flag, real, reporter, thread_count,
                    whole)
from ._dtw import CLOSED, FAR, Ends, check_root, dtw_options
from ._library import NULL, lib
from ._results import maker

if TYPE_CHECKING:
    import numpy.typing as npt


# The functions of float64 and of float32, and the type of their results.
_CONDENSED = ((lib.tsanom_dtw_condensed, DOUBLES), (lib.tsanom_dtw_condensed_f32, FLOATS))
_CROSS = ((lib.tsanom_dtw_cross, DOUBLES), (lib.tsanom_dtw_cross_f32, FLOATS))

# The distance of a series to itself, in linear time.
_ALONG = dtw_options(0, "absolute", "sakoe_chiba", math.inf, 0.0, CLOSED, CLOSED)


def _condensed(series: Series, setting: Any, more: int = 0, threads: int = 1,
               progress: Progress = None) -> Array:
    """The distances of all pairs of a set, and `more` zeros."""
    n = series.count
    pairs = max(n * (n - 1) // 2, 0)
    result = np.zeros(pairs + more, series.dtype) if more else np.empty(pairs, series.dtype)
    if n == 1:
        # Of one series C has no matrix; it is checked by a distance.
        _cross(series, series, _ALONG)
    else:
        function, kind = _CONDENSED[series.dtype is F32]
        call_sized(series.cells, function, (series.view, setting),
                   (from_buffer(kind, result, True), NULL), threads, progress, FAR)
    return result


def _cross(a: Series, b: Series, setting: Any, threads: int = 1,
           progress: Progress = None) -> Array:
    """The distances of each series of one set to each of another."""
    function, kind = _CROSS[a.dtype is F32]
    result = np.empty((a.count, b.count), a.dtype)
    call_sized(a.cells + b.cells, function, (a.view, b.view, setting),
               (from_buffer(kind, result, True), b.count, NULL), threads, progress, FAR)
    return result


def _tile(xs: Any, ys: Any, dtype: Any, setting: Tuple[Any, ...], threads: int) -> Array:
    """A task for a worker: the distances of two blocks; without ys, those of one, condensed."""
    a = Series(xs, "X", dtype)
    if ys is None:
        return _condensed(a, dtw_options(*setting), 0, threads)
    return _cross(a, Series(ys, "Y", dtype), dtw_options(*setting), threads)


def _blocks(count: int, tile: Optional[int]) -> List[Tuple[int, int]]:
    """First and last + 1 of each block."""
    size = max(1, math.ceil(count / 8)) if tile is None else whole(tile, "tile", 1)
    return [(first, min(first + size, count)) for first in range(0, count, size)]


def _collect(tasks: "Dict[Future[Array], Tuple[slice, slice]]", result: Array, mirror: bool,
             report: Optional[Callable[[int, int], object]]) -> None:
    """Put tiles where they belong; of a block with itself the tile is condensed."""
    try:
        for done, (future, (rows, columns)) in enumerate(tasks.items(), 1):
            part = future.result()
            if part.ndim == 1:
                part = _square(part, rows.stop - rows.start)
            result[rows, columns] = part
            if mirror:
                result[columns, rows] = part.T
            if report:
                report(done, len(tasks))
    except BaseException:
        for future in tasks:
            future.cancel()
        raise


def _by_executor(a: Series, b: Optional[Series], setting: Tuple[Any, ...], threads: int,
                 progress: Progress, executor: Executor, tile: Optional[int]) -> Array:
    """The matrix, each tile by a task of the executor."""
    tasks = {}
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor is {executor!r}; an object with submit() is expected")
    report = reporter(progress)
    a.check("X")
    if b:
        b.check("Y")
    rows = _blocks(a.count, tile)
    for i, (r0, r1) in enumerate(rows):
        left = a[r0:r1]
        for c0, c1 in _blocks(b.count, tile) if b else rows[i:]:
            right = None if b is None and c0 == r0 else (b or a)[c0:c1]
            future = executor.submit(_tile, left, right, a.dtype, setting, threads)
            tasks[future] = (slice(r0, r1), slice(c0, c1))
    result = np.empty((a.count, b.count if b else a.count), a.dtype)
    _collect(tasks, result, b is None, report)
    return result


def _square(condensed: Array, n: int) -> Array:
    """The symmetric matrix of a condensed one."""
    result = np.zeros((n, n), condensed.dtype)
    upper = np.triu_indices(n, 1)
    result[upper] = condensed
    result.T[upper] = condensed
    return result


# Series whose matrix is filled by an index of all elements, which is faster for few series.
_FEW = 64


@lru_cache(maxsize=8)
def _places(n: int) -> Array:
    """The element of a condensed matrix, followed by a zero, for each element of a square one."""
    pairs = n * (n - 1) // 2
    result = _square(np.arange(pairs), n)
    np.fill_diagonal(result, pairs)
    return result


def _all_pairs(series: Series, setting: Any, threads: int, progress: Progress) -> Array:
    """The square matrix of a set."""
    if series.count > _FEW:
        return _square(_condensed(series, setting, 0, threads, progress), series.count)
    return _condensed(series, setting, 1, threads, progress).take(_places(series.count))


def dtw_matrix(X: SeriesSet, Y: Optional[SeriesSet] = None, radius: Optional[int] = None, *,
               condensed: bool = False, root: bool = False, cost: str = "absolute",
               window: str = "sakoe_chiba", cutoff: float = math.inf, penalty: float = 0.0,
               open_begin: Ends = CLOSED, open_end: Ends = CLOSED, threads: int = 1,
               progress: Progress = None, executor: Optional[Executor] = None,
               tile: Optional[int] = None) -> Array:
    """Distances of all pairs of series.

    Parameters
    ----------
    X, Y : array_like of shape (count, length) or (count, length, dimensions), or sequence
        Sets of series; the series of a sequence may have different lengths. Without Y, the pairs
        of X with itself.
    condensed : bool
        Without Y: only the pairs i < j, in the order of `scipy.spatial.distance.pdist`.
    executor : concurrent.futures.Executor, optional
        Computes tiles: a pool of threads or processes, ``dask.distributed.Client.get_executor()``
        or ``mpi4py.futures.MPIPoolExecutor``. The result is bitwise the same.
    tile : int, optional
        Series in the block of a task; None: an eighth of the set.

    The other parameters are those of `dtw`. A pair above the cut-off, or without a path, has the
    distance infinity.

    Returns
    -------
    ndarray
        The matrix of shape (count of X, count of Y), or the condensed matrix.

    Examples
    --------
    >>> import tsanom
    >>> X = [[0, 0, 1], [0, 1, 1], [3, 3, 3]]
    >>> tsanom.dtw_matrix(X, radius=1, condensed=True)
    array([0., 8., 7.])
    >>> tsanom.dtw_matrix(X, X[:1])
    array([[0.],
           [0.],
           [8.]])
    """
    check_root(root, cost)
    thread_count(threads)
    options = dtw_options(radius, cost, window, cutoff, penalty, open_begin, open_end)
    if flag(condensed, "condensed") and Y is not None:
        raise ValueError("condensed=True needs one set")
    a = Series(X, "X")
    b = None if Y is None else Series(Y, "Y")
    if b is not None and a.dtype is not b.dtype:
        a, b = Series(X, "X", F64), Series(Y, "Y", F64)  # type: ignore[arg-type]
    if executor is not None:
        setting = (radius, cost, window, cutoff, penalty, open_begin, open_end)
        result = _by_executor(a, b, setting, threads, progress, executor, tile)
        if condensed:
            result = result[np.triu_indices(a.count, 1)]
    elif b is not None:
        result = _cross(a, b, options, threads, progress)
    elif condensed:
        result = _condensed(a, options, 0, threads, progress)
    else:
        result = _all_pairs(a, options, threads, progress)
    return np.sqrt(result) if root else result


def dtw_medoid(X: SeriesSet, radius: Optional[int] = None, *, cost: str = "absolute",
               window: str = "sakoe_chiba", penalty: float = 0.0, threads: int = 1,
               progress: Progress = None) -> Tuple[int, float]:
    """The series of a set whose distances to the others have the least sum, and that sum.

    Raises ValueError if no path fits the window for any series.

    >>> import tsanom
    >>> tsanom.dtw_medoid([[0, 0, 1], [0, 1, 1], [3, 3, 3]])
    (1, 7.0)
    """
    series = Series(X, "X", F64)
    index, total = new(SIZE), new(DOUBLE)
    setting = dtw_options(radius, cost, window, math.inf, penalty, CLOSED, CLOSED)
    if call_sized(series.cells, lib.tsanom_dtw_medoid, (series.view, setting), (index, total),
                  threads, progress, (INFEASIBLE,)) == INFEASIBLE:
        raise ValueError("every series has another one to which no path fits the window")
    return index[0], total[0]


@dataclass(frozen=True)
class Barycenter:
    """The result of `dtw_barycenter`."""

    series: Array
    """The average."""
    total: float
    """Sum of the distances of the series to it."""
    converged: bool
    """False: the iterations were used up."""


_barycenter = maker(Barycenter)


def dtw_barycenter(X: SeriesSet, start: Optional[npt.ArrayLike] = None,
                   radius: Optional[int] = None, *, iterations: int = 30, tolerance: float = 1e-5,
                   cost: str = "squared", window: str = "sakoe_chiba", penalty: float = 0.0,
                   threads: int = 1, progress: Progress = None) -> Barycenter:
    """Barycenter of a set by DTW barycenter averaging (DBA).

    Parameters
    ----------
    X : set of series
    start : array_like, optional
        Where to start; its length is that of the result. None: the medoid.
    iterations, tolerance
        It ends when the sum of distances falls by no more than `tolerance` times itself.

    Examples
    --------
    >>> import tsanom
    >>> tsanom.dtw_barycenter([[0.0, 2.0], [0.0, 4.0]]).series
    array([0., 3.])
    """
    series = Series(X, "X", F64)
    iterations = whole(iterations, "iterations", 0, 2**31 - 1)
    if start is None:
        index, _ = dtw_medoid(series[:], radius, cost=cost, window=window, penalty=penalty,
                              threads=threads)
        start = series[index:index + 1][0]  # type: ignore[index]
    average = samples(start, "start").astype(F64)
    if (average.shape[1] if average.ndim == 2 else 1) != series.dimensions:
        raise ValueError("the samples of start and X have different dimensions")
    total = new(DOUBLE)
    status = call_sized(
        iterations * (len(average) * series.count) * series.longest, lib.tsanom_dtw_barycenter,
        (series.view, len(average), iterations, real(tolerance, "tolerance"),
         dtw_options(radius, cost, window, math.inf, penalty, CLOSED, CLOSED)),
        (from_buffer(DOUBLES, average, True), total), threads, progress, (INFEASIBLE, PARTIAL))
    if status == INFEASIBLE:
        raise ValueError("for one of the series no path fits the window")
    return _barycenter(average, total[0], status != PARTIAL)


__all__ = ["Barycenter", "dtw_barycenter", "dtw_matrix", "dtw_medoid"]
