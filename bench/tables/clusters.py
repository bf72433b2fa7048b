#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The automatic answer of `tsanom cluster` on points whose classes are known.

    clusters.py BUILD [--seeds 11 12 13 14 15] [--one-class]

Prints the adjusted Rand index by data set (cluster_data.py), the mean over the seeds and
over min_points of 5, 10 and 20, beside two ways to read clusters from the same
reachability plot: scikit-learn's default, steepness with xi = 0.05, and excess of mass,
the default of HDBSCAN, with clusters of at least min_points points. --one-class prints
how often points of one class are reported as several. BUILD is one that `cmake --preset
bench && cmake --build --preset bench` made. Needs Debian's python3-sklearn.
"""
import argparse
import json
import pathlib
import subprocess
import warnings

import numpy
import sklearn
from sklearn.cluster import cluster_optics_xi
from sklearn.metrics import adjusted_rand_score

import cluster_data

MIN_POINTS = (5, 10, 20)


def run_tsanom(build, points, min_points):
    rows = "\n".join(",".join(f"{x:.17g}" for x in row) for row in points)
    command = [build / "tools" / "tsanom" / "tsanom", "cluster", "--json", "--min-pts",
               str(min_points), "-"]
    answer = subprocess.run(command, check=True, text=True, input=rows + "\n",
                            stdout=subprocess.PIPE).stdout
    return json.loads(answer)


def numbers(values, unknown, kind):
    return numpy.array([unknown if v is None else v for v in values], kind)


def by_steepness(answer, min_points):
    order = numpy.array(answer["order"])
    reachability = numpy.empty(len(order))
    predecessor = numpy.empty(len(order), int)
    reachability[order] = numbers(answer["reachability"], numpy.inf, float)
    predecessor[order] = numbers(answer["predecessor"], -1, int)
    labels, _ = cluster_optics_xi(reachability=reachability, predecessor=predecessor,
                                  ordering=order, min_samples=min_points)
    return labels


def condense(steps, first, end, birth, least):
    """A cluster of the condensed tree: [first, end, mass, clusters that it divides into].
    Its mass is the sum over its points of 1 / (step at which the point leaves it) -
    1 / birth. Points leave when the highest step inside divides the rest of it, until
    both parts have `least` points."""
    mass, low, high = 0.0, first, end
    density = 1 / numpy.maximum(steps, steps[steps > 0].min(initial=numpy.inf))
    while high - low > 1:
        at = low + 1 + int(numpy.argmax(steps[low + 1:high]))
        parts = [(low, at), (at, high)]
        large = [part for part in parts if part[1] - part[0] >= least]
        if len(large) != 1:
            mass += (high - low) * (density[at] - birth)
            children = [condense(steps, *part, density[at], least) for part in large]
            return [first, end, mass, children]
        mass += (high - low - (large[0][1] - large[0][0])) * (density[at] - birth)
        low, high = large[0]
    return [first, end, mass, []]


def heaviest(cluster):
    """Clusters that are disjoint and have the largest mass in total, and the mass."""
    inner = [heaviest(child) for child in cluster[3]]
    below = sum(mass for mass, _ in inner)
    if cluster[2] >= below:
        return cluster[2], [cluster]
    return below, [chosen for _, several in inner for chosen in several]


def by_excess_of_mass(answer, min_points):
    steps = numbers(answer["reachability"], numpy.inf, float)
    root = condense(steps, 0, len(steps), 0, min_points)
    labels = numpy.full(len(steps), -1)
    chosen = [c for child in root[3] for c in heaviest(child)[1]]
    for label, (first, end, _, _) in enumerate(chosen):
        labels[numpy.array(answer["order"])[first:end]] = label
    return labels


def scores(build, make, min_points, seed):
    points, classes = make(numpy.random.default_rng(seed))
    answer = run_tsanom(build, points, min_points)
    return [adjusted_rand_score(classes, labels)
            for labels in (by_steepness(answer, min_points),
                           by_excess_of_mass(answer, min_points), answer["labels"])]


def row(name, values):
    print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in values) + " |", flush=True)


def print_scores(chosen):
    print(f"| data | scikit-learn {sklearn.__version__}, xi | excess of mass | libtsanom |")
    print("|---|---|---|---|")
    means = []
    for name, make in cluster_data.SETS.items():
        means.append([[scores(chosen.build, make, k, seed) for seed in chosen.seeds]
                      for k in MIN_POINTS])
        row(name, numpy.mean(means[-1], axis=(0, 1)))
    of = numpy.mean(means, axis=2)  # data, min_points, method
    for at, min_points in enumerate(MIN_POINTS):
        row(f"mean, min_points {min_points}", of[:, at].mean(axis=0))
    row("mean", of.mean(axis=(0, 1)))
    each = of.mean(axis=1).round(2)
    for at, peer in enumerate(("xi", "excess of mass")):
        print(f"\nAt least as good as {peer}: {(each[:, 2] >= each[:, at]).sum()} of {len(each)}.")


def several_rate(build, draw, dimensions, count, min_points, runs):
    several = 0
    for seed in range(runs):
        random = numpy.random.default_rng(100 + seed)
        points = getattr(random, draw)(size=(count, dimensions))
        several += run_tsanom(build, points, min_points)["clusters"] > 1
    return several


def print_one_class(build):
    print("| points | min_points | dimensions | uniform, % | normal, % | exponential, % |")
    print("|---|---|---|---|---|---|")
    for count, min_points, runs in ((50, 5, 100), (300, 5, 100), (300, 20, 100), (5000, 10, 20)):
        for dimensions in (1, 2, 3, 10):
            rates = [100 * several_rate(build, draw, dimensions, count, min_points, runs) / runs
                     for draw in ("uniform", "standard_normal", "exponential")]
            print(f"| {count} | {min_points} | {dimensions} | "
                  + " | ".join(f"{rate:.0f}" for rate in rates) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13, 14, 15])
    parser.add_argument("--one-class", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # of steps of 0 or infinity, by scikit-learn
    if chosen.one_class:
        print_one_class(chosen.build)
    else:
        print_scores(chosen)


if __name__ == "__main__":
    main()
