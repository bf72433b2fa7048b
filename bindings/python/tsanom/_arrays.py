# SPDX-License-Identifier: BSD-3-Clause
"""Arguments as NumPy arrays for C functions. Each kind of argument has one conversion:

    doubles     samples of a series, points, a matrix
    samples     one series, in single precision if its samples are
    Series      a set of series, as the struct of C
    integers    identifiers and events
    column      values of a table

What they accept, and what they make of it:

    arrays of any layout, with numbers of any type    their values
    objects with __array__, __arrow_c_stream__ or     the array that they describe: pandas,
        __dlpack__                                      Polars, PyArrow, torch on the CPU
    lists, also of objects                            numpy.asarray of them
    None, NaN, NaT, NA, masked elements               missing: NaN, or an error of integers
    text, complex and structured values, times,       an error that names the argument; a
        mappings, sets                                  table takes all values with a hash

An array that is contiguous, or a matrix with contiguous rows, is passed as it is; others are
copied."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from operator import index
from typing import Any, List, Optional, TYPE_CHECKING, Tuple, Union

import numpy as np

from ._arrow import read
from ._errors import from_status
from ._library import ffi, lib

# numpy.typing takes long to import, and annotations are not evaluated.
if TYPE_CHECKING:
    import numpy.typing as npt
    Array = npt.NDArray[Any]
    # A set of series: the rows of a matrix (count, length) or (count, length, dimensions), or a
    # sequence of arrays whose lengths may differ.
    SeriesSet = Union[npt.ArrayLike, Sequence[npt.ArrayLike]]
else:
    Array = np.ndarray
    SeriesSet = Union[Any, Sequence[Any]]

F64: "np.dtype[Any]" = np.dtype(np.float64)
F32: "np.dtype[Any]" = np.dtype(np.float32)
INTP: "np.dtype[Any]" = np.dtype(np.intp)
I32: "np.dtype[Any]" = np.dtype(np.int32)
I64: "np.dtype[Any]" = np.dtype(np.int64)
U32: "np.dtype[Any]" = np.dtype(np.uint32)
U64: "np.dtype[Any]" = np.dtype(np.uint64)
BOOL: "np.dtype[Any]" = np.dtype(np.bool_)

DOUBLES = ffi.typeof("double[]")
FLOATS = ffi.typeof("float[]")
SIZES = ffi.typeof("size_t[]")
INTS = ffi.typeof("int32_t[]")
WORDS = ffi.typeof("uint64_t[]")
DOUBLE = ffi.typeof("double *")
FLOAT = ffi.typeof("float *")
SIZE = ffi.typeof("size_t *")
from_buffer = ffi.from_buffer
new = ffi.new
ndarray = np.ndarray

# The flags of an array that is C-contiguous and aligned.
PLAIN = 0x101


def _describes_itself(values: Any) -> bool:
    return any(hasattr(values, name) for name in (
        "__array__", "__array_interface__", "__arrow_c_stream__", "__dlpack__"))


def as_array(values: Any, name: str) -> Array:
    """What numpy.asarray makes of an argument; masked elements are None."""
    if isinstance(values, np.ma.MaskedArray):
        result = np.asarray(values)
        if not result.dtype.names and np.any(values.mask):
            result = result.astype(object)
            result[values.mask] = None
        return result
    if isinstance(values, (str, bytes, Mapping, Set)):
        raise TypeError(f"{name} is a {type(values).__name__}; an array or a sequence is expected")
    try:
        if not hasattr(values, "__array__"):
            if hasattr(values, "__dlpack__"):
                return np.from_dlpack(values)
            if hasattr(values, "__arrow_c_stream__"):
                columns = [as_array(part, name) for part in read(values, name).values()]
                return columns[0] if len(columns) == 1 else np.column_stack(columns)
        array = np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name} is no array: {error}") from error
    if array.ndim > 1 and isinstance(values, (list, tuple)) and any(
            isinstance(part, np.ma.MaskedArray) for part in values):
        return np.stack([as_array(part, name) for part in values])
    return array


def pandas_na() -> Any:
    """NA, which compares as nothing else, or None in a process without pandas."""
    return getattr(sys.modules.get("pandas"), "NA", None)


def _number(value: Any, name: str) -> float:
    if value is None or value is pandas_na():
        return math.nan
    try:
        if type(value).__name__ == "NaTType":
            return math.nan
        if isinstance(value, (str, bytes)) or getattr(value, "shape", ()) != ():
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {value!r}; a number is expected") from None


def numbers(values: Any, name: str) -> Array:
    """An argument as real numbers, of any shape."""
    array = as_array(values, name)
    if array.dtype.kind in "fiub":
        return array
    if array.dtype.kind != "O":
        raise TypeError(f"{name} has the type {array.dtype}; numbers are expected")
    if array.ndim == 0:
        return np.array(_number(array[()], name))
    return np.array([_number(value, f"{name}[{i}]") for i, value in enumerate(array.ravel())],
                    F64).reshape(array.shape)


def _plain(array: Array, dtype: "np.dtype[Any]") -> Array:
    """A contiguous, aligned array of this type, with this very type as its dtype."""
    result = np.asarray(array, dtype, order="C")
    if not result.flags.aligned:
        result = result.copy()
    return result if result.dtype is dtype else result.view(dtype)


def _check_dimensions(array: Array, name: str, expected: str, least: int, most: int) -> Array:
    if not least <= array.ndim <= most:
        raise ValueError(f"{name} has {array.ndim} dimensions; {expected} expected")
    return array


def doubles(values: npt.ArrayLike, name: str, ndim: int = 1) -> Array:
    """A contiguous array of float64."""
    if (type(values) is ndarray and values.dtype is F64 and values.ndim == ndim
            and values.flags.num & PLAIN == PLAIN):
        return values
    array = _check_dimensions(numbers(values, name), name, str(ndim), ndim, ndim)
    return _plain(array, F64)


def integers(values: npt.ArrayLike, name: str, dtype: "Optional[np.dtype[Any]]" = None,
             ndim: int = 1) -> Array:
    """A contiguous array of integers of a type; values that it cannot represent are rejected.
    Without a type that is int64 or, if it does not suffice, uint64."""
    if (type(values) is ndarray and values.dtype is dtype and values.ndim == ndim
            and values.flags.num & PLAIN == PLAIN):
        return values
    array = as_array(values, name)
    if array.dtype.kind == "f" and not (
            array.size and (isinstance(values, ndarray) or _describes_itself(values))):
        # NumPy makes floats of an empty list, and of integers of 64 bits with different signs.
        array = np.asarray(values, object)
    if array.dtype.kind == "O":
        for i, value in enumerate(array.ravel()):
            try:
                index(value)
            except TypeError:
                raise TypeError(f"{name}[{i}] is {value!r}; an integer is expected") from None
    elif array.dtype.kind not in "iub":
        raise TypeError(f"{name} has the type {array.dtype}; integers expected")
    _check_dimensions(array, name, str(ndim), ndim, ndim)
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    if dtype is None:
        dtype = U64 if high > np.iinfo(I64).max else I64
    if not np.iinfo(dtype).min <= low <= high <= np.iinfo(dtype).max:
        raise ValueError(f"{name} has values beyond {dtype}")
    return _plain(array, dtype)


def event_codes(events: npt.ArrayLike, name: str = "events") -> Array:
    """Integers as identifiers, of int64 or uint64; negative ones keep their bits in C."""
    if type(events) is ndarray and events.dtype is U64:
        return integers(events, name, U64)
    return integers(events, name)


def column(values: Any, name: str) -> Union[Array, List[Any]]:
    """The values of a column of a table: an array of integers, or objects."""
    if isinstance(values, (list, tuple)):
        return list(values)
    array = _check_dimensions(as_array(values, name), name, "1", 1, 1)
    if array.dtype.kind in "iu":
        return array
    # As list, times would be integers without their unit.
    return list(array) if array.dtype.kind in "mM" else array.tolist()


def empty(count: Union[int, Tuple[int, ...]], dtype: npt.DTypeLike, kind: Any) -> Tuple[Array, Any]:
    """An array for output, and the pointer to pass. Arrays of size_t are np.intp here: indices
    are smaller, and the value that stands for none is -1."""
    array = np.empty(count, dtype)
    return array, from_buffer(kind, array, True)


def pointer(array: Array) -> Any:
    """The pointer to the first element of float64 or float32. The caller keeps the array."""
    if array.flags.c_contiguous:
        return from_buffer(DOUBLES if array.dtype is F64 else FLOATS, array)
    return ffi.cast("double *" if array.dtype is F64 else "float *", array.ctypes.data)


def samples(x: npt.ArrayLike, name: str, most: int = 2) -> Array:
    """One series: (length,) or (length, dimensions), of float32 if it is that, else float64."""
    if (type(x) is ndarray and (x.dtype is F64 or x.dtype is F32) and 1 <= x.ndim <= most
            and x.flags.num & PLAIN == PLAIN):
        return x
    array = numbers(x, name)
    _check_dimensions(array, name, "1" if most == 1 else "a series has 1, or 2 if its samples are "
                      "vectors;", 1, most)
    return _plain(array, F32 if array.dtype.newbyteorder("=") == F32 else F64)


def rows(values: Any, name: str) -> Union[Array, List[Array]]:
    """A set of series as a matrix, or one by one."""
    if isinstance(values, (ndarray, memoryview)) or _describes_itself(values):
        array = as_array(values, name)
        if not (array.dtype.kind == "O" and array.ndim == 1):
            return numbers(array, name)
        values = list(array)
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Mapping, Set)):
        raise TypeError(f"{name} is a {type(values).__name__}; a matrix with a row for each "
                        "series, or a sequence of series, is expected")
    return [samples(part, f"{name}[{i}]") for i, part in enumerate(values)]


def list_of_times(values: Any, name: str) -> List[Array]:
    """The times of each thread, which may be empty."""
    if type(values) is not list:
        values = rows(values, name)
        if isinstance(values, ndarray):
            _check_dimensions(values, name, "a row for each thread, 2,", 2, 2)
    return [doubles(part, f"{name}[{i}]") for i, part in enumerate(values)]


# Type of pointers to a set in C, and an empty set, of float64 and of float32.
_SERIES = [(ffi.typeof(f"{kind} *"),
            new(f"{kind} *", {"struct_size": ffi.sizeof(kind), "dimensions": 1}))
           for kind in ("tsanom_series", "tsanom_series_f32")]


class Series:
    """A set of series, as the struct that C functions read. It keeps the arrays; with `copy` they
    are not the caller's."""

    __slots__ = ("view", "count", "longest", "dimensions", "dtype", "cells", "_values", "_keep")

    def __init__(self, values: SeriesSet, name: str, dtype: Optional[Any] = None,
                 copy: bool = False) -> None:
        self._values: Any
        if copy and type(values) is ndarray:
            values, copy = values.copy(), False
        if (type(values) is ndarray and values.dtype is F64 and values.ndim == 2 and not copy
                and values.flags.num & PLAIN == PLAIN and (dtype is None or dtype is F64)):
            # The usual case.
            self.dimensions = 1
            self._values = values
            count, length = values.shape
            view = self._start(name, False, count, length)
            view.data = from_buffer(DOUBLES, values)
            view.length = length
            return
        parts = rows(values, name)
        if isinstance(parts, list):
            if len({part.shape for part in parts}) > 1:
                self._from_parts([part.copy() if copy else part for part in parts], name, dtype)
                return
            parts = np.stack(parts) if parts else np.empty((0, 0))
        elif copy:
            parts = parts.copy()
        self._from_matrix(parts, name, dtype)

    def __getitem__(self, part: slice) -> SeriesSet:
        """Some of the series, as a set."""
        return self._values[part]  # type: ignore[no-any-return]

    def check(self, name: str) -> None:
        """Reject what the functions of C reject; they see parts of the set only."""
        if not self.count or not self.longest:
            raise from_status(lib.TSANOM_E_COUNT, name)
        for k, series in enumerate(self._values):
            finite = np.isfinite(series)
            if not len(series):
                raise from_status(lib.TSANOM_E_COUNT, name, k)
            if not finite.all():
                raise from_status(lib.TSANOM_E_NONFINITE, name,
                                  (k, int(finite.argmin()) // self.dimensions))

    def _start(self, name: str, single: bool, count: int, longest: int) -> Any:
        self.dtype = F32 if single else F64
        self.count = count
        self.longest = longest
        total = count * longest
        # Pairs of samples of all pairs of series, at most.
        self.cells = total * total
        kind, default = _SERIES[single]
        self.view = view = new(kind, default[0])
        view.count = count
        if self.dimensions != 1:
            if self.dimensions == 0:  # the default in C
                raise ValueError(f"{name}: samples have 0 components; at least 1 is expected")
            view.dimensions = self.dimensions
        return view

    def _from_matrix(self, values: Array, name: str, dtype: Optional[Any]) -> None:
        _check_dimensions(values, name, "a set of series is a matrix with a row for each series, "
                          "or a sequence of series;", 2, 3)
        single = (dtype or values.dtype.newbyteorder("=")) == F32
        kind = F32 if single else F64
        matrix = np.asarray(values, kind)
        item = matrix.itemsize
        inner = matrix.strides[1:] == ((item,) if matrix.ndim == 2
                                       else (item * matrix.shape[2], item))
        row = math.prod(matrix.shape[1:])
        if not (inner and matrix.flags.aligned and matrix.dtype is kind
                and matrix.strides[0] % item == 0 and matrix.strides[0] >= row * item):
            matrix = _plain(matrix, kind)
        self.dimensions = matrix.shape[2] if matrix.ndim == 3 else 1
        view = self._start(name, single, matrix.shape[0], matrix.shape[1])
        view.data = pointer(matrix)
        view.ld = max(row, matrix.strides[0] // item)
        view.length = self.longest
        self._values = matrix

    def _from_parts(self, parts: List[Array], name: str, dtype: Optional[Any]) -> None:
        dimensions = {part.shape[1:] for part in parts}
        if len(dimensions) > 1:
            raise ValueError(f"the series of {name} have samples of different dimensions")
        single = all(part.dtype == F32 for part in parts) if dtype is None else dtype == F32
        self._values = [_plain(part, F32 if single else F64) for part in parts]
        self.dimensions = parts[0].shape[1] if parts[0].ndim == 2 else 1
        view = self._start(name, single, len(parts), max(len(part) for part in parts))
        pointers = new("float *[]" if single else "double *[]",
                       [pointer(part) for part in self._values])
        lengths = new(SIZES, [len(part) for part in parts])
        view.pointers, view.lengths = pointers, lengths
        self._keep = pointers, lengths
