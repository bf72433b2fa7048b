# SPDX-License-Identifier: BSD-3-Clause
"""Random arguments by type, for every public function with arrays: `python3 fuzz_arguments.py
[CALLS [SEED]]`. Each call returns, or raises TypeError, ValueError or MemoryError; an array that
was converted to another kind gives the result of the array. Whatever else it does ends the program
with the call that did it."""

import inspect
import random
import resource
import signal
import sys
import traceback
import warnings

import numpy as np
import test_arguments as table
import tsanom

ALLOWED = (TypeError, ValueError, MemoryError)
SECONDS = 20
ARRAYS = [*((entry, (table.LAYOUTS, table.ONE, table.REALS)) for entry in table.NUMBERS),
          *((entry, (table.LAYOUTS, table.TWO, table.REALS)) for entry in table.MATRICES),
          *((entry, (table.LAYOUTS, table.TWO, table.SEQUENCES, table.REALS))
            for entry in table.SETS),
          *((entry, (table.LAYOUTS, table.ONE, table.WHOLE)) for entry in table.INTEGERS),
          *((entry, (table.LAYOUTS, table.TWO, table.WHOLE)) for entry in table.PAIRS),
          *((entry, (table.LAYOUTS, table.ONE, table.WHOLE)) for entry in table.COLUMNS)]
ANY = [convert for group in (table.LAYOUTS, table.ONE, table.TWO, table.SEQUENCES, table.REALS,
                             table.WHOLE, table.BAD, table.FLAT, table.MISSING, table.EMPTY,
                             table.FRACTIONS) for convert in group.values()]
VALUES = [None, True, False, np.True_, -2, -1, 0, 1, 2, 3, 7, 64, 65, 2**31, 2**63, 2**64, 10**30,
          np.int8(-1), np.int64(3), np.uint64(2**63), -1.5, 0.0, 0.1, 0.5, 1.0, 2.0, 1e300, 1e-300,
          float("inf"), float("nan"), np.float32(0.5), 1j, "", "width", "aicc", "squared", "xi",
          "\0", b"x", (), (1,), (1, 2), [0.5], [1, 2, 3], {}, {1: 2}, {1}, np.zeros(3), np.array(2),
          np.array("a"), np.datetime64("2020"), object(), ValueError, len, slice(2), range(3), ...]
# A function, the arguments without which it cannot be called, and options that start threads or
# callbacks.
OPTIONS = [(tsanom.dtw, (table.X, table.Y)), (tsanom.dtw_path, (table.X, table.Y)),
           (tsanom.dtw_matrix, (table.SERIES,)), (tsanom.dtw_medoid, (table.SERIES,)),
           (tsanom.dtw_barycenter, (table.SERIES,)), (tsanom.envelope, (table.X, 1)),
           (tsanom.lb_kim, (table.X, table.Y)), (tsanom.lb_keogh_pair, (table.X, table.Y, 1)),
           (tsanom.lb_improved, (table.X, table.Y, 1)),
           (tsanom.lb_enhanced, (table.X, table.Y, 1)), (tsanom.EnvelopeStream, (1,)),
           (tsanom.Index, (table.SERIES,)), (table.INDEX.kneighbors, (table.SERIES,)),
           (tsanom.search_stream, (table.X[:3], table.Y)), (tsanom.optics_order, (table.POINTS,)),
           (tsanom.polyfit, (table.TIMES, table.Y)), (tsanom.FitStream, ()),
           (tsanom.period, (np.tile(table.X, 4),)), (tsanom.PeriodDetector, ()),
           (tsanom.loops, (table.EVENTS,)), (tsanom.main_loop, (table.EVENTS,)),
           (tsanom.find_changes, (np.repeat(table.X, 40),)), (tsanom.ChangeDetector, ()),
           (tsanom.compare_runs, (table.X, table.Y)),
           (tsanom.reducts, ({"a": [0, 0, 1], "b": [0, 1, 1]}, [0, 1, 1])),
           (tsanom.minimum_reducts, ({"a": [0, 0, 1], "b": [0, 1, 1]}, [0, 1, 1])),
           (tsanom.decision_rules, ({"a": [0, 0, 1], "b": [0, 1, 1]}, [0, 1, 1])),
           (tsanom.discretize, (table.X, 3)), (tsanom.heart_rate, (table.TIMES, 2)),
           (tsanom.spmd_analyze, (table.WORK,)),
           (tsanom.Watch, (3,)),
           (tsanom.Run, ("/none",)), (tsanom.Run.ranks, ("/none",)),
           (tsanom.Model.load, ("/none",)),
           (tsanom.Model.learn, ([[table.TIMES * (1 + k / 64)] for k in range(4)],)),
           (tsanom.OPTICS, ())]
LEFT_OUT = {"threads", "n_jobs", "progress", "self"}


def late(number, frame):
    raise TimeoutError(f"more than {SECONDS} s of processor time")


def random_array(chance, value):
    """Values that no other test has, of the same shape."""
    kind = chance.randrange(6)
    if kind == 0:
        return value
    made = np.random.default_rng(chance.randrange(2**32)).integers(-9, 9, value.shape)
    if kind == 1:
        made = made * chance.choice([1e-310, 1e-160, 1e150, 1e300, 2.0**52])
    made = made.astype(value.dtype) if kind > 2 else made
    return made[:chance.randrange(len(made) + 1)] if kind == 5 else made


def call_with_array(chance):
    (name, argument, value, call), groups = chance.choice(ARRAYS)
    convert = chance.choice(ANY)
    is_known = chance.random() < 0.3 and not (value * 64 % 64).any()
    if is_known:
        convert = chance.choice(list(chance.choice(groups).values()))
    else:
        value = random_array(chance, value)
    try:
        given = convert(value)
        if chance.random() < 0.1:
            given = chance.choice(ANY)(np.asarray(given))
            is_known = False
    except Exception:  # this kind has no such values
        return
    result = call(given)
    if is_known and table.plain(result) != table.plain(call(value.copy())):
        raise AssertionError(f"{name}({argument}): {given!r}")


def call_with_options(chance):
    function, positional = chance.choice(OPTIONS)
    names = [name for name, parameter in inspect.signature(function).parameters.items()
             if name not in LEFT_OUT and parameter.kind is not parameter.VAR_KEYWORD]
    chosen = chance.sample(names, min(len(names), chance.randrange(1, 4)))
    given = dict(zip(names, positional))
    given.update({name: chance.choice(VALUES) for name in chosen})
    made = function(**given)
    if function is tsanom.OPTICS:
        made.fit(table.POINTS)
    if function is tsanom.PeriodDetector:
        made.push(table.EVENTS)


def main(calls=100_000, seed=1):
    chance = random.Random(seed)
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    signal.signal(signal.SIGPROF, late)
    warnings.simplefilter("ignore")
    raised, places = 0, set()
    for i in range(calls):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            (call_with_array if chance.random() < 0.5 else call_with_options)(chance)
        except ALLOWED as error:
            raised += 1
            if not str(error) and not isinstance(error, MemoryError):
                raise AssertionError(f"call {i}: an error without a text") from error
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            if (type(error), last.filename, last.lineno) not in places:
                places.add((type(error), last.filename, last.lineno))
                print(f"call {i} of seed {seed}:", file=sys.stderr)
                traceback.print_exc(limit=-4)
        signal.setitimer(signal.ITIMER_PROF, 0)
    print(f"{calls} calls, {raised} errors of the expected kinds, findings at {len(places)} places")
    return len(places) != 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
