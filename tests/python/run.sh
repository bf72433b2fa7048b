#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh SOURCE BUILD SCRATCH PYTHON CMAKE [COMMAND]
# Installs the Python package with what BUILD installs into a new environment below SCRATCH, by
# pip without network, and runs its tests, examples in docstrings and type checks there; then the
# component that CMake installs for a package of the system.
set -eu
source=$1 build=$2 scratch=$3 python=$4 cmake=$5
[ -z "${6-}" ] || export TSANOM_COMMAND="$6"
rm -rf "$scratch"
mkdir -p "$scratch/source/bindings" "$scratch/empty"
cp -R "$source/bindings/python" "$scratch/source/bindings"
rm -rf "$scratch"/source/bindings/python/build "$scratch"/source/bindings/python/tsanom/lib \
  "$scratch"/source/bindings/python/tsanom/_declarations.py
ln -s "$source/include" "$source/CMakeLists.txt" "$source/LICENSE" "$scratch/source"
package=$scratch/source/bindings/python

echo "== pip install"
"$cmake" --install "$build" --prefix "$scratch/installed" --strip >"$scratch/install.log"
"$python" -m venv --system-site-packages --without-pip "$scratch/venv"
venv=$scratch/venv/bin/python
TSANOM_PREFIX=$scratch/installed PIP_DISABLE_PIP_VERSION_CHECK=1 "$venv" -m pip install --quiet --no-index \
  --no-build-isolation "$package"
cd "$scratch/empty"
grep -h '^Tag: py3-none-' "$scratch"/venv/lib/python3*/site-packages/tsanom-*.dist-info/WHEEL

echo "== the command"
[ -z "${6-}" ] || printf '1\n2\n3\n1\n2\n3\n1\n2\n3\n' | "$scratch/venv/bin/tsanom" period --events -

echo "== tests"
for module in tqdm matplotlib distributed mpi4py; do
  "$venv" -c "import $module" 2>/dev/null ||
    echo "skipped: in part: needs the Debian package python3-$module"
done
command -v mpirun.openmpi >/dev/null || echo "skipped: in part: needs the Debian package openmpi-bin"
"$venv" -m pytest -q -p no:cacheprovider "$package/tests"

echo "== examples in docstrings"
"$venv" -m pytest -q -p no:cacheprovider --doctest-modules --pyargs tsanom
"$venv" -m doctest "$source/docs/python.md"

echo "== types"
installed=$(echo "$scratch"/venv/lib/python3*/site-packages/tsanom)
cp "$installed/_declarations.py" "$package/tsanom"
cd "$package"
"$venv" -m mypy --cache-dir "$build/mypy"
ln -s "$installed/lib" "$package/tsanom/lib"
MYPYPATH=$package "$venv" -m mypy.stubtest tsanom --ignore-missing-stub --ignore-unused-allowlist \
  --mypy-config-file pyproject.toml --allowlist tests/stubtest.allow

echo "== the component of CMake"
"$cmake" --install "$build" --component python --prefix "$scratch/prefix" >"$scratch/install.log"
cd "$scratch/empty"
LD_LIBRARY_PATH=$build PYTHONPATH=$scratch/prefix/lib/python3/dist-packages "$python" -c '
import tsanom
assert "prefix" in tsanom.__file__ and tsanom.dtw([0, 1], [1, 1]) == 1
'
