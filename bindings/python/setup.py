# SPDX-License-Identifier: BSD-3-Clause
"""Build the package: generate the declarations from the headers, and put what CMake installs of
the C libraries and of the command into it.

CMake builds the sources around this directory (in a source distribution: those below libtsanom/),
with the options of the environment variable CMAKE_ARGS; or TSANOM_PREFIX names an installation. The
wheel serves every version of Python 3, since cffi loads the libraries at run time, but only one
platform."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "libtsanom" if (HERE / "libtsanom").is_dir() else HERE.parent.parent
# What CMake needs in a source distribution.
SOURCE_PARTS = ["CMakeLists.txt", "LICENSE", "README.md", "cmake", "docs/man", "include", "src",
                "tools"]
CONFIGURE = ["-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_INSTALL_LIBDIR=lib",
             "-DTSANOM_BUILD_TESTS=OFF", "-DTSANOM_BUILD_EXAMPLES=OFF",
             "-DTSANOM_BUILD_PYTHON=OFF"]
# What the package contains of an installation. Programs and libraries find each other by the
# ways between these directories.
INSTALLED = ["bin/tsanom", "lib/lib*.so.0.3", "lib/tsanom/*.so", "libexec/tsanom/*"]


def version():
    text = (SOURCE / "CMakeLists.txt").read_text()
    return re.search(r"project\(tsanom VERSION ([0-9.]+)", text)[1]


class BuildPackage(build_py):
    """Add what is generated (_declarations.py) and what is installed (bin, lib, libexec)."""

    def run(self):
        super().run()
        package = Path(self.build_lib) / "tsanom"
        subprocess.run([sys.executable, str(HERE / "declarations.py"), str(SOURCE / "include"),
                        str(package / "_declarations.py")], check=True)
        given = os.environ.get("TSANOM_PREFIX")
        prefix = SOURCE / given if given else self.install_libraries()
        if not (prefix / "lib" / "libtsanom.so.0.3").exists():
            sys.exit(f"{prefix}: needs shared libraries in lib")
        for pattern in INSTALLED:
            for file in prefix.glob(pattern):
                copy = package / file.relative_to(prefix)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)

    def install_libraries(self):
        built, prefix = HERE / "build" / "cmake", HERE / "build" / "prefix"
        options = CONFIGURE + shlex.split(os.environ.get("CMAKE_ARGS", ""))
        shutil.rmtree(prefix, ignore_errors=True)
        for arguments in (["-S", str(SOURCE), "-B", str(built), *options],
                          ["--build", str(built), "--parallel", str(os.cpu_count() or 1)],
                          ["--install", str(built), "--prefix", str(prefix), "--strip"]):
            subprocess.run(["cmake", *arguments], check=True)
        return prefix


class SourceDistribution(sdist):
    """Add the C sources: those that git knows, if this is a checkout."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        shutil.copy(HERE / "declarations.py", base_dir)
        known = subprocess.run(["git", "-C", str(SOURCE), "ls-files", "-z", *SOURCE_PARTS],
                               capture_output=True, text=True, check=False)
        names = known.stdout.split("\0")[:-1] if known.returncode == 0 else []
        names = names or [str(file.relative_to(SOURCE))
                          for part in SOURCE_PARTS
                          for file in [SOURCE / part, *(SOURCE / part).rglob("*")]
                          if file.is_file()]
        for name in names:
            copy = Path(base_dir) / "libtsanom" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, copy)


class Wheel(bdist_wheel):
    """Any Python 3, this platform."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibraries(Distribution):
    """Not only Python code."""

    def has_ext_modules(self):
        return True


setup(version=version(), distclass=WithLibraries,
      cmdclass={"build_py": BuildPackage, "bdist_wheel": Wheel, "sdist": SourceDistribution})
