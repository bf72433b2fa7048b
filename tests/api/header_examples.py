#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""header_examples.py HEADERS COMPILER FLAG...

Compiles and runs the example in the comment of each header: the block between @code{.c} and
@endcode is the body of main(), with <stdio.h>, <math.h>, the header, and those that its first
lines include. What it prints must be what its comments of the form `// -> text` say, a line each."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Headers without functions of their own.
WITHOUT = {"tsanom.h"}


def example(header):
    """The code of a header's example, or None."""
    comment = re.match(r".*?/\*\* @file(.*?)\*/", header.read_text(), re.S)
    block = comment and re.search(r"@code\{\.c\}\n(.*?)\n *\* *@endcode", comment[1], re.S)
    return block and re.sub(r"^ \* ? ?", "", block[1], flags=re.M)


def outcome(header, code, command, folder):
    """What is wrong with an example, or None."""
    expected = "".join(text + "\n" for text in re.findall(r"// -> (.*)$", code, re.M))
    folder = folder / f"{header.stem}_example"
    folder.mkdir()  # of its own: some write a run
    source, program = folder / f"{header.stem}.c", folder / header.stem
    includes = "".join(re.findall(r"^#include .*\n", code, re.M))
    body = re.sub(r"^#include .*\n", "", code, flags=re.M)
    source.write_text(f"#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                      f"#include <tsanom/{header.name}>\n{includes}"
                      f"int main(void) {{\n{body}\nreturn 0;\n}}\n")
    built = subprocess.run([command[0], str(source), "-o", str(program), *command[1:]],
                           capture_output=True, text=True)
    if built.returncode:
        return built.stderr
    ran = subprocess.run([str(program)], capture_output=True, text=True, cwd=folder)
    if ran.returncode or ran.stdout != expected:
        return f"status {ran.returncode}; prints\n{ran.stdout}and not\n{expected}{ran.stderr}"
    return None if expected else "no output is stated"


def main():
    headers, command = Path(sys.argv[1]), sys.argv[2:]
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for header in sorted(headers.glob("*.h")):
            code = example(header)
            if code:
                count += 1
                wrong = outcome(header, code, command, Path(folder))
                problems += [f"{header.name}: {wrong}"] if wrong else []
            elif header.name not in WITHOUT:
                problems.append(f"{header.name}: no example")
    print("\n".join(problems))
    print(f"{count} examples, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
