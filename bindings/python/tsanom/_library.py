# SPDX-License-Identifier: BSD-3-Clause
"""The C libraries and their declarations.

A wheel contains the libraries in the directory lib/ of the package. A package of the system
contains none: the loader then finds the installed ones. libtsanom-record is loaded first, because
libtsanom needs it and finds it by its name. OpenMP and LAPACK are those of the system, since a
second OpenMP runtime in a process starts threads of its own; only a wheel for other systems
(scripts/wheel) contains OpenMP."""

import sys
from pathlib import Path
from typing import Any

from . import _declarations

ffi: Any = _declarations.ffi
NULL: Any = ffi.NULL

# No index, no limit: SIZE_MAX.
NONE = 2 * sys.maxsize + 1


def _load(name: str) -> Any:
    file = f"lib{name}.so.0.3"
    bundled = Path(__file__).parent / "lib" / file
    return ffi.dlopen(str(bundled) if bundled.exists() else file)


record: Any = _load("tsanom-record")
lib: Any = _load("tsanom")
runs: Any = _load("tsanom-runs")


def _check_version() -> str:
    version = str(ffi.string(lib.tsanom_version()).decode())
    if version.split(".")[:2] != _declarations.version.split(".")[:2]:
        raise ImportError(f"libtsanom is version {version}; this package needs "
                          f"{_declarations.version}")
    return version


version = _check_version()
