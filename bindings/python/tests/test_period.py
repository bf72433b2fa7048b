# SPDX-License-Identifier: BSD-3-Clause
"""Periods of series, streams and events."""

import pickle

import numpy as np
import pytest
import tsanom

RNG = np.random.default_rng(3)


def test_period_in_noise():
    shape = RNG.normal(size=37)
    x = np.tile(shape, 40) + RNG.normal(0, 0.5, 37 * 40)
    found = tsanom.period(x)
    assert found.period == int(found) == 37 and found.probability < 0.01
    assert not tsanom.period(RNG.normal(size=1000)).period
    assert tsanom.period(x, max_period=20).period == 0
    assert tsanom.period(np.ones(50)).period == 1
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.period(np.ones(7))
    assert caught.value.name == "TSANOM_E_COUNT"


def test_detector_of_values():
    shape = RNG.normal(size=9)
    detector = tsanom.PeriodDetector(window=40)
    periods, starts = detector.push(np.tile(shape, 20))
    assert periods[-1] == 9 and set(np.diff(np.flatnonzero(starts))) == {9}
    assert np.array_equal(detector.predict(18), np.tile(shape, 2))
    distances = detector.distances()
    assert len(distances) == 10 and distances[8] == pytest.approx(0, abs=1e-12)
    detector.window = 20
    assert detector.window == 20
    with pytest.raises(tsanom.TsanomError) as caught:
        detector.push([1.0, np.nan])
    assert caught.value.index == 1


def test_detector_of_events():
    detector = tsanom.PeriodDetector(window=12, events=True)
    assert detector.predict(3).size == 0
    for event in [7, 7, 8, 9] * 10:
        periods, _ = detector.push(event)
    assert periods.tolist() == [4] and detector.predict(4).tolist() == [7, 7, 8, 9]
    with pytest.raises(TypeError):
        detector.push([0.5])
    with pytest.raises(ValueError):
        detector.distances()
    with pytest.raises(ValueError):
        tsanom.PeriodDetector(events=True, depth=0.1)


def test_nested_loops():
    inner = [3, 4] * 5
    found = tsanom.loops(([1] + inner + [2]) * 6)
    assert [(loop.period, loop.level) for loop in found] == [(2, 1), (12, 2)]
    assert found[0].count == 6 and found[1].first == 0
    assert tsanom.loops(np.arange(100)) == []


@pytest.mark.parametrize("events", [False, True])
def test_a_pickled_detector_continues(events):
    for trial in range(300):
        shape = RNG.integers(0, 5, RNG.integers(1, 20))
        samples = np.tile(shape, 20) + (RNG.random(20 * len(shape)) < 0.01)
        stream = samples.astype(np.uint64) if events else samples + RNG.normal(0, 0.01)
        detector = tsanom.PeriodDetector(window=int(RNG.integers(1, 80)), events=events,
                                         adapt=bool(trial % 2))
        cut = RNG.integers(0, len(stream) + 1)
        detector.push(stream[:cut])
        copy = pickle.loads(pickle.dumps(detector))
        for one, other in zip(detector.push(stream[cut:]), copy.push(stream[cut:])):
            assert np.array_equal(one, other)
        assert detector.predict(9).tobytes() == copy.predict(9).tobytes()
        assert detector.window == copy.window
        assert events or detector.distances().tobytes() == copy.distances().tobytes()


def test_a_damaged_state_is_rejected():
    detector = tsanom.PeriodDetector()
    kind, state, dtype = detector.__getstate__()
    for damaged in (state[:-1], state[:50] + b"x" + state[51:], b""):
        with pytest.raises(tsanom.TsanomError) as caught:
            tsanom.PeriodDetector.__new__(tsanom.PeriodDetector).__setstate__(
                (kind, damaged, dtype))
        assert caught.value.name == "TSANOM_E_FORMAT" and caught.value.argument == "state"
