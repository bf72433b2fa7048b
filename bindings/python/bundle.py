# SPDX-License-Identifier: BSD-3-Clause
"""Put the libraries that a wheel needs into it, and rename it for other distributions.

    bundle.py WHEEL OUTPUT_DIRECTORY PLATFORM ROOT

ROOT is the system on which the wheel's libraries were built: / or the directory of a chroot. Each
library of it other than glibc's is copied into the package as NAME-HASH.so.N, and whatever needs
it is changed to that name. So another package's OpenMP runtime in the process is another library,
and neither takes the other's calls. Needs patchelf."""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Exceptions of C++ pass through libgcc_s, of which a process has one.
SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s)\.so\.[0-9]+|ld-linux.*")


def patchelf(*arguments: str) -> str:
    return subprocess.run(["patchelf", *arguments], check=True, capture_output=True,
                          text=True).stdout


def is_elf(file: Path) -> bool:
    return file.is_file() and file.read_bytes()[:4] == b"\x7fELF"


def find(root: Path, name: str) -> Path:
    """The library of ROOT; a link there may be absolute."""
    for directory in ("usr/lib", "lib"):
        for file in sorted((root / directory).glob(f"*-linux-gnu/{name}")):
            while file.is_symlink():
                target = file.readlink()
                file = root / str(target)[1:] if target.is_absolute() else file.parent / target
            return file
    sys.exit(f"{name}: not found below {root}")


def copyright_of(root: Path, library: Path) -> tuple[str, Path]:
    """The Debian package of a library, and its copyright file."""
    for listing in (root / "var/lib/dpkg/info").glob("*.list"):
        if any(line.endswith(f"/{library.name}") for line in listing.read_text().splitlines()):
            package = listing.stem.split(":")[0]
            return package, root / "usr/share/doc" / package / "copyright"
    sys.exit(f"{library}: no package has it")


def bundle(package: Path, licenses: Path, root: Path) -> None:
    """Copy until nothing is missing: a copy may need others."""
    own = {file.name for file in (package / "lib").iterdir()}
    names: dict[str, str] = {}
    pending = [file for file in package.rglob("*") if is_elf(file)]
    while pending:
        file = pending.pop()
        for needed in patchelf("--print-needed", str(file)).split():
            if needed in own or SYSTEM.fullmatch(needed):
                continue
            if needed not in names:
                library = find(root, needed)
                stem, suffix = needed.split(".so", 1)
                digest = hashlib.sha256(library.read_bytes()).hexdigest()[:8]
                names[needed] = f"{stem}-{digest}.so{suffix}"
                copy = package / "lib" / names[needed]
                shutil.copyfile(library, copy)
                patchelf("--set-soname", copy.name, str(copy))
                source, text = copyright_of(root, library)
                shutil.copyfile(text, licenses / f"LICENSE.{source}")
                pending.append(copy)
            patchelf("--replace-needed", needed, names[needed], str(file))


def main() -> None:
    """Unpack, bundle, pack."""
    wheel, output, platform, root = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", scratch, str(wheel)],
                       check=True)
        tree = next(Path(scratch).iterdir())
        info = next(tree.glob("*.dist-info"))
        for file in tree.glob("tsanom/*/**/*"):  # wheel unpack forgets the mode
            if is_elf(file):
                file.chmod(0o755)
        bundle(tree / "tsanom", info, root)
        metadata = info / "WHEEL"
        metadata.write_text(re.sub(r"^(Tag: py3-none-).*", rf"\1{platform}", metadata.read_text(),
                                   flags=re.M))
        subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", output, str(tree)],
                       check=True)


main()
