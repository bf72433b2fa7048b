# SPDX-License-Identifier: BSD-3-Clause
"""Envelopes of a series, and lower bounds of its DTW distance."""

from __future__ import annotations

import collections
from typing import Any, Deque, List, Optional, TYPE_CHECKING, Tuple


from ._arrays import DOUBLES, F32, F64, FLOATS, Array, doubles, empty, from_buffer, samples
from ._call import INFEASIBLE, PARTIAL, choice, limit, plain, quick, shared_options, whole
from ._dtw import COSTS
from ._errors import TsanomError, from_status
from ._library import ffi, lib

if TYPE_CHECKING:
    import numpy.typing as npt
    Envelope = Tuple[npt.ArrayLike, npt.ArrayLike]
else:
    Envelope = Tuple[Any, Any]



def envelope(x: npt.ArrayLike, radius: Optional[int] = None) -> Tuple[Array, Array]:
    """Envelope of a series: minima and maxima of the samples within `radius` of each.

    float32 gives float32. None is an unlimited radius.

    >>> import tsanom
    >>> tsanom.envelope([0, 3, 1, 2], radius=1)
    (array([0., 0., 1., 1.]), array([3., 3., 3., 2.]))
    """
    return _envelope(samples(x, "x", 1), radius)


def _envelope(array: Array, radius: Optional[int]) -> Tuple[Array, Array]:
    single = array.dtype is F32
    kind = FLOATS if single else DOUBLES
    lower, out_lower = empty(len(array), array.dtype, kind)
    upper, out_upper = empty(len(array), array.dtype, kind)
    quick(lib.tsanom_lbkeogh_envelope_f32 if single else lib.tsanom_lbkeogh_envelope,
          (from_buffer(kind, array), len(array), limit(radius)), (out_lower, out_upper))
    return lower, upper


def _three(c: npt.ArrayLike, envelope_of_other: Envelope) -> Tuple[Any, Any, Any, int]:
    """A series and an envelope of the same length, to pass."""
    series = doubles(c, "c")
    try:
        low, high = envelope_of_other
    except (TypeError, ValueError):
        raise TypeError("envelope is a pair of arrays, as envelope() returns it") from None
    lower, upper = doubles(low, "envelope[0]"), doubles(high, "envelope[1]")
    result = _with(series, lower, upper)
    if not (lower <= upper).all():
        at = int((lower <= upper).argmin())
        raise ValueError(f"envelope[0] and envelope[1] are {lower[at]} and {upper[at]} at {at}; "
                         "no minimum and maximum")
    return result


def _with(series: Array, lower: Array, upper: Array) -> Tuple[Any, Any, Any, int]:
    """A series and its envelope as arrays, to pass."""
    if not len(series) == len(lower) == len(upper):
        raise ValueError(f"c has {len(series)} samples, envelope {len(lower)} and {len(upper)}")
    if not len(series):
        raise from_status(lib.TSANOM_E_COUNT, "c")
    return (from_buffer(DOUBLES, series), from_buffer(DOUBLES, lower), from_buffer(DOUBLES, upper),
            len(series))


def lb_kim(x: npt.ArrayLike, y: npt.ArrayLike, *, cost: str = "absolute") -> float:
    """LB_KimFL: the least cost of the first and the last three samples; for every radius.

    >>> import tsanom
    >>> tsanom.lb_kim([0, 1, 2], [1, 1, 5])
    4.0
    """
    a, b = doubles(x, "x"), doubles(y, "y")
    bound = ffi.new("double *")
    quick(lib.tsanom_lbkeogh_kim, (from_buffer(DOUBLES, a), len(a), from_buffer(DOUBLES, b), len(b),
                                   choice(cost, COSTS, "cost")), (bound,))
    return float(bound[0])


def lb_keogh(c: npt.ArrayLike, envelope: Envelope, *, cost: str = "absolute") -> float:
    """LB_Keogh of a series against the envelope of another one of the same length.

    It bounds `dtw` of the same cost, with the radius of the envelope or a smaller one.

    >>> import tsanom
    >>> tsanom.lb_keogh([5, 1, 1], tsanom.envelope([0, 1, 2], radius=1))
    4.0
    """
    bound = ffi.new("double *")
    quick(lib.tsanom_lbkeogh_bound, (*_three(c, envelope), choice(cost, COSTS, "cost")), (bound,))
    return float(bound[0])


def lb_tail(c: npt.ArrayLike, envelope: Envelope, *, cost: str = "absolute") -> Array:
    """Cumulative tails of LB_Keogh: element i is the part of the bound from sample i on.

    >>> import tsanom
    >>> tsanom.lb_tail([5, 1, 7], tsanom.envelope([0, 1, 2], radius=1))
    array([9., 5., 5., 0.])
    """
    inputs = _three(c, envelope)
    tail, out = empty(inputs[3] + 1, F64, DOUBLES)
    quick(lib.tsanom_lbkeogh_tail, (*inputs, choice(cost, COSTS, "cost")), (out,))
    return tail


def lb_keogh_pair(x: npt.ArrayLike, y: npt.ArrayLike, radius: Optional[int] = None, *,
                  cost: str = "absolute") -> Tuple[float, float]:
    """LB_Keogh of y against the envelope of x, and of x against that of y. The larger is the
    better bound. Infinity if lengths differ by more than the radius: DTW then has no path.

    >>> import tsanom
    >>> tsanom.lb_keogh_pair([0, 1, 2], [5, 1, 1], radius=1)
    (4.0, 2.0)
    """
    a, b = doubles(x, "x"), doubles(y, "y")
    bounds = ffi.new("double[2]")
    setting = shared_options("tsanom_lbkeogh_options", radius=limit(radius),
                             cost=choice(cost, COSTS, "cost"))
    quick(lib.tsanom_lbkeogh_pair, (from_buffer(DOUBLES, a), len(a), from_buffer(DOUBLES, b),
                                    len(b), setting), (bounds,), (INFEASIBLE,))
    return bounds[0], bounds[1]


def _against(function: Any, c: npt.ArrayLike, q: npt.ArrayLike, radius: Optional[int],
             around: Optional[Envelope], cost: str, bands: Optional[int]) -> float:
    """LB_Improved or LB_Enhanced."""
    other = doubles(q, "q")
    if around is None:
        try:
            inputs = _with(doubles(c, "c"), *_envelope(other, radius))
        except TsanomError as error:
            raise error.renamed("x", "q") from None
    else:
        inputs = _three(c, around)
    pointer_c, lower, upper, n = inputs
    if len(other) != n:
        raise ValueError("c and q have different lengths")
    bound = ffi.new("double *")
    setting = shared_options("tsanom_lbkeogh_options", radius=limit(radius), bands=bands,
                             cost=choice(cost, COSTS, "cost"))
    quick(function, (pointer_c, from_buffer(DOUBLES, other), lower, upper, n, setting), (bound,))
    return float(bound[0])


def lb_improved(c: npt.ArrayLike, q: npt.ArrayLike, radius: Optional[int] = None, *,
                envelope: Optional[Envelope] = None, cost: str = "absolute") -> float:
    """LB_Improved of c against q, never below LB_Keogh. `envelope` is that of q for the radius.

    >>> import tsanom
    >>> tsanom.lb_improved([5, 1, 1], [0, 1, 2], radius=1)
    6.0
    """
    return _against(lib.tsanom_lbkeogh_improved, c, q, radius, envelope, cost, None)


def lb_enhanced(c: npt.ArrayLike, q: npt.ArrayLike, radius: Optional[int] = None, *,
                bands: int = 5, envelope: Optional[Envelope] = None,
                cost: str = "absolute") -> float:
    """LB_Enhanced of c against q: the cheapest pairs of `bands` bands at each end, and LB_Keogh
    in between. `envelope` is that of q for the radius.

    >>> import tsanom
    >>> tsanom.lb_enhanced([5, 1, 1], [0, 1, 2], radius=1)
    6.0
    """
    return _against(lib.tsanom_lbkeogh_enhanced, c, q, radius, envelope, cost, bands)


class EnvelopeStream:
    """The envelope of a series that is still growing.

    >>> import tsanom
    >>> stream = tsanom.EnvelopeStream(radius=1)
    >>> stream.push([0.0, 3.0, 1.0])
    (array([0., 0.]), array([3., 3.]))
    >>> stream.finish()
    (array([1.]), array([3.]))
    """

    def __init__(self, radius: int) -> None:
        stream = ffi.new("tsanom_lbkeogh_stream **")
        quick(lib.tsanom_lbkeogh_stream_create, (whole(radius, "radius"),), (stream,))
        self._stream = ffi.gc(stream[0], lib.tsanom_lbkeogh_stream_destroy)
        self._radius = whole(radius, "radius")
        # The latest 2 radius samples or more, on which all further pairs depend.
        self._recent: Deque[Array] = collections.deque()
        self._kept = 0

    def _keep(self, samples: Array) -> None:
        span = 2 * self._radius
        if span and len(samples):
            self._recent.append(samples[-span:].copy())
            self._kept += len(self._recent[-1])
            while self._kept - len(self._recent[0]) >= span:
                self._kept -= len(self._recent.popleft())

    def __getstate__(self) -> Tuple[int, List[Array]]:
        return self._radius, list(self._recent)

    def __setstate__(self, state: Tuple[int, List[Array]]) -> None:
        self.__init__(state[0])  # type: ignore[misc]
        for part in state[1]:
            self.push(part)

    def push(self, x: npt.ArrayLike) -> Tuple[Array, Array]:
        """Take in samples, all or none; return the pairs that came out, lower and upper."""
        array = doubles(x, "x")
        lower, out_lower = empty(len(array), F64, DOUBLES)
        upper, out_upper = empty(len(array), F64, DOUBLES)
        produced, taken = ffi.new("size_t *"), ffi.new("size_t *")
        status = lib.tsanom_lbkeogh_stream_push(self._stream, from_buffer(DOUBLES, array),
                                                len(array), out_lower, out_upper, produced, taken)
        if status == PARTIAL:
            self.__setstate__(self.__getstate__())
            raise from_status(lib.TSANOM_E_NONFINITE, "x", taken[0])
        plain(status)
        self._keep(array)
        return lower[:produced[0]], upper[:produced[0]]

    def finish(self) -> Tuple[Array, Array]:
        """End the series: the pairs of its last samples. The stream is then empty again."""
        lower, out_lower = empty(self._radius, F64, DOUBLES)
        upper, out_upper = empty(self._radius, F64, DOUBLES)
        produced = ffi.new("size_t *")
        status = lib.tsanom_lbkeogh_stream_finish(self._stream, out_lower, out_upper, produced)
        self._recent.clear()
        self._kept = 0
        plain(status)
        return lower[:produced[0]], upper[:produced[0]]


__all__ = ["EnvelopeStream", "envelope", "lb_enhanced", "lb_improved", "lb_keogh", "lb_keogh_pair",
           "lb_kim", "lb_tail"]
