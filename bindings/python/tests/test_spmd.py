# SPDX-License-Identifier: BSD-3-Clause
"""Similarity of processes: a run with one slow region in half of the processes."""

import numpy as np
import pytest
import tsanom

RNG = np.random.default_rng(6)


def times_of_a_run():
    times = np.tile([1.0, 5.0, 2.0, 3.0], (8, 1))
    times[4:, 3] += 4
    times[:, 1] = times[:, 2] + times[:, 3]
    return times + RNG.uniform(0, 1e-3, times.shape)


def test_the_slow_region_and_its_cause_are_named():
    times = times_of_a_run()
    misses = np.where(times > 6, 9.0, 1.0)
    result = tsanom.spmd_analyze(times, parents=[-1, -1, 1, 1],
                                 regions=["init", "loop", "send", "solve"],
                                 metrics={"cycles": np.ones_like(times), "misses": misses})
    assert result.classes.tolist() == [0] * 4 + [1] * 4 and result.class_count == 2
    assert result.ccr == ["loop", "solve"] and result.cccr == ["solve"]
    assert result.causes == (frozenset(["misses"]),) and result.dependency == 1.0
    assert result.search == "descent" and result.decisions[0].step == 1
    assert [region.level for region in result.regions] == [1, 1, 2, 2]
    norms = np.linalg.norm(times[:, :2], axis=1)
    distances = np.linalg.norm(times[:, None, :2] - times[None, :, :2], axis=2)
    assert result.severity == pytest.approx(distances.max() / norms.max())
    assert sorted(result.ordering.tolist()) == list(range(8)) and np.isinf(result.reachability[0])


def test_more_decisions_than_expected_fit():
    times = np.ones((6, 90)) + RNG.uniform(0, 1e-4, (6, 90))
    times[3:, 40] += 60
    result = tsanom.spmd_analyze(times)
    assert result.cccr == ["40"] and len(result.decisions) > 64


def test_equal_processes_and_wrong_arguments():
    assert tsanom.spmd_analyze(np.ones((3, 2))).search == "similar"
    for wrong in ({"regions": ["a"]}, {"parents": [0]}, {"metrics": {"m": np.ones((2, 2))}},
                  {"cut": "x"}):
        with pytest.raises(ValueError):
            tsanom.spmd_analyze(np.ones((3, 2)), **wrong)
    with pytest.raises(TypeError):
        tsanom.spmd_analyze(np.ones((3, 2)), parents=[0.5, 1])
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.spmd_analyze([[1.0, -1.0]])
    assert caught.value.index == (0, 1)


def test_errors_explain_differences():
    times = [[1.0, 2.0], [1.0, 2.5], [1.0, 2.0]]
    kinds = [tsanom.spmd_analyze(times, errors=errors, cut="noise").class_count
             for errors in (None, np.zeros((3, 2)), np.full((3, 2), 0.2))]
    assert kinds == [1, 2, 1]
    assert tsanom.spmd_analyze(times, cut="noise").search == "unknown"
    with pytest.raises(ValueError, match="errors has the shape"):
        tsanom.spmd_analyze(times, errors=[[1.0]])
