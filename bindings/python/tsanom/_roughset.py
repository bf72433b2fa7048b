# SPDX-License-Identifier: BSD-3-Clause
"""Rough sets: which attributes of a decision table discern its decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any, Dict, List, Optional, TYPE_CHECKING


from ._arrays import (DOUBLE, DOUBLES, F64, I32, INTP, INTS, SIZE, SIZES, WORDS, Array, column,
                      doubles, empty, from_buffer, new)
from ._call import (PARTIAL, QUICK, Progress, call_sized, choice, options, plain, shared,
                    shared_options, whole)
from ._library import NULL, ffi, lib
from ._results import maker
from ._table import CodedTable, Name, Names, Table, codes_of

if TYPE_CHECKING:
    import numpy.typing as npt

READINGS: Dict[str, int] = {"ordinary": lib.TSANOM_ROUGHSET_ORDINARY,
                            "positive_region": lib.TSANOM_ROUGHSET_POSITIVE_REGION,
                            "generalized": lib.TSANOM_ROUGHSET_GENERALIZED}
MISSING_VALUES: Dict[str, int] = {"own_value": lib.TSANOM_ROUGHSET_OWN_VALUE,
                                  "wildcard": lib.TSANOM_ROUGHSET_WILDCARD}
CUTS: Dict[str, int] = {"width": lib.TSANOM_ROUGHSET_EQUAL_WIDTH,
                        "frequency": lib.TSANOM_ROUGHSET_EQUAL_FREQUENCY,
                        "entropy": lib.TSANOM_ROUGHSET_ENTROPY}


_core = lib.tsanom_roughset_core
_greedy = lib.tsanom_roughset_greedy
_elements = lib.tsanom_roughset_elements
_reducts = lib.tsanom_roughset_reducts
_minimum = lib.tsanom_roughset_minimum
_dependency = lib.tsanom_roughset_dependency
_significance = lib.tsanom_roughset_significance
_rules = lib.tsanom_roughset_rules
_inconsistent = lib.tsanom_roughset_inconsistent
_BOUNDS = ffi.typeof("tsanom_roughset_bounds *")
_RULES = ffi.typeof("tsanom_roughset_rule[]")
# row, matching, support, and the code of the decision, which is not read.
_RULE = Struct("NNN8x")


@shared
def _options(reading: str = "ordinary", missing: str = "own_value", **fields: Any) -> Any:
    """The options of a call, which calls share."""
    return options("tsanom_roughset_options", reading=choice(reading, READINGS, "reading"),
                   missing=choice(missing, MISSING_VALUES, "missing"), **fields)


class _Visitor:
    """Collects the reducts that a function visits."""

    def __init__(self) -> None:
        self.words = 0
        self.found: List[List[int]] = []
        caught: List[BaseException] = []

        def visit(user: Any, reduct: Any, size: int) -> int:
            self.found.append(ffi.unpack(reduct, self.words))
            return 0

        self._callback = ffi.callback("tsanom_roughset_visit", visit, error=1,
                                      onerror=lambda kind, value, trace: caught.append(value))
        self._caught = caught
        self.struct = ffi.new("tsanom_roughset_visitor *")
        self.struct.visit = self._callback

    def end(self) -> List[List[int]]:
        """What was found, or the exception of a signal handler that came in between."""
        found, self.found = self.found, []
        if self._caught:
            caught = self._caught[0]
            self._caught.clear()
            raise caught
        return found


# Those that no call uses: a callback takes microseconds to create.
_unused: List[_Visitor] = []


def _visited(table: CodedTable, size: int, function: Any, inputs: Sequence[Any],
             more: Sequence[Any], threads: int, progress: Progress) -> List[Names]:
    """The reducts that a function visits; smallest first."""
    visitor = _unused.pop() if _unused else _Visitor()
    visitor.words = table.words
    try:
        call_sized(size, function, inputs, (visitor.struct, *more), threads, progress)
    finally:
        found = visitor.end()
        _unused.append(visitor)
    sets = [table.set_of(words) for words in found]
    return sorted(sets, key=len) if len(sets) > 1 else sets


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
    coded = CodedTable(table, decision)
    count, capacity = new(SIZE), 32
    while True:
        elements = new(WORDS, capacity * coded.words)
        if call_sized(coded.cells, _elements, (coded.view, _options(reading, missing)),
                      (elements, capacity, count), threads, progress, (PARTIAL,)) != PARTIAL:
            break
        capacity = count[0]
    search = shared_options("tsanom_roughset_options", reduct_limit=limit, size_limit=max_size)
    size = QUICK + 1 if count[0] * len(coded.names) > 64 else 0
    return _visited(coded, size, _reducts, (elements, count[0], len(coded.names), search), (NULL,),
                    threads, progress)


def minimum_reducts(table: Table, decision: Any, *, reading: str = "ordinary",
                    missing: str = "own_value", limit: Optional[int] = None,
                    progress: Progress = None) -> List[Names]:
    """The reducts with the fewest attributes, proven, without a list of all reducts.

    >>> import tsanom
    >>> [sorted(s) for s in tsanom.minimum_reducts([[0, 0, 0], [1, 0, 1], [0, 1, 1]], [0, 1, 0])]
    [[0]]
    """
    coded = CodedTable(table, decision)
    setting = _options(reading, missing, reduct_limit=limit)
    bounds, reduct = new(_BOUNDS), new(WORDS, coded.words)
    size = coded.cells << len(coded.names) if len(coded.names) < 8 else QUICK + 1
    return _visited(coded, size, _minimum, (coded.view, setting), (bounds, reduct, NULL), 1,
                    progress)


def _one_set(function: Any, table: Table, decision: Any, reading: str, missing: str, threads: int,
             progress: Progress, *more: Any) -> Names:
    coded = CodedTable(table, decision)
    words = new(WORDS, coded.words)
    call_sized(coded.cells, function, (coded.view, _options(reading, missing)), (words, *more),
               threads, progress)
    return coded.set_of(words)


def greedy_reduct(table: Table, decision: Any, *, reading: str = "ordinary",
                  missing: str = "own_value", progress: Progress = None) -> Names:
    """One reduct, found greedily, for tables too large for a proof.

    >>> import tsanom
    >>> sorted(tsanom.greedy_reduct([[0, 0], [1, 0], [1, 1]], [0, 1, 1]))
    [0]
    """
    return _one_set(_greedy, table, decision, reading, missing, 1, progress, NULL)


def core_attributes(table: Table, decision: Any, *, reading: str = "ordinary",
                    missing: str = "own_value", threads: int = 1,
                    progress: Progress = None) -> Names:
    """The attributes that are in every reduct.

    >>> import tsanom
    >>> sorted(tsanom.core_attributes([[0, 0], [1, 0], [1, 1]], [0, 1, 1]))
    [0]
    """
    return _one_set(_core, table, decision, reading, missing, threads, progress)


def dependency(table: Table, decision: Any, subset: Optional[Sequence[Name]] = None, *,
               missing: str = "own_value") -> float:
    """The part of the rows whose decision a set of attributes determines; None: all attributes.

    >>> import tsanom
    >>> tsanom.dependency([[0, 0], [0, 1], [1, 1], [1, 1]], [0, 1, 1, 1], subset=[0])
    0.5
    """
    coded = CodedTable(table, decision)
    gamma = new(DOUBLE)
    call_sized(coded.cells, _dependency,
               (coded.view, coded.bits(subset), _options("ordinary", missing)), (NULL, NULL, gamma))
    return float(gamma[0])


def significance(table: Table, decision: Any, subset: Optional[Sequence[Name]] = None, *,
                 missing: str = "own_value") -> Dict[Name, float]:
    """The change of `dependency` if an attribute is removed from a set, or added to it.

    >>> import tsanom
    >>> tsanom.significance([[0, 0], [0, 0], [0, 1], [1, 1]], [0, 0, 1, 1])
    {0: 0.0, 1: 0.75}
    """
    coded = CodedTable(table, decision)
    values = new(DOUBLES, len(coded.names))
    call_sized(coded.cells, _significance,
               (coded.view, coded.bits(subset), _options("ordinary", missing)), (values,))
    return dict(zip(coded.names, values))


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


_rule = maker(Rule)


def decision_rules(table: Table, decision: Any,
                   subset: Optional[Sequence[Name]] = None) -> List[Rule]:
    """The decision rules of a set of attributes, usually a reduct; None: all attributes.

    >>> import tsanom
    >>> table = {"net": ["ok", "slow", "slow"], "disk": [1, 1, 2]}
    >>> rule = tsanom.decision_rules(table, ["good", "bad", "bad"], ["net"])[1]
    >>> rule.condition, rule.decision, rule.support
    ({'net': 'slow'}, 'bad', 2)
    """
    coded = CodedTable(table, decision)
    rows = len(coded.decision)
    rules, count = new(_RULES, rows), new(SIZE)
    call_sized(coded.cells, _rules, (coded.view, coded.bits(subset)), (rules, rows, count))
    values, decisions = coded.values_of_rows()
    names = coded.names
    if subset is not None:
        names = list(subset)
        places = [coded.names.index(name) for name in names]
        values = [[row[place] for place in places] for row in values]
    found = ffi.buffer(rules, count[0] * ffi.sizeof(_RULES.item))
    return [_rule(dict(zip(names, values[row])), decisions[row], matching, support)
            for row, matching, support in _RULE.iter_unpack(found)]


def inconsistent_pairs(table: Table, decision: Any, *, missing: str = "own_value") -> Array:
    """Pairs of rows with different decisions that no attribute discerns.

    >>> import tsanom
    >>> tsanom.inconsistent_pairs([[0], [0], [1]], [0, 1, 1])
    array([[0, 1]])
    """
    coded = CodedTable(table, decision)
    setting = _options("ordinary", missing)
    count = new(SIZE)
    pairs, out = empty((len(coded.decision), 2), INTP, SIZES)
    while call_sized(coded.cells, _inconsistent, (coded.view, setting),
                     (out, len(pairs), count), expected=(PARTIAL,)) == PARTIAL:
        pairs, out = empty((count[0], 2), INTP, SIZES)
    return pairs[:count[0]]


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
    bins = whole(bins, "bins")
    coded = NULL
    if decision is not None:
        target = codes_of(column(decision, "decision"), "decision", -1)
        if len(target) != len(values):
            raise ValueError("samples and decision have different lengths")
        coded = from_buffer(INTS, target)
    count = new(SIZE)
    # More than 2^31 are rejected by the library.
    most = min(bins, 1 << 31) if method == "width" else len(values)
    cuts, out = empty(max(most - 1, 1), F64, DOUBLES)
    data = from_buffer(DOUBLES, values)
    call_sized(len(values), lib.tsanom_roughset_cuts,
               (data, coded, len(values), choice(method, CUTS, "method"), bins),
               (out, len(cuts), count))
    codes, out_codes = empty(len(values), I32, INTS)
    plain(lib.tsanom_roughset_code(data, len(values), out, count[0], out_codes, 1))
    return codes, cuts[:count[0]].copy()


__all__ = ["Rule", "core_attributes", "decision_rules", "dependency", "discretize",
           "greedy_reduct", "inconsistent_pairs", "minimum_reducts", "reducts", "significance"]
