# SPDX-License-Identifier: BSD-3-Clause
"""Polynomial regression in Chebyshev polynomials."""

from __future__ import annotations

import warnings
from typing import Any, Dict, Optional, TYPE_CHECKING, Tuple

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from ._arrays import DOUBLES, F64, PLAIN, Array, doubles, from_buffer, ndarray, new, numbers
from ._call import INFEASIBLE, Progress, call, call_sized, choice, flag, options, quick, shared
from ._library import NULL, ffi, lib
from ._state import restore, saved

if TYPE_CHECKING:
    import numpy.typing as npt

# In numpy.exceptions since version 2.
RankWarning: Any = getattr(getattr(np, "exceptions", np), "RankWarning", None) or np.RankWarning

SELECTION: Dict[Optional[str], int] = {
    None: lib.TSANOM_POLYFIT_FIXED, "r2": lib.TSANOM_POLYFIT_R2,
    "aicc": lib.TSANOM_POLYFIT_AICC, "bic": lib.TSANOM_POLYFIT_BIC}


# Statuses of a fit, which `_fitted` reports.
PARTS = (INFEASIBLE, lib.TSANOM_RANK_DEFICIENT)
_MODEL = ffi.typeof("tsanom_polyfit_model *")
_EMPTY = options("tsanom_polyfit_model")
_fit = lib.tsanom_polyfit_fit
_evaluate = lib.tsanom_polyfit_evaluate
_push = lib.tsanom_polyfit_stream_push
_stream_fit = lib.tsanom_polyfit_stream_fit


def _model(content: Optional[bytes] = None) -> Any:
    if content is None:
        return new(_MODEL, _EMPTY[0])
    result = new(_MODEL)
    ffi.buffer(result)[:] = content
    return result


def _restore(content: bytes, status: int) -> "Fit":
    """For pickle: a model is plain data."""
    return Fit(_model(content), status)


class Fit:
    """A fitted polynomial p(x) = sum c_k T_k(t), where t maps `domain` to [-1, 1].

    Calling it evaluates it. `polyfit` and `FitStream.fit` create it.

    Attributes
    ----------
    coef : ndarray
        The coefficients c_k, in units of y.
    coef_sd : ndarray
        Their standard errors.
    domain : ndarray of 2
        The range of the samples: that of `numpy.polynomial.Chebyshev`.
    degree, rank, samples : int
    reached : bool
        False: no degree reached the threshold of R^2.
    rss, tss, r2, adjusted_r2, residual_sd, condition, aicc, bic : float
        Statistics; see the C struct tsanom_polyfit_model.
    degree_rss : ndarray
        Residual sum of squares of the best polynomial of each degree that was tried.
    """

    __slots__ = ("_model", "_status")

    rss: float
    tss: float
    r2: float
    adjusted_r2: float
    residual_sd: float
    condition: float
    aicc: float
    bic: float
    degree: int
    rank: int
    samples: int

    def __init__(self, model: Any, status: int) -> None:
        self._model = model
        self._status = status

    def __getattr__(self, name: str) -> Any:
        if name in Fit.__annotations__:
            return getattr(self._model, name)
        raise AttributeError(f"'Fit' object has no attribute '{name}'")

    def __reduce__(self) -> Tuple[Any, ...]:
        return _restore, (bytes(ffi.buffer(self._model)), self._status)

    def __repr__(self) -> str:
        return f"Fit(degree={self.degree}, r2={self.r2:g}, samples={self.samples})"

    def _terms(self, field: Any, degree: int) -> Array:
        return np.array(ffi.unpack(field, degree + 1))

    @property
    def coef(self) -> Array:
        return self._terms(self._model.high, self.degree)

    @property
    def coef_sd(self) -> Array:
        return self._terms(self._model.sd, self.degree)

    @property
    def degree_rss(self) -> Array:
        return self._terms(self._model.degree_rss, self._model.highest)

    @property
    def domain(self) -> Array:
        model = self._model
        return np.array([(model.center - 1 / model.scale) / model.unit,
                         (model.center + 1 / model.scale) / model.unit])

    @property
    def reached(self) -> bool:
        return bool(self._status != lib.TSANOM_INFEASIBLE)

    def chebyshev(self) -> Chebyshev:
        """The same polynomial as an object of NumPy."""
        return Chebyshev(self.coef, self.domain)

    def polynomial(self) -> Polynomial:
        """The polynomial in powers of x, converted in double-double arithmetic."""
        return Polynomial(self._terms(self._model.monomial, self.degree))

    def __call__(self, x: npt.ArrayLike, threads: int = 1) -> Array:
        """Values p(x), of the shape of x."""
        return self._evaluate(x, False, threads)

    def slope(self, x: npt.ArrayLike, threads: int = 1) -> Array:
        """First derivative dp/dx, of the shape of x."""
        return self._evaluate(x, True, threads)

    def _evaluate(self, x: Any, slope: bool, threads: int) -> Array:
        is_plain = type(x) is ndarray and x.dtype is F64 and x.flags.num & PLAIN == PLAIN
        array = x if is_plain else numbers(x, "x").astype(F64, "C")
        result: Array = np.empty(array.shape, F64)
        if array.size:
            out = from_buffer(DOUBLES, result, True)
            call_sized(array.size, _evaluate,
                       (self._model, from_buffer(DOUBLES, array), array.size),
                       (NULL, out) if slope else (out, NULL), threads)
        return result[()]


@shared
def _options(deg: int, select: Optional[str], r2: Optional[float], tolerance: Optional[float],
             refine: bool, coefficients_only: bool = False) -> Any:
    """The options of a call, which calls share."""
    return options("tsanom_polyfit_options", degree=deg,
                   selection=choice(select, SELECTION, "select"),  # type: ignore[arg-type]
                   r2=r2, tolerance=tolerance, refine=flag(refine, "refine"),
                   coefficients_only=flag(coefficients_only, "coefficients_only"))


def _samples(x: npt.ArrayLike, y: npt.ArrayLike,
             weights: Optional[npt.ArrayLike]) -> Tuple[Any, Any, Any, int]:
    """The samples as arguments, and their number."""
    a, b = doubles(x, "x"), doubles(y, "y")
    w = None if weights is None else doubles(weights, "weights")
    n = len(a)
    if len(b) != n or w is not None and len(w) != n:
        raise ValueError(f"x, y and weights have different lengths: {n}, {len(b)}"
                         + ("" if w is None else f", {len(w)}"))
    return (from_buffer(DOUBLES, a), from_buffer(DOUBLES, b),
            NULL if w is None else from_buffer(DOUBLES, w), n)


def _fitted(model: Any, status: int) -> Fit:
    """The result; `Fit.reached` is False where no degree reached the threshold."""
    if status == lib.TSANOM_RANK_DEFICIENT:
        warnings.warn(f"the samples determine only degree {model.degree}", RankWarning,
                      stacklevel=3)
    return Fit(model, status)


def polyfit(x: npt.ArrayLike, y: npt.ArrayLike, deg: int = 1, *,
            weights: Optional[npt.ArrayLike] = None, select: Optional[str] = None,
            r2: Optional[float] = None, tolerance: Optional[float] = None, refine: bool = True,
            coefficients_only: bool = False, threads: int = 1, progress: Progress = None) -> Fit:
    """Least-squares fit of a polynomial.

    Parameters
    ----------
    x, y : array_like
        Samples.
    deg : int
        The degree, 0 to 63, or the highest degree to try if one is selected.
    weights : array_like, optional
        Positive weights of the squared residuals, inverse to the variances of y. The ``w`` of
        `numpy.polyfit` and `numpy.polynomial.Chebyshev.fit` multiplies the residuals before they
        are squared: ``weights = w**2``.
    select : {None, "r2", "aicc", "bic"}
        How to choose the degree; "r2": the lowest with R^2 above `r2`.
    r2 : float
        Threshold, 0.9 by default; only for ``select="r2"``.
    tolerance : float
        Part of a basis function that must be independent of lower ones; 2^-40 by default.
    refine : bool
        Refine the coefficients to the last digit; False is faster.
    coefficients_only : bool
        True: `coef`, values and slopes only, which is faster still; statistics, `coef_sd`,
        `polynomial()` and `degree_rss` are NaN.

    Returns
    -------
    Fit
        With NumPy's RankWarning if the samples determine only a lower degree than `deg`: they
        have too few distinct x, or nearly so.

    Examples
    --------
    >>> import numpy as np, tsanom
    >>> x = np.linspace(0, 4, 9)
    >>> fit = tsanom.polyfit(x, 1 + x**2, 2)
    >>> fit(3.0), fit.slope(3.0), fit.domain
    (10.0, 6.0, array([0., 4.]))
    >>> bool(np.isclose(fit.chebyshev()(3.0), 10))
    True
    """
    model = _model()
    inputs = _samples(x, y, weights)
    setting = _options(deg, select, r2, tolerance, refine, coefficients_only)
    status = call_sized(inputs[3] * (deg + 1), _fit, (*inputs, setting), (model,), threads,
                        progress, PARTS)
    return _fitted(model, status)


class FitStream:
    """Fit of samples that arrive in pieces, in memory that does not depend on their number.
    Workers can return streams, since they can be pickled; `merge` adds them.

    >>> import tsanom
    >>> stream = tsanom.FitStream(deg=1)
    >>> stream.push([0, 1], [1, 3])
    >>> stream.push([2], [5])
    >>> stream.fit()(10)
    21.0
    """

    def __init__(self, deg: int = 1, *, tolerance: Optional[float] = None,
                 refine: bool = True) -> None:
        self._arguments = (deg, tolerance, refine)
        setting = _options(deg, None, None, tolerance, refine)
        stream = ffi.new("tsanom_polyfit_stream **")
        call(lib.tsanom_polyfit_stream_create, (setting,), (stream,))
        self._stream = ffi.gc(stream[0], lib.tsanom_polyfit_stream_destroy)

    def __getstate__(self) -> Tuple[Any, ...]:
        return self._arguments, saved(self._stream)

    def __setstate__(self, state: Tuple[Any, ...]) -> None:
        (deg, tolerance, refine), content = state
        FitStream.__init__(self, deg, tolerance=tolerance, refine=refine)
        restore(self._stream, content)

    def push(self, x: npt.ArrayLike, y: npt.ArrayLike,
             weights: Optional[npt.ArrayLike] = None) -> None:
        """Add samples, all of them or, after an error, none."""
        inputs = _samples(x, y, weights)
        call_sized(inputs[3] * (self._arguments[0] + 1), _push, (self._stream, *inputs), ())

    def merge(self, other: "FitStream") -> None:
        """Add all samples of another stream of the same degree."""
        if not isinstance(other, FitStream):
            raise TypeError(f"other is a {type(other).__name__}; a FitStream is expected")
        call(lib.tsanom_polyfit_stream_merge, (self._stream, other._stream), ())

    def fit(self, deg: Optional[int] = None, *, select: Optional[str] = None,
            r2: Optional[float] = None) -> Fit:
        """Fit all samples so far; the degree is at most that of the stream. RankWarning, if the
        samples are distributed so unevenly that their sums lose digits (docs/polyfit.md)."""
        most, tolerance, refine = self._arguments
        setting = _options(most if deg is None else deg, select, r2, tolerance, refine)
        model = _model()
        result = _fitted(model, quick(_stream_fit, (self._stream, setting), (model,), PARTS))
        if model.method == lib.TSANOM_POLYFIT_GRAM and result.condition > 1e8:
            warnings.warn(f"condition number {result.condition:.1g}: relative errors of "
                          f"coefficients are about {1e-32 * result.condition**2:.0e}; polyfit of "
                          "all samples is exact", RankWarning, stacklevel=2)
        return result


__all__ = ["Fit", "FitStream", "polyfit"]
