# SPDX-License-Identifier: BSD-3-Clause
"""Rough sets: which attributes of a decision table discern its decisions."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Dict, FrozenSet, List, Optional, Union

import numpy as np
import numpy.typing as npt

from ._arrays import DOUBLES, F64, INTS, SIZES, WORDS, Array, doubles, empty, from_buffer
from ._call import PARTIAL, Execution, Progress, call, choice, options
from ._dtw import limit
from ._library import NULL, ffi, lib

Name = Hashable
Names = FrozenSet[Name]
# A pandas.DataFrame, columns by name, or a matrix with a column for each attribute.
Table = Union[Any, Mapping[Any, npt.ArrayLike], npt.ArrayLike]

MISSING = -2**31

READINGS: Dict[str, int] = {"ordinary": lib.TSANOM_ROUGHSET_ORDINARY,
                            "positive_region": lib.TSANOM_ROUGHSET_POSITIVE_REGION,
                            "generalized": lib.TSANOM_ROUGHSET_GENERALIZED}
MISSING_VALUES: Dict[str, int] = {"own_value": lib.TSANOM_ROUGHSET_OWN_VALUE,
                                  "wildcard": lib.TSANOM_ROUGHSET_WILDCARD}
CUTS: Dict[str, int] = {"width": lib.TSANOM_ROUGHSET_EQUAL_WIDTH,
                        "frequency": lib.TSANOM_ROUGHSET_EQUAL_FREQUENCY,
                        "entropy": lib.TSANOM_ROUGHSET_ENTROPY}


def _codes(column: npt.ArrayLike, name: Name) -> Array:
    """Values as codes in order of first appearance; NaN and None are missing."""
    codes: Dict[Any, int] = {}
    values = np.asarray(column)
    if values.ndim != 1:
        raise ValueError(f"the column {name!r} has {values.ndim} dimensions; 1 expected")
    if values.dtype.kind in "iu" and values.size and -2**31 < values.min() <= values.max() < 2**31:
        return values.astype(np.int32)
    return np.array([MISSING if value is None or value != value
                     else codes.setdefault(value, len(codes)) for value in values.tolist()],
                    np.int32)


class _Coded:
    """A decision table in codes, as the struct that C functions read. It keeps the arrays."""

    def __init__(self, table: Table, decision: Any) -> None:
        columns, target = self._split(table, decision)
        self.names: List[Name] = list(columns)
        self.decision = _codes(target, "decision")
        coded = [_codes(column, name) for name, column in columns.items()]
        for name, column in zip(self.names, coded):
            if len(column) != len(self.decision):
                raise ValueError(f"the column {name!r} has {len(column)} rows, the decision "
                                 f"{len(self.decision)}")
        self.values = np.stack(coded, axis=1) if coded else np.empty((0, 0), np.int32)
        self.words = (len(self.names) + 63) // 64
        self.view = options("tsanom_roughset_table", rows=len(self.decision),
                            attributes=len(self.names),
                            values=ffi.cast("int32_t *", self.values.ctypes.data),
                            decision=ffi.cast("int32_t *", self.decision.ctypes.data))

    @staticmethod
    def _split(table: Table, decision: Any) -> "tuple[Dict[Any, Any], Any]":
        """Columns by name, and the decision, which may be the name of one."""
        named: Any = table
        if isinstance(table, Mapping) or hasattr(table, "columns"):
            columns = {name: named[name] for name in named}
        else:
            matrix = np.asarray(table)
            if matrix.ndim != 2:
                raise ValueError(f"the table has {matrix.ndim} dimensions; 2 expected")
            columns = {i: matrix[:, i] for i in range(matrix.shape[1])}
        if isinstance(decision, Hashable) and decision in columns:
            decision = columns.pop(decision)
        elif isinstance(decision, str):
            raise ValueError(f"the table has no column {decision!r}")
        return columns, decision

    def set_of(self, words: Sequence[int]) -> Names:
        """The names of a bitset."""
        return frozenset(self.names[64 * i + bit] for i, word in enumerate(words)
                         for bit in range(64) if word >> bit & 1)

    def bits(self, subset: Optional[Sequence[Name]]) -> Any:
        """The bitset of names; NULL, which is all, without names."""
        if subset is None:
            return NULL
        words = ffi.new(WORDS, self.words)
        for name in subset:
            if name not in self.names:
                raise ValueError(f"the table has no attribute {name!r}")
            place = self.names.index(name)
            words[place // 64] |= 1 << place % 64
        return words


def _options(reading: str = "ordinary", missing: str = "own_value", **fields: Any) -> Any:
    return options("tsanom_roughset_options", reading=choice(reading, READINGS, "reading"),
                   missing=choice(missing, MISSING_VALUES, "missing"), **fields)


class _Visitor:
    """Collects the reducts that a function visits."""

    def __init__(self, table: _Coded) -> None:
        self.found: List[Names] = []
        self._caught: List[BaseException] = []

        def visit(user: Any, reduct: Any, size: int) -> int:
            self.found.append(table.set_of(ffi.unpack(reduct, table.words)))
            return 0

        self._callback = ffi.callback("tsanom_roughset_visit", visit, error=1,
                                      onerror=lambda kind, value, trace:
                                      self._caught.append(value))
        self.struct = ffi.new("tsanom_roughset_visitor *")
        self.struct.visit = self._callback

    def run(self, call_with: Callable[[Any], Any], execution: Execution) -> List[Names]:
        """The reducts that a call visits; smallest first."""
        status = call_with(execution.exec)
        if self._caught:
            raise self._caught[0]
        execution.check(status)
        return sorted(self.found, key=len)


def reducts(table: Table, decision: Any, *, reading: str = "ordinary", missing: str = "own_value",
            limit: Optional[int] = None, max_size: Optional[int] = None, threads: int = 1,
            progress: Progress = None) -> List[Names]:
    """All reducts of a decision table: the minimal sets of attributes that discern what all
    attributes discern.

    Parameters
    ----------
    table : pandas.DataFrame, mapping of names to columns, or array_like of shape (rows, columns)
        Values are compared for equality; NaN and None are missing. Code numeric columns with
        `discretize` first.
    decision : name of a column, or array_like of length rows
    reading : {"ordinary", "positive_region", "generalized"}
        What must be preserved if equal rows have different decisions.
    missing : {"own_value", "wildcard"}
        A missing value equals only another one, or every value.
    limit, max_size : int, optional
        Most reducts, and most attributes of one.

    Returns
    -------
    list of frozenset
        Of names of columns, or of their numbers; smallest first.

    Examples
    --------
    >>> import tsanom
    >>> table = {"cache": [0, 1, 0, 1], "net": [0, 0, 1, 1], "disk": [0, 1, 0, 1]}
    >>> [sorted(reduct) for reduct in tsanom.reducts(table, [0, 0, 1, 1])]
    [['net']]
    """
    coded = _Coded(table, decision)
    setting = _options(reading, missing)
    count = ffi.new("size_t *")
    elements = ffi.NULL
    while call(lib.tsanom_roughset_elements, (coded.view, setting),
               (elements, 0 if elements == NULL else len(elements) // coded.words, count),
               threads, progress) == PARTIAL:
        elements = ffi.new(WORDS, count[0] * coded.words)
    visitor = _Visitor(coded)
    search = options("tsanom_roughset_options", reduct_limit=limit, size_limit=max_size)
    execution = Execution(threads, progress)
    return visitor.run(
        lambda execute: lib.tsanom_roughset_reducts(elements, count[0], len(coded.names), search,
                                                    execute, visitor.struct, NULL), execution)


def minimum_reducts(table: Table, decision: Any, *, reading: str = "ordinary",
                    missing: str = "own_value", limit: Optional[int] = None,
                    progress: Progress = None) -> List[Names]:
    """The reducts with the fewest attributes, proven, without a list of all reducts.

    >>> import tsanom
    >>> [sorted(s) for s in tsanom.minimum_reducts([[0, 0, 0], [1, 0, 1], [0, 1, 1]], [0, 1, 0])]
    [[0]]
    """
    coded = _Coded(table, decision)
    setting = _options(reading, missing, reduct_limit=limit)
    bounds = ffi.new("tsanom_roughset_bounds *")
    reduct = ffi.new(WORDS, coded.words)
    visitor = _Visitor(coded)
    return visitor.run(
        lambda execute: lib.tsanom_roughset_minimum(coded.view, setting, execute, visitor.struct,
                                                    bounds, reduct, NULL), Execution(1, progress))


def _one_set(function: Any, table: Table, decision: Any, reading: str, missing: str, threads: int,
             progress: Progress, *more: Any) -> Names:
    coded = _Coded(table, decision)
    words = ffi.new(WORDS, coded.words)
    call(function, (coded.view, _options(reading, missing)), (words, *more), threads, progress)
    return coded.set_of(list(words))


def greedy_reduct(table: Table, decision: Any, *, reading: str = "ordinary",
                  missing: str = "own_value", progress: Progress = None) -> Names:
    """One reduct, found greedily, for tables too large for a proof.

    >>> import tsanom
    >>> sorted(tsanom.greedy_reduct([[0, 0], [1, 0], [1, 1]], [0, 1, 1]))
    [0]
    """
    return _one_set(lib.tsanom_roughset_greedy, table, decision, reading, missing, 1, progress,
                    NULL)


def core_attributes(table: Table, decision: Any, *, reading: str = "ordinary",
                    missing: str = "own_value", threads: int = 1,
                    progress: Progress = None) -> Names:
    """The attributes that are in every reduct.

    >>> import tsanom
    >>> sorted(tsanom.core_attributes([[0, 0], [1, 0], [1, 1]], [0, 1, 1]))
    [0]
    """
    return _one_set(lib.tsanom_roughset_core, table, decision, reading, missing, threads, progress)


def dependency(table: Table, decision: Any, subset: Optional[Sequence[Name]] = None, *,
               missing: str = "own_value") -> float:
    """The part of the rows whose decision a set of attributes determines; None: all attributes.

    >>> import tsanom
    >>> tsanom.dependency([[0, 0], [0, 1], [1, 1], [1, 1]], [0, 1, 1, 1], subset=[0])
    0.5
    """
    coded = _Coded(table, decision)
    gamma = ffi.new("double *")
    call(lib.tsanom_roughset_dependency,
         (coded.view, coded.bits(subset), _options(missing=missing)), (NULL, NULL, gamma))
    return float(gamma[0])


def significance(table: Table, decision: Any, subset: Optional[Sequence[Name]] = None, *,
                 missing: str = "own_value") -> Dict[Name, float]:
    """The change of `dependency` if an attribute is removed from a set, or added to it.

    >>> import tsanom
    >>> tsanom.significance([[0, 0], [0, 0], [0, 1], [1, 1]], [0, 0, 1, 1])
    {0: 0.0, 1: 0.75}
    """
    coded = _Coded(table, decision)
    values, out = empty(len(coded.names), F64, DOUBLES)
    call(lib.tsanom_roughset_significance,
         (coded.view, coded.bits(subset), _options(missing=missing)), (out,))
    return dict(zip(coded.names, values.tolist()))


@dataclass(frozen=True)
class Rule:
    """If the attributes have these values, the decision is this one."""

    condition: Dict[Name, Any]
    """Values by attribute."""
    decision: Any
    matching: int
    """Rows that fulfill the condition."""
    support: int
    """Rows that fulfill condition and decision."""


def decision_rules(table: Table, decision: Any,
                   subset: Optional[Sequence[Name]] = None) -> List[Rule]:
    """The decision rules of a set of attributes, usually a reduct; None: all attributes.

    >>> import tsanom
    >>> table = {"net": ["ok", "slow", "slow"], "disk": [1, 1, 2]}
    >>> rule = tsanom.decision_rules(table, ["good", "bad", "bad"], ["net"])[1]
    >>> rule.condition, rule.decision, rule.support
    ({'net': 'slow'}, 'bad', 2)
    """
    coded = _Coded(table, decision)
    columns, target = coded._split(table, decision)
    rows = len(coded.decision)
    rules = ffi.new("tsanom_roughset_rule[]", rows)
    count = ffi.new("size_t *")
    call(lib.tsanom_roughset_rules, (coded.view, coded.bits(subset)), (rules, rows, count))
    names = coded.names if subset is None else list(subset)
    values = {name: np.asarray(columns[name]).tolist() for name in names}
    decisions = np.asarray(target).tolist()
    return [Rule({name: values[name][rule.row] for name in names}, decisions[rule.row],
                 rule.matching, rule.support) for rule in ffi.unpack(rules, count[0])]


def inconsistent_pairs(table: Table, decision: Any, *, missing: str = "own_value") -> Array:
    """Pairs of rows with different decisions that no attribute discerns.

    >>> import tsanom
    >>> tsanom.inconsistent_pairs([[0], [0], [1]], [0, 1, 1])
    array([[0, 1]])
    """
    coded = _Coded(table, decision)
    setting = _options(missing=missing)
    count = ffi.new("size_t *")
    pairs, out = empty((0, 2), np.intp, SIZES)
    while call(lib.tsanom_roughset_inconsistent, (coded.view, setting),
               (out, len(pairs), count)) == PARTIAL:
        pairs, out = empty((count[0], 2), np.intp, SIZES)
    return pairs


def discretize(samples: npt.ArrayLike, bins: int = 0, method: str = "entropy",
               decision: Optional[npt.ArrayLike] = None) -> "tuple[Array, Array]":
    """Code a numeric column by cuts.

    Parameters
    ----------
    samples : array_like
    bins : int
        Number of intervals; for "entropy" the most, 0: no limit.
    method : {"entropy", "width", "frequency"}
        "entropy" chooses cuts that separate the decisions.

    Returns
    -------
    codes, cuts : ndarray
        A code is the number of cuts at or below the sample.

    Examples
    --------
    >>> import tsanom
    >>> tsanom.discretize([1.0, 2.0, 9.0, 8.0], 2, "width")
    (array([0, 0, 1, 1], dtype=int32), array([5.]))
    """
    values = doubles(samples, "samples")
    limit(bins, "bins")
    coded = NULL
    if decision is not None:
        target = _codes(decision, "decision")
        if len(target) != len(values):
            raise ValueError("samples and decision have different lengths")
        coded = from_buffer(INTS, target)
    count = ffi.new("size_t *")
    cuts, out = empty(max(len(values) - 1, 1), F64, DOUBLES)
    data = from_buffer(DOUBLES, values)
    call(lib.tsanom_roughset_cuts, (data, coded, len(values), choice(method, CUTS, "method"), bins),
         (out, len(cuts), count))
    codes, out_codes = empty(len(values), np.int32, INTS)
    lib.tsanom_roughset_code(data, len(values), out, count[0], out_codes, 1)
    return codes, cuts[:count[0]].copy()


__all__ = ["Rule", "core_attributes", "decision_rules", "dependency", "discretize",
           "greedy_reduct", "inconsistent_pairs", "minimum_reducts", "reducts", "significance"]
