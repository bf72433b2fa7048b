#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A recorder that fails or is killed does no harm.

check_unharmed.py calls SOURCES COMMAND [--all] [--seed N]
    Each function by which the recorder asks the system for something fails: once, or from then on.
    The program must print and return what it does otherwise, and commands must read the run or say
    what is wrong with it. By default a third of the functions fail in each program: the first call and
    a random one, with random errors; --all: all functions, the first call, with each error, and each of
    the first 20.

check_unharmed.py kills SOURCES COMMAND N [--seed N]
    Programs are killed N times, after random times. Each run must be readable, and contain all
    regions that had ended.

check_unharmed.py limits SOURCES COMMAND [--all]
    Under limits of descriptors, sizes of files, memory, stacks and processes, programs do what they do
    under these without a recorder. --all: more limits, and each as the soft one alone.

The exit status is 77 where no OpenMP program can be built."""

import argparse
import array
import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ERRORS = ("ENOSPC", "EMFILE", "EACCES", "EINTR", "ENOMEM", "EIO", "ENOSYS")
MOST_CALLS = 20
ALWAYS = 10**9
# What is repeated after EINTR would be so for ever.
INTERRUPTIONS = 50
SECONDS = 60

# What the shell does first, options of `tsanom record`, program.
PROGRAMS = (
    ("", [], ["./loop", "40"]),
    ("", ["--profile=64K"], ["./loop", "600"]),
    ("ulimit -Sn 64", [], ["./guest", "descriptors", "12"]),
    ("", ["--cpu-time"], ["./guest", "turns", "20"]),
    ("", [], ["./guest", "child", "1"]),
    ("", ["--metrics=auto"], ["./guest", "errors", "20"]),
    ("export PMI_RANK=0 PMI_SIZE=2", ["--label=nodes=2"], ["./loop", "40"]),
    ("", [], ["./plain", "3"]),
)

# Resource limits, by option of ulimit; programs.
LIMITS = {
    "n": range(4, 17),
    "f": (0, 1, 7, 8, 9, 16, 100, 600, 1100),
    "v": (*range(20000, 80000, 4000), *range(80000, 400000, 40000)),
    "s": (64, 80, 100, 128, 200, 1024),
    "u": (1, 2, 3, 5, 20),
}
LIMITED = (["./loop", "40"], ["./guest", "threads", "1"], ["./guest", "threads", "16"], ["./guest", "turns", "20"],
           ["./guest", "descriptors", "4"], ["./guest", "child", "1"])

# Imports of the recorder that ask the system for nothing, or cannot fail.
SAFE = set("""
    __cxa_finalize __environ __errno_location __gmon_start__ __progname environ
    program_invocation_short_name
    _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __rseq_offset __rseq_size __tls_get_addr
    __pthread_key_create __register_atfork __sched_cpucount __stack_chk_fail
    _dl_find_object dl_iterate_phdr dladdr dladdr1 dlopen dlsym
    _exit abort clock_gettime free getenv geteuid getpid nanosleep on_exit secure_getenv
    omp_get_max_threads
    pthread_attr_destroy pthread_cond_destroy pthread_cond_init pthread_cond_signal
    pthread_condattr_destroy pthread_condattr_init pthread_join pthread_mutex_destroy
    pthread_mutex_init pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_once
    pthread_self pthread_setcancelstate pthread_sigmask sched_yield sigfillset uselocale
    memchr memcmp memcpy memmove memset snprintf strchr strcmp strcspn strerror_l strlen strncmp
    strncpy strrchr strspn strstr strtod strtol strtoul strtoull vsnprintf""".split())


class Failure(Exception):
    pass


def check(good, *what):
    if not good:
        raise Failure(": ".join(str(word).strip() for word in what))


def run(words, first="", **more):
    """The finished process; None if it took too long."""
    if first:
        words = ["bash", "-c", f'{first}; exec "$@"', "bash", *words]
    try:
        return subprocess.run(words, capture_output=True, text=True, errors="replace",
                              timeout=SECONDS, check=False, **more)
    except subprocess.TimeoutExpired:
        return None


def build(sources):
    """Builds the programs here; exits if there is no compiler for OpenMP."""
    programs = Path(sources, "tests/tools/programs")
    for name, *openmp in (("loop", "-fopenmp"), ("guest", "-fopenmp"), ("plain",)):
        if run(["gcc", "-g", "-O2", "-pthread", *openmp, programs / f"{name}.c", "-o", name]).returncode:
            print("skipped: needs the Debian package gcc")
            sys.exit(77)
    built = run(["gcc", "-O2", "-fPIC", "-shared", programs / "failing.c", "-o", "libfailing.so", "-ldl"])
    check(built.returncode == 0, built.stderr)


def symbols(library, which):
    lines = run(["nm", "-D", which, library]).stdout.splitlines()
    return {re.sub("@.*", "", line.split()[-1]) for line in lines}


def functions(given):
    """The functions to fail, in the order in which they are counted: all imports of the recorders must be known."""
    source = Path(given.sources, "tests/tools/programs/failing.c").read_text()
    known, found = re.findall(r"  RETURNS\(\w+, (\w+)\) *\\?\n", source), set()
    for name in ("libtsanom-preload.so", "libtsanom-preload-ompt.so"):
        found |= symbols(Path(given.command).parent.parent / "intercept" / name, "--undefined-only")
    unknown = found - set(known) - SAFE
    check(not unknown, "add to failing.c, or to SAFE if they ask the system for nothing", sorted(unknown))
    return known, sorted(found & set(known))


class Plan:
    """Recordings of a program in which calls of a function fail."""

    def __init__(self, command, program):
        self.command = command
        self.first, self.options, self.words = program
        self.plain = run(self.words, self.first)

    def record(self, function, first, times, error):
        """Returns the finished program."""
        Path("calls").write_bytes(bytes(4096))
        shutil.rmtree("run", ignore_errors=True)
        environment = dict(os.environ, OMP_WAIT_POLICY="passive", FAILING_CALLS=os.path.abspath("calls"),
                           LD_PRELOAD=os.path.abspath("libfailing.so"),
                           FAILING=f"{function}:{first}:{times}:{error}")
        return run([self.command, "record", *self.options, "-o", "run", "--", *self.words], self.first,
                   env=environment)

    def count_calls(self):
        """How often the recorder calls each function where none fails."""
        self.check_program(self.record("none", 0, 0, 0), f"{' '.join(self.words)}: without failures")
        return array.array("q", Path("calls").read_bytes())

    def check_program(self, done, how):
        check(done, how, "does not end")
        said = [line for line in done.stderr.splitlines() if not line.startswith("tsanom record: ")]
        check((done.returncode, done.stdout, said) == (self.plain.returncode, self.plain.stdout, []),
              how, f"ended with {done.returncode}", done.stdout, done.stderr)

    def check_run(self, how):
        """A run without events is one whose command says why."""
        for subcommand in ("rate", "speedup"):
            read = run([self.command, subcommand, "run"])
            check(read and read.returncode in (0, 1, 3), how, subcommand, read and read.stderr)
            check(read.returncode == 0 or read.stderr, how, subcommand, "says nothing")

    def fail(self, function, first, times, name):
        how = f"{' '.join(self.words)}: {function}, call {first}, {times} times, {name}"
        self.check_program(self.record(function, first, times, getattr(errno, name)), how)
        self.check_run(how)


def choices(calls, everything):
    """First failing calls, numbers of failing calls, and errors."""
    cases = [(0, 1, name) for name in ERRORS if calls]
    for first in range(min(calls, MOST_CALLS)):
        name = random.choice(ERRORS)
        cases.append((first, 1, name))
        cases.append((first, INTERRUPTIONS if name == "EINTR" else ALWAYS, name))
    if everything or not calls:
        return cases
    return [random.choice(cases[:len(ERRORS)]), random.choice(cases[len(ERRORS):])]


def check_calls(given):
    (known, failing), recordings, called = functions(given), 0, set()
    for program in PROGRAMS:
        plan = Plan(given.command, program)
        calls = dict(zip(known, plan.count_calls()))
        called |= {function for function in failing if calls[function]}
        for function in failing if given.all else random.sample(failing, len(failing) // 3):
            # A file that may have become one of the program's is left open instead of closed.
            if function == "fstat" and "descriptors" in program[2]:
                continue
            cases = choices(calls[function], given.all)
            for case in cases:
                plan.fail(function, *case)
            recordings += len(cases)
    print(f"{recordings} recordings with failures of {len(called)} functions; "
          f"never called: {', '.join(sorted(set(failing) - called))}")
    check(recordings > 50, "hardly any call fails")


def limited_user():
    """A limit of processes does not concern root."""
    if os.geteuid() or not shutil.which("setpriv"):
        return []
    os.chmod(".", 0o777)
    return ["setpriv", "--reuid=65534", "--clear-groups"]


def check_limit(given, limit, words, user):
    """Returns whether the program ends as it does without the limit."""
    environment = dict(os.environ, OMP_WAIT_POLICY="passive")
    # The recorder takes an eighth of the address space, and of that space its libraries.
    less = re.sub(r"v (\d+)", lambda found: f"v {int(found[1]) * 3 // 4 - 3000}", limit)
    free, lessened, plain = (run([*user, *words], first, env=environment) for first in ("", less, limit))
    if not plain or {free.returncode} != {lessened.returncode, plain.returncode} or plain.stderr:
        return False
    shutil.rmtree("run", ignore_errors=True)
    done = run([*user, given.command, "record", "-o", "run", "--", *words], limit, env=environment)
    what = f"{limit}; {' '.join(words)}"
    check(done, what, "does not end")
    said = [line for line in done.stderr.splitlines() if not line.startswith("tsanom record: ")]
    same = (done.returncode, done.stdout, said) == (plain.returncode, plain.stdout, [])
    # On a busy machine more threads are there at once: near the limit, programs fail by chance.
    if not same and any(run([*user, *words], less, env=environment).returncode for _ in range(10)):
        return False
    check(same, what, f"ended with {done.returncode} instead of {plain.returncode}", done.stdout, done.stderr)
    read = run([given.command, "speedup", "run"])
    check(read and read.returncode in (0, 1, 3) and (read.returncode == 0 or read.stderr), what, read and read.stderr)
    return True


def check_limits(given):
    compared = 0
    for option, values in LIMITS.items():
        user = limited_user() if option == "u" else []
        # The kernel counts threads that have ended for a while: those in turn fail by chance.
        programs = [words for words in LIMITED if option != "u" or "turns" not in words]
        cases = [(f"ulimit -{option} {value}", words) for value in values for words in programs]
        if given.all:
            cases += [(f"ulimit -S{option} {value}", words) for value in values for words in programs]
        else:
            cases = random.sample(cases, min(len(cases), 30))
        ran = sum(check_limit(given, limit, words, user) for limit, words in cases)
        check(ran, f"no program runs under -{option}")
        compared += ran
    print(f"{compared} programs under limits")


def check_kill(given, number):
    """Returns whether the run had begun; that of each second one has, however slowly programs start."""
    shutil.rmtree("run", ignore_errors=True)
    Path("count").write_bytes(bytes(8))
    child = subprocess.Popen([given.command, "record", "-o", "run", "--", "./guest", "count", "100000000"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             env=dict(os.environ, OMP_WAIT_POLICY="passive"))
    while number % 2 and not any(Path("count").read_bytes()) and child.poll() is None:
        time.sleep(0.001)
    pause = random.uniform(0, 0.1)
    time.sleep(pause)
    child.send_signal(signal.SIGKILL)
    _, said = child.communicate()
    done = int.from_bytes(Path("count").read_bytes(), sys.byteorder)
    read = run([given.command, "speedup", "run", "--json"])
    what = f"kill {number}, after {pause:.4f} s and {done} regions"
    check(child.returncode == -signal.SIGKILL, what, child.returncode, said)
    check(read and read.returncode in (0, 3), what, read and read.stderr)
    if read.returncode == 3:
        check(done == 0 and read.stderr, what, read.stderr)
        return False
    events = json.loads(read.stdout)["events"]
    check(events in (done, done + 1), what, f"{events} events")
    return True


def check_kills(given):
    begun = sum(check_kill(given, number) for number in range(given.kills))
    print(f"{given.kills} kills, {begun} of them in a run")
    check(begun >= given.kills // 2, "a run had not begun")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind in ("calls", "kills", "limits"):
        one = kinds.add_parser(kind)
        one.add_argument("sources")
        one.add_argument("command", type=os.path.abspath)
        if kind != "kills":
            one.add_argument("--all", action="store_true")
        else:
            one.add_argument("kills", type=int)
        one.add_argument("--seed", type=int, default=random.randrange(2**32))
    given = parser.parse_args()
    given.sources = os.path.abspath(given.sources)
    random.seed(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            build(given.sources)
            {"calls": check_calls, "kills": check_kills, "limits": check_limits}[given.kind](given)
        except Failure as failure:
            sys.exit(f"check_unharmed.py, seed {given.seed}: {failure}")
        finally:
            os.chdir("/")


main()
