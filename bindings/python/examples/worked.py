# SPDX-License-Identifier: BSD-3-Clause
"""Which threads progress in the same way?

    worked.py [PICTURE]

Twelve threads beat at rates with phases that begin at different times; four of them slow down in
the middle. Warping removes the differences of time, and OPTICS finds the two classes. The picture
shows the rates by class, the reachability plot, and the warping path of two threads of one
class."""

import sys

import numpy as np
import tsanom

rng = np.random.default_rng(7)


def heart_rate(slow):
    """200 samples of a rate with three phases, the second one slower or not."""
    begin, end = 60 + rng.integers(-15, 15), 140 + rng.integers(-15, 15)
    rate = np.full(200, 20.0)
    rate[begin:end] = 9.0 if slow else 16.0
    return rate + rng.normal(0, 0.1, rate.size)


rates = np.stack([heart_rate(slow=i % 3 == 2) for i in range(12)])
distances = tsanom.dtw_matrix(rates, radius=40, condensed=True, threads=-1)
order = tsanom.optics_order(distances, min_samples=1, metric="precomputed")
classes = order.split().labels
path, distance = tsanom.dtw_path(rates[0], rates[1], radius=40)
print("classes:", *classes)
print(f"threads 0 and 1: {np.abs(rates[0] - rates[1]).sum():.0f} apart, warped {distance:.0f}")

if len(sys.argv) > 1:
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    for rate, label in zip(rates, classes):
        left.plot(rate, color=f"C{label}", linewidth=0.8)
    left.set(xlabel="sample", ylabel="beats per second", title="heart rates, by class")
    reachability = order.reachability[order.ordering]
    middle.bar(range(len(rates)), np.where(np.isinf(reachability), 0, reachability),
               color=[f"C{label}" for label in classes[order.ordering]])
    middle.axhline(order.split().cut, color="gray", linestyle="--")
    middle.set(xlabel="position in the order", ylabel="reachability", title="OPTICS")
    right.plot(path[:, 0], path[:, 1])
    right.set(xlabel="sample of thread 0", ylabel="sample of thread 1", title="warping path",
              aspect="equal")
    figure.savefig(sys.argv[1])
