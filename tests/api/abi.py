#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""abi.py HEADERS ASSERTIONS.c    compare HEADERS/abi.json with the headers; write assertions
abi.py HEADERS --write         write it

abi.json describes, for other languages, each public struct on 64-bit processors (size; name, type
and offset of each field) and each constant. It is computed from what the preprocessor prints of the
headers, with the layout of this machine; the compiler then checks it by ASSERTIONS.c. Since it is
stored with the headers, a change of the interface is a change of that file."""

import json
import re
import sys
from pathlib import Path

import cffi

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))
import declarations  # noqa: E402

LIMITS = {"SIZE_MAX": 2**64 - 1, "INT32_MIN": -2**31}


def defined(headers):
    """The constants that are macros."""
    found = {}
    for path in sorted(headers.glob("*.h")):
        for name, value in re.findall(r"^#define (TSANOM_\w+) +\(?(-?\d+|[A-Z]\w+_M\w\w)\)?$",
                                      path.read_text(), re.M):
            found[name] = LIMITS[value] if value in LIMITS else int(value)
    return found


def described(headers):
    """What abi.json contains."""
    ffi = cffi.FFI()
    ffi.cdef(declarations.preprocessed(headers.parent.resolve()))
    constants = ffi.dlopen(None)
    structs = {}
    for name in ffi.list_types()[1]:
        fields = ffi.typeof(f"struct {name}").fields
        if fields:
            structs[name] = {"size": ffi.sizeof(name),
                             "fields": [{"name": field, "type": what.type.cname, "offset": what.offset}
                                        for field, what in fields]}
    names = [name for name in dir(constants) if name.startswith("TSANOM_")]
    return {"version": declarations.header_version(headers.parent), "pointer_bytes": 8,
            "constants": {**defined(headers), **{name: getattr(constants, name) for name in names}},
            "structs": structs}


def written(abi):
    """As text, with a line for each constant and each field."""
    text = json.dumps(abi, indent=1)
    return re.sub(r'\{\s+("name": [^\n]*)\s+("type": [^\n]*)\s+("offset": \d+)\s+\}', r"{\1 \2 \3}",
                  text) + "\n"


def assertions(abi):
    """The same as a C program."""
    yield "#include <stddef.h>\n#include <tsanom/tsanom.h>\n#if UINTPTR_MAX == UINT64_MAX"
    for name, value in abi["constants"].items():
        sign = "U" if value > 2**63 else ""
        yield f'_Static_assert({name} == {value}{sign}, "{name}");'
    for name, struct in abi["structs"].items():
        yield f'_Static_assert(sizeof({name}) == {struct["size"]}, "{name}");'
        for field in struct["fields"]:
            place = f'{name}, {field["name"]}'
            yield f'_Static_assert(offsetof({place}) == {field["offset"]}, "{place}");'
    yield "#endif"


def main():
    headers = Path(sys.argv[1])
    stored = headers / "abi.json"
    abi = described(headers)
    if sys.argv[2] == "--write":
        stored.write_text(written(abi))
        return
    if stored.read_text() != written(abi):
        sys.exit("abi.py: the interface is not that of include/tsanom/abi.json. If it must change, "
                 "tell it in CHANGELOG.md, and: python3 tests/api/abi.py include/tsanom --write")
    Path(sys.argv[2]).write_text("\n".join(assertions(abi)) + "\n")


if __name__ == "__main__":
    main()
