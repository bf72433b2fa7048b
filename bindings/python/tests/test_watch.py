# SPDX-License-Identifier: BSD-3-Clause
"""Online diagnosis of beats, of recorded runs and of a program that runs."""

import math
import time

import numpy as np
import pytest
import tsanom

RNG = np.random.default_rng(11)


def beats(seconds, count):
    return np.cumsum(RNG.normal(seconds, 0.02 * seconds, count))


def test_a_hang_begins_lasts_and_recovers():
    watch = tsanom.Watch(2)
    times = np.arange(1, 101) * 0.1
    assert watch.update([times, times], now=10.0) == []
    assert watch.pulse(0).beats == 100 and watch.pulse(0).limit == pytest.approx(1.0)
    phases = []
    for second in range(11, 17):
        more = np.arange(1, 11) * 0.1 + second - 1
        found = watch.update([[] if second < 15 else more, more], now=float(second))
        phases.append([(one.phase, one.cause.thread) for one in found])
    hang = [phase for phase in phases if phase]
    assert hang[0] == [("began", 0)] and hang[-1] == [("recovered", 0)]
    assert hang[1:-1] == [[("lasts", 0)]] * (len(hang) - 2)
    assert phases[-1] == [] and watch.pulse(0).status == "normal"


def test_a_given_limit_and_bad_arguments():
    watch = tsanom.Watch(hang=5.0)
    watch.update([np.arange(1.0, 21.0)], now=20.0)
    assert watch.pulse().limit == 5.0 and math.isclose(watch.pulse().rate, 1.0)
    assert watch.pulse().waited == 0.0
    found = watch.update([[]], now=25.5)
    assert [(one.cause.cause, one.onset, one.iteration) for one in found] == [("hang", 20.0, 20)]
    assert 0 < found[0].confidence <= 1 and "5.5 s" in found[0].cause.evidence
    for call in (lambda: watch.pulse(1), lambda: watch.update([[], []]),
                 lambda: watch.update([[2.0, 1.0]]), lambda: tsanom.Watch(hang=-1.0)):
        with pytest.raises(tsanom.TsanomError):
            call()
    tree = tsanom.Model.learn([[beats(0.1, 200)] for _ in range(2)], rule="pace")
    with pytest.raises(ValueError, match="normal ranges"):
        tsanom.Watch(1, tree)


def test_causes_by_a_model():
    model = tsanom.Model.learn([[beats(0.1, 200), beats(0.1, 200)] for _ in range(5)])
    slow = [beats(0.1, 200), beats(0.25, 200)]
    watch, fed, seen = tsanom.Watch(2, model), [0, 0], []
    for now in np.arange(2.0, 20.0, 2.0):
        until = [int(np.searchsorted(times, now)) for times in slow]
        seen += watch.update([t[a:b] for t, a, b in zip(slow, fed, until)], now=now)
        fed = until
    causes = {(one.cause.cause, one.cause.thread) for one in seen}
    assert ("imbalance", 1) in causes
    assert any(one.cause.sign and one.cause.limit < one.cause.value for one in seen)
    normal = tsanom.Watch(2, model)
    assert normal.update([beats(0.1, 200), beats(0.1, 200)], now=20.0) == []


def test_a_run_is_given_what_is_new(tmp_path):
    """Updates of a run that is recorded are those of its beats given as times."""
    directory = tmp_path / "run"
    with tsanom.heartbeat.record(directory, vital_ms=20):
        tsanom.heartbeat.beat()
        run = tsanom.Run(directory, parts=("beats",))
        watch = tsanom.Watch(1, hang=1.0)
        for _ in range(20):
            time.sleep(0.01)
            tsanom.heartbeat.beat()
            run.refresh()
            watch.update(run)
        assert watch.pulse().beats == len(run.beats()) >= 20
        while not watch.update(run):
            time.sleep(0.01)
            run.refresh()
        assert watch.pulse().status == "hang" and watch.pulse().rate == 0
        # The clock of a run that goes on is calibrated anew at each refresh.
        assert watch.pulse().last == pytest.approx(run.beats()[-1], abs=1e-6)
        tsanom.heartbeat.beat()
        run.refresh()
        assert [one.phase for one in watch.update(run)] == ["recovered"]
    run.refresh()
    watch.update(run)
    assert watch.pulse().beats == len(run.beats())
