# SPDX-License-Identifier: BSD-3-Clause
"""Recording, recorded runs and models."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tsanom

RNG = np.random.default_rng(7)


def test_beats_are_read_back(tmp_path):
    directory = tmp_path / "run"
    before = time.time()
    with tsanom.heartbeat.record(directory, threads=2, vital_ms=1):
        for i in range(100):
            assert tsanom.heartbeat.beat(0, tag=i)
        other = threading.Thread(target=lambda: [tsanom.heartbeat.beat(1) for _ in range(50)])
        other.start()
        other.join()
    assert not tsanom.heartbeat.beat()
    run = tsanom.Run(directory)
    info = run.info
    assert info.finished and info.beats == 150 and info.parts == ("beats",)
    assert info.pid == os.getpid() and abs(info.start - before) < 60
    assert run.threads == 2 and len(run.beats(1)) == 50
    beats = run.beats(0)
    assert len(beats) == 100 and np.all(np.diff(beats) > 0)
    assert np.allclose(run.rates(0, 10), 10 / (beats[10:] - beats[:-10]))
    vital = run.vital_signs()
    assert len(vital) >= 2 and np.all(vital["resident"][~np.isnan(vital["resident"])] > 0)
    assert vital["thread"].tolist() == [-1] * len(vital)
    assert len(run.vital_signs(0)) >= 1
    copy = pickle.loads(pickle.dumps(run))
    assert np.array_equal(copy.beats(0), beats)
    with pytest.raises(IndexError):
        run.beats(2)


def test_errors_name_the_file(tmp_path):
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.Run(tmp_path / "absent")
    assert caught.value.name == "TSANOM_E_IO" and "absent" in str(caught.value)
    with pytest.raises(ValueError, match="parts|part"):
        tsanom.Run(tmp_path, parts=("beat",))
    with pytest.raises(tsanom.TsanomError):
        tsanom.heartbeat.start(tmp_path / "a" / "b")
    with pytest.raises(tsanom.TsanomError):
        tsanom.heartbeat.finish()


WRITER = """
import sys, tsanom
tsanom.heartbeat.start(sys.argv[1])
for line in sys.stdin:
    for _ in range(int(line)):
        tsanom.heartbeat.beat()
    print("written", flush=True)
tsanom.heartbeat.finish()
"""


def test_a_running_program_is_followed(tmp_path):
    directory = tmp_path / "run"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(directory)], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def write(count):
        writer.stdin.write(f"{count}\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == "written\n"

    write(30)
    run = tsanom.Run(directory)
    first = run.beats()
    assert len(first) == 30 and not run.info.finished
    write(20)
    follow = run.follow(interval=0.01)
    assert next(follow) == 20 and len(run.beats()) == 50
    kept = first.copy()
    writer.stdin.close()
    assert writer.wait() == 0
    writer.stdout.close()
    assert sum(follow) == 0 and run.info.finished
    assert np.array_equal(first, kept)
    assert sum(run.follow(timeout=0)) == 0


def test_a_killed_program_leaves_its_beats(tmp_path):
    directory = tmp_path / "run"
    code = ("import os, signal, sys, tsanom; tsanom.heartbeat.start(sys.argv[1]);"
            "[tsanom.heartbeat.beat() for _ in range(77)]; os.kill(os.getpid(), signal.SIGKILL)")
    assert subprocess.run([sys.executable, "-c", code, str(directory)]).returncode == (
        -signal.SIGKILL)
    run = tsanom.Run(directory)
    assert not run.info.finished and len(run.beats()) == 77


@pytest.mark.skipif("TSANOM_COMMAND" not in os.environ, reason="needs the command tsanom")
def test_parallel_regions_of_a_python_program(tmp_path):
    """`tsanom record` sees the parallel regions of the library in this package."""
    code = ("import numpy as np, tsanom; X = np.random.rand(60, 200);"
            "[tsanom.dtw_matrix(X, threads=2) for _ in range(5)]")
    directory = tmp_path / "run"
    subprocess.run([os.environ["TSANOM_COMMAND"], "record", "--force", "--cpu-time", "-o",
                    directory, "--", sys.executable, "-c", code], check=True)
    run = tsanom.Run(directory)
    assert run.info.parts == ("beats", "regions") and run.info.events > 0
    events = run.events()
    assert len(events) == 5 and set(events["threads"]) == {2}
    assert np.all(events["begin"][1:] >= events["end"][:-1])
    name = run.place_name(int(events["region"][0]))
    assert run.events("worksharing").size == 0
    times = run.region_times()
    assert times.regions == [name] and times.times.shape == (2, 1)
    assert times.metrics["calls"].tolist() == [[5.0], [5.0]] and times.times.min() > 0
    assert times.errors.shape == (2, 1) and np.isnan(times.errors).all()  # of 5 visits
    assert len(run.similarity().classes) == 2
    with pytest.raises(ValueError):
        run.events("loops")


def test_region_times_of_json(tmp_path):
    file = tmp_path / "run.json"
    misses = [[1.0, 1.0], [1.0, 1.0], [1.0, 9.0]]
    file.write_text(json.dumps({
        "regions": [{"name": "init"}, {"name": "solve"}], "processes": ["a", "b", "c"],
        "time": [[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]],
        "metrics": [{"name": "misses", "value": misses}]}))
    run = tsanom.Run(file)
    times = run.region_times()
    assert times.regions == ["init", "solve"] and times.processes == ["a", "b", "c"]
    assert times.times.tolist()[2] == [1.0, 3.0] and times.parents.tolist() == [-1, -1]
    assert times.metrics["misses"].tolist() == misses and times.errors is None
    assert run.similarity().cccr == ["solve"]
    assert run.similarity().causes == (frozenset(["misses"]),)


def normal_run(seconds=0.1):
    return [np.cumsum(RNG.normal(seconds, 0.02 * seconds, 200)) for _ in range(2)]


def test_model_of_arrays(tmp_path):
    model = tsanom.Model.learn([normal_run() for _ in range(5)], margin=0.2)
    assert model.diagnose(normal_run()).status == "normal"
    slow = model.diagnose([normal_run()[0], normal_run(0.25)[1]])
    assert [thread.status for thread in slow.threads][0] == "normal"
    assert slow.status == slow.threads[1].status == "memory_leak"
    assert slow.threads[1].features["gtr"] == pytest.approx(2.5, rel=0.05)
    assert slow.threads[1].steps[-1].text
    short = model.diagnose([series[:80] for series in normal_run()])
    assert short.status == "shutdown"
    path = tmp_path / "model.json"
    model.save(path)
    run = normal_run(0.13)
    for copy in (tsanom.Model.load(path), pickle.loads(pickle.dumps(model))):
        assert copy.diagnose(run) == model.diagnose(run) and copy.runs == model.runs
        assert copy.threads == model.threads
    assert model.threads[0].beats == 200 and "dtw" in model.threads[0].ranges


def test_model_of_recorded_runs(tmp_path):
    paths = []
    for i in range(3):
        path = tmp_path / f"run{i}.csv"
        rows = [f"{t},{time!r}" for t, series in enumerate(normal_run()) for time in series]
        path.write_text("thread,time\n" + "\n".join(rows) + "\n")
        paths.append(path)
    model = tsanom.Model.learn([paths[0], tsanom.Run(paths[1])])
    assert model.runs[1] == str(paths[1])
    assert model.diagnose(paths[2]).status == "normal"


def test_errors_of_models(tmp_path):
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.Model.learn([[np.array([1.0, 0.5])]])
    assert caught.value.name == "TSANOM_E_ORDER"
    with pytest.raises(tsanom.TsanomError):
        tsanom.Model.learn([normal_run()], margin=-1.0)
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.Model.load(tmp_path / "bad.json")
    assert caught.value.file.endswith("bad.json")
