# SPDX-License-Identifier: BSD-3-Clause
"""Decision tables in codes, as C functions read them."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Dict, FrozenSet, List, Optional, TYPE_CHECKING, Union

import numpy as np

from ._arrays import (I32, INTS, WORDS, Array, as_array, column, from_buffer, ndarray, new,
                      pandas_na)
from ._arrow import read
from ._call import options
from ._library import NULL, ffi

if TYPE_CHECKING:
    import numpy.typing as npt
    # A pandas.DataFrame, columns by name, or a matrix with a column for each attribute.
    Table = Union[Any, Mapping[Any, npt.ArrayLike], npt.ArrayLike]
else:
    Table = Union[Any, Mapping[Any, Any]]

Name = Hashable
Names = FrozenSet[Name]

MISSING = -2**31
# Elements that NumPy's functions convert in a few milliseconds.
PIECE = 1 << 18

_TABLE = ffi.typeof("tsanom_roughset_table *")
_EMPTY = options("tsanom_roughset_table")
_MISSING_BYTES = MISSING.to_bytes(4, sys.byteorder, signed=True)


def _as_they_are(values: Array) -> Optional[Array]:
    """Integers as codes, if 32 bits represent them and none of them is the code of a missing
    value; else None. (Bytes are compared because that takes a third of the time of NumPy's
    functions for few elements.)"""
    if values.size > PIECE:
        return _pieces_as_they_are(values) if values.dtype.kind in "iu" else None
    codes = values
    if values.dtype is not I32 or not values.flags.c_contiguous:
        if values.dtype.kind not in "iu":
            return None
        codes = values.astype(I32, "C")
        if codes.astype(values.dtype, "C").tobytes() != values.tobytes():
            return None
    return None if _MISSING_BYTES in codes.tobytes() else codes


def _pieces_as_they_are(values: Array) -> Optional[Array]:
    """The same for many: Python handles signals between pieces."""
    is_coded = values.dtype is I32 and values.flags.c_contiguous
    codes = values if is_coded else np.empty(values.shape, I32)
    step = max(1, PIECE * len(values) // values.size)
    for first in range(0, len(values), step):
        part = values[first:first + step]
        if not is_coded:
            codes[first:first + step] = part
            if not np.array_equal(codes[first:first + step], part):
                return None
        if (codes[first:first + step] == MISSING).any():
            return None
    return codes


def codes_of(values: Union[Array, List[Any]], name: str, missing: int = MISSING) -> Array:
    """Values of a `column` as codes in order of first appearance; None, NaN, NaT and NA have the
    code `missing`."""
    if isinstance(values, ndarray):
        codes_of_integers = _as_they_are(values)
        if codes_of_integers is not None:
            return codes_of_integers
        values = values.tolist()
    codes: Dict[Any, int] = {}
    result = np.empty(len(values), I32)
    na, masked = pandas_na(), np.ma.masked
    try:
        for first in range(0, len(values), PIECE):
            result[first:first + PIECE] = [
                missing if value is None or value is na or value is masked or value != value
                else codes.setdefault(value, len(codes)) for value in values[first:first + PIECE]]
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} has a value that cannot be compared: {error}") from None
    return result


@lru_cache(maxsize=1024)
def members(word: int) -> FrozenSet[int]:
    """The bits of a word that are set."""
    return frozenset(bit for bit in range(word.bit_length()) if word >> bit & 1)


def _objects(values: Union[Array, List[Any]]) -> List[Any]:
    return list(values.tolist()) if isinstance(values, ndarray) else values


def _named_columns(table: Any) -> Dict[Any, Any]:
    """The columns of a table by name, or by number."""
    if isinstance(table, Mapping):
        return dict(table)
    # PyArrow has lists of columns and of names; pandas and Polars have names.
    names = getattr(table, "column_names", None)
    if names is None and hasattr(table, "columns"):
        names = list(table.columns)
    if names is not None:
        return {name: table[name] for name in names}
    if isinstance(table, (list, tuple)):
        # Not as an array, which has values of one type.
        lists = [column(row, f"row {i} of table") for i, row in enumerate(table)]
        if len({len(row) for row in lists}) > 1:
            raise ValueError("the rows of table have different lengths")
        return {i: list(part) for i, part in enumerate(zip(*map(_objects, lists)))}
    if hasattr(table, "__arrow_c_stream__") and not hasattr(table, "__array__"):
        return read(table, "table")
    matrix = as_array(table, "table")
    if matrix.ndim != 2:
        raise ValueError(f"table has {matrix.ndim} dimensions; 2 expected")
    return {i: matrix[:, i] for i in range(matrix.shape[1])}


def _split(table: Table, decision: Any) -> "tuple[Dict[Any, Any], Any]":
    """Columns by name, and the decision, which may be the name of one."""
    columns = _named_columns(table)
    try:
        is_name = decision in columns
    except (TypeError, ValueError):
        is_name = False
    if is_name:
        decision = columns.pop(decision)
    elif isinstance(decision, (str, bytes)):
        raise ValueError(f"decision: the table has no column {decision!r}")
    return ({name: column(values, f"the column {name!r}") for name, values in columns.items()},
            column(decision, "decision"))


class CodedTable:
    """A decision table in codes, as the struct that C functions read. It keeps the arrays."""

    def __init__(self, table: Table, decision: Any) -> None:
        self.by_number = self._take_matrix(table, decision)
        if not self.by_number:
            self._take_columns(table, decision)
        n, rows = len(self.names), len(self.decision)
        self.words = (n + 63) // 64
        self.cells = rows * rows * n
        self.view = view = new(_TABLE, _EMPTY[0])
        view.rows = rows
        view.attributes = n
        view.values = from_buffer(INTS, self.values)
        view.decision = from_buffer(INTS, self.decision)

    def _take_matrix(self, table: Any, decision: Any) -> bool:
        """Whether it is a matrix of integers beside a column of integers."""
        if not (type(table) is type(decision) is ndarray and table.ndim == 2
                and decision.ndim == 1 and len(table) == len(decision)):
            return False
        values, target = _as_they_are(table), _as_they_are(decision)
        if values is None or target is None:
            return False
        self.names: Sequence[Name] = range(values.shape[1])
        self.values, self.decision = values, target
        return True

    def _take_columns(self, table: Table, decision: Any) -> None:
        columns, target = _split(table, decision)
        self.names = list(columns)
        # Values as they were given, for rules.
        self._columns, self._target = list(columns.values()), target
        # A missing decision is a class of its own.
        self.decision = codes_of(target, "decision", -1)
        coded = [codes_of(values, f"the column {name!r}") for name, values in columns.items()]
        for name, codes in zip(self.names, coded):
            if len(codes) != len(self.decision):
                raise ValueError(f"the column {name!r} has {len(codes)} rows, the decision "
                                 f"{len(self.decision)}")
        self.values = np.empty((len(self.decision) if coded else 0, len(coded)), I32)
        step = max(1, PIECE // max(1, len(coded)))
        for first in range(0, len(self.values), step):
            for i, codes in enumerate(coded):
                self.values[first:first + step, i] = codes[first:first + step]

    def values_of_rows(self) -> "tuple[Sequence[Any], Sequence[Any]]":
        """The values of each row, and the decisions."""
        if self.by_number:
            return self.values.tolist(), self.decision.tolist()
        values = [_objects(part) for part in self._columns]
        return list(zip(*values)), _objects(self._target)

    def set_of(self, words: Sequence[int]) -> Names:
        """The names of a bitset."""
        if self.by_number and self.words == 1:
            return members(words[0])
        return frozenset(self.names[64 * i + bit] for i in range(self.words)
                         for bit in members(words[i]))

    def bits(self, subset: Optional[Sequence[Name]]) -> Any:
        """The bitset of names; NULL, which is all, without names."""
        if subset is None:
            return NULL
        if isinstance(subset, (str, bytes)):
            raise TypeError(f"subset is {subset!r}; a sequence of names is expected")
        words = ffi.new(WORDS, self.words)
        for name in subset:
            if name not in self.names:
                raise ValueError(f"the table has no attribute {name!r}")
            place = self.names.index(name)
            words[place // 64] |= 1 << place % 64
        return words


__all__ = ["CodedTable", "Name", "Names", "Table", "codes_of", "members"]
