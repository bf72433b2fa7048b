# SPDX-License-Identifier: BSD-3-Clause
"""No positive status of C is lost: each is a warning, an attribute, an exception, or a result
that says so. And options: what is accepted does not depend on earlier calls."""

import ast
import math
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import tsanom
from tsanom._polyfit import RankWarning

X, Y = np.array([0.0, 1, 2, 3, 4]), np.array([0.0, 5, 5])
RNG = np.random.default_rng(8)


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def nest(count):
    """Events of loops of that many periods."""
    return np.concatenate([np.tile(np.arange(k + 2) + 100 * k, 9) for k in range(count)])


def learn(count):
    return tsanom.Model.learn([[np.arange(1.0, 40)] for _ in range(count)], rule="causes")


def analyzer(capacity):
    made = tsanom.SpeedupAnalyzer(capacity=capacity)
    regions = nest(5)
    begin = np.arange(float(len(regions)))
    made.push(tsanom.region_events(regions, begin, begin + 0.5))
    return made


WARNINGS = {
    "reducts": lambda: tsanom.reducts(np.eye(4, dtype=int), [0, 1, 2, 3], limit=1),
    "minimum_reducts": lambda: tsanom.minimum_reducts(
        [[0, 0, 0], [1, 1, 1]], [0, 1], limit=1),
    "loops": lambda: tsanom.loops(nest(5), capacity=2),
    "SpeedupAnalyzer": lambda: analyzer(2).loops(),
    "Model.learn": lambda: learn(2),
    "spmd_analyze": lambda: tsanom.spmd_analyze(RNG.uniform(1, 9, (40, 90))),
}
SILENT = {
    "reducts": lambda: tsanom.reducts(np.eye(4, dtype=int), [0, 1, 2, 3], limit=4),
    "minimum_reducts": lambda: tsanom.minimum_reducts([[0, 0, 0], [1, 1, 1]], [0, 1], limit=3),
    "loops": lambda: tsanom.loops(nest(5), capacity=5),
    "SpeedupAnalyzer": lambda: analyzer(5).loops(),
    "Model.learn": lambda: learn(5),
    "polyfit": lambda: tsanom.polyfit(X, X, 3),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_a_limit_is_a_warning(name):
    with pytest.warns(tsanom.TsanomWarning) as caught:
        WARNINGS[name]()
    assert Path(caught[0].filename).name == "test_statuses.py"


@pytest.mark.parametrize("name", SILENT)
def test_a_limit_that_is_not_reached_is_none(name):
    SILENT[name]()


def test_a_lower_rank_is_the_warning_of_numpy():
    for call in (lambda: tsanom.polyfit([0.0, 0, 1, 1], [1.0, 2, 3, 4], 3),
                 lambda: stream.fit()):
        stream = tsanom.FitStream(3)
        stream.push([0.0, 0, 1, 1], [1.0, 2, 3, 4])
        with pytest.warns(RankWarning, match="only degree 1") as caught:
            assert call().degree == 1
        assert Path(caught[0].filename).name == "test_statuses.py"


def test_results_that_say_so():
    assert tsanom.dtw(X, Y, 1) == math.inf and tsanom.dtw(X, Y, cutoff=1.0) == math.inf
    assert tsanom.dtw(np.tile(X, 200), np.tile(Y, 10), 1) == math.inf
    path, distance = tsanom.dtw_path(X, Y, 1)
    assert path.shape == (0, 2) and distance == math.inf
    assert np.isinf(tsanom.dtw_matrix([X, Y], radius=1, condensed=True)).all()
    assert tsanom.lb_keogh_pair(X, Y, 1) == (math.inf, math.inf)
    for call in (tsanom.dtw_medoid, tsanom.dtw_barycenter):
        with pytest.raises(ValueError, match="no path"):
            call([X, Y], radius=1)
    assert not tsanom.dtw_barycenter(RNG.normal(size=(9, 30)), iterations=1).converged
    assert not tsanom.polyfit(X, RNG.normal(size=5), 1, select="r2", r2=0.999999).reached
    detector = tsanom.PeriodDetector(events=True)
    assert len(detector.predict(4)) == 0 and tsanom.main_loop([1, 2, 3]) is None
    assert tsanom.speedup(tsanom.region_events([1], [0.0], [1.0])).prediction is None


def test_results_that_need_more_memory_than_expected():
    assert len(tsanom.inconsistent_pairs(np.zeros((9, 1), int), range(9))) == 36
    blobs = np.concatenate([RNG.normal(10 * k, 0.1, (6, 2)) for k in range(30)])
    assert len(tsanom.optics_order(blobs, 4).xi(0.05, 4)[1]) > 8
    wide = np.eye(60, dtype=int)
    assert len(tsanom.reducts(wide[:, :20], np.arange(60) % 2)) > 0
    codes, cuts = tsanom.discretize([1.0, 2, 3, 4], 10**6, "width")
    assert len(cuts) == 10**6 - 1 and codes[-1] == 10**6 - 1


def test_no_call_of_c_drops_its_status():
    """Functions without a status: they free, initialize, or return a text."""
    package = Path(tsanom.__file__).parent
    dropped = []
    for file in package.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                name = ast.unparse(node.value.func)
                if (".tsanom_" in name or name.startswith(("_nest_", "_push", "_evaluate"))) and (
                        not name.endswith("_init")):
                    dropped.append(name)
    assert dropped == []


def test_options_do_not_depend_on_earlier_calls():
    x = np.arange(9.0)
    cases = [("radius", lambda v: tsanom.dtw(x, x[::-1].copy(), v)),
             ("radius", lambda v: tsanom.Index([x], v)),
             ("open_begin", lambda v: tsanom.dtw(x, x, open_begin=(v, 0))),
             ("open_end", lambda v: tsanom.dtw(x, x, open_end=(0, v))),
             ("deg", lambda v: tsanom.polyfit(x, x, v)),
             ("min_samples", lambda v: tsanom.optics_order(x[:, None], v)),
             ("n_neighbors", lambda v: tsanom.search_stream(x[:3], x, n_neighbors=v)),
             ("exclusion", lambda v: tsanom.search_stream(x[:3], x, exclusion=v)),
             ("limit", lambda v: tsanom.minimum_reducts([[0], [1]], [0, 1], limit=v)),
             ("max_size", lambda v: tsanom.reducts([[0], [1]], [0, 1], max_size=v)),
             ("max_period", lambda v: tsanom.loops([1, 2] * 9, max_period=v)),
             ("anchor", lambda v: tsanom.main_loop([1, 2] * 9, anchor=v)),
             ("bands", lambda v: tsanom.lb_enhanced(x, x, 2, bands=v)),
             ("threads", lambda v: tsanom.dtw(x, x, threads=v)),
             ("threads", lambda v: tsanom.dtw_matrix([x], threads=v)),
             ("threads", lambda v: tsanom.period(x, threads=v))]
    for value in (1, 2):
        for name, call in cases:
            for right in (value, np.int8(value), np.array(value)):
                call(right)
            for wrong in (float(value), np.float64(value), str(value), [value], 0.5):
                with pytest.raises(TypeError, match=name):
                    call(wrong)
    for name, call in cases:
        with pytest.raises(ValueError, match=name):
            call(-2)
    with pytest.raises(ValueError, match="threads"):
        tsanom.dtw(x, x, threads=0)
    for ends in ((1,), (1, 0, 0), 1, "ab", np.zeros((2, 2), int)):
        with pytest.raises((TypeError, ValueError), match="open_begin"):
            tsanom.dtw(x, x, open_begin=ends)
    assert tsanom.dtw(x, x, open_begin=[1, None]) == tsanom.dtw(x, x, open_begin=np.array([1, 9]))
    for name, call in (("cutoff", lambda v: tsanom.dtw(x, x, cutoff=v)),
                       ("max_eps", lambda v: tsanom.optics_order([[0.0]], 1, max_eps=v)),
                       ("start", lambda v: tsanom.Model.learn([[x], [x]], start=v)),
                       ("elapsed", lambda v: tsanom.spmd_analyze([[1.0]], elapsed=v))):
        for wrong in ("1", None if name in ("start", "elapsed") else [1], 1j):
            with pytest.raises(TypeError, match=name):
                call(wrong)
    for name, call in (("z_normalize", lambda v: tsanom.Index([x], z_normalize=v)),
                       ("root", lambda v: tsanom.dtw(x, x, cost="squared", root=v)),
                       ("refine", lambda v: tsanom.polyfit(x, x, refine=v))):
        assert call(np.bool_(True)) is not None
        with pytest.raises(TypeError, match=name):
            call("yes")


def test_errors_name_the_argument_and_say_what_is_expected():
    x = RNG.normal(size=(4, 6))
    index = tsanom.Index(x, 1)
    for call, text in (
            (lambda: index.kneighbors(x[:1], 5), "n_neighbors is 5; .* the index has 4"),
            (lambda: index.kneighbors(x[:1, :3], 1), "Q: length is 3; the index has series of 6"),
            (lambda: tsanom.Index([x[0], x[1, :3]]), r"X\[1\]: length is 3; the first series"),
            (lambda: tsanom.polyfit([1.0, 2], [1.0, 2], weights=[0.0, 1]), "a positive weight"),
            (lambda: order([[0.0, 1], [2, 0]]), "symmetric"),
            (lambda: order([[0.0, -1], [-1, 0]]), "at least 0"),
            (lambda: order([[1.0, 1], [1, 0]]), "diagonal of 0"),
            (lambda: tsanom.lb_keogh(x[0], (x[0] + 1, x[0])), "no minimum"),
            (lambda: tsanom.optics_order(x, 5), "points"),
            (lambda: tsanom.optics_order([[0.0]], 1, search="all"), "search"),
            (lambda: tsanom.optics_order([[0.0]], 1, metric="precomputed", search="all"), "search"),
            (lambda: tsanom.Index(x, copy=False, z_normalize=True), "copy=False is not possible"),
            (lambda: tsanom.lb_keogh([], ([], [])), "^c: "),
            (lambda: tsanom.polyfit([1.0, 2], [1.0, 2], 2), "^x has 2 elements; at least 3 "),
            (lambda: tsanom.search_stream([1, 2, 3], [1, 2], 1), "^stream has 2 elements; the "),
            (lambda: tsanom.compare_runs([], [1.0]), "^a has 0 elements; "),
            (lambda: tsanom.Model.learn([]), "^normal has 0 elements; "),
            (lambda: tsanom.Model.learn([[]]), "thread_count"),
            (lambda: tsanom.ChangeDetector().push([1.0, 2.0, np.nan]), r"^x\[2\]: "),
            (lambda: tsanom.dtw(x[0], x[0], threads=2**31), "^threads"),
            (lambda: tsanom.optics_order([[0.0], [1.0]], 1, max_eps=0.3).cut(0.1 + 0.2),
             "^eps is 0.30000000000000004; at most 0.3 ")):
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(MemoryError):
        tsanom.EnvelopeStream(2**45)


@pytest.mark.parametrize("x", [np.empty((2, 3, 0)), np.empty((1, 3, 0)),
                               [np.empty((3, 0)), np.empty((2, 0))]])
def test_samples_have_components(x):
    for call in (tsanom.dtw_matrix, tsanom.dtw_medoid, tsanom.dtw_barycenter, tsanom.Index,
                 lambda x: tsanom.dtw_matrix([[1.0]], x),
                 lambda x: tsanom.Index([[1.0]]).kneighbors(x)):
        with pytest.raises(ValueError, match="0 components"):
            call(x)


def order(distances):
    return tsanom.optics_order(distances, 1, metric="precomputed")


def test_asymmetry_by_rounding_is_accepted():
    points = RNG.normal(size=(30, 3))
    exact = np.linalg.norm(points[:, None] - points[None], axis=2)
    noisy = exact + 1e-9 * RNG.uniform(0, 1, exact.shape)
    found = order(noisy)
    assert found.ordering.tolist() == order((noisy + noisy.T) / 2 * (1 - np.eye(30))
                                            ).ordering.tolist()
    assert np.allclose(found.reachability, order(exact).reachability, atol=1e-8)
    np.fill_diagonal(noisy, 0)
    noisy[0, 1] += 1e-3
    with pytest.raises(tsanom.TsanomError, match="symmetric"):
        order(noisy)


def test_an_index_does_not_see_later_changes():
    for normalize in (False, True):
        x = RNG.normal(size=(20, 8))
        parts = list(x.copy())
        made = [tsanom.Index(given, 2, z_normalize=normalize) for given in (x, parts, x[:, ::-1])]
        before = [index.kneighbors(x[:3] + 0.1, 4) for index in made]
        query = x[:3] + 0.1
        x[:] = 7.0
        for part in parts:
            part[:] = 7.0
        for index, (distances, indices) in zip(made, before):
            for same in (index, pickle.loads(pickle.dumps(index))):
                found = same.kneighbors(query, 4)
                assert np.array_equal(found[0], distances) and np.array_equal(found[1], indices)
