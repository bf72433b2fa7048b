# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbors against brute force."""

import pickle

import numpy as np
import pytest
import tsanom

RNG = np.random.default_rng(4)


def z(x):
    return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)


@pytest.mark.parametrize("cost", ["absolute", "squared"])
@pytest.mark.parametrize("normalize", [False, True])
def test_neighbors_are_those_of_brute_force(cost, normalize):
    X, Q = RNG.normal(size=(60, 24)).cumsum(axis=1), RNG.normal(size=(5, 24)).cumsum(axis=1)
    index = tsanom.Index(X, 4, cost=cost, z_normalize=normalize, threads=2)
    distances, indices = index.kneighbors(Q, 3, threads=2)
    matrix = tsanom.dtw_matrix(z(Q) if normalize else Q, z(X) if normalize else X, 4, cost=cost)
    assert np.array_equal(indices, np.argsort(matrix, axis=1, kind="stable")[:, :3])
    assert np.allclose(distances, np.sort(matrix, axis=1)[:, :3], rtol=1e-9)
    for part in index.report(Q, 3):
        assert part.candidates == 60 and part.found == 3
        assert part.candidates == (part.kim + part.means + part.keogh + part.keogh_reversed
                                   + part.abandoned + part.computed)


def test_index_can_refer_to_the_samples():
    X = RNG.normal(size=(20, 10))
    index = tsanom.Index(X, 2, copy=False)
    assert index.kneighbors(X[3:4])[1].tolist() == [[3]]
    copy = pickle.loads(pickle.dumps(index))
    assert len(copy) == 20 and copy.kneighbors(X[4:5])[1].tolist() == [[4]]
    with pytest.raises(ValueError, match="copy=False"):
        tsanom.Index(X, 2, copy=False, z_normalize=True)
    with pytest.raises(tsanom.TsanomError) as caught:
        index.kneighbors(X[:1], 21)
    assert caught.value.argument == "n_neighbors"


def test_stream_matches_are_those_of_brute_force():
    stream, query = RNG.normal(size=400), RNG.normal(size=20)
    windows = np.lib.stride_tricks.sliding_window_view(stream, 20)
    profile = tsanom.dtw_matrix(query[None], windows, 3)[0]
    distances, starts = tsanom.search_stream(query, stream, 3, n_neighbors=4, threads=2)
    free = np.ones(len(profile), bool)
    for distance, start in zip(distances, starts):
        assert start == np.where(free, profile, np.inf).argmin() and distance == profile[start]
        free[max(0, start - 10):start + 11] = False
    assert len(tsanom.search_stream(query, stream[:25], 3, n_neighbors=4)[0]) == 1
