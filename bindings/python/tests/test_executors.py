# SPDX-License-Identifier: BSD-3-Clause
"""Tiles that workers compute are bitwise those of one call."""

import concurrent.futures
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tsanom

RNG = np.random.default_rng(9)
X = RNG.normal(size=(23, 30))
EXAMPLES = Path(__file__).parent.parent / "examples"


def check(executor):
    whole = tsanom.dtw_matrix(X, radius=5)
    for tile in (None, 1 + len(X) // 2, 100):
        assert np.array_equal(tsanom.dtw_matrix(X, radius=5, executor=executor, tile=tile), whole)
    condensed = tsanom.dtw_matrix(X, radius=5, condensed=True, executor=executor)
    assert np.array_equal(condensed, tsanom.dtw_matrix(X, radius=5, condensed=True))
    cross = tsanom.dtw_matrix(X[:9], X, 5, cost="squared", root=True, executor=executor)
    assert np.array_equal(cross, tsanom.dtw_matrix(X[:9], X, 5, cost="squared", root=True))


def test_threads():
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        check(executor)
        parts = [RNG.normal(size=n) for n in (4, 9, 6, 7, 5)]
        assert np.array_equal(tsanom.dtw_matrix(parts, executor=executor, tile=2),
                              tsanom.dtw_matrix(parts))
        single = X.astype(np.float32)
        tiles = tsanom.dtw_matrix(single, executor=executor)
        assert tiles.dtype == np.float32 and np.array_equal(tiles, tsanom.dtw_matrix(single))
        calls = []
        tsanom.dtw_matrix(X, executor=executor, progress=lambda *done: calls.append(done))
        assert calls[-1] == (36, 36)
        with pytest.raises(tsanom.TsanomError):
            tsanom.dtw_matrix([[1.0], [np.inf]], executor=executor)
        with pytest.raises(ValueError):
            tsanom.dtw_matrix(X, executor=executor, tile=-1)


def rejection(call, *arguments):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(*arguments)
    error = caught.value
    return type(error), getattr(error, "status", None), getattr(error, "argument", None), getattr(
        error, "index", None)


@pytest.mark.parametrize("shape", [(9, 5), (9, 5, 2), (1, 5), (0, 5), (3, 0)])
def test_what_is_rejected_does_not_depend_on_the_executor(shape):
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        for _ in range(5):
            bad = RNG.normal(size=shape)
            k = RNG.integers(bad.size or 1)
            bad.reshape(-1)[k:k + 1] = RNG.choice([np.nan, np.inf, -np.inf])
            for given in (bad, list(bad), bad.astype(np.float32)):
                alone = rejection(tsanom.dtw_matrix, given)
                assert rejection(lambda: tsanom.dtw_matrix(given, executor=executor)) == alone
                cross = np.ones((2, *shape[1:]))
                alone = rejection(tsanom.dtw_matrix, cross, given)
                assert rejection(
                    lambda: tsanom.dtw_matrix(cross, given, executor=executor)) == alone
        for progress in (5, "yes"):
            assert rejection(lambda: tsanom.dtw_matrix(X, progress=progress)) == rejection(
                lambda: tsanom.dtw_matrix(X, progress=progress, executor=executor))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        check(executor)


def test_worked_example_of_the_manual(tmp_path):
    pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, EXAMPLES / "worked.py", tmp_path / "picture.svg"],
                          check=True, capture_output=True, text=True)
    assert (tmp_path / "picture.svg").exists()
    # docs/python.md shows this.
    assert done.stdout == ("classes: 0 0 1 0 0 1 0 0 1 0 0 1\n"
                           "threads 0 and 1: 47 apart, warped 12\n")


def test_dask():
    pytest.importorskip("distributed")
    subprocess.run([sys.executable, EXAMPLES / "dask_tiles.py"], check=True, timeout=600)


def test_mpi():
    pytest.importorskip("mpi4py")
    mpirun = shutil.which("mpirun.openmpi") or pytest.skip("no Open MPI")
    subprocess.run([mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable,
                    "-m", "mpi4py.futures", EXAMPLES / "mpi_tiles.py"], check=True, timeout=600,
                   env={**os.environ, "OMPI_MCA_rmaps_base_oversubscribe": "1"})
