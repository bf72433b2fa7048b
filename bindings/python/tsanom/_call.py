# SPDX-License-Identifier: BSD-3-Clause
"""Calls of C functions: execution settings, interruption, progress and errors.

A function of the library has the arguments inputs, exec, outputs. `call` passes an exec with a
fault, and a poll that lets Python handle signals: a handler that raises, as that of Ctrl-C does,
stops the function, and its exception is raised again here. cffi releases the interpreter's lock
while a function runs; the poll takes it for a moment. Python handles signals in the main thread
only, so that calls in other threads have no poll: each would wait for the lock.

`quick` passes no exec, for calls that take microseconds, as a poll does; only if the function
fails, it is called again with an exec, which then reports the reason."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import get_ident, main_thread
from typing import Any, List, Union

from ._errors import from_fault
from ._library import NULL, ffi, lib

Progress = Union[bool, None, Callable[[int, int], object]]

# Work below about 0.1 ms.
QUICK = 1 << 14

PARTIAL = lib.TSANOM_PARTIAL
INFEASIBLE = lib.TSANOM_INFEASIBLE

_EXEC = ffi.new("tsanom_exec *")
lib.tsanom_exec_init(_EXEC, ffi.sizeof("tsanom_exec"))
_FAULT = ffi.new("tsanom_fault *")
lib.tsanom_fault_init(_FAULT, ffi.sizeof("tsanom_fault"))
_POLL = ffi.typeof("int32_t(*)(void *, uint64_t, uint64_t)")
_EXEC_POINTER = ffi.typeof("tsanom_exec *")
_FAULT_POINTER = ffi.typeof("tsanom_fault *")
_new = ffi.new


def thread_count(threads: int) -> int:
    """The thread count of an exec: -1, as scikit-learn's n_jobs, is 0 there, all processors."""
    if threads == -1:
        return 0
    if threads < 1:
        raise ValueError(f"threads is {threads}; a count of at least 1, or -1 for all processors, "
                         "is expected")
    return threads


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


class Execution:
    """An exec with its poll and its fault, for one call at a time."""

    __slots__ = ("exec", "_fault", "_poll", "_caught")

    def __init__(self, threads: int = 1, progress: Progress = None) -> None:
        caught: List[BaseException] = []
        poll: Callable[[Any, int, int], int] = _keep_going
        if progress:
            report = _with_bar() if progress is True else progress

            def poll(user: Any, done: int, total: int) -> int:
                report(done, total)
                return 0

        self._caught = caught
        self._poll = ffi.callback(_POLL, poll, error=1,
                                  onerror=lambda kind, value, trace: caught.append(value))
        self._fault = _new(_FAULT_POINTER, _FAULT[0])
        self.exec = _new(_EXEC_POINTER, _EXEC[0])
        self.exec.fault = self._fault
        if threads != 1:
            self.exec.threads = thread_count(threads)
        self.for_this_thread(bool(progress))

    def for_this_thread(self, always: bool = False) -> "Execution":
        """Poll in the main thread only, or always."""
        polls = always or get_ident() == main_thread().ident
        self.exec.poll = self._poll if polls else NULL
        return self

    def check(self, status: int) -> int:
        """Raise what the poll caught, or the error; else return the status."""
        if self._caught:
            raise self._caught.pop()
        if status < 0:
            error = from_fault(status, self._fault)
            self._fault[0] = _FAULT[0]
            raise error
        return status


# Executions of one thread without progress that no call uses: a callback takes microseconds to
# create. A call within a poll finds another one here. Adding and removing are atomic.
_unused: List[Execution] = []


def _take() -> Execution:
    try:
        return _unused.pop().for_this_thread()
    except IndexError:
        return Execution()


def call(function: Any, inputs: Sequence[Any], outputs: Sequence[Any], threads: int = 1,
         progress: Progress = None) -> int:
    """Call a function with an exec; return its status, which is not negative."""
    if threads != 1 or progress:
        execution = Execution(threads, progress)
        return execution.check(function(*inputs, execution.exec, *outputs))
    execution = _take()
    try:
        return execution.check(function(*inputs, execution.exec, *outputs))
    finally:
        _unused.append(execution)


def quick(function: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
    """Call a function that takes microseconds; return its status, which is not negative."""
    status: int = function(*inputs, NULL, *outputs)
    return status if status >= 0 else call(function, inputs, outputs)


def call_sized(size: int, function: Any, inputs: Sequence[Any], outputs: Sequence[Any],
               threads: int = 1, progress: Progress = None) -> int:
    """`quick` for little work, of at most `QUICK` samples or pairs of samples; else `call`."""
    if size <= QUICK and threads == 1 and not progress:
        status: int = function(*inputs, NULL, *outputs)
        if status >= 0:
            return status
    return call(function, inputs, outputs, threads, progress)


@lru_cache(maxsize=64)
def _defaults(kind: str) -> Any:
    """The type of pointers to a struct, and the struct with its defaults."""
    result = ffi.new(kind + " *")
    getattr(lib, kind + "_init")(result, ffi.sizeof(kind))
    return ffi.typeof(result), result[0], result


def options(kind: str, **fields: Any) -> Any:
    """A struct `kind` with its defaults, except for the fields that are not None."""
    pointer, default, _ = _defaults(kind)
    result = _new(pointer, default)
    for name, value in fields.items():
        if value is None:
            continue
        try:
            setattr(result, name, value)
        except OverflowError as error:
            raise ValueError(f"{name} is {value}: {error}") from None
    return result


# The same for structs that calls only read, so that they can share them.
shared_options = lru_cache(maxsize=256)(options)


def choice(value: str, table: "dict[str, int]", name: str) -> int:
    """The constant for a name; an error lists the names."""
    try:
        return table[value]
    except (KeyError, TypeError):
        raise ValueError(f"{name} is {value!r}; one of {', '.join(map(repr, table))} is "
                         "expected") from None
