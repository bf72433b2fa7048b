# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of argument × every public function with arrays: the result is that for the array
that `numpy.asarray` and a conversion by hand make of it, or an error that names the argument.
The table is that of _arrays.py."""

import array
import dataclasses
import inspect
import re
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tsanom
from foreign import Broken, ByArray, ByArrow, ByDlpack

try:
    import torch
except ImportError:
    torch = None

# Small integers, which all types represent and of which no sum is rounded.
X = np.array([3.0, 0, 1, 6, 2, 5, 1, 4])
Y = np.array([2.0, 1, 1, 5, 3, 5, 0, 4])
TIMES = np.array([1.0, 2, 4, 5, 7, 8, 10, 13])
SERIES = np.array([[3.0, 0, 1, 6, 2], [0, 1, 1, 5, 3], [4, 4, 0, 1, 2]])
POINTS = np.array([[0.0, 1], [1, 1], [9, 8], [9, 9], [8, 9], [0, 0], [1, 0], [8, 8]])
DISTANCES = np.array([[0.0, 1, 5], [1, 0, 4], [5, 4, 0]])
EVENTS = np.array([7, 8, 9, 9] * 8)
WORK = np.array([[1.0, 2], [1, 2], [1, 4]])
ENVELOPE = tsanom.envelope(Y, 1)
INDEX = tsanom.Index(SERIES, 1)
MODEL = tsanom.Model.learn([[TIMES * (1 + k / 64)] for k in range(4)])


def detector(samples, events):
    made = tsanom.PeriodDetector(window=6, events=events)
    return made.push(samples), made.predict(3)


def stream(x):
    made = tsanom.EnvelopeStream(1)
    return made.push(x), made.finish()


def fit_stream(x, y):
    made = tsanom.FitStream(1)
    made.push(x, y)
    return made.fit().coef


def watch(times):
    made = tsanom.Watch(3)
    return made.update(times, now=40.0), made.pulse(0)


def order(points, metric="euclidean"):
    made = tsanom.optics_order(points, 2, metric=metric)
    return made.ordering, made.reachability, made.core_distances, made.predecessor


def by_hand(ordering, reachability, core_distances, predecessor):
    return tsanom.OpticsOrdering(ordering, reachability, core_distances, predecessor).cut(3.0)


def estimator(points):
    return tsanom.OPTICS(min_samples=2, metric="precomputed").fit(points).labels_


def events(region=EVENTS[:8], begin=TIMES, end=TIMES + 1, threads=1):
    return tsanom.speedup(tsanom.region_events(region, begin, end, threads))


def summary(iterations):
    made = tsanom.region_events(EVENTS[:8], TIMES, TIMES + 1)
    return tsanom.speedup_summarize(made, iterations)


ORDER = order(POINTS)
# Function, argument as the error names it, array, and the call; series of numbers.
NUMBERS = [
    ("dtw", "x", X, lambda a: tsanom.dtw(a, Y, 2)),
    ("dtw", "y", Y, lambda a: tsanom.dtw(X, a, 2, cost="squared", root=True)),
    ("dtw_path", "x", X, lambda a: tsanom.dtw_path(a, Y, 2)),
    ("dtw_path", "y", Y, lambda a: tsanom.dtw_path(X, a)),
    ("dtw_barycenter", "start", SERIES[0], lambda a: tsanom.dtw_barycenter(SERIES, a)),
    ("envelope", "x", X, lambda a: tsanom.envelope(a, 1)),
    ("lb_kim", "x", X, lambda a: tsanom.lb_kim(a, Y)),
    ("lb_kim", "y", Y, lambda a: tsanom.lb_kim(X, a)),
    ("lb_keogh", "c", X, lambda a: tsanom.lb_keogh(a, ENVELOPE)),
    ("lb_keogh", "envelope[0]", ENVELOPE[0], lambda a: tsanom.lb_keogh(X, (a, ENVELOPE[1]))),
    ("lb_tail", "c", X, lambda a: tsanom.lb_tail(a, ENVELOPE)),
    ("lb_tail", "envelope[1]", ENVELOPE[1], lambda a: tsanom.lb_tail(X, (ENVELOPE[0], a))),
    ("lb_keogh_pair", "x", X, lambda a: tsanom.lb_keogh_pair(a, Y, 1)),
    ("lb_keogh_pair", "y", Y, lambda a: tsanom.lb_keogh_pair(X, a, 1)),
    ("lb_improved", "c", X, lambda a: tsanom.lb_improved(a, Y, 1)),
    ("lb_improved", "q", Y, lambda a: tsanom.lb_improved(X, a, 1)),
    ("lb_enhanced", "c", X, lambda a: tsanom.lb_enhanced(a, Y, 1)),
    ("lb_enhanced", "q", Y, lambda a: tsanom.lb_enhanced(X, a, 1)),
    ("EnvelopeStream", "x", X, stream),
    ("search_stream", "query", X[:3], lambda a: tsanom.search_stream(a, Y, 1)),
    ("search_stream", "stream", Y, lambda a: tsanom.search_stream(X[:3], a, 1, z_normalize=True)),
    ("polyfit", "x", TIMES, lambda a: tsanom.polyfit(a, Y, 1).coef),
    ("polyfit", "y", Y, lambda a: tsanom.polyfit(TIMES, a, 1).coef),
    ("polyfit", "weights", TIMES, lambda a: tsanom.polyfit(TIMES, Y, 1, weights=a).coef),
    ("Fit", "x", X, lambda a: tsanom.polyfit(TIMES, Y, 2)(a)),
    ("FitStream", "x", TIMES, lambda a: fit_stream(a, Y)),
    ("FitStream", "y", Y, lambda a: fit_stream(TIMES, a)),
    ("period", "x", np.tile(X, 4), tsanom.period),
    ("PeriodDetector", "samples", np.tile(X[:2], 8), lambda a: detector(a, False)),
    ("OpticsOrdering", "reachability", np.append(X[1:], 2), lambda a: by_hand(
        ORDER[0], a, ORDER[2], ORDER[3])),
    ("OpticsOrdering", "core_distances", X, lambda a: by_hand(ORDER[0], ORDER[1], a, ORDER[3])),
    ("discretize", "samples", X, lambda a: tsanom.discretize(a, 3, "width")),
    ("find_changes", "x", np.repeat(X, 40), tsanom.find_changes),
    ("ChangeDetector", "x", np.repeat(X, 40), lambda a: tsanom.ChangeDetector().push(a)),
    ("compare_runs", "a", X, lambda a: tsanom.compare_runs(a, Y)),
    ("compare_runs", "b", Y, lambda a: tsanom.compare_runs(X, a)),
    ("heart_rate", "times", TIMES, lambda a: tsanom.heart_rate(a, 2)),
    ("main_loop", "times", np.arange(33.0), lambda a: tsanom.main_loop(EVENTS, a)),
    ("region_events", "begin", TIMES, lambda a: events(begin=a)),
    ("region_events", "end", TIMES + 1, lambda a: events(end=a)),
]
# Matrices of numbers.
MATRICES = [
    ("optics_order", "X", POINTS, order),
    ("optics_order", "X", DISTANCES, lambda a: order(a, "precomputed")),
    ("spmd_analyze", "times", WORK, tsanom.spmd_analyze),
    ("spmd_analyze", "metric", WORK, lambda a: tsanom.spmd_analyze(WORK, metrics={"m": a})),
    ("spmd_analyze", "errors", WORK, lambda a: tsanom.spmd_analyze(
        WORK, errors=a)),
]
# Sets of series.
SETS = [
    ("dtw_matrix", "X", SERIES, lambda a: tsanom.dtw_matrix(a, radius=1)),
    ("dtw_matrix", "Y", SERIES, lambda a: tsanom.dtw_matrix(SERIES[:2], a)),
    ("dtw_medoid", "X", SERIES, tsanom.dtw_medoid),
    ("dtw_barycenter", "X", SERIES, tsanom.dtw_barycenter),
    ("Index", "X", SERIES, lambda a: tsanom.Index(a, 1).kneighbors(SERIES[:1], 2)),
    ("Index.kneighbors", "Q", SERIES, lambda a: INDEX.kneighbors(a, 2)),
    ("Index.report", "Q", SERIES, lambda a: INDEX.report(a, 2)),
    ("Model.learn", "normal[1]", np.cumsum(1 + SERIES, axis=1), lambda a: tsanom.Model.learn(
        [np.cumsum(1 + SERIES, axis=1), a], rule="pace").threads),
    ("Model.diagnose", "run", TIMES[None], MODEL.diagnose),
    ("Watch", "news", np.cumsum(1 + SERIES, axis=1), watch),
]
# Integers.
INTEGERS = [
    ("PeriodDetector", "samples", EVENTS, lambda a: detector(a, True)),
    ("loops", "events", EVENTS, tsanom.loops),
    ("main_loop", "events", EVENTS, tsanom.main_loop),
    ("region_events", "region", EVENTS[:8], lambda a: events(region=a)),
    ("region_events", "threads", EVENTS[:8], lambda a: events(threads=a)),
    ("spmd_analyze", "parents", np.array([-1, 0]), lambda a: tsanom.spmd_analyze(WORK, parents=a)),
    ("OpticsOrdering", "ordering", ORDER[0], lambda a: by_hand(a, *ORDER[1:])),
    ("OpticsOrdering", "predecessor", ORDER[3], lambda a: by_hand(*ORDER[:3], a)),
]
PAIRS = [("speedup_summarize", "iterations", np.array([[0, 4], [4, 8]]), summary)]
# Values of tables.
COLUMNS = [
    (name, "the column 'a'", np.array([0, 0, 1, 1, 2, 1]), lambda a, f=function: f(
        {"a": a, "b": [0, 1, 0, 1, 0, 0]}, [0, 1, 1, 1, 0, 0]))
    for name, function in (
        ("reducts", tsanom.reducts), ("minimum_reducts", tsanom.minimum_reducts),
        ("greedy_reduct", tsanom.greedy_reduct), ("core_attributes", tsanom.core_attributes),
        ("dependency", tsanom.dependency), ("significance", tsanom.significance),
        ("decision_rules", tsanom.decision_rules),
        ("inconsistent_pairs", tsanom.inconsistent_pairs))
] + [("reducts", "decision", np.array([0, 1, 1, 0]), lambda a: tsanom.reducts(
    {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, a)),
     ("discretize", "decision", np.array([0, 0, 1, 1]), lambda a: tsanom.discretize(
         [1.0, 2, 3, 4], decision=a))]


def plain(result):
    """A result as nested lists and numbers; arrays of different types are equal by value."""
    if dataclasses.is_dataclass(result):
        return [plain(getattr(result, field.name)) for field in dataclasses.fields(result)]
    if isinstance(result, np.ndarray):
        return plain(result.tolist())
    if isinstance(result, dict):
        return [(plain(key), plain(value)) for key, value in result.items()]
    if isinstance(result, (list, tuple)):
        return [plain(part) for part in result]
    if isinstance(result, (set, frozenset)):
        return sorted(map(str, result))
    return "nan" if result != result else result


def misaligned(x):
    buffer = bytearray(x.nbytes + 1)
    made = np.frombuffer(buffer, x.dtype, x.size, 1).reshape(x.shape)
    made[...] = x
    return made


def spread(x):
    wide = np.zeros(tuple(3 * n for n in x.shape), x.dtype)
    part = wide[tuple(slice(None, None, 3) for _ in x.shape)]
    part[...] = x
    return part


def read_only(x):
    copy = x.copy()
    copy.setflags(write=False)
    return copy


def objects(convert):
    return lambda x: np.vectorize(convert, otypes=[object])(x)


def typed(dtype):
    return lambda x: x.astype(dtype)


LAYOUTS = {
    "contiguous": np.array, "spread": spread, "backward": lambda x: x[::-1].copy()[::-1],
    "Fortran": np.asfortranarray, "misaligned": misaligned, "read only": read_only,
    "subclass": lambda x: x.view(type("Sub", (np.ndarray,), {})),
    "no mask": np.ma.masked_array, "empty mask": lambda x: np.ma.array(x, mask=np.zeros(x.shape)),
    "list": lambda x: x.tolist(), "tuple": lambda x: tuple(x.tolist()),
    "objects": objects(lambda v: v), "__array__": ByArray, "__dlpack__": ByDlpack,
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "dtype with metadata": lambda x: x.astype(np.dtype(x.dtype, metadata={"unit": "s"})),
    "float32 with metadata": lambda x: x.astype(np.dtype("f4", metadata={"unit": "s"}))
    if x.dtype.kind == "f" else x,
}
if torch:
    LAYOUTS["torch"] = lambda x: torch.tensor(x.tolist(), dtype={
        "f": torch.float64, "i": torch.int64}[x.dtype.kind])
ONE = {
    "memoryview": lambda x: memoryview(x.copy()), "deque-like list": lambda x: list(x),
    "array.array": lambda x: array.array("d" if x.dtype.kind == "f" else "q", x.tolist()),
    "Series": pd.Series, "Series with an index": lambda x: pd.Series(x, range(len(x), 0, -1)),
    "Int64": lambda x: pd.array(x.astype(int).tolist(), dtype="Int64"),
    "categories": lambda x: pd.Series(x).astype("category"),
    "__arrow_c_stream__": lambda x: ByArrow(x.tolist()),
}
TWO = {
    "DataFrame": pd.DataFrame, "DataFrame with names": lambda x: pd.DataFrame(
        x, columns=[f"c{i}" for i in range(x.shape[1])]),
    "DataFrame of Int64": lambda x: pd.DataFrame(x.astype(int)).astype("Int64"),
    "list of arrays": list, "list of Series": lambda x: [pd.Series(row) for row in x],
    "transposed": lambda x: np.array(x.T).T,
    "__arrow_c_stream__": lambda x: ByArrow({f"c{i}": part.tolist() for i, part in enumerate(x.T)}),
}
SEQUENCES = {
    "generator": lambda x: (row for row in x), "tuple of lists": lambda x: tuple(x.tolist()),
    "object array": lambda x: pd.Series(list(x)).to_numpy(),
    "Series of arrays": lambda x: pd.Series(list(x)), "list of __array__": lambda x: [
        ByArray(row) for row in x],
    "list of __arrow_c_stream__": lambda x: [ByArrow(row.tolist()) for row in x],
}
REALS = {str(kind): typed(kind) for kind in (
    np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16,
    np.float32, np.longdouble)}
REALS.update({"fractions": objects(Fraction), "decimals": objects(Decimal),
              "scalars of NumPy": objects(np.float32)})
if torch:
    REALS["torch.float32"] = lambda x: torch.tensor(x.tolist(), dtype=torch.float32)
WHOLE = {str(kind): typed(kind) for kind in (np.int8, np.int16, np.int32, np.int64)}
WHOLE.update({"scalars of NumPy": objects(np.int64)})


def table(calls, *kinds):
    return [pytest.param(call, value, convert, id=f"{name}-{argument}-{kind}")
            for name, argument, value, call in calls
            for group in kinds for kind, convert in group.items()]


@pytest.mark.parametrize("call, value, convert", [
    *table(NUMBERS, LAYOUTS, ONE, REALS), *table(MATRICES, LAYOUTS, TWO, {
        kind: convert for kind, convert in REALS.items()}),
    *table(SETS, LAYOUTS, TWO, SEQUENCES, REALS), *table(INTEGERS, LAYOUTS, ONE, WHOLE),
    *table(PAIRS, LAYOUTS, TWO, WHOLE), *table(COLUMNS, LAYOUTS, ONE, WHOLE)])
def test_the_result_is_that_of_the_array(call, value, convert):
    if (value * 64 % 64).any():
        pytest.skip("values that other types cannot represent")
    assert plain(call(convert(value))) == plain(call(value.copy()))


BAD = {
    "complex": typed(complex), "text": typed(str), "list of text": lambda x: x.astype(str).tolist(),
    "times": lambda x: x.astype("M8[s]"), "durations": lambda x: x.astype("m8[s]"),
    "structured": lambda x: np.zeros(x.shape, [("a", float)]), "one text": lambda x: "text",
    "mapping": lambda x: {0: x, 1: x}, "set": lambda x: {1.0, 2.0}, "None": lambda x: None,
    "number": lambda x: 3.5, "0-d": lambda x: np.array(3.5), "object": lambda x: object(),
    "a device": lambda x: Broken(), "too deep": lambda x: np.zeros((2, 2, 2, 2)),
    "text among numbers": lambda x: np.array([1.0, "a"], object),
    "ragged": lambda x: [[1.0, 2.0], 3.0],
}
if torch:
    BAD["gradient"] = lambda x: torch.tensor(x.tolist(), dtype=torch.float64, requires_grad=True)
FLAT = {"flat": lambda x: [1.0, 2.0, 3.0], "a row": lambda x: np.zeros(4)}
MISSING = {"None": lambda x: [None, *x[1:].tolist()],
           "NaN": lambda x: np.where(x == x[0], np.nan, x),
           "mask": lambda x: np.ma.masked_array(x, mask=[True] + [False] * (len(x) - 1)),
           "NA": lambda x: pd.array([None, *x[1:].astype(int).tolist()], dtype="Int64"),
           "NaT": lambda x: pd.Series([pd.NaT, *x[1:].tolist()], dtype=object),
           "null of Arrow": lambda x: ByArrow([None, *x[1:].tolist()])}
EMPTY = {"empty": lambda x: x[:0], "empty list": lambda x: []}
FRACTIONS = {"fractions": lambda x: x + 0.5, "list of fractions": lambda x: (x + 0.5).tolist()}
SCALARS = ("number", "0-d")


@pytest.mark.parametrize("call, value, convert, argument", [
    pytest.param(call, value, convert, argument, id=f"{name}-{argument}-{kind}")
    for calls, groups in ((NUMBERS, (BAD, MISSING)), (MATRICES, (BAD, FLAT)), (SETS, (BAD, FLAT)),
                          (INTEGERS, (BAD, MISSING, FRACTIONS)), (PAIRS, (BAD, FLAT, FRACTIONS)))
    for name, argument, value, call in calls for group in groups
    for kind, convert in group.items()
    # Those that are accepted: a sample alone, values p(x) of one x or of any shape, no weights,
    # and a condensed matrix of distances.
    if not (kind in SCALARS and name in ("Fit", "PeriodDetector"))
    and not (name == "Fit" and kind == "too deep") and not (kind == "None" and group is BAD and (
        argument in ("weights", "start", "parents", "errors", "Y", "q", "times")))
    and not (group is FLAT and value is DISTANCES)
    # A path.
    and not (kind == "one text" and argument in ("run", "normal[1]"))
    and not (argument == "threads" and kind in SCALARS)])
def test_an_error_names_the_argument(call, value, convert, argument):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(convert(value))
    name = argument.partition("[")[0] if isinstance(caught.value, tsanom.TsanomError) else argument
    if argument in ("begin", "end") and isinstance(caught.value, tsanom.TsanomError):
        name = "events"
    assert re.search(rf"\b{re.escape(name)}", str(caught.value)), str(caught.value)


@pytest.mark.parametrize("call, value, convert, argument", [
    pytest.param(call, value, convert, argument, id=f"{name}-{argument}-{kind}")
    for calls in (NUMBERS, MATRICES, SETS, INTEGERS) for name, argument, value, call in calls
    for kind, convert in EMPTY.items()])
def test_an_empty_array_is_an_error_that_names_it(call, value, convert, argument):
    """Or it has a result: a stream that takes nothing in, a polynomial at no place."""
    try:
        call(convert(value))
    except (TypeError, ValueError) as error:
        assert re.search(rf"\b{re.escape(argument.partition('[')[0])}", str(error)), str(error)


@pytest.mark.parametrize("name, argument, value, call", COLUMNS)
def test_a_column_has_one_dimension(name, argument, value, call):
    for bad in (None, 3, np.zeros((4, 2)), "text", {0: 1}, [[1], [2], [3], [4]]):
        with pytest.raises((TypeError, ValueError), match=argument):
            call(bad)


def test_every_function_with_arrays_is_in_the_table():
    """Those that take none, results, and what reads files."""
    others = {"OPTICS", "Run", "Model", "speedup", "speedup_level", "SpeedupAnalyzer", "Index",
              "TsanomError", "TsanomWarning", "Watch", "Job", "Fit"}
    groups = NUMBERS, MATRICES, SETS, INTEGERS, PAIRS, COLUMNS
    called = {name.partition(".")[0] for group in groups for name, *_ in group}
    for name in set(tsanom.__all__) - called - others:
        public = getattr(tsanom, name)
        assert not callable(public) or dataclasses.is_dataclass(public) or name in (
            "NormalRanges",), name
        assert inspect.isclass(public) or not callable(public)


def test_values_of_a_table_are_as_given():
    rules = tsanom.decision_rules([[1, "u"], [2.5, np.datetime64("2020-01-01")]], ["p", None])
    assert [rule.condition for rule in rules] == [
        {0: 1, 1: "u"}, {0: 2.5, 1: np.datetime64("2020-01-01")}]
    times = pd.DataFrame({"t": pd.to_datetime(["2020", None, "2021"])})
    assert tsanom.inconsistent_pairs(times, [1, 2, 3], missing="wildcard").tolist() == [
        [0, 1], [1, 2]]
    arrow = ByArrow({"net": ["ok", None, "slow"], "disk": [1, 1, 2], "up": [True, None, False]})
    assert sorted(tsanom.significance(arrow, [0, 0, 1])) == ["disk", "net", "up"]
    assert tsanom.inconsistent_pairs(arrow, [0, 1, 1], missing="wildcard").tolist() == [[0, 1]]
    assert arrow.released == 2 * 3


def test_negative_and_large_events_are_predicted_as_pushed():
    for events in ([-1, 2, -3], [2**63, 5, 2**64 - 1], [np.int8(-1), 7, 7]):
        made = tsanom.PeriodDetector(window=6, events=True)
        made.push(events * 6)
        assert made.predict(3).tolist() == list(events)
    with pytest.raises(ValueError, match="samples"):
        made.push([2**63, -1])


def test_random_arguments():
    """In a process of its own, whose address space is limited."""
    fuzzer = Path(__file__).with_name("fuzz_arguments.py")
    subprocess.run([sys.executable, fuzzer, "3000"], check=True)
