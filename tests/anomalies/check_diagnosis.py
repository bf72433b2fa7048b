#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of diagnosis: the table of the manual, the statistics, the scores of made-up
recordings that a made-up command diagnoses, and the smallest real recording.

    check_diagnosis.py TABLES BUILD      TABLES is bench/tables
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

VERDICTS = {"normal", "memory_leak", "contention", "slowdown", "imbalance", "hang", "shutdown",
            "not_comparable", "unknown"}

# A `tsanom` that calls a run what its name says; with `new` the answer has states and causes.
COMMAND = """#!/usr/bin/env python3
import json, pathlib, sys
if sys.argv[1] == "learn":
    sys.exit(0)
runs = [pathlib.Path(a) for a in sys.argv[sys.argv.index("--json") + 1:]]
def one(run):
    text = (run / "says").read_text().split()
    if text[0] == "reject":
        sys.exit(3)
    thread = {"thread": 1, "status": text[0], "features": {}, "path": []}
    if "new" in text:
        thread["causes"] = [{"cause": text[0], "evidence": "made up"}]
        return {"run": str(run), "state": "finished", "status": text[0], "threads": [thread]}
    return {"run": str(run), "status": text[0], "threads": [thread]}
if len(runs) > 1 and any((r / "says").read_text().startswith("reject") for r in runs):
    sys.exit(3)
print(json.dumps({"runs": [one(run) for run in runs]}))
"""


def check_table(plan):
    table = plan.Table()
    kinds = [k for k in plan.KINDS if k != "train"]
    kinds += [f"prefix-{p}" for p in plan.PREFIXES] + ["other-program", "hanging"]
    for kind in kinds:
        for tested in plan.CONDITIONS:
            assert set(table.accepted(kind, "quiet", tested)) <= VERDICTS, kind
    assert table.accepted("normal", "quiet", "quiet") == ["normal"]
    assert table.accepted("normal", "quiet", "loaded") == ["contention", "normal"]
    assert table.accepted("normal", "loaded", "loaded") == ["normal"]
    assert "normal" in table.accepted("cache-hog", "pinned", "pinned")
    for condition in plan.CONDITIONS.values():
        assert set(condition.kinds) <= set(plan.KINDS), condition


def check_statistics(statistics):
    # Wilson's interval of 0 and 81 of 263: R. G. Newcombe, Stat. Med. 17, 1998, table I.
    for right, count, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605),
                                    (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)):
        found = statistics.wilson(right, count)
        assert math.isclose(found[0], low, abs_tol=5e-5), (right, count, found)
        assert math.isclose(found[1], high, abs_tol=5e-5), (right, count, found)
    pairs = [("a", "a")] * 8 + [("a", "b")] * 2 + [("b", "b")] * 5
    scores = statistics.f_scores(pairs)
    assert math.isclose(scores["a"], 16 / 18) and math.isclose(scores["b"], 10 / 12), scores
    low, high = statistics.bootstrap(pairs)
    assert low < statistics.macro_f(pairs) < high, (low, high)
    perfect = [("a", "a")] * 8 + [("b", "b")] * 5
    assert statistics.bootstrap(perfect) == (1.0, 1.0)


def make_run(data, kind, number, says, thread=None):
    folder = data / "quiet" / "cg" / kind / str(number)
    (folder / "run").mkdir(parents=True)
    (folder / "run" / "says").write_text(says)
    (folder / "truth.json").write_text(json.dumps(
        {"thread": thread, "table": "older", "began": f"2026-01-01T00:{number:02d}:00+00:00"}))


def check_scores(diagnosis_score):
    with tempfile.TemporaryDirectory() as scratch:
        data, build = pathlib.Path(scratch) / "data", pathlib.Path(scratch) / "build"
        (build / "tools" / "tsanom").mkdir(parents=True)
        command = build / "tools" / "tsanom" / "tsanom"
        command.write_text(COMMAND)
        command.chmod(0o755)
        make_run(data, "train", 0, "normal")
        make_run(data, "normal", 0, "normal new")
        make_run(data, "normal", 1, "memory_leak new")
        make_run(data, "stopped", 0, "hang new")
        make_run(data, "stopped", 1, "shutdown")
        make_run(data, "leak-thread", 0, "memory_leak new", thread=1)
        make_run(data, "leak-thread", 1, "contention", thread=1)
        make_run(data, "segv", 0, "reject")
        chosen = argparse.Namespace(data=data, build=build, conditions=["quiet"], kinds=[],
                                    programs=["cg"], repeats=1, rule=None, coverage=None,
                                    verbose=False)
        verdicts = diagnosis_score.collect(chosen)
        found = {(v.kind, pathlib.Path(v.run).name): (v.status, v.right) for v in verdicts}
        assert found == {("normal", "0"): ("normal", True), ("normal", "1"): ("memory_leak", False),
                         ("stopped", "0"): ("hang", True), ("stopped", "1"): ("shutdown", True),
                         ("leak-thread", "0"): ("memory_leak", True),
                         ("leak-thread", "1"): ("contention", False),
                         ("segv", "0"): ("error", False)}, found
        (goals,) = diagnosis_score.goal_rows(verdicts)
        assert goals[2].startswith("1 of 2 ") and goals[4].startswith("1 of 2 "), goals
        assert goals[1] == "0" and verdicts[-1].table == "older", goals
        (macro,) = diagnosis_score.macro_rows(verdicts)
        # normal: 1 right, 2 expected, 1 found; leak: 1, 2, 2; shutdown: 2, 3, 2
        assert macro[3] == f"{(2 * 1 / 3 + 2 * 1 / 4 + 2 * 2 / 5) / 3:.3f}", macro
        chosen.kinds = ["segv"]
        assert [v.kind for v in diagnosis_score.collect(chosen)] == ["segv"]


def check_order(diagnosis_record):
    """Rounds of all conditions in turn, training first; nothing twice."""
    chosen = argparse.Namespace(rounds=2, conditions=["quiet", "loaded", "steps"], kinds=[],
                                programs=["cg", "bt"], normals=3, training=4, sample=0)
    order = list(diagnosis_record.tasks(chosen))
    assert len(order) == len(set(order)), order
    turns = list(dict.fromkeys((c, n // 3 if k == "normal" else n) for c, _, k, n in order
                               if k != "train"))
    assert turns == [(c, n) for n in range(2) for c in chosen.conditions], turns
    for condition in ("quiet", "loaded"):
        kinds = [k for c, _, k, _ in order if c == condition]
        assert kinds[:8] == ["train"] * 8 and kinds.count("train") == 8, kinds
        assert kinds.count("normal") == 12, kinds
    chosen.sample = 1
    sample = list(diagnosis_record.tasks(chosen))
    rows = {(c, k, n) for c, _, k, n in order if k not in ("train", "normal")}
    assert sorted(rows) == sorted((c, k, n) for c, _, k, n in sample if (c, k, n) in rows), sample
    both = {(c, k): {p for d, p, j, _ in sample if (d, j) == (c, k)} for c, k, _ in rows}
    assert all(len(programs) == 2 for programs in both.values()), both
    assert set(sample) <= set(order), sample


def check_recording(script, build):
    """What is recorded is scored; what exists is not recorded again."""
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-B", script, "all", data, build, "--programs", "cg",
                   "--size", "tiny", "--conditions", "quiet", "--kinds", "normal", "killed",
                   "cpu-hog", "--rounds", "1", "--normals", "1", "--training", "2",
                   "--json", f"{data}/json"]
        first = subprocess.run(command, text=True, capture_output=True, check=True)
        assert "killed | shutdown | 1 of 1" in first.stdout, first
        runs = json.loads(pathlib.Path(data, "json").read_text())["runs"]
        live = {"prefix-10", "prefix-30", "prefix-50", "hanging"}
        assert {r["kind"] for r in runs} - live == {"normal", "killed", "cpu-hog"}, first
        paths = sorted(pathlib.Path(data).glob("quiet/cg/*/*/truth.json"))
        assert len(paths) == 5, paths
        assert "| quiet | 5 of 5 |" in first.stdout, first
        times = [path.stat().st_mtime_ns for path in paths]
        paths[0].unlink()
        late = subprocess.run([*command, "--minutes", "1e-9"], text=True, capture_output=True,
                              check=True)
        assert "4 of 5 runs are recorded" in late.stderr and not paths[0].exists(), late
        assert "| quiet | 4 of 5 |" in late.stdout, late
        subprocess.run(command, text=True, capture_output=True, check=True)
        changed = [path.stat().st_mtime_ns != t for path, t in zip(paths, times)]
        assert changed == [True] + 4 * [False], changed


def main():
    sys.dont_write_bytecode = True
    sys.path.insert(0, sys.argv[1])
    import diagnosis_plan
    import diagnosis_record
    import diagnosis_score
    import diagnosis_statistics
    check_table(diagnosis_plan)
    check_statistics(diagnosis_statistics)
    check_scores(diagnosis_score)
    check_order(diagnosis_record)
    check_recording(pathlib.Path(sys.argv[1]) / "diagnosis.py", sys.argv[2])
    print("all as expected")


if __name__ == "__main__":
    main()
