# SPDX-License-Identifier: BSD-3-Clause
"""Saved states of objects in memory of the library, for pickling."""

from typing import Any

from ._arrays import SIZE, new
from ._call import PARTIAL, call, plain
from ._library import NULL, ffi


def saved(save: Any, handle: Any) -> bytes:
    """The state of an object."""
    count = new(SIZE)
    plain(save(handle, NULL, 0, count), expected=(PARTIAL,))
    state = bytearray(count[0])
    plain(save(handle, ffi.from_buffer(state), count[0], count))
    return bytes(state)


def restored(kind: str, restore: Any, destroy: Any, state: bytes, *options: Any) -> Any:
    """The object of a state; `options` are those between state and exec."""
    handle = new(f"{kind} **")
    call(restore, (NULL, 0, ffi.from_buffer(state), len(state), *options), (handle,))
    return ffi.gc(handle[0], destroy)
