# SPDX-License-Identifier: BSD-3-Clause
"""NumPy arrays as arguments of C functions. An array that is contiguous, or a matrix with
contiguous rows, is passed as it is; others are copied."""

import math
from collections.abc import Sequence
from typing import Any, List, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._library import ffi

Array = npt.NDArray[Any]
# A set of series: the rows of a matrix (count, length) or (count, length, dimensions), or a
# sequence of arrays whose lengths may differ.
SeriesSet = Union[npt.ArrayLike, Sequence[npt.ArrayLike]]

F64: "np.dtype[Any]" = np.dtype(np.float64)
F32: "np.dtype[Any]" = np.dtype(np.float32)
INTP: "np.dtype[Any]" = np.dtype(np.intp)
I32: "np.dtype[Any]" = np.dtype(np.int32)
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


def doubles(values: npt.ArrayLike, name: str, ndim: int = 1) -> Array:
    """A contiguous array of float64."""
    if (type(values) is ndarray and values.dtype is F64 and values.ndim == ndim
            and values.flags.c_contiguous):
        return values
    array = np.ascontiguousarray(values, F64)
    if array.ndim != ndim:
        raise ValueError(f"{name} has {array.ndim} dimensions; {ndim} expected")
    return array


def integers(values: npt.ArrayLike, dtype: "np.dtype[Any]", name: str) -> Array:
    """A contiguous array of integers of a type; values that it cannot represent are rejected."""
    if (type(values) is ndarray and values.dtype is dtype and values.ndim == 1
            and values.flags.c_contiguous):
        return values
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; 1 expected")
    if array.dtype.kind not in "iub":
        raise TypeError(f"{name} has the type {array.dtype}; integers expected")
    result = np.ascontiguousarray(array, dtype)
    if result.dtype.kind != array.dtype.kind or result.itemsize < array.itemsize:
        if array.size and not np.array_equal(result.astype(object), array.astype(object)):
            raise ValueError(f"{name} has values beyond {result.dtype}")
    return result


def empty(count: Union[int, Tuple[int, ...]], dtype: npt.DTypeLike, kind: Any) -> Tuple[Array, Any]:
    """An array for output, and the pointer to pass. Arrays of size_t are np.intp here: indices
    are smaller, and the value that stands for none is -1."""
    array = np.empty(count, dtype)
    return array, from_buffer(kind, array, True)


def pointer(array: Array) -> Any:
    """The pointer to the first element of float64 or float32. The caller keeps the array."""
    if array.flags.c_contiguous:
        return from_buffer(DOUBLES if array.dtype is F64 else FLOATS, array)
    return ffi.cast("double *" if array.dtype == F64 else "float *", array.ctypes.data)


def samples(x: npt.ArrayLike, name: str) -> Array:
    """One series: (length,) or (length, dimensions), of float32 if it is that, else float64."""
    if (type(x) is ndarray and (x.dtype is F64 or x.dtype is F32) and x.flags.c_contiguous
            and 1 <= x.ndim <= 2):
        return x
    array = np.asarray(x)
    array = np.ascontiguousarray(array, F32 if array.dtype == F32 else F64)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} has {array.ndim} dimensions; a series has 1, or 2 if its samples "
                         "are vectors")
    return array


# Type of pointers to a set in C, and an empty set, of float64 and of float32.
_SERIES = [(ffi.typeof(f"{kind} *"),
            new(f"{kind} *", {"struct_size": ffi.sizeof(kind), "dimensions": 1}))
           for kind in ("tsanom_series", "tsanom_series_f32")]


class Series:
    """A set of series, as the struct that C functions read. It keeps the arrays."""

    __slots__ = ("view", "count", "longest", "dimensions", "dtype", "cells", "_values", "_keep")

    def __init__(self, values: SeriesSet, name: str, dtype: Optional[Any] = None) -> None:
        self._values: Any
        if (type(values) is ndarray and values.dtype is F64 and values.ndim == 2
                and values.flags.c_contiguous and (dtype is None or dtype is F64)):
            # The usual case.
            self.dimensions = 1
            self._values = values
            count, length = values.shape
            view = self._start(False, count, length)
            view.data = from_buffer(DOUBLES, values)
            view.length = length
            return
        if not isinstance(values, np.ndarray):
            parts = [samples(part, f"{name}[{i}]") for i, part in enumerate(values)]  # type: ignore
            if len({part.shape for part in parts}) > 1:
                self._from_parts(parts, name, dtype)
                return
            values = np.stack(parts) if parts else np.empty((0, 0))
        self._from_matrix(values, name, dtype)

    def __getitem__(self, part: slice) -> SeriesSet:
        """Some of the series, as a set."""
        return self._values[part]  # type: ignore[no-any-return]

    def _start(self, single: bool, count: int, longest: int) -> Any:
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
            view.dimensions = self.dimensions
        return view

    def _from_matrix(self, values: Array, name: str, dtype: Optional[Any]) -> None:
        if values.ndim not in (2, 3):
            raise ValueError(f"{name} has {values.ndim} dimensions; a set of series is a matrix "
                             "with a row for each series, or a sequence of series")
        single = (dtype or values.dtype) == F32
        matrix = np.asarray(values, F32 if single else F64)
        item = matrix.itemsize
        inner = matrix.strides[1:] == ((item,) if matrix.ndim == 2
                                       else (item * matrix.shape[2], item))
        row = math.prod(matrix.shape[1:])
        if not (inner and matrix.strides[0] % item == 0 and matrix.strides[0] >= row * item):
            matrix = np.ascontiguousarray(matrix)
        self.dimensions = matrix.shape[2] if matrix.ndim == 3 else 1
        view = self._start(single, matrix.shape[0], matrix.shape[1])
        view.data = pointer(matrix)
        view.ld = max(row, matrix.strides[0] // item)
        view.length = self.longest
        self._values = matrix

    def _from_parts(self, parts: List[Array], name: str, dtype: Optional[Any]) -> None:
        dimensions = {part.shape[1:] for part in parts}
        if len(dimensions) > 1:
            raise ValueError(f"the series of {name} have samples of different dimensions")
        single = all(part.dtype == F32 for part in parts) if dtype is None else dtype == F32
        self._values = [np.ascontiguousarray(part, F32 if single else F64) for part in parts]
        self.dimensions = parts[0].shape[1] if parts[0].ndim == 2 else 1
        view = self._start(single, len(parts), max(len(part) for part in parts))
        pointers = new("float *[]" if single else "double *[]",
                       [pointer(part) for part in self._values])
        lengths = new(SIZES, [len(part) for part in parts])
        view.pointers, view.lengths = pointers, lengths
        self._keep = pointers, lengths
