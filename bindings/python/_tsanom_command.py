# SPDX-License-Identifier: BSD-3-Clause
"""The command `tsanom` of an installed wheel. Not part of the package `tsanom`, whose import would
take longer than most commands."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Execute the command that the package contains."""
    spec = find_spec("tsanom")
    command = Path(str(spec.origin)).parent / "bin" / "tsanom" if spec else Path()
    if not command.is_file():
        sys.exit("tsanom: this installation of the Python package does not contain the command")
    os.execv(command, ["tsanom", *sys.argv[1:]])


if __name__ == "__main__":
    main()
