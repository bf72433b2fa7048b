# SPDX-License-Identifier: BSD-3-Clause
"""Lower bounds against their definition, and below the distance that they bound."""

import math
import pickle

import naive
import numpy as np
import pytest
import tsanom

RNG = np.random.default_rng(1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("radius", [0, 1, 4, 40, None])
def test_envelope(dtype, radius):
    for n in (1, 2, 17):
        x = RNG.normal(size=n).astype(dtype)
        lower, upper = tsanom.envelope(x, radius)
        expected = naive.envelope(x, n if radius is None else radius)
        assert lower.dtype == dtype and np.array_equal(lower, expected[0])
        assert np.array_equal(upper, expected[1])


@pytest.mark.parametrize("cost", ["absolute", "squared"])
def test_bounds_are_below_the_distance(cost):
    for _ in range(50):
        n, radius = RNG.integers(3, 40), int(RNG.integers(0, 8))
        c, q = RNG.normal(size=n), RNG.normal(size=n)
        distance = tsanom.dtw(c, q, radius, cost=cost) * (1 + 1e-12)
        around = tsanom.envelope(q, radius)
        keogh = tsanom.lb_keogh(c, around, cost=cost)
        assert keogh == pytest.approx(naive.keogh(c, *around, cost), rel=1e-12)
        assert tsanom.lb_keogh_pair(q, c, radius, cost=cost)[0] == pytest.approx(keogh, rel=1e-12)
        assert tsanom.lb_tail(c, around, cost=cost)[0] == pytest.approx(keogh, rel=1e-12)
        improved = tsanom.lb_improved(c, q, radius, cost=cost)
        assert keogh <= improved * (1 + 1e-12) <= distance * (1 + 1e-12)
        assert improved == tsanom.lb_improved(c, q, radius, envelope=around, cost=cost)
        assert tsanom.lb_enhanced(c, q, radius, bands=3, cost=cost) <= distance
        assert tsanom.lb_kim(c, q, cost=cost) <= distance


def test_pair_without_a_path_is_infinite():
    assert tsanom.lb_keogh_pair(np.zeros(9), np.zeros(3), 2) == (math.inf, math.inf)


def test_stream_gives_the_envelope():
    x = RNG.normal(size=100)
    stream = tsanom.EnvelopeStream(radius=7)
    parts = [stream.push(x[:30]), stream.push(x[30:31]), stream.push(x[31:]), stream.finish()]
    expected = tsanom.envelope(x, 7)
    for k in range(2):
        assert np.array_equal(np.concatenate([part[k] for part in parts]), expected[k])
    with pytest.raises(tsanom.TsanomError) as caught:
        stream.push([0.0, np.nan])
    assert caught.value.index == 1


@pytest.mark.parametrize("radius", [0, 1, 7])
def test_a_rejected_push_takes_nothing(radius):
    stream, parts = tsanom.EnvelopeStream(radius), []
    x = RNG.normal(size=100)
    for begin in range(0, 100, 10):
        part = x[begin:begin + 10]
        with pytest.raises(tsanom.TsanomError):
            stream.push(np.append(part[:RNG.integers(10)], np.nan))
        parts.append(stream.push(part))
    parts.append(stream.finish())
    for k, expected in enumerate(tsanom.envelope(x, radius)):
        assert np.array_equal(np.concatenate([part[k] for part in parts]), expected)


def test_negative_counts_are_value_errors():
    for call in (lambda: tsanom.envelope(np.zeros(4), -1), lambda: tsanom.EnvelopeStream(-1),
                 lambda: tsanom.lb_improved(np.zeros(4), np.zeros(4), -1),
                 lambda: tsanom.Index(np.zeros((2, 4)), -1),
                 lambda: tsanom.heart_rate([0.0, 1.0, 2.0], -1),
                 lambda: tsanom.discretize([0.0, 1.0], -1),
                 lambda: tsanom.envelope(np.zeros(4), 10**30)):
        with pytest.raises(ValueError):
            call()


def test_wrong_arguments():
    around = tsanom.envelope(np.zeros(4), 1)
    with pytest.raises(ValueError):
        tsanom.lb_keogh(np.zeros(5), around)
    with pytest.raises(ValueError):
        tsanom.lb_improved(np.zeros(4), np.zeros(5), 1, envelope=around)
    with pytest.raises(ValueError):
        tsanom.envelope(np.zeros((2, 2)), 1)


@pytest.mark.parametrize("radius", [0, 1, 5, 40])
def test_a_pickled_stream_continues(radius):
    samples = RNG.normal(size=300)
    stream = tsanom.EnvelopeStream(radius)
    lower, upper, at = [], [], 0
    while at < len(samples):
        count = int(RNG.integers(0, 30))
        for part, piece in zip((lower, upper), stream.push(samples[at:at + count])):
            part.extend(piece)
        at += count
        stream = pickle.loads(pickle.dumps(stream))
    last = stream.finish()
    expected = tsanom.envelope(samples, radius)
    assert np.array_equal(np.append(lower, last[0]), expected[0])
    assert np.array_equal(np.append(upper, last[1]), expected[1])
    again = pickle.loads(pickle.dumps(stream))
    assert len(again.push(samples[:radius])[0]) == 0
    with pytest.raises(tsanom.TsanomError):
        again.push([1.0, np.nan])
    again = pickle.loads(pickle.dumps(again))
    assert np.array_equal(np.concatenate([again.push([2.0])[0], again.finish()[0]])[-1:],
                          tsanom.envelope([*samples[:radius], 2.0], radius)[0][-1:])
