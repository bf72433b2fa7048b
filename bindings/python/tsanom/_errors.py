# SPDX-License-Identifier: BSD-3-Clause
"""The exception of the package."""

from typing import Any, Optional, Tuple, Union

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
        The offending argument, as the C function names it.
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

    def __reduce__(self) -> Tuple[Any, ...]:
        return (TsanomError, (self.args[0], self.status, self.argument, self.index, self.file))


def status_text(status: int) -> str:
    """The sentence that describes a status."""
    return str(ffi.string(lib.tsanom_status_text(status)).decode())


def from_fault(status: int, fault: Any) -> TsanomError:
    """The exception for a status and what the fault reports of it."""
    argument = ffi.string(fault.argument).decode()
    text = ffi.string(fault.text).decode() or status_text(status)
    file = ffi.string(fault.file).decode(errors="replace")
    index: Index = None
    if fault.element != NONE:
        index = fault.element if fault.second == NONE else (fault.element, fault.second)
    place = "".join(f"{part}: " for part in (file, argument) if part)
    if argument.startswith("options."):
        argument = argument[len("options."):]
    return TsanomError(place + text, status, argument or None, index, file or None)


def from_status(status: int, argument: Optional[str] = None, index: Index = None) -> TsanomError:
    """The exception for a status of a function without a fault."""
    place = f"{argument}: " if argument else ""
    return TsanomError(place + status_text(status), status, argument, index)
