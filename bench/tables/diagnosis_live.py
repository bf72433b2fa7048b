# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on programs that still run. They cannot be recorded: whether a program runs, and for
how long it has been silent, is asked at the time of the diagnosis."""
import pathlib
import tempfile

import diagnosis_plan as plan
import diagnosis_record
import diagnosis_score


def diagnosed(chosen, table, program, model, kind, number):
    """Verdicts on one run while it runs: of a normal one at each of the prefixes, of one that
    hangs before it is killed."""
    seconds = diagnosis_record.normal_run(chosen.data, "quiet", program)["seconds"]
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "live"

        def look(name):
            (run,) = diagnosis_score.diagnose(chosen, model, [folder])
            found.append(diagnosis_score.Verdict(
                "quiet", "running", program, name, f"run {number}",
                table.accepted(name, "quiet", "running"), run.get("status", "error"),
                diagnosis_score.leaking_threads(run), None, run))

        prefixes = [(seconds * percent / 100, lambda p=percent: look(f"prefix-{p}"))
                    for percent in plan.PREFIXES]
        diagnosis_record.run_one(chosen, "quiet", program, kind, number, folder,
                                 prefixes if kind == "normal" else (),
                                 lambda: look("hanging"))
    return found


def collect(chosen):
    table = plan.Table()
    verdicts = []
    for program in chosen.programs:
        training = diagnosis_score.training_of(chosen, "quiet", program, 0)
        if not training:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            model = diagnosis_score.learn(chosen, training, pathlib.Path(scratch))
            for number in range(chosen.rounds):
                for kind in filter(lambda k: diagnosis_score.wanted(chosen, k),
                                   ("normal", "stopped")):
                    verdicts += diagnosed(chosen, table, program, model, kind, number)
    return verdicts
