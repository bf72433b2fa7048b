# SPDX-License-Identifier: BSD-3-Clause
"""Polynomial fits against NumPy."""

import pickle
import warnings

import numpy as np
import pytest
import tsanom
from numpy.polynomial import Chebyshev
from tsanom._polyfit import RankWarning

RNG = np.random.default_rng(2)
X = np.sort(RNG.uniform(3, 11, 200))
Y = np.sin(X) + RNG.normal(0, 0.1, X.size)


@pytest.mark.parametrize("degree", [0, 1, 5, 12])
def test_fit_is_that_of_numpy(degree):
    fit = tsanom.polyfit(X, Y, degree)
    expected = Chebyshev.fit(X, Y, degree)
    assert np.allclose(fit.coef, expected.coef, rtol=1e-9, atol=1e-11)
    assert np.allclose(fit.domain, expected.domain, rtol=1e-15)
    assert np.allclose(fit(X), expected(X), atol=1e-12)
    assert np.allclose(fit.chebyshev()(X), fit(X), atol=1e-12)
    assert np.allclose(fit.slope(X), expected.deriv()(X), atol=1e-9)
    assert np.allclose(fit.polynomial()(X), fit(X), atol=1e-4)
    assert fit.rss == pytest.approx(((Y - expected(X)) ** 2).sum())
    assert fit.degree == degree and fit.samples == X.size


def test_weights_are_the_squares_of_numpys():
    w = RNG.uniform(0.5, 2, X.size)
    fit = tsanom.polyfit(X, Y, 4, weights=w ** 2)
    assert np.allclose(fit.coef, Chebyshev.fit(X, Y, 4, w=w).coef, rtol=1e-10, atol=1e-12)


def test_coefficients_only_are_those_of_the_whole_model():
    fit = tsanom.polyfit(X, Y, 4, refine=False)
    only = tsanom.polyfit(X, Y, 4, refine=False, coefficients_only=True)
    assert only.coef.tobytes() == fit.coef.tobytes()
    assert only(X).tobytes() == fit(X).tobytes() and only.condition == fit.condition
    assert np.isnan([only.rss, only.r2, only.bic, *only.coef_sd, *only.degree_rss]).all()


def test_evaluation_keeps_the_shape():
    fit = tsanom.polyfit([0, 1], [1, 3])
    assert fit(2.0) == 5.0 and np.ndim(fit(2.0)) == 0
    assert fit([[2.0, 3.0]]).tolist() == [[5.0, 7.0]] and fit([]).shape == (0,)


def test_selection_of_the_degree():
    y = 1 + 2 * X - 0.5 * X ** 3
    assert tsanom.polyfit(X, y, 9, select="r2", r2=0.999999).degree == 3
    assert tsanom.polyfit(X, y + RNG.normal(0, 1e-3, X.size), 9, select="bic").degree == 3
    fit = tsanom.polyfit(X, RNG.normal(size=X.size), 3, select="r2")
    assert not fit.reached and tsanom.polyfit(X, y, 3).reached
    assert len(fit.degree_rss) == 4 and np.all(np.diff(fit.degree_rss) <= 1e-9)


def test_stream_and_merge_give_the_fit():
    fit = tsanom.polyfit(X, Y, 5)
    a, b = tsanom.FitStream(5), tsanom.FitStream(5)
    a.push(X[:60], Y[:60])
    b.push(X[60:], Y[60:])
    a.merge(b)
    assert np.allclose(a.fit().coef, fit.coef, rtol=1e-12, atol=1e-14)
    assert a.fit(2).degree == 2


def test_a_stream_reports_digits_that_its_sums_lose():
    x = np.array([1.0, 2, 3, 5, 9, 17, 33, 65, 129, 1e6])
    y = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3])
    few, many = tsanom.FitStream(4), tsanom.FitStream(4)
    few.push(x, y)
    many.push(np.tile(x, 300), np.tile(y, 300))
    expected = tsanom.polyfit(x, y, 4).polynomial().coef
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(few.fit().polynomial().coef, expected)
        many.fit(1)
    with pytest.warns(RankWarning, match="errors of coefficients are about .e-07"):
        found = many.fit().polynomial().coef
    assert 1e-9 < np.max(np.abs(found / expected - 1)) < 1e-6


def test_a_pickled_stream_goes_on():
    stream, expected = tsanom.FitStream(5), tsanom.FitStream(5)
    for part in (stream, expected):
        part.push(X[:90], Y[:90])
    copies = [pickle.loads(pickle.dumps(stream)) for _ in range(5)]
    expected.push(X[90:], Y[90:])
    del stream
    for copy in copies:
        copy.push(X[90:], Y[90:])
        assert np.array_equal(copy.fit().coef, expected.fit().coef)
    arguments, state = copies[0].__getstate__()
    with pytest.raises(tsanom.TsanomError):
        copies[1].__setstate__((arguments, state[:-1]))
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.FitStream(64)
    assert caught.value.argument == "deg"


def test_pickle_keeps_every_bit():
    fit = tsanom.polyfit(X, Y, 5)
    copy = pickle.loads(pickle.dumps(fit))
    assert np.array_equal(copy.coef, fit.coef) and np.array_equal(copy(X), fit(X))
    assert copy.bic == fit.bic and np.array_equal(copy.coef_sd, fit.coef_sd)


def test_errors():
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.polyfit(X, Y, 64)
    assert caught.value.argument == "deg"
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.polyfit([0.0, 1.0], [0.0, np.nan])
    assert (caught.value.argument, caught.value.index) == ("y", 1)
    with pytest.raises(ValueError, match="lengths"):
        tsanom.polyfit(X, Y[:-1])
    with pytest.raises(ValueError, match="select"):
        tsanom.polyfit(X, Y, 3, select="aic")
    with pytest.raises(AttributeError):
        tsanom.polyfit(X, Y).nothing
