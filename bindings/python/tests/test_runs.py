# SPDX-License-Identifier: BSD-3-Clause
"""Recording and recorded runs."""

import json
import os
import pickle
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
import tsanom
from tsanom._library import ffi
from tsanom._runs import _gaps
from tsanom._spmd import report_of, spmd_options
from tsanom._summary import Collector


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
    assert run.in_call() is None
    copy = pickle.loads(pickle.dumps(run))
    assert np.array_equal(copy.beats(0), beats)
    with pytest.raises(IndexError):
        run.beats(2)


def test_the_ledger_splits_the_time(tmp_path):
    directory = tmp_path / "run"
    with tsanom.heartbeat.record(directory, vital_ms=10):
        for i in range(100):
            tsanom.heartbeat.beat()
            sum(range(50000))  # more than the thread that samples works
            time.sleep(0.003)
    ledger = tsanom.Run(directory).ledger()
    assert ledger.sampled == 1 and ledger.processors >= 1 and len(ledger.parts) == 8
    for window in (ledger.whole, *ledger.parts):
        assert window.wall_s == pytest.approx(window.cpu_s + window.ready_s + window.nobody_s)
        assert len(window.threads) == 1
    assert ledger.whole.nobody_s > 0 and ledger.whole.samples > 1
    assert str(ledger).startswith("of ") and str(ledger).endswith("nobody ran")
    assert sum(part.wall_s for part in ledger.parts) == pytest.approx(ledger.whole.wall_s)


def test_the_summary_is_one_page(tmp_path):
    directory = tmp_path / "run"
    rest = threading.Event()
    with tsanom.heartbeat.record(directory, threads=2, vital_ms=10):
        for i in range(100):
            tsanom.heartbeat.beat()
            rest.wait(0.003)
    run = tsanom.Run(directory)
    summary = run.summary()
    assert summary.answer == "nobody" and not summary.alarm and summary.state == "finished"
    assert summary.iterations == 100 and summary.peak > 0 and summary.finding is None
    assert summary.verdict.startswith("The program ended normally after ")
    assert "; nobody ran for " in summary.verdict
    assert str(summary).split("\n\n")[0].replace("\n", " ") == summary.verdict
    assert "\nnot recorded threads were not compared:" in str(summary)
    assert summary.next == f"tsanom rate --cpu {directory}" and summary.region is None
    assert "\nnext         " in str(summary) and len(str(summary).splitlines()) <= 24
    model = tsanom.Model.learn([run, run, run])
    judged = run.summary(model)
    assert judged.finding is None and "\nfound        normal by the model\n" in str(judged)


def test_slow_iterations_of_a_summary(tmp_path):
    """After 120 of 200, iterations take twice as long; a run of 20 beats is not searched."""
    file = tmp_path / "beats.csv"
    seconds = np.where(np.arange(200) < 120, 0.01, 0.02) * (1 + 0.02 * np.sin(np.arange(200.)))
    times = np.concatenate([[0], np.cumsum(seconds)])
    file.write_text("thread,time\n" + "".join(f"0,{time:.9f}\n" for time in times))
    summary = tsanom.Run(file).summary()
    slow = summary.slow[0]
    assert summary.answer == "slow" and summary.alarm and len(summary.slow) == 1
    assert (slow.kind, slow.first, slow.last, slow.count, slow.period) == ("since", 120, 199, 80, 0)
    assert slow.place[0] <= 120 <= slow.place[1] and slow.low <= slow.ratio <= slow.high
    assert slow.ratio == pytest.approx(2, rel=0.02) and slow.lost_s == pytest.approx(0.8, rel=0.05)
    assert slow.region is None and slow.thread is None and slow.reason == "unknown"
    assert slow.sentence.startswith("since iteration 120") and slow.sentence in summary.verdict
    file.write_text("thread,time\n" + "".join(f"0,{time:.9f}\n" for time in times[:20]))
    assert tsanom.Run(file).summary().slow is None


def test_a_thread_that_differs_has_its_number():
    """Not that of its row: a program may have started threads that ended before."""
    times = np.array([[1.0], [2.0]])
    view = ffi.new("tsanom_spmd_data *")
    view.struct_size, view.processes, view.regions = ffi.sizeof("tsanom_spmd_data"), 2, 1
    parent = ffi.new("int32_t[]", [-1])
    view.time, view.parent = ffi.from_buffer("double[]", times), parent
    report = report_of(view, spmd_options(), None)
    for threads, first in ((None, 1), (["3", "7"], 7)):
        collected = Collector("run", [])
        collected.add_team(view, report.struct, ["solve"], threads)
        found = collected.result()
        assert found.members == (1, first) and found.processor_s == 0 < found.saved_s
        assert not found.other_work


def test_what_a_run_lacks_is_said():
    nothing = dict(beats_dropped=0, events_dropped=0, restarts=0, beats_interpolated=0, totals=0,
                   beats_by_time=0, vital_samples=1)
    assert _gaps(SimpleNamespace(**nothing)) == []
    for field, value, text in (("beats_dropped", 3, "3 records"), ("restarts", 2, "2 times"),
                               ("beats_interpolated", 7, "7 beats"), ("totals", 1, "totals only"),
                               ("beats_by_time", 1, "50 ms"), ("vital_samples", 0, "no vital")):
        said = _gaps(SimpleNamespace(**{**nothing, field: value}))
        assert len(said) == 1 and text in said[0]


def test_errors_name_the_file(tmp_path):
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.Run(tmp_path / "absent")
    assert caught.value.name == "TSANOM_E_IO" and "absent" in str(caught.value)
    with pytest.raises(ValueError, match="parts|part"):
        tsanom.Run(tmp_path, parts=("beat",))
    for call in (tsanom.Run, tsanom.Run.ranks, tsanom.Run.messages, tsanom.Model.load,
                 tsanom.heartbeat.start, lambda path: tsanom.Run.of_processes([path])):
        with pytest.raises(ValueError, match="without NUL"):
            call(f"{tmp_path}\0x")
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


def test_names_that_are_not_utf8(tmp_path):
    """Bytes of a file in an error, and of a path in an error and in a page."""
    for content in ("thread,time\nähm,1\n".encode("latin-1"),
                    b"time,thread\n" + ("é" * 200).encode() + b",0\n"):
        path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")
        with open(path, "wb") as file:
            file.write(content)
        with pytest.raises(tsanom.TsanomError, match="not a finite decimal number") as caught:
            tsanom.Run(path)
        assert caught.value.file == path
        assert str(caught.value).encode()
    directory = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    with tsanom.heartbeat.record(directory):
        for _ in range(30):
            tsanom.heartbeat.beat()
    assert tsanom.Run(directory).summary().state == "finished"


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
    assert sum(run.follow(interval=0.01, timeout=20)) == 0 and len(list(run.follow())) == 1


@pytest.mark.skipif("TSANOM_COMMAND" not in os.environ, reason="needs the command tsanom")
def test_parallel_regions_of_a_python_program(tmp_path):
    """`tsanom record` sees the parallel regions of the library in this package."""
    code = ("import numpy as np, tsanom; X = np.random.rand(60, 200);"
            "[tsanom.dtw_matrix(X, threads=2) for _ in range(12)]")
    directory = tmp_path / "run"
    subprocess.run([os.environ["TSANOM_COMMAND"], "record", "--force", "--cpu-time", "-o",
                    directory, "--", sys.executable, "-c", code], check=True)
    run = tsanom.Run(directory)
    assert run.info.parts == ("beats", "regions") and run.info.events > 0
    events = run.events()
    assert len(events) == 12 and set(events["threads"]) == {2}
    assert np.all(events["begin"][1:] >= events["end"][:-1])
    name = run.place_name(int(events["region"][0]))
    assert run.events("worksharing").size == 0
    times = run.region_times()
    assert times.regions == [name] and times.times.shape == (2, 1)
    assert times.metrics["calls"].tolist() == [[12.0], [12.0]] and times.times.min() > 0
    assert times.errors.shape == (2, 1) and (times.errors >= 0).all()  # of 12 visits
    assert len(run.similarity().classes) == 2
    with pytest.raises(ValueError):
        run.events("loops")
    place = run.place(int(events["region"][0]))
    assert place.name == name and "tsanom" in place.module and place.call is None
    assert sum(len(stream.time) for stream in run.streams("regions")) == run.info.events
    assert sum(len(stream.time) for stream in run.streams()) == run.info.beats
    active = run.active_threads(1e-4)
    assert len(active) > 10 and 1 <= active.min() and active.max() <= 2
    assert run.in_call() is False
    check_main_loop(run)
    check_ranks(directory, tmp_path)


def check_main_loop(run):
    """What the command reports of the same run."""
    said = json.loads(subprocess.run(
        [os.environ["TSANOM_COMMAND"], "speedup", "--json", run._arguments[0]], check=True,
        capture_output=True, text=True).stdout)
    loop = run.main_loop()
    assert loop is not None and len(loop.iterations) == 12 and loop.runs == 1
    assert said["main_loop"]["iterations"] == 12
    summary = tsanom.speedup_summarize(run.events(), loop.iterations)[0]
    found = run.speedup().loops[0]
    for part in (summary, found):
        assert (part.period, part.iterations) == (1, 12)
    assert said["regions"][0]["current_s"] == summary.current_s


def check_ranks(directory, tmp_path):
    """Copies of a run as the ranks of a program, and as processes."""
    assert tsanom.Run.ranks(directory) == ([], 0)
    job = tmp_path / "job"
    for rank in (0, 2):
        shutil.copytree(directory, job / f"rank.{rank}")
    (job / "ranks.tsv").write_text("tsanom ranks 1\nsize\t4\njob\t1\n")
    assert tsanom.Run.ranks(job) == ([0, 2], 4)
    together = tsanom.Run.of_processes([job / "rank.0", job / "rank.2"])
    times = together.region_times()
    assert times.processes == [str(job / "rank.0"), str(job / "rank.2")]
    assert np.array_equal(times.times[0], times.times[1])
    copy = pickle.loads(pickle.dumps(together))
    assert np.array_equal(copy.region_times().times, times.times)
    assert tsanom.Run(job).region_times().processes == ["0", "2"]


def test_messages(tmp_path):
    """The page of src/record/format.h."""
    directory = tmp_path / "run"
    with tsanom.heartbeat.record(directory, vital_ms=-1):
        tsanom.heartbeat.beat()
    assert tsanom.Run.messages(directory) == []
    version = int.from_bytes(next(directory.glob("heartbeat.0*")).read_bytes()[8:12], "little")
    kept = {n: struct.pack("<QQii224s", n, n * 10**9, 40 + n, 28 if n % 2 else 0,
                           f"message {n}".encode()) for n in range(3, 19)}
    page = b"TSNMESSG" + struct.pack("<IIQ104x", version, 4096, 18)
    page += b"".join(kept[n] for n in [17, 18, *range(3, 17)])
    (directory / "messages").write_bytes(page)
    found = tsanom.Run.messages(directory)
    assert [one.number for one in found] == list(range(3, 19))
    assert found[0] == tsanom.Message(3, 3.0, 43, 28, "message 3")
    (directory / "messages").write_bytes(page[:-1])
    with pytest.raises(tsanom.TsanomError):
        tsanom.Run.messages(directory)


def test_damage(tmp_path):
    directory = tmp_path / "run"
    with tsanom.heartbeat.record(directory, vital_ms=-1):
        for i in range(1000):
            tsanom.heartbeat.beat(tag=i)
    whole = tsanom.Run(directory)
    assert whole.damage() is None and whole.info.beats == 1000
    assert np.array_equal(whole.streams()[0].tag, np.arange(1000))
    assert np.array_equal(whole.streams()[0].time, whole.beats())
    file = next(directory.glob("heartbeat.0*"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(tsanom.TsanomError):
        tsanom.Run(directory)
    run = tsanom.Run(directory, salvage=True)
    info, damage = run.info, run.damage()
    assert 0 < info.beats < 1000 and info.beats + info.skipped == 1000
    assert np.array_equal(run.streams()[0].tag, np.arange(info.beats))
    assert damage.file == str(file) and damage.text and damage.line == 0
    assert 4096 + 16 * info.beats == damage.offset


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
