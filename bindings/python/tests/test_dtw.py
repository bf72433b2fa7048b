# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic time warping against the definition."""

import math
import pickle

import naive
import numpy as np
import pytest
import scipy.spatial.distance
import tsanom
from tsanom._arrays import Series, doubles, samples

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("cost", ["absolute", "squared"])
@pytest.mark.parametrize("radius", [None, 0, 1, 3, 20])
def test_distance_equals_the_definition_bitwise(cost, radius):
    for n, m in [(1, 1), (1, 5), (8, 8), (13, 11), (20, 20)]:
        x, y = RNG.normal(size=n), RNG.normal(size=m)
        assert tsanom.dtw(x, y, radius, cost=cost) == naive.dtw(x, y, radius, cost)


def test_penalty_root_and_vectors():
    x, y = RNG.normal(size=(9, 3)), RNG.normal(size=(7, 3))
    expected = naive.dtw(x, y, 4, "squared", 0.25)
    assert tsanom.dtw(x, y, 4, cost="squared", penalty=0.25) == pytest.approx(expected, rel=1e-14)
    assert tsanom.dtw(x, y, 4, cost="squared", penalty=0.25, root=True) == pytest.approx(
        math.sqrt(expected), rel=1e-14)
    assert tsanom.dtw(x[:, 0].copy(), y[:, 0].copy(), cost="squared", root=True) == math.sqrt(
        naive.dtw(x[:, 0], y[:, 0], None, "squared"))
    with pytest.raises(ValueError, match="squared"):
        tsanom.dtw(x, y, root=True)


def test_float32_is_computed_in_float32():
    x, y = RNG.normal(size=30).astype(np.float32), RNG.normal(size=30).astype(np.float32)
    expected = np.float32(0)
    table = np.full((31, 31), np.inf, np.float32)
    table[0, 0] = 0
    for i in range(30):
        for j in range(30):
            table[i + 1, j + 1] = abs(x[i] - y[j]) + min(table[i, j], table[i, j + 1],
                                                         table[i + 1, j])
    expected = table[-1, -1]
    assert tsanom.dtw(x, y) == float(expected)
    assert tsanom.dtw_matrix(np.stack([x, y]), condensed=True).dtype == np.float32
    assert tsanom.dtw_path(x, y)[1] == float(expected)


def test_views_and_lists_are_accepted():
    x, y = RNG.normal(size=20), RNG.normal(size=20)
    expected = tsanom.dtw(x[::2].copy(), y[::2].copy())
    assert tsanom.dtw(x[::2], y[::2]) == tsanom.dtw(list(x[::2]), list(y[::2])) == expected
    x.setflags(write=False)
    assert tsanom.dtw(x, y) == naive.dtw(x, y)
    assert tsanom.dtw([0, 3], [1, 1]) == 3.0


def test_long_series_and_threads_give_the_same():
    x, y = RNG.normal(size=1500), RNG.normal(size=1400)
    assert tsanom.dtw(x, y) == tsanom.dtw(x, y, threads=2) == tsanom.dtw(x, y, threads=-1)
    assert tsanom.dtw(x, y) == tsanom.dtw_path(x, y)[1]


def test_no_path_and_cutoff_are_infinite():
    x, y = np.zeros(8), np.ones(3)
    assert tsanom.dtw(x, y, radius=2) == math.inf
    assert tsanom.dtw(np.zeros(8), np.ones(8), cutoff=7.5) == math.inf
    assert tsanom.dtw(np.zeros(8), np.ones(8), cutoff=8.0) == 8.0
    path, distance = tsanom.dtw_path(x, y, radius=2)
    assert path.shape == (0, 2) and distance == math.inf


def test_open_ends_find_a_part():
    x = np.array([1.0, 2.0, 3.0])
    y = np.concatenate([np.full(4, 9.0), x, np.full(5, 9.0)])
    assert tsanom.dtw(x, y, open_begin=(0, None), open_end=(0, None)) == 0.0
    path, _ = tsanom.dtw_path(x, y, open_begin=(0, None), open_end=(0, None))
    assert path[:, 1].tolist() == [4, 5, 6]


def test_path_attains_the_distance():
    for memory in ("full", "linear"):
        x, y = RNG.normal(size=40), RNG.normal(size=35)
        path, distance = tsanom.dtw_path(x, y, 8, memory=memory)
        assert path.dtype == np.intp and path[0].tolist() == [0, 0]
        assert path[-1].tolist() == [39, 34] and np.all(np.diff(path, axis=0) <= 1)
        assert np.abs(x[path[:, 0]] - y[path[:, 1]]).sum() == pytest.approx(distance, rel=1e-14)


def test_matrix_has_the_order_of_pdist():
    X = RNG.normal(size=(7, 12))
    condensed = tsanom.dtw_matrix(X, radius=3, condensed=True)
    expected = scipy.spatial.distance.pdist(X, lambda a, b: naive.dtw(a, b, 3))
    assert np.array_equal(condensed, expected)
    square = tsanom.dtw_matrix(X, radius=3)
    assert np.array_equal(square, scipy.spatial.distance.squareform(condensed))
    assert np.array_equal(tsanom.dtw_matrix(X, X[2:5], radius=3)[:2], square[:2, 2:5])
    roots = tsanom.dtw_matrix(X, cost="squared", root=True)
    assert np.array_equal(roots, np.sqrt(tsanom.dtw_matrix(X, cost="squared")))
    assert tsanom.dtw_matrix(X[:1]).tolist() == [[0.0]]


def test_sets_of_different_lengths_and_vectors():
    parts = [RNG.normal(size=n) for n in (5, 9, 7, 9)]
    matrix = tsanom.dtw_matrix(parts)
    assert matrix[1, 2] == naive.dtw(parts[1], parts[2])
    cube = RNG.normal(size=(4, 6, 2))
    assert tsanom.dtw_matrix(cube)[0, 3] == pytest.approx(naive.dtw(cube[0], cube[3]), rel=1e-14)
    assert np.array_equal(tsanom.dtw_matrix(cube), tsanom.dtw_matrix(list(cube)))


def test_contiguous_arrays_are_not_copied():
    for dtype in (np.float64, np.float32):
        X = RNG.normal(size=(6, 32)).astype(dtype)
        for view in (X, X[:, :20], X[2:, 4:], X[::2]):
            series = Series(view, "X")
            assert _address(series.view.data) == view.ctypes.data
            assert (series.view.ld or series.view.length) * X.itemsize == view.strides[0]
            assert np.array_equal(tsanom.dtw_matrix(view), tsanom.dtw_matrix(view.copy()))
    parts = [RNG.normal(size=5), RNG.normal(size=6)]
    series = Series(parts, "X")
    assert _address(series.view.pointers[1]) == parts[1].ctypes.data


def test_contiguous_arrays_of_one_dimension_are_not_copied():
    x = RNG.normal(size=9)
    assert np.shares_memory(samples(x, "x"), x) and np.shares_memory(doubles(x, "x"), x)
    single = x.astype(np.float32)
    assert np.shares_memory(samples(single, "x"), single)


def _address(pointer):
    from tsanom._library import ffi
    return int(ffi.cast("uintptr_t", pointer))


def test_medoid_and_barycenter():
    X = RNG.normal(size=(6, 15))
    square = tsanom.dtw_matrix(X, radius=4)
    index, total = tsanom.dtw_medoid(X, 4)
    assert index == square.sum(axis=1).argmin()
    assert total == pytest.approx(square[index].sum())
    found = tsanom.dtw_barycenter(X, radius=4)
    first = tsanom.dtw_matrix(X, X[tsanom.dtw_medoid(X, 4, cost="squared")[0]][None], radius=4,
                              cost="squared").sum()
    assert found.series.shape == (15,) and found.total <= first
    again = tsanom.dtw_matrix(X, found.series[None], radius=4, cost="squared").sum()
    assert again == pytest.approx(found.total)
    start = X[0].copy()
    tsanom.dtw_barycenter(X, start, 4)
    assert np.array_equal(start, X[0])
    with pytest.raises(ValueError, match="window"):
        tsanom.dtw_medoid([np.zeros(3), np.zeros(9)], radius=1)


def test_errors_name_argument_and_index():
    x = np.ones(5)
    bad = np.array([1.0, 2.0, np.inf, 4.0])
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.dtw(x, bad)
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.name, error.argument, error.index) == ("TSANOM_E_NONFINITE", "y", 2)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.status, copy.index, str(copy)) == (error.status, error.index, str(error))
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.dtw_matrix([[1.0, 2.0], [3.0, np.nan]])
    assert caught.value.index == (1, 1)
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.dtw(x, x, penalty=-1.0)
    assert caught.value.argument == "penalty"
    with pytest.raises(tsanom.TsanomError):
        tsanom.dtw([], [])


@pytest.mark.parametrize("arguments", [
    {"radius": -1}, {"cost": "cubic"}, {"window": 3}, {"threads": 0}, {"threads": -2},
    {"open_begin": (-1, 0)}])
def test_wrong_options_are_value_errors(arguments):
    with pytest.raises(ValueError):
        tsanom.dtw(np.ones(300), np.ones(300), **arguments)


def test_wrong_shapes_are_value_errors():
    for call in (lambda: tsanom.dtw(np.ones((2, 2, 2)), np.ones(3)),
                 lambda: tsanom.dtw(np.ones((4, 2)), np.ones((4, 3))),
                 lambda: tsanom.dtw_matrix(np.ones(4)),
                 lambda: tsanom.dtw_matrix(np.ones((3, 4)), np.ones((3, 4)), condensed=True),
                 lambda: tsanom.dtw_matrix([np.ones(3), np.ones((4, 2))]),
                 lambda: tsanom.dtw_barycenter(np.ones((3, 4)), np.ones((4, 2)))):
        with pytest.raises(ValueError):
            call()
