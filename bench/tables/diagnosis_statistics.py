# SPDX-License-Identifier: BSD-3-Clause
"""F-scores of diagnosed runs, and how sure they are."""
import math
import random

NORMAL_95 = 1.959963984540054  # quantile of the normal distribution


def wilson(right, count):
    """95 % interval of a probability that was estimated by `right` of `count`
    (E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    J. Am. Stat. Assoc. 22, 1927)."""
    if not count:
        return 0.0, 1.0
    z2 = NORMAL_95 ** 2
    middle = (right + z2 / 2) / (count + z2)
    half = NORMAL_95 / (count + z2) * math.sqrt(right * (count - right) / count + z2 / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def share(right, count):
    """`right of count (low-high %)`"""
    low, high = wilson(right, count)
    return f"{right} of {count} ({100 * low:.0f}–{100 * high:.0f} %)" if count else "–"


def f_scores(pairs):
    """F-score of each class that is expected, of pairs (expected, found)."""
    scores = {}
    for name in sorted({e for e, _ in pairs}):
        right = sum(e == f == name for e, f in pairs)
        named = sum((e == name) + (f == name) for e, f in pairs)
        scores[name] = 2 * right / named
    return scores


def macro_f(pairs):
    scores = f_scores(pairs)
    return sum(scores.values()) / len(scores) if scores else float("nan")


def bootstrap(pairs, statistic=macro_f, samples=1000, seed=1):
    """95 % interval of a statistic by resampling within each expected class (percentile
    method: B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13)."""
    generator = random.Random(seed)
    classes = {}
    for pair in pairs:
        classes.setdefault(pair[0], []).append(pair)
    if not classes:
        return float("nan"), float("nan")
    values = sorted(statistic([p for of in classes.values()
                               for p in generator.choices(of, k=len(of))])
                    for _ in range(samples))
    return values[round(0.025 * (samples - 1))], values[round(0.975 * (samples - 1))]
