# SPDX-License-Identifier: BSD-3-Clause
"""Objects that describe their data as those of other packages do: only by one protocol each."""

import ctypes

import numpy as np
from tsanom._arrow import _Batch, _Schema, _Stream


class ByArray:
    """As those of Polars and PyArrow."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self._values.astype(dtype or self._values.dtype)


class ByDlpack:
    def __init__(self, values):
        self._values = np.array(values)

    def __dlpack__(self, **options):
        return self._values.__dlpack__()

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


class Broken:
    """As a tensor of a graphics processor."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("the tensor is on a device")


FORMATS = {"b": "c", "B": "C", "h": "s", "H": "S", "i": "i", "I": "I", "l": "l", "L": "L", "e": "e",
           "f": "f", "d": "g"}


def _bits(flags):
    return np.packbits(flags, bitorder="little").tobytes() + b"\0"


class ByArrow:
    """A column, or a mapping of columns, as a stream of batches of two rows, each of which begins
    one element after its buffers do. None is missing."""

    def __init__(self, columns):
        self._is_table = isinstance(columns, dict)
        self._columns = columns if self._is_table else {"": columns}
        self.released = 0
        self._keep = []
        if not self._columns or not all(isinstance(x, list) for x in self._columns.values()):
            raise ValueError("lists are expected, at least one")
        for values in self._columns.values():
            self._buffers(self._format(values), values)

    def _kept(self, value):
        self._keep.append(value)
        return value

    @staticmethod
    def _format(values):
        known = [value for value in values if value is not None]
        if known and isinstance(known[0], str):
            return "u"
        kind = np.array(known)
        return "b" if kind.dtype == bool else FORMATS[kind.dtype.char]

    def _buffers(self, format, values):
        valid = _bits([False] + [value is not None for value in values])
        filler = "" if format == "u" else 0
        values = [filler if value is None else value for value in values]
        if format == "u":
            text = ["x"] + values
            ends = np.cumsum([0] + [len(part.encode()) for part in text], dtype=np.int32)
            return [valid, ends.tobytes(), "".join(text).encode()]
        if format == "b":
            return [valid, _bits([False] + values)]
        dtype = next(char for char, name in FORMATS.items() if name == format)
        return [valid, np.array([0] + values, dtype).tobytes()]

    def _schema(self, schema):
        @self._kept
        @_Schema._fields_[7][1]
        def release(what):
            self.released += 1

        def fill(one, format, name, children=()):
            one.format, one.name, one.release = format.encode(), name.encode(), release
            one.n_children = len(children)
            one.children = self._kept((ctypes.POINTER(_Schema) * max(len(children), 1))(
                *map(ctypes.pointer, children)))
            return one

        parts = [fill(self._kept(_Schema()), self._format(values), name)
                 for name, values in self._columns.items()]
        if self._is_table:
            fill(schema, "+s", "", parts)
        else:
            fill(schema, self._format(self._columns[""]), "")

    def _batch(self, batch, first):
        @self._kept
        @_Batch._fields_[8][1]
        def release(what):
            self.released += 1

        def fill(one, values):
            buffers = [self._kept(ctypes.create_string_buffer(part, len(part)))
                       for part in self._buffers(self._format(values), values[first:first + 2])]
            one.length, one.offset, one.n_buffers = len(values[first:first + 2]), 1, len(buffers)
            one.null_count = sum(value is None for value in values[first:first + 2])
            one.buffers = self._kept((ctypes.c_void_p * len(buffers))(
                *[ctypes.addressof(part) for part in buffers]))
            one.release = release
            return one

        parts = list(self._columns.values())
        if first >= len(parts[0]):
            batch.release = _Batch._fields_[8][1]()
        elif not self._is_table:
            fill(batch, parts[0])
        else:
            made = [fill(self._kept(_Batch()), values) for values in parts]
            batch.length, batch.offset, batch.n_children = made[0].length, 0, len(made)
            batch.children = self._kept((ctypes.POINTER(_Batch) * len(made))(
                *map(ctypes.pointer, made)))
            batch.release = release

    def __arrow_c_stream__(self, requested_schema=None):
        first = [0]
        stream = self._kept(_Stream())

        @self._kept
        @_Stream._fields_[0][1]
        def get_schema(what, schema):
            self._schema(schema.contents)
            return 0

        @self._kept
        @_Stream._fields_[1][1]
        def get_next(what, batch):
            self._batch(batch.contents, first[0])
            first[0] += 2
            return 0

        stream.get_schema, stream.get_next = get_schema, get_next
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                         ctypes.c_void_p]
        return make(ctypes.addressof(stream), b"arrow_array_stream", None)
