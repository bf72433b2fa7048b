# SPDX-License-Identifier: BSD-3-Clause
"""Calls of C functions: execution settings, interruption, progress and errors.

A function of the library has the arguments inputs, exec, outputs. `call` passes an exec with a
fault, and a poll that lets Python handle signals: a handler that raises, as that of Ctrl-C does,
stops the function, and its exception is raised again here. cffi releases the interpreter's lock
while a function runs; the poll takes it for a moment. Python handles signals in the main thread
only, so that calls in other threads have no poll: each would wait for the lock.

`quick` passes no exec, for calls that take microseconds, as a poll does; only if the function
fails, it is called again with an exec, which then reports the reason.

No status is lost: a negative one is an exception, and a positive one a `TsanomWarning` unless it
is among the statuses that the caller expects, because the result shows them.

Options are structs of C. `options` converts each by the type of its field, and `shared` keeps
those of earlier calls, apart for arguments of different types: whether a value is accepted does
not depend on what was accepted before."""

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from operator import index
from threading import get_ident, main_thread
from typing import Any, Dict, List, Optional, TypeVar, Union, cast

import numpy as np

from ._errors import (Index, TsanomWarning, argument_name, from_fault, from_status,
                      status_text)
from ._library import NONE, NULL, ffi, lib

Progress = Union[bool, None, Callable[[int, int], object]]

# Work below about 0.1 ms.
QUICK = 1 << 14
# `threads is ONE` is a test for the usual value that neither 1.0 nor True passes.
ONE = 1

PARTIAL = lib.TSANOM_PARTIAL
INFEASIBLE = lib.TSANOM_INFEASIBLE
CUTOFF = lib.TSANOM_CUTOFF

_EXEC = ffi.new("tsanom_exec *")
lib.tsanom_exec_init(_EXEC, ffi.sizeof("tsanom_exec"))
_FAULT = ffi.new("tsanom_fault *")
_FAULT.struct_size = ffi.sizeof("tsanom_fault")
_POLL = ffi.typeof("int32_t(*)(void *, uint64_t, uint64_t)")
_EXEC_POINTER = ffi.typeof("tsanom_exec *")
_FAULT_POINTER = ffi.typeof("tsanom_fault *")
_new = ffi.new


def whole(value: Any, name: str, least: int = 0, most: int = NONE) -> int:
    """A count or another integer of a caller."""
    try:
        result = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; an integer is expected") from None
    if not least <= result <= most:
        raise ValueError(f"{name} is {result}; at least {least} is expected"
                         + (f", and at most {most}" if result > most else ""))
    return result


def limit(value: Optional[int], name: str = "radius") -> int:
    """A count, or without one the value that stands for no limit."""
    return NONE if value is None else whole(value, name)


def real(value: Any, name: str) -> float:
    """A number of a caller."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {value!r}; a number is expected") from None


def flag(value: Any, name: str) -> int:
    """True or False of a caller, in C."""
    if isinstance(value, np.bool_) or isinstance(value, int) and value in (0, 1):
        return int(value)
    raise TypeError(f"{name} is {value!r}; True or False is expected")


def file_name(path: Any, name: str = "path") -> bytes:
    """The path of a caller. C would open what is in front of a NUL."""
    result = os.fsencode(path)
    if b"\0" in result:
        raise ValueError(f"{name} is {path!r}; a path without NUL is expected")
    return result


def thread_count(threads: int, name: str = "threads") -> int:
    """The thread count of an exec: -1, as scikit-learn's n_jobs, is 0 there, all processors."""
    if whole(threads, name, -1, 2**31 - 1) == 0:
        raise ValueError(f"{name} is 0; a count of at least 1, or -1 for all processors, is "
                         "expected")
    return max(index(threads), 0)


def _keep_going(user: Any, done: int, total: int) -> int:
    """Python handles signals when it enters a function."""
    return 0


def _with_bar() -> Callable[[int, int], object]:
    """A report of progress by tqdm."""
    from tqdm.auto import tqdm
    bar = tqdm(total=0)

    def report(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    return report


def reporter(progress: Progress) -> Optional[Callable[[int, int], object]]:
    """What is called with done and total, if anything."""
    if not progress:
        return None
    if progress is True:
        return _with_bar()
    if not callable(progress):
        raise TypeError(f"progress is {progress!r}; True or a function is expected")
    return progress


class Execution:
    """An exec with its poll and its fault, for one call at a time."""

    __slots__ = ("exec", "_fault", "_poll", "_caught")

    def __init__(self, threads: int = 1, progress: Progress = None) -> None:
        caught: List[BaseException] = []
        poll: Callable[[Any, int, int], int] = _keep_going
        report = reporter(progress)
        if report:
            tell = report

            def poll(user: Any, done: int, total: int) -> int:
                tell(done, total)
                return 0

        self._caught = caught
        self._poll = ffi.callback(_POLL, poll, error=1,
                                  onerror=lambda kind, value, trace: caught.append(value))
        self._fault = _new(_FAULT_POINTER, _FAULT[0])
        self.exec = _new(_EXEC_POINTER, _EXEC[0])
        self.exec.fault = self._fault
        if threads is not ONE:
            self.exec.threads = thread_count(threads)
        self.for_this_thread(bool(progress))

    def for_this_thread(self, always: bool = False) -> "Execution":
        """Poll in the main thread only, or always."""
        polls = always or get_ident() == main_thread().ident
        self.exec.poll = self._poll if polls else NULL
        return self

    def check(self, status: int, expected: Sequence[int]) -> int:
        """Raise what the poll caught, or the error; else return the status."""
        if self._caught:
            caught = self._caught[0]
            self._caught.clear()
            raise caught
        if status < 0:
            error = from_fault(status, self._fault)
            self._fault[0] = _FAULT[0]
            raise error
        return warn_of(status, expected) if status else status


# Executions of one thread without progress that no call uses: a callback takes microseconds to
# create. A call within a poll finds another one here. Adding and removing are atomic.
_unused: List[Execution] = []


def _take() -> Execution:
    try:
        execution = _unused.pop()
        execution._caught.clear()
        return execution.for_this_thread()
    except IndexError:
        return Execution()


def warn_of(status: int, expected: Sequence[int] = (), what: str = "") -> int:
    """Warn of a positive status that is not expected; return it."""
    if status > 0 and status not in expected:
        level, frame = 1, sys._getframe()
        while frame.f_back and frame.f_globals.get("__name__", "").startswith("tsanom"):
            level, frame = level + 1, frame.f_back
        warnings.warn(what or status_text(status), TsanomWarning, stacklevel=level)
    return status


def plain(status: int, argument: str = "", index: Index = None,
          expected: Sequence[int] = ()) -> int:
    """The status of a function without an exec, which is not negative."""
    if status < 0:
        raise from_status(status, argument, index)
    return warn_of(status, expected)


def call(function: Any, inputs: Sequence[Any], outputs: Sequence[Any], threads: int = 1,
         progress: Progress = None, expected: Sequence[int] = ()) -> int:
    """Call a function with an exec; return its status, which is not negative."""
    if threads is not ONE or progress:
        execution = Execution(threads, progress)
        return execution.check(function(*inputs, execution.exec, *outputs), expected)
    execution = _take()
    try:
        return execution.check(function(*inputs, execution.exec, *outputs), expected)
    finally:
        _unused.append(execution)


def quick(function: Any, inputs: Sequence[Any], outputs: Sequence[Any],
          expected: Sequence[int] = ()) -> int:
    """Call a function that takes microseconds; return its status, which is not negative."""
    status: int = function(*inputs, NULL, *outputs)
    if status < 0:
        return call(function, inputs, outputs, expected=expected)
    return warn_of(status, expected) if status else status


def call_sized(size: int, function: Any, inputs: Sequence[Any], outputs: Sequence[Any],
               threads: int = 1, progress: Progress = None, expected: Sequence[int] = ()) -> int:
    """`quick` for little work, of at most `QUICK` samples or pairs of samples; else `call`."""
    if size <= QUICK and threads is ONE and not progress:
        return quick(function, inputs, outputs, expected)
    return call(function, inputs, outputs, threads, progress, expected)


# Conversions by the type of a field in C.
_INTEGERS = ("size_t", "int32_t", "uint32_t", "uint64_t", "int64_t")


@lru_cache(maxsize=64)
def _defaults(kind: str) -> Any:
    """The type of pointers to a struct, the struct with its defaults, and the conversion of each
    field."""
    result = ffi.new(kind + " *")
    initialize = getattr(lib, kind + "_init", None)
    if initialize is None:
        result.struct_size = ffi.sizeof(kind)
    else:
        initialize(result, ffi.sizeof(kind))
    conversions = {name: real if field.type.cname == "double" else
                   index if field.type.cname in _INTEGERS else None
                   for name, field in ffi.typeof(kind).fields}
    return ffi.typeof(result), result[0], result, conversions


def options(kind: str, **fields: Any) -> Any:
    """A struct `kind` with its defaults, except for the fields that are not None."""
    pointer, default, _, conversions = _defaults(kind)
    result = _new(pointer, default)
    for field, value in fields.items():
        if value is None:
            continue
        if field not in conversions:
            raise TypeError(f"{field} is no option; {kind} has {', '.join(conversions)}")
        name = argument_name(f"options.{field}")
        convert = conversions[field]
        if convert is index:
            value = whole(value, name, -sys.maxsize)
        elif convert:
            value = real(value, name)
        try:
            setattr(result, field, value)
        except OverflowError as error:
            raise ValueError(f"{name} is {value}: {error}") from None
    return result


Function = TypeVar("Function", bound=Callable[..., Any])


def shared(function: Function) -> Function:
    """Results of a function of options, which calls only read, so that they share them. Values
    of different types are different: 5.0 is no radius, also after 5."""
    kept: Any = lru_cache(maxsize=256, typed=True)(function)

    @wraps(function)
    def find(*arguments: Any, **fields: Any) -> Any:
        try:
            return kept(*arguments, **fields)
        except TypeError:
            # Some argument has no hash, or is rejected.
            return function(*arguments, **fields)

    return cast(Function, find)


shared_options = shared(options)


def choice(value: str, table: "Dict[str, int]", name: str) -> int:
    """The constant for a name; an error lists the names."""
    try:
        return table[value]
    except (KeyError, TypeError):
        raise ValueError(f"{name} is {value!r}; one of {', '.join(map(repr, table))} is "
                         "expected") from None
