# SPDX-License-Identifier: BSD-3-Clause
"""The exception and the warning of the package."""

import os
from typing import Any, Dict, Optional, Tuple, Union

from ._library import NONE, ffi, lib

Index = Union[int, Tuple[int, int], None]


class TsanomError(ValueError):
    """A call was rejected, or failed.

    >>> import tsanom
    >>> try:
    ...     tsanom.dtw([1.0, float("nan")], [1.0, 2.0])
    ... except tsanom.TsanomError as error:
    ...     print(error.name, error.argument, error.index)
    TSANOM_E_NONFINITE x 1

    Attributes
    ----------
    status : int
        The status of the C function, negative.
    name : str
        Its name, such as ``"TSANOM_E_NONFINITE"``.
    argument : str or None
        The offending argument of the function or method.
    index : int, tuple of two ints, or None
        The smallest offending index within the argument: of a sample, or of a series and its
        sample.
    file : str or None
        The offending file.
    """

    def __init__(self, message: str, status: int, argument: Optional[str] = None,
                 index: Index = None, file: Optional[str] = None) -> None:
        super().__init__(message)
        self.status = status
        self.name = str(ffi.string(lib.tsanom_status_name(status)).decode())
        self.argument = argument
        self.index = index
        self.file = file

    def renamed(self, argument: str, name: str) -> "TsanomError":
        """The same where a function has another name for an argument than others have."""
        if self.argument != argument:
            return self
        return TsanomError(name + self.args[0][len(argument):], self.status, name, self.index,
                           self.file)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (TsanomError, (self.args[0], self.status, self.argument, self.index, self.file))


class TsanomWarning(UserWarning):
    """A result is valid, but not all that was asked for: a limit was reached, or the data
    determine less."""


# Arguments that the functions of C name in another way.
_NAMES: Dict[str, str] = {
    "series": "X", "xs": "X", "ys": "Y", "points": "X", "distances": "X", "queries": "Q",
    # The counts of samples of two series.
    "n": "x", "m": "y", "length": "start", "count": "samples", "data": "times", "runs": "normal",
    "neighbors": "n_neighbors", "query_length": "query", "stream_length": "stream",
    "lower": "envelope", "upper": "envelope", "table.decision": "decision", "data.time": "times",
    "data.metric": "metrics", "data.parent": "parents", "data.error": "errors",
    "options.neighbors": "n_neighbors", "options.min_points": "min_samples",
    "options.eps": "max_eps", "options.degree": "deg", "options.path_memory": "memory",
    "options.open_begin_x": "open_begin", "options.open_begin_y": "open_begin",
    "options.open_end_x": "open_end", "options.open_end_y": "open_end",
    "options.reduct_limit": "limit", "options.size_limit": "max_size",
    "options.keep_tails": "predecessor_correction", "options.selection": "select",
    "options.borrow": "copy", "barycenter": "start", "time": "times",
    "a_count": "a", "b_count": "b", "run_count": "normal",
    "ordering.order": "ordering", "ordering.reachability": "reachability",
    "ordering.core_distance": "core_distances", "ordering.predecessor": "predecessor"}


# Counts that Python takes from arrays.
_COUNTS = ("n", "m", "length", "count", "query_length", "stream_length", "a_count", "b_count",
           "run_count")


def argument_name(argument: str) -> str:
    """The name of an argument of C in Python, where the fields of options are arguments."""
    struct, _, field = argument.partition(".")
    usual = field if struct in ("options", "exec") else struct
    return _NAMES.get(argument) or _NAMES.get(struct) or usual


def status_text(status: int) -> str:
    """The sentence that describes a status."""
    return str(ffi.string(lib.tsanom_status_text(status)).decode())


def _brackets(index: Index) -> str:
    return "".join(f"[{i}]" for i in ([index] if isinstance(index, int) else index or ()))


def _error(status: int, argument: str, index: Index, text: str, file: bytes = b"") -> Exception:
    if status == lib.TSANOM_E_MEMORY:
        return MemoryError(text)
    name = argument_name(argument)
    place = name + _brackets(index)
    is_sentence = text.startswith((" is ", " has "))
    problem = place + text if is_sentence else ": ".join(filter(None, (place, text)))
    message = ": ".join(filter(None, (file.decode(errors="replace"), problem)))
    return TsanomError(message, status, name or None, index, os.fsdecode(file) or None)


def from_fault(status: int, fault: Any) -> Exception:
    """The exception for a status and what the fault reports of it."""
    argument = ffi.string(fault.argument).decode()
    text = ffi.string(fault.text).decode(errors="replace") or status_text(status)
    index: Index = None
    if fault.element != NONE:
        index = fault.element if fault.second == NONE else (fault.element, fault.second)
    place = argument + _brackets(index)
    if argument and text.startswith(place):
        # "argument[index] is VALUE; ..." or "argument[index]: ...": `_error` writes the place by
        # the names of Python.
        text = text[len(place):]
        text = text[2:] if text.startswith(": ") else text
        if argument in _COUNTS and text.startswith(" is "):
            text = " has " + text[4:].replace(";", " elements;", 1)
        struct, _, field = argument.partition(".")
        if field and struct not in ("options", "exec") and argument not in _NAMES:
            # A field of an array, which Python passes as a whole: "X[1]: length is 3; ...".
            plural = index is not None and field.endswith("s")
            text = (field[:-1] if plural else field) + text
    return _error(status, argument, index, text,
                  ffi.string(fault.file))


def from_status(status: int, argument: str = "", index: Index = None) -> Exception:
    """The exception for a status of a function without a fault."""
    return _error(status, argument, index, status_text(status))
