#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `tsanom record` and `tsanom speedup` find in programs whose iterations are known.

    real_programs.py BUILD LIST.toml [--only TEXT] [--runs N] [--results FILE] [--json]

LIST.toml describes programs, such as

    [[program]]
    name = "cg.W"
    command = ["./cg.W"]            # run in the folder of the list; {build} is replaced
    iterations = [15, 16]           # optional: the main loop's; several numbers if a warm-up is
                                    # the same code; 0: there is no loop
    seconds = "Time in seconds *= *([0-9.]+)"   # optional: time of the main loop in its output
    environment = {OMP_NUM_THREADS = "2"}       # optional

Each program runs alone and recorded. The table has, per program:

    iterations   what is expected, and the main loop that was found
    known after  iterations of the shortest prefix of the run in which that loop is found
    steady       whether the mean times of iterations in the four quarters of the loop's time
                 differ by at most 5 %
    error        of the end of the loop predicted after a quarter of its time, in %
    interval     whether the predicted interval contains the end, or the end is "unknown"
    speedup      with `seconds` and --runs: that of 2 threads over 1, by mean times of all
                 iterations in recordings, and by medians of the latest ones
    printed      the same by the times that the recorded programs print
    plain, again the same by the times that programs of themselves print, of two sets of runs: if
                 these differ by more than 5 %, the program cannot be compared that closely
    output       whether the recorded program wrote the same, apart from numbers, and exited alike

and below it, of how many programs each of these is as it should be. With --results, FILE keeps
the row of each program: those in it are not run again, so that an interrupted command continues.

Exits with 1 if a number of iterations is wrong or an output differs."""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import tomllib

NUMBER = re.compile(r"(0x)+[\da-f]+|[-+]?(\d+\.?\d*|\.\d+|nan|inf)([ed][-+]?\d+)?",
                    re.IGNORECASE)
HEAD = ("program", "expected", "found", "known after", "steady", "error, %", "interval", "speedup",
        "latest", "printed", "plain", "again", "output")
CLOSE = 0.05


class Program:
    def __init__(self, about, chosen):
        self.name, self.about, self.folder = about["name"], about, chosen.list.parent
        self.tool = chosen.build / "tools" / "tsanom" / "tsanom"
        self.command = [word.replace("{build}", str(chosen.build)) for word in about["command"]]
        expected = about.get("iterations", [])
        self.expected = expected if isinstance(expected, list) else [expected]
        self.environment = dict(os.environ, **about.get("environment", {}))
        self.environment.setdefault("OMP_NUM_THREADS", "2")
        self.runs = chosen.runs

    def run(self, *through, threads=None):
        """Exit status and text of one run of the program, by a command or of itself."""
        environment = dict(self.environment)
        if threads:
            environment["OMP_NUM_THREADS"] = str(threads)
        done = subprocess.run([*through, *self.command], cwd=self.folder, text=True,
                              env=environment, errors="replace", check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def record(self, run, threads=None):
        return self.run(self.tool, "record", "-o", run, "--", threads=threads)

    def speedup(self, run, *options):
        """What `tsanom speedup` prints; None: the run has nothing, or there is none."""
        done = subprocess.run([self.tool, "speedup", run, "--json", *options], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def seconds(self, text):
        return float(re.search(self.about["seconds"], text)[1])


def shape(text):
    """A program's output without its numbers, and without the order of lines that threads write. The
    line that `tsanom record` prints before the program runs is not the program's."""
    return sorted(" ".join(NUMBER.sub("#", line).split()) for line in text.splitlines()
                  if not line.startswith("tsanom record: recording to "))


def known_by(program, run, whole, until):
    """The main loop by then, if it is that of the whole run: it begins with a place of that, and
    has as many regions."""
    loop = whole["main_loop"]
    then = program.speedup(run, "--until", repr(until), "--level", whole["level"])
    found = then and then["main_loop"]
    is_it = found and found["place"] in {part["place"] for part in loop["parts"]} and (
        loop["least"] <= found["most"] <= loop["most"])
    return then["regions"][0] if is_it else None


def known_after(program, run, whole):
    """Iterations of the main loop in the shortest prefix in which it is known."""
    loop = whole["regions"][0]
    low, high, known = loop["first_s"], loop["last_s"], loop["iterations"]
    for _ in range(12):
        middle = (low + high) / 2
        found = known_by(program, run, whole, middle)
        if found:
            high, known = middle, found["iterations"]
        else:
            low = middle
    return known


def is_steady(program, run, whole):
    """By the iterations that are complete after each quarter of the loop's time; None: there
    are too few."""
    loop = whole["regions"][0]
    done, end, means = 0, loop["first_s"], []
    for quarter in (1, 2, 3, 4):
        until = loop["first_s"] + (loop["last_s"] - loop["first_s"]) * quarter / 4
        then = known_by(program, run, whole, until) if quarter < 4 else loop
        if not then or then["iterations"] <= done:
            return None
        means.append((then["last_s"] - end) / (then["iterations"] - done))
        done, end = then["iterations"], then["last_s"]
    return max(means) <= (1 + CLOSE) * min(means)


def predict(program, run, whole):
    """Error in %, and whether the interval contains the truth, after a quarter of the main loop."""
    loop = whole["regions"][0]
    quarter = loop["first_s"] + (loop["last_s"] - loop["first_s"]) / 4
    then = program.speedup(run, "--until", repr(quarter), "--level", whole["level"], "--iterations",
                           str(loop["iterations"]))
    guess = then and then["prediction"]
    if not guess:
        return None, "none"
    if guess["total_s"] is None or guess["high_s"] is None:
        return None, "unknown"
    error = 100 * (guess["total_s"] / loop["last_s"] - 1)
    return error, "yes" if guess["low_s"] <= loop["last_s"] <= guess["high_s"] else "no"


def compare_threads(program, folder):
    """The speedups of two threads over one: by column, the ratio of the median times."""
    seconds = {key: {1: [], 2: []} for key in ("speedup", "latest", "printed", "plain", "again")}
    for number in range(program.runs):
        for threads in (1, 2):
            plain, again = ("plain", "again") if number % 2 else ("again", "plain")
            seconds[plain][threads].append(program.seconds(program.run(threads=threads)[1]))
            text = program.record(f"{folder}/{number}.{threads}", threads)[1]
            seconds["printed"][threads].append(program.seconds(text))
            seconds[again][threads].append(program.seconds(program.run(threads=threads)[1]))
        both = program.speedup(f"{folder}/{number}.2", "--baseline", f"{folder}/{number}.1")
        loop = both and both["regions"] and both["regions"][0]
        if loop and loop["speedup"]:
            for key, field in (("speedup", "mean_s"), ("latest", "s")):
                seconds[key][1].append(loop[f"baseline_{field}"])
                seconds[key][2].append(loop[f"current_{field}"])
    return {key: statistics.median(of[1]) / statistics.median(of[2]) if of[1] else None
            for key, of in seconds.items()}


def row(program, folder):
    run = f"{folder}/run"
    status, text = program.run()
    recorded_status, recorded_text = program.record(run)
    is_same = status == recorded_status and shape(text) == shape(recorded_text)
    result = dict.fromkeys(HEAD)
    result.update({"program": program.name, "expected": program.expected, "found": 0,
                   "interval": "", "output": "same" if is_same else "differs"})
    whole = program.speedup(run)
    if whole and whole["main_loop"]:
        result["found"] = whole["main_loop"]["iterations"]
        result["known after"] = known_after(program, run, whole)
        steady = is_steady(program, run, whole)
        result["steady"] = steady if steady is None else ("no", "yes")[steady]
        result["error, %"], result["interval"] = predict(program, run, whole)
    if "seconds" in program.about and program.runs:
        result.update(compare_threads(program, folder))
    return result


def share(results, key, is_right):
    """Of how many programs with a value of the key is it right."""
    known = [result for result in results if result[key] not in (None, "", "none", [])]
    return f"{sum(map(is_right, known))} of {len(known)}" if known else "none"


def summary(results):
    def is_close(one, other):
        return lambda result: abs(result[one] / result[other] - 1) <= CLOSE

    compared = [result for result in results if result["plain"]]
    missing = sum(result["speedup"] is None for result in compared)
    repeats = list(filter(is_close("again", "plain"), compared))
    steady = [result for result in results if result["steady"] == "yes"]
    return "\n".join((
        "- iterations as expected: "
        + share(results, "expected", lambda r: r["found"] in r["expected"]),
        "- end of the loop predicted within 5 %: "
        + share(results, "error, %", lambda r: abs(r["error, %"]) <= 5)
        + "; of steady programs: "
        + share(steady, "error, %", lambda r: abs(r["error, %"]) <= 5),
        "- end in the interval, or not predicted: "
        + share(results, "interval", lambda r: r["interval"] != "no"),
        f"- plain speedups that repeat within 5 %: {len(repeats)} of {len(compared)}",
        "- speedup within 5 % of the plain one: "
        + share(compared, "speedup", is_close("speedup", "plain"))
        + "; of those that repeat: " + share(repeats, "speedup", is_close("speedup", "plain"))
        + (f"; not measured: {missing}" if missing else ""),
        "- speedup within 5 % of what the recorded programs print: "
        + share(compared, "speedup", is_close("speedup", "printed")),
        "- same output: " + share(results, "output", lambda r: r["output"] == "same")))


def shown(value):
    if isinstance(value, float):
        return f"{value:+.1f}" if abs(value) >= 10 else f"{value:+.2f}"
    if isinstance(value, list):
        return " or ".join(map(str, value))
    return "" if value is None else str(value)


def measure(program, file):
    """The row of a program, which is added to the file."""
    with tempfile.TemporaryDirectory() as folder:
        result = row(program, folder)
    if file:
        with file.open("a") as stream:
            stream.write(json.dumps(result) + "\n")
    return result


def is_good(result):
    is_known = not result["expected"] or result["found"] in result["expected"]
    return is_known and result["output"] == "same"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("--only", default="", help="programs whose names contain this text")
    parser.add_argument("--runs", type=int, default=0, help="pairs of runs for the speedup")
    parser.add_argument("--results", type=pathlib.Path, help="file of the rows, to continue")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    about = tomllib.loads(chosen.list.read_text())["program"]
    kept = {}
    if chosen.results and chosen.results.exists():
        kept = {r["program"]: r for r in map(json.loads, chosen.results.read_text().splitlines())}
    results = []
    if not chosen.json:
        print("| " + " | ".join(HEAD) + " |\n" + "|---" * len(HEAD) + "|", flush=True)
    for one in about:
        if chosen.only not in one["name"]:
            continue
        results.append(kept.get(one["name"]) or measure(Program(one, chosen), chosen.results))
        if not chosen.json:
            print("| " + " | ".join(shown(results[-1][key]) for key in HEAD) + " |", flush=True)
    if chosen.json:
        json.dump(results, sys.stdout, indent=1)
    else:
        print("\n" + summary(results))
    sys.exit(not all(map(is_good, results)))


if __name__ == "__main__":
    main()
