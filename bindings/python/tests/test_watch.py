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
        for _ in range(6000):  # a machine that stopped the program before made it hang, too
            if watch.pulse().status == "hang":
                break
            time.sleep(0.01)
            run.refresh()
            watch.update(run)
        assert watch.pulse().status == "hang" and watch.pulse().rate == 0
        # The clock of a run that goes on is calibrated anew at each refresh.
        assert watch.pulse().last == pytest.approx(run.beats()[-1], abs=1e-6)
        phases = []
        for _ in range(6000):  # a beat that is a second old again when it is read is no recovery
            tsanom.heartbeat.beat()
            run.refresh()
            phases += [one.phase for one in watch.update(run)]
            if "recovered" in phases:
                break
        assert "recovered" in phases
    run.refresh()
    watch.update(run)
    assert watch.pulse().beats == len(run.beats())


def test_ranks_of_a_job_are_judged_together():
    job = tsanom.Job([tsanom.Watch(), tsanom.Watch(), tsanom.Watch()])
    times = np.arange(1, 101) * 0.1
    stops = [5.25, 5.05, 5.25]
    for now in (5.0, 6.5, 8.0):
        for watch, stop in zip(job.watches, stops):
            new = times[(times <= min(now, stop)) & (times > now - 1.5)] if now > 5 else \
                times[times <= now]
            watch.update([new], now=now)
        slowest = job.judge()
    assert slowest == 1
    assert [watch.pulse().status for watch in job.watches] == ["waiting", "hang", "waiting"]
    found = [watch.anomalies()[0].cause for watch in job.watches]
    assert [one.cause for one in found] == ["waiting", "hang", "waiting"]
    assert "2 other threads wait" in found[1].evidence
    assert job.judge(in_call=[True, True, False]) == 2
    with pytest.raises(tsanom.TsanomError):
        job.watches[0].pulse(1)
    assert tsanom.Job([tsanom.Watch()]).judge() is None


def test_what_remains_of_a_run(tmp_path):
    model = tsanom.Model.learn([[np.arange(1, 41) * 0.01] for _ in range(3)])
    with tsanom.heartbeat.record(tmp_path / "run", vital_ms=20):
        tsanom.heartbeat.beat()
        run = tsanom.Run(tmp_path / "run", parts=("beats",))
        watch = tsanom.Watch(1, model)
        for _ in range(24):
            time.sleep(0.01)
            tsanom.heartbeat.beat()
        run.refresh()
        watch.update(run)
        left = watch.remaining(run)
    assert left.iterations == 15
    # How evenly this machine lets the program iterate is not known.
    assert left.drifts or left.seconds >= 0
    assert math.isnan(left.low) or left.low <= left.seconds <= left.high
    run.refresh()
    watch.update(run)
    assert math.isnan(watch.remaining(run).iterations)
