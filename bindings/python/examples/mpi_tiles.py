# SPDX-License-Identifier: BSD-3-Clause
"""A matrix of DTW distances by MPI ranks:

    mpirun -n 3 python3 -m mpi4py.futures mpi_tiles.py

Rank 0 runs this program, the others compute tiles."""

import numpy as np
import tsanom
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    series = np.random.default_rng(0).normal(size=(100, 128))
    with MPIPoolExecutor() as executor:
        matrix = tsanom.dtw_matrix(series, radius=10, executor=executor)
    assert np.array_equal(matrix, tsanom.dtw_matrix(series, radius=10))
    print("sum of distances:", matrix.sum())
