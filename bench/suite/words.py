# SPDX-License-Identifier: BSD-3-Clause
"""What a number stands for where a benchmark's argument is no amount."""

EVERYWHERE = {
    "isa": {"0": "best", "1": "base", "2": "v3", "3": "v4", "4": "sve"},
    "cost": {"0": "absolute", "1": "squared"},
    "radius": {"0": "all"},
    "memory": {"0": "full", "1": "linear"},
    "milli_eps": {"0": "infinite"},
}
OF_PROGRAM = {
    "dpd": {
        "stream": {"0": "periodic", "1": "nested", "2": "random"},
        "single": {"0": "many", "1": "one-by-one"},
    },
    "heartbeat": {"clock": {"1": "tsc", "2": "monotonic"}},
    "polyfit": {"refine": {"0": "plain", "1": "refined"}},
    "roughset": {"family": {"1": "mixed", "2": "binary", "3": "planted", "4": "inconsistent"}},
    "spmd": {"clock": {"0": "elapsed", "1": "cpu"},
             "family": {"0": "balanced", "1": "one", "2": "two"}},
}


def argument(program, name, value):
    meanings = OF_PROGRAM.get(program, {}).get(name, EVERYWHERE.get(name, {}))
    return f"{name}:{meanings.get(value, value)}"
