# SPDX-License-Identifier: BSD-3-Clause
"""Changes of series and comparisons of runs."""

import itertools
import math

import numpy as np
import pytest
import tsanom

RNG = np.random.default_rng(40)


def steps(n, at, size, scatter=0.05):
    x = RNG.normal(1, scatter, n)
    x[at:] += size
    return x


def test_steps_are_found_where_they_are():
    for _ in range(50):
        at = int(RNG.integers(30, 270))
        changes = tsanom.find_changes(steps(300, at, 0.3))
        change = max(changes, key=lambda found: found.size)
        assert change.low <= at + 1 and at - 1 <= change.high and abs(change.at - at) <= 1
        assert change.size == pytest.approx(0.3, abs=0.06)
        assert change.size == pytest.approx(change.after - change.before)
        assert 0 <= change.significance < 0.001


def test_more_changes_than_are_stored_at_first():
    x = np.repeat(np.arange(80) % 2, 30) + RNG.normal(0, 0.01, 2400)
    changes = tsanom.find_changes(x)
    assert {30 * k for k in range(1, 80)} <= {change.at for change in changes}


def test_too_few_samples_are_a_warning():
    with pytest.warns(tsanom.TsanomWarning):
        assert tsanom.find_changes(np.arange(20.0)) == []


def test_a_detector_takes_pieces():
    x = np.concatenate([steps(700, 400, 0.4), steps(500, 0, 0.4) + 0.3])
    whole = tsanom.ChangeDetector(reference=100).push(x)
    assert len(whole) == 2
    for _ in range(20):
        detector, pieces, done = tsanom.ChangeDetector(reference=100), [], 0
        while done < len(x):
            piece = int(RNG.integers(0, 90))
            pieces += detector.push(x[done:done + piece])
            done += piece
        assert pieces == whole


def test_permutations_by_their_definition():
    for _ in range(20):
        a, b = RNG.normal(0, 1, 4), RNG.normal(1, 1, 5)
        runs, measured = np.concatenate([a, b]), b.mean() - a.mean()
        differences = np.array([np.delete(runs, list(part)).mean() - runs[list(part)].mean()
                                for part in itertools.combinations(range(9), 4)])
        least = min((differences >= measured - 1e-9).sum(), (differences <= measured + 1e-9).sum())
        found = tsanom.compare_runs(a, b)
        assert found.significance == pytest.approx(min(1, 2 * least / len(differences)))
        assert found.low <= found.difference <= found.high


def test_pairs_one_after_the_other():
    a = RNG.normal(10, 0.1, 40)
    b = a + RNG.normal(0.2, 0.1, 40)
    n = next(n for n in range(1, 41)
             if tsanom.compare_runs(a[:n], b[:n], paired=True,
                                    sequential=True).significance <= 0.01)
    assert 10 <= n < 40
    few = tsanom.compare_runs(a[:5], b[:5], paired=True)
    assert math.isinf(few.detectable) and few.significance > 0.01


def test_errors_name_the_argument():
    with pytest.raises(tsanom.TsanomError) as error:
        tsanom.find_changes([1.0, math.nan])
    assert error.value.name == "TSANOM_E_NONFINITE" and error.value.index == 1
    with pytest.raises(tsanom.TsanomError):
        tsanom.find_changes(np.zeros(50), level=0.5)
    with pytest.raises(tsanom.TsanomError):
        tsanom.ChangeDetector().push([math.inf])
    with pytest.raises(tsanom.TsanomError):
        tsanom.compare_runs([1, 2], [1, 2, 3], paired=True)
    with pytest.raises(tsanom.TsanomError):
        tsanom.compare_runs([1, 2], [1, 3], sequential=True)
