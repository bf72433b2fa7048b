# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic time warping of two series."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional, Sequence, TYPE_CHECKING, Tuple, Union


from ._arrays import (DOUBLE, DOUBLES, F32, F64, FLOAT, FLOATS, INTP, PLAIN, SIZE, SIZES, Array,
                      empty, from_buffer, integers, ndarray, new, samples)
from ._call import (CUTOFF, INFEASIBLE, ONE, QUICK, Progress, call, call_sized, choice, flag,
                    limit, options, shared)
from ._library import NULL, lib

if TYPE_CHECKING:
    import numpy.typing as npt
    Ends = Union[Sequence[Optional[int]], npt.NDArray[Any]]
else:
    Ends = Union[Sequence[Optional[int]], Any]

CLOSED = (0, 0)
# Both are an infinite distance.
FAR = (INFEASIBLE, CUTOFF)

COSTS: Dict[str, int] = {"absolute": lib.TSANOM_COST_ABSOLUTE, "squared": lib.TSANOM_COST_SQUARED}
WINDOWS: Dict[str, int] = {"sakoe_chiba": lib.TSANOM_DTW_SAKOE_CHIBA,
                           "slope": lib.TSANOM_DTW_SLOPE}
MEMORY: Dict[str, int] = {"full": lib.TSANOM_DTW_PATH_FULL, "linear": lib.TSANOM_DTW_PATH_LINEAR}

_distance = lib.tsanom_dtw_distance
_distance_f32 = lib.tsanom_dtw_distance_f32
_path = lib.tsanom_dtw_path
_path_f32 = lib.tsanom_dtw_path_f32


@shared
def _dtw_options(radius: Optional[int], cost: str, window: str, cutoff: float, penalty: float,
                 begin_x: Optional[int], begin_y: Optional[int], end_x: Optional[int],
                 end_y: Optional[int], dimensions: int, memory: str) -> Any:
    return options(
        "tsanom_dtw_options", radius=limit(radius), cutoff=cutoff, penalty=penalty,
        open_begin_x=limit(begin_x, "open_begin[0]"), open_begin_y=limit(begin_y, "open_begin[1]"),
        open_end_x=limit(end_x, "open_end[0]"), open_end_y=limit(end_y, "open_end[1]"),
        dimensions=dimensions, cost=choice(cost, COSTS, "cost"),
        window=choice(window, WINDOWS, "window"), path_memory=choice(memory, MEMORY, "memory"))


def _ends(value: Ends, name: str) -> Tuple[Optional[int], Optional[int]]:
    if isinstance(value, ndarray):
        value = integers(value, name).tolist()
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name} is {value!r}; the numbers of samples of x and y are expected")
    return value[0], value[1]


def dtw_options(radius: Optional[int], cost: str, window: str, cutoff: float, penalty: float,
                open_begin: Ends, open_end: Ends, dimensions: int = 1,
                memory: str = "full") -> Any:
    """The options of a call. Calls only read them, so that all calls share them."""
    if open_begin is open_end is CLOSED:
        return _dtw_options(radius, cost, window, cutoff, penalty, 0, 0, 0, 0, dimensions, memory)
    begin, end = _ends(open_begin, "open_begin"), _ends(open_end, "open_end")
    return _dtw_options(radius, cost, window, cutoff, penalty, *begin, *end, dimensions, memory)


def check_root(root: bool, cost: str) -> None:
    """Only a sum of squares has a root with the unit of the samples."""
    if root is not False and flag(root, "root") and cost != "squared":
        raise ValueError('root=True needs cost="squared"')


def _pair(x: npt.ArrayLike, y: npt.ArrayLike) -> Tuple[Array, Array, int, bool]:
    """Two series of one type and one number of components, and whether they are float32."""
    a, b = samples(x, "x"), samples(y, "y")
    if a.shape[1:] != b.shape[1:]:
        raise ValueError("the samples of x and y have different dimensions")
    single = a.dtype is F32 and b.dtype is F32
    if not single:
        a, b = a.astype(F64, copy=False), b.astype(F64, copy=False)
    return a, b, a.shape[1] if a.ndim == 2 else 1, single


def dtw(x: npt.ArrayLike, y: npt.ArrayLike, radius: Optional[int] = None, *, root: bool = False,
        cost: str = "absolute", window: str = "sakoe_chiba", cutoff: float = math.inf,
        penalty: float = 0.0, open_begin: Ends = CLOSED, open_end: Ends = CLOSED,
        threads: int = 1, progress: Progress = None) -> float:
    """Distance of two series.

    Parameters
    ----------
    x, y : array_like
        Series of shape (length,), or (length, dimensions) if samples are vectors. If both are
        float32, the computation is too.
    radius : int, optional
        Radius of the warping window; None: no window.
    root : bool
        Return the square root of the sum, for ``cost="squared"``.
    cost : {"absolute", "squared"}
        Cost of matching two samples.
    window : {"sakoe_chiba", "slope"}
        Kind of window: around the diagonal i = j, or around the line between the corners.
    cutoff : float
        Give up if the distance is larger; the result then is infinity.
    penalty : float
        Cost of a step that advances one series only.
    open_begin, open_end : (int, int)
        Leading or trailing samples of x, or of y, that a path may leave out; None: any number.
    threads : int
        Threads for one large pair; -1: all processors.
    progress : bool or callable
        True: show a bar of tqdm; a function is called with the work done and its total.

    Returns
    -------
    float
        The distance; infinity if no path fits the window.

    Examples
    --------
    >>> import tsanom
    >>> tsanom.dtw([0, 0, 1, 2, 1, 0], [0, 1, 2, 1, 0, 0], radius=2)
    0.0
    >>> tsanom.dtw([0.0, 3.0], [4.0, 3.0], cost="squared", root=True)
    4.0
    """
    check_root(root, cost)
    setting = dtw_options(radius, cost, window, cutoff, penalty, open_begin, open_end)
    # The usual case, without conversions: short contiguous arrays of float64.
    if (type(x) is ndarray and type(y) is ndarray and x.dtype is F64 and y.dtype is F64
            and x.ndim == 1 and y.ndim == 1 and x.flags.num & y.flags.num & PLAIN == PLAIN
            and len(x) * len(y) <= QUICK and threads is ONE and not progress):
        inputs = (from_buffer(DOUBLES, x), len(x), from_buffer(DOUBLES, y), len(y), setting)
        result = new(DOUBLE)
        if _distance(*inputs, NULL, result) < 0:
            call(_distance, inputs, (result,), expected=FAR)
        return math.sqrt(result[0]) if root else result[0]  # type: ignore[no-any-return]
    a, b, dimensions, single = _pair(x, y)
    if dimensions != 1:
        setting = dtw_options(radius, cost, window, cutoff, penalty, open_begin, open_end,
                              dimensions)
    kind, function = (FLOATS, _distance_f32) if single else (DOUBLES, _distance)
    result = new(FLOAT if single else DOUBLE)
    inputs = (from_buffer(kind, a), len(a), from_buffer(kind, b), len(b), setting)
    call_sized(len(a) * len(b), function, inputs, (result,), threads, progress, FAR)
    return math.sqrt(result[0]) if root else float(result[0])


def dtw_path(x: npt.ArrayLike, y: npt.ArrayLike, radius: Optional[int] = None, *,
             root: bool = False, cost: str = "absolute", window: str = "sakoe_chiba",
             cutoff: float = math.inf, penalty: float = 0.0, open_begin: Ends = CLOSED,
             open_end: Ends = CLOSED, memory: str = "full",
             progress: Progress = None) -> Tuple[Array, float]:
    """The warping path of two series, and their distance.

    Parameters are those of `dtw`, and ``memory``: "full" keeps a few bits for each pair of the
    window, "linear" memory in proportion to the lengths. The path is the same.

    Returns
    -------
    path : ndarray of shape (pairs, 2)
        Indices of the matched samples of x and y; empty if no path fits the window.
    distance : float
        As `dtw` returns it.

    Examples
    --------
    >>> import tsanom
    >>> path, distance = tsanom.dtw_path([0, 1, 2], [0, 2, 2])
    >>> path.tolist(), distance
    ([[0, 0], [1, 1], [2, 2]], 1.0)
    """
    check_root(root, cost)
    a, b, dimensions, single = _pair(x, y)
    setting = dtw_options(radius, cost, window, cutoff, penalty, open_begin, open_end, dimensions,
                          memory)
    kind = FLOATS if single else DOUBLES
    path, out = empty((max(len(a) + len(b) - 1, 1), 2), INTP, SIZES)
    length, result = new(SIZE), new(FLOAT if single else DOUBLE)
    call_sized(len(a) * len(b), _path_f32 if single else _path,
               (from_buffer(kind, a), len(a), from_buffer(kind, b), len(b), setting),
               (out, length, result), progress=progress, expected=FAR)
    return path[:length[0]], math.sqrt(result[0]) if root else float(result[0])


__all__ = ["dtw", "dtw_path"]
