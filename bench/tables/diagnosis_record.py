# SPDX-License-Identifier: BSD-3-Clause
"""Recordings for the table of diagnosis: DATA/CONDITION/PROGRAM/KIND/NUMBER with the run in
`run` and what is known about it in `truth.json`. What exists is not recorded again."""
import contextlib
import dataclasses
import datetime
import functools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

import diagnosis_plan as plan
import workloads

ATTEMPTS = 3
LONGEST = 120  # seconds of a run, after which it is killed and counts as failed


class Failed(Exception):
    """A run that is not what it must be."""


def anomaly(build, name):
    return build / "examples" / "anomalies" / name


def workload(chosen, program):
    return str(chosen.build / "examples" / "workloads" / program)


def normal_run(data, condition, program):
    """Truth of the shortest normal run of a condition; {} before there is one."""
    paths = (data / condition / program).glob("*/*/truth.json")
    truths = [json.loads(p.read_text()) for p in paths if p.parts[-3] in ("train", "normal")]
    return min(truths, key=lambda truth: truth["seconds"], default={})


@functools.cache
def size_of(program, size):
    """Points and steps of a size, and iterations per beat, from the program's --help."""
    text = subprocess.run([program, "--help"], text=True, stdout=subprocess.PIPE,
                          check=True).stdout
    points, steps = re.search(rf"^ *{size}: (\d+) points, (\d+) steps", text, re.M).groups()
    return int(points), int(steps), int(re.search(r"One beat every (\d+) iteration", text)[1])


def values(chosen, condition, program, number, run):
    """What the texts in braces of a kind stand for. Times are processor time of the program
    from its first beat on. Under `tsanom record` the preparations beat, too."""
    before = normal_run(chosen.data, condition, program)
    generator = random.Random(f"{program} {number}")
    work = before.get("processor_seconds", 1.0)
    start = before.get("prepare_seconds", 0.0) * plan.CONDITIONS[condition].unmodified
    points, steps, cycle = size_of(workload(chosen, program), chosen.size)
    multiples = plan.CONDITIONS[condition].steps or (1,)
    return {"moment": f"{start + generator.uniform(0.1, 0.6) * work:.4f}",
            "early": f"{start + 0.1 * work:.4f}",
            "rate_of_64M": str(round((64 << 20) / (0.5 * work))),
            "first_beat": str(run / "heartbeat.00000"),
            "last_cpu": str(max(os.sched_getaffinity(0))), "data": str(chosen.data),
            "steps": str(max(1, round(steps * multiples[number % len(multiples)]))),
            "more_work": str(3 * cycle), "more_points": str(round(1.3 * points))}


def command_of(chosen, condition, program, kind, number, run):
    """The command that records a run of a kind, and what stands for the braces."""
    c, k = plan.CONDITIONS[condition], plan.KINDS[kind]
    known = values(chosen, condition, program, number, run)
    seed = 1000 + number + (500 if kind == "train" else 0)
    arguments = ["--size", chosen.size, "--threads", str(c.threads), "--seed", str(seed)]
    if not c.unmodified:
        arguments += ["--record", str(run)]
    if c.steps:
        arguments += ["--steps", known["steps"]]
    arguments += [part.format(**known) for part in k.arguments]
    command = [workload(chosen, program), *arguments]
    if k.inject:
        command = [str(anomaly(chosen.build, "inject")),
                   *(part.format(**known) for part in k.inject), *command]
    if c.unmodified:
        command = [str(chosen.build / "tools" / "tsanom" / "tsanom"), "record", "--force",
                   "-o", str(run), "--", *command]
    return command, known


@contextlib.contextmanager
def beside(chosen, parts, known):
    """A program of examples/anomalies while the context lasts."""
    if not parts:
        yield
        return
    command = [str(anomaly(chosen.build, parts[0])), "--for", str(2 * LONGEST),
               *(part.format(**known) for part in parts[1:])]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


def watch(process, log, run, hangs, actions=(), before_kill=None):
    """Waits for the end of a run. A run that hangs is killed a while after its anomaly began.
    actions: (seconds since the run directory exists, function), in the order of time."""
    actions = list(actions)
    struck = exists = killed = None
    deadline = time.monotonic() + LONGEST
    while process.poll() is None:
        now = time.monotonic()
        if exists is None and run.exists():
            exists = now
        if hangs and struck is None and "inject: began" in log.read_text():
            struck = now
        while actions and exists is not None and now >= exists + actions[0][0]:
            actions.pop(0)[1]()
        over = struck is not None and now > struck + plan.HELD_SECONDS
        if not killed and (over or now > deadline):
            if over and before_kill:
                before_kill()
            process.kill()
            killed = True
        time.sleep(0.002)


@dataclasses.dataclass
class Outcome:
    command: list
    status: int
    output: str
    processor: float  # seconds of processor time
    struck: bool      # the anomaly began


def processor_time_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_one(chosen, condition, program, kind, number, folder, actions=(), before_kill=None):
    """Runs a kind once into a new folder."""
    c, k = plan.CONDITIONS[condition], plan.KINDS[kind]
    folder.mkdir(parents=True)
    command, known = command_of(chosen, condition, program, kind, number, folder / "run")
    log = folder / "output"
    set_cpu = (lambda: os.sched_setaffinity(0, {c.cpu})) if c.cpu is not None else None
    with beside(chosen, c.beside, known), beside(chosen, k.beside, known), \
            open(log, "w", encoding="utf-8") as file:
        before = processor_time_of_children()
        with subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT,
                              env=workloads.ENVIRONMENT, preexec_fn=set_cpu) as process:
            watch(process, log, folder / "run", k.hangs, actions, before_kill)
        processor = processor_time_of_children() - before
    output = log.read_text()
    return Outcome(command, process.returncode, output, processor,
                   not k.inject or "inject: began" in output)


def fact(output, pattern):
    number = workloads.number_after(output, pattern)
    return None if number != number else number


def facts(outcome, threads):
    """What the program prints about its work, and the processor time before and in it."""
    seconds = fact(outcome.output, r": ([\d.]+) s,")
    percent = fact(outcome.output, r"processor (\d+) %")
    work = seconds * threads * percent / 100 if seconds and percent else None
    return {"seconds": seconds, "processor_seconds": work,
            "prepare_seconds": max(0, outcome.processor - work) if work else None,
            "steps": fact(outcome.output, r", (\d+) steps")}


def record_one(chosen, table, condition, program, kind, number):
    """One run; its truth is written last, and names the version of the table of accepted
    verdicts. An anomaly that came after the end of a fast run is tried again."""
    c, k = plan.CONDITIONS[condition], plan.KINDS[kind]
    folder = folder_of(chosen, condition, program, kind, number)
    for _ in range(ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        began = datetime.datetime.now(datetime.timezone.utc)
        load = os.getloadavg()[0]
        outcome = run_one(chosen, condition, program, kind, number, folder)
        if outcome.status == k.status and outcome.struck:
            break
    else:
        raise Failed(f"{' '.join(outcome.command)}: status {outcome.status} instead of "
                     f"{k.status}{'' if outcome.struck else '; the anomaly did not begin'}:\n"
                     f"{outcome.output}")
    truth = {"condition": condition, "program": program, "kind": kind, "number": number,
             "began": began.isoformat(timespec="seconds"), "command": outcome.command,
             "exit_status": outcome.status, "thread": k.thread, "load": load,
             "table": table.version, **facts(outcome, c.threads)}
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


def tasks(chosen):
    """(condition, program, kind, number) in the order of recording: rounds of all kinds under
    all conditions, so that each beginning of the list is balanced, and all kinds meet the same
    disturbances. Under each condition, the training runs come first."""
    for number in range(chosen.rounds):
        for condition in chosen.conditions:
            kinds = plan.kinds_of(condition, chosen.kinds)
            if not number and "train" in kinds:
                for part in range(chosen.training):
                    for program in chosen.programs:
                        yield condition, program, "train", part
            for program in chosen.programs:
                for kind in kinds:
                    repeats = chosen.normals if kind == "normal" else int(
                        kind != "train" and plan.KINDS[kind].without != program)
                    if not is_in_sample(chosen, number, condition, program, kind):
                        continue
                    for part in range(repeats):
                        yield condition, program, kind, number * repeats + part


def is_in_sample(chosen, number, condition, program, kind):
    """Whether a round has this kind of this program: of each kind under each condition,
    --sample programs, which change from kind to kind and from round to round."""
    having = [p for p in chosen.programs if plan.KINDS[kind].without != p]
    if not chosen.sample or chosen.sample >= len(having) or program not in having:
        return True
    first = (list(plan.KINDS).index(kind) + list(plan.CONDITIONS).index(condition)
             + number * chosen.sample)
    return (having.index(program) - first) % len(having) < chosen.sample


def folder_of(chosen, condition, program, kind, number):
    return chosen.data / condition / program / kind / str(number)


def is_recorded(chosen, task):
    return (folder_of(chosen, *task) / "truth.json").exists()


def show(text):
    """Progress: one line of a terminal that changes, or a line each in a file."""
    terminal = sys.stderr.isatty()
    print(f"\r\033[K{text}" if terminal else text, end="" if terminal else "\n",
          file=sys.stderr, flush=True)


def record(chosen):
    """Records what is missing; False if the time limit came first."""
    table = plan.Table()
    chosen.data.mkdir(parents=True, exist_ok=True)
    chosen.data = pathlib.Path(os.path.realpath(chosen.data))
    everything = list(tasks(chosen))
    todo = [task for task in everything if not is_recorded(chosen, task)]
    recorded = len(everything) - len(todo)
    started = time.monotonic()
    for done, task in enumerate(todo):
        spent = (time.monotonic() - started) / 60
        if chosen.minutes and spent >= chosen.minutes:
            print(f"\ntime limit: {recorded + done} of {len(everything)} runs are recorded",
                  file=sys.stderr)
            return False
        left = f"{spent / done * (len(todo) - done):.1f}" if done else "?"
        show(f"{recorded + done + 1} of {len(everything)}: {' '.join(map(str, task))}; "
             f"{spent:.1f} min, {left} min left")
        try:
            record_one(chosen, table, *task)
        except Failed as failure:
            print(f"\n{failure}", file=sys.stderr)
    print(file=sys.stderr)
    return True
