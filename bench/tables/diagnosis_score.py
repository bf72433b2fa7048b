# SPDX-License-Identifier: BSD-3-Clause
"""Scores of recordings that diagnosis_record.py made: models of training runs, verdicts on the
other runs, and how often these are right. The recordings are only read, so that each version
of the library can be scored on the same ones."""
import collections
import dataclasses
import datetime
import json
import pathlib
import random
import subprocess
import tempfile

import diagnosis_plan as plan
import diagnosis_record
import workloads
from diagnosis_statistics import bootstrap, f_scores, macro_f, share

SCORED = ("normal", "memory_leak", "shutdown", "contention", "slowdown")  # in the macro F
ALARMS = ("memory_leak", "hang", "shutdown")
WEAK = ("leak-16M",)


@dataclasses.dataclass
class Verdict:
    trained: str
    tested: str
    program: str
    kind: str
    run: str
    accepted: list
    status: str
    leaking: list       # threads that are reported to leak
    thread: int | None  # that leaks alone
    diagnosis: dict
    table: str | None = None     # version of the table of accepted verdicts
    minutes: float | None = None  # from the last training run to this one

    @property
    def right(self):
        return self.status in self.accepted

    @property
    def pair(self):
        expected = plan.class_of(self.accepted[0])
        return expected, expected if self.right else plan.class_of(self.status)


def runs_of(data, condition, program):
    """Folders of the complete recordings by kind."""
    kinds = collections.defaultdict(list)
    paths = (data / condition / program).glob("*/*/truth.json")
    for path in sorted(paths, key=lambda p: (p.parts[-3], int(p.parts[-2]))):
        kinds[path.parts[-3]].append(path.parent)
    return kinds


def tsanom(chosen, *arguments):
    """Standard output of the command; None if it rejects its input."""
    command = [chosen.build / "tools" / "tsanom" / "tsanom", *arguments]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False,
                          stderr=None if chosen.verbose else subprocess.DEVNULL)
    return done.stdout if done.returncode in (0, 1) else None


def diagnose(chosen, model, folders):
    """The objects `runs[]` of the answer; one with the status `error` for a run that the
    command rejects."""
    def ask(part):
        answer = tsanom(chosen, "diagnose", "-m", model, "--json",
                        *(folder / "run" for folder in part))
        return json.loads(answer)["runs"] if answer else None
    found = ask(folders) if folders else []
    if found is None:
        found = [(ask([folder]) or [{"status": "error"}])[0] for folder in folders]
    return found


def wanted(chosen, kind):
    """Whether a kind is scored; not one of an older version of this command."""
    known = kind in plan.KINDS or kind == "other-program"
    return known and kind != "train" and (not chosen.kinds or kind in chosen.kinds)


def began(folder):
    truth = json.loads((folder / "truth.json").read_text())
    return datetime.datetime.fromisoformat(truth["began"])


def leaking_threads(run):
    return [t["thread"] for t in run.get("threads", []) if t.get("status") == "memory_leak"]


def training_of(chosen, condition, program, repeat):
    """Training runs: those of the recording, or a random draw of these and of normal ones.
    Runs that are drawn are not tested."""
    kinds = runs_of(chosen.data, condition, program)
    if not repeat:
        return kinds["train"]
    pool = kinds["train"] + kinds["normal"]
    count = min(len(kinds["train"]), len(pool))
    return random.Random(f"{condition} {program} {repeat}").sample(pool, count)


def learn(chosen, training, scratch):
    """The model of training runs, a file in the directory `scratch`."""
    model = scratch / "model.json"
    options = [*(["--rule", chosen.rule] if chosen.rule else []),
               *(["--coverage", chosen.coverage] if chosen.coverage else [])]
    if tsanom(chosen, "learn", *options, "-o", model,
              *(folder / "run" for folder in training)) is None:
        raise SystemExit(f"tsanom learn rejects {', '.join(map(str, training))}")
    return model


def verdicts_of(chosen, table, trained, tested, program, repeat):
    """Verdicts on all runs of a program under a condition."""
    training = training_of(chosen, trained, program, repeat)
    kinds = runs_of(chosen.data, tested, program)
    cases = [(kind, folder) for kind, folders in kinds.items()
             if wanted(chosen, kind) for folder in folders if folder not in training]
    if trained == tested == "quiet" and wanted(chosen, "other-program"):
        cases += [("other-program", folder) for other in chosen.programs if other != program
                  for folder in runs_of(chosen.data, tested, other)["normal"][:1]]
    if not training or not cases:
        return
    with tempfile.TemporaryDirectory() as scratch:
        model = learn(chosen, training, pathlib.Path(scratch))
        found = diagnose(chosen, model, [folder for _, folder in cases])
    last = max(map(began, training))
    for (kind, folder), run in zip(cases, found):
        truth = json.loads((folder / "truth.json").read_text())
        yield Verdict(trained, tested, program, kind, str(folder),
                      table.accepted(kind, trained, tested), run.get("status", "error"),
                      leaking_threads(run), truth["thread"], run, truth["table"],
                      (began(folder) - last).total_seconds() / 60)


def collect(chosen):
    table = plan.Table()
    return [verdict for trained, tested in plan.evaluations(chosen.conditions)
            for program in chosen.programs for repeat in range(chosen.repeats)
            for verdict in verdicts_of(chosen, table, trained, tested, program, repeat)]


# Reports

def groups(verdicts, *fields):
    result = collections.defaultdict(list)
    for v in verdicts:
        result[tuple(getattr(v, field) for field in fields)].append(v)
    return result


def print_table(head, rows):
    workloads.print_table(head, rows)
    print()


def recorded_rows(chosen):
    """What there is, of what `record` with the same options makes."""
    planned = collections.Counter(task[:2] for task in diagnosis_record.tasks(chosen))
    there = collections.Counter(task[:2] for task in diagnosis_record.tasks(chosen)
                                if diagnosis_record.is_recorded(chosen, task))
    for condition in chosen.conditions:
        yield [condition, *(f"{there[condition, p]} of {planned[condition, p]}"
                            for p in chosen.programs)]


def macro_rows(verdicts):
    for (trained, tested, program), of in groups(verdicts, "trained", "tested",
                                                 "program").items():
        pairs = [v.pair for v in of if v.pair[0] in SCORED]
        if pairs:
            low, high = bootstrap(pairs)
            scores = f_scores(pairs)
            yield [f"{trained} → {tested}", program, len(pairs), f"{macro_f(pairs):.3f}",
                   f"{low:.3f}–{high:.3f}",
                   *(f"{scores[s]:.3f}" if s in scores else "" for s in SCORED)]


def order_of(kind):
    kinds = list(plan.KINDS)
    return kinds.index(kind) if kind in kinds else len(kinds)


def kind_rows(verdicts):
    ordered = sorted(verdicts, key=lambda v: (v.trained, v.tested, order_of(v.kind)))
    for (trained, tested, kind), of in groups(ordered, "trained", "tested", "kind").items():
        wrong = collections.Counter(v.status for v in of if not v.right)
        yield [f"{trained} → {tested}", kind, ", ".join(of[0].accepted),
               share(sum(v.right for v in of), len(of)),
               ", ".join(f"{count} {status}" for status, count in wrong.most_common())]


def goal_rows(verdicts):
    """The goals that are stated as shares."""
    for (trained, tested), of in groups(verdicts, "trained", "tested").items():
        name = f"{trained} → {tested}"
        normal = [v for v in of if v.kind == "normal"]
        weak = [v for v in of if v.kind in WEAK]
        alone = [v for v in of if v.thread is not None]
        prefixes = [v for v in of if v.kind.startswith("prefix-")]
        minutes = [v.minutes for v in of if v.minutes is not None]
        yield [name, f"{min(minutes):.0f}" if minutes else "",
               share(sum(v.status in ALARMS for v in normal), len(normal)),
               share(sum(v.right for v in weak), len(weak)),
               share(sum(v.leaking == [v.thread] for v in alone), len(alone)),
               share(sum(v.right for v in prefixes), len(prefixes))]


def print_misses(verdicts):
    """The wrong verdicts with their features, for those who mend the rules."""
    for v in verdicts:
        if not v.right:
            print(f"{v.trained} → {v.tested} {v.program} {v.kind}: {v.status}, not "
                  f"{' or '.join(v.accepted)}: {v.run}")
            for thread in v.diagnosis.get("threads", []):
                causes = [f"{c['cause']}: {c.get('evidence')}" for c in thread.get("causes", [])]
                features = {k: round(x, 4) if isinstance(x, float) else x
                            for k, x in thread.get("features", {}).items()}
                print(f"  thread {thread['thread']}: {thread.get('status')}; "
                      f"{causes or thread.get('path')}; {features}")


def print_report(chosen, verdicts):
    if {v.table for v in verdicts} - {plan.Table().version, None}:
        print("WARNING: the table of accepted verdicts was changed after some recordings.\n")
    print("Runs that are recorded:\n")
    print_table(["condition", *chosen.programs], recorded_rows(chosen))
    print("Macro F over normal, memory leak, shutdown or hang, contention and slowdown, as "
          "far as they occur:\n")
    print_table(["trained → tested", "program", "runs", "macro F", "95 %", *SCORED],
                macro_rows(verdicts))
    print("Right verdicts by kind, with 95 % intervals:\n")
    print_table(["trained → tested", "kind", "accepted", "right", "wrong"],
                kind_rows(verdicts))
    print_table(["trained → tested", "minutes after training", "normal runs called leak, hang or shutdown",
                 "16 MiB detected", "leaking thread alone named", "prefixes"],
                goal_rows(verdicts))
    if chosen.misses:
        print_misses(verdicts)


def save_json(path, verdicts):
    text = json.dumps({
        "table": plan.Table().version,
        "macro_f": [dict(zip(("evaluation", "program", "runs", "macro_f", "interval", *SCORED),
                             row)) for row in macro_rows(verdicts)],
        "runs": [{**dataclasses.asdict(v), "right": v.right} for v in verdicts]}, indent=1)
    path.write_text(text + "\n")
