# SPDX-License-Identifier: BSD-3-Clause
"""A matrix of DTW distances by the workers of Dask. Here they are processes of this machine; a
Client with the address of a scheduler uses those of a cluster."""

import numpy as np
import tsanom
from distributed import Client

if __name__ == "__main__":
    series = np.random.default_rng(0).normal(size=(100, 128))
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        matrix = tsanom.dtw_matrix(series, radius=10, executor=client.get_executor())
    assert np.array_equal(matrix, tsanom.dtw_matrix(series, radius=10))
    print("sum of distances:", matrix.sum())
