# SPDX-License-Identifier: BSD-3-Clause
"""OPTICS against scikit-learn."""

import math
import pickle

import numpy as np
import pytest
import scipy.spatial.distance
import sklearn.cluster
import tsanom
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks


@parametrize_with_checks([tsanom.OPTICS()])
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("min_samples", [2, 5, 0.1])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_order_is_that_of_scikit_learn(min_samples, metric):
    # Its "euclidean" rounds differently: |x|^2 - 2xy + |y|^2.
    theirs_metric = {"euclidean": "minkowski"}.get(metric, metric)
    for seed in range(4):
        X, _ = make_blobs(100, centers=4, random_state=seed)
        ours = tsanom.OPTICS(min_samples=min_samples, metric=metric, n_jobs=2).fit(X)
        theirs = sklearn.cluster.OPTICS(min_samples=min_samples, metric=theirs_metric).fit(X)
        assert np.array_equal(ours.ordering_, theirs.ordering_)
        assert np.array_equal(ours.predecessor_, theirs.predecessor_)
        # scikit-learn rounds to the digits of the type.
        assert np.allclose(ours.reachability_, theirs.reachability_, rtol=1e-13)
        assert np.allclose(ours.core_distances_, theirs.core_distances_, rtol=1e-13)


@pytest.mark.parametrize("method", ["xi", "dbscan"])
def test_labels_of_separate_clusters(method):
    X, truth = make_blobs(120, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
    ours = tsanom.OPTICS(cluster_method=method, eps=4.0, xi=0.5).fit_predict(X)
    theirs = sklearn.cluster.OPTICS(cluster_method=method, eps=4.0, xi=0.5).fit_predict(X)
    assert np.array_equal(ours, theirs) and set(ours) == {0, 1, 2}
    assert len({(a, b) for a, b in zip(ours, truth)}) == 3


def test_hierarchy_and_split():
    X, _ = make_blobs(60, centers=[[0, 0], [50, 0]], random_state=1)
    model = tsanom.OPTICS(xi=0.5).fit(X)
    assert model.cluster_hierarchy_.tolist()[-1] == [0, 59]
    assert tsanom.OPTICS(cluster_method="split", min_samples=2).fit(X).labels_.max() == 1
    for one in (1, np.int64(1), np.uint8(1)):
        assert tsanom.OPTICS(min_samples=one).fit(X).core_distances_.max() == 0
    split = tsanom.optics_order(X, 1).split()
    assert split.probability < 0.05 and 2 < split.cut < 50
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.labels_, model.labels_)


@pytest.mark.parametrize("n", [100, 201, 1000])
def test_defaults_find_classes_of_any_shape(n):
    X, truth = make_moons(n, noise=0.05, random_state=n)
    order = tsanom.optics_order(X)
    assert order.min_samples == max(5, int(math.sqrt(n) / 2))
    split = order.split()
    assert adjusted_rand_score(truth, split.labels) > 0.95 and math.isnan(split.cut)
    copy = pickle.loads(pickle.dumps(order))
    assert copy.min_samples == order.min_samples
    assert np.array_equal(copy.split().labels, split.labels)


def test_given_distances():
    X, _ = make_blobs(50, random_state=2)
    condensed = scipy.spatial.distance.pdist(X)
    orders = [tsanom.optics_order(condensed, metric="precomputed"),
              tsanom.optics_order(scipy.spatial.distance.squareform(condensed),
                                  metric="precomputed"),
              tsanom.optics_order(X, metric=lambda a, b: scipy.spatial.distance.euclidean(a, b)),
              tsanom.optics_order(X, search="tree")]
    for order in orders:
        assert np.array_equal(order.ordering, orders[0].ordering)
        assert np.allclose(order.reachability, orders[0].reachability)
    series = np.stack([np.sin(np.arange(30) / (3 + (i % 2))) for i in range(12)])
    order = tsanom.optics_order(tsanom.dtw_matrix(series, condensed=True), 2, metric="precomputed")
    assert order.cut(1e-9).tolist() == [0, 1] * 6


def test_errors():
    def fails(a, b):
        raise KeyError("from the metric")

    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(KeyError, match="from the metric"):
        tsanom.optics_order(X, metric=fails)
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.optics_order([[0.0, 1.0], [2.0, np.nan]], 1)
    assert caught.value.index == (1, 1)
    for wrong in ({"metric": "cosine"}, {"cluster_method": "x"}, {"min_samples": 7}):
        with pytest.raises(ValueError):
            tsanom.OPTICS(**wrong).fit(X)
    with pytest.raises(ValueError):
        tsanom.optics_order(np.ones(4), metric="precomputed")


def test_an_ordering_can_be_pickled_and_made():
    order = tsanom.optics_order(np.random.default_rng(1).normal(size=(40, 2)))
    made = tsanom.OpticsOrdering(order.ordering.tolist(), order.reachability.tolist(),
                                 order.core_distances.tolist(), order.predecessor.tolist())
    for copy in (pickle.loads(pickle.dumps(order)), made):
        for name in ("ordering", "reachability", "core_distances", "predecessor"):
            assert np.array_equal(getattr(copy, name), getattr(order, name))
        assert np.array_equal(copy.cut(0.5), order.cut(0.5))
        assert np.array_equal(copy.xi(0.02, 3)[1], order.xi(0.02, 3)[1])
        assert copy.split().cut == order.split().cut


def test_a_cut_above_max_eps_is_an_error():
    points = np.array([[0.0], [1.5], [3.0], [10.0]])
    order = tsanom.optics_order(points, 1, max_eps=2.0)
    for same in (order, pickle.loads(pickle.dumps(order))):
        assert same.max_eps == 2.0 and same.cut(2.0).tolist() == [0, 0, 0, 1]
        for wrong in (lambda: same.cut(2.5), lambda: same.split(resolution=2.5)):
            with pytest.raises(tsanom.TsanomError, match="at most 2 is expected"):
                wrong()
    with pytest.raises(ValueError, match="eps"):
        tsanom.OPTICS(min_samples=2, max_eps=1.0, cluster_method="dbscan", eps=2.0).fit(points)
