# SPDX-License-Identifier: BSD-3-Clause
"""Results are bitwise those of the C functions, called with nothing in between."""

import numpy as np
import pytest
import tsanom
from tsanom._library import NULL, ffi, lib

RNG = np.random.default_rng(8)
X = RNG.normal(size=(5, 40)).cumsum(axis=1)


def data(array):
    return ffi.cast("double *", array.ctypes.data)


def struct(kind, **fields):
    result = ffi.new(kind + " *")
    result.struct_size = ffi.sizeof(kind)
    if hasattr(lib, kind + "_init"):
        getattr(lib, kind + "_init")(result, ffi.sizeof(kind))
    for name, value in fields.items():
        setattr(result, name, value)
    return result


def series(matrix):
    return struct("tsanom_series", count=len(matrix), data=data(matrix), length=matrix.shape[1])


def ok(status):
    assert status == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_distances(threads):
    options = struct("tsanom_dtw_options", radius=6)
    out = np.empty(10)
    ok(lib.tsanom_dtw_condensed(series(X), options, NULL, data(out), NULL))
    assert np.array_equal(tsanom.dtw_matrix(X, radius=6, condensed=True, threads=threads), out)
    cross = np.empty((2, 5))
    ok(lib.tsanom_dtw_cross(series(X[:2]), series(X), options, NULL, data(cross), 5, NULL))
    assert np.array_equal(tsanom.dtw_matrix(X[:2], X, 6, threads=threads), cross)
    one = ffi.new("double *")
    ok(lib.tsanom_dtw_distance(data(X[0]), 40, data(X[1]), 40, options, NULL, one))
    assert tsanom.dtw(X[0], X[1], 6, threads=threads) == one[0]
    path, length = np.empty((79, 2), np.uintp), ffi.new("size_t *")
    ok(lib.tsanom_dtw_path(data(X[0]), 40, data(X[1]), 40, options, NULL,
                           ffi.cast("size_t *", path.ctypes.data), length, NULL))
    assert np.array_equal(tsanom.dtw_path(X[0], X[1], 6)[0], path[:length[0]])


def test_averages():
    options = struct("tsanom_dtw_options", radius=6, cost=lib.TSANOM_COST_SQUARED)
    average, total = X[1].copy(), ffi.new("double *")
    status = lib.tsanom_dtw_barycenter(series(X), 40, 3, 0.0, options, NULL, data(average), total)
    found = tsanom.dtw_barycenter(X, X[1], 6, iterations=3, tolerance=0.0)
    assert np.array_equal(found.series, average) and found.total == total[0]
    assert found.converged == (status == lib.TSANOM_OK)


def test_fit():
    model = struct("tsanom_polyfit_model")
    options = struct("tsanom_polyfit_options", degree=7)
    ok(lib.tsanom_polyfit_fit(data(X[0]), data(X[1]), NULL, 40, options, NULL, model))
    fit = tsanom.polyfit(X[0], X[1], 7, threads=2)
    assert bytes(ffi.buffer(model)) == bytes(ffi.buffer(fit._model))
    values, slopes = np.empty(40), np.empty(40)
    ok(lib.tsanom_polyfit_evaluate(model, data(X[2]), 40, NULL, data(values), data(slopes)))
    assert np.array_equal(fit(X[2]), values) and np.array_equal(fit.slope(X[2]), slopes)


def test_bounds():
    lower, upper = np.empty(40), np.empty(40)
    ok(lib.tsanom_lbkeogh_envelope(data(X[0]), 40, 3, NULL, data(lower), data(upper)))
    assert np.array_equal(tsanom.envelope(X[0], 3), (lower, upper))
    bound, around = ffi.new("double[2]"), (data(lower), data(upper))
    options = struct("tsanom_lbkeogh_options", radius=3)
    ok(lib.tsanom_lbkeogh_bound(data(X[1]), *around, 40, 0, NULL, bound))
    assert tsanom.lb_keogh(X[1], (lower, upper)) == bound[0]
    ok(lib.tsanom_lbkeogh_improved(data(X[1]), data(X[0]), *around, 40, options, NULL, bound))
    assert tsanom.lb_improved(X[1], X[0], 3) == bound[0]
    ok(lib.tsanom_lbkeogh_enhanced(data(X[1]), data(X[0]), *around, 40, options, NULL, bound))
    assert tsanom.lb_enhanced(X[1], X[0], 3) == bound[0]
    ok(lib.tsanom_lbkeogh_kim(data(X[1]), 40, data(X[0]), 40, 0, NULL, bound))
    assert tsanom.lb_kim(X[1], X[0]) == bound[0]
    ok(lib.tsanom_lbkeogh_pair(data(X[0]), 40, data(X[1]), 40, options, NULL, bound))
    assert tsanom.lb_keogh_pair(X[0], X[1], 3) == tuple(bound)
    tail = np.empty(41)
    ok(lib.tsanom_lbkeogh_tail(data(X[1]), *around, 40, 0, NULL, data(tail)))
    assert np.array_equal(tsanom.lb_tail(X[1], (lower, upper)), tail)


def test_period():
    x = np.tile(X[0], 10)
    found = struct("tsanom_dpd_found")
    ok(lib.tsanom_dpd_find(data(x), len(x), NULL, NULL, found))
    ours = tsanom.period(x, threads=2)
    assert (ours.period, ours.score, ours.dip, ours.probability, ours.lines) == (
        found.period, found.score, found.dip, found.probability, found.lines)


def test_search():
    handle = ffi.new("tsanom_search_index **")
    options = struct("tsanom_search_options", radius=4, z_normalize=1)
    ok(lib.tsanom_search_index_create(series(X), options, NULL, handle))
    indices, distances = np.empty((5, 2), np.uintp), np.empty((5, 2))
    ok(lib.tsanom_search_nearest(handle[0], series(X), 2, NULL,
                                 ffi.cast("size_t *", indices.ctypes.data), data(distances), NULL))
    lib.tsanom_search_index_destroy(handle[0])
    ours = tsanom.Index(X, 4, z_normalize=True).kneighbors(X, 2)
    assert np.array_equal(ours[0], distances) and np.array_equal(ours[1], indices)


def test_order():
    points = RNG.normal(size=(200, 2))
    order, reachability = np.empty(200, np.uintp), np.empty(200)
    view = struct("tsanom_optics_ordering", order=ffi.cast("size_t *", order.ctypes.data),
                  reachability=data(reachability))
    ok(lib.tsanom_optics_order(data(points), 200, 2, 2, NULL, NULL, view))
    ours = tsanom.optics_order(points, threads=2)
    assert np.array_equal(ours.ordering, order)
    assert np.array_equal(ours.reachability[ours.ordering], reachability)


def test_spmd():
    times = RNG.lognormal(size=(12, 6))
    times[8:, 2] *= 3
    view = struct("tsanom_spmd_data", processes=12, regions=6, time=data(times))
    parents = ffi.new("int32_t[]", 6 * [-1])
    view.parent = parents
    classes, order = ffi.new("int32_t[]", 12), ffi.new("size_t[]", 12)
    reachability, regions = np.empty(12), ffi.new("tsanom_spmd_region[]", 6)
    decisions, members = ffi.new("tsanom_spmd_decision[]", 64), ffi.new("size_t[]", 64)
    report = struct("tsanom_spmd_report", class_of=classes, order=order, region=regions,
                    reachability=data(reachability), decision=decisions, decision_capacity=64,
                    member=members, member_capacity=64)
    assert lib.tsanom_spmd_analyze(view, NULL, NULL, report) >= 0
    ours = tsanom.spmd_analyze(times)
    assert list(ours.classes) == list(classes) and list(ours.ordering) == list(order)
    assert np.array_equal(ours.reachability, reachability)
    assert (ours.severity, ours.eps, ours.load_balance, ours.serialization, ours.efficiency) == (
        report.severity, report.eps, report.load_balance, report.serialization, report.efficiency)
    for region, summary in zip(regions, ours.regions):
        assert (summary.min, summary.mean, summary.max, summary.imbalance, summary.ccr) == (
            region.min, region.mean, region.max, region.imbalance, region.ccr != 0)


def test_speedup():
    length = RNG.lognormal(size=60)
    begin = np.cumsum(length) + np.arange(60)
    events = tsanom.region_events(30 * [1, 2], begin, begin + 0.5, threads=60 * [4])
    iterations = np.stack([np.arange(0, 60, 2), np.arange(2, 62, 2)], axis=1).astype(np.uintp)
    loop, end = ffi.new("tsanom_speedup_loop *"), struct("tsanom_speedup_prediction")
    ok(lib.tsanom_speedup_summarize(
        ffi.cast("tsanom_speedup_event *", events.ctypes.data), 60,
        ffi.cast("tsanom_dpd_iteration *", iterations.ctypes.data), 30, NULL, 40, NULL, loop, end))
    ours, predicted = tsanom.speedup_summarize(events, iterations, expected=40)
    assert (ours.total_s, ours.parallel_s, ours.current_s, ours.current_mean_s) == (
        loop.total_s, loop.parallel_s, loop.current_s, loop.current_mean_s)
    assert np.array_equal((predicted.remaining_s, predicted.total_s, predicted.low_s),
                          (end.remaining_s, end.total_s, end.low_s), equal_nan=True)
