# SPDX-License-Identifier: BSD-3-Clause
"""References written from the definitions."""

import itertools
import math


def cost_of(x, y, cost):
    pairs = zip(x, y) if hasattr(x, "__len__") else [(x, y)]
    return sum(abs(a - b) if cost == "absolute" else (a - b) ** 2 for a, b in pairs)


def dtw(x, y, radius=None, cost="absolute", penalty=0.0):
    """The plain double loop."""
    n, m = len(x), len(y)
    table = [[math.inf] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            if radius is not None and abs(i - j) > radius:
                continue
            best = 0.0 if i == j == 0 else math.inf
            if i and j:
                best = min(best, table[i - 1][j - 1])
            if i:
                best = min(best, penalty + table[i - 1][j])
            if j:
                best = min(best, penalty + table[i][j - 1])
            table[i][j] = cost_of(x[i], y[j], cost) + best
    return table[-1][-1]


def envelope(x, radius):
    windows = [x[max(0, i - radius):i + radius + 1] for i in range(len(x))]
    return [min(w) for w in windows], [max(w) for w in windows]


def keogh(c, lower, upper, cost):
    total = 0.0
    for value, low, high in zip(c, lower, upper):
        outside = max(value - high, low - value, 0.0)
        total += outside if cost == "absolute" else outside * outside
    return total


def reducts(values, decision):
    """Minimal hitting sets of the discernibility elements."""
    attributes = range(len(values[0]))
    elements = [{a for a in attributes if x[a] != y[a]}
                for (x, d), (y, e) in itertools.combinations(zip(values, decision), 2) if d != e]
    elements = [element for element in elements if element]
    found = []
    for size in range(len(attributes) + 1):
        for subset in map(frozenset, itertools.combinations(attributes, size)):
            if all(element & subset for element in elements) and not any(
                    other < subset for other in found):
                found.append(subset)
    return set(found)
