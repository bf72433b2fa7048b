# SPDX-License-Identifier: BSD-3-Clause
"""Models of normal runs, causes and decision trees."""

import json
import os
import pickle
import subprocess

import numpy as np
import pytest
import tsanom

RNG = np.random.default_rng(7)
TREES = ("pace", "completion", "paper")


def normal_run(seconds=0.1, beats=200):
    return [np.cumsum(RNG.normal(seconds, 0.02 * seconds, beats)) for _ in range(2)]


def write_run(path, run):
    rows = [f"{t},{time!r}" for t, series in enumerate(run) for time in series]
    path.write_text("thread,time\n" + "\n".join(rows) + "\n")
    return path


def test_causes_of_arrays():
    model = tsanom.Model.learn([normal_run() for _ in range(5)])
    assert model.diagnose(normal_run()).status == "normal"
    slow = model.diagnose([normal_run()[0], normal_run(0.25)[1]])
    assert [thread.status for thread in slow.threads] == ["normal", "imbalance"]
    first = slow.causes[0]
    assert (slow.status, first.cause, first.thread, first.sign) == (
        "imbalance", "imbalance", 1, "imbalance")
    assert slow.threads[1].causes == tuple(c for c in slow.causes if c.thread == 1)
    assert first.value == slow.threads[1].signs[first.sign] > first.limit > first.most
    assert first.lost_s > 10 and first.begin < first.end and "record vital signs" in first.next
    assert f"{first.value:.3g}"[:3] in first.evidence and slow.threads[1].steps == ()
    assert slow.threads[1].features["gtr"] == pytest.approx(2.5, rel=0.05)
    short = model.diagnose(normal_run(beats=80))
    assert short.status == "shutdown" and short.causes[0].thread is None
    assert np.isnan(short.causes[0].limit) and short.state == "unknown"


def test_normal_ranges_and_power():
    runs = [normal_run() for _ in range(5)]
    model = tsanom.Model.learn(runs, coverage=0.9)
    normal = model.normal
    assert normal.ranges.shape == (8, 2, len(normal.signs), 2) and len(normal) == 2
    assert (normal.run_count, normal.beats, normal.fewest) == (5, 200, 200)
    for run in runs:
        for thread, verdict in enumerate(model.diagnose(run).threads):
            assert all(normal[thread][name][0] <= value <= normal[thread][name][1]
                       for name, value in verdict.signs.items())
    assert normal.ledger.size == 158 + 2 * 45 and normal.misfit is None
    power = normal.power
    assert 1 < power.slowdown < 2 and power.leak == np.inf and 0.1 <= power.blocked < 1
    # A run just beyond the power of the model is abnormal.
    assert model.diagnose(normal_run(0.1 * power.slowdown * 1.1)).status == "slowdown"


@pytest.mark.parametrize("rule", TREES)
def test_decision_trees(rule):
    model = tsanom.Model.learn([normal_run() for _ in range(5)], rule=rule, margin=0.2)
    assert model.normal is None and model.diagnose(normal_run()).status == "normal"
    slow = model.diagnose([normal_run()[0], normal_run(0.25)[1]])
    assert [thread.status for thread in slow.threads] == ["normal", "memory_leak"]
    assert slow.status == "memory_leak" and slow.causes == ()
    assert slow.threads[1].steps[-1].text
    assert model.threads[0].beats == 200 and "dtw" in model.threads[0].ranges


@pytest.mark.parametrize("rule", ("causes", *TREES))
def test_models_are_saved_and_pickled(tmp_path, rule):
    model = tsanom.Model.learn([normal_run() for _ in range(3)], rule=rule)
    path = tmp_path / "model.json"
    model.save(path)
    for copy in (tsanom.Model.load(path), pickle.loads(pickle.dumps(model))):
        for seconds in (0.1, 0.13, 0.3):
            run = normal_run(seconds)
            assert copy.diagnose(run) == model.diagnose(run)
        assert copy.runs == model.runs and copy.threads == model.threads
        assert copy.normal == model.normal


def test_normal_ranges_are_pickled():
    normal = tsanom.Model.learn([normal_run() for _ in range(3)]).normal
    copy = pickle.loads(pickle.dumps(normal))
    assert copy == normal and repr(copy.power) == repr(normal.power) and copy[0] == normal[0]


def test_model_of_recorded_runs(tmp_path):
    paths = [write_run(tmp_path / f"run{i}.csv", normal_run()) for i in range(3)]
    with pytest.warns(tsanom.TsanomWarning):
        model = tsanom.Model.learn([paths[0], tsanom.Run(paths[1])])
    assert model.runs[1] == str(paths[1])
    assert model.diagnose(paths[2]).status == "normal"


def test_vital_signs_are_evidence(tmp_path):
    """Of recorded runs also processor time and memory have ranges."""
    paths = []
    for i in range(3):
        paths.append(tmp_path / f"run{i}")
        with tsanom.heartbeat.record(paths[-1], vital_ms=2):
            for _ in range(300):
                sum(range(100000))
                tsanom.heartbeat.beat()
    model = tsanom.Model.learn(paths)
    # A process has no other threads to compare with, and is known by its name.
    assert np.isfinite(model.normal[0]["growth_bytes"][1])
    assert model.normal.program and model.normal.machine
    assert model.diagnose(paths[0]).state == "finished"
    assert "growth_bytes" in model.diagnose(paths[0]).threads[0].signs


@pytest.mark.skipif("TSANOM_COMMAND" not in os.environ, reason="needs the command tsanom")
@pytest.mark.parametrize("rule", ("causes", "pace"))
def test_the_command_finds_the_same(tmp_path, rule):
    def command(*arguments):
        return subprocess.run([os.environ["TSANOM_COMMAND"], *map(str, arguments)], check=True,
                              capture_output=True, text=True).stdout

    paths = [write_run(tmp_path / f"run{i}.csv", normal_run()) for i in range(4)]
    other = write_run(tmp_path / "slow.csv", [normal_run()[0], normal_run(0.25)[1]])
    command("learn", "--rule", rule, "-o", tmp_path / "its.json", *paths)
    tsanom.Model.learn(paths, rule=rule).save(tmp_path / "ours.json")
    assert (tmp_path / "ours.json").read_bytes() == (tmp_path / "its.json").read_bytes()
    for path in (paths[0], other):
        said = json.loads(command("diagnose", "--json", "-m", tmp_path / "its.json", path))
        ours = tsanom.Model.load(tmp_path / "its.json").diagnose(path)
        run = said["runs"][0]
        assert (run["status"], run["state"]) == (ours.status, ours.state)
        assert [(c["cause"], c["evidence"]) for c in run["causes"]] == [
            (c.cause, c.evidence) for c in ours.causes]
        assert [t["path"] for t in run["threads"]] == [
            [step.text for step in t.steps] for t in ours.threads]


def test_errors_of_models(tmp_path):
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.Model.learn([[np.array([1.0, 0.5])]])
    assert caught.value.name == "TSANOM_E_ORDER"
    with pytest.raises(tsanom.TsanomError):
        tsanom.Model.learn([normal_run()], margin=-1.0)
    with pytest.raises(ValueError, match="rule is 'tree'"):
        tsanom.Model.learn([normal_run()], rule="tree")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.Model.load(tmp_path / "bad.json")
    assert caught.value.file.endswith("bad.json")
