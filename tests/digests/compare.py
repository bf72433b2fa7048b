# SPDX-License-Identifier: BSD-3-Clause
"""Compare what tests/digests/values printed on two machines: compare.py FIRST SECOND FUNCTION=ULPS...

Calls of the functions named may differ by ULPS units in the last place, because they use exp, log
and others of the machine's libm; all others must be equal in every bit."""

import math
import sys
from collections import defaultdict


def distance(first: str, second: str) -> float:
    """Units in the last place of the larger number."""
    a, b = float.fromhex(first), float.fromhex(second)
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return abs(a - b) / math.ulp(max(abs(a), abs(b)))


def main() -> int:
    first, second = (open(name, encoding="ascii").read().splitlines() for name in sys.argv[1:3])
    allowed = {name: float(ulps) for name, ulps in (text.split("=") for text in sys.argv[3:])}
    if len(first) != len(second) or not first:
        print(f"{len(first)} and {len(second)} lines")
        return 1
    calls, different, most = defaultdict(int), defaultdict(int), defaultdict(float)
    for one, two in zip(first, second):
        name, *values = one.split()
        others = two.split()[1:]
        calls[name] += 1
        if one != two:
            different[name] += 1
            # The number of the call and the status come first.
            equal = values[:2] == others[:2] and len(values) == len(others)
            worst = max(map(distance, values[2:], others[2:]), default=0) if equal else math.inf
            most[name] = max(most[name], worst)
    wrong = [name for name in different if name not in allowed or most[name] > allowed[name]]
    for name in calls:
        print(f"{name}: {different[name]} of {calls[name]} calls differ, by at most "
              f"{most[name]:.3g} ulp{'  WRONG' if name in wrong else ''}")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
