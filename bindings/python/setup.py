# SPDX-License-Identifier: BSD-3-Clause
"""Build the package: generate the declarations from the headers, and put the C libraries into it.

The libraries are built by CMake from the sources around this directory, or copied from the build
directory that the environment variable TSANOM_BUILD_DIR names. The wheel serves every version of
Python 3, since cffi loads the libraries at run time, but only one platform."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
LIBRARIES = ["tsanom-record", "tsanom", "tsanom-runs"]
CONFIGURE = ["-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_SKIP_RPATH=ON"] + [
    f"-DTSANOM_{part}=OFF" for part in (
        "BUILD_TESTS", "BUILD_TOOLS", "BUILD_EXAMPLES", "BUILD_PYTHON", "INSTALL")]
TARGETS = ["tsanom_record", "tsanom", "tsanom_runs"]


def version():
    text = (SOURCE / "CMakeLists.txt").read_text()
    return re.search(r"project\(tsanom VERSION ([0-9.]+)", text)[1]


class BuildPackage(build_py):
    """Add what is generated: _declarations.py, lib/."""

    def run(self):
        super().run()
        package = Path(self.build_lib) / "tsanom"
        subprocess.run([sys.executable, str(HERE / "declarations.py"), str(SOURCE / "include"),
                        str(package / "_declarations.py")], check=True)
        built = os.environ.get("TSANOM_BUILD_DIR") or self.build_libraries()
        (package / "lib").mkdir(exist_ok=True)
        for name in LIBRARIES:
            file = f"lib{name}.so.0"
            shutil.copyfile(Path(built) / file, package / "lib" / file)

    def build_libraries(self):
        directory = str(HERE / "build" / "cmake")
        subprocess.run(["cmake", "-S", str(SOURCE), "-B", directory, *CONFIGURE], check=True)
        subprocess.run(["cmake", "--build", directory, "--parallel", str(os.cpu_count() or 1),
                        "--target", *TARGETS], check=True)
        return directory


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
      cmdclass={"build_py": BuildPackage, "bdist_wheel": Wheel})
