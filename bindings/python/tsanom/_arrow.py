# SPDX-License-Identifier: BSD-3-Clause
"""Columns of objects that have no __array__, but the C stream interface of Arrow: a capsule
with functions that return the schema, and one batch of columns after the other.

Columns of numbers, text and truth values are read; others have an error that names their format
(arrow.apache.org/docs/format/CDataInterface.html). Missing values are None."""

from __future__ import annotations

import ctypes
from struct import calcsize, unpack_from
from typing import Any, Dict, List

_Pointer = ctypes.c_void_p
_NUMBERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q",
            "e": "e", "f": "f", "g": "d"}
_OFFSETS = {"u": "i", "U": "q"}


class _Schema(ctypes.Structure):
    pass


class _Batch(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", _Pointer),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", _Pointer),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))), ("private", _Pointer)]
_Batch._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(_Pointer)), ("children", ctypes.POINTER(ctypes.POINTER(_Batch))),
    ("dictionary", _Pointer), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Batch))),
    ("private", _Pointer)]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream),
                                    ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream),
                                  ctypes.POINTER(_Batch))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", _Pointer), ("private", _Pointer)]

_address = ctypes.pythonapi.PyCapsule_GetPointer
_address.restype, _address.argtypes = _Pointer, [ctypes.py_object, ctypes.c_char_p]


def _bit(bits: Any, i: int) -> int:
    return bits[i // 8] >> i % 8 & 1  # type: ignore[no-any-return]


def _values(format: str, batch: Any, first: int, count: int, name: str) -> List[Any]:
    """Elements first .. first + count of a column."""
    first += batch.offset
    end = first + count

    def buffer(i: int, size: int) -> bytes:
        return ctypes.string_at(batch.buffers[i], size) if size else b""

    if format in _NUMBERS:
        code = _NUMBERS[format]
        width = calcsize(f"={code}")
        found = list(unpack_from(f"={count}{code}", buffer(1, end * width), first * width))
    elif format == "b":
        bits = buffer(1, (end + 7) // 8)
        found = [bool(_bit(bits, i)) for i in range(first, end)]
    elif format in _OFFSETS:
        width = 4 if format == "u" else 8
        at = unpack_from(f"={count + 1}{_OFFSETS[format]}", buffer(1, (end + 1) * width),
                         first * width)
        text = buffer(2, at[-1])
        found = [text[a:b].decode() for a, b in zip(at, at[1:])]
    else:
        raise TypeError(f"{name} has a column of Arrow's format {format!r}; numbers or text are "
                        "expected")
    if batch.null_count and batch.buffers[0]:
        valid = buffer(0, (end + 7) // 8)
        found = [value if _bit(valid, i) else None for i, value in zip(range(first, end), found)]
    return found


def read(values: Any, name: str) -> Dict[str, List[Any]]:
    """The columns of an object by name; those of an array have the name ""."""
    capsule = values.__arrow_c_stream__()
    stream = ctypes.cast(_address(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    schema, batch = _Schema(), _Batch()

    def check(status: int) -> None:
        if status:
            text = stream.contents.get_last_error(stream)
            raise ValueError(f"{name}: Arrow's stream ends: {(text or b'').decode()}")

    check(stream.contents.get_schema(stream, schema))
    try:
        is_table = schema.format == b"+s"
        kinds = [schema.children[i].contents for i in range(schema.n_children)] if is_table else [
            schema]
        formats = [kind.format.decode() for kind in kinds]
        names = [(kind.name or b"").decode() for kind in kinds] if is_table else [""]
        if any(kind.dictionary for kind in kinds) or len(set(names)) < len(names):
            raise TypeError(f"{name} has a dictionary of values, or a column twice; numbers or "
                            "text are expected")
    finally:
        schema.release(schema)
    columns: Dict[str, List[Any]] = {column: [] for column in names}
    while True:
        check(stream.contents.get_next(stream, batch))
        if not batch.release:
            return columns
        try:
            for i, format in enumerate(formats):
                part = batch.children[i].contents if is_table else batch
                columns[names[i]] += _values(format, part, batch.offset if is_table else 0,
                                             batch.length, name)
        finally:
            batch.release(batch)
