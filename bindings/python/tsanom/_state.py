# SPDX-License-Identifier: BSD-3-Clause
"""Saved states of objects in memory of the library, for pickling."""

from __future__ import annotations

from typing import Any

from ._arrays import SIZE, new
from ._call import PARTIAL, call, plain
from ._library import NULL, ffi, lib


def saved(handle: Any) -> bytes:
    """The state of an object."""
    count = new(SIZE)
    plain(lib.tsanom_save(handle, NULL, 0, count), expected=(PARTIAL,))
    state = bytearray(count[0])
    plain(lib.tsanom_save(handle, ffi.from_buffer(state), count[0], count))
    return bytes(state)


def restore(handle: Any, state: bytes) -> None:
    """Bring an object, made with the options of the saved one, into its state."""
    call(lib.tsanom_restore, (handle, ffi.from_buffer(state), len(state)), ())
