# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures of the DPD paper, "A dynamic periodicity detector: application to speedup
computation"."""
import itertools
import pathlib
import tempfile

from papers_item import ROOT, Item, Result, Table, json_of, output_of

# Of the five SPECfp95 programs: the length of the stream, its periods (table 2), innermost first, and
# the nanoseconds of an element (table 3).
SPEC = {"tomcatv": (3750, [5], 4000), "swim": (5402, [6], 4000), "apsi": (5762, [6], 4000),
        "hydro2d": (53814, [1, 24, 269], 112000), "turb3d": (1580, [12, 142], 108000)}
TRACES = ("The traces of the paper are not public. `bench/tables/papers_dpd.py` generates streams of the "
          "same lengths and periods: the result tests the detector on known periods.")


def iteration(periods):
    """The events of an iteration of the last period. Half of it are iterations of the period inside;
    of the other events no two are alike."""
    *inside, period = periods
    inner = iteration(inside) if inside else []
    looped = inner * (period // 2 // len(inner)) if inner else []
    return looped + [1000 * len(periods) + place for place in range(len(looped), period)]


def stream(name):
    """Lines of events: a prologue of some that never come again, then whole outer iterations."""
    length, periods, _ = SPEC[name]
    iterations, prologue = divmod(length, periods[-1])
    events = [100000 + i for i in range(prologue)] + iterations * iteration(periods)
    return "".join(f"{event}\n" for event in events)


def found_in(context, name):
    return json_of(context.tsanom, "period", "-", "--events", "--json", given=stream(name))


def table2(context):
    rows, same = [], True
    for name, (length, periods, _) in SPEC.items():
        here = [period["period"] for period in found_in(context, name)["periods"]]
        rows.append([name, length, *(", ".join(map(str, of)) for of in (periods, here))])
        same &= here == periods
    return Result([Table("", ["stream", "events", "paper", "here"], rows)], same)


def table3(context):
    rows = []
    for name, (length, periods, paper) in SPEC.items():
        window = 100 if periods[-1] < 100 else 1024
        plain, one, every = map(float, output_of(
            context.program("dpd_table3"), window, len(periods), given=stream(name)).split())
        rows.append([name, length, window, paper, f"{plain:.1f}", f"{one:.1f}", f"{paper / one:.0f}",
                     f"{plain / one:.1f}", f"{every:.1f}", f"{paper / every:.0f}"])
    return Result([Table("Nanoseconds per element. N is the window, \"plain\" equation 2 as written, "
                         "on the same machine:",
                         ["stream", "elements", "N", "paper", "plain", "one period", "paper/one",
                          "plain/one", "all periods", "paper/all"], rows)], None)


def figures3_4(context):
    """Records a program whose iterations of 44 ms use 16, 2, 12, 1, 16 and 4 threads."""
    runs = 5 if context.full else 1
    rows, same = [], True
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "levels"
        output_of("cc", "-O2", "-fopenmp", ROOT / "tests/tools/programs/levels.c", "-o", program)
        for moved, iterations in itertools.product((0, 1, 2), (20, 40)):
            right = 0
            for i in range(runs):
                run = f"{folder}/run.{moved}.{iterations}.{i}"
                output_of(context.tsanom, "record", "-o", run, "--", program, iterations, 1000 * moved)
                found = json_of(context.tsanom, "period", run, "--active", "--json")
                right += [p["period"] for p in found["periods"]] == [44]
            rows.append([f"{moved} ms", iterations, found["samples"], f"{right} of {runs}"])
            same &= right == runs
    return Result([Table("", ["boundaries moved by up to", "iterations", "samples of 1 ms",
                              "period 44 found"], rows)], same)


def figure7(context):
    rows, same = [], True
    for name, (length, periods, _) in SPEC.items():
        found = found_in(context, name)
        outer = max(period["period"] for period in found["periods"])
        (first, *others) = found["segments"]
        text = ", ".join(f"{s['first']}–{s['last']} by {s['period']}" for s in found["segments"])
        rows.append([name, periods[-1], outer, text,
                     (first["last"] + 1 - first["first"]) // first["period"]])
        same &= (not others and outer == periods[-1] == first["period"]
                 and first["last"] == length - 1)
    return Result([Table("", ["stream", "paper, period of the marks", "here", "segments, events",
                              "marks"], rows)], same)


ITEMS = [
    Item("dpd-table2", "Table 2: detected periodicities", "the periods of five SPECfp95 programs.",
         TRACES, 1, table2),
    Item("dpd-table3", "Table 3: cost per element", "4 µs (N = 100) and 108 to 112 µs (nested loops).",
         TRACES + " The paper does not describe its processor, and does not print its windows: 100 and "
         "1024 are those that it names. @ref dpd_tables shows a measurement.", 5, table3, timed=True),
    Item("dpd-figures3-4", "Figures 3 and 4: number of active processors and d(m)",
         "a local minimum of d(m) at m = 44 ms, with up to 16 processors.",
         "The trace of the paper (NPB FT) is not public. The program recorded here has iterations of "
         "44 ms with 1 to 16 threads. @ref guide_dpd shows the plots.", 30, figures3_4, timed=True),
    Item("dpd-figure7", "Figure 7: segmentation of the streams",
         "a mark at each start of the longest period.", TRACES, 1, figure7),
]
