# SPDX-License-Identifier: BSD-3-Clause
"""Main loops, iterations and speedup of parallel regions."""

import pickle

import numpy as np
import pytest
import tsanom
from tsanom._speedup import _events

RNG = np.random.default_rng(11)


def program(iterations, seconds, threads, start=0.0):
    """Two regions in each iteration, the second without a gap to the next."""
    times = start + np.arange(2 * iterations + 1) * seconds / 2
    return tsanom.region_events(iterations * [10, 20], times[:-1], times[1:], threads)


def test_speedup_by_its_definition():
    events = np.concatenate([program(20, 1.0, 1), program(30, 0.4, 4, start=20.0)])
    loop, = tsanom.speedup(events).loops
    assert (loop.start, loop.period, loop.iterations, loop.runs) == (10, 2, 50, 1)
    assert (loop.baseline_threads, loop.current_threads) == (1, 4)
    assert loop.baseline_s == pytest.approx(1.0) and loop.current_s == pytest.approx(0.4)
    assert loop.baseline_mean_s == pytest.approx(1.0) and loop.current_mean_s == pytest.approx(0.4)
    assert loop.speedup == pytest.approx(2.5) and loop.efficiency == pytest.approx(2.5 / 4)
    # t(P) = A + B / P through (1, 1.0) and (4, 0.4)
    b = (1.0 - 0.4) / (1 - 1 / 4)
    assert loop.serial_fraction == pytest.approx((1.0 - b) / 1.0)
    assert loop.parallel_s == pytest.approx(32.0)


def test_a_pickled_analyzer_continues():
    for _ in range(50):
        events = np.concatenate([program(20, 1.0, 1), program(30, 0.4, 4, start=20.0)])
        cut = RNG.integers(0, len(events) + 1)
        analyzer = tsanom.SpeedupAnalyzer(baseline=int(RNG.integers(0, 3)))
        analyzer.push(events[:cut])
        copy = pickle.loads(pickle.dumps(analyzer))
        for one in (analyzer, copy):
            one.push(events[cut:])
        np.testing.assert_equal([vars(loop) for loop in analyzer.loops()],
                                [vars(loop) for loop in copy.loops()])
        assert repr(analyzer.predict(100)) == repr(copy.predict(100))


def test_an_analyzer_takes_pieces():
    events = program(40, 1.0, 2)
    analyzer = tsanom.SpeedupAnalyzer()
    assert analyzer.loops() == [] and analyzer.predict() is None
    for first in range(0, 80, 7):
        analyzer.push(events[first:first + 7])
    assert analyzer.predict(100).remaining_s == pytest.approx(60.0)
    analyzer.finish()
    whole = tsanom.speedup(events)
    np.testing.assert_equal([vars(loop) for loop in analyzer.loops()],
                            [vars(loop) for loop in whole.loops])


def test_errors_name_the_event():
    events = program(3, 1.0, 1)
    events["begin"][4] = -1.0
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.speedup(events)
    assert (caught.value.name, caught.value.index) == ("TSANOM_E_ORDER", 4)
    with pytest.raises(TypeError):
        tsanom.speedup(np.zeros(3))
    with pytest.raises(ValueError, match="iterations"):
        tsanom.speedup_summarize(program(3, 1.0, 1), [0, 2])
    with pytest.raises(tsanom.TsanomError):
        tsanom.speedup(program(3, 1.0, 1)).loops[0].compare(tsanom.SpeedupLoop(*18 * [0]))


def test_main_loop_of_iterations_that_differ():
    """Between 3 and 9 solver steps in each iteration."""
    steps = RNG.integers(3, 10, 25)
    events = np.concatenate([[7, 8]] + [[1] + count * [2] + [3] for count in steps] + [[9]])
    loop = tsanom.main_loop(events)
    assert loop.anchor == 1 and loop.runs == 1 and loop.places == 3
    ends = 2 + np.cumsum(steps + 2)
    assert loop.iterations[:-1, 0].tolist() == [2, *ends[:-2]]
    assert loop.iterations[:-1, 1].tolist() == ends[:-1].tolist()
    times = np.arange(len(events) + 1) * 0.5
    timed = tsanom.main_loop(events, times)
    assert np.array_equal(timed.iterations, loop.iterations)
    assert timed.covered == loop.covered / 2
    assert tsanom.main_loop(events, anchor=2).anchor == 2
    assert tsanom.main_loop(np.arange(20)) is None
    with pytest.raises(ValueError, match="times"):
        tsanom.main_loop(events, times[:-1])
    with pytest.raises(ValueError, match="beyond"):
        tsanom.main_loop([1, -2, 3])


def test_summary_of_known_iterations():
    events = program(40, 1.0, 2)
    loop = tsanom.main_loop(events["region"])
    summary, end = tsanom.speedup_summarize(events, loop.iterations, expected=50)
    assert (summary.iterations, summary.start, summary.period) == (40, 10, 2)
    assert end.expected == 50 and end.remaining_s == pytest.approx(10.0)
    assert end.low_s <= end.total_s <= end.high_s and not end.drifts
    growing = np.cumsum(np.repeat(np.linspace(1.0, 3.0, 40), 2)) - 1.0
    drifting = tsanom.region_events(40 * [10, 20], growing, growing + 0.1)
    assert tsanom.speedup_summarize(drifting, [(i, i + 2) for i in range(0, 80, 2)],
                                    expected=99)[1].drifts
    assert tsanom.speedup_summarize(events, loop.iterations[:2])[0].iterations == 2


def test_level():
    inside = program(50, 1.0, 2)
    around = tsanom.region_events([1], [0.0], [50.0], 2)
    assert tsanom.speedup_level(around, inside) == "worksharing"
    assert tsanom.speedup_level(inside, inside[:0]) == "regions"
    # A search of a graph takes as many levels as it needs: no exact repetition.
    begin = np.arange(300.0)
    searches = np.concatenate([[1] + n * [2] for n in np.random.default_rng(1).integers(2, 7, 60)])
    building = tsanom.region_events(80 * [5], begin[:80], begin[:80] + 1, 2)
    varied = tsanom.region_events(searches[:200], begin[:200], begin[:200] + 1, 2)
    assert tsanom.speedup_level(varied, building) == "regions"
    assert tsanom.speedup_level(building, varied) == "worksharing"


def test_events_are_passed_without_a_copy():
    events = program(20, 1.0, 1)
    assert _events(events)[0] is events
    assert np.shares_memory(_events(events[4:])[0], events)
    # repr: a serial fraction is NaN.
    expected = repr(tsanom.speedup(events))
    strided = np.empty(2 * len(events), events.dtype)[::2]
    strided[:] = events
    assert repr(tsanom.speedup(strided)) == expected
    # C functions reject what is not 0 behind the threads.
    other = np.frombuffer(bytearray(b"\x07" * events.nbytes), events.dtype)
    for name in events.dtype.names:
        other[name] = events[name]
    assert _events(other)[0] is not other
    assert repr(tsanom.speedup(other)) == expected
