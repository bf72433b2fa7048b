# SPDX-License-Identifier: BSD-3-Clause
"""Rough sets against enumeration."""

import naive
import numpy as np
import pandas
import pytest
import tsanom
from tsanom._table import MISSING, PIECE, CodedTable, codes_of

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("attributes", [1, 3, 5, 7])
def test_reducts_are_those_of_enumeration(attributes):
    for _ in range(10):
        values = RNG.integers(0, 3, (12, attributes))
        decision = RNG.integers(0, 2, 12)
        expected = naive.reducts(values, decision)
        found = tsanom.reducts(values, decision, threads=2)
        assert set(found) == expected and len(found) == len(expected)
        least = min(map(len, expected))
        assert set(tsanom.minimum_reducts(values, decision)) == {
            reduct for reduct in expected if len(reduct) == least}
        assert tsanom.greedy_reduct(values, decision) in expected
        assert tsanom.core_attributes(values, decision) == frozenset.intersection(*expected)
        assert all(len(reduct) <= 2 for reduct in tsanom.reducts(values, decision, max_size=2))


def test_a_decision_is_a_name_or_a_column():
    table = {"a": [0, 1, 1], ("b", 1): [0, 0, 1], "d": [0, 0, 1]}
    assert tsanom.reducts(table, ("b", 1)) == [frozenset(["d"])]
    assert frozenset(["d"]) in tsanom.reducts(table, (5, 5, 6))
    assert tsanom.reducts([[0, 0], [1, 1]], 1) == [frozenset([0])]


def test_more_than_64_attributes():
    values = np.zeros((2, 130), int)
    values[1, [3, 70, 129]] = 1
    assert {tuple(reduct) for reduct in tsanom.reducts(values, [0, 1])} == {(3,), (70,), (129,)}
    with pytest.warns(tsanom.TsanomWarning):
        assert len(tsanom.reducts(values, [0, 1], limit=2)) == 2


def test_data_frame_with_names_and_missing_values():
    frame = pandas.DataFrame({"net": ["ok", "slow", None, "ok"], "disk": [1.5, 1.5, np.nan, 2.0],
                              "kind": ["good", "bad", "bad", "good"]})
    assert frozenset(["net"]) in tsanom.reducts(frame, "kind")
    rules = tsanom.decision_rules(frame, "kind", ["net"])
    assert {(rule.condition["net"], rule.decision, rule.support) for rule in rules} == {
        ("ok", "good", 2), ("slow", "bad", 1), (None, "bad", 1)}
    assert tsanom.dependency(frame, "kind", ["disk"]) == 0.5
    assert tsanom.significance(frame, "kind")["net"] == 0.5
    assert tsanom.dependency(frame, "kind") == 1.0


def test_readings_of_inconsistent_tables():
    values, decision = [[0, 0], [0, 0], [0, 1], [1, 1]], [0, 1, 1, 0]
    assert tsanom.inconsistent_pairs(values, decision).tolist() == [[0, 1]]
    for reading in ("ordinary", "positive_region", "generalized"):
        assert tsanom.reducts(values, decision, reading=reading)


def test_discretize():
    samples = np.concatenate([RNG.uniform(0, 1, 50), RNG.uniform(2, 3, 50)])
    codes, cuts = tsanom.discretize(samples, decision=np.repeat(["a", "b"], 50))
    assert len(cuts) == 1 and 1 <= cuts[0] <= 2 and codes.tolist() == [0] * 50 + [1] * 50
    codes, cuts = tsanom.discretize(samples, 4, "frequency")
    assert np.bincount(codes).tolist() == [25] * 4


def test_equal_widths_may_be_more_than_samples():
    for count, bins in [(1, 9), (2, 1), (4, 5), (4, 10**6), *RNG.integers(1, 60, (200, 2))]:
        samples = RNG.permutation(count) * 1.0
        edges = (count - 1) * np.arange(1, bins) / bins if count > 1 else np.empty(0)
        codes, cuts = tsanom.discretize(samples, int(bins), "width")
        assert len(cuts) == len(edges) and np.allclose(cuts, edges)
        assert codes.tolist() == np.searchsorted(cuts, samples, side="right").tolist()
    with pytest.raises(ValueError, match="bins"):
        tsanom.discretize(samples, 2**31, "width")


def test_errors():
    for wrong in (lambda: tsanom.reducts([1, 2], [1, 2]),
                  lambda: tsanom.reducts({"a": [1, 2]}, "b"),
                  lambda: tsanom.reducts({"a": [1, 2]}, [1, 2, 3]),
                  lambda: tsanom.reducts([[1]], [1], reading="other"),
                  lambda: tsanom.dependency([[1]], [1], ["x"]),
                  lambda: tsanom.discretize([1.0, np.nan], 2, "width")):
        with pytest.raises(ValueError):
            wrong()
    # A decision that is missing is a class of its own.
    assert tsanom.reducts([[1], [2]], [1, None]) == [{0}]


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", ">i4", "i8", "u8"])
def test_integers_of_any_type(dtype):
    """Equality is that of the values, also beyond 32 bits and where a code means missing."""
    info = np.iinfo(np.dtype(dtype))
    table = np.array([[info.min, 0], [info.max, 0], [0, info.max], [info.max, 0]], dtype)
    decision = np.array([0, 1, 0, 1], dtype)
    expected = [frozenset([0])]
    assert tsanom.reducts(table, decision) == expected
    assert tsanom.reducts(table[:, ::-1], decision[::1]) == [frozenset([1])]
    assert tsanom.reducts({i: table[:, i] for i in range(2)}, decision) == expected
    low = np.array([[-2**31], [5], [-2**31]], np.int64)
    assert tsanom.dependency(low, np.array([1, 0, 1]), missing="wildcard") == 1.0


def test_large_tables_are_converted_in_pieces():
    rows = 3 * PIECE // 5
    matrix = RNG.integers(-4, 5, (rows, 5))
    decision = RNG.integers(0, 2, rows)
    coded = CodedTable(matrix, decision)
    assert np.array_equal(coded.values, matrix) and coded.values.dtype == np.int32
    assert CodedTable(coded.values, coded.decision).values is coded.values
    columns = {i: matrix[:, i] for i in range(5)}
    assert np.array_equal(CodedTable(columns, decision).values, matrix)
    # Values that 32 bits do not represent, or that would mean missing, are numbered.
    for value in (2**40, -2**31):
        matrix[-1, 0] = value
        numbered = CodedTable(matrix, decision).values
        first = numbered[:, 0]
        assert np.array_equal(numbered[:, 1:], matrix[:, 1:]) and (first >= 0).all()
        assert np.array_equal(np.unique(first[first != first[-1]]), np.arange(9))
        assert (first == first[-1]).sum() == 1
    text = np.array(["a", None, "b"], object)[RNG.integers(0, 3, 2 * PIECE)]
    codes = codes_of(text, "text")
    assert np.array_equal(codes == MISSING, text == np.array(None))
    assert len({(code, value) for code, value in zip(codes.tolist(), text)}) == 3
