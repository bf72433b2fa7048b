# SPDX-License-Identifier: BSD-3-Clause
"""What a process needs: interruption, threads, fork, one OpenMP runtime, no scikit-learn."""

import multiprocessing
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import tsanom
from tsanom._call import NULL, Execution, _take, _unused

RNG = np.random.default_rng(10)
SERIES = RNG.normal(size=(600, 400))


class Interrupted(Exception):
    pass


def long_calls():
    points = RNG.normal(size=(200000, 3))
    x = RNG.normal(size=2000000)
    return {
        "dtw": lambda: tsanom.dtw(x[:50000], x[50000:100000]),
        "dtw_path": lambda: tsanom.dtw_path(x[:60000], x[60000:120000], memory="linear"),
        "dtw_matrix": lambda: tsanom.dtw_matrix(SERIES),
        "dtw_matrix_threads": lambda: tsanom.dtw_matrix(SERIES, threads=2),
        "dtw_medoid": lambda: tsanom.dtw_medoid(SERIES),
        "dtw_barycenter": lambda: tsanom.dtw_barycenter(SERIES, SERIES[0], iterations=1000,
                                                        tolerance=0.0),
        "optics": lambda: tsanom.optics_order(points, 20),
        "optics_exhaustive": lambda: tsanom.optics_order(points, 5, search="exhaustive"),
        "search": lambda: tsanom.Index(SERIES).kneighbors(RNG.normal(size=(600, 400)), 600),
        "search_stream": lambda: tsanom.search_stream(RNG.normal(size=2000), x),
        "polyfit": lambda: tsanom.polyfit(x, x, 40),
        "period": lambda: tsanom.period(x[:500000]),
        "reducts": lambda: tsanom.reducts(RNG.integers(0, 2, (400, 40)), RNG.integers(0, 2, 400)),
    }


@pytest.mark.parametrize("name", list(long_calls()))
def test_a_signal_stops_a_call(name):
    """A handler that raises, as that of Ctrl-C does."""
    def stop(number, frame):
        raise Interrupted

    previous = signal.signal(signal.SIGALRM, stop)
    try:
        call = long_calls()[name]
        with pytest.raises(Interrupted):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert tsanom.dtw([0, 1], [1, 1]) == 1.0


def test_a_later_call_is_not_stopped_by_an_earlier_signal():
    """A call raises the first exception of its polls; others, and those of a call that ends by a
    signal outside of a poll, are none of the next call."""
    execution = Execution()
    execution._caught += [Interrupted("first"), Interrupted("second")]
    with pytest.raises(Interrupted, match="first"):
        execution.check(0, ())
    assert execution.check(0, ()) == 0
    execution._caught.append(Interrupted("third"))
    _unused.append(execution)
    assert _take() is execution and execution.check(0, ()) == 0


def test_progress_is_reported_and_may_raise():
    calls = []
    tsanom.dtw_matrix(SERIES[:200], progress=lambda done, total: calls.append((done, total)))
    assert calls and all(done <= total for done, total in calls)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)

    def fail(done, total):
        raise Interrupted

    with pytest.raises(Interrupted):
        tsanom.dtw_matrix(SERIES, progress=fail)


def test_calls_of_other_threads_are_not_polled():
    """Each poll would wait for the interpreter's lock, and Python handles no signals there."""
    polls = []

    def note():
        polls.append(Execution().exec.poll)
        polls.append(Execution(progress=lambda done, total: None).exec.poll)

    note()
    worker = threading.Thread(target=note)
    worker.start()
    worker.join()
    assert [poll != NULL for poll in polls] == [True, True, False, True]


def test_a_call_within_a_poll():
    """Both have executions of their own, and an error of one is not seen by the other."""
    errors = []

    def report(done, total):
        with pytest.raises(tsanom.TsanomError) as caught:
            tsanom.dtw_matrix([[1.0, 2.0], [np.nan, 1.0]])
        errors.append(caught.value.index)
        assert tsanom.dtw_matrix(SERIES[:9])[1, 0] == tsanom.dtw(SERIES[0], SERIES[1])

    expected = tsanom.dtw_matrix(SERIES[:20])
    assert np.array_equal(tsanom.dtw_matrix(SERIES[:20], progress=report), expected)
    assert errors and set(errors) == {(1, 0)}


def test_an_execution_is_as_new_after_an_error():
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.dtw_matrix([[1.0, 2.0], [np.nan, 1.0]])
    assert caught.value.argument == "X"
    with pytest.raises(tsanom.TsanomError) as caught:
        tsanom.polyfit([0.0, 1.0], [np.inf, 1.0])
    assert (caught.value.argument, caught.value.index, caught.value.file) == ("y", 0, None)


def test_progress_bar():
    pytest.importorskip("tqdm")
    code = ("import numpy as np, tsanom; "
            "tsanom.dtw_matrix(np.random.rand(300, 200), progress=True)")
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "100%" in done.stderr


def test_two_threads_compute_at_the_same_time():
    """Both are inside their calls when they meet, and a thread of Python runs beside one."""
    meeting = threading.Barrier(2, timeout=600)
    met = []

    def compute():
        first = []

        def report(done, total):
            if not first:
                first.append(meeting.wait())

        tsanom.dtw_matrix(SERIES[:150], progress=report)
        met.append(first)

    threads = [threading.Thread(target=compute) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(met) == 2 and all(met)
    # With the interpreter's lock held, this loop would not run before the call ends.
    count = 0
    worker = threading.Thread(target=lambda: tsanom.dtw_matrix(SERIES[:150]))
    worker.start()
    while worker.is_alive():
        count += 1
    assert count > 1000


def distance_of_a_child(seed):
    x = np.random.default_rng(seed).normal(size=(20, 100))
    return tsanom.dtw_matrix(x, condensed=True, threads=2).tolist()


def test_forked_children_of_a_threaded_parent_compute():
    expected = [distance_of_a_child(seed) for seed in range(4)]
    context = multiprocessing.get_context("fork")
    for _ in range(10):
        with context.Pool(2) as pool:
            assert pool.map_async(distance_of_a_child, range(4)).get(timeout=600) == expected


def test_one_openmp_runtime():
    code = """
import numpy, scipy.linalg, sklearn.cluster, tsanom
numpy.linalg.svd(numpy.random.rand(300, 300))
sklearn.cluster.KMeans(2, n_init=1).fit(numpy.random.rand(500, 2))
tsanom.dtw_matrix(numpy.random.rand(40, 100), threads=2)
maps = open("/proc/self/maps").read().split()
files = {word for word in maps if "libgomp" in word or "libomp" in word}
assert len(files) == 1, files
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_scikit_learn_is_optional():
    code = """
import sys
sys.modules["sklearn"] = None
import tsanom
tsanom.optics_order([[0.0], [1.0]], 1)
try:
    tsanom.OPTICS
except ImportError:
    sys.exit(0)
sys.exit("OPTICS without scikit-learn")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_does_not_need_optional_packages():
    code = """
import sys, tsanom
assert "numpy" not in sys.modules, "a module was imported before one of its names was used"
for name in set(tsanom.__all__) - {"OPTICS"}:
    getattr(tsanom, name)
assert not {"sklearn", "pandas", "tqdm", "scipy", "cffi"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_are_complete():
    assert all(hasattr(tsanom, name) for name in tsanom.__all__)
    assert set(tsanom.__all__) <= set(dir(tsanom))
    assert tsanom.__version__.count(".") == 2
    with pytest.raises(AttributeError):
        tsanom.nothing
