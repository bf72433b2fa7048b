# SPDX-License-Identifier: BSD-3-Clause
"""Every public C function is called by the package, or there is a reason that it is not."""

import re
from pathlib import Path

import tsanom

SOURCE = Path(__file__).resolve().parents[3]

# Patterns of names, and why the package does not call these functions.
REASONS = {
    r"tsanom_\w+_init": "structs come from _defaults(), objects from _create",
    r"tsanom_\w+_size": "cffi knows the sizes of structs",
    r"tsanom_dpd_(event|value)_(create|destroy|predict|push_many|resize|window)":
        "called: PeriodDetector composes the name",
    r"tsanom_dpd_(event|value|nest)_push": "arrays are pushed by _push_many",
    r"tsanom_dpd_nest_(loops|max_period|predict|resize|starts)":
        "loops() is of a whole sequence; PeriodDetector follows a stream",
    r"tsanom_diagnosis_cause_is_alarm": "what the command watch acts on",
    r"tsanom_dtw_one_to_many(_f32)?": "dtw_matrix() of one series with a set",
    r"tsanom_isa_\w+": "for tests of the library",
    r"tsanom_record_\w+": "heartbeat records: one run in a process",
    r"tsanom_roughset_(matrix|paper_choice)": "steps of a calculation by hand",
    r"tsanom_runs_visits": "for programs in C",
    r"tsanom_search_normalize": "Index and search_stream normalize",
    r"tsanom_spmd_(begin|end|recorder_\w+)":
        "measures regions of a process in C; the package reads what was recorded",
}


def public_functions():
    text = "\n".join(path.read_text() for path in (SOURCE / "include/tsanom").glob("*.h")
                     if path.name != "compat.h")
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return set(re.findall(r"TSANOM_API[^;(]*?\b(tsanom_\w+)\s*\(", code))


def package_text():
    return "\n".join(path.read_text() for path in Path(tsanom.__file__).parent.glob("*.py")
                     if path.name != "_declarations.py")


def test_every_function_is_called_or_has_a_reason():
    functions, text = public_functions(), package_text()
    called = {name for name in functions if re.search(rf"\.{name}\b", text)}
    assert len(functions) > 190 and len(called) > 80
    missing = {name for name in functions - called
               if not any(re.fullmatch(pattern, name) for pattern in REASONS)}
    assert not missing


def test_every_reason_is_needed():
    text = package_text()
    uncalled = [name for name in public_functions() if not re.search(rf"\.{name}\b", text)]
    assert [pattern for pattern in REASONS
            if not any(re.fullmatch(pattern, name) for name in uncalled)] == []
